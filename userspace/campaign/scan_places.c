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
 * A search that samples has looks among its executions all the time, and so they cost less: a part of
 * the steps of the first execution, at least FEWEST; fewer instructions each; at first LOOKS, or for a
 * program with more instructions FIRST_LOOKS; then one in EVERY executions, until all instructions
 * have been looked at twice, or MORE_LOOKS times if they are few.
 */
#define FEWEST 512
#define LEAST_SAMPLED 4
#define BATCH_SAMPLED 128
#define FIRST_LOOKS 6
#define MORE_LOOKS 12

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

		if (!mod->file || probes_is_system(mod->path))
			continue;
		/*
		 * without its code nothing is known of its accesses, and nothing is lost but that
		 */
		code = probes_code(s->session->probes, m, err, sizeof(err));
		fd = open(mod->path, O_RDONLY | O_CLOEXEC);
		for (uint32_t i = 0; code && !ret && i < code_nr(code); i++) {
			const struct code_place *p = code_at(code, i);

			says = is_plain(p) && probes_is_users(s->session->probes, m, p->offset) ?
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
	s->batch = BATCH;
	s->nr_batches = (s->nr + BATCH - 1) / BATCH;
	s->span = s->nr_batches < BATCHES ? s->nr_batches : BATCHES;
	s->limit = share(STOPS, s->nr_batches > 1 ? BATCH : s->nr + 1);
	s->rounds = !s->nr		    ? 0 :
		    s->nr_batches == 1	    ? LOOKS :
		    2 * s->span < ROUNDS ? 2 * s->span :
					   ROUNDS;
}

static void plan_sampled(struct scan *s)
{
	const struct session_figures *f = &s->session->figures;
	uint32_t stops = within(f->steps / (f->executions + 1) / 4, FEWEST, STOPS);

	s->batch = within(stops / LEAST_SAMPLED, BATCH_SAMPLED, BATCH);
	s->span = s->nr_batches = (s->nr + s->batch - 1) / s->batch;
	s->limit = s->nr_batches > 1 ? stops / s->batch : share(STOPS, s->nr + 1);
	s->rounds = s->nr ? within(s->nr_batches, LOOKS, FIRST_LOOKS) : 0;
	s->last_round = s->nr ? s->rounds + within(2 * s->nr_batches, MORE_LOOKS, UINT32_MAX) : 0;
}

int scan_plan(struct scan *s)
{
	uint32_t plain = 0, first;

	s->mode = LOOKING;
	s->order = vector_clocks_new();
	s->ranges = ranges_new();
	if (!s->order || !s->ranges || find_places(s))
		return -ENOMEM;
	s->turns = malloc((2 * s->nr + 1) * sizeof(*s->turns));
	if (!s->turns)
		return -ENOMEM;
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
