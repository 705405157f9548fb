/* SPDX-License-Identifier: GPL-2.0-only */
/* test_pump.c - events as they might come, and what the engine is told */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include "kernel_side.h"
#include "tests/model/tap.h"

/* Tasks 1 to nr stand before lock n % 4 + 1; the changes so far are forgotten. */
static void stand_before_locks(struct kworld *k, uint32_t nr)
{
	for (uint32_t n = 1; n <= nr; n++) {
		struct world_task *t = &k->w.tasks[n];

		t->state = TASK_PARKED;
		t->label = (struct zug_label){ .op = ZUG_OP_LOCK, .object = n % 4 + 1 };
		kworld_waiters_follow(k, n);
	}
	world_changes_seen(&k->w);
}

static bool is_changed(const struct kworld *k, uint32_t task)
{
	for (uint32_t i = 0; i < k->w.changes.nr; i++)
		if (k->w.changes.list[i] == task)
			return true;
	return k->w.changes.all;
}

/* An event of the root after it was about to unlock object 3: which of the tasks that stand before locks are named?
 */
static uint32_t changed_by_unlock(struct kworld *k, uint32_t nr, bool *right)
{
	uint32_t all = 0;

	k->w.tasks[0].label = (struct zug_label){ .op = ZUG_OP_UNLOCK, .object = 3 };
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_LONE);
	side_next_is(k, WORLD_POINT, 0, false);
	*right = is_changed(k, 0);
	for (uint32_t n = 1; n <= nr; n++) {
		all += is_changed(k, n);
		*right &= is_changed(k, n) || n % 4 + 1 != 3;
	}
	return all;
}

static void test_changes(void)
{
	struct kworld *k = side_begin();
	bool right;

	kworld_room(k, 41);
	stand_before_locks(k, 8);
	tap_ok(changed_by_unlock(k, 8, &right) == 8 && right,
	       "few tasks before locks: each may be able to go on after an event");
	stand_before_locks(k, 40);
	tap_ok(changed_by_unlock(k, 40, &right) == 10 && right, "many: those before the lock that was used");
	stand_before_locks(k, 40);
	side_put(ZUG_EV_EXIT, 2, 0);
	side_next_is(k, WORLD_EXIT, 1, false);
	tap_ok(is_changed(k, 2) && is_changed(k, 3) && is_changed(k, 40),
	       "  a task that ends may have held any of them");
	for (uint32_t n = 1; n <= 40; n++)
		k->kt[n].have_words = true;
	stand_before_locks(k, 40);
	side_put(ZUG_EV_EXIT, 3, 0);
	side_next_is(k, WORLD_EXIT, 2, false);
	tap_ok(is_changed(k, 2) && !is_changed(k, 3) && !is_changed(k, 40), "  not where none of them is robust");
	for (uint32_t n = 1; n <= 40; n++)
		k->w.tasks[n].state = TASK_RUNNING;
	for (uint32_t n = 40; n >= 1; n--)
		kworld_waiters_follow(k, n);
	world_changes_seen(&k->w);
	tap_ok(!changed_by_unlock(k, 40, &right) && !k->waiters.nr, "  one that goes on stands there no more");
	side_end(k);
}

static void test_states(void)
{
	struct kworld *k = side_begin();

	tap_ok(side_state_of(k, 0) == TASK_PARKED && side_state_of(k, 1) == TASK_PARKED &&
		       side_state_of(k, 2) == TASK_BLOCKED,
	       "a task is blocked until its first wake-up");
	k->w.ops->grant(&k->w, 0);
	tap_ok(side_state_of(k, 0) == TASK_RUNNING && side.commands[side.nr_commands - 1].cmd == ZUG_CMD_GRANT &&
		       side.commands[side.nr_commands - 1].turn.stop_always &&
		       side.commands[side.nr_commands - 1].turn.spin_ns == 5 &&
		       side.commands[side.nr_commands - 1].turn.lone_ns == 50,
	       "the turn comes with what goes with it");
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_LONE);
	tap_ok(side_next_is(k, WORLD_POINT, 0, false) && side_state_of(k, 0) == TASK_RUNNING,
	       "a point that is passed");
	side_put(ZUG_EV_BLOCK, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_BLOCK, 0, true) && side_state_of(k, 0) == TASK_BLOCKED, "a task that blocks");
	side_put(ZUG_EV_WAKE, 2, 0);
	side_put(ZUG_EV_WAKE, 1, 0)->arg[0] = 2;
	tap_ok(side_next_is(k, WORLD_WAKE, 0, false) && side_state_of(k, 0) == TASK_PARKED,
	       "one that is awake is not woken again");
	side_put(ZUG_EV_EXIT, 2, 0);
	tap_ok(side_next_is(k, WORLD_EXIT, 1, false) && side_state_of(k, 1) == TASK_DEAD, "a task that dies");
	k->w.ops->grant(&k->w, 0);
	side_put(ZUG_EV_LENT, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_BLOCK, 0, true) && k->w.tasks[0].wait == WAIT_UNKNOWN,
	       "a task whose turn was lent may come back by itself");
	side_put(ZUG_EV_BLOCK, 9, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_ASK, WORLD_NO_TASK, true), "of an unknown task only the question is told");
	side_end(k);
}

/* The clock that was set since the last call; 0: it was not. */
static uint64_t clock_set(void)
{
	uint64_t clock = 0;

	for (size_t i = 0; i < side.nr_commands; i++)
		if (side.commands[i].cmd == ZUG_CMD_CLOCK)
			clock = side.commands[i].clock;
	side.nr_commands = 0;
	return clock;
}

static void test_computation(void)
{
	struct kworld *k = side_begin();

	side.state.setup.virtual_time = 1;
	side.state.clock = 1000;
	k->w.ops->grant(&k->w, 0);
	side_put(ZUG_EV_SPIN, 1, ZUG_EF_ASK);
	clock_set();
	tap_ok(side_next_is(k, WORLD_POINT, 0, true) && !k->w.ops->grant(&k->w, 0) && !clock_set(),
	       "a computation that goes on takes no time of the test's, however often it is stopped");
	side_put(ZUG_EV_SPIN, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true) && !k->w.ops->grant(&k->w, 1) && clock_set() == 1050,
	       "  where another gets the turn then, ten times --spin have passed");
	side_put(ZUG_EV_YIELD, 2, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 1, true) && !k->w.ops->grant(&k->w, 0) && !clock_set(), "  once");
	side_put(ZUG_EV_SPIN, 1, ZUG_EF_ASK)->arg[0] = 1;
	tap_ok(side_next_is(k, WORLD_POINT, 0, true) && !k->w.ops->grant(&k->w, 1) && !clock_set(),
	       "  not where it was alone: there time passes with a time-out");
	side_end(k);
}

static bool next_op_is(struct kworld *k, unsigned int op)
{
	struct world_event ev;

	return k->w.ops->next(&k->w, &ev, 0, side.err, sizeof(side.err)) == 1 && ev.kind == WORLD_POINT &&
	       ev.task == 0 && k->w.tasks[0].label.op == op;
}

static void test_split(void)
{
	struct kworld *k = side_begin();

	k->w.ops->grant(&k->w, 0);
	kworld_handle(k, side_put(ZUG_EV_YIELD, 1, ZUG_EF_LONE));
	side.nr_ring--;
	k->kt[0].split.phase = SPLIT_READ;
	kworld_split_passed(k, 0, false);
	side_put(ZUG_EV_WAKE, 3, 0);
	tap_ok(next_op_is(k, ZUG_OP_YIELD), "the first of two steps has its own label");
	tap_ok(next_op_is(k, ZUG_OP_DATA_WRITE) && side_next_is(k, WORLD_WAKE, 2, false),
	       "the second follows at once");
	k->kt[0].split.phase = SPLIT_READ;
	side.nr_commands = 0;
	k->w.ops->grant(&k->w, 0);
	side_put(ZUG_EV_WAKE, 2, 0);
	tap_ok(!side.nr_commands && next_op_is(k, ZUG_OP_DATA_WRITE) && side_state_of(k, 0) == TASK_PARKED,
	       "the read half needs no turn of the kernel's");
	side_end(k);
}

static void test_take_back(void)
{
	struct kworld *k = side_begin();

	k->w.ops->grant(&k->w, 1);
	side.state.grant = 2;
	side_put(ZUG_EV_EXIT, 2, 0);
	tap_ok(side_next_is(k, WORLD_EXIT, 1, true) && side.commands[side.nr_commands - 1].cmd == ZUG_CMD_TAKE_BACK,
	       "a grant to a task that dies is taken back");
	side_end(k);
}

static void test_own_stops(void)
{
	struct kworld *k = side_begin();

	k->w.ops->grant(&k->w, 0);
	side.nr_commands = 0;
	side_put(ZUG_EV_FRESH, 1, ZUG_EF_ASK);
	tap_ok(side_nothing_next(k) && side.nr_commands == 1 && side.commands[0].cmd == ZUG_CMD_GRANT &&
		       side.commands[0].task == 1,
	       "a stop for zugzwang alone is no question");
	side_put(ZUG_EV_FATAL, 1, ZUG_EF_ASK)->nr = 11;
	tap_ok(side_next_is(k, WORLD_FATAL, 0, false) && side.nr_commands == 1,
	       "before a fatal signal the task stands");
	tap_ok(side_nothing_next(k) && side.nr_commands == 2 && side.commands[1].task == 1,
	       "and goes on when the engine has seen it");
	side_put(ZUG_EV_FRESH, 1, 0);
	side_put(ZUG_EV_ASK, 3, ZUG_EF_ASK);
	tap_ok(side_nothing_next(k) && side.nr_commands == 3, "also when its question comes later");
	side_end(k);
}

static void say_blocked(uint32_t kid)
{
	side_put(ZUG_EV_WAKE, 3, 0);
	side_put(ZUG_EV_BLOCK, kid, 0);
	side_put(ZUG_EV_EXIT, 2, 0);
	side_put(ZUG_EV_ASK, 2, ZUG_EF_ASK);
}

static void test_errand(void)
{
	struct kworld *k = side_begin();

	side.on_grant = say_blocked;
	kworld_errand_begin(k, 0);
	tap_ok(!kworld_run_errand(k) && k->run.errand.came.kind == ZUG_EV_ASK,
	       "an errand waits for the block and the question");
	tap_ok(side_state_of(k, 0) == TASK_PARKED, "which are no events of the task");
	side_put(ZUG_EV_WAKE, 1, 0);
	tap_ok(!kworld_await(k, ZUG_EV_WAKE), "and for its end");
	kworld_errand_end(k);
	tap_ok(side_state_of(k, 1) == TASK_DEAD && side_state_of(k, 2) == TASK_PARKED, "others change meanwhile");
	tap_ok(side_next_is(k, WORLD_WAKE, 2, false) && side_next_is(k, WORLD_EXIT, 1, false) &&
		       side_nothing_next(k),
	       "and are told in order");
	side_end(k);
}

static void stray(uint32_t kid)
{
	side_put(ZUG_EV_WAKE, kid, 0);
	side_put(ZUG_EV_FAULT, kid, 0);
	side_put(ZUG_EV_YIELD, kid, ZUG_EF_ASK);
	side_put(ZUG_EV_WAKE, 3, 0);
}

static void test_stray(void)
{
	struct kworld *k = side_begin();

	side.on_grant = stray;
	kworld_errand_begin(k, 0);
	tap_ok(kworld_run_errand(k) == -EAGAIN, "a task that goes another way ends the errand");
	kworld_errand_end(k);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true) && side_next_is(k, WORLD_WAKE, 2, false),
	       "and its event is told like every other");
	kworld_errand_begin(k, 0);
	tap_ok(kworld_await(k, ZUG_EV_BLOCK) == -ETIME, "what never comes is not waited for");
	side_end(k);
}

static uint64_t fault_came;

static void make_call(uint32_t kid)
{
	side_put(ZUG_EV_WAKE, 3, 0);
	side_put(ZUG_EV_FAULT, kid, 0)->arg[0] = fault_came;
	side_put(ZUG_EV_YIELD, kid, ZUG_EF_LONE);
}

static void test_fault(bool carried_out)
{
	struct kworld *k = side_begin();
	int ret;

	k->kt[0].call_nr = 0;
	fault_came = carried_out;
	side.on_grant = make_call;
	side.nr_commands = 0;
	ret = k->w.ops->inject(&k->w, &k->w.tasks[0], FAULT_ENOSPC, 0);
	tap_ok(ret == (carried_out ? 0 : WORLD_FAULT_MISSED),
	       carried_out ? "a fault that was carried out" : "a fault that was missed");
	tap_ok(side.nr_commands == 2 && side.commands[0].cmd == ZUG_CMD_FAULT && side.commands[0].fault == ENOSPC &&
		       side.commands[1].cmd == ZUG_CMD_GRANT && k->w.tasks[0].label.op == ZUG_OP_YIELD,
	       "  the label is still that of the call");
	tap_ok(!k->w.ops->grant(&k->w, 0) && side.nr_commands == 2, "  the turn is not given twice");
	tap_ok(side_next_is(k, WORLD_WAKE, 2, false) && side_next_is(k, WORLD_POINT, 0, false),
	       "  what came meanwhile is told");
	tap_ok(!k->w.ops->grant(&k->w, 0) && side.nr_commands == 3, "  the next turn is given");
	side_end(k);
}

static void test_settle(void)
{
	struct kworld *k = side_begin();

	/* ptrace cannot seize these tasks: they are awake for good */
	for (uint32_t n = 1; n <= 2; n++) {
		k->w.tasks[n].state = TASK_BLOCKED;
		k->w.tasks[n].deadline = 1000;
		k->kt[n].endless = true;
	}
	k->w.ops->grant(&k->w, 0);
	side_put(ZUG_EV_WAKE, 2, 0)->arg[0] = 1;
	side_put(ZUG_EV_WAKE, 3, 0);
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_WAKE, 2, false) && side_next_is(k, WORLD_WAKE, 1, false) &&
		       side_next_is(k, WORLD_POINT, 0, true),
	       "held tasks that are awake for good are told before the question");
	tap_ok(!k->run.nr_held && !k->w.tasks[1].deadline && side_state_of(k, 1) == TASK_PARKED,
	       "and are not held any more");
	side_end(k);
}

static void test_dead(void)
{
	struct kworld *k = side_begin();

	/* a timed wait whose timer was too early is held; then the task is killed */
	k->w.tasks[1].state = TASK_BLOCKED;
	k->w.tasks[1].deadline = 1000;
	k->kt[1].endless = true;
	k->w.ops->grant(&k->w, 0);
	side_put(ZUG_EV_WAKE, 2, 0);
	side_put(ZUG_EV_EXIT, 2, 0);
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_EXIT, 1, false) && side_next_is(k, WORLD_POINT, 0, true) &&
		       side_nothing_next(k),
	       "a held task that dies is not told to be awake");
	tap_ok(!k->run.nr_held && side_state_of(k, 1) == TASK_DEAD, "and stays dead");
	side_put(ZUG_EV_WAKE, 2, 0)->arg[0] = 1;
	tap_ok(side_nothing_next(k) && side_state_of(k, 1) == TASK_DEAD, "no wake-up brings a dead task back");
	k->w.tasks[2].state = TASK_BLOCKED;
	k->w.tasks[2].deadline = 1000;
	k->kt[2].endless = true;
	k->w.ops->grant(&k->w, 0);
	side_put(ZUG_EV_WAKE, 3, 0);
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	side_put(ZUG_EV_EXIT, 3, 0);
	tap_ok(side_next_is(k, WORLD_WAKE, 2, false) && side_next_is(k, WORLD_POINT, 0, true) &&
		       side_next_is(k, WORLD_EXIT, 2, false) && side_state_of(k, 2) == TASK_DEAD &&
		       side_nothing_next(k),
	       "the same after it was told to be awake");
	side_end(k);
}

/* T2 looks whether process T1, a child of T0, is there. */
static bool looks_for(struct kworld *k, int pid)
{
	struct zug_event *e = side_put(ZUG_EV_SYSCALL, 3, 0);

	e->nr = SYS_kill;
	e->arg[0] = pid;
	e->arg[1] = 0;
	return side_next_is(k, WORLD_POINT, 2, false) && k->w.tasks[2].label.op == ZUG_OP_KILL;
}

static void test_looks_for_process(void)
{
	struct kworld *k = side_begin();
	const struct zug_label *l = &k->w.tasks[2].label;
	struct zug_label end;

	k->w.tasks[1].process = 1;
	k->w.tasks[1].own_pid = 7002;
	k->w.ops->grant(&k->w, 0);
	side_put(ZUG_EV_WAKE, 3, 0);
	tap_ok(side_next_is(k, WORLD_WAKE, 2, false) && looks_for(k, 7002) && l->object && !(l->flags & ZUG_L_WRITE) &&
		       !strcmp(zug_label_name(l), "kill-0"),
	       "kill(PID, 0) only looks");
	side_put(ZUG_EV_SYSCALL, 2, 0)->nr = SYS_exit_group;
	tap_ok(side_next_is(k, WORLD_POINT, 1, false) && k->w.tasks[1].label.op == ZUG_OP_END, "the process ends");
	end = k->w.tasks[1].label;
	tap_ok(zug_label_dependent(&end, l), "  that is dependent on the look");
	side_put(ZUG_EV_EXIT, 2, 0);
	tap_ok(side_next_is(k, WORLD_EXIT, 1, false) && looks_for(k, 7002) && zug_label_dependent(&end, l),
	       "  also where the look comes later");
	tap_ok(looks_for(k, 7999) && !l->object, "a number that no process of the test had names nothing");
	side_end(k);
}

/* T2 sends T1, which is this process here, a signal by a descriptor for it, or looks whether it is there. */
static bool sends_by_descriptor(struct kworld *k, int fd, int signal)
{
	struct zug_event *e = side_put(ZUG_EV_SYSCALL, 3, 0);

	e->nr = SYS_pidfd_send_signal;
	e->pid = getpid();
	e->arg[0] = fd;
	e->arg[1] = signal;
	return side_next_is(k, WORLD_POINT, 2, false) && k->w.tasks[2].label.op == ZUG_OP_KILL;
}

static void test_signal_by_descriptor(void)
{
	struct kworld *k = side_begin();
	const struct zug_label *l = &k->w.tasks[2].label;
	int fd = syscall(SYS_pidfd_open, getpid(), 0);

	k->w.tasks[1].process = 1;
	k->w.tasks[1].own_pid = getpid();
	k->w.ops->grant(&k->w, 0);
	side_put(ZUG_EV_WAKE, 3, 0);
	tap_ok(fd >= 0 && side_next_is(k, WORLD_WAKE, 2, false) && sends_by_descriptor(k, fd, SIGUSR1) &&
		       l->object == zug_signal_object(1, SIGUSR1),
	       "a signal that is sent by a descriptor is an operation on its receiver's");
	tap_ok(sends_by_descriptor(k, fd, 0) && l->object && !(l->flags & ZUG_L_WRITE), "  and a look by it only looks");
	close(fd);
	tap_ok(sends_by_descriptor(k, fd, SIGUSR1) && !l->object, "  no descriptor of a process names nothing");
	side_end(k);
}

/* The label of a system call that T2 stands before. */
static bool calls(struct kworld *k, int nr, struct zug_label *l)
{
	side_put(ZUG_EV_SYSCALL, 3, 0)->nr = nr;
	if (!side_next_is(k, WORLD_POINT, 2, false))
		return false;
	*l = k->w.tasks[2].label;
	return true;
}

/* The same of one that is given that path, or, in front of that, another one. */
static uint64_t named_by(struct kworld *k, int nr, const char *first, const char *second)
{
	struct zug_event *e = side_put(ZUG_EV_SYSCALL, 3, 0);

	e->nr = nr;
	e->pid = getpid();
	e->arg[0] = (uintptr_t)first;
	e->arg[1] = (uintptr_t)second;
	if (!side_next_is(k, WORLD_POINT, 2, false))
		return 0;
	return nr == SYS_rename || nr == SYS_link ? k->w.tasks[2].label.object2 : k->w.tasks[2].label.object;
}

static void test_relative_paths(void)
{
	struct kworld *k = side_begin();
	uint64_t there = 0, other = 0;

	k->w.ops->grant(&k->w, 0);
	side_put(ZUG_EV_WAKE, 3, 0);
	tap_ok(side_next_is(k, WORLD_WAKE, 2, false) && (there = named_by(k, SYS_stat, "no/such", NULL)) &&
		       (other = named_by(k, SYS_stat, "no/other", NULL)) && there != other,
	       "two paths from the working folder on");
	tap_ok(named_by(k, SYS_rename, "no/other", "no/such") == there &&
		       named_by(k, SYS_link, "no/such", "no/other") == other &&
		       named_by(k, SYS_symlink, "no/other", "no/such") == there &&
		       named_by(k, SYS_inotify_add_watch, NULL, "no/such") == there,
	       "  are the same where rename(), link(), symlink() and inotify_add_watch() are given them as the second");
	side_end(k);
}

static void test_common(void)
{
	struct kworld *k = side_begin();
	struct zug_label folder, other_folder, mask, elsewhere;

	k->w.ops->grant(&k->w, 0);
	side_put(ZUG_EV_WAKE, 3, 0);
	tap_ok(side_next_is(k, WORLD_WAKE, 2, false) && calls(k, SYS_chdir, &folder) && calls(k, SYS_fchdir, &other_folder) &&
		       calls(k, SYS_umask, &mask) && folder.op == ZUG_OP_CHDIR && mask.op == ZUG_OP_UMASK &&
		       zug_label_dependent(&folder, &other_folder) && !zug_label_dependent(&folder, &mask),
	       "two calls that change the working folder of a process depend on each other, and not on its umask");
	k->w.tasks[2].process = 1;
	tap_ok(calls(k, SYS_umask, &elsewhere) && elsewhere.object && !zug_label_dependent(&mask, &elsewhere),
	       "nor does another process's");
	side_end(k);
}

/* What the engine is told of the beginning of an execution. */
static bool begins(struct kworld *k)
{
	if (!side_next_is(k, WORLD_POINT, 0, true) || k->w.tasks[0].label.op != ZUG_OP_BEGIN ||
	    !side_nothing_next(k))
		return false;
	k->w.ops->grant(&k->w, 0);
	return side_next_is(k, WORLD_SIGNAL, 0, false);
}

#define PATIENCE_NS 10000000000ull

static void test_prefix(void)
{
	struct kworld_options o = {
		.spawn = &side.spawn, .places = places_new(NULL, NULL), .wake_fd = -1, .launch.in = -1
	};
	struct kworld *k = (struct kworld *)kworld_new(&o);

	side.way = side.nr_commands = 0;
	tap_ok(!kworld_make_template(&k->w, PATIENCE_NS, side.err, sizeof(side.err)) && side.there && side.nr_commands == 1,
	       "a template is made on the way");
	side.nr_commands = 0;
	tap_ok(kworld_fork(&k->w), "a copy of it is made");
	k->w.ops->start(&k->w, false, side.err, sizeof(side.err));
	tap_ok(side.nr_forks == 1 && kworld_used_template(&k->w) && begins(k) && !side.nr_commands &&
		       k->w.tasks[0].pid == 0x7fff0009,
	       "a copy begins as the program did, without a turn of the kernel's");
	tap_ok(!side.nr_gone && side_nothing_next(k) && side.nr_gone == 1, "  and goes on then, with the turn");
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "  from where it stands");
	side.nr_commands = 0;
	kworld_unread(k, &k->w.tasks[0], 0x5040);
	kworld_unread(k, &k->w.tasks[0], 0x5068);
	kworld_fork(&k->w);
	tap_ok(side.nr_touched == 1 && side.touched == 0x5040, "  a page in which a lock could not be read is there in the next ones");
	k->w.ops->start(&k->w, true, side.err, sizeof(side.err));
	tap_ok(begins(k) && side_nothing_next(k) && side.nr_gone == 2 && !side.nr_commands,
	       "the next copy does the same");
	k->w.ops->start(&k->w, false, side.err, sizeof(side.err));
	tap_ok(side.nr_touched == 1 && side.nr_forks == 2 && !kworld_used_template(&k->w), "without a copy the program is started");

	side.way = 0;
	side.bad_stop = 1;
	tap_ok(kworld_make_template(&k->w, PATIENCE_NS, side.err, sizeof(side.err)) == -ENOTSUP && !side.there && side.err[0],
	       "no template where a point stops on the way");
	side.bad_stop = 0;
	side.hastens = true;
	tap_ok(!kworld_make_template(&k->w, PATIENCE_NS, side.err, sizeof(side.err)) && side.nr_halts == 1 && kworld_fork(&k->w),
	       "a prototype that is not stopped at its calls stops at the last one");
	k->w.ops->start(&k->w, false, side.err, sizeof(side.err));
	tap_ok(begins(k) && side_nothing_next(k) && side.nr_halts == 1, "  which a copy of it does not do");
	side.misses = true;
	tap_ok(!kworld_make_template(&k->w, PATIENCE_NS, side.err, sizeof(side.err)) && side.there && side.nr_halts == 1,
	       "where it does not come there it is followed from its first call on");
	side.hastens = side.misses = false;
	side.way = 5;
	tap_ok(kworld_make_template(&k->w, 1000000, side.err, sizeof(side.err)) == -ETIME && !side.there &&
		       strstr(side.err, "too long"),
	       "no template where the way takes longer than it is worth");
	side_end(k);
}

static void test_errors(void)
{
	struct kworld *k = side_begin();
	struct world_event ev;

	side_put(ZUG_EV_WAKE, 3, 0);
	side.refuse = -ENOMEM;
	tap_ok(k->w.ops->next(&k->w, &ev, 0, side.err, sizeof(side.err)) < 0 && strstr(side.err, "out of memory"),
	       "an event that cannot be kept");
	side.refuse = 0;
	tap_ok(k->w.ops->next(&k->w, &ev, 0, side.err, sizeof(side.err)) < 0, "  ends the execution");
	side_end(k);

	k = side_begin();
	side_put(ZUG_EV_WAKE, 3, 0);
	side.state.nr_lost = 1;
	tap_ok(side_next_is(k, WORLD_WAKE, 2, false) == false && strstr(side.err, "lost"),
	       "an event that found no room in the ring");
	side_end(k);

	k = side_begin();
	side_put(99, 1, 0);
	tap_ok(k->w.ops->next(&k->w, &ev, 0, side.err, sizeof(side.err)) < 0 && strstr(side.err, "unknown kind"),
	       "an event of an unknown kind");
	side_end(k);
}

/* Files without a type are named by what they are, not all alike. */
static void test_descriptors(void)
{
	struct kworld *k = side_begin();
	struct {
		int fd;
		const char *name;
	} is[] = {
		{ eventfd(0, EFD_CLOEXEC), "eventfd #0 of T0" },
		{ epoll_create1(EPOLL_CLOEXEC), "epoll #1 of T0" },
		{ timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), "timerfd #2 of T0" },
		{ inotify_init1(IN_CLOEXEC), "inotify #3 of T0" },
		{ -1, "pipe #4 of T0" },
	};

	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		struct zug_where w = { .ino = 100 + i, .mode = is[i].fd < 0 ? S_IFIFO : 0 };
		uint64_t id = places_object(k->o.places, 0, 0, getpid(), &w, is[i].fd < 0 ? 77 : is[i].fd, ZUG_OP_READ);
		const struct place_object *o = places_find_object(k->o.places, id);

		tap_ok(o && !strcmp(o->name, is[i].name), "%s", is[i].name);
		if (is[i].fd >= 0)
			close(is[i].fd);
	}
	side_end(k);
}

/* A task comes to a load near a loop that waits, standing so: it gives way to others there. */
static bool gives_way(struct kworld *k, uint32_t site, uint64_t stands)
{
	const struct probe_site load = { .op = ZUG_OP_DATA_READ, .waits = true,
					 .code = { .kind = CODE_LOAD, .flags = CODE_NO_ADDR } };
	struct zug_event e = { .kind = ZUG_EV_POINT, .site = site, .ip = 0x1000 + site, .ret = stands };

	kworld_label_code(k, &k->w.tasks[0], &k->kt[0], &e, &load);
	return k->kt[0].yields;
}

static void test_waiting_loops(void)
{
	struct kworld *k = side_begin();
	unsigned int nr = 0, late = 0;

	tap_ok(!gives_way(k, 1, 10) && !gives_way(k, 2, 20), "a task that comes to a loop does not give way to others");
	tap_ok(gives_way(k, 1, 10) && gives_way(k, 2, 20) && gives_way(k, 1, 10), "  that goes round in it does, in each round");
	tap_ok(!gives_way(k, 1, 11) && !gives_way(k, 1, 12) && !gives_way(k, 1, 11),
	       "  not where other code comes to the same loads");
	for (uint64_t n = 100; n < 164; n++) {
		bool gives = gives_way(k, 3, n);

		nr += gives;
		late += gives && (n == 115 || n == 131);
	}
	tap_ok(nr == 4 && late == 2, "  and in every 16th round of a loop that counts them");
	for (uint32_t site = 10; site < 30; site++)
		nr += gives_way(k, site, 1);
	tap_ok(nr == 4 && !gives_way(k, 10, 1) && gives_way(k, 10, 1), "what a task did long ago is forgotten");
	side_end(k);
}

int main(void)
{
	test_waiting_loops();
	test_changes();
	test_states();
	test_computation();
	test_split();
	test_take_back();
	test_own_stops();
	test_errand();
	test_stray();
	test_fault(true);
	test_fault(false);
	test_settle();
	test_dead();
	test_prefix();
	test_looks_for_process();
	test_signal_by_descriptor();
	test_common();
	test_relative_paths();
	test_errors();
	test_descriptors();
	return tap_done();
}
