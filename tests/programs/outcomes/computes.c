/*
 * Computes without a point, a system call or a yield: for ever; `beside`: beside a second thread
 * that would end it; `calls`: so, in functions; `library`: a thread in a library, until another one cancels
 * it; `late`: until a second thread, which sleeps already, has slept for a second; `long`: some tenths of
 * a second, while a second thread could run; `floats`: as long, while none could, and only a floating
 * point register changes; `stack`: in two threads, as a program that is not optimised, which changes its
 * stack and no register; `adds`: adds to a variable 5200 times, or as often as a second argument says, each time in one
 * instruction, alone; exit status 3 if the sum is wrong.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int stop, late, stack;
static volatile unsigned long sum;

static void *counts(void *arg)
{
	unsigned int n = 0;

	__asm__ volatile("1: addl $1, %0\n\tcmpl $50000000, %0\n\tjb 1b" : "+m"(n) : : "cc");
	return arg;
}

static void *stops(void *arg)
{
	if (stack)
		return counts(arg);
	if (late)
		sleep(1);
	stop = 1;
	return arg;
}

static int __attribute__((noinline)) stopped(const volatile int *s)
{
	return *s;
}

static void *cancels(void *thread)
{
	pthread_cancel(*(pthread_t *)thread);
	return NULL;
}

static void *cancelled(void *arg)
{
	for (;;)
		pthread_testcancel();
	return arg;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	double x = 0;
	pthread_t thread, other;

	if (!strcmp(how, "floats")) {
		while (x < 3e7)
			x += 1;
		return x < 0;
	}
	if (!strcmp(how, "adds")) {
		unsigned long nr = argc > 2 ? strtoul(argv[2], NULL, 10) : 5200;

		for (unsigned long i = 0; i < nr; i++)
			__asm__ volatile("addq $1, %0" : "+m"(sum) : : "cc");
		return sum == nr ? 0 : 3;
	}
	if (!strcmp(how, "library"))
		return pthread_create(&thread, NULL, cancelled, NULL) || pthread_create(&other, NULL, cancels, &thread) ||
		       pthread_join(thread, NULL) || pthread_join(other, NULL);
	late = !strcmp(how, "late");
	stack = !strcmp(how, "stack");
	if (how[0] && pthread_create(&thread, NULL, stops, NULL))
		return 2;
	if (late)
		usleep(1000);
	if (stack)
		counts(NULL);
	else if (!strcmp(how, "long"))
		for (unsigned long i = 0; i < 200000000; i++)
			sum += i;
	else if (!strcmp(how, "calls"))
		while (!stopped(&stop))
			;
	else
		while (!stop)
			;
	return how[0] && pthread_join(thread, NULL);
}
