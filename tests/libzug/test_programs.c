/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_programs.c - programs of textbooks with a planted bug, which must be found, and their correct
 * twins, in which nothing may be found. Each failure is repeated from its trace.
 *
 * Locks are made of resources here, as a user of the library would make them.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/zug/zug.h"
#include "tests/model/tap.h"

static bool bug;	/* the planted one is there */
static int size;	/* of what there are many of */

struct lock {
	bool held;
	int r;
};

static void lock_init(struct lock *l, const char *name)
{
	l->held = false;
	l->r = zug_create_resource(name);
}

static void lock(struct lock *l)
{
	zug_schedule_next();
	while (l->held)
		zug_wait_resource(l->r);
	l->held = true;
}

static void unlock(struct lock *l)
{
	l->held = false;
	zug_signal_resource(l->r);
}

/* So many operations of one function; joins them all. */
static void run(int nr, const char *name, void (*fn)(void *arg))
{
	int op[64];
	char text[32];

	for (int i = 0; i < nr; i++) {
		snprintf(text, sizeof(text), "%s %d", name, i);
		op[i] = zug_spawn(text, fn, (void *)(size_t)i);
	}
	for (int i = 0; i < nr; i++)
		zug_join(op[i]);
}

/* ---- readers and writers: a writer that looks at the readers, and not at the other writer ---- */

static int rw_readers, rw_writers, rw_resource;

static void reader(void *arg)
{
	(void)arg;
	zug_schedule_next();
	while (rw_writers)
		zug_wait_resource(rw_resource);
	rw_readers++;
	zug_schedule_next();
	zug_assert(!rw_writers);
	rw_readers--;
	zug_signal_all(rw_resource);
}

static void writer(void *arg)
{
	(void)arg;
	zug_schedule_next();
	while (rw_readers || (rw_writers && !bug))
		zug_wait_resource(rw_resource);
	rw_writers++;
	zug_schedule_next();
	zug_assert(rw_writers == 1 && !rw_readers);
	rw_writers--;
	zug_signal_all(rw_resource);
}

static void reader_or_writer(void *arg)
{
	if ((size_t)arg % 2)
		writer(arg);
	else
		reader(arg);
}

static void readers_writers(void *arg)
{
	(void)arg;
	rw_readers = rw_writers = 0;
	rw_resource = zug_create_resource("free");
	run(4, "task", reader_or_writer);
}

/* ---- a bounded queue: 'if' where 'while' is needed ---- */

static int queue_len, queue_sum, queue_not_empty, queue_not_full;

static void producer(void *arg)
{
	(void)arg;
	for (int i = 0; i < 2; i++) {
		zug_schedule_next();
		while (queue_len == 1)
			zug_wait_resource(queue_not_full);
		queue_len++;
		zug_signal_resource(queue_not_empty);
	}
}

static void consumer(void *arg)
{
	(void)arg;
	for (int i = 0; i < 1; i++) {
		zug_schedule_next();
		if (bug) {
			if (!queue_len)
				zug_wait_resource(queue_not_empty);
		} else {
			while (!queue_len)
				zug_wait_resource(queue_not_empty);
		}
		zug_assert(queue_len > 0);
		queue_len--;
		queue_sum++;
		zug_signal_resource(queue_not_full);
	}
}

static void producer_or_consumer(void *arg)
{
	if ((size_t)arg)
		consumer(arg);
	else
		producer(arg);
}

static void bounded_queue(void *arg)
{
	(void)arg;
	queue_len = queue_sum = 0;
	queue_not_empty = zug_create_resource("not empty");
	queue_not_full = zug_create_resource("not full");
	run(3, "task", producer_or_consumer);
	zug_assert(queue_sum == 2 && !queue_len);
}

/* ---- a lock-free stack: ABA, without and with a counter beside the head ---- */

static struct { int next, value; } nodes[3];
static int head, version, popped[3];

static bool swap_head(int old, int seen, int to)
{
	zug_write("head");
	if (head != old || (!bug && version != seen))
		return false;
	head = to;
	version++;
	return true;
}

static int pop(void)
{
	for (;;) {
		int old, seen, next;

		zug_read("head");
		old = head;
		seen = version;
		if (old < 0)
			return -1;
		zug_read("next");
		next = nodes[old].next;
		if (swap_head(old, seen, next))
			return old;
	}
}

static void push(int node)
{
	int old, seen;

	do {
		zug_read("head");
		old = head;
		seen = version;
		zug_write("next");
		nodes[node].next = old;
	} while (!swap_head(old, seen, node));
}

static void stack_task(void *arg)
{
	int a = pop(), b;

	if (!(size_t)arg) {
		if (a >= 0)
			popped[a]++;
		return;
	}
	b = pop();
	if (a >= 0)
		push(a);
	if (b >= 0)
		popped[b]++;
}

static void lock_free_stack(void *arg)
{
	(void)arg;
	head = 0;
	version = 0;
	for (int i = 0; i < 3; i++) {
		nodes[i].next = i < 2 ? i + 1 : -1;
		popped[i] = 0;
	}
	run(2, "task", stack_task);
	for (int i = pop(); i >= 0; i = pop())
		popped[i]++;
	for (int i = 0; i < 3; i++)
		zug_assert(popped[i] == 1);
}

/* ---- dining philosophers: each takes the left fork first ---- */

static struct lock forks[50];
static int meals;

static void philosopher(void *arg)
{
	int i = (int)(size_t)arg, left = i, right = (i + 1) % size;
	bool swap = !bug && i == size - 1;

	lock(&forks[swap ? right : left]);
	/* fifty would all have to be preempted here by chance: one that thinks lets the others go first */
	if (size == 50)
		zug_yield();
	lock(&forks[swap ? left : right]);
	meals++;
	unlock(&forks[left]);
	unlock(&forks[right]);
}

static void philosophers(void *arg)
{
	char name[16];

	(void)arg;
	meals = 0;
	for (int i = 0; i < size; i++) {
		snprintf(name, sizeof(name), "fork %d", i);
		lock_init(&forks[i], name);
	}
	run(size, "philosopher", philosopher);
	zug_assert(meals == size);
}

/* ---- messages between operations, for what follows ---- */

struct box {
	int messages[64], nr, r;
};

static void box_init(struct box *b, const char *name)
{
	b->nr = 0;
	b->r = zug_create_resource(name);
}

static void post(struct box *b, int message)
{
	zug_schedule_next();
	b->messages[b->nr++] = message;
	zug_signal_all(b->r);
}

/* The network may deliver any of them first, unless it is said to keep the order. */
static int take(struct box *b, bool in_order)
{
	int at, message;

	zug_schedule_next();
	while (!b->nr)
		zug_wait_resource(b->r);
	at = in_order ? 0 : zug_next_integer(b->nr);
	message = b->messages[at];
	memmove(&b->messages[at], &b->messages[at + 1], (size_t)(b->nr - at - 1) * sizeof(int));
	b->nr--;
	return message;
}

/* ---- chain replication: the head acknowledges what the tail has not got yet ---- */

#define CHAIN 3

static struct box chain[CHAIN], replies;
static int stored[CHAIN];

static void replica(void *arg)
{
	int i = (int)(size_t)arg;

	for (int k = 0; k < 2; k++) {
		int value = take(&chain[i], true);

		stored[i] = value;
		if (i + 1 < CHAIN)
			post(&chain[i + 1], value);
		if (bug ? i == 0 : i == CHAIN - 1)
			post(&replies, value);
	}
}

static void client(void *arg)
{
	(void)arg;
	for (int k = 1; k <= 2; k++) {
		int value;

		post(&chain[0], k);
		value = take(&replies, true);
		/* what was acknowledged is read at the tail */
		zug_schedule_next();
		zug_assert(stored[CHAIN - 1] >= value);
	}
}

static void replica_or_client(void *arg)
{
	if ((size_t)arg < CHAIN)
		replica(arg);
	else
		client(arg);
}

static void chain_replication(void *arg)
{
	(void)arg;
	for (int i = 0; i < CHAIN; i++) {
		box_init(&chain[i], "inbox");
		stored[i] = 0;
	}
	box_init(&replies, "replies");
	run(CHAIN + 1, "node", replica_or_client);
}

/* ---- a failure detector: an answer to an old ping is taken for one to the new ping ---- */

static struct box pings, pongs;
static bool node_alive, suspected_alive;

static void node(void *arg)
{
	(void)arg;
	for (int round = 1; round <= 2; round++) {
		int ping = take(&pings, true);

		zug_schedule_next();
		if (ping == 2)
			node_alive = false;	/* crashes before it answers */
		if (node_alive)
			post(&pongs, ping);
	}
}

static void detector(void *arg)
{
	int pong = 0;

	(void)arg;
	for (int round = 1; round <= 2; round++) {
		bool answered = false;

		post(&pings, round);
		/* the time-out may come at any time */
		for (int wait = 0; wait < 2 && !answered; wait++) {
			zug_yield();
			zug_schedule_next();
			if (!pongs.nr)
				continue;
			pong = take(&pongs, true);
			answered = bug || pong == round;
		}
		if (round == 2)
			suspected_alive = answered;
	}
	zug_schedule_next();
	zug_assert(!suspected_alive || node_alive);
}

static void node_or_detector(void *arg)
{
	if ((size_t)arg)
		detector(arg);
	else
		node(arg);
}

static void failure_detector(void *arg)
{
	(void)arg;
	box_init(&pings, "pings");
	box_init(&pongs, "pongs");
	node_alive = true;
	suspected_alive = false;
	run(2, "node", node_or_detector);
}

/* ---- Raft's election, messages mocked: a server that votes twice in one term ---- */

#define SERVERS 3

enum { REQUEST, VOTE };

static struct {
	int term, voted_for, votes, leader_of;
} servers[SERVERS];
static struct box inboxes[SERVERS];
static int elected[8], nr_left;

static int message(int kind, int term, int from)
{
	return kind | term << 4 | from << 8;
}

static void handle(int i, int m)
{
	int kind = m & 15, term = m >> 4 & 15, from = m >> 8;

	if (kind == REQUEST) {
		if (term > servers[i].term) {
			servers[i].term = term;
			servers[i].voted_for = -1;
		}
		if (term == servers[i].term && (bug || servers[i].voted_for < 0 || servers[i].voted_for == from)) {
			servers[i].voted_for = from;
			post(&inboxes[from], message(VOTE, term, i));
		}
	} else if (term == servers[i].term && servers[i].voted_for == i) {
		if (++servers[i].votes == SERVERS / 2 + 1) {
			elected[term]++;
			zug_assert(elected[term] == 1);
		}
	}
}

static void server(void *arg)
{
	int i = (int)(size_t)arg;

	/* the election time-out of two of them comes first */
	if (i < 2) {
		zug_schedule_next();
		servers[i].term++;
		servers[i].voted_for = i;
		servers[i].votes = 1;
		for (int k = 0; k < SERVERS; k++)
			if (k != i)
				post(&inboxes[k], message(REQUEST, servers[i].term, i));
	}
	for (int k = 0; k < 4; k++) {
		zug_schedule_next();
		if (inboxes[i].nr)
			handle(i, take(&inboxes[i], false));
		else
			zug_yield();
	}
	nr_left--;
}

static void raft_election(void *arg)
{
	(void)arg;
	memset(servers, 0, sizeof(servers));
	memset(elected, 0, sizeof(elected));
	nr_left = SERVERS;
	for (int i = 0; i < SERVERS; i++) {
		servers[i].voted_for = -1;
		box_init(&inboxes[i], "inbox");
	}
	run(SERVERS, "server", server);
}

/* ---- two that are polite, and nothing else ---- */

static bool wants[2];

static void polite(void *arg)
{
	int i = (int)(size_t)arg;

	wants[i] = true;
	zug_schedule_next();
	while (wants[!i] && (bug || i))
		zug_yield();
	wants[i] = false;
}

static void politeness(void *arg)
{
	(void)arg;
	wants[0] = wants[1] = false;
	run(2, "polite", polite);
}

/* ---- what is done with each ---- */

struct program {
	const char *name;
	void (*fn)(void *arg);
	int size;
	const char *failure;
	unsigned long executions;	/* of the twin, and at most for the bug */
};

static const struct program programs[] = {
	{ "readers-writers", readers_writers, 0, "rw_writers == 1", 3000 },
	{ "bounded-queue", bounded_queue, 0, "queue_len > 0", 3000 },
	{ "lock-free-stack", lock_free_stack, 0, "popped[i] == 1", 3000 },
	{ "philosophers-2", philosophers, 2, "deadlock: ", 2000 },
	{ "philosophers-5", philosophers, 5, "deadlock: ", 2000 },
	{ "philosophers-50", philosophers, 50, "deadlock: ", 300 },
	{ "chain-replication", chain_replication, 0, "stored[CHAIN - 1] >= value", 2000 },
	{ "failure-detector", failure_detector, 0, "!suspected_alive || node_alive", 3000 },
	{ "raft-election", raft_election, 0, "elected[term] == 1", 3000 },
	{ "politeness", politeness, 0, "livelock: ", 300 },
};

static bool try(const struct program *p, bool with_bug, unsigned int flags, struct zug_report *r)
{
	struct zug_options o = { .name = p->name, .executions = p->executions, .flags = ZUG_QUIET | flags, .report = r };

	bug = with_bug;
	size = p->size;
	return zug_test(p->fn, NULL, &o) == with_bug;
}

static void test_program(const struct program *p)
{
	struct zug_report r, again;
	bool good = try(p, true, ZUG_FIBERS, &r) && strstr(r.failure, p->failure) && r.replayed && r.trace[0];

	tap_ok(good, "%s: found in execution %lu, %lu steps, %u preemptions: %.60s", p->name, r.executions, r.failing_steps,
	       r.preemptions, r.failure);
	if (!good)
		printf("# %s\n", r.failure);
	setenv("ZUG_REPLAY", r.trace, 1);
	/* a schedule is the same with threads */
	good = try(p, true, 0, &again) && again.replayed && !strcmp(again.failure, r.failure) && again.steps == r.failing_steps;
	tap_ok(good, "%s: its trace repeats it exactly, in threads", p->name);
	if (!good)
		printf("# %s (%lu steps)\n", again.failure, again.steps);
	unsetenv("ZUG_REPLAY");
	good = try(p, false, ZUG_FIBERS, &r);
	tap_ok(good, "%s: nothing in %lu executions of the correct twin", p->name, r.executions);
	if (r.result)
		printf("# %s\n", r.failure);
}

int main(void)
{
	char folder[] = "/tmp/zug-programs-XXXXXX", rm[64];

	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		test_program(&programs[i]);
	snprintf(rm, sizeof(rm), "rm -rf %s", folder);
	if (chdir("/") || system(rm))
		return 1;
	return tap_done();
}
