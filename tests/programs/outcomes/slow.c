/*
 * A deadlock of two mutexes, beside threads that have nothing to do with it, in a program that
 * computes for a while first: slow MILLIONS-OF-ROUNDS.
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t others = PTHREAD_MUTEX_INITIALIZER;

static void *other(void *arg)
{
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&others);
		pthread_mutex_unlock(&others);
	}
	return arg;
}

static void *both(void *arg)
{
	pthread_mutex_t *first = arg, *second = arg == &a ? &b : &a;

	pthread_mutex_lock(first);
	pthread_mutex_lock(second);
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
	return NULL;
}

int main(int argc, char **argv)
{
	volatile unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) * 1000000 : 0;
	pthread_t t[4];

	while (rounds)
		rounds--;
	pthread_create(&t[0], NULL, other, NULL);
	pthread_create(&t[1], NULL, other, NULL);
	pthread_create(&t[2], NULL, both, &a);
	pthread_create(&t[3], NULL, both, &b);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
