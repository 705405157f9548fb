/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * campaign_parts.c - what a shard makes of a search (campaign_parts.h): the head of its log, the prologue, which is
 * frozen, the plan, and then one part after the other
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <json-c/json.h>
#include <zlib.h>
#include "lib/version.h"
#include "campaign/campaign_internal.h"
#include "campaign/campaign_parts.h"
#include "campaign/options_trace.h"
#include "report/json_text.h"
#include "report/plan.h"
#include "search/rng.h"

/* ---- what is the same for all shards ---- */

/*
 * The clock of the test begins at the same time in all of them: that of the next month, for no file that exists may be
 * newer. Shards that begin in different months are refused when they are merged.
 */
static uint64_t next_month(void)
{
	time_t now = time(NULL);
	struct tm tm;

	gmtime_r(&now, &tm);
	tm = (struct tm){ .tm_year = tm.tm_year, .tm_mon = tm.tm_mon + 1, .tm_mday = 1 };
	return (uint64_t)timegm(&tm) * 1000000000ull;
}

void campaign_parts_options(struct campaign_options *o)
{
	o->search.alone = o->search.lanes && !o->search.shards;
	if (o->search.alone)
		o->search.shard = o->search.shards = 1;
	if (o->search.shards && !o->inputs.clock_real)
		o->inputs.clock_real = next_month();
}

/* "SIZE-CRC" of the program's file. */
static int identify(const char *path, char *buf, size_t len)
{
	unsigned char block[65536];
	uint64_t size = 0;
	uLong crc = 0;
	bool failed;
	size_t n;
	FILE *f = fopen(path, "re");

	if (!f)
		return -errno;
	do {
		n = fread(block, 1, sizeof(block), f);
		crc = crc32(crc, block, n);
		size += n;
	} while (n == sizeof(block));
	failed = ferror(f);
	fclose(f);
	if (failed)
		return -EIO;
	snprintf(buf, len, "%llu-%08lx", (unsigned long long)size, crc);
	return 0;
}

/* The options as traces have them; what an execution alone has is no part of it. */
static struct json_object *options_object(const char *text)
{
	struct json_object *o = json_tokener_parse(text);

	json_object_object_del(o, "explore_timeouts");
	json_object_object_del(o, "hidden");
	json_object_object_del(o, "own_only");
	return o;
}

static struct json_object *make_head(const struct campaign *c)
{
	struct json_object *o = json_object_new_object(), *argv = json_object_new_array();
	const struct options_search *s = &c->s.o.search;
	char *options = campaign_options_json(&c->s.o, &c->s.o.replay);
	char program[64] = "";

	identify(c->s.paths.program, program, sizeof(program));
	json_add_text(o, "shard", "zugzwang shard");
	json_add_number(o, "version", 1);
	json_add_number(o, "k", s->shard);
	json_add_number(o, "n", s->shards);
	for (char **a = c->s.o.command.argv; *a; a++)
		json_object_array_add(argv, json_text(*a));
	json_object_object_add(o, "argv", argv);
	json_add_text(o, "program", program);
	json_add_text(o, "cwd", c->s.o.command.cwd);
	json_add_text(o, "kernel", c->s.release);
	json_add_text(o, "zug_version", ZUG_VERSION);
	json_add_text(o, "strategy", s->strategy ? s->strategy : "default");
	json_add_number(o, "seed", s->seed);
	json_add_number(o, "executions", s->executions);
	json_object_object_add(o, "preemptions", json_object_new_int64(s->preemptions));
	json_add_text(o, "rules", s->rules ? s->rules : "");
	json_object_object_add(o, "keep_going", json_object_new_boolean(c->s.o.results.keep_going));
	json_object_object_add(o, "races", json_object_new_boolean(c->s.o.points.races));
	json_object_object_add(o, "timeouts", json_object_new_int64(c->s.o.inputs.timeouts));
	json_object_object_add(o, "options", options_object(options ? options : "{}"));
	json_add_text(o, "variable", s->shard_variable ? s->shard_variable : "");
	json_add_number(o, "started", time(NULL));
	free(options);
	return o;
}

/* ---- an earlier run ---- */

static unsigned int kind_of(const char *name)
{
	unsigned int kind = 0;

	while (kind < ZUG_OUTCOME_NR && strcmp(zug_outcome_name(kind), name))
		kind++;
	return kind;
}

/* What an earlier run has found is known. */
static int know_findings(struct campaign *c)
{
	const struct shard *old = c->parts.old;

	for (uint64_t i = 0; old && i < old->nr_findings; i++) {
		const struct shard_finding *f = &old->findings[i];
		struct failure_list *l = f->once ? &c->once : &c->failures;
		struct campaign_failure known = { .failure = f->failure, .kind = kind_of(f->kind), .times = 1,
						  .first = f->number, .message = strdup(f->message) };

		if (f->trace && asprintf(&known.trace, "%s/%s", c->parts.dir, f->trace) < 0)
			known.trace = NULL;
		if (!known.message || failures_add(l, &known))
			return -ENOMEM;
		l->findings++;
	}
	return 0;
}

static void note_old_prologue(struct campaign_parts *p)
{
	for (uint64_t i = 0; p->old && p->old->frozen && i < p->old->nr_executions; i++)
		p->old_prologue += p->old->executions[i].part == SHARD_PROLOGUE;
}

int campaign_parts_open(struct campaign *c, char *err, size_t errlen)
{
	const struct options_search *o = &c->s.o.search;
	struct campaign_parts *p = &c->parts;
	struct json_object *head;

	if ((o->subtrees || o->plan) && !search_divides(c->s.search)) {
		snprintf(err, errlen, "--%s: this strategy does not try everything, so that there is no tree to divide: "
			 "give --strategy dfs, dpor, preemption or delay", o->plan ? "plan" : "subtrees");
		return -EINVAL;
	}
	if (!o->shards || o->alone)
		return 0;
	if (asprintf(&p->dir, "%s/shard-%u-of-%u", c->s.o.results.dir, o->shard, o->shards) < 0 ||
	    asprintf(&p->record, "%s/record", p->dir) < 0) {
		snprintf(err, errlen, "out of memory");
		return -ENOMEM;
	}
	c->s.o.results.dir = p->dir;
	if (!c->s.o.results.record)
		c->s.o.results.record = p->record;
	head = make_head(c);
	p->log = shard_log_open(p->dir, head, &p->old, err, errlen);
	json_object_put(head);
	if (!p->log)
		return -EINVAL;
	if (o->shard_variable)
		session_say(&c->s, "shard %u of %u, by %s", o->shard, o->shards, o->shard_variable);
	snprintf(err, errlen, "out of memory");
	/* a prologue that was not finished begins again */
	if (p->old && !p->old->frozen && !p->old->complete) {
		shard_free(p->old);
		p->old = NULL;
		if (shard_log_restart(p->log))
			return -EIO;
	}
	note_old_prologue(p);
	if (know_findings(c))
		return -ENOMEM;
	return p->old && p->old->complete;
}

void campaign_parts_close(struct campaign *c)
{
	struct campaign_parts *p = &c->parts;

	shard_log_close(p->log);
	shard_free(p->old);
	free(p->done);
	free(p->owner);
	free(p->dir);
	free(p->record);
	*p = (struct campaign_parts){ 0 };
}

/* ---- freezing ---- */

static uint64_t division_hash(const struct search *s)
{
	uint64_t h = 1;

	for (uint64_t i = 0; search_divides(s) && i < search_parts(s); i++) {
		struct search_subtree t = search_subtree(s, i);

		h = mix64(h + t.nr);
		for (uint32_t k = 0; k < t.nr; k++)
			h = mix64(h + t.choices[k]);
	}
	return h;
}

static struct json_object *make_frozen(const struct campaign *c)
{
	struct json_object *o = json_object_new_object();
	const struct search *s = c->s.search;
	char hash[24];

	json_add_number(o, "executions", c->s.figures.executions);
	json_add_number(o, "subtrees", search_divides(s) ? search_parts(s) : 0);
	json_add_number(o, "bounds", search_max_bound(s));
	json_add_number(o, "cut", search_divides(s) && search_division_cut(s));
	snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)division_hash(s));
	json_add_text(o, "division", hash);
	json_add_number(o, "tasks", c->s.spawn.nr);
	json_object_object_add(o, "points", options_object(c->s.options_json));
	return o;
}

/* The parts that an earlier run has made. */
static void note_done(struct campaign_parts *p)
{
	for (uint64_t i = 0; p->old && i < p->old->nr_parts; i++) {
		const struct shard_part *d = &p->old->parts[i];

		if (d->part >= p->nr || p->done[d->part] > d->bound + 1)
			continue;
		p->done[d->part] = d->bound + 1;
		if (!d->cut)
			p->done[d->part] = UINT32_MAX;
	}
	for (uint64_t i = 0; p->old && !p->owner && i < p->old->nr_executions; i++) {
		int64_t part = p->old->executions[i].part;

		if (part >= 0 && (uint64_t)part < p->nr)
			p->done[part] = UINT32_MAX;
	}
}

/* Who makes which subtree. */
static int share_subtrees(struct campaign *c)
{
	struct campaign_parts *p = &c->parts;
	double *size = calloc(p->nr + 1, sizeof(*size));
	int ret = -ENOMEM;

	p->owner = calloc(p->nr + 1, sizeof(*p->owner));
	for (uint64_t i = 0; size && i < p->nr; i++)
		size[i] = search_subtree(c->s.search, i).size;
	if (size && p->owner)
		ret = search_share(size, p->nr, c->s.o.search.shards, p->owner);
	free(size);
	return ret;
}

/* What the parts of a strategy that samples are: the executions that are left. Without a bound there is always a next. */
static uint64_t executions_left(const struct campaign *c)
{
	uint64_t all = c->s.o.search.executions, made = c->s.figures.executions;

	if (!all && c->parts.old)
		all = c->parts.old->nr_executions + made;
	return all > made ? all - made : 0;
}

static int begin_parts(struct campaign *c, char *err, size_t errlen)
{
	struct campaign_parts *p = &c->parts;
	bool divides = search_divides(c->s.search);
	struct json_object *frozen;
	char what[400];
	int ret = 0;

	p->prologue = c->s.figures.executions;
	p->unbounded = !divides && !c->s.o.search.executions;
	p->nr = divides ? search_parts(c->s.search) : executions_left(c);
	if (p->unbounded)
		p->nr = p->old ? p->old->nr_executions * (uint64_t)c->s.o.search.shards : 0;
	p->done = calloc(p->nr + 1, sizeof(*p->done));
	if (!p->done || (divides && share_subtrees(c))) {
		snprintf(err, errlen, "out of memory");
		return -ENOMEM;
	}
	note_done(p);
	p->tasks = c->s.spawn.nr;
	p->max_bound = search_max_bound(c->s.search);
	frozen = make_frozen(c);
	if (p->old && shard_differs(p->old->frozen, frozen, what, sizeof(what))) {
		snprintf(err, errlen, "%s was begun with another prologue: %s; the test depends on something that is not "
			 "controlled: zug check says on what", p->dir, what);
		ret = -EIO;
	}
	if (p->old)
		json_object_put(frozen);
	else if (p->log)
		shard_log_frozen(p->log, frozen);
	else
		json_object_put(frozen);
	return ret;
}

/* 1: frozen; 0: the points have changed by what was learnt last, and the prologue goes on; -errno with a line in err. */
static int freeze(struct campaign *c, char *err, size_t errlen)
{
	bool systematic = search_divides(c->s.search);
	int ret;

	c->s.frozen = true;
	ret = points_learn(c->points, POINTS_SEARCHING, err, errlen);
	if (ret > 0 && systematic) {
		c->s.frozen = c->parts.dividing = false;
		return session_restart(&c->s, err, errlen);
	}
	if (ret > 0)
		ret = search_renew(c->s.search);
	if (ret < 0)
		return ret;
	if (search_freeze(c->s.search)) {
		snprintf(err, errlen, "the search cannot be made in parts");
		return -ENOTRECOVERABLE;
	}
	ret = begin_parts(c, err, errlen);
	return ret ? ret : 1;
}

/* ---- the plan ---- */

static int take_plan(struct campaign *c, char *err, size_t errlen)
{
	struct plan *plan = plan_read(c->s.o.search.plan, err, errlen);
	int ret;

	if (!plan)
		return -EINVAL;
	ret = search_set_division(c->s.search, plan->list, plan->nr, plan->cut);
	plan_free(plan);
	if (ret)
		snprintf(err, errlen, "--plan: %s", ret == -EINVAL ? "the strategy does not try everything: only dfs, dpor, "
			 "preemption and delay have subtrees" : strerror(-ret));
	return ret;
}

/* The division of an exhaustive search: planned before, or made now. 1: it can be frozen; 0: it is being made. */
static int divide(struct campaign *c, char *err, size_t errlen)
{
	const struct options_search *o = &c->s.o.search;
	uint32_t wanted = o->subtrees ? o->subtrees : PARTS_SUBTREES;
	int ret;

	if (c->parts.dividing)
		return 0;
	if (o->plan && o->shards) {
		ret = take_plan(c, err, errlen);
		return ret ? ret : 1;
	}
	if (!o->subtrees && o->shards > PARTS_SUBTREES / PARTS_SUBTREES_EACH)
		wanted = o->shards * PARTS_SUBTREES_EACH;
	c->parts.dividing = true;
	ret = search_divide(c->s.search, wanted);
	if (ret)
		snprintf(err, errlen, "the search cannot be divided: %s", strerror(-ret));
	return ret;
}

/* ---- the parts ---- */

static bool is_mine(const struct campaign *c, uint64_t part)
{
	const struct campaign_parts *p = &c->parts;
	uint32_t own = c->s.o.search.shard - 1;

	return p->owner ? p->owner[part] == own : part % c->s.o.search.shards == own;
}

static bool is_done(const struct campaign_parts *p, uint64_t part)
{
	return part < p->nr && p->done[part] > p->bound;
}

/* The next part: 1; 0: there is none. */
static int find_next(struct campaign *c)
{
	struct campaign_parts *p = &c->parts;

	for (;; p->next++) {
		if (p->next >= p->nr && !p->unbounded) {
			if (!p->owner || p->bound >= p->max_bound)
				return 0;
			p->bound++;
			p->next = 0;
			if (!p->nr)
				return 0;
		}
		if (is_mine(c, p->next) && !is_done(p, p->next))
			return 1;
	}
}

void campaign_parts_over(struct campaign *c, const struct search_part_end *e)
{
	struct campaign_parts *p = &c->parts;

	p->inside = false;
	if (p->part < p->nr)
		p->done[p->part] = e->cut ? p->bound + 1 : UINT32_MAX;
	if (p->owner && p->log)
		shard_log_part(p->log, &(struct shard_part){ .part = p->part, .bound = p->bound, .cut = e->cut,
							     .incomplete = e->incomplete });
	p->next = p->part + 1;
}

static void part_over(struct campaign *c)
{
	struct search_part_end e;

	search_part_end(c->s.search, &e);
	campaign_parts_over(c, &e);
}

/* Everything that the executions of a part have in common. SEARCH_GO, SEARCH_EXHAUSTED or -errno. */
static int enter(struct campaign *c, uint64_t part)
{
	struct campaign_parts *p = &c->parts;
	int ret;

	p->part = c->s.part = part;
	p->n = 0;
	ret = search_enter(c->s.search, part, p->bound);
	if (ret != SEARCH_GO)
		return ret;
	p->inside = true;
	/* numbers of tasks that the prologue has not seen are each part's own */
	spawn_forget(&c->s.spawn, p->tasks);
	c->s.skipped = p->owner ? 0 : p->prologue + part - c->s.figures.executions;
	return SEARCH_GO;
}

int campaign_parts_go(struct campaign *c, uint64_t part, uint32_t bound)
{
	c->parts.bound = bound;
	return enter(c, part);
}

bool campaign_parts_after(const struct campaign *c, uint64_t *part)
{
	const struct campaign_parts *p = &c->parts;

	for (; *part < p->nr || p->unbounded; (*part)++)
		if (is_mine(c, *part) && !is_done(p, *part))
			return true;
	return false;
}

/* 1, 0 or -errno as campaign_parts_enter(). */
static int enter_next(struct campaign *c, char *err, size_t errlen)
{
	struct campaign_parts *p = &c->parts;
	int ret;

	while (find_next(c)) {
		ret = enter(c, p->next);
		if (ret == SEARCH_GO) {
			p->deepest = p->bound;
			return 1;
		}
		if (ret < 0) {
			snprintf(err, errlen, "part %llu cannot be entered: %s", (unsigned long long)p->part, strerror(-ret));
			return -ENOTRECOVERABLE;
		}
		part_over(c);
	}
	p->over = true;
	return 0;
}

int campaign_parts_enter(struct campaign *c, char *err, size_t errlen)
{
	struct campaign_parts *p = &c->parts;
	int ret;

	if (!c->s.o.search.shards && !c->s.o.search.subtrees)
		return 1;
	if (!c->s.frozen && c->s.exhausted)
		return 1;
	if (!c->s.frozen) {
		if (search_divides(c->s.search))
			ret = divide(c, err, errlen);
		else
			ret = c->s.figures.executions >= PARTS_PROLOGUE;
		if (ret > 0)
			ret = freeze(c, err, errlen);
		if (ret <= 0)
			return ret < 0 ? ret : 1;
	}
	return p->inside ? 1 : enter_next(c, err, errlen);
}

int campaign_parts_leave(struct campaign *c, char *err, size_t errlen)
{
	struct campaign_parts *p = &c->parts;
	int ret;

	if (c->s.frozen && p->inside) {
		part_over(c);
		return 1;
	}
	if (!p->dividing || c->s.frozen)
		return 0;
	/* zug plan: the division is what was wanted */
	if (!c->s.o.search.shards) {
		p->over = true;
		return 0;
	}
	ret = freeze(c, err, errlen);
	return ret < 0 ? ret : 1;
}

void campaign_parts_renew(struct campaign *c)
{
	c->parts.dividing = false;
}

void campaign_parts_note(struct campaign *c)
{
	search_hashes(c->s.search, &c->parts.class, &c->parts.schedule);
}

uint64_t campaign_parts_left(const struct campaign *c)
{
	const struct campaign_parts *p = &c->parts;

	if (!c->s.frozen || p->unbounded || p->owner)
		return UINT64_MAX;
	return p->nr > p->next ? (p->nr - p->next) / c->s.o.search.shards + 1 : p->inside;
}

void campaign_parts_stats(const struct campaign *c, struct search_stats *st)
{
	const struct campaign_parts *p = &c->parts;

	if (!c->s.frozen || !p->owner)
		return;
	st->bound = p->max_bound ? p->bound : UINT32_MAX;
	st->bound_done = UINT32_MAX;
	st->unbounded = false;
	/* a shard does not know of the others */
	if (!c->s.o.search.alone || !p->max_bound)
		return;
	if (c->exhausted) {
		st->unbounded = !search_division_cut(c->s.search);
		for (uint64_t i = 0; i < p->nr; i++)
			st->unbounded &= p->done[i] == UINT32_MAX;
		st->bound_done = st->unbounded ? p->deepest : p->max_bound;
	} else if (p->bound) {
		st->bound_done = p->bound - 1;
	}
}

/* ---- the log ---- */

static char result_of(enum search_result r)
{
	return r == SEARCH_PASS ? 'p' : r == SEARCH_FAIL ? 'f' : r == SEARCH_DIVERGED ? 'd' : 'a';
}

void campaign_parts_finding(struct campaign *c, const struct campaign_failure *f, bool once)
{
	struct campaign_parts *p = &c->parts;
	const char *slash = f->trace ? strrchr(f->trace, '/') : NULL;

	if (!p->log || (p->old && !c->s.frozen))
		return;
	shard_log_finding(p->log, &(struct shard_finding){
		.part = c->s.frozen ? (int64_t)p->part : SHARD_PROLOGUE, .bound = c->s.frozen ? p->bound : 0,
		.n = c->s.frozen ? p->n : c->s.figures.executions - 1, .number = f->first, .failure = f->failure,
		.once = once, .kind = (char *)zug_outcome_name(f->kind), .message = f->message,
		.trace = slash ? (char *)slash + 1 : f->trace });
}

/* The prologue of an earlier run: this one has to be the same. */
static int compare(const struct campaign_parts *p, const struct shard_execution *x, char *err, size_t errlen)
{
	const struct shard_execution *y = x->n < p->old_prologue ? &p->old->executions[x->n] : NULL;

	if (y && (x->result == 'a' || y->result == 'a' ||
		  (y->class == x->class && y->schedule == x->schedule && y->result == x->result)))
		return 0;
	snprintf(err, errlen, "execution %llu of the prologue is not the one that %s was begun with: the test depends on "
		 "something that is not controlled; zug check says on what", (unsigned long long)x->n + 1, p->dir);
	return -EIO;
}

static int log_error(const struct campaign_parts *p, char *err, size_t errlen)
{
	int ret = shard_log_error(p->log);

	if (ret)
		snprintf(err, errlen,
			 "%s/log: cannot write: %s; what is there counts, and the shard goes on from there when it "
			 "is run again",
			 p->dir, strerror(-ret));
	return ret ? -EIO : 0;
}

int campaign_parts_executed(struct campaign *c, const struct execution *x, char *err, size_t errlen)
{
	struct campaign_parts *p = &c->parts;
	struct shard_execution e = {
		.part = c->s.frozen ? (int64_t)p->part : SHARD_PROLOGUE, .bound = c->s.frozen ? p->bound : 0,
		.n = c->s.frozen ? p->n++ : c->s.figures.executions - 1, .result = result_of(campaign_verdict(x)),
		.class = p->class, .schedule = p->schedule, .failure = x->outcome.failure, .steps = x->steps,
		.preemptions = x->preemptions, .ns = x->wall_ns,
	};

	if (!c->s.o.search.shards)
		return 0;
	/* cut by the user or the time: it is made again */
	if (x->outcome.kind == ZUG_OUTCOME_INTERRUPTED)
		return 0;
	if (p->old && !c->s.frozen)
		return compare(p, &e, err, errlen);
	if (p->log)
		shard_log_execution(p->log, &e);
	if (c->s.frozen && !p->owner)
		part_over(c);
	return p->log ? log_error(p, err, errlen) : 0;
}

int campaign_parts_end(struct campaign *c, const char *why, bool complete, char *err, size_t errlen)
{
	if (!c->parts.log)
		return 0;
	shard_log_end(c->parts.log, why, complete);
	return log_error(&c->parts, err, errlen);
}
