/* SPDX-License-Identifier: GPL-2.0-only */
/* daemon_status.c - what zugd's workers do, as zug status shows it */
#include "lib/base/clock.h"
#include "lib/base/run_user.h"
#include "zugd/daemon.h"
#include "zugd/daemon_workers.h"
#include "zugd/protocol.h"

/* So many words of a command line are told. */
#define STATUS_WORDS 64

static struct json_object *describe(const struct request *r)
{
	const char *name = r->command ? r->command->name : r->kind == REQUEST_EXEC ? "exec" : "join";
	struct json_object *j = json_object_new_object(), *args, *lanes;
	const struct worker *w = r->worker;

	json_object_object_add(j, "request", json_object_new_string(name));
	if (r->user != NOBODY)
		json_object_object_add(j, "user", json_object_new_int64(r->user));
	json_object_object_add(j, "seconds", json_object_new_double((clock_now_ns() - r->since_ns) / 1e9));
	if (w) {
		lanes = json_object_new_array();
		json_object_array_add(lanes, json_object_new_int(w->cpu));
		for (unsigned int i = 0; i < w->nr_lanes; i++)
			if (w->lanes[i].cpu != w->cpu)
				json_object_array_add(lanes, json_object_new_int(w->lanes[i].cpu));
		json_object_object_add(j, "lanes", lanes);
		json_object_object_add(j, "pid", json_object_new_int(w->pid));
	}
	if (!r->m)
		return j;
	if (json_object_object_get_ex(r->m, "args", &args)) {
		struct json_object *a = json_object_new_array();

		for (size_t i = 0; i < json_object_array_length(args) && i < STATUS_WORDS; i++)
			json_object_array_add(a, json_object_new_string(
				json_object_get_string(json_object_array_get_idx(args, i))));
		json_object_object_add(j, "args", a);
	}
	json_object_object_add(j, "cwd", json_object_new_string(protocol_text(r->m, "cwd")));
	return j;
}

/* True when a user may hear of it. */
static bool may_see(const struct run_user *as, uid_t user)
{
	return user == NOBODY || (as && as->uid == user);
}

static void describe_to(const struct request *r, uid_t user, struct json_object *list, int *others)
{
	if (may_see(r->as, user))
		json_object_array_add(list, describe(r));
	else
		++*others;
}

void workers_status(struct workers *ws, struct json_object *m, uid_t user)
{
	struct json_object *queue = json_object_new_array(), *running = json_object_new_array();
	struct json_object *campaigns = json_object_new_array(), *lanes = json_object_new_array(), *list;
	int others = 0;

	for (const struct worker *w = ws->list; w; w = w->next) {
		if (w->r)
			describe_to(w->r, user, running, &others);
		list = w->campaigns && may_see(w->as, user) ? json_tokener_parse(w->campaigns) : NULL;
		for (size_t i = 0; list && i < json_object_array_length(list); i++)
			json_object_array_add(campaigns, json_object_get(json_object_array_get_idx(list, i)));
		json_object_put(list);
	}
	for (const struct request *q = ws->queue; q; q = q->next)
		describe_to(q, user, queue, &others);
	for (int i = 0; i < ws->nr_cpus; i++)
		json_object_array_add(lanes, json_object_new_int(ws->cpus[i]));
	json_object_object_add(m, "lanes", lanes);
	json_object_object_add(m, "running", running);
	json_object_object_add(m, "queue", queue);
	json_object_object_add(m, "campaigns", campaigns);
	if (user != NOBODY)
		json_object_object_add(m, "others", json_object_new_int(others));
}
