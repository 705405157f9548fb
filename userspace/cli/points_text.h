/* SPDX-License-Identifier: GPL-2.0-only */
/* points_text.h - the table of --list-points, for people: a line for each row */
#ifndef ZUG_POINTS_TEXT_H
#define ZUG_POINTS_TEXT_H

#include <stdio.h>
#include "campaign/point_table.h"

void points_text(FILE *out, const struct point_table *t);

#endif
