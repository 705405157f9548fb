// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_bash.c - the line of a script that bash executes
 *
 * bash exports its variables for builtins that are loaded: line_number is the line of the command that it executes, and
 * global_variables leads to the variables of the script. Of these, the first elements of the arrays BASH_SOURCE and FUNCNAME
 * are the file and the function of that command. The structures are those of variables.h, hashlib.h and array.h of 5.1 and 5.2;
 * whatever they are, a variable must have the name that was looked for, and the begin of an array the index -1.
 */
#include <string.h>
#include "lib/base/remote.h"
#include "symbols/sym_bash.h"

#define TEXT_MAX 1024
#define BUCKET_MAX 100		/* entries of one bucket that are looked at */
#define BUCKETS_MAX (1 << 20)

#define VAR_CONTEXT_TABLE	32
#define SHELL_VAR_VALUE		8
#define ARRAY_HEAD		16

struct hash_table {
	uint64_t buckets;
	int32_t nr_buckets, nr_entries;
};

struct bucket {
	uint64_t next, key, data;
};

struct element {
	int64_t index;
	uint64_t value, next;
};

struct bash {
	int pid;
	const struct symfile_bash *names;
	uint64_t bias;
};

static const char *const names[] = { "line_number", "global_variables", "executing_line_number", "dollar_vars" };

static int note_name(const struct symdef *d, unsigned int name, void *arg)
{
	struct symfile_bash *b = arg;

	if (strcmp(d->name, names[name]))
		return 0;
	if (name == 0 && d->is_object)
		b->line = d->vaddr;
	if (name == 1 && d->is_object)
		b->variables = d->vaddr;
	b->others += name > 1;
	return 0;
}

bool sym_is_bash(struct symfile *f)
{
	struct symfile_bash *b = &f->bash;

	/* libraries are none, and may have very many names */
	if (!b->sought && symfile_is_dynamic(f)) {
		b->sought = true;
		symfile_find_names(f, names, sizeof(names) / sizeof(names[0]), note_name, b);
	}
	return b->line && b->variables && b->others;
}

static bool read_word(const struct bash *b, uint64_t addr, uint64_t *word)
{
	return remote_read(b->pid, addr, word, sizeof(*word));
}

static bool read_text(const struct bash *b, uint64_t addr, char *text, size_t len)
{
	ssize_t n = addr ? remote_read_some(b->pid, addr, text, len) : 0;

	return n > 0 && memchr(text, 0, n);
}

/* hash_string() of bash's hashlib.c: FNV-1 */
static uint32_t hash_of(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name; name++)
		h = h * 16777619u ^ *name;
	return h;
}

/* The SHELL_VAR of a global variable; 0: there is none. */
static uint64_t variable(const struct bash *b, const char *name)
{
	uint64_t context, table, at;
	struct hash_table h;
	struct bucket entry;
	char key[32];

	if (!read_word(b, b->names->variables + b->bias, &context) || !context ||
	    !read_word(b, context + VAR_CONTEXT_TABLE, &table) || !remote_read(b->pid, table, &h, sizeof(h)) ||
	    h.nr_buckets <= 0 || h.nr_buckets > BUCKETS_MAX ||
	    !read_word(b, h.buckets + (hash_of(name) & (h.nr_buckets - 1)) * sizeof(uint64_t), &at))
		return 0;
	for (int i = 0; at && i < BUCKET_MAX; i++, at = entry.next) {
		if (!remote_read(b->pid, at, &entry, sizeof(entry)))
			return 0;
		if (read_text(b, entry.key, key, sizeof(key)) && !strcmp(key, name))
			return entry.data;
	}
	return 0;
}

/* The element 0 of an array that is a global variable. */
static bool first_of(const struct bash *b, const char *name, char *text, size_t len)
{
	uint64_t var = variable(b, name), array, head;
	struct element e;

	return var && read_word(b, var + SHELL_VAR_VALUE, &array) && array && read_word(b, array + ARRAY_HEAD, &head) &&
	       remote_read(b->pid, head, &e, sizeof(e)) && e.index == -1 && remote_read(b->pid, e.next, &e, sizeof(e)) &&
	       e.index == 0 && read_text(b, e.value, text, len);
}

bool sym_bash_place(struct symfile *f, struct sym_string **strings, int pid, uint64_t bias, struct trace_frame *frame)
{
	const struct bash b = { .pid = pid, .names = &f->bash, .bias = bias };
	char file[TEXT_MAX], function[TEXT_MAX];
	int32_t line;

	*frame = (struct trace_frame){ 0 };
	if (!remote_read(pid, b.names->line + bias, &line, sizeof(line)) || line <= 0 ||
	    !first_of(&b, "BASH_SOURCE", file, sizeof(file)) || !file[0])
		return false;
	frame->line = line;
	frame->file = sym_string(strings, file);
	/* "main" and "source" stand for what is in no function */
	if (first_of(&b, "FUNCNAME", function, sizeof(function)) && strcmp(function, "main") && strcmp(function, "source"))
		frame->function = sym_string(strings, function);
	return frame->file;
}
