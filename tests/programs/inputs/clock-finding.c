/* Fails, and prints the time and how long it took, so that the outputs of replays can be compared. */
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	struct timespec mono, real;
	struct timeval tv;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	usleep(1500);
	clock_gettime(CLOCK_REALTIME, &real);
	gettimeofday(&tv, NULL);
	printf("%ld.%09ld %ld.%09ld %ld.%06ld %ld\n", (long)mono.tv_sec, mono.tv_nsec, (long)real.tv_sec, real.tv_nsec,
	       (long)tv.tv_sec, (long)tv.tv_usec, (long)time(NULL));
	return 1;
}
