/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session_template.c - which executions of a session are forked from a template (--start auto)
 *
 * The template is made once the points have stayed the same over an execution that was started by exec, and made anew when
 * they change. What makes a template impossible, or has ended several before they were worth it, is a reason to start all
 * executions by exec from then on; the reason is told once, in the summary.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/base/clock.h"
#include "lib/base/debug.h"
#include "campaign/session.h"

/*
 * Of machine time, for the program's way to where executions may part. It stops at each of its system calls on the way, which
 * takes long on a busy machine, and may be worth it: so much at most as TEMPLATE_WORTH executions take by exec. How an
 * execution begins makes no difference to what it does.
 */
#define LEAST_PATIENCE_NS 5000000000ull
#define MOST_PATIENCE_NS 20000000000ull

/* What the options have against it; NULL: nothing. */
static const char *against(const struct session *s)
{
	const struct campaign_options *o = &s->o;

	if (o->machine.sandbox)
		return "the test joins the sandbox of zugd";
	if (!(o->environment.own & SANDBOX_PIDS))
		return "--world leaves pids out, so that each execution has others";
	if (o->environment.setup || o->environment.teardown)
		return "--setup and --teardown need an environment for each execution";
	if (o->inputs.file)
		return "--stdin gives each execution a new pipe";
	if (o->inputs.real_time)
		return "the test sees the machine's time";
	if (o->inputs.real_random)
		return "the test has the machine's random numbers";
	if (o->inputs.faults & CALL_FAULTS)
		return "--faults and --flows may change what comes first";
	if (o->machine.randomise)
		return "--aslr gives each execution other addresses";
	if (o->failure.invariants || o->failure.discards)
		return "--invariant and --discard-if look at memory from the beginning on";
	if (o->replay.debugger)
		return "a debugger looks on";
	if (s->nr_watches)
		return "--watch sets the processor's debug registers when a program is executed";
	return NULL;
}

void session_template_give_up(struct session *s, const char *why)
{
	struct session_template *t = &s->template;

	t->off = true;
	snprintf(t->why, sizeof(t->why), "%s", why);
	if (s->sandbox)
		sandbox_template_drop(s->sandbox);
}

/*
 * What of the points a template depends on. Where the search begins later nothing is a point before that, and a breakpoint that
 * is planted later, or is gone, is so in the template and its copies, too.
 */
static uint64_t probes_now(const struct session *s)
{
	return s->sandbox && sandbox_template_is_quiet(s->sandbox) ? kernel_probes_begins(s->k) : kernel_probes_changed(s->k);
}

/* The points are those that it was made with. */
static void keep_or_drop(struct session *s, uint64_t probes)
{
	struct session_template *t = &s->template;

	if (sandbox_template_there(s->sandbox) && t->probes != probes)
		sandbox_template_drop(s->sandbox);
}

static uint64_t patience_ns(const struct session *s)
{
	uint64_t took = s->template.exec_ns, ns = took ? TEMPLATE_WORTH * took : MOST_PATIENCE_NS, now = clock_now_ns();
	uint64_t until = session_until(s, 0);

	if (ns > MOST_PATIENCE_NS)
		ns = MOST_PATIENCE_NS;
	if (until > now && ns > until - now)
		ns = until - now;
	return ns > LEAST_PATIENCE_NS ? ns : LEAST_PATIENCE_NS;
}

static void make(struct session *s)
{
	struct session_template *t = &s->template;
	uint64_t begin = clock_now_ns();
	char err[256] = "";
	int ret = kworld_make_template(s->world, patience_ns(s), err, sizeof(err));

	t->made_ns = clock_now_ns() - begin;
	if (debug_word("times"))
		fprintf(stderr, "template: %.2f ms%s%s\n", t->made_ns / 1e6, ret ? ", none: " : "", err);
	if (ret) {
		session_template_give_up(s, err);
		return;
	}
	t->probes = probes_now(s);
	t->lives = 0;
}

void session_template_expect(struct session *s, uint64_t executions)
{
	s->template.settled = true;
	s->template.ahead = executions;
}

void session_template_same_points(struct session *s)
{
	s->template.probes_before = probes_now(s);
	s->template.same = TEMPLATE_WORTH;
}

bool session_template_on_trial(const struct session *s)
{
	const struct session_template *t = &s->template;

	return s->o.machine.start != START_EXEC && t->settled && !t->off && !t->proved &&
	       (t->ahead >= TEMPLATE_WORTH || sandbox_template_there(s->sandbox));
}

/* The next execution may be forked; the template is there, if one could be made. */
static bool may_fork(struct session *s)
{
	struct session_template *t = &s->template;
	uint64_t probes = probes_now(s), ahead = t->ahead;
	bool changed = t->probes_before != probes;
	const char *why;

	t->same = changed ? 0 : t->same + 1;
	t->probes_before = probes;
	t->quiet = s->sandbox && sandbox_template_is_quiet(s->sandbox);
	if (t->ahead && t->ahead != UINT64_MAX)
		t->ahead--;
	if (s->o.machine.start == START_EXEC || t->off || t->paused || !t->settled)
		return false;
	why = against(s);
	if (why) {
		session_template_give_up(s, why);
		return false;
	}
	keep_or_drop(s, probes);
	if (!sandbox_template_there(s->sandbox) && ahead >= TEMPLATE_WORTH && session_template_points_rest(t))
		make(s);
	else if (changed && debug_word("times"))
		fprintf(stderr, "template: none, for the last execution has added or removed points\n");
	return !t->off && sandbox_template_there(s->sandbox);
}

bool session_template_begin(struct session *s)
{
	struct session_template *t = &s->template;
	uint64_t before;

	t->begin_ns = 0;
	t->tried = may_fork(s);
	if (!t->tried)
		return false;
	before = clock_now_ns();
	if (!kworld_fork(s->world))
		return false;
	t->begin_ns = clock_now_ns() - before;
	return true;
}

void session_template_end(struct session *s, struct execution *x)
{
	struct session_template *t = &s->template;
	const char *why = s->sandbox ? sandbox_template_spoilt(s->sandbox) : NULL;

	if (!t->tried || !kworld_used_template(s->world))
		t->exec_ns = x->wall_ns;
	if (!t->tried)
		return;
	if (kworld_used_template(s->world)) {
		t->forked++;
		x->wall_ns += t->begin_ns;
		x->launch_ns += t->begin_ns;
		x->spent.ns[SPENT_ENVIRONMENT] += t->begin_ns;
		x->spent.all_ns += t->begin_ns;
		x->spent.copied++;
	}
	t->lives++;
	if (sandbox_template_there(s->sandbox))
		return;
	if (debug_word("times"))
		fprintf(stderr, "template: ended by execution %lu of it%s%s\n", (unsigned long)t->lives, why ? ": " : "",
			why ? why : "");
	if (session_template_ended(t))
		session_template_give_up(s, why ? why : "the test ends the process from which it is forked");
}

char *session_template_note(const struct session *s)
{
	const struct session_template *t = &s->template;
	char *text = NULL;
	int n = 0;

	if (!t->off)
		return NULL;
	if (!t->forked)
		n = asprintf(&text, "every execution started the program anew: %s\n", t->why);
	else
		n = asprintf(&text, "%lu executions began as copies of a process, the others started the program anew: %s\n",
			     (unsigned long)t->forked, t->why);
	return n < 0 ? NULL : text;
}
