/*
 * bug: a gate for several waiters is opened with pthread_cond_signal instead of broadcast
 * how: both waiters come before main opens the gate; the signal wakes one of them, the other waits
 *	for ever. With at most one waiter in time the test passes.
 * outcome: deadlock
 * options:
 * args:
 * odds: 1 preemption (of main, before it opens the gate). Random walk: both waiters pass start,
 *	lock and wait before main's lock: p >= 1/32.
 *	PCT depth 1, 3 tasks, main's priority below both: p >= 1/3.
 * executions: 250
 * small: yes
 * count-reasoning: main has 2 creates, lock, signal, unlock, 2 joins; each waiter lock, wait,
 *	(woken), unlock, exit: at most 17 points, most of them under the one lock.
 * build:
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static bool open_now;

static void *waiter(void *arg)
{
	pthread_mutex_lock(&lock);
	while (!open_now)
		pthread_cond_wait(&opened, &lock);
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, waiter, NULL);
	pthread_create(&b, NULL, waiter, NULL);
	pthread_mutex_lock(&lock);
	open_now = true;
#ifdef FIXED
	pthread_cond_broadcast(&opened);
#else
	pthread_cond_signal(&opened);
#endif
	pthread_mutex_unlock(&lock);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
