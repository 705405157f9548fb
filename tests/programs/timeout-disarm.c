/*
 * bug: a request's time-out fires between the worker's check that it is still wanted and its answer
 * how: the worker sees `cancelled` false and is preempted at the statistics; the client's time-out
 *	expires, it cancels the request and gives the buffer back; the worker writes into it.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption. Random walk: the client waits before the worker is past its check (1/2 or
 *	more), its time-out expires at one of two points (1/4 or more) and it does its two steps
 *	before the worker's next two (1/4): p >= 1/32.
 * executions: 400
 * small: no
 * build:
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, statistics = PTHREAD_MUTEX_INITIALIZER;
static sem_t answered;
static bool cancelled, given_back;
static int buffer, nr_answers;

static void *worker(void *arg)
{
	bool wanted;

	pthread_mutex_lock(&lock);
	wanted = !cancelled;
#ifndef FIXED
	pthread_mutex_unlock(&lock);
#endif
	pthread_mutex_lock(&statistics);
	nr_answers += wanted;
	pthread_mutex_unlock(&statistics);
	if (wanted) {
		assert(!given_back);
		buffer = 42;
		sem_post(&answered);
	}
#ifdef FIXED
	pthread_mutex_unlock(&lock);
#endif
	return arg;
}

int main(void)
{
	struct timespec end;
	pthread_t thread;

	sem_init(&answered, 0, 0);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 30;
	pthread_create(&thread, NULL, worker, NULL);
	if (sem_timedwait(&answered, &end) && errno == ETIMEDOUT) {
		pthread_mutex_lock(&lock);
		cancelled = true;
		given_back = true;
		pthread_mutex_unlock(&lock);
	}
	pthread_join(thread, NULL);
	return 0;
}
