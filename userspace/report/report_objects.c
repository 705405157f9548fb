/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report_objects.c - which objects one task alone uses; and the objects of one trace under the names that another trace has
 * for them
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "report/report_internal.h"

#define SEVERAL_TASKS UINT32_MAX

static void note_user(struct report *r, uint64_t object, uint32_t task)
{
	bool added;
	uint32_t *user = object ? id_map_add(&r->users, object, task, &added) : NULL;

	if (user && !added && *user != task)
		*user = SEVERAL_TASKS;
}

static void note_users(struct report *r, const struct zug_label *l, uint32_t task)
{
	bool writes = (l->flags | zug_op_flags(l->op)) & ZUG_L_WRITE;

	note_user(r, l->object, task);
	note_user(r, l->object2, task);
	if (writes && l->object)
		id_map_add(&r->written, l->object, 0, NULL);
	if (writes && l->object2)
		id_map_add(&r->written, l->object2, 0, NULL);
}

static void know_users(struct report *r)
{
	const struct trace_minimized *m = trace_minimized(r->t);

	if (r->users_known)
		return;
	r->users_known = true;
	for (uint64_t i = 0; i < trace_nr_steps(r->t); i++)
		note_users(r, &trace_step(r->t, i)->label, trace_step(r->t, i)->task);
	for (uint32_t i = 0; m && i < m->nr_pairs; i++)
		note_users(r, &m->pairs[i].before, m->pairs[i].preempted);
	if (m && m->critical.known) {
		note_users(r, &m->critical.first, m->critical.first_task);
		note_users(r, &m->critical.second, m->critical.second_task);
	}
}

bool report_is_private(struct report *r, uint64_t object)
{
	const uint32_t *user;

	know_users(r);
	user = id_map_find(&r->users, object);
	return user && *user != SEVERAL_TASKS;
}

bool report_is_changed(struct report *r, uint64_t object)
{
	know_users(r);
	return id_map_find(&r->written, object);
}

struct naming {
	struct report *r;
	const struct trace *first;
	const struct pairing *same;
};

static bool is_taken(const struct naming *n, const char *name)
{
	const struct trace_object *o;

	for (uint32_t i = 0; (o = trace_object_at(n->first, i)); i++)
		if (!strcmp(o->name, name))
			return true;
	for (size_t i = 0; i < n->r->nr_aliases; i++)
		if (!strcmp(n->r->aliases[i].name, name))
			return true;
	return false;
}

/*
 * A name for an object that the first trace does not have, different from all of its names. NULL:
 * out of memory.
 */
static char *name_new(const struct naming *n, const struct trace_object *o, uint32_t task)
{
	char *name;

	/* a temporary file is numbered, but its path is its name */
	if (o->name[0] == '/')
		return strdup(o->name);
	for (uint64_t nth = zug_object_nth(o->object);; nth++) {
		if (asprintf(&name, "%s #%llu of T%u", o->kind, (unsigned long long)nth, task) < 0)
			return NULL;
		if (!is_taken(n, name))
			return name;
		free(name);
	}
}

int report_name_objects(struct report *r, const struct trace *first, const struct pairing *same,
			uint32_t (*task_in_first)(const void *ctx, uint32_t task), const void *ctx)
{
	const struct naming n = { r, first, same };
	const struct trace_object *o, *there;
	struct report_alias *a;

	for (uint32_t i = 0; (o = trace_object_at(r->t, i)); i++) {
		if (!zug_object_is_numbered(o->object))
			continue;
		there = trace_object(first, pairing_object(same, o->object));
		if (there && !strcmp(there->name, o->name))
			continue;
		if (!ARRAY_RESERVE(r->aliases, r->aliases_room, r->nr_aliases + 1))
			return -ENOMEM;
		a = &r->aliases[r->nr_aliases];
		a->object = o->object;
		a->name = there ? strdup(there->name) : name_new(&n, o, task_in_first(ctx, zug_object_task(o->object)));
		if (!a->name)
			return -ENOMEM;
		r->nr_aliases++;
	}
	return 0;
}

void report_forget_names(struct report *r)
{
	for (size_t i = 0; i < r->nr_aliases; i++)
		free(r->aliases[i].name);
	free(r->aliases);
	r->aliases = NULL;
	r->nr_aliases = r->aliases_room = 0;
}

const char *report_alias(const struct report *r, uint64_t object)
{
	for (size_t i = 0; i < r->nr_aliases; i++)
		if (r->aliases[i].object == object)
			return r->aliases[i].name;
	return NULL;
}

/*
 * The new name of the object whose old name begins at p; *len: length of the old name. NULL: none
 * begins there.
 */
static const char *alias_at(const struct report *r, const char *p, size_t *len)
{
	for (size_t i = 0; i < r->nr_aliases; i++) {
		const char *name = trace_object(r->t, r->aliases[i].object)->name;

		*len = strlen(name);
		if (*len && !strncmp(p, name, *len) && !isdigit((unsigned char)p[*len]))
			return r->aliases[i].name;
	}
	return NULL;
}

void report_rename_objects(const struct report *r, char *text, size_t size)
{
	char *copy = r->nr_aliases ? strdup(text) : NULL;
	const char *p = copy, *name;
	size_t at = 0, len;

	while (p && *p && at + 1 < size) {
		name = alias_at(r, p, &len);
		if (name) {
			at += snprintf(text + at, size - at, "%s", name);
			p += len;
		} else {
			text[at++] = *p++;
		}
	}
	if (copy)
		text[at < size ? at : size - 1] = '\0';
	free(copy);
}
