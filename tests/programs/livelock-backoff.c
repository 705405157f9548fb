/*
 * bug: two threads back off from each other for ever
 * how: each locks its own mutex, yields, tries the other's, and on failure unlocks its own and
 *	starts again. When they take turns exactly at the yields both always find the other's
 *	mutex taken: a fair schedule in which no thread makes progress.
 * outcome: livelock
 * options: --strategy preemption
 * args:
 * odds: no preemption: every switch is at a yield. The endless schedule is the one that changes
 *	task at each yield, which a fair depth-first search forces (a random walk leaves it after
 *	a few rounds, with probability 1).
 * executions: 200
 * small: no
 * build:
 */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

static pthread_mutex_t locks[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static int done;

static void *polite(void *arg)
{
	pthread_mutex_t *mine = arg;
	pthread_mutex_t *other = mine == &locks[0] ? &locks[1] : &locks[0];

#ifdef FIXED
	mine = &locks[0];
	other = &locks[1];
#endif
	for (;;) {
		pthread_mutex_lock(mine);
		sched_yield();
		if (pthread_mutex_trylock(other) == 0)
			break;
		pthread_mutex_unlock(mine);
	}
	done++;
	pthread_mutex_unlock(other);
	pthread_mutex_unlock(mine);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, polite, &locks[0]);
	pthread_create(&b, NULL, polite, &locks[1]);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return done != 2;
}
