/*
 * bug: a spin lock that waits with poll() and its kin, given no time, is given back between the reading and
 *	the writing of a counter
 * how: T1 reads the counter and gives the lock back; T2 takes it, adds one, and gives it back; T1 takes
 *	it again, and writes what it has read, plus one.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption, between T1's two sections, once the two threads are about. Random walk: T1 is
 *	stopped before it takes the lock again, and T2 goes through one section: p >= 1/32.
 * executions: 150
 * small: no
 *
 * A call that finds nothing and had no time to wait is a yield, whether it had a descriptor to look at or not.
 */
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

static atomic_int lock;
static int counter, ready[2], watched;

static void pass_time(unsigned int n)
{
	struct pollfd end = { .fd = ready[0], .events = POLLIN };
	struct epoll_event event;
	struct timeval none = { 0, 0 };

	switch (n % 4) {
	case 0:
		poll(NULL, 0, 0);
		break;
	case 1:
		select(0, NULL, NULL, NULL, &none);
		break;
	case 2:
		epoll_wait(watched, &event, 1, 0);
		break;
	case 3:
		poll(&end, 1, 0);
		break;
	}
}

static void take(void)
{
	for (unsigned int n = 0; atomic_exchange(&lock, 1); n++)
		pass_time(n);
}

static void give(void)
{
	atomic_store(&lock, 0);
}

static void *adds(void *arg)
{
	int seen;

	for (int i = 0; i < 2; i++) {
		take();
		seen = counter;
#ifndef FIXED
		give();
		take();
#endif
		counter = seen + 1;
		give();
	}
	return arg;
}

int main(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	pthread_t x, y;

	watched = epoll_create1(0);
	if (pipe(ready) || watched < 0 || epoll_ctl(watched, EPOLL_CTL_ADD, ready[0], &event))
		return 2;
	pthread_create(&x, NULL, adds, NULL);
	pthread_create(&y, NULL, adds, NULL);
	pthread_join(x, NULL);
	pthread_join(y, NULL);
	assert(counter == 4);
	return 0;
}
