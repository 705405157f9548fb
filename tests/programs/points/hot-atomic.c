/*
 * One atomic counter that its thread alone uses, 3000 times, and one that both threads use: the first is
 * not worth its points.
 * build: -O2
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int own, both;

static __attribute__((noinline)) void count_own(void)
{
	atomic_fetch_add(&own, 1);
}

static __attribute__((noinline)) void count_both(void)
{
	atomic_fetch_add(&both, 1);
}

static void *thread(void *arg)
{
	count_both();
	return arg;
}

int main(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, thread, NULL))
		return 2;
	for (int i = 0; i < 3000; i++)
		count_own();
	count_both();
	pthread_join(t, NULL);
	return own != 3000 || both != 2;
}
