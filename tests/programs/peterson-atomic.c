/*
 * bug: Peterson's lock for two threads; each thread gives the turn to itself, not to the other
 * how: each thread says that it is interested, sets the turn, and waits while the other is interested
 *	and has the turn. With the turn set to itself the last thread does not wait: T1 is in, T2
 *	comes, takes the turn and goes in. The twin gives the turn away; it is right under
 *	sequential consistency, which is all that zug explores: with weaker memory orders than
 *	the default of C11 it would need a fence, and zug would not find that it is missing.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption, of the thread inside. Random walk: T1 leaves its wait and is stopped inside
 *	while T2 makes its four steps in: p >= 1/32.
 * executions: 300
 * small: no
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static atomic_bool interested[2];
static atomic_int turn;
static atomic_int inside;

static void *thread(void *arg)
{
	int me = (int)(intptr_t)arg, other = 1 - me;

	atomic_store(&interested[me], true);
#ifdef FIXED
	atomic_store(&turn, other);
#else
	atomic_store(&turn, me);
#endif
	while (atomic_load(&interested[other]) && atomic_load(&turn) == other)
		__builtin_ia32_pause();
	assert(atomic_fetch_add(&inside, 1) == 0);
	atomic_fetch_sub(&inside, 1);
	atomic_store(&interested[me], false);
	return NULL;
}

int main(void)
{
	pthread_t x, y;

	pthread_create(&x, NULL, thread, (void *)(intptr_t)0);
	pthread_create(&y, NULL, thread, (void *)(intptr_t)1);
	pthread_join(x, NULL);
	pthread_join(y, NULL);
	return 0;
}
