/* SPDX-License-Identifier: GPL-2.0-only */
/* plan.h - the subtrees of an exhaustive search, in a file (zug plan): JSON, docs/scale.md has the format */
#ifndef ZUG_PLAN_H
#define ZUG_PLAN_H

#include <stddef.h>
#include "search/parts.h"

struct plan {
	struct search_subtree *list;
	uint64_t nr;
	bool cut;
};

/* NULL with a line in err. */
struct plan *plan_read(const char *path, char *err, size_t errlen);
void plan_free(struct plan *p);
/* Of a search that was divided; about: what it is of, for people. 0 or -errno. */
int plan_write(const char *path, const struct search *s, const char *about);

#endif
