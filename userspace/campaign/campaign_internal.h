/* SPDX-License-Identifier: GPL-2.0-only */
/* campaign_internal.h - inside of campaign.h: shared by its files */
#ifndef ZUG_CAMPAIGN_INTERNAL_H
#define ZUG_CAMPAIGN_INTERNAL_H

#include <regex.h>
#include "campaign/campaign.h"
#include "kworld/kworld.h"

struct campaign {
	struct campaign_options o;
	FILE *out, *err;
	const volatile sig_atomic_t *stop;
	struct kernel *k;
	bool own_kernel, own_sandbox;
	struct sandbox *sandbox;
	struct symbols *symbols;
	struct probes *probes;
	struct places *places;
	struct spawn_table spawn;
	struct capture *capture;
	struct world *world;
	struct search *search;
	struct engine *engine;
	regex_t match;
	bool have_match;
	char *file;		/* resolved path of the command */
	char *hide;		/* behind o.environment.hide */
	char **shares;		/* absolute, behind o.environment.shares */
	char *current;		/* where the trace of the running execution lies */
	char *options_json;
	char release[256];	/* of the kernel */
	int input_fd;		/* the test's standard input */
	unsigned int nr_watches;
	struct zug_watch watch[ZUG_MAX_WATCHES];
	bool primed, exhausted;
	int prime_rounds;
	bool looked;		/* what the test maps is known */
	struct sampler *sampler;
	struct waits *waits;
	struct monitors *monitors;	/* NULL: none */
	struct races *race;
	bool one_by_one;	/* executions are wanted, not what a search would say of data races */
	bool races_fail;	/* --fail-on-race; c->o has it also while suspicions are confirmed */
	uint32_t most_tasks;	/* in an execution so far */
	unsigned int nr_silent;	/* code places that were hot and never contended */
	char **silent;		/* "PATH+0xOFFSET", NULL-terminated */
	bool cut;		/* the last execution was, because it stood at atomic instructions so often */
	unsigned int nr_limited;	/* code places that are points only so often in an execution */
	char **limited;		/* "PATH+0xOFFSET", NULL-terminated */
	unsigned int nr_split;	/* read-modify-writes of watched variables, likewise */
	char **split;
	struct { uint32_t module; uint64_t vaddr, size; } watched[ZUG_MAX_WATCHES];
	struct campaign_failure *failures;
	unsigned int nr_failures;
	uint64_t setup_ns, start_ns, saved_ns;
	struct record *record;
	uint64_t recorded;	/* number of the execution that was recorded last */
	bool record_ended;

	/* figures */
	uint64_t executions, findings, diverged, ungranted, steps;
	uint64_t run_ns;
	uint64_t limit_hits;
	bool aside;		/* executions now are replays or trials, none of the search's */
	bool keep_passes;	/* the trace of an execution that passed stays in current, too, until the next one */
	char first_divergence[256];
};

/*
 * JSON object of what replay needs; malloc'd. probed: the files whose primitives are probed; known: the others;
 * atomics: those whose atomic instructions are; silent: which of these are not; limited:
 * which are only KWORLD_HOT times in an execution; split: of plain variables;
 * waits: in loops; data, races: as data and known_races of the options.
 */
struct campaign_lists {
	char *const *probed, *const *known, *const *atomics, *const *silent, *const *limited;
	char *const *split, *const *waits;
	char *const *data, *const *races;
};
char *campaign_options_json(const struct campaign_options *o, const struct campaign_lists *l);
/* Current options of c, kept up to date when probes are added. */
int campaign_update_json(struct campaign *c);
/* Probes what the last execution mapped without probes. How many files got new points, or -errno. */
int campaign_learn(struct campaign *c, char *err, size_t errlen);
/*
 * --races: prepares the next of the executions that look for data races, with the points that it needs. 1:
 * make it; 0: there is none left, and the points are those to search with; -errno with a line in err.
 */
int campaign_sample(struct campaign *c, char *err, size_t errlen);
/* Is that over? */
bool campaign_sampled(const struct campaign *c);
void campaign_sample_tell(const struct campaign *c, FILE *to);
/* Sees every step of every execution (engine_watch_steps()), for this and for data races and loops that wait. */
bool campaign_on_step(void *ctx, const struct search_point *p, uint32_t i, struct outcome *o);
/* Is the access of that place an atomic one? NOTHING: it does not count at all. */
enum symsays campaign_access_says(struct campaign *c, uint32_t module, const struct code_place *p);
/* Was what that race is about only added to, and never read? */
bool campaign_is_counter(const struct campaign *c, uint64_t race);
/* As in options_replay.data; NULL-terminated, to be freed with its strings. NULL: out of memory. */
char **campaign_data_points(const struct campaign *c);
/* Points at the places of c->o.data. enum zug_exit, line in err. */
int campaign_add_data(struct campaign *c, char *err, size_t errlen);

/* Is the step a data race, and one that counts? Then *o says so. */
bool campaign_race_at(struct campaign *c, const struct search_point *p, uint32_t i, struct outcome *o);
/* "add_one (counter.c:12)" */
void campaign_say_place(const struct campaign *c, uint64_t site, char *buf, size_t len);
/* "struct node.next": what is accessed there through a pointer; false: it cannot be told. */
bool campaign_say_member(const struct campaign *c, uint64_t site, char *buf, size_t len);
/* That race does not count from now on: it is reported, or suppressed. */
void campaign_know_race(struct campaign *c, uint64_t race);
bool campaign_race_known(struct campaign *c, uint64_t race);
/* As in options_replay.races; to be freed as above. */
char **campaign_known_races(struct campaign *c);
/* Is the race that ended the last execution no more than a warning? */
bool campaign_race_warns(const struct campaign *c);
/* Then its trace is kept, and it is told at the end. 0, or -errno with a line in err. */
int campaign_keep_race(struct campaign *c, const struct execution *x, char *err, size_t errlen);
const struct campaign_race *campaign_races(const struct campaign *c, unsigned int *nr);
void campaign_tell_races(const struct campaign *c, FILE *to);
void campaign_free_races(struct campaign *c);
void campaign_sample_free(struct campaign *c);
/* Points at atomic instructions of the modules that have none yet, as the options say. enum zug_exit, line in err. */
int campaign_add_atomics(struct campaign *c, char *err, size_t errlen);
/* Points at what a replay's options say is split, or is in a loop that waits. enum zug_exit, with a line in err. */
int campaign_add_split(struct campaign *c, char *err, size_t errlen);
/*
 * The instructions of the program that read and write a watched variable without LOCK become two steps, once
 * campaign_set_watches() has found the variables; not in a replay. enum zug_exit, with a line in err.
 */
int campaign_split_watched(struct campaign *c, char *err, size_t errlen);
/* It came to no end in its steps or time, which went to atomic instructions: before campaign_cool(). */
bool campaign_cut_by_atomics(const struct campaign *c, const struct execution *x);
/*
 * Takes out the code places that turned out hot and never contended; after an execution that was cut, makes the hot
 * ones points KWORLD_HOT times only in an execution. How many, or -errno with a line in err.
 */
int campaign_cool(struct campaign *c, char *err, size_t errlen);
/* What was taken out, for people. */
void campaign_say_silent(const struct campaign *c, FILE *f);
/*
 * Loops that wait for another task without a point (campaign_waits.c). After an execution, before
 * campaign_cool(): 1 when the points have changed, 0, or -errno with a line in err.
 */
int campaign_waits(struct campaign *c, char *err, size_t errlen);
/* Before an execution, which is to end when such a point turns out to be in a computation; and does it now? */
void campaign_waits_guard(struct campaign *c);
bool campaign_waits_over(struct campaign *c);
/* It did. */
bool campaign_waits_cut(const struct campaign *c);
/* "PATH+0xOFFSET" of each, for replays: malloc'd array, NULL at the end, of strings that stay. NULL: out of memory. */
char **campaign_waits_list(const struct campaign *c);
void campaign_waits_tell(const struct campaign *c, FILE *f);
void campaign_waits_free(struct campaign *c);
/* Forgets what the search has tried: its points have changed. enum zug_exit, with a line in err. */
int campaign_restart(struct campaign *c, char *err, size_t errlen);
/* Sets the watchpoints, once addresses are known. enum zug_exit. */
int campaign_set_watches(struct campaign *c);
/* One execution with a trace in c->current; the trace is closed, with its outcome. 0 or -errno. */
int campaign_execute(struct campaign *c, const struct replay *r, struct execution *x,
		     char *err, size_t errlen);
/*
 * The first free name for a trace in the folder for traces, PROGRAM.WHAT1.trace, created empty; malloc'd, NULL
 * with errno.
 */
char *campaign_trace_name(const struct campaign *c, const char *what);
/* Copies the trace of the last execution. 0, or -errno with a line in err. */
int campaign_keep_trace(struct campaign *c, const char *to, char *err, size_t errlen);
/* Counts a failure, as a new one or as one that is known. NULL: out of memory. */
struct campaign_failure *campaign_note_failure(struct campaign *c, const struct execution *x, bool *new);
bool campaign_knows(const struct campaign *c, uint64_t failure);
/* What zug run does with a failure: trace, minimising, report. An enum zug_exit. */
int campaign_on_finding(struct campaign *c, const struct execution *x);
/* Follows a trace up to 'times' times (*done); how many were the same failure, step for step. */
int campaign_verify(struct campaign *c, const struct trace *t, int times, int *done);
void campaign_list_failures(const struct campaign *c);
enum search_result campaign_result(const struct execution *x);
/* "1.2 s" */
const char *campaign_seconds(uint64_t ns, char *buf, size_t len);
/* Gives names to the sites of a kept trace and appends the outcome. */
int campaign_finish_trace(struct campaign *c, struct trace_writer *t, const struct execution *x);
/* --resume: write the state of the search, read it. Without the option both do nothing. 0 or -errno. */
int campaign_save_state(struct campaign *c);
int campaign_load_state(struct campaign *c, char *err, size_t errlen);
/*
 * --record: each execution, then its finding if it is one (when its trace was kept), then the end.
 * Opening says in err what is wrong, -1; what goes wrong later is told when it is closed.
 */
int campaign_record_open(struct campaign *c, char *err, size_t errlen);
void campaign_record_execution(struct campaign *c, const struct execution *x);
void campaign_record_finding(struct campaign *c, const struct execution *x);
void campaign_record_end(struct campaign *c, const char *why);
void campaign_record_close(struct campaign *c);
/*
 * Executes the schedule of the last execution, x, again (keep_passes was set for it), and warns if it is not the same.
 * 0 or an enum zug_exit, with a message printed.
 */
int campaign_warn(struct campaign *c, const struct execution *x);
/*
 * --invariant and --discard-if (campaign_monitor.c). new: 0 or -errno, a line in err. resolve: an enum
 * zug_exit, a line in err; until the last time what is not known yet is let be. look: ends an execution.
 */
int campaign_monitors_new(struct campaign *c, char *err, size_t errlen);
int campaign_monitors_resolve(struct campaign *c, bool last, char *err, size_t errlen);
bool campaign_monitors_watch(const struct campaign *c);	/* is there anything to look at before steps? */
bool campaign_monitors_look(void *ctx, uint32_t task, struct outcome *o);
void campaign_monitors_end(struct campaign *c, struct execution *x);	/* judges an execution that has ended */
void campaign_monitors_tell(const struct campaign *c, FILE *to);
void campaign_monitors_free(struct campaign *c);
/*
 * Which statements of the script were made in the last execution. passed: executions of it that passed.
 * An enum zug_exit: FINDING, PASS, SCRIPT; INCOMPLETE when none counts.
 */
int campaign_script_tell(struct campaign *c, uint64_t passed);
/* May happen what the statements 'let' of its script want? 0, or -EINVAL with a line in err. */
int campaign_script_check(const struct campaign_options *o, const struct search *s, char *err, size_t errlen);
/* What names in --rules mean for this campaign. */
struct search_names campaign_rule_names(struct campaign *c);
/* Before each execution, and to see whether it can be: --stdin anew, into input_fd. 0, or -errno and a line in err. */
int campaign_feed(struct campaign *c, char *err, size_t errlen);
uint64_t campaign_now(void);

#endif
