/*
 * The main thread exits, in a function of its own, while another thread waits for ever.
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *waits(void *arg)
{
	pthread_mutex_lock(&lock);
	return arg;
}

__attribute__((noinline)) static void give_up(int status)
{
	exit(status);
}

int main(void)
{
	pthread_t t;

	pthread_mutex_lock(&lock);
	pthread_create(&t, NULL, waits, NULL);
	give_up(3);
	return 0;
}
