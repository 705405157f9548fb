/*
 * bug: two writers of a sequence lock do not exclude each other
 * how: a writer makes the sequence odd, writes both halves of the value and makes it even; readers
 *	try again when it was odd or changed. T1 is preempted between its two halves; T2 begins
 *	from the same sequence, or from an odd one, and writes both of its halves; T1 goes on with
 *	its second: the halves belong to two values under an even sequence. The twin's writers
 *	hold a mutex.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption. Random walk: T1 and T2 both write their first half before one writes its
 *	second, and end in the other order: p >= 1/16.
 * executions: 300
 * small: no
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

static atomic_uint sequence;
static atomic_int halves[2];
#ifdef FIXED
static pthread_mutex_t writers = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *writes(void *arg)
{
	int value = (int)(intptr_t)arg;
	unsigned int s;

#ifdef FIXED
	pthread_mutex_lock(&writers);
#endif
	s = atomic_load(&sequence);
	atomic_store(&sequence, s + 1);
	atomic_store(&halves[0], value);
	atomic_store(&halves[1], value);
	atomic_store(&sequence, s + 2);
#ifdef FIXED
	pthread_mutex_unlock(&writers);
#endif
	return NULL;
}

int main(void)
{
	pthread_t x, y;
	unsigned int s;
	int a, b;

	pthread_create(&x, NULL, writes, (void *)(intptr_t)1);
	pthread_create(&y, NULL, writes, (void *)(intptr_t)2);
	pthread_join(x, NULL);
	pthread_join(y, NULL);
	s = atomic_load(&sequence);
	a = atomic_load(&halves[0]);
	b = atomic_load(&halves[1]);
	if (!(s & 1) && s == atomic_load(&sequence))
		assert(a == b);
	return 0;
}
