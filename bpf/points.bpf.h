/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * points.bpf.h - how a task stops at a point, passes it, or goes on under its lease
 *
 * All sources end in stop(): fill the event, set TF_STOP, kick the own CPU. The
 * kick's interrupt must not land while this program is marked active (other
 * tasks' hits of it would be skipped and its RCU section would stay open), so
 * every source runs where interrupts or preemption are off:
 *
 *  - probes (breakpoint.bpf.h): fentry on uprobe_pre_sstep_notifier(), in the int3 exception with interrupts off. The uprobe
 *    only plants the breakpoint; its own program does nothing. The task parks before the probed instruction has any effect.
 *  - system calls (calls.bpf.h): raw_syscalls/sys_enter (TRACEPOINT: preemption off; before Linux 7.0 raw tracepoints have it
 *    off, too).
 *  - signals (signals.bpf.h): tp_btf/signal_generate, under siglock, with interrupts off.
 *  - data (breakpoint.bpf.h): the perf event of a hardware breakpoint, exception context. It fires *after* the access.
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

/*
 * What becomes of the holder at what takes so many steps of its lease, and which it may pass or not: enum plan_says. What user
 * space reads of memory at a point goes with the event.
 */
static __always_inline int lease_says(struct task_state *t, struct zug_lease *l, __u32 steps, const struct stand *at, bool may)
{
	int says = may ? PLAN_PASSES : PLAN_STOPS;

	if (l->left < steps)
		return PLAN_STOPS;
	if (!read_before(t) || !tell_locks(t, l, t->ev.before_addr)) {
		lease_note(l, ZUG_WHY_LOCK);
		return PLAN_STOPS;
	}
	if (l->plan.kind)
		says = plan_goes(t->slot, at, may);
	if (says == PLAN_STOPS)
		return says;
	steps = says == PLAN_HANDS ? 1 : steps;
	l->left -= steps;
	plan_goes_on(l, says == PLAN_HANDS ? l->plan.next - 1 : l->plan.holder, steps);
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

/* What lies there is none of the data that the program has from its start on. */
static __always_inline bool may_be_new(struct task_struct *p, const struct zug_where *w)
{
	return w->ino || w->offset < LOOSE(p)->mm->start_code || w->offset >= LOOSE(p)->mm->start_brk;
}

/* A function of Go's, whose object is an operand there. */
static __always_inline bool is_of_go(const struct zug_site *site)
{
	return site->flags & ZUG_SITE_OPERAND && !(site->flags & ZUG_SITE_CODE) && site->obj_arg != ZUG_ARG_OPERAND;
}

/* What the operation there accesses, of which t->ev tells. */
static __always_inline void fill_access(struct zug_access *a, struct task_struct *p, const struct task_state *t,
					const struct zug_site *site)
{
	bool first = site->obj_arg || site->flags & ZUG_SITE_OPERAND;
	bool second = site->obj2_arg || site->flags & ZUG_SITE_SECOND || (site->flags & LISTS && t->ev.arg[1]);

	a->how = site->access;
	/* a channel that is nil has no object in labels */
	if ((first && !(t->ev.flags & ZUG_EF_OBJECT)) || (second && !(t->ev.flags & ZUG_EF_OBJECT2)) ||
	    (is_of_go(site) && !t->ev.arg[0]))
		a->how = 0;
	if (leases[t->slot & (ZUG_MAX_SANDBOXES - 1)].plan.object_by &&
	    ((first && may_be_new(p, &t->ev.obj)) || (second && may_be_new(p, &t->ev.obj2))))
		a->how |= ZUG_ACCESS_NEW;
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
	return (site->flags & ZUG_SITE_CALL || is_of_go(site)) && t->ev.ret ? t->ev.ret - 1 : t->ev.ip;
}

/*
 * User space may label the operation there as one of the program's own code (ZUG_L_OWN): of an instruction the site says it, of
 * a function its own code and that which has called it.
 */
static __always_inline bool may_be_own(const struct task_state *t, const struct zug_site *site)
{
	struct space *sp;

	if (site->access & ZUG_ACCESS_OWN)
		return true;
	if (site->flags & ZUG_SITE_CODE)
		return false;
	sp = mm_space(LOOSE(bpf_get_current_task_btf())->mm);
	return !sp || in_own_code(sp, t->ev.ret) || in_own_code(sp, t->ev.ip);
}

/* The holder passes the place under its lease, or hands the turn on: enum plan_says. */
__noinline int leased(struct task_state *t, const struct zug_site *site)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct zug_lease *l;
	struct stand at = {};
	bool may, own;
	int says;

	if (!t || !site || t->slot >= ZUG_MAX_SANDBOXES)
		return PLAN_STOPS;
	l = &leases[t->slot & (ZUG_MAX_SANDBOXES - 1)];
	if (l->left < site->pass.steps)
		return PLAN_STOPS;
	if (lease_due(&sandboxes[t->slot & (ZUG_MAX_SANDBOXES - 1)], l)) {
		lease_note(l, ZUG_WHY_TIME);
		return PLAN_STOPS;
	}
	if (site->obj_arg && !(t->ev.flags & ZUG_EF_WORDS)) {
		lease_note(l, ZUG_WHY_OBJECT);
		return PLAN_STOPS;
	}
	at.pass = site->pass;
	/* what is replayed is no misuse, and the lease says how far that is known */
	if (at.pass.kind == ZUG_PASS_NEVER && at.pass.plain == ZUG_PASS_ALONE && l->flags & ZUG_LEASE_KNOWN)
		at.pass.kind = ZUG_PASS_ALWAYS;
	may = at.pass.kind == ZUG_PASS_ALWAYS || may_pass(p, t, site);
	if (!may && !l->plan.kind) {
		lease_note(l, site->pass.kind == ZUG_PASS_NEVER ? ZUG_WHY_PLACE : ZUG_WHY_HELD);
		return PLAN_STOPS;
	}
	at.lock = t->last_lock;
	fill_access(&at.access, p, t, site);
	at.op = site->op;
	at.place = place_of(t, site);
	if (at.place == l->stops[0] || at.place == l->stops[1]) {
		lease_note(l, ZUG_WHY_PLACE);
		return PLAN_STOPS;
	}
	own = l->flags & ZUG_LEASE_OWN && may_be_own(t, site);
	/* the lease ends behind the first of two steps */
	if (own && site->pass.steps > 1) {
		lease_note(l, ZUG_WHY_PLACE);
		return PLAN_STOPS;
	}
	says = lease_says(t, l, site->pass.steps, &at, may);
	if (own)
		l->left = 0;
	return says;
}

/* The holder, whose plan needs to know what it does there, passes a place because it is alone. */
static __always_inline int passed_at(struct task_state *t, const struct zug_site *site)
{
	struct stand at = {};

	if (!site)
		return 0;
	at.pass = site->pass;
	fill_access(&at.access, bpf_get_current_task_btf(), t, site);
	at.op = site->op;
	at.place = place_of(t, site);
	return plan_counts_at(t->slot, &at);
}

/* What it does there may put it to sleep, and then others race with what it goes on with: sleeps_with(). */
static __always_inline void stood_at(struct zug_lease *l, const struct task_state *t, const struct zug_site *site)
{
	struct zug_access access = {};

	fill_access(&access, bpf_get_current_task_btf(), t, site);
	l->plan.peers[l->plan.holder & (ZUG_PLAN_PEERS - 1)].access = access;
}

/* The holder passes what is no place in code, because it is alone. */
static __always_inline void lease_over(struct task_state *t)
{
	struct zug_lease *l = &leases[t->slot & (ZUG_MAX_SANDBOXES - 1)];

	if (l->left)
		lease_note(l, ZUG_WHY_OTHER);
	l->left = 0;
}

/*
 * The holder stands at a place that is left out, and was not passed for that: no decision is due there. In a replay it is the
 * next step of the trace, under a lease as any other.
 */
static __always_inline void lease_left_out(struct task_state *t)
{
	if (!(leases[t->slot & (ZUG_MAX_SANDBOXES - 1)].flags & ZUG_LEASE_KNOWN))
		lease_over(t);
}

/* The holder passes a place because it is alone: that counts, too. */
__noinline int lease_passed(struct task_state *t, const struct zug_site *site)
{
	struct zug_lease *l;

	if (!t || !site || t->slot >= ZUG_MAX_SANDBOXES)
		return 0;
	l = &leases[t->slot & (ZUG_MAX_SANDBOXES - 1)];
	if ((site->pass.kind == ZUG_PASS_NEVER && site->pass.plain != ZUG_PASS_ALONE) || l->left < site->pass.steps) {
		if (l->left)
			lease_note(l, site->pass.kind == ZUG_PASS_NEVER ? ZUG_WHY_PLACE : ZUG_WHY_USED_UP);
		l->left = 0;
		return 0;
	}
	l->left -= site->pass.steps;
	if (l->flags & ZUG_LEASE_OWN && may_be_own(t, site)) {
		l->left = 0;
		return 0;
	}
	plan_goes_on(l, l->plan.holder, site->pass.steps);
	l->plan.peers[l->plan.holder & (ZUG_PLAN_PEERS - 1)].place = place_of(t, site);
	l->plan.peers[l->plan.holder & (ZUG_PLAN_PEERS - 1)].op = site->op;
	if (plan_needs_access(&l->plan)) {
		passed_at(t, site);
		return 0;
	}
	if (l->plan.kind == ZUG_PLAN_PENDING)
		stood_at(l, t, site);
	plan_counts(l, site->pass.steps);
	return 0;
}

/* The time that the holder has had since its last point is its own, and the test's clock goes on. */
static __always_inline void holder_ran(struct zug_sandbox *s)
{
	__u64 now = bpf_ktime_get_ns();

	if (s->turn_since)
		s->ran_ns += now - s->turn_since;
	s->turn_since = now;
}

static __always_inline void reaches_point(struct zug_sandbox *s)
{
	holder_ran(s);
	clock_step(s);
}

/* The holder stops here. t->ev is filled. */
static __always_inline void halt(struct zug_sandbox *s, struct task_state *t)
{
	s->nr_switches++;
	s->stopping = 1;
	stop_here(t);
}

/* No other task could go on. */
static __always_inline bool is_alone(const struct zug_sandbox *s, const struct task_state *t)
{
	return !s->turn.stop_always && !others_queued(s, t->slot);
}

/* The holder passes for that. t->ev is filled. */
static __always_inline void pass_alone(struct zug_sandbox *s, struct task_state *t, const struct zug_site *site)
{
	if (site)
		lease_passed(t, site);
	else
		lease_over(t);
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

	t->nr_inner = 0;
	s->nr_points++;
	reaches_point(s);
	stays = always || ring_crowded(t);
	if (stays)
		lease_noted(t, !always ? ZUG_WHY_RING : !site ? ZUG_WHY_OTHER : t->ev.flags & (ZUG_EF_WATCHED | ZUG_EF_CALLER) ?
			    ZUG_WHY_WATCHED : ZUG_WHY_OBJECT);
	else if (!site)
		lease_noted(t, ZUG_WHY_OTHER);
	if (!stays && !alarm_due(s) && is_alone(s, t)) {
		pass_alone(s, t, site);
		return;
	}
	if (!stays && site)
		says = leased(t, site);
	if (says == PLAN_PASSES) {
		event_send(s, &t->ev);
		return;
	}
	if (says == PLAN_STOPS)
		read_before(t);
	halt(s, t);
}

/*
 * The holder passes a point before the test has come to where its search begins: that is no step, makes no event, and takes no
 * time of the test's. So whatever the points are, an execution comes there in the same way, and so does a template. Loops that
 * wait for another task stop there all the same, or they would go on for ever.
 */
static __noinline bool quiet_pass(struct zug_sandbox *s)
{
	if (!s->quiet)
		return false;
	s->nr_quiet++;
	holder_ran(s);
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
__noinline __u32 caller_says(__u32 mm, __u64 ret, __u64 sp, __u64 bp)
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

/* The same of what an interpreter executes: this is said anew in each execution, since it depends on what came before. */
static __always_inline struct zug_caller *executed_says(const struct task_state *t, __u64 addr)
{
	struct zug_caller_key key = { .mm = t->mm, .run = t->run, .addr = addr };

	return bpf_map_lookup_elem(&callers, &key);
}

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct zug_code_key);
	__type(value, struct zug_code);
} codes SEC(".maps");

#define THREADS_MOST	64

/* 0: it cannot be read. */
static __always_inline __u64 user_word(__u64 addr)
{
	__u64 word = 0;

	return bpf_probe_read_user(&word, sizeof(word), (void *)addr) ? 0 : word;
}

/* The innermost frame of the thread with that thread pointer; 0: it executes nothing, or it cannot be found. */
static __noinline __u64 innermost_frame(const struct space *sp, __u64 tls)
{
	const struct zug_frames *f = &sp->frames;
	__u64 thread, frame;
	__u32 i;

	thread = user_word(user_word(sp->data + f->interpreters) + f->threads);
	bpf_for(i, 0, THREADS_MOST) {
		if (!thread)
			return 0;
		if (user_word(thread + f->thread_id) == tls) {
			frame = user_word(thread + f->thread_frame);
			if (frame && f->cframe_frame != ZUG_FRAMES_NONE)
				frame = user_word(frame + f->cframe_frame);
			/* the state of a thread that is being created bears the name of its creator */
			if (frame)
				return frame;
		}
		thread = user_word(thread + f->thread_next);
	}
	return 0;
}

/* ZUG_CODE_* of a code object. */
__noinline __u32 code_says(const struct task_state *t, const struct space *sp, __u64 code)
{
	struct zug_code_key key = { .addr = code };
	const struct zug_frames *f;
	__u64 file, name, begin;
	struct zug_code *c;

	if (!t || !sp)
		return ZUG_CODE_UNKNOWN;
	key.sandbox = t->slot;
	f = &sp->frames;
	c = bpf_map_lookup_elem(&codes, &key);
	if (!c)
		return ZUG_CODE_UNKNOWN;
	file = user_word(code + f->file);
	name = user_word(code + f->name);
	if (user_word(file + f->text_length) != c->file_length || user_word(name + f->text_length) != c->name_length)
		return ZUG_CODE_UNKNOWN;
	file += f->text_begin + c->file_length;
	begin = user_word(name + f->text_begin);
	if (c->name_length < sizeof(begin))
		begin &= (1ull << 8 * (c->name_length & 7)) - 1;
	if (begin != c->name_begin || user_word(file - 8) != c->file_end[1] ||
	    (c->file_length >= sizeof(c->file_end) && user_word(file - 16) != c->file_end[0]))
		return ZUG_CODE_UNKNOWN;
	return c->what;
}

#define CALLED_BY_C	4	/* frames of calls from C between that of a function and that of its caller */

/*
 * At a look of an interpreter, in that frame and function: LEFT_OUT where the language's library executes, and the
 * program has not called that function. UNKNOWN: user space has to look (kworld_executes_own()).
 */
__noinline __u32 look_says(const struct task_state *t, const struct space *sp, __u64 frame, __u64 code)
{
	const struct zug_frames *f;
	__u32 what, i;
	__u8 owner;

	if (!t || !sp)
		return ZUG_CALLER_UNKNOWN;
	f = &sp->frames;
	what = code_says(t, sp, code);
	if (what == ZUG_CODE_UNKNOWN || what == ZUG_CODE_OWN)
		return ZUG_CALLER_UNKNOWN;
	if (what == ZUG_CODE_BEGINS)
		return ZUG_CALLER_LEFT_OUT;
	bpf_for(i, 0, CALLED_BY_C) {
		frame = user_word(frame + f->previous);
		if (!frame)
			return ZUG_CALLER_LEFT_OUT;
		owner = 0;
		if (f->owner != ZUG_FRAMES_NONE && bpf_probe_read_user(&owner, sizeof(owner), (void *)(frame + f->owner)))
			return ZUG_CALLER_UNKNOWN;
		if (owner == ZUG_FRAMES_OF_C)
			continue;
		what = code_says(t, sp, user_word(frame + f->code));
		return what == ZUG_CODE_UNKNOWN || what == ZUG_CODE_OWN ? ZUG_CALLER_UNKNOWN : ZUG_CALLER_LEFT_OUT;
	}
	return ZUG_CALLER_UNKNOWN;
}

/*
 * Whether the language's library does what the task is about to do, and that is no point: with own_only all of it, else what
 * starts threads and ends them. ZUG_CALLER_*; UNKNOWN: user space has to look, and tells of the functions that it finds.
 */
__noinline __u32 library_does(const struct task_state *t, const struct space *sp, int own_only)
{
	struct task_struct *p = bpf_get_current_task_btf();
	const struct zug_frames *f;
	bool innermost = true;
	__u32 what, i;
	__u8 owner = 0;
	__u64 frame;

	if (!t || !sp)
		return ZUG_CALLER_UNKNOWN;
	f = &sp->frames;
	frame = innermost_frame(sp, LOOSE(p)->thread.fsbase);
	if (!frame)
		return ZUG_CALLER_UNKNOWN;
	bpf_for(i, 0, ZUG_FRAMES_MOST) {
		if (!frame)
			return innermost ? ZUG_CALLER_UNKNOWN : ZUG_CALLER_IN;
		if (f->owner != ZUG_FRAMES_NONE && bpf_probe_read_user(&owner, sizeof(owner), (void *)(frame + f->owner)))
			return ZUG_CALLER_UNKNOWN;
		if (f->owner == ZUG_FRAMES_NONE || owner != ZUG_FRAMES_OF_C) {
			what = code_says(t, sp, user_word(frame + f->code));
			if (what == ZUG_CODE_UNKNOWN)
				return ZUG_CALLER_UNKNOWN;
			if (what == ZUG_CODE_OWN)
				return ZUG_CALLER_IN;
			if (own_only || what == ZUG_CODE_BEGINS)
				return ZUG_CALLER_LEFT_OUT;
			if (what == ZUG_CODE_RUNS)
				return ZUG_CALLER_IN;
			innermost = false;
		}
		frame = user_word(frame + f->previous);
	}
	return ZUG_CALLER_UNKNOWN;
}

/*
 * The same, noted in t->ev, of a point that the lists leave in: place. What is done with the interpreter's own lock (object)
 * user space knows.
 */
static __always_inline __u32 left_to_library(struct zug_sandbox *s, struct task_state *t, const struct space *sp, __u32 place,
					     __u64 object)
{
	if (place != ZUG_CALLER_IN || !sp || !sp->data || !sp->frames.known || t->slot >= ZUG_MAX_SANDBOXES)
		return place;
	/* what is replayed is a step of that task, whether it was left out or not */
	if (leases[t->slot].left && leases[t->slot].flags & ZUG_LEASE_KNOWN)
		return place;
	if (object >= sp->data && object < sp->data_end)
		return ZUG_CALLER_UNKNOWN;
	place = library_does(t, sp, s->turn.own_only);
	if (place == ZUG_CALLER_UNKNOWN)
		t->ev.flags |= ZUG_EF_CODE;
	else if (place == ZUG_CALLER_LEFT_OUT)
		t->ev.flags |= ZUG_EF_LEFT_OUT;
	return place;
}

static __always_inline __u32 java_says(const struct task_state *t, __u64 method)
{
	struct zug_caller_key key = { .mm = t->mm, .addr = method };
	struct zug_caller *c = bpf_map_lookup_elem(&callers, &key);

	return c ? c->what : ZUG_JAVA_UNKNOWN;
}

/*
 * Whether it is the program that has Java's interpreter enter a monitor: the methods from that frame on say it
 * (begins_thread() of kworld). ZUG_CALLER_*, and in t->ev that it begins something. UNKNOWN: user space has to look, and tells
 * of the methods that it finds.
 */
__noinline __u32 java_enters(struct task_state *t, __u64 frame)
{
	__u32 says = ZUG_CALLER_IN, what, i;
	__u64 method, above;

	/* what is replayed is a step of that task, whether it was left out or not */
	if (!t || t->slot >= ZUG_MAX_SANDBOXES || (leases[t->slot].left && leases[t->slot].flags & ZUG_LEASE_KNOWN) ||
	    !java_says(t, ZUG_JAVA_TOLD))
		return ZUG_CALLER_IN;
	bpf_for(i, 0, ZUG_JAVA_FRAMES) {
		method = user_word(frame - ZUG_JAVA_METHOD);
		what = method > ZUG_JAVA_TOLD ? java_says(t, method) : ZUG_JAVA_UNKNOWN;
		if (what == ZUG_JAVA_UNKNOWN)
			break;
		if (what == ZUG_JAVA_OWN)
			return says;
		if (what == ZUG_JAVA_BEGINS)
			t->ev.flags |= ZUG_EF_BEGINS;
		if (what == ZUG_JAVA_BEGINS || what == ZUG_JAVA_FOREIGN)
			return ZUG_CALLER_LEFT_OUT;
		if (what == ZUG_JAVA_SELF)
			says = ZUG_CALLER_LEFT_OUT;
		above = user_word(frame);
		if (above <= frame)
			break;
		frame = above;
	}
	t->ev.flags |= ZUG_EF_CODE;
	return ZUG_CALLER_UNKNOWN;
}

/*
 * Whether --only and --not leave out what the holder is about to do, or an interpreter's process does not need it as a point:
 * ZUG_CALLER_*.
 */
static __always_inline __u32 left_out(struct task_state *t, const struct space *space, const struct zug_site *site,
				      __u64 ip, __u64 ret, __u64 sp, __u64 bp)
{
	if (!site || site->flags & ZUG_SITE_WAITS)
		return ZUG_CALLER_IN;
	if (site->flags & ZUG_SITE_LEFT_OUT)
		return ZUG_CALLER_LEFT_OUT;
	if (site->flags & ZUG_SITE_MONITOR && !(site->flags & (ZUG_SITE_OPERAND | ZUG_SITE_CALLED)))
		return java_enters(t, bp);
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
__noinline int pass_left_out(struct task_state *t, const struct zug_site *site)
{
	struct zug_sandbox *s;
	struct zug_lease *l;

	if (!t || !site || t->slot >= ZUG_MAX_SANDBOXES)
		return false;
	s = &sandboxes[t->slot & (ZUG_MAX_SANDBOXES - 1)];
	if (ring_crowded(t) || clock_due(s) || s->turn.stop_always)
		return false;
	l = &leases[t->slot & (ZUG_MAX_SANDBOXES - 1)];
	if (!l->passes)
		return false;
	/* before a lock that is held it does not go on, and another one is chosen */
	if (site->obj_arg && site->pass.kind != ZUG_PASS_NEVER && !may_pass(bpf_get_current_task_btf(), t, site))
		return false;
	l->passes--;
	/* quotas are of steps that are not left out: settled.h of search/ */
	if (is_alone(s, t) && !alarm_due(s) && l->plan.kind != ZUG_PLAN_QUOTAS) {
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
	if (place != ZUG_CALLER_IN || !site || site->flags & (ZUG_SITE_WAITS | ZUG_SITE_FROM) ||
	    !(t->ev.flags & ZUG_EF_OBJECT) || !sees_alone(sp, &t->ev.obj) ||
	    (t->ev.flags & ZUG_EF_OBJECT2 && !sees_alone(sp, &t->ev.obj2)) || (site->obj_arg && !may_pass(p, t, site)) ||
	    (sp->handles && (site->flags & ZUG_SITE_CODE || in_own_code(sp, ret))))
		return place;
	t->ev.flags |= ZUG_EF_LEFT_OUT;
	return ZUG_CALLER_LEFT_OUT;
}

/* So often in a row. Behind that the task may wait in a loop for another one, which needs steps to be seen (LEFT_OUT_MOST). */
#define INNER_MOST	20000

/*
 * The holder passes a lock that a library of the distribution uses for itself, in a process that has had one task only: that is
 * no step at all. What the threads have seen that it creates later is ordered by that. A client of a server came to 2,500 of
 * these while OpenSSL began and ended, each with its event. Locks are made and destroyed in memory that is another object's later:
 * elsewhere it may be misuse to do it twice. A lock whose memory was never touched is free.
 */
__noinline int passes_inner(struct task_state *t, const struct zug_site *site, __u64 lock, __u64 ret)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct mm_struct *mm = LOOSE(p)->mm;
	struct space *sp = mm_space(mm);
	struct zug_where w = {};
	struct zug_sandbox *s;

	if (!t || !site || !sp || sp->mates || t->nr_inner >= INNER_MOST || in_own_code(sp, ret))
		return false;
	s = &sandboxes[t->slot & (ZUG_MAX_SANDBOXES - 1)];
	if (!(s->setup.syscall_points & ZUG_SYS_NO_INNER) || site->flags & (ZUG_SITE_WAITS | ZUG_SITE_FROM))
		return false;
	if ((lock < LOOSE(mm)->start_brk || lock >= LOOSE(mm)->brk) &&
	    (site->pass.kind == ZUG_PASS_NEVER || !addr_where(sp, lock, &w) || w.ino || w.dev))
		return false;
	if (site->pass.kind > ZUG_PASS_ALWAYS) {
		if (!bpf_probe_read_user(t->ev.word, sizeof(t->ev.word), (void *)lock))
			t->ev.flags |= ZUG_EF_WORDS;
		else if (site->pass.kind == ZUG_PASS_OWNER)
			return false;
		if (t->ev.flags & ZUG_EF_WORDS && !may_pass(p, t, site))
			return false;
	}
	t->nr_inner++;
	holder_ran(s);
	return true;
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
 * What an interpreter does with the lock that a thread must have to execute the program, and that ends at once. Who gets that
 * lock is decided where threads wait for it: these are points.
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

#endif
