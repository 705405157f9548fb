// SPDX-License-Identifier: GPL-2.0-only
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

char compiled_dir[] = "/tmp/zug-test-XXXXXX";
struct symbols *compiled_syms;

const char compiled_c[] =
	"#include <pthread.h>\n"						/* 1 */
	"#include <unistd.h>\n"
	"struct account { int id; union { long sum; double f; };\n"
	"	pthread_mutex_t lock; };\n"
	"struct account accounts[4];\n"						/* 5 */
	"int grid[3][5];\n"
	"static int counter = 1;\n"
	"__thread int mine;\n"
	"static inline __attribute__((always_inline)) int twice(int x)\n"
	"{\n"									/* 10 */
	"	static int calls;\n"
	"	calls++;\n"
	"	return 2 * x + grid[1][2];\n"
	"}\n"
	"__attribute__((noinline)) int add(int x)\n"				/* 15 */
	"{\n"
	"	counter += x;\n"
	"	return twice(counter);\n"
	"}\n"
	"__attribute__((noinline)) int wait_here(int x)\n"			/* 20 */
	"{\n"
	"	for (;;)\n"
	"		pause();\n"
	"	return x;\n"
	"}\n"									/* 25 */
	"int main(int argc, char **argv)\n"
	"{\n"
	"	(void)argv;\n"
	"	pthread_mutex_lock(&accounts[1].lock);\n"
	"	pthread_mutex_unlock(&accounts[1].lock);\n"			/* 30 */
	"	return (argc > 1 ? wait_here(argc) + 1 : 0) + add(argc) - 2 * (1 + argc);\n"
	"}\n";

const char *compiled_path(const char *name)
{
	static char paths[64][PATH_MAX];
	static unsigned int next;
	char *p = paths[next++ % 64];

	snprintf(p, PATH_MAX, "%s/%s", compiled_dir, name);
	return p;
}

void compiled_write(const char *name, const void *data, size_t len)
{
	FILE *f = fopen(compiled_path(name), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
}

void compiled_run(const char *fmt, ...)
{
	char cmd[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	if (system(cmd))
		fail_msg("failed: %s", cmd);
}

void compiled_make(const char *name, const char *source, const char *compile)
{
	compiled_write(name, source, strlen(source));
	compiled_run("cd %s && %s", compiled_dir, compile);
}

int compiled_begin(void **state)
{
	(void)state;
	compiled_syms = symbols_new();
	return compiled_syms && mkdtemp(compiled_dir) ? 0 : -1;
}

int compiled_end(void **state)
{
	char cmd[100];

	(void)state;
	symbols_free(compiled_syms);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", compiled_dir);
	return system(cmd);
}

struct symfile *compiled_open(const char *path)
{
	char err[300] = "";
	struct symfile *f = symbols_file(compiled_syms, path, NULL, err, sizeof(err));

	if (!f)
		print_message("%s\n", err);
	assert_non_null(f);
	return f;
}

static int note(const struct symdef *d, void *arg)
{
	struct compiled_found *f = arg;

	f->nr++;
	f->last = *d;
	if (strlen(f->names) + strlen(d->name) + 2 < sizeof(f->names))
		strcat(strcat(f->names, d->name), " ");
	return 0;
}

struct compiled_found compiled_find(struct symfile *f, const char *pattern)
{
	struct compiled_found r = { 0 };

	int nr = symfile_find(f, pattern, note, &r);

	assert_int_equal(nr, r.nr);
	return r;
}

