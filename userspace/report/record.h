/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record.h - the record of a campaign (zug run --record): JSON lines, appended as it goes on, and what
 * is made of them. docs/campaign-record.md has the format.
 *
 * What is written grows with the logarithm of the number of executions: every one of the first
 * hundred has a line, later ones when there are 2 % more. Lines are whole when they reach the file, so
 * what a killed campaign leaves can be read.
 */
#ifndef ZUG_RECORD_H
#define ZUG_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct record;

struct record_head {
	char *const *argv;
	const char *cwd, *strategy, *kernel, *zug_version;
	uint64_t seed;
	uint64_t executions, time_ns;	/* bounds, 0: none */
};

/*
 * Opens a file for a campaign, which is one more in it when there are others. NULL with a line in err:
 * cannot be written, or is something else.
 */
struct record *record_open(const char *path, const struct record_head *h, char *err, size_t errlen);

/* After an execution; counts are those since the campaign began. */
struct record_execution {
	uint64_t n, ns;			/* this one's number, and when it was over */
	uint64_t steps, schedules, distinct;
	uint32_t bound, bound_done;	/* UINT32_MAX: none */
	double new_probability, estimate;	/* NaN: unknown */
	const char *strategy;		/* which chose its schedule */
	uint64_t preemptions;		/* of this one */
};
void record_execution(struct record *r, const struct record_execution *x);

struct record_finding {
	uint64_t n, ns, failure, steps, preemptions;
	const char *kind, *message, *strategy;
	const char *trace;		/* NULL: none was kept */
};
/* Of one failure only the first finding gets a line; all are counted. After its record_execution(). */
void record_finding(struct record *r, const struct record_finding *f);

/* Why it ended, in words, and the preemptions covered then, UINT32_MAX: none. */
void record_end(struct record *r, const char *why, uint32_t bound_done);

/* 0 or the first -errno of writing. NULL is fine. */
int record_close(struct record *r);

/* ---- reading ---- */
struct campaign_record;

/* Does the file begin like a record? */
bool record_is_one(const char *path);
/* NULL with a line in err: damaged at line N, of a newer version, ... A last line without its end is passed over. */
struct campaign_record *record_read(const char *path, char *err, size_t errlen);
void record_free(struct campaign_record *c);
/* A few lines of figures; the same as one JSON object; as a page. 0 or -errno. */
void record_text(FILE *out, const struct campaign_record *c);
int record_json(FILE *out, const struct campaign_record *c);
int record_html(FILE *out, const struct campaign_record *c);

#endif
