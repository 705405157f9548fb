/* SPDX-License-Identifier: GPL-2.0-only */
/* places_spaces.c - which file lies where in each process of an execution, and files that no points are in yet (places.h) */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "kworld/places_internal.h"
#include "lib/base/array.h"
#include "lib/base/file_copy.h"
#include "lib/base/mappings.h"

struct space *places_space(const struct places *p, uint32_t process)
{
	for (unsigned int i = 0; i < p->nr_spaces; i++)
		if (p->spaces[i].process == process)
			return &p->spaces[i];
	return NULL;
}

static struct space *space_make(struct places *p, uint32_t process)
{
	struct space *s = places_space(p, process);

	if (s)
		return s;
	if (!ARRAY_RESERVE(p->spaces, p->room_spaces, p->nr_spaces + 1))
		return NULL;
	s = &p->spaces[p->nr_spaces++];
	*s = (struct space){ .process = process };
	return s;
}

void places_fork(struct places *p, uint32_t process, uint32_t parent)
{
	struct space *to = space_make(p, process), *from = places_space(p, parent);

	if (!to || !from || !from->nr || !ARRAY_RESERVE(to->maps, to->room, from->nr))
		return;
	memcpy(to->maps, from->maps, from->nr * sizeof(*to->maps));
	to->nr = from->nr;
	for (unsigned int i = 0; i < to->nr; i++)
		to->maps[i].mm = 0;
}

void places_exec(struct places *p, uint32_t process, const struct zug_event *e)
{
	struct space *s = places_space(p, process);
	unsigned int nr = 0;

	if (!s)
		return;
	/* the new image's first mappings were reported before the exec itself */
	for (unsigned int i = 0; i < s->nr; i++)
		if (s->maps[i].mm == e->arg[3])
			s->maps[nr++] = s->maps[i];
	s->nr = nr;
}

static void note_unprobed(struct places *p, const char *path)
{
	for (unsigned int i = 0; i < p->nr_unprobed; i++)
		if (!strcmp(p->unprobed[i], path))
			return;
	if (!ARRAY_RESERVE(p->unprobed, p->room_unprobed, p->nr_unprobed + 1))
		return;
	p->unprobed[p->nr_unprobed] = strdup(path);
	if (p->unprobed[p->nr_unprobed])
		p->nr_unprobed++;
}

const char *places_next_unprobed(struct places *p)
{
	return p->next_unprobed < p->nr_unprobed ? p->unprobed[p->next_unprobed++] : NULL;
}

/* The path of a file that process pid has mapped at start, as the test sees it. */
static bool mapped_path(int pid, uint64_t start, char *path, size_t len)
{
	struct mappings ms;
	struct mapping m;
	bool found;

	mappings_open(&ms, pid);
	found = mappings_find(&ms, start, &m) && m.path[0] == '/';
	if (found)
		snprintf(path, len, "%s", m.path);
	mappings_close(&ms);
	return found;
}

/* What is read from there, without a name; a descriptor or -errno. */
static int copy_of(const char *from)
{
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK), out = -1, ret = 0;
	struct stat st;

	if (in < 0)
		return -errno;
	if (fstat(in, &st) || !S_ISREG(st.st_mode))
		ret = -ENOEXEC;
	out = ret ? -1 : memfd_create("zug", MFD_CLOEXEC);
	if (!ret && out < 0)
		ret = -errno;
	if (!ret)
		ret = file_copy(in, out);
	close(in);
	if (ret && out >= 0)
		close(out);
	return ret ? ret : out;
}

/*
 * The module of a file that is only in the environment of this execution: the test has made it. It is
 * read while it is mapped. -1: it is none.
 */
static int made_module(struct places *p, int pid, const char *path)
{
	char name[64], root[PATH_MAX + 32];
	int m = probes_made(p->probes, path), fd;

	if (m >= 0 || !access(path, F_OK) || !ARRAY_RESERVE(p->made, p->room_made, p->nr_made + 1))
		return m;
	snprintf(root, sizeof(root), "/proc/%d/root%s", pid, path);
	fd = copy_of(root);
	if (fd < 0)
		return -1;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	m = probes_add_made(p->probes, path, name);
	if (m < 0) {
		close(fd);
		return -1;
	}
	p->made[p->nr_made++] = fd;
	return m;
}

void places_map(struct places *p, uint32_t process, const struct zug_event *e)
{
	struct space *s = space_make(p, process);
	const struct probe_module *mod;
	struct mapped_module m = { .start = e->arg[0], .end = e->arg[1], .pgoff = e->arg[2] << 12,
			     .mm = e->arg[3] };
	char path[PATH_MAX];
	int module;

	if (!s)
		return;
	module = e->kind == ZUG_EV_MODULE ? (int)e->site :
		 probes_module_by_file(p->probes, e->obj.ino, e->obj.dev);
	if (module < 0) {
		if (!mapped_path(e->pid, m.start, path, sizeof(path)))
			return;
		module = made_module(p, e->pid, path);
		note_unprobed(p, path);
		if (module < 0)
			return;
	}
	mod = probes_module(p->probes, module);
	if (!mod || !mod->file)
		return;
	m.module = module;
	if (symfile_code_bias(mod->file, m.start, m.pgoff, &m.bias))
		return;
	for (unsigned int i = 0; i < s->nr; i++)
		if (s->maps[i].start == m.start && s->maps[i].module == m.module) {
			s->maps[i] = m;
			return;
		}
	p->knows_strange |= e->kind == ZUG_EV_UNPROBED;
	if (ARRAY_RESERVE(s->maps, s->room, s->nr + 1))
		s->maps[s->nr++] = m;
}

bool places_knows_strange(const struct places *p)
{
	return p->knows_strange;
}

int places_bias(const struct places *p, uint32_t process, uint32_t module, uint64_t *bias)
{
	const struct space *s = places_space(p, process);

	for (unsigned int i = 0; s && i < s->nr; i++)
		if (s->maps[i].module == module) {
			*bias = s->maps[i].bias;
			return 0;
		}
	return -ENOENT;
}
