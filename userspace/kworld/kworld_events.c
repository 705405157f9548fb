/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the events of the kernel side do to tasks: one handler for each kind, called by the pump (kworld_pump.c).
 *
 * A task is a small state machine. Its state (struct world_task) follows from the events: BLOCKED from NEW to its first
 * WAKE, PARKED at a point where it has stopped, RUNNING once it was granted the turn or has passed a point, DEAD after EXIT.
 * A blocked task that the kernel's own timer has woken too early is *held* (kworld_time.c) and stays blocked. What a task
 * with an errand does is the errand's, as long as it goes the way that the errand expects.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kernel/syscalls.h"
#include "kworld/kworld_internal.h"
#include "lib/base/array.h"

/* An event, the task that it is of, and what the engine is told of it. */
struct arrival {
	struct zug_event e;
	uint32_t n;			/* WORLD_NO_TASK: not known */
	struct world_task *t;		/* NULL: not known */
	struct ktask *kt;
	struct world_event ev;
};

/* ---- tasks ---- */

uint32_t kworld_number(const struct kworld *k, uint32_t kid)
{
	return kid < k->nr_kid && k->by_kid[kid] ? k->by_kid[kid] - 1 : WORLD_NO_TASK;
}

bool kworld_room(struct kworld *k, uint32_t nr)
{
	uint32_t room = k->w.nr_tasks;

	if (!ARRAY_RESERVE_ZERO(k->kt, k->nr_kt, nr) || !ARRAY_RESERVE_ZERO(k->w.tasks, room, nr))
		return false;
	k->w.nr_tasks = room;
	return true;
}

/* The number of a new task; WORLD_NO_TASK: out of memory. */
static uint32_t add_task(struct kworld *k, uint32_t parent, const struct zug_event *e, bool thread)
{
	uint32_t nth = parent == WORLD_NO_TASK ? 0 : k->kt[parent].nr_children++, n;
	struct world_task *t;
	uint32_t *first;

	n = spawn_number(k->o.spawn, parent, nth);
	if (n == UINT32_MAX || !kworld_room(k, n + 1) || !ARRAY_RESERVE_ZERO(k->by_kid, k->nr_kid, e->task + 1)) {
		k->run.broken = "out of memory";
		return WORLD_NO_TASK;
	}
	k->by_kid[e->task] = n + 1;
	k->kt[n] = (struct ktask){ .kid = e->task, .call_nr = -1, .site = ZUG_NO_SITE };
	t = &k->w.tasks[n];
	*t = (struct world_task){
		.task = n, .parent = parent, .nth = nth, .pid = e->pid, .tgid = e->tgid,
		.own_pid = e->kind == ZUG_EV_NEW ? (int)e->arg[2] : (int)e->state,
		.process = thread && parent != WORLD_NO_TASK ? k->w.tasks[parent].process : n,
		.state = TASK_BLOCKED,	/* until its first wake-up */
		.label.op = ZUG_OP_BEGIN,
	};
	if (parent != WORLD_NO_TASK) {
		struct ktask *kp = &k->kt[parent];

		memcpy(t->comm, kp->child_name[0] ? kp->child_name : k->w.tasks[parent].comm, sizeof(t->comm));
		kp->child_name[0] = 0;
	}
	places_pid(k->o.places, t->own_pid, n);
	first = id_map_add(&k->by_tid, t->own_pid, n, NULL);
	if (first && (n < *first || !world_lives(&k->w.tasks[*first])))
		*first = n;
	world_changed(&k->w, n);
	return n;
}

uint32_t kworld_dead_of_tid(const struct world *w, int tid)
{
	for (uint32_t i = 0; i < w->nr_tasks; i++)
		if (w->tasks[i].state == TASK_DEAD && w->tasks[i].own_pid == tid)
			return i;
	return WORLD_NO_TASK;
}

uint32_t kworld_task_of_tid(const struct world *w, int tid)
{
	const uint32_t *first = id_map_find(&((const struct kworld *)w)->by_tid, tid);

	if (first && world_lives(&w->tasks[*first]))
		return *first;
	for (uint32_t i = 0; i < w->nr_tasks; i++)
		if (world_lives(&w->tasks[i]) && w->tasks[i].own_pid == tid)
			return i;
	return WORLD_NO_TASK;
}

static void know_task(struct kworld *k, struct arrival *a, uint32_t n)
{
	a->n = a->ev.task = n;
	a->t = &k->w.tasks[n];
	a->kt = &k->kt[n];
}

void kworld_wakes(struct kworld *k, uint32_t n, uint32_t waker, struct world_event *ev)
{
	struct world_task *t = &k->w.tasks[n];

	world_event_clear(ev);
	ev->kind = WORLD_WAKE;
	ev->task = n;
	ev->waker = kworld_number(k, waker);
	world_changed(&k->w, n);
	t->deadline = 0;
	t->state = TASK_PARKED;
	if (t->label.op == ZUG_OP_BEGIN)
		return;
	/* it keeps the object it waited for: that is what it goes on with */
	t->label.op = ZUG_OP_RESUME;
	t->label.flags = zug_op_flags(ZUG_OP_RESUME) | (t->for_turn ? ZUG_L_LEFT_OUT : 0);
	t->for_turn = t->own_time = t->any_time = false;
}

/* ---- handlers: true when a->ev is to be told ---- */

static bool on_new(struct kworld *k, struct arrival *a)
{
	uint32_t parent = kworld_number(k, a->e.arg[0]);
	bool thread = a->e.flags & ZUG_EF_THREAD;
	uint32_t n = add_task(k, parent, &a->e, thread);

	if (n == WORLD_NO_TASK)
		return false;
	if (!thread && parent != WORLD_NO_TASK)
		places_fork(k->o.places, n, k->w.tasks[parent].process);
	k->w.tasks[n].begins = thread && kworld_begins(k, &k->w.tasks[n]);
	a->ev.kind = WORLD_NEW;
	a->ev.task = n;
	return true;
}

static bool on_hot(struct kworld *k, struct arrival *a)
{
	if (a->t)
		kworld_take_breakpoint(k, a->t, a->e.site, a->e.ip);
	return false;
}

static bool on_module(struct kworld *k, struct arrival *a)
{
	places_map(k->o.places, a->t->process, &a->e);
	return false;
}

static bool on_exec(struct kworld *k, struct arrival *a)
{
	places_exec(k->o.places, a->t->process, &a->e);
	timers_drop(&k->timers, a->e.tgid, true);
	memcpy(a->t->comm, a->e.comm, sizeof(a->t->comm));
	a->ev.kind = WORLD_EXEC;
	k->run.several |= a->t->process != k->run.root;
	snprintf(a->ev.text, sizeof(a->ev.text), "%.16s", a->e.comm);
	return true;
}

static bool on_leave(struct kworld *k, struct arrival *a)
{
	a->ev.kind = WORLD_MESSAGE;
	k->run.left |= a->e.arg[0] == 1;
	if (a->e.arg[0] == 2)
		k->run.broken = "another process has changed the CPUs on which a task of the test may run";
	if (a->e.arg[0] == 1)
		snprintf(a->ev.text, sizeof(a->ev.text), "pid %u moved itself to another cgroup: "
			 "it stays under control, but not under the sandbox's limits", a->e.pid);
	else
		snprintf(a->ev.text, sizeof(a->ev.text), "pid %u left the scheduling class: it is not "
			 "under control any more", a->e.pid);
	return true;
}

static bool on_ungranted(struct kworld *k, struct arrival *a)
{
	(void)k;
	a->ev.kind = WORLD_MESSAGE;
	snprintf(a->ev.text, sizeof(a->ev.text), "pid %u ran without a grant (task %u, the turn was "
		 "task %llu's): please report this", a->e.pid, a->e.task, (unsigned long long)a->e.arg[0]);
	return true;
}

static bool on_refused(struct kworld *k, struct arrival *a)
{
	(void)k;
	a->ev.kind = WORLD_MESSAGE;
	if (a->e.nr == SYS_io_uring_setup)
		snprintf(a->ev.text, sizeof(a->ev.text), "pid %u: %s fails (ENOSYS): what it would do is not under "
			 "control here; most programs then go another way", a->e.pid, syscall_name(a->e.nr));
	else
		snprintf(a->ev.text, sizeof(a->ev.text), "pid %u: %s succeeds and changes nothing: zug decides which task "
			 "runs, and where; a test that asks for it later sees that", a->e.pid, syscall_name(a->e.nr));
	return true;
}

/* It has stopped for zugzwang alone, and no other task is asked about. */
static void goes_on(struct kworld *k, const struct arrival *a)
{
	k->run.goes_on = a->e.task;
	k->run.goes_on_pid = a->e.pid;
	k->run.goes_on_now = a->ev.ask;
}

static bool on_timer(struct kworld *k, struct arrival *a)
{
	uint32_t n;

	/* it has stopped behind the call for that alone */
	if (a->e.obj2.offset) {
		kworld_timer_give_back(a->kt, &a->e);
		goes_on(k, a);
	}
	if (a->e.nr < 0)
		return false;
	/* the thread that it is to notify is named as the test names it */
	if (a->e.nr == SYS_timer_create && a->e.word[3] == SIGEV_THREAD_ID) {
		n = kworld_task_of_tid(&k->w, a->e.word[4]);
		a->e.word[4] = n == WORLD_NO_TASK ? a->e.word[4] : (uint32_t)k->w.tasks[n].pid;
	}
	/* timerfd_settime() is a point itself */
	timers_event(&k->timers, &a->e, a->n, !a->t ? 0 : a->t->label.op == ZUG_OP_TIMERFD_SETTIME ? a->t->label.site :
		     a->kt->timer_site, kworld_blocked_signals(k, a->e.pid));
	return false;
}

static bool on_fresh(struct kworld *k, struct arrival *a)
{
	if (a->e.arg[0]) {
		/* a prototype has come to the call before that at which it will stand */
		sandbox_template_halt(k->o.sandbox, a->e.pid);
		goes_on(k, a);
		return false;
	}
	kworld_prepare(k, a->e.pid);
	kworld_lease_fresh(k);
	if (a->t)
		kworld_looks_take_out(k, a->t->process, a->e.pid);
	goes_on(k, a);
	return false;
}

static bool on_fatal(struct kworld *k, struct arrival *a)
{
	goes_on(k, a);
	a->ev.ask = false;
	if (!a->t || (!a->e.nr && a->t->process != k->run.root))
		return false;
	a->t->quits = !a->e.nr;
	a->t->status = a->e.arg[0];
	a->ev.kind = WORLD_FATAL;
	a->ev.signal = a->e.nr;
	a->ev.root = a->t->process == k->run.root;
	return true;
}

static bool on_ask(struct kworld *k, struct arrival *a)
{
	k->run.goes_on_now = k->run.goes_on;
	a->ev.kind = WORLD_ASK;
	a->ev.task = WORLD_NO_TASK;
	return !k->run.goes_on;
}

/* A call that user space made in the task's place was refused for that: the errand sees what came of it. */
static bool on_fault(struct kworld *k, struct arrival *a)
{
	(void)k;
	(void)a;
	return false;
}

static bool on_returns(struct kworld *k, struct arrival *a)
{
	(void)k;
	a->ev.kind = WORLD_SIGNAL;
	return true;
}

static bool on_lock(struct kworld *k, struct arrival *a)
{
	kworld_lease_lock(k, &a->e);
	return false;
}

static bool on_hand(struct kworld *k, struct arrival *a)
{
	kworld_lease_hand(k, &a->e);
	return false;
}

static bool on_path(struct kworld *k, struct arrival *a)
{
	kworld_lease_path(k, &a->e);
	return false;
}

/* What came before has taken effect. */
static bool on_sync(struct kworld *k, struct arrival *a)
{
	const struct syscall_desc *d = syscall_desc(a->e.nr);

	if (d && d->timer)
		a->kt->timer_site = kworld_caller(k, a->t, &a->e);
	if (d && d->timer && a->e.obj2.offset)
		kworld_timer_take(a->kt, &a->e);
	kworld_root_close(&k->cwd);
	goes_on(k, a);
	return false;
}

/* Whether the output goes into one of our files in memory (struct capture). Its name is known then: no one can change it. */
static bool note_output(struct output *o, const struct stat *st, int fd)
{
	char link[32], *end;
	ssize_t n;

	if (o->path[0] && o->dev == st->st_dev && o->ino == st->st_ino)
		return true;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, o->path, sizeof(o->path) - 1);
	o->path[n > 0 ? n : 0] = 0;
	o->dev = st->st_dev;
	o->ino = st->st_ino;
	end = strstr(o->path, " (deleted)");
	if (end)
		*end = 0;
	if (strncmp(o->path, "/memfd:zug-std", 14))
		o->path[0] = 0;
	return o->path[0];
}

/* What the test writes out is a file of ours, whose name depends on nothing: no task has to stop where it writes first. */
static void name_output(struct kworld *k, struct output *o, int fd)
{
	struct zug_where w = { 0 };
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return;
	w.ino = st.st_ino;
	w.dev = kernel_dev(st.st_dev);
	w.mode = st.st_mode;
	if (note_output(o, &st, fd))
		places_file(k->o.places, o->path, w.dev, w.ino);
	else
		places_object(k->o.places, k->run.root, k->run.root, getpid(), &w, fd, ZUG_OP_WRITE);
}

static bool on_start(struct kworld *k, struct arrival *a)
{
	kworld_prepare(k, a->e.pid);
	kworld_looks_take_out(k, a->t->process, a->e.pid);
	name_output(k, &k->outputs[0], k->o.launch.out);
	name_output(k, &k->outputs[1], k->o.launch.err);
	a->ev.kind = WORLD_POINT;
	a->t->label = (struct zug_label){ .op = ZUG_OP_BEGIN };
	a->t->state = TASK_PARKED;
	return true;
}

/* What all points have in common. */
static void at_point(struct kworld *k, struct arrival *a)
{
	a->ev.kind = WORLD_POINT;
	a->ev.passed = a->e.flags & ZUG_EF_LONE;
	a->ev.leased = a->e.flags & ZUG_EF_LEASED;
	a->t->state = a->ev.passed ? TASK_RUNNING : TASK_PARKED;
	a->t->label = (struct zug_label){ 0 };
	a->t->begins = false;
	a->kt->pointed = true;
	a->kt->lock = 0;
	a->kt->at[0].offset = a->kt->at[1].offset = 0;
	a->kt->yields = false;
	a->kt->site = a->e.kind == ZUG_EV_POINT ? a->e.site : ZUG_NO_SITE;
	if (a->e.kind != ZUG_EV_SPIN)
		kworld_computes(k, a->n, 0);
}

static bool on_point(struct kworld *k, struct arrival *a)
{
	if (a->e.flags & ZUG_EF_EXECUTES && !kworld_executes_own(k, a->t, &a->e)) {
		goes_on(k, a);
		return false;
	}
	at_point(k, a);
	if (a->ev.leased)
		kworld_lease_point(k, a->t, &a->e, &a->ev);
	else if (a->ev.ask && a->e.flags & ZUG_EF_BEFORE)
		lock_memory_put(&k->locks, a->e.tgid, a->e.before_addr, a->e.before);
	a->kt->watched = a->e.flags & ZUG_EF_WATCHED;
	kworld_label_point(k, a->t, a->kt, &a->e);
	/* among several programs, most steps are those of others; a point that a user names is told by that */
	if (k->run.several && a->t->label.op != ZUG_OP_POINT && a->t->label.site && kworld_is_users(k, a->t->label.site))
		a->t->label.flags |= ZUG_L_OWN;
	kworld_scope_point(k, a->t, &a->e);
	a->ev.yield = a->kt->yields;
	if (a->ev.passed || (a->ev.leased && !a->ev.handed))
		kworld_split_passed(k, a->n, a->ev.leased);
	return true;
}

static bool on_note(struct kworld *k, struct arrival *a)
{
	if (kworld_note_next(k, a->n, &a->e))
		return false;
	at_point(k, a);
	kworld_label_note(k, a->t, a->kt, &a->e);
	kworld_scope_call(k, a->t, &a->e);
	return true;
}

static bool on_syscall(struct kworld *k, struct arrival *a)
{
	at_point(k, a);
	if (a->ev.leased) {
		kworld_lease_point(k, a->t, &a->e, &a->ev);
		kworld_lease_call(k, &a->e);
	}
	kworld_label_syscall(k, a->t, &a->e);
	k->run.lease.call.path_len[0] = 0;
	kworld_scope_call(k, a->t, &a->e);
	a->t->quits = a->e.nr == SYS_exit_group && a->t->process == k->run.root;
	a->t->status = a->e.arg[0];
	a->kt->call_nr = a->e.nr;
	a->kt->call_mode = a->e.flags & ZUG_EF_OBJECT ? a->e.obj.mode : 0;
	memcpy(a->kt->call_args, a->e.arg, sizeof(a->kt->call_args));
	return true;
}

static bool on_output(struct kworld *k, struct arrival *a)
{
	const struct syscall_desc *d = syscall_desc(a->e.nr);

	if (kworld_begins_search(k, &a->e) && d && d->class & kworld_state(k)->setup.syscall_points) {
		a->e.kind = ZUG_EV_SYSCALL;
		kworld_handle(k, &a->e);
		return false;
	}
	goes_on(k, a);
	return false;
}

static bool on_signal(struct kworld *k, struct arrival *a)
{
	struct zug_label *l = &a->t->label;

	at_point(k, a);
	if (a->ev.leased)
		kworld_lease_point(k, a->t, &a->e, &a->ev);
	l->op = ZUG_OP_HANDLER;
	l->object = kworld_signal_object(k, a->t->process, a->e.arg[0]);
	l->site = places_site(k->o.places, a->t->process, a->e.ip);
	/* Go's scheduler tells a thread so to execute another goroutine */
	if (a->e.arg[0] == SIGURG && kworld_is_go(k, a->t->process))
		l->flags |= ZUG_L_LEFT_OUT;
	return true;
}

/* It has made a process, or sent a signal, and goes on: the handler of a signal that has come of that begins here. */
static bool on_behind(struct kworld *k, struct arrival *a)
{
	struct zug_label *l = &a->t->label;

	at_point(k, a);
	if (a->ev.leased)
		kworld_lease_point(k, a->t, &a->e, &a->ev);
	l->op = ZUG_OP_RESUME;
	l->flags = zug_op_flags(ZUG_OP_RESUME);
	l->object = kworld_signal_object(k, a->t->process, a->e.arg[0]);
	l->site = kworld_caller(k, a->t, &a->e);
	kworld_scope_call(k, a->t, &a->e);
	return true;
}

/* An access to watched data has happened, or an instruction that may be one. */
static bool on_access(struct kworld *k, struct arrival *a)
{
	struct zug_label *l = &a->t->label;

	at_point(k, a);
	if (a->e.kind == ZUG_EV_STEPPED && !a->e.arg[0]) {
		l->op = ZUG_OP_POINT;
		l->flags = zug_op_flags(ZUG_OP_POINT);
		l->site = places_site(k->o.places, a->t->process, a->e.ip);
		return true;
	}
	l->op = ZUG_OP_DATA_ACCESS;
	l->flags = ZUG_L_WRITE | ZUG_L_COARSE | zug_op_flags(ZUG_OP_DATA_ACCESS);
	l->object = kworld_memory_object(k, a->t, &a->e, ZUG_EF_OBJECT, a->e.arg[0], ZUG_OP_DATA_ACCESS);
	l->site = places_site(k->o.places, a->t->process, a->e.ip - 1);
	return true;
}

static bool on_yield(struct kworld *k, struct arrival *a)
{
	at_point(k, a);
	if (a->ev.leased)
		kworld_lease_point(k, a->t, &a->e, &a->ev);
	a->t->label.op = a->e.kind == ZUG_EV_YIELD ? ZUG_OP_YIELD : ZUG_OP_SPIN;
	a->t->label.site = places_site(k->o.places, a->t->process, a->e.ip);
	a->ev.yield = true;
	k->run.lone_stop = a->e.arg[0];
	k->run.in_computation = a->e.kind == ZUG_EV_SPIN && !a->e.arg[0] ? a->n + 1 : 0;
	/* where no other task could run a computation is no reason for points, nor before the search begins (kworld_spins()) */
	if (a->e.kind == ZUG_EV_SPIN && !a->e.arg[0] && !kworld_state(k)->quiet)
		kworld_computes(k, a->n, a->t->label.site);
	return true;
}

static bool on_block(struct kworld *k, struct arrival *a)
{
	a->ev.kind = WORLD_BLOCK;
	a->t->state = TASK_BLOCKED;
	if (a->e.flags & ZUG_EF_LEASED)
		kworld_lease_point(k, a->t, &a->e, &a->ev);
	kworld_computes(k, a->n, 0);
	if (kworld_virtual(k))
		kworld_wait_begins(k, a->t, a->kt, &a->e);
	if (a->e.flags & ZUG_EF_OVER)
		kworld_hold_over(k, a->n);
	kworld_describe_wait(k, a->t, &a->e);
	snprintf(a->ev.text, sizeof(a->ev.text), "%s", a->t->where);
	return true;
}

static bool on_lent(struct kworld *k, struct arrival *a)
{
	a->ev.kind = WORLD_BLOCK;
	a->t->state = TASK_BLOCKED;
	/* for a disk that is slow, perhaps, or for another machine */
	a->t->wait = WAIT_UNKNOWN;
	k->run.nr_lent += !a->kt->lent;
	a->kt->lent = true;
	snprintf(a->t->where, sizeof(a->t->where), "%s, uninterruptible (the turn was lent)",
		 a->e.nr >= 0 ? syscall_name(a->e.nr) : "in the kernel");
	snprintf(a->ev.text, sizeof(a->ev.text), "%s", a->t->where);
	return true;
}

static bool on_wake(struct kworld *k, struct arrival *a)
{
	uint32_t waker = a->e.arg[0] ? a->e.arg[0] : k->run.wakes_for;

	/* queued again, for example by priority inheritance; what is dead stays so */
	if (a->t->state != TASK_BLOCKED)
		return false;
	if (kworld_hold(k, a->n, waker))
		return false;
	kworld_wakes(k, a->n, waker, &a->ev);
	return true;
}

static bool on_exit(struct kworld *k, struct arrival *a)
{
	bool last = a->e.flags & ZUG_EF_ROOT;

	a->ev.kind = WORLD_EXIT;
	a->t->state = TASK_DEAD;
	/* what is left when the test is over ends by zug's own signal */
	a->t->killed = !a->e.ip && WIFSIGNALED(a->e.arg[0]) && WTERMSIG(a->e.arg[0]) != SIGABRT &&
		       k->w.tasks[k->run.root].state != TASK_DEAD;
	if (a->e.flags & ZUG_EF_LEASED)
		kworld_lease_point(k, a->t, &a->e, &a->ev);
	kworld_unhold(k, a->n);
	if (last)
		timers_drop(&k->timers, a->e.tgid, false);
	a->ev.root = a->t->process == k->run.root && last;
	if (a->e.ip)
		a->ev.site = a->kt->fault = places_site(k->o.places, a->t->process, a->e.ip);
	if (a->ev.root)
		k->run.root_status = a->e.arg[0];
	return true;
}

static const struct event_kind {
	const char *name;
	bool (*handle)(struct kworld *k, struct arrival *a);
	enum {
		ANY,		/* also of a task that is not known */
		ADOPTS,		/* a task that is not known was not forked here: it is the root, or joined by itself */
		KNOWN,		/* of no interest when the task is not known, but for the question */
	} task;
	bool acts;	/* the task has done, or begun, what it stood before */
} kinds[] = {
	[ZUG_EV_NEW] = { "NEW", on_new, ANY, false },
	[ZUG_EV_START] = { "START", on_start, ADOPTS, true },
	[ZUG_EV_POINT] = { "POINT", on_point, KNOWN, true },
	[ZUG_EV_SYSCALL] = { "SYSCALL", on_syscall, KNOWN, true },
	[ZUG_EV_WATCH] = { "WATCH", on_access, KNOWN, true },
	[ZUG_EV_YIELD] = { "YIELD", on_yield, KNOWN, true },
	[ZUG_EV_SPIN] = { "SPIN", on_yield, KNOWN, true },
	[ZUG_EV_BLOCK] = { "BLOCK", on_block, KNOWN, true },
	[ZUG_EV_WAKE] = { "WAKE", on_wake, KNOWN, false },
	[ZUG_EV_EXIT] = { "EXIT", on_exit, KNOWN, true },
	[ZUG_EV_EXEC] = { "EXEC", on_exec, ADOPTS, false },
	[ZUG_EV_ASK] = { "ASK", on_ask, ANY, false },
	[ZUG_EV_MODULE] = { "MODULE", on_module, ADOPTS, false },
	[ZUG_EV_UNPROBED] = { "UNPROBED", on_module, ADOPTS, false },
	[ZUG_EV_LEAVE] = { "LEAVE", on_leave, ANY, false },
	[ZUG_EV_UNGRANTED] = { "UNGRANTED", on_ungranted, ANY, false },
	[ZUG_EV_LENT] = { "LENT", on_lent, KNOWN, true },
	[ZUG_EV_REFUSED] = { "REFUSED", on_refused, ANY, false },
	[ZUG_EV_FRESH] = { "FRESH", on_fresh, ANY, false },
	[ZUG_EV_TIMER] = { "TIMER", on_timer, ANY, false },
	[ZUG_EV_STEPPED] = { "STEPPED", on_access, KNOWN, true },
	[ZUG_EV_HOT] = { "HOT", on_hot, ANY, false },
	[ZUG_EV_FATAL] = { "FATAL", on_fatal, ANY, false },
	[ZUG_EV_FAULT] = { "FAULT", on_fault, ANY, false },
	[ZUG_EV_SIGNAL] = { "SIGNAL", on_signal, KNOWN, true },
	[ZUG_EV_RETURNS] = { "RETURNS", on_returns, KNOWN, false },
	[ZUG_EV_LOCK] = { "LOCK", on_lock, KNOWN, false },
	[ZUG_EV_NOTE] = { "NOTE", on_note, KNOWN, true },
	[ZUG_EV_PATH] = { "PATH", on_path, KNOWN, false },
	[ZUG_EV_HAND] = { "HAND", on_hand, KNOWN, false },
	[ZUG_EV_SYNC] = { "SYNC", on_sync, KNOWN, false },
	[ZUG_EV_OUTPUT] = { "OUTPUT", on_output, KNOWN, false },
	[ZUG_EV_BEHIND] = { "BEHIND", on_behind, KNOWN, true },
};

/* ---- every event ---- */

/* ZUG_DEBUG=events: what the kernel side says, and when; for people who work on zugzwang itself. */
static void print_event(struct kworld *k, const struct zug_event *e)
{
	const volatile struct zug_sandbox *z = kworld_state(k);

	fprintf(stderr, "%8lu us clock %lu looks %u %-9s task %u pid %u flags %x nr %d site %d ip %llx arg %llx %llx %llx "
		"state %x obj %x:%llu+%llx%s\n",
		(unsigned long)(clock_now_ns() / 1000 % 100000000), (unsigned long)(z ? z->clock : 0), z ? z->looks : 0,
		kinds[e->kind].name, e->task, e->pid,
		e->flags, e->nr, (int)e->site, e->ip, e->arg[0], e->arg[1], e->arg[2], e->state, e->obj.dev,
		e->obj.ino, e->obj.offset,
		e->flags & ZUG_EF_ASK ? " ASK" : "");
}

/* The turn was given to a task that has not got it, and never will. */
static bool take_back(struct kworld *k, uint32_t kid)
{
	const volatile struct zug_sandbox *z = kworld_state(k);
	struct zug_ctl c = { .cmd = ZUG_CMD_TAKE_BACK, .sandbox = sandbox_slot(k->o.sandbox), .task = kid };

	return !z->holder && z->grant == kid && !kernel_ctl(k->o.kernel, &c);
}

static void acts(struct kworld *k, struct arrival *a)
{
	if (k->flows.nr)
		kworld_flows_event(k, a->t, &a->e);
	kworld_waiters_touch(k, a->n);
	a->kt->call_nr = -1;
	a->kt->site = ZUG_NO_SITE;
	a->t->quits = false;
}

void kworld_handle(struct kworld *k, const struct zug_event *event)
{
	struct arrival a;
	const struct event_kind *kind;
	struct zug_event *e = &a.e;
	uint32_t n;
	bool told;

	a.e = *event;
	a.t = NULL;
	a.kt = NULL;
	world_event_clear(&a.ev);
	a.ev.task = a.ev.waker = WORLD_NO_TASK;
	lock_memory_forget(&k->locks);
	if (e->kind >= sizeof(kinds) / sizeof(kinds[0]) || !kinds[e->kind].handle) {
		k->run.broken = "the kernel side sent an event of an unknown kind";
		return;
	}
	kind = &kinds[e->kind];
	if (k->debug)
		print_event(k, e);
	/* the task was killed, slept while it died, and was given the turn meanwhile: the question comes again */
	if (e->kind == ZUG_EV_EXIT && !(e->flags & ZUG_EF_ASK) && take_back(k, e->task))
		e->flags |= ZUG_EF_ASK;
	if (k->run.stepping && e->task == k->run.stepping) {
		sandbox_pause_watches(k->o.sandbox, false);
		k->run.stepping = 0;
	}
	a.ev.ask = e->flags & ZUG_EF_ASK;
	k->run.asked |= a.ev.ask;
	a.ev.ask |= (e->flags & ZUG_EF_LEASED) != 0;
	n = kworld_number(k, e->task);
	if (n == WORLD_NO_TASK && kind->task == ADOPTS) {
		n = add_task(k, k->run.have_root ? k->run.root : WORLD_NO_TASK, e, false);
		if (n == WORLD_NO_TASK)
			return;
		if (!k->run.have_root)
			k->run.root = n;
		k->run.have_root = true;
	}
	a.n = n;
	if (n != WORLD_NO_TASK) {
		know_task(k, &a, n);
		a.t->pid = e->pid;
		a.t->tgid = e->tgid;
	}
	if (!a.t && kind->task == KNOWN) {
		a.ev.kind = WORLD_ASK;
		if (a.ev.ask)
			kworld_tell(k, &a.ev);
		return;
	}
	if (kind->acts && a.kt->lent && e->kind != ZUG_EV_LENT) {
		a.kt->lent = false;
		k->run.nr_lent--;
	}
	if (kind->acts)
		acts(k, &a);
	told = kind->handle(k, &a);
	if (n != WORLD_NO_TASK) {
		world_changed(&k->w, n);
		kworld_waiters_follow(k, n);
		kworld_waiters_touch(k, n);
	}
	kworld_waiters_event(k, e);
	if (told)
		kworld_tell(k, &a.ev);
}
