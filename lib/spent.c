/* SPDX-License-Identifier: GPL-2.0-only */
#include "lib/spent.h"

static const struct {
	const char *name, *words;
} parts[SPENT_NR] = {
	[SPENT_ENVIRONMENT] = { "environment", "until the root command's process is in its environment" },
	[SPENT_PROGRAM] = { "program", "from there to the first decision: exec" },
	[SPENT_TEST] = { "test", "the test's own instructions, and the points that it passed" },
	[SPENT_STOP] = { "stop", "from a point to the event" },
	[SPENT_WAKE] = { "wake-up", "until zug has the event" },
	[SPENT_READ] = { "reading", "what the event means, and which tasks can go on" },
	[SPENT_SEARCH] = { "search", "the strategy's choice" },
	[SPENT_TRACE] = { "trace", "the step is recorded" },
	[SPENT_GRANT] = { "grant", "until the chosen task runs" },
	[SPENT_DRAIN] = { "drain", "until nothing of the execution is left" },
};

static const struct {
	const char *name, *words;
} causes[ASK_NR] = {
	[ASK_FIRST] = { "first", "the search begins there" },
	[ASK_LOOKED] = { "looked", "each step is looked at" },
	[ASK_HOLDS] = { "holds", "tasks are held, or one is on trial" },
	[ASK_TIMER] = { "timer", "a timer has fired, or time-outs may end early" },
	[ASK_DESTROYED] = { "destroyed", "a lock was destroyed whose process lives" },
	[ASK_UNPROMISED] = { "unpromised", "the strategy knows nothing of the next step" },
	[ASK_WORLD] = { "world", "what the kernel side would have to know cannot be told to it" },
	[ASK_USED_UP] = { "used_up", "all promised points were passed" },
	[ASK_TIME] = { "time", "a time-out or a timer is over, or may end early" },
	[ASK_RING] = { "ring", "many events have not been read yet" },
	[ASK_WATCHED] = { "watched", "an access to watched data, or an unknown caller" },
	[ASK_PLACE] = { "place", "an access in two steps, or what may be misuse" },
	[ASK_OBJECT] = { "object", "the memory of the operation cannot be read" },
	[ASK_HELD] = { "held", "the lock is held" },
	[ASK_LOCK] = { "lock", "a lock before which others stand has changed, or cannot be read" },
	[ASK_CALL] = { "call", "a system call that zug has to see before it is made" },
	[ASK_FILE] = { "file", "a file, a path or a caller without a name yet" },
	[ASK_UNCLEAR] = { "unclear", "which tasks are enabled is not clear" },
	[ASK_PLAN] = { "plan", "the plan ends there" },
	[ASK_RACES] = { "races", "which operations race is not clear" },
	[ASK_NEXT] = { "next", "the next task does what zug has to see" },
	[ASK_BLOCKS] = { "blocks", "the task blocks, and no plan goes on there" },
	[ASK_ENDS] = { "ends", "the task ends, and no plan goes on there" },
	[ASK_YIELDS] = { "yields", "the task yields" },
	[ASK_WAKES] = { "wakes", "a task has woken up that no plan knows" },
	[ASK_CREATES] = { "creates", "a process was created, or executed a program" },
	[ASK_SIGNAL] = { "signal", "a signal is handled" },
	[ASK_DIES] = { "dies", "another task dies" },
	[ASK_SETS_TIMER] = { "sets_timer", "a timer was set" },
	[ASK_OTHER] = { "other", "something else than code and calls" },
};

void spent_add(struct spent *to, const struct spent *more)
{
	for (int i = 0; i < SPENT_NR; i++)
		to->ns[i] += more->ns[i];
	for (int i = 0; i < ASK_NR; i++)
		to->causes[i] += more->causes[i];
	to->all_ns += more->all_ns;
	to->executions += more->executions;
	to->points += more->points;
	to->asked += more->asked;
	to->copied += more->copied;
}

uint64_t spent_rest_ns(const struct spent *s)
{
	uint64_t sum = 0;

	for (int i = 0; i < SPENT_NR; i++)
		sum += s->ns[i];
	return s->all_ns > sum ? s->all_ns - sum : 0;
}

const char *spent_name(enum spent_part part)
{
	return parts[part].name;
}

const char *spent_words(enum spent_part part)
{
	return parts[part].words;
}

const char *ask_cause_name(enum ask_cause cause)
{
	return causes[cause].name;
}

const char *ask_cause_words(enum ask_cause cause)
{
	return causes[cause].words;
}
