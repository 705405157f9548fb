/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_pump.c - the kernel's world without a kernel: events as they might come, and what the engine is told
 *
 * Takes the place of kernel.c and of the sandbox: events are put into a list, commands are written down, and a grant may
 * bring more events, as the kernel side would send them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "kworld/kworld_internal.h"

static int nr_tests, nr_failed;

static void ok(bool good, const char *what)
{
	nr_tests++;
	nr_failed += !good;
	printf("%sok %d - %s\n", good ? "" : "not ", nr_tests, what);
}

/* ---- the kernel side ---- */

static struct zug_event ring[64];
static size_t nr_ring, next_ring;
static struct zug_sandbox state;
static struct zug_ctl commands[64];
static size_t nr_commands;
static int refuse;		/* what kernel_event() says instead */
static void (*on_grant)(uint32_t kid);

static struct zug_event *put(enum zug_event_kind kind, uint32_t kid, uint32_t flags)
{
	struct zug_event *e = &ring[nr_ring++];

	*e = (struct zug_event){ .kind = kind, .task = kid, .pid = 0x7fff0000 + kid, .tgid = 0x7fff0000, .flags = flags,
				 .nr = -1, .site = ZUG_NO_SITE };
	return e;
}

int kernel_event(struct kernel *k, unsigned int slot, struct zug_event *e, int64_t timeout_us, int extra_fd)
{
	(void)k;
	(void)slot;
	(void)timeout_us;
	(void)extra_fd;
	if (refuse)
		return refuse;
	if (next_ring == nr_ring)
		return 0;
	*e = ring[next_ring++];
	return 1;
}

int kernel_ctl(struct kernel *k, struct zug_ctl *c)
{
	(void)k;
	commands[nr_commands++] = *c;
	if (c->cmd == ZUG_CMD_GRANT && on_grant)
		on_grant(c->task);
	return 0;
}

const volatile struct zug_sandbox *kernel_sandbox(struct kernel *k, unsigned int slot)
{
	(void)k;
	(void)slot;
	return &state;
}

static struct zug_lease lease;

const struct zug_call *kernel_call(struct kernel *k, unsigned int slot)
{
	(void)k;
	(void)slot;
	return NULL;
}

static struct zug_known_file known[ZUG_KNOWN_FILES];

volatile struct zug_known_file *kernel_known_files(struct kernel *k, unsigned int slot)
{
	(void)k;
	(void)slot;
	return known;
}

void kernel_tell_step(struct kernel *k, uint32_t module, uint64_t offset, const struct zug_caller *c)
{
}

uint32_t kernel_probes_round(const struct kernel *k)
{
	(void)k;
	return 0;
}

void kernel_tell_caller(struct kernel *k, uint32_t mm, uint64_t addr, const struct zug_caller *c)
{
}

struct zug_lease *kernel_lease(struct kernel *k, unsigned int slot)
{
	(void)k;
	(void)slot;
	return &lease;
}

void kernel_forget(struct kernel *k, unsigned int slot)
{
	(void)k;
	(void)slot;
	nr_ring = next_ring = 0;
}

const char *kernel_ejected(struct kernel *k)
{
	(void)k;
	return NULL;
}

const char *kernel_thrown_out(struct kernel *k)
{
	return kernel_ejected(k);
}

uint32_t kernel_dev(uint64_t st_dev)
{
	return st_dev;
}

bool kernel_watched(const struct kernel *k, uint64_t addr, uint64_t size, uint32_t exe_dev, uint64_t exe_ino)
{
	return false;
}

bool kernel_can_answer(struct kernel *k)
{
	(void)k;
	return false;
}

int kernel_add_module(struct kernel *k, uint64_t ino, uint64_t st_dev, uint32_t module)
{
	(void)k;
	(void)ino;
	(void)st_dev;
	(void)module;
	return -ENOSYS;
}

int kernel_add_probes(struct kernel *k, uint32_t module, const char *file, const struct kernel_probe *probes, int nr, int *bad)
{
	(void)k;
	(void)module;
	(void)file;
	(void)probes;
	(void)nr;
	(void)bad;
	return -ENOSYS;
}

int kernel_add_answers(struct kernel *k, const char *file, const struct kernel_answer *list, int nr)
{
	(void)k;
	(void)file;
	(void)list;
	(void)nr;
	return -ENOSYS;
}

/* ---- the sandbox ---- */

unsigned int sandbox_slot(const struct sandbox *s)
{
	(void)s;
	return 0;
}

int sandbox_lane(const struct sandbox *s)
{
	(void)s;
	return 0;
}

uint64_t sandbox_spin_ns(const struct sandbox *s)
{
	(void)s;
	return 5;
}

uint64_t sandbox_cpu_ns(const struct sandbox *s)
{
	(void)s;
	return 0;
}

int sandbox_prepare(struct sandbox *s, char *err, size_t errlen)
{
	(void)s;
	(void)err;
	(void)errlen;
	return 0;
}

void sandbox_kill_stray(struct sandbox *s, pid_t pid)
{
	/* no task of these tests leaves its cgroup */
	abort();
}

const char *sandbox_cgroup(const struct sandbox *s)
{
	(void)s;
	return "";
}

void sandbox_reset(struct sandbox *s)
{
	(void)s;
	memset(&state, 0, sizeof(state));
}

void sandbox_pause_watches(struct sandbox *s, bool off)
{
	(void)s;
	(void)off;
}

int sandbox_launch(struct sandbox *s, const struct launch *l, uint32_t *kid, char *err, size_t errlen)
{
	(void)s;
	(void)l;
	(void)err;
	(void)errlen;
	*kid = 1;
	return 1;
}

/* A template whose prototype starts, leaves a handler and stands there. */
static int way;			/* so far it has come */
static bool there;
static int bad_stop;		/* it stops before another point first */
static unsigned int nr_forks, nr_gone;

int sandbox_template_follow(struct sandbox *s, pid_t prototype, char *why, size_t len)
{
	(void)s;
	(void)prototype;
	(void)why;
	(void)len;
	if (++way == 2)
		put(ZUG_EV_START, 1, ZUG_EF_ASK);
	if (way == 4)
		put(bad_stop ? ZUG_EV_YIELD : ZUG_EV_RETURNS, 1, bad_stop ? ZUG_EF_ASK : 0);
	return way == 5;
}

bool sandbox_template_earlier(struct sandbox *s)
{
	return false;
}

int sandbox_template_keep(struct sandbox *s, pid_t prototype, char *why, size_t len)
{
	(void)s;
	(void)prototype;
	(void)why;
	(void)len;
	there = true;
	return 0;
}

bool sandbox_fresh(const struct sandbox *s)
{
	(void)s;
	return true;
}

bool sandbox_template_there(const struct sandbox *s)
{
	(void)s;
	return there;
}

void sandbox_template_drop(struct sandbox *s)
{
	(void)s;
	there = false;
}

pid_t sandbox_template_fork(struct sandbox *s)
{
	(void)s;
	nr_forks++;
	return 0x7fff0009;
}

int sandbox_template_go(struct sandbox *s, pid_t first, const struct zug_turn *turn)
{
	(void)s;
	nr_gone += first == 0x7fff0009 && turn->spin_ns == 5;
	return 0;
}

int sandbox_drain(struct sandbox *s, pid_t root, int *status)
{
	(void)s;
	(void)root;
	*status = 0;
	return 0;
}

int sandbox_finish(struct sandbox *s, const struct launch *l, char *err, size_t errlen)
{
	(void)s;
	(void)l;
	(void)err;
	(void)errlen;
	return 0;
}

bool sandbox_net_closed(const struct sandbox *s)
{
	(void)s;
	return true;
}

int sandbox_privatise(struct sandbox *s, const char *path, const char **copy, char *err, size_t errlen)
{
	(void)s;
	(void)path;
	(void)copy;
	(void)err;
	(void)errlen;
	return -ENOENT;
}

/* ---- worlds ---- */

static struct spawn_table spawn;
static char err[256];

/* A world in which the root (1) has started two tasks (2, 3) and stands at its first point. */
static struct kworld *begin(void)
{
	struct probes *probes = probes_new(NULL, NULL, NULL);
	struct kworld_options o = { .spawn = &spawn, .probes = probes, .places = places_new(probes, NULL), .wake_fd = -1,
				    .launch.in = -1 };
	struct kworld *k = (struct kworld *)kworld_new(&o);
	struct world_event ev;

	on_grant = NULL;
	refuse = 0;
	k->w.ops->start(&k->w, true, err, sizeof(err));
	nr_commands = 0;
	put(ZUG_EV_START, 1, 0);
	put(ZUG_EV_NEW, 2, ZUG_EF_THREAD)->arg[0] = 1;
	put(ZUG_EV_NEW, 3, ZUG_EF_THREAD)->arg[0] = 1;
	put(ZUG_EV_WAKE, 2, ZUG_EF_NEW)->arg[0] = 1;
	put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	while (k->w.ops->next(&k->w, &ev, 0, err, sizeof(err)) == 1)
		;
	return k;
}

static void end(struct kworld *k)
{
	struct places *p = k->o.places;
	struct probes *probes = k->o.probes;

	kworld_free(&k->w);
	places_free(p);
	probes_free(probes);
}

static bool next_is(struct kworld *k, enum world_event_kind kind, uint32_t task, bool ask)
{
	struct world_event ev;

	return k->w.ops->next(&k->w, &ev, 0, err, sizeof(err)) == 1 && ev.kind == kind && ev.task == task && ev.ask == ask;
}

static bool nothing_next(struct kworld *k)
{
	struct world_event ev;

	return k->w.ops->next(&k->w, &ev, 0, err, sizeof(err)) == 0;
}

static enum task_state_kind state_of(const struct kworld *k, uint32_t task)
{
	return k->w.tasks[task].state;
}

/* Tasks 1 to nr stand before lock n % 4 + 1; the changes so far are forgotten. */
static void stand_before_locks(struct kworld *k, uint32_t nr)
{
	for (uint32_t n = 1; n <= nr; n++) {
		struct world_task *t = &k->w.tasks[n];

		t->state = TASK_PARKED;
		t->label = (struct zug_label){ .op = ZUG_OP_LOCK, .object = n % 4 + 1 };
		kworld_waiters_follow(k, n);
	}
	k->w.changes.all = false;
	k->w.changes.nr = 0;
}

static bool is_changed(const struct kworld *k, uint32_t task)
{
	for (uint32_t i = 0; i < k->w.changes.nr; i++)
		if (k->w.changes.list[i] == task)
			return true;
	return k->w.changes.all;
}

/* An event of the root after it was about to unlock object 3: which of the tasks that stand before locks are named? */
static uint32_t changed_by_unlock(struct kworld *k, uint32_t nr, bool *right)
{
	uint32_t all = 0;

	k->w.tasks[0].label = (struct zug_label){ .op = ZUG_OP_UNLOCK, .object = 3 };
	put(ZUG_EV_YIELD, 1, ZUG_EF_LONE);
	next_is(k, WORLD_POINT, 0, false);
	*right = is_changed(k, 0);
	for (uint32_t n = 1; n <= nr; n++) {
		all += is_changed(k, n);
		*right &= is_changed(k, n) || n % 4 + 1 != 3;
	}
	return all;
}

static void test_changes(void)
{
	struct kworld *k = begin();
	bool right;

	kworld_room(k, 41);
	stand_before_locks(k, 8);
	ok(changed_by_unlock(k, 8, &right) == 8 && right, "few tasks before locks: each may be able to go on after an event");
	stand_before_locks(k, 40);
	ok(changed_by_unlock(k, 40, &right) == 10 && right, "many: those before the lock that was used");
	stand_before_locks(k, 40);
	put(ZUG_EV_EXIT, 2, 0);
	next_is(k, WORLD_EXIT, 1, false);
	ok(is_changed(k, 2) && is_changed(k, 3) && is_changed(k, 40), "  a task that ends may have held any of them");
	for (uint32_t n = 1; n <= 40; n++)
		k->kt[n].have_words = true;
	stand_before_locks(k, 40);
	put(ZUG_EV_EXIT, 3, 0);
	next_is(k, WORLD_EXIT, 2, false);
	ok(is_changed(k, 2) && !is_changed(k, 3) && !is_changed(k, 40), "  not where none of them is robust");
	for (uint32_t n = 1; n <= 40; n++)
		k->w.tasks[n].state = TASK_RUNNING;
	for (uint32_t n = 40; n >= 1; n--)
		kworld_waiters_follow(k, n);
	k->w.changes.nr = 0;
	ok(!changed_by_unlock(k, 40, &right) && !k->waiters.nr, "  one that goes on stands there no more");
	end(k);
}

static void test_states(void)
{
	struct kworld *k = begin();

	ok(state_of(k, 0) == TASK_PARKED && state_of(k, 1) == TASK_PARKED && state_of(k, 2) == TASK_BLOCKED,
	   "a task is blocked until its first wake-up");
	k->w.ops->grant(&k->w, 0);
	ok(state_of(k, 0) == TASK_RUNNING && commands[nr_commands - 1].cmd == ZUG_CMD_GRANT &&
	   commands[nr_commands - 1].turn.stop_always && commands[nr_commands - 1].turn.spin_ns == 5 &&
	   commands[nr_commands - 1].turn.lone_ns == 50,
	   "the turn comes with what goes with it");
	put(ZUG_EV_YIELD, 1, ZUG_EF_LONE);
	ok(next_is(k, WORLD_POINT, 0, false) && state_of(k, 0) == TASK_RUNNING, "a point that is passed");
	put(ZUG_EV_BLOCK, 1, ZUG_EF_ASK);
	ok(next_is(k, WORLD_BLOCK, 0, true) && state_of(k, 0) == TASK_BLOCKED, "a task that blocks");
	put(ZUG_EV_WAKE, 2, 0);
	put(ZUG_EV_WAKE, 1, 0)->arg[0] = 2;
	ok(next_is(k, WORLD_WAKE, 0, false) && state_of(k, 0) == TASK_PARKED, "one that is awake is not woken again");
	put(ZUG_EV_EXIT, 2, 0);
	ok(next_is(k, WORLD_EXIT, 1, false) && state_of(k, 1) == TASK_DEAD, "a task that dies");
	k->w.ops->grant(&k->w, 0);
	put(ZUG_EV_LENT, 1, ZUG_EF_ASK);
	ok(next_is(k, WORLD_BLOCK, 0, true) && k->w.tasks[0].wait == WAIT_UNKNOWN,
	   "a task whose turn was lent may come back by itself");
	put(ZUG_EV_BLOCK, 9, ZUG_EF_ASK);
	ok(next_is(k, WORLD_ASK, WORLD_NO_TASK, true), "of an unknown task only the question is told");
	end(k);
}

static bool next_op_is(struct kworld *k, unsigned int op)
{
	struct world_event ev;

	return k->w.ops->next(&k->w, &ev, 0, err, sizeof(err)) == 1 && ev.kind == WORLD_POINT && ev.task == 0 &&
	       k->w.tasks[0].label.op == op;
}

static void test_split(void)
{
	struct kworld *k = begin();

	k->w.ops->grant(&k->w, 0);
	kworld_handle(k, put(ZUG_EV_YIELD, 1, ZUG_EF_LONE));
	nr_ring--;
	k->kt[0].split.phase = SPLIT_READ;
	kworld_split_passed(k, 0, false);
	put(ZUG_EV_WAKE, 3, 0);
	ok(next_op_is(k, ZUG_OP_YIELD), "the first of two steps has its own label");
	ok(next_op_is(k, ZUG_OP_DATA_WRITE) && next_is(k, WORLD_WAKE, 2, false), "the second follows at once");
	k->kt[0].split.phase = SPLIT_READ;
	nr_commands = 0;
	k->w.ops->grant(&k->w, 0);
	put(ZUG_EV_WAKE, 2, 0);
	ok(!nr_commands && next_op_is(k, ZUG_OP_DATA_WRITE) && state_of(k, 0) == TASK_PARKED,
	   "the read half needs no turn of the kernel's");
	end(k);
}

/* T1 stands before a mutex of its process, which is as it was read then. */
static void before_lock(struct kworld *k, const uint32_t *words)
{
	k->w.tasks[1].label.op = ZUG_OP_LOCK;
	k->kt[1].lock = 0x1000;
	k->kt[1].libc = SYMLIBC_GLIBC;
	k->locks.nr = 0;
	lock_memory_put(&k->locks, k->w.tasks[1].tgid, 0x1000, words);
	kworld_waiters_follow(k, 1);
}

/* A point of T0, which has gone on; the mutex that it came to before is held then. */
static bool leased_next(struct kworld *k)
{
	struct world_event ev;

	return k->w.ops->next(&k->w, &ev, 0, err, sizeof(err)) == 1 && ev.kind == WORLD_POINT && ev.task == 0 &&
	       ev.ask && ev.leased && !ev.passed && state_of(k, 0) == TASK_PARKED;
}

static bool waits(struct kworld *k)
{
	return k->w.ops->would_block(&k->w, &k->w.tasks[1], NULL);
}

static void test_lease(void)
{
	static const uint32_t open[LOCK_WORDS] = { 0 }, held[LOCK_WORDS] = { 1, 0, 77 };
	struct kworld *k = begin();
	struct zug_event *e;

	k->w.tasks[0].tgid = k->w.tasks[1].tgid;
	before_lock(k, open);
	k->w.ops->lease(&k->w, 5, SEARCH_UNTIL_WAKE, false, NULL);
	k->w.ops->grant(&k->w, 0);
	ok(lease.left == 5 && lease.flags == (ZUG_LEASE_WAKE | ZUG_LEASE_CALLS | ZUG_LEASE_ENDS) && lease.nr_locks == 1 &&
	   lease.locks[0].addr == 0x1000 &&
	   !memcmp(lease.locks[0].word, open, sizeof(open)), "a lease comes with the locks that others stand before");
	nr_commands = 0;
	put(ZUG_EV_POINT, 1, ZUG_EF_LEASED);
	memcpy(put(ZUG_EV_LOCK, 1, 0)->word, held, sizeof(held));
	e = put(ZUG_EV_POINT, 1, ZUG_EF_LEASED | ZUG_EF_BEFORE);
	e->before_addr = 0x2000;
	e->before[0] = 1;
	ok(leased_next(k) && !waits(k), "a leased point is a question, with locks as they were");
	ok(!k->w.ops->grant(&k->w, 0) && !nr_commands && state_of(k, 0) == TASK_RUNNING, "the task has the turn already");
	ok(leased_next(k) && waits(k), "a lock that the task has taken since is held at its next point");
	k->kt[1].lock = 0x2000;
	ok(waits(k), "that of the point before is known");
	k->kt[1].lock = 0x3000;
	ok(!waits(k), "other memory is not read while a task runs");
	k->w.ops->grant(&k->w, 0);
	put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	ok(next_is(k, WORLD_POINT, 0, true), "the end of a lease");
	k->w.ops->grant(&k->w, 0);
	ok(!lease.left && nr_commands == 1, "the next grant has none of its own");
	put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	ok(next_is(k, WORLD_POINT, 0, true), "nor is one due");
	k->kt[1].lock = 0x1000;
	k->w.tasks[1].tgid++;
	k->w.ops->lease(&k->w, 5, SEARCH_UNTIL_DONE, false, NULL);
	k->w.ops->grant(&k->w, 0);
	ok(!lease.left, "no lease where a lock lies in another process");
	put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	ok(next_is(k, WORLD_POINT, 0, true), "its next point");
	k->w.tasks[1].label.op = ZUG_OP_DATA_WRITE;
	kworld_waiters_follow(k, 1);
	k->w.tasks[2].deadline = 5;
	k->timed.list = calloc(1, sizeof(*k->timed.list));
	k->timed.list[0] = 2;
	k->timed.nr = k->timed.room = 1;
	k->w.ends_stop = true;
	k->w.ops->lease(&k->w, 5, SEARCH_UNTIL_DONE, true, NULL);
	k->w.ops->grant(&k->w, 0);
	k->w.ends_stop = false;
	ok(lease.left == 5 && lease.flags == (ZUG_LEASE_WAKE | ZUG_LEASE_KNOWN | ZUG_LEASE_CALLS), "a timed wait may end too early: its end is to be looked at");
	put(ZUG_EV_POINT, 1, ZUG_EF_LEASED);
	ok(leased_next(k), "a place");
	k->kt[0].split.phase = SPLIT_READ;
	kworld_split_passed(k, 0, true);
	k->w.ops->grant(&k->w, 0);
	ok(leased_next(k) && k->w.tasks[0].label.op == ZUG_OP_DATA_WRITE, "a split one has two steps under a lease");
	nr_commands = 0;
	ok(!k->w.ops->grant(&k->w, 0) && !nr_commands, "and neither of them needs the turn");
	end(k);
}

static void test_plan(void)
{
	static const uint32_t open[LOCK_WORDS] = { 0 };
	const struct world_plan steps = { .rule.by = SEARCH_BY_STEPS, .nr = 3, .nr_runs = 2, .runs = { { 0, 2 }, { 1, 1 } } };
	const struct world_plan draws = { .nr = 7, .rule = { .by = SEARCH_BY_DRAWS, .state = 77, .least = 1 } };
	struct kworld *k = begin();
	struct world_event ev;

	k->w.ops->lease(&k->w, 1, SEARCH_UNTIL_DONE, true, &steps);
	k->w.ops->grant(&k->w, 0);
	ok(lease.left == 3 && lease.plan.kind == ZUG_PLAN_STEPS && lease.plan.nr_peers == 3 && lease.plan.holder == 0 &&
	   lease.plan.nr_runs == 2 && lease.plan.runs[1].peer == 1 && lease.plan.runs[1].steps == 1 && lease.plan.peers[1].task == 2,
	   "a plan goes with a lease, also to tasks that may wake up");
	put(ZUG_EV_HAND, 1, ZUG_EF_LEASED)->arg[0] = 2;
	put(ZUG_EV_POINT, 1, ZUG_EF_LEASED);
	put(ZUG_EV_POINT, 2, ZUG_EF_LEASED);
	nr_commands = 0;
	ok(k->w.ops->next(&k->w, &ev, 0, err, sizeof(err)) == 1 && ev.leased && ev.handed && ev.to == 1 && ev.task == 0 && ev.ask &&
	   state_of(k, 0) == TASK_PARKED, "the turn has gone to another task: a question all the same");
	ok(!k->w.ops->grant(&k->w, 1) && !nr_commands && state_of(k, 1) == TASK_RUNNING, "that task has it already");
	ok(k->w.ops->next(&k->w, &ev, 0, err, sizeof(err)) == 1 && ev.leased && !ev.handed && ev.task == 1, "and passes its point");
	ok(!k->w.ops->grant(&k->w, 1) && !nr_commands, "  without another grant");
	put(ZUG_EV_YIELD, 2, ZUG_EF_ASK);
	ok(next_is(k, WORLD_POINT, 1, true), "it stops");
	k->kt[0].split.phase = SPLIT_WRITE;
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_CHANGE, false, &draws);
	k->w.ops->grant(&k->w, 1);
	ok(lease.left == 7 && lease.plan.kind == ZUG_PLAN_DRAWS && lease.plan.nr_peers == 3 && lease.plan.holder == 1 &&
	   lease.plan.draws == 77 && lease.plan.peers[2].pass.kind == ZUG_PASS_ASLEEP, "one of the tasks that stand is drawn");
	ok(lease.plan.peers[0].pass.kind == ZUG_PASS_NEVER && lease.plan.peers[1].pass.kind == ZUG_PASS_ALWAYS,
	   "what user space has to do something for is not handed the turn");
	put(ZUG_EV_YIELD, 2, ZUG_EF_ASK);
	ok(next_is(k, WORLD_POINT, 1, true), "it stops again");
	k->kt[1].split.phase = SPLIT_READ;
	k->w.ops->lease(&k->w, 1, SEARCH_UNTIL_DONE, true, &steps);
	k->w.ops->grant(&k->w, 1);
	ok(next_is(k, WORLD_POINT, 1, true), "the second half of an instruction that is split");
	k->w.ops->grant(&k->w, 1);
	ok(!lease.left && !lease.plan.kind, "a plan made at its first half says nothing of what comes behind the second");
	put(ZUG_EV_YIELD, 2, ZUG_EF_ASK);
	ok(next_is(k, WORLD_POINT, 1, true), "it stops once more");
	k->w.tasks[0].tgid = k->w.tasks[1].tgid;
	before_lock(k, open);
	k->w.ops->lease(&k->w, 4, SEARCH_UNTIL_CHANGE, false, &draws);
	k->w.ops->grant(&k->w, 0);
	ok(lease.left == 4 && !lease.plan.kind, "no plan where it is not known what a lock's memory says");
	end(k);
}

/* Rules by which a task is chosen where several are enabled: of those that there are, and of one that may come. */
static void test_plan_rules(void)
{
	const struct world_plan ranks = { .nr = 9, .nr_weights = 2, .weights = { { 0, 1ull << 63 | 5 }, { 1, 7 } }, .rule = {
		.by = SEARCH_BY_RANKS, .state = 3, .choices = 8, .lowest = 6, .nr_changes = 1, .changes = { { 2, 4 } } } };
	const struct world_plan choices = { .nr = 9, .nr_runs = 2, .runs = { { 1, 1 }, { 90, 1 } },
		.rule = { .by = SEARCH_BY_CHOICES, .base = true } };
	const struct world_plan base = { .nr = 9, .rule = { .by = SEARCH_BY_CHOICES, .base = true } };
	const struct zug_plan *p = &lease.plan;
	struct kworld *k = begin();
	uint32_t child = spawn_number(&spawn, 0, 3);
	struct world_event ev;

	k->w.ops->lease(&k->w, 1, SEARCH_UNTIL_WAKE, false, &ranks);
	k->w.ops->grant(&k->w, 0);
	ok(lease.left == 9 && !(lease.flags & ZUG_LEASE_WAKE) && p->kind == ZUG_PLAN_RANKS && p->choices_end == 8 && p->lowest == 6 && p->draws == 3 &&
	   p->changes[0].at == 2 && p->changes[0].rank == 4 && !p->changes[1].at && p->peers[0].weight == (1ull << 63 | 5) &&
	   p->peers[1].weight == 7, "the task with the highest rank is chosen");
	ok(child == 3 && p->nr_peers == 4 && !p->peers[3].pid && p->peers[3].parent == 1 && p->peers[3].nth == 1 &&
	   !p->peers[3].weight && p->peers[3].pass.kind == ZUG_PASS_ASLEEP,
	   "also where a thread comes that an earlier execution had: behind another one that is new");
	put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	ok(next_is(k, WORLD_POINT, 0, true), "it stops");
	k->w.ops->lease(&k->w, 1, SEARCH_UNTIL_DONE, false, &choices);
	k->w.ops->grant(&k->w, 0);
	ok(p->kind == ZUG_PLAN_CHOICES && p->nr_runs == 1 && p->runs[0].peer == 1 && !p->base,
	   "choices end where a task is chosen that cannot be known there");
	put(ZUG_EV_HAND, 1, ZUG_EF_LEASED)->arg[0] = 2;
	put(ZUG_EV_BLOCK, 1, ZUG_EF_LEASED)->nr = SYS_futex;
	put(ZUG_EV_WAKE, 1, 0)->arg[0] = 2;
	put(ZUG_EV_HAND, 2, ZUG_EF_LEASED)->arg[0] = 1;
	put(ZUG_EV_EXIT, 2, ZUG_EF_LEASED);
	nr_commands = 0;
	ok(k->w.ops->next(&k->w, &ev, 0, err, sizeof(err)) == 1 && ev.kind == WORLD_BLOCK && ev.ask && ev.handed && ev.to == 1 &&
	   state_of(k, 0) == TASK_BLOCKED && !k->w.ops->grant(&k->w, 1) && !nr_commands, "where a task blocks another one has the turn");
	ok(next_is(k, WORLD_WAKE, 0, false) && k->w.ops->next(&k->w, &ev, 0, err, sizeof(err)) == 1 && ev.kind == WORLD_EXIT &&
	   ev.ask && ev.handed && ev.to == 0 && state_of(k, 1) == TASK_DEAD && !k->w.ops->grant(&k->w, 0) && !nr_commands &&
	   state_of(k, 0) == TASK_RUNNING, "and where it ends");
	put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	ok(next_is(k, WORLD_POINT, 0, true), "it stops again");
	k->w.ops->lease(&k->w, 1, SEARCH_UNTIL_DONE, false, &base);
	k->w.ops->grant(&k->w, 0);
	ok(p->kind == ZUG_PLAN_CHOICES && !p->nr_runs && p->base, "and behind all of them the base scheduler chooses");
	end(k);
}

/* Rules that need to know what operations access. */
static void test_plan_accesses(void)
{
	const struct world_plan pending = { .nr = 9, .nr_weights = 2, .weights = { { 0, 5, 0, false }, { 1, 7, 0, false } },
		.rule = { .by = SEARCH_BY_PENDING, .state = 3, .base = true } };
	struct world_plan selection = { .nr = 9, .nr_weights = 2, .weights = { { 0, 5, 11, true }, { 1, 7, 0, false } },
		.rule = { .by = SEARCH_BY_SELECTION, .state = 3, .intended = 1, .object = 77 } };
	const struct zug_where where = { .offset = 0x7000 };
	const struct zug_plan *p = &lease.plan;
	struct kworld *k = begin();
	struct world_task *t = &k->w.tasks[0];

	k->w.tasks[2].label = (struct zug_label){ .op = ZUG_OP_JOIN };
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_CHANGE, false, &pending);
	k->w.ops->grant(&k->w, 0);
	ok(p->kind == ZUG_PLAN_PENDING && p->base && p->draws == 3 && p->peers[0].weight == 5 &&
	   p->peers[0].access.how == ZUG_ACCESS_KNOWN && !p->peers[0].access.object[0], "priorities of operations: one that accesses nothing");
	ok(p->peers[2].access.object[0] == ZUG_OBJECT_ANY && p->peers[2].access.how & ZUG_ACCESS_WRITES,
	   "  a task that sleeps may go on with anything");
	put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	ok(next_is(k, WORLD_POINT, 0, true), "it stops");
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_CHANGE, false, &selection);
	k->w.ops->grant(&k->w, 0);
	ok(!p->kind, "no selection by an object of which it is not known where it lies");
	put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	ok(next_is(k, WORLD_POINT, 0, true), "it stops again");
	t->label = (struct zug_label){ .op = ZUG_OP_DATA_READ };
	t->label.object = selection.rule.object = places_object(k->o.places, t->process, 0, t->pid, &where, -1, ZUG_OP_DATA_READ);
	k->kt[0].at[0] = where;
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_CHANGE, false, &selection);
	k->w.ops->grant(&k->w, 0);
	ok(p->kind == ZUG_PLAN_SELECTION && p->intended == 2 && p->object == zug_object_key(t->tgid, 0, 0, 0x7000) &&
	   p->peers[0].access.object[0] == p->object && p->peers[0].access.how == ZUG_ACCESS_KNOWN &&
	   p->peers[0].weight == 5 && p->peers[0].priority == 11 && p->peers[0].held && !p->peers[1].held, "by one that a task stands before");
	end(k);
}

/* A system call of T0, which has gone on; path is what it is about (NULL: the descriptor is). */
static struct zug_event *leased_call(int nr, const char *path)
{
	struct zug_path *p = (struct zug_path *)put(ZUG_EV_PATH, 1, ZUG_EF_LEASED);
	struct zug_event *e;

	if (path) {
		p->len = strlen(path) + 1;
		memcpy(p->text, path, p->len);
	} else {
		nr_ring--;
	}
	e = put(ZUG_EV_SYSCALL, 1, ZUG_EF_LEASED);
	e->nr = nr;
	return e;
}

static bool is_known(uint64_t ino)
{
	return known[zug_file_place(ino, 0)].ino == ino && known[zug_file_place(ino, 0)].run == state.run;
}

static void test_leased_calls(void)
{
	struct kworld *k = begin();
	uint64_t pipe_id = 0, file = places_path(k->o.places, "/no/such/file");
	struct zug_event *e;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	/* no process has these tasks' numbers: what passes here was not looked at */
	state.run = 7;
	k->w.ops->lease(&k->w, 9, SEARCH_UNTIL_WAKE, false, NULL);
	k->w.ops->grant(&k->w, 0);
	leased_call(SYS_openat, "/no//such/./file");
	ok(leased_next(k) && k->w.tasks[0].label.op == ZUG_OP_OPEN && k->w.tasks[0].label.object == file,
	   "a system call that is passed is a question, and its path came before it");
	k->w.ops->grant(&k->w, 0);
	e = leased_call(SYS_write, NULL);
	e->flags |= ZUG_EF_OBJECT;
	e->obj = (struct zug_where){ .ino = 55, .mode = S_IFIFO };
	ok(leased_next(k) && zug_object_is_numbered(pipe_id = k->w.tasks[0].label.object), "a pipe is known by its number");
	k->w.ops->grant(&k->w, 0);
	e = leased_call(SYS_newfstatat, NULL);
	e->obj2 = (struct zug_where){ .ino = 55, .mode = S_IFIFO };
	e->state = 1;
	ok(leased_next(k) && !k->w.tasks[0].label.object, "an empty path that is about a pipe names nothing");
	k->w.ops->grant(&k->w, 0);
	ok(!is_known(66), "a file that nothing has named");
	put(ZUG_EV_SYNC, 1, ZUG_EF_ASK);
	nr_commands = 0;
	ok(nothing_next(k) && nr_commands == 1 && commands[0].cmd == ZUG_CMD_GRANT && commands[0].task == 1,
	   "where paths are about to lead elsewhere the task stops, and goes on alone");
	e = put(ZUG_EV_SYSCALL, 1, ZUG_EF_ASK | ZUG_EF_OBJECT);
	e->nr = SYS_close;
	e->pid = getpid();
	e->arg[0] = fd;
	e->obj = (struct zug_where){ .ino = 66, .mode = S_IFREG };
	ok(next_is(k, WORLD_POINT, 0, true) && k->w.tasks[0].label.object && k->w.tasks[0].label.object != pipe_id && is_known(66),
	   "is known from then on");
	places_file_gone(k->o.places, 0, 66);
	ok(!is_known(66), "  until its last name goes");
	close(fd);
	end(k);
}

static void test_take_back(void)
{
	struct kworld *k = begin();

	k->w.ops->grant(&k->w, 1);
	state.grant = 2;
	put(ZUG_EV_EXIT, 2, 0);
	ok(next_is(k, WORLD_EXIT, 1, true) && commands[nr_commands - 1].cmd == ZUG_CMD_TAKE_BACK,
	   "a grant to a task that dies is taken back");
	end(k);
}

static void test_own_stops(void)
{
	struct kworld *k = begin();

	k->w.ops->grant(&k->w, 0);
	nr_commands = 0;
	put(ZUG_EV_FRESH, 1, ZUG_EF_ASK);
	ok(nothing_next(k) && nr_commands == 1 && commands[0].cmd == ZUG_CMD_GRANT && commands[0].task == 1,
	   "a stop for zugzwang alone is no question");
	put(ZUG_EV_FATAL, 1, ZUG_EF_ASK)->nr = 11;
	ok(next_is(k, WORLD_FATAL, 0, false) && nr_commands == 1, "before a fatal signal the task stands");
	ok(nothing_next(k) && nr_commands == 2 && commands[1].task == 1, "and goes on when the engine has seen it");
	put(ZUG_EV_FRESH, 1, 0);
	put(ZUG_EV_ASK, 3, ZUG_EF_ASK);
	ok(nothing_next(k) && nr_commands == 3, "also when its question comes later");
	end(k);
}

static void say_blocked(uint32_t kid)
{
	put(ZUG_EV_WAKE, 3, 0);
	put(ZUG_EV_BLOCK, kid, 0);
	put(ZUG_EV_EXIT, 2, 0);
	put(ZUG_EV_ASK, 2, ZUG_EF_ASK);
}

static void test_errand(void)
{
	struct kworld *k = begin();

	on_grant = say_blocked;
	kworld_errand_begin(k, 0);
	ok(!kworld_run_errand(k) && k->run.errand.came.kind == ZUG_EV_ASK, "an errand waits for the block and the question");
	ok(state_of(k, 0) == TASK_PARKED, "which are no events of the task");
	put(ZUG_EV_WAKE, 1, 0);
	ok(!kworld_await(k, ZUG_EV_WAKE), "and for its end");
	kworld_errand_end(k);
	ok(state_of(k, 1) == TASK_DEAD && state_of(k, 2) == TASK_PARKED, "others change meanwhile");
	ok(next_is(k, WORLD_WAKE, 2, false) && next_is(k, WORLD_EXIT, 1, false) && nothing_next(k), "and are told in order");
	end(k);
}

static void stray(uint32_t kid)
{
	put(ZUG_EV_WAKE, kid, 0);
	put(ZUG_EV_FAULT, kid, 0);
	put(ZUG_EV_YIELD, kid, ZUG_EF_ASK);
	put(ZUG_EV_WAKE, 3, 0);
}

static void test_stray(void)
{
	struct kworld *k = begin();

	on_grant = stray;
	kworld_errand_begin(k, 0);
	ok(kworld_run_errand(k) == -EAGAIN, "a task that goes another way ends the errand");
	kworld_errand_end(k);
	ok(next_is(k, WORLD_POINT, 0, true) && next_is(k, WORLD_WAKE, 2, false), "and its event is told like every other");
	kworld_errand_begin(k, 0);
	ok(kworld_await(k, ZUG_EV_BLOCK) == -ETIME, "what never comes is not waited for");
	end(k);
}

static uint64_t fault_came;

static void make_call(uint32_t kid)
{
	put(ZUG_EV_WAKE, 3, 0);
	put(ZUG_EV_FAULT, kid, 0)->arg[0] = fault_came;
	put(ZUG_EV_YIELD, kid, ZUG_EF_LONE);
}

static void test_fault(bool carried_out)
{
	struct kworld *k = begin();
	int ret;

	k->kt[0].call_nr = 0;
	fault_came = carried_out;
	on_grant = make_call;
	nr_commands = 0;
	ret = k->w.ops->inject(&k->w, &k->w.tasks[0], FAULT_ENOSPC, 0);
	ok(ret == (carried_out ? 0 : WORLD_FAULT_MISSED), carried_out ? "a fault that was carried out" : "a fault that was missed");
	ok(nr_commands == 2 && commands[0].cmd == ZUG_CMD_FAULT && commands[0].fault == ENOSPC &&
	   commands[1].cmd == ZUG_CMD_GRANT && k->w.tasks[0].label.op == ZUG_OP_YIELD, "  the label is still that of the call");
	ok(!k->w.ops->grant(&k->w, 0) && nr_commands == 2, "  the turn is not given twice");
	ok(next_is(k, WORLD_WAKE, 2, false) && next_is(k, WORLD_POINT, 0, false), "  what came meanwhile is told");
	ok(!k->w.ops->grant(&k->w, 0) && nr_commands == 3, "  the next turn is given");
	end(k);
}

static void test_settle(void)
{
	struct kworld *k = begin();

	/* ptrace cannot seize these tasks: they are awake for good */
	for (uint32_t n = 1; n <= 2; n++) {
		k->w.tasks[n].state = TASK_BLOCKED;
		k->w.tasks[n].deadline = 1000;
		k->kt[n].endless = true;
	}
	k->w.ops->grant(&k->w, 0);
	put(ZUG_EV_WAKE, 2, 0)->arg[0] = 1;
	put(ZUG_EV_WAKE, 3, 0);
	put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	ok(next_is(k, WORLD_WAKE, 2, false) && next_is(k, WORLD_WAKE, 1, false) && next_is(k, WORLD_POINT, 0, true),
	   "held tasks that are awake for good are told before the question");
	ok(!k->run.nr_held && !k->w.tasks[1].deadline && state_of(k, 1) == TASK_PARKED, "and are not held any more");
	end(k);
}

static void test_dead(void)
{
	struct kworld *k = begin();

	/* a timed wait whose timer was too early is held; then the task is killed */
	k->w.tasks[1].state = TASK_BLOCKED;
	k->w.tasks[1].deadline = 1000;
	k->kt[1].endless = true;
	k->w.ops->grant(&k->w, 0);
	put(ZUG_EV_WAKE, 2, 0);
	put(ZUG_EV_EXIT, 2, 0);
	put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	ok(next_is(k, WORLD_EXIT, 1, false) && next_is(k, WORLD_POINT, 0, true) && nothing_next(k),
	   "a held task that dies is not told to be awake");
	ok(!k->run.nr_held && state_of(k, 1) == TASK_DEAD, "and stays dead");
	put(ZUG_EV_WAKE, 2, 0)->arg[0] = 1;
	ok(nothing_next(k) && state_of(k, 1) == TASK_DEAD, "no wake-up brings a dead task back");
	k->w.tasks[2].state = TASK_BLOCKED;
	k->w.tasks[2].deadline = 1000;
	k->kt[2].endless = true;
	k->w.ops->grant(&k->w, 0);
	put(ZUG_EV_WAKE, 3, 0);
	put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	put(ZUG_EV_EXIT, 3, 0);
	ok(next_is(k, WORLD_WAKE, 2, false) && next_is(k, WORLD_POINT, 0, true) && next_is(k, WORLD_EXIT, 2, false) &&
	   state_of(k, 2) == TASK_DEAD && nothing_next(k), "the same after it was told to be awake");
	end(k);
}

/* What the engine is told of the beginning of an execution. */
static bool begins(struct kworld *k)
{
	if (!next_is(k, WORLD_POINT, 0, true) || k->w.tasks[0].label.op != ZUG_OP_BEGIN || !nothing_next(k))
		return false;
	k->w.ops->grant(&k->w, 0);
	return next_is(k, WORLD_SIGNAL, 0, false);
}

static void test_prefix(void)
{
	struct kworld_options o = { .spawn = &spawn, .places = places_new(NULL, NULL), .wake_fd = -1, .launch.in = -1 };
	struct kworld *k = (struct kworld *)kworld_new(&o);

	way = nr_commands = 0;
	ok(!kworld_make_template(&k->w, err, sizeof(err)) && there && nr_commands == 1, "a template is made on the way");
	nr_commands = 0;
	ok(kworld_fork(&k->w), "a copy of it is made");
	k->w.ops->start(&k->w, false, err, sizeof(err));
	ok(nr_forks == 1 && kworld_used_template(&k->w) && begins(k) && !nr_commands && k->w.tasks[0].pid == 0x7fff0009,
	   "a copy begins as the program did, without a turn of the kernel's");
	ok(!nr_gone && nothing_next(k) && nr_gone == 1, "  and goes on then, with the turn");
	put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	ok(next_is(k, WORLD_POINT, 0, true), "  from where it stands");
	nr_commands = 0;
	kworld_fork(&k->w);
	k->w.ops->start(&k->w, true, err, sizeof(err));
	ok(begins(k) && nothing_next(k) && nr_gone == 2 && !nr_commands, "the next copy does the same");
	k->w.ops->start(&k->w, false, err, sizeof(err));
	ok(nr_forks == 2 && !kworld_used_template(&k->w), "without a copy the program is started");

	way = 0;
	bad_stop = 1;
	ok(kworld_make_template(&k->w, err, sizeof(err)) == -ENOTSUP && !there && err[0], "no template where a point stops on the way");
	end(k);
}

static void test_errors(void)
{
	struct kworld *k = begin();
	struct world_event ev;

	put(ZUG_EV_WAKE, 3, 0);
	refuse = -ENOMEM;
	ok(k->w.ops->next(&k->w, &ev, 0, err, sizeof(err)) < 0 && strstr(err, "out of memory"), "an event that cannot be kept");
	refuse = 0;
	ok(k->w.ops->next(&k->w, &ev, 0, err, sizeof(err)) < 0, "  ends the execution");
	end(k);

	k = begin();
	put(ZUG_EV_WAKE, 3, 0);
	state.nr_lost = 1;
	ok(next_is(k, WORLD_WAKE, 2, false) == false && strstr(err, "lost"), "an event that found no room in the ring");
	end(k);

	k = begin();
	put(99, 1, 0);
	ok(k->w.ops->next(&k->w, &ev, 0, err, sizeof(err)) < 0 && strstr(err, "unknown kind"), "an event of an unknown kind");
	end(k);
}

int main(void)
{
	test_changes();
	test_states();
	test_split();
	test_lease();
	test_plan();
	test_plan_rules();
	test_plan_accesses();
	test_leased_calls();
	test_take_back();
	test_own_stops();
	test_errand();
	test_stray();
	test_fault(true);
	test_fault(false);
	test_settle();
	test_dead();
	test_prefix();
	test_errors();
	printf("1..%d\n", nr_tests);
	return nr_failed != 0;
}
