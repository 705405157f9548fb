/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * retrace.h - what the commands share that execute a trace's test again: replay, minimize, diff, pin
 *
 *	the table of the command has RETRACE_ROWS; its options begin with a struct retrace_options
 *	return command_dispatch(o.socket, "replay", argc, argv, replay_execute);
 *
 *	retrace_open(&r, &o, "replay", err);	the trace and the options that it was recorded with
 *	retrace_begin(&r, &o, k, ...);		r.c is the campaign; says what was rebuilt
 *	retrace_end(&r);			after either of them failed, too
 */
#ifndef ZUG_RETRACE_H
#define ZUG_RETRACE_H

#include "cli/campaign_text.h"
#include "cli/cli_options.h"
#include "report/report.h"
#include "zugd/client.h"

struct retrace_options {
	const char *path, *socket;
	int lane;
	int colour;		/* as of campaign_options */
	bool quiet, force, trust;
	bool ask_always;
	uint64_t time_ns;	/* RETRACE_TIME; 0: no bound; RETRACE_TIME_UNSET: RETRACE_TIME_NS */
};

#define RETRACE_ROWS(what_force_is_for)								\
	{ .name = "force", .kind = OPTION_FLAG, OPTION_AT(struct retrace_options, force),	\
	  .help = what_force_is_for },								\
	{ .name = "trust", .kind = OPTION_FLAG, OPTION_AT(struct retrace_options, trust),	\
	  .help = "although the trace is of another user or machine: its command is executed" },	\
	{ .name = "lane", .argument = "CPU", .kind = OPTION_NUMBER, .max = 8191, .unset = -1,	\
	  OPTION_AT(struct retrace_options, lane), .valid = "the number of a CPU",		\
	  .help = "where it runs (default: the last CPU that is not busy)" },			\
	{ .name = "ask", .argument = "unknown|always", .kind = OPTION_CHOICE,			\
	  OPTION_AT(struct retrace_options, ask_always), .words = ask_words,			\
	  .help = "stop a task where it is not known yet how it goes on (default), or at "	\
		  "every point" },								\
	{ .name = "socket", .argument = "PATH", .kind = OPTION_TEXT,				\
	  OPTION_AT(struct retrace_options, socket),						\
	  .help = "of zugd, when it is not " CLIENT_SOCKET },					\
	{ .name = "quiet", .letter = 'q', .kind = OPTION_FLAG,					\
	  OPTION_AT(struct retrace_options, quiet), .help = "no progress line" }
#define RETRACE_TIME										\
	{ .name = "time", .argument = "DURATION", .kind = OPTION_DURATION,			\
	  OPTION_AT(struct retrace_options, time_ns), .unset = RETRACE_TIME_UNSET,		\
	  .zero = "no bound",									\
	  .help = "stop after that time, whatever goes on: 90s, 10m, 2h (default 5m)" }
#define RETRACE_TIME_UNSET	UINT64_MAX
#define RETRACE_TIME_NS		(5 * 60 * 1000000000ull)
#define RETRACE_COLOUR										\
	{ .name = "color", .alias = "colour", .argument = "WHEN", .kind = OPTION_CHOICE,	\
	  OPTION_AT(struct retrace_options, colour), .words = colour_words,			\
	  .unset = REPORT_COLOUR_AUTO,								\
	  .help = "auto (default: on a terminal, unless NO_COLOR is set), always, never" }
#define RETRACE_REBUILT "although the program was rebuilt since the trace was recorded"

/* "test.1.trace" -> "test.1.WORD.trace" */
void retrace_name_beside(const char *path, const char *word, char *out, size_t len);

struct retrace {
	struct trace *t;
	struct campaign_options o;
	struct campaign_holder *holder;
	struct campaign_text text;
	struct campaign *c;
};

/*
 * 0 or an enum zug_exit with a message printed: not a trace, a damaged one, none that can be
 * executed. Says so, and goes on, when its end is missing or it comes from another kernel.
 */
int retrace_open(struct retrace *r, const struct retrace_options *o, const char *command,
		 FILE *err);
/*
 * The campaign of r->o. 0 or an enum zug_exit with a message printed: the
 * machine, or a rebuilt file without --force. r must stay where it is.
 */
int retrace_begin(struct retrace *r, const struct retrace_options *o, struct kernel *k, FILE *out,
		  FILE *err, const volatile sig_atomic_t *stop);
/*
 * Before the schedule is followed: campaign_prepare_replay(). 0 or an enum zug_exit with a message
 * printed.
 */
int retrace_prepare(struct retrace *r, uint64_t executions);
void retrace_end(struct retrace *r);

#endif
