/*
 * bug: a thread looks whether its creator is ready, ends if not, and so never sets the flag that its
 *	creator waits for after it, in a loop without any call
 * how: the thread comes first, before its creator has said that it is ready. When it has ended the
 *	creator spins on a plain variable that no task is left to change.
 * outcome: livelock
 * options:
 * args:
 * odds: 1 preemption, before the creator says that it is ready. Random walk: the thread passes its start
 *	and its look while main stands before its store: p >= 1/8.
 * executions: 100
 * small: no
 * build: -O2
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int ready;
static volatile int done;

static void *work(void *arg)
{
#ifndef FIXED
	if (!atomic_load(&ready))
		return NULL;
#endif
	done = 1;
	return arg;
}

int main(void)
{
	pthread_t worker;

	pthread_create(&worker, NULL, work, NULL);
	atomic_store(&ready, 1);
	pthread_join(worker, NULL);
	while (!done)
		;
	return 0;
}
