/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mappings.h - the mappings of a process, as /proc/PID/maps tells them
 *
 *	mappings_open(&ms, pid);
 *	while (mappings_next(&ms, &m))	(or: if (mappings_find(&ms, addr, &m)))
 *		...
 *	mappings_close(&ms);
 */
#ifndef ZUG_MAPPINGS_H
#define ZUG_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct mapping {
	uint64_t start, end;
	uint64_t offset, ino;	/* of a file */
	uint32_t dev;		/* the kernel's number of it */
	bool shared, executable;
	char *path;		/* as the process sees it, or "[stack]" and its kin, or ""; lives until the next call */
};

struct mappings {
	FILE *file;
	char *line;
	size_t room;
};

/* false: there is no such process; then there are no mappings, either. */
bool mappings_open(struct mappings *ms, pid_t pid);
/* The next one, by their addresses. false: there is none. */
bool mappings_next(struct mappings *ms, struct mapping *m);
/* The first of the next ones that has that address. false: none has. */
bool mappings_find(struct mappings *ms, uint64_t addr, struct mapping *m);
void mappings_close(struct mappings *ms);

/* It is of the file of glibc's dynamic loader, by the name that the BPF side knows it by. */
bool mapping_is_loader(const struct mapping *m);

#endif
