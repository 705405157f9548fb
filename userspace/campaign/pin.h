/* SPDX-License-Identifier: GPL-2.0-only */
/* pin.h - from a trace to a script (script.h) that names its decisions by their places */
#ifndef ZUG_PIN_H
#define ZUG_PIN_H

#include <stdbool.h>
#include <stdio.h>
#include "lib/base/id_map.h"
#include "lib/trace.h"
#include "campaign/campaign.h"
#include "symbols/symbols.h"

/*
 * Writes the script. o: the trace's options, NULL: libzug has written it; s: where names of places come from; path,
 * name: of the trace and of the script, for what is said in it. absent: places that are not counted, as pin_absent()
 * finds them. The number of statements, or -errno.
 */
int pin_write(FILE *out, const struct trace *t, const struct campaign_options *o, struct symbols *s,
	      const struct id_map *absent, const char *path, const char *name);

/*
 * The places (sites of labels) of the trace that are no points in the campaign: what is known of data depends on the
 * executions before. 0 or -ENOMEM.
 */
int pin_absent(const struct trace *t, const struct campaign *c, struct id_map *absent);

/* True when the trace has points that only the race scan finds. */
bool pin_needs_races(const struct campaign_options *o);

#endif
