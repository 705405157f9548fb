/*
 * bug: a server is told to end once it has answered, and writes down what it has answered only after that
 * how: the server is preempted between its answer and the write to the file; the client has its answer, and ends the
 *	server with SIGTERM, whose default action kills it.
 * outcome: exit 1
 * options:
 * args:
 * odds: 1 preemption (of the server, between the answer and the write). Random walk: the client passes its read and
 *	the kill before the server passes open() and write(): p >= 1/8. PCT depth 2, 2 tasks, k <= 40 points (the
 *	start of the program is among them): p >= 1/80.
 * executions: 500
 * small: no
 * build:
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void serve(int fd)
{
	int file;

#ifndef FIXED
	if (write(fd, "a", 1) != 1)
		_exit(2);
#endif
	file = open("state", O_CREAT | O_WRONLY | O_TRUNC, 0600);
	if (file < 0 || write(file, "answered\n", 9) != 9)
		_exit(2);
	close(file);
#ifdef FIXED
	if (write(fd, "a", 1) != 1)
		_exit(2);
#endif
	for (;;)
		pause();
}

int main(void)
{
	struct stat state;
	int fds[2], status;
	pid_t pid;
	char c;

	if (pipe(fds))
		return 2;
	pid = fork();
	if (pid < 0)
		return 2;
	if (pid == 0)
		serve(fds[1]);
	if (read(fds[0], &c, 1) != 1 || kill(pid, SIGTERM) || waitpid(pid, &status, 0) != pid)
		return 2;
	return stat("state", &state) || state.st_size != 9;
}
