/* SPDX-License-Identifier: GPL-2.0-only */
/* Command lines by the table of run_options.c; a script's options come before those of the command line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bpf/zug_abi.h"
#include "campaign/run_options.h"
#include "engine/faults.h"
#include "search/strategy.h"

/* --list-points: enough for the first looks of most programs. */
#define LISTING_EXECUTIONS 20
/* zug plan */
#define DEFAULT_SUBTREES 64
#define DEFAULT_PLAN "zug.plan"
/* Of so many CPUs zug needs one, and two lanes on one CPU are no faster than one. */
#define FEW_CPUS 2

/* The script's options come before those of the command line, which may say otherwise. */
static int read_script(struct run_options *o, const struct command_line *line, const char *path,
		       char *err, size_t errlen)
{
	char why[1024];
	int ret = script_load(&o->script, path, &run_options_script, why, sizeof(why));

	if (ret)
		snprintf(err, errlen, "--script: %s", why);
	for (size_t i = 0; i < o->script.nr_options && !ret; i++) {
		const struct script_option *so = &o->script.options[i];
		char *words[] = { (char *)line->command, so->argument, NULL };

		if (command_line_parse(line, o, o->given, 2, words, why, sizeof(why)) < 0) {
			snprintf(err, errlen, "%s:%u: %s", path, so->line, why);
			ret = -EINVAL;
		}
	}
	o->c.search.executions = 1;
	o->c.search.script = &o->script;
	return ret;
}

static void reset(struct run_options *o, enum run_command command)
{
	memset(o, 0, sizeof(*o));
	command_line_defaults(run_options_line(command), o);
	/* the caller of such a test looks for the files that it writes */
	if (command == RUN_EXEC || command == RUN_DAEMON)
		o->c.environment.own = 0;
}

static bool is_given(const struct run_options *o, const struct command_line *line, const char *name)
{
	for (unsigned int i = 0; i < line->nr_rows; i++)
		if (o->given[i] && !strcmp(line->rows[i].name, name))
			return true;
	return false;
}

/* What is wrong with the strategy is said where the search is made. */
static bool strategy_divides(const struct campaign_options *c)
{
	int64_t args[STRATEGY_MAX_PARAMS];
	char ignored[256];
	const struct strategy_type *type = strategy_parse(c->search.strategy, args, ignored, sizeof(ignored));

	return type && type->confine;
}

/*
 * Without -j, a machine with more than a few CPUs makes as many executions at a time as it has quiet ones, and zug has one.
 * Whether there are lanes depends on nothing but the machine and the options, because a search with lanes is another one.
 */
static void use_cpus(struct run_options *o, const struct command_line *line)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	bool given[COMMAND_LINE_ROWS];
	char ignored[256];

	if (cpus <= FEW_CPUS || o->script_path || is_given(o, line, "jobs"))
		return;
	memcpy(given, o->given, sizeof(given));
	for (unsigned int i = 0; i < line->nr_rows; i++)
		given[i] |= !strcmp(line->rows[i].name, "jobs");
	if (command_line_check(line, o, given, ignored, sizeof(ignored)))
		return;
	o->c.search.lanes = cpus - 1 < RUN_MOST_LANES ? cpus - 1 : RUN_MOST_LANES;
	o->c.search.lanes_quiet = true;
}

int run_options_parse(struct run_options *o, enum run_command command, int argc, char **argv,
		      char *err, size_t errlen)
{
	const struct command_line *line = run_options_line(command);
	extern char **environ;
	struct campaign_options *c = &o->c;
	int ret;

	reset(o, command);
	ret = command_line_parse(line, o, o->given, argc, argv, err, errlen);
	if (ret > 0 && o->script_path) {
		const char *path = o->script_path;

		run_options_free(o);
		reset(o, command);
		ret = read_script(o, line, path, err, errlen);
		if (!ret)
			ret = command_line_parse(line, o, o->given, argc, argv, err, errlen);
		c->search.rules = o->script.rules;
		c->points.races &= o->script.races;
		c->results.minimize = false;
	}
	if (ret <= 0)
		return ret ? ret : 1;
	o->nr_options = ret - 1;
	ret = command_line_check(line, o, o->given, err, errlen);
	if (ret)
		return ret;
	if (c->results.list_points && !o->script_path && !is_given(o, line, "executions"))
		c->search.executions = LISTING_EXECUTIONS;
	/* with a tree there is no number of executions that all shards would share */
	if (command == RUN_PLAN ||
	    ((c->search.shards || c->search.lanes) && !is_given(o, line, "executions") && strategy_divides(c)))
		c->search.executions = 0;
	if (command == RUN_COMMAND)
		use_cpus(o, line);
	c->failure.steps_follow = !is_given(o, line, "max-steps");
	c->failure.time_follows = !is_given(o, line, "timeout");
	if (command == RUN_PLAN && !c->search.subtrees)
		c->search.subtrees = DEFAULT_SUBTREES;
	if (command == RUN_PLAN && !c->search.plan)
		c->search.plan = DEFAULT_PLAN;
	/* zug check executes one schedule again and again */
	if (command == RUN_CHECK && c->inputs.timeouts == TIMEOUTS_AUTO)
		c->inputs.timeouts = TIMEOUTS_NEVER;
	c->inputs.explore_timeouts = c->inputs.timeouts == TIMEOUTS_EXPLORE;
	/* where only calls that fail are points */
	if (c->inputs.faults & 1u << FAULT_ENOMEM)
		c->points.syscalls |= ZUG_SYS_ALLOC;
	if (c->inputs.faults & 1u << FAULT_EINTR)
		c->points.syscalls |= ZUG_SYS_WAIT;
	c->command.argv = argv + 1 + o->nr_options;
	c->command.envp = environ;
	c->command.cwd = o->cwd;
	if (!getcwd(o->cwd, sizeof(o->cwd))) {
		ret = -errno;
		snprintf(err, errlen, "cannot find out the current folder: %s", strerror(-ret));
	} else if (command != RUN_DAEMON && !c->command.argv[0]) {
		ret = -EINVAL;
		snprintf(err, errlen, "no command; usage: %.*s", (int)strcspn(line->usage, "\n"),
			 line->usage);
	}
	return ret;
}

void run_options_free(struct run_options *o)
{
	command_line_free(run_options_line(RUN_COMMAND), o);
	free(o->rules);
	o->rules = NULL;
	script_free(&o->script);
}
