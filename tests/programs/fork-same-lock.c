/*
 * bug: a process forks while another of its threads may hold a lock that the child then needs
 * how: main writes a line under the log's lock and forks right after that. The logger takes the lock between the two, and is
 *	preempted before it lets it go: in the child the lock is held by a thread that does not exist there. The child waits for
 *	ever, and main waits for the child.
 * outcome: deadlock
 * options:
 * args:
 * odds: 2 preemptions: main between its unlock and fork(), the logger between its lock and unlock. Random walk: the logger
 *	passes its begin and lock while main stands before fork(), which goes on then: p >= 1/32
 * executions: 400
 * small: no
 * build:
 */
#include <pthread.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int nr_lines;

static void log_line(void)
{
	pthread_mutex_lock(&log_lock);
	nr_lines++;
	pthread_mutex_unlock(&log_lock);
}

static void *logger(void *arg)
{
	log_line();
	return arg;
}

#ifdef FIXED
static void before_fork(void)
{
	pthread_mutex_lock(&log_lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&log_lock);
}
#endif

int main(void)
{
	pthread_t thread;
	int status;
	pid_t pid;

#ifdef FIXED
	pthread_atfork(before_fork, after_fork, after_fork);
#endif
	pthread_create(&thread, NULL, logger, NULL);
	log_line();
	pid = fork();
	if (!pid) {
		log_line();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	pthread_join(thread, NULL);
	return status != 0;
}
