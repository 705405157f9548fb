/* Computes for ever without a point, a system call or a yield; with an argument beside a second thread that would end it. */
#include <pthread.h>

static volatile int stop;

static void *stops(void *arg)
{
	stop = 1;
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	(void)argv;
	if (argc > 1 && pthread_create(&thread, NULL, stops, NULL))
		return 2;
	while (!stop)
		;
	return 0;
}
