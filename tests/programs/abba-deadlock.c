/*
 * bug: two threads take the same two mutexes in opposite orders
 * how: T1 holds `a` and is preempted before it locks `b`; T2 locks `b` and waits for `a`; T1 goes
 *	on and waits for `b`. Main waits in pthread_join: no task can run again.
 * outcome: deadlock
 * options:
 * args:
 * odds: 1 preemption. Random walk: each worker must make its first lock before the other makes its
 *	second: 1/2 once both live, both live with 1/4 or more: p >= 1/8.
 *	PCT depth 2, 3 tasks, k <= 18 points: p >= 1/54.
 * executions: 350
 * small: yes
 * count-reasoning: main has create, create, join, join; each worker lock, lock, unlock, unlock,
 *	exit: 14 points. In the fixed twin the two workers' four points are one critical section.
 * build:
 */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static int from_a, from_b;

static void *a_then_b(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&a);
	pthread_mutex_lock(&b);
	from_a--, from_b++;
	pthread_mutex_unlock(&b);
	pthread_mutex_unlock(&a);
	return NULL;
}

static void *b_then_a(void *arg)
{
	(void)arg;
#ifdef FIXED
	pthread_mutex_lock(&a);
	pthread_mutex_lock(&b);
#else
	pthread_mutex_lock(&b);
	pthread_mutex_lock(&a);
#endif
	from_b--, from_a++;
	pthread_mutex_unlock(&a);
	pthread_mutex_unlock(&b);
	return NULL;
}

int main(void)
{
	pthread_t x, y;

	pthread_create(&x, NULL, a_then_b, NULL);
	pthread_create(&y, NULL, b_then_a, NULL);
	pthread_join(x, NULL);
	pthread_join(y, NULL);
	return from_a || from_b;
}
