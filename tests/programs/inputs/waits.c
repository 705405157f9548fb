/*
 * Every way to wait for some time, by length and until a time of day, from memory and from a constant. Each
 * takes the stated time by the program's own clocks, which agree with each other; together they take hours.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const struct timespec constant = { 7, 0 };
static struct timespec before;

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec - before.tv_sec + t.tv_nsec / 1e9;
}

static struct timespec in(clockid_t clock, time_t seconds)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_sec += seconds;
	return t;
}

static void took(const char *what, double start, double seconds)
{
	double d = now(CLOCK_REALTIME) - start;

	if (d < seconds - 0.01 || d > seconds + 0.5) {
		printf("%s took %.3f s, not %.0f\n", what, d, seconds);
		exit(1);
	}
}

#define CHECK(what, seconds, wait, want) do { \
	double start = now(CLOCK_REALTIME); \
	long got = (wait); \
	took(what, start, seconds); \
	if (got != (want)) { \
		printf("%s returned %ld\n", what, got); \
		exit(1); \
	} \
} while (0)

int main(void)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	struct epoll_event ev = { .events = EPOLLIN };
	struct timespec t, left = { 3, 0 };
	struct sembuf take = { 0, -1, 0 };
	struct timeval tv, of_day;
	struct pollfd pf = { .events = POLLIN };
	int p[2], epoll, sem_id, i;
	sigset_t usr1;
	fd_set set;
	sem_t sem;

	clock_gettime(CLOCK_REALTIME, &before);
	if (pipe(p) || (epoll = epoll_create1(0)) < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, p[0], &ev) ||
	    (sem_id = semget(IPC_PRIVATE, 1, 0600)) < 0 || sem_init(&sem, 0, 0))
		return 2;
	pf.fd = p[0];
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);

	CHECK("sleep", 10, sleep(10), 0);
	CHECK("usleep", 2, usleep(2000000), 0);
	CHECK("nanosleep of a constant", 7, nanosleep(&constant, NULL), 0);
	CHECK("nanosleep onto itself", 3, nanosleep(&left, &left), 0);
	t = in(CLOCK_MONOTONIC, 11);
	CHECK("clock_nanosleep until", 11, clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL), 0);
	CHECK("poll", 5, poll(&pf, 1, 5000), 0);
	t = (struct timespec){ 6, 0 };
	CHECK("ppoll", 6, ppoll(&pf, 1, &t, NULL), 0);
	FD_ZERO(&set);
	FD_SET(p[0], &set);
	tv = (struct timeval){ 4, 500000 };
	CHECK("select", 4.5, select(p[0] + 1, &set, NULL, NULL, &tv), 0);
	if (FD_ISSET(p[0], &set) || tv.tv_sec || tv.tv_usec)
		return 3;
	CHECK("epoll_wait", 60, epoll_wait(epoll, &ev, 1, 60000), 0);
	t = (struct timespec){ 9, 0 };
	CHECK("sigtimedwait", 9, sigtimedwait(&usr1, NULL, &t) < 0 ? errno : 0, EAGAIN);
	if (t.tv_sec != 9)
		return 3;
	CHECK("semtimedop", 9, semtimedop(sem_id, &take, 1, &t) < 0 ? errno : 0, EAGAIN);
	semctl(sem_id, 0, IPC_RMID);
	pthread_mutex_lock(&lock);
	t = in(CLOCK_REALTIME, 3600);
	CHECK("pthread_cond_timedwait", 3600, pthread_cond_timedwait(&cond, &lock, &t), ETIMEDOUT);
	t = in(CLOCK_MONOTONIC, 3600);
	CHECK("pthread_cond_clockwait", 3600, pthread_cond_clockwait(&cond, &lock, CLOCK_MONOTONIC, &t), ETIMEDOUT);
	t = in(CLOCK_REALTIME, 20);
	CHECK("sem_timedwait", 20, sem_timedwait(&sem, &t) < 0 ? errno : 0, ETIMEDOUT);
	t = in(CLOCK_REALTIME, 30);
	CHECK("pthread_mutex_timedlock", 30, pthread_mutex_timedlock(&lock, &t), ETIMEDOUT);
	CHECK("a time that is past", 0, pthread_mutex_timedlock(&lock, &t), ETIMEDOUT);
	CHECK("no time", 0, poll(&pf, 1, 0), 0);
	/* exponential back-off, up to an hour and a half */
	for (i = 0; i < 13; i++)
		CHECK("a retry", 1 << i, sleep(1 << i), 0);

	gettimeofday(&of_day, NULL);
	t = in(CLOCK_REALTIME, 0);
	if (t.tv_sec - of_day.tv_sec > 1 || t.tv_sec - time(NULL) > 1 ||
	    now(CLOCK_REALTIME) - (now(CLOCK_MONOTONIC) + before.tv_sec - 3600) > 1)
		return 4;
	/* a task that only reads the clock sees it move */
	t = in(CLOCK_MONOTONIC, 10);
	while (now(CLOCK_MONOTONIC) < t.tv_sec - before.tv_sec)
		;
	printf("waited %.0f s\n", now(CLOCK_REALTIME));
	return 0;
}
