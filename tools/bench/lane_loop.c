/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>
#include "search/rng.h"
#include "tools/bench/lane_loop.h"
#include "userspace/campaign/lane_box.h"

#define LOOK_MS 200	/* as a campaign does */

static void __attribute__((noreturn)) lane(struct lane_boxes *b, uint32_t i, uint32_t us)
{
	struct lane_order o;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (lane_box_next(b, i, &o)) {
		if (us)
			usleep(us);
		/* each is a new schedule: the search's tables are as full as they can be */
		lane_box_tell(b, i, &(struct lane_report){
			.part = o.part, .executed = true, .over = true, .plain = true,
			.made = { .class = mix64(o.part), .schedule = mix64(~o.part), .steps = 100 } });
	}
	_exit(0);
}

static double cpu_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 + u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

/* What lanes have told, in the order of parts. */
struct told {
	bool *there;
	struct search_made *made;
	unsigned int *has;	/* orders, by lane */
	uint64_t given;
};

static void read_reports(struct lane_boxes *b, uint32_t lanes, struct told *t)
{
	struct lane_report r;

	for (uint32_t i = 0; i < lanes; i++)
		while (lane_box_read(b, i, &r)) {
			t->has[i]--;
			t->there[r.part] = true;
			t->made[r.part] = r.made;
		}
}

static void give(struct lane_boxes *b, uint32_t lanes, struct told *t, uint64_t executions)
{
	for (unsigned int level = 0; level < LANE_ORDERS; level++)
		for (uint32_t i = 0; i < lanes && t->given < executions; i++) {
			if (t->has[i] > level)
				continue;
			t->has[i]++;
			lane_box_low(b, i, LANE_ORDERS / 2);
			lane_box_put(b, i, &(struct lane_order){ .part = t->given++ });
		}
}

static int count_all(struct search *s, struct lane_boxes *b, uint32_t lanes, uint64_t executions, struct told *t,
		     struct lane_loop *to)
{
	double before = cpu_us();
	uint64_t done = 0;

	while (done < executions) {
		uint32_t turn = lane_boxes_turn(b);

		read_reports(b, lanes, t);
		give(b, lanes, t, executions);
		if (!t->there[done]) {
			to->waits++;
			lane_boxes_wait(b, turn, LOOK_MS);
		}
		for (; done < executions && t->there[done]; done++) {
			if (search_enter(s, done, 0) != SEARCH_GO)
				return -EINVAL;
			search_count(s, &t->made[done]);
		}
	}
	to->cpu_us = (cpu_us() - before) / executions;
	to->waits /= executions;
	return 0;
}

int lane_loop(struct search *s, uint32_t lanes, uint32_t us, uint64_t executions, struct lane_loop *to)
{
	struct told t = {
		.there = calloc(executions, sizeof(*t.there)), .made = calloc(executions, sizeof(*t.made)),
		.has = calloc(lanes, sizeof(*t.has)),
	};
	struct lane_boxes *b = lane_boxes_new(lanes);
	int ret = -ENOMEM;

	*to = (struct lane_loop){ 0 };
	if (!b || !t.there || !t.made || !t.has)
		goto out;
	for (uint32_t i = 0; i < lanes; i++) {
		lane_box_reset(b, i);
		if (!fork())
			lane(b, i, us);
	}
	ret = count_all(s, b, lanes, executions, &t, to);
	for (uint32_t i = 0; i < lanes; i++)
		lane_box_end(b, i);
	while (wait(NULL) > 0)
		;
out:
	lane_boxes_free(b);
	free(t.has);
	free(t.made);
	free(t.there);
	return ret;
}
