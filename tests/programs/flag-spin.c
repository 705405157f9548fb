/*
 * bug: a thread sets the flag for data before it has written the data, and another waits in a loop
 * how: the loop counts its rounds and reads a volatile flag: no call, no atomic instruction, no point, and
 *	no round is like the one before. The flag is set, the turn changes, the loop ends and the data is
 *	read before it was written. (volatile orders nothing on other processors; here it does.)
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption, between the two stores, once there are points in the loop and at the stores.
 *	Random walk: p >= 1/8.
 * executions: 300
 * small: no
 * tsan: volatile is no synchronisation to it
 * build: -O2
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static volatile int ready;
static volatile int data;
static unsigned long rounds;

static void *waits(void *arg)
{
	unsigned long n = 0;

	while (!ready)
		n++;
	rounds = n;
	assert(data == 1);
	return arg;
}

static void *writes(void *arg)
{
#ifdef FIXED
	data = 1;
	ready = 1;
#else
	ready = 1;
	data = 1;
#endif
	return arg;
}

int main(void)
{
	pthread_t x, y;

	pthread_create(&x, NULL, waits, NULL);
	pthread_create(&y, NULL, writes, NULL);
	pthread_join(x, NULL);
	pthread_join(y, NULL);
	return rounds > 1000000000000;
}
