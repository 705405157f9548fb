/*
 * bug: a mutex made of a futex forgets, when a waiter gets it, that others may still wait
 * how: 0 is free, 1 is held, 2 is held with waiters; only the release of a 2 wakes a waiter. A task
 *	that has waited must set it to 2, because others may still wait; this one sets it to 1. T1
 *	holds it and is preempted, T2 and T3 come to wait; T1 wakes T2, which sets it to 1, and
 *	wakes no task when it releases it: T3 waits for ever.
 * outcome: deadlock
 * options:
 * args:
 * odds: 1 preemption, of the holder; T2 and T3 then block. Random walk: T1 is stopped
 *	inside while the others make about three steps each: p >= 1/64.
 * executions: 500
 * small: no
 * build: -static
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int mutex, counter;

static int compare_and_swap(int old, int new)
{
	atomic_compare_exchange_strong(&mutex, &old, new);
	return old;
}

static void lock(void)
{
	int seen = compare_and_swap(0, 1);

	while (seen) {
		if (seen == 2 || compare_and_swap(1, 2))
			syscall(SYS_futex, &mutex, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
#ifdef FIXED
		seen = compare_and_swap(0, 2);
#else
		seen = compare_and_swap(0, 1);
#endif
	}
}

static void unlock(void)
{
	if (atomic_exchange(&mutex, 0) == 2)
		syscall(SYS_futex, &mutex, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *thread(void *arg)
{
	lock();
	atomic_fetch_add(&counter, 1);
	unlock();
	return arg;
}

int main(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
