/* SPDX-License-Identifier: GPL-2.0-only */
/* debug.h - what ZUG_DEBUG asks for, for people who work on zugzwang itself (docs/debugging-zug.md) */
#ifndef ZUG_DEBUG_H
#define ZUG_DEBUG_H

#include <stdlib.h>
#include <string.h>

/* What stands behind that word in ZUG_DEBUG; NULL: it is not among its words. */
static inline const char *debug_word(const char *word)
{
	const char *debug = getenv("ZUG_DEBUG"), *at = debug ? strstr(debug, word) : NULL;

	return at ? at + strlen(word) : NULL;
}

#endif
