/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zug replay: executes a trace again, and says whether it did the same; with --gdb or --core, under
 * a debugger (debug/gdb.h), which stops at a step that find_stop() chooses.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "zugd/client.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "debug/gdb.h"
#include "lib/base/rights.h"
#include "engine/replay.h"
#include "kernel/machine.h"
#include "report/report.h"
#include "cli/retrace.h"

#define NO_PROCESS UINT32_MAX

struct replay_options {
	struct retrace_options r;
	int times;
	bool profile;
	/* debugging */
	bool gdb, at_preemption, before_failure;
	const char *gdb_socket, *core;
	uint64_t stop_at, exec_step;
	uint32_t process;
	char **gdb_arguments;	/* NULL at the end */
};

static int parse_task(const struct option_row *r, const char *text, void *options, char *err,
		      size_t errlen)
{
	uint64_t task;

	if (!option_number(text + (*text == 'T'), UINT32_MAX - 1, &task))
		return -EINVAL;
	option_set(r, options, task);
	return 0;
}

#define AT(member) OPTION_AT(struct replay_options, member)

static const struct option_row rows[] = {
	{ .name = "times", .letter = 'n', .argument = "N", .kind = OPTION_NUMBER, .min = 1,
	  .max = 1000000, .preset = "1", AT(times), .excludes = "gdb gdb-socket core",
	  .why = "a debugger follows one execution",
	  .help = "execute it N times" },
	{ .name = "profile", .kind = OPTION_FLAG, AT(profile),
	  .help = "say at the end where the time went, and how many points asked" },
	RETRACE_ROWS(RETRACE_REBUILT),
	RETRACE_COLOUR,
	{ .section = "debugging, under the recorded schedule", .name = "gdb", .kind = OPTION_FLAG,
	  AT(gdb),
	  .help = "run gdb on a process of the test; what follows -- are more arguments for gdb" },
	{ .name = "gdb-socket", .argument = "PATH", .kind = OPTION_TEXT, AT(gdb_socket),
	  .help = "do not start a gdb, but wait for one there" },
	{ .name = "process", .argument = "TASK", .kind = OPTION_CUSTOM, .parse = parse_task,
	  AT(process), .unset = NO_PROCESS, .valid = "a task, such as T2",
	  .needs = "gdb gdb-socket core",
	  .help = "the process of that task, such as T2 (default: of the one that is stopped "
		  "first)" },
	{ .name = "stop-at", .argument = "STEP", .kind = OPTION_NUMBER, AT(stop_at),
	  .unset = GDB_NO_STEP, .valid = "the number of a step (see zug show)",
	  .needs = "gdb gdb-socket core", .excludes = "stop-at-preemption stop-before-failure",
	  .help = "stop first before that step (as zug show counts; default: where the process "
		  "begins)" },
	{ .name = "stop-at-preemption", .kind = OPTION_FLAG, AT(at_preemption),
	  .needs = "gdb gdb-socket core", .excludes = "stop-before-failure",
	  .help = "stop first before the first switch that was forced" },
	{ .name = "stop-before-failure", .kind = OPTION_FLAG, AT(before_failure),
	  .needs = "gdb gdb-socket core",
	  .help = "stop first before the last step" },
	{ .name = "core", .argument = "FILE", .kind = OPTION_TEXT, AT(core),
	  .excludes = "gdb gdb-socket",
	  .why = "it starts a gdb of its own (in gdb, use generate-core-file)",
	  .help = "keep a core of the failing execution (gdb writes it)" },
};

static const struct command_line line = {
	.command = "zug replay",
	.rows = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.usage = "zug replay [options] TRACE [-- GDB-ARGUMENT...]\n",
	.about =
		"Executes the test of a trace again under the recorded schedule, and says whether it did the same.\n",
	.end = "Exit status: 1 when the failure showed again, 0 when a passing trace passed again, 5 when it\n"
	       "did not follow the schedule or ended differently.\n",
};

/* 0, an enum zug_exit with a message printed, or -1 after --help. */
static int parse(struct replay_options *o, int argc, char **argv)
{
	char **operands;
	int ret;

	memset(o, 0, sizeof(*o));
	ret = cli_options(&line, o, argc, argv, 1, -1, &operands);
	if (ret)
		return ret;
	o->r.path = operands[0];
	o->gdb_arguments = operands + 1;
	if (operands[1] && !o->gdb) {
		fprintf(stderr, "zug replay: '%s' follows TRACE: arguments for gdb need --gdb\n",
			operands[1]);
		return ZUG_EXIT_USAGE;
	}
	return 0;
}

static bool debugs(const struct replay_options *o)
{
	return o->gdb || o->gdb_socket || o->core;
}

/* ---- debugging ---- */

static uint32_t process_of(const struct trace *t, uint32_t task)
{
	const struct trace_task *tt = trace_task(t, task);

	return tt ? tt->process : task;
}

/* The process with most threads is the one that is tested; of several, the one that does most. */
static uint32_t main_process(const struct trace *t)
{
	uint64_t most = 0, nr;
	uint32_t best = 0;

	for (uint32_t k = 0; k < trace_nr_tasks(t); k++) {
		const struct trace_task *task = trace_task_at(t, k);

		if (task->process != task->task)
			continue;
		nr = 0;
		for (uint64_t i = 0; i < trace_nr_steps(t); i++)
			nr += process_of(t, trace_step(t, i)->task) == task->task;
		for (uint32_t i = 0; i < trace_nr_tasks(t); i++)
			nr += trace_task_at(t, i)->process == task->task ? trace_nr_steps(t) : 0;
		if (nr > most) {
			most = nr;
			best = task->task;
		}
	}
	return best;
}

/* The first step of a process after its last exec, when it is the program that it will be. */
static uint64_t first_step(const struct trace *t, uint32_t process)
{
	uint64_t first = GDB_NO_STEP;

	for (uint64_t i = 0; i < trace_nr_steps(t); i++) {
		for (uint32_t k = 0; k < trace_nr_notes(t, i); k++)
			if (trace_note_at(t, i, k)->kind == TRACE_NOTE_EXEC &&
			    process_of(t, trace_note_at(t, i, k)->task) == process)
				first = GDB_NO_STEP;
		if (first == GDB_NO_STEP && process_of(t, trace_step(t, i)->task) == process)
			first = i;
	}
	return first;
}

/* Finds the step and the process. 0 or an enum zug_exit with a message printed. */
static int find_stop(struct replay_options *o, const struct trace *t, FILE *err)
{
	if (o->process != NO_PROCESS && !trace_task(t, o->process)) {
		fprintf(err, "zug replay: --process T%u: %s has no such task\n", o->process,
			o->r.path);
		return ZUG_EXIT_USAGE;
	}
	if (o->stop_at != GDB_NO_STEP && o->stop_at >= trace_nr_steps(t)) {
		fprintf(err, "zug replay: --stop-at %lu: %s has %lu steps\n",
			(unsigned long)o->stop_at, o->r.path, (unsigned long)trace_nr_steps(t));
		return ZUG_EXIT_USAGE;
	}
	if (o->at_preemption)
		o->stop_at = gdb_preemption_step(t, 0);
	else if (o->before_failure)
		o->stop_at = gdb_failure_step(t);
	if (o->stop_at == GDB_NO_STEP && (o->at_preemption || o->before_failure)) {
		fprintf(err, "zug replay: %s: %s\n", o->r.path, o->at_preemption ?
			"no switch in it was forced (zug show prints its steps)" : "it has no steps");
		return ZUG_EXIT_USAGE;
	}
	if (o->process != NO_PROCESS)
		o->process = process_of(t, o->process);
	else if (o->stop_at != GDB_NO_STEP)
		o->process = process_of(t, trace_step(t, o->stop_at)->task);
	else
		o->process = main_process(t);
	o->exec_step = GDB_NO_STEP;
	if (o->stop_at == GDB_NO_STEP) {
		o->stop_at = first_step(t, o->process);
		/* the step in which it executed what it is: the exec itself is no step */
		for (uint64_t i = 0; i < trace_nr_steps(t) && i < o->stop_at; i++)
			if (process_of(t, trace_step(t, i)->task) == o->process)
				o->exec_step = i;
	}
	return 0;
}

/*
 * The debugger that the options ask for; *g NULL: none. 0 or an enum zug_exit with a message
 * printed.
 */
static int make_debugger(struct gdb **g, struct replay_options *o, const struct trace *t,
			 FILE *err_to, const volatile sig_atomic_t *stop)
{
	/* at the failure, or where the program ends with a wrong status, it writes what there is */
	static char write_core[4200];
	/*
	 * it needs no symbols of libraries for that, and reading them takes longer than all the
	 * rest
	 */
	static char *core[] = { (char *)"-nx",
				(char *)"-batch",
				(char *)"-iex",
				(char *)"set auto-solib-add off",
				(char *)"-iex",
				(char *)"set auto-load off",
				(char *)"-ex",
				(char *)"continue",
				(char *)"-ex",
				write_core,
				NULL };
	struct gdb_options go = { .socket = o->gdb_socket,
				  .command = o->gdb ? o->gdb_arguments : NULL,
				  .stop_at_exit = o->core,
				  .err = err_to,
				  .stop = stop };
	char err[300];
	int ret;

	*g = NULL;
	if (!debugs(o))
		return 0;
	if (rights_user()) {
		fprintf(err_to, "zug replay: zugd lets root alone use a debugger: user %u has the rights of group zug\n",
			rights_user()->uid);
		return ZUG_EXIT_USAGE;
	}
	ret = find_stop(o, t, err_to);
	if (ret)
		return ret;
	go.stop_at = o->stop_at;
	go.exec_step = o->exec_step;
	go.process = o->process;
	if ((o->gdb || o->core) && !machine_has_program("gdb", NULL)) {
		fprintf(err_to, "zug replay: gdb is not in PATH (apt install gdb%s)\n",
			o->core ? "" : "; or --gdb-socket for another one");
		return ZUG_EXIT_ENVIRONMENT;
	}
	if (o->core) {
		snprintf(write_core, sizeof(write_core), "generate-core-file %s", o->core);
		go.command = core;
	}
	if (!gdb_new(g, &go, t, err, sizeof(err)))
		return 0;
	fprintf(err_to, "zug replay: %s\n", err);
	return ZUG_EXIT_ENVIRONMENT;
}

/* ---- replaying ---- */

/* Prints what the program has printed. */
static void pass_on(const struct campaign *c, FILE *out, FILE *err)
{
	char *head, *tail;

	for (int i = 0; i < 2; i++) {
		FILE *to = i ? err : out;

		if (campaign_output(c, i, &head, &tail))
			continue;
		fputs(head, to);
		if (tail)
			fprintf(to, "\n[... %s cut ...]\n%s", i ? "error output" : "output", tail);
		fflush(to);
		free(head);
		free(tail);
	}
}

struct replays {
	const struct trace_outcome *want;	/* NULL: the trace has none */
	struct execution first;
	int made, same, diverged;
};

/* Says, of one replay, what was not as in the trace. */
static void judge(struct replays *n, const struct execution *x, FILE *err)
{
	bool alike = !n->want ||
		     (n->want->kind == x->outcome.kind && n->want->failure == x->outcome.failure);

	if (x->diverged) {
		if (!n->diverged++)
			fprintf(err, "zug: replay %d did not follow: %s\n", n->made, x->divergence);
	} else if (x->outcome.kind == ZUG_OUTCOME_INTERRUPTED) {
		fprintf(err, "zug: replay %d was cut: %s\n", n->made, x->outcome.message);
	} else if (alike) {
		n->same += x->hash == n->first.hash;
	} else if (n->same + 1 == n->made) {
		fprintf(err, "zug: replay %d followed the schedule but ended differently: %s %s\n",
			n->made, zug_outcome_name(x->outcome.kind), x->outcome.message);
	}
}

/* Executes the trace so often. An enum zug_exit. */
static int replay(struct retrace *r, int times, const volatile sig_atomic_t *stop)
{
	bool progress = times > 1 && r->text.progress;
	FILE *out = r->text.out, *err = r->text.err;
	struct replays n = { .want = trace_outcome(r->t) };
	struct report_options ro;
	struct replay schedule;
	struct execution x;
	char why[1024] = "";
	int ret;

	if (replay_init(&schedule, r->t)) {
		replay_release(&schedule);
		return ZUG_EXIT_INTERNAL;
	}
	ret = retrace_prepare(r, times);
	while (!ret && n.made < times && !(stop && *stop)) {
		ret = campaign_follow(r->c, &schedule, &x, why, sizeof(why));
		if (ret) {
			ret = campaign_text_error(&r->text, ret, why);
			break;
		}
		if (!n.made++) {
			n.first = x;
			pass_on(r->c, out, err);
		}
		judge(&n, &x, err);
		if (progress)
			fprintf(err, "\r\033[K%d of %d replays", n.made, times);
	}
	replay_release(&schedule);
	if (ret)
		return ret;
	if (progress)
		fprintf(err, "\r\033[K");
	report_options_init(&ro, out);
	report_options_colour(&ro, r->o.results.colour);
	fprintf(out, "zug: replayed %d of %d times exactly (%lu steps): ", n.same, n.made,
		(unsigned long)trace_nr_steps(r->t));
	report_outcome_text(out, n.first.outcome.kind, n.first.outcome.message, &ro);
	putc('\n', out);
	if (n.made < times || n.diverged || n.same < n.made)
		return ZUG_EXIT_INCOMPLETE;
	return zug_outcome_is_finding(n.first.outcome.kind) ? ZUG_EXIT_FINDING : ZUG_EXIT_PASS;
}

int replay_execute(struct kernel *k, int argc, char **argv, FILE *out, FILE *err_to,
		   const volatile sig_atomic_t *stop)
{
	struct replay_options ro;
	struct gdb *gdb = NULL;
	struct retrace r;
	int ret;

	ret = parse(&ro, argc, argv);
	if (ret)
		return ret;
	ret = retrace_open(&r, &ro.r, "replay", err_to);
	if (!ret)
		ret = make_debugger(&gdb, &ro, r.t, err_to, stop);
	if (gdb)
		r.o.replay.debugger = gdb_debugger(gdb);
	if (!ret)
		ret = retrace_begin(&r, &ro.r, k, out, err_to, stop);
	if (!ret) {
		ret = replay(&r, ro.times, stop);
		if (ro.profile)
			profile_text(out, r.c);
		if (ro.core && access(ro.core, R_OK)) {
			fprintf(err_to,
				"zug replay: no core was written to %s: the program did not fail, or gdb could not\n",
				ro.core);
			ret = ZUG_EXIT_INCOMPLETE;
		}
	}
	retrace_end(&r);
	gdb_free(gdb);
	return ret;
}

int cmd_replay(int argc, char **argv)
{
	struct replay_options ro;
	int ret, fd;

	ret = parse(&ro, argc, argv);
	if (ret)
		return ret == -1 ? ZUG_EXIT_PASS : ret;
	fd = debugs(&ro) ? client_connect(client_socket(ro.r.socket)) : -1;
	if (fd >= 0) {
		fprintf(stderr,
			"zug replay: zugd (pid %d) holds the scheduler, and does not serve debuggers: zug stop\n",
			client_peer(fd));
		close(fd);
		return ZUG_EXIT_ENVIRONMENT;
	}
	return command_dispatch(ro.r.socket, "replay", argc, argv, replay_execute);
}
