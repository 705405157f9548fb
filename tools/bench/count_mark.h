/* SPDX-License-Identifier: GPL-2.0-only */
/* count_mark.h - an instruction that does nothing, and that no compiler makes: count.c writes its counts when it comes by */
#ifndef ZUG_BENCH_COUNT_MARK_H
#define ZUG_BENCH_COUNT_MARK_H

#define COUNT_MARK	0x0f, 0x1f, 0x84, 0x42, 0x5a, 0x47, 0x5a, 0x47

#endif
