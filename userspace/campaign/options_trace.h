/* SPDX-License-Identifier: GPL-2.0-only */
/* options_trace.h - options to and from the header of a trace */
#ifndef ZUG_OPTIONS_TRACE_H
#define ZUG_OPTIONS_TRACE_H

#include "lib/trace.h"
#include "campaign/options.h"

/*
 * The JSON object of what a replay needs; points: those of the search, in place of o->replay.
 * malloc'd; NULL: out of memory.
 */
char *campaign_options_json(const struct campaign_options *o, const struct options_replay *points);

/*
 * Options as a trace's header has them; the strings belong to *holder, to be freed by
 * campaign_options_free(). 0, or -errno with a line in err.
 */
struct campaign_holder;
int campaign_options_from_header(struct campaign_options *o, const struct trace_header *h,
				struct campaign_holder **holder, char *err, size_t errlen);
void campaign_options_free(struct campaign_holder *h);

#endif
