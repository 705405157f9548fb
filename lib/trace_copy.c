/* SPDX-License-Identifier: GPL-2.0-only */
#include "lib/trace_reader.h"

static void copy_tables(struct trace_writer *w, const struct trace *t)
{
	const struct trace_task *tasks = t->tasks.entries;
	const struct trace_module *modules = t->modules.entries;
	const struct trace_site *sites = t->sites.entries;
	const struct trace_object *objects = t->objects.entries;

	for (uint32_t i = 0; i < t->tasks.nr; i++)
		trace_add_task(w, &tasks[i]);
	for (uint32_t i = 0; i < t->modules.nr; i++)
		trace_add_module(w, &modules[i]);
	for (uint32_t i = 0; i < t->sites.nr; i++)
		trace_add_site(w, &sites[i]);
	for (uint32_t i = 0; i < t->objects.nr; i++)
		trace_add_object(w, &objects[i]);
}

static void copy_notes(struct trace_writer *w, const struct trace *t, uint64_t i)
{
	for (uint32_t k = 0, nr = trace_nr_notes(t, i); k < nr; k++)
		trace_add_note(w, trace_note_at(t, i, k));
}

static void copy_callers(struct trace_writer *w, const struct trace *t, uint64_t i)
{
	for (uint32_t k = 0, nr = t ? trace_nr_notes(t, i) : 0; k < nr; k++)
		if (trace_note_tells(trace_note_at(t, i, k)))
			trace_add_note(w, trace_note_at(t, i, k));
}

static struct trace_writer *copy(const struct trace *t, const struct trace *callers, const char *path, int *err)
{
	struct trace_writer *w = trace_create(path, &t->header, err);

	if (!w)
		return NULL;
	copy_tables(w, t);
	for (uint64_t i = 0; i < t->nr_steps; i++) {
		copy_notes(w, t, i);
		copy_callers(w, callers, i);
		trace_add_step(w, trace_step(t, i));
	}
	copy_notes(w, t, t->nr_steps);
	for (uint32_t i = 0; i < t->nr_stacks; i++)
		trace_add_stack(w, &t->stacks[i]);
	if (t->has_outcome)
		trace_add_outcome(w, &t->outcome);
	return w;
}

struct trace_writer *trace_copy(const struct trace *t, const char *path, int *err)
{
	return copy(t, NULL, path, err);
}

int trace_write_callers(const struct trace *t, const struct trace *callers, const char *path)
{
	int ret = 0;
	struct trace_writer *w = copy(t, callers, path, &ret);

	if (!w)
		return ret;
	if (trace_minimized(t))
		trace_add_minimized(w, trace_minimized(t));
	return trace_close(w, false);
}
