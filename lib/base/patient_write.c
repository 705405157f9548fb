/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "lib/base/clock.h"
#include "lib/base/patient_write.h"

#define LOOK_MS 200

/* As much as goes at once: a pipe that poll() calls writable takes PIPE_BUF bytes without waiting. */
static ssize_t write_some(int fd, const char *p, size_t len)
{
	ssize_t n = send(fd, p, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	return n < 0 && errno == ENOTSOCK ? write(fd, p, len < PIPE_BUF ? len : PIPE_BUF) : n;
}

int patient_write(int fd, const void *bytes, size_t len, uint64_t patience_ns, const volatile sig_atomic_t *stop)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	uint64_t since = clock_now_ns();
	const char *at = bytes;
	ssize_t n;

	while (len) {
		if (poll(&p, 1, LOOK_MS) > 0) {
			n = write_some(fd, at, len);
			if (n < 0 && errno != EINTR && errno != EAGAIN)
				return -errno;
			if (n > 0) {
				at += n;
				len -= n;
				since = clock_now_ns();
				continue;
			}
		}
		if (stop && *stop)
			return -EINTR;
		if (clock_now_ns() - since > patience_ns)
			return -ETIMEDOUT;
	}
	return 0;
}
