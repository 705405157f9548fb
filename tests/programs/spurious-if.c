/*
 * bug: a worker takes the return of pthread_cond_wait() for the job that it waits for
 * how: the wait returns without a signal, as POSIX allows; the worker takes a job from an empty queue.
 * outcome: assert
 * options: --faults spurious
 * args:
 * odds: no preemption, 1 fault. The worker waits at most twice, where it comes before a job does: at least 1/4.
 * executions: 40
 * small: no
 * build:
 */
#include <assert.h>
#include <pthread.h>

#define JOBS 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static int jobs;

static void *work(void *arg)
{
	for (int i = 0; i < JOBS; i++) {
		pthread_mutex_lock(&lock);
#ifdef FIXED
		while (!jobs)
#else
		if (!jobs)
#endif
			pthread_cond_wait(&some, &lock);
		assert(jobs > 0);
		jobs--;
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

int main(void)
{
	pthread_t worker;

	pthread_create(&worker, NULL, work, NULL);
	for (int i = 0; i < JOBS; i++) {
		pthread_mutex_lock(&lock);
		jobs++;
		pthread_cond_signal(&some);
		pthread_mutex_unlock(&lock);
	}
	pthread_join(worker, NULL);
	return 0;
}
