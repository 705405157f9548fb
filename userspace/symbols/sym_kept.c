// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_kept.c - frames of code that are kept between runs (symfile_frames())
 *
 * Of files with a separate debug file: those of a distribution, whose debug information is large and compressed. That of the C
 * library takes longer to unpack than a failing execution takes without it. One file of the cache for each, named by the
 * build-id, and the size and time of the debug file. A file that is damaged or of another version is as good as none.
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
#include "symbols/sym_internal.h"

/* Places; so many are some hundred KB. A program's stacks come to few of a library's. */
#define KEPT_MAX	4096
#define KEPT_NAMES_MAX	(1 << 20)

/* false: nothing is kept of that file. */
static bool kept_name(struct symfile *f, char *name, size_t len)
{
	struct stat st;

	if (!f->build_id[0])
		return false;
	sym_find_debug_file(f);
	if (f->debug_fd < 0 || fstat(f->debug_fd, &st))
		return false;
	snprintf(name, len, "%s-%llx-%llx.%lx.frames", f->build_id, (unsigned long long)st.st_size,
		 (unsigned long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	return true;
}

uint32_t sym_kept_checksum(struct sym_kept_header h, const void *frames_and_names)
{
	h.crc = 0;
	return crc32_z(crc32_z(0, (const void *)&h, sizeof(h)), frames_and_names,
		       h.nr * sizeof(struct sym_kept_frame) + h.names);
}

/* NULL: unknown, or there is no such name. */
static const char *name_at(const char *names, uint32_t size, uint32_t at)
{
	return at && at <= size ? names + at - 1 : NULL;
}

static int add_kept(struct symfile *f, const struct sym_kept_header *h, const struct sym_kept_frame *k)
{
	struct trace_frame frames[SYM_FRAMES_MAX];
	int ret = 0, nr;

	for (uint32_t i = 0; !ret && i < h->nr;) {
		uint64_t offset = k[i].offset;

		for (nr = 0; i < h->nr && k[i].offset == offset && nr < SYM_FRAMES_MAX; i++)
			if (!k[i].none)
				frames[nr++] = (struct trace_frame){
					.function = name_at(f->kept_names, h->names, k[i].function),
					.file = name_at(f->kept_names, h->names, k[i].file),
					.line = k[i].line, .inlined = k[i].inlined,
				};
		if (!id_map_find(&f->frames_of, offset))
			ret = sym_add_frames(f, offset, frames, nr);
	}
	return ret;
}

int sym_kept_take(struct symfile *f, int fd)
{
	struct sym_kept_header h;
	int ret = -EINVAL;
	struct stat st;
	char *bytes;
	size_t size;

	if (fstat(fd, &st) || !cache_file_read(fd, &h, sizeof(h)) || memcmp(h.magic, SYM_KEPT_MAGIC, sizeof(h.magic)) ||
	    h.version != SYM_KEPT_VERSION || h.nr > KEPT_MAX * SYM_FRAMES_MAX || !h.names || h.names > KEPT_NAMES_MAX)
		return -EINVAL;
	size = h.nr * sizeof(struct sym_kept_frame) + h.names;
	if ((uint64_t)st.st_size != sizeof(h) + size)
		return -EINVAL;
	bytes = malloc(size);
	f->kept_names = malloc(h.names);
	if (!bytes || !f->kept_names) {
		ret = -ENOMEM;
	} else if (cache_file_read(fd, bytes, size) && !bytes[size - 1] && sym_kept_checksum(h, bytes) == h.crc) {
		memcpy(f->kept_names, bytes + size - h.names, h.names);
		ret = add_kept(f, &h, (const struct sym_kept_frame *)bytes);
	}
	free(bytes);
	return ret;
}

void sym_kept_read(struct symfile *f)
{
	char name[NAME_MAX];
	int fd;

	if (f->kept_sought)
		return;
	f->kept_sought = true;
	if (!kept_name(f, name, sizeof(name)))
		return;
	fd = cache_file_open(name);
	if (fd < 0)
		return;
	sym_kept_take(f, fd);
	close(fd);
	f->nr_kept = f->nr_frames;
}

/* Adds a name to the others; 1 + where it is, 0: it is unknown, or there is no more room. */
static uint32_t add_name(char *names, uint32_t *size, const char *name)
{
	size_t len = name ? strlen(name) + 1 : 0;
	uint32_t at = *size;

	if (!name || len > KEPT_NAMES_MAX - at)
		return 0;
	memcpy(names + at, name, len);
	*size += len;
	return at + 1;
}

/* The frames of f and their names, as the file has them. false: there is not enough room. */
static bool collect(const struct symfile *f, struct sym_kept_header *h, struct sym_kept_frame *k, char *names)
{
	for (uint32_t i = 0; i < f->nr_frames; i++) {
		const struct frames_entry *e = &f->frames[i];

		if (!e->nr)
			k[h->nr++] = (struct sym_kept_frame){ .offset = e->offset, .none = 1 };
		for (int j = 0; j < e->nr; j++) {
			const struct trace_frame *t = &e->frames[j];
			struct sym_kept_frame *to = &k[h->nr++];

			*to = (struct sym_kept_frame){ .offset = e->offset, .line = t->line, .inlined = t->inlined,
						       .function = add_name(names, &h->names, t->function),
						       .file = add_name(names, &h->names, t->file) };
			if ((t->function && !to->function) || (t->file && !to->file))
				return false;
		}
	}
	return add_name(names, &h->names, "");
}

void sym_kept_write(struct symfile *f)
{
	struct sym_kept_header h = { .magic = SYM_KEPT_MAGIC, .version = SYM_KEPT_VERSION };
	struct sym_kept_frame *k;
	char name[NAME_MAX], *names;
	size_t room = 1, bytes;

	if (f->nr_frames == f->nr_kept || f->nr_frames > KEPT_MAX || !kept_name(f, name, sizeof(name)))
		return;
	for (uint32_t i = 0; i < f->nr_frames; i++)
		room += f->frames[i].nr + 1;
	k = malloc(room * sizeof(*k) + KEPT_NAMES_MAX);
	names = malloc(KEPT_NAMES_MAX);
	if (k && names && collect(f, &h, k, names)) {
		bytes = h.nr * sizeof(*k);
		memcpy((char *)k + bytes, names, h.names);
		h.crc = sym_kept_checksum(h, k);
		cache_file_put(name, (const struct iovec[]){ { &h, sizeof(h) }, { k, bytes + h.names } }, 2);
	}
	free(k);
	free(names);
}
