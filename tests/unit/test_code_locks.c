// SPDX-License-Identifier: GPL-2.0-only
/* test_code_locks.c - the catalogue's instructions and calls that take and give back locks of Rust's standard library */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "code_places.h"
#include "compiled.h"
#include "probes/code_internal.h"

/* What rustc makes of these locks, with the names that it gives the library's functions. */
static const char locks_source[] =
	"#define SLOW(name, symbol) void name(int *) __asm__(symbol); \\\n"
	"	__attribute__((noinline)) void name(int *w) { *w = 2; __asm__ volatile(\"\"); }\n"
	"SLOW(lock_contended, \"_RNvMNtNtNtNtCs1_3std3sys4sync5mutex5futexNtB2_5Mutex14lock_contended\")\n"
	"SLOW(wake, \"_ZN3std3sys4unix5locks11futex_mutex5Mutex4wake17h0123456789abcdefE\")\n"
	"SLOW(read_contended, \"_ZN3std3sys4sync6rwlock5futex6RwLock14read_contended17h0123456789abcdefE\")\n"
	"SLOW(write_contended, \"_ZN3std3sys4sync6rwlock5futex6RwLock15write_contended17h0123456789abcdefE\")\n"
	"SLOW(wake_some, \"_ZN3std3sys4sync6rwlock5futex6RwLock22wake_writer_or_readers17h0123456789abcdefE\")\n"
	"SLOW(anothers, \"_ZN4shop3sys5futex5Mutex14lock_contended17h0123456789abcdefE\")\n"
	"#define exchange(w, is, to) ({ int e = is; __atomic_compare_exchange_n(w, &e, to, 0, 2, 0); })\n"
	"int called(int *, int, int) __asm__(\"_ZN4core4sync6atomic23atomic_compare_exchange17h0123456789abcdefE\");\n"
	"__attribute__((noinline)) int called(int *w, int is, int to) { return exchange(w, is, to); }\n"
	"int swapped(int *, int) __asm__(\"_ZN4core4sync6atomic11atomic_swap17h0123456789abcdefE\");\n"
	"__attribute__((noinline)) int swapped(int *w, int to) { return __atomic_exchange_n(w, to, 3); }\n"
	"int loaded(int *) __asm__(\"_ZN4core4sync6atomic11atomic_load17h0123456789abcdefE\");\n"
	"__attribute__((noinline)) int loaded(int *w) { __asm__ volatile(\"\"); return __atomic_load_n(w, 0); }\n"
	"#define F __attribute__((noinline)) void\n"
	"F lock(int *w) { if (!exchange(w, 0, 1)) lock_contended(w); }\n"
	"F unlock(int *w) { if (__atomic_exchange_n(w, 0, 3) == 2) wake(w); }\n"
	"F both(int *w, int *v) { if (!exchange(w, 0, 1)) lock_contended(w); (*v)++; if (__atomic_exchange_n(w, 0, 3) == 2) wake(w); }\n"
	"F readlock(int *w) { int v = __atomic_load_n(w, 0); if (v >= 77 || !exchange(w, v, v + 1)) read_contended(w); }\n"
	"F writelock(int *w) { if (!exchange(w, 0, 0x3fffffff)) write_contended(w); }\n"
	"F leave(int *w) { if (__atomic_fetch_sub(w, 1, 3) == (int)0x80000001) wake_some(w); }\n"
	"F trylock(int *w, int *v) { if (exchange(w, 0, 1)) *v = 1; }\n"
	"F others(int *w) { if (!exchange(w, 0, 1)) anothers(w); }\n"
	"F counts(int *w, int *v) { if (__atomic_exchange_n(v, 0, 3) == 5) *v = 1; if (__atomic_exchange_n(w, 0, 3) == 2) wake(w); }\n"
	"F lock_debug(int *w) { if (!called(w, 0, 1)) lock_contended(w); }\n"
	"F unlock_debug(int *w) { if (swapped(w, 0) == 2) wake(w); }\n"
	"F readlock_debug(int *w) { int v = loaded(w); if (v > 77 || !called(w, v, v + 1)) read_contended(w); }\n"
	"F other_debug(int *w, int *v) { if (called(w, 0, 1)) *v = loaded(w); }\n"
	"F guard(int *) __asm__(\"_ZN3std4sync6poison4Flag5guard17h0123456789abcdefE\");\n"
	"F guard(int *w) { if (loaded(w)) w[1] = loaded(w + 1); }\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	int w[4] = { 0 };\n"
	"	lock(w); unlock(w); both(w, w + 1); readlock(w + 2); leave(w + 2); writelock(w + 2); trylock(w, w + 3);\n"
	"	others(w); counts(w, w + 1);\n"
	"	lock_debug(w); unlock_debug(w); readlock_debug(w + 2); other_debug(w, w + 1); guard(w);\n"
	"	return 0;\n"
	"}\n";

/* What is told of a function: one letter for each place that belongs to a lock, a capital one for a call. */
static void told(const struct code *c, const char *function, char *text)
{
	static const char letters[] = "?lurwep";
	struct code_places f = code_places_of(c, compiled_path("locks"), function);
	uint8_t bytes[CODE_LONGEST];
	FILE *file = fopen(compiled_path("locks"), "r");

	assert_non_null(file);
	for (unsigned int i = 0; i < f.nr; i++) {
		if (!code_rust(f.p[i])) {
			assert_int_not_equal(f.p[i]->kind, CODE_CALL);
			continue;
		}
		*text++ = letters[code_rust(f.p[i])] - (f.p[i]->kind == CODE_CALL ? 'a' - 'A' : 0);
		assert_int_equal(fseek(file, f.p[i]->offset, SEEK_SET), 0);
		assert_int_equal(fread(bytes, 1, sizeof(bytes), file), sizeof(bytes));
		assert_true(code_verify(f.p[i], bytes, sizeof(bytes)));
	}
	fclose(file);
	*text = 0;
}

static void test_locks(void **state)
{
	static const char *const forms[] = { "-O2 -pie", "-O2 -fno-plt -pie", "-O1 -no-pie", "-O2 -static" };
	static const struct {
		const char *function, *told;
	} expected[] = {
		{ "lock", "l" }, { "unlock", "u" }, { "both", "lu" }, { "readlock", "pr" }, { "writelock", "w" }, { "leave", "e" },
		{ "trylock", "" }, { "others", "" }, { "counts", "u" },
		{ "lock_debug", "L" }, { "unlock_debug", "U" }, { "readlock_debug", "PR" }, { "other_debug", "" },
		{ "_ZN3std4sync6poison4Flag5guard17h0123456789abcdefE", "PP" },
	};

	compiled_write("locks.c", locks_source, strlen(locks_source));
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct code *c;

		compiled_run("gcc %s -fno-ipa-cp -fno-optimize-sibling-calls -o %s %s", forms[i], compiled_path("locks"),
			     compiled_path("locks.c"));
		c = code_places_open(compiled_path("locks"), CODE_CACHE_NONE);
		for (size_t k = 0; k < sizeof(expected) / sizeof(expected[0]); k++) {
			char text[65];

			told(c, expected[k].function, text);
			if (strcmp(text, expected[k].told))
				fail_msg("%s: %s is told as '%s'", forms[i], expected[k].function, text);
		}
		code_free(c);
	}
}

static void test_names(void **state)
{
	assert_int_equal(code_role("_RNvMNtNtNtNtCs1_3std3sys4sync5mutex5futexNtB2_5Mutex14lock_contended.llvm.1"), ROLE_LOCK);
	assert_int_equal(code_role("_ZN3std3sys4unix5locks12futex_rwlock6RwLock15write_contended17h0123456789abcdefE"), ROLE_WRLOCK);
	assert_int_equal(code_role("_ZN4core4sync6atomic9AtomicU3216compare_exchange17h0123456789abcdefE"), ROLE_EXCHANGE);
	assert_int_equal(code_role("_ZN3std9panicking11panic_count13count_is_zero17h0123456789abcdefE"), ROLE_PANICS);
	assert_int_equal(code_role("_ZN3std3sys4sync5mutex5futex5Mutex20lock_contended_often17h0123456789abcdefE"), ROLE_NONE);
	assert_int_equal(code_role("lock_contended"), ROLE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locks), cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, compiled_begin, compiled_end);
}
