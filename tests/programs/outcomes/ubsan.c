/*
 * A report of the undefined behaviour sanitizer under some schedules, with exit status 0: a number
 * overflows when the second thread adds to it before the first one has taken from it.
 * build: -fsanitize=undefined
 */
#include <limits.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int number = INT_MAX - 1;

static void *takes(void *arg)
{
	pthread_mutex_lock(&lock);
	number = number - 2;
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, takes, NULL))
		return 2;
	pthread_mutex_lock(&lock);
	number = number + 2;
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	return 0;
}
