/* SPDX-License-Identifier: GPL-2.0-only */
/* commands.bpf.h - the commands of user space (struct zug_ctl of zug_abi.h) */
#ifndef ZUG_COMMANDS_BPF_H
#define ZUG_COMMANDS_BPF_H

/* Which sandboxes a CPU looks at (next_on_lane()). */
static __always_inline void move_lane(__u32 slot, __u32 from, __u32 to)
{
	__u64 bit = 1ull << (slot & 63);
	__u32 word = slot / 64 & (SLOT_WORDS - 1);

	__sync_fetch_and_and(&lane_slots[from & (LANE_LINES - 1)][word], ~bit);
	__sync_fetch_and_or(&lane_slots[to & (LANE_LINES - 1)][word], bit);
}

/* What is left of an earlier execution of the slot is not of this one, by its number. */
static __always_inline void begin(struct zug_sandbox *s, __u32 slot, const struct zug_setup *setup)
{
	__u32 run = s->run + 1, template_run = s->template_run;

	s->state = ZUG_SB_FREE;
	barrier();
	move_lane(slot, s->setup.lane, setup->lane);
	__builtin_memset(s, 0, sizeof(*s));
	leases[slot & (ZUG_MAX_SANDBOXES - 1)].left = leases[slot & (ZUG_MAX_SANDBOXES - 1)].plan.next = 0;
	s->run = run;
	s->template_run = template_run;
	s->setup = *setup;
	s->next_id = 1;
	s->quiet = setup->quiet;
	s->blip_since = bpf_ktime_get_ns();
	barrier();
	s->state = ZUG_SB_ACTIVE;
}

static __always_inline int sandbox_command(struct zug_ctl *c, struct zug_sandbox *s)
{
	switch (c->cmd) {
	case ZUG_CMD_BEGIN:
		begin(s, c->sandbox, &c->setup);
		return 0;
	case ZUG_CMD_FREE:
		s->state = ZUG_SB_FREE;
		return 0;
	case ZUG_CMD_GRANT:
		s->turn = c->turn;
		s->grant_pid = c->pid;
		s->grant = c->task;
		scx_bpf_kick_cpu(s->setup.lane, SCX_KICK_IDLE);
		return 0;
	case ZUG_CMD_TURN:
		s->turn = c->turn;
		return 0;
	case ZUG_CMD_TAKE_BACK:
		if (s->holder || s->grant != c->task)
			return -11; /* EAGAIN */
		s->grant = 0;
		return 0;
	case ZUG_CMD_CLOCK:
		if (s->clock < c->clock)
			s->clock = c->clock;
		s->looks = s->nr_idle = 0;
		return 0;
	case ZUG_CMD_DRAIN:
		s->state = ZUG_SB_DRAIN;
		scx_bpf_kick_cpu(s->setup.lane, SCX_KICK_PREEMPT);
		return 0;
	case ZUG_CMD_LEND:
		s->lend = c->pid;
		break;
	case ZUG_CMD_KILLING:
		s->need_ask = 1;
		return 0;
	case ZUG_CMD_KILLED:
		s->may_die = 1;
		break;
	case ZUG_CMD_LOUD:
		s->quiet = ZUG_QUIET_NOT;
		return 0;
	case ZUG_CMD_CAN_ANSWER:
		return bpf_core_field_exists(struct bpf_prog_aux___writes, kprobe_write_ctx) ? 0 : -95; /* EOPNOTSUPP */
	case ZUG_CMD_ENVIRONMENT:
		return environment_look(&c->environment);
	default:
		return -22; /* EINVAL */
	}
	scx_bpf_kick_cpu(s->setup.lane, 0);
	return 0;
}

/* Before Linux 6.16 a task's floating point state is in its thread_struct; since then it comes behind the task. */
struct thread_struct___fpu_inside {
	struct fpu fpu;
} __attribute__((preserve_access_index));

/* Of an XSAVE area: x87 and SSE, the header, AVX; what lies behind is seldom in use. */
#define VECTORS_BYTES	1088

/* A hash of the floating point and vector registers, which the kernel has saved when the task left its CPU. */
static __always_inline __u64 vector_registers(struct task_struct *p)
{
	struct thread_struct___fpu_inside *inside = (void *)&p->thread;
	__u64 words[8], h = 0;
	struct fpstate *fps;
	struct fpu *fpu;
	__u32 i, k;

	fpu = bpf_core_field_exists(inside->fpu) ? (void *)inside + bpf_core_field_offset(inside->fpu) :
						   (void *)p + bpf_core_type_size(struct task_struct);
	fps = BPF_CORE_READ(fpu, fpstate);
	bpf_for(i, 0, VECTORS_BYTES / sizeof(words)) {
		if (bpf_probe_read_kernel(words, sizeof(words),
					  (void *)fps + bpf_core_field_offset(fps->regs) + i * sizeof(words)))
			break;
		for (k = 0; k < 8; k++)
			h = (h ^ words[k]) * 0x9e3779b97f4a7c15ull + (h >> 29);
	}
	return h;
}

/* See zug_regs.stepped. */
static __always_inline __u64 stepped_over(struct task_struct *p, __u64 ip)
{
	struct uprobe_task *u = BPF_CORE_READ(p, utask);
	__u64 done;

	if (!u || !BPF_CORE_READ(u, active_uprobe))
		return 0;
	done = ip - BPF_CORE_READ(u, xol_vaddr);
	return done <= 15 /* the longest instruction */ ? BPF_CORE_READ(u, vaddr) + done : 0;
}

static __always_inline void read_registers(struct task_struct *p, struct zug_regs *to)
{
	struct pt_regs *r = (struct pt_regs *)bpf_task_pt_regs(p);

	to->regs[0] = BPF_CORE_READ(r, ax);
	to->regs[1] = BPF_CORE_READ(r, dx);
	to->regs[2] = BPF_CORE_READ(r, cx);
	to->regs[3] = BPF_CORE_READ(r, bx);
	to->regs[4] = BPF_CORE_READ(r, si);
	to->regs[5] = BPF_CORE_READ(r, di);
	to->regs[6] = BPF_CORE_READ(r, bp);
	to->regs[7] = BPF_CORE_READ(r, sp);
	to->regs[8] = BPF_CORE_READ(r, r8);
	to->regs[9] = BPF_CORE_READ(r, r9);
	to->regs[10] = BPF_CORE_READ(r, r10);
	to->regs[11] = BPF_CORE_READ(r, r11);
	to->regs[12] = BPF_CORE_READ(r, r12);
	to->regs[13] = BPF_CORE_READ(r, r13);
	to->regs[14] = BPF_CORE_READ(r, r14);
	to->regs[15] = BPF_CORE_READ(r, r15);
	to->regs[16] = BPF_CORE_READ(r, ip);
	to->fsbase = BPF_CORE_READ(p, thread.fsbase);
	to->vectors = vector_registers(p);
	to->stepped = stepped_over(p, to->regs[16]);
}

static __always_inline int read_signals(struct task_struct *p, struct zug_signal *to)
{
	to->pending = to->blocked = to->handled = 0;
	/* it is dead, and has none any more */
	if (!BPF_CORE_READ(p, sighand))
		return 0;
	to->handled = handles(p, to->signal);
	to->pending = p->pending.signal.sig[0] | BPF_CORE_READ(p, signal, shared_pending.signal.sig[0]);
	to->blocked = p->blocked.sig[0];
	return 0;
}

static __always_inline int adopt(struct zug_ctl *c, struct zug_sandbox *s, struct task_struct *p)
{
	struct task_state *t = state_new(p);

	if (!t)
		return -12; /* ENOMEM */
	t->slot = c->sandbox;
	t->flags = TF_PRE;
	t->nr = -1;
	t->run = s->run;
	t->id = __sync_fetch_and_add(&s->next_id, 1);
	c->task = t->id;
	return 0;
}

static __always_inline int task_command(struct zug_ctl *c, struct zug_sandbox *s, __u32 slot, struct task_struct *p)
{
	struct task_state *t = state_of(p);

	switch (c->cmd) {
	case ZUG_CMD_ADOPT:
		return adopt(c, s, p);
	case ZUG_CMD_RELEASE:
		if (t && !(t->flags & TF_PRE))
			return -16; /* EBUSY */
		if (t)
			state_free(p);
		return 0;
	case ZUG_CMD_REGS:
		read_registers(p, &c->regs);
		return 0;
	case ZUG_CMD_SIGNAL:
		return read_signals(p, &c->signal);
	case ZUG_CMD_FOLDER:
		c->folder.mnt = (__u64)BPF_CORE_READ(p, fs, pwd.mnt);
		c->folder.dentry = (__u64)BPF_CORE_READ(p, fs, pwd.dentry);
		return 0;
	}
	if (!t)
		return -3; /* ESRCH */
	switch (c->cmd) {
	case ZUG_CMD_FAULT:
		t->fault = c->fault;
		return 0;
	case ZUG_CMD_AGAIN:
		t->flags |= TF_AGAIN;
		return 0;
	case ZUG_CMD_TAKE:
		t->flags |= TF_TAKEN;
		return 0;
	case ZUG_CMD_TEMPLATE:
		return template_keep(s, slot, t);
	case ZUG_CMD_GO:
		s->turn = c->turn;
		return template_go(s, t);
	}
	return -22; /* EINVAL */
}

SEC("syscall")
int zug_ctl(struct zug_ctl *c)
{
	struct task_struct *p;
	__u32 slot = c->sandbox;

	c->ret = -22; /* EINVAL */
	if (slot >= ZUG_MAX_SANDBOXES)
		return 0;
	if (c->cmd < ZUG_CMD_ADOPT) {
		c->ret = sandbox_command(c, &sandboxes[slot]);
		return 0;
	}
	c->ret = -3; /* ESRCH */
	p = bpf_task_from_pid(c->pid);
	if (!p)
		return 0;
	c->ret = task_command(c, &sandboxes[slot], slot, p);
	bpf_task_release(p);
	return 0;
}

#endif
