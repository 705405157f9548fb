/* SPDX-License-Identifier: GPL-2.0-only */
/* --watch: the processor's debug registers stop a task at each access to a variable. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "campaign/session.h"

/* A variable that --watch names. */
struct variable {
	const char *name;
	uint32_t module;
	uint64_t vaddr, size, bias;
};

/* The module and the name in "[FILE:]VARIABLE"; "::" belongs to a name in C++. */
static const char *split(const char *text, char *file, size_t len)
{
	const char *colon = strchr(text, ':');

	file[0] = 0;
	if (!colon || colon[1] == ':')
		return text;
	snprintf(file, len, "%.*s", (int)(colon - text), text);
	return colon + 1;
}

static bool is_file(const struct probe_module *m, const char *file)
{
	return !file[0] || !strcmp(strrchr(m->path, '/') + 1, file) || !strcmp(m->path, file);
}

static bool find_address(const struct session *s, struct variable *v)
{
	for (uint32_t process = 0; process < s->spawn.nr; process++)
		if (!places_bias(s->places, process, v->module, &v->bias))
			return true;
	return false;
}

static int find_variable(const struct session *s, const char *text, struct variable *v, char *err,
			 size_t errlen)
{
	char file[256], near[256] = "", why[512];
	uint32_t nr = probes_nr_modules(s->probes), m;

	v->name = split(text, file, sizeof(file));
	for (m = 0; m < nr; m++)
		if (is_file(probes_module(s->probes, m), file) &&
		    !symfile_variable(probes_module(s->probes, m)->file, v->name, &v->vaddr,
				      &v->size, why, sizeof(why)))
			break;
	v->module = m;
	if (m < nr && find_address(s, v))
		return 0;
	if (m < nr) {
		snprintf(err, errlen, "--watch %s: its file was not mapped by the test", text);
		return -EINVAL;
	}
	for (m = 0; m < nr && !near[0]; m++)
		symfile_nearest(probes_module(s->probes, m)->file, v->name, false, near,
				sizeof(near));
	snprintf(err, errlen, "--watch %s: no such variable in the program or its libraries%s%s%s",
		 text, near[0] ? "; did you mean " : "", near, near[0] ? "?" : "");
	return -EINVAL;
}

static struct zug_watch watch_of(const struct session *s, const struct variable *v)
{
	const struct probe_module *m = probes_module(s->probes, v->module);
	struct zug_watch w = { .addr = v->vaddr + v->bias };

	w.len = v->size >= 8 && !(w.addr & 7) ? 8 : v->size >= 4 && !(w.addr & 3) ? 4 :
		v->size >= 2 && !(w.addr & 1) ? 2 : 1;
	if (symfile_interp(m->file) || !symfile_is_dynamic(m->file)) {
		/* a program's own data: no other program's memory is meant */
		w.exe_ino = m->ino;
		w.exe_dev = kernel_dev(m->dev);
	}
	return w;
}

int session_set_watches(struct session *s, char *err, size_t errlen)
{
	unsigned int slot = 0;
	int ret;

	for (char **text = s->o.points.watches; text && *text; text++, slot++) {
		struct session_watch *w = &s->watch[slot];
		struct variable v = { 0 };

		if (slot >= ZUG_MAX_WATCHES) {
			snprintf(err, errlen, "--watch %s: the processor has %d debug registers",
				 *text, ZUG_MAX_WATCHES);
			return -EINVAL;
		}
		ret = find_variable(s, *text, &v, err, errlen);
		if (ret)
			return ret;
		*w = (struct session_watch){ .watch = watch_of(s, &v),
					     .module = v.module,
					     .vaddr = v.vaddr };
		w->size = v.size ? v.size : w->watch.len;
		if (v.size > 8)
			session_say(s, "--watch %s: it has %lu bytes, the first %u are watched",
				    *text, (unsigned long)v.size, w->watch.len);
		if (kernel_set_watch(s->k, slot, &w->watch, err, errlen))
			return -EIO;
	}
	s->nr_watches = slot;
	kworld_launch(s->world)->nr_watches = slot;
	return 0;
}
