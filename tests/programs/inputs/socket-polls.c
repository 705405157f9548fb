/*
 * Waits on a network socket, which could be answered from outside; no answer comes. So zug lets the machine's time
 * pass, and the kernel's timers, which cannot be removed from poll(), run out before their time.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void *wait_all(void *arg)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct pollfd pf = { .fd = socket(AF_INET, SOCK_DGRAM, 0), .events = POLLIN };

	if (pf.fd < 0 || bind(pf.fd, (struct sockaddr *)&any, sizeof(any)))
		exit(2);
	for (int ms = 2; ms < 60; ms += 7) {
		double start = now();

		if (poll(&pf, 1, ms) != 0 || now() - start < ms / 1000.0)
			exit(1);
	}
	return arg;
}

int main(void)
{
	pthread_t other;

	if (pthread_create(&other, NULL, wait_all, NULL))
		return 2;
	wait_all(NULL);
	pthread_join(other, NULL);
	return 0;
}
