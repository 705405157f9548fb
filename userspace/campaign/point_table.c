/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "campaign/point_table.h"

static void release_row(struct point_row *r)
{
	free((char *)r->object);
	free((char *)r->place);
}

int point_table_add(struct point_table *t, const struct point_row *row)
{
	struct point_row r = *row;

	r.object = strdup(row->object ? row->object : "");
	r.place = strdup(row->place ? row->place : "");
	if (!r.object || !r.place || !ARRAY_RESERVE(t->rows, t->room, t->nr + 1)) {
		release_row(&r);
		return -ENOMEM;
	}
	t->rows[t->nr++] = r;
	return 0;
}

static int compare_texts(const char *a, const char *b)
{
	return !a || !b ? !!a - !!b : strcmp(a, b);
}

/* What has a name comes first, and of it what is a point before what is none. */
static int compare(const void *pa, const void *pb)
{
	const struct point_row *a = pa, *b = pb;
	int ret = !a->object[0] - !b->object[0];

	ret = ret ? ret : strcmp(a->object, b->object);
	ret = ret ? ret : !!a->why - !!b->why;
	ret = ret ? ret : strcmp(a->place, b->place);
	ret = ret ? ret : compare_texts(a->op, b->op);
	return ret ? ret : compare_texts(a->why, b->why);
}

static int compare_code(const void *pa, const void *pb)
{
	const struct point_row *a = pa, *b = pb;

	return a->code < b->code ? -1 : a->code > b->code;
}

/* A place that was a point while it was looked at has rows of steps, and one that says why it is none. */
static void join_code(struct point_table *t)
{
	uint32_t n = 0;

	qsort(t->rows, t->nr, sizeof(*t->rows), compare_code);
	for (uint32_t first = 0, end; first < t->nr; first = end) {
		const char *why = NULL;
		bool reached = false;

		for (end = first; end < t->nr && t->rows[end].code == t->rows[first].code; end++) {
			reached |= t->rows[end].op != NULL;
			why = t->rows[end].op ? why : t->rows[end].why;
		}
		for (uint32_t i = first; i < end; i++) {
			struct point_row *r = &t->rows[i];

			if (r->code && why && r->op)
				r->why = why;
			if (r->code && reached && !r->op)
				release_row(r);
			else
				t->rows[n++] = *r;
		}
	}
	t->nr = n;
}

void point_table_settle(struct point_table *t)
{
	uint32_t n = 0;

	if (!t->nr)
		return;
	join_code(t);
	qsort(t->rows, t->nr, sizeof(*t->rows), compare);
	for (uint32_t i = 0; i < t->nr; i++) {
		struct point_row *r = &t->rows[i], *last = n ? &t->rows[n - 1] : NULL;

		if (!last || compare(last, r)) {
			t->rows[n++] = *r;
			continue;
		}
		last->times += r->times;
		if (r->since < last->since)
			last->since = r->since;
		release_row(r);
	}
	t->nr = n;
}

void point_table_release(struct point_table *t)
{
	for (uint32_t i = 0; i < t->nr; i++)
		release_row(&t->rows[i]);
	free(t->rows);
	*t = (struct point_table){ 0 };
}
