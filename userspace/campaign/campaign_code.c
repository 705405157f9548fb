/* SPDX-License-Identifier: GPL-2.0-only */
/* Atomic instructions as points: in which files, and which of them are not worth it. */
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "campaign/campaign_internal.h"
#include "cli/exit_codes.h"

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

	if (c->o.replay.atomics)
		return listed(c->o.replay.atomics, m->path);
	if (!strcmp(m->path, c->file) || !probes_is_system(m->path))
		return true;
	/* how OpenMP's threads wait for each other */
	if (base && (!fnmatch("/libgomp.so*", base, 0) || !fnmatch("/libomp*.so*", base, 0) ||
		     !fnmatch("/libiomp*.so*", base, 0)))
		return true;
	/* a library of the distribution has to be named */
	return listed(c->o.points.code, m->path) || (base && listed(c->o.points.code, base + 1));
}


/* A place that a trace knows as "PATH+0xOFFSET". The path's length; 0: it is none. */
static size_t read_place(const char *place, uint64_t *offset)
{
	const char *plus = strrchr(place, '+');

	*offset = plus ? strtoull(plus + 1, NULL, 16) : 0;
	return plus ? plus - place : 0;
}

static int note_place(const struct campaign *c, char ***list, unsigned int *nr, uint32_t module, uint64_t offset)
{
	char **new = realloc(*list, (*nr + 2) * sizeof(*new));

	if (!new)
		return -ENOMEM;
	*list = new;
	if (asprintf(&new[*nr], "%s+0x%lx", probes_module(c->probes, module)->path, (unsigned long)offset) < 0)
		return -ENOMEM;
	new[++*nr] = NULL;
	return 0;
}

/* What a trace says of a place: no point at all, or only so often. */
static void quieten(struct campaign *c, const char *place, bool silent)
{
	uint64_t offset;
	size_t n = read_place(place, &offset);

	for (uint32_t i = 0; n && i < probes_nr_sites(c->probes); i++) {
		const struct probe_site *s = probes_site(c->probes, i);
		const char *path = probes_module(c->probes, s->module)->path;

		if (s->offset != offset || strlen(path) != n || strncmp(path, place, n))
			continue;
		if (silent)
			probes_silence(c->probes, i, true);
		else
			probes_set_limit(c->probes, i, KWORLD_HOT);
	}
}

int campaign_add_atomics(struct campaign *c, char *err, size_t errlen)
{
	bool added = false;
	int ret;

	if (!c->o.points.atomic)
		return 0;
	for (char **s = c->o.points.code; s && *s && !c->o.replay.atomics; s++)
		if (!probes_scope_known(c->probes, *s)) {
			snprintf(err, errlen, "--code %s: no such library, function or source file in the program or "
				 "its libraries", *s);
			return ZUG_EXIT_USAGE;
		}
	for (char **p = c->o.replay.atomics; p && *p; p++)
		if (probes_add_file(c->probes, *p, false, err, errlen) < 0)
			return ZUG_EXIT_ENVIRONMENT;
	for (unsigned int i = 0; i < probes_nr_modules(c->probes); i++) {
		const struct probe_module *m = probes_module(c->probes, i);

		if (m->code_points || !wanted(c, m))
			continue;
		ret = probes_add_atomics(c->probes, i, c->o.points.code, err, errlen);
		if (ret < 0)
			return ZUG_EXIT_ENVIRONMENT;
		added |= ret > 0;
	}
	if (!added || ((!c->o.replay.silent || !c->o.replay.silent[0]) && (!c->o.replay.limited || !c->o.replay.limited[0])))
		return 0;
	for (char **s = c->o.replay.silent; s && *s; s++)
		quieten(c, *s, true);
	for (char **s = c->o.replay.limited; s && *s; s++)
		quieten(c, *s, false);
	kernel_clear_probes(c->k);
	return probes_replant(c->probes, err, errlen) ? ZUG_EXIT_ENVIRONMENT : 0;
}

/* What was named is wanted, whatever it costs. */
static bool may_cool(const struct campaign *c)
{
	return c->o.points.atomic && !(c->o.points.code && c->o.points.code[0]) && !c->o.replay.atomics;
}

bool campaign_cut_by_atomics(const struct campaign *c, const struct execution *x)
{
	uint64_t hits = 0;

	for (uint32_t i = 0; may_cool(c) && i < probes_nr_sites(c->probes); i++)
		if (probes_site(c->probes, i)->code.kind)
			hits += kworld_hits(c->world, i);
	return hits > x->steps / 2;
}

int campaign_cool(struct campaign *c, char *err, size_t errlen)
{
	bool contended;
	int nr = 0, ret;

	if (!may_cool(c))
		return 0;
	for (uint32_t i = 0; i < probes_nr_sites(c->probes); i++) {
		const struct probe_site *s = probes_site(c->probes, i);

		if (!s->code.kind || s->silent || s->op == ZUG_OP_PAUSE || !kworld_is_hot(c->world, i, &contended))
			continue;
		/* who else would have come to it is not known of an execution that was cut */
		if (c->cut) {
			if (s->limit)
				continue;
			if (note_place(c, &c->limited, &c->nr_limited, s->module, s->offset))
				return -ENOMEM;
			probes_set_limit(c->probes, i, KWORLD_HOT);
		} else if (!contended) {
			if (note_place(c, &c->silent, &c->nr_silent, s->module, s->offset))
				return -ENOMEM;
			probes_silence(c->probes, i, true);
		} else {
			continue;
		}
		nr++;
	}
	c->cut = false;
	if (!nr)
		return 0;
	kernel_clear_probes(c->k);
	ret = probes_replant(c->probes, err, errlen);
	if (!ret)
		ret = campaign_update_json(c);
	return ret ? ret : nr;
}

/* ---- plain variables ---- */

static int add_places(struct campaign *c, char *const *list, struct probe_code place, char *err, size_t errlen)
{
	for (; list && *list; list++) {
		size_t n = read_place(*list, &place.offset);

		for (uint32_t m = 0; n && m < probes_nr_modules(c->probes); m++) {
			const char *path = probes_module(c->probes, m)->path;

			if (strlen(path) == n && !strncmp(path, *list, n) &&
			    probes_add_code(c->probes, m, &place, 1, err, errlen) < 0)
				return ZUG_EXIT_ENVIRONMENT;
		}
	}
	return 0;
}

int campaign_add_split(struct campaign *c, char *err, size_t errlen)
{
	int ret = add_places(c, c->o.replay.split, (struct probe_code){ .split = true }, err, errlen);

	return ret ? ret : add_places(c, c->o.replay.waits, (struct probe_code){ .waits = true }, err, errlen);
}

static int split_variable(struct campaign *c, uint32_t module, uint64_t vaddr, uint64_t size, char *err,
			  size_t errlen)
{
	struct code *code = probes_code(c->probes, module, err, errlen);
	uint64_t at;
	int ret;

	/* of a file that cannot be disassembled nothing is known, and nothing lost but that */
	for (uint32_t i = 0; code && i < code_nr(code); i++) {
		const struct code_place *p = code_at(code, i);
		struct probe_code place = { .offset = p->offset, .split = true };

		if (p->kind != CODE_RMW || !code_static_operand(code, p, &at) || at < vaddr || at >= vaddr + size)
			continue;
		ret = probes_add_code(c->probes, module, &place, 1, err, errlen);
		if (ret < 0)
			return ZUG_EXIT_ENVIRONMENT;
		if (ret && note_place(c, &c->split, &c->nr_split, module, p->offset))
			return ZUG_EXIT_INTERNAL;
	}
	return 0;
}

int campaign_split_watched(struct campaign *c, char *err, size_t errlen)
{
	int ret = 0;

	for (unsigned int i = 0; i < c->nr_watches && !ret && !c->o.replay.probed; i++)
		ret = split_variable(c, c->watched[i].module, c->watched[i].vaddr, c->watched[i].size, err, errlen);
	if (!ret && c->nr_split && campaign_update_json(c))
		ret = ZUG_EXIT_INTERNAL;
	return ret;
}

/* ---- for people ---- */

/* A place that is a point only so often; it may have turned out to be of one task since, and silent. */
static bool is_limited(const struct probe_site *s)
{
	return !s->silent && s->limit == KWORLD_HOT;
}

static void say_places(const struct campaign *c, unsigned int nr, bool silent, FILE *f)
{
	struct trace_frame frame;
	unsigned int said = 0;

	for (uint32_t i = 0; i < probes_nr_sites(c->probes) && said < 5; i++) {
		const struct probe_site *s = probes_site(c->probes, i);

		if (silent ? !s->silent : !is_limited(s))
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
	fputs(nr > said ? ", ..." : "", f);
}

void campaign_say_silent(const struct campaign *c, FILE *f)
{
	unsigned int limited = 0;

	for (uint32_t i = 0; c->nr_limited && i < probes_nr_sites(c->probes); i++)
		limited += is_limited(probes_site(c->probes, i));
	if (c->nr_silent) {
		fprintf(f, "no points at %u atomic instruction%s, reached %d times or more in one execution, for memory that "
			"one task alone used:", c->nr_silent, c->nr_silent == 1 ? "" : "s", KWORLD_HOT);
		say_places(c, c->nr_silent, true, f);
		fprintf(f, "; --code FUNCTION makes them points\n");
	}
	if (limited) {
		fprintf(f, "points only the first %d times in each execution at %u atomic instruction%s, reached too often to "
			"come to an end:", KWORLD_HOT, limited, limited == 1 ? "" : "s");
		say_places(c, limited, false, f);
		fprintf(f, "; --code FUNCTION and --max-steps lift that\n");
	}
}

/* "PATH+0xOFFSET OPERATION LIMIT" */
static int parse_place(const char *text, char *path, size_t len, struct probe_code *pc)
{
	const char *plus = strrchr(text, '+');
	unsigned int limit, within = 0;
	unsigned long offset;
	char name[64];
	int nr;

	/* traces of earlier versions have no last number */
	if (!plus || (size_t)(plus - text) >= len || sscanf(plus, "+0x%lx %63s %u %u", &offset, name, &limit, &within) < 3)
		return -EINVAL;
	snprintf(path, len, "%.*s", (int)(plus - text), text);
	nr = zug_op_by_name(name);
	if (nr < 0)
		return nr;
	/* a read-modify-write is split whatever it is called, and nothing else is */
	*pc = (struct probe_code){ .offset = offset, .op = nr, .split = true, .limit = limit, .within = within };
	return 0;
}

int campaign_add_data(struct campaign *c, char *err, size_t errlen)
{
	struct probe_code *list;
	size_t nr = 0;
	int ret = 0;

	while (c->o.replay.data && c->o.replay.data[nr])
		nr++;
	if (!nr)
		return 0;
	list = malloc(nr * sizeof(*list));
	if (!list)
		return ZUG_EXIT_INTERNAL;
	for (size_t i = 0; i < nr && ret >= 0; i++) {
		char path[PATH_MAX];

		ret = parse_place(c->o.replay.data[i], path, sizeof(path), &list[0]);
		if (ret) {
			snprintf(err, errlen, "the trace is damaged: no such place: %s", c->o.replay.data[i]);
			break;
		}
		ret = probes_add_file(c->probes, path, false, err, errlen);
	}
	for (unsigned int m = 0; m < probes_nr_modules(c->probes) && ret >= 0; m++) {
		int n = 0;

		for (size_t i = 0; i < nr; i++) {
			char path[PATH_MAX];

			if (!parse_place(c->o.replay.data[i], path, sizeof(path), &list[n]) &&
			    !strcmp(path, probes_module(c->probes, m)->path))
				n++;
		}
		ret = n ? probes_add_code(c->probes, m, list, n, err, errlen) : 0;
	}
	free(list);
	return ret < 0 ? ZUG_EXIT_ENVIRONMENT : 0;
}
