/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Places that a trace lists, in its replay: read-modify-writes that are two steps, points in loops
 * that wait, and accesses of plain data. In the search that was recorded other policies had found
 * them.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "campaign/policy.h"
#include "campaign/probe_places.h"

struct recorded {
	struct session *s;
};

static int open_recorded(void *state, struct session *s, struct race_book *races, char *err,
			 size_t errlen)
{
	struct recorded *r = state;

	r->s = s;
	return 0;
}

static int add_places(struct session *s, char *const *list, struct probe_code place, char *err,
		      size_t errlen)
{
	for (; list && *list; list++) {
		size_t n = probe_place_parse(*list, &place.offset);

		for (uint32_t m = 0; n && m < probes_nr_modules(s->probes); m++) {
			const char *path = probes_module(s->probes, m)->path;

			if (strlen(path) == n && !strncmp(path, *list, n) &&
			    probes_add_code(s->probes, m, &place, 1, err, errlen) < 0)
				return -EIO;
		}
	}
	return 0;
}

/* "PATH+0xOFFSET OPERATION LIMIT" */
static int parse_place(const char *text, char *path, size_t len, struct probe_code *pc)
{
	const char *plus = strrchr(text, '+');
	unsigned int limit, within = 0;
	unsigned long offset;
	char name[64];
	int nr;

	/* traces of earlier versions have no last number */
	if (!plus || (size_t)(plus - text) >= len ||
	    sscanf(plus, "+0x%lx %63s %u %u", &offset, name, &limit, &within) < 3)
		return -EINVAL;
	snprintf(path, len, "%.*s", (int)(plus - text), text);
	nr = zug_op_by_name(name);
	if (nr < 0)
		return nr;
	/* a read-modify-write is split whatever it is called, and nothing else is */
	*pc = (struct probe_code){
		.offset = offset, .op = nr, .split = true, .limit = limit, .within = within
	};
	return 0;
}

static int add_data(struct session *s, char *err, size_t errlen)
{
	struct probe_code *list;
	size_t nr = 0;
	int ret = 0;

	while (s->o.replay.data && s->o.replay.data[nr])
		nr++;
	if (!nr)
		return 0;
	list = malloc(nr * sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < nr && ret >= 0; i++) {
		char path[PATH_MAX];

		ret = parse_place(s->o.replay.data[i], path, sizeof(path), &list[0]);
		if (ret) {
			snprintf(err, errlen, "the trace is damaged: no such place: %s",
				 s->o.replay.data[i]);
			break;
		}
		ret = probes_add_file(s->probes, path, false, err, errlen);
	}
	for (unsigned int m = 0; m < probes_nr_modules(s->probes) && ret >= 0; m++) {
		int n = 0;

		for (size_t i = 0; i < nr; i++) {
			char path[PATH_MAX];

			if (!parse_place(s->o.replay.data[i], path, sizeof(path), &list[n]) &&
			    !strcmp(path, probes_module(s->probes, m)->path))
				n++;
		}
		ret = n ? probes_add_code(s->probes, m, list, n, err, errlen) : 0;
	}
	free(list);
	return ret < 0 ? -EIO : 0;
}

static int start(void *state, char *err, size_t errlen)
{
	const struct recorded *rec = state;
	struct session *s = rec->s;
	const struct options_replay *r = &s->o.replay;
	int ret = add_places(s, r->split, (struct probe_code){ .split = true }, err, errlen);

	ret = ret ? ret :
		    add_places(s, r->waits, (struct probe_code){ .waits = true }, err, errlen);
	return ret ? ret : add_data(s, err, errlen);
}

const struct point_policy policy_recorded = {
	.size = sizeof(struct recorded), .open = open_recorded, .start = start,
};
