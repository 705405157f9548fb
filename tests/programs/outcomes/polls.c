/*
 * A task polls, with naps, for what another one would do if it could have the lock that the first one holds: no deadlock,
 * for the naps end, and no livelock, for time passes. The execution does not end.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int ready;

static void *worker(void *arg)
{
	pthread_mutex_lock(&lock);
	atomic_fetch_add(&ready, 1);
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t t;

	pthread_mutex_lock(&lock);
	pthread_create(&t, NULL, worker, NULL);
	while (!atomic_load(&ready))
		usleep(1000);
	pthread_mutex_unlock(&lock);
	return pthread_join(t, NULL);
}
