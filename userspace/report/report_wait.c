// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_wait.c - the tasks that wait for each other at the end, and the stacks of all tasks
 *
 * report_wait_cycle() follows the locks through the steps: the lock that each task has asked for
 * (struct waiter) and the locks that are held (struct holding). report_wakes() looks for the last
 * signals of conditions that tasks wait for. report_stacks() prints the stacks that the trace has.
 */
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "report/report_internal.h"
#include "symbols/symbols.h"

#define CONDITIONS_MAX	4	/* so many are looked at */

struct waiter {
	uint32_t task;
	uint64_t asked;		/* the lock that it is about to take; 0: none */
	uint64_t blocked;	/* the object of a block without a wake so far */
	bool is_blocked, gone;
};

struct holding {
	uint64_t object;
	uint32_t task;
};

struct waits {
	struct waiter *waiters;
	size_t nr_waiters, waiters_room;
	struct holding *holdings;
	size_t nr_holdings, holdings_room;
};

static struct waiter *waiter(struct waits *w, uint32_t task)
{
	for (size_t i = 0; i < w->nr_waiters; i++)
		if (w->waiters[i].task == task)
			return &w->waiters[i];
	if (!ARRAY_RESERVE(w->waiters, w->waiters_room, w->nr_waiters + 1))
		return NULL;
	w->waiters[w->nr_waiters] = (struct waiter){ .task = task };
	return &w->waiters[w->nr_waiters++];
}

static void release(struct waits *w, uint64_t object, uint32_t task)
{
	for (size_t i = 0; i < w->nr_holdings; i++)
		if (w->holdings[i].object == object && w->holdings[i].task == task) {
			w->holdings[i] = w->holdings[--w->nr_holdings];
			return;
		}
}

/* A task that takes another step after it asked for a lock has got the lock. */
static void acquired(struct waits *w, struct waiter *who)
{
	if (!who->asked)
		return;
	release(w, who->asked, who->task);
	if (ARRAY_RESERVE(w->holdings, w->holdings_room, w->nr_holdings + 1))
		w->holdings[w->nr_holdings++] = (struct holding){ who->asked, who->task };
	who->asked = 0;
}

static void follow_step(struct waits *w, const struct trace_step *s)
{
	struct waiter *who = waiter(w, s->task);

	if (!who)
		return;
	/* a task that resumes from a wait may go back to sleep: it has not got the lock yet */
	if (s->label.op == ZUG_OP_RESUME) {
		who->is_blocked = false;
		return;
	}
	acquired(w, who);
	who->is_blocked = false;
	switch (s->label.op) {
	case ZUG_OP_LOCK:
	case ZUG_OP_WRLOCK:
	case ZUG_OP_RDLOCK:
	case ZUG_OP_SPIN_LOCK:
		who->asked = s->label.object;
		break;
	case ZUG_OP_UNLOCK:
	case ZUG_OP_RWUNLOCK:
	case ZUG_OP_SPIN_UNLOCK:
		release(w, s->label.object, s->task);
		break;
	case ZUG_OP_COND_WAIT:
	case ZUG_OP_COND_TIMEDWAIT:
		release(w, s->label.object2, s->task);
		who->asked = s->label.object2;
		break;
	}
}

static void follow_note(struct waits *w, const struct trace_note *n)
{
	struct waiter *who = n->task == TRACE_NO_TASK ? NULL : waiter(w, n->task);

	if (!who)
		return;
	switch (n->kind) {
	case TRACE_NOTE_BLOCK:
		who->is_blocked = true;
		who->blocked = n->object;
		break;
	case TRACE_NOTE_WAKE:
		who->is_blocked = false;
		break;
	case TRACE_NOTE_EXIT:
		who->gone = true;
		break;
	}
}

static const struct holding *holder(const struct waits *w, uint64_t object)
{
	for (size_t i = 0; i < w->nr_holdings; i++)
		if (w->holdings[i].object == object)
			return &w->holdings[i];
	return NULL;
}

static uint64_t waits_for(const struct waiter *who)
{
	if (who->gone)
		return 0;
	return who->is_blocked && who->blocked ? who->blocked : who->asked;
}

bool report_wait_cycle(const struct report *r, char *buf, size_t len)
{
	uint64_t nr = trace_nr_steps(r->t);
	struct waits w = { 0 };
	struct waiter *who = NULL;
	size_t at = 0, hops;
	bool found = false;

	for (uint64_t i = 0; i <= nr; i++) {
		for (uint32_t k = 0, n = trace_nr_notes(r->t, i); k < n; k++)
			follow_note(&w, trace_note_at(r->t, i, k));
		if (i < nr)
			follow_step(&w, trace_step(r->t, i));
	}
	/* a task that is reached after as many hops as there are tasks is part of a cycle */
	for (size_t start = 0; start < w.nr_waiters && !found; start++) {
		who = &w.waiters[start];
		for (hops = 0; who && hops <= w.nr_waiters; hops++) {
			const struct holding *h = waits_for(who) ? holder(&w, waits_for(who)) : NULL;

			who = h ? waiter(&w, h->task) : NULL;
		}
		found = who;
	}
	if (found) {
		const struct waiter *first = who;

		do {
			const struct holding *h = holder(&w, waits_for(who));
			char object[256];

			report_object_name(r, waits_for(who), object, sizeof(object));
			if (at < len)
				at += snprintf(buf + at, len - at, "%sT%u waits for %s, held by T%u%s", at ? "; " : "",
					       who->task, object, h->task, h->task == who->task ? " itself" : "");
			who = waiter(&w, h->task);
		} while (who != first);
	}
	free(w.waiters);
	free(w.holdings);
	return found;
}

static bool waits_for_condition(const struct trace_step *s, uint64_t condition)
{
	return (s->label.op == ZUG_OP_COND_WAIT || s->label.op == ZUG_OP_COND_TIMEDWAIT) && s->label.object == condition;
}

/* The last step of that task. */
static uint64_t last_step(const struct trace *t, uint32_t task)
{
	uint64_t i = trace_nr_steps(t);

	while (i > 0 && trace_step(t, i - 1)->task != task)
		i--;
	return i ? i - 1 : UINT64_MAX;
}

/* The task that goes on because of the signal in that step; TRACE_NO_TASK: none does. */
static uint32_t woken_by(const struct trace *t, uint64_t signal)
{
	const struct trace_step *s = trace_step(t, signal), *x;

	for (uint64_t i = signal + 1; i < trace_nr_steps(t); i++) {
		x = trace_step(t, i);
		if (x->label.op == ZUG_OP_RESUME && x->label.object == s->label.object)
			return x->task;
	}
	return TRACE_NO_TASK;
}

/*
 * Where several tasks wait for different things by one condition, a signal may wake one that has nothing to do, and waits
 * again, while another one stays asleep. signal: the last step that signals that condition.
 */
static void put_wake(struct report *r, uint64_t signal)
{
	const struct trace_step *s = trace_step(r->t, signal);
	uint64_t condition = s->label.object, last;
	uint32_t woken = woken_by(r->t, signal), nr = 0;
	char object[256], name[32], others[200] = "";
	size_t at = 0;

	last = woken == TRACE_NO_TASK ? UINT64_MAX : last_step(r->t, woken);
	if (last == UINT64_MAX || last < signal || !waits_for_condition(trace_step(r->t, last), condition))
		return;
	for (uint32_t i = 0; i < trace_nr_tasks(r->t) && at < sizeof(others); i++) {
		last = i == woken ? UINT64_MAX : last_step(r->t, i);
		if (last == UINT64_MAX || last > signal || !waits_for_condition(trace_step(r->t, last), condition))
			continue;
		at += snprintf(others + at, sizeof(others) - at, "%s%s", nr++ ? ", " : "",
			       report_task_name(i, name, sizeof(name)));
	}
	if (!nr)
		return;
	report_object_name(r, condition, object, sizeof(object));
	fprintf(r->out, "\n%sThe last signal of %s wakes %s, which waits for it again; %s waited, too, and sleep%s on:%s\n",
		report_style(r, STYLE_STRONG), object, report_task_name(woken, name, sizeof(name)), others, nr == 1 ? "s" : "",
		report_style(r, STYLE_PLAIN));
	report_action(r, s->task, "does", s);
}

void report_wakes(struct report *r)
{
	const struct trace_outcome *o = trace_outcome(r->t);
	uint64_t told[CONDITIONS_MAX];
	unsigned int nr = 0, k;

	if (!o || o->kind != ZUG_OUTCOME_DEADLOCK)
		return;
	for (uint64_t i = trace_nr_steps(r->t); i-- > 0 && nr < CONDITIONS_MAX;) {
		const struct zug_label *l = &trace_step(r->t, i)->label;

		if (l->op != ZUG_OP_COND_SIGNAL && l->op != ZUG_OP_COND_BROADCAST)
			continue;
		for (k = 0; k < nr && told[k] != l->object; k++)
			;
		if (k < nr)
			continue;
		told[nr++] = l->object;
		if (l->op == ZUG_OP_COND_SIGNAL)
			put_wake(r, i);
	}
}

/* True for the functions that start a thread or call main(). */
static bool is_plumbing(const struct trace_frame *f)
{
	static const char *const names[] = {
		"start_thread", "clone3", "__clone3", "clone", "__clone", "_start", "start",
		"__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main",
	};

	for (size_t i = 0; f->function && i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(f->function, names[i], strlen(names[i])) &&
		    (!f->function[strlen(names[i])] || f->function[strlen(names[i])] == '@'))
			return true;
	return false;
}

/* True for a frame of the language's library, or of a library without debug information. */
static bool is_library(const struct trace_frame *f)
{
	return f->file ? symbols_of_library(f->file) : f->function && strstr(f->function, ".so") && strstr(f->function, "+0x");
}

/* Those of a C library, which name no folder from the root, are nowhere. */
static bool has_source(struct report *r, const char *file)
{
	char path[4096];

	return file && report_source(r, report_source_path(r, file, path, sizeof(path)));
}

/*
 * A stack may show nothing of the program: main() has returned, or a library waits. Then the task's
 * last step in the program is printed instead.
 */
static void put_last_place(struct report *r, const struct trace_stack *s)
{
	const struct trace_frame *frames, *own = NULL;
	const struct trace_step *step = NULL;
	struct report_caller caller;
	char label[600], place[600];
	uint32_t nr;

	for (uint64_t i = trace_nr_steps(r->t); i-- > 0 && !own;) {
		const struct trace_site *site;

		step = trace_step(r->t, i);
		site = step->task == s->task ? trace_site(r->t, step->label.site) : NULL;
		/* of a shell that is the line of its script */
		if (site && report_caller_of(r, s->task, step, &caller) && has_source(r, caller.frame.file)) {
			own = &caller.frame;
			break;
		}
		if (!site || report_is_system_module(trace_module(r->t, site->module)))
			continue;
		nr = report_frames(r, step->label.site, &frames);
		own = report_main_frame(frames, nr);
		if (own && (!own->file || symbols_of_library(own->file)))
			own = NULL;
	}
	if (!own)
		return;
	for (uint32_t k = 0; k < s->nr_frames; k++)
		if (s->frames[k].file && !strcmp(s->frames[k].file, own->file))
			return;
	report_label(r, &step->label, label, sizeof(label));
	report_step_place(r, step, place, sizeof(place));
	fprintf(r->out, "    its last step in the program: %s  %s\n", label, place);
	report_source_line(r, own, 6);
}

static bool has_own_frame(const struct trace_stack *s)
{
	for (uint32_t k = 0; k < s->nr_frames; k++)
		if (s->frames[k].file && symbols_is_source(s->frames[k].file) && !symbols_of_library(s->frames[k].file))
			return true;
	return false;
}

void report_stacks(struct report *r, enum report_stack_choice which)
{
	bool brief = which != STACKS_ALL;
	char line[1024], name[32];

	for (uint32_t i = 0; i < trace_nr_stacks(r->t); i++) {
		const struct trace_stack *s = trace_stack_at(r->t, i);
		const struct trace_task *task = trace_task(r->t, s->task);
		bool sourced = false, own = false;

		if ((which == STACKS_RACING && strncmp(s->state, "races:", 6)) || (which == STACKS_OWN && !has_own_frame(s)))
			continue;
		fprintf(r->out, "\n%s%s%s", report_task_style(r, s->task),
			report_task_name(s->task, name, sizeof(name)), report_style(r, STYLE_PLAIN));
		if (task && task->comm[0]) {
			report_clean(line, sizeof(line), task->comm);
			fprintf(r->out, " (%s)", line);
		}
		report_clean(line, sizeof(line), s->state);
		fprintf(r->out, "%s%s\n", line[0] ? ": " : "", line);
		for (uint32_t k = 0; k < s->nr_frames; k++) {
			const struct trace_frame *f = &s->frames[k];

			/*
			 * how a thread starts and what calls main() tells nothing about the failure
			 */
			if (brief && (is_plumbing(f) || (own && is_library(f))))
				continue;
			own |= f->file && f->file[0] == '/' && !symbols_of_library(f->file);
			report_frame(r, f, line, sizeof(line));
			fprintf(r->out, "    #%-2u %s%s\n", k, line[0] ? line : "?",
				f->inlined ? " (inlined)" : "");
			if (f->file && (!brief || (!sourced && !symbols_of_library(f->file))))
				sourced |= report_source_line(r, f, 6);
		}
		put_last_place(r, s);
	}
}
