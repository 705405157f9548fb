/*
 * bug: a parent checks its SIGCHLD handler's flag, then pauses, with the signal not blocked
 * how: the parent finds the flag clear and is preempted at the write of its message; the child
 *	exits and the handler runs; the parent then pauses for a signal that has come already.
 * outcome: deadlock
 * options: --points sync,syscall
 * args:
 * odds: 1 preemption (of the parent, at its write). Random walk: the child passes its start and
 *	exit before the parent's write: p >= 1/4.
 *	PCT depth 2, 2 tasks, k <= 30 points (the start of the program is among them): p >= 1/60.
 * executions: 400
 * small: no
 * build:
 */
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t child_ended;

static void on_sigchld(int sig)
{
	(void)sig;
	child_ended = 1;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_sigchld, .sa_flags = SA_RESTART };
	static const char line[] = "waiting\n";
	sigset_t block, before;
	int status;
	pid_t pid;

	sigaction(SIGCHLD, &action, NULL);
	sigemptyset(&block);
	sigaddset(&block, SIGCHLD);
#ifdef FIXED
	sigprocmask(SIG_BLOCK, &block, &before);
#else
	sigprocmask(SIG_UNBLOCK, &block, &before);
#endif
	pid = fork();
	if (pid < 0)
		return 2;
	if (pid == 0)
		_exit(0);
	while (!child_ended) {
		if (write(1, line, sizeof(line) - 1) < 0)
			return 2;
#ifdef FIXED
		sigsuspend(&before);
#else
		pause();
#endif
	}
	return waitpid(pid, &status, 0) != pid || status != 0;
}
