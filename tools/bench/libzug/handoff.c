/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * handoff.c - executions a second of libzug, and of a model of how Nekara's library hands the turn on
 *
 *	handoff WORKLOAD libzug|threads|model EXECUTIONS
 *	handoff outside CALLS: the nanoseconds of a call outside of any test
 *
 * The model: a thread for each operation, one mutex for the scheduler, a condition for each operation;
 * at a point an operation locks the mutex, draws the next one, signals its condition and waits for its
 * own. It has no strategy but random choice, keeps no trace, and looks for nothing.
 * libzug: operations as user contexts; threads: as threads.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/zug/zug.h"
#include "tools/bench/libzug/workloads.h"

static int tasks, points, items;
static bool queue_work;

/* ---- the model ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	pthread_cond_t cond;
	bool exists, waits;
} model[TASKS];
static int nr_model, current;
static unsigned long rng = 88172645463325252ul;

static int draw(int nr)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (int)(rng % (unsigned long)nr);
}

/* Locked: one of those that can go on; the caller's own number, or -1 when it has ended. */
static void choose(int me)
{
	int at = draw(nr_model), i = at;

	do {
		if (model[i].exists && !model[i].waits) {
			current = i;
			if (i != me)
				pthread_cond_signal(&model[i].cond);
			return;
		}
		i = (i + 1) % nr_model;
	} while (i != at);
}

static void model_switch(int me)
{
	choose(me);
	while (current != me)
		pthread_cond_wait(&model[me].cond, &lock);
}

static void model_point(int me)
{
	pthread_mutex_lock(&lock);
	model_switch(me);
	pthread_mutex_unlock(&lock);
}

/* Any signal wakes all: there is one resource. */
static void model_wait(int me)
{
	pthread_mutex_lock(&lock);
	model[me].waits = true;
	model_switch(me);
	pthread_mutex_unlock(&lock);
}

static void model_signal(void)
{
	pthread_mutex_lock(&lock);
	/* the first operation waits for the end of all */
	for (int i = 1; i < nr_model; i++)
		model[i].waits = false;
	pthread_mutex_unlock(&lock);
}

static int model_left;

static void *model_task(void *arg)
{
	int me = (int)(size_t)arg;

	pthread_mutex_lock(&lock);
	while (current != me)
		pthread_cond_wait(&model[me].cond, &lock);
	pthread_mutex_unlock(&lock);
	if (!queue_work)
		for (int i = 0; i < points / tasks; i++)
			model_point(me);
	else if (me == 1)
		for (int i = 0; i < points; i++) {
			model_point(me);
			items++;
			model_signal();
		}
	else
		for (int i = 0; i < points / (tasks - 1); i++) {
			model_point(me);
			while (!items)
				model_wait(me);
			items--;
		}
	pthread_mutex_lock(&lock);
	model[me].exists = false;
	if (!--model_left)
		model[0].waits = false;
	choose(-1);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void model_execution(void)
{
	pthread_t threads[TASKS];

	items = 0;
	nr_model = tasks + 1;
	current = 0;
	model_left = tasks;
	for (int i = 0; i <= tasks; i++) {
		pthread_cond_init(&model[i].cond, NULL);
		model[i].exists = true;
		model[i].waits = false;
	}
	for (int i = 1; i <= tasks; i++)
		pthread_create(&threads[i], NULL, model_task, (void *)(size_t)i);
	model_wait(0);
	for (int i = 1; i <= tasks; i++)
		pthread_join(threads[i], NULL);
}

/* ---- libzug ---- */

static int resource;

static void task(void *arg)
{
	if (!queue_work)
		for (int i = 0; i < points / tasks; i++)
			zug_schedule_next();
	else if ((size_t)arg == 1)
		for (int i = 0; i < points; i++) {
			zug_schedule_next();
			items++;
			zug_signal_all(resource);
		}
	else
		for (int i = 0; i < points / (tasks - 1); i++) {
			zug_schedule_next();
			while (!items)
				zug_wait_resource(resource);
			items--;
		}
}

static void test(void *arg)
{
	static int op[TASKS];

	(void)arg;
	items = 0;
	resource = zug_create_resource("items");
	for (int i = 1; i <= tasks; i++)
		op[i] = zug_spawn("task", task, (void *)(size_t)i);
	for (int i = 1; i <= tasks; i++)
		zug_join(op[i]);
}

static void outside(unsigned long calls)
{
	double begin = now();

	for (unsigned long i = 0; i < calls; i++)
		zug_schedule_next();
	printf("%.2f\n", (now() - begin) * 1e9 / (double)calls);
}

int main(int argc, char **argv)
{
	const struct workload *w = argc > 3 ? workload_of(argv[1]) : NULL;
	unsigned long nr = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
	double begin;

	if (argc == 3 && !strcmp(argv[1], "outside") && strtoul(argv[2], NULL, 0)) {
		outside(strtoul(argv[2], NULL, 0));
		return 0;
	}
	if (!w || !nr) {
		fprintf(stderr, "usage: handoff WORKLOAD libzug|threads|model EXECUTIONS\n");
		return 2;
	}
	tasks = w->tasks;
	points = w->points;
	queue_work = w->queue;
	begin = now();
	if (!strcmp(argv[2], "model")) {
		for (unsigned long i = 0; i < nr; i++)
			model_execution();
	} else {
		struct zug_report r;
		struct zug_options o = { .strategy = "random", .executions = nr, .report = &r, .steps = 100000,
					 .flags = ZUG_QUIET | (strcmp(argv[2], "threads") ? ZUG_FIBERS : 0) };

		if (zug_test(test, NULL, &o) || r.executions != nr) {
			fprintf(stderr, "%s\n", r.failure);
			return 1;
		}
	}
	printf("%.1f\n", (double)nr / (now() - begin));
	return 0;
}
