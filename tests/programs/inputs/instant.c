/*
 * Two threads in every wait that is over before it begins: of no length, or until a time that is past.
 * Whether the kernel blocks for such a wait is its timer's affair, and nothing of the test may depend on it.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const struct timespec constant;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static int word, set, epoll, pipe_fds[2];
static atomic_int waits;

static void sleeps(void)
{
	struct timespec zero = { 0 }, now;

	sleep(0);
	atomic_fetch_add(&waits, 1);
	usleep(0);
	atomic_fetch_add(&waits, 1);
	nanosleep(&constant, NULL);
	atomic_fetch_add(&waits, 1);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &zero, NULL);
	atomic_fetch_add(&waits, 1);
	clock_gettime(CLOCK_MONOTONIC, &now);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &now, NULL);
	atomic_fetch_add(&waits, 1);
}

static void timed_out(void)
{
	struct timespec zero = { 0 }, past = { 1, 0 };
	struct sembuf down = { 0, -1, 0 };

	syscall(SYS_futex, &word, FUTEX_WAIT, 0, &constant, NULL, 0);
	atomic_fetch_add(&waits, 1);
	syscall(SYS_futex, &word, FUTEX_WAIT, 0, &zero, NULL, 0);
	atomic_fetch_add(&waits, 1);
	semtimedop(set, &down, 1, &constant);
	atomic_fetch_add(&waits, 1);
	sem_timedwait(&sem, &past);
	atomic_fetch_add(&waits, 1);
	pthread_mutex_timedlock(&held, &past);
	atomic_fetch_add(&waits, 1);
	pthread_mutex_lock(&lock);
	pthread_cond_timedwait(&cond, &lock, &past);
	pthread_mutex_unlock(&lock);
}

static void looks(void)
{
	struct pollfd fd = { pipe_fds[0], POLLIN, 0 };
	struct epoll_event event;
	struct timeval tv = { 0 };
	sigset_t signals;
	fd_set read_set;

	poll(&fd, 1, 0);
	ppoll(&fd, 1, &constant, NULL);
	FD_ZERO(&read_set);
	FD_SET(pipe_fds[0], &read_set);
	select(pipe_fds[0] + 1, &read_set, NULL, NULL, &tv);
	epoll_wait(epoll, &event, 1, 0);
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigtimedwait(&signals, NULL, &constant);
	atomic_fetch_add(&waits, 1);
}

static void *all(void *arg)
{
	for (int i = 0; i < 2; i++) {
		sleeps();
		timed_out();
		looks();
	}
	return arg;
}

int main(void)
{
	pthread_t a, b;

	epoll = epoll_create1(0);
	set = semget(IPC_PRIVATE, 1, 0600);
	if (pipe(pipe_fds) || epoll < 0 || set < 0 || sem_init(&sem, 0, 0))
		return 2;
	pthread_mutex_lock(&held);
	pthread_create(&a, NULL, all, NULL);
	pthread_create(&b, NULL, all, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	semctl(set, 0, IPC_RMID);
	return 0;
}
