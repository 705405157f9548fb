/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zug check: executes one schedule many times and says where the executions begin to differ. The
 * comparing is done by campaign/check.h, the causes are found by check_causes.h; here is the text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "campaign/check.h"
#include "cli/campaign_text.h"
#include "cli/check_causes.h"
#include "cli/cli_options.h"
#include "zugd/client.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "engine/replay.h"
#include "report/report.h"
#include "report/report_internal.h"
#include "symbols/symbols.h"

#define FRAMES 8

static void say_step(FILE *out, const struct check_result *res, bool other, struct symbols *symbols)
{
	const struct trace *t = other ? res->other : res->first,
			   *at = other ? res->at_other : res->at_first;
	const struct trace_step *s;
	struct report_options ro;
	struct report rep;
	struct replay r;
	char text[512];

	report_options_init(&ro, out);
	ro.symbols = symbols;
	report_begin(&rep, out, t, &ro);
	s = replay_init(&r, t) ? NULL : replay_step(&r, res->at);
	fprintf(out, "%s ", other ? "this time:" : "first:    ");
	if (s) {
		report_label(&rep, &s->label, text, sizeof(text));
		fprintf(out, "T%u %s", s->task, text);
		report_site(&rep, s->label.site, text, sizeof(text));
		fprintf(out, "%s%s\n", text[0] ? "  at " : "", text);
	} else {
		fprintf(out, "it has ended\n");
	}
	for (uint32_t i = 0; s && at && i < trace_nr_stacks(at); i++) {
		const struct trace_stack *st = trace_stack_at(at, i);

		if (st->task != s->task)
			continue;
		for (uint32_t k = 0; k < st->nr_frames && k < FRAMES; k++) {
			report_frame(&rep, &st->frames[k], text, sizeof(text));
			fprintf(out, "    #%-2u %s\n", k, text[0] ? text : "?");
		}
	}
	replay_release(&r);
	report_end(&rep);
}

static void say_end(FILE *out, const struct trace *t, const char *when)
{
	struct report_options ro;

	report_options_init(&ro, out);
	fprintf(out, "%s ", when);
	report_outcome_line(out, t, &ro);
}

/* The first line that is not the same. */
static void say_output(FILE *out, const char *a, const char *b, const char *stream)
{
	size_t na, nb;
	char line[200];

	a = a ? a : "";
	b = b ? b : "";
	while (*a && *b) {
		na = strcspn(a, "\n");
		nb = strcspn(b, "\n");
		if (na != nb || memcmp(a, b, na))
			break;
		a += na + (a[na] == '\n');
		b += nb + (b[nb] == '\n');
	}
	for (int i = 0; i < 2; i++) {
		const char *s = i ? b : a;

		snprintf(line, sizeof(line), "%.*s", (int)strcspn(s, "\n"), s);
		fprintf(out, "%s ", i ? "this time:" : "first:    ");
		report_put(out, line, false);
		fprintf(out, "   on %s\n", stream);
	}
}

static bool same(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static void say_difference(FILE *out, const struct check_result *res, struct symbols *symbols)
{
	const struct trace_outcome *a = trace_outcome(res->first), *b = trace_outcome(res->other);

	switch (res->what) {
	case CHECK_SAME:
		return;
	case CHECK_STEPS:
		fprintf(out, "execution %d differs from the first at step %lu of %lu:\n", res->done,
			(unsigned long)res->at, (unsigned long)res->steps);
		say_step(out, res, false, symbols);
		say_step(out, res, true, symbols);
		return;
	case CHECK_OUTCOME:
		fprintf(out,
			"execution %d made the same %lu steps as the first, but ended differently:\n",
			res->done, (unsigned long)res->steps);
		say_end(out, res->first, "first:    ");
		say_end(out, res->other, "this time:");
		return;
	case CHECK_OUTPUT:
		fprintf(out,
			"execution %d made the same %lu steps as the first and ended alike, but its output differs:\n",
			res->done, (unsigned long)res->steps);
		if (!same(a->out_head, b->out_head))
			say_output(out, a->out_head, b->out_head, "standard output");
		else if (!same(a->out_tail, b->out_tail))
			say_output(out, a->out_tail, b->out_tail, "standard output");
		else if (!same(a->err_head, b->err_head))
			say_output(out, a->err_head, b->err_head, "standard error");
		else
			say_output(out, a->err_tail, b->err_tail, "standard error");
		return;
	}
}

/* A test that always fails repeats, too. */
static void say_failure(FILE *out, const struct check_result *res)
{
	const struct trace_outcome *o = res->first ? trace_outcome(res->first) : NULL;

	if (o && o->kind != ZUG_OUTCOME_PASS)
		say_end(out, res->first, "each failed:");
}

static int check(struct kernel *k, const struct campaign_options *o, int times, FILE *out,
		 FILE *err, const volatile sig_atomic_t *stop)
{
	struct check_result res = { 0 };
	struct campaign_text text;
	struct symbols *symbols;
	struct campaign *c;
	char line[1024] = "";
	int ret;

	campaign_text_init(&text, o, out, err);
	ret = campaign_text_new(&text, &c, k, stop);
	if (ret)
		return ret;
	ret = campaign_text_error(&text, check_repeats(c, times, &res, line, sizeof(line)), line);
	campaign_free(c);
	campaign_text_clear(&text);
	if (ret == ZUG_EXIT_INCOMPLETE && !res.done) {
		fprintf(out, "interrupted before there was anything to compare");
		if (res.primed)
			fprintf(out, ": the last of %d executions that looked for points took %.1f s, and made %lu steps",
				res.primed, res.primed_ns / 1e9, (unsigned long)res.primed_steps);
		fputs("\n", out);
	} else if (ret == ZUG_EXIT_INCOMPLETE) {
		fprintf(out, "interrupted: %d executions were the same: %lu steps\n", res.done,
			(unsigned long)res.steps);
		say_failure(out, &res);
	} else if (!ret && res.what == CHECK_SAME) {
		fprintf(out,
			"%d executions of one schedule, all the same: %lu steps, end and output\n",
			res.done, (unsigned long)res.steps);
		say_failure(out, &res);
	} else if (!ret) {
		ret = ZUG_EXIT_FINDING;
		symbols = symbols_new();
		say_difference(out, &res, symbols);
		symbols_free(symbols);
		fflush(out);
		check_causes(k, o, &res, out, stop);
		fprintf(out, "more: zug diff %s %s\n", res.path_first, res.path_other);
	}
	fflush(out);
	check_result_release(&res);
	return ret;
}

int check_execute(struct kernel *k, int argc, char **argv, FILE *out, FILE *err,
		  const volatile sig_atomic_t *stop)
{
	struct kernel *own = NULL;
	struct run_options o;
	char line[512];
	int ret = cli_run_options(&o, RUN_CHECK, argc, argv);

	if (ret)
		goto out;
	if (!o.c.search.strategy)
		o.c.search.strategy = "random";
	if (!k && kernel_open(&own, line, sizeof(line))) {
		fprintf(err, "zug check: %s\n", line);
		ret = ZUG_EXIT_ENVIRONMENT;
		goto out;
	}
	ret = check(k ? k : own, &o.c, o.times, out, err, stop);
	kernel_close(own);
out:
	run_options_free(&o);
	return ret;
}

int cmd_check(int argc, char **argv)
{
	return command_with_run_options(RUN_CHECK, "check", argc, argv, check_execute);
}
