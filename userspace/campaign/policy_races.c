/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Data races: two tasks that stand before the same data at the same time, one of them about to
 * write. Nothing orders them then, whatever the program's synchronisation is made of: either may go
 * first, now.
 *
 * race_at() looks at every step, while races are wanted (o.failure.race); a race ends the
 * execution. It is a finding with --fail-on-race. Otherwise its trace is kept, it becomes a warning
 * in the race book, and the execution counts as a pass.
 *
 * Where a race is only to be a warning it shall not take an execution from the search, which may
 * fail yet because of it. So the execution goes on (race_book.noting), and is followed once more up
 * to the race.
 *
 * A race of a free() is noted in every execution of the search: programs often do not fail for that.
 * That takes no more than what the labels say, and no lease is ended for it. It is a finding, and no
 * warning: a task stands before an access to the block, and makes it whatever comes before, and the
 * other may free the block now. So a schedule with a use after free is known, and needs no trial.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/base/new_file.h"
#include "search/identity.h"
#include "search/ranges.h"
#include "search/script.h"
#include "campaign/access.h"
#include "campaign/policy.h"

struct races {
	struct session *s;
	struct race_book *book;
	enum campaign_race_kind kind; /* of the race that ended the last execution, and its data */
	char object[256];
	bool freed;			/* one of the two frees the block */
	uint64_t noted;			/* the race that this execution goes on behind; 0: none */
	unsigned int nr_lost;		/* noted ones of a free() that did not come when they were followed */
	char **known;			/* for replays */
	char only[17];			/* the same */
};

static int open_races(void *state, struct session *s, struct race_book *races, char *err,
		      size_t errlen)
{
	struct races *r = state;

	r->s = s;
	r->book = races;
	return 0;
}

static void free_known(struct races *r)
{
	for (char **p = r->known; p && *p; p++)
		free(*p);
	free(r->known);
}

static void release_races(void *state)
{
	struct races *r = state;

	free_known(r);
}

/* ---- seeing one ---- */

static bool is_data(const struct zug_label *l)
{
	return (l->op == ZUG_OP_DATA_READ || l->op == ZUG_OP_DATA_WRITE) && l->object;
}

/* What it stands before is an access to memory. */
static bool accesses(const struct zug_label *l)
{
	return is_data(l) || zug_op_is_atomic(l->op) || zug_op_is_sync(l->op);
}

static bool frees(const struct zug_label *l)
{
	return l->flags & ZUG_L_FREES;
}

/* Both access data; or one frees memory, and the other uses it in any way. */
static bool may_clash(const struct zug_label *a, const struct zug_label *b)
{
	return (is_data(a) && is_data(b)) || (frees(a) && accesses(b)) || (frees(b) && accesses(a));
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
			const struct range rx = { x->space, x->addr, x->size },
					   ry = { y->space, y->addr, y->size };

			if (!(x->write | y->write) || x->later || y->later || !range_overlap(&rx, &ry))
				continue;
			*what = (struct clash){ x, y };
			return true;
		}
	return false;
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

static bool suppressed(struct races *r, const char *object, const uint32_t *tasks)
{
	char **globs = r->s->o.failure.suppressions;
	struct trace_frame frames[2][64];
	struct world *w = r->s->world;
	int nr[2] = { 0 };

	if (!globs || !globs[0])
		return false;
	for (int t = 0; t < 2; t++)
		nr[t] = w->ops->stack(w, &w->tasks[tasks[t]], frames[t], 64);
	for (unsigned int i = 0; globs[i]; i++) {
		bool hit = glob(globs[i], object);

		for (int t = 0; t < 2; t++)
			for (int f = 0; f < nr[t] && !hit; f++)
				hit = frame_matches(globs[i], &frames[t][f]);
		if (hit) {
			r->book->used[i] = true;
			r->book->nr_suppressed++;
			return true;
		}
	}
	return false;
}

/* The value that a task is about to store; false: unknown, or no plain store. */
static bool stores(struct session *s, uint32_t task, const struct zug_label *l, uint64_t *value)
{
	uint64_t regs[18], offset;
	const struct probe_module *m = session_module_at(s, l->site, &offset);
	const struct code_place *p = m && m->code ? code_find(m->code, offset) : NULL;
	uint8_t bytes[16];
	bool known;
	int fd;

	if (!p || l->op != ZUG_OP_DATA_WRITE ||
	    s->world->inspection->registers(s->world, &s->world->tasks[task], regs))
		return false;
	fd = open(m->path, O_RDONLY | O_CLOEXEC);
	known = fd >= 0 && pread(fd, bytes, p->len, p->offset) == p->len &&
		!code_stored_value(p, bytes, p->len, regs, value);
	if (fd >= 0)
		close(fd);
	return known;
}

static const struct code_place *instruction(const struct session *s, uint64_t site,
					    const struct probe_module **module)
{
	uint64_t offset = 0;
	const struct probe_module *m = *module = session_module_at(s, site, &offset);

	return m && m->file && m->code ? code_find(m->code, offset) : NULL;
}

static bool is_copy(const struct session *s, uint64_t site)
{
	const struct probe_module *m;
	const struct code_place *p = instruction(s, site, &m);

	return p && (p->kind == CODE_STRING || p->kind == CODE_BLOCK);
}

/*
 * The type of what it accesses is _Atomic: then all accesses are atomic, also where no word in the
 * source tells.
 */
static bool is_atomic_type(const struct session *s, uint64_t site, uint64_t object)
{
	const struct probe_module *m;
	const struct code_place *p = instruction(s, site, &m);
	uint64_t vaddr;

	if (!p)
		return false;
	if (code_static_operand(m->code, p, &vaddr))
		return symfile_is_atomic(m->file, vaddr);
	/* an element of an array is of the type of the first one, which is what the pointer leads to without the index */
	return places_is_atomic(s->places, object) ||
	       symfile_pointee_is_atomic(m->file, p->offset, code_dwarf_register(p->base), p->disp);
}

/* A place that is not in the catalogue accesses a watched variable. */
static enum symsays says(const struct session *s, uint64_t site)
{
	const struct probe_module *m;
	const struct code_place *p = instruction(s, site, &m);

	return p ? access_says(m, p) : SYMSAYS_PLAIN;
}

/* Whether two accesses are a data race. PLAIN: they are; ATOMIC: they are not; UNKNOWN. */
static enum symsays judge(const struct session *s, uint64_t a, uint64_t b, const struct clash *on)
{
	enum symsays one = says(s, a), two = says(s, b);

	if (one == SYMSAYS_ATOMIC && two == SYMSAYS_ATOMIC)
		return SYMSAYS_ATOMIC;
	if (!is_copy(s, a) && !is_copy(s, b) && (is_atomic_type(s, a, on->a->object) || is_atomic_type(s, b, on->b->object)))
		return SYMSAYS_ATOMIC;
	return one == SYMSAYS_PLAIN || two == SYMSAYS_PLAIN ? SYMSAYS_PLAIN : SYMSAYS_UNKNOWN;
}

static enum campaign_race_kind kind_of(struct races *r, uint64_t id,
				       const struct search_cand *const *pair,
				       const struct clash *on, bool sure)
{
	uint64_t value[2];

	if (race_book_is_counter(r->book, id))
		return RACE_COUNTER;
	if (on->a->addr == on->b->addr && on->a->size == on->b->size &&
	    stores(r->s, pair[0]->task, &pair[0]->label, &value[0]) &&
	    stores(r->s, pair[1]->task, &pair[1]->label, &value[1]) && value[0] == value[1])
		return RACE_SAME_VALUE;
	return sure ? RACE_REAL : RACE_POSSIBLE;
}

/* What a task is about to do with it. */
static const char *verb(const struct zug_label *l, const struct world_access *a)
{
	return a->frees ? "free" : !is_data(l) ? "use" : a->write ? "write" : "read";
}

/* A race of a free() is an error of its own name, whichever of the two comes first. */
static const char *of_what(const struct clash *on)
{
	return on->a->frees && on->b->frees ? "double free of " :
	       on->a->frees || on->b->frees ? "use after free of " : "";
}

/* stdout, which fclose() closes, is static: it is none of those that go back to the allocator. */
static bool frees_block(const struct races *r, const struct zug_label *l, const struct world_access *a)
{
	const struct place_object *o = places_find_object(r->s->places, a->object);

	return frees(l) && !(o && o->fixed);
}

/* The identity of the race of candidates i and k, who both stand before the same memory; 0: there is none, or it is known. */
static uint64_t new_race(const struct races *r, const struct search_point *p, uint32_t i, uint32_t k, struct clash *on)
{
	const struct search_cand *me = &p->cand[i], *other = &p->cand[k];
	const struct world_task *tasks = r->s->world->tasks;
	uint64_t id;

	if (k == i || !may_clash(&me->label, &other->label) || tasks[other->task].state != TASK_PARKED ||
	    !clash(&tasks[me->task], &tasks[other->task], on))
		return 0;
	id = identity_race(me->label.site, other->label.site);
	return race_book_knows(r->book, id) ? 0 : id;
}

static bool race_at(struct races *r, const struct search_point *p, uint32_t i, struct outcome *o)
{
	const struct search_cand *me = &p->cand[i];
	char place[2][256];

	for (uint32_t k = 0; accesses(&me->label) && k < p->nr; k++) {
		const struct search_cand *other = &p->cand[k], *const pair[2] = { me, other };
		uint32_t tasks[2] = { me->task, other->task };
		enum symsays verdict;
		struct clash on;
		uint64_t id = new_race(r, p, i, k, &on);

		/* an execution that is followed up to a race goes on behind others */
		if (!id || (r->book->only && id != r->book->only))
			continue;
		verdict = judge(r->s, me->label.site, other->label.site, &on);
		if (verdict == SYMSAYS_ATOMIC) {
			race_book_know(r->book, id);
			continue;
		}
		if (on.b->size < on.a->size)
			session_data_text(r->s, on.b->object, other->label.site, r->object,
					  sizeof(r->object));
		else
			session_data_text(r->s, on.a->object, me->label.site, r->object,
					  sizeof(r->object));
		r->kind = kind_of(r, id, pair, &on, verdict == SYMSAYS_PLAIN);
		if (suppressed(r, r->object, tasks) || (r->kind != RACE_REAL && r->book->scanned)) {
			race_book_know(r->book, id);
			continue;
		}
		if (!r->s->o.failure.race) {
			r->noted = id;
			r->s->keep_passes = true;
			return false;
		}
		for (int t = 0; t < 2; t++)
			session_place_text(r->s, pair[t]->label.site, place[t], sizeof(place[t]));
		outcome_set(
			o, ZUG_OUTCOME_RACE,
			"%s%s: T%u is about to %s it in %s, T%u to %s it in %s, and nothing orders "
			"them%s",
			of_what(&on), r->object, tasks[0], verb(&me->label, on.a), place[0], tasks[1], verb(&other->label, on.b),
			place[1],
			verdict == SYMSAYS_PLAIN ?
				"" :
				"; no race if both are atomic, which cannot be told without the sources");
		r->freed = frees_block(r, &me->label, on.a) || frees_block(r, &other->label, on.b);
		o->failure = id;
		o->racing[0] = tasks[0];
		o->racing[1] = tasks[1];
		return true;
	}
	return false;
}

/* Candidate i, or what stands before the same memory, frees that. */
static void note_free(struct races *r, const struct search_point *p, uint32_t i)
{
	const struct zug_label *mine = &p->cand[i].label;
	struct clash on;

	if (!r->s->world->frees)
		return;
	for (uint32_t k = 0; accesses(mine) && !r->noted && k < p->nr; k++) {
		if (!frees(mine) && !frees(&p->cand[k].label))
			continue;
		r->noted = new_race(r, p, i, k, &on);
		r->s->keep_passes |= r->noted != 0;
	}
}

/* ---- the policy ---- */

/* So many races of a free() that were noted need not come when they are followed: the test does not repeat, then. */
#define LOST_MOST 8

/* In an execution of the search, also one that holds tasks: none that looks, and none whose result is wanted. */
static bool notes_frees(const struct races *r)
{
	const struct session *s = r->s;

	return s->sampled && !s->aside && !s->frozen && !s->one_by_one && !r->book->scanning && !r->noted &&
	       r->nr_lost < LOST_MOST;
}

static bool is_noting(const struct races *r)
{
	return r->book->noting && !r->noted && !r->s->aside;
}

/*
 * The search goes on behind a use after free that was a finding (--keep-going). A script is followed more than once to see
 * whether it fails each time.
 */
static void begin(void *state, bool *apart)
{
	struct races *r = state;

	r->noted = 0;
	if (!r->book->only || r->s->aside || session_only_follows(r->s))
		return;
	if (!search_script_lines(r->s->search))
		race_book_know(r->book, r->book->only);
	r->book->only = 0;
	r->s->o.failure.race = r->book->fail;
}

static bool on_step(void *state, const struct search_point *p, uint32_t i, struct outcome *o)
{
	struct races *r = state;

	if (r->s->o.failure.race || is_noting(r))
		return race_at(r, p, i, o);
	if (notes_frees(r))
		note_free(r, p, i);
	return false;
}

static bool looks(void *state)
{
	struct races *r = state;

	return r->s->o.failure.race || is_noting(r);
}

/* Adds the race that ended the last execution to the warnings, with its trace. */
static int keep(struct races *r, const struct execution *x, char *err, size_t errlen)
{
	struct race_book *b = r->book;
	struct campaign_race *race;
	char *path;

	for (unsigned int i = 0; i < b->nr; i++)
		if (b->list[i].race == x->outcome.failure)
			return 0;
	path = session_trace_name(r->s, "race.", err, errlen);
	if (!path)
		return -EIO;
	if (!ARRAY_RESERVE(b->list, b->room, b->nr + 1) ||
	    session_keep_trace(r->s, path, err, errlen)) {
		new_file_unlink(path);
		free(path);
		return -EIO;
	}
	race = &b->list[b->nr];
	*race = (struct campaign_race){ .race = x->outcome.failure,
					.kind = r->kind,
					.object = strdup(r->object),
					.message = strdup(x->outcome.message),
					.trace = path };
	if (!race->object || !race->message)
		return -ENOMEM;
	b->nr++;
	/* what others have found may not be known */
	if (!r->s->frozen)
		race_book_know(b, x->outcome.failure);
	return 0;
}

/* Whether the race that ended the last execution is a finding without --fail-on-race, where one ends a search. */
static bool is_use_after_free(const struct races *r)
{
	return r->freed && r->kind == RACE_REAL && !r->s->one_by_one;
}

/* From now on the executions of this finding, its replays and trials, end at that race, and at no other. */
static int look_for(struct races *r, uint64_t race, char *err, size_t errlen)
{
	r->book->only = race;
	r->s->o.failure.race = race || r->book->fail;
	return r->s->update_options(r->s->judge_ctx, err, errlen);
}

/* Follows that trace up to the race that was noted. x: what came; its outcome is that race, or it did not come. */
static int follow_to_race(struct races *r, const char *path, struct execution *x, char *err, size_t errlen)
{
	struct session *s = r->s;
	struct trace *t = trace_open(path, err, errlen);
	struct replay schedule = { 0 };
	int ret = -EIO;

	s->aside = ASIDE_REPLAY;
	if (t && !replay_init(&schedule, t) && !look_for(r, r->noted, err, errlen))
		ret = session_follow(s, &schedule, x, err, errlen);
	s->aside = ASIDE_NOT;
	replay_release(&schedule);
	trace_free(t);
	return ret;
}

/*
 * A race that was noted becomes the outcome of the execution x, if that has none and it is a use after free; else it
 * becomes a warning, and the trace of x is the current one again.
 */
static int confirm_noted(struct races *r, struct execution *x, char *err, size_t errlen)
{
	const char *current = r->s->paths.current;
	struct execution followed;
	char *aside = NULL;
	int ret = -EIO;

	if (asprintf(&aside, "%s.noted", current) < 0 || new_file_rename(current, aside))
		snprintf(err, errlen, "cannot rename the trace %s: %s", current, strerror(errno));
	else
		ret = follow_to_race(r, aside, &followed, err, errlen);
	if (!ret && followed.outcome.kind == ZUG_OUTCOME_RACE && followed.outcome.failure == r->noted) {
		if (x->outcome.kind == ZUG_OUTCOME_PASS && is_use_after_free(r)) {
			*x = followed;
			new_file_unlink(aside);
			free(aside);
			return 0;
		}
		ret = keep(r, &followed, err, errlen);
	} else {
		r->nr_lost += !r->book->noting;
	}
	ret = ret ? ret : look_for(r, 0, err, errlen);
	if (aside && new_file_rename(aside, current) && !ret) {
		snprintf(err, errlen, "cannot rename the trace %s: %s", aside, strerror(errno));
		ret = -EIO;
	}
	free(aside);
	return ret;
}

static int after(void *state, enum points_phase phase, struct execution *x, char *err,
		 size_t errlen)
{
	struct races *r = state;
	int ret;

	if (r->noted)
		return x->diverged || x->ungranted ? 0 : confirm_noted(r, x, err, errlen);
	if (x->outcome.kind != ZUG_OUTCOME_RACE)
		return 0;
	if (is_use_after_free(r))
		return look_for(r, x->outcome.failure, err, errlen);
	if (r->book->fail && r->kind == RACE_REAL)
		return 0;
	ret = keep(r, x, err, errlen);
	outcome_set(&x->outcome, ZUG_OUTCOME_PASS, "%s", "");
	return ret;
}

static int lists(void *state, struct options_replay *l)
{
	struct races *r = state;

	free_known(r);
	r->known = race_book_list(r->book);
	l->races = r->known;
	snprintf(r->only, sizeof(r->only), "%lx", (unsigned long)r->book->only);
	l->race = r->book->only ? r->only : NULL;
	return r->known ? 0 : -ENOMEM;
}

const struct point_policy policy_races = {
	.size = sizeof(struct races), .open = open_races, .release = release_races,
	.begin = begin, .on_step = on_step, .looks = looks, .after = after, .lists = lists,
};
