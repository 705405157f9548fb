/*
 * One atomic counter that its thread alone uses, 3000 times, and one that both threads use: the first does
 * not need points. Without an argument it fails when main is the first to count both. This does not happen
 * while main has 3000 points before that, because a task that runs alone for a hundred steps loses the turn.
 * `both`: the second thread counts the first counter as often.
 * build: -O2
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static atomic_int own, both;

static __attribute__((noinline)) void count_own(void)
{
	atomic_fetch_add(&own, 1);
}

static __attribute__((noinline)) int count_both(void)
{
	return atomic_fetch_add(&both, 1);
}

static void *thread(void *arg)
{
	for (int i = 0; arg && i < 3000; i++)
		count_own();
	return (void *)(intptr_t)count_both();
}

int main(int argc, char **argv)
{
	bool both_count = argc > 1 && !strcmp(argv[1], "both");
	void *before;
	pthread_t t;

	if (pthread_create(&t, NULL, thread, both_count ? argv : NULL))
		return 2;
	for (int i = 0; i < 3000; i++)
		count_own();
	count_both();
	pthread_join(t, &before);
	return own != (both_count ? 6000 : 3000) || both != 2 || (argc == 1 && before);
}
