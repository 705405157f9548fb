/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * debugger.h - whoever looks at an execution while it is replayed: the engine's side of gdb.h
 *
 * The engine calls these in a replay only. They may take as long as they like: meanwhile nobody
 * has the turn, or its holder is stopped; the time is not the execution's. They keep the world
 * alive (tend) while they wait.
 */
#ifndef ZUG_DEBUGGER_H
#define ZUG_DEBUGGER_H

#include <stdbool.h>
#include <stdint.h>
#include "engine/world.h"

struct debugger {
	/* task is about to be given the turn, in a step of the trace. false: end the execution. */
	bool (*granting)(struct debugger *d, struct world *w, uint64_t step, uint32_t task);
	/* Called often while a task has the turn. false: end the execution. */
	bool (*running)(struct debugger *d, struct world *w);
	/* It is over, but nothing has been taken down yet: why; exited: the root command ended by itself. */
	void (*ending)(struct debugger *d, struct world *w, const char *why, bool exited);
};

#endif
