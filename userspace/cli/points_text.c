/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdbool.h>
#include <string.h>
#include "cli/points_text.h"

/* Columns are as wide as their longest text, up to these. */
#define OBJECT_WIDTH 32
#define PLACE_WIDTH 48

static int widest(const struct point_table *t, bool place, const char *head, int most)
{
	size_t width = strlen(head);

	for (uint32_t i = 0; i < t->nr; i++) {
		size_t n = strlen(place ? t->rows[i].place : t->rows[i].object);

		width = n > width ? n : width;
	}
	return width < (size_t)most ? (int)width : most;
}

void points_text(FILE *out, const struct point_table *t)
{
	int object = widest(t, false, "object", OBJECT_WIDTH), place = widest(t, true, "place", PLACE_WIDTH);
	uint32_t points = 0;

	for (uint32_t i = 0; i < t->nr; i++)
		points += !t->rows[i].why;
	fprintf(out, "\n%u point%s, %u that %s none:\n", points, points == 1 ? "" : "s", t->nr - points,
		t->nr - points == 1 ? "is" : "are");
	fprintf(out, "  %-*s  %-*s  %-14s %8s %6s  %s\n", object, "object", place, "place", "operation", "times",
		"since", "no point, because");
	for (uint32_t i = 0; i < t->nr; i++) {
		const struct point_row *r = &t->rows[i];
		const char *name = r->object[0] ? r->object : "-";

		fprintf(out, "  %-*s  %-*s  ", object, name, place, r->place[0] ? r->place : "-");
		if (r->op)
			fprintf(out, "%-14s %8lu %6lu", r->op, (unsigned long)r->times, (unsigned long)r->since);
		else
			fprintf(out, "%-14s %8s %6s", "-", "-", "-");
		fprintf(out, "%s%s\n", r->why ? "  " : "", r->why ? r->why : "");
	}
	fflush(out);
}
