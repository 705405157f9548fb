/*
 * Three tasks and a lock that is a flag, which they try to take without a pause: two of them can keep the turn between them
 * while the third one has the lock.
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_flag lock = ATOMIC_FLAG_INIT;
static int n;

static void *counts(void *arg)
{
	for (int i = 0; i < 2; i++) {
		while (atomic_flag_test_and_set(&lock))
			;
		n++;
		atomic_flag_clear(&lock);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, counts, NULL))
			return 2;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return n != 6;
}
