/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * expr.h - C expressions over the variables of the programs under test (--invariant, --discard-if)
 *
 * What C has without side effects: numbers, characters, true, false, NULL; variables with a fixed
 * address (globals, statics; 'FILE'::NAME where a name is not unique), enumerators; . -> [] * &; the
 * arithmetic, comparing and logical operators and ?:, with C's conversions. A structure that wraps one
 * number (std::atomic) is that number.
 */
#ifndef ZUG_EXPR_H
#define ZUG_EXPR_H

#include <stddef.h>
#include <stdint.h>
#include "symbols/symbols.h"

struct expr;

/* NULL with a line in err: a syntax error, out of memory. */
struct expr *expr_parse(const char *text, char *err, size_t errlen);
void expr_free(struct expr *e);

/*
 * Finds the names in the files, the first that has one; the types must fit. May be called again.
 * 0; -ENOENT: a name is in none of them; -EINVAL: it makes no sense; -ENOMEM. A line in err.
 */
int expr_resolve(struct expr *e, struct symfile *const *files, unsigned int nr, char *err, size_t errlen);

/* The memory of one process. Both functions give 0 or -errno. */
struct expr_memory {
	int (*bias)(void *ctx, unsigned int file, uint64_t *bias);	/* where that file is mapped */
	int (*read)(void *ctx, uint64_t addr, void *to, size_t len);
	void *ctx;
};

/*
 * 1: not zero. 0: zero. -errno: it has no value there: -ENOENT a file is not mapped, -EFAULT memory cannot be
 * read (a NULL pointer is followed), -EDOM a division by zero.
 */
int expr_test(const struct expr *e, const struct expr_memory *m);

/* "balance = -5, q->len = 3": what its operands are. */
void expr_values(const struct expr *e, const struct expr_memory *m, char *buf, size_t len);

#endif
