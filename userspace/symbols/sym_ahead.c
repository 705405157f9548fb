// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_ahead.c - files that are opened before anything asks for them
 *
 * A process that waits for its task (a worker of zugd) opens the libraries that nearly every test maps, and sorts their
 * symbols. symbols_file() takes such a file if it is still the same.
 */
#include <string.h>
#include <sys/stat.h>
#include "lib/base/same_file.h"
#include "symbols/sym_internal.h"

/* Of the process, as the time in which it waits is. */
static struct symbols *ahead;

static int ignore(const struct symdef *d, unsigned int name, void *arg)
{
	(void)d;
	(void)name;
	(void)arg;
	return 0;
}

void symbols_prepare(const char *path)
{
	static const char *const names[] = { "main" };
	struct symfile *f;
	char err[256];

	if (!ahead)
		ahead = symbols_new();
	f = ahead ? symbols_file(ahead, path, NULL, err, sizeof(err)) : NULL;
	if (!f)
		return;
	symfile_libc(f);
	/* so often that they are sorted */
	for (int i = 0; i <= SYM_PASSES; i++)
		symfile_find_names(f, names, 1, ignore, NULL);
}

struct symfile *sym_take_ahead(struct symbols *s, const char *path)
{
	struct symfile **at = ahead ? &ahead->files : NULL, *f;
	struct stat st;

	while (at && (f = *at)) {
		if (strcmp(f->path, path) || stat(path, &st) || !same_file(&st, &f->st)) {
			at = &f->next;
			continue;
		}
		*at = f->next;
		f->next = s->files;
		f->owner = s;
		s->files = f;
		return f;
	}
	return NULL;
}
