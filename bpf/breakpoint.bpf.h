/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * breakpoint.bpf.h - points at breakpoints: instructions and functions that are probed, and data that is watched
 *
 * A hit is told as an event with all that only the stopped task knows: its registers, what lies at its operand, what called.
 */
#ifndef ZUG_BREAKPOINT_BPF_H
#define ZUG_BREAKPOINT_BPF_H

#include "points.bpf.h"

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

/* The end of a path, and what leads there: of an interpreter, the frame that a function is executed in. */
struct led {
	__u64 from, to;
};

/* What the interpreter executes that stands at that site, or its operation is about. to 0: it cannot be read. */
__noinline int follow_path(const struct zug_site *site, __u64 addr, struct led *led)
{
	__s64 at;
	__u32 i;

	if (!site || !led)
		return 0;
	led->to = 0;
	for (i = 0; i < ZUG_SITE_PATH && site->path[i]; i++) {
		led->from = addr;
		at = site->path[i] == ZUG_PATH_HERE ? 0 : site->path[i];
		if (bpf_probe_read_user(&addr, sizeof(addr), (void *)(addr + at)))
			return 0;
	}
	led->to = addr;
	return 0;
}

static __always_inline __u64 executed(const struct zug_site *site, __u64 addr)
{
	struct led led = {};

	follow_path(site, addr, &led);
	return led.to;
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
__noinline int read_pieces(struct task_state *t, const struct zug_site *site, __u64 addr, __u64 nr)
{
	__u64 piece[2], at = 0;
	__u32 i;

	if (!t || !site)
		return 0;
	t->ev.arg[0] = t->ev.arg[1] = t->ev.arg[2] = 0;
	t->ev.arg[3] = nr;
	if (site->path[0]) {
		if (bpf_probe_read_user(piece, sizeof(piece), (void *)(addr + (__s64)site->path[0])))
			return 0;
		addr = piece[0];
		nr = piece[1];
	}
	for (i = 0; i < ZUG_MAX_PIECES && i < nr && at < 2; i++) {
		if (bpf_probe_read_user(piece, sizeof(piece), (void *)(addr + i * sizeof(piece)))) {
			t->ev.arg[0] = 0;
			return 0;
		}
		if (!piece[1])
			continue;
		t->ev.arg[at & 1] = piece[0];
		t->ev.arg[2 + (at & 1)] = piece[1];
		at++;
	}
	return 0;
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
	counts_hits[search_of(t) & (ZUG_MAX_SANDBOXES - 1)] = 1;
	bpf_map_update_elem(&hit_counts, &key, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&hit_counts, &key);
}

/* Beyond the limit a few are points: tasks that come late reach the place after those that came first. */
static __always_inline bool beyond(__u32 hits, __u32 limit)
{
	return hits >= limit && (hits >= ZUG_HOT_HITS || (hits & (hits - 1)));
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
	return beyond(hits, site->limit);
}

/* The same of what an interpreter executes there: one place is that of all methods, so that each of them has its own limit. */
static __always_inline bool executed_up(const struct zug_sandbox *s, const struct task_state *t, const struct zug_site *site,
					struct zug_caller *c, __u32 number)
{
	struct zug_hits *h;

	if (site->flags & ZUG_SITE_ALONE && c)
		return beyond(c->hits++, site->limit);
	h = hits_of(t, number);
	return h && used_up(s, site, h);
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
	c->lock = 0;
}

/* A call that is an operation on a lock: one access of that, by the function that is called, is part of it. */
static __always_inline void note_lock(struct primitive_call *c, const struct zug_site *site, __u64 ip, __u64 sp, __u64 lock)
{
	c->sp = sp - sizeof(c->ret);
	c->ret = ip + ZUG_SITE_LEN(site->flags);
	c->start = c->end = c->reads = 0;
	c->lock = lock;
}

/* The access that is part of such a call. */
static __always_inline bool part_of_lock(struct task_state *t, __u64 sp, __u64 addr)
{
	struct primitive_call *c = primitive_of(t);

	if (!c->lock || c->lock != addr || !in_call(c, sp))
		return false;
	c->sp = c->lock = 0;
	return true;
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

/* The current task's system call at that stack: nothing on it leads back into the program before the primitive returns. */
__noinline int is_within(struct primitive_call *c, __u64 sp)
{
	struct task_struct *p = bpf_get_current_task_btf();
	__u64 above[SYSCALL_FRAME] = {}, code, end;
	__u32 i;

	if (!c)
		return false;
	if (!in_call(c, sp) || bpf_probe_read_user(above, sizeof(above), (void *)sp)) {
		c->sp = 0;
		return false;
	}
	code = LOOSE(p)->mm->start_code;
	end = LOOSE(p)->mm->end_code;
	for (i = 0; i < SYSCALL_FRAME; i++)
		if (sp + 8 * i < c->sp && above[i] >= code && above[i] < end &&
		    (above[i] < c->start || above[i] >= c->end) && is_return(above[i]))
			return false;
	return true;
}

/*
 * A system call of the current task, t, at ip: true when it is part of the primitive that the task has called. Where that has
 * returned, and nothing was written there since, the return address of syscall() tells.
 */
static __always_inline bool inside_primitive(struct task_state *t, __u64 ip, __u64 sp)
{
	struct primitive_call *c = primitive_of(t);

	return c->sp && ip >= c->start && ip < c->end && is_within(c, sp);
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
	if (t->step_addr && addr_where(sp, t->step_addr, &t->ev.obj))
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

/* A task has hit a breakpoint of ours. */
struct hit {
	struct task_struct *p;
	struct task_state *t;
	struct zug_sandbox *s;
	struct space *sp;
	struct pt_regs *regs;
	struct zug_site *site;	/* NULL: nothing is known of that place yet */
	__u32 number;		/* of the site */
	__u64 ip, stack;
	__u64 ret;		/* where a function returns to; 0 at a place in its midst */
	__u64 args[4];
};

/* An argument of the function that is called, by its number from 1 on; 0 has none. */
static __always_inline __u64 hit_argument(const struct hit *h, __u32 nr)
{
	return nr ? h->args[(nr - 1) & 3] : 0;
}

static __always_inline void fill_point(const struct hit *h)
{
	const struct zug_site *site = h->site;
	struct task_state *t = h->t;

	event_init(&t->ev, ZUG_EV_POINT, h->p, t);
	t->ev.site = h->number;
	t->ev.ip = h->ip;
	t->ev.arg[0] = h->args[0];
	t->ev.arg[1] = h->args[1];
	t->ev.arg[2] = h->args[2];
	t->ev.arg[3] = h->args[3];
	t->ev.ret = h->ret;
	t->ev.before_addr = t->last_lock;
	t->prim[0] = site ? hit_argument(h, site->obj_arg) : 0;
	t->prim[1] = site && !(site->flags & ZUG_SITE_CODE) ? hit_argument(h, site->obj2_arg) : 0;
	t->small = site && (site->obj_arg == ZUG_ARG_OPERAND || (site->flags & ZUG_SITE_CALL && ZUG_SITE_LEN(site->flags)));
	t->tries = site && site->obj_arg == ZUG_ARG_OPERAND && site->pass.kind == ZUG_PASS_IF ? h->args[0] : 0;
	t->joins = site && site->flags & ZUG_SITE_JOIN;
	t->gathers = site && site->access & ZUG_ACCESS_GATHERS;
	t->tells_eintr = site && site->flags & ZUG_SITE_EINTR;
}

/* Frames whose callers count in how_it_stands(): where code keeps no frame pointer, what lies at that register does. */
#define STANDS_FRAMES	3

/*
 * How a task has come to a place: its registers, where its function returns to, and from where that was called. In a loop that
 * waits it is the same in each round; it is another one where other code calls the same function.
 */
static __always_inline __u64 how_it_stands(const struct pt_regs *r)
{
	const __u64 regs[] = { r->ax, r->bx, r->cx, r->dx, r->si, r->di, r->sp, r->bp, r->r8, r->r9, r->r10, r->r11, r->r12,
			       r->r13, r->r14, r->r15 };
	__u64 sum = 0, frame[2] = {}, at = r->bp;

	for (unsigned int i = 0; i < sizeof(regs) / sizeof(regs[0]); i++)
		sum = (sum ^ regs[i]) * 0x9e3779b97f4a7c15ull;
	for (int i = 0; i < STANDS_FRAMES && !bpf_probe_read_user(frame, sizeof(frame), (void *)at); i++) {
		sum = (sum ^ frame[0]) * 0x9e3779b97f4a7c15ull;
		sum = (sum ^ frame[1]) * 0x9e3779b97f4a7c15ull;
		at = frame[0];
	}
	return sum ^ sum >> 32;
}

/*
 * The element of an array that the bytecode at hand accesses. HotSpot's interpreter has that bytecode's address in r13, and the
 * stack of its operands where rax leads when it calls its runtime (set_last_Java_frame). false: it accesses none.
 */
static __always_inline bool read_element(struct task_state *t, const struct pt_regs *r)
{
	__u64 operands[2] = {};
	__u8 code = 0;
	__u32 nth;

	if (bpf_probe_read_user(&code, sizeof(code), (void *)r->r13))
		return false;
	nth = (__u32)code - ZUG_JAVA_LOADS;
	if (nth < ZUG_JAVA_ARRAYS) {
		nth = 0;
	} else {
		nth = (__u32)code - ZUG_JAVA_STORES;
		if (nth >= ZUG_JAVA_ARRAYS)
			return false;
		/* above it is the value, of long and double two words */
		nth = nth == 1 || nth == 3 ? 2 : 1;
	}
	if (bpf_probe_read_user(operands, sizeof(operands), (void *)(r->ax + 8 * nth)))
		return false;
	t->ev.arg[1] = operands[1];
	t->ev.arg[2] = code | (operands[0] & 0xffffffff) << 8;
	return true;
}

/* A place that executes code of an interpreter, or a case of it, which may be in the lists or not. */
static __always_inline void hit_executes(struct hit *h)
{
	const struct zug_site *site = h->site;
	struct task_state *t = h->t;
	struct led led = {};
	struct zug_caller *c;
	__u32 caller;

	if (site->flags & ZUG_SITE_ELEMENT && !read_element(t, h->regs))
		return;
	follow_path(site, operand(t, site, h->regs, h->ip), &led);
	t->ev.arg[0] = led.to;
	c = executed_says(t, led.to);
	caller = c ? c->what : ZUG_CALLER_UNKNOWN;
	if (caller == ZUG_CALLER_UNKNOWN && !(site->flags & ZUG_SITE_CALLED) && h->sp && h->sp->frames.known && led.to)
		caller = look_says(t, h->sp, led.from, led.to);
	if (caller == ZUG_CALLER_LEFT_OUT ||
	    (caller == ZUG_CALLER_IN && site->limit && executed_up(h->s, t, site, c, h->number)))
		return;
	if (caller != ZUG_CALLER_IN && site->flags & ZUG_SITE_ALONE && !others_queued(h->s, t->slot))
		return;
	if (caller != ZUG_CALLER_IN)
		t->ev.flags |= ZUG_EF_EXECUTES;
	t->last_lock = 0;
	stop(h->s, t, site, caller != ZUG_CALLER_IN);
}

/* What the lists say of what has called, in the event as well. */
static __always_inline __u32 fill_caller(struct hit *h)
{
	const struct zug_site *site = h->site;
	struct task_state *t = h->t;
	__u32 caller;
	__u64 led;

	if (site && zug_site_leads(site)) {
		led = executed(site, operand(t, site, h->regs, h->ip));
		if (site->flags & ZUG_SITE_CODE)
			t->ev.arg[3] = led;
		else
			t->ev.arg[1] = led;
	}
	caller = left_out(t, h->sp, site, h->ip, h->ret, h->stack, h->regs->bp);
	if (caller == ZUG_CALLER_LEFT_OUT) {
		t->ev.flags |= ZUG_EF_LEFT_OUT;
	} else if (caller == ZUG_CALLER_UNKNOWN && !(t->ev.flags & ZUG_EF_CODE)) {
		t->ev.flags |= ZUG_EF_CALLER;
		if (site->flags & ZUG_SITE_CODE) {
			t->ev.stack[0] = h->stack;
			t->ev.stack[1] = h->regs->bp;
		} else {
			t->ev.arg[2] = h->stack;
			t->ev.arg[3] = h->regs->bp;
		}
	}
	return caller;
}

/* An instruction that accesses data, or a call that does. */
static __always_inline void hit_access(struct hit *h, __u32 caller)
{
	struct zug_site *site = h->site;
	struct task_state *t = h->t;
	struct zug_hits *hits;

	if (t->handlers)
		t->ev.flags |= ZUG_EF_HANDLER;
	t->ev.arg[0] = operand(t, site, h->regs, h->ip);
	/* free(NULL), snprintf(NULL, 0, ...): a call that accesses nothing */
	if (!t->ev.arg[0] && site->flags & ZUG_SITE_CODE && !ZUG_SITE_SIZE(site->flags) && !(site->flags & LISTS))
		return;
	t->gives_buffers |= site->flags & ZUG_SITE_CODE && !ZUG_SITE_SIZE(site->flags);
	if (site->flags & ZUG_SITE_SECOND && site->obj2_arg)
		t->ev.arg[1] = t->regs[(site->obj2_arg - 1) & 31];
	if (site->flags & ZUG_SITE_CASES)
		read_cases(t, t->ev.arg[0], h->regs->di + h->regs->si);
	if (site->flags & ZUG_SITE_PIECES) {
		t->ev.ret = h->regs->si;
		read_pieces(t, site, t->ev.arg[0], h->regs->dx);
	}
	if (ZUG_SITE_SIZE(site->flags) && is_watched(t, t->ev.arg[0], ZUG_SITE_SIZE(site->flags))) {
		t->ev.flags |= ZUG_EF_WATCHED;
		t->flags |= TF_STEP;
		t->step_addr = t->ev.arg[0];
		t->step_ip = h->ip + ZUG_SITE_LEN(site->flags);
	} else if (site->limit && (hits = hits_of(t, h->number)) && used_up(h->s, site, hits)) {
		if (useless(t, site, hits)) {
			t->ev.kind = ZUG_EV_HOT;
			event_send(h->s, &t->ev);
		}
		return;
	}
	if ((t->ev.arg[0] || !(site->flags & LISTS)) && addr_where(h->sp, t->ev.arg[0], &t->ev.obj))
		t->ev.flags |= ZUG_EF_OBJECT;
	if ((site->flags & ZUG_SITE_SECOND || (site->flags & LISTS && t->ev.arg[1])) &&
	    addr_where(h->sp, t->ev.arg[1], &t->ev.obj2))
		t->ev.flags |= ZUG_EF_OBJECT2;
	t->last_lock = 0;
	if (!(t->ev.flags & ZUG_EF_WATCHED))
		caller = unseen(h->p, t, site, h->sp, h->ret, caller);
	caller = left_to_library(h->s, t, h->sp, caller, t->ev.arg[0]);
	if (caller == ZUG_CALLER_LEFT_OUT && !(t->ev.flags & ZUG_EF_WATCHED) && pass_left_out(t, site))
		return;
	/* it is no decision, also where it is not passed */
	if (caller == ZUG_CALLER_LEFT_OUT)
		lease_left_out(t);
	if (caller == ZUG_CALLER_IN && t->ev.flags & ZUG_EF_WATCHED && pass_watched(h->s, h->p, t, site))
		return;
	stop(h->s, t, site, caller == ZUG_CALLER_UNKNOWN || (t->ev.flags & ZUG_EF_WATCHED) ||
	     !(t->ev.flags & ZUG_EF_OBJECT));
}

/* The search chooses a value there: user space writes it while the task stands. */
static __always_inline bool gets_value(const struct zug_site *site)
{
	return site && (site->flags & (ZUG_SITE_CHOICE | ZUG_SITE_FROM)) == ZUG_SITE_CHOICE;
}

/* A function that synchronises, a place named by the user, or one of which nothing is known yet. */
static __always_inline void hit_function(struct hit *h, __u32 caller)
{
	struct zug_site *site = h->site;
	struct task_state *t = h->t;

	if (site && site->obj_arg && addr_where(h->sp, hit_argument(h, site->obj_arg), &t->ev.obj))
		t->ev.flags |= ZUG_EF_OBJECT;
	if (site && site->obj2_arg && addr_where(h->sp, hit_argument(h, site->obj2_arg), &t->ev.obj2))
		t->ev.flags |= ZUG_EF_OBJECT2;
	t->last_lock = 0;
	if (site && site->obj_arg) {
		__u64 lock = hit_argument(h, site->obj2_arg ? site->obj2_arg : site->obj_arg);

		if (!bpf_probe_read_user(t->ev.word, sizeof(t->ev.word), (void *)lock))
			t->ev.flags |= ZUG_EF_WORDS;
		t->last_lock = lock;
	}
	if (!(site && (site->flags & ZUG_SITE_ANY) && any_watch(t)))
		caller = unseen(h->p, t, site, h->sp, h->ret, caller);
	if (site && !(site->flags & ZUG_SITE_WAITS))
		caller = left_to_library(h->s, t, h->sp, caller, t->last_lock);
	if (caller == ZUG_CALLER_LEFT_OUT && (!site->obj_arg || t->ev.flags & ZUG_EF_OBJECT) && pass_left_out(t, site))
		return;
	if (caller == ZUG_CALLER_LEFT_OUT)
		lease_left_out(t);
	/* what could not be looked up here user space looks up while the task is stopped */
	if (site && (site->flags & ZUG_SITE_ANY) && any_watch(t)) {
		t->ev.flags |= ZUG_EF_WATCHED;
		t->flags |= TF_STEP;
		t->step_addr = 0;
		t->step_ip = h->ip;
	}
	/* of a task that goes on user space cannot find out what has called, nor can it give it a value */
	stop(h->s, t, site, caller == ZUG_CALLER_UNKNOWN || gets_value(site) || (t->ev.flags & ZUG_EF_WATCHED) ||
	     (site && site->obj_arg && !(t->ev.flags & ZUG_EF_OBJECT)));
}

SEC("fentry/uprobe_pre_sstep_notifier")
int BPF_PROG(zug_breakpoint, struct pt_regs *regs)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct hit h = { .p = p, .t = state_of(p), .regs = regs };
	struct cached_site found = {};
	struct zug_site *site = NULL;
	__u32 caller;

	if (!h.t || !(h.s = sandbox_of(h.t)) || !controlled(h.t, h.s) || h.t->id != h.s->holder)
		return 0;
	if ((regs->cs & 3) != 3)
		return 0;
	h.ip = regs->ip - 1;
	h.sp = mm_space(LOOSE(p)->mm);
	h.t->mm = space_number(h.sp);
	find_site(p, h.t, h.t->mm, h.ip, &found);
	h.number = found.site;
	if (h.number == NOT_OURS)
		return 0;
	if (h.number != ZUG_NO_SITE) {
		site = bpf_map_lookup_elem(&sites, &h.number);
		if (!site || !site->op)
			return 0;
		h.site = site;
	}
	if (goes_round(h.t, site, h.ip, regs->cx))
		return 0;
	h.stack = regs->sp;
	if (site && site->obj_arg == ZUG_ARG_OPERAND)
		h.ret = h.ip;
	else if (!site || !(site->flags & ZUG_SITE_CODE))
		bpf_probe_read_user(&h.ret, sizeof(h.ret), (void *)h.stack);
	if (site && site->flags & ZUG_SITE_CALL && in_loader(h.sp, h.ret))
		return 0;
	if (!begins_there(h.s, site))
		return 0;
	h.args[0] = regs->di;
	if (site && site->obj_arg == ZUG_ARG_OPERAND) {
		h.args[0] = operand(h.t, site, regs, h.ip);
		if (ZUG_SITE_LEN(site->flags))
			note_lock(primitive_of(h.t), site, h.ip, h.stack, h.args[0]);
		if (site->flags & ZUG_SITE_READS)
			return 0;
	} else if (site && site->flags & ZUG_SITE_READS) {
		note_primitive(primitive_of(h.t), site, &found, h.ip, h.stack, h.ret);
		return 0;
	}
	if (site && site->flags & ZUG_SITE_CODE) {
		if (site->flags & ZUG_SITE_WHOLE && part_of_lock(h.t, h.stack, operand(h.t, site, regs, h.ip)))
			return 0;
	} else if (site && site->flags & ZUG_SITE_CALL && ZUG_SITE_LEN(site->flags) && h.t->tries == regs->di) {
		return 0;
	} else if (site && site->flags & ZUG_SITE_WHOLE && part_of_primitive(h.t, site, &found, h.ip, h.stack, h.ret))
		return 0;
	h.args[1] = regs->si;
	h.args[2] = regs->dx;
	h.args[3] = regs->cx;
	if (site && site->obj_arg && within_interpreter(h.sp, site, hit_argument(&h, site->obj_arg)))
		return 0;
	if (site && site->flags & ZUG_SITE_WAITS && site->flags & ZUG_SITE_OPERAND && !site->obj_arg)
		h.ret = how_it_stands(regs);
	fill_point(&h);
	if (!(site && site->flags & ZUG_SITE_WAITS) && quiet_pass(h.s)) {
		h.t->last_lock = 0;
		return 0;
	}
	if (site && site->access & ZUG_ACCESS_INNER && passes_inner(h.t, site, hit_argument(&h, site->obj_arg), h.ret))
		return 0;
	if (site && site->flags & ZUG_SITE_EXECUTES) {
		hit_executes(&h);
		return 0;
	}
	caller = fill_caller(&h);
	if (site && site->flags & ZUG_SITE_OPERAND)
		hit_access(&h, caller);
	else
		hit_function(&h, caller);
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
	if (addr_where(sp, addr, &t->ev.obj))
		t->ev.flags |= ZUG_EF_OBJECT;
	stop(s, t, NULL, false);
	return 0;
}

#endif
