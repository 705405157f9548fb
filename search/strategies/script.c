/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * script.c - the strategy that follows a script: statements 'before' and 'let' (search/script.h)
 *
 * The base scheduler decides where the script says nothing. Read pick_scripted() first: at each
 * point it looks whether the task that would go on stands where a statement begins or ends, until
 * it has one that neither stops nor waits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/rules_internal.h"
#include "search/schedule.h"
#include "search/script.h"
#include "search/search_internal.h"
#include "search/strategies/strategies.h"

/* ---- following ---- */

struct script {
	struct rules *rules;	/* NULL: none */
};

static int script_init(void *state, struct search_env *env, const int64_t *args)
{
	struct script *s = state;

	(void)args;
	s->rules = env->script;
	return 0;
}

static int script_begin(void *state, uint64_t iteration)
{
	const struct script *s = state;

	(void)iteration;
	for (uint32_t k = 0; s->rules && k < s->rules->nr; k++) {
		struct rule_before *b = &s->rules->rules[k].before;

		b->came = b->came_until = b->near = b->near_until = 0;
		b->now = b->made = b->waits = b->unable = b->arrived = b->saw_task = b->saw_run = false;
	}
	return SEARCH_GO;
}

static bool can_run(const struct search_point *p, uint32_t task)
{
	uint32_t i = search_cand_of(p, task);

	return i != UINT32_MAX && p->cand[i].enabled;
}

static struct rule *waiting(const struct rules *r, uint32_t task)
{
	for (uint32_t k = 0; k < r->nr; k++)
		if (r->rules[k].before.waits && r->rules[k].match.task == task)
			return &r->rules[k];
	return NULL;
}

/* A task that can run and waits for no other, run if possible; UINT32_MAX: there is none. */
static uint32_t another(const struct rules *r, const struct search_point *p, uint32_t run)
{
	uint32_t i = search_cand_of(p, run);

	if (i != UINT32_MAX && p->cand[i].enabled && !waiting(r, run))
		return i;
	for (i = 0; i < p->nr; i++)
		if (p->cand[i].enabled && !waiting(r, p->cand[i].task))
			return i;
	return UINT32_MAX;
}

/* The statement that ends a wait now, because the candidate stands where it was to run to. */
static struct rule *arrived(struct rules *r, const struct search_cand *c)
{
	for (uint32_t k = 0; k < r->nr; k++) {
		struct rule *rule = &r->rules[k];

		if (rule->before.waits && rule->before.has_until && rule->before.run == c->task &&
		    rule->before.came_until + 1 == rule->before.until_nth && rules_match(r, &rule->until, c))
			return rule;
	}
	return NULL;
}

/* The statement whose place the candidate has come to. */
static struct rule *anchored(struct rules *r, const struct search_cand *c)
{
	for (uint32_t k = 0; k < r->nr; k++) {
		struct rule *rule = &r->rules[k];

		if (rule->kind == RULE_BEFORE && !rule->before.made && rule->match.task == c->task &&
		    rule->before.came + 1 == rule->before.nth && rules_match(r, &rule->match, c))
			return rule;
	}
	return NULL;
}

/* A task that waited for one that has ended goes on. */
static uint32_t after_exits(struct rules *r, const struct search_point *p, uint32_t i)
{
	for (uint32_t k = 0; k < r->nr; k++) {
		struct rule_before *b = &r->rules[k].before;

		if (!b->waits || search_cand_of(p, b->run) != UINT32_MAX)
			continue;
		b->waits = false;
		if (can_run(p, r->rules[k].match.task))
			i = search_cand_of(p, r->rules[k].match.task);
	}
	return i;
}

/* The index of the candidate that goes on where i would. */
static uint32_t follow(struct rules *r, const struct search_point *p, uint32_t i)
{
	/* each statement is made once, and each wait ends once: the bound is for cycles of waits */
	uint32_t rounds = 3 * r->nr + p->nr + 1, other;
	struct rule *rule;

	i = after_exits(r, p, i);
	while (rounds--) {
		const struct search_cand *c = &p->cand[i];

		rule = arrived(r, c);
		if (rule) {
			rule->before.waits = false;
			rule->before.arrived = true;
			if (can_run(p, rule->match.task)) {
				i = search_cand_of(p, rule->match.task);
				continue;
			}
		}
		rule = waiting(r, c->task);
		/* a task that yields waits for another, perhaps for this one */
		if (rule && p->yielded && p->last == rule->before.run) {
			rule->before.waits = false;
			rule = NULL;
		}
		if (rule) {
			other = another(r, p, rule->before.run);
			if (other == UINT32_MAX)
				return i;	/* a script never stops a test */
			i = other;
			continue;
		}
		rule = anchored(r, c);
		if (!rule)
			return i;
		if (!can_run(p, rule->before.run)) {
			rule->before.unable = true;
			return i;
		}
		rule->before.made = true;
		rule->before.unable = false;
		rule->before.waits = rule->before.has_until || rule->before.until_exit;
		i = search_cand_of(p, rule->before.run);
	}
	return i;
}

/* The place of a statement without its operation: where the code about it has changed, this may be left. */
static bool is_near(const struct rules *r, const struct rule_match *m, const struct search_cand *c)
{
	struct rule_match near = *m;

	if (near.on[0] || near.in[0])
		near.op = -1;
	return rules_match(r, &near, c);
}

/* The candidate makes its step. */
static void note_step(struct rules *r, const struct search_point *p, const struct search_cand *c)
{
	for (uint32_t k = 0; k < r->nr; k++) {
		struct rule *rule = &r->rules[k];
		struct rule_before *b = &rule->before;

		if (rule->kind < RULE_BEFORE)
			continue;
		b->now = false;
		b->saw_task |= rule->match.task == c->task;
		b->saw_run |= b->run == c->task || search_cand_of(p, b->run) != UINT32_MAX;
		b->near += is_near(r, &rule->match, c);
		if (rules_match(r, &rule->match, c))
			b->now = ++b->came == b->nth && rule->kind == RULE_LET;
		if (!b->has_until)
			continue;
		b->near_until += is_near(r, &rule->until, c);
		b->came_until += rules_match(r, &rule->until, c);
	}
}

static int pick_scripted(void *state, const struct choice *c)
{
	const struct script *s = state;
	uint32_t i = c->allowed[schedule_base(c)];

	if (!s->rules)
		return (int)i;
	i = follow(s->rules, c->point, i);
	note_step(s->rules, c->point, &c->point->cand[i]);
	return (int)i;
}

/* After the last step nothing is let any more. */
static void script_end(void *state, const struct search_end *end)
{
	const struct script *s = state;

	(void)end;
	for (uint32_t k = 0; s->rules && k < s->rules->nr; k++)
		s->rules->rules[k].before.now = false;
}

const struct strategy_type strategy_script = {
	.info = { .name = "script", .line = "", .params = "", .guarantee = "" },
	.flags = STRATEGY_EVERY_STEP | STRATEGY_ANY_TASK,
	.size = sizeof(struct script),
	.init = script_init,
	.begin = script_begin,
	.pick = pick_scripted,
	.choose = schedule_choose,
	.end = script_end,
};

/* NULL: the search follows none. */
static struct rules *rules_of(const struct search *s)
{
	return search_type(s) == &strategy_script ? ((const struct script *)search_state(s))->rules : NULL;
}

/*
 * The statement 'let' (timer: of a timer; else of a call) that is about the step that was chosen
 * last, or NULL.
 */
static struct rule_before *let(const struct search *s, bool timer)
{
	struct rules *r = rules_of(s);

	for (uint32_t k = 0; r && k < r->nr; k++)
		if (r->rules[k].before.now && !r->rules[k].before.fault == timer)
			return &r->rules[k].before;
	return NULL;
}

bool search_script_let(struct search *s, bool timer, unsigned int *op, uint32_t *amount)
{
	const struct rule_before *b = let(s, timer);

	if (!b)
		return false;
	*op = b->fault;
	*amount = b->amount;
	return true;
}

void search_script_was_made(struct search *s, bool timer)
{
	struct rule_before *b = let(s, timer);

	if (b)
		b->made = true;
}

bool search_script_is_on(const struct search *s, uint64_t object)
{
	const struct rules *r = rules_of(s);

	for (uint32_t k = 0; r && r->names.on && k < r->nr; k++) {
		const struct search_names *n = &r->names;
		const struct rule *rule = &r->rules[k];

		if (rule->kind >= RULE_BEFORE &&
		    ((rule->match.on[0] && n->on(n->ctx, object, rule->match.on)) ||
		     (rule->before.has_until && rule->until.on[0] && n->on(n->ctx, object, rule->until.on))))
			return true;
	}
	return false;
}

static bool is_data_in(const struct rules *r, const struct rule_match *m, uint64_t site)
{
	const struct search_names *n = &r->names;
	bool data = zug_op_is_data(m->op) ||
		    (m->op >= ZUG_OP_ATOMIC_LOAD && m->op <= ZUG_OP_ATOMIC_RMW);

	return data && m->in[0] && n->in && n->in(n->ctx, site, m->in);
}

bool search_script_is_in(const struct search *s, uint64_t site)
{
	const struct rules *r = rules_of(s);

	for (uint32_t k = 0; r && k < r->nr; k++) {
		const struct rule *rule = &r->rules[k];

		if (rule->kind >= RULE_BEFORE && (is_data_in(r, &rule->match, site) ||
						  (rule->before.has_until && is_data_in(r, &rule->until, site))))
			return true;
	}
	return false;
}

/* ---- results ---- */

static const struct rule *statement(const struct rules *r, unsigned int i)
{
	for (uint32_t k = 0; r && k < r->nr; k++)
		if (r->rules[k].kind >= RULE_BEFORE && !i--)
			return &r->rules[k];
	return NULL;
}

unsigned int search_script_lines(const struct search *s)
{
	unsigned int nr = 0;

	while (statement(rules_of(s), nr))
		nr++;
	return nr;
}

bool search_script_strict(const struct search *s)
{
	const struct rules *r = rules_of(s);

	return r && r->strict;
}

void search_script_line(const struct search *s, unsigned int i, struct search_script_line *line)
{
	const struct rule *rule = statement(rules_of(s), i);
	const struct rule_before *b = &rule->before;
	bool let = rule->kind == RULE_LET;
	bool part = b->made && b->has_until && !b->arrived;

	*line = (struct search_script_line){
		.line = b->line, .text = b->text, .task = rule->match.task, .run = b->run, .nth = b->nth,
		.came = b->came, .run_exists = b->saw_run || let, .let = let, .fault = b->fault,
		.state = part && !b->near_until ? SEARCH_SCRIPT_UNTIL_GONE : part ? SEARCH_SCRIPT_PART : b->made ? SEARCH_SCRIPT_MADE :
			 !b->saw_task || !(b->saw_run || let) ? SEARCH_SCRIPT_NO_TASK :
			 b->unable || (let && b->came >= b->nth) ? SEARCH_SCRIPT_UNABLE : b->came ? SEARCH_SCRIPT_FEWER :
			 b->near ? SEARCH_SCRIPT_OTHER : SEARCH_SCRIPT_GONE,
	};
}

/* ---- from a schedule ---- */

struct differences {
	struct script_difference *list;
	size_t nr, room;
	uint32_t task;		/* makes the step that is shown */
};

static int pick_recorded(void *state, const struct choice *c)
{
	struct differences *d = *(struct differences **)state;
	uint32_t base = c->allowed[schedule_base(c)], at = search_cand_of(c->point, d->task);

	/* also one that the fair filter does not let through: it was patient (patience.h) */
	if (at == UINT32_MAX || at == base)
		return (int)base;
	if (!ARRAY_RESERVE(d->list, d->room, d->nr + 1))
		return -ENOMEM;
	d->list[d->nr++] = (struct script_difference){
		.step = c->point->step, .instead_of = c->point->cand[base].task, .task = d->task,
		.preemption = !c->free,
	};
	return (int)at;
}

static int begin_recorded(void *state, uint64_t iteration)
{
	(void)state;
	(void)iteration;
	return SEARCH_GO;
}

static const struct strategy_type strategy_recorded = {
	.info = { .name = "recorded", .line = "", .params = "", .guarantee = "" },
	.flags = STRATEGY_EVERY_STEP | STRATEGY_ANY_TASK,
	.size = sizeof(struct differences *),
	.begin = begin_recorded,
	.pick = pick_recorded,
	.choose = schedule_choose,
};

int script_differences(uint32_t fair, bool (*next)(void *ctx, struct search_point *p, uint32_t *task),
		       void *ctx, struct script_difference **differences)
{
	struct search_options o = { .fair = fair, .preemptions = -1, .memory = 1 << 20 };
	struct search *s = search_new_type(&o, &strategy_recorded, NULL, NULL, 0);
	struct differences d = { 0 };
	struct search_point p = { 0 };
	int ret = 0;

	if (!s)
		return -ENOMEM;
	*(struct differences **)search_state(s) = &d;
	search_begin(s);
	while (ret >= 0 && next(ctx, &p, &d.task)) {
		ret = search_pick(s, &p);
		if (ret >= 0 && p.cand[ret].task != d.task)
			ret = -EINVAL;
	}
	search_end(s, &(struct search_end){ .result = SEARCH_ABANDONED });
	search_free(s);
	if (ret < 0) {
		free(d.list);
		return ret;
	}
	*differences = d.list;
	return (int)d.nr;
}
