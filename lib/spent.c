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

void spent_add(struct spent *to, const struct spent *more)
{
	for (int i = 0; i < SPENT_NR; i++)
		to->ns[i] += more->ns[i];
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
