/*
 * Waits that a signal may end, each for a child that comes a little later; the exit status, 10 and more, names the
 * interrupted wait. Every other wait must have its result.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POLL = 10, SELECT, EPOLL, SLEEP, SEM, SEM_TIMED, FUTEX, SEMOP, MSGRCV, WAIT };

static int to_child[2], from_child[2], queue, set;
static sem_t posted;
static uint32_t word;

/* One byte for each wait: the task that reads it makes the wait end. */
static void *ends_waits(void *arg)
{
	struct { long type; char text; } message = { 1, 0 };
	char what;

	while (read(to_child[0], &what, 1) == 1)
		switch (what) {
		case POLL: case SELECT: case EPOLL:
			if (write(from_child[1], "", 1) != 1)
				_exit(2);
			break;
		case SEM: case SEM_TIMED:
			sem_post(&posted);
			break;
		case FUTEX:
			__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
			syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
			break;
		case SEMOP:
			semop(set, &(struct sembuf){ 0, 1, 0 }, 1);
			break;
		case MSGRCV:
			msgsnd(queue, &message, 1, 0);
			break;
		}
	return arg;
}

static void begin(char what)
{
	if (write(to_child[1], &what, 1) != 1)
		_exit(3);
}

/* how: the result of the call; status: the call. */
static void judge(long how, int status)
{
	if (how < 0)
		_exit(errno == EINTR ? status : 100 + errno);
}

static void drain(void)
{
	char c;

	if (read(from_child[0], &c, 1) != 1)
		_exit(5);
}

int main(void)
{
	struct { long type; char text; } message;
	struct epoll_event event = { .events = EPOLLIN };
	struct timespec later;
	struct pollfd p;
	pthread_t other;
	fd_set fds;
	pid_t child;
	int ep;

	queue = msgget(IPC_PRIVATE, 0600);
	set = semget(IPC_PRIVATE, 1, 0600);
	ep = epoll_create1(0);
	if (queue < 0 || set < 0 || ep < 0 || pipe(to_child) || pipe(from_child))
		return 6;
	event.data.fd = from_child[0];
	epoll_ctl(ep, EPOLL_CTL_ADD, from_child[0], &event);
	sem_init(&posted, 0, 0);
	pthread_create(&other, NULL, ends_waits, NULL);

	p = (struct pollfd){ .fd = from_child[0], .events = POLLIN };
	begin(POLL);
	judge(poll(&p, 1, 10000), POLL);
	drain();
	FD_ZERO(&fds);
	FD_SET(from_child[0], &fds);
	begin(SELECT);
	judge(select(from_child[0] + 1, &fds, NULL, NULL, NULL), SELECT);
	drain();
	begin(EPOLL);
	judge(epoll_wait(ep, &event, 1, -1), EPOLL);
	drain();
	judge(nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL), SLEEP);
	begin(SEM);
	judge(sem_wait(&posted), SEM);
	clock_gettime(CLOCK_REALTIME, &later);
	later.tv_sec += 100;
	begin(SEM_TIMED);
	judge(sem_timedwait(&posted, &later), SEM_TIMED);
	begin(FUTEX);
	while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
		if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0) && errno != EAGAIN)
			_exit(errno == EINTR ? FUTEX : 4);
	begin(SEMOP);
	judge(semop(set, &(struct sembuf){ 0, -1, 0 }, 1), SEMOP);
	begin(MSGRCV);
	judge(msgrcv(queue, &message, 1, 0, 0), MSGRCV);
	child = fork();
	if (!child)
		_exit(0);
	judge(waitpid(child, NULL, 0), WAIT);
	msgctl(queue, IPC_RMID, NULL);
	semctl(set, 0, IPC_RMID);
	close(to_child[1]);
	pthread_join(other, NULL);
	return 0;
}
