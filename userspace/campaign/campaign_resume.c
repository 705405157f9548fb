/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of an interrupted search (--resume FILE): which task has which number, and what the
 * search has written of itself. Written next to the file and renamed over it, so that there is
 * always a whole one.
 *
 *	"zugstate" version(u32) nr(u32) { parent(u32) nth(u32) } * nr
 *	executions(u64) { findings(u64) nr(u32)
 *	{ failure(u64) kind(u32) times(u64) first(u64) trace message } * nr } * 2
 *	length(u64) search  crc32(u32)
 *
 * all little-endian, the checksum over everything before it; a string is length(u32) and bytes. The
 * failures are those that were found (one that is found again is not new), then those that did not
 * come again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "lib/base/array.h"
#include "lib/base/new_file.h"
#include "campaign/campaign_internal.h"

#define MAGIC "zugstate"
#define VERSION 4

struct head {
	char magic[8];
	uint32_t version, nr;
};

static void put(FILE *f, const void *p, size_t len)
{
	if (len)
		fwrite(p, 1, len, f);
}

static void put_text(FILE *f, const char *text)
{
	uint32_t len = text ? strlen(text) : 0;

	put(f, &len, sizeof(len));
	put(f, text, len);
}

static void put_failures(FILE *f, const struct failure_list *l)
{
	uint32_t nr = l->nr;

	put(f, &l->findings, sizeof(l->findings));
	put(f, &nr, sizeof(nr));
	for (uint32_t i = 0; i < nr; i++) {
		const struct campaign_failure *a = &l->list[i];
		uint32_t kind = a->kind;

		put(f, &a->failure, sizeof(a->failure));
		put(f, &kind, sizeof(kind));
		put(f, &a->times, sizeof(a->times));
		put(f, &a->first, sizeof(a->first));
		put_text(f, a->trace);
		put_text(f, a->message);
	}
}

/* The whole content; malloc'd, 0 or -errno. */
static int make_state(struct campaign *c, char **buf, size_t *size)
{
	struct head h = { .magic = MAGIC, .version = VERSION, .nr = c->s.spawn.nr };
	long len = search_save(c->s.search, NULL, 0);
	uint64_t len64 = len;
	char *search;
	uint32_t crc;
	FILE *f;
	int bad;

	if (len < 0)
		return len;
	search = malloc(len + 1);
	f = search ? open_memstream(buf, size) : NULL;
	if (!f) {
		free(search);
		return -ENOMEM;
	}
	len = search_save(c->s.search, search, len);
	put(f, &h, sizeof(h));
	put(f, c->s.spawn.paths, h.nr * sizeof(*c->s.spawn.paths));
	put(f, &c->s.figures.executions, sizeof(c->s.figures.executions));
	put_failures(f, &c->failures);
	put_failures(f, &c->once);
	put(f, &len64, sizeof(len64));
	if (len > 0)
		put(f, search, len);
	free(search);
	bad = fflush(f);
	crc = bad ? 0 : crc32(0, (const Bytef *)*buf, *size);
	put(f, &crc, sizeof(crc));
	bad |= ferror(f);
	if (!fclose(f) && !bad && len >= 0)
		return 0;
	free(*buf);
	return len < 0 ? len : -ENOMEM;
}

int campaign_save_state(struct campaign *c)
{
	const char *path = c->s.o.search.resume;
	char *buf, *tmp = NULL;
	size_t total, at;
	int fd, ret;

	if (!path)
		return 0;
	ret = make_state(c, &buf, &total);
	if (ret)
		return ret;
	if (asprintf(&tmp, "%s.new", path) < 0) {
		free(buf);
		return -ENOMEM;
	}
	fd = new_file(tmp, 0644);
	if (fd < 0) {
		ret = fd;
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
	if (!ret)
		ret = new_file_rename(tmp, path);
	if (ret)
		new_file_unlink(tmp);
out:
	free(tmp);
	free(buf);
	return ret;
}

static char *read_all(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), err;
	struct stat st;
	char *buf = NULL;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && !S_ISREG(st.st_mode)) {
		errno = EINVAL;
	} else if (!fstat(fd, &st) && (buf = malloc(st.st_size + 1))) {
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

/* The rest of a state; the first read beyond its end makes all later reads fail. */
struct reader {
	const char *p;
	size_t left;
	bool bad;
};

static void get(struct reader *r, void *to, size_t len)
{
	r->bad |= len > r->left;
	if (r->bad) {
		memset(to, 0, len);
		return;
	}
	memcpy(to, r->p, len);
	r->p += len;
	r->left -= len;
}

/* malloc'd; NULL: the end of the state, or of memory. */
static char *get_text(struct reader *r)
{
	uint32_t len;
	char *text;

	get(r, &len, sizeof(len));
	text = r->bad || len > r->left ? NULL : malloc(len + 1);
	r->bad |= !text;
	if (!text)
		return NULL;
	get(r, text, len);
	text[len] = 0;
	return text;
}

static void get_failures(struct reader *r, struct failure_list *l)
{
	uint32_t nr, kind;

	get(r, &l->findings, sizeof(l->findings));
	get(r, &nr, sizeof(nr));
	r->bad |= nr > r->left || !ARRAY_RESERVE(l->list, l->room, nr + 1u);
	while (!r->bad && l->nr < nr) {
		struct campaign_failure *f = &l->list[l->nr++];

		*f = (struct campaign_failure){ 0 };
		get(r, &f->failure, sizeof(f->failure));
		get(r, &kind, sizeof(kind));
		get(r, &f->times, sizeof(f->times));
		get(r, &f->first, sizeof(f->first));
		f->kind = kind;
		f->trace = get_text(r);
		f->message = get_text(r);
		if (f->trace && !f->trace[0]) {
			free(f->trace);
			f->trace = NULL;
		}
	}
}

int campaign_load_state(struct campaign *c, char *err, size_t errlen)
{
	const char *path = c->s.o.search.resume;
	struct spawn_path sp;
	struct reader r;
	size_t len;
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
	if (len < sizeof(h) + sizeof(crc) || memcmp(buf, MAGIC, 8)) {
		snprintf(err, errlen, "--resume %s: not the state of a search", path);
		goto out;
	}
	r = (struct reader){ buf, len - sizeof(crc), false };
	get(&r, &h, sizeof(h));
	if (h.version != VERSION) {
		snprintf(err, errlen,
			 "--resume %s: written by another version of zug (format %u, this one "
			 "reads %u)",
			 path, h.version, VERSION);
		goto out;
	}
	memcpy(&crc, buf + len - sizeof(crc), sizeof(crc));
	r.bad = crc != crc32(0, (const Bytef *)buf, len - sizeof(crc));
	for (uint32_t i = 0; i < h.nr && !r.bad; i++) {
		get(&r, &sp, sizeof(sp));
		spawn_number(&c->s.spawn, sp.parent, sp.nth);
	}
	get(&r, &c->s.figures.executions, sizeof(c->s.figures.executions));
	c->before = c->s.figures.executions;
	get_failures(&r, &c->failures);
	get_failures(&r, &c->once);
	get(&r, &len64, sizeof(len64));
	if (r.bad || len64 != r.left) {
		snprintf(err, errlen, "--resume %s: damaged", path);
		goto out;
	}
	ret = search_load(c->s.search, r.p, len64);
	if (ret)
		snprintf(err, errlen, "--resume %s: the state of a search with other options "
			 "(strategy, seed, bounds): give the same ones, or another file", path);
out:
	free(buf);
	return ret;
}
