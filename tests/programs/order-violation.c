/*
 * bug: a thread uses a pointer that its creator sets only after it has created the thread
 * how: main creates the thread and is about to take the lock to publish the configuration; the
 *	new thread runs first, finds NULL under the same lock and dereferences it.
 * outcome: signal SEGV
 * options:
 * args:
 * odds: 1 preemption (of main, after pthread_create). Random walk: of main's one point between
 *	create and publish, the thread must pass two first: p >= 1/4.
 *	PCT depth 1 (priority of the thread above main's): p >= 1/2; depth 2, k <= 10: p >= 1/20.
 * executions: 150
 * small: yes
 * count-reasoning: main has create, lock, unlock, join; the thread lock, unlock, exit: 7 points
 *	(plus a blocking one for the lock or the join that blocks).
 * build:
 */
#include <pthread.h>
#include <stddef.h>

struct config {
	int limit;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct config defaults = { .limit = 8 };
static struct config *volatile config;

static void *worker(void *arg)
{
	struct config *mine;

	pthread_mutex_lock(&lock);
	mine = config;
	pthread_mutex_unlock(&lock);
	*(int *)arg = mine->limit;
	return NULL;
}

static void publish(void)
{
	pthread_mutex_lock(&lock);
	config = &defaults;
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	pthread_t thread;
	int limit;

#ifdef FIXED
	publish();
#endif
	pthread_create(&thread, NULL, worker, &limit);
#ifndef FIXED
	publish();
#endif
	pthread_join(thread, NULL);
	return limit != 8;
}
