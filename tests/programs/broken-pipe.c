/*
 * bug: a writer takes for granted that the reader of its pipe stays until the second line
 * how: the parent has written the first line and is preempted before the second; the child reads
 *	the one line it wants and exits; the second write raises SIGPIPE, which kills the parent.
 * outcome: signal PIPE
 * options: --points sync,syscall
 * args:
 * odds: 1 preemption (of the parent, between its writes). Random walk: the child passes its start,
 *	read and exit before the parent's second write: p >= 1/16.
 *	PCT depth 2, 2 tasks, k <= 30 points (the start of the program is among them): p >= 1/60.
 * executions: 400
 * small: no
 * build:
 */
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	int fds[2], status;
	char line[6];
	pid_t pid;

	if (pipe(fds))
		return 2;
	pid = fork();
	if (pid < 0)
		return 2;
	if (pid == 0) {
		close(fds[1]);
		if (read(fds[0], line, sizeof(line)) != sizeof(line))
			_exit(2);
#ifdef FIXED
		while (read(fds[0], line, sizeof(line)) > 0)
			;
#endif
		_exit(0);
	}
	close(fds[0]);
	if (write(fds[1], "first\n", 6) != 6 || write(fds[1], "other\n", 6) != 6)
		return 2;
	close(fds[1]);
	return waitpid(pid, &status, 0) != pid || status != 0;
}
