/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a test was run with, to and from a trace's header: a JSON object with the values of the
 * rows of run_options.c that have a key.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "lib/base/machine_mark.h"
#include "campaign/options_trace.h"
#include "campaign/run_options.h"
#include "sandbox/sandbox.h"

static struct json_object *value_of(const struct option_row *r, const struct campaign_options *o)
{
	struct json_object *a;

	switch (r->store) {
	case STORE_BOOL:
		return json_object_new_boolean(option_get(r, o) != r->inverted);
	case STORE_TEXT:
		return *option_text(r, o) ? json_object_new_string(*option_text(r, o)) : NULL;
	case STORE_LIST:
		a = json_object_new_array();
		for (char **s = *option_list(r, o); s && *s; s++)
			json_object_array_add(a, json_object_new_string(*s));
		return a;
	default:
		return json_object_new_int64(option_get(r, o));
	}
}

char *campaign_options_json(const struct campaign_options *o, const struct options_replay *points)
{
	struct json_object *j = json_object_new_object(), *v;
	struct campaign_options all = *o;
	const struct option_row *r;
	char *text;

	all.replay = *points;
	for (unsigned int i = 1; (r = run_options_kept(i)); i++) {
		v = value_of(r, &all);
		if (v)
			json_object_object_add(j, r->key, v);
	}
	json_object_object_add(j, MACHINE_MARK_KEY, json_object_new_string(machine_mark()));
	text = strdup(json_object_to_json_string_ext(j, JSON_C_TO_STRING_PLAIN));
	json_object_put(j);
	return text;
}

#define LISTS 32

struct campaign_holder {
	struct json_object *json;
	char **lists[LISTS];
	unsigned int nr;
};

/* The strings of an array; of no array an empty list. */
static char **get_list(struct json_object *a)
{
	size_t n = a && json_object_is_type(a, json_type_array) ? json_object_array_length(a) : 0;
	char **list = calloc(n + 1, sizeof(*list));

	for (size_t i = 0; list && i < n; i++)
		list[i] = (char *)json_object_get_string(json_object_array_get_idx(a, i));
	return list;
}

static int read_value(const struct option_row *r, struct campaign_options *o,
		      struct campaign_holder *h)
{
	struct json_object *v = NULL;
	bool there = json_object_object_get_ex(h->json, r->key, &v);
	int64_t n = there ? json_object_get_int64(v) : r->absent;

	if (r->store == STORE_TEXT) {
		*option_text(r, o) = there ? json_object_get_string(v) : NULL;
		return 0;
	}
	if (r->store != STORE_LIST) {
		option_set(r, o, r->inverted ? !n : n);
		return 0;
	}
	if (h->nr == LISTS)
		return -ENOMEM;
	*option_list(r, o) = h->lists[h->nr++] = get_list(v);
	return *option_list(r, o) ? 0 : -ENOMEM;
}

int campaign_options_from_header(struct campaign_options *o, const struct trace_header *h,
				struct campaign_holder **holder, char *err, size_t errlen)
{
	struct campaign_holder *c = calloc(1, sizeof(*c));
	const struct option_row *r;
	int ret = 0;

	*holder = c;
	snprintf(err, errlen, "out of memory");
	if (!c)
		return -ENOMEM;
	campaign_defaults(o);
	c->json = json_tokener_parse(h->options && h->options[0] ? h->options : "{}");
	if (!c->json || !json_object_is_type(c->json, json_type_object)) {
		snprintf(err, errlen, "the trace's options are not a JSON object");
		return -EINVAL;
	}
	o->command.argv = (char **)h->argv;
	o->command.envp = (char **)h->envp;
	o->command.cwd = h->cwd;
	o->search.seed = h->seed;
	/* the trace says what is known of data races */
	o->points.races = false;
	for (unsigned int i = 1; (r = run_options_kept(i)) && !ret; i++)
		ret = read_value(r, o, c);
	if (o->inputs.explore_timeouts)
		o->inputs.timeouts = TIMEOUTS_EXPLORE;
	o->environment.own &= SANDBOX_ALL;
	if (!ret &&
	    (!o->command.argv || !o->command.argv[0] || !o->command.cwd || !o->command.envp)) {
		snprintf(err, errlen, "the trace names no command, folder or environment");
		ret = -EINVAL;
	}
	return ret;
}

void campaign_options_free(struct campaign_holder *h)
{
	if (!h)
		return;
	if (h->json)
		json_object_put(h->json);
	for (unsigned int i = 0; i < h->nr; i++)
		free(h->lists[i]);
	free(h);
}
