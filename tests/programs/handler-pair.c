/*
 * bug: a signal handler reads two words that belong together while the code that it interrupts changes them
 * how: main has stored the first of the two when the worker's signal comes, at its next instruction; the
 *	handler sees the new first and the old second. One task accesses both: that is no data race.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption (of main, between its stores). zug finds the stores and makes them points. Random
 *	walk: the worker passes its start and its kill while main stands between: p >= 1/16.
 *	PCT depth 2, 2 tasks, k <= 30 points: p >= 1/60.
 * executions: 400
 * small: no
 * build: -O2
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static volatile struct {
	int low, high;
} pair;
static pthread_t main_thread;

static void look(int sig)
{
	(void)sig;
	assert(pair.low == pair.high);
}

static void *worker(void *arg)
{
	pthread_kill(main_thread, SIGUSR1);
	return arg;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = look };
	pthread_t thread;
	sigset_t usr1;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigaction(SIGUSR1, &sa, NULL);
	main_thread = pthread_self();
	pthread_create(&thread, NULL, worker, NULL);
#ifdef FIXED
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
#endif
	pair.low = 1;
	pair.high = 1;
#ifdef FIXED
	pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
#endif
	pthread_join(thread, NULL);
	return 0;
}
