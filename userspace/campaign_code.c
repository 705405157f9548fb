/* SPDX-License-Identifier: GPL-2.0-only */
/* Atomic instructions as points: in which files, and which of them are not worth it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "campaign_internal.h"
#include "exit_codes.h"

static bool listed(char *const *list, const char *path)
{
	for (; list && *list; list++)
		if (!strcmp(*list, path))
			return true;
	return false;
}

static bool wanted(const struct campaign *c, const struct probe_module *m)
{
	const char *base = strrchr(m->path, '/');

	if (c->o.atomics)
		return listed(c->o.atomics, m->path);
	if (!strcmp(m->path, c->file) || !probes_is_system(m->path))
		return true;
	/* a library of the distribution has to be named */
	return listed(c->o.code, m->path) || (base && listed(c->o.code, base + 1));
}

/* The site that a trace knows as "PATH+0xOFFSET". */
static void silence(struct campaign *c, const char *place)
{
	const char *plus = strrchr(place, '+');
	uint64_t offset = plus ? strtoull(plus + 1, NULL, 16) : 0;

	for (uint32_t i = 0; plus && i < probes_nr_sites(c->probes); i++) {
		const struct probe_site *s = probes_site(c->probes, i);
		const char *path = probes_module(c->probes, s->module)->path;

		if (s->offset == offset && strlen(path) == (size_t)(plus - place) &&
		    !strncmp(path, place, plus - place))
			probes_silence(c->probes, i);
	}
}

int campaign_add_atomics(struct campaign *c, char *err, size_t errlen)
{
	bool added = false;
	int ret;

	if (!c->o.atomic_points)
		return 0;
	for (char **s = c->o.code; s && *s && !c->o.atomics; s++)
		if (!probes_scope_known(c->probes, *s)) {
			snprintf(err, errlen, "--code %s: no such library, function or source file in the program or "
				 "its libraries", *s);
			return ZUG_EXIT_USAGE;
		}
	for (char **p = c->o.atomics; p && *p; p++)
		if (probes_add_file(c->probes, *p, false, err, errlen) < 0)
			return ZUG_EXIT_ENVIRONMENT;
	for (unsigned int i = 0; i < probes_nr_modules(c->probes); i++) {
		const struct probe_module *m = probes_module(c->probes, i);

		if (m->code_points || !wanted(c, m))
			continue;
		ret = probes_add_atomics(c->probes, i, c->o.code, err, errlen);
		if (ret < 0)
			return ZUG_EXIT_ENVIRONMENT;
		added |= ret > 0;
	}
	if (!added || !c->o.silent || !c->o.silent[0])
		return 0;
	for (char **s = c->o.silent; *s; s++)
		silence(c, *s);
	kernel_clear_probes(c->k);
	return probes_replant(c->probes, err, errlen) ? ZUG_EXIT_ENVIRONMENT : 0;
}

int campaign_cool(struct campaign *c, char *err, size_t errlen)
{
	char **list;
	uint32_t hits;
	int nr = 0, ret;

	/* what was named is wanted, whatever it costs */
	if (!c->o.atomic_points || (c->o.code && c->o.code[0]) || c->o.atomics)
		return 0;
	for (uint32_t i = 0; i < probes_nr_sites(c->probes); i++) {
		const struct probe_site *s = probes_site(c->probes, i);

		if (!s->code.kind || s->silent || s->op == ZUG_OP_PAUSE || !kworld_is_hot(c->world, i, &hits))
			continue;
		list = realloc(c->silent, (c->nr_silent + 2) * sizeof(*list));
		if (!list)
			return -ENOMEM;
		c->silent = list;
		if (asprintf(&list[c->nr_silent], "%s+0x%lx", probes_module(c->probes, s->module)->path,
			     (unsigned long)s->offset) < 0)
			return -ENOMEM;
		list[++c->nr_silent] = NULL;
		probes_silence(c->probes, i);
		nr++;
	}
	if (!nr)
		return 0;
	kernel_clear_probes(c->k);
	ret = probes_replant(c->probes, err, errlen);
	if (!ret)
		ret = campaign_update_json(c);
	return ret ? ret : nr;
}

void campaign_say_silent(const struct campaign *c, FILE *f)
{
	struct trace_frame frame;
	unsigned int said = 0;

	if (!c->nr_silent)
		return;
	fprintf(f, "no points at %u atomic instruction%s, reached %d times or more in one execution, for memory that one "
		"task alone used:", c->nr_silent, c->nr_silent == 1 ? "" : "s", KWORLD_HOT);
	for (uint32_t i = 0; i < probes_nr_sites(c->probes) && said < 5; i++) {
		const struct probe_site *s = probes_site(c->probes, i);

		if (!s->silent)
			continue;
		if (symfile_frames(probes_module(c->probes, s->module)->file, s->offset, &frame, 1) > 0 &&
		    frame.function)
			fprintf(f, "%s %s", said++ ? "," : "", frame.function);
		else
			fprintf(f, "%s %s+0x%lx", said++ ? "," : "",
				strrchr(probes_module(c->probes, s->module)->path, '/') + 1, (unsigned long)s->offset);
		if (frame.file && frame.line)
			fprintf(f, " (%s:%u)", strrchr(frame.file, '/') ? strrchr(frame.file, '/') + 1 : frame.file,
				frame.line);
	}
	fprintf(f, "%s; --code FUNCTION makes them points\n", c->nr_silent > said ? ", ..." : "");
}
