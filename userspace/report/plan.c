/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "report/json_text.h"
#include "report/plan.h"

#define MAGIC "zugzwang plan"
#define VERSION 1

void plan_free(struct plan *p)
{
	if (!p)
		return;
	for (uint64_t i = 0; i < p->nr; i++)
		free((void *)p->list[i].choices);
	free(p->list);
	free(p);
}

static struct json_object *get(struct json_object *o, const char *name, enum json_type type)
{
	struct json_object *v = NULL;

	return o && json_object_object_get_ex(o, name, &v) && json_object_is_type(v, type) ? v : NULL;
}

/* False: it is none. */
static bool read_subtree(struct json_object *o, struct search_subtree *t)
{
	struct json_object *choices = get(o, "choices", json_type_array), *cost = get(o, "cost", json_type_int), *size = NULL;
	uint32_t *list, nr;

	if (!choices || !cost || !json_object_object_get_ex(o, "size", &size))
		return false;
	nr = (uint32_t)json_object_array_length(choices);
	t->choices = list = calloc(nr + 1, sizeof(*list));
	if (!list)
		return false;
	for (t->nr = 0; t->nr < nr; t->nr++) {
		int64_t v = json_object_get_int64(json_object_array_get_idx(choices, t->nr));

		if (v < 0 || v >= UINT32_MAX)
			return false;
		list[t->nr] = (uint32_t)v;
	}
	t->cost = (uint32_t)json_object_get_int64(cost);
	t->size = json_object_get_double(size);
	return true;
}

static bool read_subtrees(struct json_object *o, struct plan *p)
{
	struct json_object *list = get(o, "subtrees", json_type_array), *cut = get(o, "cut", json_type_boolean);
	uint64_t nr = list ? json_object_array_length(list) : 0;

	if (!nr || !cut)
		return false;
	p->cut = json_object_get_boolean(cut);
	p->list = calloc(nr, sizeof(*p->list));
	for (; p->list && p->nr < nr; p->nr++)
		if (!read_subtree(json_object_array_get_idx(list, p->nr), &p->list[p->nr])) {
			p->nr++;
			return false;
		}
	return p->list;
}

struct plan *plan_read(const char *path, char *err, size_t errlen)
{
	struct json_object *o, *magic, *version;
	struct plan *p = calloc(1, sizeof(*p));
	bool good;

	if (access(path, R_OK)) {
		snprintf(err, errlen, "--plan %s: %s", path, strerror(errno));
		free(p);
		return NULL;
	}
	o = json_object_from_file(path);
	magic = get(o, "plan", json_type_string);
	version = get(o, "version", json_type_int);
	good = p && magic && !strcmp(json_object_get_string(magic), MAGIC) && version;
	snprintf(err, errlen, "--plan %s: %s", path, !good ? "no plan of zug plan, or cut off" : "damaged");
	if (good && json_object_get_int64(version) > VERSION) {
		snprintf(err, errlen, "--plan %s: written by a newer zug", path);
		good = false;
	}
	good = good && read_subtrees(o, p);
	json_object_put(o);
	if (good)
		return p;
	plan_free(p);
	return NULL;
}

int plan_write(const char *path, const struct search *s, const char *about)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	int ret;

	json_object_object_add(o, "plan", json_text(MAGIC));
	json_object_object_add(o, "version", json_object_new_int(VERSION));
	json_object_object_add(o, "about", json_text(about));
	json_object_object_add(o, "cut", json_object_new_boolean(search_division_cut(s)));
	for (uint64_t i = 0; i < search_parts(s); i++) {
		struct search_subtree t = search_subtree(s, i);
		struct json_object *one = json_object_new_object(), *choices = json_object_new_array();

		for (uint32_t k = 0; k < t.nr; k++)
			json_object_array_add(choices, json_object_new_int64(t.choices[k]));
		json_object_object_add(one, "choices", choices);
		json_object_object_add(one, "cost", json_object_new_int64(t.cost));
		json_object_object_add(one, "size", json_object_new_double(t.size));
		json_object_array_add(list, one);
	}
	json_object_object_add(o, "subtrees", list);
	ret = json_object_to_file_ext(path, o, JSON_C_TO_STRING_PLAIN) ? -errno : 0;
	json_object_put(o);
	return ret;
}
