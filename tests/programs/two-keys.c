/*
 * bug: two threads each create the key of their thread-specific data when they find none
 * how: T2 finds no key and is preempted before it creates one; T1 creates one and keeps its data
 *	under it; T2's key takes the place of T1's; T1 does not find its data again.
 * outcome: assert
 * options:
 * args:
 * odds: 2 preemptions: T2 between its look and the creation, T1 between its two uses of the key.
 *	Random walk over at most 12 steps of each: p >= 1/40. PCT depth 3, 3 tasks, k <= 30
 *	points: p >= 1/90 for each of the many places of the second.
 * executions: 540
 * small: no
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;
#ifdef FIXED
static pthread_once_t once = PTHREAD_ONCE_INIT;
#else
static volatile int have_key;
#endif

static void make_key(void)
{
	pthread_key_create(&key, free);
}

static int *mine(void)
{
	int *p;

#ifdef FIXED
	pthread_once(&once, make_key);
#else
	if (!have_key) {
		make_key();
		have_key = 1;
	}
#endif
	p = pthread_getspecific(key);
	if (!p) {
		p = calloc(1, sizeof(*p));
		pthread_setspecific(key, p);
	}
	return p;
}

static void *worker(void *arg)
{
	*mine() = 1;
	assert(*mine() == 1);
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
