/*
 * A program with a start that computes for long while another thread stands still, and passes points meanwhile: it locks
 * and unlocks a lock of its own. When both have started they call serve(). With "waits" the first thread waits instead, in
 * a loop without a point that counts its turns, until the other one has started; with "looks" in one that counts nothing.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* One round has to take longer than --spin. */
static int rounds, work;
static const char *how = "";
static unsigned long table[8] = { 3, 5, 7, 11, 13, 17, 19, 23 }, results[2];
static pthread_mutex_t served = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t ready;
static int started, turns, requests;

/* A load of shared memory now and then, close to the loop that takes the time. */
static unsigned long __attribute__((noinline)) compute(unsigned long x)
{
	for (int i = 0; i < 8; i++) {
		x ^= table[i];
		for (int j = 0; j < work; j++)
			x = x * 6364136223846793005ul + 1442695040888963407ul;
	}
	return x;
}

static void start(int n)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

	for (int i = 0; i < (n ? 1 : rounds); i++) {
		pthread_mutex_lock(&own);
		results[n] = compute(results[n] + n);
		pthread_mutex_unlock(&own);
	}
	started = 1;
}

static void __attribute__((noinline)) wait_for_start(void)
{
	if (!strcmp(how, "looks"))
		while (!*(volatile int *)&started)
			;
	else
		while (!*(volatile int *)&started)
			*(volatile int *)&turns += 1;
}

static void __attribute__((noinline)) serve(void)
{
	pthread_mutex_lock(&served);
	requests++;
	pthread_mutex_unlock(&served);
}

static void *first(void *arg)
{
	if (*how)
		wait_for_start();
	else
		start(0);
	pthread_barrier_wait(&ready);
	serve();
	return arg;
}

static void *second(void *arg)
{
	start(1);
	pthread_barrier_wait(&ready);
	serve();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	rounds = argc > 1 ? atoi(argv[1]) : 0;
	work = argc > 2 ? atoi(argv[2]) : 0;
	if (argc > 3)
		how = argv[3];
	pthread_barrier_init(&ready, NULL, 2);
	pthread_create(&threads[0], NULL, first, NULL);
	pthread_create(&threads[1], NULL, second, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return requests != 2;
}
