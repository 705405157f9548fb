/* Two threads add to one number; with UNLOCK_BETWEEN an update can get lost. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *add(void *arg)
{
	int now;

	(void)arg;
	pthread_mutex_lock(&lock);
	now = sum;
#ifdef UNLOCK_BETWEEN
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
#endif
	sum = now + 1;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, add, NULL))
		return 2;
	add(NULL);
	pthread_join(t, NULL);
	printf("sum %d\n", sum);
	return sum != 2;
}
