/*
 * Takes and releases a lock as many times as the file `locks` says, which the search does not
 * control: with another number there a replay cannot follow. Then exits with status 3.
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *locks(void *arg)
{
	for (int i = 0; i < *(int *)arg; i++) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	FILE *f = fopen("locks", "r");
	pthread_t thread;
	int nr = 0;

	if (!f || fscanf(f, "%d", &nr) != 1 || pthread_create(&thread, NULL, locks, &nr))
		return 2;
	fclose(f);
	locks(&nr);
	pthread_join(thread, NULL);
	return 3;
}
