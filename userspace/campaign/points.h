/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * points.h - the points of a campaign: the table of point policies, which the loop calls
 *
 *	points_new()	points_start()	before the first execution
 *	points_learn()	points_settle()	before each one, until no policy wants another execution
 *	points_begin()	points_after()	around each execution
 *
 * The options in the traces' headers (session.options_json) are made anew when points have changed.
 */
#ifndef ZUG_POINTS_H
#define ZUG_POINTS_H

#include "campaign/policy.h"

struct points;
/* 0, or -errno with a line in err; points_free() in either case. */
int points_new(struct points **p, struct session *s, char *err, size_t errlen);
void points_free(struct points *p);
/* Before session_start(). */
int points_start(struct points *p, char *err, size_t errlen);
/* After session_start(): the engine calls the policies from now on. */
void points_watch(struct points *p);
/* The same for steps alone, after engine_watch_steps() for something else. */
void points_watch_steps(struct points *p);
/* How many points have changed, or -errno. */
int points_learn(struct points *p, enum points_phase phase, char *err, size_t errlen);
int points_settle(struct points *p, bool *more, char *err, size_t errlen);
/* *apart: the execution is unlike the others of the search (search_begin_apart()). */
int points_begin(struct points *p, bool *apart, char *err, size_t errlen);
int points_after(struct points *p, enum points_phase phase, struct execution *x, char *err,
		 size_t errlen);
void points_note(struct points *p, struct campaign_notes *n);
/* --list-points. 0 or -ENOMEM; point_table_release() in either case. */
int points_table(struct points *p, struct point_table *t);
struct race_book *points_races(struct points *p);

#endif
