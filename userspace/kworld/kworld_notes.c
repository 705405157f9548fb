/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kworld_notes.c - what a program that uses libzug tells of itself (zug_note.h): labels, names of tasks that it makes,
 * and values that the search chooses for it, and for programs of Go's
 *
 * What such a program does between two of its points is meant to be one step, as when libzug schedules it alone. So
 * its plain accesses to data are no points: the race scan leaves its file alone, and libzug's own.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "engine/values.h"
#include "kworld/kworld_internal.h"
#include "search/rng.h"

/* How many beginnings of the random numbers of Go's runtime there are; what they are called. */
#define GO_NUMBERS	65536
#define GO_OBJECT	(0x7a77ull << 48)

/* Operations that libzug may tell. */
static bool is_told(unsigned int op)
{
	switch (op) {
	case ZUG_OP_POINT: case ZUG_OP_DATA_READ: case ZUG_OP_DATA_WRITE: case ZUG_OP_CHOICE:
	case ZUG_OP_RESOURCE_WAIT: case ZUG_OP_RESOURCE_SIGNAL: case ZUG_OP_RESOURCE_SIGNAL_ALL:
		return true;
	}
	return false;
}

static void leave_alone(struct kworld *k, uint64_t site)
{
	const struct place_site *ps = places_find_site(k->o.places, site);

	if (ps)
		probes_tells(k->o.probes, ps->module);
}

static uint64_t object_of(struct kworld *k, const struct world_task *t, const struct zug_event *e, bool data)
{
	uint64_t id = e->arg[1];
	char name[ZUG_NOTE_NAME + 1];

	if (!id)
		return 0;
	if (e->arg[0] & ZUG_NOTE_OWN)
		id = mix64(id ^ mix64(t->process + 1)) | 1;
	snprintf(name, sizeof(name), "%.*s", ZUG_NOTE_NAME, e->name);
	places_named(k->o.places, id, data ? "variable" : "resource", name);
	return id;
}

bool kworld_note_next(struct kworld *k, uint32_t task, const struct zug_event *e)
{
	struct ktask *kt = &k->kt[task];

	if (!(e->arg[0] & ZUG_NOTE_NEXT))
		return false;
	kt->told_site = places_site(k->o.places, k->w.tasks[task].process, e->arg[2] - 1);
	if (e->name[0])
		snprintf(kt->child_name, sizeof(kt->child_name), "%.15s", e->name);
	return true;
}

void kworld_label_note(struct kworld *k, struct world_task *t, struct ktask *kt, const struct zug_event *e)
{
	unsigned int op = e->arg[0] & 0xffff;
	struct zug_label *l = &t->label;

	t->nr_accesses = 0;
	kt->split.phase = SPLIT_NONE;
	kt->mutex = 0;
	kt->call_nr = -1;
	l->op = is_told(op) ? op : ZUG_OP_POINT;
	l->flags = zug_op_flags(l->op);
	l->site = places_site(k->o.places, t->process, e->arg[2] - 1);
	t->nr_values = 0;
	t->numbers = false;
	if (l->op == ZUG_OP_CHOICE) {
		t->nr_values = e->arg[1] > INT32_MAX ? INT32_MAX : e->arg[1];
		kt->answer = e->answer;
	} else {
		l->object = object_of(k, t, e, l->op == ZUG_OP_DATA_READ || l->op == ZUG_OP_DATA_WRITE);
	}
	leave_alone(k, l->site);
	leave_alone(k, places_site(k->o.places, t->process, e->ip - 2));
}

void kworld_asks_numbers(struct kworld *k, struct world_task *t)
{
	t->nr_values = GO_NUMBERS;
	t->numbers = true;
	t->label.object = GO_OBJECT;
	places_named(k->o.places, GO_OBJECT, "numbers", "random numbers of Go's runtime");
}

/* 0 leaves them as they are. */
static void give_numbers(struct kworld *k, const struct world_task *t, uint32_t value)
{
	const struct place_site *at = places_find_site(k->o.places, t->label.site);
	uint64_t bias;

	if (value && at && !places_bias(k->o.places, t->process, at->module, &bias))
		symfile_go_numbers(probes_module(k->o.probes, at->module)->file, t->pid, bias, value);
}

int kworld_choose(struct world *w, struct world_task *t, uint32_t value)
{
	struct kworld *k = (struct kworld *)w;
	uint64_t word = value;
	char name[16];

	if (t->numbers)
		give_numbers(k, t, value);
	else if (!remote_write(t->pid, k->kt[t->task].answer, &word, sizeof(word)))
		return -EFAULT;
	t->label.object2 = value_object(value);
	snprintf(name, sizeof(name), "%u", value);
	places_named(k->o.places, t->label.object2, "value", name);
	return 0;
}
