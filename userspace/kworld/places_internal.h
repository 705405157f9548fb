/* SPDX-License-Identifier: GPL-2.0-only */
/* places_internal.h - what places.c and places_spaces.c share; places.h is the interface */
#ifndef ZUG_PLACES_INTERNAL_H
#define ZUG_PLACES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kworld/places.h"
#include "lib/base/id_map.h"

struct mapped_module {
	uint32_t module;
	uint64_t start, end, pgoff;	/* pgoff in bytes */
	uint64_t bias;			/* address - vaddr of the file */
	uint64_t mm;			/* 0: inherited by fork */
};

struct space {
	uint32_t process;
	struct mapped_module *maps;
	unsigned int nr, room;
};

struct named {
	struct place_object o;
	uint32_t module;	/* static data: where its name comes from */
	uint64_t vaddr;
	unsigned int op;
	bool memory;		/* it lies there */
	bool file;		/* a path may lead to it */
	uint64_t called;	/* of the name that places_call() gave it; 0: none */
};

struct place_pid {
	int pid;
	uint32_t task;
};

/* Static data: it lies at the same place in all executions. */
struct static_place {
	uint32_t process, module;
	uint64_t vaddr;
};

/* With which the ids of its code and of its data begin. */
struct module_hash {
	uint64_t code, data;		/* 0: not known yet */
};

struct places {
	struct probes *probes;
	struct symbols *symbols;
	struct space *spaces;
	unsigned int nr_spaces, room_spaces;
	struct id_map seen;		/* hash of a place, to the index of the object that was seen there last */
	uint64_t *seen_objects;		/* 0: it is gone */
	size_t room_seen;
	struct named *objects;
	size_t nr_objects, room_objects;
	struct id_map object_index;	/* by id */
	struct place_pid *pids;
	unsigned int nr_pids, room_pids;
	unsigned int nr_temporary;	/* files and folders with names of the day */
	uint64_t *counts;		/* objects that a task created, by task */
	unsigned int nr_counts;
	struct place_site *sites;	/* kept across executions */
	size_t nr_sites, room_sites;
	struct id_map site_index;	/* by site */
	struct static_place *statics;	/* likewise */
	size_t nr_statics, room_statics;
	struct id_map static_index;	/* by id */
	struct module_hash *modules;	/* kept as well: a module's path never changes */
	unsigned int nr_modules;
	char **unprobed;		/* paths, to be handed out */
	unsigned int nr_unprobed, next_unprobed, room_unprobed;
	uint32_t pipes;			/* pipe_dev() */
	volatile struct zug_known_file *known;	/* NULL: none is to be told */
	const volatile uint32_t *run;
	bool knows_strange;		/* places_knows_strange() */
	int *made;			/* descriptors of copies of files that the test makes */
	unsigned int nr_made, room_made;
};

/* The address space of a process; NULL: nothing is known of it. */
struct space *places_space(const struct places *p, uint32_t process);

#endif
