/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_lane_box.c - the memory between a campaign and its lanes (userspace/campaign/lane_box.c), under all schedules of up
 * to two or three preemptions: nothing is lost or made twice, and no task sleeps for ever
 *
 * It is the file itself, with boxes of two orders and four reports (atomics_as_points.h). No wait ends by its time, so a
 * wake-up that is missing is a deadlock. Then the operations are broken, one after another: that must be found.
 */
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "campaign/lane_box.h"
#include "tests/libzug/atomics_as_points.h"
#include "tests/model/tap.h"

#define LANES	2
#define PARTS	4
#define FUTEXES	8

enum broken broken;

static struct lane_boxes *boxes;
static unsigned int made[PARTS];	/* executions that were told of each part */
static unsigned int each;		/* executions of a part */

/* ---- futexes ---- */

static struct futex {
	void *word;
	int resource;
} futexes[FUTEXES];
static unsigned int nr_futexes;

void futexes_reset(void)
{
	nr_futexes = 0;
}

static int resource_of(void *word)
{
	unsigned int i;
	char name[16];

	for (i = 0; i < nr_futexes; i++)
		if (futexes[i].word == word)
			return futexes[i].resource;
	zug_assert(nr_futexes < FUTEXES);
	snprintf(name, sizeof(name), "futex %u", i);
	futexes[nr_futexes++] = (struct futex){ word, zug_create_resource(name) };
	return futexes[i].resource;
}

long futex_as_points(void *word, int op, uint32_t value, const struct timespec *timeout)
{
	int resource = resource_of(word);

	(void)timeout;
	zug_schedule_next();
	if (op == FUTEX_WAIT) {
		if (broken == BROKEN_WAIT || *(uint32_t *)word == value)
			zug_wait_resource(resource);
	} else if (broken != BROKEN_WAKE) {
		zug_signal_all(resource);
	}
	return 0;
}

/* ---- both sides ---- */

static void lane(void *arg)
{
	uint32_t i = (uint32_t)(size_t)arg;
	struct lane_order o;

	while (lane_box_next(boxes, i, &o))
		for (unsigned int k = 0; k < each; k++)
			lane_box_tell(boxes, i, &(struct lane_report){
				.part = o.part, .executed = true, .over = k + 1 == each, .plain = true, .hash = k });
}

static void begin(unsigned int executions)
{
	futexes_reset();
	each = executions;
	memset(made, 0, sizeof(made));
	for (uint32_t i = 0; i < LANES; i++)
		lane_box_reset(boxes, i);
}

static void put(uint32_t i, uint64_t part)
{
	lane_box_put(boxes, i, &(struct lane_order){ .part = part });
}

/* Reads what lane i has told: how many parts are over. */
static unsigned int read_all(uint32_t i)
{
	unsigned int over = 0;
	struct lane_report r;

	while (lane_box_read(boxes, i, &r)) {
		zug_assert(r.part < PARTS && r.hash == made[r.part]);
		made[r.part]++;
		over += r.over;
	}
	return over;
}

/* Until so many parts are over. */
static void wait_over(uint32_t lanes, unsigned int nr)
{
	unsigned int over = 0;

	for (;;) {
		uint32_t turn = lane_boxes_turn(boxes);

		for (uint32_t i = 0; i < lanes; i++)
			over += read_all(i);
		if (over == nr)
			return;
		lane_boxes_wait(boxes, turn, 1000);
	}
}

static void want_made(uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		zug_assert(made[i] == each);
}

/* ---- tests ---- */

static void exchange(void *arg)
{
	int op;

	(void)arg;
	begin(1);
	op = zug_spawn("lane", lane, NULL);
	lane_box_low(boxes, 0, LANE_ORDERS / 2);
	put(0, 0);
	put(0, 1);
	wait_over(1, 2);
	put(0, 2);
	wait_over(1, 1);
	lane_box_end(boxes, 0);
	zug_join(op);
	want_made(3);
}

static void two_lanes(void *arg)
{
	int op[LANES];

	(void)arg;
	begin(1);
	for (uint32_t i = 0; i < LANES; i++) {
		op[i] = zug_spawn("lane", lane, (void *)(size_t)i);
		put(i, i);
	}
	wait_over(LANES, LANES);
	for (uint32_t i = 0; i < LANES; i++)
		lane_box_end(boxes, i);
	for (uint32_t i = 0; i < LANES; i++)
		zug_join(op[i]);
	want_made(LANES);
}

/* More reports than there is room for. */
static void full(void *arg)
{
	int op;

	(void)arg;
	begin(LANE_REPORTS + 2);
	op = zug_spawn("lane", lane, NULL);
	put(0, 0);
	wait_over(1, 1);
	lane_box_end(boxes, 0);
	zug_join(op);
	want_made(1);
}

/* A part is made, or comes back: one of both. */
static void take_back(void *arg)
{
	struct lane_order list[LANE_ORDERS];
	uint32_t nr;
	int op;

	(void)arg;
	begin(1);
	op = zug_spawn("lane", lane, NULL);
	put(0, 0);
	put(0, 1);
	nr = lane_box_take_back(boxes, 0, list);
	put(0, 2);
	lane_box_end(boxes, 0);
	zug_join(op);
	read_all(0);
	for (uint32_t i = 0; i < nr; i++)
		zug_assert(list[i].part < 2 && !made[list[i].part]++);
	zug_assert(made[0] == 1 && made[1] == 1 && made[2] <= 1);
}

/* A lane ends where it waits for orders, or for room, or does not wait. */
static void end(void *arg)
{
	int op;

	(void)arg;
	begin(LANE_REPORTS + 1);
	op = zug_spawn("lane", lane, NULL);
	put(0, 0);
	lane_box_end(boxes, 0);
	zug_join(op);
	zug_assert(lane_box_ends(boxes, 0));
}

static const struct {
	const char *name;
	void (*fn)(void *arg);
	int preemptions, in_long;
	enum broken found[2];	/* what it finds when it is broken */
} tests[] = {
	{ "orders and reports of one lane", exchange, 2, 3, { BROKEN_WAIT, BROKEN_WAKE } },
	{ "two lanes", two_lanes, 2, 3, { BROKEN_WAIT, BROKEN_WAKE } },
	{ "a box that is full", full, 2, 3, { BROKEN_WAIT, BROKEN_WAKE } },
	{ "orders that are taken back", take_back, 3, 4, { BROKEN_EXCHANGE } },
	{ "a lane that ends", end, 3, 4, { BROKEN_WAIT, BROKEN_WAKE } },
};

static struct zug_report try(unsigned int i)
{
	struct zug_report report;
	struct zug_options o = { .executions = 100000000, .steps = 100000, .flags = ZUG_FIBERS | ZUG_QUIET | ZUG_NO_MINIMIZE,
				 .report = &report };
	char strategy[64];

	snprintf(strategy, sizeof(strategy), "preemption:bound=%d", tap_scale(tests[i].preemptions, tests[i].in_long));
	o.strategy = strategy;
	zug_test_named(tests[i].name, tests[i].fn, NULL, &o);
	return report;
}

int main(void)
{
	static const char *const names[BROKEN_NR] = {
		[BROKEN_WAIT] = "a wait that does not look", [BROKEN_EXCHANGE] = "an exchange in two steps",
		[BROKEN_WAKE] = "a wake-up that is lost",
	};
	struct zug_report r;
	char folder[] = "/tmp/zug-lane-box.XXXXXX", command[64];

	/* where traces of failures go */
	if (!mkdtemp(folder) || chdir(folder)) {
		perror(folder);
		return 1;
	}
	boxes = lane_boxes_new(LANES);
	if (!boxes)
		return 1;
	for (unsigned int i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		broken = BROKEN_NOTHING;
		r = try(i);
		tap_ok(r.result == 0 && r.exhausted, "%s: %lu schedules: %d %s %s", tests[i].name, r.schedules, r.result,
		       r.failure, zug_message());
		for (int k = 0; k < 2 && tests[i].found[k]; k++) {
			broken = tests[i].found[k];
			r = try(i);
			tap_ok(r.result == 1, "%s: %s is found in execution %lu: %s", tests[i].name, names[broken], r.executions,
			       r.failure);
		}
	}
	lane_boxes_free(boxes);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	if (chdir("/") || system(command))
		return 1;
	return tap_done();
}
