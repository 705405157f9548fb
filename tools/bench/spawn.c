// SPDX-License-Identifier: GPL-2.0-only
/*
 * spawn.c - the bare loop: fork, exec, wait
 *
 *	spawn TIMES COMMAND [ARGUMENT...]
 *
 * Prints the milliseconds of each execution, a line each. Exit status 1 when one of them failed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	long times = argc > 2 ? atol(argv[1]) : 0;
	double start;
	int status;
	pid_t pid;

	if (times < 1) {
		fprintf(stderr, "usage: spawn TIMES COMMAND [ARGUMENT...]\n");
		return 2;
	}
	for (long i = 0; i < times; i++) {
		start = now_ms();
		pid = fork();
		if (!pid) {
			/* as under zug: an emulator must translate code at other addresses anew */
			personality(ADDR_NO_RANDOMIZE);
			execv(argv[2], argv + 2);
			perror(argv[2]);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			return 1;
		printf("%.3f\n", now_ms() - start);
		fflush(stdout);
	}
	return 0;
}
