/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which variables of the program do its tasks access without an order of their own? The first executions
 * watch the variables that its code names, a few at a time (the processor has four debug registers), and
 * compare the accesses by the program's synchronisation (search/order.h). What is left unordered stays
 * watched in the search, as with --watch.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../search/order.h"
#include "campaign_internal.h"
#include "code.h"

/* So many executions at most. */
#define SAMPLE_ROUNDS 16
/* Variables that are accessed more often than that in one execution would be all that the search does. */
#define HOT_ACCESSES 2000

struct variable {
	uint64_t vaddr;
	char *name;		/* as --watch takes it */
	bool raced;
};

struct sampler {
	struct order *order;
	struct code *code;
	uint32_t module;	/* of the program */
	struct variable *vars;
	uint32_t nr, next;	/* next: the first that was not watched yet */
	uint32_t group, in_group;	/* those that are watched now */
	unsigned int slots, user;
	char *watches[ZUG_MAX_WATCHES + 1];
	char **user_watches;
	bool no_memory;
	uint32_t accesses;	/* in this execution */
};

static void label_access(const struct campaign *c, struct zug_label *l)
{
	const struct place_site *site = places_find_site(c->places, l->site);
	const struct code_place *p = site && site->module == c->sampler->module ?
				     code_before(c->sampler->code, site->offset + 1) : NULL;

	/* what other files' code does to it is not known: that it reads is certain */
	l->op = p && (p->flags & CODE_WRITE) ? ZUG_OP_DATA_WRITE : ZUG_OP_DATA_READ;
}

/* Every step of a sampling execution. */
static bool on_step(void *ctx, struct search_point *p, uint32_t i)
{
	struct campaign *c = ctx;
	struct sampler *s = c->sampler;
	struct search_cand *cand = (struct search_cand *)&p->cand[i];	/* the engine's, which lets us */
	const struct place_object *o;
	struct zug_label label = cand->label;
	struct order_race race;
	int ret;

	if (cand->label.op == ZUG_OP_DATA_ACCESS) {
		label_access(c, &cand->label);
		s->accesses++;
	}
	ret = order_step(s->order, p, i, &race);
	cand->label = label;
	s->no_memory |= ret < 0;
	o = ret == 1 ? places_find_object(c->places, race.object) : NULL;
	for (uint32_t v = s->group; o && o->name && v < s->group + s->in_group; v++)
		s->vars[v].raced |= !strcmp(strchr(s->vars[v].name, ':') + 1, o->name);
	return campaign_waits_over(c) || s->accesses > HOT_ACCESSES;
}

static bool known(const struct sampler *s, uint64_t vaddr)
{
	for (uint32_t i = 0; i < s->nr; i++)
		if (s->vars[i].vaddr == vaddr)
			return true;
	return false;
}

/* Atomic instructions use it: its accesses order themselves. */
static bool is_atomic(const struct code *code, uint64_t vaddr)
{
	uint64_t at;

	for (uint32_t i = 0; i < code_nr(code); i++) {
		const struct code_place *p = code_at(code, i);

		if ((p->kind == CODE_LOCK || p->kind == CODE_XCHG) && code_static_operand(code, p, &at) &&
		    at == vaddr)
			return true;
	}
	return false;
}

static int add_variable(struct campaign *c, struct sampler *s, uint64_t vaddr)
{
	struct symfile *file = probes_module(c->probes, s->module)->file;
	char name[256], err[256];
	struct variable *vars;
	uint64_t at, size;

	if (known(s, vaddr) || symfile_data_name(file, vaddr, name, sizeof(name)))
		return 0;
	/* named in a way that leads back to it, so that a trace can say it */
	if (symfile_variable(file, name, &at, &size, err, sizeof(err)) || at != vaddr || is_atomic(s->code, vaddr))
		return 0;
	vars = realloc(s->vars, (s->nr + 1) * sizeof(*vars));
	if (!vars)
		return -ENOMEM;
	s->vars = vars;
	if (asprintf(&vars[s->nr].name, "%s:%s", strrchr(c->file, '/') + 1, name) < 0)
		return -ENOMEM;
	vars[s->nr].vaddr = vaddr;
	vars[s->nr].raced = false;
	s->nr++;
	return 0;
}

/* In a static program without source lines nothing tells the C library's code from the program's. */
static bool own_code(const struct campaign *c, const struct sampler *s, const struct code_place *p)
{
	struct symfile *file = probes_module(c->probes, s->module)->file;
	struct trace_frame frame;

	return probes_is_own(c->probes, s->module, p->offset) &&
	       (symfile_is_dynamic(file) || (symfile_frames(file, p->offset, &frame, 1) > 0 && frame.file));
}

/* The variables that the program's own code writes by name. */
static int find_variables(struct campaign *c, struct sampler *s)
{
	uint64_t vaddr;
	int ret = 0;

	for (uint32_t i = 0; i < code_nr(s->code) && !ret && s->nr < SAMPLE_ROUNDS * s->slots; i++) {
		const struct code_place *p = code_at(s->code, i);

		if ((p->kind == CODE_STORE || p->kind == CODE_RMW) && !(p->flags & CODE_LOCAL) &&
		    code_static_operand(s->code, p, &vaddr) && own_code(c, s, p))
			ret = add_variable(c, s, vaddr);
	}
	return ret;
}

static int begin(struct campaign *c)
{
	struct sampler *s = calloc(1, sizeof(*s));
	char err[256];
	uint32_t m;

	if (!s)
		return -ENOMEM;
	c->sampler = s;
	s->user_watches = c->o.watches;
	while (s->user_watches && s->user_watches[s->user])
		s->user++;
	s->slots = s->user < ZUG_MAX_WATCHES ? ZUG_MAX_WATCHES - s->user : 0;
	for (m = 0; m < probes_nr_modules(c->probes); m++)
		if (!strcmp(probes_module(c->probes, m)->path, c->file))
			break;
	/* of a program of the distribution nobody looks for races here */
	if (!strncmp(c->file, "/usr/", 5) || !strncmp(c->file, "/bin/", 5) || !strncmp(c->file, "/sbin/", 6))
		return 0;
	if (!s->slots || m == probes_nr_modules(c->probes) || !probes_module(c->probes, m)->file)
		return 0;
	s->module = m;
	/* without its code nothing is known of its variables, and nothing is lost but that */
	if (code_open(&s->code, c->file, CODE_CACHE, err, sizeof(err)))
		return 0;
	s->order = order_new();
	return s->order ? find_variables(c, s) : -ENOMEM;
}

/* Watch what the user named, and these of the variables. */
static int watch(struct campaign *c, bool raced)
{
	struct sampler *s = c->sampler;
	unsigned int n = s->user;

	for (unsigned int i = 0; i < n; i++)
		s->watches[i] = s->user_watches[i];
	for (uint32_t v = raced ? 0 : s->group; v < s->nr && n < ZUG_MAX_WATCHES; v++) {
		if (raced ? !s->vars[v].raced : v >= s->group + s->in_group)
			continue;
		s->watches[n++] = s->vars[v].name;
	}
	s->watches[n] = NULL;
	c->o.watches = s->watches;
	return campaign_update_json(c);
}

int campaign_sample(struct campaign *c)
{
	struct sampler *s = c->sampler;
	int ret;

	if (!s) {
		/* one task alone races with nobody */
		if (!c->o.races || c->most_tasks < 2)
			return 0;
		ret = begin(c);
		if (ret)
			return ret;
		s = c->sampler;
	}
	for (uint32_t v = s->group; s->accesses > HOT_ACCESSES && v < s->group + s->in_group; v++)
		s->vars[v].raced = false;
	s->accesses = 0;
	s->group = s->next;
	s->in_group = s->nr - s->next < s->slots ? s->nr - s->next : s->slots;
	s->next += s->in_group;
	if (s->no_memory)
		return -ENOMEM;
	if (!s->in_group) {
		engine_watch_steps(c->engine, NULL, NULL);
		ret = watch(c, true);
		return ret < 0 ? ret : 0;
	}
	ret = watch(c, false);
	if (ret < 0)
		return ret;
	order_begin(s->order);
	engine_watch_steps(c->engine, on_step, c);
	return 1;
}

bool campaign_sampled(const struct campaign *c, unsigned int watch)
{
	return c->sampler && watch >= c->sampler->user;
}

void campaign_sample_tell(const struct campaign *c, FILE *to)
{
	const struct sampler *s = c->sampler;
	unsigned int watched = s ? s->user : 0;
	bool any = false;

	for (uint32_t v = 0; s && v < s->nr; v++) {
		if (!s->vars[v].raced)
			continue;
		fprintf(to, "%s%s%s", any ? ", " : "watched, for tasks access them in no order that locks, threads or pipes give: ",
			strchr(s->vars[v].name, ':') + 1, watched++ < ZUG_MAX_WATCHES ? "" : " (not watched: no debug "
			"register left)");
		any = true;
	}
	if (any)
		fprintf(to, "\n");
}

void campaign_sample_free(struct campaign *c)
{
	struct sampler *s = c->sampler;

	if (!s)
		return;
	for (uint32_t v = 0; v < s->nr; v++)
		free(s->vars[v].name);
	free(s->vars);
	order_free(s->order);
	code_free(s->code);
	free(s);
	c->sampler = NULL;
}
