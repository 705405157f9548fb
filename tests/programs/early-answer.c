/*
 * bug: a process asks its child by a signal, and pauses until the answer comes, which may have come by then
 * how: the child answers before its parent goes on behind kill(), where the handler runs; the parent then pauses for ever.
 * outcome: deadlock
 * options:
 * args:
 * odds: 1 preemption (of the parent, behind kill()). Random walk: the child makes its few steps up to the answer
 *	first: p >= 1/16. PCT depth 2, 2 tasks, k <= 30 points: p >= 1/60.
 * executions: 400
 * small: no
 * build:
 */
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_answer(int sig)
{
	(void)sig;
}

static void answer(const sigset_t *question)
{
	int sig;

	sigwait(question, &sig);
	kill(getppid(), SIGUSR1);
	_exit(0);
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_answer };
	sigset_t question, before;
	pid_t pid;

	sigemptyset(&question);
	sigaddset(&question, SIGUSR1);
	sigprocmask(SIG_BLOCK, &question, &before);
	pid = fork();
	if (!pid)
		answer(&question);
	sigaction(SIGUSR1, &action, NULL);
#ifdef FIXED
	kill(pid, SIGUSR1);
	sigsuspend(&before);
#else
	sigprocmask(SIG_SETMASK, &before, NULL);
	kill(pid, SIGUSR1);
	pause();
#endif
	waitpid(pid, NULL, 0);
	return 0;
}
