/*
 * An address sanitizer's report under some schedules: one thread frees memory that another may still use.
 * build: -fsanitize=address
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *shared;

static void *frees(void *arg)
{
	pthread_mutex_lock(&lock);
	free(shared);
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t thread;

	shared = calloc(1, sizeof(*shared));
	if (!shared || pthread_create(&thread, NULL, frees, NULL))
		return 2;
	pthread_mutex_lock(&lock);
	printf("%d\n", *(volatile int *)shared);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	return 0;
}
