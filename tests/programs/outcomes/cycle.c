/*
 * Two threads wait for each other's lock while a third lives on: it exchanges bytes with itself
 * over a pipe until the two have ended. A lock cycle, although one task can still run.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static atomic_int through;

static void *a_then_b(void *arg)
{
	pthread_mutex_lock(&a);
	pthread_mutex_lock(&b);
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	through++;
	return arg;
}

static void *b_then_a(void *arg)
{
	pthread_mutex_lock(&b);
	pthread_mutex_lock(&a);
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	through++;
	return arg;
}

int main(void)
{
	pthread_t threads[2];
	int fds[2];
	char byte = 0;

	if (pipe(fds) || pthread_create(&threads[0], NULL, a_then_b, NULL) ||
	    pthread_create(&threads[1], NULL, b_then_a, NULL))
		return 2;
	while (through < 2) {
		if (write(fds[1], &byte, 1) != 1 || read(fds[0], &byte, 1) != 1)
			return 2;
		pthread_mutex_lock(&own);
		pthread_mutex_unlock(&own);
		usleep(1000);
	}
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
