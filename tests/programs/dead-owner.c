/*
 * bug: a process is killed in the middle of a transfer between two accounts in shared memory; who gets its robust mutex
 *	says that all is consistent, and repairs nothing
 * how: the child takes from one account and is killed before it adds to the other; the parent locks the mutex of the dead
 *	owner, and finds that money is missing.
 * outcome: exit 1
 * options:
 * args:
 * odds: 1 preemption (of the child, between two writes under the lock). They become points where the first executions have
 *	seen a process killed that writes what another one reads. Random walk: the child passes its start, the lock and the
 *	first write, and not the second before the parent's kill: p >= 1/64.
 * executions: 400
 * small: no
 * build:
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct bank {
	pthread_mutex_t lock;
	/* 100 together; apart, so that no compiler writes both at once */
	int from;
	char name[8];
	int to;
};

static void lock(struct bank *bank)
{
	if (pthread_mutex_lock(&bank->lock) != EOWNERDEAD)
		return;
#ifdef FIXED
	bank->to = 100 - bank->from;
#endif
	pthread_mutex_consistent(&bank->lock);
}

static void transfer(struct bank *bank, int sum)
{
	lock(bank);
	bank->from -= sum;
	bank->to += sum;
	pthread_mutex_unlock(&bank->lock);
}

int main(void)
{
	struct bank *bank = mmap(NULL, sizeof(*bank), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attr;
	pid_t child;
	int sum;

	if (bank == MAP_FAILED)
		return 2;
	bank->from = 100;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&bank->lock, &attr);
	child = fork();
	if (child < 0)
		return 2;
	if (child == 0) {
		transfer(bank, 10);
		transfer(bank, 20);
		_exit(0);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	lock(bank);
	sum = bank->from + bank->to;
	pthread_mutex_unlock(&bank->lock);
	if (sum != 100) {
		fprintf(stderr, "%d are left of 100\n", sum);
		return 1;
	}
	return 0;
}
