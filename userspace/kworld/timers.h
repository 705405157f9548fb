/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timers.h - the timers of a test whose time is virtual: alarm, setitimer, POSIX timers, timerfd
 *
 * The kernel has been told that they never fire (bpf/inputs.bpf.h); here is when they are to, and
 * what the kernel would have done then is done from outside.
 */
#ifndef ZUG_TIMERS_H
#define ZUG_TIMERS_H

#include <stdbool.h>
#include <stdint.h>
#include "bpf/zug_abi.h"

struct timer {
	int tgid;
	int nr;			/* the call that sets it: setitimer (alarm, too), timer_settime, timerfd_settime */
	int id;			/* timer or descriptor; 0 for setitimer */
	uint64_t deadline;	/* on the clock of the sandbox; 0: not set */
	uint64_t interval;	/* 0: fires once */
	/* POSIX timers */
	int signo, tid;		/* signo 0: none is sent; tid 0: to the process */
	uint64_t value;
	bool awaited;		/* its signal was blocked where it was set: some task is to wait for that */
	uint32_t task;		/* who has set it last, */
	uint64_t site;		/* and where; 0: unknown */
};

struct timers {
	struct timer *list;
	uint32_t nr, room;
};

void timers_reset(struct timers *t);
void timers_free(struct timers *t);
/* A ZUG_EV_TIMER of that task, at that place, with these signals blocked (bit N - 1: signal N). */
void timers_event(struct timers *t, const struct zug_event *e, uint32_t task, uint64_t site, uint64_t blocked);
/* A process is gone, or (exec) has another program now: its timers end, or those that do not survive that. */
void timers_drop(struct timers *t, int tgid, bool exec);
/* The next one; NULL: none. */
const struct timer *timers_first(const struct timers *t);
/* The call that has set it and what it sends or makes readable, as people read it: "setitimer(), SIGALRM". */
void timers_text(const struct timer *l, char *text, size_t len);
/* When the next one fires; UINT64_MAX: none. */
uint64_t timers_next(const struct timers *t);
/* The signal that it sends. 0: none. */
int timers_signal(const struct timer *l);
/*
 * Fires the next one. When it returns, the tasks that it wakes are awake. It comes again after its interval,
 * from when it was due. -errno: its process or descriptor is gone (and so is the timer).
 */
int timers_fire(struct timers *t);

#endif
