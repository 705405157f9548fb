/*
 * Two threads work until the first one has slept for a tenth of a second, as in a test under load: at locks, or (with an
 * argument) in a loop without a point.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int stop;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sum[2];
static int computes;

static void *works(void *arg)
{
	volatile unsigned long *n = arg;

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		if (computes) {
			++*n;
			continue;
		}
		pthread_mutex_lock(&lock);
		++*n;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	(void)argv;
	computes = argc > 1;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, works, (void *)&sum[i]))
			return 2;
	usleep(100000);
	stop = 1;
	for (int i = 0; i < 2; i++)
		if (pthread_join(threads[i], NULL))
			return 2;
	return 0;
}
