/* SPDX-License-Identifier: GPL-2.0-only */
/* What a session tells its observer, and what tells it to end. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "campaign/session.h"
#include "lib/base/clock.h"

__attribute__((format(printf, 2, 0)))
static void tell(void (*fn)(void *ctx, const char *line), const char *fmt, va_list ap, void *ctx)
{
	char *line = NULL;

	if (fn && vasprintf(&line, fmt, ap) >= 0)
		fn(ctx, line);
	free(line);
}

void session_say(const struct session *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tell(s->observer->message, fmt, ap, s->observer->ctx);
	va_end(ap);
}

void session_say_trying(const struct session *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tell(s->observer->trying, fmt, ap, s->observer->ctx);
	va_end(ap);
}

bool session_interrupted(const struct session *s)
{
	return s->stop && *s->stop;
}

uint64_t session_until(const struct session *s, uint64_t until_ns)
{
	return !until_ns || (s->until_ns && s->until_ns < until_ns) ? s->until_ns : until_ns;
}

bool session_late(const struct session *s, uint64_t until_ns)
{
	uint64_t until = session_until(s, until_ns);

	return until && clock_now_ns() >= until;
}
