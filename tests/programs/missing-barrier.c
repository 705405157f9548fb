/*
 * bug: two workers use each other's results of the first phase, and no barrier is between the phases
 * how: each writes its own cell, and adds that of the other to it. Where one of them has read the other's cell
 *	before that is written, its sum is too small. The twin waits at a barrier in between.
 * outcome: assert
 * options:
 * args:
 * odds: no preemption: the schedule that never preempts fails, before plain accesses are points.
 * executions: 20
 * small: no
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static int cell[2], sum[2];
#ifdef FIXED
static pthread_barrier_t written;
#endif

static void *works(void *arg)
{
	int me = arg == &cell[1];

	cell[me] = me + 1;
#ifdef FIXED
	pthread_barrier_wait(&written);
#endif
	sum[me] = cell[me] + cell[!me];
	return NULL;
}

int main(void)
{
	pthread_t one, other;

#ifdef FIXED
	pthread_barrier_init(&written, NULL, 2);
#endif
	pthread_create(&one, NULL, works, &cell[0]);
	pthread_create(&other, NULL, works, &cell[1]);
	pthread_join(one, NULL);
	pthread_join(other, NULL);
	assert(sum[0] == 3 && sum[1] == 3);
	return 0;
}
