/*
 * bug: a request that is not answered in time is sent again, and then done twice
 * how: the request, or its answer, takes more than a second. The server does not recognise the second copy.
 * outcome: exit 1
 * options: --flows delay
 * args:
 * odds: no preemption, 1 flow: the request or its answer is 10 s late, not 10 ms: about 1/3.
 * executions: 60
 * small: no
 * build:
 */
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct request {
	int number, amount;
};

static int whole(int fd, void *to, size_t len)
{
	ssize_t n;

	for (size_t done = 0; done < len; done += n) {
		n = read(fd, (char *)to + done, len - done);
		if (n <= 0)
			return 0;
	}
	return 1;
}

static int whole_sent(int fd, const void *from, size_t len)
{
	ssize_t n;

	for (size_t done = 0; done < len; done += n) {
		n = send(fd, (const char *)from + done, len - done, MSG_NOSIGNAL);
		if (n <= 0)
			return 0;
	}
	return 1;
}

/* Its exit status is the sum. */
static void server(int fd)
{
	int sum = 0, last = 0;
	struct request r;

	while (whole(fd, &r, sizeof(r))) {
#ifdef FIXED
		if (r.number != last)
			sum += r.amount;
#else
		sum += r.amount;
#endif
		last = r.number;
		/* a client that has its answer may have ended */
		whole_sent(fd, &last, sizeof(last));
	}
	_exit(sum);
}

int main(void)
{
	struct request r = { .number = 1, .amount = 7 };
	int pair[2], answer, status;
	struct pollfd p = { .events = POLLIN };
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || (pid = fork()) < 0)
		return 2;
	if (!pid) {
		close(pair[0]);
		server(pair[1]);
	}
	close(pair[1]);
	p.fd = pair[0];
	do {
		if (!whole_sent(pair[0], &r, sizeof(r)))
			return 2;
	} while (poll(&p, 1, 1000) != 1);
	if (!whole(pair[0], &answer, sizeof(answer)) || answer != r.number)
		return 2;
	close(pair[0]);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 2;
	return WEXITSTATUS(status) == r.amount ? 0 : 1;
}
