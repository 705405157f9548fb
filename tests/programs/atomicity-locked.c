/*
 * bug: a balance is read in one locked section and written in another: no data race, lost update
 * how: T1 reads the balance and unlocks; T2 runs its whole deposit; T1 locks again and stores the
 *	sum it worked out from the old balance. The switch falls before T1's second lock (or its
 *	first unlock). A race detector is silent: every access is under the lock.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption. Random walk: T2's read section must start between the two sections of T1 or
 *	the other way round: 1/4 once both live, and both live with 1/4 or more: p >= 1/16.
 *	PCT depth 2, 3 tasks, k <= 18 points: p >= 1/54.
 * executions: 350
 * small: yes
 * count-reasoning: main has create, create, join, join; each buggy worker lock, unlock, lock,
 *	unlock, exit; each fixed one lock, unlock, exit: at most 15 points.
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 100;

static void *deposit(void *arg)
{
	int amount = *(int *)arg, sum;

	pthread_mutex_lock(&lock);
	sum = balance + amount;
#ifndef FIXED
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
#endif
	balance = sum;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	int ten = 10, twenty = 20;
	pthread_t a, b;

	pthread_create(&a, NULL, deposit, &ten);
	pthread_create(&b, NULL, deposit, &twenty);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(balance == 130);
	return 0;
}
