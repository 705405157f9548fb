/*
 * bug: a signal handler takes a mutex that the thread it interrupts may hold
 * how: the worker holds the log's lock and is preempted before it unlocks; main sends it SIGUSR1;
 *	the handler runs in the worker at once and is about to wait for the worker's own lock.
 * outcome: misuse
 * musl: deadlock
 * options: --points sync,syscall
 * args:
 * odds: 1 preemption (of the worker, inside the lock). Random walk: the worker passes its start and
 *	the lock and not the unlock when main sends: p >= 1/10.
 *	PCT depth 2, 2 tasks, k <= 30 points (the start of the program is among them): p >= 1/60.
 * executions: 400
 * small: no
 * tsan: no, it delays signal handlers past sigwait, which the twin relies on
 * build:
 */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int nr_lines;
#ifdef FIXED
static volatile sig_atomic_t nr_wanted;
#endif

static void log_line(void)
{
	pthread_mutex_lock(&lock);
	nr_lines++;
	pthread_mutex_unlock(&lock);
}

static void on_signal(int sig)
{
	(void)sig;
#ifdef FIXED
	nr_wanted++;
#else
	log_line();
#endif
}

static void *worker(void *arg)
{
	sigset_t set;
	int sig;

	log_line();
	/* Ends when main has sent its second signal, so that the first finds the thread alive. */
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigwait(&set, &sig);
#ifdef FIXED
	while (nr_wanted > 0) {
		nr_wanted--;
		log_line();
	}
#endif
	return arg;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	pthread_t thread;
	sigset_t set;

	sigaction(SIGUSR1, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&thread, NULL, worker, NULL);
	pthread_kill(thread, SIGUSR1);
	pthread_kill(thread, SIGUSR2);
	pthread_join(thread, NULL);
	return nr_lines != 2;
}
