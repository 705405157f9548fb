/*
 * A static program of musl without symbols: zug can find none of its primitives.
 * build: CC=musl-gcc -static -s
 */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *locks(void *arg)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, locks, NULL))
		return 2;
	locks(NULL);
	return pthread_join(thread, NULL);
}
