/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * static-points: own-points as a static program without symbols: what tells its points is no probe.
 *
 * build: -static -s -Ilib/zug -Lbuild -l:libzug.a -lm -pthread
 */
#include "own-points.c"
