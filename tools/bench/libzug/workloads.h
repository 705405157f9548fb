/* SPDX-License-Identifier: GPL-2.0-only */
/* workloads.h - the programs that libzug and others are measured with; C and C++ */
#ifndef ZUG_BENCH_WORKLOADS_H
#define ZUG_BENCH_WORKLOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#define TASKS	1001

/*
 * Tasks that share the points out among them. With a queue: the first task makes as many items, the others take
 * them, and wait for a resource while there is none.
 */
struct workload {
	const char *name;
	int tasks, points;
	bool queue;
};

static const struct workload workloads[] = {
	{ "2-threads-40-points", 2, 40, false },
	{ "10-threads-400-points", 10, 400, false },
	{ "1000-tasks-2000-points", 1000, 2000, false },
	{ "producer-4-consumers-40-items", 5, 40, true },
};

/* NULL: there is none of that name. */
static inline const struct workload *workload_of(const char *name)
{
	for (size_t i = 0; i < sizeof(workloads) / sizeof(*workloads); i++)
		if (!strcmp(name, workloads[i].name))
			return &workloads[i];
	return NULL;
}

static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#endif
