/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What do the tasks access without an order of their own? In the first executions instructions of the
 * program that access memory other than their own frame become points, some hundreds at a time, and the
 * accesses are compared by the program's synchronisation (search/order.h). What touches data that is left
 * unordered stays a point in the search; all other instructions are let alone again.
 *
 * A suspicion is no report: clocks know only the synchronisation that is seen. So for each suspected
 * pair there is one more execution, in which whoever comes to one of its two places is held there as long
 * as others can go on. Two tasks that stand before the same data then, one of them about to write, are
 * the race itself, whatever the program's synchronisation is made of (campaign_races.c).
 * Holding at a place: Erickson et al., Effective data-race detection for the kernel (OSDI 2010); one pair
 * at a time: Sen, Race directed random testing of concurrent programs (PLDI 2008).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "search/identity.h"
#include "search/vector_clocks.h"
#include "search/ranges.h"
#include "search/rng.h"
#include "campaign/campaign_internal.h"

/* Instructions that are points at a time, and executions for them; of a larger program it is a sample. */
#define BATCH 512
#define BATCHES 8
/* Of a small program each instruction is seen in so many executions: different ones after the first. */
#define LOOKS 3
/*
 * So often in one execution an instruction is a point at most; what is reached that often stays so limited, and is
 * looked at once. In an execution that looks the limit is lower where many instructions are points, so that there are
 * about STOPS stops in it.
 */
#define LIMIT 256
#define LEAST 16
#define STOPS 4096
/* Suspected pairs that are tried, one in an execution. */
#define PAIRS 16
/* Names that are told. */
#define NAMES 12
/* Pieces of memory that overlap one that is accessed: of more than these so many are looked at. */
#define OVERLAPS 128

struct access_place {
	uint32_t module, offset;
	uint16_t op;		/* for probes_add_code(): ZUG_OP_NONE, or atomic because the source says so */
	bool split, counts;	/* counts: it is an addition */
	bool plain;		/* it is known to be no atomic access */
	bool added;		/* a point of the search */
	bool hot;		/* was reached s->limit times in one execution */
	uint32_t site, hits;	/* of the probes, UINT32_MAX: none; in this execution */
	uint32_t within;	/* as struct probe_site has it */
	uint64_t label_site;	/* of its labels, once it was reached */
	uint64_t key;		/* equal for what may well access the same */
};

/* What a task accessed at a place in this execution: a piece of memory, by its number in s->ranges, plus 1. */
struct seen {
	uint32_t range;		/* 0: free */
	uint32_t task, place;
	uint8_t how;		/* HOW_*, of all times */
};
#define HOW_WRITE	1u	/* was it written there? */
#define HOW_HANDLER	2u	/* in a signal handler? */
#define HOW_OUTSIDE	4u	/* outside of one? */

struct raced {
	uint32_t range;
	uint64_t object;	/* the smaller of the two that overlap */
	uint64_t a, b;		/* sites */
};

struct suspect {
	uint64_t a, b;		/* sites */
	bool sure;		/* it will be a race, if it is one at all, and not only a possible one */
};

struct sampler {
	struct order *order;
	struct access_place *places;	/* by module and offset */
	uint32_t nr, size;
	uint32_t *turns;	/* the places in the order in which they are looked at */
	uint32_t nr_batches, round, rounds;
	uint32_t limit;		/* of a place in a look */
	bool heated;		/* the last look found more places that are hot */
	struct seen *seen;
	size_t nr_seen, size_seen;
	struct ranges *ranges;	/* of this execution */
	uint64_t *objects;	/* by range: of its begin */
	uint32_t size_objects;
	struct raced raced[256];
	uint32_t nr_raced;
	struct suspect pairs[PAIRS];
	uint64_t counters[PAIRS];	/* identities of pairs whose object is only ever added to */
	uint32_t nr_pairs, nr_counters, pair;
	char *names[NAMES];
	uint32_t nr_names, nr_unnamed;
	uint64_t steps;
	bool handlers;		/* some names are of what signal handlers access */
	bool unknown;		/* of some accesses nobody knows whether they are atomic */
	bool no_memory;
	enum { LOOKING = 0, CONFIRMING, DONE } mode;
};

/* ---- which instructions ---- */

static int compare_turns(const void *pa, const void *pb, void *ctx)
{
	const struct sampler *s = ctx;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	/* atomic ones order the others: they are there from the first batch on */
	if (!s->places[a].op != !s->places[b].op)
		return s->places[a].op ? -1 : 1;
	if (s->places[a].key != s->places[b].key)
		return s->places[a].key < s->places[b].key ? -1 : 1;
	return a < b ? -1 : a > b;
}

static bool is_plain(const struct code_place *p)
{
	return (p->kind == CODE_LOAD || p->kind == CODE_STORE || p->kind == CODE_RMW || p->kind == CODE_STRING ||
		p->kind == CODE_BLOCK) && (p->flags & CODE_PROBE) &&
	       !(p->flags & (CODE_LOCAL | CODE_NO_ADDR | CODE_SHARED));
}

static bool is_addition(int fd, const struct code_place *p)
{
	uint8_t bytes[16];

	return p->kind == CODE_RMW && fd >= 0 && pread(fd, bytes, p->len, p->offset) == p->len &&
	       code_counts(p, bytes, p->len);
}

static int add_place(struct sampler *s, uint32_t module, const struct code *code, const struct code_place *p,
		     enum symsays says, int fd)
{
	struct access_place *a;
	uint64_t vaddr;

	if (s->nr == s->size) {
		uint32_t size = s->size ? 2 * s->size : 256;

		a = realloc(s->places, size * sizeof(*a));
		if (!a)
			return -ENOMEM;
		s->places = a;
		s->size = size;
	}
	a = &s->places[s->nr++];
	*a = (struct access_place){ .module = module, .offset = p->offset, .site = UINT32_MAX,
				    .split = p->kind == CODE_RMW, .counts = is_addition(fd, p),
				    .plain = says == SYMSAYS_PLAIN };
	if (says == SYMSAYS_ATOMIC && (p->kind == CODE_LOAD || p->kind == CODE_STORE))
		a->op = p->kind == CODE_STORE ? ZUG_OP_ATOMIC_STORE : ZUG_OP_ATOMIC_LOAD;
	/* the same variable, or the same member of what a pointer leads to */
	a->key = code_static_operand(code, p, &vaddr) ? vaddr : mix64(p->disp + ((uint64_t)p->size << 32));
	return 0;
}

enum symsays campaign_access_says(struct campaign *c, uint32_t module, const struct code_place *p)
{
	const struct probe_module *mod = probes_module(c->probes, module);
	enum symsays says = symfile_says_atomic(mod->file, p->offset);

	if (says == SYMSAYS_NOTHING)
		return says;
	/* copies, and more than a processor accesses at once, are no atomic accesses, whatever the line is about */
	if (p->kind == CODE_STRING || p->kind == CODE_BLOCK)
		return SYMSAYS_PLAIN;
	if (says == SYMSAYS_UNKNOWN && (p->size > 16 || ((p->kind == CODE_RMW || p->size > 8) &&
							 symfile_by_gcc(mod->file, p->offset))))
		return SYMSAYS_PLAIN;
	return says;
}

/*
 * Without its source an access may be an atomic one. It is looked at like a plain one: what is no race becomes a point
 * that does no harm.
 */
static int find_places(struct campaign *c, struct sampler *s)
{
	for (uint32_t m = 0; m < probes_nr_modules(c->probes); m++) {
		const struct probe_module *mod = probes_module(c->probes, m);
		const struct code *code;
		enum symsays says;
		char err[256];
		int fd, ret = 0;

		if (!mod->file || probes_is_system(mod->path))
			continue;
		/* without its code nothing is known of its accesses, and nothing is lost but that */
		code = probes_code(c->probes, m, err, sizeof(err));
		fd = open(mod->path, O_RDONLY | O_CLOEXEC);
		for (uint32_t i = 0; code && !ret && i < code_nr(code); i++) {
			const struct code_place *p = code_at(code, i);

			says = is_plain(p) && probes_is_users(c->probes, m, p->offset) ?
			       campaign_access_says(c, m, p) : SYMSAYS_NOTHING;
			s->unknown |= says == SYMSAYS_UNKNOWN;
			if (says != SYMSAYS_NOTHING)
				ret = add_place(s, m, code, p, says, fd);
		}
		if (fd >= 0)
			close(fd);
		if (ret)
			return ret;
	}
	return 0;
}

/* The limit of each of so many places. */
static uint32_t share(uint32_t stops, uint32_t places)
{
	uint32_t limit = stops / places;

	return limit < LEAST ? LEAST : limit > LIMIT ? LIMIT : limit;
}

static int begin(struct campaign *c)
{
	struct sampler *s = calloc(1, sizeof(*s));
	uint32_t plain = 0, first;

	if (!s)
		return -ENOMEM;
	c->sampler = s;
	s->order = order_new();
	s->ranges = ranges_new();
	if (!s->order || !s->ranges || find_places(c, s))
		return -ENOMEM;
	s->turns = malloc((2 * s->nr + 1) * sizeof(*s->turns));
	if (!s->turns)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nr; i++)
		s->turns[i] = i;
	qsort_r(s->turns, s->nr, sizeof(*s->turns), compare_turns, s);
	s->nr_batches = (s->nr + BATCH - 1) / BATCH;
	s->limit = share(STOPS, s->nr_batches > 1 ? BATCH : s->nr + 1);
	s->rounds = !s->nr ? 0 : s->nr_batches == 1 ? LOOKS : s->nr_batches < BATCHES ? s->nr_batches : BATCHES;
	while (plain < s->nr && s->places[s->turns[plain]].op)
		plain++;
	if (s->nr_batches > BATCHES && plain < s->nr) {
		/* another seed looks elsewhere */
		first = mix64(c->o.search.seed) % (s->nr - plain);
		memcpy(s->turns + s->nr, s->turns + plain, first * sizeof(*s->turns));
		memmove(s->turns + plain, s->turns + plain + first, (s->nr - plain - first) * sizeof(*s->turns));
		memcpy(s->turns + s->nr - first, s->turns + s->nr, first * sizeof(*s->turns));
	}
	return 0;
}

static struct access_place *find_place(const struct sampler *s, uint32_t module, uint64_t offset)
{
	uint32_t lo = 0, hi = s->nr;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct access_place *p = &s->places[mid];

		if (p->module < module || (p->module == module && p->offset < offset))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->nr && s->places[lo].module == module && s->places[lo].offset == offset ? &s->places[lo] : NULL;
}

/* ---- what they access ---- */

static struct seen *seen_slot(const struct sampler *s, const struct seen *what)
{
	size_t i = mix64(what->range ^ mix64((uint64_t)what->task << 32 | what->place)) & (s->size_seen - 1);

	while (s->seen[i].range && (s->seen[i].range != what->range || s->seen[i].task != what->task ||
				    s->seen[i].place != what->place))
		i = (i + 1) & (s->size_seen - 1);
	return &s->seen[i];
}

static bool note_access(struct sampler *s, const struct seen *what)
{
	struct seen *old = s->seen, *slot;
	size_t size = s->size_seen;
	uint8_t how = what->how;

	if (2 * (s->nr_seen + 1) > size) {
		s->size_seen = size ? 2 * size : 1024;
		s->seen = calloc(s->size_seen, sizeof(*old));
		if (!s->seen) {
			s->seen = old;
			s->size_seen = size;
			return false;
		}
		for (size_t i = 0; i < size; i++)
			if (old[i].range)
				*seen_slot(s, &old[i]) = old[i];
		free(old);
	}
	slot = seen_slot(s, what);
	s->nr_seen += !slot->range;
	how |= slot->how;
	*slot = *what;
	slot->how = how;
	return true;
}

static uint32_t add_range(struct sampler *s, const struct world_access *a)
{
	uint32_t n = ranges_add(s->ranges, &(struct range){ a->space, a->addr, a->size });

	if (n != RANGES_NONE && n >= s->size_objects) {
		uint32_t size = s->size_objects ? 2 * s->size_objects : 1024;
		uint64_t *more = realloc(s->objects, size * sizeof(*more));

		if (!more)
			return RANGES_NONE;
		s->objects = more;
		s->size_objects = size;
	}
	if (n != RANGES_NONE)
		s->objects[n] = a->object;
	return n;
}

/* A number for the clocks, which stays the same from execution to execution where objects do. */
static uint64_t clock_object(const struct sampler *s, uint32_t range)
{
	return mix64(s->objects[range] + ranges_at(s->ranges, range)->size) | 1;
}

static void note_race(struct sampler *s, const struct order_race *race)
{
	uint32_t mine = RANGES_NONE, with = RANGES_NONE;
	struct raced *r;

	if (s->nr_raced == sizeof(s->raced) / sizeof(s->raced[0]))
		return;
	for (uint32_t i = 0; i < ranges_nr(s->ranges); i++) {
		if (clock_object(s, i) == race->object)
			mine = i;
		if (clock_object(s, i) == race->with)
			with = i;
	}
	if (mine == RANGES_NONE || with == RANGES_NONE)
		return;
	r = &s->raced[s->nr_raced++];
	*r = (struct raced){ .range = mine, .object = s->objects[mine], .a = race->earlier.site, .b = race->label.site };
	if (ranges_at(s->ranges, with)->size < ranges_at(s->ranges, mine)->size)
		r->object = s->objects[with];
}

static void look(struct campaign *c, const struct search_point *p, uint32_t i)
{
	const struct world_task *t = &c->world->tasks[p->cand[i].task];
	const struct place_site *site = places_find_site(c->places, p->cand[i].label.site);
	struct sampler *s = c->sampler;
	struct access_place *a = site ? find_place(s, site->module, site->offset) : NULL;
	uint64_t overlaps[2][OVERLAPS];
	struct order_access acc[2];
	struct order_race race;
	uint32_t list[OVERLAPS], nr = 0;
	int ret;

	s->steps++;
	if (a) {
		a->hits += !a->split || p->cand[i].label.op == ZUG_OP_DATA_READ;
		a->label_site = p->cand[i].label.site;
	}
	for (uint32_t n = 0; a && n < t->nr_accesses; n++) {
		uint32_t range = add_range(s, &t->access[n]);

		uint8_t how = (t->in_handler ? HOW_HANDLER : HOW_OUTSIDE) | (t->access[n].write ? HOW_WRITE : 0);

		if (range == RANGES_NONE || !note_access(s, &(struct seen){ range + 1, t->task, a - s->places, how })) {
			s->no_memory = true;
			return;
		}
		acc[nr] = (struct order_access){
			.object = clock_object(s, range), .write = t->access[n].write, .overlaps = overlaps[nr],
			.nr_overlaps = ranges_overlaps(s->ranges, range, list, OVERLAPS),
		};
		for (uint32_t k = 0; k < acc[nr].nr_overlaps; k++)
			overlaps[nr][k] = clock_object(s, list[k]);
		nr += t->access[n].size != 0;
	}
	ret = order_step_on(s->order, p, i, acc, nr, &race);
	s->no_memory |= ret == -ENOMEM;
	if (ret == 1)
		note_race(s, &race);
}

bool campaign_on_step(void *ctx, const struct search_point *p, uint32_t i, struct outcome *o)
{
	struct campaign *c = ctx;

	if (c->sampler && c->sampler->mode == LOOKING && !c->aside)
		look(c, p, i);
	else if (c->o.failure.race && campaign_race_at(c, p, i, o))
		return true;
	if (c->aside || !campaign_waits_over(c))
		return false;
	outcome_set(o, ZUG_OUTCOME_TIMEOUT, "what was to be seen has been seen");
	return true;
}

/* (The two below hold nobody in a replay or a trial: what they did is in the schedule that it follows.) */

/* Another schedule for another look: at every other decision or so whoever is to go on stays. */
static bool hold_random(void *ctx, const struct zug_label *l)
{
	const struct campaign *c = ctx;

	return !c->aside && mix64(c->o.search.seed + c->sampler->round + mix64(c->sampler->steps) + l->site) & 1;
}

static bool hold_pair(void *ctx, const struct zug_label *l)
{
	const struct campaign *c = ctx;
	const struct suspect *pair = &c->sampler->pairs[c->sampler->pair - 1];

	return !c->aside && (l->site == pair->a || l->site == pair->b);
}

/* ---- what comes of it ---- */

static void add_name(struct campaign *c, struct sampler *s, uint64_t object, uint64_t site)
{
	const struct place_object *o = places_find_object(c->places, object);
	char name[400], member[100] = "memory", place[256];

	/* what has no name of its own is counted, and another look counts otherwise */
	if (o && o->fixed && o->name) {
		snprintf(name, sizeof(name), "%s", o->name);
	} else {
		campaign_say_member(c, site, member, sizeof(member));
		campaign_say_place(c, site, place, sizeof(place));
		snprintf(name, sizeof(name), "%s in %s", member, place);
	}
	for (uint32_t n = 0; n < s->nr_names; n++)
		if (!strcmp(s->names[n], name))
			return;
	if (s->nr_names == NAMES)
		s->nr_unnamed++;
	else if ((s->names[s->nr_names] = strdup(name)))
		s->nr_names++;
}

/* Those that will be told as races come before those that may be none. */
static void add_pair(struct sampler *s, const struct suspect *pair)
{
	uint32_t at = s->nr_pairs;

	for (uint32_t i = 0; i < s->nr_pairs; i++)
		if ((s->pairs[i].a == pair->a && s->pairs[i].b == pair->b) ||
		    (s->pairs[i].a == pair->b && s->pairs[i].b == pair->a))
			return;
	for (uint32_t i = PAIRS; at == PAIRS && pair->sure && i-- > 0;)
		if (!s->pairs[i].sure)
			at = i;
	if (at == PAIRS)
		return;
	s->pairs[at] = *pair;
	s->nr_pairs += at == s->nr_pairs;
}

/* All that accesses unordered memory becomes a point; its pair of places is to be tried. */
static void suspect(struct campaign *c, struct sampler *s, const struct raced *r)
{
	const struct range *range = ranges_at(s->ranges, r->range);
	bool counter = true, sure = false;

	for (size_t i = 0; i < s->nr_seen; i++) {
		struct access_place *a;

		if (!range_overlap(ranges_at(s->ranges, s->seen[i].range - 1), range))
			continue;
		a = &s->places[s->seen[i].place];
		a->added = true;
		counter &= a->counts;
		sure |= a->plain && (a->label_site == r->a || a->label_site == r->b);
	}
	add_name(c, s, r->object, r->b);
	add_pair(s, &(struct suspect){ .a = r->a, .b = r->b, .sure = sure });
	if (counter && s->nr_counters < PAIRS && !campaign_is_counter(c, identity_race(r->a, r->b)))
		s->counters[s->nr_counters++] = identity_race(r->a, r->b);
}

static int compare_seen(const void *pa, const void *pb)
{
	const struct seen *a = pa, *b = pb;

	return a->range < b->range ? -1 : a->range > b->range;
}

/*
 * A signal handler and what it may have interrupted, in one task, are no data race. But where the handler comes makes
 * a difference to both, and so these are points.
 */
static void suspect_handlers(struct campaign *c, struct sampler *s)
{
	for (size_t i = 0; i < s->nr_seen; i++) {
		const struct seen *in = &s->seen[i];

		for (size_t k = 0; (in->how & HOW_HANDLER) && k < s->nr_seen; k++) {
			const struct seen *out = &s->seen[k];
			struct access_place *a = &s->places[in->place], *b = &s->places[out->place];
			const struct range *range = ranges_at(s->ranges, in->range - 1);

			if (!(out->how & HOW_OUTSIDE) || out->task != in->task || !((in->how | out->how) & HOW_WRITE) ||
			    !(range_overlap(ranges_at(s->ranges, out->range - 1), range)) || (a->op && b->op))
				continue;
			s->handlers |= !a->added || !b->added;
			if (!a->added || !b->added)
				add_name(c, s, s->objects[out->range - 1], b->label_site);
			a->added = b->added = true;
		}
	}
}

/*
 * What was said to be atomic, and several tasks access, is a point like LOCK instructions. And what lies in a
 * larger piece that is accessed as a whole, or reaches out of one, is told from now on by the begin of that, too: its
 * label and that of the other have an object in common then.
 */
static void conclude_ranges(struct sampler *s)
{
	uint32_t list[OVERLAPS];

	for (size_t first = 0, end; first < s->nr_seen; first = end) {
		uint32_t range = s->seen[first].range - 1, nr = ranges_overlaps(s->ranges, range, list, OVERLAPS);
		uint64_t addr = ranges_at(s->ranges, range)->addr, begin = addr;
		bool shared = false;

		for (uint32_t i = 0; i < nr; i++)
			if (ranges_at(s->ranges, list[i])->addr < begin)
				begin = ranges_at(s->ranges, list[i])->addr;
		for (end = first; end < s->nr_seen && s->seen[end].range == s->seen[first].range; end++)
			shared |= s->seen[end].task != s->seen[first].task;
		for (size_t i = first; i < end; i++) {
			struct access_place *a = &s->places[s->seen[i].place];

			a->added |= shared && a->op != ZUG_OP_NONE;
			if (addr - begin > a->within)
				a->within = addr - begin;
		}
	}
}

/*
 * What a script is about are points also where a correction has given it an order. The name of data on the heap counts
 * what has been seen before it, so the function stands in for it: what that shares with other tasks.
 */
static void add_of_script(const struct campaign *c, struct sampler *s)
{
	for (size_t i = 0; search_script_lines(c->search) && i < s->nr_seen; i++) {
		const struct seen *x = &s->seen[i];
		const struct range *range = ranges_at(s->ranges, x->range - 1);
		bool on = search_script_is_on(c->search, s->objects[x->range - 1]), shared = false;
		uint8_t how = 0;

		if (!on && !search_script_is_in(c->search, s->places[x->place].label_site))
			continue;
		for (int add = 0; add < 2 && (!add || on || (shared && how & HOW_WRITE)); add++) {
			for (size_t k = 0; k < s->nr_seen; k++) {
				if (!range_overlap(ranges_at(s->ranges, s->seen[k].range - 1), range))
					continue;
				shared |= s->seen[k].task != x->task;
				how |= s->seen[k].how;
				s->places[s->seen[k].place].added |= add;
			}
		}
	}
}

/* After a look. */
static void conclude(struct campaign *c, struct sampler *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->size_seen; i++)
		if (s->seen[i].range)
			s->seen[n++] = s->seen[i];
	s->nr_seen = n;
	if (n)
		qsort(s->seen, n, sizeof(*s->seen), compare_seen);
	for (uint32_t r = 0; r < s->nr_raced; r++)
		suspect(c, s, &s->raced[r]);
	suspect_handlers(c, s);
	add_of_script(c, s);
	conclude_ranges(s);
	s->nr_raced = 0;
	s->nr_seen = 0;
	if (s->seen)
		memset(s->seen, 0, s->size_seen * sizeof(*s->seen));
	ranges_reset(s->ranges);
	for (uint32_t i = 0; i < s->nr; i++) {
		s->heated |= !s->places[i].hot && s->places[i].hits >= s->limit;
		s->places[i].hot |= s->places[i].hits >= s->limit;
		s->places[i].hits = 0;
	}
}

/* Points are what was added, and these of a batch. */
static int plant(struct campaign *c, struct sampler *s, uint32_t batch, char *err, size_t errlen)
{
	uint32_t first = batch * BATCH, end = first + BATCH < s->nr ? first + BATCH : s->nr;
	bool *now = calloc(s->nr + 1, sizeof(*now));
	struct probe_code *list = malloc(BATCH * sizeof(*list));
	int ret = now && list ? 0 : -ENOMEM;

	for (uint32_t t = first; !ret && batch != UINT32_MAX && t < end; t++)
		now[s->turns[t]] = !s->places[s->turns[t]].hot;
	for (uint32_t i = 0; !ret && i < s->nr; i++) {
		struct access_place *a = &s->places[i];

		if (a->site == UINT32_MAX)
			continue;
		if (probes_site(c->probes, a->site)->waits)
			continue;
		probes_silence(c->probes, a->site, !(a->added || now[i] || (a->op && batch != UINT32_MAX)));
		probes_set_limit(c->probes, a->site, batch != UINT32_MAX ? s->limit : a->hot ? LIMIT : 0);
		/* only in the search: what is not known at first, and then is, would be two names for the same */
		probes_set_within(c->probes, a->site, batch != UINT32_MAX ? 0 : a->within);
	}
	if (!ret) {
		kernel_clear_probes(c->k);
		ret = probes_replant(c->probes, err, errlen);
	}
	for (uint32_t m = 0; !ret && batch != UINT32_MAX && m < probes_nr_modules(c->probes); m++) {
		uint32_t site = probes_nr_sites(c->probes);
		int nr = 0;

		for (uint32_t t = first; t < end; t++) {
			const struct access_place *a = &s->places[s->turns[t]];

			if (a->module == m && a->site == UINT32_MAX)
				list[nr++] = (struct probe_code){ .offset = a->offset, .op = a->op, .split = a->split,
								  .limit = s->limit };
		}
		ret = nr ? probes_add_code(c->probes, m, list, nr, err, errlen) : 0;
		ret = ret < 0 ? ret : 0;
		for (; !ret && site < probes_nr_sites(c->probes); site++) {
			const struct probe_site *ps = probes_site(c->probes, site);
			struct access_place *a = find_place(s, ps->module, ps->offset);

			if (a)
				a->site = site;
		}
	}
	free(now);
	free(list);
	return ret;
}

static int next_mode(struct campaign *c, struct sampler *s, char *err, size_t errlen)
{
	uint32_t batch;
	int ret;

	if (s->mode == LOOKING) {
		s->heated = false;
		if (s->round)
			conclude(c, s);
		if (s->no_memory)
			return -ENOMEM;
		if (s->round < s->rounds) {
			batch = s->round % s->nr_batches;
			order_begin(s->order);
			engine_hold(c->engine, s->round >= s->nr_batches ? hold_random : NULL, c);
			s->round++;
			/* a second look is with the same points, but for the hot ones: a trap of each costs time */
			return s->round > 1 && s->nr_batches == 1 && !s->heated ? 1 :
			       plant(c, s, batch, err, errlen) ?: 1;
		}
		s->mode = CONFIRMING;
		ret = s->rounds ? plant(c, s, UINT32_MAX, err, errlen) : 0;
		if (ret)
			return ret;
		/* an execution that ends with a warning would leave whoever asked for it without a result */
		if (c->one_by_one && !c->races_fail)
			s->pair = s->nr_pairs;
	}
	while (s->mode == CONFIRMING && s->pair < s->nr_pairs) {
		s->pair++;
		if (campaign_race_known(c, identity_race(s->pairs[s->pair - 1].a, s->pairs[s->pair - 1].b)))
			continue;
		engine_hold(c->engine, hold_pair, c);
		return 1;
	}
	s->mode = DONE;
	engine_hold(c->engine, NULL, NULL);
	return 0;
}

int campaign_sample(struct campaign *c, char *err, size_t errlen)
{
	int ret = 0, more = 0;

	snprintf(err, errlen, "out of memory");
	if (!c->sampler) {
		/* one task alone races with nobody; and without locks nothing would seem to be ordered */
		if (!c->o.points.races || !c->o.points.sync || c->most_tasks < 2)
			return 0;
		ret = begin(c);
	}
	if (!ret)
		more = next_mode(c, c->sampler, err, errlen);
	if (ret || more < 0)
		return ret ? ret : more;
	c->o.failure.race = c->races_fail || (more && c->sampler->mode == CONFIRMING);
	ret = campaign_update_json(c);
	return ret ? ret : more;
}

bool campaign_sampled(const struct campaign *c)
{
	return c->sampler && c->sampler->mode == DONE;
}

bool campaign_is_counter(const struct campaign *c, uint64_t race)
{
	for (uint32_t i = 0; c->sampler && i < c->sampler->nr_counters; i++)
		if (c->sampler->counters[i] == race)
			return true;
	return false;
}

char **campaign_data_points(const struct campaign *c)
{
	const struct sampler *s = c->sampler;
	uint32_t nr = s ? s->nr : 0, n = 0;
	char **list = calloc(nr + 1, sizeof(*list));

	for (uint32_t i = 0; list && i < nr; i++) {
		const struct access_place *a = &s->places[i];
		const struct probe_site *ps = a->site == UINT32_MAX ? NULL : probes_site(c->probes, a->site);

		if (!ps || ps->silent)
			continue;
		if (asprintf(&list[n], "%s+0x%x %s %u %u", probes_module(c->probes, a->module)->path, a->offset,
			     zug_op_name(ps->op), ps->limit, ps->within) < 0) {
			list[n] = NULL;
			break;
		}
		n++;
	}
	return list;
}

static bool looks_at(const struct sampler *s, uint32_t module)
{
	for (uint32_t i = 0; i < s->nr; i++)
		if (s->places[i].module == module)
			return true;
	return false;
}

/* What was missing, and what may be done about it. */
static void tell_unknown(const struct campaign *c, FILE *to)
{
	static const char what[] = "atomic accesses look like plain ones, and a data race may be told as a possible one only";

	for (uint32_t m = 0; m < probes_nr_modules(c->probes); m++) {
		const struct probe_module *mod = probes_module(c->probes, m);
		const char *name = strrchr(mod->path, '/'), *first = NULL;
		uint32_t nr;

		name = name ? name + 1 : mod->path;
		if (!looks_at(c->sampler, m))
			continue;
		nr = symfile_missing_sources(mod->file, &first);
		if (nr)
			fprintf(to, "%u source file%s of %s not found (%s%s): %s; start zug in the folder of the sources\n",
				nr, nr == 1 ? "" : "s", name, first ? first : "?", nr == 1 ? "" : ", ...", what);
		else if (!symfile_has_lines(mod->file))
			fprintf(to, "%s was compiled without -g: %s\n", name, what);
	}
}

void campaign_sample_tell(const struct campaign *c, FILE *to)
{
	const struct sampler *s = c->sampler;

	if (s && s->unknown)
		tell_unknown(c, to);
	if (!s || !s->nr_names)
		return;
	fprintf(to, "points added, for tasks access in no order that locks, atomics, threads or pipes give%s: ",
		s->handlers ? ", or a signal handler does" : "");
	for (uint32_t n = 0; n < s->nr_names; n++)
		fprintf(to, "%s%s", n ? ", " : "", s->names[n]);
	if (s->nr_unnamed)
		fprintf(to, ", and %u more", s->nr_unnamed);
	fprintf(to, "\n");
}

void campaign_sample_free(struct campaign *c)
{
	struct sampler *s = c->sampler;

	if (!s)
		return;
	for (uint32_t n = 0; n < s->nr_names; n++)
		free(s->names[n]);
	order_free(s->order);
	ranges_free(s->ranges);
	free(s->objects);
	free(s->places);
	free(s->turns);
	free(s->seen);
	free(s);
	c->sampler = NULL;
}
