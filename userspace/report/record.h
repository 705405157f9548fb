/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record.h - the record of a campaign (zug run --record): JSON lines, written while it runs;
 * docs/campaign-record.md has the format
 *
 * The record grows with the logarithm of the number of executions: each of the first hundred has a
 * line, after that one for every 2 % more. Lines are whole when they reach the file, so the record
 * of a killed campaign can be read.
 */
#ifndef ZUG_RECORD_H
#define ZUG_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "lib/spent.h"

struct record;

struct record_head {
	char *const *argv;
	const char *cwd, *strategy, *kernel, *zug_version;
	uint64_t seed;
	uint64_t executions, time_ns;	/* limits of the campaign; 0: none */
};

/*
 * Opens a file for a campaign, and appends to it when it has others already. NULL with a line in
 * err: it cannot be written, or is not a record.
 */
struct record *record_open(const char *path, const struct record_head *h, char *err, size_t errlen);

/* Called after an execution, with the counts since the campaign began. */
struct record_execution {
	uint64_t n, ns;			/* number of the execution, and the time of its end */
	uint64_t steps, schedules, distinct;
	uint32_t bound, bound_done;	/* UINT32_MAX: none */
	double new_probability, estimate;	/* NaN: unknown */
	const char *strategy;		/* that chose its schedule */
	uint64_t preemptions;		/* of this execution */
	struct spent spent;
};
void record_execution(struct record *r, const struct record_execution *x);

struct record_finding {
	uint64_t n, ns, failure, steps, preemptions;
	const char *kind, *message, *strategy;
	const char *trace;		/* path; NULL: none was kept */
};
/*
 * Called after the execution's record_execution(). Only the first finding of a failure gets a line;
 * all are counted.
 */
void record_finding(struct record *r, const struct record_finding *f);
/* The same for a failure that did not come again when it was replayed, which is no finding. */
void record_once(struct record *r, const struct record_finding *f);

/*
 * why: in words. bound_done: number of preemptions that were covered completely; UINT32_MAX: none.
 */
void record_end(struct record *r, const char *why, uint32_t bound_done);

/* 0, or the first error of writing as -errno. NULL is fine. */
int record_close(struct record *r);

/* ---- reading ---- */
struct campaign_record;

/* True when the file begins like a record. */
bool record_is_one(const char *path);
/*
 * NULL with a line in err: damaged in line N, of a newer version, ... An incomplete last line is
 * ignored.
 */
struct campaign_record *record_read(const char *path, char *err, size_t errlen);
void record_free(struct campaign_record *c);
/* The record as a few lines of figures, as one JSON object, and as a page. 0 or -errno. */
void record_text(FILE *out, const struct campaign_record *c);
int record_json(FILE *out, const struct campaign_record *c);
int record_html(FILE *out, const struct campaign_record *c);

#endif
