/*
 * Uses a mutex against its rules in the way that its argument names: free (unlock a free mutex),
 * foreign (unlock a mutex that another thread holds), relock, destroy (while it is held), wait (for a condition
 * without holding the mutex), none.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void *unlocks(void *arg)
{
	pthread_mutex_unlock(&mutex);
	return arg;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "none";
	pthread_t id;

	pthread_mutex_lock(&mutex);
	if (!strcmp(how, "foreign")) {
		pthread_create(&id, NULL, unlocks, NULL);
		pthread_join(id, NULL);
		return 0;
	}
	if (!strcmp(how, "relock"))
		pthread_mutex_lock(&mutex);
	if (!strcmp(how, "destroy"))
		pthread_mutex_destroy(&mutex);
	pthread_mutex_unlock(&mutex);
	if (!strcmp(how, "free"))
		pthread_mutex_unlock(&mutex);
	if (!strcmp(how, "wait"))
		pthread_cond_wait(&condition, &mutex);
	return 0;
}
