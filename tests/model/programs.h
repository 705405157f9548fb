/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * programs.h - model programs with a planted bug, in families of growing depth
 */
#ifndef ZUG_TESTS_PROGRAMS_H
#define ZUG_TESTS_PROGRAMS_H

#include "model.h"

struct program {
	struct model model;
	struct model_step *code[MODEL_TASKS];
	char name[40];
};

void program_free(struct program *p);

/*
 * A family and its size: the program, or NULL for an unknown name. All but
 * 'lines' fail in some schedules.
 *
 *	reorder N	N tasks set a, then b; one reads a set and b not set
 *	twostage N	N tasks set x, then y, under two locks; one sees x without y
 *	philosophers N	each takes the left fork first
 *	lostupdate N	two tasks add one to x without a lock, N other steps before and after
 *	abba N		two locks in two orders, N other steps around
 *	chain N		bug of depth N: two tasks have to alternate N - 1 times at one place
 *	window N	two steps of one task are N apart from its ends, another falls between
 *	lostwakeup N	a signal before the wait, N other steps before both
 *	bakery N	two tasks take numbers without saying so, N other steps before; two long stops
 *	spin N		N tasks wait for a flag with yields; no bug
 *	lines N		three tasks of N steps on one variable; no bug
 *	values N	two tasks write a value below N that the search chooses; no bug
 */
struct program *program_new(const char *family, uint32_t n);

/* Tasks that do the same, on whatever objects, execute one function: their steps have the same places. */
void program_share_places(struct program *p);

/*
 * One execution of two processes as shells are, between search_begin(), which said begun, and search_end(): each says
 * SHELL_AFFAIRS times how a signal of its own is handled; then the first writes twice, and the second reads. True: the read
 * came between the writes, which is failure 1. order, if given, has room for SHELL_STEPS decisions. Instead of
 * that the second handles signals that the first's are about, or closes what the first has read; the first reads before
 * it says anything of signals, and the second writes; or the first sleeps and the second waits for signals.
 */
enum shell_affairs { SHELL_SIGNALS, SHELL_HANDLES, SHELL_CLOSES, SHELL_LOOKS_FIRST, SHELL_SLEEPS };
#define SHELL_AFFAIRS	40
#define SHELL_STEPS	(2 * SHELL_AFFAIRS + 3)
bool shells_run(struct search *s, int begun, uint32_t *order, enum shell_affairs affairs);

#endif
