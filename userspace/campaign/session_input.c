/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the test reads from its standard input (--stdin): a pipe with the whole file in it, a new
 * one for each execution.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "campaign/session.h"

/* The input lies in the kernel's memory. */
#define MAX_INPUT (16 << 20)

static int copy(int from, int to, off_t size, const char *path, char *err, size_t errlen)
{
	char buf[65536];
	ssize_t n, put;

	while ((n = read(from, buf, sizeof(buf))) > 0)
		for (ssize_t done = 0; done < n; done += put) {
			put = write(to, buf + done, n - done);
			if (put < 0) {
				snprintf(err, errlen, "--stdin %s: %s", path, errno == EAGAIN ?
					 "it grows while it is read" : strerror(errno));
				return -EIO;
			}
			size -= put;
		}
	if (n < 0) {
		snprintf(err, errlen, "--stdin %s: %s", path, strerror(errno));
		return -EIO;
	}
	if (size > 0) {
		snprintf(err, errlen, "--stdin %s: it shrinks while it is read", path);
		return -EIO;
	}
	return 0;
}

int session_feed(struct session *s, char *err, size_t errlen)
{
	const char *path = s->o.inputs.file;
	int file, ends[2], ret = -EINVAL;
	char *full = NULL;
	struct stat st;

	if (!path)
		return 0;
	if (asprintf(&full, "%s%s%s", path[0] == '/' ? "" : s->o.command.cwd,
		     path[0] == '/' ? "" : "/", path) < 0)
		full = NULL;
	file = full ? open(full, O_RDONLY | O_CLOEXEC) : -1;
	free(full);
	if (file < 0 || fstat(file, &st)) {
		snprintf(err, errlen, "--stdin %s: %s", path, strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode) || st.st_size > MAX_INPUT) {
		snprintf(err, errlen, "--stdin %s: %s: every execution reads it anew, from memory",
			 path, S_ISREG(st.st_mode) ? "it has more than 16 MB" : "it is not a regular file");
		goto out;
	}
	if (pipe2(ends, O_CLOEXEC)) {
		ret = -errno;
		snprintf(err, errlen, "cannot make a pipe for --stdin: %s", strerror(-ret));
		goto out;
	}
	if ((st.st_size > 65536 && fcntl(ends[1], F_SETPIPE_SZ, (int)st.st_size) < 0) ||
	    fcntl(ends[1], F_SETFL, O_NONBLOCK) < 0) {
		ret = -errno;
		snprintf(err, errlen, "--stdin %s: a pipe for %ld bytes: %s", path,
			 (long)st.st_size, strerror(-ret));
	} else {
		ret = copy(file, ends[1], st.st_size, path, err, errlen);
	}
	close(ends[1]);
	if (ret) {
		close(ends[0]);
		goto out;
	}
	close(s->input_fd);
	s->input_fd = ends[0];
out:
	if (file >= 0)
		close(file);
	return ret;
}
