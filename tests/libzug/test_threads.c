/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_threads.c - the threads of zug_spawn(): used again, but an operation never finds what another one has left there
 */
#include <dirent.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "lib/zug/zug.h"
#include "tests/model/tap.h"

#define OPERATIONS	3
#define EXECUTIONS	50

static __thread int mine, mine_with_value = 7;
static pthread_key_t key;
static pid_t threads[1024];
static unsigned int nr_threads;
static int destroyed;

static void note_thread(void)
{
	pid_t tid = gettid();
	unsigned int i;

	for (i = 0; i < nr_threads && threads[i] != tid; i++)
		;
	if (i == nr_threads && nr_threads < 1024)
		threads[nr_threads++] = tid;
}

static void destroy(void *value)
{
	(void)value;
	__atomic_add_fetch(&destroyed, 1, __ATOMIC_RELAXED);
}

static void leaves_nothing(void *arg)
{
	(void)arg;
	note_thread();
	zug_schedule_next();
}

static void leaves_zeroed(void *arg)
{
	note_thread();
	zug_schedule_next();
	zug_assert(!mine);
	mine = 1;
	zug_schedule_next();
	/* as it was: it has left nothing */
	if (arg)
		mine = 0;
}

static void leaves_value(void *arg)
{
	(void)arg;
	note_thread();
	zug_schedule_next();
	zug_assert(mine_with_value == 7);
	mine_with_value = 0;
}

static void leaves_specific(void *arg)
{
	zug_schedule_next();
	zug_assert(!pthread_getspecific(key));
	pthread_setspecific(key, arg);
}

static void leaves_mask(void *arg)
{
	sigset_t set;

	(void)arg;
	zug_schedule_next();
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	zug_assert(!sigismember(&set, SIGUSR1));
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
}

static void leaves_locale(void *arg)
{
	static locale_t other;

	(void)arg;
	zug_schedule_next();
	zug_assert(uselocale((locale_t)0) == LC_GLOBAL_LOCALE);
	if (!other)
		other = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	uselocale(other);
}

static void (*leaves)(void *arg);
static void *given;

static void test(void *arg)
{
	int op[OPERATIONS];

	(void)arg;
	for (int i = 0; i < OPERATIONS; i++)
		op[i] = zug_spawn("operation", leaves, given);
	for (int i = 0; i < OPERATIONS; i++)
		zug_join(op[i]);
}

static bool passes(void (*fn)(void *arg), void *arg)
{
	struct zug_report r;
	struct zug_options o = { .executions = EXECUTIONS, .strategy = "random", .flags = ZUG_QUIET | ZUG_NO_MINIMIZE, .report = &r };

	leaves = fn;
	given = arg;
	nr_threads = 0;
	if (!zug_test(test, NULL, &o) && r.executions == EXECUTIONS)
		return true;
	printf("# %s\n", r.failure);
	return false;
}

static int nr_tasks(void)
{
	DIR *d = opendir("/proc/self/task");
	int nr = -2;

	while (readdir(d))
		nr++;
	closedir(d);
	return nr;
}

/* Threads end by themselves; five seconds for that. */
static bool comes(int (*now)(void), int want)
{
	for (int i = 0; i < 500 && now() != want; i++)
		usleep(10000);
	return now() == want;
}

static int nr_destroyed(void)
{
	return __atomic_load_n(&destroyed, __ATOMIC_RELAXED);
}

static void fails(void *arg)
{
	(void)arg;
	zug_schedule_next();
	zug_schedule_next();
	zug_fail("on purpose");
}

/* An execution that failed leaves operations in the middle: their threads are not used again. */
static bool goes_on_after_failures(void)
{
	struct zug_options o = { .strategy = "random", .flags = ZUG_QUIET, .out = "/proc/none" };

	leaves = fails;
	return zug_test(test, NULL, &o) == ZUG_E_WRITE && passes(leaves_nothing, NULL);
}

int main(void)
{
	const int before __attribute__((unused)) = nr_tasks();
	bool reused;

	pthread_key_create(&key, destroy);
	reused = passes(leaves_nothing, NULL);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	reused &= nr_threads <= OPERATIONS;
#endif
	tap_ok(reused, "%d operations, %u threads", OPERATIONS * EXECUTIONS, nr_threads);
#ifndef __SANITIZE_THREAD__
	/* which has a thread of its own, later */
	tap_ok(comes(nr_tasks, before), "they end with the test");
#endif
	tap_ok(passes(leaves_zeroed, NULL), "a thread-local variable is 0 in every operation");
	tap_ok(nr_threads > OPERATIONS, "that takes other threads: %u", nr_threads);
	tap_ok(passes(leaves_zeroed, test), "one that is put back");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	tap_ok(nr_threads <= OPERATIONS, "needs no other threads: %u", nr_threads);
#endif
	tap_ok(passes(leaves_value, NULL), "one that begins with a value has it in every operation");
	tap_ok(passes(leaves_specific, &key), "thread-specific data are NULL in every operation");
	tap_ok(comes(nr_destroyed, OPERATIONS * EXECUTIONS), "and are destroyed: %d", nr_destroyed());
	tap_ok(passes(leaves_mask, NULL), "signals that an operation blocks");
	tap_ok(passes(leaves_locale, NULL), "its locale");
	tap_ok(goes_on_after_failures(), "after executions that failed");
	return tap_done();
}
