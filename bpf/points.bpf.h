/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * points.bpf.h - where a task stops: probed instructions, watched data, signals (system calls: calls.bpf.h)
 *
 * All sources end in stop(): fill the event, set TF_STOP, kick the own CPU. The
 * kick's interrupt must not land while this program is marked active (other
 * tasks' hits of it would be skipped and its RCU section would stay open), so
 * every source runs where interrupts or preemption are off:
 *
 *  - probes: fentry on uprobe_pre_sstep_notifier(), in the int3 exception with
 *    interrupts off. The uprobe only plants the breakpoint; its own program
 *    does nothing. The task parks before the probed instruction has any effect.
 *  - system calls: raw_syscalls/sys_enter (TRACEPOINT: preemption off; before Linux 7.0 raw tracepoints have it off, too).
 *  - fatal signals: tp_btf/signal_generate, under siglock, with interrupts off.
 *  - data: the perf event of a hardware breakpoint, exception context. It fires
 *    *after* the access.
 */
#ifndef ZUG_POINTS_BPF_H
#define ZUG_POINTS_BPF_H

/* A recursive mutex that the task has already: its pthread_mutex_lock() only counts. pass: what stands in the lock's memory. */
static __always_inline bool recurs(struct task_struct *p, const struct task_state *t, const struct zug_pass *pass)
{
	const __u32 *w = t->ev.word;

	if (pass->plain == ZUG_PASS_KIND_GLIBC)
		return (w[4] & 0x7f) == 1 && w[2] == own_pid(p);
	return pass->plain == ZUG_PASS_KIND_MUSL && (w[0] & 0xf) == 1 && (w[1] & 0x3fffffff) == own_pid(p);
}

/* What the lock of a place says: whether a task with a lease may pass it. */
static __always_inline bool may_pass(struct task_struct *p, const struct task_state *t, const struct zug_site *site)
{
	const struct zug_pass *pass = &site->pass;
	__u32 word;

	if (pass->kind == ZUG_PASS_NEVER || (site->obj_arg && !(t->ev.flags & ZUG_EF_WORDS)))
		return false;
	if (pass->kind == ZUG_PASS_ALWAYS)
		return true;
	if (pass->index >= 6)
		return false;
	word = t->ev.word[pass->index] & pass->mask;
	if (pass->kind == ZUG_PASS_IF)
		return word == pass->value || recurs(p, t, pass);
	if (pass->kind == ZUG_PASS_UNLESS)
		return word != pass->value;
	return word == own_pid(p);
}

/* The point before this one, if that was at a lock: what has become of that. false: it cannot be read. */
static __always_inline bool read_before(struct task_state *t)
{
	if (!t->ev.before_addr)
		return true;
	if (bpf_probe_read_user(t->ev.before, sizeof(t->ev.before), (void *)t->ev.before_addr))
		return false;
	t->ev.flags |= ZUG_EF_BEFORE;
	return true;
}

/*
 * What becomes of the holder at what takes so many steps of its lease, and which it may pass or not: enum plan_says. What user
 * space reads of memory at a point goes with the event.
 */
static __always_inline int lease_says(struct zug_sandbox *s, struct task_struct *p, struct task_state *t, struct zug_lease *l,
				      __u32 steps, const struct stand *at, bool may)
{
	int says = may ? PLAN_PASSES : PLAN_STOPS;

	if (l->left < steps)
		return PLAN_STOPS;
	if (!read_before(t) || !tell_locks(s, p, t, l, t->ev.before_addr)) {
		lease_note(l, ZUG_WHY_LOCK);
		return PLAN_STOPS;
	}
	if (l->plan.kind)
		says = plan_goes(t->slot, at, may);
	if (says == PLAN_STOPS)
		return says;
	l->left -= says == PLAN_HANDS ? 1 : steps;
	t->ev.flags |= ZUG_EF_LEASED;
	if (says == PLAN_HANDS)
		t->flags |= TF_HAND;
	return says;
}

/* Places whose operand is a list of what they access. */
#define LISTS (ZUG_SITE_CASES | ZUG_SITE_PIECES)

static __always_inline __u64 object_key(const struct task_struct *p, const struct zug_where *w)
{
	return zug_object_key(p->tgid, w->ino, w->dev, w->offset);
}

/* What the operation there accesses, of which t->ev tells. */
static __always_inline void fill_access(struct zug_access *a, const struct task_struct *p, const struct task_state *t,
					const struct zug_site *site)
{
	bool first = site->obj_arg || site->flags & ZUG_SITE_OPERAND;
	bool second = site->obj2_arg || site->flags & ZUG_SITE_SECOND || (site->flags & LISTS && t->ev.arg[1]);

	a->how = site->access;
	if ((first && !(t->ev.flags & ZUG_EF_OBJECT)) || (second && !(t->ev.flags & ZUG_EF_OBJECT2)))
		a->how = 0;
	if (first) {
		a->object[0] = object_key(p, &t->ev.obj);
		a->object[1] = second ? object_key(p, &t->ev.obj2) : site->within ? a->object[0] - site->within : 0;
	} else if (a->how & ZUG_ACCESS_WRITES) {
		a->object[0] = ZUG_OBJECT_ANY;
	}
}

/* As kworld_label_point() says where the task stands. */
static __always_inline __u64 place_of(const struct task_state *t, const struct zug_site *site)
{
	return site->flags & ZUG_SITE_CALL && t->ev.ret ? t->ev.ret - 1 : t->ev.ip;
}

/* The holder passes the place under its lease, or hands the turn on: enum plan_says. */
static __noinline int leased(struct zug_sandbox *s, struct task_state *t, const struct zug_site *site)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct zug_lease *l;
	struct stand at = {};
	bool may;

	if (t->slot >= ZUG_MAX_SANDBOXES)
		return PLAN_STOPS;
	l = &leases[t->slot];
	if (l->left < site->pass.steps)
		return PLAN_STOPS;
	if (lease_due(s, l)) {
		lease_note(l, ZUG_WHY_TIME);
		return PLAN_STOPS;
	}
	if (site->obj_arg && !(t->ev.flags & ZUG_EF_WORDS)) {
		lease_note(l, ZUG_WHY_OBJECT);
		return PLAN_STOPS;
	}
	may = may_pass(p, t, site);
	if (!may && !l->plan.kind) {
		lease_note(l, site->pass.kind == ZUG_PASS_NEVER ? ZUG_WHY_PLACE : ZUG_WHY_HELD);
		return PLAN_STOPS;
	}
	at.pass = site->pass;
	at.lock = t->last_lock;
	fill_access(&at.access, p, t, site);
	at.op = site->op;
	at.place = place_of(t, site);
	return lease_says(s, p, t, l, site->pass.steps, &at, may);
}

/* The holder passes a place because it is alone: that counts, too. */
static __always_inline void lease_passed(const struct task_state *t, const struct zug_site *site)
{
	struct zug_lease *l;

	if (t->slot >= ZUG_MAX_SANDBOXES)
		return;
	l = &leases[t->slot];
	if (!site || (site->pass.kind == ZUG_PASS_NEVER && site->pass.plain != ZUG_PASS_ALONE) || l->left < site->pass.steps) {
		if (l->left)
			lease_note(l, !site ? ZUG_WHY_OTHER : site->pass.kind == ZUG_PASS_NEVER ? ZUG_WHY_PLACE : ZUG_WHY_USED_UP);
		l->left = 0;
		return;
	}
	l->left -= site->pass.steps;
	l->plan.peers[l->plan.holder & (ZUG_PLAN_PEERS - 1)].place = place_of(t, site);
	l->plan.peers[l->plan.holder & (ZUG_PLAN_PEERS - 1)].op = site->op;
	plan_counts(l, site->pass.steps);
}

/* The time that the holder has had since its last point is its own, and the test's clock goes on. */
static __always_inline void reaches_point(struct zug_sandbox *s)
{
	__u64 now = bpf_ktime_get_ns();

	if (s->turn_since)
		s->ran_ns += now - s->turn_since;
	s->turn_since = now;
	clock_step(s);
}

/* The holder stops here. t->ev is filled. */
static __always_inline void halt(struct zug_sandbox *s, struct task_state *t)
{
	s->nr_switches++;
	s->stopping = 1;
	t->flags |= TF_STOP;
	scx_bpf_kick_cpu(bpf_get_smp_processor_id(), SCX_KICK_PREEMPT);
}

/* No other task could go on. */
static __always_inline bool is_alone(const struct zug_sandbox *s, const struct task_state *t)
{
	return !s->turn.stop_always && !scx_bpf_dsq_nr_queued(ZUG_DSQ(t->slot));
}

/* The holder passes for that. t->ev is filled. */
static __always_inline void pass_alone(struct zug_sandbox *s, struct task_state *t, const struct zug_site *site)
{
	lease_passed(t, site);
	t->ev.flags |= ZUG_EF_LONE;
	event_send(s, &t->ev);
}

/*
 * Stops here, or passes when no other task could go on, or (not with site NULL) under a lease. t->ev is
 * filled.
 */
static __always_inline void stop(struct zug_sandbox *s, struct task_state *t, const struct zug_site *site, bool always)
{
	int says = PLAN_STOPS;
	bool stays;

	s->nr_points++;
	reaches_point(s);
	stays = always || ring_crowded(t);
	if (stays)
		lease_noted(t, !always ? ZUG_WHY_RING : !site ? ZUG_WHY_OTHER : t->ev.flags & (ZUG_EF_WATCHED | ZUG_EF_CALLER) ?
			    ZUG_WHY_WATCHED : ZUG_WHY_OBJECT);
	else if (!site)
		lease_noted(t, t->ev.kind == ZUG_EV_SIGNAL ? ZUG_WHY_SIGNAL : ZUG_WHY_OTHER);
	if (!stays && !alarm_due(s) && is_alone(s, t)) {
		pass_alone(s, t, site);
		return;
	}
	if (!stays && site)
		says = leased(s, t, site);
	if (says == PLAN_PASSES) {
		event_send(s, &t->ev);
		return;
	}
	if (says == PLAN_STOPS)
		read_before(t);
	halt(s, t);
}

/*
 * The holder passes a point before the test has come to where its search begins: that is no step, and makes no event.
 * Loops that wait for another task stop there all the same, or they would go on for ever.
 */
static __noinline bool quiet_pass(struct zug_sandbox *s)
{
	if (!s->quiet)
		return false;
	s->nr_quiet++;
	reaches_point(s);
	return true;
}

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct zug_caller_key);
	__type(value, struct zug_caller);
} callers SEC(".maps");

#define CALLER_LEVELS 12

/* What is known of the caller at that return address, or of its own. sp, bp: as they are in it. */
static __noinline __u32 caller_says(__u32 mm, __u64 ret, __u64 sp, __u64 bp)
{
	__u32 i;

	bpf_for(i, 0, CALLER_LEVELS) {
		struct zug_caller_key key = { .mm = mm, .addr = ret };
		struct zug_caller *c = bpf_map_lookup_elem(&callers, &key);

		if (!c)
			return ZUG_CALLER_UNKNOWN;
		if (c->what != ZUG_CALLER_ABOVE)
			return c->what;
		sp = (c->by_bp ? bp : sp) + c->size;
		if (bpf_probe_read_user(&ret, sizeof(ret), (void *)(sp - sizeof(ret))) ||
		    (c->bp_at && bpf_probe_read_user(&bp, sizeof(bp), (void *)(sp + c->bp_at))))
			return ZUG_CALLER_UNKNOWN;
	}
	return ZUG_CALLER_UNKNOWN;
}

/*
 * Whether --only and --not leave out what the holder is about to do, or an interpreter's process does not need it as a point:
 * ZUG_CALLER_*.
 */
static __always_inline __u32 left_out(const struct task_state *t, const struct space *space, const struct zug_site *site,
				      __u64 ip, __u64 ret, __u64 sp, __u64 bp)
{
	if (!site || site->flags & ZUG_SITE_WAITS)
		return ZUG_CALLER_IN;
	if (site->flags & ZUG_SITE_LEFT_OUT)
		return ZUG_CALLER_LEFT_OUT;
	if (!(site->flags & ZUG_SITE_CALLED)) {
		if (!space || !space->data || !(site->flags & ZUG_SITE_WHOLE) ||
		    caller_says(t->mm, ret, 0, 0) != ZUG_CALLER_LEFT_OUT)
			return ZUG_CALLER_IN;
		return ZUG_CALLER_LEFT_OUT;
	}
	if (site->flags & ZUG_SITE_CODE)
		return caller_says(t->mm, ip, sp, bp);
	return caller_says(t->mm, ret, sp + sizeof(ret), bp);
}

/*
 * The holder passes a point that is left out, as if it were alone: that is a step of the trace, for what it orders, and no
 * decision. How many points the search has promised is not known behind it, unless the task is alone in any case.
 */
static __noinline bool pass_left_out(struct zug_sandbox *s, struct task_state *t, const struct zug_site *site)
{
	struct zug_lease *l;

	if (ring_crowded(t) || clock_due(s) || s->turn.stop_always || t->slot >= ZUG_MAX_SANDBOXES)
		return false;
	l = &leases[t->slot];
	if (!l->passes)
		return false;
	l->passes--;
	if (is_alone(s, t) && !alarm_due(s)) {
		lease_passed(t, site);
	} else {
		if (l->left)
			lease_note(l, ZUG_WHY_OTHER);
		l->left = 0;
	}
	s->nr_points++;
	reaches_point(s);
	t->ev.flags |= ZUG_EF_LONE;
	event_send(s, &t->ev);
	return true;
}

/*
 * What the holder is about to do is left out too where no other task can see it, and it cannot wait there: a single thread that
 * locks, in memory of its process alone. What other processes do meanwhile is the same before and after. In a process with a
 * handler it matters where a signal comes, but not between the locks that a library of the distribution takes for itself:
 * servers come to thousands of these, when they begin and end. ret: behind the call. place: ZUG_CALLER_*.
 */
static __always_inline __u32 unseen(struct task_struct *p, struct task_state *t, const struct zug_site *site,
				    const struct space *sp, __u64 ret, __u32 place)
{
	if (place != ZUG_CALLER_IN || !site || site->flags & (ZUG_SITE_WAITS | ZUG_SITE_FROM) || !(t->ev.flags & ZUG_EF_OBJECT) ||
	    !sees_alone(sp, &t->ev.obj) || (t->ev.flags & ZUG_EF_OBJECT2 && !sees_alone(sp, &t->ev.obj2)) ||
	    (site->obj_arg && !may_pass(p, t, site)) || (sp->handles && (site->flags & ZUG_SITE_CODE || in_own_code(sp, ret))))
		return place;
	t->ev.flags |= ZUG_EF_LEFT_OUT;
	return ZUG_CALLER_LEFT_OUT;
}

/* A task comes to where its search begins. false: it has been there, and the place is none else. */
static __always_inline bool begins_there(struct zug_sandbox *s, const struct zug_site *site)
{
	if (!site || !(site->flags & ZUG_SITE_FROM))
		return true;
	if (site->flags & ZUG_SITE_BEHIND) {
		if (s->quiet == ZUG_QUIET_FAR)
			s->quiet = ZUG_QUIET_NEAR;
		return false;
	}
	if (!s->quiet)
		return !(site->flags & ZUG_SITE_ONCE);
	if (s->quiet == ZUG_QUIET_NEAR)
		s->quiet = ZUG_QUIET_NOT;
	return true;
}

/*
 * What an interpreter does with the lock that a thread must have to execute the program, and that ends at once. Who gets that lock
 * is decided where threads wait for it: these are points.
 */
static __always_inline bool within_interpreter(const struct space *sp, const struct zug_site *site, __u64 object)
{
	__u32 word = 0;

	if (!sp || object < sp->data || object >= sp->data_end || !(site->access & ZUG_ACCESS_ENDS) ||
	    site->flags & (ZUG_SITE_FROM | ZUG_SITE_WAITS))
		return false;
	if (site->pass.kind != ZUG_PASS_IF)
		return true;
	return !site->pass.index && !bpf_probe_read_user(&word, sizeof(word), (void *)object) &&
	       (word & site->pass.mask) == site->pass.value;
}

/* Registers are told by number in the site, and pointers to kernel objects take no variable offset: copied first. */
static __always_inline __u64 operand(struct task_state *t, const struct zug_site *site, struct pt_regs *regs,
				     __u64 ip)
{
	__u64 addr = (__s64)site->disp;

	_Static_assert(sizeof(*regs) <= sizeof(t->regs), "registers");
	if (bpf_probe_read_kernel(t->regs, sizeof(*regs), regs))
		return 0;
	if (site->ip_add)
		addr += ip + site->ip_add;
	if (site->base)
		addr += t->regs[(site->base - 1) & 31];
	if (site->index)
		addr += t->regs[(site->index - 1) & 31] << (site->shift & 3);
	return addr;
}

/* What the interpreter executes that stands at that site, or its operation is about. 0: it cannot be read. */
static __noinline __u64 executed(const struct zug_site *site, __u64 addr)
{
	__s64 at;
	__u32 i;

	if (!site)
		return 0;
	for (i = 0; i < ZUG_SITE_PATH && site->path[i]; i++) {
		at = site->path[i] == ZUG_PATH_HERE ? 0 : site->path[i];
		if (bpf_probe_read_user(&addr, sizeof(addr), (void *)(addr + at)))
			return 0;
	}
	return addr;
}

/*
 * The channels of a select of Go's with so many cases, from addr on: two words each, of which the first is the channel, 0 for
 * one that is never ready. Those of more than two cases are not told.
 */
static __always_inline void read_cases(struct task_state *t, __u64 addr, __u64 nr)
{
	__u64 channel[2] = {};

	if (nr && nr <= 2)
		bpf_probe_read_user(&channel[0], sizeof(channel[0]), (void *)addr);
	if (nr == 2)
		bpf_probe_read_user(&channel[1], sizeof(channel[1]), (void *)(addr + 16));
	t->ev.arg[0] = channel[0] ? channel[0] : channel[1];
	t->ev.arg[1] = channel[0] ? channel[1] : 0;
}

/* Of an array of struct iovec the first two that are not empty, among the first ones. */
static __noinline void read_pieces(struct task_state *t, const struct zug_site *site, __u64 addr, __u64 nr)
{
	__u64 piece[2], at = 0;
	__u32 i;

	if (!t || !site)
		return;
	t->ev.arg[0] = t->ev.arg[1] = t->ev.arg[2] = 0;
	t->ev.arg[3] = nr;
	if (site->path[0]) {
		if (bpf_probe_read_user(piece, sizeof(piece), (void *)(addr + (__s64)site->path[0])))
			return;
		addr = piece[0];
		nr = piece[1];
	}
	for (i = 0; i < ZUG_MAX_PIECES && i < nr && at < 2; i++) {
		if (bpf_probe_read_user(piece, sizeof(piece), (void *)(addr + i * sizeof(piece)))) {
			t->ev.arg[0] = 0;
			return;
		}
		if (!piece[1])
			continue;
		t->ev.arg[at & 1] = piece[0];
		t->ev.arg[2 + (at & 1)] = piece[1];
		at++;
	}
}

static __always_inline bool is_watched(const struct task_state *t, __u64 addr, __u32 size)
{
	const struct zug_watch *list = watches[t->slot & (ZUG_MAX_SANDBOXES - 1)];
	__u32 i;

	bpf_for(i, 0, ZUG_MAX_WATCHES)
		if (list[i].len && addr < list[i].addr + list[i].len && list[i].addr < addr + size)
			return true;
	return false;
}

/* NULL: there is no memory. */
static __always_inline struct zug_hits *hits_of(const struct task_state *t, __u32 number)
{
	struct zug_hits_key key = { .sandbox = t->slot, .site = number };
	struct zug_hits *h = bpf_map_lookup_elem(&hit_counts, &key), none = {};

	if (h)
		return h;
	bpf_map_update_elem(&hit_counts, &key, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&hit_counts, &key);
}

static __always_inline bool used_up(const struct zug_sandbox *s, const struct zug_site *site, struct zug_hits *h)
{
	__u32 hits;

	if (h->run != s->run) {
		if (h->run == s->template_run) {
			h->hits_before = h->hits;
			h->run_before = h->run;
		}
		h->run = s->run;
		h->hits = s->forked && h->run_before == s->template_run ? h->hits_before : 0;
	}
	hits = h->hits++;
	/* beyond the limit, a few: tasks that come late reach the place after those that came first */
	return hits >= site->limit && (hits >= ZUG_HOT_HITS || (hits & (hits - 1)));
}

/* At the first hit behind the last that can stop, and at some later ones: the breakpoint is of no use any more. */
static __always_inline bool useless(const struct task_state *t, const struct zug_site *site, const struct zug_hits *h)
{
	__u32 last = site->limit > ZUG_HOT_HITS / 2 ? site->limit : ZUG_HOT_HITS / 2 + 1;

	return h->hits > last && !((h->hits - last - 1) % ZUG_HOT_HITS) && !any_watch(t);
}

static __always_inline struct primitive_call *primitive_of(struct task_state *t)
{
	return &t->inside[t->handlers & (PRIMITIVE_LEVELS - 1)];
}

/* True when the call before that return address goes to ip, and to nothing else. */
static __always_inline bool calls(__u64 ret, __u64 ip)
{
	__s32 distance = 0;
	__u8 op = 0;

	return !bpf_probe_read_user(&op, sizeof(op), (void *)(ret - 5)) && op == 0xe8 &&
	       !bpf_probe_read_user(&distance, sizeof(distance), (void *)(ret - 4)) && ret + distance == ip;
}

/* The call has not returned: its return address lies where it left it, and the stack pointer is below. */
static __always_inline bool in_call(const struct primitive_call *c, __u64 sp)
{
	__u64 ret = 0;

	return c->sp && sp <= c->sp && c->sp - sp < PRIMITIVE_STACK &&
	       !bpf_probe_read_user(&ret, sizeof(ret), (void *)c->sp) && ret == c->ret;
}

static __always_inline __u64 library_of(const struct zug_site *site, const struct cached_site *found, __u64 ip)
{
	return site->disp ? ip - (__u32)site->disp : found->start;
}

static __always_inline void note_primitive(struct primitive_call *c, const struct zug_site *site,
					   const struct cached_site *found, __u64 ip, __u64 sp, __u64 ret)
{
	c->sp = sp;
	c->ret = ret;
	c->ip = ip;
	c->start = library_of(site, found, ip);
	c->end = found->end;
	c->reads = site->flags & ZUG_SITE_READS;
}

/*
 * A task comes to a primitive: true when that is part of the one that it has called, as the library itself calls it, or
 * jumps to it. (A jump leaves the stack as it is; so does a second call from the same place, but that goes to ip.)
 */
static __always_inline bool part_of_primitive(struct task_state *t, const struct zug_site *site,
					      const struct cached_site *found, __u64 ip, __u64 sp, __u64 ret)
{
	struct primitive_call *c = primitive_of(t);
	__u64 start = library_of(site, found, ip);

	if (site->flags & ZUG_SITE_OUTER) {
		if (ret >= start && ret < found->end)
			return true;
		if (c->sp == sp && c->ret == ret && c->ip != ip && calls(ret, c->ip))
			return true;
	} else if (ret >= start && ret < found->end && c->start == start && in_call(c, sp)) {
		return true;
	}
	note_primitive(c, site, found, ip, sp, ret);
	if (!(site->flags & (ZUG_SITE_OUTER | ZUG_SITE_NESTS)))
		c->sp = 0;
	return false;
}

/* True for an address behind a call. */
static __always_inline bool is_return(__u64 addr)
{
	__u8 b[6] = {};

	return !bpf_probe_read_user(b, sizeof(b), (void *)(addr - sizeof(b))) &&
	       (b[1] == 0xe8 || (b[0] == 0xff && b[1] == 0x15));
}

/*
 * A system call at ip: true when it is part of the primitive that the task has called. Where that has returned, and nothing was
 * written there since, the return address of syscall() tells.
 */
static __always_inline bool inside_primitive(struct task_struct *p, struct task_state *t, __u64 ip, __u64 sp)
{
	struct primitive_call *c = primitive_of(t);
	__u64 above[SYSCALL_FRAME] = {}, code, end;
	__u32 i;

	if (!c->sp || ip < c->start || ip >= c->end)
		return false;
	if (!in_call(c, sp) || bpf_probe_read_user(above, sizeof(above), (void *)sp)) {
		c->sp = 0;
		return false;
	}
	code = BPF_CORE_READ(p, mm, start_code);
	end = BPF_CORE_READ(p, mm, end_code);
	for (i = 0; i < SYSCALL_FRAME; i++)
		if (sp + 8 * i < c->sp && above[i] >= code && above[i] < end &&
		    (above[i] < c->start || above[i] >= c->end) && is_return(above[i]))
			return false;
	return true;
}

/* The next round of an instruction that repeats: single-stepped, it traps again and again. */
static __always_inline bool goes_round(struct task_state *t, const struct zug_site *site, __u64 ip, __u64 left)
{
	bool again = site && (site->flags & ZUG_SITE_REP) && t->rep_ip == ip && t->rep_left == left + 1;

	t->rep_ip = site && (site->flags & ZUG_SITE_REP) ? ip : 0;
	t->rep_left = left;
	/* a watched variable may lie anywhere in what it accesses */
	return again && !any_watch(t);
}

/* What follows the instruction of a WATCHED point: it is told as an access to watched data is. */
static __always_inline void fill_stepped(struct task_struct *p, struct task_state *t, struct space *sp)
{
	event_init(&t->ev, ZUG_EV_STEPPED, p, t);
	t->ev.ip = t->step_ip;
	t->ev.arg[0] = t->step_addr;
	if (t->step_addr && addr_where(p, sp, t->step_addr, &t->ev.obj))
		t->ev.flags |= ZUG_EF_OBJECT;
}

/*
 * The holder is alone before an instruction that accesses watched data: it passes that point and the one behind it, and
 * the instruction is executed here. false: it stops before it, or nothing is known of that yet.
 */
static __noinline bool pass_watched(struct zug_sandbox *s, struct task_struct *p, struct task_state *t, struct zug_site *site)
{
	if (s->setup.stepped || !(t->ev.flags & ZUG_EF_OBJECT) || ring_crowded(t) || !is_alone(s, t))
		return false;
	/* also when the clock has gone on at both points */
	if (s->turn.alarm && s->clock + 2 * STEP_NS >= s->turn.alarm)
		return false;
	t->regs[REGS_IP] = t->ev.ip;
	if (!execute_watched(t->ev.site))
		return false;
	s->nr_points += 2;
	reaches_point(s);
	t->ev.flags &= ~ZUG_EF_WATCHED;
	pass_alone(s, t, site);
	reaches_point(s);
	fill_stepped(p, t, mm_space(LOOSE(p)->mm));
	pass_alone(s, t, NULL);
	return true;
}

SEC("fentry/uprobe_pre_sstep_notifier")
int BPF_PROG(zug_breakpoint, struct pt_regs *regs)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;
	struct zug_site *site = NULL;
	struct zug_hits *hits;
	struct cached_site found = {};
	struct space *sp;
	__u64 ip, stack, led, ret = 0, args[4];
	__u32 idx, caller;

	if (!t || !(s = sandbox_of(t)) || !controlled(t, s) || t->id != s->holder)
		return 0;
	if ((regs->cs & 3) != 3)
		return 0;
	ip = regs->ip - 1;
	sp = mm_space(LOOSE(p)->mm);
	t->mm = space_number(sp);
	find_site(p, t, t->mm, ip, &found);
	idx = found.site;
	if (idx == NOT_OURS)
		return 0;
	if (idx != ZUG_NO_SITE) {
		site = bpf_map_lookup_elem(&sites, &idx);
		if (!site || !site->op)
			return 0;
	}
	if (goes_round(t, site, ip, regs->cx))
		return 0;
	stack = regs->sp;
	if (!site || !(site->flags & ZUG_SITE_CODE))
		bpf_probe_read_user(&ret, sizeof(ret), (void *)stack);
	if (site && site->flags & ZUG_SITE_CALL && in_loader(sp, ret))
		return 0;
	if (!begins_there(s, site))
		return 0;
	if (site && site->flags & ZUG_SITE_READS) {
		note_primitive(primitive_of(t), site, &found, ip, stack, ret);
		return 0;
	}
	if (site && site->flags & ZUG_SITE_WHOLE && part_of_primitive(t, site, &found, ip, stack, ret))
		return 0;
	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->cx;
	if (site && site->obj_arg && within_interpreter(sp, site, args[(site->obj_arg - 1) & 3]))
		return 0;
	event_init(&t->ev, ZUG_EV_POINT, p, t);
	t->ev.site = idx;
	t->ev.ip = ip;
	t->ev.arg[0] = args[0];
	t->ev.arg[1] = args[1];
	t->ev.arg[2] = args[2];
	t->ev.arg[3] = args[3];
	t->ev.ret = ret;
	t->ev.before_addr = t->last_lock;
	t->prim[0] = site && site->obj_arg ? args[(site->obj_arg - 1) & 3] : 0;
	t->prim[1] = site && site->obj2_arg ? args[(site->obj2_arg - 1) & 3] : 0;
	t->joins = site && site->flags & ZUG_SITE_JOIN;
	t->gathers = site && site->access & ZUG_ACCESS_GATHERS;
	t->tells_eintr = site && site->flags & ZUG_SITE_EINTR;
	if (!(site && site->flags & ZUG_SITE_WAITS) && quiet_pass(s)) {
		t->last_lock = 0;
		return 0;
	}
	if (site && site->flags & ZUG_SITE_EXECUTES) {
		t->ev.arg[0] = executed(site, operand(t, site, regs, ip));
		caller = caller_says(t->mm, t->ev.arg[0], 0, 0);
		if (caller == ZUG_CALLER_LEFT_OUT ||
		    (caller == ZUG_CALLER_IN && site->limit && (hits = hits_of(t, idx)) && used_up(s, site, hits)))
			return 0;
		if (caller != ZUG_CALLER_IN && site->flags & ZUG_SITE_ALONE && !scx_bpf_dsq_nr_queued(ZUG_DSQ(t->slot)))
			return 0;
		if (caller != ZUG_CALLER_IN)
			t->ev.flags |= ZUG_EF_EXECUTES;
		t->last_lock = 0;
		stop(s, t, site, caller != ZUG_CALLER_IN);
		return 0;
	}
	if (site && zug_site_leads(site)) {
		led = executed(site, operand(t, site, regs, ip));
		if (site->flags & ZUG_SITE_CODE)
			t->ev.arg[3] = led;
		else
			t->ev.arg[1] = led;
	}
	caller = left_out(t, sp, site, ip, ret, stack, regs->bp);
	if (caller == ZUG_CALLER_LEFT_OUT) {
		t->ev.flags |= ZUG_EF_LEFT_OUT;
	} else if (caller == ZUG_CALLER_UNKNOWN) {
		t->ev.flags |= ZUG_EF_CALLER;
		if (site->flags & ZUG_SITE_CODE) {
			t->ev.stack[0] = stack;
			t->ev.stack[1] = regs->bp;
		} else {
			t->ev.arg[2] = stack;
			t->ev.arg[3] = regs->bp;
		}
	}
	if (site && (site->flags & ZUG_SITE_OPERAND)) {
		if (t->handlers)
			t->ev.flags |= ZUG_EF_HANDLER;
		t->ev.arg[0] = operand(t, site, regs, ip);
		/* free(NULL), snprintf(NULL, 0, ...): a call that accesses nothing */
		if (!t->ev.arg[0] && site->flags & ZUG_SITE_CODE && !ZUG_SITE_SIZE(site->flags) && !(site->flags & LISTS))
			return 0;
		t->gives_buffers |= site->flags & ZUG_SITE_CODE && !ZUG_SITE_SIZE(site->flags);
		if (site->flags & ZUG_SITE_CASES)
			read_cases(t, t->ev.arg[0], regs->di + regs->si);
		if (site->flags & ZUG_SITE_PIECES) {
			t->ev.ret = regs->si;
			read_pieces(t, site, t->ev.arg[0], regs->dx);
		}
		if (ZUG_SITE_SIZE(site->flags) && is_watched(t, t->ev.arg[0], ZUG_SITE_SIZE(site->flags))) {
			t->ev.flags |= ZUG_EF_WATCHED;
			t->flags |= TF_STEP;
			t->step_addr = t->ev.arg[0];
			t->step_ip = ip + ZUG_SITE_LEN(site->flags);
		} else if (site->limit && (hits = hits_of(t, idx)) && used_up(s, site, hits)) {
			if (useless(t, site, hits)) {
				t->ev.kind = ZUG_EV_HOT;
				event_send(s, &t->ev);
			}
			return 0;
		}
		if ((t->ev.arg[0] || !(site->flags & LISTS)) && addr_where(p, sp, t->ev.arg[0], &t->ev.obj))
			t->ev.flags |= ZUG_EF_OBJECT;
		if ((site->flags & ZUG_SITE_SECOND || (site->flags & LISTS && t->ev.arg[1])) &&
		    addr_where(p, sp, t->ev.arg[1], &t->ev.obj2))
			t->ev.flags |= ZUG_EF_OBJECT2;
		t->last_lock = 0;
		if (!(t->ev.flags & ZUG_EF_WATCHED))
			caller = unseen(p, t, site, sp, ret, caller);
		if (caller == ZUG_CALLER_LEFT_OUT && !(t->ev.flags & ZUG_EF_WATCHED) && pass_left_out(s, t, site))
			return 0;
		if (caller == ZUG_CALLER_IN && t->ev.flags & ZUG_EF_WATCHED && pass_watched(s, p, t, site))
			return 0;
		stop(s, t, site, caller == ZUG_CALLER_UNKNOWN || (t->ev.flags & ZUG_EF_WATCHED) ||
		     !(t->ev.flags & ZUG_EF_OBJECT));
		return 0;
	}
	if (site && site->obj_arg &&
	    addr_where(p, sp, args[(site->obj_arg - 1) & 3], &t->ev.obj))
		t->ev.flags |= ZUG_EF_OBJECT;
	if (site && site->obj2_arg &&
	    addr_where(p, sp, args[(site->obj2_arg - 1) & 3], &t->ev.obj2))
		t->ev.flags |= ZUG_EF_OBJECT2;
	t->last_lock = 0;
	if (site && site->obj_arg) {
		__u64 lock = args[((site->obj2_arg ? site->obj2_arg : site->obj_arg) - 1) & 3];

		if (!bpf_probe_read_user(t->ev.word, sizeof(t->ev.word), (void *)lock))
			t->ev.flags |= ZUG_EF_WORDS;
		t->last_lock = lock;
	}
	if (!(site && (site->flags & ZUG_SITE_ANY) && any_watch(t)))
		caller = unseen(p, t, site, sp, ret, caller);
	if (caller == ZUG_CALLER_LEFT_OUT && (!site->obj_arg || t->ev.flags & ZUG_EF_OBJECT) && pass_left_out(s, t, site))
		return 0;
	/* what could not be looked up here user space looks up while the task is stopped */
	if (site && (site->flags & ZUG_SITE_ANY) && any_watch(t)) {
		t->ev.flags |= ZUG_EF_WATCHED;
		t->flags |= TF_STEP;
		t->step_addr = 0;
		t->step_ip = ip;
	}
	/* of a task that goes on user space cannot find out what has called */
	stop(s, t, site, caller == ZUG_CALLER_UNKNOWN || (t->ev.flags & ZUG_EF_WATCHED) ||
	     (site && site->obj_arg && !(t->ev.flags & ZUG_EF_OBJECT)));
	return 0;
}

/*
 * The watchpoints were off for this one instruction: QEMU delivers a watchpoint hit in a single step once more
 * in the kernel's own handler of it, which then never ends. Interrupts are off, as at the breakpoint.
 */
SEC("fentry/uprobe_post_sstep_notifier")
int BPF_PROG(zug_stepped, struct pt_regs *regs)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;
	struct space *sp;

	if (!t || !(t->flags & TF_STEP))
		return 0;
	t->flags &= ~TF_STEP;
	if (!(s = sandbox_of(t)) || !controlled(t, s) || t->id != s->holder)
		return 0;
	sp = mm_space(LOOSE(p)->mm);
	t->mm = space_number(sp);
	fill_stepped(p, t, sp);
	stop(s, t, NULL, true);
	return 0;
}

/*
 * A signal that the task brought upon itself, by a fault or abort(), and that ends its process: the last
 * moment at which all of it can be looked at. It stops on its way back to user mode, before the signal is taken.
 * siglock is held here: interrupts are off.
 */
static __always_inline bool ends_process(struct task_struct *p, int sig)
{
	__sighandler_t handler = NULL;

	switch (sig) {
	case 4: /* SIGILL */
		handler = BPF_CORE_READ(p, sighand, action[3].sa.sa_handler);
		break;
	case 6: /* SIGABRT */
		handler = BPF_CORE_READ(p, sighand, action[5].sa.sa_handler);
		break;
	case 7: /* SIGBUS */
		handler = BPF_CORE_READ(p, sighand, action[6].sa.sa_handler);
		break;
	case 8: /* SIGFPE */
		handler = BPF_CORE_READ(p, sighand, action[7].sa.sa_handler);
		break;
	case 11: /* SIGSEGV */
		handler = BPF_CORE_READ(p, sighand, action[10].sa.sa_handler);
		break;
	case 31: /* SIGSYS */
		handler = BPF_CORE_READ(p, sighand, action[30].sa.sa_handler);
		break;
	default:
		return false;
	}
	return !handler;
}

SEC("tp_btf/signal_generate")
int BPF_PROG(zug_signal, int sig, struct kernel_siginfo *info, struct task_struct *to)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state *t = state_of(to);
	struct zug_sandbox *s;

	/* the task that it ends may stand in the queue, and nothing else would tell that it dies: it does before the next point */
	if (t && to->pending.signal.sig[0] & SIGKILL_BIT && (s = sandbox_of(t))) {
		s->may_die = 1;
		lease_ends(t, ZUG_WHY_DIES);
	}
	if (to != p || p->ptrace)
		return 0;
	if (!t || !(s = sandbox_of(t)) || !controlled(t, s) || t->id != s->holder || !ends_process(p, sig))
		return 0;
	event_init(&t->ev, ZUG_EV_FATAL, p, t);
	t->ev.nr = sig;
	t->flags |= TF_STOP;
	scx_bpf_kick_cpu(bpf_get_smp_processor_id(), SCX_KICK_PREEMPT);
	return 0;
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(zug_deliver, int sig, struct kernel_siginfo *info, struct k_sigaction *ka)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state *t = state_of(p);
	__u64 handler = (__u64)BPF_CORE_READ(ka, sa.sa_handler);
	struct zug_sandbox *s;

	/* SIG_DFL, SIG_IGN */
	if (!t || handler <= 1)
		return 0;
	t->handlers++;
	lease_ends(t, ZUG_WHY_SIGNAL);
	primitive_of(t)->sp = 0;
	if (!(s = sandbox_of(t)) || !controlled(t, s) || t->id != s->holder)
		return 0;
	/* it is about to stop already, and ev says why */
	if (t->flags & TF_STOP)
		return 0;
	t->mm = mm_number(LOOSE(p)->mm);
	event_init(&t->ev, ZUG_EV_SIGNAL, p, t);
	t->ev.ip = handler;
	t->ev.arg[0] = sig;
	stop(s, t, NULL, false);
	return 0;
}


SEC("perf_event")
int zug_watchpoint(struct bpf_perf_event_data *ctx)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct task_state *t = state_of(p);
	struct zug_sandbox *s;
	struct space *sp;
	struct file *exe;
	__u64 addr, ino;
	__u32 dev, i, hit = ZUG_MAX_WATCHES;

	if (!t || !(s = sandbox_of(t)) || !controlled(t, s) || t->id != s->holder)
		return 0;
	/*
	 * The kernel steps over a probed instruction: such a trap reports a watchpoint only where the processor
	 * (QEMU's) has not forgotten the last hit. A probed instruction is a point of its own.
	 */
	if (ctx->regs.flags & EFLAGS_TF)
		return 0;
	addr = ctx->addr;
	exe = BPF_CORE_READ(p, mm, exe_file);
	ino = BPF_CORE_READ(exe, f_inode, i_ino);
	dev = BPF_CORE_READ(exe, f_inode, i_sb, s_dev);
	bpf_for(i, 0, ZUG_MAX_WATCHES) {
		struct zug_watch *w = &watches[t->slot & (ZUG_MAX_SANDBOXES - 1)][i];

		if (w->len && addr >= w->addr && addr < w->addr + w->len &&
		    (!w->exe_ino || (w->exe_ino == ino && w->exe_dev == dev)))
			hit = i;
	}
	if (hit == ZUG_MAX_WATCHES || quiet_pass(s))
		return 0;
	event_init(&t->ev, ZUG_EV_WATCH, p, t);
	sp = mm_space(LOOSE(p)->mm);
	t->mm = space_number(sp);
	t->ev.mm = t->mm;
	t->ev.ip = ctx->regs.ip;
	t->ev.arg[0] = addr;
	t->ev.arg[1] = hit;
	if (addr_where(p, sp, addr, &t->ev.obj))
		t->ev.flags |= ZUG_EF_OBJECT;
	stop(s, t, NULL, false);
	return 0;
}

#endif
