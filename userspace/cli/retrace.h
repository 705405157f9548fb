/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * retrace.h - what the commands share that execute the test of a trace again: replay, minimize, diff, pin
 *
 *	switch (opt) { ... default: ret = retrace_option(&o, "replay", opt, usage); }
 *	return command_dispatch(o.socket, "replay", argc, argv, replay_execute);	here, or zugd does it
 *
 *	retrace_open(&r, &o, "replay", err);	the trace and the options that it was recorded with
 *	retrace_begin(&r, &o, k, ...);		r.c is the campaign; what is wrong with the builds was said
 *	retrace_end(&r);			after either of them failed, too
 */
#ifndef ZUG_RETRACE_H
#define ZUG_RETRACE_H

#include "cli/campaign_text.h"
#include "zugd/client.h"

struct retrace_options {
	const char *path, *socket;
	long lane;
	int colour;		/* as of campaign_options */
	bool quiet, force;
};

/* For getopt_long(); "q" belongs into the short ones. */
#define RETRACE_OPTIONS								\
	{ "lane", required_argument, NULL, RETRACE_LANE },			\
	{ "socket", required_argument, NULL, RETRACE_SOCKET },			\
	{ "force", no_argument, NULL, RETRACE_FORCE },				\
	{ "color", required_argument, NULL, RETRACE_COLOUR },			\
	{ "colour", required_argument, NULL, RETRACE_COLOUR },			\
	{ "quiet", no_argument, NULL, 'q' }
enum { RETRACE_LANE = 512, RETRACE_SOCKET, RETRACE_FORCE, RETRACE_COLOUR };

/* Their help. */
#define RETRACE_HELP										\
	"  --force              although the program is another build than the one that was recorded\n"	\
	"  --lane CPU           where it runs (default: the last CPU that is not busy)\n"				\
	"  --socket PATH        of zugd, when it is not " CLIENT_SOCKET "\n"				\
	"  --color WHEN         auto (default: on a terminal, unless NO_COLOR is set), always, never\n"	\
	"  -q, --quiet          no progress line\n"

void retrace_options_init(struct retrace_options *o);
/* Takes one of them from getopt's optarg. 0, or an enum zug_exit with a message printed: the usage, if it is none of them. */
int retrace_option(struct retrace_options *o, const char *command, int opt, void (*usage)(FILE *f));
/* The same for what stands behind all options: one trace. */
int retrace_path(struct retrace_options *o, int argc, char **argv, void (*usage)(FILE *f));

/* A decimal number from 0 to max; false: it is none. */
bool retrace_number(const char *text, uint64_t max, uint64_t *v);

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
 * 0 or an enum zug_exit with a message printed: not a trace, a damaged one, none that can be executed. Says so, and
 * goes on, when its end is missing or it comes from another kernel.
 */
int retrace_open(struct retrace *r, const struct retrace_options *o, const char *command, FILE *err);
/*
 * The campaign of r->o. 0 or an enum zug_exit with a message printed: the
 * machine, or another build without --force. r must stay where it is.
 */
int retrace_begin(struct retrace *r, const struct retrace_options *o, struct kernel *k, FILE *out, FILE *err,
		  const volatile sig_atomic_t *stop);
/* Before the schedule is followed: campaign_prepare_replay(). 0 or an enum zug_exit with a message printed. */
int retrace_prepare(struct retrace *r);
void retrace_end(struct retrace *r);

#endif
