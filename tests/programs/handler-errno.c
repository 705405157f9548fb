/*
 * bug: a signal handler changes errno before the code that it interrupts has read it
 * how: main's open() fails with ENOENT, and main is preempted before it takes the log's lock; the
 *	worker sends it SIGUSR1; the handler's close() fails with EBADF; main reports EBADF.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption (of main, between open and lock). Random walk: the worker passes its start and
 *	comes to its kill while main has passed open and not the lock: p >= 1/10.
 *	PCT depth 2, 2 tasks, k <= 40 points: p >= 1/80.
 * executions: 500
 * small: no
 * build:
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t main_thread;

static void on_signal(int sig)
{
#ifdef FIXED
	int saved = errno;
#endif
	(void)sig;
	close(-1);
#ifdef FIXED
	errno = saved;
#endif
}

static void *worker(void *arg)
{
	pthread_kill(main_thread, SIGUSR1);
	return arg;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	pthread_t thread;
	int fd;

	main_thread = pthread_self();
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&thread, NULL, worker, NULL);
	fd = open("/nonexistent/configuration", O_RDONLY);
	if (fd < 0) {
		pthread_mutex_lock(&log_lock);
		assert(errno == ENOENT);
		pthread_mutex_unlock(&log_lock);
	}
	pthread_join(thread, NULL);
	return fd >= 0;
}
