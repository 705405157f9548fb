/*
 * bug: two threads add to a counter without a lock; one increment is lost
 * how: T1 loads `counter` (0), T2 loads it too (0) and stores 1, T1 stores its own 0 + 1. The
 *	switch has to fall between the load and the store of one increment, where the program
 *	makes no call: only a watchpoint on the variable stops there (it stops after the access,
 *	so the point after the load is the one). `volatile` keeps load and store separate
 *	instructions, as at -O0 or with anything but a plain `addl $1,mem`.
 * outcome: assert
 * options: --watch counter
 * args:
 * odds: 1 preemption. Random walk: the two loads must both come before the first store; with both
 *	threads live that is 1/2 or more, and both are live with 1/4 or more: p >= 1/8.
 *	PCT depth 2, 3 tasks, k <= 16 points: p >= 1/48.
 * executions: 300
 * small: yes
 * count-reasoning: main has create, create, join, join and one watched load; each worker has a
 *	watched load and a watched store, and its exit: about 12 points.
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

volatile int counter;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *worker(void *arg)
{
	(void)arg;
#ifdef FIXED
	pthread_mutex_lock(&lock);
#endif
	counter = counter + 1;
#ifdef FIXED
	pthread_mutex_unlock(&lock);
#endif
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(counter == 2);
	return 0;
}
