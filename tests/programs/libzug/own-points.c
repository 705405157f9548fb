/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * own-points: tests that tell their points to libzug. They fail alone, where the library schedules them, and under zug.
 *
 *	queue		a bounded queue, whose consumers look once where they should look again
 *	choice		fails for two of ten values that it asks for
 *	processes	two processes count in shared memory
 *	deadlock	locks that are made of resources, taken in two orders
 *	locks		zug_pthread.h: a condition that is signalled before its waiter waits
 *
 * With FIXED each is correct, but 'choice', which has one value less then.
 * build: -Ilib/zug -Lbuild -l:libzug.a -lm -pthread
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "zug.h"
#include "zug_pthread.h"

#ifdef FIXED
#define AGAIN while
#else
#define AGAIN if
#endif

/* ---- queue ---- */

static int items, not_empty;

static void producer(void *arg)
{
	(void)arg;
	for (int i = 0; i < 2; i++) {
		zug_schedule_next();
		items++;
		zug_signal_all(not_empty);
	}
}

static void consumer(void *arg)
{
	(void)arg;
	zug_schedule_next();
	AGAIN (!items)
		zug_wait_resource(not_empty);
	zug_assert(items > 0);
	items--;
}

static void queue(void *arg)
{
	int op[3];

	(void)arg;
	items = 0;
	not_empty = zug_create_resource("not empty");
	op[0] = zug_spawn("consumer 1", consumer, NULL);
	op[1] = zug_spawn("consumer 2", consumer, NULL);
	op[2] = zug_spawn("producer", producer, NULL);
	for (int i = 0; i < 3; i++)
		zug_join(op[i]);
}

/* ---- choice ---- */

static void choice(void *arg)
{
	int a = zug_next_integer(5), b = zug_next_boolean();

	(void)arg;
#ifndef FIXED
	zug_assert(!(b && a == 3));
#endif
	zug_assert(a >= 0 && a < 5 && (b == 0 || b == 1));
}

/* ---- processes ---- */

static void processes(void *arg)
{
	volatile int *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int seen, child;

	(void)arg;
	child = fork();
	zug_read("counter");
	seen = *shared;
#ifndef FIXED
	zug_write("counter");
#endif
	*shared = seen + 1;
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	zug_assert(*shared == 2);
}

/* ---- deadlock ---- */

static int held[2], released[2];

static void take(int i)
{
	zug_schedule_next();
	while (held[i])
		zug_wait_resource(released[i]);
	held[i] = 1;
}

static void give(int i)
{
	held[i] = 0;
	zug_signal_resource(released[i]);
}

static void both(void *arg)
{
	int first = arg != NULL;

#ifdef FIXED
	first = 0;
#endif
	take(first);
	take(!first);
	give(!first);
	give(first);
}

static void deadlock(void *arg)
{
	int a, b;

	(void)arg;
	held[0] = held[1] = 0;
	released[0] = zug_create_resource("left");
	released[1] = zug_create_resource("right");
	a = zug_spawn("one", both, NULL);
	b = zug_spawn("other", both, held);
	zug_join(a);
	zug_join(b);
}

/* ---- locks ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *setter(void *arg)
{
	pthread_mutex_lock(&lock);
	ready = 1;
	pthread_mutex_unlock(&lock);
	pthread_cond_signal(&changed);
	return arg;
}

static void locks(void *arg)
{
	pthread_t t;

	(void)arg;
	ready = 0;
	pthread_create(&t, NULL, setter, NULL);
#ifndef FIXED
	zug_yield();
#endif
	pthread_mutex_lock(&lock);
#ifdef FIXED
	while (!ready)
#endif
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(void *arg);
	} tests[] = {
		{ "queue", queue }, { "choice", choice }, { "processes", processes }, { "deadlock", deadlock },
		{ "locks", locks },
	};

	for (size_t i = 0; argc == 2 && i < sizeof(tests) / sizeof(*tests); i++)
		if (!strcmp(argv[1], tests[i].name))
			return zug_test_named(tests[i].name, tests[i].fn, NULL, NULL);
	fprintf(stderr, "usage: %s queue|choice|processes|deadlock|locks\n", argv[0]);
	return 2;
}
