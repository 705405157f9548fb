/*
 * bug: C11 threads: the waiter clears the flag before it waits, and so erases an early notice
 * how: the notifier sets the flag and signals before the waiter has the lock; the waiter then
 *	resets the flag "for this round" and waits for a notice that has been given.
 * outcome: deadlock
 * options:
 * args:
 * odds: no preemption, one choice of order: the notifier's lock before the waiter's. Random walk:
 *	p >= 1/4. PCT depth 1, 3 tasks: p >= 1/3.
 * executions: 100
 * small: yes
 * count-reasoning: main has create, create, join, join; the waiter lock, wait, (woken), unlock,
 *	exit; the notifier lock, signal, unlock, exit: at most 14 points.
 * tsan: no, it does not know thrd_create (gcc 12)
 * build:
 */
#include <stdbool.h>
#include <stddef.h>
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static bool noticed;

static int waiter(void *arg)
{
	mtx_lock(&lock);
#ifndef FIXED
	noticed = false;
#endif
	while (!noticed)
		cnd_wait(&changed, &lock);
	mtx_unlock(&lock);
	return arg != NULL;
}

static int notifier(void *arg)
{
	mtx_lock(&lock);
	noticed = true;
	cnd_signal(&changed);
	mtx_unlock(&lock);
	return arg != NULL;
}

int main(void)
{
	thrd_t a, b;
	int failed_a, failed_b;

	mtx_init(&lock, mtx_plain);
	cnd_init(&changed);
	thrd_create(&a, waiter, NULL);
	thrd_create(&b, notifier, NULL);
	thrd_join(a, &failed_a);
	thrd_join(b, &failed_b);
	return failed_a || failed_b;
}
