/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * failure.h - the identity of a failure that the engine saw while the tasks were still there
 *
 * The places where tasks wait for each other, or go round, say more than the message: that names
 * tasks by number, and one bug strikes different tasks.
 */
#ifndef ZUG_FAILURE_H
#define ZUG_FAILURE_H

#include "engine/outcome.h"
#include "engine/progress_check.h"
#include "engine/takers.h"
#include "engine/world.h"

/*
 * Sets o->failure of a deadlock, a lock cycle, a livelock or a spin; others keep theirs. last: task
 * of the last step. takers: who has locks that do not say it; NULL: that is not known.
 */
void failure_identify(struct outcome *o, struct world *w, uint32_t last, const struct progress_check *pc,
		      const struct takers *takers);

#endif
