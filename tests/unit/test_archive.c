// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_archive.c - names of a stripped static program, by the archive of its C library: each is the symbol table's, and nothing
 * has a name that was not linked with that archive
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "compiled.h"
#include "symbols/sym_archive.h"

#define MUSL	"/usr/lib/x86_64-linux-musl"
#define GLIBC	"/usr/lib/x86_64-linux-gnu"

static const char source[] =
	"#include <pthread.h>\n"
	"#include <semaphore.h>\n"
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"#include <threads.h>\n"
	"#include <time.h>\n"
	"static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
	"static pthread_cond_t c = PTHREAD_COND_INITIALIZER;\n"
	"static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;\n"
	"static pthread_once_t once = PTHREAD_ONCE_INIT;\n"
	"static pthread_barrier_t b;\n"
	"static sem_t s;\n"
	"static mtx_t mtx;\n"
	"static cnd_t cnd;\n"
	"static void init(void) { sem_init(&s, 0, 1); pthread_barrier_init(&b, 0, 1); mtx_init(&mtx, 0); cnd_init(&cnd); }\n"
	"static __attribute__((cold, noinline)) void rare(void) { abort(); }\n"
	/* as short as some of the library's, and in all likelihood the same code as one of them */
	"__attribute__((noinline)) int my_wait(sem_t *p) { return sem_timedwait(p, NULL); }\n"
	"__attribute__((noinline)) void *my_copy(void *a, const void *b, size_t n) { return memcpy(a, b, n); }\n"
	"__attribute__((noinline)) void *work(void *p)\n"
	"{\n"
	"	char *text = malloc(20), *copy;\n"
	"	pthread_once(&once, init);\n"
	"	pthread_mutex_lock(&m); if (!p) rare(); pthread_cond_signal(&c); pthread_mutex_unlock(&m);\n"
	"	if (!pthread_mutex_trylock(&m)) { if (!text) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); }\n"
	"	pthread_rwlock_rdlock(&rw); pthread_rwlock_unlock(&rw); pthread_rwlock_wrlock(&rw); pthread_rwlock_unlock(&rw);\n"
	"	sem_wait(&s); sem_post(&s); my_wait(&s); sem_post(&s); pthread_barrier_wait(&b);\n"
	"	mtx_lock(&mtx); cnd_broadcast(&cnd); if (!text) cnd_wait(&cnd, &mtx); mtx_unlock(&mtx);\n"
	"	snprintf(text, 20, \"%ld\", (long)time(NULL)); copy = strdup(text); my_copy(text, copy, 4); free(copy); free(text);\n"
	"	return p;\n"
	"}\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	pthread_t t;\n"
	"	pthread_create(&t, NULL, work, argv[0]); puts(argv[argc - 1]); return pthread_join(t, NULL);\n"
	"}\n";

static const char *const wanted[] = {
	"pthread_mutex_lock", "__pthread_mutex_lock", "pthread_mutex_unlock", "pthread_mutex_trylock", "pthread_cond_wait",
	"pthread_cond_signal", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_rwlock_unlock", "pthread_once",
	"pthread_create", "pthread_join", "pthread_barrier_wait", "sem_init", "sem_wait", "sem_post", "mtx_lock", "mtx_unlock",
	"cnd_wait", "cnd_broadcast", "malloc", "free", "memcpy", "strdup", "snprintf", "__libc_start_main", "main",
};

/* The build exists on this machine: its compiler, and the archive. */
static bool is_there(const char *compiler, const char *folder)
{
	char command[300];

	snprintf(command, sizeof(command), "%.*s --version >/dev/null 2>&1 && test -f %s/libc.a",
		 (int)strcspn(compiler, " "), compiler, folder);
	return !system(command);
}

static bool has_name(const struct sym *list, size_t nr, const char *name, uint64_t vaddr)
{
	for (size_t i = 0; i < nr; i++)
		if (list[i].vaddr == vaddr && !strcmp(list[i].name, name))
			return true;
	return false;
}

/* The stripped program's names against the symbol table. How many there are. */
static size_t compare_names(struct symfile *stripped, struct symfile *full, const char *build)
{
	const struct sym_archive_names *names = sym_archive_names(stripped);

	sym_read_symbols(full);
	for (size_t i = 0; i < names->list.nr; i++) {
		const struct sym *s = &names->list.list[i];

		if (!has_name(full->syms, full->nr_syms, s->name, s->vaddr))
			fail_msg("%s: 0x%lx is not %s", build, s->vaddr, s->name);
	}
	return names->list.nr;
}

static void each_build(void **state)
{
	static const struct {
		const char *compiler, *folder;
	} builds[] = {
		{ "gcc -O2 -static", GLIBC }, { "gcc -O0 -static", GLIBC }, { "gcc -O2 -static-pie", GLIBC },
		{ "clang-19 -O2 -static", GLIBC }, { "musl-gcc -O2 -static", MUSL }, { "musl-gcc -O0 -static", MUSL },
		{ "musl-gcc -O2 -static -Wl,--gc-sections", MUSL },
	};
	struct symfile *full, *stripped;
	char name[20];
	size_t nr;

	(void)state;
	for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
		if (!is_there(builds[i].compiler, builds[i].folder))
			continue;
		snprintf(name, sizeof(name), "each-%zu", i);
		compiled_write("each.c", source, strlen(source));
		compiled_run("cd %s && %s -w -pthread -o %s each.c && strip -o %s-s %s", compiled_dir, builds[i].compiler, name,
			     name, name);
		full = compiled_open(compiled_path(name));
		assert_false(symfile_archive(full));
		strcat(name, "-s");
		stripped = compiled_open(compiled_path(name));
		nr = compare_names(stripped, full, builds[i].compiler);
		assert_true(symfile_archive(stripped));
		for (size_t k = 0; k < sizeof(wanted) / sizeof(wanted[0]); k++)
			if (compiled_find(full, wanted[k]).nr && !compiled_find(stripped, wanted[k]).nr)
				fail_msg("%s: %s has no name", builds[i].compiler, wanted[k]);
		print_message("# %s: %zu names\n", builds[i].compiler, nr);
		assert_int_equal(symfile_libc(stripped), symfile_libc(full));
		/* the code that is told to be the library's: all of the archive's, and nothing of the program's */
		assert_true(symfile_library(stripped) != UINT64_MAX && symfile_library(stripped) <= symfile_library(full));
		for (size_t k = 0; k < full->nr_syms; k++)
			if (!strcmp(full->syms[k].name, "work") || !strcmp(full->syms[k].name, "my_wait") ||
			    !strcmp(full->syms[k].name, "rare") || !strcmp(full->syms[k].name, "init"))
				assert_false(symfile_is_library(stripped, symfile_offset_of(stripped, full->syms[k].vaddr)));
	}
}

/* What was not linked with the archive has no names of it: not with another C library's, nor with none. */
static void other_programs(void **state)
{
	static const char none[] =
		"static void *copy(char *a, const char *b, unsigned long n) { while (n--) a[n] = b[n]; return a; }\n"
		"char from[9], to[9];\n"
		"void _start(void) { copy(to, from, 9); for (;;) __asm__ volatile(\"pause\"); }\n";
	struct sym_archive_names names = { 0 };

	(void)state;
	compiled_make("none.c", none, "cc -O2 -static -nostdlib -fno-builtin -o none none.c && strip none");
	compiled_make("other.c", source, "cc -O2 -w -static -pthread -o other other.c && strip other && "
		      "cc -O2 -w -shared -fPIC -o other.so other.c && strip other.so && "
		      "cc -O2 -w -pthread -o shared other.c && strip shared");
	assert_false(sym_archive_look(compiled_open(compiled_path("none")), GLIBC, &names));
	assert_false(sym_archive_look(compiled_open(compiled_path("none")), MUSL, &names));
	assert_false(sym_archive_look(compiled_open(compiled_path("other")), MUSL, &names));
	assert_int_equal(names.list.nr, 0);
	assert_int_equal(symfile_archive(compiled_open(compiled_path("none"))), 0);
	assert_int_equal(symfile_archive(compiled_open(compiled_path("other.so"))), 0);
	assert_int_equal(symfile_archive(compiled_open(compiled_path("shared"))), 0);
}

/* A program with functions of the library's names: these are told by no bytes, and what the library calls is theirs. */
static void own_functions(void **state)
{
	static const char own[] =
		"#include <pthread.h>\n#include <stdlib.h>\n"
		"static char room[1 << 16]; static size_t used;\n"
		"void *malloc(size_t n) { void *p = room + used; used += (n + 15) & ~15ul; return p; }\n"
		"void free(void *p) { (void)p; }\n"
		"void *calloc(size_t n, size_t m) { return malloc(n * m); }\n"
		"void *realloc(void *p, size_t n) { (void)p; return malloc(n); }\n"
		"static void *work(void *p) { return realloc(p, 9); }\n"
		"int main(void) { pthread_t t; pthread_create(&t, 0, work, malloc(9));\n"
		"	return pthread_join(t, NULL); }\n";
	static const char *const compilers[] = { "musl-gcc", "gcc" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct symfile *stripped;
		char name[20];

		if (!is_there(compilers[i], i ? GLIBC : MUSL))
			continue;
		snprintf(name, sizeof(name), "own-%zu", i);
		compiled_write("own.c", own, strlen(own));
		compiled_run("cd %s && %s -O2 -w -static -pthread -o %s own.c && strip -o %s-s %s",
			     compiled_dir, compilers[i], name, name, name);
		stripped = compiled_open(compiled_path(strcat(strcpy(name, i ? "own-1" : "own-0"), "-s")));
		name[5] = '\0';
		assert_true(compare_names(stripped, compiled_open(compiled_path(name)), compilers[i]) > 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_build),
		cmocka_unit_test(other_programs),
		cmocka_unit_test(own_functions),
	};

	return cmocka_run_group_tests(tests, compiled_begin, compiled_end);
}
