/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * point_table.h - the table of --list-points: where tasks could change, and where they could not,
 * and why
 *
 *	struct point_table t = { 0 };
 *	point_table_add(&t, &row);	session_table_absent(s, &t, module, offset, "why");
 *	point_table_settle(&t);		the rows of a place that is none any more say why; equal rows
 *					become one, those of one object stand together
 *	point_table_release(&t);
 */
#ifndef ZUG_POINT_TABLE_H
#define ZUG_POINT_TABLE_H

#include <stdint.h>

struct point_row {
	const char *object;	/* "": none that is known */
	const char *place;	/* "worker (counter.c:12)", a file, or "" */
	const char *op;		/* of a point that was reached; NULL: it is none, or was not */
	uint64_t times;		/* it was reached, in all executions of the search */
	uint64_t since;		/* the first of these */
	const char *why;	/* it is no point, or none any more; NULL: it is one */
	uint64_t code;		/* point_table_code(), 0: not known */
};

/* A place in the code. */
static inline uint64_t point_table_code(uint32_t module, uint64_t offset)
{
	return ((uint64_t)module << 40 | offset) + 1;
}

struct point_table {
	struct point_row *rows;
	uint32_t nr, room;
};

/* Adds a row with copies of its object and place; op and why must outlive the table. 0 or -ENOMEM. */
int point_table_add(struct point_table *t, const struct point_row *row);
void point_table_settle(struct point_table *t);
void point_table_release(struct point_table *t);

#endif
