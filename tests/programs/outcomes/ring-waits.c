/*
 * Two writers pass numbers to a reader through a ring, one of them at a time. Each task that waits looks by a function, and
 * backs off for some rounds of a loop of its own before it looks again. The first executions find the loads as accesses that
 * nothing orders, and make points of them; a task that has waited there for long comes to them without a point, and where it
 * is stopped then no load of shared memory is near. It is right: no order of the tasks fails.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define ROOM 4
#define NUMBERS 8

static volatile long taken, given, ring[ROOM];
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) bool is_empty(void)
{
	return taken == given;
}

static __attribute__((noinline)) bool is_full(void)
{
	return (given + 1) % ROOM == taken;
}

static void back_off(void)
{
	for (volatile int i = 0; i < 200; i++)
		;
}

static void *writes(void *arg)
{
	for (long i = 1; i <= NUMBERS; i++) {
		pthread_mutex_lock(&writing);
		while (is_full())
			back_off();
		ring[given] = i;
		given = (given + 1) % ROOM;
		pthread_mutex_unlock(&writing);
	}
	return arg;
}

static void *reads(void *arg)
{
	int times[NUMBERS + 1] = { 0 };

	for (int i = 0; i < 2 * NUMBERS; i++) {
		long n;

		while (is_empty())
			back_off();
		n = ring[taken];
		taken = (taken + 1) % ROOM;
		assert(n > 0 && n <= NUMBERS && ++times[n] <= 2);
	}
	return arg;
}

int main(void)
{
	pthread_t reader, writer;

	pthread_create(&reader, NULL, reads, NULL);
	pthread_create(&writer, NULL, writes, NULL);
	writes(NULL);
	pthread_join(reader, NULL);
	pthread_join(writer, NULL);
	return 0;
}
