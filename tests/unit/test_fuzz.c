// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_fuzz.c - a bounded run of every fuzz target: its seeds, and mutations of them
 *
 * The same inputs each time; LONG=1 takes 50 times as many. `make check-fuzz` searches for new ones.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/fuzz/targets.c"
#include "compiled.h"
#include "noise.h"

#define INPUT_MAX (1u << 16)
#define MUTATIONS 2000
#define MUTATIONS_OF_FILES 200

/* Some bytes are changed, or a piece is doubled, taken out or cut off. The new length. */
static size_t mutate(uint8_t *data, size_t len)
{
	size_t at, n;

	for (uint64_t i = next_random() % 4; len && i < 4; i++) {
		at = next_random() % len;
		n = 1 + next_random() % (len - at);
		switch (next_random() % 6) {
		case 0:
			data[at] = next_random();
			break;
		case 1:
			data[at] ^= 1 << next_random() % 8;
			break;
		case 2:
			data[at] = "\0\n\"'{}[](),:0_9-+\xff"[next_random() % 19];
			break;
		case 3:
			if (len + n > INPUT_MAX)
				break;
			memmove(data + at + n, data + at, len - at);
			len += n;
			break;
		case 4:
			memmove(data + at, data + at + n, len - at - n);
			len -= n;
			break;
		default:
			if (!(next_random() % 8))
				len = at;
		}
	}
	return len;
}

static void with_mutations(const struct fuzz_target *t, const uint8_t *seed, size_t len, unsigned int times)
{
	uint8_t *data = malloc(INPUT_MAX);
	size_t n;

	assert_non_null(data);
	assert_true(len <= INPUT_MAX);
	t->use(seed, len);
	for (unsigned int i = 0; i < times * (getenv("LONG") ? 50 : 1); i++) {
		memcpy(data, seed, len);
		n = mutate(data, len);
		t->use(data, n);
	}
	free(data);
}

static void texts(void **state)
{
	for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
		for (int i = 0; t->seeds[i]; i++)
			with_mutations(t, (const uint8_t *)t->seeds[i], strlen(t->seeds[i]), MUTATIONS);
}

static const struct fuzz_target *target(const char *name)
{
	const struct fuzz_target *t = fuzz_targets;

	while (strcmp(t->name, name))
		t++;
	return t;
}

static void programs(void **state)
{
	uint8_t *data = malloc(INPUT_MAX);
	int fd;
	ssize_t n;

	assert_non_null(data);
	compiled_make("p.c", compiled_c, "cc -g -Os -o p p.c -pthread && cc -g -c -o o.o p.c");
	fd = open(compiled_path("p"), O_RDONLY);
	assert_true(fd >= 0);
	n = read(fd, data, INPUT_MAX);
	close(fd);
	assert_true(n > 1000);
	with_mutations(target("elf"), data, n, MUTATIONS_OF_FILES);
	free(data);
}

/* The catalogue of that program, as the cache keeps it. */
static void catalogues(void **state)
{
	uint8_t *data = malloc(INPUT_MAX);
	struct code_cache_header h = { 0 };
	struct code *c;
	char err[256];
	size_t len;

	assert_non_null(data);
	assert_int_equal(code_open(&c, compiled_path("p"), NULL, CODE_CACHE_NONE, err, sizeof(err)), 0);
	assert_true(c->nr_places && c->nr_functions);
	h.magic[0] = 'z';
	h.nr_places = c->nr_places;
	memcpy(data, &h, sizeof(h));
	len = sizeof(h);
	memcpy(data + len, c->places, c->nr_places * sizeof(*c->places));
	len += c->nr_places * sizeof(*c->places);
	memcpy(data + len, c->functions, c->nr_functions * sizeof(*c->functions));
	len += c->nr_functions * sizeof(*c->functions);
	with_mutations(target("catalogue"), data, len, MUTATIONS);
	code_free(c);
	free(data);
}

/* The frames of two places, one of which has none, as the cache keeps them. */
static void kept_frames(void **state)
{
	static const char names[] = "add\0/src/bank.c\0twice\0";
	const struct sym_kept_frame k[] = {
		{ .offset = 0x1000, .function = 18, .file = 5, .line = 13, .inlined = 1 },
		{ .offset = 0x1000, .function = 1, .file = 5, .line = 18 },
		{ .offset = 0x2000, .none = 1 },
	};
	struct sym_kept_header h = { .magic = SYM_KEPT_MAGIC, .nr = 3 };
	uint8_t data[sizeof(h) + sizeof(k) + sizeof(names)];

	memcpy(data, &h, sizeof(h));
	memcpy(data + sizeof(h), k, sizeof(k));
	memcpy(data + sizeof(h) + sizeof(k), names, sizeof(names));
	with_mutations(target("frames"), data, sizeof(data), MUTATIONS);
}

static void states_of_searches(void **state)
{
	const struct search_options o = { .strategy = "pct", .seed = 1, .preemptions = -1 };
	char err[256];
	struct search *s = search_new(&o, err, sizeof(err));
	uint8_t *data = malloc(INPUT_MAX);
	long n;

	assert_non_null(s);
	assert_non_null(data);
	n = search_save(s, data, INPUT_MAX);
	assert_true(n > 0);
	search_free(s);
	with_mutations(target("state"), data, n, MUTATIONS);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(programs), cmocka_unit_test(catalogues), cmocka_unit_test(kept_frames),
		cmocka_unit_test(states_of_searches),
	};

	return cmocka_run_group_tests(tests, compiled_begin, compiled_end);
}
