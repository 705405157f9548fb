/*
 * bug: the handler of a timer appends to a list while the program does: one of the two entries is lost
 * how: main has read the end of the list, or linked its entry, when the handler comes: both link theirs to the same entry.
 *	There is one task only, and no data race.
 * outcome: exit 1
 * options:
 * args:
 * odds: no preemption: the timer fires early, between two accesses of main's. zug finds the accesses and makes them points
 * executions: 300
 * small: no
 * tsan: the twin's handler appends in the signal's context, which the sanitizer may delay
 * build:
 */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

struct event {
	struct event *volatile next;
};

static struct event events[8];
static volatile int nr_events;
static struct event *volatile first, *volatile last;
static volatile sig_atomic_t ticks;

static void append(void)
{
	struct event *e = &events[nr_events++];

	if (!first)
		first = e;
	else
		last->next = e;
	last = e;
}

static void on_alarm(int sig)
{
	(void)sig;
	append();
	ticks++;
}

static void add(void)
{
#ifdef FIXED
	sigset_t alarm, old;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, &old);
#endif
	append();
#ifdef FIXED
	sigprocmask(SIG_SETMASK, &old, NULL);
#endif
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	struct itimerval soon = { .it_value = { 0, 1000 } };
	sigset_t alarm, old;
	int n = 0;

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	for (int i = 0; i < 3; i++)
		add();
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, &old);
	while (!ticks)
		sigsuspend(&old);
	for (struct event *e = first; e && n < 9; e = e->next)
		n++;
	if (n != 4) {
		printf("%d of 4 events\n", n);
		return 1;
	}
	return 0;
}
