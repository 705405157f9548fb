/*
 * Two processes pass a byte back and forth over two pipes: two switches a round. Prints the mean
 * time of one switch. The argument is the number of rounds, 10000 without one.
 * expect: exit 0
 * output: [0-9.]+ us a switch, [0-9]+ switches
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e6 + ts.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
	long i, nr = argc > 1 ? atol(argv[1]) : 10000;
	int there[2], back[2], status;
	double start;
	char byte = 0;
	pid_t pid;

	if (nr < 1 || pipe(there) || pipe(back))
		return 2;
	start = now_us();
	pid = fork();
	if (pid < 0)
		return 2;
	if (pid == 0) {
		for (i = 0; i < nr; i++)
			if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
				_exit(1);
		_exit(0);
	}
	for (i = 0; i < nr; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			return 1;
	if (waitpid(pid, &status, 0) != pid || status != 0)
		return 1;
	printf("%.2f us a switch, %ld switches\n", (now_us() - start) / (2.0 * nr), 2 * nr);
	return 0;
}
