/*
 * bug: a transfer locks one account at a time, so an audit misses the money under way
 * how: the transfer has taken 30 from `a` and is preempted before it locks `b`; the audit, which
 *	holds both locks, adds up 170. Each access is under its lock; two locks guard one sum.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption. Random walk: the transfer passes start, lock and unlock, then the audit its
 *	start and two locks before the transfer's second lock: p >= 1/32.
 *	PCT depth 2, 3 tasks, k <= 20 points: p >= 1/60.
 * executions: 400
 * small: yes
 * count-reasoning: main has create, create, join, join; each worker two locks, two unlocks, exit:
 *	14 points.
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct account {
	pthread_mutex_t lock;
	int balance;
};

static struct account a = { PTHREAD_MUTEX_INITIALIZER, 100 };
static struct account b = { PTHREAD_MUTEX_INITIALIZER, 100 };

static void *transfer(void *arg)
{
	pthread_mutex_lock(&a.lock);
	a.balance -= 30;
#ifndef FIXED
	pthread_mutex_unlock(&a.lock);
#endif
	pthread_mutex_lock(&b.lock);
	b.balance += 30;
	pthread_mutex_unlock(&b.lock);
#ifdef FIXED
	pthread_mutex_unlock(&a.lock);
#endif
	return arg;
}

static void *audit(void *arg)
{
	int sum;

	pthread_mutex_lock(&a.lock);
	pthread_mutex_lock(&b.lock);
	sum = a.balance + b.balance;
	pthread_mutex_unlock(&b.lock);
	pthread_mutex_unlock(&a.lock);
	assert(sum == 200);
	return arg;
}

int main(void)
{
	pthread_t x, y;

	pthread_create(&x, NULL, transfer, NULL);
	pthread_create(&y, NULL, audit, NULL);
	pthread_join(x, NULL);
	pthread_join(y, NULL);
	return 0;
}
