/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which place of the program makes a system call: not the C library's function around it, but who called that.
 *
 * Part of the label, so it has to be the same in all executions, and cheap. Where a function's caller is found
 * depends on the place in its code alone: so far above the stack or the frame pointer. So call frame information
 * (or the code itself, sym_depth.c) is read once for each place, and each call costs a look at a page of the task's
 * stack. Where that does not lead to code of the program, the instruction that calls the kernel is the place.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include "kworld/kworld_internal.h"

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
	struct iovec to = { s->data, sizeof(s->data) }, from = { (void *)addr, sizeof(s->data) };
	ssize_t n;

	if (addr < s->at || addr + sizeof(*word) > s->at + s->len) {
		/* up to the end of the stack, if that comes first */
		n = process_vm_readv(s->pid, &to, 1, &from, 1, 0);
		s->at = addr;
		s->len = n > 0 ? n : 0;
		if (s->len < sizeof(*word))
			return false;
	}
	memcpy(word, s->data + (addr - s->at), sizeof(*word));
	return true;
}

static struct caller_step *slot_of(const struct caller_steps *c, uint64_t site)
{
	size_t i = site & (c->size - 1);

	while (c->steps[i].site && c->steps[i].site != site)
		i = (i + 1) & (c->size - 1);
	return &c->steps[i];
}

static bool grow(struct caller_steps *c)
{
	struct caller_steps new = { .size = c->size ? 2 * c->size : 256, .nr = c->nr };

	new.steps = calloc(new.size, sizeof(*new.steps));
	if (!new.steps)
		return false;
	for (size_t i = 0; i < c->size; i++)
		if (c->steps[i].site)
			*slot_of(&new, c->steps[i].site) = c->steps[i];
	free(c->steps);
	*c = new;
	return true;
}

static void read_step(struct kworld *k, struct caller_step *s)
{
	const struct place_site *ps = places_find_site(k->o.places, s->site);
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

static const struct caller_step *step_of(struct kworld *k, uint64_t site)
{
	struct caller_steps *c = &k->callers;
	struct caller_step *s;

	if (2 * (c->nr + 1) > c->size && !grow(c))
		return NULL;
	s = slot_of(c, site);
	if (!s->site) {
		s->site = site;
		read_step(k, s);
		c->nr++;
	}
	return s;
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
	free(c->steps);
}
