/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_internal.h - what kernel.c (rings, events, commands), kernel_attach.c (programs that are attached while the kernel
 * side is loaded) and kernel_probes.c (what a search plants) share. Read kernel.h first.
 */
#ifndef ZUG_KERNEL_INTERNAL_H
#define ZUG_KERNEL_INTERNAL_H

#include <pthread.h>
#include "kernel/kernel.h"

#define MAX_HOOKS 40

#define SITE_CHUNKS	(ZUG_MAX_SITES / ZUG_SITE_CHUNK)
#define MODULE_CHUNKS	(ZUG_MAX_MODULES / ZUG_MODULE_CHUNK)

/* Which numbers of the kernel's a search has for its own, 0, 1, ...: by pieces. */
struct numbers {
	uint32_t nr, nr_chunks, size;
	uint16_t *owners;		/* the kernel's: of each piece; 0: none */
	uint16_t theirs[SITE_CHUNKS];	/* its pieces, in the order of its own numbers */
	int16_t ours[SITE_CHUNKS];	/* and back; -1: another search's */
};

/* Breakpoints of one program in a file, which kernel_plant_later() is to plant. */
struct plant {
	struct plant *next;
	char *file;
	unsigned long *offsets;
	__u64 *cookies;
	size_t nr;
	uint32_t module;	/* by the search's own number */
	bool answers;		/* of zug_answer; else of zug_plant */
	int link, bad;		/* what came of it: a descriptor or -errno; which place is refused, -1 not known */
};

struct kernel {
	struct programs *programs;
	unsigned int first_slot;	/* of this process's search */
	uint32_t round;			/* of its probes */
	struct numbers sites, modules;
	int lane;			/* kernel_set_lane() */
	bool borrowed;			/* another process holds all but the probes */
	kernel_attach_fn ask;		/* which attaches what this one wants */
	void *ask_ctx;
	const struct lane_broker *broker;
	struct zug_bpf__bss *bss;	/* the programs' variables */
	int ops, ops_last;		/* the scheduler's link; hold_last() */
	/* links of programs in the kernel's own functions and tracepoints */
	struct hook {
		int link;
		bool slow;		/* to take it away waits for all CPUs */
		bool calls;		/* each system call of each process of the machine comes there */
	} hooks[MAX_HOOKS];
	int nr_hooks;
	bool rests;			/* kernel_rest() */
	/* attaches meanwhile; what came of it, once it has ended */
	pthread_t thread;
	bool attaching;
	int attached;
	char attach_err[512];
	bool steps;			/* over instructions that access watched memory are seen */
	bool faults;			/* may be injected */
	int *links;	/* probes, one a module */
	size_t nr_links, room_links;
	/* plants beside; what it has done is kept until kernel_planted() */
	pthread_t plant_thread;
	pthread_mutex_t plant_lock;	/* of the two below, and of what they lead to */
	struct plant *plants, *to_plant;
	bool planting;			/* the thread takes what comes */
	bool plants_beside;		/* there is a thread to be joined */
	/* what this search has in the maps of the kernel side, which are large: others' are not looked at to find it */
	struct zug_file_key *files;
	size_t nr_files, room_files;
	struct zug_site_key *places;
	size_t nr_places, room_places;
	uint64_t probes_changed;
	uint64_t begins;		/* kernel_probes_begins() */
	struct ring_buffer *rb;		/* of the sandboxes that this process has opened; NULL: none yet */
	struct ring_buffer *parents_rb;	/* that of the process of which this one is a copy: of no use, nor to be freed */
	int ctl_fd, epoll;
	int rings[ZUG_MAX_SANDBOXES];	/* -1: not opened */
	bool spin;			/* there is a CPU beside the lane */
	bool beside_others;		/* processes with lanes of their own, on which this one may run */
	/* by sandbox: the events that were read from the ring and are not taken yet, list[first..end) */
	struct event_list {
		struct zug_event *list;
		size_t first, end, room;
	} events[ZUG_MAX_SANDBOXES];
	int lost;		/* -errno: an event could not be kept; 0 */
	char ejected[512];
};

/* ---- kernel_attach.c ---- */

/* Attaches all but what is asked for later, in a thread of its own; kernel_ready() says what came of it. */
void kernel_begin_attaching(struct kernel *k);
/* Closes all that was attached; probes too. The scheduler goes first, so that no task stands in what goes behind it. */
void kernel_detach(struct kernel *k);
/* In a copy of the process: closes the same, which the other process holds. */
void kernel_leave_links(struct kernel *k);
/*
 * A process that closes the last descriptor of a program attached to a function of the kernel, or to code of user space,
 * waits until no CPU can be in it: a tenth of a second for each. Where a file of a BPF file system is the last to know of
 * it, a worker of the kernel does that after us. That file system is seen by no other process, and gone with the descriptor
 * returned; -1 where there can be none (then we wait). hooks: those of the kernel's functions, too.
 */
int kernel_leave_detaching(const struct kernel *k, bool hooks);

/* ---- kernel_plant.c ---- */

/* Uprobes of one program in a file, in one link. cookies: one for each; NULL: none. The link or -errno. */
int kernel_attach_multi(struct kernel *k, const char *prog, const char *file, const unsigned long *offsets,
			const __u64 *cookies, size_t nr);
/* The first of these places where zug_plant cannot be attached, -1: it can at all of them. */
int kernel_refused_place(struct kernel *k, const char *file, const unsigned long *offsets, size_t nr);
/* Until kernel_clear_probes(). 0 or -ENOMEM. */
int kernel_keep_link(struct kernel *k, int link);
/* What kernel_planted() waits for; all of what is copied. 0 or -ENOMEM. */
int kernel_plant_later(struct kernel *k, const struct plant *what);

/* ---- kernel_probes.c ---- */

/* What this process has for its search: the slot's, and no numbers yet. */
void kernel_begin_search(struct kernel *k, unsigned int slot);
/* The place that an event names, by the search's own numbers. */
void kernel_translate(const struct kernel *k, struct zug_event *e);

#endif
