// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_steps.c - decoding steps: each is what differs from a prediction
 *
 * The prediction is made from the step before: the same task, the same enabled set, and the label
 * that followed this one last time. trace_write.c makes the same prediction; docs/trace-format.md
 * says it in words.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "lib/trace_reader.h"

static uint32_t hash_tasks(const uint32_t *tasks, uint32_t nr)
{
	uint64_t h = nr;

	for (uint32_t i = 0; i < nr; i++) {
		h = (h ^ tasks[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	return h;
}

static const struct enabled_set **set_slot(struct trace *t, uint32_t hash, const uint32_t *tasks,
					   uint32_t nr)
{
	uint32_t i = hash & (t->nr_set_slots - 1);

	while (t->sets[i] && !(t->sets[i]->hash == hash && t->sets[i]->nr == nr &&
			       !memcmp(t->sets[i]->tasks, tasks, nr * sizeof(*tasks))))
		i = (i + 1) & (t->nr_set_slots - 1);
	return &t->sets[i];
}

static const struct enabled_set *intern_set(struct cursor *c)
{
	struct trace *t = c->t;
	uint32_t hash = hash_tasks(t->enabled, t->nr_enabled);
	const struct enabled_set **slot, **old = t->sets;
	struct enabled_set *set;

	if (t->nr_sets * 2ull >= t->nr_set_slots) {
		uint32_t nr_old = t->nr_set_slots, nr = nr_old ? nr_old * 2 : 64;

		if (!cursor_charge(c, (uint64_t)(nr - nr_old) * sizeof(*old)))
			return NULL;
		t->sets = calloc(nr, sizeof(*old));
		if (!t->sets) {
			t->sets = old;
			cursor_bad(c, -ENOMEM, "out of memory");
			return NULL;
		}
		t->nr_set_slots = nr;
		for (uint32_t i = 0; i < nr_old; i++)
			if (old[i])
				*set_slot(t, old[i]->hash, old[i]->tasks, old[i]->nr) = old[i];
		free(old);
	}
	slot = set_slot(t, hash, t->enabled, t->nr_enabled);
	if (*slot)
		return *slot;
	set = cursor_alloc(c, sizeof(*set) + t->nr_enabled * sizeof(*set->tasks));
	if (!set)
		return NULL;
	set->nr = t->nr_enabled;
	set->hash = hash;
	if (set->nr)
		memcpy(set->tasks, t->enabled, set->nr * sizeof(*set->tasks));
	t->nr_sets++;
	*slot = set;
	return set;
}

/* Joins and leaves are ascending: they are merged with the set of the step before. */
static void get_toggles(struct cursor *c)
{
	struct trace *t = c->t;
	uint32_t n = cursor_u32(c), at = 0, nr = 0;
	uint64_t task = 0;
	uint32_t *p;

	/* Each toggle takes a byte at least, and adds one task at most. */
	if (n > (size_t)(c->end - c->p))
		cursor_bad(c, -EBADMSG, "a list of tasks ends early");
	while (!c->error && t->merged_size < (uint64_t)t->nr_enabled + n) {
		p = cursor_grow(c, t->merged, t->merged_size, &t->merged_size, sizeof(*p));
		if (p)
			t->merged = p;
	}
	for (uint32_t i = 0; i < n && !c->error; i++) {
		task += cursor_u32(c);
		if (task >= TRACE_NO_TASK) {
			cursor_bad(c, -EBADMSG, "a task number is too large");
			break;
		}
		while (at < t->nr_enabled && t->enabled[at] < task)
			t->merged[nr++] = t->enabled[at++];
		if (at < t->nr_enabled && t->enabled[at] == task)
			at++;
		else
			t->merged[nr++] = task;
		task++;
	}
	if (c->error)
		return;
	while (at < t->nr_enabled)
		t->merged[nr++] = t->enabled[at++];
	p = t->enabled;
	t->enabled = t->merged;
	t->merged = p;
	at = t->enabled_size;
	t->enabled_size = t->merged_size;
	t->merged_size = at;
	t->nr_enabled = nr;
	t->current = intern_set(c);
}

static void get_label(struct cursor *c, bool literal, struct zug_label *l)
{
	struct trace *t = c->t;
	uint64_t v;

	memset(l, 0, sizeof(*l));
	if (!literal) {
		v = cursor_varint(c);
		if (v >= t->nr_labels)
			cursor_bad(c, -EBADMSG, "an unknown label");
		else
			*l = t->labels[v];
		return;
	}
	if (!t->labels) {
		t->labels = calloc(TRACE_LABELS, sizeof(*t->labels));
		if (!t->labels) {
			cursor_bad(c, -ENOMEM, "out of memory");
			return;
		}
	}
	v = cursor_varint(c);
	l->op = v;
	if (v > UINT16_MAX)
		cursor_bad(c, -EBADMSG, "an operation number is too large");
	v = cursor_varint(c);
	l->flags = v;
	if (v > UINT16_MAX)
		cursor_bad(c, -EBADMSG, "label flags are too large");
	l->object = cursor_varint(c);
	l->object2 = cursor_varint(c);
	l->site = cursor_varint(c);
	t->labels[t->next_label] = *l;
	t->next_label = (t->next_label + 1) % TRACE_LABELS;
	if (t->nr_labels < TRACE_LABELS)
		t->nr_labels++;
}

static struct trace_step *new_step(struct cursor *c)
{
	struct trace *t = c->t;

	if (t->nr_steps % STEP_CHUNK)
		return &t->chunks[t->nr_steps / STEP_CHUNK][t->nr_steps % STEP_CHUNK];
	if (!cursor_charge(c, sizeof(*t->chunks) + STEP_CHUNK * sizeof(**t->chunks)))
		return NULL;
	if (!ARRAY_RESERVE(t->chunks, t->room_chunks, t->nr_chunks + 1)) {
		cursor_bad(c, -ENOMEM, "out of memory");
		return NULL;
	}
	t->chunks[t->nr_chunks] = calloc(STEP_CHUNK, sizeof(**t->chunks));
	if (!t->chunks[t->nr_chunks]) {
		cursor_bad(c, -ENOMEM, "out of memory");
		return NULL;
	}
	return t->chunks[t->nr_chunks++];
}

void trace_decode_step(struct cursor *c)
{
	struct trace *t = c->t;
	unsigned int bits = *c->p++ & ~TRACE_STEP_TAG;
	struct trace_step s = { .step = t->nr_steps, .last = t->task, .task = t->task }, *p;

	if (!t->has_header)
		cursor_bad(c, -EBADMSG, "no header at the start");
	if (bits & ~TRACE_STEP_BITS)
		cursor_bad(c, -EBADMSG, "an unknown form of step");
	if (bits & TRACE_STEP_TASK)
		s.task = cursor_u32(c);
	if (s.task == TRACE_NO_TASK)
		cursor_bad(c, -EBADMSG, "a step without a task");
	if (bits & TRACE_STEP_LAST)
		s.last = cursor_task(c);
	if (bits & TRACE_STEP_ENABLED)
		get_toggles(c);
	if (bits & TRACE_STEP_FLAGS)
		s.flags = cursor_u32(c);
	get_label(c, bits & TRACE_STEP_LITERAL, &s.label);
	if (t->current) {
		s.nr_enabled = t->current->nr;
		s.enabled = t->current->tasks;
	}
	if (c->error)
		return;
	p = new_step(c);
	if (!p)
		return;
	*p = s;
	t->nr_steps++;
	t->task = s.task;
}

