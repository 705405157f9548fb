/*
 * bug: two threads take numbers for a critical section (Lamport's bakery) and do not say that they choose
 * how: T1 reads that T2 has no number and is preempted before it takes its own; T2 takes the same
 *	number, waits for nobody, goes in, and is preempted; T1, which comes before T2, goes in, too.
 *	The arrays are _Atomic and used like plain ones: no word on their lines says so.
 * outcome: assert
 * options:
 * args:
 * odds: 2 preemptions, each at one of at most 2 places. Random walk: p >= 1/64. PCT depth 3, 3
 *	tasks, k <= 40 points: p >= 1/1200.
 * executions: 1200
 * small: no
 * build: -O0
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

struct shop {
	int open;
	_Atomic int number[2];
};

static _Atomic int choosing[2];
static struct shop *shop;
static _Atomic int inside;

static void enter(struct shop *s, int me)
{
	int other = !me;

#ifdef FIXED
	choosing[me] = 1;
#endif
	s->number[me] = s->number[other] + 1;
	choosing[me] = 0;
	while (choosing[other])
		sched_yield();
	while (s->number[other] && (s->number[other] < s->number[me] ||
				    (s->number[other] == s->number[me] && other < me)))
		sched_yield();
}

static void *customer(void *arg)
{
	int me = (int)(intptr_t)arg;

	enter(shop, me);
	assert(++inside == 1);
	inside--;
	shop->number[me] = 0;
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	shop = calloc(1, sizeof(*shop));
	pthread_create(&a, NULL, customer, (void *)(intptr_t)0);
	pthread_create(&b, NULL, customer, (void *)(intptr_t)1);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
