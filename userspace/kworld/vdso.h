/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vdso.h - the functions that the kernel maps into every process
 *
 * They read the clock, or make random numbers, without a system call, so nothing
 * could tell the program anything else. Patched, they make the call.
 */
#ifndef ZUG_VDSO_H
#define ZUG_VDSO_H

#include <stdbool.h>

/*
 * Patches the vDSO of a process that does not run and has called nothing there yet (it stands at its
 * first system call after an exec). 0 (also when it has none) or -errno.
 */
int vdso_patch(int pid, bool clocks, bool random);

#endif
