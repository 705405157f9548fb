/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the shards of a search, checks that they are of one, and counts (merge.h). */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "report/merge.h"

/* The end of a shard that ended with its first finding. */
#define FOUND "a finding"

/* ---- reading ---- */

static enum merge_end read_one(struct merge *m, const char *dir, char *err, size_t errlen)
{
	char *real = realpath(dir, NULL);
	struct shard *s;

	for (unsigned int i = 0; real && i < m->nr_owned; i++) {
		char *known = realpath(m->owned[i]->dir, NULL);
		bool same = known && !strcmp(known, real);

		free(known);
		if (same) {
			free(real);
			return MERGE_GOOD;
		}
	}
	free(real);
	if (shard_is_empty(dir)) {
		if (!ARRAY_RESERVE(m->empty, m->room_empty, m->nr_empty + 1) || !(m->empty[m->nr_empty] = strdup(dir)))
			return MERGE_NO_MEMORY;
		m->nr_empty++;
		return MERGE_GOOD;
	}
	s = shard_read(dir, err, errlen);
	if (!s)
		return MERGE_REFUSED;
	if (!ARRAY_RESERVE(m->owned, m->room_owned, m->nr_owned + 1)) {
		shard_free(s);
		return MERGE_NO_MEMORY;
	}
	m->owned[m->nr_owned++] = s;
	return MERGE_GOOD;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

static int is_shard_name(const struct dirent *e)
{
	return !strncmp(e->d_name, "shard-", 6);
}

static enum merge_end read_folder(struct merge *m, const char *dir, char *err, size_t errlen)
{
	enum merge_end end = MERGE_GOOD;
	struct dirent **names = NULL;
	char path[PATH_MAX];
	unsigned int found = 0;
	int nr;

	if (shard_is_one(dir))
		return read_one(m, dir, err, errlen);
	nr = scandir(dir, &names, is_shard_name, by_name);
	if (nr < 0) {
		snprintf(err, errlen, "%s: %s", dir, strerror(errno));
		return MERGE_REFUSED;
	}
	for (int i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
		if (end == MERGE_GOOD && shard_is_one(path)) {
			end = read_one(m, path, err, errlen);
			found++;
		}
		free(names[i]);
	}
	free(names);
	if (found)
		return end;
	snprintf(err, errlen, "%s has no shard in it: no file log, and no folder shard-K-of-N with one", dir);
	return MERGE_REFUSED;
}

/* ---- are they of one search ---- */

static enum merge_end check_heads(const struct merge *m, char *err, size_t errlen)
{
	const struct shard *first = m->owned[0], *s;
	char what[400];

	for (unsigned int i = 1; i < m->nr_owned; i++) {
		s = m->owned[i];
		if (!shard_differs(first->head, s->head, what, sizeof(what)))
			continue;
		snprintf(err, errlen, "%s and %s are shards of different searches: %s", first->dir, s->dir, what);
		return MERGE_REFUSED;
	}
	return MERGE_GOOD;
}

static const char *trace_of(const struct shard *s, uint64_t failure)
{
	for (uint64_t i = 0; i < s->nr_findings; i++)
		if (s->findings[i].failure == failure && s->findings[i].trace)
			return s->findings[i].trace;
	return NULL;
}

static const char *result_name(char result)
{
	return result == 'p' ? "passed" : result == 'f' ? "failed" : result == 'd' ? "left its schedule" : "was cut";
}

/* " (trace: DIR/NAME)", or nothing. */
static const char *trace_text(const struct shard *s, const struct shard_execution *x, char *buf, size_t len)
{
	const char *trace = x->failure ? trace_of(s, x->failure) : NULL;

	buf[0] = 0;
	if (trace)
		snprintf(buf, len, " (trace: %s/%s)", s->dir, trace);
	return buf;
}

static void place_text(const struct shard_execution *x, char *buf, size_t len)
{
	if (x->part == SHARD_PROLOGUE)
		snprintf(buf, len, "execution %" PRIu64 " of the prologue", x->n + 1);
	else if (x->bound || x->n)
		snprintf(buf, len, "execution %" PRIu64 " of part %" PRId64 " under bound %u", x->n + 1, x->part, x->bound);
	else
		snprintf(buf, len, "the first execution of part %" PRId64, x->part);
}

/* What was cut by the time or the user says nothing. */
static bool agree(const struct shard_execution *x, const struct shard_execution *y)
{
	return x->result == 'a' || y->result == 'a' ||
	       (x->result == y->result && x->class == y->class && x->schedule == y->schedule && x->failure == y->failure);
}

static enum merge_end diverged(const struct shard *a, const struct shard_execution *x, const struct shard *b,
			       const struct shard_execution *y, char *err, size_t errlen)
{
	char trace_a[PATH_MAX], trace_b[PATH_MAX], place[120];

	place_text(x, place, sizeof(place));
	snprintf(err, errlen,
		 "%s diverged: in %s it %s%s after %" PRIu64 " steps, in %s it %s%s after %" PRIu64
		 "%s; the test depends on something that is not controlled: zug check says on what",
		 place, a->dir, result_name(x->result), trace_text(a, x, trace_a, sizeof(trace_a)), x->steps, b->dir,
		 result_name(y->result), trace_text(b, y, trace_b, sizeof(trace_b)), y->steps,
		 x->schedule == y->schedule ? "" : ", in another order");
	return MERGE_DIVERGED;
}

static int in_order(const void *a, const void *b)
{
	const struct shard_execution *x = a, *y = b;

	if (x->bound != y->bound)
		return x->bound < y->bound ? -1 : 1;
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return x->n < y->n ? -1 : x->n > y->n;
}

/* What both have made must have come to the same. Their executions are in order. */
static enum merge_end check_common(const struct shard *a, const struct shard *b, char *err, size_t errlen)
{
	uint64_t i = 0, j = 0;
	int order;

	while (i < a->nr_executions && j < b->nr_executions) {
		order = in_order(&a->executions[i], &b->executions[j]);
		if (!order && !agree(&a->executions[i], &b->executions[j]))
			return diverged(a, &a->executions[i], b, &b->executions[j], err, errlen);
		i += order <= 0;
		j += order >= 0;
	}
	return MERGE_GOOD;
}

static enum merge_end check_frozen(const struct shard *a, const struct shard *b, char *err, size_t errlen)
{
	char what[400];

	if (!a->frozen || !b->frozen || !shard_differs(a->frozen, b->frozen, what, sizeof(what)))
		return MERGE_GOOD;
	snprintf(err, errlen,
		 "%s and %s diverged: their prologues have learnt different things: %s; the test depends on something that is "
		 "not controlled: zug check says on what", a->dir, b->dir, what);
	return MERGE_DIVERGED;
}

/* All have made the same prologue; those with one number have made the same parts. */
static enum merge_end check_results(struct merge *m, char *err, size_t errlen)
{
	enum merge_end end = MERGE_GOOD;

	for (unsigned int i = 0; i < m->nr_owned; i++)
		if (m->owned[i]->nr_executions)
			qsort(m->owned[i]->executions, m->owned[i]->nr_executions, sizeof(struct shard_execution), in_order);
	for (unsigned int i = 1; i < m->nr_owned && end == MERGE_GOOD; i++)
		end = check_common(m->owned[0], m->owned[i], err, errlen);
	for (unsigned int i = 1; i < m->nr_owned && end == MERGE_GOOD; i++)
		end = check_frozen(m->owned[0], m->owned[i], err, errlen);
	for (unsigned int i = 0; i < m->nr_owned && end == MERGE_GOOD; i++)
		for (unsigned int j = i + 1; j < m->nr_owned && end == MERGE_GOOD; j++)
			if (m->owned[i]->k == m->owned[j]->k)
				end = check_common(m->owned[i], m->owned[j], err, errlen);
	return end;
}

/* ---- counting ---- */

static bool is_further(const struct shard *a, const struct shard *b)
{
	return a->complete != b->complete ? a->complete : a->nr_executions > b->nr_executions;
}

static int by_number(const void *a, const void *b)
{
	const struct merge_shard *x = a, *y = b;

	return x->s->k < y->s->k ? -1 : x->s->k > y->s->k;
}

/* One shard of each number: the one that is further. */
static enum merge_end choose_shards(struct merge *m)
{
	m->shards = calloc(m->nr_owned, sizeof(*m->shards));
	m->same = calloc(m->nr_owned, sizeof(*m->same));
	m->of = m->owned[0]->n;
	m->missing = calloc(m->of, sizeof(*m->missing));
	if (!m->shards || !m->same || !m->missing)
		return MERGE_NO_MEMORY;
	for (unsigned int i = 0; i < m->nr_owned; i++) {
		const struct shard *s = m->owned[i];
		unsigned int at = 0;

		while (at < m->nr && m->shards[at].s->k != s->k)
			at++;
		if (at == m->nr) {
			m->shards[m->nr++].s = s;
			continue;
		}
		m->same[m->nr_same++] = is_further(s, m->shards[at].s) ? m->shards[at].s->dir : s->dir;
		if (is_further(s, m->shards[at].s))
			m->shards[at].s = s;
	}
	qsort(m->shards, m->nr, sizeof(*m->shards), by_number);
	for (uint32_t k = 1, at = 0; k <= m->of; k++)
		if (at < m->nr && m->shards[at].s->k == k)
			at++;
		else
			m->missing[m->nr_missing++] = k;
	return MERGE_GOOD;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t distinct(uint64_t *list, uint64_t nr)
{
	uint64_t n = 0;

	qsort(list, nr, sizeof(*list), by_value);
	for (uint64_t i = 0; i < nr; i++)
		n += !i || list[i] != list[i - 1];
	return n;
}

static bool judged(const struct shard_execution *x)
{
	return x->result == 'p' || x->result == 'f';
}

/* The number of the shard that the prologue's executions are counted from: the longest one. */
static unsigned int longest_prologue(const struct merge *m, uint64_t *length)
{
	unsigned int best = 0;

	*length = 0;
	for (unsigned int i = 0; i < m->nr; i++) {
		uint64_t nr = 0;

		for (uint64_t e = 0; e < m->shards[i].s->nr_executions; e++)
			nr += m->shards[i].s->executions[e].part == SHARD_PROLOGUE;
		if (nr > *length) {
			*length = nr;
			best = i;
		}
	}
	return best;
}

static void count_one(struct merge *m, struct merge_shard *own, const struct shard_execution *x)
{
	m->executions++;
	m->steps += x->steps;
	m->failing += x->result == 'f';
	m->diverged += x->result == 'd';
	m->abandoned += x->result == 'a';
	if (x->part == SHARD_PROLOGUE)
		return;
	own->executions++;
	own->failing += x->result == 'f';
}

static enum merge_end count(struct merge *m)
{
	unsigned int first = longest_prologue(m, &m->prologue);
	uint64_t *classes, *schedules, room = 1, nr = 0;

	for (unsigned int i = 0; i < m->nr; i++)
		room += m->shards[i].s->nr_executions;
	classes = malloc(room * sizeof(*classes));
	schedules = malloc(room * sizeof(*schedules));
	if (!classes || !schedules) {
		free(classes);
		free(schedules);
		return MERGE_NO_MEMORY;
	}
	for (unsigned int i = 0; i < m->nr; i++) {
		struct merge_shard *own = &m->shards[i];
		uint64_t begin = nr;

		for (uint64_t e = 0; e < own->s->nr_executions; e++) {
			const struct shard_execution *x = &own->s->executions[e];

			if (x->part == SHARD_PROLOGUE && i != first)
				continue;
			count_one(m, own, x);
			if (!judged(x))
				continue;
			classes[nr] = x->class;
			schedules[nr++] = x->schedule;
		}
		own->distinct = distinct(classes + begin, nr - begin);
	}
	m->classes = distinct(classes, nr);
	m->schedules = distinct(schedules, nr);
	free(classes);
	free(schedules);
	return MERGE_GOOD;
}

/* ---- bugs ---- */

static bool comes_before(const struct shard_finding *a, const struct shard_finding *b)
{
	if ((a->part == SHARD_PROLOGUE) != (b->part == SHARD_PROLOGUE))
		return a->part == SHARD_PROLOGUE;
	if (a->bound != b->bound)
		return a->bound < b->bound;
	return a->part != b->part ? a->part < b->part : a->n < b->n;
}

static bool note_bug(struct merge *m, const struct shard *s, const struct shard_finding *f)
{
	struct merge_bug *b;
	unsigned int i = 0;

	while (i < m->nr_bugs && m->bugs[i].failure != f->failure)
		i++;
	if (i == m->nr_bugs) {
		if (!ARRAY_RESERVE(m->bugs, m->room_bugs, m->nr_bugs + 1))
			return false;
		m->bugs[m->nr_bugs++] = (struct merge_bug){ .failure = f->failure, .first = f, .shard = s };
	}
	b = &m->bugs[i];
	b->shards++;
	if (comes_before(f, b->first)) {
		b->first = f;
		b->shard = s;
	}
	return true;
}

static int by_first(const void *a, const void *b)
{
	const struct merge_bug *x = a, *y = b;

	return comes_before(x->first, y->first) ? -1 : comes_before(y->first, x->first);
}

static enum merge_end collect_bugs(struct merge *m)
{
	uint64_t prologue;
	unsigned int first = longest_prologue(m, &prologue);

	for (unsigned int i = 0; i < m->nr; i++) {
		const struct shard *s = m->shards[i].s;

		for (uint64_t f = 0; f < s->nr_findings; f++) {
			m->nr_once += s->findings[f].once;
			if (!s->findings[f].once && !note_bug(m, s, &s->findings[f]))
				return MERGE_NO_MEMORY;
		}
	}
	for (unsigned int i = 0; i < m->nr; i++)
		for (uint64_t e = 0; e < m->shards[i].s->nr_executions; e++) {
			const struct shard_execution *x = &m->shards[i].s->executions[e];

			for (unsigned int b = 0; b < m->nr_bugs; b++)
				m->bugs[b].executions += x->result == 'f' && x->failure == m->bugs[b].failure &&
							 (x->part != SHARD_PROLOGUE || i == first);
		}
	if (m->nr_bugs)
		qsort(m->bugs, m->nr_bugs, sizeof(*m->bugs), by_first);
	return MERGE_GOOD;
}

/* ---- coverage ---- */

static int64_t member(struct json_object *o, const char *name)
{
	struct json_object *v = NULL;

	return o && json_object_object_get_ex(o, name, &v) ? json_object_get_int64(v) : 0;
}

/* Marks what was done: in state[part] 1 + the bound up to which it was, and whether more would be found. */
static void note_parts(const struct merge *m, uint32_t *upto, bool *settled, bool *incomplete)
{
	for (unsigned int i = 0; i < m->nr; i++)
		for (uint64_t p = 0; p < m->shards[i].s->nr_parts; p++) {
			const struct shard_part *d = &m->shards[i].s->parts[p];

			if (d->part >= m->parts)
				continue;
			*incomplete |= d->incomplete;
			if (d->bound + 1 > upto[d->part])
				upto[d->part] = d->bound + 1;
			settled[d->part] |= !d->cut;
		}
}

static uint64_t done_under(const struct merge *m, const uint32_t *upto, const bool *settled, uint32_t bound)
{
	uint64_t done = 0;

	for (uint64_t i = 0; i < m->parts; i++)
		done += settled[i] || upto[i] > bound;
	return done;
}

static enum merge_end cover(struct merge *m)
{
	struct json_object *frozen = NULL;
	bool *settled, cut;
	uint32_t *upto, max;

	m->bound_done = UINT32_MAX;
	for (unsigned int i = 0; i < m->nr && !frozen; i++)
		frozen = m->shards[i].s->frozen;
	m->parts = (uint64_t)member(frozen, "subtrees");
	m->incomplete = m->diverged || m->nr_once;
	if (!m->parts)
		return MERGE_GOOD;
	max = (uint32_t)member(frozen, "bounds");
	cut = member(frozen, "cut");
	m->bounded = max;
	upto = calloc(m->parts, sizeof(*upto));
	settled = calloc(m->parts, sizeof(*settled));
	if (!upto || !settled) {
		free(upto);
		free(settled);
		return MERGE_NO_MEMORY;
	}
	note_parts(m, upto, settled, &m->incomplete);
	for (uint32_t b = 0; b <= max; b++) {
		m->parts_done = done_under(m, upto, settled, b);
		if (m->parts_done < m->parts)
			break;
		m->bound_done = b;
	}
	m->all = m->bound_done != UINT32_MAX && !cut;
	for (uint64_t i = 0; i < m->parts; i++)
		m->all &= settled[i];
	free(upto);
	free(settled);
	return MERGE_GOOD;
}

static void judge_shards(struct merge *m)
{
	for (unsigned int i = 0; i < m->nr; i++) {
		const struct shard *s = m->shards[i].s;

		if (s->complete && !s->frozen && strcmp(s->end, FOUND))
			m->ended = s->end;
		m->shards[i].state = !s->complete ? MERGE_PARTLY : !strcmp(s->end, FOUND) ? MERGE_FOUND : MERGE_COMPLETE;
	}
}

enum merge_end merge_read(struct merge *m, char *const *dirs, unsigned int nr, char *err, size_t errlen)
{
	enum merge_end end = MERGE_GOOD;

	*m = (struct merge){ 0 };
	for (unsigned int i = 0; i < nr && end == MERGE_GOOD; i++)
		end = read_folder(m, dirs[i], err, errlen);
	if (!end && !m->nr_owned) {
		snprintf(err, errlen, "%s/log has no whole line: the shard was killed at its beginning, or its disk was full; "
			 "run it again", m->empty[0]);
		end = MERGE_REFUSED;
	}
	end = end ? end : check_heads(m, err, errlen);
	end = end ? end : check_results(m, err, errlen);
	end = end ? end : choose_shards(m);
	end = end ? end : count(m);
	end = end ? end : collect_bugs(m);
	end = end ? end : cover(m);
	if (end == MERGE_NO_MEMORY)
		snprintf(err, errlen, "out of memory");
	if (!end)
		judge_shards(m);
	return end;
}

void merge_release(struct merge *m)
{
	for (unsigned int i = 0; i < m->nr_owned; i++)
		shard_free(m->owned[i]);
	for (unsigned int i = 0; i < m->nr_empty; i++)
		free(m->empty[i]);
	free(m->empty);
	free(m->owned);
	free(m->shards);
	free(m->same);
	free(m->missing);
	free(m->bugs);
	*m = (struct merge){ 0 };
}

bool merge_is_complete(const struct merge *m)
{
	for (unsigned int i = 0; i < m->nr; i++)
		if (m->shards[i].state == MERGE_PARTLY)
			return false;
	return !m->nr_missing && !m->incomplete;
}
