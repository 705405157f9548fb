/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * machine.h - what this machine has of what zug needs; looks only, loads and changes nothing
 *
 * One table serves `zug doctor`, which shows all of it, and kernel_open(), which
 * stops at the first thing that is missing. Needs no privileges.
 */
#ifndef ZUG_MACHINE_H
#define ZUG_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

enum machine_part {
	MACHINE_NEEDED,		/* without it nothing is executed */
	MACHINE_USEFUL,		/* some options need it, or it is slower without */
	MACHINE_VIRTUAL,	/* for tools/vm, where this machine itself will not do */
};

enum machine_verdict { MACHINE_GOOD, MACHINE_NOTE, MACHINE_BAD };

struct machine_fact {
	const char *name;
	enum machine_part part;
	enum machine_verdict verdict;
	int error;		/* BAD: -errno */
	char found[640];	/* one line */
	char fix[640];		/* one line; "" when there is nothing to change */
};

/* Fact i, by parts; -ENOENT: there are no more. */
int machine_look(unsigned int i, struct machine_fact *f);

/* The first needed thing that is missing: its -errno, with what it is and the fix in err. 0: none. Takes no time. */
int machine_check(char *err, size_t errlen);

/*
 * Keeps those capabilities in effect that zug needs, of this thread and those that it makes. The others stay permitted: a
 * program that gains capabilities when it is executed has its addresses randomised. Call it after machine_check(), before
 * there are threads. ZUG_DEBUG=without:CAP_X gives up CAP_X as well, which no check sees then. 0, or -errno with a line in err.
 */
int machine_drop_privileges(char *err, size_t errlen);

/* True when a program of that name is in PATH, or the file 'also' (NULL: none) is one. */
bool machine_has_program(const char *name, const char *also);

/* The first line of a file without its newline; "" when it cannot be read. */
void machine_line(const char *path, char *buf, size_t len);

/* True when that word of /sys/kernel/security/lockdown is chosen ("integrity", "confidentiality"). */
int machine_locked_down(const char *word);

#endif
