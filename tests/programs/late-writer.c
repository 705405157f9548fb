/*
 * bug: the writer of a readers-writer lock made of atomics looks for readers before it says that it is there
 * how: the writer finds no reader and is preempted; a reader adds itself, finds no writer, and goes in. The writer says that
 *	it is there, and changes the pair of values while the reader reads it.
 * outcome: assert
 * options:
 * args:
 * odds: 3 preemptions: the writer between its look and its store, the reader before or between its reads, the writer between
 *	its writes. Random walk: 12 steps beside each other: p >= 1/64.
 * executions: 400
 * small: no
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int readers, writer, torn;
static volatile int low, high;

static void read_lock(void)
{
	for (;;) {
		while (atomic_load(&writer))
			sched_yield();
		atomic_fetch_add(&readers, 1);
		if (!atomic_load(&writer))
			return;
		atomic_fetch_sub(&readers, 1);
	}
}

static void write_lock(void)
{
#ifdef FIXED
	atomic_store(&writer, 1);
#endif
	while (atomic_load(&readers))
		sched_yield();
#ifndef FIXED
	atomic_store(&writer, 1);
#endif
}

static void *reads(void *arg)
{
	for (int i = 0; i < 2; i++) {
		read_lock();
		if (low != high)
			atomic_store(&torn, 1);
		atomic_fetch_sub(&readers, 1);
	}
	return arg;
}

static void *writes(void *arg)
{
	write_lock();
	low = 1;
	high = 1;
	atomic_store(&writer, 0);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, reads, NULL);
	pthread_create(&threads[1], NULL, writes, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(!torn);
	return 0;
}
