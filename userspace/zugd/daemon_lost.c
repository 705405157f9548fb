/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Searches of zug exec that have ended with their process. Each of them begins anew when it is called again, and its caller
 * is told so. They are known by what zugd tells of campaigns, which their process has said last.
 */
#include <string.h>
#include "lib/base/run_user.h"
#include "zugd/daemon.h"
#include "zugd/protocol.h"

/* Those that are never called again are forgotten at some time. */
#define MOST_LOST 128

static const char *text_of(struct json_object *search, const char *name)
{
	struct json_object *o;

	return json_object_object_get_ex(search, name, &o) ? json_object_get_string(o) : "";
}

/* Root and zugd's own user have theirs together. */
static int64_t owner_of(const struct run_user *as)
{
	return as ? (int64_t)as->uid : -1;
}

/* The request is for that search. */
static bool is_for(struct json_object *search, const struct request *r)
{
	struct json_object *has, *wanted, *m = r->m, *owner;

	return json_object_object_get_ex(search, "owner", &owner) && json_object_get_int64(owner) == owner_of(r->as) &&
	       !strcmp(text_of(search, "started_by"), "exec") && !strcmp(text_of(search, "cwd"), protocol_text(m, "cwd")) &&
	       json_object_object_get_ex(search, "arguments", &has) && json_object_object_get_ex(m, "args", &wanted) &&
	       json_object_equal(has, wanted);
}

static void forget_oldest(struct json_object *lost)
{
	size_t nr = json_object_array_length(lost);

	if (nr > MOST_LOST)
		json_object_array_del_idx(lost, 0, nr - MOST_LOST);
}

size_t lost_add(struct json_object **lost, const char *campaigns, const struct run_user *as)
{
	struct json_object *list = campaigns ? json_tokener_parse(campaigns) : NULL;
	size_t nr = list ? json_object_array_length(list) : 0;

	if (!*lost)
		*lost = json_object_new_array();
	for (size_t i = 0; i < nr; i++) {
		struct json_object *search = json_object_get(json_object_array_get_idx(list, i));

		json_object_object_add(search, "owner", json_object_new_int64(owner_of(as)));
		json_object_array_add(*lost, search);
	}
	json_object_put(list);
	forget_oldest(*lost);
	return nr;
}

void lost_tell(struct json_object *lost, const struct request *r, char *text, size_t len)
{
	struct json_object *executions = NULL;

	for (size_t i = lost ? json_object_array_length(lost) : 0; i--;) {
		struct json_object *search = json_object_array_get_idx(lost, i);

		if (!is_for(search, r))
			continue;
		json_object_object_get_ex(search, "executions", &executions);
		snprintf(text, len, "this search begins anew: its process has ended (executions that are lost: %lld)",
			 (long long)json_object_get_int64(executions));
		json_object_array_del_idx(lost, i, 1);
	}
}
