/*
 * bug: a handler of SIGCHLD reaps every child, also the one whose status its parent is about to wait for
 * how: the child ends before its parent goes on behind fork(), where the handler comes: waitpid() finds no child.
 * outcome: exit 1
 * options:
 * args:
 * odds: 1 preemption (of the parent, behind fork()). Random walk: the child passes its start and its end
 *	first: p >= 1/4. PCT depth 2, 2 tasks, k <= 30 points: p >= 1/60.
 * executions: 400
 * small: no
 * build:
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_sigchld(int sig)
{
	int saved = errno;

	(void)sig;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	errno = saved;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_sigchld, .sa_flags = SA_RESTART };
	int status;
	pid_t pid, ended;
#ifdef FIXED
	sigset_t block, before;

	sigemptyset(&block);
	sigaddset(&block, SIGCHLD);
	sigprocmask(SIG_BLOCK, &block, &before);
#endif
	sigaction(SIGCHLD, &action, NULL);
	pid = fork();
	if (!pid)
		_exit(3);
	do
		ended = waitpid(pid, &status, 0);
	while (ended < 0 && errno == EINTR);
#ifdef FIXED
	sigprocmask(SIG_SETMASK, &before, NULL);
#endif
	return ended != pid || WEXITSTATUS(status) != 3;
}
