// SPDX-License-Identifier: GPL-2.0-only
/* trace.c - names of outcomes, common to writers and readers of traces */
#include "lib/trace.h"

static const struct {
	const char *name;
	bool finding;
} outcomes[ZUG_OUTCOME_NR] = {
	[ZUG_OUTCOME_PASS]		= { "pass", false },
	[ZUG_OUTCOME_ABORT]		= { "abort", true },
	[ZUG_OUTCOME_SIGNAL]		= { "signal", true },
	[ZUG_OUTCOME_EXIT]		= { "exit", true },
	[ZUG_OUTCOME_MATCH]		= { "match", true },
	[ZUG_OUTCOME_SANITIZER]		= { "sanitizer", true },
	[ZUG_OUTCOME_DEADLOCK]		= { "deadlock", true },
	[ZUG_OUTCOME_LOCK_CYCLE]	= { "lock-cycle", true },
	[ZUG_OUTCOME_LIVELOCK]		= { "livelock", true },
	[ZUG_OUTCOME_SPIN]		= { "spin", true },
	[ZUG_OUTCOME_TIMEOUT]		= { "timeout", true },
	[ZUG_OUTCOME_DIVERGED]		= { "diverged", false },
	[ZUG_OUTCOME_ENVIRONMENT]	= { "environment", false },
	[ZUG_OUTCOME_INTERRUPTED]	= { "interrupted", false },
	[ZUG_OUTCOME_MISUSE]		= { "misuse", true },
	[ZUG_OUTCOME_INVARIANT]		= { "invariant", true },
	[ZUG_OUTCOME_DISCARDED]		= { "discarded", false },
	[ZUG_OUTCOME_RACE]		= { "data-race", true },
};

const char *zug_outcome_name(unsigned int kind)
{
	return kind < ZUG_OUTCOME_NR ? outcomes[kind].name : "unknown";
}

bool zug_outcome_is_finding(unsigned int kind)
{
	return kind < ZUG_OUTCOME_NR && outcomes[kind].finding;
}
