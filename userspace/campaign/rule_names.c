/* SPDX-License-Identifier: GPL-2.0-only */
/* What the names in --rules and scripts mean (search/rules.h): functions, modules, objects, variables of the test. */
#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/uio.h>
#include "campaign/campaign_internal.h"
#include "campaign/rule_names.h"

bool rule_name_is(const char *pattern, const char *name)
{
	/* "accounts[3].lock" is its own name, and a pattern of others */
	return !strcmp(pattern, name) || !fnmatch(pattern, name, 0);
}

bool rule_place_is(struct symfile *f, const char *path, uint64_t offset, const char *pattern)
{
	struct trace_frame frames[8];
	int nr;

	if (rule_name_is(pattern, path) || rule_name_is(pattern, strrchr(path, '/') ? strrchr(path, '/') + 1 : path))
		return true;
	nr = symfile_frames(f, offset, frames, 8);
	for (int i = 0; i < nr; i++)
		if (frames[i].function && rule_name_is(pattern, frames[i].function))
			return true;
	return false;
}

static bool in_place(void *ctx, uint64_t site, const char *pattern)
{
	struct campaign *c = ctx;
	const struct place_site *ps = c->places ? places_find_site(c->places, site) : NULL;
	const struct probe_module *mod = ps ? probes_module(c->probes, ps->module) : NULL;

	return mod && rule_place_is(mod->file, mod->path, ps->offset, pattern);
}

static bool on_object(void *ctx, uint64_t object, const char *pattern)
{
	struct campaign *c = ctx;
	const struct place_object *o = c->places ? places_find_object(c->places, object) : NULL;

	return o && o->name && rule_name_is(pattern, o->name);
}

static bool variable_value(void *ctx, uint32_t task, const char *name, int64_t *value)
{
	struct campaign *c = ctx;
	const struct world_task *t;
	uint64_t vaddr, size, bias;
	char err[256];

	if (!c->world || task >= c->world->nr_tasks)
		return false;
	t = &c->world->tasks[task];
	for (uint32_t m = 0; m < probes_nr_modules(c->probes); m++) {
		struct symfile *f = probes_module(c->probes, m)->file;
		union {
			int8_t b;
			int16_t w;
			int32_t l;
			int64_t q;
		} v = { 0 };
		struct iovec to, from;

		if (symfile_variable(f, name, &vaddr, &size, err, sizeof(err)) ||
		    places_bias(c->places, t->process, m, &bias))
			continue;
		if (size != 1 && size != 2 && size != 4 && size != 8)
			return false;
		to = (struct iovec){ &v, size };
		from = (struct iovec){ (void *)(vaddr + bias), size };
		if (process_vm_readv(t->tgid, &to, 1, &from, 1, 0) != (ssize_t)size)
			return false;
		*value = size == 1 ? v.b : size == 2 ? v.w : size == 4 ? v.l : v.q;
		return true;
	}
	return false;
}

struct search_names campaign_rule_names(struct campaign *c)
{
	return (struct search_names){ .in = in_place, .on = on_object, .value = variable_value, .ctx = c };
}
