/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run.h - executions of model programs under the engine, and what the tests ask of them
 */
#ifndef ZUG_TESTS_WORLD_RUN_H
#define ZUG_TESTS_WORLD_RUN_H

#include "engine/engine.h"
#include "engine/faults.h"
#include "model_world.h"
#include "tests/model/tap.h"

#define MS	1000000ull
#define SECOND	1000000000ull

/* A table: TASK(OP, OP, ...) */
#define TASK(...)	((const struct mw_op[]){ __VA_ARGS__, { .op = W_END } })
#define LOCK(m)		{ .op = W_LOCK, .a = (m) }
#define UNLOCK(m)	{ .op = W_UNLOCK, .a = (m) }
#define WAIT(c, m)	{ .op = W_WAIT, .a = (c), .b = (m) }
#define SIGNAL(c)	{ .op = W_SIGNAL, .a = (c) }
#define SEM_WAIT(s)	{ .op = W_SEM_WAIT, .a = (s) }
#define SEM_POST(s)	{ .op = W_SEM_POST, .a = (s) }
#define READ(v, r)	{ .op = W_READ, .a = (v), .b = (r) }
#define WRITE(v, n)	{ .op = W_WRITE, .a = (v), .imm = (n) }
#define STORE(v, r, n)	{ .op = W_STORE, .a = (v), .b = (r), .imm = (n) }
#define YIELD		{ .op = W_YIELD }
#define LOCAL		{ .op = W_LOCAL }
#define GET(p)		{ .op = W_GET, .a = (p) }
#define PUT(p)		{ .op = W_PUT, .a = (p) }
#define SLEEP(ns)	{ .op = W_SLEEP, .imm = (ns) }
#define TIMER(s, ns)	{ .op = W_TIMER, .a = (s), .imm = (ns) }
#define CREATE(t)	{ .op = W_CREATE, .a = (t) }
#define FORK(t)		{ .op = W_FORK, .a = (t) }
#define JOIN(t)		{ .op = W_JOIN, .a = (t) }
#define EXIT(n)		{ .op = W_EXIT, .imm = (n) }
#define QUIT(n)		{ .op = W_QUIT, .imm = (n) }
#define JUMP(n)		{ .op = W_JUMP, .to = (n) }
#define JUMP_NE(r, n, t) { .op = W_JUMP_NE, .b = (r), .imm = (n), .to = (t) }
#define JUMP_EQ(r, n, t) { .op = W_JUMP_EQ, .b = (r), .imm = (n), .to = (t) }
#define ASSERT(r, n)	{ .op = W_ASSERT, .b = (r), .imm = (n) }

/*
 * How an execution is made; all zeros: the base scheduler (never preempts, lowest task first)
 * decides.
 */
struct how {
	const char *strategy;	/* with its arguments */
	uint64_t seed;
	const uint32_t *tasks;	/* the schedule, as far as it goes */
	size_t nr_tasks;
	const struct trace *replay;
	struct engine_options o;
	struct search *search;	/* instead of one of that strategy; the caller's */
	bool no_trace;
	/* called with the engine before the execution */
	void (*prepare)(struct engine *e, struct model_world *m, void *ctx);
	void *ctx;
};
#define SCHEDULE(...)	.tasks = (const uint32_t[]){ __VA_ARGS__ },	\
			.nr_tasks = sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t)

/* An execution that was made; run_free() it. */
struct run {
	struct execution x;
	struct trace *t;
	int ret;		/* of engine_run() */
	char err[256];
	uint64_t grants, tends, drains, ns;	/* of the model; ns of its machine's time that it took */
	int64_t vars[MW_OBJECTS];
	bool stop_always;
};

struct run *run(const struct mw_program *p, const struct how *how);

/* Several executions of one search. */
struct session {
	const struct how *how;
	struct capture *c;
	struct model_world *m;
	struct search *s;
	struct engine *e;
	struct replay replay;
};
void session_begin(struct session *n, const struct mw_program *p, const struct how *how);
/* NULL: the search is exhausted. */
struct run *session_run(struct session *n);
void session_end(struct session *n);
/* The first execution of a search that is good; NULL: none is. */
struct run *find(const struct mw_program *p, const struct how *how, bool (*good)(const struct run *r));

void run_free(struct run *r);

/* A search, or the message and the end. */
struct search *new_search(const char *strategy, uint64_t seed);

/* A trace in memory, to be written and then read. */
struct memory_trace {
	char path[64];
	int fd;
	struct trace_writer *w;
};
void memory_trace_begin(struct memory_trace *m);
struct trace *memory_trace_end(struct memory_trace *m, const struct execution *x);

/* "0 1 1 0": who made the steps. Static storage. */
const char *schedule_of(const struct trace *t);
/* "lock unlock ...": of the steps, or of one task's. Static storage. */
const char *ops_of(const struct trace *t, uint32_t task);
/* The kinds of notes of a task, or of all (TRACE_NO_TASK): "block wake exit". */
const char *notes_of(const struct trace *t, uint32_t task);
bool is_outcome(const struct run *r, enum zug_outcome_kind kind, const char *message);

/* One check; at its failure what there was is shown. */
void check(bool good, const struct run *r, const char *what);

#endif
