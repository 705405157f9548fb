/* SPDX-License-Identifier: GPL-2.0-only */
/* record_internal.h - inside of record.h: the format's name and version */
#ifndef ZUG_RECORD_INTERNAL_H
#define ZUG_RECORD_INTERNAL_H

#include "report/json_text.h"

#define RECORD_MAGIC "zugzwang campaign"
#define RECORD_VERSION 1

#endif
