/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/cache_file.h"
#include "lib/base/new_file.h"

static int make_folder(char *path)
{
	int ret = 0;

	for (char *p = path + 1; *p && (!ret || ret == -EEXIST); p++) {
		if (*p != '/')
			continue;
		*p = 0;
		ret = new_folder(path, 0700);
		*p = '/';
	}
	return ret == -EEXIST ? 0 : ret;
}

static int cache_path(char *path, size_t len, const char *name)
{
	const char *base = getenv("XDG_CACHE_HOME"), *under = "";
	int n;

	/* an XDG folder that is not absolute is to be ignored */
	if (!base || base[0] != '/') {
		base = getenv("HOME");
		under = "/.cache";
	}
	if (!base || base[0] != '/')
		return -ENOENT;
	n = snprintf(path, len, "%s%s/zugzwang/%s", base, under, name);
	return n < 0 || (size_t)n >= len ? -ENAMETOOLONG : 0;
}

int cache_file_open(const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	int fd, ret = cache_path(path, sizeof(path), name);

	if (ret)
		return ret;
	/* without waiting: it may be a FIFO */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !new_file_trusts(st.st_uid)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

bool cache_file_read(int fd, void *buf, size_t n)
{
	char *p = buf;

	while (n) {
		ssize_t got = read(fd, p, n);

		if (got <= 0)
			return false;
		p += got;
		n -= got;
	}
	return true;
}

static bool write_all(int fd, const void *buf, size_t n)
{
	const char *p = buf;

	while (n) {
		ssize_t done = write(fd, p, n);

		if (done <= 0)
			return false;
		p += done;
		n -= done;
	}
	return true;
}

void cache_file_put(const char *name, const struct iovec *pieces, int nr)
{
	char path[PATH_MAX], temporary[PATH_MAX + 16];
	bool ok = true;
	int fd;

	if (cache_path(path, sizeof(path), name) || make_folder(path))
		return;
	snprintf(temporary, sizeof(temporary), "%s.%d", path, getpid());
	fd = new_file(temporary, 0600);
	if (fd < 0)
		return;
	for (int i = 0; ok && i < nr; i++)
		ok = write_all(fd, pieces[i].iov_base, pieces[i].iov_len);
	if (close(fd) || !ok || new_file_rename(temporary, path))
		new_file_unlink(temporary);
}
