/* SPDX-License-Identifier: GPL-2.0-only */
/* kworld_internal.h - inside of kworld.h: events (kworld.c) and what they mean (kworld_labels.c) */
#ifndef ZUG_KWORLD_INTERNAL_H
#define ZUG_KWORLD_INTERNAL_H

#include <time.h>
#include "kworld.h"
#include "spin.h"

/* What the kernel world knows of a task beyond struct world_task. */
struct ktask {
	uint32_t kid;		/* the BPF side's number; 0: none */
	uint32_t nr_children;
	uint64_t lock;		/* address of the primitive its label acts on, 0 none */
	uint64_t mutex;		/* cond_wait: the mutex it takes again */
	uint64_t fault;		/* site where it died; 0: it did not, or otherwise */
	enum symlibc libc;
	bool lent;		/* its turn was lent, and it has not come back from the kernel since */
	bool have_words;
	uint32_t words[6];	/* of the lock (of a wait: the mutex), when the point was reached */
};

struct kworld {
	struct world w;
	struct kworld_options o;
	struct ktask *kt;	/* by task number */
	uint32_t *by_kid;	/* stable number + 1 by BPF number */
	uint32_t nr_kid;
	int root_pid;
	bool debug;
	uint32_t root;		/* stable number */
	bool have_root;
	int root_status;	/* wait status of a root that is not our child; -1: it has not ended */
	struct timespec last_blip;
	struct spin_trial spin;
	uint32_t nr_lent;	/* tasks that may stand in the kernel with locks of a file system held */
	uint32_t blips;
	/* what this execution's trace has been told already */
	uint64_t *told;
	size_t nr_told, size_told;
	uint32_t told_modules;
};

/* Fill t->label (and *kt) from the event that names the operation. */
void kworld_label_point(struct kworld *k, struct world_task *t, struct ktask *kt,
			const struct zug_event *e);
void kworld_label_syscall(struct kworld *k, struct world_task *t, const struct zug_event *e);
/* The object at an address: flag says which of the event's places it is. 0: unknown. */
uint64_t kworld_memory_object(struct kworld *k, const struct world_task *t, const struct zug_event *e,
			      uint32_t flag, uint64_t addr, unsigned int op);
/* What a task that blocked waits for: its label, t->wait, t->where. */
void kworld_describe_wait(struct kworld *k, struct world_task *t, const struct zug_event *e);

#endif
