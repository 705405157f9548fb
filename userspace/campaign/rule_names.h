/* SPDX-License-Identifier: GPL-2.0-only */
/* rule_names.h - which names a pattern of the schedule language means */
#ifndef ZUG_RULE_NAMES_H
#define ZUG_RULE_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include "engine/script.h"
#include "symbols/symbols.h"

/*
 * The pattern names the file at path, or a function (inlined ones too) at that file offset of it.
 */
bool rule_place_is(struct symfile *f, const char *path, uint64_t offset, const char *pattern);

#endif
