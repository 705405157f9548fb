/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * debugger.h - what looks at an execution while it is replayed: the engine's side of gdb.h
 *
 * The engine calls these in a replay only. They may take as long as they like: meanwhile no task
 * has the turn, or its holder is stopped; the time does not count as the execution's. They keep the
 * world alive (tend) while they wait.
 */
#ifndef ZUG_DEBUGGER_H
#define ZUG_DEBUGGER_H

#include <stdbool.h>
#include <stdint.h>
#include "engine/world.h"

struct debugger {
	/*
	 * Called before task gets the turn, in a step of the trace. false: the execution is to end.
	 */
	bool (*granting)(struct debugger *d, struct world *w, uint64_t step, uint32_t task);
	/* Called often while a task has the turn. false: the execution is to end. */
	bool (*running)(struct debugger *d, struct world *w);
	/*
	 * The execution is over, but nothing has been taken down. why: its outcome; exited: the
	 * root command ended by itself.
	 */
	void (*ending)(struct debugger *d, struct world *w, const char *why, bool exited);
};

#endif
