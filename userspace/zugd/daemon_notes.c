/* SPDX-License-Identifier: GPL-2.0-only */
/* What zugd and its workers say to each other: struct note of daemon.h, over a socket that keeps messages apart. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "zugd/daemon.h"

union fds_room {
	struct cmsghdr header;
	char room[CMSG_SPACE(NOTE_FDS * sizeof(int))];
};

int note_send(int fd, const struct note *n, const int *fds)
{
	struct iovec io = { .iov_base = (void *)n, .iov_len = sizeof(*n) };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1 };
	union fds_room c = { 0 };
	unsigned int nr = 0;
	int list[NOTE_FDS];

	for (int i = 0; fds && i < NOTE_FDS; i++)
		if (fds[i] >= 0)
			list[nr++] = fds[i];
	if (nr) {
		m.msg_control = &c;
		m.msg_controllen = CMSG_SPACE(nr * sizeof(int));
		c.header = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
					     .cmsg_len = CMSG_LEN(nr * sizeof(int)) };
		memcpy(CMSG_DATA(&c.header), list, nr * sizeof(int));
	}
	while (sendmsg(fd, &m, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

int note_receive(int fd, struct note *n, int *fds, bool wait)
{
	struct iovec io = { .iov_base = n, .iov_len = sizeof(*n) };
	union fds_room c;
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c) };
	struct cmsghdr *h;
	ssize_t got;

	for (int i = 0; i < NOTE_FDS; i++)
		fds[i] = -1;
	do {
		got = recvmsg(fd, &m, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EAGAIN ? 0 : -errno;
	h = CMSG_FIRSTHDR(&m);
	if (h && h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(h), h->cmsg_len - CMSG_LEN(0));
	return got == sizeof(*n) ? 1 : -EPIPE;
}

int note_file(const char *text)
{
	size_t len = strlen(text);
	int fd = memfd_create("zug-note", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, text, len) != (ssize_t)len) {
		close(fd);
		fd = -1;
	}
	return fd;
}

char *note_text(int fd)
{
	struct stat st;
	char *text = NULL;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && (text = malloc(st.st_size + 1))) {
		ssize_t n = pread(fd, text, st.st_size, 0);

		text[n < 0 ? 0 : n] = 0;
	}
	close(fd);
	return text;
}
