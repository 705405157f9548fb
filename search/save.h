/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * save.h - save functions (codec.h) for the parts that strategies are made of
 */
#ifndef ZUG_SEARCH_SAVE_H
#define ZUG_SEARCH_SAVE_H

#include "search/codec.h"

struct diverge;
struct profile;
struct seen;

void save_diverge(struct codec *c, struct diverge *d);
void save_seen(struct codec *c, struct seen *s);
void save_profile(struct codec *c, struct profile *p);

#endif
