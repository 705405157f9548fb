// SPDX-License-Identifier: GPL-2.0-only
/* test_code_calls.c - the catalogue's calls of functions of the C library and of libstdc++ */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "code_places.h"
#include "compiled.h"

static const char calls_source[] =
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"#include <sys/socket.h>\n"
	"#include <sys/uio.h>\n"
	"#include <unistd.h>\n"
	"__attribute__((noinline)) int calls(char *a, const char *b, size_t n)\n"
	"{\n"
	"	memcpy(a, b, n);\n"
	"	memset(a, 0, n);\n"
	"	strcpy(a, b);\n"
	"	sprintf(a, b, n);\n"
	"	snprintf(a, n, b, n);\n"
	"	strncpy(a, b, n);\n"
	"	if (atoi(b) + strncmp(a, b, n) == 77) return 2;\n"
	"	if (write(1, b, n) + send(1, b, n, 0) < 0 || read(0, a, n) + recv(0, a, n, 0) < 0) return 1;\n"
	"	if (writev(1, (void *)b, n) < 0 || readv(0, (void *)b, n) < 0) return 3;\n"
	"	if (sendmsg(1, (void *)b, 0) < 0 || recvmsg(0, (void *)b, 0) < 0) return 4;\n"
	"	if (fputs(b, stdout) < 0 || !fgets(a, n, stdin)) return 5;\n"
	"	if (fwrite(b, 1, n, stdout) + fread(a, 1, n, stdin) == 77) return 6;\n"
	"	if (n == 78) { free(a); return 7; }\n"
	"	if (n == 80) { strcat(a, b); qsort(a, n, 1, (void *)b); return memchr(b, 1, n) == a; }\n"
	"	if (n == 79) return realloc(a, 3) != 0;\n"
	"	return memcmp(a, b, n) + strcmp(a, b) + (int)strlen(b) + (int)strnlen(b, n);\n"
	"}\n"
	"__attribute__((noinline)) void *jumps(char *a, const char *b, size_t n) { return memmove(a, b, n); }\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	char a[8] = \"\", *p = jumps(a, \"b\", 1);\n"
	"	return calls(p, argv[0], 1) == 77;\n"
	"}\n";

/* The linker's own jumps load addresses, but are no code of the program. */
static void no_jumps(const struct code *c, const char *path, const char *form)
{
	FILE *file = fopen(path, "r");
	uint8_t b[3];

	assert_non_null(file);
	for (uint32_t i = 0; i < code_nr(c); i++) {
		assert_int_equal(fseek(file, code_at(c, i)->offset, SEEK_SET), 0);
		assert_int_equal(fread(b, 1, sizeof(b), file), sizeof(b));
		/* jmp *ADDRESS(%rip), also with bnd */
		if (code_at(c, i)->kind == CODE_LOAD && !memcmp(b + (b[0] == 0xf2), "\xff\x25", 2))
			fail_msg("%s: a load of the linker's at %x", form, code_at(c, i)->offset);
	}
	fclose(file);
}

/* Calls of the C library's functions on blocks are told, whichever way they go there. */
static void test_calls(void **state)
{
	static const char *const forms[] = {
		"-pie", "-pie -fno-plt", "-no-pie -Wl,-z,lazy", "-fcf-protection -Wl,-z,ibtplt", "-static", "-static-pie",
	};
	static const struct {
		enum code_block block;
		unsigned int operand, second;
	} expected[] = {
		{ CODE_BLOCK_COPY, CODE_WRITE, CODE_READ },
		{ CODE_BLOCK_FILL, CODE_WRITE, 0 },
		{ CODE_BLOCK_STRCPY, CODE_WRITE, CODE_READ },
		{ CODE_BLOCK_COMPARE, CODE_READ, CODE_READ },
		{ CODE_BLOCK_STRCMP, CODE_READ, CODE_READ },
		{ CODE_BLOCK_STRLEN, CODE_READ, 0 },
		{ CODE_BLOCK_PRINT, CODE_WRITE, 0 },
		{ CODE_BLOCK_PRINT_N, CODE_WRITE, 0 },
		{ CODE_BLOCK_TEXT, CODE_READ, 0 },
		{ CODE_BLOCK_TEXTS, CODE_READ, CODE_READ },
		{ CODE_BLOCK_STRNCPY, CODE_WRITE, CODE_READ },
		{ CODE_BLOCK_STRCAT, CODE_WRITE, CODE_READ },
		{ CODE_BLOCK_SORT, CODE_WRITE, 0 },
		{ CODE_BLOCK_SEARCH, CODE_READ, 0 },
		{ CODE_BLOCK_FREE, CODE_WRITE, 0 },
		{ CODE_BLOCK_SEND, CODE_READ, 0 },
		{ CODE_BLOCK_RECEIVE, CODE_WRITE, 0 },
		{ CODE_BLOCK_PUTS, CODE_READ, 0 },
		{ CODE_BLOCK_FGETS, CODE_WRITE, 0 },
		{ CODE_BLOCK_FREAD, CODE_WRITE, 0 },
		{ CODE_BLOCK_FWRITE, CODE_READ, 0 },
		{ CODE_BLOCK_SEND_PIECES, CODE_READ, CODE_READ },
		{ CODE_BLOCK_RECEIVE_PIECES, CODE_WRITE, CODE_WRITE },
		{ CODE_BLOCK_SEND_MESSAGE, CODE_READ, CODE_READ },
		{ CODE_BLOCK_RECEIVE_MESSAGE, CODE_WRITE, CODE_WRITE },
	};

	compiled_write("calls.c", calls_source, strlen(calls_source));
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		unsigned int nr = 0, seen = 0;
		struct code *c;
		struct code_places f;

		compiled_run("gcc -O2 -fno-builtin %s -o %s %s", forms[i], compiled_path("calls"), compiled_path("calls.c"));
		c = code_places_open(compiled_path("calls"), CODE_CACHE_NONE);
		f = code_places_of(c, compiled_path("calls"), "calls");
		for (unsigned int k = 0; k < f.nr; k++) {
			uint8_t bytes[16];
			FILE *file;

			if (f.p[k]->kind != CODE_BLOCK)
				continue;
			nr++;
			for (size_t b = 0; b < sizeof(expected) / sizeof(expected[0]); b++) {
				if (f.p[k]->size != expected[b].block)
					continue;
				seen |= 1u << b;
				assert_int_equal(f.p[k]->flags & (CODE_READ | CODE_WRITE), expected[b].operand);
				assert_int_equal(code_second(f.p[k]), expected[b].second);
			}
			assert_int_equal(f.p[k]->base, f.p[k]->size >= CODE_BLOCK_SEND ? CODE_RSI : CODE_RDI);
			assert_true(f.p[k]->flags & CODE_PROBE);
			file = fopen(compiled_path("calls"), "r");
			assert_non_null(file);
			assert_int_equal(fseek(file, f.p[k]->offset, SEEK_SET), 0);
			assert_int_equal(fread(bytes, 1, sizeof(bytes), file), sizeof(bytes));
			fclose(file);
			assert_true(code_verify(f.p[k], bytes, sizeof(bytes)));
			bytes[0] = 0x90;
			assert_false(code_verify(f.p[k], bytes, sizeof(bytes)));
		}
		if (nr != 28 || seen != (1u << sizeof(expected) / sizeof(expected[0])) - 1)
			fail_msg("%s: %u calls, kinds %x", forms[i], nr, seen);
		f = code_places_of(c, compiled_path("calls"), "jumps");
		if (f.nr != 1 || f.p[0]->kind != CODE_BLOCK || f.p[0]->size != CODE_BLOCK_COPY)
			fail_msg("%s: the jump to memmove: %d places", forms[i], f.nr);
		code_free(c);
		compiled_run("strip %s", compiled_path("calls"));
		c = code_places_open(compiled_path("calls"), CODE_CACHE_NONE);
		no_jumps(c, compiled_path("calls"), forms[i]);
		code_free(c);
	}
}

/* Which values of a format are strings, by the general registers before them. */
static void test_formats(void **state)
{
	static const struct {
		const char *format;
		int first, second;
	} known[] = {
		{ "%s", 0, -1 }, { "100%% of %d %s", 1, -1 }, { "%s and %s", 0, 1 }, { "%*d %-8s", 2, -1 },
		{ "%f %s %Lf %m %s", 0, 1 },
		{ "%.3s %s", 1, -1 }, { "%ls %hhd %zu %s", 3, -1 }, { "%2$s", -1, -1 }, { "none", -1, -1 }, { "%", -1, -1 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (code_printed_string(known[i].format, 0) != known[i].first ||
		    code_printed_string(known[i].format, 1) != known[i].second)
			fail_msg("'%s': %d and %d", known[i].format, code_printed_string(known[i].format, 0),
				 code_printed_string(known[i].format, 1));
}

static const char prints_source[] =
	"#include <stdio.h>\n"
	"char name[32];\n"
	"__attribute__((noinline)) void prints(char *to, FILE *f, int n)\n"
	"{\n"
	"	snprintf(to, 32, \"%d %s\", n, name);\n"
	"	sprintf(to, \"%s\", name);\n"
	"	fprintf(f, \"%s: %s\", \"constant\", name);\n"
	"	printf(\"%s %d\", name, n);\n"
	"	printf(\"%d\", n);\n"
	"	snprintf(to, 32, \"%d\", n);\n"
	"	fprintf(f, \"%.5s\", name);\n"
	"}\n"
	"int main(void) { prints(name, stdout, 1); return 0; }\n";

/* The string that a call prints is its second operand, or its only one, wherever the format says it is. */
static void test_prints(void **state)
{
	static const char *const forms[] = { "-O2 -pie", "-O0 -no-pie", "-O1 -static" };
	static const struct {
		enum code_block block;
		uint8_t base, second;
	} expected[] = {
		{ CODE_BLOCK_PRINT_N, CODE_RDI, CODE_R8 }, { CODE_BLOCK_PRINT, CODE_RDI, CODE_RDX },
		{ CODE_BLOCK_STREAM, CODE_RDI, CODE_RCX }, { CODE_BLOCK_PRINT_TEXT, CODE_RSI, CODE_NO_REG },
		{ CODE_BLOCK_PRINT_N, CODE_RDI, CODE_NO_REG }, { CODE_BLOCK_STREAM, CODE_RDI, CODE_NO_REG },
	};

	compiled_write("prints.c", prints_source, strlen(prints_source));
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct code *c;
		struct code_places f;
		unsigned int n = 0;

		compiled_run("gcc -fno-builtin %s -o %s %s", forms[i], compiled_path("prints"), compiled_path("prints.c"));
		c = code_places_open(compiled_path("prints"), CODE_CACHE_NONE);
		f = code_places_of(c, compiled_path("prints"), "prints");
		for (unsigned int k = 0; k < f.nr; k++) {
			const struct code_place *p = f.p[k];

			if (p->kind != CODE_BLOCK)
				continue;
			if (n >= sizeof(expected) / sizeof(expected[0]) || p->size != expected[n].block ||
			    p->base != expected[n].base || p->index != expected[n].second ||
			    code_second(p) != (p->index == CODE_NO_REG ? 0 : CODE_READ))
				fail_msg("gcc %s: call %u of kind %d, base %d, second %d", forms[i], n, p->size, p->base,
					 p->index);
			n++;
		}
		assert_int_equal(n, sizeof(expected) / sizeof(expected[0]));
		code_free(c);
	}
}

static const char own_source[] =
	"static char sent[8];\n"
	"__attribute__((noinline)) long read(int n, long p) { return sent[n] + p; }\n"
	"__attribute__((noinline)) static long send(int n, long p) { sent[n] = p; return p + 1; }\n"
	"__attribute__((noinline)) long calls(int n) { return read(n, 1) + send(n, n) + 1; }\n"
	"int main(int argc, char **argv) { return calls(argc & 7) == 77; }\n";

/* A program's own functions of such a name are others. */
static void test_own_functions(void **state)
{
	static const char *const forms[] = { "-O2", "-O0" };

	compiled_write("own.c", own_source, strlen(own_source));
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct code *c;

		compiled_run("gcc %s -fno-ipa-cp -o %s %s", forms[i], compiled_path("own"), compiled_path("own.c"));
		c = code_places_open(compiled_path("own"), CODE_CACHE_NONE);
		for (uint32_t k = 0; k < code_nr(c); k++)
			assert_int_not_equal(code_at(c, k)->kind, CODE_BLOCK);
		code_free(c);
	}
}

static const char deletes_source[] =
	"struct S { long a[4]; virtual ~S(); };\n"
	"S::~S() {}\n"
	"extern \"C\" void one(S *s) { delete s; }\n"
	"extern \"C\" void sized(long *p) { delete p; }\n"
	"extern \"C\" void array(char *p) { delete[] p; }\n"
	"int main() { one(new S); sized(new long(1)); array(new char[9]); }\n";

/* Calls of operator delete, those of destructors too. */
static void test_deletes(void **state)
{
	static const char *const forms[] = { "-O2 -pie", "-O0 -fno-plt", "-O1 -static" };

	compiled_write("deletes.cc", deletes_source, strlen(deletes_source));
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		static const char *const functions[] = { "_ZN1SD0Ev", "sized", "array" };
		struct code *c;

		compiled_run("g++ %s -fno-inline -o %s %s", forms[i], compiled_path("deletes"), compiled_path("deletes.cc"));
		c = code_places_open(compiled_path("deletes"), CODE_CACHE_NONE);
		for (int f = 0; f < 3; f++) {
			struct code_places places = code_places_of(c, compiled_path("deletes"), functions[f]);
			unsigned int nr = 0;

			for (unsigned int k = 0; k < places.nr; k++) {
				if (places.p[k]->kind != CODE_BLOCK)
					continue;
				nr++;
				assert_int_equal(places.p[k]->size, f == 2 ? CODE_BLOCK_FREE : CODE_BLOCK_FREE_SIZED);
				assert_true(code_block_access(places.p[k]->size)->frees);
				assert_int_equal(places.p[k]->base, CODE_RDI);
			}
			if (nr != 1)
				fail_msg("%s: %s has %u calls", forms[i], functions[f], nr);
		}
		code_free(c);
	}
}

static void test_names(void **state)
{
	assert_int_equal(code_block("_RNvCsfLfy6EI15iL_7___rustc14___rust_dealloc"), CODE_BLOCK_FREE_SIZED);
	assert_int_equal(code_block("__rust_dealloc"), CODE_BLOCK_FREE_SIZED);
	assert_int_equal(code_block("_RNvCsfLfy6EI15iL_7___rustc12___rust_alloc"), 0);
	assert_int_equal(code_block("freeaddrinfo"), CODE_BLOCK_CLOSE);
	assert_true(code_block_access(CODE_BLOCK_CLOSE)->frees);
	assert_int_equal(code_block("__atomic_load_16"), CODE_BLOCK_ATOMIC_LOAD);
	assert_int_equal(code_block("__atomic_store_16"), CODE_BLOCK_ATOMIC_STORE);
	assert_int_equal(code_block("__atomic_compare_exchange_16"), CODE_BLOCK_ATOMIC_RMW);
	assert_int_equal(code_block("__atomic_compare_exchange"), 0);
	assert_true(code_block_access(CODE_BLOCK_ATOMIC_RMW)->atomic);
	assert_int_equal(code_block("munmap"), CODE_BLOCK_UNMAP);
	assert_true(code_block_access(CODE_BLOCK_UNMAP)->frees);
	assert_int_equal(code_block_access(code_block("fprintf"))->operand, CODE_READ);
	/* where what they write lies is another argument */
	assert_int_equal(code_block_access(code_block("getline"))->base, CODE_RDI);
	assert_int_equal(code_block_access(code_block("ctime_r"))->base, CODE_RSI);
	assert_int_equal(code_block_access(code_block("clock_gettime"))->base, CODE_RSI);
	assert_int_equal(code_block_access(code_block("inet_ntop"))->base, CODE_RDX);
}

static const char containers_source[] =
	"#include <list>\n"
	"#include <map>\n"
	"extern \"C\" void containers(std::list<int> &l, std::map<int, int> &m, int k)\n"
	"{ l.push_back(k); l.splice(l.begin(), l, --l.end()); l.pop_back(); m[k] = 1; m.erase(m.begin()); }\n"
	"int main() { std::list<int> l; std::map<int, int> m; containers(l, m, 3); }\n";

/* The functions of libstdc++ that link the nodes of containers are told, and what they change. */
static void test_containers(void **state)
{
	static const char *const forms[] = { "-O2 -pie", "-O0 -fno-plt", "-O1 -static" };

	compiled_write("containers.cc", containers_source, strlen(containers_source));
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		uint64_t seen = 0;
		struct code *c;

		compiled_run("g++ %s -o %s %s", forms[i], compiled_path("containers"), compiled_path("containers.cc"));
		c = code_places_open(compiled_path("containers"), CODE_CACHE_NONE);
		for (uint32_t k = 0; k < code_nr(c); k++) {
			const struct code_place *p = code_at(c, k);
			bool walks, alone;

			if (p->kind != CODE_BLOCK || p->size < CODE_BLOCK_LIST || p->size > CODE_BLOCK_TREE_INSERT)
				continue;
			seen |= 1ull << p->size;
			walks = p->size == CODE_BLOCK_TREE_WALK;
			alone = walks || p->size == CODE_BLOCK_LIST;
			assert_int_equal(p->base, p->size == CODE_BLOCK_TREE_INSERT ? CODE_RCX : CODE_RDI);
			assert_int_equal(p->flags & (CODE_READ | CODE_WRITE), walks ? CODE_READ : CODE_WRITE);
			assert_int_equal(code_second(p), alone ? 0 : CODE_WRITE);
			assert_int_equal(code_block_access(p->size)->bytes, p->size <= CODE_BLOCK_LIST_TWO ? 16 : 32);
		}
		seen |= 1ull << CODE_BLOCK_TREE_WALK;
		if (seen != ((2ull << CODE_BLOCK_TREE_INSERT) - (1ull << CODE_BLOCK_LIST)))
			fail_msg("%s: kinds %lx", forms[i], (unsigned long)seen);
		code_free(c);
	}
}

static const char keeps_source[] =
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"#include <time.h>\n"
	"int day;\n"
	"__attribute__((noinline)) char *words(char *a) { char *p = strtok(a, \" \"); return p ? p + 1 : strtok(0, \" \"); }\n"
	"__attribute__((noinline)) int date(time_t *t) { day = localtime(t)->tm_mday; return gmtime(t)->tm_mon; }\n"
	"__attribute__((noinline)) struct tm *passes(time_t *t) { return gmtime(t); }\n"
	"__attribute__((noinline)) int sets(char *a) { return setenv(a, a, 1) ? 1 : getenv(a) != a; }\n"
	"int main(int argc, char **argv) { time_t t = argc; return words(argv[0]) || date(&t) || passes(&t) || sets(argv[0]); }\n";

/* The places of a function that stand for what functions keep: their kinds in *kinds, the operand in *operand. Their number. */
static unsigned int kept_places(const struct code *c, const char *function, unsigned int *kinds, uint64_t *operand)
{
	struct code_places f = code_places_of(c, compiled_path("keeps"), function);
	unsigned int nr = 0;
	uint64_t at;

	*kinds = 0;
	for (unsigned int k = 0; k < f.nr; k++) {
		uint8_t bytes[16];
		FILE *file;

		if (f.p[k]->kind != CODE_BLOCK || !code_block_access(f.p[k]->size)->keeps)
			continue;
		assert_true(code_static_operand(c, f.p[k], &at));
		assert_true(!nr || at == *operand);
		*operand = at;
		*kinds |= 1u << (f.p[k]->size - CODE_BLOCK_KEEP);
		nr++;
		file = fopen(compiled_path("keeps"), "r");
		assert_non_null(file);
		assert_int_equal(fseek(file, f.p[k]->offset, SEEK_SET), 0);
		assert_int_equal(fread(bytes, 1, sizeof(bytes), file), sizeof(bytes));
		fclose(file);
		assert_true(code_verify(f.p[k], bytes, sizeof(bytes)));
	}
	return nr;
}

/* Functions that keep something for all threads: one operand for each group, and where the result is used. */
static void test_keepers(void **state)
{
	static const char *const forms[] = {
		/* in a static PIE localtime() has a local symbol, as a program's own static function would */
		"-O2 -pie", "-O0 -fno-plt", "-O1 -no-pie -Wl,-z,lazy", "-O2 -static",
	};
	enum { KEEP = 1, READ = 2, KEPT = 4 };

	compiled_write("keeps.c", keeps_source, strlen(keeps_source));
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		uint64_t words, date, passes, sets;
		unsigned int kinds, nr;
		struct code *c;

		compiled_run("gcc %s -fno-builtin -o %s %s", forms[i], compiled_path("keeps"), compiled_path("keeps.c"));
		c = code_places_open(compiled_path("keeps"), CODE_CACHE_NONE);
		if (kept_places(c, "words", &kinds, &words) != 2 || kinds != KEEP)
			fail_msg("%s: strtok: %x", forms[i], kinds);
		if ((nr = kept_places(c, "date", &kinds, &date)) != 4 || kinds != (KEEP | KEPT))
			fail_msg("%s: localtime: %u places, %x", forms[i], nr, kinds);
		nr = kept_places(c, "passes", &kinds, &passes);
		/* a jump returns to the caller */
		if (nr != (strstr(forms[i], "-O2") ? 1 : 2) || passes != date)
			fail_msg("%s: gmtime: %u places, %x", forms[i], nr, kinds);
		if (kept_places(c, "sets", &kinds, &sets) != 2 || kinds != (KEEP | READ))
			fail_msg("%s: setenv: %x", forms[i], kinds);
		assert_true(words != date && words != sets && date != sets);
		code_free(c);
	}
	assert_string_equal(code_keeps("setenv"), code_keeps("getenv"));
	assert_null(code_keeps("localtime_r"));
}

/* Members of std::string and of streams, by their names: what changes, what reads, and what is made or given back. */
static void test_cxx_names(void **state)
{
#define STRING "St7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE"
	static const struct {
		const char *name;
		enum code_block block;
	} names[] = {
		{ "_ZN" STRING "9_M_appendEPKcm", CODE_BLOCK_STRING_APPENDS },
		{ "_ZN" STRING "6appendEPKc", CODE_BLOCK_STRING_TEXT },
		{ "_ZN" STRING "6appendERKS4_", CODE_BLOCK_STRING_ADDS },
		{ "_ZN" STRING "6appendERKS4_mm", CODE_BLOCK_STRING_TAKES },
		{ "_ZN" STRING "aSERKS4_", CODE_BLOCK_STRING_ASSIGNS },
		{ "_ZN" STRING "6assignERKS4_mm", CODE_BLOCK_STRING_TAKES },
		{ "_ZN" STRING "9_M_mutateEmmPKcm", CODE_BLOCK_STRING_ENDS },
		{ "_ZN" STRING "7reserveEm", CODE_BLOCK_STRING_RESERVES },
		{ "_ZN" STRING "aSEOS4_", CODE_BLOCK_STRING_SWAP },
		{ "_ZN" STRING "4swapERS4_", CODE_BLOCK_STRING_SWAP },
		{ "_ZN" STRING "9push_backEc", CODE_BLOCK_STRING },
		{ "_ZN" STRING "D1Ev", CODE_BLOCK_STRING_ENDS },
		{ "_ZN" STRING "C1ERKS4_", CODE_BLOCK_STRING_COPY },
		{ "_ZN" STRING "C2EOS4_", CODE_BLOCK_STRING_MOVE },
		{ "_ZN" STRING "C1Ev", 0 },
		{ "_ZN" STRING "C1EPKcRKS3_", 0 },
		{ "_ZN" STRING "9_M_createERmm", 0 },
		{ "_ZN" STRING "5beginEv", CODE_BLOCK_STRING_LOOK },
		{ "_ZN" STRING "ixEm", CODE_BLOCK_STRING_LOOK },
		{ "_ZNK" STRING "4sizeEv", CODE_BLOCK_STRING_LOOK },
		{ "_ZNK" STRING "7compareEPKc", CODE_BLOCK_STRING_READ },
		{ "_ZNK" STRING "7compareERKS4_", CODE_BLOCK_STRING_READ_TWO },
		{ "_ZNK" STRING "6substrEmm", CODE_BLOCK_STRING_COPY },
		{ "_ZNK" STRING "13get_allocatorEv", 0 },
		{ "_ZNSolsEi", CODE_BLOCK_OUT },
		{ "_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l", CODE_BLOCK_OUT_TEXT },
		{ "_ZNSirsERi", CODE_BLOCK_IN },
		{ "_ZNKSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEE3strEv", CODE_BLOCK_STREAM_TEXT },
		{ "_ZNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEED1Ev", 0 },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (code_block(names[i].name) != names[i].block)
			fail_msg("%s is %d", names[i].name, code_block(names[i].name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls), cmocka_unit_test(test_formats), cmocka_unit_test(test_prints),
		cmocka_unit_test(test_own_functions),
		cmocka_unit_test(test_keepers), cmocka_unit_test(test_cxx_names),
		cmocka_unit_test(test_containers), cmocka_unit_test(test_deletes), cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, compiled_begin, compiled_end);
}
