/*
 * bug: a thread detaches itself and its creator joins it
 * how: when main is already waiting in pthread_join the detach comes too late to matter and the
 *	test passes; when the thread runs first it is detached, and the join is refused (EINVAL).
 * outcome: assert
 * musl: deadlock
 * options:
 * args:
 * odds: 1 preemption (of main, before its join). Random walk: the thread passes its start and the
 *	detach before main the join: p >= 1/4. PCT depth 1, 2 tasks: p >= 1/2; depth 2, k <= 8:
 *	p >= 1/16.
 * executions: 120
 * small: yes
 * count-reasoning: main has create, join; the thread detach (not in the fixed twin), exit:
 *	4 points, and one for a join that blocks.
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static void *worker(void *arg)
{
#ifndef FIXED
	pthread_detach(pthread_self());
#endif
	*(int *)arg = 1;
	return NULL;
}

int main(void)
{
	static int done;
	pthread_t thread;
	int err;

	pthread_create(&thread, NULL, worker, &done);
	err = pthread_join(thread, NULL);
	assert(err == 0);
	return !done;
}
