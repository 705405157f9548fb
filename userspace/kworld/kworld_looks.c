/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kworld_looks.c - until the search begins, the breakpoints at an interpreter's looks are out of its processes
 *
 * An interpreter looks at each call and each jump back whether another thread wants to go on, also while it starts up. Each
 * look would be a trap that the sandbox passes, because it is quiet. So the bytes of the program are put back in a process
 * when it stops for zugzwang behind its exec, or behind the mapping of the interpreter, and the breakpoints before a task
 * goes on where the search has begun: the kernel side stops the task there (zug_turn.looks_out). The uprobes stay: what is
 * there then is what the kernel has put there.
 *
 * A process that is forked meanwhile has them out, too, and so have copies of a template.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "kworld/kworld_internal.h"
#include "lib/base/array.h"

#define BREAKPOINT 0xcc

/* A breakpoint that was taken out; the same in all processes that have the file. */
struct look {
	uint32_t module;
	uint64_t site;
	uint8_t byte;		/* of the program */
};

static bool is_look(const struct probe_site *s)
{
	return s->executes && !s->fields && !s->from && !s->silent;
}

/* The byte of the program there; false: the file cannot be read. */
static bool byte_of(struct kworld *k, const struct probe_site *s, uint8_t *byte)
{
	char err[256];
	const char *copy;
	bool read;
	int fd;

	if (sandbox_privatise(k->o.sandbox, probes_module(k->o.probes, s->module)->path, &copy, err, sizeof(err)))
		return false;
	fd = open(copy, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	read = pread(fd, byte, 1, s->offset) == 1;
	close(fd);
	return read;
}

/* All looks that there are. They change between executions alone. */
static void find_looks(struct kworld *k)
{
	struct looks *l = &k->looks;
	uint64_t changed = kernel_probes_changed(k->o.kernel);

	if (l->known && l->changed == changed)
		return;
	l->known = true;
	l->changed = changed;
	l->nr = 0;
	for (uint32_t i = 0; i < probes_nr_sites(k->o.probes); i++) {
		const struct probe_site *s = probes_site(k->o.probes, i);
		struct look look = { .module = s->module };

		if (!is_look(s) || !byte_of(k, s, &look.byte) || look.byte == BREAKPOINT ||
		    !ARRAY_RESERVE(l->list, l->room, l->nr + 1))
			continue;
		look.site = places_site_in(k->o.places, s->module, s->offset);
		l->list[l->nr++] = look;
	}
}

/*
 * Writes the bytes of the program over its breakpoints, or breakpoints over these (in): where the other one stands. A page that
 * is written has been the process's own since the breakpoint was put there. The number of places, or -errno.
 */
static int exchange(struct kworld *k, uint32_t process, int pid, bool in)
{
	const uint8_t breakpoint = BREAKPOINT;
	int fd = -1, nr = 0, ret = 0;
	char path[64];

	for (size_t i = 0; i < k->looks.nr && !ret; i++) {
		const struct look *l = &k->looks.list[i];
		uint64_t bias, at = places_bias(k->o.places, process, l->module, &bias) ? 0 :
				    places_code(k->o.places, process, l->site);
		uint8_t is;

		if (!at)
			continue;
		if (fd < 0) {
			snprintf(path, sizeof(path), "/proc/%d/mem", pid);
			fd = open(path, O_RDWR | O_CLOEXEC);
		}
		if (fd < 0)
			return -errno;
		/* a process that ends has no memory any more */
		if (pread(fd, &is, 1, at) != 1 || is != (in ? l->byte : breakpoint))
			continue;
		if (pwrite(fd, in ? &breakpoint : &l->byte, 1, at) != 1)
			ret = errno ? -errno : -EIO;
		nr++;
	}
	if (fd >= 0)
		close(fd);
	return ret ? ret : nr;
}

/*
 * The search begins at a place of the program. A template would not stop there, and the clock of the test goes on at each look
 * that is passed: so that it is the same in all executions, they have these then.
 */
static bool begins_at_place(struct kworld *k)
{
	for (uint32_t i = 0; i < probes_nr_sites(k->o.probes); i++)
		if (probes_site(k->o.probes, i)->from)
			return true;
	return false;
}

void kworld_looks_take_out(struct kworld *k, uint32_t process, int pid)
{
	int nr;

	if (!k->o.leave_interpreter || !kworld_state(k)->quiet || k->prefix.feeding || begins_at_place(k))
		return;
	find_looks(k);
	nr = exchange(k, process, pid, false);
	/* where they cannot be written the process is only slower */
	if (nr < 0 && k->debug)
		fprintf(stderr, "the breakpoints at looks stay in %d: %s\n", pid, strerror(-nr));
	if (nr)
		k->run.turn.looks_out = 1;
}

void kworld_looks_put_back(struct kworld *k)
{
	if (!k->run.turn.looks_out || kworld_state(k)->quiet)
		return;
	for (uint32_t i = 0; i < k->w.nr_tasks; i++) {
		const struct world_task *t = &k->w.tasks[i];

		/* of each process once */
		if (t == world_living(&k->w, t->process, NULL) && exchange(k, t->process, t->pid, true) < 0)
			k->run.broken = "the breakpoints of the interpreter cannot be put into a process again";
	}
	k->run.turn.looks_out = 0;
}

void kworld_looks_free(struct looks *l)
{
	free(l->list);
}
