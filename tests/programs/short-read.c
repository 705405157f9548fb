/*
 * bug: one read() is taken to bring a whole message
 * how: it brings only the first bytes, as it may from a pipe or a connection: the rest is taken for the next message.
 * outcome: exit 1
 * options: --flows short-read
 * args:
 * odds: no preemption, 1 flow at one of three reads, each as 1, 8 or 15 of 16 bytes: about 2/3.
 * executions: 60
 * small: no
 * build:
 */
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct message {
	long amount;
	long check;	/* the same */
};

static int receive(int fd, struct message *m)
{
#ifdef FIXED
	size_t done = 0;
	ssize_t n;

	for (; done < sizeof(*m); done += n) {
		n = read(fd, (char *)m + done, sizeof(*m) - done);
		if (n <= 0)
			break;
	}
	return done == sizeof(*m);
#else
	return read(fd, m, sizeof(*m)) > 0;
#endif
}

int main(void)
{
	struct message m = { 0, 0 };
	long sum = 0;
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return 2;
	pid = fork();
	if (pid < 0)
		return 2;
	if (!pid) {
		for (long i = 1; i <= 3; i++) {
			m.amount = m.check = 0x0101010101010101 * i;
			if (send(fds[1], &m, sizeof(m), MSG_NOSIGNAL) != sizeof(m))
				_exit(2);
		}
		_exit(0);
	}
	close(fds[1]);
	while (receive(fds[0], &m)) {
		if (m.amount != m.check)
			return 1;
		sum += m.amount;
	}
	waitpid(pid, NULL, 0);
	return sum == 0x0101010101010101 * 6 ? 0 : 1;
}
