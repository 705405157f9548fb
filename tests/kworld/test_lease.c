/* SPDX-License-Identifier: GPL-2.0-only */
/* test_lease.c - leases and plans: what the kernel side is given, and what it tells of points that were passed */
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include "kernel_side.h"
#include "engine/progress_check.h"
#include "kworld/places_internal.h"
#include "lib/base/array.h"
#include "probes/probes_internal.h"
#include "tests/model/tap.h"

/* T1 stands before a mutex of its process, which is as it was read then. */
static void before_lock(struct kworld *k, const uint32_t *words)
{
	k->w.tasks[1].label.op = ZUG_OP_LOCK;
	k->kt[1].lock = 0x1000;
	k->kt[1].libc = SYMLIBC_GLIBC;
	lock_memory_forget(&k->locks);
	lock_memory_put(&k->locks, k->w.tasks[1].tgid, 0x1000, words);
	kworld_waiters_follow(k, 1);
}

/* A point of T0, which has gone on; the mutex that it came to before is held then. */
static bool leased_next(struct kworld *k)
{
	struct world_event ev;

	return k->w.ops->next(&k->w, &ev, 0, side.err, sizeof(side.err)) == 1 && ev.kind == WORLD_POINT &&
	       ev.task == 0 && ev.ask && ev.leased && !ev.passed && side_state_of(k, 0) == TASK_PARKED;
}

static bool waits(struct kworld *k)
{
	return k->w.ops->would_block(&k->w, &k->w.tasks[1], NULL);
}

static uint32_t known_word(struct lock_memory *m, int pid, uint64_t addr)
{
	uint32_t words[LOCK_WORDS] = { UINT32_MAX };

	m->moving = true;
	lock_memory_get(m, pid, addr, words);
	return words[0];
}

static void put_word(struct lock_memory *m, int pid, uint64_t addr, uint32_t word)
{
	const uint32_t words[LOCK_WORDS] = { word };

	lock_memory_put(m, pid, addr, words);
}

static void test_lock_memory(void)
{
	static struct lock_memory m, first;
	bool all = true;

	for (uint32_t round = 0; round < 3; round++) {
		lock_memory_forget(&m);
		for (uint32_t i = 0; i < LOCK_MEMORY; i++)
			put_word(&m, 7, 0x1000 + i * 40, i + round);
		for (uint32_t i = 0; i < LOCK_MEMORY; i++)
			all &= known_word(&m, 7, 0x1000 + i * 40) == i + round;
	}
	tap_ok(all, "what the memory of many locks says is found by their addresses");
	tap_ok(known_word(&m, 8, 0x1000) == UINT32_MAX, "  not that of another process");
	lock_memory_forget(&m);
	tap_ok(known_word(&m, 7, 0x1000) == UINT32_MAX, "  and nothing when it was forgotten");
	put_word(&m, 7, 0x1000, 1);
	put_word(&m, 7, 0x1000, 2);
	tap_ok(known_word(&m, 7, 0x1000) == 1, "  of several that are put the first one");
	put_word(&first, 7, 0x1000, 3);
	m.first = &first;
	tap_ok(known_word(&m, 7, 0x1000) == 3 && known_word(&first, 7, 0x1028) == UINT32_MAX,
	       "  and what is known elsewhere before it");
}

/* What such an operation of Rust's does where the lock's word is that: user space and the kernel side say the same. */
static bool rust_says(uint16_t op, uint32_t word, bool blocks)
{
	static struct lock_memory m;
	const struct probe_site s = { .op = op, .obj_arg = 1, .layout = SYMLIBC_RUST };
	struct probe_module mod = { 0 };
	struct zug_pass pass = probes_pass(&mod, &s);

	lock_memory_forget(&m);
	put_word(&m, 7, 0x1000, word);
	return lock_would_block(&m, 7, 7, op, 0x1000, SYMLIBC_RUST) == blocks && pass.kind == ZUG_PASS_IF && !pass.index &&
	       ((word & pass.mask) == pass.value) != blocks;
}

static int pass_of_rust_unlock(uint16_t op)
{
	const struct probe_site s = { .op = op, .layout = SYMLIBC_RUST };
	struct probe_module mod = { 0 };

	return probes_pass(&mod, &s).kind;
}

static void test_rust_locks(void)
{
	tap_ok(rust_says(ZUG_OP_LOCK, 0, false) && rust_says(ZUG_OP_LOCK, 1, true) && rust_says(ZUG_OP_LOCK, 2, true),
	       "a mutex of Rust's is free or taken, and some may wait");
	tap_ok(rust_says(ZUG_OP_RDLOCK, 0, false) && rust_says(ZUG_OP_RDLOCK, 2, false) &&
		       rust_says(ZUG_OP_RDLOCK, 0x3fffffff, true) && rust_says(ZUG_OP_RDLOCK, 0x40000001, true) &&
		       rust_says(ZUG_OP_RDLOCK, 0x80000000, true),
	       "a reader waits for a writer, and for those that wait");
	tap_ok(rust_says(ZUG_OP_WRLOCK, 0, false) && rust_says(ZUG_OP_WRLOCK, 1, true) &&
		       rust_says(ZUG_OP_WRLOCK, 0x3fffffff, true) && rust_says(ZUG_OP_WRLOCK, 0xc0000000, false),
	       "a writer waits for readers and writers that have the lock");
	tap_ok(pass_of_rust_unlock(ZUG_OP_UNLOCK) == ZUG_PASS_ALWAYS && pass_of_rust_unlock(ZUG_OP_RWUNLOCK) == ZUG_PASS_ALWAYS,
	       "to give one back never waits");
	tap_ok(probes_in_rust_lock("<std::sys::sync::mutex::futex::Mutex>::lock_contended") &&
		       probes_in_rust_lock("std::sys::unix::locks::futex_mutex::Mutex::lock_contended") &&
		       probes_in_rust_lock("std::sys::sync::rwlock::futex::RwLock::write_contended::h0123456789abcdef") &&
		       !probes_in_rust_lock("shop::sys::futex::Mutex::lock_contended") &&
		       !probes_in_rust_lock("std::sys::sync::mutex::futex::Mutex::lock_contended_often") && !probes_in_rust_lock(NULL),
	       "where they wait is told by the names of the functions");
	tap_ok(probes_rust_names("std::sys::sync::mutex::futex::Mutex::lock") == ZUG_OP_LOCK &&
		       probes_rust_names("<parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutex>::unlock") == ZUG_OP_LOCK &&
		       probes_rust_names("std::sys::sync::rwlock::futex::RwLock::read_unlock") == ZUG_OP_RDLOCK &&
		       !probes_rust_names("shop::Mutex::lock") && !probes_rust_names(NULL),
	       "and so is what an atomic instruction is about");
}

#define PAGE 4096
#define STRIDE 40

/* Locks in an array over two pages, one of them across the border, one far away, one where nothing is mapped. */
static void test_lock_fetch(void)
{
	static struct lock_memory m;
	unsigned char *p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t base = (uint64_t)(uintptr_t)p, first = base + PAGE - 4 * STRIDE - 8, list[16], far = base + 2 * PAGE + 1000;
	bool all = true;

	munmap(p + 3 * PAGE, PAGE);
	for (size_t i = 0; i < 3 * PAGE; i += 4)
		memcpy(p + i, &(uint32_t){ i + 1 }, 4);
	for (uint32_t i = 0; i < 10; i++)
		list[(7 * i + 3) % 10] = first + i * STRIDE;
	list[10] = list[4];
	list[11] = far;
	list[12] = base + 3 * PAGE + 8;
	lock_memory_forget(&m);
	put_word(&m, getpid(), list[0], 7);
	lock_memory_fetch(&m, getpid(), list, 13);
	for (uint32_t i = 1; i < 12; i++)
		all &= known_word(&m, getpid(), list[i]) == list[i] - base + 1;
	tap_ok(all && m.nr == 11, "locks near each other and far away are read at once, each of them once");
	tap_ok(known_word(&m, getpid(), list[0]) == 7, "  but for what is known");
	tap_ok(known_word(&m, getpid(), list[12]) == UINT32_MAX, "  and where nothing is mapped nothing is known");
	munmap(p, 3 * PAGE);
}

static void test_lease(void)
{
	static const uint32_t open[LOCK_WORDS] = { 0 }, held[LOCK_WORDS] = { 1, 0, 77 };
	struct kworld *k = side_begin();
	struct zug_event *e;

	k->w.tasks[0].tgid = k->w.tasks[1].tgid;
	before_lock(k, open);
	k->w.ops->lease(&k->w, 5, SEARCH_UNTIL_WAKE, UINT64_MAX, false, NULL);
	k->w.ops->grant(&k->w, 0);
	tap_ok(side.lease.left == 5 &&
		       side.lease.flags == (ZUG_LEASE_WAKE | ZUG_LEASE_CALLS | ZUG_LEASE_ENDS | ZUG_LEASE_NETWORK |
					    ZUG_LEASE_STRANGE) &&
		       side.lease.nr_locks == 1 && side.lease.locks[0].addr == 0x1000 && side.lease.index[zug_lock_slot(0x1000)] == 1 &&
		       !memcmp(side.lease.locks[0].word, open, sizeof(open)),
	       "a lease comes with the locks that others stand before");
	side.nr_commands = 0;
	side_put(ZUG_EV_POINT, 1, ZUG_EF_LEASED);
	memcpy(side_put(ZUG_EV_LOCK, 1, 0)->word, held, sizeof(held));
	e = side_put(ZUG_EV_POINT, 1, ZUG_EF_LEASED | ZUG_EF_BEFORE);
	e->before_addr = 0x2000;
	e->before[0] = 1;
	tap_ok(leased_next(k) && !waits(k), "a leased point is a question, with locks as they were");
	tap_ok(!k->w.ops->grant(&k->w, 0) && !side.nr_commands && side_state_of(k, 0) == TASK_RUNNING,
	       "the task has the turn already");
	tap_ok(leased_next(k) && waits(k), "a lock that the task has taken since is held at its next point");
	k->kt[1].lock = 0x2000;
	tap_ok(waits(k), "that of the point before is known");
	k->kt[1].lock = 0x3000;
	tap_ok(!waits(k), "other memory is not read while a task runs");
	k->w.ops->grant(&k->w, 0);
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "the end of a lease");
	k->w.ops->grant(&k->w, 0);
	tap_ok(!side.lease.left && side.nr_commands == 1, "the next grant has none of its own");
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "nor is one due");
	k->kt[1].lock = 0x1000;
	k->w.tasks[1].tgid++;
	k->w.ops->lease(&k->w, 5, SEARCH_UNTIL_DONE, UINT64_MAX, false, NULL);
	k->w.ops->grant(&k->w, 0);
	tap_ok(!side.lease.left, "no lease where a lock lies in another process");
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "its next point");
	k->w.tasks[1].label.op = ZUG_OP_DATA_WRITE;
	kworld_waiters_follow(k, 1);
	k->w.tasks[2].deadline = 5;
	k->timed.list = calloc(1, sizeof(*k->timed.list));
	k->timed.list[0] = 2;
	k->timed.nr = k->timed.room = 1;
	k->w.ends_stop = true;
	k->w.ops->lease(&k->w, 5, SEARCH_UNTIL_DONE, 77, true, NULL);
	k->w.ops->grant(&k->w, 0);
	k->w.ends_stop = false;
	tap_ok(side.lease.left == 5 &&
	       side.lease.flags == (ZUG_LEASE_KNOWN | ZUG_LEASE_CALLS | ZUG_LEASE_NETWORK | ZUG_LEASE_STRANGE) &&
	       side.lease.clock == 77,
	       "where a timed wait may end is known: until then nothing changes");
	side_put(ZUG_EV_POINT, 1, ZUG_EF_LEASED);
	tap_ok(leased_next(k), "a place");
	k->kt[0].split.phase = SPLIT_READ;
	kworld_split_passed(k, 0, true);
	k->w.ops->grant(&k->w, 0);
	tap_ok(leased_next(k) && k->w.tasks[0].label.op == ZUG_OP_DATA_WRITE, "a split one has two steps under a lease");
	side.nr_commands = 0;
	tap_ok(!k->w.ops->grant(&k->w, 0) && !side.nr_commands, "and neither of them needs the turn");
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_LEASED);
	tap_ok(leased_next(k) && k->w.tasks[0].label.op == ZUG_OP_YIELD, "a yield that the lease goes over");
	side_end(k);
}

static void test_plan(void)
{
	static const uint32_t open[LOCK_WORDS] = { 0 };
	const struct world_plan steps = {
		.rule.by = SEARCH_BY_STEPS, .nr = 3, .nr_runs = 2, .runs = { { 0, 2 }, { 1, 1 } }
	};
	const struct world_plan draws = { .nr = 7, .rule = { .by = SEARCH_BY_DRAWS, .state = 77, .least = 1 } };
	struct kworld *k = side_begin();
	struct world_event ev;

	k->w.ops->lease(&k->w, 1, SEARCH_UNTIL_DONE, UINT64_MAX, true, &steps);
	k->w.ops->grant(&k->w, 0);
	tap_ok(side.lease.left == 3 && side.lease.plan.kind == ZUG_PLAN_STEPS && side.lease.plan.nr_peers == 3 &&
		       side.lease.plan.holder == 0 && side.lease.plan.nr_runs == 2 &&
		       side.lease.plan.runs[1].peer == 1 && side.lease.plan.runs[1].steps == 1 &&
		       side.lease.plan.peers[1].task == 2,
	       "a plan goes with a lease, also to tasks that may wake up");
	side_put(ZUG_EV_HAND, 1, ZUG_EF_LEASED)->arg[0] = 2;
	side_put(ZUG_EV_POINT, 1, ZUG_EF_LEASED);
	side_put(ZUG_EV_POINT, 2, ZUG_EF_LEASED);
	side.nr_commands = 0;
	tap_ok(k->w.ops->next(&k->w, &ev, 0, side.err, sizeof(side.err)) == 1 && ev.leased && ev.handed &&
		       ev.to == 1 && ev.task == 0 && ev.ask && side_state_of(k, 0) == TASK_PARKED,
	       "the turn has gone to another task: a question all the same");
	tap_ok(!k->w.ops->grant(&k->w, 1) && !side.nr_commands && side_state_of(k, 1) == TASK_RUNNING,
	       "that task has it already");
	tap_ok(k->w.ops->next(&k->w, &ev, 0, side.err, sizeof(side.err)) == 1 && ev.leased && !ev.handed && ev.task == 1,
	       "and passes its point");
	tap_ok(!k->w.ops->grant(&k->w, 1) && !side.nr_commands, "  without another grant");
	side_put(ZUG_EV_YIELD, 2, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 1, true), "it stops");
	k->kt[0].split.phase = SPLIT_WRITE;
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_CHANGE, UINT64_MAX, false, &draws);
	k->w.ops->grant(&k->w, 1);
	tap_ok(side.lease.left == 7 && side.lease.plan.kind == ZUG_PLAN_DRAWS && side.lease.plan.nr_peers == 3 &&
		       side.lease.plan.holder == 1 && side.lease.plan.draws == 77 &&
		       side.lease.plan.peers[2].pass.kind == ZUG_PASS_ASLEEP,
	       "one of the tasks that stand is drawn");
	tap_ok(side.lease.plan.peers[0].pass.kind == ZUG_PASS_NEVER &&
		       side.lease.plan.peers[1].pass.kind == ZUG_PASS_ALWAYS,
	       "what user space has to do something for is not handed the turn");
	side_put(ZUG_EV_YIELD, 2, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 1, true), "it stops again");
	k->w.tasks[2].expires = true;
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_CHANGE, UINT64_MAX, false, &draws);
	k->w.ops->grant(&k->w, 1);
	tap_ok(side.lease.plan.peers[2].pass.kind == ZUG_PASS_ASLEEP,
	       "one that waits without a time-out is not, whatever its last wait was");
	side_put(ZUG_EV_YIELD, 2, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 1, true), "it stops once more");
	k->w.tasks[2].deadline = 5;
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_CHANGE, UINT64_MAX, false, &draws);
	k->w.ops->grant(&k->w, 1);
	tap_ok(side.lease.plan.peers[2].pass.kind == ZUG_PASS_NEVER,
	       "a task whose time-out may be over is enabled, and not handed the turn");
	k->w.tasks[2].expires = false;
	k->w.tasks[2].deadline = 0;
	side_put(ZUG_EV_YIELD, 2, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 1, true), "so it does there");
	k->kt[1].split.phase = SPLIT_READ;
	k->w.ops->lease(&k->w, 1, SEARCH_UNTIL_DONE, UINT64_MAX, true, &steps);
	k->w.ops->grant(&k->w, 1);
	tap_ok(side_next_is(k, WORLD_POINT, 1, true), "the second half of an instruction that is split");
	k->w.ops->grant(&k->w, 1);
	tap_ok(!side.lease.left && !side.lease.plan.kind,
	       "a plan made at its first half says nothing of what comes behind the second");
	side_put(ZUG_EV_YIELD, 2, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 1, true), "it stops once more");
	k->w.tasks[0].tgid = k->w.tasks[1].tgid;
	before_lock(k, open);
	k->w.ops->lease(&k->w, 4, SEARCH_UNTIL_CHANGE, UINT64_MAX, false, &draws);
	k->w.ops->grant(&k->w, 0);
	tap_ok(side.lease.left == 4 && !side.lease.plan.kind, "no plan where it is not known what a lock's memory says");
	side_end(k);
}

/* Rules by which a task is chosen where several are enabled: of those that there are, and of one that may come. */
static void test_plan_rules(void)
{
	const struct world_plan ranks = { .nr = 9,
					  .nr_weights = 2,
					  .weights = { { 0, 1ull << 63 | 5 }, { 1, 7 } },
					  .rule = { .by = SEARCH_BY_RANKS,
						    .state = 3,
						    .choices = 8,
						    .lowest = 6,
						    .nr_changes = 1,
						    .changes = { { 2, 4 } } } };
	const struct world_plan choices = { .nr = 9,
					    .nr_runs = 2,
					    .runs = { { 1, 1 }, { 90, 1 } },
					    .rule = { .by = SEARCH_BY_CHOICES, .base = true } };
	const struct world_plan base = { .nr = 9, .rule = { .by = SEARCH_BY_CHOICES, .base = true } };
	const struct world_plan draws = { .nr = 9, .rule = { .by = SEARCH_BY_DRAWS, .least = 1 } };
	struct world_plan shares = { .nr = 9, .rule = { .by = SEARCH_BY_DRAWS, .least = 1, .shares = true } };
	const struct world_plan open = { .nr = 9, .rule = { .by = SEARCH_BY_DRAWS, .least = 1, .open = true } };
	const struct zug_plan *p = &side.lease.plan;
	struct kworld *k = side_begin();
	uint32_t child = spawn_number(&side.spawn, 0, 3);
	struct world_event ev;

	k->w.ops->lease(&k->w, 1, SEARCH_UNTIL_WAKE, UINT64_MAX, false, &ranks);
	k->w.ops->grant(&k->w, 0);
	tap_ok(side.lease.left == 9 && !(side.lease.flags & ZUG_LEASE_WAKE) && p->kind == ZUG_PLAN_RANKS &&
		       p->choices_end == 8 && p->lowest == 6 && p->draws == 3 && p->changes[0].at == 2 &&
		       p->changes[0].rank == 4 && !p->changes[1].at && p->peers[0].weight == (1ull << 63 | 5) &&
		       p->peers[1].weight == 7,
	       "the task with the highest rank is chosen");
	tap_ok(child == 3 && p->nr_peers == 4 && !p->peers[3].pid && p->peers[3].parent == 1 &&
		       p->peers[3].nth == 1 && !p->peers[3].weight && p->peers[3].pass.kind == ZUG_PASS_ASLEEP,
	       "also where a thread comes that an earlier execution had: behind another one that is new");
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "it stops");
	k->w.ops->lease(&k->w, 1, SEARCH_UNTIL_DONE, UINT64_MAX, false, &choices);
	k->w.ops->grant(&k->w, 0);
	tap_ok(p->kind == ZUG_PLAN_CHOICES && p->nr_runs == 1 && p->runs[0].peer == 1 && !p->base,
	       "choices end where a task is chosen that cannot be known there");
	side_put(ZUG_EV_HAND, 1, ZUG_EF_LEASED)->arg[0] = 2;
	side_put(ZUG_EV_BLOCK, 1, ZUG_EF_LEASED)->nr = SYS_futex;
	side_put(ZUG_EV_WAKE, 1, 0)->arg[0] = 2;
	side_put(ZUG_EV_HAND, 2, ZUG_EF_LEASED)->arg[0] = 1;
	side_put(ZUG_EV_EXIT, 2, ZUG_EF_LEASED);
	side.nr_commands = 0;
	tap_ok(k->w.ops->next(&k->w, &ev, 0, side.err, sizeof(side.err)) == 1 && ev.kind == WORLD_BLOCK && ev.ask &&
		       ev.handed && ev.to == 1 && side_state_of(k, 0) == TASK_BLOCKED &&
		       !k->w.ops->grant(&k->w, 1) && !side.nr_commands,
	       "where a task blocks another one has the turn");
	tap_ok(side_next_is(k, WORLD_WAKE, 0, false) &&
		       k->w.ops->next(&k->w, &ev, 0, side.err, sizeof(side.err)) == 1 && ev.kind == WORLD_EXIT &&
		       ev.ask && ev.handed && ev.to == 0 && side_state_of(k, 1) == TASK_DEAD &&
		       !k->w.ops->grant(&k->w, 0) && !side.nr_commands && side_state_of(k, 0) == TASK_RUNNING,
	       "and where it ends");
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "it stops again");
	k->w.ops->lease(&k->w, 1, SEARCH_UNTIL_DONE, UINT64_MAX, false, &base);
	k->w.ops->grant(&k->w, 0);
	tap_ok(p->kind == ZUG_PLAN_CHOICES && !p->nr_runs && p->base, "and behind all of them the base scheduler chooses");
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "it stops once more");
	k->w.ops->lease(&k->w, 1, SEARCH_UNTIL_CHANGE, UINT64_MAX, false, &draws);
	k->w.ops->grant(&k->w, 0);
	tap_ok(p->kind == ZUG_PLAN_DRAWS && p->nr_peers && p->peers[p->nr_peers - 1].pid, "a draw is for the tasks that there are");
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "it stops a fourth time");
	k->w.ops->lease(&k->w, 1, SEARCH_UNTIL_CHANGE, UINT64_MAX, false, &open);
	k->w.ops->grant(&k->w, 0);
	tap_ok(p->kind == ZUG_PLAN_DRAWS && !p->peers[p->nr_peers - 1].pid &&
		       p->peers[p->nr_peers - 1].parent && !p->peers[p->nr_peers - 1].weight,
	       "and, where all have the same chance, for one that comes");
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "it stops a fifth time");
	k->w.ops->lease(&k->w, 1, SEARCH_UNTIL_CHANGE, UINT64_MAX, false, &shares);
	k->w.ops->grant(&k->w, 0);
	tap_ok(p->kind == ZUG_PLAN_DRAWS && p->shares && p->peers[p->nr_peers - 1].pid,
	       "where one that comes takes its weight from another one, for none whose weight is not told");
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "it stops a sixth time");
	shares.nr_weights = 1;
	shares.weights[0].task = child;
	shares.weights[0].weight = 12;
	shares.calm = 30;
	shares.same = 40;
	shares.longest = 100;
	k->w.tasks[0].rounds = 7;
	k->w.ops->lease(&k->w, 1, SEARCH_UNTIL_CHANGE, UINT64_MAX, false, &shares);
	k->w.ops->grant(&k->w, 0);
	tap_ok(!p->peers[p->nr_peers - 1].pid && p->peers[p->nr_peers - 1].weight == 12, "  and for one whose weight is");
	tap_ok(p->calm == 30 && p->same == 40 && p->longest == 100 && p->peers[0].rounds == 7 &&
		       p->peers[p->nr_peers - 1].rounds == PROGRESS_ROUNDS,
	       "the kernel side counts how often each task may go round");
	side_end(k);
}

/* Rules that need to know what operations access. */
static void test_plan_accesses(void)
{
	const struct world_plan pending = { .nr = 9,
					    .nr_weights = 2,
					    .weights = { { 0, 5, 0, false }, { 1, 7, 0, false } },
					    .rule = { .by = SEARCH_BY_PENDING, .state = 3, .base = true } };
	struct world_plan selection = {
		.nr = 9,
		.nr_weights = 2,
		.weights = { { 0, 5, 11, true }, { 1, 7, 0, false } },
		.rule = { .by = SEARCH_BY_SELECTION, .state = 3, .intended = 1, .object = 77 }
	};
	const struct zug_where where = { .offset = 0x7000 };
	const struct zug_plan *p = &side.lease.plan;
	struct kworld *k = side_begin();
	struct world_task *t = &k->w.tasks[0];

	k->w.tasks[2].label = (struct zug_label){ .op = ZUG_OP_JOIN };
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_CHANGE, UINT64_MAX, false, &pending);
	k->w.ops->grant(&k->w, 0);
	tap_ok(p->kind == ZUG_PLAN_PENDING && p->base && p->draws == 3 && p->peers[0].weight == 5 &&
		       p->peers[0].access.how == ZUG_ACCESS_KNOWN && !p->peers[0].access.object[0],
	       "priorities of operations: one that accesses nothing");
	tap_ok(p->peers[2].access.object[0] == ZUG_OBJECT_ANY && p->peers[2].access.how & ZUG_ACCESS_WRITES,
	       "  a task that sleeps may go on with anything");
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "it stops");
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_CHANGE, UINT64_MAX, false, &selection);
	k->w.ops->grant(&k->w, 0);
	tap_ok(!p->kind, "no selection by an object of which it is not known where it lies");
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "it stops again");
	t->label = (struct zug_label){ .op = ZUG_OP_DATA_READ };
	t->label.object = selection.rule.object = places_object(k->o.places, t->process, 0, t->pid, &where, -1,
								ZUG_OP_DATA_READ);
	k->kt[0].at[0] = where;
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_CHANGE, UINT64_MAX, false, &selection);
	k->w.ops->grant(&k->w, 0);
	tap_ok(p->kind == ZUG_PLAN_SELECTION && p->intended == 2 && p->object == zug_object_key(t->tgid, 0, 0, 0x7000) &&
		       p->peers[0].access.object[0] == p->object && p->peers[0].access.how == ZUG_ACCESS_KNOWN &&
		       p->peers[0].weight == 5 && p->peers[0].priority == 11 && p->peers[0].held &&
		       !p->peers[1].held,
	       "by one that a task stands before");
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "it stops");
	selection.rule.object = zug_object_numbered(1, 5);
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_CHANGE, UINT64_MAX, false, &selection);
	k->w.ops->grant(&k->w, 0);
	tap_ok(p->kind == ZUG_PLAN_SELECTION && !p->object && p->object_by == 2,
	       "  also one that is still to come, by the task that comes to it first");
	side_end(k);
}

/* The steps that a rule wants made: those of tasks that there are, in whole runs. */
static void test_plan_order(void)
{
	struct world_plan order = {
		.nr = 9,
		.rule = { .by = SEARCH_BY_ORDER, .owed = 2, .nr_order = 4,
			  .order = { { 1, ZUG_OP_BEGIN, 0 }, { 0, ZUG_OP_RESUME, 0 }, { 0, ZUG_OP_LOCK, 0x123 }, { 99, ZUG_OP_LOCK, 0x123 } } }
	};
	const struct zug_plan *p = &side.lease.plan;
	struct kworld *k = side_begin();

	k->w.tasks[1].label = (struct zug_label){ .op = ZUG_OP_BEGIN };
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_CHANGE, UINT64_MAX, false, &order);
	k->w.ops->grant(&k->w, 0);
	tap_ok(p->kind == ZUG_PLAN_ORDER && p->owed == 2 && p->begins == ZUG_OP_BEGIN && p->nr_order == 3 && p->order[0].peer == 1 &&
		       p->order[0].op == ZUG_OP_BEGIN && p->order[1].peer == 0 && p->order[2].peer == 0,
	       "an order, up to a step of a task that there is not");
	tap_ok(!p->order[1].place && !p->order[2].place, "  where waits go on, and code that is not mapped, cannot be told");
	tap_ok(p->peers[1].op == ZUG_OP_BEGIN && !p->peers[1].place, "  a task that begins");
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "it stops");
	order.rule.order[2].task = 99;
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_CHANGE, UINT64_MAX, false, &order);
	k->w.ops->grant(&k->w, 0);
	tap_ok(p->kind == ZUG_PLAN_ORDER && p->nr_order == 2, "  in whole runs");
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "it stops again");
	order.rule.order[0].task = 99;
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_CHANGE, UINT64_MAX, false, &order);
	k->w.ops->grant(&k->w, 0);
	tap_ok(!p->kind, "  none of which nothing is known");
	side_end(k);
}

/* The code of module 0 lies at that address of that process. */
static void map_code(struct places *p, uint32_t process, uint64_t start)
{
	struct space *s;

	tap_ok(ARRAY_RESERVE(p->spaces, p->room_spaces, p->nr_spaces + 1), "a process' memory");
	s = &p->spaces[p->nr_spaces++];
	*s = (struct space){ .process = process };
	if (ARRAY_RESERVE(s->maps, s->room, 1))
		s->maps[s->nr++] = (struct mapped_module){ .start = start, .end = start + 0x1000 };
}

/* Tasks of two processes: each step is where the code of its own task's process lies. */
static void test_plan_order_of_processes(void)
{
	struct world_plan order = { .nr = 9, .rule = { .by = SEARCH_BY_ORDER, .nr_order = 2 } };
	const struct zug_plan *p = &side.lease.plan;
	struct kworld *k = side_begin();
	struct places *places = k->o.places;
	const uint64_t site = 0x123;

	tap_ok(ARRAY_RESERVE(places->sites, places->room_sites, 1) && id_map_add(&places->site_index, site, 0, NULL), "a site");
	places->sites[places->nr_sites++] = (struct place_site){ .site = site, .offset = 0x10 };
	order.rule.order[0] = (struct search_ordered){ 1, ZUG_OP_LOCK, site };
	order.rule.order[1] = (struct search_ordered){ 0, ZUG_OP_LOCK, site };
	k->w.tasks[1].process = 1;
	k->w.tasks[1].tgid = k->w.tasks[0].tgid + 1;
	map_code(places, 0, 0x10000);
	map_code(places, 1, 0x20000);
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_CHANGE, UINT64_MAX, false, &order);
	k->w.ops->grant(&k->w, 0);
	tap_ok(p->kind == ZUG_PLAN_ORDER && p->nr_order == 2 && p->order[0].place == 0x20010 && p->order[1].place == 0x10010,
	       "an order of two processes, by the places of each");
	side_end(k);
}

/* A system call of T0, which has gone on; path is what it is about (NULL: the descriptor is). */
static struct zug_event *leased_call(int nr, const char *path)
{
	struct zug_path *p = (struct zug_path *)side_put(ZUG_EV_PATH, 1, ZUG_EF_LEASED);
	struct zug_event *e;

	if (path) {
		p->len = strlen(path) + 1;
		memcpy(p->text, path, p->len);
	} else {
		side.nr_ring--;
	}
	e = side_put(ZUG_EV_SYSCALL, 1, ZUG_EF_LEASED);
	e->nr = nr;
	return e;
}

/* Rules by which the last task goes on, but for what was said before: in turns of some steps, and with differences. */
static void test_plan_by_steps(void)
{
	struct world_plan turns = {
		.nr = 9, .nr_weights = 2, .weights = { { 0, 1 }, { 1, 0 } },
		.rule = { .by = SEARCH_BY_TURNS, .state = 3, .owed = 2, .turn = 4, .ahead = 8, .begun = true, .choices = 6 }
	};
	const struct world_plan differences = {
		.nr = 9, .nr_weights = 2, .weights = { { 0, 5 }, { 1, 3 } },
		.rule = { .by = SEARCH_BY_DIFFERENCES, .nr_order = 4,
			  .differences = { { 0, 6, 1 }, { 99, 7, 1 }, { 1, 4, 99 }, { 1, 5, SEARCH_NO_TASK } } }
	};
	const struct world_plan quotas = {
		.nr = 9, .nr_weights = 2, .weights = { { 0, 5 }, { 1, 3 } },
		.rule = { .by = SEARCH_BY_QUOTAS, .base = true, .nr_order = 3, .quotas = { { 1, 4 }, { 99, 7 }, { 0, 6 } } }
	};
	const struct zug_plan *p = &side.lease.plan;
	struct kworld *k = side_begin();

	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_DONE, UINT64_MAX, false, &turns);
	k->w.ops->grant(&k->w, 0);
	tap_ok(p->kind == ZUG_PLAN_TURNS && p->owed == 2 && p->turn == 4 && p->ahead == 8 && p->begun && p->choices_end == 6 &&
		       p->draws == 3 && p->peers[0].weight == 1 && !p->peers[1].weight,
	       "turns of some steps, and which tasks have had one");
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "it stops");
	turns.rule.writes = turns.rule.wrote = true;
	k->w.tasks[0].label = (struct zug_label){ .op = ZUG_OP_DATA_WRITE, .flags = zug_op_flags(ZUG_OP_DATA_WRITE), .object = 77 };
	k->w.tasks[1].label = (struct zug_label){ .op = ZUG_OP_DATA_READ, .object = 77 };
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_DONE, UINT64_MAX, false, &turns);
	k->w.ops->grant(&k->w, 0);
	tap_ok(p->writes && p->wrote && p->peers[0].access.how & ZUG_ACCESS_WRITES && !(p->peers[1].access.how & ZUG_ACCESS_WRITES),
	       "  that end with a write, and which tasks stand before one");
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "it stops");
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_DONE, UINT64_MAX, false, &differences);
	k->w.ops->grant(&k->w, 0);
	tap_ok(p->kind == ZUG_PLAN_DIFFERENCES && p->nr_order == 2 && p->differences[0].peer == 0 && p->differences[0].nth == 6 &&
		       p->differences[0].next == 1 && p->peers[0].weight == 5 && p->peers[1].weight == 3,
	       "differences of tasks that there are, and how many steps these have made");
	tap_ok(p->differences[1].peer == 1 && p->differences[1].next >= ZUG_PLAN_PEERS, "  and where it is not known which come");
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "it stops again");
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_DONE, UINT64_MAX, false, &quotas);
	k->w.ops->grant(&k->w, 0);
	tap_ok(p->kind == ZUG_PLAN_QUOTAS && p->nr_order == 2 && p->differences[0].peer == 1 && p->differences[0].nth == 4 &&
		       p->differences[1].peer == 0 && p->differences[1].nth == 6 && p->base,
	       "quotas of tasks that there are");
	side_end(k);
}

/* As what the kernel side knows the inode; 0: as nothing. */
static uint64_t known_as(uint64_t ino)
{
	const struct zug_known_file *f = &side.known[zug_file_place(ino, 0)];

	return f->number == ino && f->run == side.state.run ? f->object : 0;
}

static void test_leased_calls(void)
{
	struct kworld *k = side_begin();
	uint64_t pipe_id = 0, file = places_path(k->o.places, "/no/such/file");
	struct zug_event *e;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	/* no process has these tasks' numbers: what passes here was not looked at */
	side.state.run = 7;
	k->w.ops->lease(&k->w, 9, SEARCH_UNTIL_WAKE, UINT64_MAX, false, NULL);
	k->w.ops->grant(&k->w, 0);
	leased_call(SYS_openat, "/no//such/./file");
	tap_ok(leased_next(k) && k->w.tasks[0].label.op == ZUG_OP_OPEN && k->w.tasks[0].label.object == file,
	       "a system call that is passed is a question, and its path came before it");
	k->w.ops->grant(&k->w, 0);
	e = leased_call(SYS_write, NULL);
	e->flags |= ZUG_EF_OBJECT;
	e->obj = (struct zug_where){ .ino = 55, .mode = S_IFIFO };
	tap_ok(leased_next(k) && zug_object_is_numbered(pipe_id = k->w.tasks[0].label.object),
	       "a pipe is known by its number");
	k->w.ops->grant(&k->w, 0);
	e = leased_call(SYS_newfstatat, NULL);
	e->obj2 = (struct zug_where){ .ino = 55, .mode = S_IFIFO };
	e->state = 1;
	tap_ok(leased_next(k) && !k->w.tasks[0].label.object, "an empty path that is about a pipe names nothing");
	k->w.ops->grant(&k->w, 0);
	tap_ok(known_as(55) == pipe_id, "the kernel side knows it, too");
	tap_ok(!known_as(66), "a file that nothing has named");
	side_put(ZUG_EV_SYNC, 1, ZUG_EF_ASK);
	side.nr_commands = 0;
	tap_ok(side_nothing_next(k) && side.nr_commands == 1 && side.commands[0].cmd == ZUG_CMD_GRANT &&
		       side.commands[0].task == 1,
	       "where paths are about to lead elsewhere the task stops, and goes on alone");
	e = side_put(ZUG_EV_SYSCALL, 1, ZUG_EF_ASK | ZUG_EF_OBJECT);
	e->nr = SYS_close;
	e->pid = getpid();
	e->arg[0] = fd;
	e->obj = (struct zug_where){ .ino = 66, .mode = S_IFREG };
	tap_ok(side_next_is(k, WORLD_POINT, 0, true) && k->w.tasks[0].label.object &&
		       k->w.tasks[0].label.object != pipe_id && known_as(66) == k->w.tasks[0].label.object,
	       "is known from then on");
	places_file_gone(k->o.places, 0, 66);
	tap_ok(!known_as(66), "  until its last name goes");
	close(fd);
	side_end(k);
}

/* T0 passes a system call with that address, which comes as the kernel side tells it; the object that it names. */
static uint64_t leased_address(struct kworld *k, int nr, const void *address, uint32_t len)
{
	struct zug_event *e = leased_call(nr, "");
	struct zug_path *p = (struct zug_path *)(e - 1);

	memset(p->text, 0, sizeof(p->text));
	memcpy(p->text, address, len);
	p->len = len;
	e->arg[2] = 110;
	e->flags |= ZUG_EF_OBJECT;
	e->obj = (struct zug_where){ .ino = 77, .mode = S_IFSOCK, .offset = AF_UNIX };
	if (!leased_next(k))
		return 0;
	k->w.ops->grant(&k->w, 0);
	return k->w.tasks[0].label.object2;
}

static void test_leased_addresses(void)
{
	const struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(80) };
	const struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "/run/x" };
	const uint32_t port = offsetof(struct sockaddr_in, sin_addr), path = offsetof(struct sockaddr_un, sun_path) + 6;
	struct kworld *k = side_begin();
	const struct zug_known_file *f;
	char text[ZUG_ADDRESS] = "";
	uint64_t bound;

	side.state.run = 7;
	k->w.ops->lease(&k->w, 9, SEARCH_UNTIL_WAKE, UINT64_MAX, false, NULL);
	k->w.ops->grant(&k->w, 0);
	bound = leased_address(k, SYS_bind, &un, path);
	tap_ok(bound && bound == places_address(k->o.places, &un, path, 0) &&
		       leased_address(k, SYS_connect, &un, path) == bound,
	       "an address is known by what came before its call, and no process of that number is needed");
	tap_ok(leased_address(k, SYS_connect, &in, port) == places_address(k->o.places, &in, port, 0) &&
		       leased_address(k, SYS_connect, &in, port) != bound, "  one of the internet, too");
	memcpy(text, &un, path);
	f = &side.known[zug_file_place(zug_address_number(text, path), ZUG_DEV_ADDRESS)];
	tap_ok(f->number == zug_address_number(text, path) && f->dev == ZUG_DEV_ADDRESS && f->run == 7 && f->object == bound,
	       "  the kernel side knows it, too");
	side_end(k);
}

/* T0, which is this process, stands before a system call with that path; it is granted the turn, with a lease. */
static void stands_before_path(struct kworld *k, int nr, const char *path)
{
	struct zug_event *e = side_put(ZUG_EV_SYSCALL, 1, ZUG_EF_ASK);

	e->nr = nr;
	e->pid = getpid();
	e->arg[0] = AT_FDCWD;
	side.call = (struct zug_call){ .task = 1, .cwd_mnt = 5, .cwd_dentry = 6, .path_len[0] = strlen(path) + 1 };
	strcpy(side.call.path[0], path);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "a task stands before a system call with the path %s", path);
	k->w.ops->lease(&k->w, 9, SEARCH_UNTIL_WAKE, UINT64_MAX, false, NULL);
	k->w.ops->grant(&k->w, 0);
}

static void test_relative_paths(void)
{
	struct kworld *k = side_begin();
	const struct zug_label *l = &k->w.tasks[0].label;
	char path[PATH_MAX + 16];

	if (!getcwd(path, PATH_MAX))
		path[0] = 0;
	strcat(path, "/no-such-1");
	k->w.ops->grant(&k->w, 0);
	tap_ok(!side.lease.cwd_dentry, "the kernel side knows no folder");
	stands_before_path(k, SYS_newfstatat, "no-such-0");
	tap_ok(side.lease.cwd_mnt == 5 && side.lease.cwd_dentry == 6, "  from then on it does");
	leased_call(SYS_newfstatat, "no-such-1")->arg[0] = AT_FDCWD;
	tap_ok(leased_next(k) && l->object == places_path(k->o.places, path),
	       "another one is passed: its text came before, and no process of that number is needed");
	k->w.ops->grant(&k->w, 0);
	stands_before_path(k, SYS_renameat, "no-such-2");
	tap_ok(!side.lease.cwd_dentry, "  where folders may get other names it knows it no more");
	side.call.task = 0;
	side_end(k);
}

/* T0, which is this process, stands before a system call with these paths (second: NULL, or another one): its label. */
static const struct zug_label *label_before(struct kworld *k, int nr, const char *path, const char *second)
{
	struct zug_event *e = side_put(ZUG_EV_SYSCALL, 1, ZUG_EF_ASK);

	e->nr = nr;
	e->pid = getpid();
	e->arg[0] = e->arg[2] = AT_FDCWD;
	side.call = (struct zug_call){ .task = 1, .root_mnt = 7, .root_dentry = 8, .path_len[0] = strlen(path) + 1 };
	strcpy(side.call.path[0], path);
	if (second) {
		side.call.path_len[1] = strlen(second) + 1;
		strcpy(side.call.path[1], second);
	}
	if (!side_next_is(k, WORLD_POINT, 0, true))
		tap_ok(false, "a task stands before a system call with the path %s", path);
	k->w.ops->grant(&k->w, 0);
	return &k->w.tasks[0].label;
}

/* What a path leads to depends on links on the way, and on what the names of files are moved to. */
static void test_ways(void)
{
	char top[] = "/tmp/zug-ways-XXXXXX", link[64], below[64], beyond[64], folder[64], file[64], other[64];
	const struct zug_label *l;
	struct kworld *k;
	uint64_t link_id, id;

	if (!mkdtemp(top)) {
		tap_ok(false, "a folder for links");
		return;
	}
	snprintf(link, sizeof(link), "%s/current", top);
	snprintf(below, sizeof(below), "%s/current/version", top);
	snprintf(folder, sizeof(folder), "%s/one", top);
	snprintf(beyond, sizeof(beyond), "%s/one/version", top);
	snprintf(file, sizeof(file), "%s/list", top);
	snprintf(other, sizeof(other), "%s/list.new", top);
	tap_ok(!mkdir(folder, 0700) && !symlink("one", link) && !mknod(file, S_IFREG | 0600, 0) &&
		       !mknod(other, S_IFREG | 0600, 0), "a folder, a link to it, and two files");
	k = side_begin();
	k->w.ops->grant(&k->w, 0);
	l = label_before(k, SYS_unlink, link, NULL);
	link_id = l->object;
	tap_ok(link_id && link_id == places_path(k->o.places, link) && !l->object2,
	       "a link that is removed is what counts, not its target");
	l = label_before(k, SYS_access, below, NULL);
	tap_ok(l->object == places_path(k->o.places, beyond) && l->object2 == link_id && l->flags & ZUG_L_COPIES,
	       "a file below a link is that below its target, and depends on the link, which it only looks at");
	l = label_before(k, SYS_access, link, NULL);
	tap_ok(l->object == places_path(k->o.places, folder) && l->object2 == link_id, "so does the link's target");
	unlink(link);
	tap_ok(label_before(k, SYS_access, below, NULL)->object2 == link_id, "  and where it is missing");
	tap_ok(!label_before(k, SYS_access, link, NULL)->object2, "  that name by itself depends on nothing else");
	l = label_before(k, SYS_access, file, NULL);
	id = l->object;
	tap_ok(id && !l->object2, "a file without links on the way is one object");
	l = label_before(k, SYS_access, other, NULL);
	tap_ok(l->object != id, "another one is another");
	l = label_before(k, SYS_rename, other, file);
	tap_ok(l->object != id && l->object2 == id, "it is about to be put in place of the first");
	rename(other, file);
	tap_ok(label_before(k, SYS_access, file, NULL)->object == id, "  and is what that name stands for from then on");
	unlink(file);
	rmdir(folder);
	rmdir(top);
	side.call.task = 0;
	side_end(k);
}

/* T0 stands before a system call with that descriptor, pipe, and is to go on under the plan. */
static void stands_before_call(struct kworld *k, int nr, uint64_t pipe, const struct world_plan *plan)
{
	struct zug_event *e = side_put(ZUG_EV_SYSCALL, 1, ZUG_EF_ASK | (pipe ? ZUG_EF_OBJECT : 0));

	e->nr = nr;
	e->arg[0] = pipe ? 4 : SIGINT;
	e->arg[1] = 1;
	e->obj = (struct zug_where){ .ino = pipe, .mode = S_IFIFO };
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "a task stands before a system call");
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_CHANGE, UINT64_MAX, false, plan);
	k->w.ops->grant(&k->w, 0);
}

static void test_calls_of_plan(void)
{
	struct world_plan pending = { .nr = 9,
				      .nr_weights = 2,
				      .weights = { { 0, 5, 0, false }, { 1, 7, 0, false } },
				      .rule = { .by = SEARCH_BY_PENDING, .state = 3 } };
	const struct zug_plan *p = &side.lease.plan;
	struct kworld *k = side_begin();
	const struct world_task *t = &k->w.tasks[0];

	side.state.run = 7;
	k->w.ops->grant(&k->w, 0);
	stands_before_call(k, SYS_write, 55, &pending);
	tap_ok(p->kind == ZUG_PLAN_PENDING && p->peers[0].access.object[0] == t->label.object && t->label.object &&
		       p->peers[0].access.how == (ZUG_ACCESS_KNOWN | ZUG_ACCESS_WRITES | ZUG_ACCESS_FILE),
	       "  on a pipe of some file system: the kernel side knows it by the label, and that it may have a path");
	stands_before_call(k, SYS_rt_sigaction, 0, &pending);
	tap_ok(p->kind == ZUG_PLAN_PENDING && p->peers[0].process == t->process &&
		       p->peers[0].access.object[0] == zug_signal_object(t->process, SIGINT) &&
		       p->peers[0].access.object[1] == ZUG_OBJECT_ANY,
	       "  that says what becomes of a signal: by the process, the signal, and as what could be about anything");
	side_end(k);
}

/* T1 stands before that, in a call or (-1) in none: it may be handed the turn. */
static bool passes_standing(struct kworld *k, unsigned int op, int call, const struct world_plan *plan)
{
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true), "a task stands before %s, and another one stops", zug_op_name(op));
	k->w.tasks[1].label.op = op;
	k->kt[1].call_nr = call;
	k->w.ops->lease(&k->w, 0, SEARCH_UNTIL_CHANGE, UINT64_MAX, false, plan);
	k->w.ops->grant(&k->w, 0);
	return side.lease.plan.peers[1].pass.kind == ZUG_PASS_ALWAYS;
}

/* The same of a signal to the thread with that number. */
static bool passes_kill(struct kworld *k, uint32_t thread, const struct world_plan *plan)
{
	k->kt[1].call_args[1] = thread;
	k->kt[1].call_args[2] = SIGABRT;
	return passes_standing(k, ZUG_OP_KILL, SYS_tgkill, plan);
}

static void test_signals_of_plan(void)
{
	const struct world_plan draws = { .nr = 7, .rule = { .by = SEARCH_BY_DRAWS, .state = 77, .least = 1 } };
	struct kworld *k = side_begin();

	k->w.tasks[1].own_pid = 5;
	k->w.ops->grant(&k->w, 0);
	tap_ok(passes_kill(k, 5, &draws), "  a signal to itself: nothing else is to be seen there");
	tap_ok(!passes_kill(k, 6, &draws), "  one to another task");
	tap_ok(passes_standing(k, ZUG_OP_HANDLER, -1, &draws), "  its label tells all of it");
	k->w.tasks[1].process = 1;
	tap_ok(passes_standing(k, ZUG_OP_EXEC, SYS_execve, &draws), "  the only task of its process");
	k->w.tasks[1].process = k->w.tasks[0].process;
	tap_ok(!passes_standing(k, ZUG_OP_EXEC, SYS_execve, &draws), "  one of two threads, which ends the other one");
	side_end(k);
}

/* What comes of signals is a question under a lease as without, and has the signal of the process as its object. */
static void test_leased_signals(void)
{
	const unsigned int kinds[] = { ZUG_EV_SIGNAL, ZUG_EV_BEHIND }, ops[] = { ZUG_OP_HANDLER, ZUG_OP_RESUME };
	struct kworld *k = side_begin();

	k->w.ops->lease(&k->w, 9, SEARCH_UNTIL_WAKE, UINT64_MAX, false, NULL);
	k->w.ops->grant(&k->w, 0);
	for (int i = 0; i < 2; i++) {
		side_put(kinds[i], 1, ZUG_EF_LEASED)->arg[0] = SIGCHLD;
		tap_ok(leased_next(k) && k->w.tasks[0].label.op == ops[i] &&
			       k->w.tasks[0].label.object == zug_signal_object(k->w.tasks[0].process, SIGCHLD),
		       "%s is passed under a lease", zug_op_name(ops[i]));
		k->w.ops->grant(&k->w, 0);
	}
	side_end(k);
}

/* T1, a process of T0's, ends under its lease: what its label is about. */
static uint64_t ends_as(bool noticed)
{
	struct kworld *k = side_begin();
	struct zug_event *e;
	struct world_event ev;
	uint64_t object;

	k->w.tasks[1].process = 1;
	k->w.ops->lease(&k->w, 9, SEARCH_UNTIL_WAKE, UINT64_MAX, false, NULL);
	k->w.ops->grant(&k->w, 1);
	e = side_put(ZUG_EV_SYSCALL, 2, ZUG_EF_LEASED);
	e->nr = SYS_exit_group;
	e->word[0] = 1;
	e->word[1] = noticed;
	k->w.ops->next(&k->w, &ev, 0, side.err, sizeof(side.err));
	object = k->w.tasks[1].label.op == ZUG_OP_END ? k->w.tasks[1].label.object : 0;
	side_end(k);
	return object;
}

static void test_leased_ends(void)
{
	tap_ok(ends_as(true) == zug_signal_object(0, SIGCHLD), "a process ends whose parent noticed that at that moment");
	tap_ok(ends_as(false) == zug_children_object(0), "  and one whose parent did not");
}

/* Where the test's output goes has a name before any task comes to it. */
static void test_output(void)
{
	struct kworld *k = side_begin();
	int fd = memfd_create("zug-stderr", MFD_CLOEXEC);
	struct stat st = { 0 };

	side.state.run = 7;
	fstat(fd, &st);
	k->o.launch.out = -1;
	k->o.launch.err = fd;
	tap_ok(!side.known[zug_file_place(st.st_ino, st.st_dev)].run, "the file of the test's messages");
	side_put(ZUG_EV_START, 1, ZUG_EF_ASK);
	tap_ok(side_next_is(k, WORLD_POINT, 0, true) &&
		       side.known[zug_file_place(st.st_ino, st.st_dev)].object == places_path(k->o.places, "stderr"),
	       "  is known from the start");
	close(fd);
	side_end(k);
}

/* What a thread of a runtime is about to do to a file is left out. */
static bool left_out(struct kworld *k, unsigned int op, const char *path)
{
	struct world_task *t = &k->w.tasks[0];
	const struct zug_event e = { .task = 1 };

	t->label = (struct zug_label){ .op = op, .object = places_path(k->o.places, path) };
	kworld_scope_call(k, t, &e);
	return t->label.flags & ZUG_L_LEFT_OUT;
}

static void test_machine(void)
{
	struct kworld *k = side_begin();

	tap_ok(!left_out(k, ZUG_OP_OPEN, "/proc/meminfo"), "a look at the machine is a point");
	k->o.leave_machine = true;
	tap_ok(left_out(k, ZUG_OP_OPEN, "/proc/meminfo") && left_out(k, ZUG_OP_READ, "/sys/fs/cgroup/memory.max") &&
		       left_out(k, ZUG_OP_CLOSE, "/proc/7/maps"),
	       "but no runtime's");
	tap_ok(!left_out(k, ZUG_OP_WRITE, "/proc/7/comm") && !left_out(k, ZUG_OP_READ, "/srv/proc/numbers"),
	       "what it writes is, and so are other files");
	k->w.ops->lease(&k->w, 5, SEARCH_UNTIL_DONE, UINT64_MAX, false, NULL);
	k->w.ops->grant(&k->w, 0);
	tap_ok(!side.lease.left, "there is no lease: what was promised says nothing of the next point then");
	side_end(k);
}

int main(void)
{
	test_lock_memory();
	test_rust_locks();
	test_lock_fetch();
	test_lease();
	test_plan();
	test_plan_rules();
	test_plan_accesses();
	test_plan_order();
	test_plan_order_of_processes();
	test_plan_by_steps();
	test_leased_calls();
	test_leased_addresses();
	test_relative_paths();
	test_ways();
	test_calls_of_plan();
	test_signals_of_plan();
	test_leased_signals();
	test_output();
	test_leased_ends();
	test_machine();
	return tap_done();
}
