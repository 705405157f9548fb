// SPDX-License-Identifier: GPL-2.0-only
/*
 * points.c - the time of one point: lock and unlock of a mutex that no other thread uses
 *
 *	points FILE REPEATS PAIRS alone		the only task
 *	points FILE REPEATS PAIRS uprobe	the same, with a counting uprobe (perf) on both functions
 *	points FILE REPEATS PAIRS N		N threads at once, each with a mutex of its own
 *
 * Appends the nanoseconds of one call to FILE, a line for each repeat (standard output
 * belongs to the test when zug runs it). Exit status 0; 1 when a count is wrong.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 64

static struct {
	pthread_mutex_t lock;
	char apart[128 - sizeof(pthread_mutex_t)];
} own[MAX_THREADS];
static long pairs;

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static void *work(void *arg)
{
	pthread_mutex_t *lock = &own[(intptr_t)arg].lock;

	for (long i = 0; i < pairs; i++) {
		pthread_mutex_lock(lock);
		pthread_mutex_unlock(lock);
	}
	return NULL;
}

static void die(const char *what)
{
	fprintf(stderr, "points: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* A counter of the calls that this process makes to a function of a shared library. */
static int count_calls(void *function)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	unsigned long start, end, offset, addr = (unsigned long)function;
	char line[512], path[512] = "";
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
	int fd;

	if (!f || fscanf(f, "%u", &attr.type) != 1)
		die("the kernel has no uprobe events");
	fclose(f);
	f = fopen("/proc/self/maps", "r");
	if (!f)
		die("/proc/self/maps");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %511s", &start, &end, &offset, path) == 4 &&
		    addr >= start && addr < end)
			break;
		path[0] = 0;
	}
	fclose(f);
	if (!path[0])
		die("where the function lies");
	attr.config1 = (unsigned long)path;
	attr.config2 = addr - start + offset;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		die("perf_event_open");
	return fd;
}

static uint64_t count(int fd)
{
	uint64_t v = 0;

	if (read(fd, &v, sizeof(v)) != sizeof(v))
		die("reading a counter");
	return v;
}

int main(int argc, char **argv)
{
	long repeats = argc == 5 ? atol(argv[2]) : 0, threads = 0;
	int lock_fd = -1, unlock_fd = -1, status = 0;
	pthread_t id[MAX_THREADS];
	double start;
	FILE *f;

	pairs = argc == 5 ? atol(argv[3]) : 0;
	if (repeats < 1 || pairs < 1) {
		fprintf(stderr, "usage: points FILE REPEATS PAIRS alone|uprobe|THREADS\n");
		return 2;
	}
	if (strcmp(argv[4], "alone") && strcmp(argv[4], "uprobe"))
		threads = atol(argv[4]);
	f = fopen(argv[1], "a");
	if (!f || threads < 0 || threads > MAX_THREADS)
		die(argv[1]);
	if (!strcmp(argv[4], "uprobe")) {
		lock_fd = count_calls((void *)pthread_mutex_lock);
		unlock_fd = count_calls((void *)pthread_mutex_unlock);
	}
	for (long r = 0; r < repeats; r++) {
		start = now_ns();
		for (intptr_t i = 0; i < threads; i++)
			if (pthread_create(&id[i], NULL, work, (void *)i))
				die("thread");
		if (!threads)
			work(NULL);
		for (long i = 0; i < threads; i++)
			pthread_join(id[i], NULL);
		fprintf(f, "%.1f\n", (now_ns() - start) / (2.0 * pairs * (threads ? threads : 1)));
		fflush(f);
	}
	if (lock_fd >= 0)
		status = count(lock_fd) != (uint64_t)(repeats * pairs) ||
			 count(unlock_fd) != (uint64_t)(repeats * pairs);
	return status;
}
