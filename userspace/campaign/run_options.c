/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of options of zug run, zug exec, zug check and zugd, and what no row of it can say: how
 * a few arguments are parsed, and which values exclude each other.
 *
 * Read lib/base/command_line.h first: it has the meaning of a row's members. campaign_options.c
 * writes the rows with a key into traces.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bpf/zug_abi.h"
#include "campaign/run_options.h"
#include "campaign/shard_number.h"
#include "engine/faults.h"
#include "report/report.h"
#include "sandbox/sandbox.h"

#define RUN	(1u << RUN_COMMAND)
#define EXEC	(1u << RUN_EXEC)
#define CHECK	(1u << RUN_CHECK)
#define DAEMON	(1u << RUN_DAEMON)
#define PLAN	(1u << RUN_PLAN)

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* ---- words ---- */

/* --points: bits of their own for what is no class of system calls. */
#define SYNC	(1ll << 32)
#define ATOMIC	(1ll << 33)

static const struct option_word point_words[] = {
	{ "sync", SYNC }, { "atomic", ATOMIC }, { "syscall", ZUG_SYS_ALL },
	{ "syscall:file", ZUG_SYS_FILE }, { "syscall:ipc", ZUG_SYS_IPC },
	{ "syscall:signal", ZUG_SYS_SIGNAL }, { "syscall:process", ZUG_SYS_PROCESS },
	{ "syscall:futex", ZUG_SYS_FUTEX }, { "syscall:poll", ZUG_SYS_POLL }, { "none", 0 }, { 0 },
};

static const struct option_word clock_words[] = { { "virtual", false }, { "real", true }, { 0 } };
static const struct option_word start_words[] = {
	{ "auto", START_AUTO }, { "exec", START_EXEC }, { 0 },
};
static const struct option_word timeout_words[] = {
	{ "auto", TIMEOUTS_AUTO }, { "never", TIMEOUTS_NEVER }, { "explore", TIMEOUTS_EXPLORE }, { 0 },
};
const struct option_word ask_words[] = { { "unknown", false }, { "always", true }, { 0 } };
static const struct option_word random_words[] = { { "seed", false }, { "real", true }, { 0 } };

static const struct option_word world_words[] = {
	{ "private", SANDBOX_ALL }, { "shared", 0 }, { "files", SANDBOX_FILES },
	{ "ipc", SANDBOX_IPC }, { "pids", SANDBOX_PIDS }, { "net", SANDBOX_NET },
	{ "host", SANDBOX_HOST }, { 0 },
};

static const struct option_word fault_words[] = {
	{ "enospc", 1 << FAULT_ENOSPC }, { "eintr", 1 << FAULT_EINTR },
	{ "enomem", 1 << FAULT_ENOMEM }, { "refused", 1 << FAULT_REFUSED },
	{ "kill", 1 << FAULT_KILL }, { "short", 1 << FAULT_SHORT },
	{ "spurious", 1 << FAULT_SPURIOUS }, { 0 },
};

static const struct option_word flow_words[] = {
	{ "short-read", 1 << FLOW_SHORT_READ }, { "short-write", 1 << FLOW_SHORT_WRITE },
	{ "stdin", 1 << FLOW_STDIN }, { "loss", 1 << FLOW_LOSS }, { "reorder", 1 << FLOW_REORDER },
	{ "delay", 1 << FLOW_DELAY }, { 0 },
};

const struct option_word colour_words[] = {
	{ "auto", REPORT_COLOUR_AUTO },
	{ "always", REPORT_COLOUR_ALWAYS },
	{ "never", REPORT_COLOUR_NEVER },
	{ 0 },
};

/* ---- arguments that have a syntax of their own ---- */

static int parse_points(const struct option_row *r, const char *text, void *options, char *err,
			size_t errlen)
{
	struct run_options *o = options;
	int64_t set;

	if (!option_parse_set(point_words, text, &set))
		return -EINVAL;
	o->c.points.sync = set & SYNC;
	o->c.points.atomic = set & ATOMIC;
	o->c.points.syscalls = set;
	return 0;
}

static void print_points(const void *options, char *buf, size_t len)
{
	const struct campaign_options *o = options;

	option_print_set(point_words,
			 (o->points.sync ? SYNC : 0) | (o->points.atomic ? ATOMIC : 0) |
				 o->points.syscalls,
			 buf, len);
}

/* The text itself, or that of the file behind '@'. */
static int parse_rules(const struct option_row *r, const char *arg, void *options, char *err,
		       size_t errlen)
{
	struct run_options *o = options;
	char *text = NULL;
	size_t size = 0;
	int ret = 0;
	FILE *f = arg[0] == '@' ? fopen(arg + 1, "re") : NULL;

	if (arg[0] == '@' && (!f || (getdelim(&text, &size, 0, f) < 0 && ferror(f))))
		ret = -errno;
	if (!ret && !text)
		text = strdup(f ? "" : arg);
	if (f)
		fclose(f);
	if (ret || !text) {
		free(text);
		return ret ? ret : -ENOMEM;
	}
	free(o->rules);
	o->c.search.rules = o->rules = text;
	return 0;
}

static const char *jobs_conflict(const void *options)
{
	const struct run_options *o = options;

	return o->c.environment.own != SANDBOX_ALL ? "needs an environment of its own for each execution: --world leaves "
						     "something out" : NULL;
}

static int parse_shard(const struct option_row *r, const char *text, void *options, char *err, size_t errlen)
{
	struct run_options *o = options;
	struct shard_number s;
	int ret = shard_number_parse(text, &s, err, errlen);

	o->c.search.shard = s.k;
	o->c.search.shards = s.n;
	o->c.search.shard_variable = s.variable;
	return ret;
}

/* Lines "race:GLOB". */
static int parse_suppressions(const struct option_row *r, const char *path, void *options,
			      char *err, size_t errlen)
{
	struct run_options *o = options;
	char *line = NULL, *text, *end;
	size_t size = 0;
	int ret = 0, no = 0;
	FILE *f = fopen(path, "re");

	if (!f)
		return -errno;
	while (!ret && getline(&line, &size, f) > 0) {
		no++;
		text = line + strspn(line, " \t\r\n");
		end = text + strlen(text);
		while (end > text && strchr(" \t\r\n", end[-1]))
			*--end = 0;
		if (!*text || *text == '#')
			continue;
		if (!strncmp(text, "race:", 5) && text[5]) {
			ret = option_append(&o->c.failure.suppressions, text + 5);
			continue;
		}
		snprintf(err, errlen,
			 "line %d: '%s' is not race:GLOB, with a glob for a function, a source "
			 "file or a "
			 "variable",
			 no, text);
		ret = -EINVAL;
	}
	if (!ret && ferror(f))
		ret = -errno;
	free(line);
	fclose(f);
	return ret;
}

/* ---- values that exclude each other ---- */

static const char *faults_conflict(const void *options)
{
	const struct campaign_options *o = options;

	return o->points.syscalls || !(o->inputs.faults & CALL_FAULTS) ? NULL :
		"needs points at system calls: add syscall to --points";
}

static const char *flows_conflict(const void *options)
{
	const struct campaign_options *o = options;

	if (o->inputs.faults & 1u << FLOW_STDIN && !o->inputs.file)
		return "stdin needs --stdin FILE: without it the test has nothing to read";
	if (o->inputs.real_time && o->inputs.faults & (1u << FLOW_REORDER | 1u << FLOW_DELAY))
		return "reorder and delay need a clock that waits for them: --time virtual";
	return faults_conflict(options);
}

static const char *share_conflict(const void *options)
{
	const struct campaign_options *o = options;

	return o->environment.own & SANDBOX_FILES ?
		       NULL :
		       "has no effect: all files are shared here (--world files, or private, makes "
		       "some private)";
}

static const char *code_conflict(const void *options)
{
	const struct campaign_options *o = options;

	return o->points.atomic ? NULL :
				  "says where atomic instructions are points, but --points leaves "
				  "them out: add atomic to it";
}

/* dpor takes it that a task may be preempted before each of its operations. */
static const char *scope_conflict(const void *options)
{
	const struct campaign_options *o = options;

	return o->search.strategy && !strncmp(o->search.strategy, "dpor", 4) ?
		       "leaves out points, without which dpor would miss orders that can be had: use --strategy preemption, "
		       "delay or dfs, or one that samples" : NULL;
}

static const char *race_conflict(const void *options)
{
	const struct campaign_options *o = options;

	return !o->points.races ? "needs the search for data races (in a script: option races)" :
	       !o->points.sync ? "needs points at synchronisation: add sync to --points" : NULL;
}

/* ---- the table ---- */

#define AT(member) OPTION_AT(struct run_options, member)

static const struct option_row rows[] = {
	{ .section = "search", .name = "strategy", .argument = "NAME[:ARG=VALUE,...]",
	  .kind = OPTION_TEXT, AT(c.search.strategy),
	  .help = "how to choose schedules (see: zug strategies)" },
	{ .name = "seed", .argument = "N", .kind = OPTION_NUMBER, AT(c.search.seed), .preset = "1",
	  .script = true,
	  .help = "the same seed gives the same search" },
	{ .name = "executions", .argument = "N", .kind = OPTION_NUMBER, AT(c.search.executions),
	  .preset = "2000", .zero = "no bound", .commands = RUN,
	  .help = "stop after N executions" },
	{ .name = "time", .argument = "DURATION", .kind = OPTION_DURATION, AT(c.search.time_ns),
	  .commands = RUN,
	  .help = "stop after that time, whatever goes on: 90s, 10m, 2h (default: no bound)" },
	{ .name = "preemptions", .argument = "N", .kind = OPTION_NUMBER, .max = 1000,
	  AT(c.search.preemptions), .unset = -1,
	  .help = "at most N preemptions in an execution, in systematic strategies" },
	{ .name = "fair", .argument = "K", .kind = OPTION_NUMBER, .max = 1000000, AT(c.search.fair),
	  .preset = "1", .zero = "off", .script = true, .key = "fair", .place = 7, .absent = 1,
	  .help = "the fair scheduler acts on every K-th yield" },
	{ .name = "rules", .argument = "TEXT | @FILE", .kind = OPTION_CUSTOM, .parse = parse_rules,
	  AT(c.search.rules),
	  .help = "hold tasks, use tactics, bound where preemptions may be (see zug-run(1))" },
	{ .name = "script", .argument = "FILE", .kind = OPTION_TEXT, AT(script_path),
	  .commands = RUN, .excludes = "strategy rules preemptions resume each-case",
	  .why = "a script is one schedule of one command",
	  .help = "follow a script (see zug-pin(1)), once unless --executions says otherwise" },
	{ .name = "resume", .argument = "FILE", .kind = OPTION_TEXT, AT(c.search.resume),
	  .commands = RUN,
	  .help = "continue the search whose state is in FILE, and keep its state there" },
	{ .name = "shard", .argument = "K/N | auto | auto/N", .kind = OPTION_CUSTOM, .parse = parse_shard,
	  AT(c.search.shards), .commands = RUN, .excludes = "resume script each-case",
	  .why = "a shard has its own state, of one search",
	  .help = "make the share of shard K of N, in a folder of its own, for zug merge; auto: which one "
		  "the batch system says" },
	{ .name = "jobs", .letter = 'j', .argument = "N", .kind = OPTION_NUMBER, .max = RUN_MOST_LANES, AT(c.search.lanes),
	  .commands = RUN, .valid = "a number of lanes, from 1 to 255, or 0 (one execution at a time, and the search learns from each)",
	  .excludes = "resume script each-case list-points share setup teardown lane name",
	  .why = "-j makes executions of one search, each in an environment and on a CPU of its own", .conflict = jobs_conflict,
	  .help = "make N executions at a time, each on a CPU of its own; what is found does not depend on N; 0: one at a "
		  "time, and the search learns from each (default with one or two CPUs; else the quiet CPUs but one)" },
	{ .name = "plan", .argument = "FILE", .kind = OPTION_TEXT, AT(c.search.plan), .commands = RUN | PLAN,
	  .help = "the subtrees that shards share: zug plan writes FILE, zug run --shard reads it" },
	{ .name = "subtrees", .argument = "N", .kind = OPTION_NUMBER, .min = 1, .max = 1000000,
	  AT(c.search.subtrees), .commands = PLAN, .why = "zug run takes those of a --plan",
	  .help = "divide the tree of schedules into so many (default 64)" },
	{ .name = "memory", .argument = "SIZE", .kind = OPTION_SIZE, AT(c.search.memory),
	  .help = "memory of the search's tables, such as 64M (default 256M); full ones forget" },
	{ .name = "ask", .argument = "unknown|always", .kind = OPTION_CHOICE, AT(c.search.ask_always),
	  .words = ask_words,
	  .help = "stop a task where the search does not know yet how it goes on (default), or at "
		  "every point" },
	{ .name = "keep-going", .kind = OPTION_FLAG, AT(c.results.keep_going), .commands = RUN,
	  .help = "look for further bugs after the first: one trace each, a list at the end" },

	{ .section = "points, where a switch can happen", .name = "points", .argument = "KIND,...",
	  .kind = OPTION_CUSTOM, .parse = parse_points, .print = print_points, .words = point_words,
	  .preset = "sync,atomic,syscall", .script = true,
	  .valid = "a list of sync, atomic, syscall, syscall:file, syscall:ipc, syscall:signal, "
	           "syscall:process, syscall:futex, syscall:poll, or none",
	  .help = "sync, atomic, syscall, syscall:file, :ipc, :signal, :process, :futex, :poll, none" },
	{ .name = "code", .argument = "WHERE", .kind = OPTION_LIST, AT(c.points.code),
	  .script = true, .key = "code", .place = 32, .conflict = code_conflict,
	  .help = "atomic instructions of these only: a library, function, 'GLOB' or FILE.c" },
	{ .name = "watch", .argument = "[FILE:]VAR", .kind = OPTION_LIST, AT(c.points.watches),
	  .script = true, .key = "watch", .place = 26,
	  .help = "every access of a variable (at most 4; a hardware breakpoint)" },
	{ .name = "no-races", .kind = OPTION_FLAG, AT(c.points.races), .clears = true,
	  .help = "do not look for data races first, to make points of their places" },
	{ .name = "point", .argument = "SYMBOL | 'GLOB' | FILE:LINE | BINARY:SYMBOL+OFFSET",
	  .kind = OPTION_LIST, AT(c.points.places), .script = true, .key = "point", .place = 27,
	  .help = "a place in the code (may be repeated)" },
	{ .name = "only", .argument = "WHERE", .kind = OPTION_LIST, AT(c.points.only), .script = true, .key = "only",
	  .place = 45, .conflict = scope_conflict,
	  .help = "points only there: a library, FUNCTION, 'GLOB', FILE.c or FOLDER/ (may be repeated)" },
	{ .name = "not", .argument = "WHERE", .kind = OPTION_LIST, AT(c.points.without), .script = true, .key = "not",
	  .place = 46, .conflict = scope_conflict,
	  .help = "no points there, though --only names it" },
	{ .name = "from", .argument = "FUNCTION | FILE:LINE", .kind = OPTION_LIST, AT(c.points.from),
	  .script = true, .key = "from", .place = 44, .commands = RUN | CHECK | PLAN,
	  .why = "tests that join zugd's sandbox are started by others",
	  .help = "search from there: what the test does before it gets there is never preempted" },
	{ .name = "from-output", .argument = "REGEX", .kind = OPTION_TEXT, AT(c.points.from_output), .script = true,
	  .key = "from_output", .place = 47, .commands = RUN | CHECK | PLAN,
	  .why = "tests that join zugd's sandbox are started by others",
	  .help = "the same, from the first line of output that matches" },
	{ .name = "from-call", .argument = "NAME", .kind = OPTION_LIST, AT(c.points.from_calls), .script = true,
	  .key = "from_call", .place = 48, .commands = RUN | CHECK | PLAN,
	  .why = "tests that join zugd's sandbox are started by others",
	  .help = "the same, from the first system call NAME: listen, accept4, epoll_wait" },
	{ .name = "from-start", .kind = OPTION_FLAG, AT(c.points.from_start), .commands = RUN | CHECK | PLAN,
	  .excludes = "from from-output from-call",
	  .help = "search from the first step also where a runtime starts: python3, java, node" },

	{ .section = "what is a failure", .name = "expect-exit", .argument = "N",
	  .kind = OPTION_NUMBER, .max = 255, AT(c.failure.expect_exit), .preset = "0",
	  .script = true, .key = "expect_exit", .place = 6, .valid = "an exit status from 0 to 255",
	  .help = "the exit status of success" },
	{ .name = "match", .argument = "REGEX", .kind = OPTION_TEXT, AT(c.failure.match),
	  .script = true, .key = "match", .place = 25,
	  .help = "output that means failure" },
	{ .name = "invariant", .argument = "'EXPR'", .kind = OPTION_LIST, AT(c.failure.invariants),
	  .script = true, .key = "invariant", .place = 28,
	  .help = "C over global variables, true before every step (may be repeated)" },
	{ .name = "discard-if", .argument = "'EXPR' | exit=N | output=REGEX", .kind = OPTION_LIST,
	  AT(c.failure.discards), .commands = RUN, .script = true, .key = "discard_if", .place = 29,
	  .help = "executions that do not count" },
	{ .name = "fail-on-race", .kind = OPTION_FLAG, AT(c.failure.race), .script = true,
	  .key = "fail_on_race", .place = 39, .excludes = "no-races", .conflict = race_conflict,
	  .help = "a data race is a failure, not only a warning" },
	{ .name = "fail-on-spin", .kind = OPTION_FLAG, AT(c.failure.spins), .script = true,
	  .key = "fail_on_spin", .place = 49,
	  .help = "a loop that waits for another task and never yields is a failure" },
	{ .name = "suppressions", .argument = "FILE", .kind = OPTION_CUSTOM,
	  .parse = parse_suppressions, AT(c.failure.suppressions), .key = "suppressions",
	  .place = 40,
	  .help = "data races that do not count: lines race:GLOB (function, file or variable)" },
	{ .name = "timeout", .argument = "DURATION", .kind = OPTION_DURATION,
	  AT(c.failure.timeout_ns), .preset = "30s", .zero = "none", .script = true,
	  .key = "timeout_ns", .place = 9, .absent = 30000000000,
	  .help = "fail an execution that takes longer; without it one that comes to points may take four times as long" },
	{ .name = "max-steps", .argument = "N", .kind = OPTION_NUMBER, AT(c.failure.max_steps),
	  .preset = "100000", .zero = "no bound", .script = true, .key = "max_steps", .place = 8,
	  .absent = 100000,
	  .help = "end an execution after N steps; without it those of a long test may have ten times as many as have come to "
		  "their end" },
	{ .name = "spin", .argument = "DURATION", .kind = OPTION_DURATION, AT(c.failure.spin_ns),
	  .preset = "100ms", .zero = "never", .script = true, .key = "spin_ns", .place = 10,
	  .absent = 100000000,
	  .help = "look at a task that computes so long without a point, and preempt it after "
		  "ten times that" },

	{ .section = "the test's machine", .name = "cpus", .argument = "N", .kind = OPTION_NUMBER,
	  .min = 1, .max = 1024, AT(c.machine.cpus), .script = true, .key = "cpus", .place = 4,
	  .help = "how many CPUs the test sees (default: this machine's)" },
	{ .name = "lane", .argument = "CPU", .kind = OPTION_NUMBER, .max = 8191, AT(c.machine.lane),
	  .unset = -1, .valid = "the number of a CPU",
	  .help = "where it runs (default: the last CPU that is not busy)" },
	{ .name = "max-tasks", .argument = "N", .kind = OPTION_NUMBER, .min = 1, .max = 1000000,
	  AT(c.machine.max_tasks), .script = true, .key = "max_tasks", .place = 5,
	  .help = "tasks alive at a time (default 256)" },
	{ .name = "memory-max", .argument = "SIZE", .kind = OPTION_SIZE, AT(c.machine.max_memory), .script = true,
	  .key = "max_memory", .place = 42,
	  .help = "memory of the test's tasks and of the files that they write, such as 2G" },
	{ .name = "user", .argument = "NAME", .kind = OPTION_TEXT, AT(c.machine.user), .key = "user", .place = 43,
	  .help = "whose rights it has (default: of the user who called sudo, else yours)" },
	{ .name = "name", .argument = "NAME", .kind = OPTION_TEXT, AT(c.machine.name),
	  .commands = RUN | CHECK | DAEMON, .why = "zug exec uses the cgroup of zugd",
	  .help = "of its cgroup" },
	{ .name = "start", .argument = "exec|auto", .kind = OPTION_CHOICE, AT(c.machine.start),
	  .words = start_words, .preset = "auto", .commands = RUN | CHECK,
	  .why = "tests that join zugd's sandbox are started by others",
	  .help = "start the program for each execution, or fork executions from a started one where that can be" },
	{ .name = "aslr", .kind = OPTION_FLAG, AT(c.machine.randomise), .script = true,
	  .key = "randomise", .place = 11,
	  .help = "leave address randomisation on" },

	{ .section = "the test's inputs", .name = "time", .argument = "virtual|real",
	  .kind = OPTION_CHOICE, AT(c.inputs.real_time), .words = clock_words, .script = true,
	  .key = "virtual_time", .place = 12, .inverted = true,
	  .help = "its clock; with a virtual one (default) sleeping takes no time" },
	{ .name = "timeouts", .argument = "auto|never|explore", .kind = OPTION_CHOICE,
	  AT(c.inputs.timeouts), .words = timeout_words, .preset = "auto", .script = true,
	  .help = "whether a time-out may end before its time: in some executions (default), never, in all" },
	{ .name = "random", .argument = "seed|real", .kind = OPTION_CHOICE,
	  AT(c.inputs.real_random), .words = random_words, .script = true, .key = "seeded_random",
	  .place = 14, .inverted = true,
	  .help = "its random numbers: made from the seed (default), or the machine's" },
	{ .name = "world", .argument = "private|shared|PART,...", .kind = OPTION_SET,
	  AT(c.environment.own), .words = world_words, .unset = SANDBOX_ALL, .script = true,
	  .key = "world", .place = 16,
	  .valid = "private, shared, or a list of files, ipc, pids, net, host",
	  .help = "what each execution has for itself: files, ipc, pids, net, host; private: all "
		  "(default of zug run and zug check), shared: none (default of zug exec and "
		  "zugd)" },
	{ .name = "share", .argument = "PATH", .kind = OPTION_LIST, AT(c.environment.shares),
	  .script = true, .key = "share", .place = 17, .conflict = share_conflict,
	  .help = "a file or folder that stays the machine's; what is written there stays" },
	{ .name = "setup", .argument = "COMMAND", .kind = OPTION_TEXT, AT(c.environment.setup),
	  .script = true, .key = "setup", .place = 19,
	  .help = "a shell runs it before each execution, but not under its schedule" },
	{ .name = "teardown", .argument = "COMMAND", .kind = OPTION_TEXT,
	  AT(c.environment.teardown), .script = true, .key = "teardown", .place = 20,
	  .help = "the same after each execution" },
	{ .name = "faults", .argument = "KIND,...", .kind = OPTION_SET, AT(c.inputs.faults),
	  .words = fault_words, .script = true, .key = "faults", .place = 21,
	  .conflict = faults_conflict,
	  .help = "let system calls fail: enospc, eintr, enomem, refused, kill, short; or waits for a "
		  "condition return without a signal: spurious" },
	{ .name = "max-faults", .argument = "N", .kind = OPTION_NUMBER, .min = 1, .max = 1000,
	  AT(c.inputs.max_faults), .preset = "1", .needs = "faults", .key = "max_faults",
	  .place = 22,
	  .help = "inject at most N faults in one execution" },
	{ .name = "flows", .argument = "KIND,...", .kind = OPTION_SET, AT(c.inputs.faults),
	  .words = flow_words, .script = true, .conflict = flows_conflict,
	  .help = "transfer fewer bytes at once, or lose, reorder, delay datagrams: short-read, "
		  "short-write, stdin, loss, reorder, delay" },
	{ .name = "max-flows", .argument = "N", .kind = OPTION_NUMBER, .min = 1, .max = 1000,
	  AT(c.inputs.max_flows), .preset = "1", .needs = "flows", .key = "max_flows", .place = 23,
	  .help = "change at most N transfers in one execution" },
	{ .name = "stdin", .argument = "FILE", .kind = OPTION_TEXT, AT(c.inputs.file),
	  .script = true, .key = "stdin", .place = 24,
	  .help = "what the test reads from its standard input, a pipe (default: nothing)" },

	{ .section = "results", .name = "output", .letter = 'o', .argument = "DIR",
	  .kind = OPTION_TEXT, AT(c.results.dir), .preset = "zug-out",
	  .help = "where traces go" },
	{ .name = "record", .argument = "FILE", .kind = OPTION_TEXT, AT(c.results.record),
	  .commands = RUN,
	  .help = "append the progress of the search, for zug show FILE and zug show --html FILE" },
	{ .name = "no-minimize", .kind = OPTION_FLAG, AT(c.results.minimize), .clears = true,
	  .commands = RUN,
	  .help = "report the schedule as it was found, not the simplest that fails alike" },
	{ .name = "minimize-time", .argument = "DURATION", .kind = OPTION_DURATION,
	  AT(c.results.minimize_ns), .unset = MINIMIZE_NS_AUTO, .zero = "no bound", .commands = RUN,
	  .excludes = "no-minimize script", .why = "nothing is minimised then",
	  .help = "the time to minimise and explain a finding (default: a quarter of that of the "
		  "search, 10s to 120s)" },
	{ .name = "verify", .argument = "N", .kind = OPTION_NUMBER, .max = 10000,
	  AT(c.results.verify), .preset = "1", .commands = RUN,
	  .help = "replay a finding N times before it is reported" },
	{ .name = "junit", .argument = "FILE", .kind = OPTION_TEXT, AT(junit), .commands = RUN,
	  .help = "results in JUnit's XML" },
	{ .name = "json", .argument = "FILE", .kind = OPTION_TEXT, AT(json), .commands = RUN,
	  .help = "results in JSON" },
	{ .name = "profile", .kind = OPTION_FLAG, AT(c.results.profile), .commands = RUN,
	  .help = "say at the end where the time of the executions went" },
	{ .name = "list-points", .kind = OPTION_FLAG, AT(c.results.list_points), .commands = RUN,
	  .help = "list at the end what the points are, and why the rest is none; after 20 "
		  "executions, unless --executions says otherwise" },
	{ .name = "each-case", .kind = OPTION_FLAG, AT(each_case), .commands = RUN,
	  .excludes = "resume record", .why = "such a file belongs to one search",
	  .help = "search each test case of a GoogleTest, Catch2 or Rust test program by itself" },
	{ .name = "times", .letter = 'n', .argument = "N", .kind = OPTION_NUMBER, .min = 2,
	  .max = 1000000, AT(times), .preset = "50", .commands = CHECK,
	  .why = "--executions says how often zug run executes the test",
	  .help = "executions" },
	{ .name = "color", .alias = "colour", .argument = "WHEN", .kind = OPTION_CHOICE,
	  AT(c.results.colour), .words = colour_words, .unset = REPORT_COLOUR_AUTO,
	  .help = "auto (default: on a terminal, unless NO_COLOR is set), always, never" },
	{ .name = "quiet", .letter = 'q', .kind = OPTION_FLAG, AT(c.results.quiet),
	  .help = "no progress line" },

	{ .section = "the daemon", .name = "socket", .argument = "PATH", .kind = OPTION_TEXT,
	  AT(socket),
	  .help = "of zugd (default $ZUG_SOCKET, or /run/zugd.sock)" },
	{ .name = "foreground", .kind = OPTION_FLAG, AT(foreground), .commands = DAEMON,
	  .help = "stay in the foreground, with messages on standard error" },
	{ .name = "cgroup", .argument = "FOLDER", .kind = OPTION_TEXT, AT(cgroup), .commands = DAEMON,
	  .help = "make the cgroups of all tests below this one (default: /sys/fs/cgroup, or zugd there for members of group zug)" },
	{ .name = "lanes", .argument = "N", .kind = OPTION_NUMBER, .min = 1, .max = RUN_MOST_LANES, AT(shared_lanes),
	  .commands = DAEMON,
	  .help = "so many executions at a time, of all clients together (default: one for each CPU; of two CPUs, one)" },
	{ .name = "user-lanes", .argument = "N", .kind = OPTION_NUMBER, .min = 1, .max = RUN_MOST_LANES, AT(quota.lanes),
	  .commands = DAEMON,
	  .help = "each user has at most N of them at a time (default: all)" },
	{ .name = "user-memory", .argument = "SIZE", .kind = OPTION_SIZE, AT(quota.memory), .commands = DAEMON,
	  .help = "each member of group zug has at most so much memory for its searches and tests (default: no limit)" },
	{ .name = "user-queue", .argument = "N", .kind = OPTION_NUMBER, .min = 1, .max = 256, AT(quota.queue), .commands = DAEMON,
	  .help = "of each user at most N requests wait; others are refused (default: all wait)" },
	{ .name = "user-time", .argument = "DURATION", .kind = OPTION_DURATION, AT(quota.time_ns), .commands = DAEMON,
	  .help = "a request that is executed for longer is ended (default: none)" },
};

/* What else a trace keeps. */
static const struct option_row kept[] = {
	{ .kind = OPTION_FLAG, AT(c.points.sync), .key = "sync_points", .place = 1,
	  .absent = true },
	{ .kind = OPTION_FLAG, AT(c.points.atomic), .key = "atomic_points", .place = 2 },
	{ .kind = OPTION_NUMBER, AT(c.points.syscalls), .key = "syscall_points", .place = 3 },
	{ .kind = OPTION_TEXT, AT(c.points.runtime), .key = "runtime", .place = 50 },
	{ .kind = OPTION_FLAG, AT(c.points.fields), .key = "fields", .place = 51 },
	{ .kind = OPTION_FLAG, AT(c.points.not_installed), .key = "not_installed", .place = 52 },
	{ .kind = OPTION_TEXT, AT(c.points.behind), .key = "from_behind", .place = 53 },
	{ .kind = OPTION_FLAG, AT(c.points.own_only), .key = "own_only", .place = 54 },
	{ .kind = OPTION_FLAG, AT(c.points.seen_only), .key = "seen_only", .place = 57 },
	{ .kind = OPTION_NUMBER, AT(c.points.signals), .key = "signals", .place = 58 },
	{ .kind = OPTION_FLAG, AT(c.points.no_inner), .key = "no_inner", .place = 59 },
	{ .kind = OPTION_NUMBER, AT(c.inputs.clock_real), .key = "clock_real", .place = 13 },
	{ .kind = OPTION_FLAG, AT(c.inputs.explore_timeouts), .key = "explore_timeouts", .place = 15 },
	{ .kind = OPTION_TEXT, AT(c.environment.hide), .key = "hidden", .place = 18 },
	{ .kind = OPTION_LIST, AT(c.replay.probed), .key = "probed", .place = 30 },
	{ .kind = OPTION_LIST, AT(c.replay.known), .key = "known", .place = 31 },
	{ .kind = OPTION_LIST, AT(c.replay.atomics), .key = "atomics", .place = 33 },
	{ .kind = OPTION_LIST, AT(c.replay.silent), .key = "silent", .place = 34 },
	{ .kind = OPTION_LIST, AT(c.replay.limited), .key = "limited", .place = 35 },
	{ .kind = OPTION_LIST, AT(c.replay.split), .key = "split", .place = 36 },
	{ .kind = OPTION_LIST, AT(c.replay.waits), .key = "waits", .place = 37 },
	{ .kind = OPTION_LIST, AT(c.replay.data), .key = "data", .place = 38 },
	{ .kind = OPTION_LIST, AT(c.replay.races), .key = "races", .place = 41 },
	{ .kind = OPTION_TEXT, AT(c.replay.race), .key = "race", .place = 55 },
	{ .kind = OPTION_FLAG, AT(c.failure.time_follows), .key = "time_follows", .place = 56 },
};

static const char exec_about[] =
	"Executes COMMAND once, under the next schedule of its search, which zugd keeps between\n"
	"calls: put it before the command of a test that a harness repeats.\n\n"
	"Exit status: the test's own (128 + N when signal N killed it); 123 when it failed without\n"
	"leaving a status (deadlock, time-out, --match...); 125 when it could not be executed.\n";

#define TABLE .rows = rows, .nr_rows = NR(rows), .ends_at_operand = true

static const struct command_line lines[] = {
	[RUN_COMMAND] = {
		.command = "zug run", .bit = RUN, TABLE,
		.usage = "zug run [options] -- COMMAND [ARGUMENT...]\n",
		.about = "Executes COMMAND under one schedule after another, until it fails, a bound is\n"
			 "reached, or every schedule was tried. A running zugd does it in zug's place.\n",
	},
	[RUN_EXEC] = {
		.command = "zug exec", .bit = EXEC, TABLE,
		.usage = "zug exec [options] -- COMMAND [ARGUMENT...]\n", .about = exec_about,
	},
	[RUN_CHECK] = {
		.command = "zug check", .bit = CHECK, TABLE,
		.usage = "zug check [options] -- COMMAND [ARGUMENT...]\n",
		.about = "Executes COMMAND many times under one schedule, the first of the search, and says whether every\n"
			 "execution is the same in its steps, its end and its output; if not, where it begins to differ,\n"
			 "and what the source is.\n",
		.only = "output times quiet socket",
		.end = "The options of zug run that say which schedule it is (--strategy, --seed, ...), where the points\n"
		       "are, what the test's machine and its inputs are, are taken, too. Default strategy: random.\n\n"
		       "Exit status: 0 when everything repeats, 1 when something differs, 5 when it was interrupted.\n",
	},
	[RUN_PLAN] = {
		.command = "zug plan", .bit = PLAN, TABLE,
		.usage = "zug plan [options] -- COMMAND [ARGUMENT...]\n",
		.only = "subtrees plan strategy",
		.about = "Measures the tree of schedules of a strategy that tries everything (dfs, dpor, preemption, delay) by\n"
			 "random executions, and divides it into subtrees of about equal size, for zug run --shard K/N --plan FILE.\n",
		.end = "It takes the options of zug run that say what is searched, and the shards must be given the same ones.\n\n"
		       "Exit status: 0 when the plan is written, 1 when an execution failed, 5 when it was interrupted.\n",
	},
	[RUN_DAEMON] = {
		.command = "zugd", .bit = DAEMON, TABLE,
		.usage = "zugd [options] [--lanes N] [--foreground]\n",
		.about = "Holds the scheduler for zug run, zug replay and zug exec, and for every test that enters\n"
			 "its cgroup. The options are those of zug exec where it is given none, and of such tests.\n",
	},
};

const struct command_line *run_options_line(enum run_command command)
{
	return &lines[command];
}

void campaign_defaults(struct campaign_options *o)
{
	struct run_options fresh = { 0 };

	command_line_defaults(&lines[RUN_COMMAND], &fresh);
	*o = fresh.c;
}

const struct option_row *run_options_kept(unsigned int place)
{
	for (size_t i = 0; i < NR(rows) + NR(kept); i++) {
		const struct option_row *r = i < NR(rows) ? &rows[i] : &kept[i - NR(rows)];

		if (r->key && r->place == place)
			return r;
	}
	return NULL;
}

/* ---- scripts ---- */

bool run_options_in_scripts(const char *name, size_t len)
{
	for (size_t i = 0; i < NR(rows); i++)
		if (rows[i].script && strlen(rows[i].name) == len &&
		    !strncmp(rows[i].name, name, len))
			return true;
	return false;
}

const struct script_allows run_options_script = { run_options_in_scripts, run_options_list_for_scripts };

void run_options_list_for_scripts(char *buf, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < NR(rows) && n < len; i++)
		if (rows[i].script)
			n += snprintf(buf + n, len - n, "%s%s", n ? " " : "", rows[i].name);
}

void run_options_print(const struct campaign_options *o, FILE *out)
{
	char text[1024];

	for (const struct option_row *r = rows; r < rows + NR(rows); r++) {
		if (!r->script || option_is_preset(r, o))
			continue;
		for (char **s = option_list(r, o) ? *option_list(r, o) : NULL; s && *s; s++)
			fprintf(out, "option %s %s\n", r->name, *s);
		if (r->kind == OPTION_LIST)
			continue;
		option_print(r, o, text, sizeof(text));
		fprintf(out, "option %s%s%s\n", r->name, text[0] ? " " : "", text);
	}
}

const char *run_options_fault(int fault, char *buf, size_t len)
{
	bool flow = FLOWS & 1u << fault;
	char name[32];

	option_print_set(flow ? flow_words : fault_words, 1ll << fault, name, sizeof(name));
	snprintf(buf, len, "%s %s", flow ? "flows" : "faults", name);
	return buf;
}

/* ---- a command line ---- */

int run_options_refuse_foreign(const struct run_options *o, enum run_command command, char *err,
			       size_t errlen)
{
	const struct option_row *r = command_line_foreign(&lines[command], o->given);
	const char *why = command == RUN_CHECK ? "here one schedule is executed --times times" :
			  "here the caller of the test decides how often it is executed";
	size_t n;

	if (!r)
		return 0;
	n = snprintf(err, errlen, "--%s belongs to", r->name);
	for (size_t i = 0, nr = 0; i < NR(lines) && n < errlen; i++)
		if (r->commands & lines[i].bit)
			n += snprintf(err + n, errlen - n, "%s %s", nr++ ? "," : "",
				      lines[i].command);
	if (n < errlen && (r->why || r->commands == RUN))
		snprintf(err + n, errlen - n, ": %s", r->why && r->commands != RUN ? r->why : why);
	return -EINVAL;
}
