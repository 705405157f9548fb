/* SPDX-License-Identifier: GPL-2.0-only */
/* What a test was run with, to and from a trace's header. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "campaign/options_trace.h"
#include "sandbox/sandbox.h"
#include "report/report.h"

void campaign_defaults(struct campaign_options *o)
{
	*o = (struct campaign_options){
		.search.preemptions = -1,
		.search.fair = 1,
		.search.seed = 1,
		.search.executions = 2000,
		.failure.timeout_ns = 30000000000ull,
		.failure.max_steps = 100000,
		.points.sync = true,
		.points.syscalls = ZUG_SYS_ALL,
		.points.races = true,
		.points.atomic = true,
		.machine.lane = -1,
		.failure.spin_ns = 100000000ull,
		.results.dir = "zug-out",
		.results.verify = 1,
		.inputs.max_faults = 1,
		.inputs.max_flows = 1,
		.results.minimize = true,
		.results.colour = REPORT_COLOUR_AUTO,
		.environment.own = SANDBOX_ALL,
	};
}

static void put_list(struct json_object *j, const char *name, char *const *list)
{
	struct json_object *a = json_object_new_array();

	for (; list && *list; list++)
		json_object_array_add(a, json_object_new_string(*list));
	json_object_object_add(j, name, a);
}

char *campaign_options_json(const struct campaign_options *o, const struct options_replay *l)
{
	struct json_object *j = json_object_new_object();
	char *text;

	json_object_object_add(j, "sync_points", json_object_new_boolean(o->points.sync));
	json_object_object_add(j, "atomic_points", json_object_new_boolean(o->points.atomic));
	json_object_object_add(j, "syscall_points", json_object_new_int(o->points.syscalls));
	json_object_object_add(j, "cpus", json_object_new_int(o->machine.cpus));
	json_object_object_add(j, "max_tasks", json_object_new_int(o->machine.max_tasks));
	json_object_object_add(j, "expect_exit", json_object_new_int(o->failure.expect_exit));
	json_object_object_add(j, "fair", json_object_new_int(o->search.fair));
	json_object_object_add(j, "max_steps", json_object_new_int64(o->failure.max_steps));
	json_object_object_add(j, "timeout_ns", json_object_new_int64(o->failure.timeout_ns));
	json_object_object_add(j, "spin_ns", json_object_new_int64(o->failure.spin_ns));
	json_object_object_add(j, "randomise", json_object_new_boolean(o->machine.randomise));
	json_object_object_add(j, "virtual_time", json_object_new_boolean(!o->inputs.real_time));
	json_object_object_add(j, "clock_real", json_object_new_int64(o->inputs.clock_real));
	json_object_object_add(j, "seeded_random", json_object_new_boolean(!o->inputs.real_random));
	json_object_object_add(j, "explore_timeouts", json_object_new_boolean(o->inputs.explore_timeouts));
	json_object_object_add(j, "world", json_object_new_int(o->environment.own));
	put_list(j, "share", o->environment.shares);
	if (o->environment.hide)
		json_object_object_add(j, "hidden", json_object_new_string(o->environment.hide));
	if (o->environment.setup)
		json_object_object_add(j, "setup", json_object_new_string(o->environment.setup));
	if (o->environment.teardown)
		json_object_object_add(j, "teardown", json_object_new_string(o->environment.teardown));
	json_object_object_add(j, "faults", json_object_new_int64(o->inputs.faults));
	json_object_object_add(j, "max_faults", json_object_new_int64(o->inputs.max_faults));
	json_object_object_add(j, "max_flows", json_object_new_int64(o->inputs.max_flows));
	if (o->inputs.file)
		json_object_object_add(j, "stdin", json_object_new_string(o->inputs.file));
	if (o->failure.match)
		json_object_object_add(j, "match", json_object_new_string(o->failure.match));
	put_list(j, "watch", o->points.watches);
	put_list(j, "point", o->points.places);
	put_list(j, "invariant", o->failure.invariants);
	put_list(j, "discard_if", o->failure.discards);
	put_list(j, "probed", l->probed);
	put_list(j, "known", l->known);
	put_list(j, "code", o->points.code);
	put_list(j, "atomics", l->atomics);
	put_list(j, "silent", l->silent);
	put_list(j, "limited", l->limited);
	put_list(j, "split", l->split);
	put_list(j, "waits", l->waits);
	put_list(j, "data", l->data);
	json_object_object_add(j, "fail_on_race", json_object_new_boolean(o->failure.race));
	put_list(j, "suppressions", o->failure.suppressions);
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
	o->command.argv = (char **)h->argv;
	o->command.envp = (char **)h->envp;
	o->command.cwd = h->cwd;
	o->search.seed = h->seed;
	o->points.sync = get_int(j, "sync_points", 1);
	/* traces of before there were such points have none */
	o->points.atomic = get_int(j, "atomic_points", 0);
	o->points.syscalls = get_int(j, "syscall_points", 0);
	o->machine.cpus = get_int(j, "cpus", 0);
	o->machine.max_tasks = get_int(j, "max_tasks", 0);
	o->failure.expect_exit = get_int(j, "expect_exit", 0);
	o->search.fair = get_int(j, "fair", 1);
	o->failure.max_steps = get_int(j, "max_steps", o->failure.max_steps);
	o->failure.timeout_ns = get_int(j, "timeout_ns", o->failure.timeout_ns);
	o->failure.spin_ns = get_int(j, "spin_ns", o->failure.spin_ns);
	o->machine.randomise = get_int(j, "randomise", 0);
	o->inputs.real_time = !get_int(j, "virtual_time", 0);
	o->inputs.clock_real = get_int(j, "clock_real", 0);
	o->inputs.real_random = !get_int(j, "seeded_random", 0);
	o->inputs.explore_timeouts = get_int(j, "explore_timeouts", 0);
	o->inputs.faults = get_int(j, "faults", 0);
	o->inputs.max_faults = get_int(j, "max_faults", 0);
	o->inputs.max_flows = get_int(j, "max_flows", 0);
	if (json_object_object_get_ex(j, "stdin", &v))
		o->inputs.file = json_object_get_string(v);
	o->environment.own = get_int(j, "world", 0) & SANDBOX_ALL;
	if (json_object_object_get_ex(j, "match", &v))
		o->failure.match = json_object_get_string(v);
	if (json_object_object_get_ex(j, "setup", &v))
		o->environment.setup = json_object_get_string(v);
	if (json_object_object_get_ex(j, "teardown", &v))
		o->environment.teardown = json_object_get_string(v);
	if (json_object_object_get_ex(j, "hidden", &v))
		o->environment.hide = json_object_get_string(v);
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
	o->replay.data = c->data;
	o->failure.suppressions = c->suppressions;
	o->replay.races = c->races;
	o->failure.race = get_int(j, "fail_on_race", 0);
	o->points.races = false;
	o->points.code = c->code;
	o->replay.atomics = c->atomics;
	o->replay.silent = c->silent;
	o->replay.limited = c->limited;
	o->replay.split = c->split;
	o->replay.waits = c->waits;
	o->points.watches = c->watches;
	o->points.places = c->points;
	o->failure.invariants = c->invariants;
	o->failure.discards = c->discards;
	o->replay.probed = c->probed;
	o->replay.known = c->known;
	o->environment.shares = c->shares;
	if (!o->command.argv || !o->command.argv[0] || !o->command.cwd || !o->command.envp) {
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
