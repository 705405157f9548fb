/* SPDX-License-Identifier: GPL-2.0-only */
/* Which instructions the race scan looks at: those that access memory other than their own frame. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "search/rng.h"
#include "campaign/access.h"
#include "campaign/scan.h"

/*
 * Instructions that are points at a time, and the most executions for them: a larger program is
 * sampled.
 */
#define BATCH 512
#define BATCHES 8
/*
 * Executions that look at each instruction of a small program, under different schedules after the
 * first.
 */
#define LOOKS 4
/* Executions that look at a program with more instructions than a batch has, at most. */
#define ROUNDS 12
/*
 * In an execution that looks, the limit of an instruction is lower than LIMIT where many are points,
 * so that there are about STOPS stops in it; what is reached as often is looked at once.
 */
#define LEAST 16
#define STOPS 4096
/*
 * A search that samples has looks among its executions all the time, and so they cost less: another
 * sample of the places each time, neighbours in the order of their turns, for an eighth of the stops
 * of an ordinary execution. One with less than SHORT of those takes most of its time to start, and
 * may have so many stops with those that look. A place has a limit of LEAST_SAMPLED or more, a few
 * stops beyond it (ZUG_HOT_HITS), and until it is known how often it is reached counts as UNKNOWN.
 * There are LOOKS to FIRST_LOOKS of these executions at first, and more of them later, until all
 * places were looked at twice, or MORE_LOOKS times if they are few; then they are about shared data alone.
 */
#define SHORT 512
#define LEAST_SAMPLED 4
#define UNKNOWN 16
#define FIRST_LOOKS 6
#define MORE_LOOKS 12
/* A stop costs as much as so many hits that do not stop. */
#define HITS_OF_STOP 6

static int compare_turns(const void *pa, const void *pb, void *ctx)
{
	const struct scan *s = ctx;
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
	return (p->kind == CODE_LOAD || p->kind == CODE_STORE || p->kind == CODE_RMW ||
		p->kind == CODE_STRING || p->kind == CODE_BLOCK) &&
	       (p->flags & CODE_PROBE) && !(p->flags & (CODE_LOCAL | CODE_NO_ADDR | CODE_SHARED));
}

static bool is_addition(int fd, const struct code_place *p)
{
	uint8_t bytes[16];

	return p->kind == CODE_RMW && fd >= 0 && pread(fd, bytes, p->len, p->offset) == p->len &&
	       code_counts(p, bytes, p->len);
}

static int add_place(struct scan *s, uint32_t module, const struct code *code,
		     const struct code_place *p, enum symsays says, int fd)
{
	struct access_place *a;
	uint64_t vaddr;

	if (!ARRAY_RESERVE(s->places, s->size, s->nr + 1))
		return -ENOMEM;
	a = &s->places[s->nr++];
	*a = (struct access_place){ .module = module, .offset = p->offset, .site = UINT32_MAX,
				    .split = p->kind == CODE_RMW, .counts = is_addition(fd, p),
				    .plain = says == SYMSAYS_PLAIN };
	if (says == SYMSAYS_ATOMIC && (p->kind == CODE_LOAD || p->kind == CODE_STORE))
		a->op = p->kind == CODE_STORE ? ZUG_OP_ATOMIC_STORE : ZUG_OP_ATOMIC_LOAD;
	/* the same variable, or the same member of what a pointer leads to */
	a->key = code_static_operand(code, p, &vaddr) ? vaddr :
							mix64(p->disp + ((uint64_t)p->size << 32));
	return 0;
}

/*
 * Without its source an access may be an atomic one. It is looked at like a plain one: what is no
 * race becomes a point that does no harm.
 */
static int find_places(struct scan *s)
{
	for (uint32_t m = 0; m < probes_nr_modules(s->session->probes); m++) {
		const struct probe_module *mod = probes_module(s->session->probes, m);
		const struct code *code;
		enum symsays says;
		char err[256];
		int fd, ret = 0;

		if (!mod->file || mod->tells || probes_is_system(mod->path))
			continue;
		/*
		 * without its code nothing is known of its accesses, and nothing is lost but that
		 */
		code = probes_code(s->session->probes, m, err, sizeof(err));
		fd = open(mod->path, O_RDONLY | O_CLOEXEC);
		for (uint32_t i = 0; code && !ret && i < code_nr(code); i++) {
			const struct code_place *p = code_at(code, i);

			says = is_plain(p) && probes_is_users(s->session->probes, m, p->offset) &&
			       probes_scope_of(s->session->probes, m, p->offset) != PROBES_LEFT_OUT ?
			       access_says(mod, p) : SYMSAYS_NOTHING;
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

static uint32_t within(uint64_t n, uint32_t least, uint32_t most)
{
	return n < least ? least : n > most ? most : (uint32_t)n;
}

/* How many looks there are, and at how much. */
static void plan(struct scan *s)
{
	s->nr_batches = (s->nr + BATCH - 1) / BATCH;
	s->span = s->nr_batches < BATCHES ? s->nr_batches : BATCHES;
	s->limit = share(STOPS, s->nr_batches > 1 ? BATCH : s->nr + 1);
	s->rounds = !s->nr		    ? 0 :
		    s->nr_batches == 1	    ? LOOKS :
		    2 * s->span < ROUNDS ? 2 * s->span :
					   ROUNDS;
}

struct access_place *scan_turn(const struct scan *s, uint32_t i)
{
	return &s->places[s->turns[i % s->nr_turns]];
}

bool scan_turn_to_shared(struct scan *s)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < s->nr_turns; i++) {
		const struct access_place *a = scan_turn(s, i);

		if (a->shared && !a->added)
			s->turns[nr++] = s->turns[i];
	}
	if (nr != s->nr_turns)
		s->first = s->window = 0;
	s->nr_turns = nr;
	return nr;
}

/* Hits that are a power of two, from one number to another. */
static uint32_t powers(uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	for (uint32_t p = 1; p < to; p *= 2)
		n += p >= from;
	return n;
}

/* What looking at a place costs, in stops; one more, as what is never reached may be another time. */
static uint32_t cost(const struct access_place *a, uint32_t limit, uint32_t unknown)
{
	if (!a->looked)
		return unknown + limit - LEAST_SAMPLED;
	/* it is a point in all executions */
	if (a->added)
		return 1;
	return 1 + (a->reached < limit ? a->reached :
					 limit + powers(limit, a->reached) + a->reached / HITS_OF_STOP);
}

static uint32_t cost_of_all(const struct scan *s, uint32_t limit, uint32_t unknown)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < s->nr_turns; i++)
		sum += cost(scan_turn(s, i), limit, unknown);
	return sum;
}

static uint32_t cost_of_unknown(const struct scan *s)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < s->nr; i++)
		if (s->places[i].looked)
			sum += cost(&s->places[i], LEAST_SAMPLED, 0);
	return s->nr_looked ? sum / s->nr_looked : UNKNOWN;
}

static void sample(struct scan *s)
{
	uint32_t unknown = cost_of_unknown(s), sum = 0;

	s->first = s->window < s->nr_turns ? (s->first + s->window) % s->nr_turns : 0;
	s->limit = LEAST_SAMPLED;
	for (s->window = 0; s->window < s->nr_turns && sum < s->stops; s->window++)
		sum += cost(scan_turn(s, s->first + s->window), s->limit, unknown);
	while (s->window == s->nr_turns && s->limit < LIMIT && cost_of_all(s, 2 * s->limit, unknown) <= s->stops)
		s->limit *= 2;
}

void scan_next_window(struct scan *s)
{
	uint32_t first = s->first, window = s->window, limit = s->limit;

	if (s->session->sampled) {
		sample(s);
	} else {
		s->first = s->round % s->span * BATCH;
		s->window = s->nr - s->first < BATCH ? s->nr - s->first : BATCH;
	}
	s->moved = first != s->first || window != s->window || limit != s->limit || s->late;
}

uint32_t scan_limit(const struct scan *s, const struct access_place *a, bool looks)
{
	if (!looks || (s->session->sampled && a->added))
		return a->hot ? LIMIT : 0;
	return s->session->sampled && a->op ? LIMIT : s->limit;
}

void scan_count(struct scan *s)
{
	for (uint32_t i = 0; i < s->window; i++) {
		struct access_place *a = scan_turn(s, s->first + i);

		s->nr_looked += !a->looked;
		a->looked = true;
	}
	for (uint32_t i = 0; i < s->nr; i++) {
		struct access_place *a = &s->places[i];
		uint32_t limit = scan_limit(s, a, true), hits = a->hits;
		bool hot;

		/* behind the limit the stops are at powers of two */
		if (limit && hits > limit)
			hits = within((uint64_t)limit << within(hits - limit, 0, 8), 0, ZUG_HOT_HITS);
		a->hits = 0;
		if (hits > a->reached)
			a->reached = hits;
		hot = s->session->sampled ? a->reached >= ZUG_HOT_HITS / 2 : hits >= s->limit;
		s->heated |= hot && !a->hot;
		a->hot |= hot;
	}
}

static void plan_sampled(struct scan *s)
{
	const struct session_figures *f = &s->session->figures;
	uint64_t steps = f->steps / (f->executions ? f->executions : 1);

	s->brief = steps < SHORT;
	s->stops = within(steps / 8, steps < SHORT ? SHORT - steps : 0, STOPS);
	s->nr_batches = s->nr * UNKNOWN / s->stops + 1;
	s->rounds = s->nr ? within(s->nr_batches, LOOKS, FIRST_LOOKS) : 0;
	s->last_round = s->nr ? s->rounds + within(2 * s->nr_batches, MORE_LOOKS, UINT32_MAX) : 0;
}

int scan_plan(struct scan *s)
{
	uint32_t plain = 0, first;

	s->mode = LOOKING;
	s->order = vector_clocks_new();
	s->ranges = ranges_new();
	s->lives = lives_new();
	if (!s->order || !s->ranges || !s->lives || find_places(s))
		return -ENOMEM;
	s->turns = malloc((2 * s->nr + 1) * sizeof(*s->turns));
	if (!s->turns)
		return -ENOMEM;
	s->nr_turns = s->nr;
	for (uint32_t i = 0; i < s->nr; i++)
		s->turns[i] = i;
	qsort_r(s->turns, s->nr, sizeof(*s->turns), compare_turns, s);
	if (s->session->sampled)
		plan_sampled(s);
	else
		plan(s);
	while (plain < s->nr && s->places[s->turns[plain]].op)
		plain++;
	if (s->nr_batches > (s->session->sampled ? s->rounds : BATCHES) && plain < s->nr) {
		/* another seed looks elsewhere */
		first = mix64(s->session->o.search.seed) % (s->nr - plain);
		memcpy(s->turns + s->nr, s->turns + plain, first * sizeof(*s->turns));
		memmove(s->turns + plain, s->turns + plain + first,
			(s->nr - plain - first) * sizeof(*s->turns));
		memcpy(s->turns + s->nr - first, s->turns + s->nr, first * sizeof(*s->turns));
	}
	return 0;
}

struct access_place *scan_place(const struct scan *s, uint32_t module, uint64_t offset)
{
	uint32_t at = ARRAY_FROM(s->nr, i, s->places[i].module < module ||
				 (s->places[i].module == module && s->places[i].offset < offset));

	return at < s->nr && s->places[at].module == module && s->places[at].offset == offset ?
		       &s->places[at] :
		       NULL;
}
