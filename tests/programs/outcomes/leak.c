/*
 * A leak sanitizer's report under some schedules: the second thread overwrites the first one's only
 * pointer, unless it checks after the first one has stored it.
 * build: -fsanitize=address
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *volatile slot;

static void *fills(void *arg)
{
	void *seen;

	pthread_mutex_lock(&lock);
	seen = slot;
	pthread_mutex_unlock(&lock);
	if (seen)
		return arg;
	pthread_mutex_lock(&lock);
	slot = malloc(32);
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, fills, NULL))
			return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	free(slot);
	slot = NULL;
	return 0;
}
