/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "run.h"

struct search *new_search(const char *strategy, uint64_t seed)
{
	struct search_options o = { .strategy = strategy,
				    .seed = seed,
				    .fair = 1,
				    .preemptions = -1,
				    .max_steps = 200000 };
	char err[512];
	struct search *s;

	/* a script that says nothing leaves all to the base scheduler */
	if (!strategy) {
		o.rules = "";
		o.script = "script";
	}
	s = search_new(&o, err, sizeof(err));
	if (s)
		return s;
	fprintf(stderr, "%s: %s\n", strategy ? strategy : "base", err);
	abort();
}

void memory_trace_begin(struct memory_trace *m)
{
	static char *const words[] = { "model", NULL };
	const struct trace_header h = { .argv = words,
					.cwd = "/",
					.envp = words + 1,
					.kernel = "",
					.zug_version = "",
					.strategy = "",
					.execution = 1,
					.options = "{}" };
	int err = 0;

	m->fd = memfd_create("trace", MFD_CLOEXEC);
	snprintf(m->path, sizeof(m->path), "/proc/self/fd/%d", m->fd);
	m->w = trace_create(m->path, &h, &err);
	if (m->fd < 0 || !m->w) {
		fprintf(stderr, "no trace: %s\n", strerror(-err));
		abort();
	}
}

struct trace *memory_trace_end(struct memory_trace *m, const struct execution *x)
{
	struct trace *t;
	char err[256];

	trace_add_outcome(m->w, &(struct trace_outcome){
		.kind = x->outcome.kind, .code = x->outcome.code, .failure = x->outcome.failure,
		.ungranted = x->ungranted, .wall_ns = x->wall_ns, .message = x->outcome.message });
	if (trace_close(m->w, false))
		abort();
	t = trace_open(m->path, err, sizeof(err));
	if (!t) {
		fprintf(stderr, "no trace: %s\n", err);
		abort();
	}
	close(m->fd);
	return t;
}

void session_begin(struct session *n, const struct mw_program *p, const struct how *how)
{
	struct engine_options o = how->o;

	/* in all tests */
	o.check_candidates = true;
	*n = (struct session){ .how = how, .c = capture_new() };
	n->m = mw_new(p, n->c);
	n->s = how->search ? how->search : new_search(how->strategy, how->seed ? how->seed : 1);
	n->e = engine_new(&n->m->w, n->s, n->c, &o);
	if (!n->c || !n->e)
		abort();
	if (how->replay) {
		if (replay_init(&n->replay, how->replay))
			abort();
		search_replay(n->s, n->replay.tasks, n->replay.nr);
	} else if (how->nr_tasks) {
		search_replay(n->s, how->tasks, how->nr_tasks);
	}
	if (how->prepare)
		how->prepare(n->e, n->m, how->ctx);
}

struct run *session_run(struct session *n)
{
	struct memory_trace trace = { 0 };
	struct search_end end = { 0 };
	uint64_t start = n->m->now;
	struct run *r;

	if (search_begin(n->s) != SEARCH_GO)
		return NULL;
	r = calloc(1, sizeof(*r));
	if (!r)
		abort();
	if (!n->how->no_trace)
		memory_trace_begin(&trace);
	r->ret = engine_run(n->e, n->how->replay ? &n->replay : NULL, trace.w, &r->x, r->err,
			    sizeof(r->err));
	end.failure = r->x.outcome.failure;
	end.result = r->x.diverged				 ? SEARCH_DIVERGED
		     : r->x.outcome.kind == ZUG_OUTCOME_PASS	 ? SEARCH_PASS
		     : zug_outcome_is_finding(r->x.outcome.kind) ? SEARCH_FAIL
								 : SEARCH_ABANDONED;
	search_end(n->s, &end);
	if (!n->how->no_trace)
		r->t = memory_trace_end(&trace, &r->x);
	r->grants = n->m->grants;
	r->tends = n->m->nr_tends;
	r->drains = n->m->drains;
	r->ns = n->m->now - start;
	r->stop_always = n->m->stop_always;
	memcpy(r->vars, n->m->vars, sizeof(r->vars));
	return r;
}

void session_end(struct session *n)
{
	replay_release(&n->replay);
	engine_free(n->e);
	if (!n->how->search)
		search_free(n->s);
	mw_free(n->m);
	capture_free(n->c);
}

struct run *run(const struct mw_program *p, const struct how *how)
{
	struct session n;
	struct run *r;

	session_begin(&n, p, how);
	r = session_run(&n);
	session_end(&n);
	return r;
}

struct run *find(const struct mw_program *p, const struct how *how,
		 bool (*good)(const struct run *r))
{
	struct session n;
	struct run *r;

	session_begin(&n, p, how);
	while ((r = session_run(&n)) && good && !good(r))
		run_free(r);
	session_end(&n);
	return r;
}

void run_free(struct run *r)
{
	trace_free(r->t);
	free(r);
}

static char text[65536];

static const char *add(const char *word)
{
	size_t n = strlen(text);

	snprintf(text + n, sizeof(text) - n, "%s%s", n ? " " : "", word);
	return text;
}

const char *schedule_of(const struct trace *t)
{
	char word[16];

	text[0] = 0;
	for (uint64_t i = 0; i < trace_nr_steps(t); i++) {
		snprintf(word, sizeof(word), "%u", trace_step(t, i)->task);
		add(word);
	}
	return text;
}

const char *ops_of(const struct trace *t, uint32_t task)
{
	text[0] = 0;
	for (uint64_t i = 0; i < trace_nr_steps(t); i++)
		if (task == TRACE_NO_TASK || trace_step(t, i)->task == task)
			add(zug_op_name(trace_step(t, i)->label.op));
	return text;
}

const char *notes_of(const struct trace *t, uint32_t task)
{
	static const char *const names[] = { "?", "block", "wake", "exit", "exec", "message" };

	text[0] = 0;
	for (uint64_t i = 0; i <= trace_nr_steps(t); i++)
		for (uint32_t k = 0; k < trace_nr_notes(t, i); k++)
			if (task == TRACE_NO_TASK || trace_note_at(t, i, k)->task == task)
				add(names[trace_note_at(t, i, k)->kind]);
	return text;
}

bool is_outcome(const struct run *r, enum zug_outcome_kind kind, const char *message)
{
	return r->x.outcome.kind == kind && (!message || strstr(r->x.outcome.message, message));
}

void check(bool good, const struct run *r, const char *what)
{
	if (tap_ok(good, "%s", what) || !r)
		return;
	printf("# outcome %s: %s\n", zug_outcome_name(r->x.outcome.kind), r->x.outcome.message);
	printf("# ret %d (%s), %lu steps, %lu preemptions, %lu grants, %lu ms%s%s\n", r->ret,
	       r->err, (unsigned long)r->x.steps, (unsigned long)r->x.preemptions,
	       (unsigned long)r->grants, (unsigned long)(r->ns / MS),
	       r->x.diverged ? ", diverged: " : "", r->x.divergence);
	if (r->t) {
		printf("# %.400s\n", schedule_of(r->t));
		printf("# %.400s\n", ops_of(r->t, TRACE_NO_TASK));
		printf("# %.400s\n", notes_of(r->t, TRACE_NO_TASK));
	}
}
