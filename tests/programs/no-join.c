/*
 * bug: two workers count without a lock, in a program whose main ends without waiting for them
 * how: T0 is preempted before it ends; T1 reads the counter and is preempted; T2 reads and writes
 *	it; T1 writes: the last of them finds a count too few.
 * outcome: assert
 * musl: none (main's exit() locks stderr for good, so the assertion's message is never written)
 * options:
 * args:
 * odds: 2 preemptions. Random walk: T0 must not have the turn while T1 and T2 make eight steps
 *	(1/2 to 2/3 each), and T1 must lose it between two steps: p >= 1/512.
 *	PCT depth 3, 3 tasks, k <= 14 points: p >= 1/(3 * 14^2).
 * executions: 1000
 * small: yes
 * count-reasoning: main has create, create, exit; each worker begin, read, write, add, read, exit:
 *	15 points.
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static int total;
static atomic_int done;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *worker(void *arg)
{
	int seen;

#ifdef FIXED
	pthread_mutex_lock(&lock);
#endif
	seen = total;
	total = seen + 1;
#ifdef FIXED
	pthread_mutex_unlock(&lock);
#endif
	if (atomic_fetch_add(&done, 1) == 1)
		assert(total == 2);
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, NULL);
	return 0;
}
