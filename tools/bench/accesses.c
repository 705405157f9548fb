// SPDX-License-Identifier: GPL-2.0-only
/*
 * accesses.c - the time of one access of a kind that zug can stop before, by the only task
 *
 *	accesses FILE REPEATS COUNT atomic	a LOCK-prefixed increment
 *	accesses FILE REPEATS COUNT plain	an increment without LOCK, of another variable
 *	accesses FILE REPEATS COUNT load	a load of a third one
 *	accesses FILE REPEATS COUNT file	pread() of one byte of this program
 *
 * Appends the nanoseconds of one access to FILE, a line for each repeat.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_long shared;
static long counter;
static volatile long seen;

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static void count_atomic(long count)
{
	for (long i = 0; i < count; i++)
		atomic_fetch_add(&shared, 1);
}

/* The barrier keeps the increments from becoming one. */
static void count_plain(long count)
{
	for (long i = 0; i < count; i++) {
		counter++;
		__asm__ volatile("" ::: "memory");
	}
}

static void count_load(long count)
{
	for (long i = 0; i < count; i++)
		(void)seen;
}

static void count_file(long count)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	char c;

	for (long i = 0; i < count; i++)
		if (pread(fd, &c, 1, 0) != 1)
			exit(2);
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*count)(long count);
	} kinds[] = { { "atomic", count_atomic }, { "plain", count_plain }, { "load", count_load },
		     { "file", count_file } };
	long repeats = argc == 5 ? atol(argv[2]) : 0, count = argc == 5 ? atol(argv[3]) : 0;
	FILE *f = argc == 5 ? fopen(argv[1], "a") : NULL;
	size_t k = 0;

	while (argc == 5 && k < sizeof(kinds) / sizeof(kinds[0]) && strcmp(kinds[k].name, argv[4]))
		k++;
	if (repeats < 1 || count < 1 || !f || k == sizeof(kinds) / sizeof(kinds[0])) {
		fprintf(stderr, "usage: accesses FILE REPEATS COUNT atomic|plain|load|file\n");
		return 2;
	}
	for (long r = 0; r < repeats; r++) {
		double start = now_ns();

		kinds[k].count(count);
		fprintf(f, "%.1f\n", (now_ns() - start) / count);
		fflush(f);
	}
	return 0;
}
