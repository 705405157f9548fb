/*
 * bug: a process looks whether a file is there, and then watches the folder for it; what is made in between it never sees
 * how: the parent sees no file and is preempted before inotify_add_watch(); the child makes the file. The parent
 *	then waits for the folder to change, for ever.
 * outcome: deadlock
 * options:
 * args:
 * odds: 1 preemption (of the parent, between access() and inotify_add_watch()). Random walk: the child passes its start
 *	and open() between these two: p >= 1/8. PCT depth 2, 2 tasks, k <= 30 points (the start of the program is among
 *	them): p >= 1/60.
 * executions: 400
 * small: no
 * build:
 */
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	char events[4096];
	int status, fd = inotify_init1(IN_CLOEXEC);
	pid_t pid;

#ifdef FIXED
	if (inotify_add_watch(fd, ".", IN_CREATE) < 0)
		return 2;
#endif
	pid = fork();
	if (fd < 0 || pid < 0)
		return 2;
	if (pid == 0) {
		int file = open("ready", O_CREAT | O_WRONLY, 0600);

		_exit(file < 0);
	}
	if (access("ready", F_OK)) {
#ifndef FIXED
		if (inotify_add_watch(fd, ".", IN_CREATE) < 0)
			return 2;
#endif
		if (read(fd, events, sizeof(events)) <= 0)
			return 2;
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		return 2;
	return access("ready", F_OK) != 0;
}
