/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "search/patience.h"
#include "search/rng.h"

/* One execution in so many is patient: at first, where no wait has come to its end, and where some have. */
enum { SHARE_FIRST = 6, SHARE_VAIN = 24, SHARE_PAID = 2 };
#define TRIALS	6	/* patient executions after which that is judged, and without which a search does not end */

void patience_fini(struct patience *p)
{
	free(p->spent);
	*p = (struct patience){ 0 };
}

bool patience_draw(const struct patience *p, uint64_t seed, uint64_t iteration)
{
	uint64_t share = p->paid ? SHARE_PAID : p->met < TRIALS ? SHARE_FIRST : SHARE_VAIN;

	return p->seen && (iteration + mix64(seed)) % share == 0;
}

bool patience_owes(const struct patience *p)
{
	return p->seen && p->made < TRIALS;
}

void patience_begin(struct patience *p, bool on)
{
	p->on = on;
	p->yields = p->pays = false;
	p->task = SEARCH_NO_TASK;
	if (p->nr_spent)
		memset(p->spent, 0, p->nr_spent * sizeof(*p->spent));
}

/*
 * The last task said that it cannot make progress, with the step that it made or that it stands in: else it was taken to
 * have.
 */
static bool yielded(const struct search_point *point, uint32_t last, unsigned int flags)
{
	if (!point->yielded || last == UINT32_MAX || !point->cand[last].enabled)
		return false;
	return (flags | point->cand[last].label.flags | zug_op_flags(point->cand[last].label.op)) & ZUG_L_YIELD;
}

/* Its wait has come to an end: the next one is another. */
static void leave(struct patience *p)
{
	p->pays = true;
	p->spent[p->task] = 0;
	p->task = SEARCH_NO_TASK;
}

int patience_step(struct patience *p, const struct search_point *point, unsigned int flags)
{
	uint32_t last = search_cand_of(point, point->last);
	bool yields = yielded(point, last, flags);

	p->yields |= yields && point->nr_enabled > 1;
	if (!p->on)
		return 0;
	if (!ARRAY_RESERVE_ZERO(p->spent, p->nr_spent, point->cand[point->nr - 1].task + 1))
		return -ENOMEM;
	if (yields) {
		p->since = 0;
		p->task = p->spent[point->last] < PATIENCE_YIELDS ? point->last : SEARCH_NO_TASK;
		p->spent[point->last] += p->task != SEARCH_NO_TASK;
	} else if (p->task != SEARCH_NO_TASK &&
		   (last == UINT32_MAX || !point->cand[last].enabled || ++p->since > PATIENCE_STEPS)) {
		leave(p);
	}
	return 0;
}

void patience_end(struct patience *p, bool learns)
{
	if (!learns)
		return;
	p->seen += p->yields;
	p->made += p->on;
	p->met += p->on && p->yields;
	p->paid += p->pays;
}

uint64_t patience_promise(const struct patience *p)
{
	return PATIENCE_STEPS - p->since;
}

uint32_t patience_left(const struct patience *p)
{
	return PATIENCE_YIELDS - p->spent[p->task];
}
