/*
 * Two threads that lock where nothing was written before there are two of them: each lock has pages of zeroed data for itself.
 */
#include <pthread.h>
#include <stddef.h>

#define PAGES 16384

static struct {
	pthread_mutex_t lock;
	char rest[PAGES - sizeof(pthread_mutex_t)];
} locks[4] __attribute__((aligned(PAGES)));

static void *work(void *arg)
{
	/* the first one has what lies in the same page as other data */
	for (int i = 1; i < 3; i++) {
		pthread_mutex_lock(&locks[i].lock);
		pthread_mutex_unlock(&locks[i].lock);
	}
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	work(NULL);
	pthread_join(thread, NULL);
	return 0;
}
