/*
 * bug: the waiter reads the flag before it takes the lock, so the signal can fall in the gap
 * how: the waiter reads `ready` as false and is preempted before pthread_mutex_lock (or before
 *	pthread_cond_wait, for the signaller does not take the lock); the signaller sets the flag
 *	and signals a condition without a waiter; the waiter then waits for ever, and main joins
 *	for ever.
 * outcome: deadlock
 * options:
 * args:
 * odds: 1 preemption. Random walk: the waiter starts (1/2), then the signaller's one point before
 *	the signal is passed before the waiter's wait: p >= 1/8.
 *	PCT depth 2, 3 tasks, k <= 14 points: p >= 1/42.
 * executions: 300
 * small: yes
 * count-reasoning: main has create, create, join, join; the waiter lock, wait, (woken), unlock,
 *	exit; the signaller signal, exit, with lock and unlock when fixed: at most 14 points.
 * build:
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static atomic_bool ready;

static void *waiter(void *arg)
{
	(void)arg;
#ifdef FIXED
	pthread_mutex_lock(&lock);
	while (!ready)
		pthread_cond_wait(&cond, &lock);
	pthread_mutex_unlock(&lock);
#else
	if (!ready) {
		pthread_mutex_lock(&lock);
		pthread_cond_wait(&cond, &lock);
		pthread_mutex_unlock(&lock);
	}
#endif
	return NULL;
}

static void *signaller(void *arg)
{
	(void)arg;
#ifdef FIXED
	pthread_mutex_lock(&lock);
	ready = true;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&lock);
#else
	ready = true;
	pthread_cond_signal(&cond);
#endif
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, waiter, NULL);
	pthread_create(&b, NULL, signaller, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
