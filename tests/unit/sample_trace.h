/* SPDX-License-Identifier: GPL-2.0-only */
/* sample_trace.h - traces for tests of what reads them */
#ifndef SAMPLE_TRACE_H
#define SAMPLE_TRACE_H

/* Two threads take a and b in opposite orders: 1 preemption, deadlock. dir holds its source. */
void sample_deadlock(const char *path, const char *dir);
/* An assertion after nr_steps steps of 3 tasks, with a preemption in the middle and near the end. */
void sample_long(const char *path, unsigned int nr_steps);
/* So many steps of twelve tasks in three processes, with locks, variables, sleeps and preemptions, at random. */
void sample_busy(const char *path, const char *dir, unsigned int nr_steps);

#endif
