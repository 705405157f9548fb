/*
 * Computes without a point, a system call or a yield: for ever; `beside`: beside a second thread
 * that would end it; `long`: some tenths of a second, while a second thread could run.
 */
#include <pthread.h>
#include <string.h>

static volatile int stop;
static volatile unsigned long sum;

static void *stops(void *arg)
{
	stop = 1;
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1 && pthread_create(&thread, NULL, stops, NULL))
		return 2;
	if (argc > 1 && !strcmp(argv[1], "long"))
		for (unsigned long i = 0; i < 200000000; i++)
			sum += i;
	else
		while (!stop)
			;
	return argc > 1 && pthread_join(thread, NULL);
}
