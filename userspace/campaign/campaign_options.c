/* SPDX-License-Identifier: GPL-2.0-only */
/* What a test was run with, to and from a trace's header. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "campaign/campaign_internal.h"
#include "report/report.h"

void campaign_defaults(struct campaign_options *o)
{
	*o = (struct campaign_options){
		.preemptions = -1,
		.fair = 1,
		.seed = 1,
		.executions = 2000,
		.timeout_ns = 30000000000ull,
		.max_steps = 100000,
		.sync_points = true,
		.syscall_points = ZUG_SYS_ALL,
		.races = true,
		.atomic_points = true,
		.lane = -1,
		.spin_ns = 100000000ull,
		.out_dir = "zug-out",
		.verify = 1,
		.max_faults = 1,
		.max_flows = 1,
		.minimize = true,
		.colour = REPORT_COLOUR_AUTO,
		.own = SANDBOX_ALL,
	};
}

static void put_list(struct json_object *j, const char *name, char *const *list)
{
	struct json_object *a = json_object_new_array();

	for (; list && *list; list++)
		json_object_array_add(a, json_object_new_string(*list));
	json_object_object_add(j, name, a);
}

char *campaign_options_json(const struct campaign_options *o, const struct campaign_lists *l)
{
	struct json_object *j = json_object_new_object();
	char *text;

	json_object_object_add(j, "sync_points", json_object_new_boolean(o->sync_points));
	json_object_object_add(j, "atomic_points", json_object_new_boolean(o->atomic_points));
	json_object_object_add(j, "syscall_points", json_object_new_int(o->syscall_points));
	json_object_object_add(j, "cpus", json_object_new_int(o->cpus));
	json_object_object_add(j, "max_tasks", json_object_new_int(o->max_tasks));
	json_object_object_add(j, "expect_exit", json_object_new_int(o->expect_exit));
	json_object_object_add(j, "fair", json_object_new_int(o->fair));
	json_object_object_add(j, "max_steps", json_object_new_int64(o->max_steps));
	json_object_object_add(j, "timeout_ns", json_object_new_int64(o->timeout_ns));
	json_object_object_add(j, "spin_ns", json_object_new_int64(o->spin_ns));
	json_object_object_add(j, "randomise", json_object_new_boolean(o->randomise));
	json_object_object_add(j, "virtual_time", json_object_new_boolean(!o->real_time));
	json_object_object_add(j, "clock_real", json_object_new_int64(o->clock_real));
	json_object_object_add(j, "seeded_random", json_object_new_boolean(!o->real_random));
	json_object_object_add(j, "explore_timeouts", json_object_new_boolean(o->explore_timeouts));
	json_object_object_add(j, "world", json_object_new_int(o->own));
	put_list(j, "share", o->shares);
	if (o->hide)
		json_object_object_add(j, "hidden", json_object_new_string(o->hide));
	if (o->setup)
		json_object_object_add(j, "setup", json_object_new_string(o->setup));
	if (o->teardown)
		json_object_object_add(j, "teardown", json_object_new_string(o->teardown));
	json_object_object_add(j, "faults", json_object_new_int64(o->faults));
	json_object_object_add(j, "max_faults", json_object_new_int64(o->max_faults));
	json_object_object_add(j, "max_flows", json_object_new_int64(o->max_flows));
	if (o->input)
		json_object_object_add(j, "stdin", json_object_new_string(o->input));
	if (o->match)
		json_object_object_add(j, "match", json_object_new_string(o->match));
	put_list(j, "watch", o->watches);
	put_list(j, "point", o->points);
	put_list(j, "invariant", o->invariants);
	put_list(j, "discard_if", o->discards);
	put_list(j, "probed", l->probed);
	put_list(j, "known", l->known);
	put_list(j, "code", o->code);
	put_list(j, "atomics", l->atomics);
	put_list(j, "silent", l->silent);
	put_list(j, "limited", l->limited);
	put_list(j, "split", l->split);
	put_list(j, "waits", l->waits);
	put_list(j, "data", l->data);
	json_object_object_add(j, "fail_on_race", json_object_new_boolean(o->fail_on_race));
	put_list(j, "suppressions", o->suppressions);
	put_list(j, "races", l->races);
	text = strdup(json_object_to_json_string_ext(j, JSON_C_TO_STRING_PLAIN));
	json_object_put(j);
	return text;
}

struct campaign_holder {
	struct json_object *json;
	char **invariants, **discards;
	char **watches, **points, **probed, **known, **code, **atomics, **silent, **limited, **split, **waits, **shares;
	char **data, **suppressions, **races;
};

static char **get_list(struct json_object *j, const char *name)
{
	struct json_object *a;
	size_t n = 0;
	char **list;

	if (json_object_object_get_ex(j, name, &a) && json_object_is_type(a, json_type_array))
		n = json_object_array_length(a);
	list = calloc(n + 1, sizeof(*list));
	for (size_t i = 0; list && i < n; i++)
		list[i] = (char *)json_object_get_string(json_object_array_get_idx(a, i));
	return list;
}

static int64_t get_int(struct json_object *j, const char *name, int64_t otherwise)
{
	struct json_object *v;

	return json_object_object_get_ex(j, name, &v) ? json_object_get_int64(v) : otherwise;
}

int campaign_options_from_trace(struct campaign_options *o, const struct trace *t,
				struct campaign_holder **holder, char *err, size_t errlen)
{
	const struct trace_header *h = trace_header(t);
	struct campaign_holder *c = calloc(1, sizeof(*c));
	struct json_object *j, *v;

	*holder = c;
	if (!c)
		return -ENOMEM;
	campaign_defaults(o);
	j = c->json = json_tokener_parse(h->options && h->options[0] ? h->options : "{}");
	if (!j || !json_object_is_type(j, json_type_object)) {
		snprintf(err, errlen, "the trace's options are not a JSON object");
		return -EINVAL;
	}
	o->argv = (char **)h->argv;
	o->envp = (char **)h->envp;
	o->cwd = h->cwd;
	o->seed = h->seed;
	o->sync_points = get_int(j, "sync_points", 1);
	/* traces of before there were such points have none */
	o->atomic_points = get_int(j, "atomic_points", 0);
	o->syscall_points = get_int(j, "syscall_points", 0);
	o->cpus = get_int(j, "cpus", 0);
	o->max_tasks = get_int(j, "max_tasks", 0);
	o->expect_exit = get_int(j, "expect_exit", 0);
	o->fair = get_int(j, "fair", 1);
	o->max_steps = get_int(j, "max_steps", o->max_steps);
	o->timeout_ns = get_int(j, "timeout_ns", o->timeout_ns);
	o->spin_ns = get_int(j, "spin_ns", o->spin_ns);
	o->randomise = get_int(j, "randomise", 0);
	o->real_time = !get_int(j, "virtual_time", 0);
	o->clock_real = get_int(j, "clock_real", 0);
	o->real_random = !get_int(j, "seeded_random", 0);
	o->explore_timeouts = get_int(j, "explore_timeouts", 0);
	o->faults = get_int(j, "faults", 0);
	o->max_faults = get_int(j, "max_faults", 0);
	o->max_flows = get_int(j, "max_flows", 0);
	if (json_object_object_get_ex(j, "stdin", &v))
		o->input = json_object_get_string(v);
	o->own = get_int(j, "world", 0) & SANDBOX_ALL;
	if (json_object_object_get_ex(j, "match", &v))
		o->match = json_object_get_string(v);
	if (json_object_object_get_ex(j, "setup", &v))
		o->setup = json_object_get_string(v);
	if (json_object_object_get_ex(j, "teardown", &v))
		o->teardown = json_object_get_string(v);
	if (json_object_object_get_ex(j, "hidden", &v))
		o->hide = json_object_get_string(v);
	c->shares = get_list(j, "share");
	c->watches = get_list(j, "watch");
	c->points = get_list(j, "point");
	c->invariants = get_list(j, "invariant");
	c->discards = get_list(j, "discard_if");
	c->probed = get_list(j, "probed");
	c->known = get_list(j, "known");
	c->code = get_list(j, "code");
	c->atomics = get_list(j, "atomics");
	c->silent = get_list(j, "silent");
	c->limited = get_list(j, "limited");
	c->split = get_list(j, "split");
	c->waits = get_list(j, "waits");
	c->data = get_list(j, "data");
	c->suppressions = get_list(j, "suppressions");
	c->races = get_list(j, "races");
	if (!c->invariants || !c->discards || !c->watches || !c->points || !c->probed || !c->known || !c->code || !c->atomics ||
	    !c->silent || !c->limited || !c->split || !c->waits || !c->shares || !c->data || !c->suppressions || !c->races)
		return -ENOMEM;
	o->data = c->data;
	o->suppressions = c->suppressions;
	o->known_races = c->races;
	o->fail_on_race = get_int(j, "fail_on_race", 0);
	o->races = false;
	o->code = c->code;
	o->atomics = c->atomics;
	o->silent = c->silent;
	o->limited = c->limited;
	o->split = c->split;
	o->waits = c->waits;
	o->watches = c->watches;
	o->points = c->points;
	o->invariants = c->invariants;
	o->discards = c->discards;
	o->probed = c->probed;
	o->known = c->known;
	o->shares = c->shares;
	if (!o->argv || !o->argv[0] || !o->cwd || !o->envp) {
		snprintf(err, errlen, "the trace names no command, folder or environment");
		return -EINVAL;
	}
	return 0;
}

void campaign_options_free(struct campaign_holder *h)
{
	if (!h)
		return;
	if (h->json)
		json_object_put(h->json);
	free(h->watches);
	free(h->points);
	free(h->invariants);
	free(h->discards);
	free(h->probed);
	free(h->known);
	free(h->code);
	free(h->atomics);
	free(h->silent);
	free(h->limited);
	free(h->split);
	free(h->waits);
	free(h->shares);
	free(h->data);
	free(h->suppressions);
	free(h->races);
	free(h);
}
