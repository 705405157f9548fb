/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_expiry.c - whose time-out may be over, and when timers are due
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include "engine/expiry.h"
#include "kworld/timers.h"

#define MS 1000000ull

static int nr_tests, nr_failed;

static void ok(bool good, const char *what)
{
	nr_tests++;
	nr_failed += !good;
	printf("%sok %d - %s\n", good ? "" : "not ", nr_tests, what);
}

/* Which of the four tasks may go on, as the digits of their numbers. */
static unsigned int who_up_to(const struct world *w, uint64_t limit)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < w->nr_tasks; i++)
		if (expiry_may(&w->tasks[i], limit))
			n = 10 * n + i;
	return n;
}

static unsigned int who(const struct world *w, uint64_t clock, bool idle)
{
	return who_up_to(w, expiry_limit(w, clock, idle));
}

/* True when one of the tasks waits for something that may come from outside. */
static bool any_outside(const struct world *w)
{
	bool any = false;

	for (uint32_t i = 0; i < w->nr_tasks; i++)
		any |= expiry_outside(&w->tasks[i]);
	return any;
}

static void waits(void)
{
	struct world_task t[5] = {
		{ .state = TASK_RUNNING, .deadline = 1 },
		{ .state = TASK_BLOCKED, .deadline = 50 * MS, .wait = WAIT_TIMED },
		{ .state = TASK_BLOCKED, .deadline = 20 * MS + 1, .wait = WAIT_TIMED },
		{ .state = TASK_BLOCKED, .deadline = 21 * MS, .wait = WAIT_TIMED },
		{ .state = TASK_BLOCKED, .wait = WAIT_INSIDE },
	};
	struct world w = { .tasks = t, .nr_tasks = 5 };

	ok(who(&w, 0, false) == 0, "before its time nobody's is over");
	ok(who(&w, 0, true) == 23, "when nobody can run, those that come first, and who is less than 1 ms after");
	ok(who(&w, 20 * MS + 1, false) == 2, "whose time has come goes on, though others can run");
	ok(who(&w, 30 * MS, true) == 23, "whose time has come is before whose has not");
	ok(who_up_to(&w, UINT64_MAX) == 123, "without a limit: everybody who has a time-out");
	ok(expiry_first(&w) == 20 * MS + 1, "the first deadline");
	ok(!any_outside(&w), "nobody waits for something outside");
	t[1].outside = true;
	ok(any_outside(&w), "a time-out does not hide that something outside is waited for");
	t[1].outside = false;
	t[4].wait = WAIT_UNKNOWN;
	ok(any_outside(&w), "what is not known may be outside");
	memset(t, 0, sizeof(t));
	ok(who(&w, 7, true) == 0 && expiry_first(&w) == UINT64_MAX, "nobody at all");
}

static void set(struct timers *t, int tgid, int nr, uint64_t id, uint64_t deadline)
{
	struct zug_event e = { .kind = ZUG_EV_TIMER, .tgid = tgid, .nr = nr, .deadline = deadline };

	e.arg[0] = id;
	timers_event(t, &e, 3, 1000 + (uint64_t)nr, 1ull << (SIGALRM - 1));
}

static void timers(void)
{
	struct timers t = { 0 };
	char text[64];

	ok(timers_next(&t) == UINT64_MAX && timers_fire(&t) < 0, "no timer is set");
	set(&t, 10, SYS_setitimer, 0, 500);
	set(&t, 10, SYS_timerfd_settime, 4, 300);
	set(&t, 11, SYS_timer_create, 0, 0);
	set(&t, 11, SYS_timer_settime, 0, 200);
	ok(timers_next(&t) == 200 && t.nr == 3, "the first of three");
	set(&t, 11, SYS_timer_settime, 0, 400);
	ok(timers_next(&t) == 300 && t.nr == 3, "set again, it is the same timer");
	set(&t, 10, SYS_alarm, 60, 100);
	ok(timers_next(&t) == 100 && t.nr == 3, "alarm() and setitimer() share theirs");
	ok(timers_signal(timers_first(&t)) == SIGALRM && timers_first(&t)->awaited, "what is blocked where it is set is awaited");
	timers_text(timers_first(&t), text, sizeof(text));
	ok(timers_first(&t)->task == 3 && timers_first(&t)->site == 1000 + SYS_alarm &&
	   !strcmp(text, "alarm() or setitimer(), SIGALRM"), "who has set it, where, and what it sends");
	set(&t, 10, SYS_alarm, 0, 0);
	ok(timers_next(&t) == 300, "alarm(0) ends it");
	timers_drop(&t, 11, true);
	timers_drop(&t, 10, true);
	ok(timers_next(&t) == 300 && t.nr == 2, "an exec ends POSIX timers, and no others");
	timers_drop(&t, 10, false);
	ok(timers_next(&t) == UINT64_MAX, "with a process its timers are gone");
	timers_free(&t);
}

/* A timer that fires again before its descriptor is read counts on. */
static void ticks(void)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	struct zug_event e = { .kind = ZUG_EV_TIMER, .tgid = getpid(), .nr = SYS_timerfd_settime, .deadline = 100 };
	struct timers t = { 0 };
	uint64_t n = 0;

	e.arg[0] = (uint64_t)fd;
	e.arg[1] = 10;
	timers_event(&t, &e, 0, 0, 0);
	if (timers_fire(&t)) {
		printf("# this kernel gives no copy of a descriptor (pidfd_getfd): not tested that a timerfd counts\n");
	} else {
		ok(timers_next(&t) == 110 && !timers_fire(&t) && !timers_fire(&t) && read(fd, &n, sizeof(n)) == sizeof(n) &&
			   n == 3,
		   "a timerfd that has fired three times before it is read says so");
		ok(read(fd, &n, sizeof(n)) < 0 && !timers_fire(&t) && read(fd, &n, sizeof(n)) == sizeof(n) && n == 1,
		   "and counts anew once it was read");
	}
	timers_free(&t);
	close(fd);
}

int main(void)
{
	waits();
	timers();
	ticks();
	printf("1..%d\n", nr_tests);
	return nr_failed != 0;
}
