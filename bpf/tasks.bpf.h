/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tasks.bpf.h - which tasks and mappings a test has: they are created, exec, are put into the sandbox's cgroup
 */
#ifndef ZUG_TASKS_BPF_H
#define ZUG_TASKS_BPF_H

SEC("tp_btf/task_newtask")
int BPF_PROG(zug_newtask, struct task_struct *p, u64 clone_flags)
{
	struct task_struct *cur = bpf_get_current_task_btf();
	struct task_state *parent = state_of(cur), *t = state_of(p);
	struct zug_sandbox *s;
	struct zug_event e;
	int born = 0;

	if (!parent || !t || !(s = sandbox_of(t)))
		return 0;
	/* who calls vfork() waits until the other one has a memory of its own, or has ended */
	if ((clone_flags & (CLONE_VM_ | CLONE_VFORK_)) == CLONE_VM_)
		mm_note(LOOSE(cur)->mm, true, false);
	/* what an execution knows of its first task it knows from the prototype */
	if (parent->flags & (TF_PROTOTYPE | TF_TEMPLATE)) {
		mm_copy(p->mm, cur->mm);
		return 0;
	}
	if (!member(t, s))
		return 0;
	s->nr_idle = 0;
	if (!(clone_flags & CLONE_VM_)) {
		struct space *sp = mm_space(LOOSE(cur)->mm);

		mm_add(LOOSE(p)->mm, sp ? sp->shared : 1, sp);
	}
	if (parent->slot < ZUG_MAX_SANDBOXES && parent->id == s->holder && leases[parent->slot].plan.kind)
		born = plan_born(parent->slot, t->id, p->pid, !!(clone_flags & CLONE_THREAD_));
	/*
	 * of a process with the memory of its creator, which does not wait for it, and of one that the plan does not know,
	 * user space has to know first
	 */
	if (!(clone_flags & CLONE_THREAD_) && (!born || (clone_flags & (CLONE_VM_ | CLONE_VFORK_)) == CLONE_VM_))
		lease_ends(parent, ZUG_WHY_CREATES);
	/* it may get the part in the search that its creator has had */
	if (parent->slot < ZUG_MAX_SANDBOXES && leases[parent->slot].flags & ZUG_LEASE_OWN)
		lease_ends(parent, ZUG_WHY_CREATES);
	if (clone_flags & CLONE_VFORK_)
		parent->flags |= TF_VFORK;
	/* the call was not refused: user space learns that before it learns of the child */
	fault_over(s, cur, parent, false);
	event_init(&e, ZUG_EV_NEW, p, t);
	e.flags = clone_flags & CLONE_THREAD_ ? ZUG_EF_THREAD : 0;
	e.arg[0] = parent->id;
	e.arg[1] = clone_flags;
	e.arg[2] = own_pid(p);
	event_send(s, &e);
	return 0;
}

/*
 * The holder executes another program under that lease. What the lease says of its memory, by address, is no longer so: locks,
 * the object and the operations that the search has in view.
 */
static __always_inline bool lease_survives_exec(const struct zug_lease *l)
{
	const struct zug_plan *plan = &l->plan;

	if (!(l->flags & ZUG_LEASE_CALLS) || l->nr_locks || l->stops[0] || l->stops[1])
		return false;
	return !plan->kind || (plan->kind != ZUG_PLAN_ORDER && !plan->nr_constraints && !plan->in_memory);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(zug_exec, struct task_struct *p, pid_t old_pid, struct linux_binprm *bprm)
{
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;
	struct mm_struct *mm;
	struct file *exe;
	struct zug_event e;

	if (!t || !(s = sandbox_of(t)) || !member(t, s))
		return 0;
	if (t->flags & TF_PRE)
		t->flags = (t->flags & ~TF_PRE) | TF_START;
	else if ((s->setup.virtual_time || s->setup.seeded) && !(t->flags & TF_START))
		t->flags |= TF_FRESH;
	mm = LOOSE(p)->mm;
	if (s->setup.seeded)
		random_exec(mm);
	t->handlers = 0;
	t->last_lock = 0;
	if (t->slot >= ZUG_MAX_SANDBOXES || t->id != s->holder || !lease_survives_exec(&leases[t->slot]))
		lease_ends(t, ZUG_WHY_CREATES);
	__builtin_memset(t->inside, 0, sizeof(t->inside));
	t->mm = mm_number(mm);
	event_init(&e, ZUG_EV_EXEC, p, t);
	e.arg[0] = BPF_CORE_READ(mm, start_code);
	e.arg[1] = BPF_CORE_READ(mm, start_data);
	e.arg[2] = BPF_CORE_READ(mm, start_brk);
	e.arg[3] = (__u64)mm;
	e.state = own_pid(p);
	exe = BPF_CORE_READ(mm, exe_file);
	e.obj.ino = BPF_CORE_READ(exe, f_inode, i_ino);
	e.obj.dev = BPF_CORE_READ(exe, f_inode, i_sb, s_dev);
	e.flags |= ZUG_EF_OBJECT;
	bpf_probe_read_kernel_str(e.comm, sizeof(e.comm), p->comm);
	event_send(s, &e);
	return 0;
}

SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(zug_cgroup_move, struct cgroup *dst, const char *path, struct task_struct *p,
	     bool threadgroup)
{
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;

	if (!t || !(s = sandbox_of(t)) || !controlled(t, s) || LOOSE(dst)->kn->id == s->setup.cgid)
		return 0;
	emit(s, ZUG_EV_LEAVE, 0, p, t, 1, 0);
	return 0;
}

/* glibc's dynamic loader. (musl's is its C library.) */
static __always_inline void note_loader(struct vm_area_struct *vma, struct file *f)
{
	struct space *sp = mm_space(LOOSE(vma)->vm_mm);
	char name[8] = {};

	bpf_probe_read_kernel(name, sizeof(name), BPF_CORE_READ(f, f_path.dentry, d_name.name));
	if (!sp || __builtin_memcmp(name, "ld-linux", 8))
		return;
	sp->loader = vma->vm_start;
	sp->loader_end = vma->vm_end;
}

#define FOLDERS_DEEP 10

static __always_inline bool is_lib(const char *name)
{
	return !__builtin_memcmp(name, "lib", 4) || !__builtin_memcmp(name, "lib64", 6);
}

/* Below /lib, /lib64, /usr/lib or /usr/lib64, as symfile_of_system() says of a file that user space knows. */
static __noinline bool lies_in_system(struct file *f)
{
	struct dentry *d = BPF_CORE_READ(f, f_path.dentry), *up;
	char name[8] = {}, within[8] = {};
	__u32 i;

	bpf_for(i, 0, FOLDERS_DEEP) {
		up = BPF_CORE_READ(d, d_parent);
		if (!up)
			return false;
		if (up == d)
			return is_lib(name) || (!__builtin_memcmp(name, "usr", 4) && is_lib(within));
		__builtin_memcpy(within, name, sizeof(within));
		__builtin_memset(name, 0, sizeof(name));
		bpf_probe_read_kernel_str(name, sizeof(name), BPF_CORE_READ(d, d_name.name));
		d = up;
	}
	return false;
}

/* Code is mapped: it is the program's own if that is no library of the distribution. */
static __always_inline void note_own(struct vm_area_struct *vma, struct file *f, const struct zug_file_key *key,
				     const struct zug_module *module)
{
	struct mm_struct *mm = LOOSE(vma)->vm_mm;
	struct file *exe = BPF_CORE_READ(mm, exe_file);
	struct space *sp;
	__u32 nr;

	if ((module ? module->of_system : lies_in_system(f)) &&
	    (BPF_CORE_READ(exe, f_inode, i_ino) != key->ino || BPF_CORE_READ(exe, f_inode, i_sb, s_dev) != key->dev))
		return;
	sp = mm_space(mm);
	if (!sp || sp->nr_own > SPACE_OWN)
		return;
	nr = sp->nr_own++;
	if (nr >= SPACE_OWN)
		return;
	sp->own[nr].start = vma->vm_start;
	sp->own[nr].end = vma->vm_end;
}

/* Code of an interpreter is mapped, whose own data lies so far from it. */
static __always_inline void note_data(struct vm_area_struct *vma, const struct zug_module *module)
{
	struct space *sp = module && module->data_size ? mm_space(LOOSE(vma)->vm_mm) : NULL;

	if (!sp)
		return;
	sp->data = vma->vm_start - (vma->vm_pgoff << 12) + module->data;
	sp->data_end = sp->data + module->data_size;
	sp->frames = module->frames;
}

SEC("fentry/uprobe_mmap")
int BPF_PROG(zug_mmap, struct vm_area_struct *vma)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;
	struct zug_file_key fk = {};
	struct zug_event e;
	struct zug_module *mod;
	struct file *f;
	__u64 flags;

	if (!t || !(s = sandbox_of(t)) || !member(t, s))
		return 0;
	flags = vma->vm_flags;
	if (!(flags & (VM_EXEC_ | VM_SHARED_)))
		return 0;
	mm_changed(LOOSE(vma)->vm_mm, flags & VM_SHARED_);
	f = LOOSE(vma)->vm_file;
	if (!f || !(flags & VM_EXEC_))
		return 0;
	note_loader(vma, f);
	fk.ino = BPF_CORE_READ(f, f_inode, i_ino);
	fk.dev = BPF_CORE_READ(f, f_inode, i_sb, s_dev);
	fk.search = search_of(t);
	mod = bpf_map_lookup_elem(&modules, &fk);
	/* which points of an interpreter are the program's own user space alone knows, and where operations lie in new code */
	if (mod && (mod->data_size || (t->slot < ZUG_MAX_SANDBOXES && leases[t->slot].plan.nr_constraints)))
		lease_ends(t, ZUG_WHY_CREATES);
	note_own(vma, f, &fk, mod);
	note_data(vma, mod);
	event_init(&e, mod ? ZUG_EV_MODULE : ZUG_EV_UNPROBED, p, t);
	if (mod)
		e.site = mod->number;
	e.mm = mm_number(LOOSE(vma)->vm_mm);
	e.arg[0] = vma->vm_start;
	e.arg[1] = vma->vm_end;
	e.arg[2] = vma->vm_pgoff;
	e.arg[3] = (__u64)LOOSE(vma)->vm_mm;
	e.state = own_pid(p);
	/* user space asks the process what that is: it may not be gone by then */
	if ((!mod || (mod->data_size && s->quiet)) && !(t->flags & (TF_PRE | TF_START)))
		t->flags |= TF_FRESH;
	e.obj.ino = fk.ino;
	e.obj.dev = fk.dev;
	e.flags = ZUG_EF_OBJECT;
	event_send(s, &e);
	return 0;
}

SEC("fentry/uprobe_munmap")
int BPF_PROG(zug_munmap, struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	if (state_of(bpf_get_current_task_btf()) && (vma->vm_flags & (VM_EXEC_ | VM_SHARED_)))
		mm_changed(LOOSE(vma)->vm_mm, false);
	return 0;
}

SEC("tp_btf/exit_mmap")
int BPF_PROG(zug_mm_gone, struct mm_struct *mm)
{
	mm_gone(mm);
	return 0;
}

#endif
