// SPDX-License-Identifier: GPL-2.0-only
/*
 * show_trace - for tools/bench-show
 *
 *	show_trace make FILE STEPS      writes a trace of twelve busy tasks
 *	show_trace run COMMAND...       executes it without its output; prints seconds, MB, bytes of output
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tests/unit/sample_trace.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int run(char **argv)
{
	static char buf[1 << 20];
	unsigned long long bytes = 0;
	double start = now();
	struct rusage used;
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	if (pipe(fds) || (pid = fork()) < 0)
		return 1;
	if (!pid) {
		dup2(fds[1], 1);
		close(fds[0]);
		close(fds[1]);
		execv(argv[0], argv);
		_exit(127);
	}
	close(fds[1]);
	while ((n = read(fds[0], buf, sizeof(buf))) > 0)
		bytes += n;
	if (wait4(pid, &status, 0, &used) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		return 1;
	printf("%.2f %.0f %llu\n", now() - start, used.ru_maxrss / 1024.0, bytes);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "make")) {
		sample_busy(argv[2], "/nonexistent", atoi(argv[3]));
		return 0;
	}
	return argc > 2 && !strcmp(argv[1], "run") ? run(argv + 2) : 2;
}
