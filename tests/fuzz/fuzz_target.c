// SPDX-License-Identifier: GPL-2.0-only
/* fuzz_target.c - one of targets.c for libFuzzer: the one that the environment's FUZZ_TARGET names */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* The target's seeds, as files of the folder FUZZ_SEEDS. */
static void put_seeds(const struct fuzz_target *t, const char *folder)
{
	char path[4096];
	FILE *f;

	for (int i = 0; folder && t->seeds[i]; i++) {
		snprintf(path, sizeof(path), "%s/seed%d", folder, i);
		f = fopen(path, "w");
		if (!f || fputs(t->seeds[i], f) == EOF || fclose(f))
			perror(path);
	}
}

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
		put_seeds(t, getenv("FUZZ_SEEDS"));
	}
	t->use(data, len);
	return 0;
}
