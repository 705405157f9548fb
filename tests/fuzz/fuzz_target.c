// SPDX-License-Identifier: GPL-2.0-only
/* fuzz_target.c - one of targets.c for libFuzzer: the one that the environment's FUZZ_TARGET names */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct fuzz_target *t;
	const char *name = getenv("FUZZ_TARGET");

	if (!t) {
		for (t = fuzz_targets; t->name && (!name || strcmp(t->name, name)); t++)
			;
		if (!t->name) {
			fprintf(stderr, "FUZZ_TARGET names none of:");
			for (t = fuzz_targets; t->name; t++)
				fprintf(stderr, " %s", t->name);
			fputc('\n', stderr);
			exit(2);
		}
	}
	t->use(data, len);
	return 0;
}
