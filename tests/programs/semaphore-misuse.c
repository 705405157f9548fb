/*
 * bug: a thread reads a semaphore's value, and then waits as if no other thread could take it between
 * how: one ticket is left. T1 sees the value 1 and is preempted before sem_wait; T2 sees 1 too
 *	and takes the ticket; T1 waits for a ticket that never comes.
 * outcome: deadlock
 * options:
 * args:
 * odds: 1 preemption. Random walk: both read before either takes: 1/2 once both live, both live
 *	with 1/4 or more: p >= 1/8. PCT depth 2, 3 tasks, k <= 14 points: p >= 1/42.
 * executions: 250
 * small: yes
 * count-reasoning: main has create, create, join, join; each buyer at most two semaphore calls
 *	and an exit: 10 points.
 * build:
 */
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

static sem_t tickets;

static void *buy(void *arg)
{
	int *bought = arg;
#ifdef FIXED
	*bought = sem_trywait(&tickets) == 0;
#else
	int left;

	sem_getvalue(&tickets, &left);
	if (left > 0) {
		sem_wait(&tickets);
		*bought = 1;
	}
#endif
	return NULL;
}

int main(void)
{
	int bought[2] = { 0, 0 };
	pthread_t a, b;

	sem_init(&tickets, 0, 1);
	pthread_create(&a, NULL, buy, &bought[0]);
	pthread_create(&b, NULL, buy, &bought[1]);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return bought[0] + bought[1] != 1;
}
