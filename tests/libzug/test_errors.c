/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_errors.c - each error code by the misuse that it is for; calls outside of tests
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/zug/zug.h"
#include "tests/model/tap.h"

static int got[64], nr_got;

static void note(int error)
{
	if (nr_got < 64)
		got[nr_got++] = error;
}

static void nothing(void *arg)
{
	(void)arg;
	zug_schedule_next();
}

/* What one execution of fn has noted. */
static bool notes(void (*fn)(void *arg), const int *want, int nr)
{
	struct zug_report r;
	struct zug_options o = { .executions = 1, .flags = ZUG_QUIET, .report = &r };

	nr_got = 0;
	if (zug_test(fn, NULL, &o)) {
		printf("# %d: %s\n", r.result, r.failure);
		return false;
	}
	for (int i = 0; i < nr_got || i < nr; i++)
		if (nr_got != nr || got[i] != want[i])
			printf("# %d: %d, and not %d\n", i, i < nr_got ? got[i] : 0, i < nr ? want[i] : 0);
	return nr_got == nr && !memcmp(got, want, (size_t)nr * sizeof(*want));
}
#define NOTES(fn, ...)	notes(fn, (const int[]){ __VA_ARGS__ }, sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int))

/* ---- operations ---- */

static int other_handle;

static void *start_twice(void *arg)
{
	int op = *(int *)arg;

	note(zug_start_operation(op));
	note(zug_start_operation(op));
	note(zug_complete_operation(other_handle));
	note(zug_join_operation(op));
	note(zug_complete_operation(op));
	/* it is no operation any more */
	note(zug_schedule_next());
	return NULL;
}

static void operations(void *arg)
{
	pthread_t thread;
	int op = zug_create_operation("by hand"), spawned = zug_spawn("spawned", nothing, NULL);

	(void)arg;
	other_handle = spawned;
	pthread_create(&thread, NULL, start_twice, &op);
	zug_join_operation(op);
	pthread_join(thread, NULL);
	note(zug_complete_operation(op));
	note(zug_join_operation(op));
	note(zug_join_operation(0));
	note(zug_join_operation(op + 100));
	note(zug_start_operation(-3));
	note(zug_complete_operation(77));
	note(zug_spawn("no function", NULL, NULL));
	note(zug_join(spawned));
	note(zug_start_operation(spawned));
}

static void *foreign_thread(void *arg)
{
	(void)arg;
	note(zug_schedule_next());
	note(zug_create_resource("r"));
	note(zug_create_operation("o"));
	note(zug_signal_all(1));
	note(zug_wait_resource(1));
	note(zug_next_boolean());
	note(zug_yield());
	note(zug_read("x"));
	return NULL;
}

static void foreign(void *arg)
{
	pthread_t thread;

	(void)arg;
	pthread_create(&thread, NULL, foreign_thread, NULL);
	pthread_join(thread, NULL);
}

static int handle_before;

static void stale(void *arg)
{
	(void)arg;
	if (handle_before) {
		note(zug_signal_resource(handle_before));
		note(zug_join_operation(handle_before));
	}
	handle_before = zug_create_resource("r");
}

static void root_completes(void *arg)
{
	int op = zug_spawn("a", nothing, NULL);

	(void)arg;
	/* the handle of the root is the one before the first that it creates */
	note(zug_complete_operation(op - 1));
	note(zug_complete_operation(op));
	note(zug_join_operation(op - 1));
}

static void many_operations(void *arg)
{
	int error = 0;

	(void)arg;
	for (int i = 0; i < 5000 && error >= 0; i++)
		error = zug_spawn("one of many", nothing, NULL);
	note(error);
}

/* ---- resources ---- */

static void wait_for(void *arg)
{
	note(zug_wait_resource(*(int *)arg));
}

static void resources(void *arg)
{
	int r = zug_create_resource("r"), gone = zug_create_resource("gone"), list[2] = { r, gone }, op;

	(void)arg;
	note(r > 0 && gone > 0);
	note(zug_delete_resource(gone));
	note(zug_delete_resource(gone));
	note(zug_wait_resource(gone));
	note(zug_signal_resource(gone));
	note(zug_signal_all(gone));
	note(zug_wait_all(list, 2));
	note(zug_wait_any(NULL, 1));
	note(zug_wait_any(list, 0));
	note(zug_wait_resource(0));
	note(zug_signal_resource(12345));
	note(zug_delete_resource(-1));
	op = zug_spawn("waiter", wait_for, &r);
	zug_yield();
	while (zug_delete_resource(r) != ZUG_E_BUSY) {
		r = zug_create_resource("again");
		zug_yield();
	}
	zug_signal_resource(r);
	zug_join(op);
	note(zug_delete_resource(r));
}

static void busy(void *arg)
{
	struct zug_options o = { .flags = ZUG_QUIET };
	struct zug_campaign *z;

	(void)arg;
	z = zug_open("inner", &o);
	note(z == NULL);
	note(zug_close(z));
	note(zug_test(nothing, NULL, &o));
}

static void values(void *arg)
{
	(void)arg;
	note(zug_next_integer(0));
	note(zug_next_integer(-4));
	note(zug_next_integer(1));
	note(zug_read(NULL));
	note(zug_write(NULL));
}

static void many_resources(void *arg)
{
	int error = 0;

	(void)arg;
	for (int i = 0; i < 1 << 21 && error >= 0; i++)
		error = zug_create_resource("one of many");
	note(error);
}

/* ---- no memory, and no thread ---- */

static void spawn_once(void *arg)
{
	const struct rlimit none = { 0, RLIM_INFINITY };

	(void)arg;
	setrlimit(RLIMIT_AS, &none);
	note(zug_spawn("one more", nothing, NULL));
	setrlimit(RLIMIT_AS, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY });
}

/* In a process of its own, which gets no more memory: what zug_spawn() answers. */
static int spawn_without_memory(unsigned int flags)
{
	struct zug_options o = { .executions = 1, .flags = ZUG_QUIET | flags };
	pid_t child = fork();
	int status;

	if (!child) {
		zug_test(spawn_once, NULL, &o);
		_exit(nr_got == 1 && got[0] < 0 ? -1000 - got[0] : 0);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) ? -1000 - WEXITSTATUS(status) : 0;
}

static void without_memory(void)
{
	int thread, context;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return;		/* it would end the process itself */
#endif
	/* QEMU does not hold its guests to that limit */
	if (getenv("QEMU_LD_PREFIX"))
		return;
	thread = spawn_without_memory(0);
	context = spawn_without_memory(ZUG_FIBERS);
	tap_ok(thread == ZUG_E_THREAD, "no memory for a thread: %s", zug_strerror(thread));
	tap_ok(context == ZUG_E_MEMORY, "no memory for a context: %s", zug_strerror(context));
}

/* ---- tests ---- */

static void fails(void *arg)
{
	(void)arg;
	zug_fail("on purpose");
}

static void never_started(void *arg)
{
	(void)arg;
	zug_join(zug_create_operation("nobody"));
}

static void blocks(void *arg)
{
	(void)arg;
	pause();
}

static void joins_one_that_blocks(void *arg)
{
	(void)arg;
	zug_join(zug_spawn("sleeper", blocks, NULL));
}

static void adds(void *arg)
{
	(void)arg;
	zug_read("sum");
	zug_write("sum");
}

/* Fails under all schedules, so that none near it passes. */
static void adds_and_fails(void *arg)
{
	int a = zug_spawn("a", adds, arg), b = zug_spawn("b", adds, arg);

	zug_join(a);
	zug_join(b);
	zug_fail("on purpose");
}

/* One trial minimises nothing: of the first execution's torn update no order is known to pass. */
static void torn(void)
{
	struct zug_options o = { .strategy = "random", .minimize = 1 };
	char said[4096] = "";
	int err = dup(2), fd;

	for (o.seed = 1; o.seed < 20 && !strstr(said, "\nit may fail because\n"); o.seed++) {
		fd = open("said", O_RDWR | O_CREAT | O_TRUNC, 0644);
		dup2(fd, 2);
		zug_test(adds_and_fails, NULL, &o);
		dup2(err, 2);
		said[pread(fd, said, sizeof(said) - 1, 0)] = 0;
		close(fd);
	}
	close(err);
	tap_ok(strstr(said, "\nit may fail because\n      T") && strstr(said, ") does data-read sum") &&
	       strstr(said, "\n  before\n") && strstr(said, ") does data-write sum") &&
	       strstr(said, "is the base of a later one"), "an update that another came into: %s", said);
}

static void stuck(void)
{
	struct zug_options o = { .stuck = 0.1, .flags = ZUG_QUIET };

	tap_ok(zug_test(never_started, NULL, &o) == ZUG_E_STUCK && strstr(zug_message(), "T1 (nobody) was created"),
	       "an operation without a thread: %s", zug_message());
	tap_ok(zug_test(joins_one_that_blocks, NULL, &o) == ZUG_E_STUCK && strstr(zug_message(), "T1 (sleeper) has come to no"),
	       "an operation that blocks elsewhere: %s", zug_message());
}

static void by_hand(void)
{
	struct zug_report r;
	struct zug_options o = { .executions = 3, .flags = ZUG_QUIET | ZUG_NO_MINIMIZE, .report = &r, .out = "zug-out" };
	struct zug_campaign *z = zug_open("hand", &o);

	tap_ok(zug_detach(z) == ZUG_E_NOT_ATTACHED && zug_detach(NULL) == ZUG_E_NOT_ATTACHED, "detach without attach");
	tap_ok(zug_attach(z) == 1 && zug_attach(z) == ZUG_E_BUSY && zug_detach(z) == 0, "attach twice");
	zug_attach(z);
	fails(NULL);
	tap_ok(zug_schedule_next() == ZUG_E_OVER && zug_spawn("a", nothing, NULL) == ZUG_E_OVER &&
		       zug_create_resource("r") == ZUG_E_OVER && zug_next_boolean() == ZUG_E_OVER,
	       "calls in an execution that has failed");
	tap_ok(zug_detach(z) == 1, "detach says that it failed");
	while (zug_attach(z) == 1) {
		fails(NULL);
		zug_detach(z);
	}
	tap_ok(zug_close(z) == 1 && r.result == 1 && r.replayed && strstr(r.failure, "on purpose"), "it is repeated by hand");
}

/* ---- several threads ---- */

static void *tests_too(void *arg)
{
	struct zug_options o = { .executions = 50, .strategy = "random", .flags = ZUG_QUIET };

	for (int i = 0; i < 30; i++) {
		int ret = zug_test(nothing, NULL, &o);

		if (ret != 0 && ret != ZUG_E_BUSY)
			return NULL;
		if (!ret)
			__atomic_fetch_add((int *)arg, 1, __ATOMIC_RELAXED);
	}
	return arg;
}

static void tests_in_threads(void)
{
	pthread_t threads[4];
	void *back;
	int tested = 0;
	bool good = true;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, tests_too, &tested);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &back);
		good &= back == &tested;
	}
	tap_ok(good && tested > 0, "tests in four threads at once: one is open at a time, %s",
	       good ? "others are told" : "others fail");
}

static bool option(const struct zug_options *o, int error, const char *message)
{
	int ret = zug_test(nothing, NULL, o);

	if (ret == error && strstr(zug_message(), message))
		return true;
	printf("# %d: %s\n", ret, zug_message());
	return false;
}

static void options(void)
{
	struct zug_options o = { .flags = ZUG_QUIET };

	tap_ok(zug_test(NULL, NULL, NULL) == ZUG_E_INVALID && zug_close(NULL) < 0, "no function");
	o.strategy = "guess";
	tap_ok(option(&o, ZUG_E_OPTION, "guess"), "an unknown strategy");
	o.strategy = "pct:depth=0";
	tap_ok(option(&o, ZUG_E_OPTION, "depth"), "an argument out of its range");
	o = (struct zug_options){ .flags = ZUG_QUIET | 1 << 20 };
	tap_ok(option(&o, ZUG_E_OPTION, "flags"), "an unknown flag");
	o = (struct zug_options){ .flags = ZUG_QUIET, .reserved = { &o } };
	tap_ok(option(&o, ZUG_E_OPTION, "reserved"), "a struct that is not initialised");
	o = (struct zug_options){ .flags = ZUG_QUIET };
	setenv("ZUG_SEED", "12x", 1);
	tap_ok(option(&o, ZUG_E_OPTION, "ZUG_SEED"), "ZUG_SEED that is no number");
	unsetenv("ZUG_SEED");
	setenv("ZUG_REPLAY", "/nonexistent.trace", 1);
	tap_ok(option(&o, ZUG_E_REPLAY, "nonexistent"), "ZUG_REPLAY of no file");
	setenv("ZUG_REPLAY", "/etc/passwd", 1);
	tap_ok(option(&o, ZUG_E_REPLAY, "not a zugzwang trace"), "ZUG_REPLAY of what is no trace");
	unsetenv("ZUG_REPLAY");
	o.out = "/proc/no/such/folder";
	tap_ok(zug_test(fails, NULL, &o) == ZUG_E_WRITE && strstr(zug_message(), "/proc/no/such"), "a folder that cannot be written");
}

static void outside(void)
{
	tap_ok(!zug_spawn("a", nothing, NULL) && !zug_create_operation("a") && !zug_start_operation(3) && !zug_join(3) &&
		       !zug_complete_operation(3) && !zug_create_resource("r") && !zug_wait_resource(1) &&
		       !zug_signal_all(1) && !zug_schedule_next() && !zug_yield() && !zug_next_integer(5) && !zug_read("x") &&
		       !zug_seed(), "calls outside of a test do nothing");
	zug_assert(0 && "not evaluated");
}

static void texts(void)
{
	bool good = true;

	for (int e = ZUG_E_WRITE; e <= ZUG_E_NOT_OPERATION; e++)
		good &= strcmp(zug_strerror(e), zug_strerror(-5000)) != 0;
	tap_ok(good, "each error has a text");
}

int main(void)
{
	char folder[] = "/tmp/zug-errors-XXXXXX", rm[64];

	if (!mkdtemp(folder) || chdir(folder))
		return 1;
	/* first: stacks of threads that have ended would be used again */
	without_memory();
	tap_ok(NOTES(operations, 0, ZUG_E_STARTED, ZUG_E_NOT_OWN, ZUG_E_SELF, 0, ZUG_E_NOT_OPERATION, ZUG_E_COMPLETED, 0,
		     ZUG_E_UNKNOWN, ZUG_E_UNKNOWN, ZUG_E_UNKNOWN, ZUG_E_UNKNOWN, ZUG_E_INVALID, 0, ZUG_E_STARTED),
	       "operations");
	tap_ok(NOTES(foreign, ZUG_E_NOT_OPERATION, ZUG_E_NOT_OPERATION, ZUG_E_NOT_OPERATION, ZUG_E_NOT_OPERATION,
		     ZUG_E_NOT_OPERATION, ZUG_E_NOT_OPERATION, ZUG_E_NOT_OPERATION, ZUG_E_NOT_OPERATION),
	       "a thread that is no operation");
	tap_ok(NOTES(root_completes, ZUG_E_ROOT, ZUG_E_NOT_OWN, ZUG_E_SELF), "the first operation does not complete itself");
	zug_test(stale, NULL, &(struct zug_options){ .executions = 1, .flags = ZUG_QUIET });
	tap_ok(NOTES(stale, ZUG_E_UNKNOWN, ZUG_E_UNKNOWN), "a handle of an earlier execution");
	tap_ok(NOTES(resources, 1, 0, ZUG_E_DELETED, ZUG_E_DELETED, ZUG_E_DELETED, ZUG_E_DELETED, ZUG_E_DELETED, ZUG_E_INVALID,
		     ZUG_E_INVALID, ZUG_E_UNKNOWN, ZUG_E_UNKNOWN, ZUG_E_UNKNOWN, 0, 0), "resources");
	tap_ok(NOTES(values, ZUG_E_INVALID, ZUG_E_INVALID, 0, ZUG_E_INVALID, ZUG_E_INVALID), "values and names");
	tap_ok(NOTES(busy, 1, ZUG_E_BUSY, ZUG_E_BUSY), "a test within a test");
	tap_ok(zug_test(many_operations, NULL, (&(struct zug_options){ .executions = 1, .flags = ZUG_QUIET | ZUG_FIBERS })) == 0 &&
		       got[nr_got - 1] == ZUG_E_MANY, "more operations than there can be");
	tap_ok(NOTES(many_resources, ZUG_E_MANY), "more resources than there can be");
	tests_in_threads();
	stuck();
	torn();
	by_hand();
	options();
	outside();
	texts();
	snprintf(rm, sizeof(rm), "rm -rf %s", folder);
	if (chdir("/") || system(rm))
		return 1;
	return tap_done();
}
