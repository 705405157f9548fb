/* Timers of every kind: alarm, setitimer, timerfd by length and until a time, POSIX timers by signal and by thread. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* Constants, in a page of their own that is not there when they are used: BPF can neither read nor write there. */
static const struct {
	struct itimerval alarm;
	struct itimerspec timer;
} constants __attribute__((aligned(4096))) = { { { 0, 0 }, { 50, 0 } }, { { 0, 0 }, { 40, 0 } } };

static volatile sig_atomic_t signals;
static volatile int called;

static void on_signal(int sig)
{
	(void)sig;
	signals++;
}

static void on_thread(union sigval v)
{
	called = v.sival_int;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void took(const char *what, double *since, double seconds)
{
	double d = now() - *since;

	if (d < seconds - 0.001 || d > seconds + 0.5) {
		printf("%s after %.3f s, not %.1f\n", what, d, seconds);
		exit(1);
	}
	*since = now();
}

static void left(const char *what, double seconds, double wanted)
{
	if (seconds < wanted - 0.5 || seconds > wanted + 0.001) {
		printf("%s says that %.3f s are left, not %.1f\n", what, seconds, wanted);
		exit(1);
	}
}

static uint64_t ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A wait until a second from now does not look shorter than that, although the clock is looked at again before it. */
static void not_short(void)
{
	uint64_t until = ns(CLOCK_REALTIME) + 1000000000, from = ns(CLOCK_MONOTONIC), to;
	struct timespec at = { until / 1000000000, until % 1000000000 };

	clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL);
	to = ns(CLOCK_MONOTONIC);
	if (to - from < 1000000000) {
		printf("a second had %llu ns\n", (unsigned long long)(to - from));
		exit(1);
	}
}

int main(void)
{
	struct itimerval now_every, every = { { 2, 0 }, { 1, 0 } }, off = { 0 };
	struct itimerspec now_spec, spec = { { 3, 0 }, { 10, 0 } }, each_second = { { 1, 0 }, { 1, 0 } };
	struct sigevent by_signal = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 5 };
	struct sigevent in_vain = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
	struct sigevent by_thread = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_thread,
				      .sigev_value.sival_int = 7 };
	struct pollfd pf = { .events = POLLIN };
	double since = now();
	sigset_t usr1;
	siginfo_t info;
	uint64_t ticks;
	timer_t timer, other;
	int fd;

	signal(SIGALRM, on_signal);
	not_short();
	if (!nanosleep(&(struct timespec){ 0, 1000000000 }, NULL))
		return 6;
	since = now();
	alarm(600);
	alarm(5);
	pause();
	took("alarm", &since, 5);
	every.it_value.tv_usec = 1000000;
	if (!setitimer(ITIMER_REAL, &every, NULL))
		return 6;
	every.it_value.tv_usec = 0;
	setitimer(ITIMER_REAL, &every, NULL);
	pause();
	took("setitimer", &since, 1);
	getitimer(ITIMER_REAL, &now_every);
	left("getitimer", now_every.it_value.tv_sec + now_every.it_value.tv_usec / 1e6, 2);
	pause();
	took("setitimer again", &since, 2);
	setitimer(ITIMER_REAL, &off, &now_every);
	left("setitimer", now_every.it_value.tv_sec + now_every.it_value.tv_usec / 1e6, 2);

	madvise((void *)&constants, 4096, MADV_DONTNEED);
	if (!setitimer(ITIMER_REAL, &constants.alarm, (struct itimerval *)1))
		return 6;
	if (constants.alarm.it_value.tv_sec != 50)
		return 7;
	setitimer(ITIMER_REAL, &constants.alarm, NULL);
	getitimer(ITIMER_REAL, &now_every);
	left("getitimer of a constant", now_every.it_value.tv_sec + now_every.it_value.tv_usec / 1e6, 50);
	pause();
	took("a constant", &since, 50);

	fd = timerfd_create(CLOCK_MONOTONIC, 0);
	spec.it_value.tv_nsec = -1;
	if (!timerfd_settime(fd, 0, &spec, NULL))
		return 6;
	spec.it_value.tv_nsec = 0;
	timerfd_settime(fd, 0, &spec, NULL);
	sleep(4);
	timerfd_gettime(fd, &now_spec);
	left("timerfd_gettime", now_spec.it_value.tv_sec + now_spec.it_value.tv_nsec / 1e9, 6);
	if (read(fd, &ticks, sizeof(ticks)) != sizeof(ticks) || ticks != 1)
		return 2;
	took("timerfd", &since, 10);
	pf.fd = fd;
	if (poll(&pf, 1, -1) != 1 || read(fd, &ticks, sizeof(ticks)) != sizeof(ticks))
		return 2;
	took("timerfd again", &since, 3);
	sleep(7);
	if (read(fd, &ticks, sizeof(ticks)) != sizeof(ticks) || ticks != 2)
		return 2;
	took("timerfd twice", &since, 7);
	close(fd);
	fd = timerfd_create(CLOCK_REALTIME, 0);
	clock_gettime(CLOCK_REALTIME, &spec.it_value);
	spec.it_value.tv_sec += 100;
	spec.it_interval.tv_sec = 0;
	timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, NULL);
	if (read(fd, &ticks, sizeof(ticks)) != sizeof(ticks))
		return 2;
	took("timerfd until", &since, 100);

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR2);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	sigdelset(&usr1, SIGUSR2);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	/* one that is pending already: it does nothing, again and again */
	timer_create(CLOCK_MONOTONIC, &in_vain, &other);
	timer_settime(other, 0, &each_second, NULL);
	spec = (struct itimerspec){ { 0, 0 }, { 40, 0 } };
	timer_create(CLOCK_MONOTONIC, &by_signal, &timer);
	timer_settime(timer, 0, &spec, NULL);
	if (sigwaitinfo(&usr1, &info) != SIGUSR1 || info.si_code != SI_TIMER || info.si_value.sival_int != 5)
		return 3;
	took("POSIX timer", &since, 40);
	timer_gettime(timer, &now_spec);
	left("timer_gettime", now_spec.it_value.tv_sec + now_spec.it_value.tv_nsec / 1e9, 0);
	timer_delete(other);
	/* one that is deleted does not fire */
	timer_settime(timer, 0, &spec, NULL);
	timer_delete(timer);
	sleep(100);
	took("sleep", &since, 100);
	if (sigpending(&usr1) || sigismember(&usr1, SIGUSR1))
		return 3;
	timer_create(CLOCK_MONOTONIC, &by_thread, &timer);
	madvise((void *)&constants, 4096, MADV_DONTNEED);
	timer_settime(timer, 0, &constants.timer, NULL);
	if (constants.timer.it_value.tv_sec != 40)
		return 7;
	while (!called)
		sleep(1);
	if (called != 7)
		return 4;
	printf("alarms %d\n", (int)signals);
	return signals == 4 ? 0 : 5;
}
