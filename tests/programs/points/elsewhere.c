/*
 * The sources are not where they were compiled. Two threads add to a number on the heap: plainly, or (FIXED) with
 * atomic instructions only, of which the load and the store look like plain instructions.
 * build: -O2 -fdebug-prefix-map=tests=/no/such/folder
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct account {
	long number;
#ifdef FIXED
	atomic_long sum;
	long ready;
#else
	long sum;
#endif
};

#ifdef FIXED
static _Atomic long last;	/* by its type, all its accesses are atomic */
#endif

static void *add(void *arg)
{
	struct account *a = arg;

#ifdef FIXED
	__atomic_store_n(&a->ready, atomic_fetch_add(&a->sum, 1) + 1, __ATOMIC_RELEASE);
	if (__atomic_load_n(&a->ready, __ATOMIC_ACQUIRE) && last != 7)
		atomic_fetch_add(&a->sum, 1);
	atomic_store_explicit(&last, a->sum, memory_order_release);
#else
	a->sum += a->number;
#endif
	return arg;
}

int main(void)
{
	struct account *a = calloc(1, sizeof(*a));
	pthread_t threads[2];

	if (!a)
		return 2;
	a->number = 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, a);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
#ifdef FIXED
	assert(a->sum == 4);
#else
	assert(a->sum == 2);
#endif
	free(a);
	return 0;
}
