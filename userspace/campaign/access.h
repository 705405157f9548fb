/* SPDX-License-Identifier: GPL-2.0-only */
/* access.h - what the sources say of an instruction that accesses data */
#ifndef ZUG_ACCESS_H
#define ZUG_ACCESS_H

#include "probes/probes.h"
#include "symbols/symbols.h"

/*
 * Says whether the access of place p in a module is an atomic one. SYMSAYS_NOTHING: it does not
 * count at all.
 */
enum symsays access_says(const struct probe_module *m, const struct code_place *p);

#endif
