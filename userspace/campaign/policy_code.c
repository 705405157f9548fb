/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Atomic instructions as points: in which files, and which of them are not worth it.
 *
 * A place that was reached KWORLD_HOT times in one execution, always for memory of one task alone,
 * becomes silent: it is no point any more. When an execution was cut because it stood at atomic
 * instructions so often, the hot places become limited: they are points the first KWORLD_HOT times
 * in each execution.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "campaign/policy.h"
#include "campaign/probe_places.h"

struct code_points {
	struct session *s;
	struct place_list silent, limited;
	bool cut; /* the last execution was, because it stood at atomic instructions so often */
};

static int open_code(void *state, struct session *s, struct race_book *races, char *err,
		     size_t errlen)
{
	struct code_points *c = state;

	c->s = s;
	return 0;
}

static void release_code(void *state)
{
	struct code_points *c = state;

	place_list_release(&c->silent);
	place_list_release(&c->limited);
}

/* ---- which files ---- */

static bool listed(char *const *list, const char *path)
{
	for (; list && *list; list++)
		if (!strcmp(*list, path))
			return true;
	return false;
}

static bool wanted(const struct session *s, uint32_t module)
{
	const struct probe_module *m = probes_module(s->probes, module);
	const char *base = strrchr(m->path, '/');

	if (s->o.replay.atomics)
		return listed(s->o.replay.atomics, m->path);
	/* it would have tens of thousands, and none is the program's */
	if (!(s->o.points.code && s->o.points.code[0]) && probes_is_runtime(s->probes, module))
		return false;
	if (!strcmp(m->path, s->paths.program) || !probes_is_system(m->path))
		return true;
	/* how OpenMP's threads wait for each other */
	if (base && (!fnmatch("/libgomp.so*", base, 0) || !fnmatch("/libomp*.so*", base, 0) ||
		     !fnmatch("/libiomp*.so*", base, 0)))
		return true;
	/* a library of the distribution has to be named */
	return listed(s->o.points.code, m->path) || (base && listed(s->o.points.code, base + 1));
}

/* What a trace says of a place: it is silent, or limited. */
static void quieten(struct session *s, const char *place, bool silent)
{
	uint64_t offset;
	size_t n = probe_place_parse(place, &offset);

	for (uint32_t i = 0; n && i < probes_nr_sites(s->probes); i++) {
		const struct probe_site *site = probes_site(s->probes, i);
		const char *path = probes_module(s->probes, site->module)->path;

		if (site->offset != offset || strlen(path) != n || strncmp(path, place, n))
			continue;
		if (silent)
			probes_silence(s->probes, i, true);
		else
			probes_set_limit(s->probes, i, KWORLD_HOT);
	}
}

/* Makes points of the atomic instructions in modules that have none yet. */
static int add_atomics(struct session *s, char *err, size_t errlen)
{
	const struct options_replay *r = &s->o.replay;
	char **code = s->o.points.code;
	bool added = false;
	int ret;

	if (!s->o.points.atomic)
		return 0;
	for (char **scope = code; scope && *scope && !r->atomics; scope++)
		if (!probes_scope_known(s->probes, *scope)) {
			snprintf(
				err, errlen,
				"--code %s: no such library, function or source file in the program or "
				"its libraries",
				*scope);
			return -EINVAL;
		}
	for (char **p = r->atomics; p && *p; p++)
		if (probes_add_file(s->probes, *p, false, err, errlen) < 0)
			return -EIO;
	for (unsigned int i = 0; i < probes_nr_modules(s->probes); i++) {
		const struct probe_module *m = probes_module(s->probes, i);

		if (m->code_points || m->made || !wanted(s, i))
			continue;
		ret = probes_add_atomics(s->probes, i, code, err, errlen);
		if (ret < 0)
			return -EIO;
		added |= ret > 0;
	}
	if (!added || ((!r->silent || !r->silent[0]) && (!r->limited || !r->limited[0])))
		return 0;
	for (char **place = r->silent; place && *place; place++)
		quieten(s, *place, true);
	for (char **place = r->limited; place && *place; place++)
		quieten(s, *place, false);
	return session_replant(s, err, errlen) ? -EIO : 0;
}

static int start(void *state, char *err, size_t errlen)
{
	return add_atomics(((struct code_points *)state)->s, err, errlen);
}

/* ---- which of them are hot ---- */

/* What --code names stays a point, whatever it costs. */
static bool may_cool(const struct session *s)
{
	return s->o.points.atomic && !(s->o.points.code && s->o.points.code[0]) &&
	       !s->o.replay.atomics;
}

/*
 * The execution took up its steps or its time with atomic instructions. Before kworld_is_hot() of
 * the same execution.
 */
static bool cut_by_atomics(const struct session *s, const struct execution *x)
{
	uint64_t hits = 0;

	for (uint32_t i = 0; may_cool(s) && i < probes_nr_sites(s->probes); i++)
		if (probes_site(s->probes, i)->code.kind)
			hits += kworld_hits(s->world, i);
	return hits > x->steps / 2;
}

/* How many hot places are silent or limited from now on; or -errno. */
static int cool(struct code_points *c, char *err, size_t errlen)
{
	struct session *s = c->s;
	bool contended;
	int nr = 0;

	if (!may_cool(s))
		return 0;
	for (uint32_t i = 0; i < probes_nr_sites(s->probes); i++) {
		const struct probe_site *site = probes_site(s->probes, i);
		const char *path = probes_module(s->probes, site->module)->path;

		if (!site->code.kind || site->silent || site->op == ZUG_OP_PAUSE ||
		    !kworld_is_hot(s->world, i, &contended))
			continue;
		/* of an execution that was cut it is not known which tasks would have come there */
		if (c->cut) {
			if (site->limit)
				continue;
			if (place_list_add(&c->limited, path, site->offset))
				return -ENOMEM;
			probes_set_limit(s->probes, i, KWORLD_HOT);
		} else if (!contended) {
			if (place_list_add(&c->silent, path, site->offset))
				return -ENOMEM;
			probes_silence(s->probes, i, true);
		} else {
			continue;
		}
		nr++;
	}
	c->cut = false;
	if (nr && session_replant(s, err, errlen))
		return -EIO;
	return nr;
}

static int learn(void *state, bool only_more, char *err, size_t errlen)
{
	struct code_points *c = state;
	unsigned int before = probes_nr_sites(c->s->probes);
	int ret = add_atomics(c->s, err, errlen), added, cooled;

	if (ret)
		return ret;
	added = probes_nr_sites(c->s->probes) != before;
	/* where some places are no points any more, more of the test may show */
	cooled = only_more ? 0 : cool(c, err, errlen);
	return cooled < 0 ? cooled : added + cooled;
}

static int after(void *state, enum points_phase phase, struct execution *x, char *err,
		 size_t errlen)
{
	struct code_points *c = state;

	if (phase != POINTS_LEARNING || kworld_launch(c->s->world)->joined ||
	    x->outcome.kind != ZUG_OUTCOME_TIMEOUT || !cut_by_atomics(c->s, x))
		return 0;
	c->cut = true;
	outcome_set(&x->outcome, ZUG_OUTCOME_PASS, "%s", "");
	return 0;
}

/* ---- for replays and people ---- */

static int lists(void *state, struct options_replay *l)
{
	const struct code_points *c = state;

	if (c->silent.nr)
		l->silent = c->silent.list;
	if (c->limited.nr)
		l->limited = c->limited.list;
	return 0;
}

/* A place that is limited; it may have turned out to be of one task since, and silent. */
static bool is_limited(const struct probe_site *s)
{
	return !s->silent && s->limit == KWORLD_HOT;
}

static void say_places(const struct session *s, unsigned int nr, bool silent, FILE *f)
{
	struct trace_frame frame;
	unsigned int said = 0;
	char function[256];

	for (uint32_t i = 0; i < probes_nr_sites(s->probes) && said < 5; i++) {
		const struct probe_site *site = probes_site(s->probes, i);
		const struct probe_module *m = probes_module(s->probes, site->module);

		if (silent ? !site->silent : !is_limited(site))
			continue;
		if (symfile_frames(m->file, site->offset, &frame, 1) > 0 && frame.function) {
			symbols_brief(frame.function, function, sizeof(function));
			fprintf(f, "%s %s", said++ ? "," : "", function);
		} else {
			fprintf(f, "%s %s+0x%lx", said++ ? "," : "", strrchr(m->path, '/') + 1,
				(unsigned long)site->offset);
		}
		if (frame.file && frame.line)
			fprintf(f, " (%s:%u)",
				strrchr(frame.file, '/') ? strrchr(frame.file, '/') + 1 :
							   frame.file,
				frame.line);
	}
	fputs(nr > said ? ", ..." : "", f);
}

/* Hot places, and files in which nothing is a point. */
static int table(void *state, struct point_table *t)
{
	const struct code_points *c = state;
	const struct session *s = c->s;
	int ret = 0;

	for (uint32_t m = 0; m < probes_nr_modules(s->probes) && !ret; m++) {
		const struct probe_module *mod = probes_module(s->probes, m);
		size_t len = strlen(mod->path), n;
		uint64_t offset;

		for (unsigned int i = 0; i < c->silent.nr && !ret; i++) {
			n = probe_place_parse(c->silent.list[i], &offset);
			if (n == len && !strncmp(mod->path, c->silent.list[i], n))
				ret = session_table_absent(s, t, m, offset,
							 "hot and of one task alone, left out (--code)");
		}
		if (!ret && s->o.points.atomic && (mod->made || !wanted(s, m)))
			ret = point_table_add(t, &(struct point_row){
				.place = mod->path, .why = mod->made ?
				"made by the test: its atomic instructions and data are none" :
				probes_is_runtime(s->probes, m) ?
				"runtime of a language: its atomic instructions and data are none (--code makes points of the former)" :
				"library: its data is none, its atomic instructions need --code" });
	}
	return ret;
}

static void note(void *state, struct campaign_notes *n)
{
	const struct code_points *c = state;
	unsigned int limited = 0;
	size_t len;
	FILE *f = open_memstream(&n->code, &len);

	if (!f)
		return;
	for (uint32_t i = 0; c->limited.nr && i < probes_nr_sites(c->s->probes); i++)
		limited += is_limited(probes_site(c->s->probes, i));
	if (c->silent.nr) {
		fprintf(f,
			"no points at %u atomic instruction%s, reached %d times or more in one execution, for memory that "
			"one task alone used:",
			c->silent.nr, c->silent.nr == 1 ? "" : "s", KWORLD_HOT);
		say_places(c->s, c->silent.nr, true, f);
		fprintf(f, "; --code FUNCTION makes them points\n");
	}
	if (limited) {
		fprintf(f,
			"points only the first %d times in each execution at %u atomic instruction%s, reached too often to "
			"come to an end:",
			KWORLD_HOT, limited, limited == 1 ? "" : "s");
		say_places(c->s, limited, false, f);
		fprintf(f, "; --code FUNCTION and --max-steps lift that\n");
	}
	fclose(f);
}

const struct point_policy policy_code = {
	.size = sizeof(struct code_points), .open = open_code, .release = release_code,
	.start = start, .learn = learn, .after = after, .lists = lists, .table = table,
	.note = note,
};
