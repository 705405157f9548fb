/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * log.c - an execution as it was, in memory, and its trace
 *
 * While an execution goes on only its steps and what came between them are noted, in arrays that are
 * kept from one execution to the next. A trace is made of them when the execution is worth one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/base/hash.h"
#include "search/rng.h"
#include "lib/zug/internal.h"

void log_event(enum event_kind kind, uint32_t task, uint32_t arg, uint64_t object)
{
	struct log *l = &z.log;

	if (ARRAY_RESERVE(l->events, l->room_events, l->nr_events + 1))
		l->events[l->nr_events++] = (struct event){ z.steps, kind, task, arg, object };
}

bool log_step(const struct search_cand *c)
{
	struct log *l = &z.log;

	if (!ARRAY_RESERVE(l->steps, l->room_steps, l->nr_steps + 1))
		return false;
	l->steps[l->nr_steps++] = (struct log_step){ .task = c->task, .label = c->label };
	return true;
}

void log_value(uint32_t value)
{
	struct log_step *s = &z.log.steps[z.log.nr_steps - 1];

	s->value = value;
	s->chosen = true;
}

/* ---- places ---- */

/* Places that were looked up last, by the address of the file's name and the line. */
static struct { const char *file; int line; uint64_t site; } recent[256];

static uint64_t add_place(uint64_t site, const char *file, int line, const char *func)
{
	bool added;
	uint32_t *at = id_map_add(&z.sites, site, z.nr_places, &added);

	if (at && added && ARRAY_RESERVE(z.places, z.room_places, z.nr_places + 1))
		z.places[z.nr_places++] = (struct place){ file, func, line, site };
	return site;
}

static uint64_t hash_place(const char *file, int line, const char *func)
{
	uint64_t site = hash_bytes(HASH_BEGIN, file, strlen(file));

	return mix64(hash_bytes(site, func, strlen(func)) + (uint32_t)line) | 1;
}

uint64_t place_begin(const char *file, int line, const char *func)
{
	return file && func ? add_place(mix64(hash_place(file, line, func)) | 1, file, line, func) : 0;
}

uint64_t place_site(const char *file, int line, const char *func)
{
	uint32_t slot = (uint32_t)(((uintptr_t)file >> 4) * 31 + (uint32_t)line) % 256;
	uint64_t site;

	if (recent[slot].file == file && recent[slot].line == line && file)
		return recent[slot].site;
	if (!file || !func)
		return 0;
	site = add_place(hash_place(file, line, func), file, line, func);
	recent[slot].file = line ? file : NULL;
	recent[slot].line = line;
	recent[slot].site = site;
	return site;
}

const struct place *place_of(uint64_t site)
{
	const uint32_t *at = id_map_find(&z.sites, site);

	return at && *at < z.nr_places ? &z.places[*at] : NULL;
}

/* ---- the trace ---- */

static const char *const kinds[] = { [OBJECT_RESOURCE] = "resource", [OBJECT_MUTEX] = "mutex",
				     [OBJECT_COND] = "condition", [OBJECT_SEM] = "semaphore",
				     [OBJECT_RWLOCK] = "rwlock",
				     [OBJECT_BARRIER] = "barrier", [OBJECT_ONCE] = "once" };

const char *object_name(uint64_t id, char *buf, size_t len)
{
	const uint32_t *at = id_map_find(&z.names, id);

	buf[0] = 0;
	if (at && *at < z.nr_names)
		snprintf(buf, len, "%s", z.name_list[*at]);
	for (uint32_t i = 0; !at && i < z.nr_ops; i++)
		if (z.ops[i] && op_object(i) == id)
			snprintf(buf, len, "%s", z.ops[i]->name);
	for (uint32_t i = 0; !at && i < z.nr_objects; i++)
		if (z.objects[i]->id == id)
			snprintf(buf, len, "%s", z.objects[i]->name);
	return buf;
}

static void add_object(struct trace_writer *w, uint64_t id, struct id_map *told)
{
	char name[64];
	const char *kind = "variable";
	uint32_t value;
	bool added;

	if (!id || !id_map_add(told, id, 0, &added) || !added)
		return;
	object_name(id, name, sizeof(name));
	for (uint32_t i = 0; i < z.nr_objects; i++)
		if (z.objects[i]->id == id)
			kind = kinds[z.objects[i]->kind];
	for (uint32_t i = 0; i < z.nr_ops; i++)
		if (op_object(i) == id)
			kind = "operation";
	if (value_of(id, &value)) {
		kind = "value";
		snprintf(name, sizeof(name), "%u", value);
	}
	if (name[0])
		trace_add_object(w, &(struct trace_object){ .object = id, .kind = kind, .name = name });
}

static void add_label(struct trace_writer *w, const struct zug_label *l, struct id_map *told)
{
	const struct place *p = place_of(l->site);
	bool added;

	if (p && id_map_add(told, l->site, 0, &added) && added) {
		struct trace_frame frame = { .function = p->func, .file = p->line ? p->file : NULL,
					     .line = (uint32_t)p->line };

		trace_add_site(w, &(struct trace_site){ .site = l->site, .module = UINT32_MAX, .nr_frames = 1,
							.frames = &frame });
	}
	add_object(w, l->object, told);
	add_object(w, l->object2, told);
}

/* The enabled set, ascending, as the events leave it. */
struct enabled {
	uint32_t *tasks, nr, room;
};

static void follow_event(struct enabled *e, struct trace_writer *w, const struct event *ev)
{
	uint32_t at = ARRAY_FROM(e->nr, i, e->tasks[i] < ev->task);

	switch (ev->kind) {
	case EVENT_NEW:
		trace_add_task(w, &(struct trace_task){
			.task = ev->task, .parent = z.ops[ev->task]->parent, .nth = z.ops[ev->task]->nth,
			.pid = (uint32_t)getpid(), .process = z.root->task, .comm = z.ops[ev->task]->name });
		break;
	case EVENT_ENABLE:
		if (!ARRAY_RESERVE(e->tasks, e->room, e->nr + 1))
			return;
		memmove(&e->tasks[at + 1], &e->tasks[at], (e->nr - at) * sizeof(*e->tasks));
		e->tasks[at] = ev->task;
		e->nr++;
		break;
	case EVENT_DISABLE:
		/* there was no memory to add it */
		if (at == e->nr || e->tasks[at] != ev->task)
			return;
		e->nr--;
		memmove(&e->tasks[at], &e->tasks[at + 1], (e->nr - at) * sizeof(*e->tasks));
		break;
	case EVENT_BLOCK:
		trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_BLOCK, .task = ev->task,
							.object = ev->object });
		break;
	case EVENT_WAKE:
		trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_WAKE, .task = ev->task, .arg = ev->arg });
		break;
	case EVENT_EXIT:
		trace_add_note(w, &(struct trace_note){ .kind = TRACE_NOTE_EXIT, .task = ev->task });
		break;
	}
}

static void write_steps(struct trace_writer *w, struct id_map *told)
{
	const struct log *l = &z.log;
	struct enabled e = { 0 };
	uint32_t at = 0, last = TRACE_NO_TASK, same = 0;
	bool yielded = false;

	for (uint32_t i = 0; i < l->nr_steps; i++) {
		const struct log_step *s = &l->steps[i];
		struct trace_step step = { .step = i, .task = s->task, .label = s->label, .last = last };
		bool last_enabled = false;

		for (; at < l->nr_events && l->events[at].before <= i; at++)
			follow_event(&e, w, &l->events[at]);
		if (s->chosen)
			step.label.object2 = value_object(s->value);
		for (uint32_t k = 0; k < e.nr; k++)
			last_enabled |= e.tasks[k] == last;
		if (last != s->task && last_enabled && !yielded)
			step.flags |= TRACE_STEP_PREEMPTION;
		if (yielded)
			step.flags |= TRACE_STEP_YIELDED;
		if (e.nr == 1)
			step.flags |= TRACE_STEP_LONE;
		step.nr_enabled = e.nr;
		step.enabled = e.tasks;
		add_label(w, &step.label, told);
		trace_add_step(w, &step);
		same = last == s->task && e.nr > 1 ? same + 1 : 0;
		yielded = s->label.flags & ZUG_L_YIELD || same >= PROGRESS_STARVING;
		if (yielded)
			same = 0;
		last = s->task;
	}
	for (; at < l->nr_events; at++)
		follow_event(&e, w, &l->events[at]);
	free(e.tasks);
}

/* Where each operation stands at the end. */
static void write_stacks(struct trace_writer *w, struct id_map *told)
{
	char state[200];

	for (uint32_t i = 0; i < z.nr_cands; i++) {
		const struct search_cand *c = &z.cands[i];
		const struct place *p = place_of(c->label.site);
		struct trace_frame frame = { .function = p ? p->func : NULL, .file = p && p->line ? p->file : NULL,
					     .line = p ? (uint32_t)p->line : 0 };

		add_label(w, &c->label, told);
		trace_add_stack(w, &(struct trace_stack){ .task = c->task, .nr_frames = !!p, .frames = &frame,
							  .state = end_state(z.ops[c->task], state, sizeof(state)) });
	}
}

int log_write(const char *path, const struct trace_header *h, const struct trace_minimized *m)
{
	int err = 0;
	struct trace_writer *w = trace_create(path, h, &err);
	struct id_map told = { 0 };

	if (!w)
		return err;
	write_steps(w, &told);
	if (zug_outcome_is_finding(z.outcome.kind))
		write_stacks(w, &told);
	trace_add_outcome(w, &z.outcome);
	if (m) {
		for (uint32_t i = 0; i < m->nr_pairs; i++) {
			add_label(w, &m->pairs[i].before, &told);
			add_label(w, &m->pairs[i].after, &told);
		}
		add_label(w, &m->critical.first, &told);
		add_label(w, &m->critical.second, &told);
		trace_add_minimized(w, m);
	}
	id_map_free(&told);
	return trace_close(w, false);
}
