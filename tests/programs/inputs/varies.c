/*
 * Two threads that take one lock or the other; an input decides: `varies SOURCE [FILE]`. An execution repeats
 * if that input is the same. `varies timer`: one thread that takes a lock until a timer rings.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static pthread_mutex_t even = PTHREAD_MUTEX_INITIALIZER, odd = PTHREAD_MUTEX_INITIALIZER;
static const char *source, *file;
static int outside = -1;

static uint64_t count(void)
{
	char text[32] = "";
	uint64_t n;
	int fd = open(file, O_RDWR | O_CREAT, 0644);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		exit(2);
	n = strtoull(text, NULL, 10);
	if (pwrite(fd, text, snprintf(text, sizeof(text), "%lu\n", n + 1), 0) < 0)
		exit(2);
	close(fd);
	return n / 2;
}

static uint64_t from_outside(void)
{
	unsigned char byte;

	if (read(outside, &byte, 1) != 1)
		exit(2);
	return byte;
}

__attribute__((target("rdrnd"))) static uint64_t of_processor(void)
{
	unsigned long long v;

	while (!_rdrand64_step(&v))
		;
	return v;
}

static uint64_t input(void)
{
	struct timespec t;
	uint64_t v = 0;

	if (!strcmp(source, "time")) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		return t.tv_nsec / 1000;
	}
	if (!strcmp(source, "random"))
		return getrandom(&v, sizeof(v), 0) < 0 ? 0 : v;
	if (!strcmp(source, "address"))
		return (uintptr_t)&v >> 12;
	if (!strcmp(source, "rdtsc"))
		return __rdtsc() >> 8;
	if (!strcmp(source, "rdtscp")) {
		unsigned int cpu = 77;
		uint64_t v = __rdtscp(&cpu) >> 8;

		if (cpu > 4095)
			exit(2);
		return v;
	}
	if (!strcmp(source, "rdrand"))
		return of_processor();
	if (!strcmp(source, "file"))
		return count();
	if (!strcmp(source, "outside"))
		return from_outside();
	exit(2);
}

static void *work(void *arg)
{
	for (int i = 0; i < 4; i++) {
		pthread_mutex_t *m = input() & 1 ? &odd : &even;

		pthread_mutex_lock(m);
		pthread_mutex_unlock(m);
	}
	return arg;
}

static volatile sig_atomic_t rang;

static void ring(int sig)
{
	rang = sig;
}

/* Computes until a timer of its CPU time rings. */
static void until_timer(void)
{
	signal(SIGPROF, ring);
	setitimer(ITIMER_PROF, &(struct itimerval){ .it_value.tv_usec = 100000 }, NULL);
	while (!rang) {
		for (volatile int i = 0; i < 100000; i++)
			;
		pthread_mutex_lock(&even);
		pthread_mutex_unlock(&even);
	}
}

int main(int argc, char **argv)
{
	pthread_t other;

	source = argc > 1 ? argv[1] : "";
	file = argc > 2 ? argv[2] : "/nowhere";
	if (!strcmp(source, "timer")) {
		until_timer();
		return 0;
	}
	if (!strcmp(source, "outside") && (outside = open(file, O_RDONLY)) < 0)
		return 2;
	if (pthread_create(&other, NULL, work, NULL))
		return 2;
	work(NULL);
	pthread_join(other, NULL);
	return 0;
}
