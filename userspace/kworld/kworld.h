/* SPDX-License-Identifier: GPL-2.0-only */
/* kworld.h - the kernel's world: real programs under the BPF scheduler */
#ifndef ZUG_KWORLD_H
#define ZUG_KWORLD_H

#include <regex.h>
#include "kernel/kernel.h"
#include "kworld/places.h"
#include "probes/probes.h"
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_template.h"
#include "engine/spawn.h"
#include "engine/world.h"

struct kworld_options {
	struct kernel *kernel;
	struct sandbox *sandbox;
	struct probes *probes;
	struct places *places;
	struct symbols *symbols;
	struct spawn_table *spawn;
	struct launch launch;	/* descriptors may be changed between executions */
	int wake_fd;		/* readable: next() returns early (Ctrl-C, a client that left); -1 none */
	bool explore_timeouts;	/* kworld_explore_timeouts() */
	/*
	 * The locks that an interpreter has for itself (Python's GIL) are left out as by --not, and who waits for its turn to
	 * execute the program may ask for it at any point of the one that has it.
	 */
	bool leave_interpreter;
	bool own_only;		/* kworld_own_only() */
	uint64_t signals;	/* kworld_hear_signals() */
	/* What a runtime's threads ask the machine when they begin (files below /proc and /sys) is left out, too. */
	bool leave_machine;
	/*
	 * Functions of a runtime whose names begin so, and that are points, are operations on memory that its threads
	 * share, and on nothing else; one whose name goes on with 'Load' only reads. NULL: there are none.
	 */
	const char *shares;
	const regex_t *from_output;	/* the search begins when the test writes a line that matches; NULL: not by output */
};

/* Everything in o stays the caller's and must outlive the world. NULL: out of memory. */
struct world *kworld_new(const struct kworld_options *o);
struct launch *kworld_launch(struct world *w);
void kworld_free(struct world *w);
/* In the next executions tasks stop at every point while a task has a time-out, which may expire there; or they do not. */
void kworld_explore_timeouts(struct world *w, bool may);
/*
 * In the next executions an interpreter's tasks have points only where they execute the program's own functions: what
 * the language's library does in between is left out. With leave_interpreter.
 */
void kworld_own_only(struct world *w, bool only);
/*
 * In the next executions it is a point where a process begins to deal otherwise with one of these signals (bits), with
 * ZUG_SYS_SEEN_ONLY; of others it is none.
 */
void kworld_hear_signals(struct world *w, uint64_t signals);
/* The signals that were sent in the last execution, but for KILL, and for CHLD where a child ended. */
uint64_t kworld_signals_sent(const struct world *w);

/*
 * Executes the program up to where executions may part, and keeps it there, for executions that are forked from it
 * (sandbox_template.h). Between executions. Its way there may take patience_ns of machine time, and once more to an earlier
 * place. 0, or -errno with the reason in err why that cannot be done.
 */
int kworld_make_template(struct world *w, uint64_t patience_ns, char *err, size_t errlen);
/*
 * Forks the first process of the next execution, which is the next thing that is done with the world. false: there is no
 * template, or no more; the execution will be started by exec.
 */
bool kworld_fork(struct world *w);
/* True when the last execution was forked. */
bool kworld_used_template(const struct world *w);

/*
 * A code place that was reached KWORLD_HOT times or more in one execution so far. *contended: for memory that
 * several tasks used in that execution. Between executions.
 */
#define KWORLD_HOT 1000
bool kworld_is_hot(struct world *w, uint32_t site, bool *contended);
/* How often a code place was reached in the last execution, or so far in this one; before kworld_is_hot(). */
uint32_t kworld_hits(struct world *w, uint32_t site);

/* Some task is blocked with a time-out of the program's own. */
bool kworld_any_timed(const struct world *w);
/* A timer of the test's is armed, or a message of it is under way: world_status.next_timer, without a look at the clock. */
bool kworld_any_timer(const struct world *w);

/*
 * A task computed so long without a point that others were given a turn, in the last execution: where it was at
 * the last stops, by site, and how many. 0: none did.
 */
#define KWORLD_STOPS 10
unsigned int kworld_long_computation(struct world *w, const uint64_t **sites);

#endif
