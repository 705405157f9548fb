/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probes.h - which places of which files stop a task
 *
 * Modules are the files that tests map; sites are probed places in them. Both
 * are numbered from 0 and never change during a campaign. Probes are planted
 * in the sandbox's private copies, between executions only.
 */
#ifndef ZUG_PROBES_H
#define ZUG_PROBES_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include "kernel.h"
#include "sandbox.h"
#include "symbols.h"

struct probes;

struct probe_module {
	const char *path;	/* as the test sees it */
	struct symfile *file;	/* NULL: not readable as ELF */
	uint64_t ino, dev;	/* of what is mapped (the private copy, if there is one) */
	int nr_sites;
	bool sync_points;	/* defines synchronisation primitives */
};

struct probe_site {
	uint32_t module;
	uint64_t offset;	/* in the file */
	const char *symbol;	/* "pthread_mutex_lock", or what the user named */
	uint16_t op;
	uint8_t obj_arg, obj2_arg;
	bool entry;		/* at a function's first instruction: the return address is on the stack */
};

struct probes *probes_new(struct kernel *k, struct sandbox *s, struct symbols *symbols);
void probes_free(struct probes *p);

/*
 * Makes path a module and probes the synchronisation primitives that it
 * defines (with sync). The number of sites added, or -errno with a line in err.
 * The same path again adds nothing.
 */
int probes_add_file(struct probes *p, const char *path, bool sync, char *err, size_t errlen);

/*
 * --point: SYMBOL, a glob, FILE:LINE or BINARY:SYMBOL+OFF, looked for in the modules
 * there are (BINARY: that file). Number of sites; 0 or less with a line in err, which
 * names the nearest symbol.
 */
int probes_add_point(struct probes *p, const char *spec, char *err, size_t errlen);

/* After kernel_clear_probes(): plants everything again. 0, or -errno with a line in err. */
int probes_replant(struct probes *p, char *err, size_t errlen);

unsigned int probes_nr_modules(const struct probes *p);
const struct probe_module *probes_module(const struct probes *p, uint32_t module);
int probes_module_by_file(const struct probes *p, uint64_t ino, uint32_t kdev);	/* -1: unknown */
unsigned int probes_nr_sites(const struct probes *p);
const struct probe_site *probes_site(const struct probes *p, uint32_t site);

#endif
