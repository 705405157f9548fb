/*
 * bug: two threads take two semaphores of one System V set in opposite orders
 * how: T1 has taken semaphore 0 and is preempted before it takes semaphore 1; T2 takes that, and asks for semaphore 0; each
 *	waits for the other.
 * outcome: deadlock
 * options:
 * args:
 * odds: 1 preemption. Random walk: as abba-deadlock, p >= 1/8. PCT depth 2, 3 tasks, k <= 18 points: p >= 1/54.
 * executions: 350
 * small: yes
 * count-reasoning: main has two calls to set the values, create, create, join, join, and one to remove the set; each worker
 *	four calls and an exit: 17 points.
 * build:
 */
#include <pthread.h>
#include <stddef.h>
#include <sys/ipc.h>
#include <sys/sem.h>

static void add(int set, int semaphore, int n)
{
	struct sembuf op = { .sem_num = semaphore, .sem_op = n };

	semop(set, &op, 1);
}

static void use_both(int set, int first, int second)
{
	add(set, first, -1);
	add(set, second, -1);
	add(set, second, 1);
	add(set, first, 1);
}

static void *forward(void *arg)
{
	use_both(*(const int *)arg, 0, 1);
	return NULL;
}

static void *backward(void *arg)
{
#ifdef FIXED
	use_both(*(const int *)arg, 0, 1);
#else
	use_both(*(const int *)arg, 1, 0);
#endif
	return NULL;
}

int main(void)
{
	int set = semget(IPC_PRIVATE, 2, 0600);
	pthread_t a, b;

	if (set < 0)
		return 2;
	semctl(set, 0, SETVAL, 1);
	semctl(set, 1, SETVAL, 1);
	pthread_create(&a, NULL, forward, &set);
	pthread_create(&b, NULL, backward, &set);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return semctl(set, 0, IPC_RMID);
}
