/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lane_box.h - the memory that a campaign shares with its lanes
 *
 * Each lane has a box: orders (parts that it shall make) go down in it, reports (what they came to) come up. Neither needs
 * a system call as long as the other side works. A side with nothing to do sleeps, and is woken: a lane by orders, by room
 * for its reports, or by its end; the campaign by a report that it should see at once, by a lane that has half of its
 * orders left, or by a box that is half full of reports. So the campaign is woken once for several reports of all lanes.
 *
 *	b = lane_boxes_new(nr);			before the lanes are forked
 *	lane_box_reset(b, i);			before each fork of lane i
 *
 *	campaign				lane
 *	lane_box_put(), lane_box_low()		while (lane_box_next(&order))
 *	turn = lane_boxes_turn()			lane_box_tell(report)
 *	while (lane_box_read(&report)) ...
 *	lane_boxes_wait(turn)
 *	lane_box_end()				lane_box_ends(): after each execution
 *
 * A lane that dies leaves its box as it is: a report is there when all of it was written. Nobody is woken then.
 */
#ifndef ZUG_CAMPAIGN_LANE_BOX_H
#define ZUG_CAMPAIGN_LANE_BOX_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/spent.h"
#include "search/parts.h"

/* Orders, and reports, in a box at most: powers of two. The test of all schedules has small boxes. */
#ifndef LANE_ORDERS
#define LANE_ORDERS	16
#define LANE_REPORTS	64
#endif

struct lane_order {
	uint64_t part;
	uint32_t bound;
};

/* What a lane tells: an execution, the end of a part, or both. */
struct lane_report {
	uint64_t part;
	uint32_t bound;
	bool executed, over;
	bool plain;		/* nothing in it is for the campaign to see; of an end: of the part */
	struct search_part_end end;
	enum search_result result;
	struct search_made made;
	uint64_t failure, preemptions, switches, asked, hash, trace_sum, wall_ns, launch_ns, drain_ns;
	struct spent spent;
	uint32_t nr_tasks;
};

struct lane_boxes;

/* NULL: no memory. */
struct lane_boxes *lane_boxes_new(uint32_t nr);
void lane_boxes_free(struct lane_boxes *b);
void lane_box_reset(struct lane_boxes *b, uint32_t i);

/* ---- the campaign ---- */

/* There must be room: no more than LANE_ORDERS are in it. */
void lane_box_put(struct lane_boxes *b, uint32_t i, const struct lane_order *o);
/* The campaign is woken when the lane has so few orders left. */
void lane_box_low(struct lane_boxes *b, uint32_t i, uint32_t nr);
/* Takes all orders back that the lane has not begun with, into list[LANE_ORDERS]: their number. */
uint32_t lane_box_take_back(struct lane_boxes *b, uint32_t i, struct lane_order *list);
/* The next report; false: there is none. */
bool lane_box_read(struct lane_boxes *b, uint32_t i, struct lane_report *r);
/* The lane gets no more orders, and ends after the execution that goes on. */
void lane_box_end(struct lane_boxes *b, uint32_t i);
/* Sleeps for so long at most, unless a lane had something to see since lane_boxes_turn(). A signal ends it, too. */
uint32_t lane_boxes_turn(const struct lane_boxes *b);
void lane_boxes_wait(struct lane_boxes *b, uint32_t turn, int timeout_ms);

/* ---- a lane ---- */

/* Waits for the next order; false: there are none any more. */
bool lane_box_next(struct lane_boxes *b, uint32_t i, struct lane_order *o);
/* Waits for room where the box is full. */
void lane_box_tell(struct lane_boxes *b, uint32_t i, const struct lane_report *r);
bool lane_box_ends(const struct lane_boxes *b, uint32_t i);

#endif
