/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * identity.h - identities of failures: two with the same identity are the same bug
 *
 * An identity is a 64-bit number for search_end.failure. It is made of what
 * went wrong and where in the code, and of nothing that differs between two
 * executions of one bug: no addresses, task numbers, times or counts. Sites and
 * objects are the canonical ones of labels. Never 0.
 */
#ifndef ZUG_SEARCH_IDENTITY_H
#define ZUG_SEARCH_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

/* A fatal signal; sites: innermost frames first, at most the first three count. */
uint64_t identity_signal(int signal, const uint64_t *sites, size_t nr);

/*
 * A message (an assertion, a sanitizer's first line, what --match matched).
 * Numbers in it and hexadecimal addresses are left out of account, except a line number
 * after "NAME.ext:".
 */
uint64_t identity_message(const char *message);

/* An exit status that was not expected; why: what a language's runtime says of the reason, as a message; "": nothing. */
uint64_t identity_exit(int status, const char *why);

/*
 * Tasks that wait for each other, in any order: one entry for each, with the
 * place where it waits, the operation (enum zug_op) and the object.
 */
struct identity_wait {
	uint64_t site;
	uint64_t object;
	unsigned int op;
};
uint64_t identity_deadlock(const struct identity_wait *waits, size_t nr);

/* Tasks that run without progress: the set of sites that they pass. Multiplicity does not count. */
uint64_t identity_livelock(const uint64_t *sites, size_t nr);

/* A primitive used against its rules: which rule (enum misuse_kind), and where. */
uint64_t identity_misuse(unsigned int rule, uint64_t site);

/* Two accesses that race, in either order. */
uint64_t identity_race(uint64_t site_a, uint64_t site_b);

#endif
