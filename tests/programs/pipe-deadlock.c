/*
 * bug: two processes collect the tokens they need from one pipe one at a time (hold and wait)
 * how: two tokens are in the pipe and each child needs both. Each reads one and waits for the
 *	second; neither gives its own back; the parent waits for both children.
 * outcome: deadlock
 * options: --points sync,syscall
 * args:
 * odds: 1 preemption. Random walk: both first reads come before either second: 1/2 once both
 *	live, both live with 1/4 or more: p >= 1/8.
 *	PCT depth 2, 3 tasks, k <= 40 points (the start of the program is among them): p >= 1/120.
 * executions: 700
 * small: no
 * build:
 */
#include <sys/wait.h>
#include <unistd.h>

/* The child's exit status: 0, or 2 for a failed call. */
static int work(int tokens[2])
{
	char both[2];

#ifdef FIXED
	/* The tokens go in and out by twos, so that a read finds both or waits. */
	if (read(tokens[0], both, 2) != 2)
		return 2;
#else
	if (read(tokens[0], &both[0], 1) != 1 || read(tokens[0], &both[1], 1) != 1)
		return 2;
#endif
	return write(tokens[1], both, 2) == 2 ? 0 : 2;
}

int main(void)
{
	int tokens[2], status, failed = 0;
	int i;

	if (pipe(tokens) || write(tokens[1], "++", 2) != 2)
		return 2;
	for (i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(work(tokens));
		failed |= pid < 0;
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed ? 2 : 0;
}
