/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lane_watch.h - whether other tasks keep the CPU busy on which the test runs
 *
 * Tasks of the other scheduling classes come before those of sched_ext: one that computes, and may run nowhere else,
 * stops the test. Without a look at it that would be taken for a time-out of the test.
 */
#ifndef ZUG_LANE_WATCH_H
#define ZUG_LANE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lane_watch {
	int pid;		/* the task that had the turn at the last look; 0: none */
	uint64_t ran;		/* ns for which that task had run then */
	unsigned int looks;	/* in a row at which it had not run, though it could */
};

/* The last CPU that no other task keeps busy; if there is none the last one. The caller is not counted. */
int lane_watch_choose(int nr_cpus);

/*
 * Which of the first nr_cpus CPUs have half of their time or more for others, as is seen in a tenth of a second: how many
 * there are. quiet: nr_cpus of them. All, where that cannot be told.
 */
unsigned int lane_watch_quiet(bool *quiet, unsigned int nr_cpus);

void lane_watch_reset(struct lane_watch *w);
/*
 * To be called about once a second. pid: the task that has the turn; 0: none. When it has not run since some looks,
 * although nothing but the CPU is missing, and a task of another class computes there: -EBUSY, and err names it.
 */
int lane_watch_look(struct lane_watch *w, int lane, int pid, char *err, size_t errlen);

#endif
