/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pairing.h - which steps and objects of two executions of one test correspond
 *
 * A task's steps are paired by their order: its first here with its first there, and so on, as long as they are the same
 * operation on the same object. After the first that is not, the task has strayed.
 *
 * Numbered objects (lib/label.h) have other ids in each: the first time that two paired steps at one place in the code
 * name objects of which neither has a counterpart yet, these are one object. In the order of the first execution.
 */
#ifndef ZUG_SEARCH_PAIRING_H
#define ZUG_SEARCH_PAIRING_H

#include <stddef.h>
#include <stdint.h>
#include "lib/label.h"

/* Steps 0..nr-1: the label of one and its task. Tasks must have the same numbers in both executions. */
struct pairing_steps {
	const void *ctx;
	uint64_t nr;
	const struct zug_label *(*step)(const void *ctx, uint64_t i, uint32_t *task);
};

#define PAIRING_NEVER	UINT64_MAX		/* it is not reached there */
#define PAIRING_STRAYED	(UINT64_MAX - 1)	/* that task does something else there, or did so before */

struct pairing;

/* NULL: out of memory. The steps are not needed afterwards. */
struct pairing *pairing_new(const struct pairing_steps *first, const struct pairing_steps *second);
void pairing_free(struct pairing *p);

/* Step i of the first execution in the second, and the other way round: a step's number, or one of the above. */
uint64_t pairing_in_second(const struct pairing *p, uint64_t i);
uint64_t pairing_in_first(const struct pairing *p, uint64_t i);

/*
 * The id that an object of the second execution has in the first. An object of the second only gets
 * an id that no object of the first has, the same each time. pairing_label(): the label with such
 * ids.
 */
uint64_t pairing_object(const struct pairing *p, uint64_t object);
struct zug_label pairing_label(const struct pairing *p, const struct zug_label *second);
#endif
