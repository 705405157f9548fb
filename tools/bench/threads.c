// SPDX-License-Identifier: GPL-2.0-only
/*
 * threads.c - many threads that go through two stages, each with a lock
 *
 *	threads N own		each thread has the locks of its stages for itself
 *	threads N shared	each stage has one lock for all
 *
 * Exit status 0; 1 when a thread did not come through both stages.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 4096
#define STAGES 2

static pthread_mutex_t locks[STAGES][MAX_THREADS];
static int passed[STAGES][MAX_THREADS], shared;

static void *work(void *arg)
{
	intptr_t n = (intptr_t)arg;

	for (int stage = 0; stage < STAGES; stage++) {
		pthread_mutex_t *lock = &locks[stage][shared ? 0 : n];

		pthread_mutex_lock(lock);
		passed[stage][n] = 1;
		pthread_mutex_unlock(lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long nr = argc == 3 ? atol(argv[1]) : 0;
	static pthread_t id[MAX_THREADS];
	pthread_attr_t attr;

	if (nr < 1 || nr > MAX_THREADS || (strcmp(argv[2], "own") && strcmp(argv[2], "shared"))) {
		fprintf(stderr, "usage: threads N own|shared\n");
		return 2;
	}
	shared = argv[2][0] == 's';
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
