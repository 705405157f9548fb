/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * code_cache.c - catalogues kept between runs
 *
 * One file each, named by the build-id and the size of what was disassembled, or by where it lies
 * and when it was changed. A cache that is damaged, of another version, or of another user is as
 * good as none; its bytes are not trusted beyond what in_order() has checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "lib/base/new_file.h"
#include "probes/code_internal.h"

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

static int cache_path(char *path, size_t len, const char *id, const struct stat *st)
{
	const char *base = getenv("XDG_CACHE_HOME"), *under = "";
	char name[200];
	int n;

	/* an XDG folder that is not absolute is to be ignored */
	if (!base || base[0] != '/') {
		base = getenv("HOME");
		under = "/.cache";
	}
	if (!base || base[0] != '/')
		return -ENOENT;
	if (id[0])
		snprintf(name, sizeof(name), "%s-%llx", id, (unsigned long long)st->st_size);
	else
		snprintf(name, sizeof(name), "file-%llx-%llx-%llx-%llx.%lx", (unsigned long long)st->st_dev,
			 (unsigned long long)st->st_ino, (unsigned long long)st->st_size,
			 (unsigned long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
	n = snprintf(path, len, "%s%s/zugzwang/%s.code", base, under, name);
	return n < 0 || (size_t)n >= len ? -ENAMETOOLONG : 0;
}

uint32_t code_cache_checksum(struct code_cache_header h, const void *places, const void *functions)
{
	uint32_t crc;

	h.crc = 0;
	crc = crc32_z(0, (const void *)&h, sizeof(h));
	crc = crc32_z(crc, places, h.nr_places * sizeof(struct code_place));
	return crc32_z(crc, functions, h.nr_functions * sizeof(struct code_function));
}

static bool read_all(int fd, void *buf, size_t n)
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

/* Checks what lookups rely on, in case the checksum was computed over nonsense. */
static bool in_order(const struct code_cache_header *h, const struct code_place *p, const struct code_function *f)
{
	for (uint32_t i = 0; i < h->nr_places; i++)
		if (!p[i].kind || p[i].kind >= CODE_NR_KINDS || !p[i].len || p[i].len > 15 || p[i].shift > 3 ||
		    (p[i].kind == CODE_BLOCK && (!p[i].size || p[i].size >= CODE_NR_BLOCKS)) ||
		    p[i].offset + (uint64_t)p[i].len > h->file_size ||
		    (i && p[i].offset < p[i - 1].offset + (uint64_t)p[i - 1].len))
			return false;
	for (uint32_t i = 0; i < h->nr_functions; i++)
		if (f[i].start >= f[i].end || f[i].end > h->file_size || (i && f[i].start < f[i - 1].end))
			return false;
	return true;
}

int code_cache_take(struct code *c, int fd, uint64_t file_size)
{
	struct code_function *functions = NULL;
	struct code_place *places = NULL;
	struct code_cache_header h;
	int ret = -EINVAL;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !new_file_trusts(st.st_uid) || !read_all(fd, &h, sizeof(h)) ||
	    memcmp(h.magic, CODE_CACHE_MAGIC, sizeof(h.magic)) || h.version != CODE_CACHE_VERSION ||
	    h.place_size != sizeof(*places) || h.file_size != file_size ||
	    (uint64_t)st.st_size != sizeof(h) + (uint64_t)h.nr_places * sizeof(*places) +
				    (uint64_t)h.nr_functions * sizeof(*functions))
		return -EINVAL;
	places = calloc((size_t)h.nr_places + 1, sizeof(*places));
	functions = calloc((size_t)h.nr_functions + 1, sizeof(*functions));
	if (!places || !functions) {
		ret = -ENOMEM;
		goto out;
	}
	if (!read_all(fd, places, h.nr_places * sizeof(*places)) ||
	    !read_all(fd, functions, h.nr_functions * sizeof(*functions)) ||
	    code_cache_checksum(h, places, functions) != h.crc || !in_order(&h, places, functions))
		goto out;
	c->places = places;
	c->functions = functions;
	c->nr_places = c->size_places = h.nr_places;
	c->nr_functions = h.nr_functions;
	c->stats.left_out = h.left_out;
	c->stats.bytes = h.bytes;
	c->stats.functions = h.nr_functions;
	memcpy(c->stats.places, h.places, sizeof(h.places));
	return 0;
out:
	free(places);
	free(functions);
	return ret;
}

int code_cache_read(struct code *c, const char *id, const struct stat *st)
{
	char path[PATH_MAX];
	int fd, ret;

	ret = cache_path(path, sizeof(path), id, st);
	if (ret)
		return ret;
	/* without waiting: it may be a FIFO */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	ret = code_cache_take(c, fd, st->st_size);
	close(fd);
	return ret;
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

/* Under another name first: another zug may read it meanwhile. Without a cache all works, so nothing is said. */
void code_cache_write(const struct code *c, const char *id, const struct stat *st)
{
	struct code_cache_header h = { .magic = CODE_CACHE_MAGIC, .version = CODE_CACHE_VERSION,
				  .place_size = sizeof(struct code_place), .file_size = st->st_size,
				  .bytes = c->stats.bytes, .nr_places = c->nr_places,
				  .nr_functions = c->nr_functions, .left_out = c->stats.left_out };
	char path[PATH_MAX], temporary[PATH_MAX + 16];
	bool ok;
	int fd;

	if (cache_path(path, sizeof(path), id, st) || make_folder(path))
		return;
	memcpy(h.places, c->stats.places, sizeof(h.places));
	h.crc = code_cache_checksum(h, c->places, c->functions);
	snprintf(temporary, sizeof(temporary), "%s.%d", path, getpid());
	fd = new_file(temporary, 0600);
	if (fd < 0)
		return;
	ok = write_all(fd, &h, sizeof(h)) && write_all(fd, c->places, c->nr_places * sizeof(*c->places)) &&
	     write_all(fd, c->functions, c->nr_functions * sizeof(*c->functions));
	if (close(fd) || !ok || new_file_rename(temporary, path))
		new_file_unlink(temporary);
}
