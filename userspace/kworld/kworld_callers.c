/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The place in the program that makes a system call: the caller of the C library's function around it.
 *
 * Part of the label, so it has to be the same in all executions, and cheap. Where a function's caller is found
 * depends on the place in its code alone: so far above the stack or the frame pointer. So call frame information
 * (or the code itself, sym_depth.c) is read once for each place, and each call costs a look at a page of the task's
 * stack. Where that does not lead to code of the program, the instruction that calls the kernel is the place.
 */
#include <stdlib.h>
#include <string.h>
#include "kworld/kworld_internal.h"
#include "lib/base/array.h"

/* Rust's standard library, Go's and C++'s streams are about ten functions deep. */
#define LEVELS_MAX 24
#define WINDOW 2048

struct stack {
	int pid;
	uint64_t at;
	size_t len;
	unsigned char data[WINDOW];
};

static bool word_at(struct stack *s, uint64_t addr, uint64_t *word)
{
	ssize_t n;

	if (addr < s->at || addr + sizeof(*word) > s->at + s->len) {
		/* up to the end of the stack, if that comes first */
		n = remote_read_some(s->pid, addr, s->data, sizeof(s->data));
		s->at = addr;
		s->len = n > 0 ? n : 0;
		if (s->len < sizeof(*word))
			return false;
	}
	memcpy(word, s->data + (addr - s->at), sizeof(*word));
	return true;
}

static void read_step(struct kworld *k, uint64_t site, struct caller_step *s)
{
	const struct place_site *ps = places_find_site(k->o.places, site);
	struct symfile *f = probes_module(k->o.probes, ps->module)->file;

	switch (symfile_owner(f, ps->offset)) {
	case SYMOWNER_PROGRAM:
		s->kind = CALLER_HERE;
		break;
	case SYMOWNER_LIBRARY:
		s->kind = symfile_step(f, ps->offset, &s->step) ? CALLER_UNKNOWN : CALLER_ABOVE;
		break;
	case SYMOWNER_UNKNOWN:
		s->kind = CALLER_UNKNOWN;
		break;
	}
}

/* NULL: out of memory. */
static const struct caller_step *step_of(struct kworld *k, uint64_t site)
{
	struct caller_steps *c = &k->callers;
	const uint32_t *i;
	bool added;

	if (!ARRAY_RESERVE(c->steps, c->room, c->index.nr + 1))
		return NULL;
	i = id_map_add(&c->index, site, c->index.nr, &added);
	if (!i)
		return NULL;
	if (added)
		read_step(k, site, &c->steps[*i]);
	return &c->steps[*i];
}

uint64_t kworld_caller(struct kworld *k, const struct world_task *t, const struct zug_event *e)
{
	uint64_t first = places_site(k->o.places, t->process, e->ip - 2), site = first, sp = e->sp, bp = e->bp, end, ret;
	struct stack s = { .pid = t->tgid };

	/* most often all that will be asked for */
	word_at(&s, sp, &ret);
	for (int i = 0; i < LEVELS_MAX && site; i++) {
		const struct caller_step *step = step_of(k, site);

		if (!step || step->kind == CALLER_UNKNOWN)
			break;
		if (step->kind == CALLER_HERE)
			return site;
		end = (step->step.by_bp ? bp : sp) + step->step.size;
		/* callers lie above, and only there */
		if (end <= sp || !word_at(&s, end - sizeof(ret), &ret) ||
		    (step->step.bp_kept && !word_at(&s, end + step->step.bp_at, &bp)))
			break;
		sp = end;
		site = places_site(k->o.places, t->process, ret - 1);
	}
	return first;
}

void kworld_callers_free(struct caller_steps *c)
{
	id_map_free(&c->index);
	free(c->steps);
}
