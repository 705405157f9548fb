/* SPDX-License-Identifier: GPL-2.0-only */
/* interrupt.h - Ctrl-C and its kin end the current execution cleanly; a second one ends zug at once */
#ifndef ZUG_INTERRUPT_H
#define ZUG_INTERRUPT_H

#include <signal.h>

void interrupt_catch(void);
const volatile sig_atomic_t *interrupt_flag(void);

#endif
