/*
 * Waits for another thread in a loop that looks at the clock, and gives up after a minute. A loop like that waits for the
 * other one, and not for the time: nothing is wrong while that one could run.
 */
#include <pthread.h>
#include <time.h>

static volatile int ready;

static void *prepares(void *arg)
{
	ready = 1;
	return arg;
}

int main(void)
{
	struct timespec begin, now;
	pthread_t thread;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (pthread_create(&thread, NULL, prepares, NULL))
		return 2;
	while (!ready) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - begin.tv_sec > 60)
			return 3;
	}
	return pthread_join(thread, NULL);
}
