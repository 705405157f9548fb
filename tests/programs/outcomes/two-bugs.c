/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two ways to fail, by how far another thread has come: in the middle an assertion, at its end an exit
 * status. A third schedule passes.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stage;

static void set(int to)
{
	pthread_mutex_lock(&lock);
	stage = to;
	pthread_mutex_unlock(&lock);
}

static void *work(void *arg)
{
	set(1);
	set(2);
	return arg;
}

int main(void)
{
	pthread_t t;
	int seen;

	if (pthread_create(&t, NULL, work, NULL))
		return 99;
	pthread_mutex_lock(&lock);
	seen = stage;
	pthread_mutex_unlock(&lock);
	assert(seen != 1);
	if (seen == 2)
		exit(3);
	pthread_join(t, NULL);
	return 0;
}
