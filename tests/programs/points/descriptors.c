// Descriptors without a file: the kernel gives each the memory of the one that was closed before; they are different
// objects all the same.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

static void *round_of(void *arg)
{
	uint64_t one = 1;
	sigset_t none;
	int copy, fd = eventfd(0, 0);

	(void)arg;
	assert(write(fd, &one, sizeof(one)) == sizeof(one));
	copy = dup(fd);
	assert(fcntl(copy, F_SETFD, FD_CLOEXEC) == 0);	// op: fcntl descriptor
	assert(close(fd) == 0);		// op: close descriptor
	assert(read(copy, &one, sizeof(one)) == sizeof(one));
	assert(close(copy) == 0);	// op: close descriptor
	assert(close(epoll_create1(0)) == 0);	// op: close descriptor
	assert(close(timerfd_create(CLOCK_MONOTONIC, 0)) == 0);	// op: close descriptor
	sigemptyset(&none);
	assert(close(signalfd(-1, &none, 0)) == 0);	// op: close descriptor
	return NULL;
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		pthread_create(&thread, NULL, round_of, NULL);
		pthread_join(thread, NULL);
	}
	return 0;
}
