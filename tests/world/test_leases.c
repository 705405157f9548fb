/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_leases.c - with leases and without, an execution is the same
 *
 * Random programs (make_program()) under every strategy, followed by replays, by the minimiser and by
 * the search for a neighbour: each execution is made twice, once with `ask_always` and with looks at all
 * tasks instead of those that have changed, and all that the trace, the outcome and the search's figures
 * say has to be equal.
 */
#include <stdlib.h>
#include <string.h>
#include "engine/progress_check.h"
#include "search/minimize.h"
#include "search/neighbour.h"
#include "search/rng.h"
#include "run.h"

#define ROOM	40

/* ---- random programs ---- */

struct made {
	struct mw_program p;
	struct mw_op code[MW_TASKS][ROOM];
	uint32_t n[MW_TASKS], nr_tasks;
};

enum {
	HAS_LOCKS	= 1 << 0,	/* taken in any order, given back by the owner */
	HAS_MISUSE	= 1 << 1,	/* or not: unlocks, inits and destroys come anywhere */
	HAS_CONDS	= 1 << 2,
	HAS_SEMS	= 1 << 3,
	HAS_TIMES	= 1 << 4,
	HAS_YIELDS	= 1 << 5,
	HAS_BRANCHES	= 1 << 6,
	HAS_CALLS	= 1 << 7,	/* points that no lease covers */
	HAS_SPINS	= 1 << 8,
	HAS_ENDS	= 1 << 9,	/* assertions, crashes, exits */
	HAS_LOOPS	= 1 << 10,
	HAS_FORKS	= 1 << 11,
	IS_BLIND	= 1 << 12,
	HAS_LATE	= 1 << 13,	/* tasks create tasks */
	EVERYTHING	= (1 << 14) - 1,
};

static void put(struct made *m, uint32_t t, struct mw_op o)
{
	if (m->n[t] < ROOM - 4)
		m->code[t][m->n[t]++] = o;
}

#define OP(...) ((struct mw_op){ __VA_ARGS__ })

static void one(struct made *m, uint32_t t, unsigned int what, struct rng *rng)
{
	uint8_t a = rng_below(rng, 2), r = rng_below(rng, MW_REGS);
	/* some may end early only some steps later */
	int64_t ns = 1000 * (1 + (int64_t)rng_below(rng, 30)) + (a && r == 1 ? (int64_t)EARLY_NS : 0);
	uint32_t kind = rng_below(rng, 26);

	if (kind < 5 && what & HAS_LOCKS) {
		uint8_t lock = what & HAS_SPINS && rng_below(rng, 3) == 0 ? W_SPIN_LOCK : W_LOCK;

		if (what & HAS_TIMES && rng_below(rng, 5) == 0)
			put(m, t, OP(.op = W_TIMEDLOCK, .a = a, .b = r, .imm = ns));
		else
			put(m, t, OP(.op = lock, .a = a));
		if (rng_below(rng, 2))
			one(m, t, what, rng);
		put(m, t, OP(.op = lock == W_LOCK ? W_UNLOCK : W_SPIN_UNLOCK, .a = a));
	} else if (kind == 5 && what & HAS_LOCKS) {
		put(m, t, OP(.op = W_TRYLOCK, .a = a, .b = r));
		put(m, t, OP(.op = W_JUMP_NE, .b = r, .imm = 1, .to = m->n[t] + 2));
		put(m, t, OP(.op = W_UNLOCK, .a = a));
	} else if (kind == 6 && what & HAS_MISUSE) {
		static const uint8_t ops[] = { W_UNLOCK, W_LOCK, W_INIT, W_DESTROY };

		put(m, t, OP(.op = ops[rng_below(rng, 4)], .a = a));
	} else if (kind < 9 && what & HAS_CONDS) {
		put(m, t, OP(.op = W_LOCK, .a = a));
		if (rng_below(rng, 3) == 0)
			put(m, t, OP(.op = what & HAS_TIMES ? W_TIMED_WAIT : W_WAIT, .a = a, .b = a, .imm = ns));
		else
			put(m, t, OP(.op = rng_below(rng, 2) ? W_SIGNAL : W_BROADCAST, .a = a));
		put(m, t, OP(.op = W_UNLOCK, .a = a));
	} else if (kind < 12 && what & HAS_SEMS) {
		uint8_t wait = what & HAS_TIMES && rng_below(rng, 2) ? W_SEM_TIMED : W_SEM_WAIT;

		put(m, t, OP(.op = rng_below(rng, 2) ? wait : W_SEM_POST, .a = a, .b = r, .imm = ns));
	} else if (kind == 12 && what & HAS_TIMES) {
		put(m, t, OP(.op = rng_below(rng, 2) ? W_SLEEP : W_TIMER, .a = a, .imm = ns));
	} else if (kind == 13 && what & HAS_YIELDS) {
		put(m, t, OP(.op = W_YIELD));
	} else if (kind < 16 && what & HAS_BRANCHES) {
		put(m, t, OP(.op = W_READ, .a = a, .b = r));
		put(m, t, OP(.op = W_JUMP_EQ, .b = r, .imm = 1, .to = m->n[t] + 2 + rng_below(rng, 3)));
	} else if (kind == 16 && what & HAS_CALLS) {
		if (rng_below(rng, 2))
			put(m, t, OP(.op = W_CALL, .zop = ZUG_OP_WRITE, .a = a, .b = r));
		else
			put(m, t, OP(.op = rng_below(rng, 3) ? W_PUT : W_GET, .a = a, .b = r));
	} else if (kind == 17 && what & HAS_ENDS && rng_below(rng, 3) == 0) {
		static const uint8_t ops[] = { W_ASSERT, W_CRASH, W_EXIT, W_QUIT, W_LEAVE };

		put(m, t, OP(.op = ops[rng_below(rng, 5)], .b = r, .imm = 11));
	} else if (kind == 18 && what & HAS_LOOPS) {
		/* until the variable is 1: another task may see to that, or none */
		put(m, t, OP(.op = W_READ, .a = a, .b = r));
		put(m, t, OP(.op = W_JUMP_NE, .b = r, .imm = 1, .to = m->n[t] - 1));
	} else {
		static const uint8_t ops[] = { W_READ, W_WRITE, W_WRITE, W_STORE, W_LOCAL };

		put(m, t, OP(.op = ops[rng_below(rng, 5)], .a = a, .b = r, .imm = rng_below(rng, 2)));
	}
}

static void make_program(struct made *m, uint64_t nr)
{
	struct rng rng;
	unsigned int what;

	memset(m, 0, sizeof(*m));
	rng_seed(&rng, 1492, nr);
	/* each thing in about every third program, and all of them in some */
	what = rng_next(&rng) & (rng_next(&rng) | (rng_below(&rng, 8) ? 0 : ~0u)) & EVERYTHING;
	if (rng_below(&rng, 2))
		what &= ~(unsigned int)(HAS_MISUSE | HAS_ENDS | HAS_LOOPS);
	m->nr_tasks = 2 + rng_below(&rng, 3);
	m->p.blind = what & IS_BLIND && !(what & HAS_SPINS);
	m->p.real_time = false;
	m->p.unplanned = nr % 4 == 3;
	m->p.sems[0] = rng_below(&rng, 2);
	for (uint32_t t = 1; t < m->nr_tasks; t++) {
		uint32_t parent = t > 1 && what & HAS_LATE ? 1 : 0;

		put(m, parent, OP(.op = what & HAS_FORKS && rng_below(&rng, 3) == 0 ? W_FORK : W_CREATE, .a = t));
	}
	for (uint32_t t = 0; t < m->nr_tasks; t++) {
		uint32_t len = rng_below(&rng, 9);

		while (len--)
			one(m, t, what, &rng);
		if (!t && rng_below(&rng, 4))
			for (uint32_t i = 1; i < m->nr_tasks; i++)
				put(m, 0, OP(.op = W_JOIN, .a = i));
		/* targets of jumps lie before the end */
		for (uint32_t i = 0; i < m->n[t]; i++)
			if (m->code[t][i].to > m->n[t])
				m->code[t][i].to = m->n[t];
		/* a few in the program's own code, among those of packages */
		for (uint32_t i = 0; i < m->n[t] && nr % 3 == 1; i++)
			m->code[t][i].own = m->code[t][i].op >= W_READ && m->code[t][i].op <= W_STORE && !rng_below(&rng, 4);
		m->p.code[t] = m->code[t];
	}
}

/* ---- all that there is to see of an execution ---- */

static void print_label(FILE *out, const struct zug_label *l)
{
	fprintf(out, "%s %x %lx %lx %lx", zug_op_name(l->op), l->flags, l->object, l->object2, l->site);
}

static char *text_of(const struct run *r)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (uint64_t i = 0; i <= trace_nr_steps(r->t); i++) {
		const struct trace_step *s = i < trace_nr_steps(r->t) ? trace_step(r->t, i) : NULL;

		for (uint32_t k = 0; k < trace_nr_notes(r->t, i); k++) {
			const struct trace_note *n = trace_note_at(r->t, i, k);

			fprintf(out, "  note %u T%u %u %lx %s\n", n->kind, n->task, n->arg, n->object,
				n->text ? n->text : "");
		}
		if (!s)
			continue;
		fprintf(out, "%lu T%u after T%u %x ", s->step, s->task, s->last, s->flags);
		print_label(out, &s->label);
		for (uint32_t k = 0; k < s->nr_enabled; k++)
			fprintf(out, " T%u", s->enabled[k]);
		fprintf(out, "\n");
	}
	for (uint32_t i = 0; i < trace_nr_stacks(r->t); i++) {
		const struct trace_stack *s = trace_stack_at(r->t, i);

		fprintf(out, "T%u: %s at %u\n", s->task, s->state, s->nr_frames ? s->frames[0].line : 0);
	}
	for (uint32_t i = 0; i < trace_nr_tasks(r->t); i++)
		fprintf(out, "T%u of T%u\n", trace_task_at(r->t, i)->task, trace_task_at(r->t, i)->parent);
	fprintf(out, "%d (%s) %s: %s, %d %lx; %lu steps, %lu preemptions, %lu switches, hash %lx, diverged %d %s\n",
		r->ret, r->err, zug_outcome_name(r->x.outcome.kind), r->x.outcome.message, r->x.outcome.code,
		r->x.outcome.failure, r->x.steps, r->x.preemptions, r->x.switches, r->x.hash, r->x.diverged,
		r->x.divergence);
	fclose(out);
	return text;
}

struct sums {
	uint64_t executions, steps, asked, asked_always, points;	/* points: where a task stopped without leases */
};

static void show_difference(const char *a, const char *b)
{
	const char *line = a;

	for (; *a && *a == *b; a++, b++)
		if (*a == '\n')
			line = a + 1;
	b -= a - line;
	printf("# with leases:    %.*s\n# without leases: %.*s\n", (int)strcspn(line, "\n"), line,
	       (int)strcspn(b, "\n"), b);
}

static void print_program(const struct made *m)
{
	for (uint32_t t = 0; t < m->nr_tasks; t++) {
		printf("# T%u:", t);
		for (uint32_t i = 0; i < m->n[t]; i++)
			printf(" %u(%u,%u,%ld,%u)", m->code[t][i].op, m->code[t][i].a, m->code[t][i].b, m->code[t][i].imm,
			       m->code[t][i].to);
		printf("\n");
	}
}

/* Takes both. */
static bool equal(struct run *a, struct run *b, struct sums *s)
{
	char *x = text_of(a), *y = text_of(b);
	bool same = !strcmp(x, y);

	s->executions++;
	s->steps += a->x.steps;
	s->asked += a->x.asked;
	s->asked_always += b->x.asked;
	if (!same)
		show_difference(x, y);
	/* the engine is not at fault in both */
	if (a->x.outcome.kind == ZUG_OUTCOME_ENVIRONMENT) {
		printf("# %s\n", a->x.outcome.message);
		same = false;
	}
	free(x);
	free(y);
	return same;
}

/* ---- a search twice ---- */

static bool same_figures(const struct search *a, const struct search *b)
{
	struct search_stats x, y;

	search_get_stats(a, &x);
	search_get_stats(b, &y);
	return x.executions == y.executions && x.steps == y.steps && x.distinct == y.distinct &&
	       x.schedules == y.schedules && x.divergences == y.divergences && x.bound == y.bound &&
	       x.incomplete == y.incomplete && x.sleep_blocked == y.sleep_blocked;
}

/* Up to nr executions of both. keep: the first that fails is replayed: NULL, or it is freed there. */
static bool both(const struct mw_program *p, const struct how *with, const struct how *without, uint32_t nr,
		 struct sums *s, struct run **keep)
{
	struct session a, b;
	bool same = true;

	session_begin(&a, p, with);
	session_begin(&b, p, without);
	while (same && nr--) {
		struct run *x = session_run(&a), *y = session_run(&b);

		same = !x == !y;
		if (!x || !y) {
			if (!same)
				printf("# a search ended before the other\n");
			break;
		}
		same = equal(x, y, s);
		/* in a livelock progress is judged at every point */
		if (keep && !*keep && zug_outcome_is_finding(x->x.outcome.kind) && x->x.steps < 500)
			*keep = x;
		else
			run_free(x);
		run_free(y);
	}
	if (same && !same_figures(a.s, b.s)) {
		printf("# the figures of the searches differ\n");
		same = false;
	}
	session_end(&a);
	session_end(&b);
	return same;
}

static bool replayed(const struct mw_program *p, const struct run *found, struct engine_options o, struct sums *s)
{
	struct how with = { .replay = found->t, .o = o }, without = with;

	without.o.ask_always = true;
	return both(p, &with, &without, 1, s, NULL);
}

static bool around(const struct mw_program *p, const struct run *found, struct engine_options early, bool nearest,
		   struct sums *s)
{
	const struct search_options o = { .fair = 1, .preemptions = -1, .max_steps = 4 * found->x.steps + 1000 };
	struct how how[2] = { { .o = early }, { .o = early } };
	struct replay r;
	bool same;

	how[1].o.ask_always = true;

	if (replay_init(&r, found->t))
		abort();
	for (int i = 0; i < 2; i++)
		how[i].search = nearest ?
			neighbour_new(&o, r.tasks, r.nr, found->x.outcome.failure, 30, NULL, 0) :
			minimize_new(&o, r.tasks, r.nr, found->x.outcome.failure, 30, NULL, 0);
	same = both(p, &how[0], &how[1], 31, s, NULL);
	for (int i = 0; i < 2; i++)
		search_free(how[i].search);
	replay_release(&r);
	return same;
}

/* ---- tests ---- */

static const char *const strategies[] = {
	"random", "random:stick=3", "pct", "pct:depth=1", "pct:depth=6,steps=20,suffix=12", "pos", "surw", "urw", "guided",
	"reversal", "cycles", "lockstep", "lockstep:suffix=10",
	"portfolio", "dfs", "dfs:cache=1", "preemption:bound=1", "preemption:bound=3", "preemption:cache=yes",
	"delay:bound=2", "dpor",
};
#define NR_STRATEGIES (sizeof(strategies) / sizeof(strategies[0]))

static struct search *bounded_search(const char *strategy, uint64_t seed)
{
	const struct search_options o = { .strategy = strategy, .seed = seed, .fair = 1, .preemptions = -1,
					  .max_steps = 600, .memory = 1 << 20 };
	struct search *s = search_new(&o, NULL, 0);

	return s ? s : (abort(), NULL);
}

/* A livelock is judged soon, and again and again behind that: leases reach from one judgement to the next. */
static void short_window(struct engine *e, struct model_world *m, void *ctx)
{
	engine_set_window(e, 50);
}

/* The world does not say what has changed: engine and search look at all tasks at each step. */
static void look_at_all(struct engine *e, struct model_world *m, void *ctx)
{
	m->w.changes.kept = false;
	if (ctx)
		short_window(e, m, NULL);
}

static bool under(const struct made *m, const char *strategy, uint64_t seed, struct sums *s, struct sums *replays,
		  struct sums *trials)
{
	/* in two of three, time-outs and timers may end early */
	struct engine_options o = { .explore_timeouts = seed % 3, .likely_timeouts = seed % 3 == 2 }, long_enough = o;
	struct how with = { .search = bounded_search(strategy, seed), .o = o };
	struct how without = { .search = bounded_search(strategy, seed), .o = o };
	struct run *found = NULL;
	bool same;

	long_enough.max_steps = 3000;
	without.o.ask_always = true;
	with.prepare = seed % 4 == 2 ? short_window : NULL;
	without.prepare = look_at_all;
	without.ctx = with.prepare ? &with : NULL;
	same = both(&m->p, &with, &without, 8, s, &found);

	if (same && found)
		same = replayed(&m->p, found, long_enough, replays) && around(&m->p, found, o, false, trials) &&
		       around(&m->p, found, o, true, trials);
	if (found)
		run_free(found);
	search_free(with.search);
	search_free(without.search);
	return same;
}

static void say(const char *what, const struct sums *s)
{
	printf("# %s: %lu executions, %lu steps; asked for %.1f%%, without leases %.1f%%\n", what, s->executions, s->steps,
	       100.0 * s->asked / (s->steps + !s->steps), 100.0 * s->asked_always / (s->steps + !s->steps));
}

static void random_programs(void)
{
	uint64_t first = 0, nr = tap_scale(40, 5000);
	struct sums sums[NR_STRATEGIES] = { 0 }, replays = { 0 }, trials = { 0 };
	const char *from = getenv("PROGRAM");

	if (from) {
		first = strtoull(from, NULL, 10);
		nr = first + 1;
	}
	for (size_t i = 0; i < NR_STRATEGIES; i++) {
		uint64_t differ = 0;

		for (uint64_t k = first; k < nr && !differ; k++) {
			struct made m;

			make_program(&m, k);
			if (under(&m, strategies[i], k, &sums[i], &replays, &trials))
				continue;
			differ++;
			printf("# %s, PROGRAM=%lu\n", strategies[i], k);
			print_program(&m);
		}
		tap_ok(!differ && sums[i].asked <= sums[i].asked_always,
		       "%s: %lu random programs, the same with leases and without", strategies[i], nr - first);
		say(strategies[i], &sums[i]);
	}
	tap_ok(from || (replays.asked * 2 < replays.asked_always && replays.executions),
	       "replays ask for less than half of what they did");
	say("replays", &replays);
	tap_ok(from || (trials.asked * 2 < trials.asked_always && trials.executions), "trials ask for less than half of it");
	say("minimising and neighbours", &trials);
}

/* ---- what looks on ---- */

static bool ends_at(void *ctx, const struct search_point *p, uint32_t i, struct outcome *o)
{
	(void)i;
	if (p->step != *(const uint64_t *)ctx)
		return false;
	outcome_set(o, ZUG_OUTCOME_RACE, "seen enough");
	return true;
}

static void watch(struct engine *e, struct model_world *m, void *ctx)
{
	(void)m;
	engine_watch_steps(e, ends_at, NULL, ctx);
}

/* From some step on callers are looked for. */
static void look_for_callers(struct engine *e, struct model_world *m, void *ctx)
{
	(void)m;
	engine_note_callers(e, *(const uint64_t *)ctx);
}

static enum engine_hold is_odd(void *ctx, uint32_t task, const struct zug_label *l)
{
	(void)ctx;
	return (l->site + task) % 3 == 1 ? HOLD : HOLD_NOT;
}

static void hold(struct engine *e, struct model_world *m, void *ctx)
{
	(void)m;
	(void)ctx;
	engine_hold(e, is_odd, NULL);
}

/* As in a trial, whose schedule says all. */
static void hold_none(struct engine *e, struct model_world *m, void *ctx)
{
	hold(e, m, ctx);
	engine_hold_none(e, true);
}

static enum engine_hold at_end(void *ctx, uint32_t task, const struct zug_label *l)
{
	(void)ctx;
	return (l->op == ZUG_OP_END && task) ? HOLD_LAST : HOLD_NOT;
}

static void hold_ends(struct engine *e, struct model_world *m, void *ctx)
{
	(void)m;
	(void)ctx;
	engine_hold_before(e, ZUG_OP_END, at_end, NULL);
}

/* Accesses of data, of the first two tasks that have any. */
static struct {
	uint64_t sites[2];
} accesses;

static void find_accesses(const struct made *m)
{
	int nr = 0;

	accesses.sites[0] = accesses.sites[1] = 0;
	for (uint32_t t = 0; t < m->nr_tasks && nr < 2; t++)
		for (uint32_t pc = 0; pc < m->n[t]; pc++)
			if (m->code[t][pc].op == W_WRITE || m->code[t][pc].op == W_READ || m->code[t][pc].op == W_STORE) {
				accesses.sites[nr++] = mw_site(t, pc);
				break;
			}
}

static enum engine_hold at_access(void *ctx, uint32_t task, const struct zug_label *l)
{
	return at_end(ctx, task, l) ?: l->site == accesses.sites[0] || l->site == accesses.sites[1] ? HOLD : HOLD_NOT;
}

static void hold_accesses(struct engine *e, struct model_world *m, void *ctx)
{
	engine_hold_at(e, accesses.sites, at_access, NULL);
}

static void hold_at_times(struct engine *e, struct model_world *m, void *ctx)
{
	engine_hold_at_times(e, is_odd, NULL);
}

static bool on_state(void *ctx, uint32_t task, struct outcome *o)
{
	(void)task;
	++*(uint64_t *)ctx;
	(void)o;
	return false;
}

static void monitor(struct engine *e, struct model_world *m, void *ctx)
{
	(void)m;
	engine_watch_states(e, on_state, ctx);
}

/* A watcher of steps that may end the execution, tasks that are held, a monitor. */
static void lookers(void)
{
	static const struct {
		void (*prepare)(struct engine *e, struct model_world *m, void *ctx);
		const char *what;
	} kinds[] = {
		{ watch, "a watcher of steps" }, { hold, "tasks that are held" }, { monitor, "a monitor of states" },
		{ hold_ends, "tasks that are held at their ends" }, { hold_none, "tasks that would be held" },
		{ look_for_callers, "callers that are looked for" }, { hold_accesses, "tasks that are held at accesses" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct sums s = { 0 };
		uint64_t seen[2] = { 0 };
		bool same = true;

		for (uint64_t k = 0; k < 40 && same; k++) {
			uint64_t at[2] = { 5 + k % 7, 5 + k % 7 };
			struct how how[2] = { { 0 }, { .o.ask_always = true } };
			struct made m;

			make_program(&m, k);
			/* threads that end at a point, which could be passed */
			if (kinds[i].prepare == hold_ends && k % 4 == 1)
				for (uint32_t t = 1; t < m.nr_tasks; t++)
					put(&m, t, OP(.op = W_LEAVE));
			find_accesses(&m);
			for (int n = 0; n < 2; n++) {
				how[n].search = bounded_search(k % 2 ? "random" : "preemption", k);
				how[n].prepare = kinds[i].prepare;
				how[n].ctx = kinds[i].prepare == watch || kinds[i].prepare == look_for_callers ?
						     &at[n] : &seen[n];
			}
			same = both(&m.p, &how[0], &how[1], 4, &s, NULL);
			search_free(how[0].search);
			search_free(how[1].search);
		}
		tap_ok(same && seen[0] == seen[1], "%s: the same with leases and without", kinds[i].what);
		/* until one comes to its end, to that step, or to such a place, tasks go on without being asked about */
		if (kinds[i].prepare == hold_ends || kinds[i].prepare == look_for_callers || kinds[i].prepare == hold_accesses)
			tap_ok(s.asked < s.asked_always, "%s: %lu questions instead of %lu", kinds[i].what,
			       (unsigned long)s.asked, (unsigned long)s.asked_always);
		if (kinds[i].prepare == hold_none)
			tap_ok(s.asked * 2 < s.asked_always, "%s, in trials: %lu questions instead of %lu", kinds[i].what,
			       (unsigned long)s.asked, (unsigned long)s.asked_always);
	}
}

/* ---- what the engine sees at points ---- */

/* A task that polls, without yielding, what another one has to write. */
static const struct mw_program polls = { .code = {
	TASK(CREATE(1), LOCAL, LOCAL, WRITE(0, 1), LOCAL, JOIN(1)),
	TASK(READ(0, 0), LOCAL, JUMP_NE(0, 1, 0), LOCAL),
} };
/* A mutex that is used when it is gone, while another task could run. */
static const struct mw_program gone = { .code = {
	TASK(CREATE(1), { .op = W_INIT, .a = 0 }, LOCAL, { .op = W_DESTROY, .a = 0 }, LOCAL, LOCK(0), LOCAL, UNLOCK(0)),
	TASK(LOCAL, LOCAL, LOCAL, LOCAL, LOCAL, LOCAL),
} };
/* Two tasks that get nowhere, and yield now and then. */
static const struct mw_program nowhere = { .code = {
	TASK(CREATE(1), LOCAL, LOCAL, LOCAL, LOCAL, LOCAL, LOCAL, LOCAL, LOCAL, LOCAL, YIELD, JUMP(1)),
	TASK(LOCAL, LOCAL, LOCAL, LOCAL, LOCAL, LOCAL, LOCAL, YIELD, JUMP(0)),
} };

static void engine(void)
{
	static const struct {
		const struct mw_program *p;
		const char *strategy;
		uint32_t nr;
		enum zug_outcome_kind kind;
		const char *what;
	} programs[] = {
		{ &polls, "preemption", 20, ZUG_OUTCOME_PASS, "a task that starves another" },
		{ &polls, "pct:depth=1", 20, ZUG_OUTCOME_PASS, "a task that starves another, by priority" },
		{ &gone, "preemption", 20, ZUG_OUTCOME_MISUSE, "a use after destroy" },
		{ &nowhere, "preemption", 2, ZUG_OUTCOME_LIVELOCK, "a livelock" },
	};

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct how with = { .strategy = programs[i].strategy };
		struct how without = { .strategy = programs[i].strategy, .o.ask_always = true };
		struct run *r = run(programs[i].p, &with);
		struct sums s = { 0 };

		check(r->x.outcome.kind == programs[i].kind && both(programs[i].p, &with, &without, programs[i].nr, &s, NULL) &&
			      s.asked < s.asked_always,
		      r, programs[i].what);
		run_free(r);
	}
}

/*
 * A task goes round for ever, and holds the lock before which another stands: when the window ends it is tried,
 * wherever in its round that is.
 */
static void on_trial(void)
{
	struct sums s = { 0 };
	bool same = true;

	for (uint32_t k = 1; k < 5 && same; k++) {
		struct how with = { .strategy = "preemption" }, without = { .strategy = "preemption", .o.ask_always = true };
		struct made m = { .nr_tasks = 2 };
		struct run *r;

		put(&m, 0, OP(.op = W_LOCK));
		put(&m, 0, OP(.op = W_CREATE, .a = 1));
		for (uint32_t i = 0; i < 7 * k; i++)
			put(&m, 0, OP(.op = W_LOCAL));
		put(&m, 0, OP(.op = W_JUMP, .to = 2));
		/* a while, so that in a replay the trial would be in the middle of a lease */
		put(&m, 1, OP(.op = W_READ));
		put(&m, 1, OP(.op = W_STORE, .imm = 1));
		put(&m, 1, OP(.op = W_JUMP_NE, .imm = 170, .to = 0));
		/* behind that no plan goes on */
		put(&m, 1, OP(.op = W_CALL, .zop = ZUG_OP_WRITE));
		put(&m, 1, OP(.op = W_LOCK));
		for (uint32_t t = 0; t < 2; t++)
			m.p.code[t] = m.code[t];
		r = run(&m.p, &with);
		same = r->x.outcome.kind == ZUG_OUTCOME_LIVELOCK && both(&m.p, &with, &without, 1, &s, NULL) &&
		       replayed(&m.p, r, (struct engine_options){ .max_steps = 30000 }, &s);
		run_free(r);
	}
	tap_ok(same && s.asked < s.asked_always, "a task that is tried");
	say("trials", &s);
}

/* Two tasks work for long, with no task created, blocked or gone: no livelock, and still few questions. */
static void goes_on_long(bool holds)
{
	static const char *const tried[] = { "random", "pct", "preemption", "pos", "lockstep:suffix=10" };
	struct sums s = { 0 };
	bool same = true;

	for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]) && same; i++) {
		struct how with = { .strategy = tried[i], .prepare = holds ? hold_at_times : NULL }, without = with;
		struct made m = { .nr_tasks = 2 };
		struct run *r;

		without.o.ask_always = true;
		put(&m, 0, OP(.op = W_CREATE, .a = 1));
		for (uint32_t t = 0; t < 2; t++) {
			uint32_t top = m.n[t];

			put(&m, t, OP(.op = W_LOCK));
			put(&m, t, OP(.op = W_UNLOCK));
			put(&m, t, OP(.op = W_WRITE, .a = t));
			put(&m, t, OP(.op = W_READ, .a = 3 + t));
			put(&m, t, OP(.op = W_STORE, .a = 3 + t, .imm = 1));
			put(&m, t, OP(.op = W_JUMP_NE, .imm = 3500, .to = top));
			m.p.code[t] = m.code[t];
		}
		r = run(&m.p, &with);
		same = r->x.outcome.kind == ZUG_OUTCOME_PASS && r->x.steps > 2 * PROGRESS_WINDOW &&
		       both(&m.p, &with, &without, 1, &s, NULL) &&
		       replayed(&m.p, r, (struct engine_options){ .max_steps = 100000 }, &s);
		run_free(r);
	}
	tap_ok(same && s.asked < s.asked_always / (holds ? 10 : 40),
	       "%s asks for few of its points, also behind the window of a livelock",
	       holds ? "a long execution that holds tasks" : "a long execution");
	say("long executions", &s);
}

/*
 * A mutex is destroyed, by a process that then ends, or by one whose tasks go on: there only what is replayed is known
 * not to use it.
 */
static void destroyed(void)
{
	for (int by_other = 0; by_other < 2; by_other++) {
		struct how with = { .strategy = "random" }, without = { .strategy = "random", .o.ask_always = true };
		struct made m = { .nr_tasks = 3 };
		struct sums s = { 0 }, again = { 0 };
		struct run *r;
		bool same;

		put(&m, 2, OP(.op = W_INIT));
		put(&m, 2, OP(.op = W_DESTROY));
		put(&m, 0, OP(.op = by_other ? W_FORK : W_CREATE, .a = 2));
		put(&m, 0, OP(.op = W_CREATE, .a = 1));
		for (uint32_t t = 0; t < 2; t++) {
			for (int i = 0; i < 25; i++)
				put(&m, t, OP(.op = W_LOCAL));
		}
		for (uint32_t t = 0; t < 3; t++)
			m.p.code[t] = m.code[t];
		same = both(&m.p, &with, &without, 10, &s, NULL);
		r = run(&m.p, &with);
		same = same && replayed(&m.p, r, (struct engine_options){ .max_steps = 30000 }, &again);
		tap_ok(same && (s.asked < s.asked_always / 4) == by_other && again.asked < again.asked_always / 4,
		       by_other ? "tasks go on where another process has destroyed a lock" :
				  "where their own has, only replays do");
		say("destroyed", &s);
		say("destroyed, replayed", &again);
		run_free(r);
	}
}

/* A replay that has left its trace is on its own: what its task did there is no promise any more. */
static void diverging(void)
{
	struct how with = { 0 }, without = { .o.ask_always = true };
	struct sums s = { 0 };
	struct made m = { .nr_tasks = 2 };
	struct run *first, *r;
	bool same;

	put(&m, 0, OP(.op = W_CREATE, .a = 1));
	for (int i = 0; i < 4; i++)
		put(&m, 0, OP(.op = W_LOCAL));
	put(&m, 0, OP(.op = W_SEM_WAIT));
	put(&m, 0, OP(.op = W_LOCAL));
	put(&m, 1, OP(.op = W_SEM_POST));
	put(&m, 1, OP(.op = W_READ));
	put(&m, 1, OP(.op = W_STORE, .imm = 1));
	put(&m, 1, OP(.op = W_JUMP_NE, .imm = 200, .to = 1));
	for (uint32_t t = 0; t < 2; t++)
		m.p.code[t] = m.code[t];
	first = run(&m.p, &with);
	/* it waits sooner */
	m.code[0][1].op = W_SEM_WAIT;
	with.replay = without.replay = first->t;
	same = both(&m.p, &with, &without, 1, &s, NULL);
	r = run(&m.p, &with);
	check(same && r->x.diverged && r->x.steps > 300, r, "a replay that diverges");
	run_free(r);
	run_free(first);
}

/* What a task does alone is known in a replay, also that it yields. */
static void alone(void)
{
	struct sums s = { 0 };
	struct made m = { .nr_tasks = 2 };
	struct run *first;
	bool same;

	put(&m, 0, OP(.op = W_CREATE, .a = 1));
	put(&m, 0, OP(.op = W_JOIN, .a = 1));
	for (int i = 0; i < 30; i++)
		put(&m, 0, OP(.op = i % 2 ? W_YIELD : W_READ));
	put(&m, 1, OP(.op = W_LOCAL));
	for (uint32_t t = 0; t < 2; t++)
		m.p.code[t] = m.code[t];
	first = run(&m.p, &(struct how){ 0 });
	same = replayed(&m.p, first, (struct engine_options){ 0 }, &s);
	tap_ok(same && s.asked < 6 && s.asked_always > 30, "a replay passes what a task does alone");
	say("alone", &s);
	run_free(first);
}

static void (*model_lease)(struct world *w, uint32_t nr, enum search_until until, uint64_t clock, bool known,
			   const struct world_plan *plan);

static void longer_lease(struct world *w, uint32_t nr, enum search_until until, uint64_t clock, bool known,
			 const struct world_plan *plan)
{
	(void)plan;
	model_lease(w, nr + 10, until, clock, known, NULL);
}

/* The turn goes to other tasks than the search will draw. */
static void other_plan(struct world *w, uint32_t nr, enum search_until until, uint64_t clock, bool known,
		       const struct world_plan *plan)
{
	struct world_plan other;

	if (plan) {
		other = *plan;
		other.rule.state++;
	}
	model_lease(w, nr, until, clock, known, plan ? &other : NULL);
}

static void make_leases_longer(struct engine *e, struct model_world *m, void *ctx)
{
	static struct world_ops ops;

	(void)e;
	if (m->w.ops == &ops)
		return;
	ops = *m->w.ops;
	model_lease = ops.lease;
	ops.lease = *(bool *)ctx ? other_plan : longer_lease;
	m->w.ops = &ops;
}

/* A task passes more points than the search has promised; or the turn goes to other tasks. */
static void broken_promise(bool plan)
{
	struct how how = { .strategy = "random", .prepare = make_leases_longer, .ctx = &plan };
	struct made m = { .nr_tasks = 2 };
	struct session n;
	struct run *r;
	int broken = 0, passed = 0;

	put(&m, 0, OP(.op = W_CREATE, .a = 1));
	for (uint32_t t = 0; t < 2; t++) {
		for (int i = 0; i < 20; i++)
			put(&m, t, OP(.op = W_READ));
		m.p.code[t] = m.code[t];
	}
	put(&m, 0, OP(.op = W_JOIN, .a = 1));
	session_begin(&n, &m.p, &how);
	for (int i = 0; i < 20 && (r = session_run(&n)); i++) {
		if (is_outcome(r, ZUG_OUTCOME_ENVIRONMENT, NULL) && strstr(r->err, "went on under its lease"))
			broken += !r->ret && !passed;
		else if (broken)
			passed += is_outcome(r, ZUG_OUTCOME_PASS, NULL);
		run_free(r);
	}
	session_end(&n);
	tap_ok(broken == 1 && passed > 10, "a broken %s ends its execution, and there are no leases from then on (%d, %d)",
	       plan ? "plan" : "promise", broken, passed);
}

/* Two tasks that lock and count, many times; that is the program's own now and then, and surw asks nothing in between. */
static void shares(void)
{
	static const struct {
		const char *strategy;
		double most;
	} wanted[] = {
		{ "random", 0.1 }, { "urw", 0.1 }, { "pct", 0.06 }, { "preemption", 0.08 }, { "dpor", 0.1 }, { "dfs", 0.1 },
		{ "delay", 0.08 }, { "lockstep", 0.08 }, { "surw", 0.25 },
	};
	struct made m = { .nr_tasks = 2 };

	put(&m, 0, OP(.op = W_CREATE, .a = 1));
	for (uint32_t t = 0; t < 2; t++) {
		for (int i = 0; i < 6; i++) {
			put(&m, t, OP(.op = W_LOCK, .a = i % 2));
			put(&m, t, OP(.op = W_READ, .own = i % 3 == 2));
			put(&m, t, OP(.op = W_STORE, .imm = 1));
			put(&m, t, OP(.op = W_UNLOCK, .a = i % 2));
		}
		m.p.code[t] = m.code[t];
	}
	put(&m, 0, OP(.op = W_JOIN, .a = 1));
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		struct how with = { .strategy = wanted[i].strategy };
		struct how without = { .strategy = wanted[i].strategy, .o.ask_always = true };
		struct sums s = { 0 };
		bool same = both(&m.p, &with, &without, 100, &s, NULL);

		tap_ok(same && s.asked < wanted[i].most * s.steps, "%s asks for less than %.0f%% of the points of two tasks",
		       wanted[i].strategy, 100 * wanted[i].most);
		say(wanted[i].strategy, &s);
	}
}

/* Where one of many tasks waits for long, others work, and go round nowhere: that alone is no reason to ask. */
static void many(void)
{
	struct how with = { .strategy = "pos" }, without = { .strategy = "pos", .o.ask_always = true };
	struct made m = { .nr_tasks = MW_TASKS };
	struct sums s = { 0 };
	bool same;

	for (uint32_t t = 1; t < MW_TASKS; t++)
		put(&m, 0, OP(.op = W_CREATE, .a = t));
	for (uint32_t t = 0; t < MW_TASKS; t++) {
		for (int i = 0; i < 18; i++)
			put(&m, t, i % 2 ? OP(.op = W_STORE, .a = t, .imm = 1) : OP(.op = W_READ, .a = t));
		m.p.code[t] = m.code[t];
	}
	for (uint32_t t = 1; t < MW_TASKS; t++)
		put(&m, 0, OP(.op = W_JOIN, .a = t));
	same = both(&m.p, &with, &without, 50, &s, NULL);
	tap_ok(same && s.asked < 0.09 * s.steps, "a task that waits for long is no reason to ask");
	say("pos", &s);
}

/*
 * A task goes round in a loop until another one, which waits, has had the turn: its lease ends when it is taken for one
 * that yields.
 */
static void starving(void)
{
	struct how with = { .strategy = "preemption" }, without = { .strategy = "preemption", .o.ask_always = true };
	struct made m = { .nr_tasks = 2, .p.unplanned = true };
	struct sums s = { 0 };
	bool same;

	put(&m, 0, OP(.op = W_CREATE, .a = 1));
	put(&m, 0, OP(.op = W_READ, .a = 0, .b = 0));
	put(&m, 0, OP(.op = W_JUMP_NE, .b = 0, .imm = 1, .to = 1));
	put(&m, 1, OP(.op = W_WRITE, .a = 0, .imm = 1));
	for (uint32_t t = 0; t < m.nr_tasks; t++)
		m.p.code[t] = m.code[t];
	same = both(&m.p, &with, &without, 3, &s, NULL);
	tap_ok(same && s.asked * 2 < s.asked_always, "a task that goes round while another one waits is asked in time");
	say("preemption", &s);
}

/* A task has made many steps at one operation, and another one has waited meanwhile: what that says of the steps to come. */
static void test_loops_left(void)
{
	struct progress_loops l = { .waits = WORLD_NO_TASK };
	const struct zug_label round = { .op = ZUG_OP_ATOMIC_LOAD, .site = 5 }, other = { .op = ZUG_OP_JOIN, .site = 7 };
	const struct zug_label creates = { .op = ZUG_OP_CREATE, .site = 8 };
	const uint32_t enabled[2] = { 0, 1 };
	bool yields = false, early = false;

	for (unsigned int i = 0; i <= PROGRESS_STARVING; i++) {
		yields = progress_loops_step(&l, 0, &round, enabled, 2, l.waits == 1);
		early |= yields && progress_loops_calm(&l);
	}
	tap_ok(yields && !early && progress_loops_left(&l, 0, &round) == 1,
	       "a task in a loop is taken for one that yields, with each step");
	tap_ok(progress_loops_left(&l, 0, NULL) == 1, "  also where its next step is not known");
	tap_ok(progress_loops_left(&l, 0, &other) == PROGRESS_ROUNDS, "  not before many more where it has left the loop");
	tap_ok(progress_loops_left(&l, 1, &round) == PROGRESS_ROUNDS, "  nor is another one");
	yields = false;
	for (unsigned int i = 0; i < 2 * PROGRESS_ROUNDS; i++)
		yields |= progress_loops_step(&l, 0, &creates, enabled, 2, true);
	tap_ok(!yields && !progress_loops_calm(&l) && progress_loops_left(&l, 0, &creates) == PROGRESS_ROUNDS,
	       "  nor one that creates threads in a loop");
	for (unsigned int i = 0; i < PROGRESS_ROUNDS; i++)
		yields = progress_loops_step(&l, 1, &round, enabled, 2, false);
	tap_ok(!yields && progress_loops_calm(&l) > PROGRESS_ROUNDS, "  while none has waited for long");
	progress_loops_free(&l);
}

int main(void)
{
	test_loops_left();
	many();
	starving();
	random_programs();
	lookers();
	engine();
	on_trial();
	goes_on_long(false);
	goes_on_long(true);
	destroyed();
	diverging();
	alone();
	broken_promise(false);
	broken_promise(true);
	shares();
	return tap_done();
}
