/*
 * Two processes that map one file at different addresses, each with a mutex and a semaphore in it:
 * one object each, for both processes.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
	pthread_mutex_t mutex;
	sem_t sem;
};

static int use(int fd)
{
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (s == MAP_FAILED)
		return 1;
	pthread_mutex_lock(&s->mutex); /* object: A */
	pthread_mutex_unlock(&s->mutex);
	sem_post(&s->sem); /* object: B */
	return 0;
}

int main(void)
{
	int fd = open("shared", O_RDWR | O_CREAT | O_TRUNC, 0600), status;
	pthread_mutexattr_t attr;
	struct shared *s;
	pid_t pid;

	if (fd < 0 || ftruncate(fd, sizeof(*s)))
		return 2;
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (s == MAP_FAILED)
		return 2;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&s->mutex, &attr);
	sem_init(&s->sem, 1, 0);
	pid = fork();
	if (pid == 0)
		_exit(use(fd));
	if (pid < 0 || use(fd) || waitpid(pid, &status, 0) != pid)
		return 2;
	return status != 0;
}
