/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Data races: two tasks that stand before the same data at the same time, one of them about to write. Nothing
 * orders them then, whatever the program's synchronisation is made of: either may go first, now.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "search/identity.h"
#include "search/ranges.h"
#include "campaign/campaign_internal.h"
#include "report/report.h"

/* Of more races the rest is told in a line each. */
#define SHOWN 3

struct races {
	uint64_t *known;	/* identities: reported, or suppressed */
	unsigned int nr_known;
	bool *used;		/* by suppression */
	unsigned int nr_suppressed;
	uint64_t found;		/* that ended the last execution; 0: none did */
	enum campaign_race_kind kind;
	char object[256];
	struct campaign_race *list;
	unsigned int nr;
};

static struct races *races_of(struct campaign *c)
{
	struct races *r = c->race;
	size_t n = 0;

	if (r)
		return r;
	r = calloc(1, sizeof(*r));
	while (c->o.suppressions && c->o.suppressions[n])
		n++;
	if (r)
		r->used = calloc(n + 1, sizeof(*r->used));
	if (!r || !r->used) {
		free(r);
		return NULL;
	}
	c->race = r;
	for (char **k = c->o.known_races; k && *k; k++)
		campaign_know_race(c, strtoull(*k, NULL, 16));
	return r;
}

bool campaign_race_known(struct campaign *c, uint64_t race)
{
	const struct races *r = races_of(c);

	for (unsigned int i = 0; r && i < r->nr_known; i++)
		if (r->known[i] == race)
			return true;
	return false;
}

void campaign_know_race(struct campaign *c, uint64_t race)
{
	struct races *r = races_of(c);
	uint64_t *known;

	if (!r || campaign_race_known(c, race))
		return;
	known = realloc(r->known, (r->nr_known + 1) * sizeof(*known));
	if (!known)
		return;
	r->known = known;
	known[r->nr_known++] = race;
}

char **campaign_known_races(struct campaign *c)
{
	const struct races *r = races_of(c);
	char **list = calloc((r ? r->nr_known : 0) + 1, sizeof(*list));

	for (unsigned int i = 0; r && list && i < r->nr_known; i++)
		if (asprintf(&list[i], "%lx", (unsigned long)r->known[i]) < 0) {
			list[i] = NULL;
			break;
		}
	return list;
}

/* ---- seeing one ---- */

static bool is_data(const struct zug_label *l)
{
	return (l->op == ZUG_OP_DATA_READ || l->op == ZUG_OP_DATA_WRITE) && l->object;
}

/* Two accesses to the same bytes, one of them a write. */
struct clash {
	const struct world_access *a, *b;
};

static bool clash(const struct world_task *a, const struct world_task *b, struct clash *what)
{
	for (uint32_t i = 0; i < a->nr_accesses; i++)
		for (uint32_t k = 0; k < b->nr_accesses; k++) {
			const struct world_access *x = &a->access[i], *y = &b->access[k];
			const struct range rx = { x->space, x->addr, x->size }, ry = { y->space, y->addr, y->size };

			if (!(x->write | y->write) || !range_overlap(&rx, &ry))
				continue;
			*what = (struct clash){ x, y };
			return true;
		}
	return false;
}

static const struct probe_module *place_of(const struct campaign *c, uint64_t site, uint64_t *offset)
{
	const struct place_site *s = places_find_site(c->places, site);

	if (!s || s->module >= probes_nr_modules(c->probes))
		return NULL;
	*offset = s->offset;
	return probes_module(c->probes, s->module);
}

void campaign_say_place(const struct campaign *c, uint64_t site, char *buf, size_t len)
{
	struct trace_frame f;
	uint64_t offset = 0;
	const struct probe_module *m = place_of(c, site, &offset);
	const char *base;

	if (!m || symfile_frames(m->file, offset, &f, 1) <= 0) {
		snprintf(buf, len, "%s+0x%lx", m ? strrchr(m->path, '/') + 1 : "?", (unsigned long)offset);
		return;
	}
	if (!f.file) {
		snprintf(buf, len, "%s (%s)", f.function ? f.function : "?", strrchr(m->path, '/') + 1);
		return;
	}
	base = strrchr(f.file, '/');
	snprintf(buf, len, "%s (%s:%u)", f.function ? f.function : "?", base ? base + 1 : f.file, f.line);
}

bool campaign_say_member(const struct campaign *c, uint64_t site, char *buf, size_t len)
{
	uint64_t offset = 0;
	const struct probe_module *m = place_of(c, site, &offset);
	const struct code_place *p = m && m->code ? code_find(m->code, offset) : NULL;

	/* with an index it may be any element */
	return p && m->file && p->kind != CODE_BLOCK && p->kind != CODE_STRING && p->index == CODE_NO_REG &&
	       !symfile_pointee_name(m->file, offset, code_dwarf_register(p->base), p->disp, buf, len);
}

static void say_data(const struct campaign *c, uint64_t object, uint64_t site, char *buf, size_t len)
{
	const struct place_object *po = places_find_object(c->places, object);

	if ((!po || !po->fixed) && campaign_say_member(c, site, buf, len))
		return;
	snprintf(buf, len, "%s", po && po->name ? po->name : "data");
}

static bool glob(const char *pattern, const char *text)
{
	return text && !fnmatch(pattern, text, 0);
}

static bool frame_matches(const char *pattern, const struct trace_frame *f)
{
	const char *base = f->file ? strrchr(f->file, '/') : NULL;
	char bare[256];

	snprintf(bare, sizeof(bare), "%.*s", f->function ? (int)strcspn(f->function, "(") : 0,
		 f->function ? f->function : "");
	return glob(pattern, f->function) || glob(pattern, bare) || glob(pattern, f->file) ||
	       glob(pattern, base ? base + 1 : NULL);
}

static bool suppressed(struct campaign *c, struct races *r, const char *object, const uint32_t *tasks)
{
	struct trace_frame frames[2][64];
	int nr[2] = { 0 };

	if (!c->o.suppressions || !c->o.suppressions[0])
		return false;
	for (int t = 0; t < 2; t++)
		nr[t] = c->world->ops->stack(c->world, &c->world->tasks[tasks[t]], frames[t], 64);
	for (unsigned int i = 0; c->o.suppressions[i]; i++) {
		bool hit = glob(c->o.suppressions[i], object);

		for (int t = 0; t < 2; t++)
			for (int f = 0; f < nr[t] && !hit; f++)
				hit = frame_matches(c->o.suppressions[i], &frames[t][f]);
		if (hit) {
			r->used[i] = true;
			r->nr_suppressed++;
			return true;
		}
	}
	return false;
}

/* The value that a task is about to store; false: unknown, or no plain store. */
static bool stores(struct campaign *c, uint32_t task, const struct zug_label *l, uint64_t *value)
{
	uint64_t regs[18], offset;
	const struct probe_module *m = place_of(c, l->site, &offset);
	const struct code_place *p = m && m->code ? code_find(m->code, offset) : NULL;
	uint8_t bytes[16];
	bool known;
	int fd;

	if (!p || l->op != ZUG_OP_DATA_WRITE ||
	    c->world->inspection->registers(c->world, &c->world->tasks[task], regs))
		return false;
	fd = open(m->path, O_RDONLY | O_CLOEXEC);
	known = fd >= 0 && pread(fd, bytes, p->len, p->offset) == p->len &&
		!code_stored_value(p, bytes, p->len, regs, value);
	if (fd >= 0)
		close(fd);
	return known;
}

static const struct code_place *instruction(const struct campaign *c, uint64_t site, uint32_t *module)
{
	const struct place_site *s = places_find_site(c->places, site);
	uint64_t offset = 0;
	const struct probe_module *m = place_of(c, site, &offset);

	*module = s ? s->module : 0;
	return m && m->file && m->code ? code_find(m->code, offset) : NULL;
}

static bool is_copy(const struct campaign *c, uint64_t site)
{
	uint32_t module;
	const struct code_place *p = instruction(c, site, &module);

	return p && (p->kind == CODE_STRING || p->kind == CODE_BLOCK);
}

/* Is what it accesses of a type that is _Atomic? Then all accesses are, also those that no word in the source tells. */
static bool is_atomic_type(const struct campaign *c, uint64_t site)
{
	uint32_t module;
	const struct code_place *p = instruction(c, site, &module);
	const struct probe_module *m = probes_module(c->probes, module);
	uint64_t vaddr;

	if (!p)
		return false;
	if (code_static_operand(m->code, p, &vaddr))
		return symfile_is_atomic(m->file, vaddr);
	return p->index == CODE_NO_REG &&
	       symfile_pointee_is_atomic(m->file, p->offset, code_dwarf_register(p->base), p->disp);
}

/* Of a place that is not in the catalogue: it is watched. */
static enum symsays says(struct campaign *c, uint64_t site)
{
	uint32_t module;
	const struct code_place *p = instruction(c, site, &module);

	return p ? campaign_access_says(c, module, p) : SYMSAYS_PLAIN;
}

/* Are these accesses a data race? PLAIN: they are; ATOMIC: none; UNKNOWN. */
static enum symsays judge(struct campaign *c, uint64_t a, uint64_t b)
{
	enum symsays one = says(c, a), two = says(c, b);

	if (one == SYMSAYS_ATOMIC && two == SYMSAYS_ATOMIC)
		return SYMSAYS_ATOMIC;
	if (!is_copy(c, a) && !is_copy(c, b) && (is_atomic_type(c, a) || is_atomic_type(c, b)))
		return SYMSAYS_ATOMIC;
	return one == SYMSAYS_PLAIN || two == SYMSAYS_PLAIN ? SYMSAYS_PLAIN : SYMSAYS_UNKNOWN;
}

static enum campaign_race_kind kind_of(struct campaign *c, uint64_t id, const struct search_cand *const *pair,
				       const struct clash *on, bool sure)
{
	uint64_t value[2];

	if (campaign_is_counter(c, id))
		return RACE_COUNTER;
	if (on->a->addr == on->b->addr && on->a->size == on->b->size && stores(c, pair[0]->task, &pair[0]->label, &value[0]) &&
	    stores(c, pair[1]->task, &pair[1]->label, &value[1]) && value[0] == value[1])
		return RACE_SAME_VALUE;
	return sure ? RACE_REAL : RACE_POSSIBLE;
}

bool campaign_race_at(struct campaign *c, const struct search_point *p, uint32_t i, struct outcome *o)
{
	const struct search_cand *me = &p->cand[i];
	struct races *r = races_of(c);
	char place[2][256];

	for (uint32_t k = 0; r && is_data(&me->label) && k < p->nr; k++) {
		const struct search_cand *other = &p->cand[k], *const pair[2] = { me, other };
		uint32_t tasks[2] = { me->task, other->task };
		enum symsays verdict;
		struct clash on;
		uint64_t id;

		if (k == i || !is_data(&other->label) || c->world->tasks[other->task].state != TASK_PARKED ||
		    !clash(&c->world->tasks[me->task], &c->world->tasks[other->task], &on))
			continue;
		id = identity_race(me->label.site, other->label.site);
		if (campaign_race_known(c, id))
			continue;
		verdict = judge(c, me->label.site, other->label.site);
		if (verdict == SYMSAYS_ATOMIC) {
			campaign_know_race(c, id);
			continue;
		}
		if (on.b->size < on.a->size)
			say_data(c, on.b->object, other->label.site, r->object, sizeof(r->object));
		else
			say_data(c, on.a->object, me->label.site, r->object, sizeof(r->object));
		r->kind = kind_of(c, id, pair, &on, verdict == SYMSAYS_PLAIN);
		if (suppressed(c, r, r->object, tasks) || (r->kind != RACE_REAL && campaign_sampled(c))) {
			campaign_know_race(c, id);
			continue;
		}
		r->found = id;
		for (int t = 0; t < 2; t++)
			campaign_say_place(c, pair[t]->label.site, place[t], sizeof(place[t]));
		outcome_set(o, ZUG_OUTCOME_RACE, "%s: T%u is about to %s it in %s, T%u to %s it in %s, and nothing orders "
			    "them%s", r->object, tasks[0], on.a->write ? "write" : "read", place[0],
			    tasks[1], on.b->write ? "write" : "read", place[1],
			    verdict == SYMSAYS_PLAIN ? "" : "; no race if both are atomic, which cannot be told without the sources");
		o->failure = id;
		o->racing[0] = tasks[0];
		o->racing[1] = tasks[1];
		return true;
	}
	return false;
}

/* ---- those that are warnings ---- */

bool campaign_race_warns(const struct campaign *c)
{
	return !c->races_fail || (c->race && c->race->kind != RACE_REAL);
}

int campaign_keep_race(struct campaign *c, const struct execution *x, char *err, size_t errlen)
{
	struct races *r = races_of(c);
	struct campaign_race *list;
	struct trace *t;
	int done = 0;
	char *path;

	if (!r)
		return -ENOMEM;
	path = campaign_trace_name(c, "race.");
	if (!path) {
		snprintf(err, errlen, "cannot create a trace in %s: %s", c->o.out_dir, strerror(errno));
		return -errno;
	}
	list = realloc(r->list, (r->nr + 1) * sizeof(*list));
	if (list)
		r->list = list;
	if (!list || campaign_keep_trace(c, path, err, errlen)) {
		unlink(path);
		free(path);
		return list ? -EIO : -ENOMEM;
	}
	t = trace_open(path, err, errlen);
	if (t)
		campaign_verify(c, t, 1, &done);
	trace_free(t);
	r->list[r->nr] = (struct campaign_race){
		.race = x->outcome.failure, .kind = r->kind, .object = strdup(r->object),
		.message = strdup(x->outcome.message), .trace = path,
	};
	if (!r->list[r->nr].object || !r->list[r->nr].message)
		return -ENOMEM;
	r->nr++;
	campaign_know_race(c, x->outcome.failure);
	return 0;
}

const char *campaign_race_kind_text(enum campaign_race_kind kind)
{
	switch (kind) {
	case RACE_SAME_VALUE:
		return "both store the same value";
	case RACE_COUNTER:
		return "it is only ever added to, and was not read";
	default:
		return "data race";
	}
}

const struct campaign_race *campaign_races(const struct campaign *c, unsigned int *nr)
{
	*nr = c->race ? c->race->nr : 0;
	return *nr ? c->race->list : NULL;
}

static void show(const struct campaign *c, FILE *to, const struct campaign_race *r)
{
	struct report_options ro;
	char err[512];
	struct trace *t = trace_open(r->trace, err, sizeof(err));

	if (!t) {
		fprintf(to, "  %s\n  (%s: %s)\n", r->message, r->trace, err);
		return;
	}
	report_options_init(&ro, to);
	ro.symbols = c->symbols;
	report_race(to, t, &ro);
	trace_free(t);
}

enum group { RACES, POSSIBLE, HARMLESS };

static enum group group_of(const struct campaign_race *r)
{
	return r->kind == RACE_REAL ? RACES : r->kind == RACE_POSSIBLE ? POSSIBLE : HARMLESS;
}

static void list_of(const struct campaign *c, FILE *to, enum group group)
{
	unsigned int shown = 0;

	for (unsigned int i = 0; i < c->race->nr; i++) {
		const struct campaign_race *r = &c->race->list[i];

		if (group_of(r) != group)
			continue;
		if (group == HARMLESS)
			fprintf(to, "  %s (%s)\n", r->message, campaign_race_kind_text(r->kind));
		else if (group == POSSIBLE)
			fprintf(to, "  %.*s\n", (int)strcspn(r->message, ";"), r->message);
		else if (shown++ < SHOWN)
			show(c, to, r);
		else
			fprintf(to, "  %s\n", r->message);
		fprintf(to, "    its trace: %s\n", r->trace);
	}
}

void campaign_tell_races(const struct campaign *c, FILE *to)
{
	const struct races *r = c->race;
	unsigned int nr[3] = { 0 };

	for (unsigned int i = 0; r && i < r->nr; i++)
		nr[group_of(&r->list[i])]++;
	if (nr[RACES]) {
		fprintf(to, "%u data race%s (a warning; --fail-on-race makes it a finding):\n", nr[RACES],
			nr[RACES] == 1 ? "" : "s");
		list_of(c, to, RACES);
	}
	if (nr[POSSIBLE]) {
		fprintf(to, "%u possible data race%s (none, if both accesses are atomic, which cannot be told without the "
			"sources):\n", nr[POSSIBLE], nr[POSSIBLE] == 1 ? "" : "s");
		list_of(c, to, POSSIBLE);
	}
	if (nr[HARMLESS]) {
		fprintf(to, "%u data race%s that look%s harmless:\n", nr[HARMLESS], nr[HARMLESS] == 1 ? "" : "s",
			nr[HARMLESS] == 1 ? "s" : "");
		list_of(c, to, HARMLESS);
	}
	if (r && r->nr_suppressed)
		fprintf(to, "%u data race%s suppressed (--suppressions)\n", r->nr_suppressed,
			r->nr_suppressed == 1 ? "" : "s");
	for (unsigned int i = 0; c->o.suppressions && c->o.suppressions[i]; i++)
		if (!r || !r->used[i])
			fprintf(to, "suppression race:%s: matched no data race\n", c->o.suppressions[i]);
}

void campaign_free_races(struct campaign *c)
{
	struct races *r = c->race;

	if (!r)
		return;
	for (unsigned int i = 0; i < r->nr; i++) {
		free(r->list[i].object);
		free(r->list[i].message);
		free(r->list[i].trace);
	}
	free(r->list);
	free(r->known);
	free(r->used);
	free(r);
	c->race = NULL;
}
