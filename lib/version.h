/* SPDX-License-Identifier: GPL-2.0-only */
/* version.h - the version of zugzwang, as zug --version prints it and traces record it */
#ifndef ZUG_VERSION_H
#define ZUG_VERSION_H

#define ZUG_VERSION "0.1.0"

#endif
