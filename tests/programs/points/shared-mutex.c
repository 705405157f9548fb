/*
 * Two processes that map one file at different addresses, with a mutex and a semaphore in it: one object each, for both
 * processes. With an argument the file is System V shared memory: the first of its namespace, whose number is 0.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
	pthread_mutex_t mutex;
	sem_t sem;
};

static struct shared *map(int file, bool sysv)
{
	return sysv ? shmat(file, NULL, 0) : mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

static int use(int file, bool sysv)
{
	struct shared *s = map(file, sysv);

	if (s == MAP_FAILED)
		return 1;
	/* where the object lies is looked up in another way the first time that a process comes to a place */
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&s->mutex); /* object: A */
		pthread_mutex_unlock(&s->mutex);
		sem_post(&s->sem); /* object: B */
	}
	return 0;
}

int main(int argc, char **argv)
{
	bool sysv = argc > 1;
	int file = sysv ? shmget(IPC_PRIVATE, sizeof(struct shared), 0600) : open("shared", O_RDWR | O_CREAT | O_TRUNC, 0600);
	pthread_mutexattr_t attr;
	struct shared *s;
	int status;
	pid_t pid;

	(void)argv;
	if (file < 0 || (!sysv && ftruncate(file, sizeof(*s))))
		return 2;
	s = map(file, sysv);
	if (s == MAP_FAILED)
		return 2;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&s->mutex, &attr);
	sem_init(&s->sem, 1, 0);
	pid = fork();
	if (pid == 0)
		_exit(use(file, sysv));
	if (pid < 0 || use(file, sysv) || waitpid(pid, &status, 0) != pid)
		return 2;
	return status != 0;
}
