/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * policy.h - a point policy: one reason for which places of the test become points, or stop being
 * points
 *
 * A policy sees what executions show and changes the probes of its session. It knows neither the
 * other policies nor the loop: points.c calls a table of them, in its order. What two policies
 * share is data (race_book.h). Any function but open may be NULL. Functions that return
 * int return -errno with a line in err when they fail.
 */
#ifndef ZUG_POLICY_H
#define ZUG_POLICY_H

#include "campaign/options_trace.h"
#include "campaign/point_table.h"
#include "campaign/race_book.h"
#include "campaign/result.h"
#include "campaign/session.h"

/* How far the search has found its points: see points.h. */
enum points_phase { POINTS_LEARNING = 0, POINTS_SETTLING, POINTS_SEARCHING };

struct point_policy {
	size_t size;	/* of its state, which points.c allocates and frees */
	/* Fills the state, which is all zeroes, from the options of the session. */
	int (*open)(void *state, struct session *s, struct race_book *races, char *err,
		    size_t errlen);
	void (*release)(void *state);	/* what the state holds; also when open() failed */
	/* The first points, before any execution. */
	int (*start)(void *state, char *err, size_t errlen);
	/*
	 * What the last execution showed, before the next one: how many points have changed.
	 * only_more: probes cannot be taken out now.
	 */
	int (*learn)(void *state, bool only_more, char *err, size_t errlen);
	bool learns_always;	/* also while the search goes on: it begins anew then */
	/*
	 * What the test maps is known. *more: a policy wants another execution before the search
	 * begins; the policy may set it, too.
	 */
	int (*settle)(void *state, bool only_more, bool *more, char *err, size_t errlen);
	/* The engine exists: it may be asked to call the policy. */
	void (*watch)(void *state);
	/*
	 * An execution of the search, or before it, begins. *apart: it is unlike the others
	 * (search_begin_apart()), which a policy may set only while session.sampled.
	 */
	void (*begin)(void *state, bool *apart);
	/* As engine_watch_steps(): of every execution, also of replays and trials. */
	bool (*on_step)(void *state, const struct search_point *p, uint32_t i, struct outcome *o);
	/*
	 * Before an execution: on_step() looks at the test's memory, or may end the execution, so that
	 * no step may be made ahead.
	 */
	bool (*looks)(void *state);
	/* Judges an execution that has ended; of every execution as well. */
	void (*judge)(void *state, struct execution *x);
	/* After an execution of the search, or before it: the outcome may become a pass. */
	int (*after)(void *state, enum points_phase phase, struct execution *x, char *err,
		     size_t errlen);
	/* What a replay needs, for the trace; the strings stay the policy's until the next call. */
	int (*lists)(void *state, struct options_replay *l);
	/*
	 * --list-points: adds what is a point because of this policy, or is none (point_table.h). 0 or
	 * -ENOMEM.
	 */
	int (*table)(void *state, struct point_table *t);
	/*
	 * What people should know, in the field of n that is this policy's: malloc'd, NULL for
	 * nothing.
	 */
	void (*note)(void *state, struct campaign_notes *n);
};

extern const struct point_policy
	policy_waits; /* loops that wait for another task without a point */
extern const struct point_policy
	policy_files; /* the functions of the program and of what it maps */
extern const struct point_policy policy_points;		/* --point */
extern const struct point_policy policy_from;		/* --from */
extern const struct point_policy policy_scope;		/* makes none: --only and --not name what there is */
extern const struct point_policy policy_code;		/* atomic instructions */
extern const struct point_policy policy_recorded; /* in a replay: places that the trace lists */
extern const struct point_policy
	policy_scan; /* data that tasks access unordered in the first executions */
extern const struct point_policy policy_races;		/* data races end an execution */
extern const struct point_policy policy_monitors;	/* --invariant and --discard-if */
extern const struct point_policy policy_watches;	/* --watch */
extern const struct point_policy policy_own; /* makes none: which executions have points in an interpreted program's own */
					     /* lines alone */
extern const struct point_policy policy_signals; /* how processes deal with signals, once these are sent */
extern const struct point_policy policy_timeouts; /* makes none: which executions have early time-outs */
extern const struct point_policy policy_untried; /* makes none: what the search does not try */
extern const struct point_policy policy_runtime; /* makes none: the options for a language's runtime */
extern const struct point_policy policy_seen; /* makes none: which points were reached, how often */

#endif
