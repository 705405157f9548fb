/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * options.h - how a test is executed and searched
 *
 * Strings and arrays are the caller's and must outlive the campaign. Lists end with NULL; a list
 * may be NULL itself.
 */
#ifndef ZUG_OPTIONS_H
#define ZUG_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct debugger;
struct sandbox;
struct script;

struct options_command {
	char **argv;
	char **envp;
	const char *cwd;
	const char *file;	/* the program; NULL: argv[0] names it */
};

struct options_search {
	const char *strategy;	/* NULL: the default */
	uint64_t seed;
	int preemptions;	/* -1: the strategy's own bound */
	uint32_t fair;		/* the fair scheduler acts on every fair-th yield; 0: off */
	uint64_t executions;	/* 0: no bound */
	uint64_t time_ns;	/* 0: no bound */
	uint64_t memory;	/* bytes for the search's tables; 0: the search's default */
	const char *rules;	/* holds, tactics, scope of preemptions (search/rules.h); NULL: none */
	const struct script *script;	/* its statements are the rules, and the search follows it; NULL: none */
	const char *resume;	/* file with the state of the search; NULL: none */
	bool ask_always;	/* every point asks: there are no leases (engine.h) */
	uint32_t shard, shards;	/* this is shard 1.. of so many; 0: there are none */
	bool alone;		/* all parts are made here, and no log is written (-j without --shard) */
	uint32_t lanes;		/* executions at a time (-j); 0: the search is not made in parts for that */
	bool lanes_quiet;	/* fewer, where CPUs are busy with something else: no option has said how many */
	const char *shard_variable;	/* of the environment, that said so; NULL: none */
	uint32_t subtrees;	/* zug plan: into so many the tree is divided; 0: no plan is made */
	const char *plan;	/* file with a division; NULL: none */
};

struct options_points {
	bool sync;
	bool atomic;		/* atomic instructions, pauses, fences */
	bool races;		/* the first executions look for data races, whose places become points */
	uint32_t syscalls;	/* ZUG_SYS_* */
	char **code;		/* --code: the modules, functions and files with atomic points */
	char **watches;
	char **places;		/* --point */
	char **only, **without;	/* --only, --not: modules, functions, sources and folders where points are, and where none is */
	char **from;		/* --from: places where the search begins; nothing before them is a point */
	const char *from_output;	/* or when the test writes a line that matches this regular expression; NULL: not */
					/* by that */
	char **from_calls;	/* or makes one of these system calls */
	const char *behind;	/* none of these begins it before a task has called that function; NULL: any does */
	bool from_start;	/* at the first step, also of a runtime that is known */
	bool fields;		/* accesses of fields are points, where an interpreter can tell of them */
	bool own_only;		/* of an execution: an interpreter's tasks have points in the program's own functions alone */
	bool not_installed;	/* calls that only read what the distribution has installed are no points */
				/* (ZUG_SYS_NOT_INSTALLED) */
	bool seen_only;		/* nor are calls whose effect no other task can see (ZUG_SYS_SEEN_ONLY) */
	bool no_inner;		/* nor are the locks of a library of the distribution in a process with one task */
				/* (ZUG_SYS_NO_INNER) */
	uint64_t signals;	/* with seen_only: bits of the signals that the test is known to send */
	const char *runtime;	/* the search begins where that runtime (runtimes.h) begins with the program; NULL: not there */
};

/* What a trace adds to the points, so that its replay has the same ones. */
struct options_replay {
	char **probed;		/* exactly these files have their primitives probed; else NULL */
	char **known;		/* further files that the test maps */
	char **atomics;		/* exactly these files have their atomic instructions probed; else NULL */
	char **silent;		/* "PATH+0xOFFSET" of code places that are no points */
	char **limited;		/* likewise, of those that are points KWORLD_HOT times in an execution */
	char **split;		/* read-modify-writes of plain variables that are two steps */
	char **waits;		/* points in loops that wait */
	char **data;		/* "PATH+0xOFFSET OPERATION LIMIT WITHIN" of plain accesses that are points */
	char **races;		/* identities (hexadecimal) of data races that are known already */
	const char *race;	/* the only one that ends an execution; NULL: each that is not known */
	struct debugger *debugger;	/* NULL: none */
};

struct options_failure {
	int expect_exit;
	const char *match;	/* regular expression; NULL: none */
	char **invariants, **discards;
	bool race;		/* a data race ends an execution, as a finding */
	char **suppressions;	/* globs of data races that do not count */
	uint64_t timeout_ns;	/* of one execution; 0: none */
	bool time_follows;	/* and one that comes to points has TIME_LONGER as much */
	uint64_t max_steps;	/* of one execution; 0: no bound */
	bool steps_follow;	/* and of a search it follows from what executions have needed to come to their end */
	bool spins;		/* a loop that waits for another task without yielding is a finding */
	uint64_t spin_ns;
};

/* How an execution's first process is made. */
enum options_start {
	START_EXEC = 0,
	START_AUTO,		/* from a template, where there can be one */
};

struct options_machine {
	int start;		/* enum options_start */
	int cpus;		/* 0: this machine's */
	int lane;		/* -1: chosen */
	int max_tasks;		/* 0: the default */
	uint64_t max_memory;	/* bytes; 0: no limit */
	const char *user;	/* name or number, whose rights the test has; NULL: of the one who called sudo, or ours */
	bool randomise;		/* addresses */
	const char *name;	/* of the sandbox; NULL: made up */
	struct sandbox *sandbox;	/* an existing one, which stays; NULL: a new one */
};

/* The namespaces and files of an execution. */
struct options_environment {
	uint32_t own;		/* SANDBOX_*: what each execution has for itself */
	char **shares;		/* paths that stay the machine's all the same */
	const char *hide;	/* replay: absolute path that executions do not see; NULL: results.dir */
	const char *setup, *teardown;	/* shell commands around each execution; NULL: none */
};

/* When time-outs, sleeps and timers end before their time. */
enum timeouts {
	TIMEOUTS_NEVER,
	TIMEOUTS_EXPLORE,	/* whenever the search says so */
	TIMEOUTS_AUTO,		/* the same in some of the executions of a search that samples */
};

struct options_inputs {
	bool real_time;		/* the test sees the machine's clock */
	uint64_t clock_real;	/* else: CLOCK_REALTIME at the start of an execution, ns; 0: now */
	int timeouts;		/* enum timeouts */
	bool explore_timeouts;	/* of an execution: a time-out may expire while other tasks can run */
	bool real_random;	/* else random numbers follow the seed */
	const char *file;	/* --stdin: the file that the test reads; NULL: nothing */
	uint32_t faults;	/* 1 << enum fault: faults and byte flows that may be injected */
	uint32_t max_faults;	/* in one execution */
	uint32_t max_flows;	/* in one execution */
};

#define MINIMIZE_NS_AUTO UINT64_MAX
struct options_results {
	const char *dir;	/* for traces */
	const char *record;	/* file that the record of the campaign is appended to; NULL: none */
	bool keep_going;	/* continue after a finding, for further bugs */
	bool minimize;		/* a finding's schedule, before it is reported */
	uint64_t minimize_ns;	/* minimising and explaining; 0: no bound; MINIMIZE_NS_AUTO: in proportion */
	int verify;		/* replays of a finding */
	bool quiet;
	bool profile;		/* say where the time went */
	bool list_points;	/* say which places are points */
	int colour;		/* of findings: REPORT_COLOUR_* (report.h) */
};

struct campaign_options {
	struct options_command command;
	struct options_search search;
	struct options_points points;
	struct options_failure failure;
	struct options_machine machine;
	struct options_environment environment;
	struct options_inputs inputs;
	struct options_results results;
	struct options_replay replay;
};

/* Sets what is not given on a command line. */
void campaign_defaults(struct campaign_options *o);

#endif
