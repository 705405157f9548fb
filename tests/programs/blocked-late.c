/*
 * bug: a process blocks the signal that it waits for only after it has started the child that sends it
 * how: the parent forks and is preempted before sigprocmask(); the child sends SIGUSR1, whose default action kills
 *	the parent.
 * outcome: signal USR1
 * options:
 * args:
 * odds: 1 preemption (of the parent, after fork). Random walk: the child passes its start and the kill before the
 *	parent passes its sigprocmask(): p >= 1/4. PCT depth 2, 2 tasks, k <= 30 points (the start of the program is
 *	among them): p >= 1/60.
 * executions: 400
 * small: no
 * build:
 */
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	int status, got;
	sigset_t set;
	pid_t pid;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
#ifdef FIXED
	sigprocmask(SIG_BLOCK, &set, NULL);
#endif
	pid = fork();
	if (pid < 0)
		return 2;
	if (pid == 0)
		_exit(kill(getppid(), SIGUSR1) != 0);
#ifndef FIXED
	sigprocmask(SIG_BLOCK, &set, NULL);
#endif
	if (sigwait(&set, &got))
		return 2;
	if (waitpid(pid, &status, 0) != pid || status != 0)
		return 2;
	return got != SIGUSR1;
}
