/*
 * bug: a loop clears the flag that its signal handler has set only after it has done the work
 * how: the handler writes to the pipe only where the flag is not set yet. A signal that comes between the loop's look
 *	at the work and its clearing of the flag finds the flag set, and writes nothing: the loop polls for ever. A task
 *	that stands before an access makes it before it handles a signal; behind one it stands where data is watched.
 * outcome: deadlock
 * options: --watch jobs
 * args:
 * odds: 3 preemptions: of main, of the sender between its signals, and of main between its two accesses. Measured: five
 *	seeds took 12, 14, 15, 59 and 93 executions.
 * executions: 600
 * small: no
 * build:
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#define NR_JOBS	2

static volatile sig_atomic_t told;
static atomic_int jobs;
static int fds[2];

static void tell(int sig)
{
	(void)sig;
	if (told)
		return;
	told = 1;
	if (write(fds[1], "x", 1) != 1)
		_exit(2);
}

static void *work(void *arg)
{
	for (int i = 0; i < NR_JOBS; i++) {
		atomic_fetch_add(&jobs, 1);
		pthread_kill(*(pthread_t *)arg, SIGUSR1);
	}
	return NULL;
}

int main(void)
{
	struct sigaction action = { .sa_handler = tell, .sa_flags = SA_RESTART };
	pthread_t self = pthread_self(), worker;
	int done = 0;
	char c;

	if (pipe(fds) || sigaction(SIGUSR1, &action, NULL) || pthread_create(&worker, NULL, work, &self))
		return 2;
	while (done < NR_JOBS) {
		struct pollfd p = { .fd = fds[0], .events = POLLIN };

		if (poll(&p, 1, -1) < 0)
			continue;
		if (read(fds[0], &c, 1) != 1)
			return 2;
#ifdef FIXED
		told = 0;
#endif
		done = atomic_load(&jobs);
#ifndef FIXED
		told = 0;
#endif
	}
	pthread_join(worker, NULL);
	return 0;
}
