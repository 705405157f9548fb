/*
 * Two threads in every wait whose time-out the kernel keeps, in a register or a constant, and that is so short that its timer
 * may be faster than the task. Whether it is depends on the machine, and nothing of the test may depend on it.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const struct timespec ns = { 0, 1 }, us = { 0, 1000 }, ms = { 0, 1000000 };
static int epoll, sems, word;
static atomic_int waits;
static struct {
	int fd[2];
} pipes[2];

static void expect(const char *what, long got, long want)
{
	if (got != want) {
		printf("%s returned %ld\n", what, got);
		exit(1);
	}
	atomic_fetch_add(&waits, 1);
}

static void all_waits(int fd)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };
	struct sembuf down = { 0, -1, 0 };
	struct epoll_event event;
	sigset_t usr1;
	fd_set set;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	for (const struct timespec *t = &ns; t; t = t == &ns ? &us : t == &us ? &ms : NULL) {
		expect("nanosleep", syscall(SYS_nanosleep, t, NULL), 0);
		expect("clock_nanosleep", syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, t, NULL), 0);
		expect("ppoll", syscall(SYS_ppoll, &one, 1, t, NULL, 8), 0);
		FD_ZERO(&set);
		FD_SET(fd, &set);
		expect("pselect6", syscall(SYS_pselect6, fd + 1, &set, NULL, NULL, t, NULL), 0);
		expect("pselect6's set", FD_ISSET(fd, &set), 0);
		expect("epoll_pwait2", syscall(SYS_epoll_pwait2, epoll, &event, 1, t, NULL, 8), 0);
		expect("futex", syscall(SYS_futex, &word, FUTEX_WAIT, 0, t, NULL, 0), -1);
		expect("rt_sigtimedwait", syscall(SYS_rt_sigtimedwait, &usr1, NULL, t, 8), -1);
		expect("semtimedop", semtimedop(sems, &down, 1, t), -1);
	}
	for (int i = 0; i < 3; i++) {
		expect("poll", poll(&one, 1, 1), 0);
		expect("epoll_wait", epoll_wait(epoll, &event, 1, 1), 0);
	}
}

/* What comes while a wait goes on is found, also when the wait was begun again. */
static void *writes(void *arg)
{
	atomic_fetch_add(&waits, 1);
	if (write(pipes[1].fd[1], "x", 1) != 1)
		exit(2);
	return arg;
}

static void finds(void)
{
	static const struct timespec hour = { 3600, 0 };
	int fd = pipes[1].fd[0];
	pthread_t t;
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	pthread_create(&t, NULL, writes, NULL);
	expect("pselect6 of a pipe", syscall(SYS_pselect6, fd + 1, &set, NULL, NULL, &hour, NULL), 1);
	expect("its set", FD_ISSET(fd, &set), 1);
	pthread_join(t, NULL);
}

/* The time passes for a task that looks at its clock, however often the other's timer runs out meanwhile. */
static void *looks(void *arg)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		atomic_fetch_add(&waits, 1);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000000ll + now.tv_nsec - begin.tv_nsec < 10000000);
	return arg;
}

static void *both(void *arg)
{
	all_waits(pipes[0].fd[0]);
	return arg;
}

int main(void)
{
	struct epoll_event in = { .events = EPOLLIN };
	pthread_t t;
	sigset_t usr1;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	if (pipe(pipes[0].fd) || pipe(pipes[1].fd) || (epoll = epoll_create1(0)) < 0 ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, pipes[0].fd[0], &in) || (sems = semget(IPC_PRIVATE, 1, 0600)) < 0)
		return 2;
	pthread_create(&t, NULL, both, NULL);
	all_waits(pipes[0].fd[0]);
	pthread_join(t, NULL);
	finds();
	pthread_create(&t, NULL, looks, NULL);
	for (int i = 0; i < 4; i++)
		expect("a poll of nothing", poll(NULL, 0, 2), 0);
	pthread_join(t, NULL);
	printf("%d waits\n", waits);
	return 0;
}
