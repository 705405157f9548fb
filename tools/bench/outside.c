// SPDX-License-Identifier: GPL-2.0-only
/*
 * outside.c - the cost to a process outside of a test
 *
 *	outside REPEATS CALLS
 *
 * Prints, a line for each repeat, the nanoseconds of a system call and of a pthread_mutex_lock() or
 * unlock() of the machine's own C library.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	long repeats = argc == 3 ? atol(argv[1]) : 0, calls = argc == 3 ? atol(argv[2]) : 0;
	double start, call;

	if (repeats < 1 || calls < 1) {
		fprintf(stderr, "usage: outside REPEATS CALLS\n");
		return 2;
	}
	for (long r = 0; r < repeats; r++) {
		start = now_ns();
		for (long i = 0; i < calls; i++)
			syscall(SYS_getppid);
		call = (now_ns() - start) / calls;
		start = now_ns();
		for (long i = 0; i < calls; i++) {
			pthread_mutex_lock(&lock);
			pthread_mutex_unlock(&lock);
		}
		printf("%.1f %.1f\n", call, (now_ns() - start) / (2.0 * calls));
	}
	return 0;
}
