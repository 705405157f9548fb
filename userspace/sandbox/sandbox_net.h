/* SPDX-License-Identifier: GPL-2.0-only */
/* sandbox_net.h - the loopback interface of an environment's own network */
#ifndef ZUG_SANDBOX_NET_H
#define ZUG_SANDBOX_NET_H

/*
 * Makes the loopback interface of the caller's network namespace, which is new, usable: it is up, and what is received over
 * TCP is acknowledged at once. 0 or -1 with errno.
 */
int sandbox_net_up(void);

#endif
