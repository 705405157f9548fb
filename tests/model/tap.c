/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdarg.h>
#include "tap.h"

int tap_nr, tap_failed;

bool tap_ok(bool good, const char *fmt, ...)
{
	va_list ap;

	tap_nr++;
	tap_failed += !good;
	printf("%sok %d - ", good ? "" : "not ", tap_nr);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	return good;
}

int tap_done(void)
{
	printf("1..%d\n", tap_nr);
	return tap_failed != 0;
}
