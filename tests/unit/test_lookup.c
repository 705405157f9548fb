// SPDX-License-Identifier: GPL-2.0-only
/* test_lookup.c - many names at once in tables of symbols, and files that are opened ahead */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "compiled.h"
#include "symbols/sym_internal.h"

struct by_name {
	int nr[4];
	struct symdef last[4];
};

static int note_by_name(const struct symdef *d, unsigned int name, void *arg)
{
	struct by_name *b = arg;

	b->nr[name]++;
	b->last[name] = *d;
	return 0;
}

/* The same as one by one, whether the tables are gone through, their symbols are sorted, or all have been read. */
static void many_names_at_once(void **state)
{
	static const char *const names[] = { "pthread_cond_wait", "time", "pthread_mutex_lock", "no_such_function" };
	static const char source[] = "static int __attribute__((noinline)) twice(int a) { return 2 * a; }\n"
		"int same(int a) { return twice(a); }\nint main(int argc, char **argv) { return twice(argc) - same(2); }\n"
		"int other(void) __asm__(\"pthread_mutex_lock.constprop.0\");\nint other(void) { return 1; }\n";
	struct symbols *fresh = symbols_new();
	struct by_name b = { 0 }, c = { 0 }, first = { 0 };
	struct symfile *f;
	char err[200];
	int nr;

	(void)state;
	f = symbols_file(fresh, "/lib/x86_64-linux-gnu/libc.so.6", NULL, err, sizeof(err));
	assert_non_null(f);
	assert_true(symfile_has_symbols(f));
	for (int round = 0; round < 4; round++) {
		memset(&b, 0, sizeof(b));
		nr = symfile_find_names(f, names, 4, note_by_name, &b);
		assert_int_equal(nr, b.nr[0] + b.nr[1] + b.nr[2]);
		assert_int_equal(b.nr[0], 2);
		assert_true(b.last[1].is_ifunc);
		first = round ? first : b;
		assert_int_equal(!!f->begins[0], round > 0);
		for (int i = 0; i < 4; i++) {
			struct compiled_found r;

			assert_int_equal(b.nr[i], first.nr[i]);
			assert_int_equal(b.last[i].vaddr, first.last[i].vaddr);
			if (round < 3)
				continue;
			r = compiled_find(f, names[i]);
			assert_int_equal(r.nr, b.nr[i]);
			if (!r.nr)
				continue;
			assert_int_equal(r.last.vaddr, b.last[i].vaddr);
			assert_int_equal(r.last.offset, b.last[i].offset);
			assert_string_equal(r.last.name, b.last[i].name);
			assert_string_equal(r.last.version, b.last[i].version);
		}
		/* reads them all */
		if (round == 2)
			compiled_find(f, "pthread_*");
	}
	compiled_make("names.c", source, "cc -O2 -o names names.c");
	f = symbols_file(fresh, compiled_path("names"), NULL, err, sizeof(err));
	for (int round = 0; round < 3; round++) {
		memset(&c, 0, sizeof(c));
		assert_int_equal(symfile_find_names(f, names, 4, note_by_name, &c), 1);
		assert_string_equal(c.last[2].name, "pthread_mutex_lock.constprop.0");
	}
	assert_non_null(f->begins[1]);
	compiled_make("names.c", source, "cc -O2 -s -o nameless names.c");
	assert_false(symfile_has_symbols(symbols_file(fresh, compiled_path("nameless"), NULL, err, sizeof(err))));
	symbols_free(fresh);
}

static struct symfile *opened(struct symbols **s)
{
	struct symfile *f;
	char err[256];

	*s = symbols_new();
	assert_non_null(*s);
	f = symbols_file(*s, compiled_path("ahead"), NULL, err, sizeof(err));
	assert_non_null(f);
	return f;
}

static bool has_function(struct symfile *f, const char *name)
{
	return compiled_find(f, name).nr == 1;
}

/* A file that was opened ahead is taken once, and is not if it has changed since. */
static void opened_ahead(void **state)
{
	static const char source[] = "int before(void) { return 1; }\nint main(void) { return before(); }\n";
	static const char another[] = "int behind(void) { return 1; }\nint main(void) { return behind(); }\n";
	struct symbols *s;
	struct symfile *f;

	(void)state;
	compiled_make("ahead.c", source, "cc -O0 -o ahead ahead.c");
	symbols_prepare(compiled_path("no such file"));
	symbols_prepare(compiled_path("ahead"));
	f = opened(&s);
	assert_non_null(f->begins[1]);
	assert_true(has_function(f, "before"));
	symbols_free(s);
	f = opened(&s);
	assert_null(f->begins[1]);
	symbols_free(s);

	symbols_prepare(compiled_path("ahead"));
	compiled_make("ahead.c", another, "cc -O0 -o ahead ahead.c");
	f = opened(&s);
	assert_null(f->begins[1]);
	assert_true(has_function(f, "behind") && !has_function(f, "before"));
	symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_names_at_once),
		cmocka_unit_test(opened_ahead),
	};

	return cmocka_run_group_tests(tests, compiled_begin, compiled_end);
}
