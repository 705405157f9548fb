/* SPDX-License-Identifier: GPL-2.0-only */
/* Patterns of --rules and of scripts (search/rules.h). */
#include <string.h>
#include "campaign/rule_names.h"

/* As it stands in the symbols, and as people read it: without its arguments. */
static bool function_is(const char *pattern, const char *function)
{
	char brief[256];

	if (rule_name_is(pattern, function))
		return true;
	symbols_brief(function, brief, sizeof(brief));
	return rule_name_is(pattern, brief);
}

bool rule_place_is(struct symfile *f, const char *path, uint64_t offset, const char *pattern)
{
	struct trace_frame frames[8];
	int nr;

	if (rule_name_is(pattern, path) ||
	    rule_name_is(pattern, strrchr(path, '/') ? strrchr(path, '/') + 1 : path))
		return true;
	nr = symfile_frames(f, offset, frames, 8);
	for (int i = 0; i < nr; i++)
		if (frames[i].function && function_is(pattern, frames[i].function))
			return true;
	return false;
}
