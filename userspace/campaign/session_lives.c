/* SPDX-License-Identifier: GPL-2.0-only */
/* When templates end so soon that no more of them are made, or later ones. It needs no kernel, unlike session_template.c. */
#include "campaign/session.h"

/* They have ended with their first execution; before they were worth it. */
#define MOST_SPOILT 2
#define MOST_BRIEF 4

bool session_template_ended(struct session_template *t)
{
	t->spoilt = t->lives > 1 ? 1 : t->spoilt + 1;
	t->brief = t->lives < TEMPLATE_WORTH ? t->brief + 1 : 0;
	return t->spoilt >= MOST_SPOILT || t->brief >= MOST_BRIEF;
}

bool session_template_points_rest(const struct session_template *t)
{
	uint64_t paid = t->exec_ns ? t->made_ns / t->exec_ns : 0;

	/* it may outlive that points change */
	if (t->quiet && !t->made_ns)
		return true;
	return t->same && t->same >= (paid < TEMPLATE_WORTH ? paid : TEMPLATE_WORTH);
}
