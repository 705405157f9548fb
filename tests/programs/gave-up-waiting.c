/*
 * bug: main stops waiting for an answer after a second, and uses the buffer again into which it will be written
 * how: the worker takes more than a second for it, as on a machine that is slow. FIXED: an answer says what it
 *	answers, and an old one is dropped.
 * outcome: assert
 * options:
 * args:
 * odds: no preemption, one time-out that ends early, in a third of the executions: p >= 1/6 in these.
 * executions: 60
 * small: no
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t asked, answered;
static int question, answer, answers_to;

static void *work(void *arg)
{
	int q;

	for (int i = 0; i < 2; i++) {
		sem_wait(&asked);
		pthread_mutex_lock(&lock);
		q = question;
		pthread_mutex_unlock(&lock);
		pthread_mutex_lock(&lock);
		answer = 10 * q;
		answers_to = q;
		pthread_mutex_unlock(&lock);
		sem_post(&answered);
	}
	return arg;
}

/* -1: no answer in time. */
static int ask(int q)
{
	struct timespec until;
	int a = -1;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	pthread_mutex_lock(&lock);
	question = q;
	pthread_mutex_unlock(&lock);
	sem_post(&asked);
	while (a == -1 && !sem_timedwait(&answered, &until)) {
		pthread_mutex_lock(&lock);
#ifdef FIXED
		if (answers_to == q)
#endif
			a = answer;
		pthread_mutex_unlock(&lock);
	}
	return a;
}

int main(void)
{
	pthread_t t;
	int a;

	/* a watchdog: that it could end the test early is no bug */
	alarm(10);
	sem_init(&asked, 0, 0);
	sem_init(&answered, 0, 0);
	pthread_create(&t, NULL, work, NULL);
	ask(1);
	a = ask(2);
	assert(a == -1 || a == 20);
	pthread_join(t, NULL);
	return 0;
}
