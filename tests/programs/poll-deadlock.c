/*
 * bug: whether a worker answers depends on a poll() that does not wait, and the giver takes the
 *	answer for granted
 * how: the child polls its pipe; when work is there it takes it and answers; when none is there it exits its
 *	first round without an answer and waits for more work. The parent gives work once and waits for an
 *	answer. The child's poll() before the parent's write() is enough. The twin
 *	waits in poll().
 * outcome: deadlock
 * options: --points sync,syscall
 * args:
 * odds: 1 preemption, before the parent's write(). Random walk: about 1/2.
 * executions: 100
 * small: no
 * build:
 */
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef FIXED
#define WAIT	-1
#else
#define WAIT	0
#endif

static int work(int from, int to)
{
	struct pollfd p = { .fd = from, .events = POLLIN };
	char c;

	if (poll(&p, 1, WAIT) == 1)
		return read(from, &c, 1) == 1 && write(to, "a", 1) == 1 ? 0 : 2;
	/* nothing to do yet: this was the first round, in which there is no answer */
	if (read(from, &c, 1) != 1)
		return 2;
	return read(from, &c, 1) == 1 && write(to, "b", 1) == 1 ? 0 : 2;
}

int main(void)
{
	int down[2], up[2], status;
	char c;

	if (pipe(down) || pipe(up))
		return 2;
	switch (fork()) {
	case -1:
		return 2;
	case 0:
		_exit(work(down[0], up[1]));
	}
	if (write(down[1], "w", 1) != 1 || read(up[0], &c, 1) != 1)
		return 2;
	return wait(&status) < 0 || status ? 2 : 0;
}
