/*
 * bug: a thread takes a writer-preferring rwlock for reading twice, with a writer between
 * how: the reader holds the read lock and is preempted before it takes it again in a function it
 *	calls; the writer asks for the write lock and waits; the second read lock queues behind
 *	the waiting writer, which waits for the first.
 * outcome: deadlock
 * options:
 * args:
 * odds: 1 preemption. Random walk: the reader passes its start and one lock, the writer one point
 *	before the reader's second lock: p >= 1/8.
 *	PCT depth 2, 3 tasks, k <= 14 points: p >= 1/42.
 * executions: 300
 * small: yes
 * count-reasoning: main has create, create, join, join; the reader read lock, read lock, unlock,
 *	unlock, exit (fixed: lock, unlock, exit); the writer lock, unlock, exit: at most 13 points.
 * build:
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static int names = 1, sizes = 1;

static int total_locked(void)
{
	return names + sizes;
}

#ifndef FIXED
static int total(void)
{
	int sum;

	pthread_rwlock_rdlock(&lock);
	sum = total_locked();
	pthread_rwlock_unlock(&lock);
	return sum;
}
#endif

static void *reader(void *arg)
{
	int sum;

	pthread_rwlock_rdlock(&lock);
#ifdef FIXED
	sum = names + total_locked();
#else
	sum = names + total();
#endif
	pthread_rwlock_unlock(&lock);
	*(int *)arg = sum;
	return NULL;
}

static void *writer(void *arg)
{
	pthread_rwlock_wrlock(&lock);
	names++;
	sizes++;
	pthread_rwlock_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t a, b;
	int sum = 0;

	pthread_create(&a, NULL, reader, &sum);
	pthread_create(&b, NULL, writer, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return sum != 3 && sum != 6;
}
