/*
 * Computes without a point, a system call or a yield: for ever; `beside`: beside a second thread
 * that would end it; `late`: until a second thread, which sleeps already, has slept for a second;
 * `long`: some tenths of a second, while a second thread could run; `floats`: as long, while none
 * could, and only a floating point register changes.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static volatile int stop, late;
static volatile unsigned long sum;

static void *stops(void *arg)
{
	if (late)
		sleep(1);
	stop = 1;
	return arg;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	double x = 0;
	pthread_t thread;

	if (!strcmp(how, "floats")) {
		while (x < 3e7)
			x += 1;
		return x < 0;
	}
	late = !strcmp(how, "late");
	if (how[0] && pthread_create(&thread, NULL, stops, NULL))
		return 2;
	if (late)
		usleep(1000);
	if (!strcmp(how, "long"))
		for (unsigned long i = 0; i < 200000000; i++)
			sum += i;
	else
		while (!stop)
			;
	return how[0] && pthread_join(thread, NULL);
}
