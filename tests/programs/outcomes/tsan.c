/*
 * A thread sanitizer's report: a race on a variable in every schedule.
 * build: -fsanitize=thread
 */
#include <pthread.h>

static volatile int racy;

static void *adds(void *arg)
{
	racy = racy + 1;
	return arg;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, adds, NULL))
		return 2;
	racy = racy + 1;
	pthread_join(thread, NULL);
	return 0;
}
