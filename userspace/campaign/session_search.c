/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The search of a session: its options, its script, and what names in --rules and scripts mean for
 * the test.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/base/remote.h"
#include "campaign/rule_names.h"
#include "campaign/run_options.h"
#include "engine/script.h"
#include "campaign/session.h"
#include "search/script.h"
#include "engine/faults.h"

static bool in_place(void *ctx, uint64_t site, const char *pattern)
{
	struct session *s = ctx;
	const struct place_site *ps = s->places ? places_find_site(s->places, site) : NULL;
	const struct probe_module *mod = ps ? probes_module(s->probes, ps->module) : NULL;

	return mod && rule_place_is(mod->file, mod->path, ps->offset, pattern);
}

static bool on_object(void *ctx, uint64_t object, const char *pattern)
{
	struct session *s = ctx;
	const struct place_object *o = s->places ? places_find_object(s->places, object) : NULL;

	return o && o->name && rule_name_is(pattern, o->name);
}

static bool on_data(void *ctx, uint64_t site, const char *pattern)
{
	struct session *s = ctx;
	char name[128];

	if (!s->places)
		return false;
	return (session_member_text(s, site, name, sizeof(name)) || session_argument_text(s, site, name, sizeof(name))) &&
	       rule_name_is(pattern, name);
}

static bool variable_value(void *ctx, uint32_t task, const char *name, int64_t *value)
{
	struct session *s = ctx;
	const struct world_task *t;
	uint64_t vaddr, size, bias;
	char err[256];

	if (!s->world || task >= s->world->nr_tasks)
		return false;
	t = &s->world->tasks[task];
	for (uint32_t m = 0; m < probes_nr_modules(s->probes); m++) {
		struct symfile *f = probes_module(s->probes, m)->file;
		union {
			int8_t b;
			int16_t w;
			int32_t l;
			int64_t q;
		} v = { 0 };

		if (symfile_variable(f, name, &vaddr, &size, err, sizeof(err)) ||
		    places_bias(s->places, t->process, m, &bias))
			continue;
		if (size != 1 && size != 2 && size != 4 && size != 8)
			return false;
		if (!remote_read(t->tgid, vaddr + bias, &v, size))
			return false;
		*value = size == 1 ? v.b : size == 2 ? v.w : size == 4 ? v.l : v.q;
		return true;
	}
	return false;
}

struct search_names session_names(struct session *s)
{
	return (struct search_names){
		.in = in_place, .on = on_object, .data = on_data, .value = variable_value, .ctx = s
	};
}

/*
 * The statements 'let' need the faults and timers that the options allow. 0, or -EINVAL with a line
 * in err.
 */
static int check_script(const struct campaign_options *o, const struct search *s, char *err,
			size_t errlen)
{
	unsigned int nr = search_script_lines(s);
	struct search_script_line l;
	char option[64];

	for (unsigned int i = 0; i < nr; i++) {
		search_script_line(s, i, &l);
		if (!l.let || l.fault == ZUG_OP_CHOICE || (l.fault ? faults_of(o->inputs.faults, l.fault) >= 0 :
					 o->inputs.explore_timeouts))
			continue;
		if (l.fault)
			snprintf(
				err, errlen, "%s:%u: no call gets '%s' without 'option %s'",
				o->search.script->path, l.line, zug_op_name(l.fault),
				run_options_fault(faults_of(~0u, l.fault), option, sizeof(option)));
		else
			snprintf(err, errlen,
				 "%s:%u: no timer fires early without 'option timeouts explore'",
				 o->search.script->path, l.line);
		return -EINVAL;
	}
	return 0;
}

struct search *session_new_search(struct session *s, char *err, size_t errlen)
{
	const struct options_search *o = &s->o.search;
	struct search_names names = session_names(s);
	struct search_options so = { .strategy = o->strategy,
				     .seed = o->seed,
				     .fair = o->fair,
				     /* one that is resumed begins with the same */
				     .max_steps = s->steps.least,
				     .preemptions = o->preemptions,
				     .memory = o->memory,
				     .rules = o->rules,
				     .names = &names,
				     .script = o->script ? o->script->path : NULL };
	struct search *search = search_new(&so, err, errlen);

	if (search)
		search_bound(search, s->o.failure.max_steps);
	if (!search || !check_script(&s->o, search, err, errlen))
		return search;
	search_free(search);
	return NULL;
}

uint64_t session_longest(const struct session *s)
{
	return s->o.failure.time_follows ? TIME_LONGER * s->o.failure.timeout_ns : s->o.failure.timeout_ns;
}

bool session_bound_steps(struct session *s)
{
	uint64_t before = s->o.failure.max_steps;

	if (!s->o.failure.steps_follow)
		return false;
	s->o.failure.max_steps = step_bound(&s->steps);
	if (s->search)
		search_bound(s->search, s->o.failure.max_steps);
	return s->o.failure.max_steps != before;
}

int session_restart(struct session *s, char *err, size_t errlen)
{
	search_free(s->search);
	s->search = session_new_search(s, err, errlen);
	if (!s->search)
		return -ENOTRECOVERABLE;
	engine_use(s->engine, s->search, s->o.failure.timeout_ns, session_longest(s));
	return 0;
}
