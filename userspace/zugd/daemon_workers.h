/* SPDX-License-Identifier: GPL-2.0-only */
/* daemon_workers.h - what the parts of zugd share that know all workers: daemon_workers.c, daemon_lanes.c, daemon_status.c */
#ifndef ZUG_DAEMON_WORKERS_H
#define ZUG_DAEMON_WORKERS_H

#include "zugd/daemon.h"

/* A CPU on which a worker makes executions, in that sandbox. */
struct lent {
	int cpu;
	unsigned int slot;
};

struct worker {
	struct worker *next;
	pid_t pid;
	int fd, pidfd;
	bool kept;
	bool ahead;			/* made before its request was there */
	struct run_user *as;		/* its own: whose rights it has; NULL: ours */
	uint64_t idle_ns;		/* a kept one: since when it has nothing to do */
	unsigned int slot;
	int cpu;
	struct lent lanes[ZUG_MAX_SANDBOXES];	/* besides its own; one of them on its own CPU, so that it has two at least */
	unsigned int nr_lanes;
	unsigned int wanted;		/* CPUs */
	unsigned int share;		/* of them it is dealt, see deal() */
	unsigned int told;		/* to keep so many lanes */
	struct request *r;		/* that it executes; NULL: none */
	uint64_t cut_ns;		/* since when it is to end; 0: it is not */
	bool silent;			/* it has ended, or will */
	char *campaigns;		/* of a kept one, as JSON */
};

struct workers {
	struct worker_options o;
	struct worker *list;
	struct request *queue, *done;
	int *cpus, nr_cpus;	/* in the order in which they are used */
	bool used[ZUG_MAX_SANDBOXES];	/* slots */
	struct json_object *lost;	/* see lost_add() */
	bool ending, rests;
	bool no_ahead;		/* the last worker that was made ahead has ended by itself: no other one before the next request */
	uint64_t idle_ns;	/* since when nothing is executed; 0: something is */
	uint64_t quiet_ns;	/* since when a worker could be made ahead; 0: none is to be made */
	uint64_t left_ns;	/* since when there may be something left */
	void (*in_child)(void *ctx);
	void *in_child_ctx;
};

/* zugd waits for no worker: one that does not hear what it is told any more is ended. */
void worker_tell(const struct worker *w, const struct note *n);

/* ---- daemon_lanes.c ---- */

/* Sets ws->cpus: nr of them, 0: all, or one of two. lane: the first one; -1: the quietest. 0 or -ENOMEM. */
int lanes_choose(struct workers *ws, int lane, unsigned int nr);
/* A sandbox that none has; -1: there is none. The first one is for tests that join. */
int lanes_take_sandbox(struct workers *ws);
/* A CPU that none uses; -1: there is none. */
int lanes_free_cpu(const struct workers *ws);
/* How many CPUs are used, by all and by one user, and how many a user may have. */
int lanes_nr_used(const struct workers *ws);
unsigned int lanes_used_by(const struct workers *ws, uid_t user);
unsigned int lanes_most_of(const struct workers *ws, uid_t user);
/* How many CPUs a worker may have; at least its own. */
unsigned int lanes_share_of(struct workers *ws, const struct worker *of);
/* Tells a worker how many lanes it may keep, of that share. answers: it has said how many it wants. */
void lanes_tell_keep(struct worker *w, unsigned int share, bool answers);
/* Tells each worker what it may keep, and lends what is free to those that are to have more. */
void lanes_share_out(struct workers *ws);
/* A worker has given back the lane of that note. */
void lanes_given_back(struct workers *ws, struct worker *w, const struct note *n);

#endif
