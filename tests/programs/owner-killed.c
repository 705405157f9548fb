/*
 * bug: a process is killed while it may hold a process-shared mutex, which is not robust
 * how: the child locks the mutex and is preempted before it unlocks it; the parent kills it,
 *	reaps it, and waits for the mutex of a dead owner for ever.
 * outcome: deadlock
 * options: --points sync,syscall
 * args:
 * odds: 1 preemption (of the child, inside the lock). Random walk: the child passes its start and
 *	the lock and not the unlock before the parent's kill: p >= 1/10.
 *	PCT depth 2, 2 tasks, k <= 30 points (the start of the program is among them): p >= 1/60.
 * executions: 400
 * small: no
 * build:
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
	pthread_mutex_t lock;
	int left, right;	/* equal whenever the lock is free */
};

static void lock(struct shared *shared)
{
#ifdef FIXED
	if (pthread_mutex_lock(&shared->lock) == EOWNERDEAD) {
		shared->right = shared->left;
		pthread_mutex_consistent(&shared->lock);
	}
#else
	pthread_mutex_lock(&shared->lock);
#endif
}

int main(void)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attr;
	int status, differ;
	pid_t pid;

	if (shared == MAP_FAILED)
		return 2;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
#ifdef FIXED
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
#endif
	pthread_mutex_init(&shared->lock, &attr);

	pid = fork();
	if (pid < 0)
		return 2;
	if (pid == 0) {
		lock(shared);
		shared->left++;
		shared->right++;
		pthread_mutex_unlock(&shared->lock);
		_exit(0);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	lock(shared);
	differ = shared->left != shared->right;
	pthread_mutex_unlock(&shared->lock);
	return differ;
}
