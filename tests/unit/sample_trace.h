/* SPDX-License-Identifier: GPL-2.0-only */
/* sample_trace.h - traces for tests of what reads them */
#ifndef SAMPLE_TRACE_H
#define SAMPLE_TRACE_H

#include "lib/trace.h"

/* Two threads take a and b in opposite orders: 1 preemption, deadlock. dir holds its source. */
void sample_deadlock(const char *path, const char *dir);
/* An assertion after nr_steps steps of 3 tasks, with a preemption in the middle and near the end. */
void sample_long(const char *path, unsigned int nr_steps);
/* So many steps of twelve tasks in three processes, with locks, variables, sleeps and preemptions, at random. */
void sample_busy(const char *path, const char *dir, unsigned int nr_steps);

/* Begins a trace of a program "x" in that file. */
struct trace_writer *sample_begin(const char *path);
/* The same with two tasks, both of which can always run. */
struct trace_writer *sample_begin_two(const char *path);
extern const uint32_t sample_both[2];
/* Ends it, and tells its finding into *told (malloc'd). */
struct trace *sample_end(struct trace_writer *w, const char *path, char **told);

#endif
