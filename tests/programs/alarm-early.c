/*
 * bug: a handler of SIGALRM takes for granted that the work which it finds half done has not begun
 * how: the alarm comes while main is between the two halves. They take less than a second, so this happens only
 *	on a machine that is slow.
 * outcome: assert
 * options:
 * args:
 * odds: no preemption, one timer that fires early, at one of the 3 points between the halves of about 10: p >= 1/8.
 * executions: 100
 * small: no
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t half_done;

static void on_alarm(int sig)
{
	(void)sig;
	assert(!half_done);
}

static void do_half(int now)
{
	pthread_mutex_lock(&lock);
	half_done = now;
	pthread_mutex_unlock(&lock);
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigaction(SIGALRM, &sa, NULL);
	alarm(1);
#ifdef FIXED
	pthread_sigmask(SIG_BLOCK, &set, NULL);
#endif
	do_half(1);
	do_half(0);
#ifdef FIXED
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
#endif
	return 0;
}
