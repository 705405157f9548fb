// SPDX-License-Identifier: GPL-2.0-only
/* test_symbols.c - names, lines and data of programs that the compiler makes here and now */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "compiled.h"
#include "symbols/sym_internal.h"

static const char cxx_source[] =
	"#include <mutex>\n"
	"namespace bank {\n"
	"struct teller { std::mutex m; static int total; int serve(int); };\n"
	"int teller::total;\n"
	"teller desk;\n"
	"__attribute__((noinline)) int transfer(int a, int b) { desk.m.lock(); desk.m.unlock();\n"
	"	return a + b + teller::total; }\n"
	"__attribute__((noinline)) int teller::serve(int n) { return transfer(n, 1); }\n"
	"template <class T> __attribute__((noinline)) T twice(T x) { return x + x; }\n"
	"template int twice<int>(int);\n"
	"}\n"
	/* a constructor of std::string, whose last name is not spelled */
	"extern \"C\" void made(void) __asm__(\"_ZNSsC1Ev\");\n"
	"void made(void) { }\n"
	"int main() { return bank::desk.serve(bank::twice(0)) - 1; }\n";

/* One definition's place. */
static int note_offset(const struct symdef *d, void *arg)
{
	*(uint64_t *)arg = d->offset;
	return 1;
}

static void expect_variable(struct symfile *f, const char *expr, const char *base, uint64_t plus,
			    uint64_t want_size)
{
	uint64_t vaddr, size, base_vaddr, ignored;
	char err[300] = "";
	int ret = symfile_variable(f, expr, &vaddr, &size, err, sizeof(err));

	if (ret)
		print_message("%s: %s\n", expr, err);
	assert_int_equal(ret, 0);
	assert_int_equal(symfile_variable(f, base, &base_vaddr, &ignored, err, sizeof(err)), 0);
	assert_int_equal(vaddr - base_vaddr, plus);
	assert_int_equal(size, want_size);
}

static void expect_no_variable(struct symfile *f, const char *expr, const char *why)
{
	uint64_t vaddr, size;
	char err[300] = "";

	assert_true(symfile_variable(f, expr, &vaddr, &size, err, sizeof(err)) < 0);
	if (!strstr(err, why))
		print_message("%s: wanted '%s' in '%s'\n", expr, why, err);
	assert_non_null(strstr(err, why));
}

static void expect_data(struct symfile *f, const char *expr, uint64_t plus, const char *want)
{
	uint64_t vaddr, size;
	char buf[200], cut[4], err[300];

	assert_int_equal(symfile_variable(f, expr, &vaddr, &size, err, sizeof(err)), 0);
	/* one that was cut is not kept, and one that is kept is cut */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(symfile_data_name(f, vaddr + plus, cut, sizeof(cut)), 0);
		assert_int_equal(strncmp(cut, want, sizeof(cut) - 1) || cut[sizeof(cut) - 1], 0);
		assert_int_equal(symfile_data_name(f, vaddr + plus, buf, sizeof(buf)), 0);
		assert_string_equal(buf, want);
	}
}

static void a_c_program(void **state)
{
	struct symfile_inlined inlined;
	struct symfile *f;
	struct trace_frame frames[8];
	uint64_t offsets[8], vaddr, size;
	uint32_t nearest;
	char buf[300];
	int nr;

	(void)state;
	compiled_make("bank.c", compiled_c, "cc -O1 -g -o bank bank.c -pthread");
	f = compiled_open(compiled_path("bank"));
	assert_true(symfile_is_dynamic(f));
	assert_true(symfile_has_symtab(f));
	assert_int_equal(strlen(symfile_build_id(f)), 40);
	assert_non_null(strstr(symfile_interp(f), "ld-linux"));
	assert_int_equal(symfile_libc(f), SYMLIBC_NONE);
	assert_ptr_equal(compiled_open(compiled_path("bank")), f);

	assert_int_equal(compiled_find(f, "add").nr, 1);
	assert_true(compiled_find(f, "add").last.is_function);
	assert_int_equal(compiled_find(f, "nothing").nr, 0);
	assert_int_equal(compiled_find(f, "wait_*").nr, 1);
	assert_int_equal(compiled_find(f, "accounts").last.offset, UINT64_MAX);
	assert_true(compiled_find(f, "counter").last.offset != UINT64_MAX);
	assert_true(compiled_find(f, "accounts").last.is_object);
	symfile_nearest(f, "wait_hree", true, buf, sizeof(buf));
	assert_string_equal(buf, "wait_here");
	symfile_nearest(f, "qqqqqqq", true, buf, sizeof(buf));
	assert_string_equal(buf, "");

	expect_variable(f, "counter", "counter", 0, 4);
	expect_variable(f, "accounts", "accounts", 0, 4 * 56);
	expect_variable(f, "accounts[2]", "accounts", 112, 56);
	expect_variable(f, "accounts[2].lock", "accounts", 128, 40);
	expect_variable(f, "accounts[1].sum", "accounts", 64, 8);
	expect_variable(f, "grid[2]", "grid", 40, 20);
	expect_variable(f, "grid[2][1]", "grid", 44, 4);
	expect_variable(f, "bank.c:counter", "counter", 0, 4);
	expect_variable(f, "calls", "calls", 0, 4);
	expect_no_variable(f, "accounts[4]", "has 4 elements");
	expect_no_variable(f, "accounts[1].nix", "no member 'nix'");
	expect_no_variable(f, "counter[1]", "not an array");
	expect_no_variable(f, "counter.x", "not a structure");
	expect_no_variable(f, "accounts[x]", "expected");
	expect_no_variable(f, "accounts[1", "expected");
	expect_no_variable(f, "mine", "thread-local");
	expect_no_variable(f, "countre", "did you mean counter?");

	expect_data(f, "accounts[3].lock", 0, "accounts[3].lock");
	expect_data(f, "accounts[3].lock", 4, "accounts[3].lock+0x4");
	expect_data(f, "accounts[3]", 0, "accounts[3].id");
	expect_data(f, "accounts[0].sum", 0, "accounts[0].sum");
	expect_data(f, "grid[1][4]", 0, "grid[1][4]");
	expect_data(f, "counter", 0, "counter");
	assert_int_equal(symfile_data_name(f, 0xffffffff, buf, sizeof(buf)), -ENOENT);

	nr = symfile_line(f, "bank.c", 17, offsets, 8, &nearest);
	assert_true(nr >= 1);
	assert_true(symfile_frames(f, offsets[0], frames, 8) == 1);
	assert_string_equal(frames[0].function, "add");
	assert_int_equal(frames[0].line, 17);
	assert_non_null(strstr(frames[0].file, "/bank.c"));
	assert_int_equal(symfile_line(f, "bank.c", 2, offsets, 8, &nearest), -ENOENT);
	assert_true(nearest > 2 && nearest < 18);
	assert_int_equal(symfile_line(f, "k.c", 17, offsets, 8, &nearest), -ENOENT);
	assert_int_equal(nearest, 0);

	assert_int_equal(symfile_inlined(f, "twice", &inlined), 1);
	assert_string_equal(inlined.into.function, "add");
	assert_int_equal(inlined.into.line, 18);
	assert_true(inlined.body.line >= 10 && inlined.body.line <= 14);
	assert_int_equal(symfile_inlined(f, "add", &inlined), 0);

	nr = symfile_line(f, "bank.c", 13, offsets, 8, &nearest);
	assert_true(nr >= 1);
	nr = symfile_frames(f, offsets[0], frames, 8);
	assert_int_equal(nr, 2);
	assert_string_equal(frames[0].function, "twice");
	assert_true(frames[0].inlined);
	assert_string_equal(frames[1].function, "add");
	assert_int_equal(frames[1].line, 18);
	assert_false(frames[1].inlined);
	assert_int_equal(symfile_frames(f, offsets[0], frames, 1), 1);
	assert_int_equal(symfile_frames(f, 1ull << 40, frames, 1), -ENOENT);

	vaddr = compiled_find(f, "add").last.vaddr;
	size = symfile_offset_of(f, vaddr);
	assert_true(symfile_vaddr_of(f, size) == vaddr);
}

static void a_cxx_program(void **state)
{
	struct symfile *f;
	struct trace_frame frames[4];
	char buf[200];
	struct compiled_found r;

	(void)state;
	compiled_make("desk.cc", cxx_source, "c++ -O1 -g -o desk desk.cc -pthread");
	f = compiled_open(compiled_path("desk"));
	assert_int_equal(compiled_find(f, "bank::transfer").nr, 1);
	assert_int_equal(compiled_find(f, "bank::transfer(int, int)").nr, 1);
	assert_int_equal(compiled_find(f, "bank::transfer(int)").nr, 0);
	assert_int_equal(compiled_find(f, "_ZN4bank8transferEii").nr, 1);
	assert_int_equal(compiled_find(f, "bank::twice<int>").nr, 1);
	assert_int_equal(compiled_find(f, "bank::transf").nr, 0);
	r = compiled_find(f, "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string");
	assert_int_equal(r.nr, 1);
	r = compiled_find(f, "bank::*");
	assert_true(r.nr >= 5);
	r = compiled_find(f, "bank::teller::serve");
	assert_int_equal(r.nr, 1);
	assert_int_equal(symfile_frames(f, r.last.offset, frames, 4), 1);
	assert_string_equal(frames[0].function, "bank::teller::serve(int)");
	symfile_nearest(f, "bank::tranfser", true, buf, sizeof(buf));
	assert_string_equal(buf, "bank::transfer");
	symfile_nearest(f, "transfer", true, buf, sizeof(buf));
	assert_non_null(strstr(buf, "bank::transfer"));
	expect_variable(f, "bank::teller::total", "bank::teller::total", 0, 4);
	expect_data(f, "bank::desk", 0, "bank::desk.m");
	expect_variable(f, "desk.m", "bank::desk", 0, 40);
}

static void without_debug_information(void **state)
{
	struct symfile *f;
	struct trace_frame frames[4];
	uint64_t offsets[2];
	uint32_t nearest;
	char buf[200];
	struct compiled_found r;

	(void)state;
	compiled_make("plain.c", compiled_c, "cc -O1 -o plain plain.c -pthread && strip -o bare plain");
	f = compiled_open(compiled_path("plain"));
	assert_int_equal(symfile_line(f, "plain.c", 17, offsets, 2, &nearest), -ENOENT);
	r = compiled_find(f, "add");
	assert_int_equal(symfile_frames(f, r.last.offset + 1, frames, 4), 1);
	assert_string_equal(frames[0].function, "add");
	assert_null(frames[0].file);
	expect_variable(f, "accounts", "accounts", 0, 4 * 56);
	expect_no_variable(f, "accounts[1]", "without -g");
	assert_int_equal(symfile_data_name(f, compiled_find(f, "accounts").last.vaddr + 24, buf,
					   sizeof(buf)), 0);
	assert_string_equal(buf, "accounts+0x18");

	f = compiled_open(compiled_path("bare"));
	assert_false(symfile_has_symtab(f));
	assert_int_equal(compiled_find(f, "add").nr, 0);
	assert_int_equal(symfile_frames(f, r.last.offset, frames, 4), 0);
}

/* The file offset of a function's first call (e8). */
static uint64_t first_call(struct symfile *f, const char *file, const char *function)
{
	struct symdef d = compiled_find(f, function).last;
	unsigned char code[256] = { 0 };
	int fd = open(compiled_path(file), O_RDONLY);

	assert_true(fd >= 0);
	assert_true(d.size && d.size <= sizeof(code));
	assert_int_equal(pread(fd, code, d.size, d.offset), d.size);
	close(fd);
	for (uint64_t i = 0; i < d.size; i++)
		if (code[i] == 0xe8)
			return d.offset + i;
	fail();
	return 0;
}

struct compared {
	struct symfile *bare;	/* the same code without call frame information */
	unsigned int known, alike, otherwise;
};

/* What the instructions say of a function is what its call frame information says. */
static int compare_steps(const struct symdef *d, void *arg)
{
	struct compared *c = arg;
	struct symfile *f = compiled_open(compiled_path("whole"));
	struct symfile_step told, seen;

	/* a hand-written one whose call frame information forgets what it pushes */
	if (!d->is_function || d->offset == UINT64_MAX || !strncmp(d->name, "__mpn_", 6))
		return 0;
	for (uint64_t i = 0; i < d->size; i += 7) {
		if (symfile_step(f, d->offset + i, &told) || told.by_bp)
			continue;
		c->known++;
		if (symfile_step(c->bare, d->offset + i, &seen))
			continue;
		/* one that was taken back already lies below the stack pointer, and may be told all the same */
		if (seen.by_bp || seen.size != told.size || (seen.bp_kept && (!told.bp_kept || told.bp_at != seen.bp_at)) ||
		    (!seen.bp_kept && told.bp_kept && told.size + told.bp_at >= 0)) {
			print_message("%s+%lu: %d bytes, not %d\n", d->name, (unsigned long)i, seen.size, told.size);
			c->otherwise++;
		}
		c->alike++;
	}
	return 0;
}

static const char callers_source[] =
	"__attribute__((noipa)) void outside(long *);\n"
	"void keeps_nothing(void) { outside(0); __asm__ volatile(\"\"); }\n"
	"void keeps_array(void) { long a[20]; outside(a); __asm__ volatile(\"\" : : \"r\"(a)); }\n"
	"void keeps_some(int n) { long a[n]; outside(a); __asm__ volatile(\"\" : : \"r\"(a)); }\n"
	"void outside(long *a) { __asm__ volatile(\"\" : : \"r\"(a)); }\n"
	"int main(void) { keeps_nothing(); keeps_array(); keeps_some(3); return 0; }\n";

static void callers(void **state)
{
	struct compared c = { 0 };
	struct symfile_step step;
	char bare_command[200];
	struct symfile *f;
	uint64_t entry;

	(void)state;
	snprintf(bare_command, sizeof(bare_command), "cd %s && "
		 "objcopy --strip-debug --remove-section .eh_frame --remove-section .eh_frame_hdr whole bare-whole", compiled_dir);
	compiled_make("callers.c", callers_source,
	     "cc -O1 -g -fno-inline -fno-optimize-sibling-calls -fomit-frame-pointer -o callers callers.c && "
	     "strip -o stripped callers && objcopy --strip-debug callers undebugged && "
	     "cc -O1 -g -fno-asynchronous-unwind-tables -fno-inline -fno-optimize-sibling-calls -o goish callers.c && "
	     "cc -O1 -g -static -o whole callers.c && objcopy --strip-debug whole undebugged-whole");
	f = compiled_open(compiled_path("callers"));
	entry = compiled_find(f, "keeps_array").last.offset;
	assert_int_equal(symfile_step(f, entry, &step), 0);
	assert_int_equal(step.size, 8);
	assert_false(step.by_bp || step.bp_kept);
	/* the call leaves the stack on 16 bytes: eight for the return address, and eight more */
	assert_int_equal(symfile_step(f, first_call(f, "callers", "keeps_nothing"), &step), 0);
	assert_int_equal(step.size, 16);
	assert_int_equal(symfile_step(f, first_call(f, "callers", "keeps_array"), &step), 0);
	assert_true(step.size >= 168 && step.size < 208);
	assert_false(step.by_bp);
	/* that depends on n */
	assert_int_equal(symfile_step(f, first_call(f, "callers", "keeps_some"), &step), 0);
	assert_true(step.by_bp && step.bp_kept);
	assert_int_equal(step.size, 16);
	assert_int_equal(step.bp_at, -16);
	/* nobody called that, and that is no code */
	assert_int_equal(symfile_step(f, compiled_find(f, "_start").last.offset, &step), -ENOENT);
	assert_int_equal(symfile_step(f, 1ull << 40, &step), -ENOENT);
	assert_int_equal(symfile_owner(f, entry), SYMOWNER_PROGRAM);
	assert_int_equal(symfile_owner(f, compiled_find(f, "_start").last.offset), SYMOWNER_LIBRARY);

	/* .debug_frame alone */
	f = compiled_open(compiled_path("goish"));
	assert_int_equal(symfile_step(f, first_call(f, "goish", "keeps_nothing"), &step), 0);
	assert_int_equal(step.size, 16);

	/* none at all */
	assert_int_equal(system(bare_command), 0);
	c.bare = compiled_open(compiled_path("bare-whole"));
	symfile_find(compiled_open(compiled_path("whole")), "*", compare_steps, &c);
	assert_int_equal(c.otherwise, 0);
	assert_true(c.known > 10000 && c.alike > c.known / 2);
	f = c.bare;
	assert_int_equal(symfile_step(f, first_call(f, "bare-whole", "keeps_array"), &step), 0);
	assert_true(step.size >= 168 && step.size < 208);
	assert_int_equal(symfile_step(f, first_call(f, "bare-whole", "keeps_some"), &step), -ENOENT);

	f = compiled_open(compiled_path("undebugged"));
	assert_int_equal(symfile_owner(f, entry), SYMOWNER_PROGRAM);
	assert_int_equal(symfile_owner(f, compiled_find(f, "_start").last.offset), SYMOWNER_UNKNOWN);
	f = compiled_open(compiled_path("stripped"));
	assert_int_equal(symfile_owner(f, entry), SYMOWNER_UNKNOWN);

	/* a program that has its C library within */
	f = compiled_open(compiled_path("whole"));
	assert_int_equal(symfile_owner(f, compiled_find(f, "keeps_array").last.offset), SYMOWNER_PROGRAM);
	assert_int_equal(symfile_owner(f, compiled_find(f, "abort").last.offset), SYMOWNER_LIBRARY);
	f = compiled_open(compiled_path("undebugged-whole"));
	assert_int_equal(symfile_owner(f, compiled_find(f, "keeps_array").last.offset), SYMOWNER_UNKNOWN);
}

/* What the first place of a function says of its source line. */
static enum symsays says(struct symfile *f, const char *function)
{
	struct symdef d = compiled_find(f, function).last;

	return symfile_says_atomic(f, d.offset);
}

static void atomic_accesses(void **state)
{
	static const char source[] =
		"int x;\n"
		"int loads(void) { return __atomic_load_n(&x, __ATOMIC_ACQUIRE); }\n"
		"int plain(void) { return x; } /* not atomic_load */\n"
		"int remarks(void) { return x; } // nor atomic\n"
		"int once(void) { return *(volatile int *)&x; /* */ } int READ_ONCE_too;\n"
		"#include \"my_atomics.h\"\n"
		"int main(void) { return helper() + loads() + plain() + remarks() + once(); }\n";
	const char *missing;
	struct symfile *f;

	(void)state;
	compiled_make("my_atomics.h",
	     "static __attribute__((noinline)) int helper(void) { return x; }\n", "mkdir -p sub");
	/* a program about atomics has plain accesses, too; a file that defines them has not */
	compiled_make("atomic_stack.c", source, "cc -g -O1 -o named-so atomic_stack.c && cp atomic_stack.c atomics.c &&"
		      "cc -g -O1 -o theirs atomics.c");
	f = compiled_open(compiled_path("named-so"));
	assert_int_equal(says(f, "loads"), SYMSAYS_ATOMIC);
	assert_int_equal(says(f, "plain"), SYMSAYS_PLAIN);
	f = compiled_open(compiled_path("theirs"));
	assert_int_equal(says(f, "plain"), SYMSAYS_ATOMIC);
	compiled_make("says.c", source, "cc -g -O1 -o says says.c && cp says elsewhere");
	f = compiled_open(compiled_path("says"));
	assert_int_equal(says(f, "loads"), SYMSAYS_ATOMIC);
	assert_int_equal(says(f, "plain"), SYMSAYS_PLAIN);
	assert_int_equal(says(f, "remarks"), SYMSAYS_PLAIN);
	assert_int_equal(says(f, "helper"), SYMSAYS_ATOMIC);
	assert_int_equal(says(f, "once"), SYMSAYS_PLAIN);
	assert_int_equal(symfile_says_atomic(f, 1u << 30), SYMSAYS_NOTHING);
	assert_int_equal(symfile_missing_sources(f, &missing), 0);
	assert_true(symfile_has_lines(f) && symfile_by_gcc(f, compiled_find(f, "plain").last.offset));
	/* a source that cannot be read */
	assert_int_equal(rename(compiled_path("says.c"), compiled_path("gone.c")), 0);
	f = compiled_open(compiled_path("elsewhere"));
	assert_int_equal(says(f, "plain"), SYMSAYS_UNKNOWN);
	assert_int_equal(says(f, "helper"), SYMSAYS_ATOMIC);
	assert_int_equal(symfile_missing_sources(f, &missing), 1);
	assert_true(strlen(missing) > 7 && !strcmp(missing + strlen(missing) - 7, "/says.c"));
	/* without lines; of a program that has a C library within what the linker has put before that is its own */
	compiled_make("bare.c", source, "cc -O1 -o named bare.c && strip -o bare named && cc -static -O1 -o bare-whole bare.c");
	f = compiled_open(compiled_path("bare"));
	assert_int_equal(symfile_says_atomic(f, compiled_find(compiled_open(compiled_path("named")), "plain").last.offset),
			 SYMSAYS_UNKNOWN);
	assert_true(!symfile_has_lines(f));
	assert_true(symfile_by_gcc(f, compiled_find(compiled_open(compiled_path("named")), "plain").last.offset));
	f = compiled_open(compiled_path("bare-whole"));
	assert_int_equal(says(f, "plain"), SYMSAYS_UNKNOWN);
	assert_int_equal(says(f, "pthread_mutex_lock"), SYMSAYS_NOTHING);
	/* Rust's library has lines, which the program that uses it may lack; other code without lines is the compiler's */
	compiled_make("app.c", "int y;\nint _ZN3app4work17h0123456789abcdefE(void) { return y; }\nint other(void) { return y; }\n",
		      "cc -O1 -c app.c");
	compiled_make("lib.c", "int main(void) { return 0; }\n", "cc -g -O1 -c lib.c && cc -o mixed lib.o app.o");
	f = compiled_open(compiled_path("mixed"));
	assert_int_equal(says(f, "*work*"), SYMSAYS_UNKNOWN);
	assert_int_equal(says(f, "other"), SYMSAYS_NOTHING);
	/* compiled elsewhere: found below the folder that is looked in */
	compiled_make("far.c", source, "mkdir -p far/src && mv far.c far/src && cd far && cc -g -O1 -I.. -o ../far.elf src/far.c "
	     "-fdebug-prefix-map=$PWD=/no/such/far && cp ../far.elf ../far2.elf");
	f = compiled_open(compiled_path("far.elf"));
	assert_int_equal(says(f, "plain"), SYMSAYS_UNKNOWN);
	assert_int_equal(symfile_missing_sources(f, &missing), 1);
	assert_string_equal(missing, "/no/such/far/src/far.c");
	assert_int_equal(symbols_look_in(compiled_syms, compiled_path("far")), 0);
	f = compiled_open(compiled_path("far2.elf"));
	assert_int_equal(says(f, "plain"), SYMSAYS_PLAIN);
	assert_int_equal(says(f, "loads"), SYMSAYS_ATOMIC);
}

/* What the accesses of a function say, each byte of it asked: 1 plain, 2 atomic, 3 there are both. */
static unsigned int all_say(struct symfile *f, const char *function)
{
	struct symdef d = compiled_find(f, function).last;
	unsigned int all = 0;

	for (uint64_t i = 0; i < d.size; i++) {
		enum symsays says = symfile_says_atomic(f, d.offset + i);

		all |= says == SYMSAYS_PLAIN ? 1 : says == SYMSAYS_ATOMIC ? 2 : 0;
	}
	return all;
}

/* Beside an atomic access on its line there may be others. */
static void atomic_columns(void **state)
{
	static const char source[] =
		"int ring[8], head, other; char text[2][8];\n"
		"void puts_in(int v) { ring[__atomic_load_n(&head, 2) % 8] = v; }\n"
		"int takes(void) { return ring[__atomic_load_n(&head, 2) % 8]; }\n"
		"void copies(char *to) { __builtin_memcpy(to, text[__atomic_load_n(&head, 2)], 8); }\n"
		"int twice(void) { return __atomic_load_n(&head, 2) != __atomic_load_n(&other, 2); }\n"
		"void stores(int v) { __atomic_store_n(&head, v, 3); }\n"
		"int main(void) { return 0; }\n";
	static const char *const ways[] = { "gcc -O0", "gcc -O2" };

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		char name[16], command[80];
		struct symfile *f;

		snprintf(name, sizeof(name), "columns%zu", i);
		snprintf(command, sizeof(command), "%s -g -o %s columns.c", ways[i], name);
		compiled_make("columns.c", source, command);
		f = compiled_open(compiled_path(name));
		assert_int_equal(all_say(f, "puts_in"), 3);
		assert_int_equal(all_say(f, "takes"), 3);
		assert_int_equal(all_say(f, "copies"), 3);
		assert_int_equal(all_say(f, "twice"), 2);
		assert_int_equal(all_say(f, "stores"), 2);
	}
}

static void atomic_types(void **state)
{
	static const char source[] =
		"typedef _Atomic long word;\n"
		"struct pair { long plain; word words[2]; struct { volatile word w; } inner; };\n"
		"struct pair pair; long plain; const volatile word counted; _Atomic(struct pair *) head;\n"
		"int use(struct pair *p) { return p->plain + p->words[1] + p->inner.w; }\n"
		"int main(void) { return use(&pair) + plain + counted; }\n";
	uint64_t at, size, offset;
	char err[200];
	struct symfile *f;

	(void)state;
	compiled_make("types.c", source, "cc -g -O1 -fno-inline -o types types.c");
	f = compiled_open(compiled_path("types"));
	assert_int_equal(symfile_variable(f, "pair", &at, &size, err, sizeof(err)), 0);
	assert_false(symfile_is_atomic(f, at));
	assert_true(symfile_is_atomic(f, at + 8) && symfile_is_atomic(f, at + 16) && symfile_is_atomic(f, at + 24));
	assert_int_equal(symfile_variable(f, "plain", &at, &size, err, sizeof(err)), 0);
	assert_false(symfile_is_atomic(f, at));
	assert_int_equal(symfile_variable(f, "counted", &at, &size, err, sizeof(err)), 0);
	assert_true(symfile_is_atomic(f, at));
	assert_int_equal(symfile_variable(f, "head", &at, &size, err, sizeof(err)), 0);
	assert_true(symfile_is_atomic(f, at));
	assert_false(symfile_is_atomic(f, 0));
	/* the first argument is in rdi, DWARF's register 5 */
	offset = compiled_find(f, "use").last.offset;
	assert_false(symfile_pointee_is_atomic(f, offset, 5, 0));
	assert_true(symfile_pointee_is_atomic(f, offset, 5, 8) && symfile_pointee_is_atomic(f, offset, 5, 24));
	assert_false(symfile_pointee_is_atomic(f, offset, 5, 32) || symfile_pointee_is_atomic(f, offset, 4, 8));
}

static void a_separate_debug_file(void **state)
{
	struct symfile *f;
	struct trace_frame frames[4];
	uint64_t offsets[8];
	uint32_t nearest;

	(void)state;
	compiled_make("split.c", compiled_c,
	     "cc -O1 -g -Wl,--build-id=none -o split split.c -pthread && mkdir -p .debug &&"
	     "objcopy --only-keep-debug split .debug/split.debug &&"
	     "strip -g split && objcopy --add-gnu-debuglink=.debug/split.debug split && strip split");
	f = compiled_open(compiled_path("split"));
	assert_string_equal(symfile_build_id(f), "");
	assert_true(symfile_has_symtab(f));
	assert_true(symfile_line(f, "split.c", 17, offsets, 8, &nearest) >= 1);
	assert_int_equal(symfile_frames(f, offsets[0], frames, 4), 1);
	assert_string_equal(frames[0].function, "add");
}

static struct symfile *opened(struct symbols **s, const char *name)
{
	struct symfile *f;
	char err[256];

	*s = symbols_new();
	assert_non_null(*s);
	f = symbols_file(*s, compiled_path(name), NULL, err, sizeof(err));
	assert_non_null(f);
	return f;
}

/* What was found in one run is found in the next one without the debug information; not in a file that is damaged. */
static void frames_that_are_kept(void **state)
{
	struct trace_frame frames[4];
	uint64_t offsets[8], unknown;
	struct symbols *s;
	struct symfile *f;
	uint32_t nearest;
	glob_t g;
	FILE *file;

	(void)state;
	setenv("XDG_CACHE_HOME", compiled_path("cache"), 1);
	compiled_make("kept.c", compiled_c,
	     "cc -O1 -g -Wl,--build-id=sha1 -o kept kept.c -pthread && mkdir -p .debug &&"
	     "objcopy --only-keep-debug kept .debug/kept.debug &&"
	     "strip -g kept && objcopy --add-gnu-debuglink=.debug/kept.debug kept && strip kept");
	f = opened(&s, "kept");
	assert_true(symfile_line(f, "kept.c", 13, offsets, 8, &nearest) >= 1);
	unknown = compiled_find(f, "main").last.offset + (1 << 10);
	assert_int_equal(symfile_frames(f, offsets[0], frames, 4), 2);
	assert_true(symfile_frames(f, unknown, frames, 4) <= 1);
	symbols_free(s);
	for (int damaged = 0; damaged < 2; damaged++) {
		f = opened(&s, "kept");
		assert_int_equal(symfile_frames(f, offsets[0], frames, 4), 2);
		assert_true(symfile_frames(f, unknown, frames + 2, 2) <= 1);
		assert_int_equal(f->debug_tried, damaged);
		assert_string_equal(frames[0].function, "twice");
		assert_non_null(strstr(frames[0].file, "/kept.c"));
		assert_true(frames[0].inlined && !frames[1].inlined);
		assert_string_equal(frames[1].function, "add");
		assert_int_equal(frames[1].line, 18);
		symbols_free(s);
		assert_int_equal(glob(compiled_path("cache/zugzwang/*.frames"), 0, NULL, &g), 0);
		assert_int_equal(g.gl_pathc, 1);
		file = fopen(g.gl_pathv[0], "r+");
		assert_non_null(file);
		assert_int_equal(fseek(file, sizeof(struct sym_kept_header), SEEK_SET), 0);
		assert_int_equal(fputc(1, file), 1);
		assert_int_equal(fclose(file), 0);
		globfree(&g);
	}
	/* another debug file has other lines, maybe: what was kept of the first one is not asked */
	compiled_make("kept.c", compiled_c, "touch -d @1 .debug/kept.debug");
	f = opened(&s, "kept");
	assert_int_equal(symfile_frames(f, offsets[0], frames, 4), 2);
	assert_true(f->debug_tried);
	symbols_free(s);
	unsetenv("XDG_CACHE_HOME");
}

static void behind_a_pointer(void **state)
{
	static const char source[] = "struct node { struct node *next; struct { int low, high; } values[2]; };\n"
		"__attribute__((noinline)) void set(struct node *n, int *out, int v)\n"
		"{ n->values[1].high = v; n->next = 0; *out = v; }\n"
		"int main(int argc, char **argv) { struct node n; int i; set(&n, &i, argc); return n.values[1].high - i; }\n";
	struct symfile *f;
	uint64_t offset;
	char buf[100];

	(void)state;
	compiled_make("pointee.c", source, "cc -O1 -g -o pointee pointee.c");
	f = compiled_open(compiled_path("pointee"));
	offset = compiled_find(f, "set").last.offset;
	/* at its first instruction its arguments are in rdi, rsi, edx: 5, 4, 1 to DWARF */
	assert_int_equal(symfile_pointee_name(f, offset, 5, 20, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "struct node.values[1].high");
	assert_int_equal(symfile_pointee_name(f, offset, 5, 0, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "struct node.next");
	assert_int_equal(symfile_pointee_name(f, offset, 5, 24, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "n[...]");
	assert_int_equal(symfile_pointee_name(f, offset, 4, 0, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "*out");
	/* no pointer; nobody's register; no code */
	assert_int_equal(symfile_pointee_name(f, offset, 1, 0, buf, sizeof(buf)), -ENOENT);
	assert_int_equal(symfile_pointee_name(f, offset, 12, 0, buf, sizeof(buf)), -ENOENT);
	assert_int_equal(symfile_pointee_name(f, offset, 16, 0, buf, sizeof(buf)), -ENOENT);
	assert_int_equal(symfile_pointee_name(f, 0, 5, 0, buf, sizeof(buf)), -ENOENT);
}

/* The file offset of the last byte of the nth call in the function; a call of one byte and a displacement. */
static uint64_t call_in(struct symfile *f, const char *path, const char *function, int nth)
{
	uint64_t offset = compiled_find(f, function).last.offset;
	FILE *file = fopen(path, "rb");
	int c;

	assert_non_null(file);
	assert_int_equal(fseek(file, (long)offset, SEEK_SET), 0);
	for (; (c = getc(file)) != EOF; offset++) {
		if (c != 0xe8)
			continue;
		if (!nth--)
			break;
		assert_int_equal(fseek(file, 4, SEEK_CUR), 0);
		offset += 4;
	}
	fclose(file);
	assert_int_equal(c, 0xe8);
	return offset + 4;
}

/* What a call is given: the member of the program's object, though functions that are inlined know another type. */
static void arguments(void **state)
{
	static const char c[] = "struct account { long total; int lock; };\nvoid take(int *lock);\n"
		"__attribute__((noinline)) void add(struct account *a, int *other)\n"
		"{ take(&a->lock); a->total++; take(other); }\n"
		"__attribute__((noinline)) void take(int *lock) { *(volatile int *)lock = 1; }\n"
		"int main(void) { struct account a = { 0, 0 }; int o; add(&a, &o); return a.lock - 1; }\n";
	static const char cc[] = "struct raw { int _M_word; };\nextern \"C\" void take(raw *);\n"
		"struct lock { raw _M_raw; void get() { take(&_M_raw); } };\n"
		"struct pool { lock door; int jobs; void put() { door.get(); jobs++; } };\n"
		"extern \"C\" __attribute__((noinline)) void add(pool *p) { p->put(); p->put(); }\n"
		"extern \"C\" __attribute__((noinline)) void bare(raw *__r) { take(__r); *(volatile int *)__r = 2; }\n"
		"extern \"C\" __attribute__((noinline)) void take(raw *r) { *(volatile int *)&r->_M_word = 1; }\n"
		"int main() { pool p = { { { 0 } }, 0 }; add(&p); bare(&p.door._M_raw); return p.jobs - 2; }\n";
	struct symfile *f;
	uint64_t offset;
	char buf[100];

	(void)state;
	compiled_make("argument.c", c, "cc -O1 -g -fno-ipa-sra -o argument argument.c");
	f = compiled_open(compiled_path("argument"));
	offset = call_in(f, compiled_path("argument"), "add", 0);
	assert_int_equal(symfile_argument_name(f, offset, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "struct account.lock");
	assert_int_equal(symfile_argument_name(f, offset + 1, buf, sizeof(buf)), -ENOENT);
	offset = call_in(f, compiled_path("argument"), "add", 1);
	assert_int_equal(symfile_argument_name(f, offset, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "*other");
	compiled_make("argument.cc", cc, "c++ -O1 -g -fno-ipa-sra -fno-ipa-icf -o arguments argument.cc");
	f = compiled_open(compiled_path("arguments"));
	offset = call_in(f, compiled_path("arguments"), "add", 0);
	assert_int_equal(symfile_argument_name(f, offset, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "struct pool.door");
	/* that it is a lock is known anyway, and the name is the language's */
	offset = call_in(f, compiled_path("arguments"), "bare", 0);
	assert_int_equal(symfile_argument_name(f, offset, buf, sizeof(buf)), -ENOENT);
}

/* The name of what the function's last instruction with that operand accesses, as objdump writes it: "0x8(%rax),". */
static const char *pointee_of(const char *program, const char *function, const char *operand, bool *atomic)
{
	static const char *const registers[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp" };
	static char name[200];
	struct symfile *f = compiled_open(compiled_path(program));
	char command[512], line[512], *base;
	uint64_t at = 0;
	FILE *p;

	snprintf(command, sizeof(command), "objdump -d --no-show-raw-insn --disassemble=%s %s", function,
		 compiled_path(program));
	p = popen(command, "r");
	assert_non_null(p);
	while (fgets(line, sizeof(line), p))
		if (strstr(line, operand))
			at = strtoull(line, NULL, 16);
	assert_int_equal(pclose(p), 0);
	assert_true(at);
	base = strstr(operand, "(%");
	snprintf(name, sizeof(name), "none");
	for (unsigned int i = 0; i < 8; i++) {
		uint64_t offset = symfile_offset_of(f, at);
		int64_t disp = strtoll(operand, NULL, 16);

		if (strncmp(base + 2, registers[i], 3))
			continue;
		symfile_pointee_name(f, offset, i, disp, name, sizeof(name));
		*atomic = symfile_pointee_is_atomic(f, offset, i, disp);
	}
	return name;
}

/* Without optimisation no variable lives in a register. */
static void behind_a_pointer_in_memory(void **state)
{
	static const char source[] =
		"struct in { char c; _Atomic int count; int plain; };\n"
		"struct out { long id; struct in *in; int *numbers; struct { struct in *last; } tail; };\n"
		"struct out *global;\n"
		"int member(struct out *o) { return o->id; }\n"
		"int two(struct out *o) { return o->in->count; }\n"
		"int three(struct out *o) { return o->tail.last->plain; }\n"
		"int number(struct out *o) { return *o->numbers; }\n"
		"int of_global(void) { return global->in->plain; }\n"
		"int local(struct out *o) { struct out *all[2] = { o, o }; return all[1]->tail.last->count; }\n"
		"int either(struct out *o, struct out *p, int n) { return (n ? o : p)->in->plain; }\n"
		"long call(struct out *(*f)(void)) { return f()->id; }\n"
		"int cast(void *any) { return *(int *)any; }\n"
		"int main(void) { return 0; }\n";
	static const char *const commands[] = { "gcc -O0 -g -o mem0 mem.c", "clang-19 -O0 -g -o mem1 mem.c",
						"gcc -O0 -g -fomit-frame-pointer -o mem2 mem.c" };
	bool atomic = false;

	(void)state;
	for (int i = 0; i < 3; i++) {
		const char *p = i == 0 ? "mem0" : i == 1 ? "mem1" : "mem2";
		/* gcc adds 4 to the pointer before */
		const char *count = i == 1 ? "0x4(%rax),%eax" : "(%rax),%eax";

		compiled_make("mem.c", source, commands[i]);
		assert_string_equal(pointee_of(p, "member", "(%rax),", &atomic), "struct out.id");
		assert_string_equal(pointee_of(p, "two", count, &atomic), "struct in.count");
		assert_true(atomic);
		assert_string_equal(pointee_of(p, "three", "0x8(%rax),", &atomic), "struct in.plain");
		assert_false(atomic);
		assert_string_equal(pointee_of(p, "three", "0x18(%rax),", &atomic), "struct out.tail.last");
		assert_string_equal(pointee_of(p, "number", "(%rax),%eax", &atomic), "*numbers");
		assert_string_equal(pointee_of(p, "of_global", "0x8(%rax),%eax", &atomic), "struct in.plain");
		assert_string_equal(pointee_of(p, "local", count, &atomic), "struct in.count");
		assert_true(atomic);
		/* two paths come there; what a function returns; a pointer to anything */
		assert_string_equal(pointee_of(p, "either", "0x8(%rax),%rax", &atomic), "none");
		assert_string_equal(pointee_of(p, "call", "(%rax),", &atomic), "none");
		assert_string_equal(pointee_of(p, "cast", "(%rax),%eax", &atomic), "none");
	}
}

static void expect_no_file(const char *path, const char *why)
{
	char err[300] = "";

	assert_null(symbols_file(compiled_syms, path, NULL, err, sizeof(err)));
	if (!strstr(err, why))
		print_message("wanted '%s' in '%s'\n", why, err);
	assert_non_null(strstr(err, why));
}

static void bad_files(void **state)
{
	(void)state;
	compiled_make("o.c", "int x;\n", "cc -c o.c && mkfifo pipe && printf 'hello' > text && : > empty &&"
	     "cc -shared -o arm o.c && printf '\\267' | dd of=arm bs=1 seek=18 conv=notrunc status=none"
	     "&& head -c 100 arm > cut");
	expect_no_file(compiled_path("none"), "No such file");
	expect_no_file(compiled_path("text"), "not an ELF file");
	expect_no_file(compiled_path("empty"), "not an ELF file");
	expect_no_file(compiled_path("o.o"), "an object file");
	expect_no_file(compiled_path("pipe"), "not a regular file");
	expect_no_file(compiled_path("arm"), "built for aarch64");
	expect_no_file(compiled_dir, "not a regular file");
}

/* The names of its symbols lie in sections that the file does not have, whatever their size says. */
static void names_that_are_not_there(void **state)
{
	struct symbols *s = symbols_new();
	const char *const names[] = { "pthread_mutex_lock" };
	bool takes[1] = { false };
	char err[200];
	struct symfile *f;
	Elf64_Ehdr head;
	uint64_t offset;
	size_t nr = 0;
	int fd;

	(void)state;
	compiled_make("n.c", "int main(void) { return 0; }\n", "cc -g -o names n.c");
	fd = open(compiled_path("names"), O_RDWR | O_CLOEXEC);
	assert_int_equal(pread(fd, &head, sizeof(head), 0), sizeof(head));
	for (size_t i = 0; i < head.e_shnum; i++) {
		Elf64_Shdr section;
		const off_t at = head.e_shoff + i * sizeof(section);

		assert_int_equal(pread(fd, &section, sizeof(section), at), sizeof(section));
		if (section.sh_type != SHT_STRTAB || i == head.e_shstrndx)
			continue;
		section.sh_type = SHT_NOBITS;
		assert_int_equal(pwrite(fd, &section, sizeof(section), at), sizeof(section));
		nr++;
	}
	close(fd);
	assert_int_equal(nr, 2);
	f = symbols_file(s, compiled_path("names"), NULL, err, sizeof(err));
	assert_non_null(f);
	assert_false(symfile_imports(f, names, 1, takes));
	assert_int_equal(symfile_find(f, "main", note_offset, &offset), 0);
	symbols_free(s);
}

/* Calls of the program's of what threads share in Java's library: one operation each, whatever methods that goes through. */
static void calls_of_what_threads_share(void **state)
{
	const struct trace_frame get = { .function = "java.util.concurrent.ConcurrentHashMap.get",
					 .file = "java/util/concurrent/ConcurrentHashMap.java", .line = 936 };
	const struct trace_frame put = { .function = "java.util.concurrent.ConcurrentHashMap.putVal",
					 .file = "java/util/concurrent/ConcurrentHashMap.java", .line = 1015 };
	const struct trace_frame makes = { .function = "java.util.concurrent.ConcurrentHashMap.<init>",
					   .file = "java/util/concurrent/ConcurrentHashMap.java", .line = 800 };
	const struct trace_frame list = { .function = "java.util.ArrayList.add", .file = "java/util/ArrayList.java", .line = 400 };
	const struct trace_frame own = { .function = "shop.Cache.find", .file = "shop/Cache.java", .line = 12 };
	const struct trace_frame zones = { .function = "sun.util.calendar.ZoneInfoFile.<clinit>" };
	const struct trace_frame framework = { .function = "web.Pool.run", .file = "/usr/share/java/web.jar/web/Pool.java", .line = 5 };

	assert_int_equal(symbols_call_of((const struct trace_frame[]){ get, own }, 2), 1);
	assert_int_equal(symbols_call_of((const struct trace_frame[]){ put, get, own, list }, 4), 2);
	assert_int_equal(symbols_call_of((const struct trace_frame[]){ own, get }, 2), 0);
	assert_int_equal(symbols_call_of((const struct trace_frame[]){ get, list, own }, 3), 0);
	assert_int_equal(symbols_call_of((const struct trace_frame[]){ get, makes, own }, 3), 0);
	assert_int_equal(symbols_call_of((const struct trace_frame[]){ get, put }, 2), 0);
	assert_int_equal(symbols_call_of(NULL, 0), 0);
	assert_true(symbols_done_for_program((const struct trace_frame[]){ list, own }, 2));
	assert_true(symbols_done_for_program(&(const struct trace_frame){ .function = "shop.Cache.find" }, 1));
	assert_false(symbols_done_for_program(&list, 1));
	assert_false(symbols_done_for_program((const struct trace_frame[]){ makes, own }, 2));
	/* what a framework does is its own affair */
	assert_false(symbols_done_for_program((const struct trace_frame[]){ list, framework, own }, 3));
	assert_int_equal(symbols_call_of((const struct trace_frame[]){ get, framework, own }, 3), 0);
	assert_int_equal(symbols_own_frame((const struct trace_frame[]){ framework, own }, 2), 1);
	assert_false(symbols_done_for_program(
		(const struct trace_frame[]){ { .function = "java.io.PrintStream.println" }, own }, 2));
	/* what the kernel side is told of a method alone */
	assert_int_equal(symbols_java_says(&own), ZUG_JAVA_OWN);
	assert_int_equal(symbols_java_says(&list), ZUG_JAVA_CALLER);
	assert_int_equal(symbols_java_says(&makes), ZUG_JAVA_SELF);
	assert_int_equal(symbols_java_says(&framework), ZUG_JAVA_FOREIGN);
	assert_int_equal(symbols_java_says(&(const struct trace_frame){ .function = "java.lang.Thread.run" }), ZUG_JAVA_FOREIGN);
	assert_int_equal(symbols_java_says(&(const struct trace_frame){ .function = "java.lang.Thread.start" }), ZUG_JAVA_BEGINS);
	/* the program's without lines: not known */
	assert_int_equal(symbols_java_says(&(const struct trace_frame){ .function = "shop.Cache.find" }), ZUG_JAVA_UNKNOWN);
	/* a class of the language's is initialised, as it is loaded; not so one of the program's, or of a framework */
	assert_int_equal(symbols_java_says(&zones), ZUG_JAVA_BEGINS);
	assert_true(symbols_begins_thread((const struct trace_frame[]){ list, zones, own }, 3));
	assert_false(symbols_begins_thread((const struct trace_frame[]){ list, own, zones }, 3));
	assert_false(symbols_initialises_class(&(const struct trace_frame){ .function = "shop.Cache.<clinit>" }));
	assert_false(symbols_initialises_class(
		&(const struct trace_frame){ .function = "web.Pool.<clinit>", .file = "/usr/share/java/web.jar/web/Pool.java" }));
	assert_true(symbols_only_reads(&(const struct trace_frame){ .function = "java.util.concurrent.atomic.AtomicInteger.get" }));
	assert_false(symbols_only_reads(
		&(const struct trace_frame){ .function = "java.util.concurrent.atomic.AtomicInteger.getAndAdd" }));
	assert_false(symbols_only_reads(&get));
	assert_true(symbols_serves_threads(&get));
	assert_false(symbols_serves_threads(&list));
	/* a list is not: what a call of it does inside may come in any order */
	assert_true(symbols_may_access(&list));
	assert_true(symbols_may_access(&(const struct trace_frame){ .function = "java.text.SimpleDateFormat.format" }));
	assert_true(symbols_may_access(&(const struct trace_frame){ .function = "java.nio.Buffer.nextPutIndex" }));
	assert_false(symbols_may_access(&(const struct trace_frame){ .function = "java.io.PrintStream.println" }));
	assert_false(symbols_may_access(&get));
}

/* An element is known by its array, the bytecode and its index alone: its process may have ended. */
static void elements_of_arrays(void **state)
{
	static const struct {
		uint32_t code, index;
		const char *name;
		uint64_t behind;	/* the array's address */
		bool writes, refers;
	} want[] = {
		{ 0x2e, 0, "int[] element 0", 16, false, false }, { 0x4f, 3, "int[] element 3", 28, true, false },
		{ 0x2f, 2, "long[] element 2", 32, false, false }, { 0x50, 2, "long[] element 2", 32, true, false },
		{ 0x32, 1, "Object[] element 1", 20, false, true }, { 0x53, 1, "Object[] element 1", 20, true, true },
		{ 0x35, 5, "short[] element 5", 26, false, false }, { 0x56, 5, "short[] element 5", 26, true, false },
	};
	struct symbols *s = symbols_new();
	struct java_subject got;
	struct symfile *f;
	char err[256];

	(void)state;
	assert_non_null(s);
	f = symbols_file(s, "/lib/x86_64-linux-gnu/libc.so.6", NULL, err, sizeof(err));
	assert_non_null(f);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const uint64_t args[3] = { 1, 0x1000, want[i].code | (uint64_t)want[i].index << 8 };

		assert_true(symfile_java_subject(f, JAVA_ELEMENT, 0, 0, args, &got));
		assert_string_equal(got.name, want[i].name);
		assert_int_equal(got.object, 0x1000 + want[i].behind);
		assert_int_equal(got.writes, want[i].writes);
		assert_int_equal(got.refers, want[i].refers);
	}
	/* a call of a method, and an array that is null, access none */
	assert_false(symfile_java_subject(f, JAVA_ELEMENT, 0, 0, (const uint64_t[]){ 1, 0x1000, 0xb6 }, &got));
	assert_false(symfile_java_subject(f, JAVA_ELEMENT, 0, 0, (const uint64_t[]){ 1, 0, 0x2e }, &got));
	symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_c_program),
		cmocka_unit_test(a_cxx_program),
		cmocka_unit_test(without_debug_information),
		cmocka_unit_test(callers),
		cmocka_unit_test(atomic_accesses), cmocka_unit_test(atomic_columns),
		cmocka_unit_test(atomic_types),
		cmocka_unit_test(a_separate_debug_file), cmocka_unit_test(frames_that_are_kept),
		cmocka_unit_test(behind_a_pointer),
		cmocka_unit_test(arguments),
		cmocka_unit_test(behind_a_pointer_in_memory),
		cmocka_unit_test(bad_files),
		cmocka_unit_test(names_that_are_not_there),
		cmocka_unit_test(calls_of_what_threads_share), cmocka_unit_test(elements_of_arrays),
	};

	return cmocka_run_group_tests(tests, compiled_begin, compiled_end);
}
