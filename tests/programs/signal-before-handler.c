/*
 * bug: a process installs its handler only after it has started the child that signals it
 * how: the parent forks, writes a line, and is preempted before sigaction; the child sends
 *	SIGUSR1, whose default action kills the parent.
 * outcome: signal USR1
 * options: --points sync,syscall
 * args:
 * odds: 1 preemption (of the parent, after fork). Random walk: the child passes its start and the
 *	kill before the parent passes its write: p >= 1/4.
 *	PCT depth 2, 2 tasks, k <= 30 points (the start of the program is among them): p >= 1/60.
 * executions: 400
 * small: no
 * build:
 */
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t nr_signals;

static void count(int sig)
{
	(void)sig;
	nr_signals++;
}

static void install(void)
{
	struct sigaction action = { .sa_handler = count, .sa_flags = SA_RESTART };

	sigaction(SIGUSR1, &action, NULL);
}

int main(void)
{
	static const char line[] = "child started\n";
	int status;
	pid_t pid;

#ifdef FIXED
	install();
#endif
	pid = fork();
	if (pid < 0)
		return 2;
	if (pid == 0)
		_exit(kill(getppid(), SIGUSR1) != 0);
	if (write(1, line, sizeof(line) - 1) < 0)
		return 2;
#ifndef FIXED
	install();
#endif
	if (waitpid(pid, &status, 0) != pid || status != 0)
		return 2;
	return nr_signals != 1;
}
