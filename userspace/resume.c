/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of an interrupted search (--resume FILE): which task has which number, and what the
 * search has written of itself. Written next to the file and renamed over it, so that there is
 * always a whole one.
 *
 *	"zugstate" version(u32) nr(u32) { parent(u32) nth(u32) } * nr  length(u64) search  crc32(u32)
 *
 * all little-endian, the checksum over everything before it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "campaign_internal.h"

#define MAGIC "zugstate"
#define VERSION 1

struct head {
	char magic[8];
	uint32_t version, nr;
};

int campaign_save_state(struct campaign *c)
{
	const char *path = c->o.resume;
	struct head h = { .magic = MAGIC, .version = VERSION, .nr = c->spawn.nr };
	size_t paths = h.nr * sizeof(*c->spawn.paths), total, at;
	long len = search_save(c->search, NULL, 0);
	char *buf, *tmp = NULL;
	uint64_t len64;
	uint32_t crc;
	int fd, ret = 0;

	if (!path)
		return 0;
	if (len < 0)
		return len;
	total = sizeof(h) + paths + sizeof(len64) + len + sizeof(crc);
	buf = malloc(total);
	if (!buf || asprintf(&tmp, "%s.new", path) < 0) {
		free(buf);
		return -ENOMEM;
	}
	memcpy(buf, &h, sizeof(h));
	at = sizeof(h);
	if (paths)
		memcpy(buf + at, c->spawn.paths, paths);
	at += paths;
	len64 = len;
	memcpy(buf + at, &len64, sizeof(len64));
	at += sizeof(len64);
	len = search_save(c->search, buf + at, len);
	if (len < 0) {
		ret = len;
		goto out;
	}
	at += len;
	crc = crc32(0, (const Bytef *)buf, at);
	memcpy(buf + at, &crc, sizeof(crc));
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0) {
		ret = -errno;
		goto out;
	}
	for (at = 0; at < total && !ret;) {
		ssize_t n = write(fd, buf + at, total - at);

		if (n <= 0)
			ret = n ? -errno : -ENOSPC;
		else
			at += n;
	}
	if (close(fd) && !ret)
		ret = -errno;
	if (!ret && rename(tmp, path))
		ret = -errno;
	if (ret)
		unlink(tmp);
out:
	free(tmp);
	free(buf);
	return ret;
}

static char *read_all(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	struct stat st;
	char *buf = NULL;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && (buf = malloc(st.st_size + 1))) {
		*len = st.st_size;
		if (read(fd, buf, *len) != (ssize_t)*len) {
			free(buf);
			buf = NULL;
			errno = EIO;
		}
	}
	err = errno;
	close(fd);
	errno = err;
	return buf;
}

int campaign_load_state(struct campaign *c, char *err, size_t errlen)
{
	const char *path = c->o.resume;
	struct spawn_path sp;
	size_t len, at;
	struct head h;
	uint64_t len64;
	uint32_t crc;
	char *buf;
	int ret = -EBADMSG;

	if (!path)
		return 0;
	buf = read_all(path, &len);
	if (!buf) {
		if (errno == ENOENT)
			return 0;	/* a search that has not begun yet */
		ret = -errno;
		snprintf(err, errlen, "--resume %s: %s", path, strerror(errno));
		return ret;
	}
	if (len < sizeof(h) || memcmp(buf, MAGIC, 8)) {
		snprintf(err, errlen, "--resume %s: not the state of a search", path);
		goto out;
	}
	memcpy(&h, buf, sizeof(h));
	if (h.version != VERSION) {
		snprintf(err, errlen, "--resume %s: written by another version of zug (format %u, this one "
			 "reads %u)", path, h.version, VERSION);
		goto out;
	}
	memcpy(&crc, buf + len - sizeof(crc), sizeof(crc));
	at = sizeof(h);
	if (len < sizeof(h) + sizeof(len64) + sizeof(crc) ||
	    (len - at - sizeof(len64) - sizeof(crc)) / sizeof(sp) < h.nr ||
	    crc != crc32(0, (const Bytef *)buf, len - sizeof(crc))) {
		snprintf(err, errlen, "--resume %s: damaged", path);
		goto out;
	}
	for (uint32_t i = 0; i < h.nr; i++, at += sizeof(sp)) {
		memcpy(&sp, buf + at, sizeof(sp));
		spawn_number(&c->spawn, sp.parent, sp.nth);
	}
	memcpy(&len64, buf + at, sizeof(len64));
	at += sizeof(len64);
	if (len64 != len - at - sizeof(crc)) {
		snprintf(err, errlen, "--resume %s: damaged", path);
		goto out;
	}
	ret = search_load(c->search, buf + at, len64);
	if (ret)
		snprintf(err, errlen, "--resume %s: the state of a search with other options "
			 "(strategy, seed, bounds): give the same ones, or another file", path);
out:
	free(buf);
	return ret;
}
