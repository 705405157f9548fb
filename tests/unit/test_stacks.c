// SPDX-License-Identifier: GPL-2.0-only
/* test_stacks.c - the stacks of programs that wait, and of one at a probe */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include "compiled.h"
#include "symbols/sym_internal.h"
#include "symbols/sym_java.h"
#include "symbols/sym_python.h"

static struct user_registers registers_of(pid_t pid)
{
	struct user_regs_struct r;

	assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &r), 0);
	return (struct user_registers){ .tls = r.fs_base, .r = {
		r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp,
		r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip } };
}

static struct user_registers registers_of_waiting(pid_t tid)
{
	struct user_registers regs;

	assert_int_equal(ptrace(PTRACE_SEIZE, tid, NULL, NULL), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, tid, NULL, NULL), 0);
	assert_int_equal(waitpid(tid, NULL, __WALL), tid);
	regs = registers_of(tid);
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	return regs;
}

/* Runs until it waits in pause(), and takes its registers as a scheduler would know them. -1: it ended before. */
static pid_t start_and_stop(const char *exe, const char *arg, struct user_registers *regs)
{
	char path[64], state[100] = "";
	pid_t pid = fork();
	FILE *f;

	assert_true(pid >= 0);
	if (!pid) {
		/* as a test of zug's is started; where that may not be it has other addresses */
		personality(ADDR_NO_RANDOMIZE);
		execl(exe, exe, arg, NULL);
		_exit(127);
	}
	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	/* 34: pause */
	while (strncmp(state, "34 ", 3)) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return -1;
		usleep(1000);
		f = fopen(path, "r");
		assert_non_null(f);
		if (!fgets(state, sizeof(state), f))
			state[0] = '\0';
		fclose(f);
	}
	*regs = registers_of_waiting(pid);
	return pid;
}

static void the_stack_of(const char *exe, bool lines)
{
	struct user_registers regs;
	struct trace_frame frames[32];
	pid_t pid = start_and_stop(exe, "wait", &regs);
	bool in_wait = false, in_main = false;
	int nr = symbols_unwind(compiled_syms, pid, pid, &regs, frames, 32);

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(nr >= 3);
	for (int i = 0; i < nr; i++) {
		if (frames[i].function && !strcmp(frames[i].function, "wait_here")) {
			in_wait = true;
			assert_int_equal(frames[i].line, lines ? 23 : 0);
		}
		if (frames[i].function && !strcmp(frames[i].function, "main")) {
			in_main = true;
			assert_true(in_wait);
			assert_int_equal(frames[i].line, lines ? 31 : 0);
		}
	}
	assert_true(in_main);
	assert_int_equal(symbols_unwind(compiled_syms, pid, pid, &regs, frames, 32), -ESRCH);
}

/* The next process with the same files has its own memory and registers, though its files are not opened again. */
static void one_process_after_another(const char *exe)
{
	struct unwinder *before = NULL;
	uint64_t ip = 0;

	for (int i = 0; i < 2; i++) {
		struct user_registers regs;
		struct trace_frame frames[32];
		pid_t pid = start_and_stop(exe, "wait", &regs);
		int nr = symbols_unwind(compiled_syms, pid, pid, &regs, frames, 32), at = 0;

		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		while (at < nr && !(frames[at].function && !strcmp(frames[at].function, "wait_here")))
			at++;
		assert_true(at < nr);
		assert_non_null(compiled_syms->unwinder);
		if (i && regs.r[16] == ip)
			assert_ptr_equal(compiled_syms->unwinder, before);
		before = compiled_syms->unwinder;
		ip = regs.r[16];
	}
}

static void stacks_of_waiting_programs(void **state)
{
	(void)state;
	compiled_make("wait.c", compiled_c, "cc -O2 -g -o wait wait.c -pthread");
	the_stack_of(compiled_path("wait"), true);
	one_process_after_another(compiled_path("wait"));
	compiled_make("waits.c", compiled_c, "cc -O2 -static -o waits waits.c -pthread");
	the_stack_of(compiled_path("waits"), false);
}

/*
 * Behind a breakpoint on "push %rbp" the unwinding rules of the next instruction hold, and would take
 * the wrong word for the return address.
 */
static void a_stack_at_a_probe(void **state)
{
	struct user_registers regs;
	struct trace_frame frames[32];
	struct symfile *f;
	unsigned long base;
	char path[64];
	FILE *maps;
	pid_t pid;
	long word;
	int nr;

	compiled_make("probe.c", compiled_c, "cc -O1 -fno-omit-frame-pointer -fcf-protection=none -o probe probe.c -pthread");
	f = compiled_open(compiled_path("probe"));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(compiled_path("probe"), "probe", "wait", NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	assert_non_null(maps);
	assert_int_equal(fscanf(maps, "%lx", &base), 1);
	fclose(maps);
	base += compiled_find(f, "wait_here").last.vaddr;
	word = ptrace(PTRACE_PEEKTEXT, pid, base, NULL);
	assert_int_equal(word & 0xff, 0x55);
	assert_int_equal(ptrace(PTRACE_POKETEXT, pid, base, (word & ~0xffl) | 0xcc), 0);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	regs = registers_of(pid);
	assert_true(regs.r[16] == base + 1);
	nr = symbols_unwind(compiled_syms, pid, pid, &regs, frames, 32);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(nr >= 2);
	assert_string_equal(frames[0].function, "wait_here");
	assert_string_equal(frames[1].function, "main");
}

static const char in_python[] =
	"import signal, sys\n"
	"if sys.version_info[:2] not in ((3, 11), (3, 13)):\n"
	"    sys.exit(0)\n"
	"class Wägung:\n"
	"    def deep(self, n):\n"
	"        if n:\n"
	"            return self.deep(n - 1)\n"
	"\n"
	"        x = (1,\n"
	"             signal.pause())\n"
	"def key(n):\n"
	"    return Wägung().deep(n)\n"
	"sorted([2], key=key)\n";

/* Functions of Python stand where the interpreter executes them, also below a function in C that called one. */
static void a_stack_in_python(void **state)
{
	static const struct trace_frame want[] = {
		{ "Wägung.deep", "wait.py", 10, false }, { "Wägung.deep", "wait.py", 7, false }, { "Wägung.deep", "wait.py", 7, false },
		{ "key", "wait.py", 12, false }, { "<module>", "wait.py", 13, false },
	};
	struct user_registers regs;
	struct trace_frame frames[64];
	int nr, at = 0;
	pid_t pid;

	(void)state;
	compiled_make("wait.py", in_python, "true");
	pid = access("/usr/bin/python3", X_OK) ? -1 : start_and_stop("/usr/bin/python3", compiled_path("wait.py"), &regs);
	if (pid < 0)
		skip();
	nr = symbols_unwind(compiled_syms, pid, pid, &regs, frames, 64);
	for (int i = 0; i < nr; i++) {
		const char *file = frames[i].file ? strrchr(frames[i].file, '/') : NULL;

		if (!file || strcmp(file + 1, "wait.py"))
			continue;
		assert_true(at < 5);
		assert_string_equal(frames[i].function, want[at].function);
		assert_int_equal(frames[i].line, want[at].line);
		at++;
	}
	assert_int_equal(at, 5);
	assert_true(symbols_interpret(compiled_syms));
	assert_int_equal(symbols_interpreted(compiled_syms, pid, regs.tls, frames, 64), 5);
	assert_string_equal(frames[3].function, "key");
	/* not of a thread that is none of Python's */
	assert_int_equal(symbols_interpreted(compiled_syms, pid, regs.tls + 8, frames, 64), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static const char python_rounds[] =
	"import signal, sys, types\n"
	"if sys.version_info[:2] not in ((3, 11), (3, 13)):\n"
	"    sys.exit(0)\n"
	"def base():\n"
	"    wait(for_it)\n"
	"signal.signal(signal.SIGUSR2, lambda *a: None)\n"
	"signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
	"signal.pause()\n"
	"space = {'wait': signal.sigwait, 'for_it': [signal.SIGUSR1]}\n"
	"for n in range(4):\n"
	"    code = None\n"
	"    name = 'round_%d' % n\n"
	"    code = base.__code__.replace(co_name=name, co_qualname=name, co_firstlineno=100 + n)\n"
	"    types.FunctionType(code, space)()\n"
	"signal.pause()\n";

/* A code object that is made where another one was freed is told by its own name and lines. */
static void python_code_made_anew(void **state)
{
	struct user_registers regs;
	struct trace_frame frames[64];
	char name[16];
	pid_t pid;

	(void)state;
	compiled_make("rounds.py", python_rounds, "true");
	pid = access("/usr/bin/python3", X_OK) ? -1 : start_and_stop("/usr/bin/python3", compiled_path("rounds.py"), &regs);
	if (pid < 0)
		skip();
	kill(pid, SIGUSR2);
	for (int n = 0; n < 4; n++) {
		int nr = 0, tries = 5000;

		snprintf(name, sizeof(name), "round_%d", n);
		while (tries--) {
			nr = symbols_interpreted(compiled_syms, pid, regs.tls, frames, 64);
			/* below it is the library's function that waits */
			if (nr == 3 && !strcmp(frames[1].function, name))
				break;
			usleep(1000);
		}
		assert_true(tries >= 0);
		assert_int_equal(frames[1].line, n + 101);
		kill(pid, SIGUSR1);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* co_linetable: kinds of entries, and tables that end early. */
static void lines_of_python(void **state)
{
	static const uint8_t table[] = {
		0x80 | 15 << 3,				/* one code unit without a line */
		0x80 | 1, 0x11,				/* two on the line of the entry before */
		0x80 | 11 << 3, 1, 2,			/* on the next */
		0x80 | 13 << 3 | 7, 0x40 | 8, 3,	/* eight, 100 lines on */
		0x80 | 14 << 3, 5, 0, 0, 0,		/* two lines back */
	};

	(void)state;
	assert_int_equal(sym_python_line(table, sizeof(table), 10, 0), -1);
	assert_int_equal(sym_python_line(table, sizeof(table), 10, 2), 10);
	assert_int_equal(sym_python_line(table, sizeof(table), 10, 4), 10);
	assert_int_equal(sym_python_line(table, sizeof(table), 10, 6), 11);
	assert_int_equal(sym_python_line(table, sizeof(table), 10, 8), 111);
	assert_int_equal(sym_python_line(table, sizeof(table), 10, 22), 111);
	assert_int_equal(sym_python_line(table, sizeof(table), 10, 24), 109);
	assert_int_equal(sym_python_line(table, sizeof(table), 10, 26), -1);
	assert_int_equal(sym_python_line(table, 7, 10, 8), -1);
	assert_int_equal(sym_python_line((const uint8_t[]){ 1 }, 1, 10, 0), -1);
	assert_int_equal(sym_python_line(table, 0, 10, 0), -1);
}

/* A thread that is started, waited for, begins or ends: only up to the program's innermost function. */
static void threads_of_python(void **state)
{
	static const char library[] = "/usr/lib/python3.11/threading.py";
	const struct trace_frame condition = { .function = "Condition.wait", .file = library, .line = 327 };
	const struct trace_frame start = { .function = "Thread.start", .file = library, .line = 962 };
	const struct trace_frame begin = { .function = "Thread._bootstrap_inner", .file = library, .line = 1028 };
	const struct trace_frame run = { .function = "Thread.run", .file = library, .line = 975 };
	const struct trace_frame get = { .function = "Queue.get", .file = "/usr/lib/python3.11/queue.py", .line = 171 };
	const struct trace_frame worker = { .function = "_worker", .line = 81,
					    .file = "/usr/lib/python3.11/concurrent/futures/thread.py" };
	const struct trace_frame own = { .function = "main", .file = "/home/u/shop.py", .line = 3 };
	const struct trace_frame own_start = { .function = "Thread.start", .file = "/home/u/shop.py", .line = 3 };

	(void)state;
	assert_true(symbols_begins_thread((struct trace_frame[]){ condition, start, own }, 3));
	assert_true(symbols_begins_thread((struct trace_frame[]){ condition, begin }, 2));
	assert_false(symbols_begins_thread((struct trace_frame[]){ condition, get, own, run, begin }, 5));
	assert_false(symbols_begins_thread((struct trace_frame[]){ condition, get, worker, run, begin }, 5));
	assert_false(symbols_begins_thread((struct trace_frame[]){ own, start }, 2));
	assert_false(symbols_begins_thread((struct trace_frame[]){ condition, own_start }, 2));
	assert_false(symbols_begins_thread(NULL, 0));
	assert_int_equal(symbols_code_of(&own), ZUG_CODE_OWN);
	assert_int_equal(symbols_code_of(&own_start), ZUG_CODE_OWN);
	assert_int_equal(symbols_code_of(&condition), ZUG_CODE_LIBRARY);
	assert_int_equal(symbols_code_of(&worker), ZUG_CODE_LIBRARY);
	assert_int_equal(symbols_code_of(&start), ZUG_CODE_BEGINS);
	assert_int_equal(symbols_code_of(&run), ZUG_CODE_RUNS);
	/* it cannot be read: no more is said of what called it */
	assert_int_equal(symbols_code_of(&(struct trace_frame){ .line = 1 }), ZUG_CODE_RUNS);
}

/* By this the kernel side tells a function from another one whose code object lies where that one's was. */
static void codes_of_python(void **state)
{
	const struct trace_frame wait = { .function = "Condition.wait", .file = "/usr/lib/python3.11/threading.py" };
	const struct trace_frame made = { .function = "f", .file = "<string>" };
	const struct trace_frame own = { .function = "f", .file = "/home/u/shop.py" };
	struct zug_code c = sym_python_code(&wait);

	(void)state;
	assert_int_equal(c.what, ZUG_CODE_LIBRARY);
	assert_int_equal(c.file_length, 32);
	assert_memory_equal(c.file_end, ".11/threading.py", 16);
	assert_int_equal(c.name_length, 14);
	assert_memory_equal(&c.name_begin, "Conditio", 8);
	/* there are no 16 bytes, and none behind a name count */
	c = sym_python_code(&made);
	assert_int_equal(c.what, ZUG_CODE_LIBRARY);
	assert_int_equal(c.file_end[0], 0);
	assert_memory_equal(&c.file_end[1], "<string>", 8);
	assert_int_equal(c.name_begin, 'f');
	c = sym_python_code(&own);
	assert_int_equal(c.what, ZUG_CODE_OWN);
	assert_int_equal(c.file_end[0], 0);
	assert_memory_equal(&c.file_end[1], "/shop.py", 8);
	/* of what is kept in another way, or cannot be read, nothing is told */
	assert_int_equal(sym_python_code(&(struct trace_frame){ .function = "f", .file = "a.py" }).what, ZUG_CODE_UNKNOWN);
	assert_int_equal(sym_python_code(&(struct trace_frame){ .function = "f\xc3\xbc", .file = "/home/u/shop.py" }).what,
			 ZUG_CODE_UNKNOWN);
	assert_int_equal(sym_python_code(&(struct trace_frame){ .file = "/home/u/shop.py" }).what, ZUG_CODE_UNKNOWN);
}

static const char in_java[] =
	"package bank;\n"
	"public class Stack {\n"
	"    static final Object lock = new Object();\n"
	"    static class Inner implements Comparable<Inner> {\n"
	"        public int compareTo(Inner other) {\n"
	"            synchronized (lock) {\n"
	"                try {\n"
	"                    return\n"
	"                        System.in.read();\n"
	"                } catch (java.io.IOException e) {\n"
	"                    return 0;\n"
	"                }\n"
	"            }\n"
	"        }\n"
	"    }\n"
	"    static void deep(int n) {\n"
	"        if (n > 0) {\n"
	"            deep(n - 1);\n"
	"            return;\n"
	"        }\n"
	"        java.util.Arrays.sort(new Inner[] { new Inner(), new Inner() });\n"
	"    }\n"
	"    public static void main(String[] args) {\n"
	"        Runnable r = () -> deep(2);\n"
	"        r.run();\n"
	"    }\n"
	"}\n";

/* A process with a pipe for its standard input, into which *in writes. */
static pid_t start_with_input(int *in, const char *const *argv)
{
	int ends[2];
	pid_t pid;

	assert_return_code(pipe(ends), errno);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(ends[0], 0);
		close(ends[0]);
		close(ends[1]);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(ends[0]);
	*in = ends[1];
	return pid;
}

/* The thread of the process that reads its standard input; 0: none yet. */
static pid_t thread_that_reads(pid_t pid)
{
	char path[PATH_MAX], state[100];
	pid_t found = 0;
	struct dirent *d;
	DIR *dir;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && !found && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s/syscall", pid, d->d_name);
		f = fopen(path, "r");
		if (f && fgets(state, sizeof(state), f) && !strncmp(state, "0 0x0 ", 6))
			found = atoi(d->d_name);
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* The methods of the program, innermost first, with their lines; those of the JDK between them. */
static void a_stack_in_java(void **state)
{
	static const struct trace_frame want[] = {
		{ "bank.Stack$Inner.compareTo", "bank/Stack.java", 9, false },
		{ "bank.Stack$Inner.compareTo", "bank/Stack.java", 4, false },
		{ "bank.Stack.deep", "bank/Stack.java", 21, false }, { "bank.Stack.deep", "bank/Stack.java", 18, false },
		{ "bank.Stack.deep", "bank/Stack.java", 18, false }, { "bank.Stack.lambda$main$0", "bank/Stack.java", 24, false },
		{ "bank.Stack.main", "bank/Stack.java", 25, false },
	};
	struct trace_frame frames[64], alone[64];
	bool sorts = false;
	struct user_registers regs;
	int in, nr, at = 0;
	pid_t pid, tid = 0;

	(void)state;
	if (system("javac --release 17 -version >/dev/null 2>&1"))
		skip();
	compiled_make("Stack.java", in_java, "javac --release 17 -g -d . Stack.java");
	pid = start_with_input(&in, (const char *[]){ "java", "-Xint", "-XX:+UseSerialGC", "-cp", compiled_path("."), "bank.Stack",
						      NULL });
	while (!(tid = thread_that_reads(pid))) {
		assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
		usleep(10000);
	}
	regs = registers_of_waiting(tid);
	nr = symbols_unwind(compiled_syms, pid, tid, &regs, frames, 64);
	for (int i = 0; i < nr; i++) {
		sorts = sorts || (at == 2 && !strcmp(frames[i].function, "java.util.Arrays.sort"));
		if (!frames[i].file || strcmp(frames[i].file, "bank/Stack.java"))
			continue;
		assert_true(at < 7);
		assert_string_equal(frames[i].function, want[at].function);
		assert_int_equal(frames[i].line, want[at].line);
		at++;
	}
	assert_int_equal(at, 7);
	assert_true(sorts);
	assert_true(nr < 64);
	assert_true(symbols_of_library("java/util/Arrays.java"));
	assert_false(symbols_of_library(want[0].file));
	assert_in_range(symbols_interpreted(compiled_syms, tid, regs.tls, alone, 64), 8, nr);
	/* not of a thread that is none of Java's */
	assert_int_equal(symbols_interpreted(compiled_syms, tid, regs.tls + 8, alone, 64), 0);
	close(in);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Tables of line numbers: bytes, pairs of numbers, and tables that end early. */
static void lines_of_java(void **state)
{
	/* line 5; 4 bytes on 2 lines on; 10 bytes on 300 lines on; at 8 three lines back */
	static const uint8_t table[] = { 5, 4 << 3 | 2, 255, 20, 216, 6, 255, 11, 5, 0 };
	/* the same: since JDK 20 all bytes of numbers are one more */
	static const uint8_t later[] = { 5, 4 << 3 | 2, 255, 21, 217, 7, 255, 12, 6, 0 };

	(void)state;
	assert_int_equal(sym_java_line(table, sizeof(table), 17, 0), 5);
	assert_int_equal(sym_java_line(table, sizeof(table), 17, 3), 5);
	assert_int_equal(sym_java_line(table, sizeof(table), 17, 4), 7);
	assert_int_equal(sym_java_line(table, sizeof(table), 17, 8), 304);
	assert_int_equal(sym_java_line(table, sizeof(table), 17, 13), 304);
	assert_int_equal(sym_java_line(table, sizeof(table), 17, 14), 307);
	assert_int_equal(sym_java_line(later, sizeof(later), 25, 4), 7);
	assert_int_equal(sym_java_line(later, sizeof(later), 25, 8), 304);
	assert_int_equal(sym_java_line(later, sizeof(later), 25, 14), 307);
	for (size_t n = 0; n < sizeof(table); n++)
		assert_int_equal(sym_java_line(table, n, 17, 14), 0);
	assert_int_equal(sym_java_line((const uint8_t[]){ 255, 0, 1, 0 }, 4, 20, 0), 0);
}

/* An entry of a jar's directory, with a comment of one byte; returns its end. */
static uint8_t *put_entry(uint8_t *at, const char *name)
{
	size_t n = strlen(name);

	memset(at, 0, 46);
	memcpy(at, "PK\1\2", 4);
	at[28] = n;
	at[32] = 1;
	memcpy(at + 46, name, n);
	at[46 + n] = '#';
	return at + 46 + n + 1;
}

static void count_class(void *arg, const char *name, size_t len)
{
	*(int *)arg += len == 10 && !memcmp(name, "web/Server", len);
}

/* Classes of a jar that a build tool has fetched, and that this process has open. */
static void classes_of_jars(void **state)
{
	uint8_t jar[512] = { 0 }, *end = jar;
	struct sym_string *strings = NULL;
	struct symfile_java l = { 0 };
	char path[PATH_MAX];
	const char *from;
	int fd, nr = 0;
	size_t len;

	(void)state;
	end = put_entry(end, "web/");
	end = put_entry(end, "web/Server$Loop.class");
	end = put_entry(end, "web/Server.class");
	end = put_entry(end, "web/notes.txt");
	len = end - jar;
	assert_int_equal(sym_java_jar_classes(jar, len, count_class, &nr), 2);
	assert_int_equal(nr, 1);
	for (size_t n = 0; n < len; n++)
		assert_true(sym_java_jar_classes(jar, n, count_class, &nr) <= 2);
	/* the end of the directory: its length, and that it begins with the file */
	memcpy(end, "PK\5\6", 4);
	memcpy(end + 12, &(uint32_t){ htole32(len) }, 4);
	compiled_make("fetched.txt", "", "mkdir -p .m2");
	snprintf(path, sizeof(path), "%s", compiled_path(".m2/web-1.0.jar"));
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, jar, len + 22), len + 22);
	assert_null(sym_java_jar_of(&l, &strings, getpid(), "shop/Server"));
	from = sym_java_jar_of(&l, &strings, getpid(), "web/Server$Loop");
	assert_non_null(from);
	assert_string_equal(from + strlen(from) - 16, "/.m2/web-1.0.jar");
	assert_ptr_equal(sym_java_jar_of(&l, &strings, getpid(), "web/Server$$Lambda$14+0x7f"), from);
	assert_null(sym_java_jar_of(&l, &strings, getpid(), "web/Client"));
	close(fd);
	sym_java_jars_release(&l);
	sym_strings_free(strings);
	assert_true(sym_java_is_library_jar("/run/root/usr/share/java/jetty9-server.jar"));
	assert_false(sym_java_is_library_jar("/home/u/shop/build/shop.jar"));
	assert_false(sym_java_is_library_jar("/home/u/.m2/settings.xml"));
	assert_true(symbols_of_library("/usr/share/java/jetty9-server.jar/org/eclipse/jetty/server/Server.java"));
	assert_false(symbols_of_library("web/Server.java"));
}

static const char in_bash[] =
	". \"$(dirname \"$0\")/wait-lib.sh\"\n"
	"ask()\n"
	"{\n"
	"	local answer\n"
	"	read -r answer\n"
	"}\n"
	"read -r first\n"
	"ask\n"
	"ask_in_library\n"
	"( true; read -r last )\n";
static const char in_sourced[] =
	"ask_in_library()\n"
	"{\n"
	"	read -r answer\n"
	"}\n";

/* The process, or its child, that waits in a read() of its standard input. */
static pid_t reader_of(pid_t pid)
{
	char path[64], text[100];

	for (int i = 0; i < 10000; i++, usleep(1000)) {
		pid_t child = 0, at;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
		f = fopen(path, "r");
		if (f && fscanf(f, "%d", &child) != 1)
			child = 0;
		if (f)
			fclose(f);
		at = child ? child : pid;
		snprintf(path, sizeof(path), "/proc/%d/syscall", at);
		f = fopen(path, "r");
		if (f && fgets(text, sizeof(text), f) && !strncmp(text, "0 0x0 ", 6)) {
			fclose(f);
			return at;
		}
		if (f)
			fclose(f);
	}
	fail_msg("it does not read");
	return -1;
}

/* Where the script stands that reads; at first it may still be in the read() before, on another line. */
static struct trace_frame place_of_script(pid_t pid, int line)
{
	struct trace_frame frame = { 0 };

	for (int i = 0; i < 1000 && frame.line != (uint32_t)line; i++) {
		if (i)
			usleep(1000);
		assert_int_equal(symbols_script(compiled_syms, reader_of(pid), &frame), 1);
	}
	assert_int_equal(frame.line, line);
	return frame;
}

/* The line of the command, not of what was read of the script; in a function, in one of another file, in a subshell. */
static void a_place_in_bash(void **state)
{
	static const struct trace_frame want[] = {
		{ NULL, "wait.sh", 7, false }, { "ask", "wait.sh", 5, false },
		{ "ask_in_library", "wait-lib.sh", 3, false }, { NULL, "wait.sh", 10, false },
	};
	struct trace_frame frame;
	int input;
	pid_t pid;

	(void)state;
	compiled_make("wait.sh", in_bash, "true");
	compiled_make("wait-lib.sh", in_sourced, "true");
	pid = start_with_input(&input, (const char *[]){ "/bin/bash", compiled_path("wait.sh"), NULL });
	for (int i = 0; i < 4; i++) {
		const char *slash;

		frame = place_of_script(pid, want[i].line);
		slash = strrchr(frame.file, '/');
		assert_non_null(slash);
		assert_string_equal(slash + 1, want[i].file);
		assert_int_equal(!frame.function, !want[i].function);
		assert_string_equal(frame.function ? frame.function : "", want[i].function ? want[i].function : "");
		assert_int_equal(write(input, "1\n", 2), 2);
	}
	close(input);
	waitpid(pid, NULL, 0);
	assert_true(symbols_have_scripts(compiled_syms));
	/* this program is none */
	assert_int_equal(symbols_script(compiled_syms, getpid(), &frame), -ENOENT);
}

static const char in_dash[] =
	"set -eu\n"
	"ask()\n"
	"{\n"
	"	read -r answer\n"
	"}\n"
	"cd /\n"
	"read -r first\n"
	"ask\n"
	"( true; read -r last )\n";

/* Debian's sh, which has no symbols: also in a function, in a subshell, and after it has left the script's folder. */
static void a_place_in_dash(void **state)
{
	static const int want[] = { 7, 4, 9 };
	struct trace_frame frame;
	char file[] = "ask.sh";
	int input;
	pid_t pid;

	(void)state;
	if (access("/bin/dash", X_OK))
		skip();
	compiled_make(file, in_dash, "true");
	pid = start_with_input(&input, (const char *[]){ "/bin/dash", "-e", "-o", "noclobber", compiled_path(file), "-c", NULL });
	for (int i = 0; i < 3; i++) {
		frame = place_of_script(pid, want[i]);
		assert_string_equal(frame.file, compiled_path(file));
		assert_null(frame.function);
		assert_int_equal(write(input, "1\n", 2), 2);
	}
	close(input);
	waitpid(pid, NULL, 0);
	/* lines of a script that reads another one may be those of the other */
	compiled_make("reads.sh", "read -r x\nif false; then . ./other.sh; fi\n", "true");
	pid = start_with_input(&input, (const char *[]){ "/bin/dash", compiled_path("reads.sh"), NULL });
	assert_int_equal(symbols_script(compiled_syms, reader_of(pid), &frame), 0);
	close(input);
	waitpid(pid, NULL, 0);
}

/* In the process: a file system that a process serves, but nobody does. False: there can be none here. */
static bool mount_served(void)
{
	int dev = open("/dev/fuse", O_RDWR);
	char options[80];

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%d,group_id=%d", dev, getuid(), getgid());
	return dev >= 0 && !unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("fuse", "/mnt", "fuse", 0, options);
}

/*
 * A script may lie where a task of the test serves its files, and all tasks stand still while somebody looks. So none is read
 * of a process that has such a file system, and that another process has is no reason.
 */
static void no_script_where_the_test_serves_files(void **state)
{
	struct trace_frame frame;
	int input[2], told[2];
	pid_t pid;
	char no;

	(void)state;
	if (access("/bin/dash", X_OK) || access("/mnt", X_OK))
		skip();
	for (int served = 1; served >= 0; served--) {
		compiled_make(served ? "served.sh" : "plain.sh", "read -r x\nread -r x\n", "true");
		assert_return_code(pipe(input), errno);
		assert_return_code(pipe2(told, O_CLOEXEC), errno);
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			dup2(input[0], 0);
			close(input[0]);
			close(input[1]);
			if (served && !mount_served())
				_exit(write(told[1], "n", 1) != 1);
			execl("/bin/dash", "sh", compiled_path(served ? "served.sh" : "plain.sh"), NULL);
			_exit(127);
		}
		close(input[0]);
		close(told[1]);
		served = read(told[0], &no, 1) == 1 ? -1 : served;
		close(told[0]);
		if (served < 0) {
			close(input[1]);
			waitpid(pid, NULL, 0);
			skip();
		}
		for (int k = 0; !served && k < 1000 && symbols_script(compiled_syms, reader_of(pid), &frame) != 1; k++)
			usleep(1000);
		assert_int_equal(symbols_script(compiled_syms, reader_of(pid), &frame), !served);
		close(input[1]);
		waitpid(pid, NULL, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_of_waiting_programs),
		cmocka_unit_test(a_stack_at_a_probe),
		cmocka_unit_test(a_stack_in_python),
		cmocka_unit_test(python_code_made_anew),
		cmocka_unit_test(lines_of_python),
		cmocka_unit_test(threads_of_python),
		cmocka_unit_test(codes_of_python),
		cmocka_unit_test(a_place_in_bash),
		cmocka_unit_test(a_place_in_dash),
		cmocka_unit_test(no_script_where_the_test_serves_files),
		cmocka_unit_test(a_stack_in_java),
		cmocka_unit_test(lines_of_java),
		cmocka_unit_test(classes_of_jars),
	};

	return cmocka_run_group_tests(tests, compiled_begin, compiled_end);
}
