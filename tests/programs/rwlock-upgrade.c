/*
 * bug: a thread that holds a read lock takes the write lock when it finds a cache empty
 * how: the filler usually comes first and the reader finds the cache full. When the reader comes
 *	first it asks for the write lock that its own read lock excludes: it waits for itself, the
 *	filler waits behind it, main joins for ever.
 * outcome: deadlock
 * options:
 * args:
 * odds: no preemption, one choice of order. Random walk: the reader's read lock before the
 *	filler's write lock: p >= 1/4. PCT depth 1, 3 tasks: p >= 1/3.
 * executions: 100
 * small: yes
 * count-reasoning: main has create, create, join, join; the filler lock, unlock, exit; the reader
 *	at most read lock, unlock, write lock, unlock, exit: at most 12 points.
 * build:
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static bool filled;
static int value;

static void *filler(void *arg)
{
	pthread_rwlock_wrlock(&lock);
	value = 42;
	filled = true;
	pthread_rwlock_unlock(&lock);
	return arg;
}

static void *reader(void *arg)
{
	pthread_rwlock_rdlock(&lock);
	if (!filled) {
#ifdef FIXED
		pthread_rwlock_unlock(&lock);
#endif
		pthread_rwlock_wrlock(&lock);
		if (!filled) {
			value = 42;
			filled = true;
		}
	}
	*(int *)arg = value;
	pthread_rwlock_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	int got;

	pthread_create(&a, NULL, filler, NULL);
	pthread_create(&b, NULL, reader, &got);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return got != 42;
}
