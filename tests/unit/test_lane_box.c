/* SPDX-License-Identifier: GPL-2.0-only */
/* test_lane_box.c - the memory between a campaign and its lanes: nothing is lost, made twice, or slept through */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/base/clock.h"
#include "campaign/lane_box.h"

/* Longer than anything here takes: who sleeps for so long was not woken. */
#define LONG_MS	20000

static struct lane_report report_of(const struct lane_order *o, uint64_t nr, bool over)
{
	return (struct lane_report){ .part = o->part, .bound = o->bound, .executed = true, .over = over, .plain = true,
				     .hash = nr };
}

/* A lane that makes so many executions of each part. */
static pid_t begin_lane(struct lane_boxes *b, uint32_t i, uint64_t each)
{
	struct lane_report r;
	struct lane_order o;
	pid_t pid;

	lane_box_reset(b, i);
	pid = fork();
	if (pid)
		return pid;
	alarm(LONG_MS / 1000 * 2);
	while (lane_box_next(b, i, &o))
		for (uint64_t k = 0; k < each; k++) {
			r = report_of(&o, k, k + 1 == each);
			lane_box_tell(b, i, &r);
		}
	_exit(0);
}

static void end_lane(struct lane_boxes *b, uint32_t i, pid_t pid)
{
	uint64_t since = clock_now_ns();
	int status;

	lane_box_end(b, i);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(clock_now_ns() - since < LONG_MS * 1000000ull);
}

/* All reports of lanes with the parts 0 to nr - 1, which are given to each in turn. */
static void exchange(uint32_t lanes, uint64_t nr, uint64_t each)
{
	struct lane_boxes *b = lane_boxes_new(lanes);
	uint64_t given = 0, over = 0, since;
	unsigned int has[4] = { 0 };
	uint64_t next[4] = { 0 };
	struct lane_report r;
	uint32_t turn;
	pid_t pid[4];

	assert_non_null(b);
	for (uint32_t i = 0; i < lanes; i++)
		pid[i] = begin_lane(b, i, each);
	while (over < nr) {
		turn = lane_boxes_turn(b);
		for (uint32_t i = 0; i < lanes; i++) {
			while (lane_box_read(b, i, &r)) {
				/* each part's in their order */
				assert_int_equal(r.hash, next[i]++);
				if (!r.over)
					continue;
				next[i] = 0;
				has[i]--;
				over++;
			}
			lane_box_low(b, i, LANE_ORDERS / 2);
			for (; has[i] < LANE_ORDERS && given < nr; has[i]++)
				lane_box_put(b, i, &(struct lane_order){ .part = given++ });
		}
		if (over == nr)
			break;
		since = clock_now_ns();
		lane_boxes_wait(b, turn, LONG_MS);
		assert_true(clock_now_ns() - since < LONG_MS * 1000000ull);
	}
	for (uint32_t i = 0; i < lanes; i++)
		end_lane(b, i, pid[i]);
	lane_boxes_free(b);
}

static void test_exchange(void **state)
{
	exchange(1, 5000, 1);
	exchange(4, 20000, 1);
}

/* More reports than there is room for. */
static void test_full(void **state)
{
	exchange(2, 200, LANE_REPORTS * 5 + 3);
}

/* A part is made by the lane, or comes back: one of both. */
static void test_take_back(void **state)
{
	struct lane_boxes *b = lane_boxes_new(1);
	struct lane_order list[LANE_ORDERS];
	unsigned int made = 0, back = 0;
	struct lane_report r;
	bool seen[LANE_ORDERS];
	uint32_t nr;
	pid_t pid;

	assert_non_null(b);
	for (int round = 0; round < 300; round++) {
		memset(seen, 0, sizeof(seen));
		pid = begin_lane(b, 0, 1);
		for (uint64_t k = 0; k < LANE_ORDERS; k++)
			lane_box_put(b, 0, &(struct lane_order){ .part = k, .bound = 7 });
		if (round % 2)
			usleep(round % 20 * 50);
		nr = lane_box_take_back(b, 0, list);
		for (uint32_t k = 0; k < nr; k++) {
			assert_int_equal(list[k].bound, 7);
			assert_false(seen[list[k].part]);
			seen[list[k].part] = true;
		}
		back += nr;
		assert_int_equal(lane_box_take_back(b, 0, list), 0);
		end_lane(b, 0, pid);
		while (lane_box_read(b, 0, &r)) {
			assert_false(seen[r.part]);
			seen[r.part] = true;
			made++;
		}
		for (int k = 0; k < LANE_ORDERS; k++)
			assert_true(seen[k]);
	}
	assert_true(back > 0 && made > 0);
	lane_boxes_free(b);
}

/* A lane that sleeps, and one that waits for room, end when they shall. */
static void test_end(void **state)
{
	struct lane_boxes *b = lane_boxes_new(1);
	pid_t pid;

	assert_non_null(b);
	pid = begin_lane(b, 0, 1);
	usleep(20000);
	assert_false(lane_box_ends(b, 0));
	end_lane(b, 0, pid);
	assert_true(lane_box_ends(b, 0));
	pid = begin_lane(b, 0, LANE_REPORTS * 2);
	lane_box_put(b, 0, &(struct lane_order){ .part = 1 });
	usleep(20000);
	end_lane(b, 0, pid);
	lane_boxes_free(b);
}

/* What the campaign should see at once wakes it, although the lane has much to do. */
static void test_at_once(void **state)
{
	struct lane_boxes *b = lane_boxes_new(1);
	struct lane_report r = { .plain = true, .over = true };
	uint32_t turn;

	assert_non_null(b);
	lane_box_reset(b, 0);
	for (uint64_t k = 0; k < LANE_ORDERS; k++)
		lane_box_put(b, 0, &(struct lane_order){ .part = k });
	lane_box_low(b, 0, 2);
	turn = lane_boxes_turn(b);
	lane_box_tell(b, 0, &r);
	assert_int_equal(lane_boxes_turn(b), turn);
	r.plain = false;
	lane_box_tell(b, 0, &r);
	assert_int_not_equal(lane_boxes_turn(b), turn);
	lane_boxes_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exchange), cmocka_unit_test(test_full), cmocka_unit_test(test_take_back),
		cmocka_unit_test(test_end), cmocka_unit_test(test_at_once),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("lane boxes", tests, NULL, NULL);
}
