/*
 * bug: lock order inverted between a mutex and an rwlock
 * how: T1 holds the rwlock for reading and is preempted before it locks the mutex; T2 locks the
 *	mutex and asks for the rwlock for writing; each waits for the other.
 * outcome: deadlock
 * options:
 * args:
 * odds: 1 preemption. Random walk: as abba-deadlock, p >= 1/8.
 *	PCT depth 2, 3 tasks, k <= 18 points: p >= 1/54.
 * executions: 350
 * small: yes
 * count-reasoning: main has create, create, join, join; each worker two locks, two unlocks, exit:
 *	14 points.
 * build:
 */
#include <pthread.h>
#include <stddef.h>

static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static int entries = 3, lookups, hits;

static void *lookup(void *arg)
{
	pthread_rwlock_rdlock(&table_lock);
	pthread_mutex_lock(&stats_lock);
	lookups++;
	hits += entries > 0;
	pthread_mutex_unlock(&stats_lock);
	pthread_rwlock_unlock(&table_lock);
	return arg;
}

static void *reset(void *arg)
{
#ifdef FIXED
	pthread_rwlock_wrlock(&table_lock);
	pthread_mutex_lock(&stats_lock);
#else
	pthread_mutex_lock(&stats_lock);
	pthread_rwlock_wrlock(&table_lock);
#endif
	entries = 0;
	lookups = hits = 0;
	pthread_mutex_unlock(&stats_lock);
	pthread_rwlock_unlock(&table_lock);
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, lookup, NULL);
	pthread_create(&b, NULL, reset, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return entries != 0 || lookups > 1 || hits > lookups;
}
