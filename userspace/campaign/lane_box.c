/* SPDX-License-Identifier: GPL-2.0-only */
/* lane_box.c - boxes in shared memory, and what wakes the sides that sleep (lane_box.h) */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "campaign/lane_box.h"

/*
 * One side sleeps on this word, and each ring changes it. A bit of it says that the side sleeps. With two words, one could
 * be set and the other one be changed before both were seen, and a later ring would wake no task.
 */
struct bell {
	_Atomic uint32_t turn;
};

#define SLEEPS	1u	/* of a turn; so turns are even */

struct box {
	struct bell lane;
	_Atomic bool ends, full;	/* full: the lane waits for room */
	_Atomic uint32_t low;
	/* taken << 32 | given: both only grow, so one that was taken back is never taken for a later one */
	_Atomic uint64_t orders;
	struct lane_order list[LANE_ORDERS];
	_Atomic uint32_t told, read;
	struct lane_report reports[LANE_REPORTS];
};

struct lane_boxes {
	struct bell campaign;
	size_t size;
	struct box list[];
};

#define TAKEN(orders)	((uint32_t)((orders) >> 32))
#define GIVEN(orders)	((uint32_t)(orders))

static void ring(struct bell *l)
{
	uint32_t turn = atomic_load(&l->turn);

	while (!atomic_compare_exchange_strong(&l->turn, &turn, (turn & ~SLEEPS) + 2))
		;
	if (turn & SLEEPS)
		syscall(SYS_futex, &l->turn, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static uint32_t turn_of(const struct bell *l)
{
	return atomic_load(&l->turn) & ~SLEEPS;
}

/* Until it is rung, which may have been since that turn. timeout_ms: -1: none. */
static void sleep_on(struct bell *l, uint32_t turn, int timeout_ms)
{
	struct timespec t = { .tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000l };
	uint32_t now = turn;

	/* a sleep that was too short has left it */
	if (!atomic_compare_exchange_strong(&l->turn, &now, turn | SLEEPS) && now != (turn | SLEEPS))
		return;
	syscall(SYS_futex, &l->turn, FUTEX_WAIT, turn | SLEEPS, timeout_ms < 0 ? NULL : &t, NULL, 0);
}

struct lane_boxes *lane_boxes_new(uint32_t nr)
{
	size_t size = sizeof(struct lane_boxes) + nr * sizeof(struct box);
	struct lane_boxes *b = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (b == MAP_FAILED)
		return NULL;
	b->size = size;
	return b;
}

void lane_boxes_free(struct lane_boxes *b)
{
	if (b)
		munmap(b, b->size);
}

void lane_box_reset(struct lane_boxes *b, uint32_t i)
{
	memset(&b->list[i], 0, sizeof(b->list[i]));
}

/* ---- the campaign ---- */

void lane_box_put(struct lane_boxes *b, uint32_t i, const struct lane_order *o)
{
	struct box *x = &b->list[i];

	x->list[GIVEN(atomic_load(&x->orders)) % LANE_ORDERS] = *o;
	atomic_fetch_add(&x->orders, 1);
	ring(&x->lane);
}

void lane_box_low(struct lane_boxes *b, uint32_t i, uint32_t nr)
{
	atomic_store(&b->list[i].low, nr);
}

uint32_t lane_box_take_back(struct lane_boxes *b, uint32_t i, struct lane_order *list)
{
	struct box *x = &b->list[i];
	uint64_t orders = atomic_load(&x->orders);
	uint32_t nr;

	while (!atomic_compare_exchange_strong(&x->orders, &orders, (uint64_t)GIVEN(orders) << 32 | GIVEN(orders)))
		;
	nr = GIVEN(orders) - TAKEN(orders);
	for (uint32_t k = 0; k < nr; k++)
		list[k] = x->list[(TAKEN(orders) + k) % LANE_ORDERS];
	return nr;
}

bool lane_box_read(struct lane_boxes *b, uint32_t i, struct lane_report *r)
{
	struct box *x = &b->list[i];
	uint32_t read = atomic_load_explicit(&x->read, memory_order_relaxed);

	if (read == atomic_load(&x->told))
		return false;
	*r = x->reports[read % LANE_REPORTS];
	atomic_store(&x->read, read + 1);
	if (atomic_load(&x->full))
		ring(&x->lane);
	return true;
}

void lane_box_end(struct lane_boxes *b, uint32_t i)
{
	atomic_store(&b->list[i].ends, true);
	ring(&b->list[i].lane);
}

uint32_t lane_boxes_turn(const struct lane_boxes *b)
{
	return turn_of(&b->campaign);
}

void lane_boxes_wait(struct lane_boxes *b, uint32_t turn, int timeout_ms)
{
	sleep_on(&b->campaign, turn, timeout_ms);
}

/* ---- a lane ---- */

bool lane_box_ends(const struct lane_boxes *b, uint32_t i)
{
	return atomic_load(&b->list[i].ends);
}

bool lane_box_next(struct lane_boxes *b, uint32_t i, struct lane_order *o)
{
	struct box *x = &b->list[i];

	for (;;) {
		uint32_t turn = turn_of(&x->lane);
		uint64_t orders = atomic_load(&x->orders);

		if (lane_box_ends(b, i))
			return false;
		if (TAKEN(orders) == GIVEN(orders)) {
			sleep_on(&x->lane, turn, -1);
			continue;
		}
		*o = x->list[TAKEN(orders) % LANE_ORDERS];
		if (atomic_compare_exchange_strong(&x->orders, &orders, orders + (1ull << 32)))
			return true;
	}
}

static bool has_room(const struct box *x)
{
	return atomic_load(&x->told) - atomic_load(&x->read) < LANE_REPORTS;
}

static void wait_for_room(struct lane_boxes *b, struct box *x)
{
	atomic_store(&x->full, true);
	for (;;) {
		uint32_t turn = turn_of(&x->lane);

		if (has_room(x) || atomic_load(&x->ends))
			break;
		ring(&b->campaign);
		sleep_on(&x->lane, turn, -1);
	}
	atomic_store(&x->full, false);
}

void lane_box_tell(struct lane_boxes *b, uint32_t i, const struct lane_report *r)
{
	struct box *x = &b->list[i];
	uint32_t told = atomic_load(&x->told);
	uint64_t orders;

	if (!has_room(x))
		wait_for_room(b, x);
	/* at the end of the lane it is of no use any more */
	if (!has_room(x))
		return;
	x->reports[told % LANE_REPORTS] = *r;
	atomic_store(&x->told, told + 1);
	orders = atomic_load(&x->orders);
	if (!r->plain || told + 1 - atomic_load(&x->read) >= LANE_REPORTS / 2 ||
	    (r->over && GIVEN(orders) - TAKEN(orders) <= atomic_load(&x->low)))
		ring(&b->campaign);
}
