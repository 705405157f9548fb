/*
 * bug: a process forks while another of its threads may hold a lock that the child then needs
 * how: the logger holds the log's lock and is preempted before it unlocks; main takes and leaves
 *	its own lock and forks; in the child the log's lock is held by a thread that does not
 *	exist there, and the child waits for ever, and main waits for the child.
 * outcome: deadlock
 * options:
 * args:
 * odds: 1 preemption (of the logger, inside the lock). Random walk: the logger passes its start and
 *	lock, main two points before the logger's unlock: p >= 1/16.
 *	PCT depth 2, 3 tasks, k <= 16 points: p >= 1/48.
 * executions: 300
 * small: yes
 * count-reasoning: main has create, lock, unlock, fork, wait, join; the logger lock, unlock, exit;
 *	the child lock, unlock, exit: 12 points. The twin's main takes the log's lock around fork.
 * build:
 */
#include <pthread.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t job_lock = PTHREAD_MUTEX_INITIALIZER;
static int nr_lines, nr_jobs;

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
	pthread_mutex_lock(&job_lock);
	nr_jobs++;
	pthread_mutex_unlock(&job_lock);
	pid = fork();
	if (pid < 0)
		return 2;
	if (pid == 0) {
		log_line();
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		return 2;
	pthread_join(thread, NULL);
	return nr_lines != 1;
}
