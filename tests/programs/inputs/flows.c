/*
 * What can happen to bytes and datagrams under way; the exit status, 10 and more, says what happened:
 * lost (10), overtaken (11), late (12: a datagram, 13: bytes), cut (14: written, 15: from standard input, 16: read).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char big[10000];

/* Returns the next byte, or -1 if none comes within this many milliseconds. */
static int next(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char c;

	return poll(&p, 1, ms) == 1 && read(fd, &c, 1) == 1 ? c : -1;
}

static void child(int udp, const struct sockaddr_in *to, int bytes)
{
	struct iovec v = { "2", 1 };
	struct msghdr m = { .msg_name = (void *)to, .msg_namelen = sizeof(*to), .msg_iov = &v, .msg_iovlen = 1 };

	if (sendto(udp, "1", 1, 0, (const struct sockaddr *)to, sizeof(*to)) != 1 || sendmsg(udp, &m, 0) != 1 ||
	    connect(udp, (const struct sockaddr *)to, sizeof(*to)) || write(udp, "3", 1) != 1)
		_exit(2);
	_exit(write(bytes, "ab", 2) == 2 ? 0 : 2);
}

static int datagrams(int fd)
{
	int got[3] = { 0 }, n = 0;

	while (n < 3 && (got[n] = next(fd, 1000)) > 0)
		n++;
	if (n < 3)
		return next(fd, 60000) > 0 ? 12 : 10;
	return got[0] == '1' && got[1] == '2' ? 0 : 11;
}

int main(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int udp = socket(AF_INET, SOCK_DGRAM, 0), error, pair[2], bytes[2], status;
	socklen_t len = sizeof(at);
	char ab[2], half[100];
	struct iovec parts[2] = { { half, 1 }, { half + 1, sizeof(half) - 1 } };
	struct msghdr m = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t n;

	n = read(0, half, sizeof(half));
	if (n > 0 && n < 50)
		return 15;
	if (bind(udp, (struct sockaddr *)&at, sizeof(at)) || getsockname(udp, (struct sockaddr *)&at, &len) ||
	    pipe(bytes) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 2;
	if (!fork())
		child(socket(AF_INET, SOCK_DGRAM, 0), &at, bytes[1]);
	error = datagrams(udp);
	if (!error) {
		struct pollfd p = { .fd = bytes[0], .events = POLLIN };

		error = poll(&p, 1, 1000) == 1 ? read(bytes[0], ab, 2) == 2 ? 0 : 16 : 13;
	}
	memset(big, 'x', sizeof(big));
	if (!error && write(pair[0], big, sizeof(big)) != sizeof(big))
		error = 14;
	if (!error && recvmsg(pair[1], &m, 0) != sizeof(half))
		error = 16;
	if (wait(&status) < 0 || status)
		return 3;
	return error;
}
