/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * search_internal.h - for searches that are not chosen by name
 */
#ifndef ZUG_SEARCH_INTERNAL_H
#define ZUG_SEARCH_INTERNAL_H

#include "search/strategy.h"

/* search_new() with that type and its arguments instead of opts->strategy. */
struct search *search_new_type(const struct search_options *opts, const struct strategy_type *type,
			       const int64_t *args, char *err, size_t errlen);

/* The strategy's private state, and its type. */
void *search_state(const struct search *s);
const struct strategy_type *search_type(const struct search *s);

#endif
