/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * shard.h - the log of a shard: what one of many machines has made of a search (zug run --shard)
 *
 * A shard has a folder of its own, shard-K-of-N, with the file 'log' in it: JSON, one object a line, each line written at
 * once. A line that was not ended is what a killed zug left, and does not count. docs/scale.md has the format.
 */
#ifndef ZUG_SHARD_H
#define ZUG_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

/* An execution, in the prologue that all shards make, or in a part (search/parts.h). */
struct shard_execution {
	int64_t part;		/* SHARD_PROLOGUE, or the part's number */
	uint32_t bound;
	uint64_t n;		/* in its part, or in the prologue; 0 is the first */
	char result;		/* 'p' passed, 'f' failed, 'd' diverged, 'a' abandoned */
	uint64_t class, schedule, failure, steps, preemptions, ns;
};
#define SHARD_PROLOGUE (-1)
/* So many shards a search may have. */
#define SHARDS_MAX 1000000

struct shard_finding {
	int64_t part;
	uint32_t bound;
	uint64_t n;
	uint64_t number;	/* of the execution, as zug run tells it */
	uint64_t failure;
	bool once;		/* it did not come again when it was replayed */
	char *kind, *message;
	char *trace;		/* in the shard's folder; NULL: none was kept */
};

/* A part that was made to its end. */
struct shard_part {
	uint64_t part;
	uint32_t bound;
	bool cut, incomplete;	/* as struct search_part_end */
};

/* A log that was read. */
struct shard {
	char *dir;
	struct json_object *head;	/* its first line: who made what */
	struct json_object *frozen;	/* the end of the prologue; NULL: it has not come to it */
	uint32_t k, n;
	struct shard_execution *executions;
	uint64_t nr_executions, room_executions;
	struct shard_finding *findings;
	uint64_t nr_findings, room_findings;
	struct shard_part *parts;
	uint64_t nr_parts, room_parts;
	char *end;		/* why it ended; NULL: it goes on, or was killed */
	bool complete;		/* there is nothing left to do */
	bool torn;		/* the last line was not ended */
	long whole;		/* bytes of the lines that count */
	long after_head;	/* bytes of the first line */
};

/* NULL with a line in err: not there, no log, damaged in line N, of a newer version. */
struct shard *shard_read(const char *dir, char *err, size_t errlen);
void shard_free(struct shard *s);
bool shard_is_one(const char *dir);
/* The first line of its log is not whole: a run was killed before that, or its disk was full. */
bool shard_is_empty(const char *dir);

/*
 * The first member in which two heads, or two ends of prologues, differ; false: they are the same search. Members
 * that only say where and when it was made do not count, nor does the shard's own number.
 */
bool shard_differs(struct json_object *a, struct json_object *b, char *text, size_t len);

/* Which executions were made: (part, bound, n). */
bool shard_part_done(const struct shard *s, uint64_t part, uint32_t bound, struct shard_part *p);

/* ---- writing ---- */

struct shard_log;
/*
 * Opens the log in a folder, which is made, for the search that the head says. What is there of an earlier run is
 * left in *old (NULL: nothing), and what the killed run had not ended is taken away. NULL with a line in err: it
 * cannot be written, is another search's, or another zug writes it.
 */
struct shard_log *shard_log_open(const char *dir, struct json_object *head, struct shard **old, char *err,
				 size_t errlen);
/* The prologue begins again: all lines but the head go. */
int shard_log_restart(struct shard_log *l);
void shard_log_execution(struct shard_log *l, const struct shard_execution *x);
void shard_log_finding(struct shard_log *l, const struct shard_finding *f);
void shard_log_frozen(struct shard_log *l, struct json_object *frozen);
void shard_log_part(struct shard_log *l, const struct shard_part *p);
void shard_log_end(struct shard_log *l, const char *why, bool complete);
/* 0, or the first error of writing. */
int shard_log_error(const struct shard_log *l);
int shard_log_close(struct shard_log *l);

#endif
