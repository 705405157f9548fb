/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * code_asks.c - instructions that ask the processor, of files that need no catalogue
 *
 * Their few bytes are looked for everywhere, and only the functions around what was found are
 * decoded, to tell code from what looks like it: libraries of the distribution, of which nothing
 * else is wanted, take milliseconds. What was found is kept in the cache of catalogues, as places.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <Zydis/Zydis.h>
#include "lib/base/array.h"
#include "probes/code_internal.h"

/* A smaller file is looked through faster than its cache is read. */
#define KEEP_FROM 262144

struct asks {
	struct code c;		/* its segments */
	const uint8_t *file;
	size_t size;
	ZydisDecoder decoder;
	struct code_function *bounds;
	uint32_t nr_bounds;
	bool bounded;		/* these are known */
	struct code_ask *list;
	uint32_t nr, room;
};

/* The instruction that begins there, if it is one of the four. */
static bool is_ask(const struct asks *a, uint32_t offset, struct code_ask *ask)
{
	ZydisDecodedInstruction in;
	ZydisDecoderContext ctx;

	if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&a->decoder, &ctx, a->file + offset, a->size - offset, &in)))
		return false;
	*ask = (struct code_ask){ .offset = offset, .len = in.length, .kind = CODE_TIME };
	switch (in.mnemonic) {
	case ZYDIS_MNEMONIC_RDTSC:
		return in.length == 2;
	case ZYDIS_MNEMONIC_RDTSCP:
		ask->cpu = true;
		return in.length == 3;
	case ZYDIS_MNEMONIC_RDRAND: case ZYDIS_MNEMONIC_RDSEED:
		ask->kind = CODE_RANDOM;
		ask->reg = in.raw.modrm.rm | in.raw.rex.B << 3;
		ask->size = in.operand_width / 8;
		return true;
	default:
		return false;
	}
}

/* True when an instruction of the function begins there. */
static bool is_instruction(const struct asks *a, const struct code_function *f, uint32_t offset)
{
	ZydisDecodedInstruction in;
	ZydisDecoderContext ctx;
	uint32_t at = f->start;

	while (at < offset) {
		if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&a->decoder, &ctx, a->file + at, a->size - at, &in)))
			return false;
		at += in.length;
	}
	return at == offset;
}

/*
 * Before it lfence, or behind it shl $32,%rdx, which makes one number of the two halves: nothing else looks like both.
 */
static bool is_typical(const struct asks *a, const struct code_ask *ask)
{
	static const uint8_t shift[] = { 0x48, 0xc1, 0xe2, 0x20 }, fence[] = { 0x0f, 0xae, 0xe8 };
	size_t end = (size_t)ask->offset + ask->len;

	if (ask->kind != CODE_TIME)
		return false;
	return (a->size - end >= sizeof(shift) && !memcmp(a->file + end, shift, sizeof(shift))) ||
	       (ask->offset >= sizeof(fence) && !memcmp(a->file + ask->offset - sizeof(fence), fence, sizeof(fence)));
}

static int add_ask(struct asks *a, const struct code_ask *ask)
{
	if (!ARRAY_RESERVE(a->list, a->room, a->nr + 1))
		return -ENOMEM;
	a->list[a->nr++] = *ask;
	return 0;
}

/* opcode: where its first byte, 0x0f, is; two prefixes may be before it. */
static int look_at(struct asks *a, int fd, uint32_t opcode, uint32_t begin)
{
	uint32_t first = opcode - begin < 2 ? begin : opcode - 2;
	const struct code_function *f;
	struct code_ask ask;
	int ret;

	for (uint32_t at = first; at <= opcode; at++) {
		if (!is_ask(a, at, &ask) || at + ask.len <= opcode)
			continue;
		if (!a->bounded) {
			ret = code_bounds(&a->c, fd, &a->bounds, &a->nr_bounds);
			if (ret)
				return ret;
			a->bounded = true;
		}
		f = code_function_in(a->bounds, a->nr_bounds, at);
		if (f ? at + ask.len <= f->end && is_instruction(a, f, at) : is_typical(a, &ask))
			return add_ask(a, &ask);
	}
	return 0;
}

static int look_through(struct asks *a, int fd, const struct code_segment *s)
{
	const uint8_t *p, *end;
	int ret = 0;

	if (s->offset >= a->size || s->filesz > a->size - s->offset || s->filesz < 3)
		return 0;
	p = a->file + s->offset;
	end = p + s->filesz;
	while (!ret && end - p >= 3 && (p = memchr(p, 0x0f, end - p - 2))) {
		if (p[1] == 0x31 || (p[1] == 0x01 && p[2] == 0xf9) || (p[1] == 0xc7 && p[2] >= 0xf0))
			ret = look_at(a, fd, p - a->file, s->offset);
		p++;
	}
	return ret;
}

/* The name of what was found in a large file that has a build-id; it holds as long as the file is not changed. */
static bool cache_id(Elf *elf, const struct stat *st, char *id, size_t len)
{
	size_t n;

	if (st->st_size < KEEP_FROM)
		return false;
	code_build_id(elf, id, len);
	n = strlen(id);
	if (n)
		snprintf(id + n, len - n, "-asks-%llx.%lx", (unsigned long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
	return n;
}

/* Takes what an earlier start has found there. 0, or -errno: nothing is kept, or the file has something else there. */
static int take_kept(struct asks *a, const char *id, const struct stat *st)
{
	struct code kept = { 0 };
	struct code_ask ask;
	int ret = code_cache_read(&kept, id, st);

	for (uint32_t i = 0; i < kept.nr_places && !ret; i++)
		ret = is_ask(a, kept.places[i].offset, &ask) && ask.kind == kept.places[i].kind ? add_ask(a, &ask) : -ESTALE;
	if (ret)
		a->nr = 0;
	free(kept.places);
	free(kept.functions);
	return ret;
}

static void keep_found(const struct asks *a, const char *id, const struct stat *st)
{
	struct code_function none = { 0 };	/* a checksum over NULL is another one than over nothing */
	struct code kept = { .places = calloc((size_t)a->nr + 1, sizeof(*kept.places)),
			     .nr_places = a->nr,
			     .functions = &none };

	if (!kept.places)
		return;
	for (uint32_t i = 0; i < a->nr; i++)
		kept.places[i] =
			(struct code_place){ .offset = a->list[i].offset, .kind = a->list[i].kind, .len = a->list[i].len };
	code_cache_write(&kept, id, st);
	free(kept.places);
}

int code_asks(const char *path, struct code_ask **list, uint32_t *nr)
{
	char id[160];
	bool named = false;
	struct asks a = { 0 };
	void *map = MAP_FAILED;
	Elf *elf = NULL;
	struct stat st;
	int ret, fd;

	*list = NULL;
	*nr = 0;
	elf_version(EV_CURRENT);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = fstat(fd, &st) ? -errno : (uint64_t)st.st_size >= UINT32_MAX ? -EFBIG : 0;
	if (!ret && !(elf = elf_begin(fd, ELF_C_READ_MMAP, NULL)))
		ret = -ENOEXEC;
	if (!ret)
		ret = code_segments(&a.c, elf);
	if (!ret && (map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
		ret = -errno;
	a.file = map;
	a.size = st.st_size;
	ZydisDecoderInit(&a.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	named = !ret && cache_id(elf, &st, id, sizeof(id));
	if (!named || take_kept(&a, id, &st)) {
		for (uint32_t i = 0; i < a.c.nr_segments && !ret; i++)
			if (a.c.segments[i].exec)
				ret = look_through(&a, fd, &a.c.segments[i]);
		if (named && !ret)
			keep_found(&a, id, &st);
	}
	if (map != MAP_FAILED)
		munmap(map, st.st_size);
	elf_end(elf);
	close(fd);
	free(a.c.segments);
	free(a.bounds);
	if (ret) {
		free(a.list);
		return ret;
	}
	*list = a.list;
	*nr = a.nr;
	return 0;
}
