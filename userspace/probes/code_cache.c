/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * code_cache.c - catalogues kept between runs
 *
 * One file each, named by the build-id and the size of what was disassembled, or by where it lies
 * and when it was changed, and by the archive that has told names for it. A cache that is damaged, of another version, or of another user is as
 * good as none; its bytes are not trusted beyond what in_order() has checked.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "lib/base/cache_file.h"
#include "probes/code_internal.h"

static void cache_name(char *name, size_t len, uint64_t archive, const char *id, const struct stat *st)
{
	char with[24] = "";

	if (archive)
		snprintf(with, sizeof(with), "-%llx", (unsigned long long)archive);
	if (id[0])
		snprintf(name, len, "%s-%llx%s.code", id, (unsigned long long)st->st_size, with);
	else
		snprintf(name, len, "file-%llx-%llx-%llx-%llx.%lx%s.code", (unsigned long long)st->st_dev,
			 (unsigned long long)st->st_ino, (unsigned long long)st->st_size,
			 (unsigned long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec, with);
}

uint32_t code_cache_checksum(struct code_cache_header h, const void *places, const void *functions)
{
	uint32_t crc;

	h.crc = 0;
	crc = crc32_z(0, (const void *)&h, sizeof(h));
	crc = crc32_z(crc, places, h.nr_places * sizeof(struct code_place));
	return crc32_z(crc, functions, h.nr_functions * sizeof(struct code_function));
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

	if (fstat(fd, &st) || !cache_file_read(fd, &h, sizeof(h)) ||
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
	if (!cache_file_read(fd, places, h.nr_places * sizeof(*places)) ||
	    !cache_file_read(fd, functions, h.nr_functions * sizeof(*functions)) ||
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
	char name[NAME_MAX];
	int fd, ret;

	cache_name(name, sizeof(name), c->archive, id, st);
	fd = cache_file_open(name);
	if (fd < 0)
		return fd;
	ret = code_cache_take(c, fd, st->st_size);
	close(fd);
	return ret;
}

void code_cache_write(const struct code *c, const char *id, const struct stat *st)
{
	struct code_cache_header h = { .magic = CODE_CACHE_MAGIC, .version = CODE_CACHE_VERSION,
				  .place_size = sizeof(struct code_place), .file_size = st->st_size,
				  .bytes = c->stats.bytes, .nr_places = c->nr_places,
				  .nr_functions = c->nr_functions, .left_out = c->stats.left_out };
	const struct iovec pieces[] = {
		{ &h, sizeof(h) },
		{ c->places, c->nr_places * sizeof(*c->places) },
		{ c->functions, c->nr_functions * sizeof(*c->functions) },
	};
	char name[NAME_MAX];

	memcpy(h.places, c->stats.places, sizeof(h.places));
	h.crc = code_cache_checksum(h, c->places, c->functions);
	cache_name(name, sizeof(name), c->archive, id, st);
	cache_file_put(name, pieces, 3);
}
