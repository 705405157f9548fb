/*
 * bug: a static that is initialised by who needs it first, without a lock
 * how: T1 says that it has started, finds `settings` unset, sets it and is preempted before it has
 *	filled it in; T0 has the registry's lock before T1 and makes T2, which finds `settings` set
 *	and uses a limit of 0. Where T1 is not preempted, T1's unlock, T0's lock and the making of
 *	T2 put the accesses in order.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption. Random walk: T1 must lose the turn before its second write, and not get it
 *	back while T0 makes five steps and T2 three: p >= 1/512.
 *	PCT depth 2, 3 tasks, k <= 30 points: p >= 1/90.
 * executions: 400
 * small: yes
 * count-reasoning: main has create, wait, lock, unlock, create, join, join; the first thread post,
 *	four accesses, lock, unlock, exit; the other two accesses, lock, unlock, exit: 22 points.
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

struct settings {
	int limit;
};

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static sem_t started;
static struct settings storage, *settings;
static int registered;

static struct settings *get_settings(void)
{
#ifdef FIXED
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
#endif
	if (!settings) {
		settings = &storage;
		__asm__ volatile("" ::: "memory");
		settings->limit = 7;
	}
#ifdef FIXED
	pthread_mutex_unlock(&lock);
#endif
	return settings;
}

static void do_register(void)
{
	pthread_mutex_lock(&registry);
	registered++;
	pthread_mutex_unlock(&registry);
}

static void *worker(void *arg)
{
	if (arg)
		sem_post(&started);
	assert(get_settings()->limit == 7);
	do_register();
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	sem_init(&started, 0, 0);
	pthread_create(&a, NULL, worker, &started);
	sem_wait(&started);
	do_register();
	pthread_create(&b, NULL, worker, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return registered != 3;
}
