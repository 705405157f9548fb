/*
 * bug: two processes read a number from one file, add one, and write it back, without a file lock
 * how: P1 reads 0 and is preempted before its write; P2 reads 0 and writes 1; P1 writes 1 too. The
 *	parent waits for both and reads 1. Only system calls lie between.
 * outcome: exit 1
 * options:
 * args:
 * odds: 1 preemption. Random walk: both reads come before the first write: 1/4 once both live,
 *	both live with 1/4 or more: p >= 1/16.
 *	PCT depth 2, 3 tasks, k <= 40 points (the start of the program opens and reads too, alone):
 *	p >= 1/120.
 * executions: 700
 * small: no
 * build:
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[] = "/tmp/file-lost-update.XXXXXX";

/* The child's exit status: 0, or 2 for a failed call. */
static int add_one(void)
{
	char digit;
	int fd = open(path, O_RDWR);

	if (fd < 0)
		return 2;
#ifdef FIXED
	if (flock(fd, LOCK_EX))
		return 2;
#endif
	if (pread(fd, &digit, 1, 0) != 1)
		return 2;
	digit++;
	if (pwrite(fd, &digit, 1, 0) != 1)
		return 2;
	close(fd);
	return 0;
}

int main(void)
{
	int status, fd = mkstemp(path), failed = 0;
	char digit = '0';
	int i;

	if (fd < 0 || write(fd, &digit, 1) != 1) {
		perror(path);
		return 2;
	}
	for (i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(add_one());
		failed |= pid < 0;
	}
	while (wait(&status) > 0)
		failed |= status;
	if (pread(fd, &digit, 1, 0) != 1)
		failed = 1;
	unlink(path);
	if (failed)
		return 2;
	if (digit != '2') {
		fprintf(stderr, "two increments made %c\n", digit);
		return 1;
	}
	return 0;
}
