/*
 * bug: two workers use each other's results of the first phase, and no barrier is between the phases
 * how: each writes its own cell, and adds that of the next one to it. Where one of them has read the other's cell
 *	before that is written, its sum is too small. The twin waits at a barrier in between. With an
 *	argument there are three workers: two pairs have to change places.
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

static int nr = 2, cell[3], sum[3];
#ifdef FIXED
static pthread_barrier_t written;
#endif

static void *works(void *arg)
{
	int me = (int *)arg - cell;

	cell[me] = 1;
#ifdef FIXED
	pthread_barrier_wait(&written);
#endif
	sum[me] = cell[me] + cell[(me + 1) % nr];
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t worker[3];

	(void)argv;
	nr += argc > 1;
#ifdef FIXED
	pthread_barrier_init(&written, NULL, nr);
#endif
	for (int i = 0; i < nr; i++)
		pthread_create(&worker[i], NULL, works, &cell[i]);
	for (int i = 0; i < nr; i++)
		pthread_join(worker[i], NULL);
	for (int i = 0; i < nr; i++)
		assert(sum[i] == 2);
	return 0;
}
