/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session.h - the place where a campaign's executions happen
 *
 * A session has the kernel side, the sandbox, the program's files with their probes, the world
 * behind world.h and the engine. It is set up in three steps, between which the campaign and the
 * point policies do their own:
 *
 *	session_prepare()	what the user gave: the program, paths, the search
 *	session_open()		what the machine must have: kernel side, sandbox, symbols, probes
 *	session_start()		the world and the engine, once the first points are known
 *
 * Then session_execute() makes one execution with its trace. Functions return 0 or -errno with a
 * line in err; campaign_blame() (result.h) tells the cause.
 */
#ifndef ZUG_SESSION_H
#define ZUG_SESSION_H

#include <regex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include "lib/base/run_user.h"
#include "campaign/observer.h"
#include "campaign/options.h"
#include "campaign/point_table.h"
#include "campaign/result.h"
#include "campaign/step_bound.h"
#include "engine/engine.h"
#include "kworld/kworld.h"

struct session_paths {
	bool made;		/* the folder for traces, or those above it, ... */
	size_t there;		/* ... behind so many bytes of its path */
	char *program;		/* resolved */
	char *hide;		/* behind o.environment.hide */
	char **shares;		/* absolute, behind o.environment.shares */
	char **envp;		/* of the user, behind o.command.envp; NULL: it is the caller's */
	char *user;		/* behind o.machine.user; NULL: it is the caller's */
	char *current;		/* where the trace of the running execution lies */
	bool current_made;	/* a trace was created there */
};

/* What executions begin with in place of the script (session_skip_env()); NULL: as the user gave it. */
struct session_launched {
	char *program, *name, **argv;	/* argv: of these strings and others' */
	char **with_flags;	/* behind o.command.argv: the user's, with flags of the runtime; NULL: it is the caller's */
	char **points;		/* behind o.points.places: functions of the runtime; NULL: they are the caller's */
	char *runtime[3];	/* files of the runtime that the program will load; NULL ends them */
};

/* Figures of the search's own executions, but for 'aside', 'most_tasks' and 'handlers'. */
struct session_figures {
	uint64_t executions, steps, run_ns;
	uint64_t aside[ASIDE_NR];	/* the other ones */
	struct spent spent;
	uint32_t most_tasks;	/* in any execution so far */
	bool handlers;		/* of signals began in one */
};

struct session_watch {
	struct zug_watch watch;
	uint32_t module;	/* of the variable, with its address and size in the file */
	uint64_t vaddr, size;
};

/* Executions that make up for what a template takes itself. */
#define TEMPLATE_WORTH 8

/* Executions that are forked from a template (session_template.c). All zero at first. */
struct session_template {
	bool settled;		/* the points are known: templates may be made */
	uint64_t ahead;		/* executions that are expected, with the next one */
	bool proved;		/* an execution of the search that was forked came to the same by exec */
	bool paused;		/* the next executions are started by exec, whatever there is */
	bool off;		/* none are made any more */
	char why[256];		/* off */
	uint64_t probes;	/* what of the points it depends on, when it was made */
	uint64_t probes_before;	/* the same, before the last execution */
	uint64_t forked;	/* executions */
	uint64_t lives;		/* executions of the last template */
	bool tried;		/* the last execution was to be forked */
	uint64_t begin_ns;	/* what that took before the execution */
	unsigned int spoilt;	/* templates with only one, one after another */
	unsigned int brief;	/* templates with too few to be worth it, one after another */
	uint64_t exec_ns;	/* what the last execution took that was started by exec; 0: none was */
	uint64_t made_ns;	/* what the last template took; 0: there was none */
	bool quiet;		/* it would stand before where the search begins */
	uint64_t same;		/* executions in a row that have left the points as they are */
};

struct session {
	struct campaign_options o;	/* as the executions have them */
	const struct campaign_observer *observer;
	const volatile sig_atomic_t *stop;	/* NULL: nothing interrupts */

	struct kernel *k;
	bool own_kernel;
	struct sandbox *sandbox;	/* its own, unless o.machine.sandbox is set */
	struct symbols *symbols;
	struct probes *probes;
	struct places *places;
	struct spawn_table spawn;
	struct capture *capture;
	struct world *world;
	struct search *search;		/* which the engine asks */
	struct engine *engine;

	struct session_paths paths;
	struct session_launched launched;
	struct run_user user;	/* whose rights the test has, if has_user: not ours */
	bool has_user;
	char *options_json; /* for the traces' headers; the point policies keep it up to date */
	char *points_json; /* the same without the bound of steps, which follows from executions: equal while no point is new */
	char release[256];		/* of the kernel */
	regex_t *match;			/* --match; NULL: none */
	regex_t *from_output;		/* --from-output; NULL: none */
	int input_fd;			/* the test's standard input */
	unsigned int nr_watches;
	struct session_watch watch[ZUG_MAX_WATCHES];

	struct session_figures figures;
	struct session_template template;
	bool sampled; /* the search chooses the schedules of executions that look, or hold tasks, as well */
	const char *begins;	/* where the search begins behind the start of a runtime, in words; NULL: options say where */
	bool exhausted;		/* nothing is left to try but early time-outs */
	bool frozen;		/* nothing is learnt any more, and points stay as they are (campaign_parts.h) */
	uint64_t part;		/* frozen: the part that this execution is of */
	uint64_t skipped;	/* numbers of executions that others make, before this one */
	bool timed;		/* the test was seen to have waits with a time-out, or timers */
	enum campaign_aside aside;	/* what executions are for now */
	bool looks_aside;	/* they look for points all the same */
	uint64_t until_ns;	/* --time, on clock_now_ns(); 0: no bound */
	struct step_bound steps;	/* what the options say is the least; o has the bound that holds */
	bool cuts;		/* an execution of the search that goes on then is ended */
	bool keep_passes; /* the trace of an execution that passed stays in paths.current until the
			     next one */
	bool one_by_one; /* each execution is wanted for its result: none is spent on data races
			    alone */
	void (*judge)(
		void *ctx,
		struct execution *x); /* may change the outcome of any execution that has ended */
	/* Makes options_json anew, after an option has changed. 0 or -errno. */
	int (*update_options)(void *ctx, char *err, size_t errlen);
	void *judge_ctx;	/* of both */
};

/*
 * From the next execution on time-outs and timers may end before their time, or may not. The options of
 * traces (update_options) are to be made anew.
 */
void session_explore_timeouts(struct session *s, bool may);
/* The same of kworld_own_only(). */
void session_own_only(struct session *s, bool only);
/* The same of kworld_hear_signals(). */
void session_hear_signals(struct session *s, uint64_t signals);
/* The folder for temporary files that the test's environment names; NULL: it names none. */
const char *session_temporary_folder(const struct session *s);
/* Into ZUG_LOOKUPS words: the folders in which looking for a name is no point (session_lookups.c). */
void session_number_lookups(const struct session *s, uint64_t *numbers);

/* ---- messages (session_say.c) ---- */

/* A message for the observer; a line about the trials that go on. */
void session_say(const struct session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void session_say_trying(const struct session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool session_interrupted(const struct session *s);
/* When the time is over, on clock_now_ns(): at until_ns or at the end of --time, whichever is first; 0: no bound. */
uint64_t session_until(const struct session *s, uint64_t until_ns);
/* That time is over; until_ns as above, 0: only --time counts. */
bool session_late(const struct session *s, uint64_t until_ns);
/* The execution is none of the search, nor one that looks for points: its whole schedule is given. */
static inline bool session_only_follows(const struct session *s)
{
	return s->aside && !s->looks_aside;
}

/* ---- set-up (session.c) ---- */

int session_prepare(struct session *s, const struct campaign_options *o,
		    const struct campaign_observer *observer, const volatile sig_atomic_t *stop,
		    char *err, size_t errlen);
/* True where the search begins late: --from, --from-output, --from-call. */
bool session_begins_late(const struct campaign_options *o);
/* k: an open kernel, which stays the caller's; NULL: one of its own. */
int session_open(struct session *s, struct kernel *k, char *err, size_t errlen);
int session_start(struct session *s, char *err, size_t errlen);
/*
 * In a copy of the process (fork()): the session goes on in a sandbox of its own on another lane, with the points as they
 * are. It has no observer. 0, or -errno with a line in err; session_forked_close() in any case, not session_close().
 */
int session_forked(struct session *s, unsigned int slot, int lane, char *err, size_t errlen);
void session_forked_close(struct session *s);
/* Also after one of the above has failed. */
void session_close(struct session *s);

/* Takes all probes and watchpoints out; plants them again. */
void session_park(struct session *s);
int session_unpark(struct session *s, char *err, size_t errlen);
/* Plants all probes anew, after some were taken out. */
int session_replant(struct session *s, char *err, size_t errlen);

/* ---- the search (session_search.c) ---- */

/* What names in --rules mean for this test. */
struct search_names session_names(struct session *s);
/* The search of s->o. NULL with a line in err. */
struct search *session_new_search(struct session *s, char *err, size_t errlen);
/* Forgets what the search has tried, for its points have changed. */
int session_restart(struct session *s, char *err, size_t errlen);
/* Where the bound of steps follows from the executions (options_failure): it is that of s->steps. True: it was another one. */
bool session_bound_steps(struct session *s);
/* The longest that an execution which comes to points may take (struct engine_options), as the options say. */
#define TIME_LONGER	4
uint64_t session_longest(const struct session *s);

/* ---- inputs (session_input.c, session_watch.c) ---- */

/*
 * --stdin: a new pipe with the whole input, in s->input_fd. Before each execution, and once to see
 * that it can be made.
 */
int session_feed(struct session *s, char *err, size_t errlen);
/* --watch: sets the watchpoints, once the test has been executed and addresses are known. */
int session_set_watches(struct session *s, char *err, size_t errlen);

/* ---- executions (session_run.c) ---- */

/*
 * One execution, after search_begin() has answered SEARCH_GO; the trace in s->paths.current is
 * closed, with its outcome. r: the schedule that is followed; NULL: the search chooses.
 */
int session_execute(struct session *s, const struct replay *r, struct execution *x, char *err,
		    size_t errlen);
/* Adds an execution to the figures: session_execute() has done that, for one that another lane has made it is to be done. */
void session_count(struct session *s, const struct execution *x);
/* The same under the schedule of r, outside of the search; r NULL: under the default schedule. */
int session_follow(struct session *s, const struct replay *r, struct execution *x, char *err,
		   size_t errlen);
/* Replays before a failure that comes again in none of them is told to be no finding. */
#define REPLAYS_FOR_ONCE 3
/*
 * Follows a trace up to 'times' times, and adds to what came of it. When the time is over, no more
 * than is needed to know whether it comes again: one that it does, or REPLAYS_FOR_ONCE that it does not.
 */
struct session_replays {
	int made;
	int same;	/* the same failure came, step for step */
	int alike;	/* the same failure came, perhaps in another way */
};
void session_verify(struct session *s, const struct trace *t, int times,
		    struct session_replays *replays);

/* ---- templates (session_template.c) ---- */

/* From now on templates may be made: so many executions are expected, UINT64_MAX: many. */
void session_template_expect(struct session *s, uint64_t executions);
/* Before an execution: makes the template, if it is time. True when the execution is forked from it. */
bool session_template_begin(struct session *s);
/* After it. */
void session_template_end(struct session *s, struct execution *x);
/* The template has ended, after t->lives executions, although its points are as they were. True: others are not worth it. */
bool session_template_ended(struct session_template *t);
/*
 * The points are likely to stay as they are for as long as a template is worth. The first one is made behind one execution that
 * has not changed them, or, where no point comes before it, at once; one that was lost has cost as much as some executions, and
 * so many come first from then on, at most TEMPLATE_WORTH.
 */
bool session_template_points_rest(const struct session_template *t);
/* True while no execution that was forked has been compared with one by exec, and some are to come. */
bool session_template_on_trial(const struct session *s);
/*
 * The points were changed and are what they were: the next template need not wait until an execution has shown that they
 * stay.
 */
void session_template_same_points(struct session *s);
/* No template from now on. */
void session_template_give_up(struct session *s, const char *why);
/* A line for the summary; malloc'd, NULL: there is nothing to say. */
char *session_template_note(const struct session *s);

/*
 * Makes a folder and the folders above it that are not there; without keep only tries that, and leaves
 * nothing behind. 0 or -errno.
 */
int session_make_folder(const char *dir, bool keep);
/*
 * The first free name for a trace in the folder for traces, PROGRAM.WHAT1.trace, created empty;
 * malloc'd. NULL with a line in err.
 */
char *session_trace_name(const struct session *s, const char *what, char *err, size_t errlen);
/* Copies the trace of the last execution. */
int session_keep_trace(const struct session *s, const char *to, char *err, size_t errlen);

/* ---- names for people (session_places.c) ---- */

/* "add_one (counter.c:12)" */
void session_place_text(const struct session *s, uint64_t site, char *buf, size_t len);
/* A row for a place of the code that is no point, or was not reached. 0 or -ENOMEM. */
int session_table_absent(const struct session *s, struct point_table *t, uint32_t module,
			 uint64_t offset, const char *why);
/* The data that a step accessed: "counter", "struct node.next". */
void session_data_text(const struct session *s, uint64_t object, uint64_t site, char *buf,
		       size_t len);
/* "struct node.next": what is accessed there through a pointer; false: unknown. */
bool session_member_text(const struct session *s, uint64_t site, char *buf, size_t len);
/* What the call there is given: "struct pool.lock". False: no call, or that is not known. */
bool session_argument_text(const struct session *s, uint64_t site, char *buf, size_t len);
/* That place is code of a library that has lines, such as a method of a header. */
bool session_in_library(const struct session *s, uint64_t site);
/* True when the place is no code of the program's own: a library of the distribution, a language's runtime. s: a session. */
bool session_is_foreign(const void *s, uint64_t site);
/* True when it is the user's own code, of a program with lines: no package's, no header's. s: a session. */
bool session_is_users(const void *s, uint64_t site);
/* The file of a place, and the offset of the place in it. NULL: unknown. */
const struct probe_module *session_module_at(const struct session *s, uint64_t site,
					     uint64_t *offset);

#endif
