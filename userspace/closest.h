/* SPDX-License-Identifier: GPL-2.0-only */
/* closest.h - the passing execution that is closest to a failing trace: search/neighbour.h on the real test */
#ifndef ZUG_CLOSEST_H
#define ZUG_CLOSEST_H

#include "../search/neighbour.h"
#include "campaign.h"

struct closest {
	struct neighbour_result r;
	bool interrupted;
	char came[1100];	/* not reproduced: what happened instead; "": interrupted before it could */
};

/*
 * t: a failing trace of c's test. At most so many executions (0: all there are). Writes the trace of the closest
 * passing one to the file 'to', when there is one. 0 or -errno with a line in err.
 */
int closest_trace(struct campaign *c, const struct trace *t, uint64_t executions, const char *to,
		  struct closest *m, char *err, size_t errlen);

#endif
