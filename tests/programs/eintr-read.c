/*
 * bug: a reader takes every error of read() for the end, also EINTR
 * how: one read() is interrupted: the bytes after it are lost.
 * outcome: exit 1
 * options: --faults eintr
 * args:
 * odds: no preemption, 1 fault. Four of the eight reads and writes that can be interrupted are the reader's: about 1/3.
 * executions: 60
 * small: no
 * build:
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void put(int fd, char c)
{
	while (write(fd, &c, 1) < 0 && errno == EINTR)
		;
}

static ssize_t get(int fd, char *c)
{
	ssize_t n = read(fd, c, 1);

#ifdef FIXED
	while (n < 0 && errno == EINTR)
		n = read(fd, c, 1);
#endif
	return n;
}

int main(void)
{
	int fd[2], sum = 0;
	char c;

	if (pipe(fd))
		return 2;
	if (!fork()) {
		for (int i = 1; i <= 3; i++)
			put(fd[1], i);
		_exit(0);
	}
	close(fd[1]);
	while (get(fd[0], &c) > 0)
		sum += c;
	wait(NULL);
	return sum == 6 ? 0 : 1;
}
