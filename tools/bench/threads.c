// SPDX-License-Identifier: GPL-2.0-only
/*
 * threads.c - many threads that go through two stages, each with a lock, once all of them are there
 *
 *	threads N own [ROUNDS]		each thread has the locks of its stages for itself
 *	threads N shared [ROUNDS]	each stage has one lock for all
 *	threads N KIND ROUNDS TIMES	the same in so many children, one after another; prints the milliseconds of each
 *
 * Exit status 0; 1 when a thread did not come through both stages.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 4096
#define STAGES 2

static pthread_mutex_t locks[STAGES][MAX_THREADS];
static int passed[STAGES][MAX_THREADS], shared;
static pthread_barrier_t all;
static long rounds = 1;

static void *work(void *arg)
{
	intptr_t n = (intptr_t)arg;

	pthread_barrier_wait(&all);
	for (long i = 0; i < rounds * STAGES; i++) {
		int stage = i % STAGES;
		pthread_mutex_t *lock = &locks[stage][shared ? 0 : n];

		pthread_mutex_lock(lock);
		passed[stage][n] = 1;
		pthread_mutex_unlock(lock);
	}
	return NULL;
}

/* The exit status. */
static int run(long nr)
{
	static pthread_t id[MAX_THREADS];
	pthread_attr_t attr;

	pthread_barrier_init(&all, NULL, nr);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (intptr_t n = 0; n < nr; n++)
		if (pthread_create(&id[n], &attr, work, (void *)n))
			return 2;
	for (long n = 0; n < nr; n++)
		pthread_join(id[n], NULL);
	for (int stage = 0; stage < STAGES; stage++)
		for (long n = 0; n < nr; n++)
			if (!passed[stage][n])
				return 1;
	return 0;
}

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

/* What no way of starting executions by fork can do without. The exit status. */
static int fork_each(long nr, long times)
{
	double start;
	int status;
	pid_t pid;

	for (long i = 0; i < times; i++) {
		start = now_ms();
		pid = fork();
		if (!pid)
			exit(run(nr));
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 1;
		printf("%.3f\n", now_ms() - start);
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	long nr = argc >= 3 && argc <= 5 ? atol(argv[1]) : 0;

	if (argc >= 4)
		rounds = atol(argv[3]);
	if (nr < 1 || nr > MAX_THREADS || rounds < 1 || (strcmp(argv[2], "own") && strcmp(argv[2], "shared"))) {
		fprintf(stderr, "usage: threads N own|shared [ROUNDS [TIMES]]\n");
		return 2;
	}
	shared = argv[2][0] == 's';
	return argc == 5 ? fork_each(nr, atol(argv[4])) : run(nr);
}
