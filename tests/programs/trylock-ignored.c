/*
 * bug: the result of pthread_mutex_trylock decides only whether to unlock, not whether to go in
 * how: T1 is inside and preempted at the statistics' lock; T2's trylock fails, is ignored, and T2
 *	works on the same balance: one deposit is lost.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption. Random walk: T1 passes start and trylock; T2 passes both before T1 passes the
 *	statistics' lock, unlock: p >= 1/8. PCT depth 2, 3 tasks, k <= 18 points: p >= 1/54.
 * executions: 350
 * small: yes
 * count-reasoning: main has create, create, join, join; each worker trylock, lock, unlock, unlock,
 *	exit: 14 points (fixed: lock in place of trylock).
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int balance;
static int nr_deposits;

static void *deposit(void *arg)
{
	int sum, err;

#ifdef FIXED
	err = pthread_mutex_lock(&lock);
#else
	err = pthread_mutex_trylock(&lock);
#endif
	sum = balance + 10;
	pthread_mutex_lock(&stats_lock);
	nr_deposits++;
	pthread_mutex_unlock(&stats_lock);
	balance = sum;
	if (!err)
		pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, deposit, NULL);
	pthread_create(&b, NULL, deposit, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(balance == 10 * nr_deposits);
	return 0;
}
