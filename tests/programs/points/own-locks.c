/*
 * Two processes of one task each, which lock what no other task can see 50 times, a recursive mutex twice in a row, and
 * write to a file that both have open in between. They set what is set for a signal. With an argument they have a handler for
 * another one, which could see what they do.
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER, counts;

static void on_signal(int sig)
{
	(void)sig;
}

static void locks(int file)
{
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&own);
		pthread_mutex_unlock(&own);
		pthread_mutex_lock(&counts);
		pthread_mutex_lock(&counts);
		pthread_mutex_unlock(&counts);
		pthread_mutex_unlock(&counts);
		if (i % 25 == 0)
			assert(write(file, "x", 1) == 1);
	}
	exit(0);
}

int main(int argc, char **argv)
{
	char name[] = "/tmp/own-locks.XXXXXX";
	int file = mkstemp(name), status;
	pthread_mutexattr_t recursive;

	(void)argv;
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&counts, &recursive);
	assert(file >= 0 && !unlink(name));
	signal(SIGUSR2, SIG_DFL);
	if (argc > 1)
		signal(SIGUSR1, on_signal);
	for (int i = 0; i < 2; i++)
		if (!fork())
			locks(file);
	while (wait(&status) > 0)
		assert(WIFEXITED(status) && !WEXITSTATUS(status));
	return 0;
}
