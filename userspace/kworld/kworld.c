/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "kworld/kworld_internal.h"
#include "kworld/spin.h"
#include "kernel/syscalls.h"

/*
 * How long an uninterruptible wait keeps the turn before it is lent. Disk waits should be shorter: a task
 * whose turn was lent stops inside the kernel when it wakes up, and may hold locks there.
 */
#define LEND_AFTER_MS 2000

static struct kworld *kw(struct world *w)
{
	return (struct kworld *)w;
}

/* Room for task number nr. */
static bool make_room(struct kworld *k, uint32_t nr)
{
	uint32_t n = k->w.nr_tasks;
	struct world_task *t;
	struct ktask *kt;

	if (nr < n)
		return true;
	n = nr + 1 > 2 * n ? nr + 1 : 2 * n;
	t = realloc(k->w.tasks, n * sizeof(*t));
	if (!t)
		return false;
	k->w.tasks = t;
	kt = realloc(k->kt, n * sizeof(*kt));
	if (!kt)
		return false;
	k->kt = kt;
	memset(t + k->w.nr_tasks, 0, (n - k->w.nr_tasks) * sizeof(*t));
	memset(kt + k->w.nr_tasks, 0, (n - k->w.nr_tasks) * sizeof(*kt));
	k->w.nr_tasks = n;
	return true;
}

static uint32_t number_of(const struct kworld *k, uint32_t kid)
{
	return kid < k->nr_kid && k->by_kid[kid] ? k->by_kid[kid] - 1 : WORLD_NO_TASK;
}

static uint32_t add_task(struct kworld *k, uint32_t kid, uint32_t parent, const struct zug_event *e,
			 bool thread)
{
	uint32_t nth = parent == WORLD_NO_TASK ? 0 : k->kt[parent].nr_children++, n, size;
	struct world_task *t;
	uint32_t *map;

	n = spawn_number(k->o.spawn, parent, nth);
	if (n == UINT32_MAX || !make_room(k, n))
		return WORLD_NO_TASK;
	if (kid >= k->nr_kid) {
		size = kid + 64;
		map = realloc(k->by_kid, size * sizeof(*map));
		if (!map)
			return WORLD_NO_TASK;
		memset(map + k->nr_kid, 0, (size - k->nr_kid) * sizeof(*map));
		k->by_kid = map;
		k->nr_kid = size;
	}
	k->by_kid[kid] = n + 1;
	memset(&k->kt[n], 0, sizeof(k->kt[n]));
	k->kt[n].kid = kid;
	k->kt[n].call_nr = -1;
	t = &k->w.tasks[n];
	memset(t, 0, sizeof(*t));
	t->task = n;
	t->parent = parent;
	t->nth = nth;
	t->pid = e->pid;
	t->tgid = e->tgid;
	t->own_pid = e->kind == ZUG_EV_NEW ? (int)e->arg[2] : (int)e->state;
	t->process = thread && parent != WORLD_NO_TASK ? k->w.tasks[parent].process : n;
	if (parent != WORLD_NO_TASK)
		memcpy(t->comm, k->w.tasks[parent].comm, sizeof(t->comm));
	places_pid(k->o.places, t->own_pid, n);
	t->state = TASK_BLOCKED;	/* until its first wake-up */
	t->label.op = ZUG_OP_BEGIN;
	return n;
}

static int kworld_start(struct world *w, bool stop_always, char *err, size_t errlen)
{
	struct kworld *k = kw(w);
	struct zug_event e;
	struct stat st;
	uint32_t kid;
	int pid;

	/* nothing of the last execution may be taken for this one's */
	while (!k->o.launch.joined && kernel_event(k->o.kernel, &e, 0, -1))
		;
	memset(w->tasks, 0, w->nr_tasks * sizeof(*w->tasks));
	memset(k->kt, 0, w->nr_tasks * sizeof(*k->kt));
	if (k->by_kid)
		memset(k->by_kid, 0, k->nr_kid * sizeof(*k->by_kid));
	places_reset(k->o.places);
	k->nr_told = 0;
	k->nr_lent = 0;
	k->told_modules = 0;
	k->goes_on = k->stepping = 0;
	k->goes_on_now = false;
	k->nr_stops = 0;
	k->computed_long = false;
	k->split_task = WORLD_NO_TASK;
	kworld_heat_fold(&k->heat);
	spin_reset(&k->spin);
	lane_watch_reset(&k->lane_watch);
	timers_reset(&k->timers);
	kworld_flows_reset(k);
	k->input = !k->o.launch.joined && !fstat(k->o.launch.in, &st) && S_ISFIFO(st.st_mode) ? st.st_ino : 0;
	k->asked = false;
	k->nr_held = 0;
	k->have_root = false;
	k->root_status = -1;
	k->root_pid = 0;
	if (!k->o.launch.joined)
		sandbox_reset(k->o.sandbox);
	kernel_sandbox(k->o.kernel, sandbox_slot(k->o.sandbox))->stop_always = stop_always;
	clock_gettime(CLOCK_MONOTONIC, &k->last_blip);
	if (k->o.launch.joined)
		return 0;
	pid = sandbox_launch(k->o.sandbox, &k->o.launch, &kid, err, errlen);
	if (pid < 0)
		return pid;
	k->root_pid = pid;
	return 0;
}

/* ---- events ---- */

static uint32_t task_of_tid(const struct world *w, int tid)
{
	for (uint32_t i = 0; i < w->nr_tasks; i++)
		if (w->tasks[i].state != TASK_NONE && w->tasks[i].own_pid == tid &&
		    w->tasks[i].state != TASK_DEAD)
			return i;
	return WORLD_NO_TASK;
}

static void on_leave(struct world_event *ev, const struct zug_event *e)
{
	if (e->arg[0])
		snprintf(ev->text, sizeof(ev->text), "pid %u moved itself to another cgroup: "
			 "it stays under control, but not under the sandbox's limits", e->pid);
	else
		snprintf(ev->text, sizeof(ev->text), "pid %u left the scheduling class: it is not "
			 "under control any more", e->pid);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* ZUG_DEBUG=events: when and what the kernel side says, for whoever works on zugzwang itself. */
static void print_event(const struct zug_event *e)
{
	static const char *const names[] = { "?", "NEW", "START", "POINT", "SYSCALL", "WATCH", "YIELD",
		"SPIN", "BLOCK", "WAKE", "EXIT", "EXEC", "ASK", "MODULE", "UNPROBED", "LEAVE",
		"UNGRANTED", "LENT", "REFUSED", "FRESH", "TIMER", "STEPPED", "HOT", "FATAL" };

	fprintf(stderr, "%8lu us %-9s task %u pid %u flags %x nr %d site %d ip %llx arg %llx %llx %llx state %x obj %x:%llu+%llx%s\n",
		(unsigned long)(now_ns() / 1000 % 100000000), e->kind < sizeof(names) / sizeof(names[0]) ? names[e->kind] : "?", e->task, e->pid,
		e->flags, e->nr, (int)e->site, e->ip, e->arg[0], e->arg[1], e->arg[2], e->state, e->obj.dev,
		e->obj.ino, e->obj.offset,
		e->flags & ZUG_EF_ASK ? " ASK" : "");
}

/* Those that kworld_settle() found to be awake. */
static void say_woken(struct kworld *k)
{
	for (uint32_t n = 0; n < k->w.nr_tasks; n++) {
		struct zug_event e = { .kind = ZUG_EV_WAKE, .sandbox = sandbox_slot(k->o.sandbox),
				       .task = k->kt[n].kid, .pid = k->w.tasks[n].pid,
				       .tgid = k->w.tasks[n].tgid,
				       .arg = { k->kt[n].waker } };

		if (k->kt[n].woken)
			kernel_unread(k->o.kernel, &e, 1);
	}
}

/* A stop that was not for the search: nobody else has a say. */
static void go_on(struct kworld *k)
{
	struct zug_ctl c = { .cmd = ZUG_CMD_GRANT, .sandbox = sandbox_slot(k->o.sandbox),
			     .task = k->goes_on };

	k->goes_on = 0;
	k->goes_on_now = false;
	k->asked = false;
	kernel_ctl(k->o.kernel, &c);
}

/* The turn was given to a task that has not got it, and never will. */
static bool take_back(struct kworld *k, uint32_t id)
{
	volatile struct zug_sandbox *z = kernel_sandbox(k->o.kernel, sandbox_slot(k->o.sandbox));

	if (z->holder || z->grant != id)
		return false;
	z->grant = 0;
	return true;
}

/* No question comes before a task that sleeps while it dies is dead. */
static bool dying_wait(volatile struct zug_sandbox *z)
{
	return !z->holder && !z->aux && z->need_ask && z->dying_waits;
}

/* For so many milliseconds the holder, or a task that dies, has been in an uninterruptible wait; 0: none is. */
static uint32_t stuck_ms(struct kworld *k)
{
	volatile struct zug_sandbox *z = kernel_sandbox(k->o.kernel, sandbox_slot(k->o.sandbox));
	uint64_t since = z->holder_io ? z->io_since : dying_wait(z) ? z->dying_since : 0, now = now_ns();

	if (!since || now < since)
		return 0;
	return (now - since) / 1000000 + 1;
}

/* That task is not waited for any longer: the others go on. */
static void lend(struct kworld *k)
{
	volatile struct zug_sandbox *z = kernel_sandbox(k->o.kernel, sandbox_slot(k->o.sandbox));
	uint32_t n = number_of(k, z->holder);
	struct zug_ctl c = { .cmd = ZUG_CMD_LEND, .sandbox = sandbox_slot(k->o.sandbox) };

	if (n == WORLD_NO_TASK && !dying_wait(z))
		return;
	c.pid = n == WORLD_NO_TASK ? ZUG_LEND_DYING : (uint32_t)k->w.tasks[n].pid;
	kernel_ctl(k->o.kernel, &c);
}

static int kworld_next(struct world *w, struct world_event *ev, int64_t timeout_us, char *err,
		       size_t errlen)
{
	struct kworld *k = kw(w);
	struct world_task *t = NULL;
	struct ktask *kt = NULL;
	struct zug_event e;
	const char *words;
	uint32_t n, parent;

again:
	if (k->goes_on_now)
		go_on(k);
	if (kworld_split_next(k, ev))
		return 1;
	if (k->arrived[0]) {
		*ev = (struct world_event){ .kind = WORLD_MESSAGE, .task = WORLD_NO_TASK, .waker = WORLD_NO_TASK };
		snprintf(ev->text, sizeof(ev->text), "%s", k->arrived);
		k->arrived[0] = 0;
		return 1;
	}
	if (!kernel_event(k->o.kernel, &e, timeout_us, k->o.wake_fd)) {
		words = kernel_ejected(k->o.kernel);
		if (words) {
			snprintf(err, errlen, "the kernel ejected the scheduler: %s", words);
			return -EPIPE;
		}
		if (stuck_ms(k) > LEND_AFTER_MS)
			lend(k);
		return 0;
	}
	k->locks.nr = 0;
	if (k->debug)
		print_event(&e);
	if (e.sandbox != sandbox_slot(k->o.sandbox))
		goto again;
	/* it was killed, slept while it died, and was given the turn meanwhile: that is for somebody else now */
	if (e.kind == ZUG_EV_EXIT && !(e.flags & ZUG_EF_ASK) && take_back(k, e.task))
		e.flags |= ZUG_EF_ASK;
	if (k->stepping && e.task == k->stepping) {
		sandbox_pause_watches(k->o.sandbox, false);
		k->stepping = 0;
	}
	if ((e.flags & ZUG_EF_ASK) && k->nr_held && kworld_settle(k)) {
		kernel_unread(k->o.kernel, &e, 1);
		say_woken(k);
		goto again;
	}
	memset(ev, 0, sizeof(*ev));
	ev->task = ev->waker = WORLD_NO_TASK;
	ev->ask = e.flags & ZUG_EF_ASK;
	k->asked |= ev->ask;
	n = number_of(k, e.task);
	if (n == WORLD_NO_TASK && (e.kind == ZUG_EV_EXEC || e.kind == ZUG_EV_MODULE ||
				   e.kind == ZUG_EV_UNPROBED || e.kind == ZUG_EV_START)) {
		/* adopted and not forked: the root, or what a process did that joined by itself */
		n = add_task(k, e.task, k->have_root ? k->root : WORLD_NO_TASK, &e, false);
		if (n == WORLD_NO_TASK)
			goto no_memory;
		if (!k->have_root)
			k->root = n;
		k->have_root = true;
	}
	if (n != WORLD_NO_TASK) {
		t = &w->tasks[n];
		kt = &k->kt[n];
		ev->task = n;
		t->pid = e.pid;
		t->tgid = e.tgid;
	}
	switch (e.kind) {
	case ZUG_EV_NEW:
		parent = number_of(k, e.arg[0]);
		n = add_task(k, e.task, parent, &e, e.flags & ZUG_EF_THREAD);
		if (n == WORLD_NO_TASK)
			goto no_memory;
		if (!(e.flags & ZUG_EF_THREAD) && parent != WORLD_NO_TASK)
			places_fork(k->o.places, n, w->tasks[parent].process);
		ev->kind = WORLD_NEW;
		ev->task = n;
		return 1;
	case ZUG_EV_HOT:
		if (t)
			kworld_take_breakpoint(k, t, e.site, e.ip);
		goto again;
	case ZUG_EV_MODULE:
	case ZUG_EV_UNPROBED:
		if (t)
			places_map(k->o.places, t->process, &e);
		goto again;
	case ZUG_EV_EXEC:
		if (!t)
			goto again;
		places_exec(k->o.places, t->process, &e);
		timers_drop(&k->timers, e.tgid, true);
		memcpy(t->comm, e.comm, sizeof(t->comm));
		ev->kind = WORLD_EXEC;
		snprintf(ev->text, sizeof(ev->text), "%.16s", e.comm);
		return 1;
	case ZUG_EV_LEAVE:
		ev->kind = WORLD_MESSAGE;
		on_leave(ev, &e);
		return 1;
	case ZUG_EV_UNGRANTED:
		ev->kind = WORLD_MESSAGE;
		snprintf(ev->text, sizeof(ev->text), "pid %u ran without a grant (task %u, the turn was "
			 "task %llu's): please report this", e.pid, e.task, (unsigned long long)e.arg[0]);
		return 1;
	case ZUG_EV_REFUSED:
		ev->kind = WORLD_MESSAGE;
		snprintf(ev->text, sizeof(ev->text), "pid %u: %s fails (ENOSYS): what it would do is not under "
			 "control here; most programs then go another way", e.pid, syscall_name(e.nr));
		return 1;
	case ZUG_EV_TIMER:
		/* whom it is to notify, as we call it */
		if (e.nr == SYS_timer_create && e.word[3] == SIGEV_THREAD_ID) {
			n = task_of_tid(w, e.word[4]);
			e.word[4] = n == WORLD_NO_TASK ? e.word[4] : (uint32_t)w->tasks[n].pid;
		}
		timers_event(&k->timers, &e);
		goto again;
	case ZUG_EV_FRESH:
		kworld_prepare(k, e.pid);
		k->goes_on = e.task;
		if (!ev->ask)
			goto again;
		go_on(k);
		goto again;
	case ZUG_EV_FATAL:
		k->goes_on = e.task;
		k->goes_on_now = ev->ask;
		ev->ask = false;
		if (!t || (!e.nr && t->process != k->root))
			goto again;
		t->quits = !e.nr;
		t->status = e.arg[0];
		ev->kind = WORLD_FATAL;
		return 1;
	case ZUG_EV_ASK:
		if (k->goes_on) {
			go_on(k);
			goto again;
		}
		ev->kind = WORLD_ASK;
		ev->task = WORLD_NO_TASK;
		return 1;
	}
	if (t && kt->lent && e.kind != ZUG_EV_WAKE && e.kind != ZUG_EV_LENT) {
		kt->lent = false;
		k->nr_lent--;
	}
	if (!t) {
		if (ev->ask) {
			ev->kind = WORLD_ASK;
			return 1;
		}
		goto again;
	}
	if (e.kind != ZUG_EV_WAKE) {
		if (k->flows.nr)
			kworld_flows_event(k, t, &e);
		kworld_fault_over(t, kt);
		kt->call_nr = -1;
		t->quits = false;
	}
	switch (e.kind) {
	case ZUG_EV_START:
		kworld_prepare(k, e.pid);
		ev->kind = WORLD_POINT;
		t->label = (struct zug_label){ .op = ZUG_OP_BEGIN };
		t->state = TASK_PARKED;
		return 1;
	case ZUG_EV_POINT:
	case ZUG_EV_SYSCALL:
	case ZUG_EV_WATCH:
	case ZUG_EV_STEPPED:
	case ZUG_EV_YIELD:
	case ZUG_EV_SPIN:
		ev->kind = WORLD_POINT;
		ev->passed = e.flags & ZUG_EF_LONE;
		t->state = ev->passed ? TASK_RUNNING : TASK_PARKED;
		t->label = (struct zug_label){ 0 };
		kt->lock = 0;
		kt->yields = false;
		if (e.kind != ZUG_EV_SPIN)
			kworld_computes(k, n, 0);
		if (e.kind == ZUG_EV_POINT) {
			kt->watched = e.flags & ZUG_EF_WATCHED;
			kworld_label_point(k, t, kt, &e);
			ev->yield = kt->yields;
			if (ev->passed)
				kworld_split_passed(k, n);
		} else if (e.kind == ZUG_EV_SYSCALL) {
			kworld_label_syscall(k, t, &e);
			kt->call_nr = e.nr;
			t->quits = e.nr == SYS_exit_group && t->process == k->root;
			t->status = e.arg[0];
			kt->call_mode = e.flags & ZUG_EF_OBJECT ? e.obj.mode : 0;
			memcpy(kt->call_args, e.arg, sizeof(kt->call_args));
		} else if (e.kind == ZUG_EV_STEPPED && !e.arg[0]) {
			t->label.op = ZUG_OP_POINT;
			t->label.flags = zug_op_flags(ZUG_OP_POINT);
			t->label.site = places_site(k->o.places, t->process, e.ip);
		} else if (e.kind == ZUG_EV_WATCH || e.kind == ZUG_EV_STEPPED) {
			t->label.op = ZUG_OP_DATA_ACCESS;
			t->label.flags = ZUG_L_WRITE | ZUG_L_COARSE | zug_op_flags(ZUG_OP_DATA_ACCESS);
			t->label.object = kworld_memory_object(k, t, &e, ZUG_EF_OBJECT, e.arg[0],
							ZUG_OP_DATA_ACCESS);
			t->label.site = places_site(k->o.places, t->process, e.ip - 1);
		} else {
			t->label.op = e.kind == ZUG_EV_YIELD ? ZUG_OP_YIELD : ZUG_OP_SPIN;
			t->label.site = places_site(k->o.places, t->process, e.ip);
			ev->yield = true;
			if (e.kind == ZUG_EV_SPIN)
				kworld_computes(k, n, t->label.site);
		}
		return 1;
	case ZUG_EV_BLOCK:
		ev->kind = WORLD_BLOCK;
		t->state = TASK_BLOCKED;
		if (kworld_virtual(k))
			kworld_wait_begins(k, t, kt, &e);
		kworld_describe_wait(k, t, &e);
		snprintf(ev->text, sizeof(ev->text), "%s", t->where);
		return 1;
	case ZUG_EV_LENT:
		ev->kind = WORLD_BLOCK;
		t->state = TASK_BLOCKED;
		t->wait = WAIT_INSIDE;
		k->nr_lent += !kt->lent;
		kt->lent = true;
		snprintf(t->where, sizeof(t->where), "%s, uninterruptible (the turn was lent)",
			 e.nr >= 0 ? syscall_name(e.nr) : "in the kernel");
		snprintf(ev->text, sizeof(ev->text), "%s", t->where);
		return 1;
	case ZUG_EV_WAKE:
		if (t->state == TASK_PARKED || t->state == TASK_RUNNING)
			goto again;	/* queued again, for example by priority inheritance */
		if (!kt->woken && kworld_hold(k, n, e.arg[0])) {
			if (!k->asked)
				goto again;
			if (kworld_settle(k)) {
				say_woken(k);
				goto again;
			}
			/* its timer starts anew, and may run out again and again: the caller has a say in between */
			return 0;
		}
		kt->woken = false;
		t->deadline = 0;
		ev->kind = WORLD_WAKE;
		ev->waker = number_of(k, e.arg[0]);
		t->state = TASK_PARKED;
		if (t->label.op != ZUG_OP_BEGIN) {
			/* it keeps the object it waited for: that is what it goes on with */
			t->label.op = ZUG_OP_RESUME;
			t->label.flags = zug_op_flags(ZUG_OP_RESUME);
		}
		return 1;
	case ZUG_EV_EXIT:
		ev->kind = WORLD_EXIT;
		t->state = TASK_DEAD;
		if (e.flags & ZUG_EF_ROOT)
			timers_drop(&k->timers, e.tgid, false);
		ev->root = t->process == k->root && (e.flags & ZUG_EF_ROOT);
		if (e.ip)
			ev->site = kt->fault = places_site(k->o.places, t->process, e.ip);
		if (ev->root)
			k->root_status = e.arg[0];
		return 1;
	}
	goto again;
no_memory:
	snprintf(err, errlen, "out of memory");
	return -ENOMEM;
}

static int kworld_grant(struct world *w, uint32_t task)
{
	struct kworld *k = kw(w);
	struct zug_ctl c = { .cmd = ZUG_CMD_GRANT, .sandbox = sandbox_slot(k->o.sandbox),
			     .task = k->kt[task].kid };

	if (k->debug)
		fprintf(stderr, "%8lu us GRANT     task %u\n", (unsigned long)(now_ns() / 1000 % 100000000), c.task);
	/* the read half of a read-modify-write: the task stays where it is */
	if (kworld_split_granted(k, task))
		return 0;
	w->tasks[task].state = TASK_RUNNING;
	k->locks.nr = 0;
	if (k->kt[task].watched) {
		k->kt[task].watched = false;
		k->stepping = k->kt[task].kid;
		sandbox_pause_watches(k->o.sandbox, true);
	}
	kworld_set_alarm(k);
	k->asked = false;
	return kernel_ctl(k->o.kernel, &c);
}

static bool kworld_would_block(struct world *w, const struct world_task *t, uint32_t *owner)
{
	struct kworld *k = kw(w);
	const struct ktask *kt = &k->kt[t->task];

	if (owner) {
		uint64_t addr = t->label.op == ZUG_OP_COND_WAIT ? kt->mutex : kt->lock;
		int tid = lock_owner(&k->locks, t->tgid, t->label.op, addr, kt->libc);

		*owner = tid > 0 ? task_of_tid(w, tid) : WORLD_NO_TASK;
	}
	/* whose wait may be interrupted has to be let into it */
	if (t->label.op == ZUG_OP_SEM_WAIT && kworld_waits_may_fail(k))
		return false;
	return lock_would_block(&k->locks, t->tgid, t->own_pid, t->label.op, kt->lock, kt->libc);
}

static bool kworld_lock_memory(struct world *w, const struct world_task *t, uint64_t object,
			       struct misuse_memory *m)
{
	struct kworld *k = kw(w);
	const struct ktask *kt = &k->kt[t->task];
	const struct place_object *o = places_find_object(k->o.places, object);
	struct lock_state s;

	memset(m, 0, sizeof(*m));
	if (kt->mutex ? object != t->label.object2 : object != t->label.object)
		return false;
	/* a task that went on has changed its lock since: what was there at the point counts */
	if (t->state == TASK_RUNNING && !kt->have_words)
		return false;
	if (!lock_read(&k->locks, t->tgid, t->label.op, kt->mutex ? kt->mutex : kt->lock, kt->libc,
		       t->state == TASK_RUNNING ? kt->words : NULL, &s))
		return false;
	m->locked = s.locked;
	m->recursive = s.recursive;
	m->owner = s.owner ? task_of_tid(w, s.owner) : WORLD_NO_TASK;
	m->owner_known = m->owner != WORLD_NO_TASK;
	m->fixed = o && o->fixed;
	return true;
}

static int kworld_tend(struct world *w, char *err, size_t errlen)
{
	struct kworld *k = kw(w);
	struct zug_ctl c = { .cmd = ZUG_CMD_BLIP, .sandbox = sandbox_slot(k->o.sandbox) };
	volatile struct zug_sandbox *z = kernel_sandbox(k->o.kernel, sandbox_slot(k->o.sandbox));
	uint32_t n = number_of(k, z->holder ? z->holder : z->grant);
	struct timespec now;
	int ret = lane_watch_look(&k->lane_watch, sandbox_lane(k->o.sandbox), n == WORLD_NO_TASK ? 0 : w->tasks[n].pid,
				  err, errlen);

	/* the kernel's watchdog looks every 15 s and strikes at 30 s */
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec - k->last_blip.tv_sec < 8)
		return ret;
	k->last_blip = now;
	c.task = ++k->blips;
	kernel_ctl(k->o.kernel, &c);
	return ret;
}

static int kworld_registers(struct world *w, const struct world_task *t, uint64_t regs[18])
{
	struct kworld *k = kw(w);
	struct zug_ctl c = { .cmd = ZUG_CMD_REGS, .sandbox = sandbox_slot(k->o.sandbox), .pid = t->pid };
	int ret = kernel_ctl(k->o.kernel, &c);

	if (ret)
		return ret;
	memcpy(regs, c.regs, sizeof(c.regs));
	regs[17] = c.fsbase;
	return 0;
}

static int kworld_stack(struct world *w, const struct world_task *t, struct trace_frame *frames,
			int max)
{
	struct user_registers regs;
	struct kworld *k = kw(w);
	const struct place_site *ps;
	uint64_t all[18];
	int ret;

	if (t->state == TASK_DEAD) {
		ps = places_find_site(k->o.places, k->kt[t->task].fault);
		return ps ? symfile_frames(probes_module(k->o.probes, ps->module)->file, ps->offset, frames,
					   max) : -ESRCH;
	}
	ret = kworld_registers(w, t, all);
	if (ret)
		return ret;
	memcpy(regs.r, all, sizeof(regs.r));
	return symbols_unwind(k->o.symbols, t->tgid, t->pid, &regs, frames, max);
}

static int kworld_unprobe(struct world *w, const struct world_task *t, uint64_t addr, uint8_t *code, size_t len)
{
	struct kworld *k = kw(w);
	int nr = 0;

	for (unsigned int i = 0; i < probes_nr_sites(k->o.probes); i++) {
		const struct probe_site *s = probes_site(k->o.probes, i);
		const struct probe_module *m = probes_module(k->o.probes, s->module);
		uint64_t bias, at;
		int fd;

		if (places_bias(k->o.places, t->process, s->module, &bias))
			continue;
		at = symfile_vaddr_of(m->file, s->offset) + bias;
		if (at < addr || at - addr >= len)
			continue;
		/* the file itself has no breakpoints */
		fd = open(m->path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		nr += pread(fd, code + (at - addr), 1, s->offset) == 1;
		close(fd);
	}
	return nr;
}

static enum spin_verdict kworld_spins(struct world *w, const struct world_task *t)
{
	struct kworld *k = kw(w);
	volatile struct zug_sandbox *z = kernel_sandbox(k->o.kernel, sandbox_slot(k->o.sandbox));
	struct zug_ctl c = { .cmd = ZUG_CMD_REGS, .sandbox = sandbox_slot(k->o.sandbox), .pid = t->pid };
	enum spin_verdict v = SPIN_NO;

	if (!kernel_ctl(k->o.kernel, &c))
		v = spin_sample(&k->spin, t->task, t->pid, c.regs, c.fsbase);
	/* while it is on trial it is stopped at every other tick */
	z->spin_ns = v == SPIN_AGAIN ? SPIN_TRIAL_NS : sandbox_spin_ns(k->o.sandbox);
	return v;
}

static void kworld_status(struct world *w, struct world_status *s)
{
	struct kworld *k = kw(w);
	volatile struct zug_sandbox *z = kernel_sandbox(k->o.kernel, sandbox_slot(k->o.sandbox));

	s->now = now_ns();
	s->clock = z->clock;
	s->next_timer = kworld_next_timer(k);
	s->ungranted = z->nr_ungranted;
}

static int kworld_drain(struct world *w, int *status, char *err, size_t errlen)
{
	struct kworld *k = kw(w);
	int ret = sandbox_drain(k->o.sandbox, k->root_pid, status), finish = 0;
	const char *words;

	if (k->o.launch.joined)
		*status = k->root_status;
	if (!ret && k->root_pid > 0)
		finish = sandbox_finish(k->o.sandbox, &k->o.launch, err, errlen);
	/* what ran without a grant may have been let go by the kernel */
	words = kernel_sandbox(k->o.kernel, sandbox_slot(k->o.sandbox))->nr_ungranted ? kernel_thrown_out(k->o.kernel) : NULL;
	if (words) {
		snprintf(err, errlen, "the kernel ejected the scheduler: %s", words);
		return -EPIPE;
	}
	if (ret == -ETIME)
		snprintf(err, errlen, "tasks of the test do not die (see %s/cgroup.procs): they are stuck "
			 "in the kernel", sandbox_cgroup(k->o.sandbox));
	else if (ret)
		snprintf(err, errlen, "cannot end the execution: %s", strerror(-ret));
	return ret ? ret : finish;
}

/* ---- describing ---- */

static bool tell(struct kworld *k, uint64_t id)
{
	size_t i;

	if (2 * (k->nr_told + 1) > k->size_told) {
		size_t size = k->size_told ? 2 * k->size_told : 256;
		uint64_t *old = k->told, *t = calloc(size, sizeof(*t));

		if (!t)
			return false;
		for (size_t j = 0; j < k->size_told; j++) {
			if (!old[j])
				continue;
			i = old[j] & (size - 1);
			while (t[i])
				i = (i + 1) & (size - 1);
			t[i] = old[j];
		}
		free(old);
		k->told = t;
		k->size_told = size;
	}
	if (!k->nr_told)
		memset(k->told, 0, k->size_told * sizeof(*k->told));
	i = id & (k->size_told - 1);
	while (k->told[i] && k->told[i] != id)
		i = (i + 1) & (k->size_told - 1);
	if (k->told[i])
		return false;
	k->told[i] = id;
	k->nr_told++;
	return true;
}

static int describe_object(struct kworld *k, struct trace_writer *t, uint64_t id)
{
	const struct place_object *o;

	if (!id || !tell(k, id))
		return 0;
	o = places_find_object(k->o.places, id);
	return o ? trace_add_object(t, &(struct trace_object){ .object = id, .kind = o->kind,
							       .name = o->name }) : 0;
}

static int kworld_describe(struct world *w, struct trace_writer *t, const struct zug_label *l)
{
	struct kworld *k = kw(w);
	const struct place_site *ps;
	int ret;

	for (; k->told_modules < probes_nr_modules(k->o.probes); k->told_modules++) {
		const struct probe_module *m = probes_module(k->o.probes, k->told_modules);

		ret = trace_add_module(t, &(struct trace_module){
			.module = k->told_modules, .path = m->path,
			.build_id = symfile_build_id(m->file) });
		if (ret)
			return ret;
	}
	if (l->site && tell(k, l->site ^ 0x5175) && (ps = places_find_site(k->o.places, l->site))) {
		ret = trace_add_site(t, &(struct trace_site){ .site = ps->site, .module = ps->module,
							      .offset = ps->offset });
		if (ret)
			return ret;
	}
	ret = describe_object(k, t, l->object);
	return ret ? ret : describe_object(k, t, l->object2);
}

static const char *kworld_object_name(struct world *w, uint64_t object)
{
	const struct place_object *o = object ? places_find_object(kw(w)->o.places, object) : NULL;

	return o ? o->name : NULL;
}

static const struct world_ops kworld_ops = {
	.start = kworld_start,
	.next = kworld_next,
	.grant = kworld_grant,
	.status = kworld_status,
	.in_flight = kworld_in_flight,
	.would_block = kworld_would_block,
	.lock_memory = kworld_lock_memory,
	.spins = kworld_spins,
	.expire = kworld_expire,
	.faults = kworld_faults,
	.inject = kworld_inject,
	.tend = kworld_tend,
	.drain = kworld_drain,
	.stack = kworld_stack,
	.describe = kworld_describe,
	.object_name = kworld_object_name,
};

static const struct world_inspection kworld_inspection = {
	.registers = kworld_registers,
	.unprobe = kworld_unprobe,
};

struct world *kworld_new(const struct kworld_options *o)
{
	struct kworld *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->w.ops = &kworld_ops;
	k->w.inspection = &kworld_inspection;
	k->o = *o;
	k->split_task = WORLD_NO_TASK;
	k->debug = getenv("ZUG_DEBUG") && strstr(getenv("ZUG_DEBUG"), "events");
	if (!make_room(k, 15)) {
		kworld_free(&k->w);
		return NULL;
	}
	return &k->w;
}

struct launch *kworld_launch(struct world *w)
{
	return &kw(w)->o.launch;
}

void kworld_free(struct world *w)
{
	struct kworld *k = kw(w);

	if (!w)
		return;
	free(k->w.tasks);
	free(k->kt);
	free(k->by_kid);
	timers_free(&k->timers);
	kworld_flows_free(k);
	free(k->told);
	kworld_heat_free(&k->heat);
	kworld_callers_free(&k->callers);
	free(k);
}
