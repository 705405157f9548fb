/* SPDX-License-Identifier: GPL-2.0-only */
/* What merge.c has counted, for people, for programs, and as the record of a campaign. */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "report/json_text.h"
#include "report/merge.h"
#include "report/record.h"

/* A record has so many rows for those that chose schedules; of more shards some share a row. */
#define ROWS 12

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static const char *state_text(const struct merge_shard *s, char *buf, size_t len)
{
	if (s->state == MERGE_COMPLETE)
		return "complete";
	if (s->state == MERGE_FOUND)
		return "ended with its first finding";
	snprintf(buf, len, "partly: %s%s", s->s->end ? s->s->end : "it still runs, or was killed",
		 s->s->torn ? "; its last line is cut off and does not count" : "");
	return buf;
}

static void shards_text(FILE *out, const struct merge *m)
{
	char buf[300];

	fprintf(out, "%-12s %12s %10s %10s  %s\n", "shard", "executions", "distinct", "failing", "state");
	for (unsigned int i = 0; i < m->nr; i++) {
		const struct merge_shard *s = &m->shards[i];

		snprintf(buf, sizeof(buf), "%u of %u", s->s->k, m->of);
		fprintf(out, "%-12s %12" PRIu64 " %10" PRIu64 " %10" PRIu64 "  ", buf, s->executions, s->distinct, s->failing);
		fprintf(out, "%s\n", state_text(s, buf, sizeof(buf)));
	}
}

/* "2, 5-7" */
static void missing_text(FILE *out, const struct merge *m)
{
	for (unsigned int i = 0, end; i < m->nr_missing; i = end) {
		for (end = i + 1; end < m->nr_missing && m->missing[end] == m->missing[end - 1] + 1; end++)
			;
		fprintf(out, "%s%" PRIu64, i ? ", " : "", m->missing[i]);
		if (end > i + 1)
			fprintf(out, "-%" PRIu64, m->missing[end - 1]);
	}
}

static const char *bug_place(const struct merge_bug *b, char *buf, size_t len)
{
	if (b->first->part == SHARD_PROLOGUE || !b->first->bound)
		snprintf(buf, len, "first in execution %" PRIu64, b->first->number);
	else
		snprintf(buf, len, "first in subtree %" PRId64 " under bound %u", b->first->part, b->first->bound);
	return buf;
}

static void bugs_text(FILE *out, const struct merge *m)
{
	char buf[120];

	fprintf(out, "\n%u distinct failure%s:\n", m->nr_bugs, plural(m->nr_bugs));
	for (unsigned int i = 0; i < m->nr_bugs; i++) {
		const struct merge_bug *b = &m->bugs[i];

		fprintf(out, "  %s: %.200s\n    %" PRIu64 " time%s, in %u shard%s, %s (shard %u)", b->first->kind,
			b->first->message, b->executions, plural(b->executions), b->shards, plural(b->shards),
			bug_place(b, buf, sizeof(buf)), b->shard->k);
		if (b->first->trace)
			fprintf(out, "; trace: %s/%s\n", b->shard->dir, b->first->trace);
		else
			fputs("; its trace was not kept\n", out);
	}
}

static const char *head_text(const struct merge *m, const char *name)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(m->shards[0].s->head, name, &v);
	return v ? json_object_get_string(v) : "";
}

static void coverage_text(FILE *out, const struct merge *m)
{
	if (!m->parts && m->ended) {
		fprintf(out, "the prologue was the whole search: %s\n", m->ended);
	} else if (!m->parts) {
		fputs("a sample: more executions may find more\n", out);
	} else if (m->incomplete) {
		fputs("not everything was tried: executions did not follow their schedules, were cut short, or were too "
		      "long; nothing is covered completely\n", out);
	} else if (m->all && !m->nr_bugs) {
		fputs("covered: every schedule of the points there are\n", out);
	} else if (m->bound_done != UINT32_MAX && (m->bounded || m->all)) {
		fprintf(out, "covered: every schedule of the points there are%s", m->bounded ? " with up to " : "\n");
		if (m->bounded)
			fprintf(out, "%u %s%s\n", m->bound_done, strncmp(head_text(m, "strategy"), "delay", 5) ? "preemption" :
				"delay", plural(m->bound_done));
	} else {
		fprintf(out, "%" PRIu64 " of %" PRIu64 " subtrees are searched%s\n", m->parts_done, m->parts,
			m->bounded ? " under the next bound" : "");
	}
}

void merge_text(FILE *out, const struct merge *m)
{
	shards_text(out, m);
	for (unsigned int i = 0; i < m->nr_same; i++)
		fprintf(out, "%s: a copy, or further back, of a shard above; it does not count\n", m->same[i]);
	for (unsigned int i = 0; i < m->nr_empty; i++)
		fprintf(out,
			"%s: its log has no whole line; it was killed at its beginning, or its disk was full; it counts as "
			"missing\n",
			m->empty[i]);
	if (m->nr_missing) {
		fprintf(out, "missing: %u of %u shards: ", m->nr_missing, m->of);
		missing_text(out, m);
		putc('\n', out);
	}
	if (m->nr_bugs)
		bugs_text(out, m);
	fprintf(out,
		"\n%s %" PRIu64 " execution%s (%" PRIu64 " of them in the prologue that all shards make; %" PRIu64 " steps; %" PRIu64
		" distinct schedule%s in %" PRIu64 " equivalence class%s)\n",
		m->nr_bugs ? "searched" : "nothing found in", m->executions, plural(m->executions), m->prologue, m->steps,
		m->schedules, plural(m->schedules), m->classes, m->classes == 1 ? "" : "es");
	coverage_text(out, m);
	if (m->nr_once)
		fprintf(out, "%u failure%s did not come again when it was replayed: the test depends on something that is not "
			"controlled (zug check says on what)\n", m->nr_once, plural(m->nr_once));
	if (m->diverged)
		fprintf(out, "%" PRIu64 " execution%s did not follow the schedule they were given\n", m->diverged,
			plural(m->diverged));
}

/* ---- JSON ---- */

static struct json_object *shard_json(const struct merge_shard *s)
{
	static const char *const states[] = { "complete", "found", "partly" };
	struct json_object *o = json_object_new_object();

	json_add_number(o, "shard", s->s->k);
	json_add_text(o, "folder", s->s->dir);
	json_add_text(o, "state", states[s->state]);
	json_add_text(o, "end", s->s->end);
	json_add_number(o, "executions", s->executions);
	json_add_number(o, "distinct", s->distinct);
	json_add_number(o, "failing", s->failing);
	return o;
}

static struct json_object *bug_json(const struct merge_bug *b)
{
	struct json_object *o = json_object_new_object();
	char text[24], *trace = NULL;

	snprintf(text, sizeof(text), "0x%" PRIx64, b->failure);
	json_add_text(o, "failure", text);
	json_add_text(o, "kind", b->first->kind);
	json_add_text(o, "message", b->first->message);
	json_add_number(o, "times", b->executions);
	json_add_number(o, "shards", b->shards);
	json_add_number(o, "first", b->first->number);
	json_add_number(o, "first_shard", b->shard->k);
	if (b->first->trace && asprintf(&trace, "%s/%s", b->shard->dir, b->first->trace) < 0)
		trace = NULL;
	json_add_text(o, "trace", trace);
	free(trace);
	return o;
}

int merge_json(FILE *out, const struct merge *m)
{
	struct json_object *o = json_object_new_object(), *shards = json_object_new_array(),
			   *bugs = json_object_new_array(), *missing = json_object_new_array();

	for (unsigned int i = 0; i < m->nr; i++)
		json_object_array_add(shards, shard_json(&m->shards[i]));
	for (unsigned int i = 0; i < m->nr_bugs; i++)
		json_object_array_add(bugs, bug_json(&m->bugs[i]));
	for (unsigned int i = 0; i < m->nr_missing; i++)
		json_object_array_add(missing, json_object_new_uint64(m->missing[i]));
	json_add_number(o, "of", m->of);
	json_object_object_add(o, "shards", shards);
	json_object_object_add(o, "missing", missing);
	json_object_object_add(o, "complete", json_object_new_boolean(merge_is_complete(m)));
	json_add_number(o, "executions", m->executions);
	json_add_number(o, "prologue", m->prologue);
	json_add_number(o, "steps", m->steps);
	json_add_number(o, "schedules", m->schedules);
	json_add_number(o, "distinct", m->classes);
	json_add_number(o, "failing", m->failing);
	json_add_number(o, "subtrees", m->parts);
	json_object_object_add(o, "bound_done", m->bound_done == UINT32_MAX ? NULL : json_object_new_uint64(m->bound_done));
	json_object_object_add(o, "all_tried", json_object_new_boolean(m->all && !m->incomplete));
	json_object_object_add(o, "failures", bugs);
	fprintf(out, "%s\n", json_line(o));
	json_object_put(o);
	return ferror(out) ? -EIO : 0;
}

/* ---- the record ---- */

/* An execution, and who made it. */
struct numbered {
	const struct shard_execution *x;
	unsigned int shard;
};

static int in_order(const void *a, const void *b)
{
	const struct shard_execution *x = ((const struct numbered *)a)->x, *y = ((const struct numbered *)b)->x;

	if (x->bound != y->bound)
		return x->bound < y->bound ? -1 : 1;
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return x->n < y->n ? -1 : x->n > y->n;
}

/* All executions, each once, in their order. malloc'd; NULL: out of memory. */
static struct numbered *list_executions(const struct merge *m, uint64_t *nr)
{
	struct numbered *list = NULL;
	uint64_t room = 1, n = 0, kept = 0;

	for (unsigned int i = 0; i < m->nr; i++)
		room += m->shards[i].s->nr_executions;
	list = malloc(room * sizeof(*list));
	for (unsigned int i = 0; list && i < m->nr; i++)
		for (uint64_t e = 0; e < m->shards[i].s->nr_executions; e++)
			list[n++] = (struct numbered){ &m->shards[i].s->executions[e], i };
	if (!list)
		return NULL;
	qsort(list, n, sizeof(*list), in_order);
	for (uint64_t i = 0; i < n; i++)
		if (!kept || in_order(&list[kept - 1], &list[i]))
			list[kept++] = list[i];
	*nr = kept;
	return list;
}

static void row_name(const struct merge *m, const struct numbered *e, char *buf, size_t len)
{
	unsigned int each = (m->nr + ROWS - 1) / ROWS, first = e->shard / each * each, last = first + each - 1;

	if (last >= m->nr)
		last = m->nr - 1;
	if (e->x->part == SHARD_PROLOGUE)
		snprintf(buf, len, "prologue");
	else if (first == last)
		snprintf(buf, len, "shard %u", m->shards[first].s->k);
	else
		snprintf(buf, len, "shards %u-%u", m->shards[first].s->k, m->shards[last].s->k);
}

/* Sets of hashes, by open addressing. */
struct hashes {
	uint64_t *table, mask, nr;
};

static bool add_hash(struct hashes *h, uint64_t v)
{
	uint64_t i = v * 0x9e3779b97f4a7c15ull & h->mask;

	v += !v;
	for (; h->table[i]; i = (i + 1) & h->mask)
		if (h->table[i] == v)
			return false;
	h->table[i] = v;
	h->nr++;
	return true;
}

static bool make_hashes(struct hashes *h, uint64_t nr)
{
	uint64_t size = 16;

	while (size < 2 * nr)
		size *= 2;
	h->mask = size - 1;
	h->nr = 0;
	h->table = calloc(size, sizeof(*h->table));
	return h->table;
}

static const struct shard_finding *finding_of(const struct merge *m, const struct numbered *e)
{
	const struct shard *s = m->shards[e->shard].s;

	for (uint64_t i = 0; e->x->result == 'f' && i < s->nr_findings; i++)
		if (s->findings[i].failure == e->x->failure && !s->findings[i].once)
			return &s->findings[i];
	return NULL;
}

static void put_finding(struct record *r, const struct merge *m, const struct numbered *e, uint64_t n, uint64_t ns,
			const char *row)
{
	const struct shard_finding *f = finding_of(m, e);
	char *trace = NULL;

	if (!f)
		return;
	if (f->trace && asprintf(&trace, "%s/%s", m->shards[e->shard].s->dir, f->trace) < 0)
		trace = NULL;
	record_finding(r, &(struct record_finding){ .n = n, .ns = ns, .failure = f->failure, .steps = e->x->steps,
						    .preemptions = e->x->preemptions, .kind = f->kind,
						    .message = f->message, .strategy = row, .trace = trace });
	free(trace);
}

static void put_executions(struct record *r, const struct merge *m, const struct numbered *list, uint64_t nr,
			   struct hashes *classes, struct hashes *schedules)
{
	struct record_execution x = { .bound_done = UINT32_MAX, .new_probability = NAN, .estimate = NAN };
	char row[40];

	for (uint64_t i = 0; i < nr; i++) {
		const struct shard_execution *e = list[i].x;

		row_name(m, &list[i], row, sizeof(row));
		if (e->result == 'p' || e->result == 'f') {
			add_hash(classes, e->class);
			add_hash(schedules, e->schedule);
		}
		x.n = i + 1;
		x.ns += e->ns;
		x.steps += e->steps;
		x.schedules = schedules->nr;
		x.distinct = classes->nr;
		x.bound = m->bounded ? e->bound : UINT32_MAX;
		x.bound_done = m->bounded && e->bound ? e->bound - 1 : UINT32_MAX;
		x.strategy = row;
		x.preemptions = e->preemptions;
		record_execution(r, &x);
		put_finding(r, m, &list[i], i + 1, x.ns, row);
	}
}

static char **head_argv(const struct merge *m)
{
	struct json_object *a = NULL;
	size_t nr;
	char **argv;

	json_object_object_get_ex(m->shards[0].s->head, "argv", &a);
	nr = a && json_object_is_type(a, json_type_array) ? json_object_array_length(a) : 0;
	argv = calloc(nr + 1, sizeof(*argv));
	for (size_t i = 0; argv && i < nr; i++)
		argv[i] = (char *)json_object_get_string(json_object_array_get_idx(a, i));
	return argv;
}

int merge_record(const char *path, const struct merge *m, char *err, size_t errlen)
{
	struct hashes classes = { 0 }, schedules = { 0 };
	char **argv = head_argv(m);
	uint64_t nr = 0;
	struct numbered *list = list_executions(m, &nr);
	struct record_head h = { .argv = argv, .cwd = head_text(m, "cwd"), .kernel = head_text(m, "kernel"),
				 .zug_version = head_text(m, "zug_version"), .strategy = head_text(m, "strategy"),
				 .seed = strtoull(head_text(m, "seed"), NULL, 10),
				 .executions = strtoull(head_text(m, "executions"), NULL, 10) };
	struct record *r = NULL;
	int ret = -ENOMEM;

	snprintf(err, errlen, "out of memory");
	if (argv && list && make_hashes(&classes, nr) && make_hashes(&schedules, nr)) {
		r = record_open(path, &h, err, errlen);
		ret = r ? 0 : -EIO;
	}
	if (r) {
		put_executions(r, m, list, nr, &classes, &schedules);
		record_end(r, merge_is_complete(m) ? "all shards are merged" : "shards are missing, or not at their ends",
			   m->bounded ? m->bound_done : UINT32_MAX);
		ret = record_close(r);
		if (ret)
			snprintf(err, errlen, "%s: %s", path, strerror(-ret));
	}
	free(classes.table);
	free(schedules.table);
	free(list);
	free(argv);
	return ret;
}
