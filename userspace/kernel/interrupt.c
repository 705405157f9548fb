/* SPDX-License-Identifier: GPL-2.0-only */
#include <stddef.h>
#include "kernel/interrupt.h"

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

void interrupt_catch(void)
{
	/* RESETHAND: the second one has its default effect */
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

const volatile sig_atomic_t *interrupt_flag(void)
{
	return &interrupted;
}
