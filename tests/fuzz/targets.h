/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * targets.h - each reader of bytes that others have written, as a function of these bytes
 *
 * A target returns; when something is wrong, it or a sanitizer aborts. `make check-fuzz` gives them to
 * libFuzzer, and tests/unit/test_fuzz.c to mutations of its own.
 */
#ifndef ZUG_FUZZ_TARGETS_H
#define ZUG_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
	const char *name;
	void (*use)(const uint8_t *data, size_t len);
	const char *seeds[8];	/* texts to begin with; NULL: no more */
};

/* The last has no name. */
extern const struct fuzz_target fuzz_targets[];

#endif
