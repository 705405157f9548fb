/* SPDX-License-Identifier: GPL-2.0-only */
/* lane_loop.h - what a search with lanes does itself for each execution, measured without a kernel side */
#ifndef ZUG_BENCH_LANE_LOOP_H
#define ZUG_BENCH_LANE_LOOP_H

#include <stdint.h>

struct search;

struct lane_loop {
	double cpu_us, waits;	/* of an execution */
};

/*
 * The parts of a frozen search that samples, as a campaign gives them to lanes and counts them; lanes that do nothing for
 * so long in place of an execution. 0 or -errno.
 */
int lane_loop(struct search *s, uint32_t lanes, uint32_t us, uint64_t executions, struct lane_loop *to);

#endif
