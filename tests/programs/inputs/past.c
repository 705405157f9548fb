/*
 * Waits until times that are past, which lie in memory that cannot be written, while another thread can
 * run: each wait is over at once, and says so.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

static const struct timespec past = { 1, 0 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t empty;

static void *waits(void *arg)
{
	int nr = 0;

	for (int i = 0; i < 3; i++) {
		nr += sem_timedwait(&empty, &past) == -1 && errno == ETIMEDOUT;
		pthread_mutex_lock(&mutex);
		nr += pthread_cond_timedwait(&cond, &mutex, &past) == ETIMEDOUT;
		pthread_mutex_unlock(&mutex);
		nr += !clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &past, NULL);
		nr += !clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &past, NULL);
	}
	return nr == 12 ? arg : "some wait was not over";
}

int main(void)
{
	pthread_t x, y;
	void *wrong[2];

	sem_init(&empty, 0, 0);
	pthread_create(&x, NULL, waits, NULL);
	pthread_create(&y, NULL, waits, NULL);
	pthread_join(x, &wrong[0]);
	pthread_join(y, &wrong[1]);
	for (int i = 0; i < 2; i++)
		if (wrong[i])
			puts(wrong[i]);
	return wrong[0] || wrong[1];
}
