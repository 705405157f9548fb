// SPDX-License-Identifier: GPL-2.0-only
/* test_libraries.c - which code and which files are a library's, and which libraries a program needs */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "compiled.h"
#include "symbols/sym_internal.h"

/* Static programs: which code is the C library's. */
static const char library_source[] =
	"#include <pthread.h>\n"
	"#include <stdlib.h>\n"
	"pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
	"static __attribute__((cold, noinline)) void rare(void) { abort(); }\n"
	"__attribute__((noinline)) void *work(void *p) { pthread_mutex_lock(&m); if (p) rare();\n"
	"	pthread_mutex_unlock(&m); return p; }\n"
	"int main(void) { pthread_t t; pthread_create(&t, NULL, work, NULL); return pthread_join(t, NULL); }\n";

/* One definition's place. */
static int note_offset(const struct symdef *d, void *arg)
{
	*(uint64_t *)arg = d->offset;
	return 1;
}

/* Whether that file, which is f without its symbols, or f, takes a function of f's for the library's. */
static bool takes_for_library(struct symfile *f, const char *name, struct symfile *stripped)
{
	uint64_t offset = 0;

	assert_true(symfile_find(f, name, note_offset, &offset) > 0);
	return symfile_is_library(stripped, offset);
}

static bool is_library(struct symfile *f, const char *name)
{
	return takes_for_library(f, name, f);
}

static void whose_files(void **state)
{
	(void)state;
	assert_true(symbols_of_language("/usr/lib/go-1.19/src/sync/mutex.go"));
	assert_true(symbols_of_language("/u/sdk/go1.22.1/src/os/file.go"));
	assert_true(symbols_of_language("/usr/local/go/src/internal/poll/fd.go") && symbols_of_language("sync/mutex.go"));
	assert_true(symbols_of_language("internal/bytealg/compare_amd64.s"));
	assert_true(symbols_of_language("/rustc/abc/library/core/src/ptr/mod.rs"));
	assert_true(symbols_of_language("/rust/deps/gimli-0.32.3/src/read/unit.rs"));
	assert_false(symbols_of_language("main.go") || symbols_of_language("/home/u/src/sync/x.go"));
	assert_false(symbols_of_language("/home/u/go/src/example.com/m/sync/x.go") || symbols_of_language("example.com/m/x.go"));
	assert_false(symbols_of_language("sync/mutex.c") || symbols_of_language("/usr/include/c++/12/bits/stl_vector.h"));
	assert_true(symbols_of_library("/usr/include/c++/12/bits/stl_vector.h") && symbols_of_library("sync/mutex.go"));
	assert_false(symbols_of_library("/home/u/main.go"));
}

static void the_c_library(void **state)
{
	char **paths;
	struct symfile *f = NULL;
	struct compiled_found r;

	(void)state;
	compiled_make("libs.c", compiled_c, "cc -o libs libs.c -pthread");
	paths = symbols_needed_paths(compiled_syms, compiled_path("libs"), environ);
	assert_non_null(strstr(paths[0], "/libs"));
	for (char **p = paths; *p; p++)
		if (strstr(*p, "/libc.so.6"))
			f = compiled_open(*p);
	assert_non_null(f);
	symbols_free_paths(paths);
	assert_int_equal(symfile_libc(f), SYMLIBC_GLIBC);
	r = compiled_find(f, "pthread_cond_wait");
	assert_int_equal(r.nr, 2);
	r = compiled_find(f, "pthread_mutex_lock");
	assert_true(r.nr >= 1);
	assert_non_null(r.last.version);
	assert_true(compiled_find(f, "time").last.is_ifunc);

	compiled_make("script", "#!/usr/bin/env -S sh\n", "chmod +x script");
	paths = symbols_needed_paths(compiled_syms, compiled_path("script"), environ);
	assert_non_null(paths[0]);
	assert_non_null(strstr(paths[0], "/env"));
	symbols_free_paths(paths);

	compiled_make("fixed.c", compiled_c, "cc -static -o fixed fixed.c -pthread && strip -o nothing fixed");
	assert_int_equal(symfile_libc(compiled_open(compiled_path("nothing"))), SYMLIBC_GLIBC);
	f = compiled_open(compiled_path("fixed"));
	assert_false(symfile_is_dynamic(f));
	assert_int_equal(symfile_libc(f), SYMLIBC_GLIBC);
	paths = symbols_needed_paths(compiled_syms, compiled_path("fixed"), environ);
	assert_non_null(paths[0]);
	assert_null(paths[1]);
	symbols_free_paths(paths);
}

/* Of "rdlock", "lock", "unlock" and "wait" of pthread_*, those that a file can call. */
static void expect_imports(const char *file, bool all, const char *want)
{
	static const char *const names[] = { "pthread_rwlock_rdlock", "pthread_mutex_lock", "pthread_mutex_unlock",
					     "pthread_cond_wait" };
	bool takes[4] = { false };
	char got[5] = "";
	int nr = 0;

	assert_int_equal(symfile_imports(compiled_open(compiled_path(file)), names, 4, takes), !all);
	for (int i = 0; i < 4; i++)
		if (takes[i])
			got[nr++] = "rluw"[i];
	if (!all)
		assert_string_equal(got, want);
}

static void library_of_static_programs(void **state)
{
	static const char *const compilers[] = { "gcc -O0", "gcc -O2", "gcc -O2 -pie", "g++ -O2 -x c++", "clang-19 -O2",
						 "musl-gcc -O0", "musl-gcc -O2" };
	char command[160], name[20], err[200];
	struct symfile *f, *full;

	(void)state;
	for (size_t i = 0; i < sizeof(compilers) / sizeof(compilers[0]); i++) {
		snprintf(command, sizeof(command), "%.*s --version", (int)strcspn(compilers[i], " "), compilers[i]);
		strcat(command, " >/dev/null 2>&1");
		if (system(command))
			continue;
		snprintf(name, sizeof(name), "library-%zu", i);
		snprintf(command, sizeof(command), "%s -static%s -pthread -o %s l.c && strip -o %s-s %s", compilers[i],
			 strstr(compilers[i], "-pie") ? "-pie" : "", name, name, name);
		compiled_make("l.c", library_source, command);
		f = symbols_file(compiled_syms, compiled_path(name), NULL, err, sizeof(err));
		assert_non_null(f);
		if (is_library(f, "main") || is_library(f, "*work*") || is_library(f, "*rare*"))
			fail_msg("%s: the program's own code", compilers[i]);
		if (!is_library(f, "pthread_mutex_lock") || !is_library(f, "pthread_mutex_unlock") ||
		    !is_library(f, "pthread_create") || !is_library(f, "abort") || !is_library(f, "_start"))
			fail_msg("%s: the C library's code", compilers[i]);
		assert_true(symfile_c_library(f) >= symfile_library(f) && symfile_c_library(f) != UINT64_MAX);
		full = f;
		strcat(name, "-s");
		f = symbols_file(compiled_syms, compiled_path(name), NULL, err, sizeof(err));
		assert_non_null(f);
		assert_false(takes_for_library(full, "main", f) || takes_for_library(full, "*work*", f) ||
			     takes_for_library(full, "*rare*", f));
		/* by the library's archive, where that is on the machine */
		assert_true((symfile_library(f) == UINT64_MAX) == !symfile_archive(f));
		assert_true(takes_for_library(full, "pthread_mutex_lock", f) == (symfile_archive(f) != 0));
	}
	compiled_make("l.c", library_source, "gcc -O2 -o dynamic l.c");
	f = symbols_file(compiled_syms, compiled_path("dynamic"), NULL, err, sizeof(err));
	assert_non_null(f);
	assert_true(symfile_library(f) == UINT64_MAX);
}

static void imports(void **state)
{
	(void)state;
	compiled_make("imports.c", compiled_c, "cc -o imports imports.c -pthread");
	expect_imports("imports", false, "lu");
	compiled_make("static.c", compiled_c, "cc -static -o static static.c -pthread");
	expect_imports("static", false, "");
	/* the linker keeps one string where another ends alike; without dlsym() a string says nothing */
	compiled_make("strings.c", "#include <stdio.h>\nint main(void) { puts(\"my_pthread_cond_wait\"); "
	     "puts(\"pthread_cond_wait\"); puts(\"pthread_mutex_lock()\"); return 0; }\n", "cc -o strings strings.c");
	expect_imports("strings", false, "");
	compiled_make("looks.c", "#include <dlfcn.h>\n#include <stdio.h>\nint main(void) { puts(\"my_pthread_cond_wait\"); "
	     "puts(\"pthread_mutex_lock()\"); return !dlsym(0, \"pthread_cond_wait\"); }\n", "cc -o looks looks.c");
	expect_imports("looks", false, "w");
	compiled_make("ffi.c", "void ffi_call(void); void f(void) { ffi_call(); }\n", "cc -shared -fPIC -o ffi ffi.c");
	expect_imports("ffi", true, "");
	/* nothing to tell it by */
	compiled_make("cut.sh", "", "cp imports cut && objcopy --strip-section-headers cut 2>/dev/null ||"
	     "printf '\\0\\0\\0\\0' | dd of=cut bs=1 seek=60 conv=notrunc status=none");
	expect_imports("cut", true, "");
}

static void files_of_libraries(void **state)
{
	static const char *const theirs[] = { "/usr/include/c++/12/bits/std_mutex.h", "/opt/gcc/include/c++/14/mutex",
		"/srv/root/usr/include/stdio.h", "./crt/crt1.c", "/rustc/90b35a/library/core/src/cell.rs", "../sysdeps/posix/raise.c",
		"../csu/libc-start.c", "./libio/fileops.c", "libio/fileops.c",
		/* as clang names it */
		"/usr/bin/../lib/gcc/x86_64-linux-gnu/12/../../../../include/x86_64-linux-gnu/c++/12/bits/gthr-default.h",
		"/opt/llvm/lib/clang/19/include/immintrin.h", "/home/u/venv/lib/python3.11/site-packages/flask/app.py",
		"/srv/root/usr/lib/python3/dist-packages/flask/app.py" };
	static const char *const ours[] = { "/home/u/src/bank.c", "bank.c", "/usr/src/bank/bank.c", "include/bank.h",
		"/home/u/lib/gccx/main.c" };

	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
		assert_true(symbols_of_library(theirs[i]));
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		assert_false(symbols_of_library(ours[i]));
}

/* Code is the program's own by the innermost file that is no language's; what a package has inlined into it is not. */
static void whose_code(void **state)
{
	static const char *const names[] = { "deposit", "submit", "spin" };
	static const bool own[] = { true, false, false };
	static const char *const counts[] = { "release", "asks", "hit" };
	struct symfile *f;

	(void)state;
	compiled_run("mkdir -p %s/vendor/pool %s/.cargo/registry/src/pool-1.0", compiled_dir, compiled_dir);
	compiled_write("vendor/pool/pool.h", "static inline __attribute__((always_inline)) int count(int *p) { return ++*p; }\n", 80);
	compiled_make(".cargo/registry/src/pool-1.0/pool.c",
		      "int waiting;\n__attribute__((noinline)) int spin(void) { return ++waiting; }\n", "true");
	compiled_make("shop.c",
		      "#include \"vendor/pool/pool.h\"\nint sum, jobs, spin(void);\n"
		      "__attribute__((noinline)) int deposit(int n) { return sum += n; }\n"
		      "__attribute__((noinline)) int submit(void) { return count(&jobs); }\n"
		      "int main(void) { return deposit(1) + submit() + spin(); }\n",
		      "gcc -g -O1 -o shop shop.c .cargo/registry/src/pool-1.0/pool.c");
	f = compiled_open(compiled_path("shop"));
	for (int i = 0; i < 3; i++) {
		struct compiled_found at = compiled_find(f, names[i]);

		assert_int_equal(at.nr, 1);
		/* the last instruction but the return accesses the variable, or is inlined from there */
		assert_int_equal(symfile_is_own(f, at.last.offset + 3), own[i]);
	}
	assert_false(symfile_is_own(f, UINT64_MAX));
	/* a smart pointer of C++ counts owners in whatever function it is used: not so what the program asks it, and does itself */
	compiled_make("counts.cc",
		      "#define INLINE static inline __attribute__((always_inline))\n"
		      "namespace __gnu_cxx { INLINE int __exchange_and_add(int *p, int n) { return *p += n; } }\n"
		      "template<int> struct _Sp_counted_base { static int owners; INLINE int use_count() { return ++owners; } };\n"
		      "template<> int _Sp_counted_base<2>::owners = 1;\nint hits;\nextern \"C\" {\n"
		      "__attribute__((noinline)) int release(void) { return __gnu_cxx::__exchange_and_add(&hits, -1); }\n"
		      "__attribute__((noinline)) int asks(void) { return _Sp_counted_base<2>::use_count(); }\n"
		      "__attribute__((noinline)) int hit(void) { return ++hits; }\n}\n"
		      "int main(void) { return release() + asks() + hit(); }\n", "g++ -g -O1 -o counts counts.cc");
	f = compiled_open(compiled_path("counts"));
	for (int i = 0; i < 3; i++) {
		struct compiled_found at = compiled_find(f, counts[i]);

		assert_int_equal(at.nr, 1);
		assert_int_equal(symfile_is_own(f, at.last.offset + 3), i > 0);
	}
	/* as go test -exec links one */
	assert_false(symfile_is_go(f));
	compiled_make("go.c", "__attribute__((section(\".gopclntab\"), used)) int table;\nint main(void) { return table; }\n",
		      "gcc -o go go.c && strip go");
	assert_true(symfile_is_go(compiled_open(compiled_path("go"))));
}

/* Each package of Go's library is a unit by itself: that its name is no path does not make it the program's. */
static void whose_package(void **state)
{
	static const char code[] = "#line 1 \"/usr/lib/go-1.19/src/sync/mutex.go\"\nint held;\n"
				   "__attribute__((noinline)) int lock(void) { return ++held; }\n"
				   "int main(void) { return lock(); }\n";
	static const char go[] = "gcc -g -O1 -dA -S std.c && sed -i 's/0x[0-9a-f]*\t# DW_AT_language$/0x16/' std.s && "
				 "gcc -o go-std std.s";

	(void)state;
	for (int is_go = 0; is_go < 2; is_go++) {
		struct compiled_found at;
		struct symfile *f;

		compiled_make("std.c", code, is_go ? go : "gcc -g -O1 -o std std.c");
		f = compiled_open(compiled_path(is_go ? "go-std" : "std"));
		at = compiled_find(f, "lock");
		assert_int_equal(at.nr, 1);
		assert_int_equal(symfile_is_own(f, at.last.offset + 3), !is_go);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whose_files),
		cmocka_unit_test(the_c_library),
		cmocka_unit_test(library_of_static_programs),
		cmocka_unit_test(imports),
		cmocka_unit_test(files_of_libraries),
		cmocka_unit_test(whose_code),
		cmocka_unit_test(whose_package),
	};

	return cmocka_run_group_tests(tests, compiled_begin, compiled_end);
}
