/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Says why one schedule does not give the same execution (zug check).
 *
 * First it tries: with each control of inputs that is off, the schedule is executed again, and if
 * everything repeats then, that is the answer. Other causes are told from evidence: instructions
 * that ask the processor, files that the test has changed, a computation that the timer cut, or in which a timer of the test
 * rang, wakers outside of the test. check_causes() has the order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include "lib/base/installed.h"
#include "cli/check_causes.h"
#include "engine/replay.h"
#include "probes/code.h"
#include "report/report.h"
#include "report/report_internal.h"
#include "symbols/symbols.h"

/*
 * Enough to believe it: a difference that came after n executions is looked for three times as
 * long.
 */
#define TRIES_MIN 10
#define TRIES_MAX 100
/* Of one kind; a disassembler shows the others. */
#define PLACES_MAX 3
#define ASKING_MAX 32

struct causes {
	struct kernel *k;
	const struct campaign_options *o;
	const struct check_result *res;
	FILE *out;
	const volatile sig_atomic_t *stop;
	unsigned int nr;	/* told so far */
};

static void tell(struct causes *c, const char *what)
{
	fprintf(c->out, "%s %s: ", c->nr++ ? "or           " : "likely source", what);
}

/* ---- what can be tried ---- */

enum { TIME = 1, RANDOM = 2, ADDRESSES = 4 };

static const struct {
	unsigned int bit;
	const char *what, *option;
} controls[] = {
	{ TIME, "time", "--time virtual" },
	{ RANDOM, "randomness", "--random seed" },
	{ ADDRESSES, "addresses", "no --aslr" },
};

#define NR_CONTROLS (sizeof(controls) / sizeof(controls[0]))

static unsigned int controls_off(const struct campaign_options *o)
{
	return (o->inputs.real_time ? TIME : 0) | (o->inputs.real_random ? RANDOM : 0) |
	       (o->machine.randomise ? ADDRESSES : 0);
}

/*
 * A check without messages, whose traces are removed. 0, or what check_repeats() returns otherwise:
 * there is no result then.
 */
static int try_quietly(struct causes *c, const struct campaign_options *o, int times,
		       struct check_result *r)
{
	const struct campaign_observer silent = { 0 };
	struct campaign *campaign;
	char line[512];
	int ret = campaign_new(&campaign, c->k, o, &silent, c->stop, line, sizeof(line));

	if (ret)
		return ret;
	ret = check_repeats(campaign, times, r, line, sizeof(line));
	campaign_free(campaign);
	if (r->path_first)
		remove(r->path_first);
	if (r->path_other)
		remove(r->path_other);
	if (ret)
		check_result_release(r);
	return ret;
}

/*
 * How many executions were the same with these controls on as well; 0: one was not, or it could not
 * be tried.
 */
static int repeats_with(struct causes *c, unsigned int on)
{
	int times = 3 * c->res->done < TRIES_MIN ? TRIES_MIN :
		    3 * c->res->done > TRIES_MAX ? TRIES_MAX :
						   3 * c->res->done;
	struct campaign_options o = *c->o;
	struct check_result r;

	o.inputs.real_time &= !(on & TIME);
	o.inputs.real_random &= !(on & RANDOM);
	o.machine.randomise &= !(on & ADDRESSES);
	if (try_quietly(c, &o, times, &r))
		return 0;
	if (r.what != CHECK_SAME)
		times = 0;
	check_result_release(&r);
	return times;
}

static void try_controls(struct causes *c)
{
	unsigned int off = controls_off(c->o);
	bool found = false;
	int times;

	for (size_t i = 0; i < NR_CONTROLS; i++) {
		times = off & controls[i].bit ? repeats_with(c, controls[i].bit) : 0;
		if (!times)
			continue;
		tell(c, controls[i].what);
		fprintf(c->out, "with %s %d executions were the same\n", controls[i].option, times);
		found = true;
	}
	if (found || !(off & (off - 1)))
		return;
	times = repeats_with(c, off);
	if (!times)
		return;
	tell(c, "several");
	fprintf(c->out, "%d executions were the same with", times);
	for (size_t i = 0; i < NR_CONTROLS; i++)
		if (off & controls[i].bit)
			fprintf(c->out, " %s", controls[i].option);
	fprintf(c->out, " together\n");
}

/* ---- what the processor answers ---- */

static bool of_distribution(const char *path)
{
	return path_is_installed(path) || path[0] != '/';
}

/* An instruction that asks the processor. */
struct asking {
	char point[4200];	/* as --point takes it; "" where it has no name */
	char place[600];	/* for people */
	const char *path;
	uint32_t offset;
	enum code_kind kind;
	bool reached;
};

struct enclosing {
	uint64_t offset;
	struct symdef found;
	char name[256];
};

static int is_around(const struct symdef *d, void *arg)
{
	struct enclosing *e = arg;

	if (!d->is_function || d->offset == UINT64_MAX || e->offset < d->offset ||
	    e->offset >= d->offset + d->size)
		return 0;
	e->found = *d;
	snprintf(e->name, sizeof(e->name), "%s", d->name);
	return 1;
}

static void name_place(struct asking *a, struct report *rep, struct symfile *f)
{
	struct enclosing e = { .offset = a->offset };
	struct trace_frame frames[8];
	int n = symfile_frames(f, a->offset, frames, 8), own = 0;

	symfile_find(f, "*", is_around, &e);
	if (e.name[0])
		snprintf(a->point, sizeof(a->point), "%s:%s+0x%lx", a->path, e.name,
			 (unsigned long)(a->offset - e.found.offset));
	/* an intrinsic is a function of the compiler's header, inlined */
	while (own + 1 < n && frames[own].inlined && frames[own].file &&
	       of_distribution(frames[own].file))
		own++;
	if (n > 0)
		report_frame(rep, &frames[own], a->place, sizeof(a->place));
	else
		snprintf(a->place, sizeof(a->place), "%s+0x%x", strrchr(a->path, '/') + 1,
			 a->offset);
}

static unsigned int find_asking(struct report *rep, struct symbols *symbols, const struct trace *t,
				struct asking *list)
{
	const struct trace_module *m;
	unsigned int nr = 0;
	char err[256];

	for (uint32_t i = 0; (m = trace_module(t, i)); i++) {
		struct symfile *f = of_distribution(m->path) ?
					    NULL :
					    symbols_file(symbols, m->path, NULL, err, sizeof(err));
		struct code *code;

		if (!f || code_open(&code, m->path, f, CODE_CACHE, err, sizeof(err)))
			continue;
		for (uint32_t k = 0; k < code_nr(code) && nr < ASKING_MAX; k++) {
			const struct code_place *p = code_at(code, k);

			if (p->kind != CODE_TIME && p->kind != CODE_RANDOM)
				continue;
			list[nr] = (struct asking){ .path = m->path,
						    .offset = p->offset,
						    .kind = p->kind };
			name_place(&list[nr++], rep, f);
		}
		code_free(code);
	}
	return nr;
}

/* Executes the test with a point at each instruction, to see which are reached. */
static void see_reached(struct causes *c, struct asking *list, unsigned int nr)
{
	struct campaign_options o = *c->o;
	char *points[ASKING_MAX + 1];
	struct check_result r;
	unsigned int n = 0;

	for (unsigned int i = 0; i < nr; i++)
		if (list[i].point[0])
			points[n++] = list[i].point;
	points[n] = NULL;
	o.points.places = points;
	if (!n || try_quietly(c, &o, 2, &r))
		return;
	for (uint64_t i = 0; r.first && i < trace_nr_steps(r.first); i++) {
		const struct trace_site *s =
			trace_site(r.first, trace_step(r.first, i)->label.site);
		const struct trace_module *m = s ? trace_module(r.first, s->module) : NULL;

		for (unsigned int k = 0; m && k < nr; k++)
			list[k].reached |= s->offset == list[k].offset &&
					   !strcmp(m->path, list[k].path);
	}
	check_result_release(&r);
}

static void look_at_code(struct causes *c, struct report *rep, struct symbols *symbols)
{
	struct asking *list = calloc(ASKING_MAX, sizeof(*list));
	unsigned int nr = list ? find_asking(rep, symbols, c->res->first, list) : 0, told = 0;

	if (nr)
		see_reached(c, list, nr);
	for (unsigned int i = 0; i < nr && told < PLACES_MAX; i++) {
		bool time = list[i].kind == CODE_TIME;

		/* what is answered in the processor's place is no cause */
		if (!list[i].reached ||
		    (kernel_can_answer(c->k) &&
		     !(time ? c->o->inputs.real_time : c->o->inputs.real_random)))
			continue;
		told++;
		tell(c, time ? "time" : "randomness");
		fprintf(c->out,
			"%s in %s asks the processor; no option tames that before Linux 6.18: %s\n",
			time ? "rdtsc" : "rdrand or rdseed", list[i].place,
			time ? "clock_gettime() would follow --time" :
			       "getrandom() would follow --random");
	}
	free(list);
}

/* ---- files ---- */

/* True for files whose content the kernel makes when they are read: they change by that. */
static bool is_made_up(const char *path)
{
	static const long kinds[] = { PROC_SUPER_MAGIC, SYSFS_MAGIC, CGROUP2_SUPER_MAGIC,
				      TRACEFS_MAGIC, DEBUGFS_MAGIC };
	struct statfs fs;

	for (size_t i = 0; !statfs(path, &fs) && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (fs.f_type == kinds[i])
			return true;
	return false;
}

static bool on_file(const struct trace *t, uint64_t id, time_t since, const char **name)
{
	const struct trace_object *o = id ? trace_object(t, id) : NULL;
	struct stat st;

	if (!o || !o->name || o->name[0] != '/' || stat(o->name, &st) || !S_ISREG(st.st_mode) ||
	    st.st_ctime < since || is_made_up(o->name))
		return false;
	*name = o->name;
	return true;
}

/* A file that the test uses, and that has changed since. */
static void look_at_files(struct causes *c, time_t since)
{
	const char *name = NULL;

	for (uint64_t i = 0; i < trace_nr_steps(c->res->first) && !name; i++) {
		const struct zug_label *l = &trace_step(c->res->first, i)->label;

		if (!on_file(c->res->first, l->object, since, &name))
			on_file(c->res->first, l->object2, since, &name);
	}
	if (!name)
		return;
	tell(c, "file state");
	report_put(c->out, name, false);
	fprintf(c->out, " changed meanwhile, and each execution finds what was left there: %s\n",
		c->o->environment.own & SANDBOX_FILES ?
			"put it right with --setup, or let the test work below its working folder" :
			"--world files gives each its own");
}

/* ---- other deciders ---- */

static bool cut_by_timer(const struct trace *t, uint64_t steps)
{
	for (uint64_t i = 0; i < trace_nr_steps(t) && i <= steps; i++)
		if (trace_step(t, i)->label.op == ZUG_OP_SPIN &&
		    trace_step(t, i)->task != trace_step(t, i)->last)
			return true;
	return false;
}

/*
 * The task that was woken from outside of the test before that step, after it had blocked without a
 * time-out; TRACE_NO_TASK: none.
 */
static uint32_t woken_from_outside(const struct trace *t, uint64_t steps, const char **where)
{
	uint32_t who = TRACE_NO_TASK;

	for (uint64_t i = 0; i <= trace_nr_steps(t) && i <= steps + 1; i++)
		for (uint32_t k = 0; k < trace_nr_notes(t, i); k++) {
			const struct trace_note *n = trace_note_at(t, i, k);

			if (n->kind == TRACE_NOTE_BLOCK && who == TRACE_NO_TASK)
				*where = n->text;
			if (n->kind == TRACE_NOTE_WAKE && n->arg == TRACE_NO_TASK)
				who = n->task;
		}
	return who;
}

static bool is_channel(const struct trace_object *o)
{
	struct stat st;

	if (!o || !o->kind)
		return false;
	/* a FIFO that was opened by its name is known by that */
	return !strcmp(o->kind, "pipe") || !strcmp(o->kind, "socket") ||
	       (o->name && o->name[0] == '/' && !stat(o->name, &st) && S_ISFIFO(st.st_mode));
}

/*
 * The pipe or socket that a task (*who) read before that step, and to which no task of the test
 * writes; NULL: none. Data that was in it already wakes no task, so no event tells of it.
 */
static const struct trace_object *fed_from_outside(const struct trace *t, uint64_t steps,
						   uint32_t *who)
{
	for (uint64_t i = 0; i < trace_nr_steps(t) && i <= steps; i++) {
		const struct trace_step *s = trace_step(t, i);
		const struct trace_object *o = s->label.op == ZUG_OP_READ ||
							       s->label.op == ZUG_OP_RECV ?
						       trace_object(t, s->label.object) :
						       NULL;
		bool fed = false;

		if (!is_channel(o))
			continue;
		for (uint64_t k = 0; k < trace_nr_steps(t) && !fed; k++) {
			const struct zug_label *l = &trace_step(t, k)->label;

			fed = l->object == s->label.object &&
			      (l->op == ZUG_OP_WRITE || l->op == ZUG_OP_SEND);
		}
		if (fed)
			continue;
		*who = s->task;
		return o;
	}
	return NULL;
}

/* The signal of a timer of the test begins there; NULL: another step. */
static const char *signal_of_timer(const struct trace *t, uint64_t step)
{
	static const char *const names[] = { "SIGALRM", "SIGVTALRM", "SIGPROF" };
	const struct trace_step *s = step < trace_nr_steps(t) ? trace_step(t, step) : NULL;
	const struct trace_object *o = s && s->label.op == ZUG_OP_HANDLER ? trace_object(t, s->label.object) : NULL;

	for (size_t i = 0; o && o->name && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(o->name, names[i], strlen(names[i])))
			return names[i];
	return NULL;
}

static bool look_at_timers(struct causes *c)
{
	const char *a = signal_of_timer(c->res->first, c->res->at), *b = signal_of_timer(c->res->other, c->res->at);

	if (!a == !b)
		return false;
	tell(c, "a timer's signal");
	fprintf(c->out,
		"%s comes while the test computes, which takes as long as it takes: let the computation end after a number of "
		"rounds, or by another task\n", a ? a : b);
	return true;
}

static void look_at_wakers(struct causes *c)
{
	const struct trace_object *o;
	const char *where = NULL;
	uint32_t who;

	if (cut_by_timer(c->res->first, c->res->at) || cut_by_timer(c->res->other, c->res->at)) {
		tell(c, "unlabelled memory");
		fprintf(c->out,
			"the timer cut a long computation, never at the same place: a data race, if its tasks share "
			"memory there; --point FILE:LINE makes a place in it a point, --watch VAR a variable\n");
		return;
	}
	who = woken_from_outside(c->res->first, c->res->at, &where);
	if (who == TRACE_NO_TASK)
		who = woken_from_outside(c->res->other, c->res->at, &where);
	/* what --stdin gives is the same each time */
	o = who == TRACE_NO_TASK && !c->o->inputs.file ?
		    fed_from_outside(c->res->first, c->res->at, &who) :
		    NULL;
	if (o) {
		tell(c, "outside");
		fprintf(c->out,
			"T%u reads from %s, to which no task of the test writes: move the writer into the test\n",
			who, o->name ? o->name : o->kind);
		return;
	}
	if (who == TRACE_NO_TASK)
		return;
	tell(c, "outside");
	fprintf(c->out,
		"T%u was woken from outside of the test: move what it talks to into the test%s%s\n", who,
		where ? "; waits: " : "", where ? where : "");
}

void check_causes(struct kernel *k, const struct campaign_options *o,
		  const struct check_result *res, FILE *out, const volatile sig_atomic_t *stop)
{
	struct causes c = { .k = k, .o = o, .res = res, .out = out, .stop = stop };
	struct symbols *symbols = symbols_new();
	struct report_options ro;
	struct report rep;

	try_controls(&c);
	if (!c.nr && !look_at_timers(&c)) {
		look_at_files(&c, res->since);
		look_at_wakers(&c);
	}
	if (!c.nr && symbols) {
		report_options_init(&ro, out);
		ro.symbols = symbols;
		report_begin(&rep, out, res->first, &ro);
		look_at_code(&c, &rep, symbols);
		report_end(&rep);
	}
	if (!c.nr)
		fprintf(out,
			"likely source unknown: no control is off, no instruction or file explains it; docs/inputs.md says "
			"what is not controlled\n");
	symbols_free(symbols);
}
