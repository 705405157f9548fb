// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_dash.c - the line of a script that dash executes
 *
 * dash, the sh of Debian and Ubuntu, has no symbols. Its messages begin with "%s: %d: ", the name of the script and the line of
 * the command that it executes. So the function that refers to this text loads both, as the third and the fourth argument of
 * the call behind it: the name into rdx, the line into ecx. What is read there is believed only if the name is the one that the
 * command line has, and no option in front of it says that the commands come from elsewhere.
 *
 * Only the name of the script is kept there, not that of a file which it reads with '.': a script that has such a command has
 * no lines.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/mounts.h"
#include "lib/base/remote.h"
#include "symbols/sym_dash.h"

#define TEXT_MAX	1024
#define SCRIPT_MAX	(256u << 10)
#define CODE_MAX	(1u << 20)
#define NEAR		64	/* bytes of code between the reference and the loads */

static const char message[] = "%s: %d: ";

/* Where a part of the file lies when it is loaded. 0: it is not. */
static uint64_t vaddr_of(const struct symfile *f, uint64_t offset)
{
	for (size_t i = 0; i < f->nr_phdrs; i++) {
		const GElf_Phdr *p = &f->phdrs[i];

		if (p->p_type == PT_LOAD && offset >= p->p_offset && offset - p->p_offset < p->p_filesz)
			return offset - p->p_offset + p->p_vaddr;
	}
	return 0;
}

/* What an instruction of len bytes at code + at, whose last four are relative to its end, refers to. */
static uint64_t refers_to(const uint8_t *code, size_t at, size_t len, uint64_t vaddr)
{
	int32_t by;

	memcpy(&by, code + at + len - sizeof(by), sizeof(by));
	return vaddr + at + len + by;
}

/* The loads around a reference at code + at: of ecx, 4 bytes, and of rdx. */
static void note_loads(const uint8_t *code, size_t size, size_t at, uint64_t vaddr, struct symfile_dash *d)
{
	size_t end = at + NEAR < size ? at + NEAR : size;

	d->line = d->name = 0;
	for (size_t i = at < NEAR ? 1 : at - NEAR + 1; i + 7 <= end; i++) {
		if (code[i] == 0x8b && code[i + 1] == 0x0d && (code[i - 1] & 0xf0) != 0x40)
			d->line = refers_to(code, i, 6, vaddr);
		if (code[i] == 0x48 && code[i + 1] == 0x8b && code[i + 2] == 0x15)
			d->name = refers_to(code, i, 7, vaddr);
	}
}

/* Finds an address of the text taken (lea, relative to the instruction) with both loads beside it. */
void sym_dash_find(const uint8_t *code, size_t size, uint64_t vaddr, uint64_t text, struct symfile_dash *d)
{
	for (size_t i = 0; i + 7 <= size && !(d->line && d->name); i++)
		if ((code[i] & 0xfb) == 0x48 && code[i + 1] == 0x8d && (code[i + 2] & 0xc7) == 0x05 &&
		    refers_to(code, i, 7, vaddr) == text)
			note_loads(code, size, i, vaddr, d);
}

static void find_data(struct symfile *f)
{
	size_t size;
	const char *bytes = elf_rawfile(f->elf, &size);
	const char *text = bytes ? memmem(bytes, size, message, sizeof(message)) : NULL;
	uint64_t at = text ? vaddr_of(f, text - bytes) : 0;

	for (size_t i = 0; at && i < f->nr_phdrs; i++) {
		const GElf_Phdr *p = &f->phdrs[i];

		if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && p->p_offset < size && p->p_filesz <= size - p->p_offset &&
		    p->p_filesz <= CODE_MAX)
			sym_dash_find((const uint8_t *)bytes + p->p_offset, p->p_filesz, p->p_vaddr, at, &f->dash);
	}
}

bool sym_is_dash(struct symfile *f)
{
	const char *slash = strrchr(f->path, '/'), *name = slash ? slash + 1 : f->path;

	if (!f->dash.sought) {
		f->dash.sought = true;
		if (!strcmp(name, "dash"))
			find_data(f);
	}
	return f->dash.line && f->dash.name;
}

const char *sym_dash_script(const char *args, size_t len)
{
	const char *end = args + len, *a = args + strlen(args) + 1;

	for (; a < end && (*a == '-' || *a == '+'); a += strlen(a) + 1) {
		if (!strcmp(a, "--") || !strcmp(a, "-"))
			return a + strlen(a) + 1 < end ? a + strlen(a) + 1 : NULL;
		if (*a == '-' && strpbrk(a, "cs"))
			return NULL;
		if (strchr(a, 'o'))
			a += strlen(a) + 1 < (size_t)(end - a) ? strlen(a) + 1 : 0;
	}
	return a < end ? a : NULL;
}

static size_t read_some(int fd, char *to, size_t len)
{
	ssize_t n, has = 0;

	while (fd >= 0 && (n = read(fd, to + has, len - has)) > 0)
		has += n;
	if (fd >= 0)
		close(fd);
	return has;
}

/* The name is that of the script on the command line. */
static bool is_script(int pid, const char *name)
{
	char path[64], args[4 * TEXT_MAX + 1];
	const char *script;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	len = read_some(open(path, O_RDONLY | O_CLOEXEC), args, sizeof(args) - 1);
	args[len] = 0;
	script = len ? sym_dash_script(args, len) : NULL;
	return script && !strcmp(script, name);
}

/* A command begins there: only words come before it that another command may follow. */
static bool begins_command(const char *text, const char *at)
{
	static const char *const words[] = { "then", "do", "else", "if", "while", "until", "elif", "!", "{" };

	while (at > text && (at[-1] == ' ' || at[-1] == '\t'))
		at--;
	if (at == text || strchr("\n;&|(`", at[-1]))
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t len = strlen(words[i]);

		if ((size_t)(at - text) >= len && !memcmp(at - len, words[i], len))
			return true;
	}
	return false;
}

bool sym_dash_reads_others(const char *text)
{
	for (const char *dot = text; (dot = strchr(dot, '.')); dot++)
		if ((dot[1] == ' ' || dot[1] == '\t') && begins_command(text, dot))
			return true;
	return false;
}

/* The script reads no others. d keeps what was found of the last one: a process may leave the folder where it has that name. */
static bool is_whole(struct symfile_dash *d, const char *name, int pid)
{
	static char text[SCRIPT_MAX];
	char path[2 * TEXT_MAX];
	size_t len;

	if (d->script && !strcmp(d->script, name))
		return d->whole;
	/* the script may lie where a task of the test would have to answer */
	if (mounts_own_fuse(pid))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/%s%s", pid, name[0] == '/' ? "root" : "cwd/", name);
	len = read_some(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), text, sizeof(text) - 1);
	if (!len) {
		/* dash reads its script there */
		snprintf(path, sizeof(path), "/proc/%d/fd/10", pid);
		len = read_some(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), text, sizeof(text) - 1);
	}
	if (!len)
		return false;
	text[len] = 0;
	free(d->script);
	d->script = strdup(name);
	d->whole = len < sizeof(text) - 1 && !sym_dash_reads_others(text);
	d->nr_lines = 1;
	for (const char *end = text; (end = strchr(end, '\n')); end++)
		d->nr_lines++;
	return d->whole;
}

bool sym_dash_place(struct symfile *f, struct sym_string **strings, int pid, uint64_t bias, struct trace_frame *frame)
{
	char name[TEXT_MAX];
	uint64_t at;
	int32_t line;
	ssize_t n;

	*frame = (struct trace_frame){ 0 };
	if (!remote_read(pid, f->dash.line + bias, &line, sizeof(line)) || line <= 0 ||
	    !remote_read(pid, f->dash.name + bias, &at, sizeof(at)) || !at)
		return false;
	n = remote_read_some(pid, at, name, sizeof(name));
	/* of what is to go on in the background (&) dash takes chance for the line until that has begun */
	if (n <= 0 || !memchr(name, 0, n) || !is_script(pid, name) || !is_whole(&f->dash, name, pid) ||
	    line > f->dash.nr_lines)
		return false;
	frame->line = line;
	frame->file = sym_string(strings, name);
	return frame->file;
}
