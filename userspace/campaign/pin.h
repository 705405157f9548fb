/* SPDX-License-Identifier: GPL-2.0-only */
/* pin.h - from a trace to a script (script.h) that names its decisions by their places */
#ifndef ZUG_PIN_H
#define ZUG_PIN_H

#include <stdbool.h>
#include <stdio.h>
#include "lib/trace.h"
#include "campaign/campaign.h"
#include "symbols/symbols.h"

/*
 * Writes the script. o: the trace's options, NULL: libzug has written it; s: where names of places come from; path, name: of the
 * trace and of the script, for what is said in it. The number of statements, or -errno.
 */
int pin_write(FILE *out, const struct trace *t, const struct campaign_options *o, struct symbols *s,
	      const char *path, const char *name);

/* True when the trace has points that only the race scan finds. */
bool pin_needs_races(const struct campaign_options *o);

#endif
