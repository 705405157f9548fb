/* SPDX-License-Identifier: GPL-2.0-only */
/* The log of a shard, read: each line is checked before it counts. */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "lib/base/array.h"
#include "report/json_text.h"
#include "report/shard.h"

#define MAGIC "zugzwang shard"
#define FIRST_LINE 65536	/* bytes; it is shorter */
#define VERSION 1

static struct json_object *get(struct json_object *o, const char *name, enum json_type type)
{
	struct json_object *v = NULL;

	return o && json_object_object_get_ex(o, name, &v) && json_object_is_type(v, type) ? v : NULL;
}

static bool number(struct json_object *o, const char *name, int64_t min, int64_t *v)
{
	struct json_object *n = get(o, name, json_type_int);

	*v = n ? json_object_get_int64(n) : 0;
	return n && *v >= min;
}

static bool hex(struct json_object *v, uint64_t *to)
{
	const char *text = v && json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";
	char *end;

	*to = strtoull(text, &end, 16);
	return *text && !*end;
}

static bool count_at(struct json_object *a, size_t i, int64_t min, int64_t *to)
{
	struct json_object *v = json_object_array_get_idx(a, i);

	*to = v ? json_object_get_int64(v) : 0;
	return v && json_object_is_type(v, json_type_int) && *to >= min;
}

static bool add_execution(struct shard *s, struct json_object *a)
{
	int64_t part, bound, n, steps, preemptions, ns;
	struct shard_execution x;
	const char *result;

	if (json_object_array_length(a) != 10 || !count_at(a, 0, SHARD_PROLOGUE, &part) || !count_at(a, 1, 0, &bound) ||
	    !count_at(a, 2, 0, &n) || !count_at(a, 7, 0, &steps) || !count_at(a, 8, 0, &preemptions) ||
	    !count_at(a, 9, 0, &ns) || bound > UINT32_MAX)
		return false;
	x = (struct shard_execution){ .part = part, .bound = (uint32_t)bound, .n = n, .steps = steps,
				      .preemptions = preemptions, .ns = ns };
	result = json_object_get_string(json_object_array_get_idx(a, 3));
	if (!result || !strchr("pfda", result[0]) || !result[0] || result[1] ||
	    !hex(json_object_array_get_idx(a, 4), &x.class) || !hex(json_object_array_get_idx(a, 5), &x.schedule) ||
	    !hex(json_object_array_get_idx(a, 6), &x.failure))
		return false;
	x.result = result[0];
	if (!ARRAY_RESERVE(s->executions, s->room_executions, s->nr_executions + 1))
		return false;
	s->executions[s->nr_executions++] = x;
	return true;
}

static char *copy_text(struct json_object *o, const char *name)
{
	struct json_object *v = get(o, name, json_type_string);

	return v ? strdup(json_object_get_string(v)) : NULL;
}

static bool add_finding(struct shard *s, struct json_object *o, bool once)
{
	int64_t part, bound, n, nr;
	struct shard_finding *f;
	uint64_t failure;

	if (!hex(get(o, once ? "once" : "finding", json_type_string), &failure) ||
	    !number(o, "part", SHARD_PROLOGUE, &part) || !number(o, "bound", 0, &bound) || !number(o, "n", 0, &n) ||
	    !number(o, "number", 0, &nr) || !get(o, "kind", json_type_string) || !get(o, "message", json_type_string) ||
	    bound > UINT32_MAX)
		return false;
	/* the execution was made again, after the shard was killed in it */
	for (uint64_t i = 0; i < s->nr_findings; i++)
		if (s->findings[i].failure == failure && s->findings[i].once == once)
			return true;
	if (!ARRAY_RESERVE(s->findings, s->room_findings, s->nr_findings + 1))
		return false;
	f = &s->findings[s->nr_findings++];
	*f = (struct shard_finding){ .part = part, .bound = (uint32_t)bound, .n = n, .number = nr, .failure = failure,
				     .once = once, .kind = copy_text(o, "kind"), .message = copy_text(o, "message"),
				     .trace = copy_text(o, "trace") };
	return f->kind && f->message;
}

static bool add_part(struct shard *s, struct json_object *o)
{
	struct json_object *cut = get(o, "cut", json_type_boolean), *bad = get(o, "incomplete", json_type_boolean);
	int64_t part, bound;

	if (!number(o, "done", 0, &part) || !number(o, "bound", 0, &bound) || bound > UINT32_MAX || !cut || !bad ||
	    !ARRAY_RESERVE(s->parts, s->room_parts, s->nr_parts + 1))
		return false;
	s->parts[s->nr_parts++] = (struct shard_part){ .part = part, .bound = (uint32_t)bound,
						       .cut = json_object_get_boolean(cut),
						       .incomplete = json_object_get_boolean(bad) };
	return true;
}

static bool add_end(struct shard *s, struct json_object *o)
{
	struct json_object *complete = get(o, "complete", json_type_boolean);

	free(s->end);
	s->end = copy_text(o, "end");
	s->complete = complete && json_object_get_boolean(complete);
	return s->end && complete;
}

/* False: the line is none of a log. */
static bool add_line(struct shard *s, struct json_object *o)
{
	struct json_object *v;

	if (!json_object_is_type(o, json_type_object))
		return false;
	/* what comes after an end is of another run, which goes on */
	if (s->end && !get(o, "end", json_type_string)) {
		free(s->end);
		s->end = NULL;
		s->complete = false;
	}
	v = get(o, "x", json_type_array);
	if (v)
		return add_execution(s, v);
	if (get(o, "finding", json_type_string))
		return add_finding(s, o, false);
	if (get(o, "once", json_type_string))
		return add_finding(s, o, true);
	if (get(o, "done", json_type_int))
		return add_part(s, o);
	v = get(o, "frozen", json_type_object);
	if (v && !s->frozen) {
		s->frozen = json_object_get(v);
		return true;
	}
	return get(o, "end", json_type_string) && add_end(s, o);
}

/* The first line. False with the reason. */
static bool take_head(struct shard *s, struct json_object *o, char *why, size_t len)
{
	struct json_object *magic = get(o, "shard", json_type_string);
	int64_t version, k, n;

	snprintf(why, len, "not the log of a shard");
	if (!magic || strcmp(json_object_get_string(magic), MAGIC) || !number(o, "version", 1, &version))
		return false;
	snprintf(why, len, "written by a newer zug (format %" PRId64 ", this one reads %d)", version, VERSION);
	if (version > VERSION)
		return false;
	snprintf(why, len, "its first line is damaged");
	if (!number(o, "k", 1, &k) || !number(o, "n", k, &n) || n > SHARDS_MAX)
		return false;
	s->k = (uint32_t)k;
	s->n = (uint32_t)n;
	s->head = json_object_get(o);
	return true;
}

static bool read_lines(struct shard *s, FILE *f, char *why, size_t len)
{
	char *line = NULL;
	size_t room = 0;
	long nr = 0;
	ssize_t n;
	bool good = true;

	snprintf(why, len, "empty");
	while (good && (n = getline(&line, &room, f)) > 0) {
		struct json_object *o;

		if (line[n - 1] != '\n') {
			s->torn = true;
			break;
		}
		o = json_tokener_parse(line);
		if (!nr++) {
			good = take_head(s, o, why, len);
			s->after_head = n;
		} else {
			snprintf(why, len, "damaged in line %ld", nr);
			good = add_line(s, o);
		}
		json_object_put(o);
		s->whole += n;
	}
	free(line);
	return good && s->head;
}

struct shard *shard_read(const char *dir, char *err, size_t errlen)
{
	struct shard *s = calloc(1, sizeof(*s));
	char path[PATH_MAX], why[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/log", dir);
	f = fopen(path, "re");
	if (!f || !s) {
		snprintf(err, errlen, "%s: %s", path, f ? "out of memory" : strerror(errno));
		goto fail;
	}
	s->dir = strdup(dir);
	if (s->dir && read_lines(s, f, why, sizeof(why))) {
		fclose(f);
		return s;
	}
	snprintf(err, errlen, "%s: %s", path, s->dir ? why : "out of memory");
fail:
	if (f)
		fclose(f);
	shard_free(s);
	return NULL;
}

void shard_free(struct shard *s)
{
	if (!s)
		return;
	for (uint64_t i = 0; i < s->nr_findings; i++) {
		free(s->findings[i].kind);
		free(s->findings[i].message);
		free(s->findings[i].trace);
	}
	free(s->findings);
	free(s->executions);
	free(s->parts);
	free(s->end);
	free(s->dir);
	json_object_put(s->head);
	json_object_put(s->frozen);
	free(s);
}

bool shard_is_one(const char *dir)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/log", dir);
	return !stat(path, &st) && S_ISREG(st.st_mode);
}

bool shard_is_empty(const char *dir)
{
	static char text[FIRST_LINE];
	char path[PATH_MAX];
	bool empty = false;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/log", dir);
	f = fopen(path, "re");
	if (f) {
		n = fread(text, 1, sizeof(text), f);
		empty = n < sizeof(text) && !ferror(f) && !memchr(text, '\n', n);
		fclose(f);
	}
	return empty;
}

/* Says where and when, not what. */
static bool is_incidental(const char *name)
{
	static const char *const names[] = { "k", "cwd", "started", "variable" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* A member of the head, for people. */
static const char *told(const char *name)
{
	static const char *const names[][2] = {
		{ "n", "the number of shards" }, { "argv", "the command" }, { "program", "the program's file (size and checksum)" },
		{ "kernel", "the kernel" }, { "zug_version", "the version of zug" }, { "strategy", "the strategy" },
		{ "seed", "the seed" }, { "executions", "the number of executions" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i][0]))
			return names[i][1];
	return name;
}

static const char *shown(struct json_object *v)
{
	return v ? json_line(v) : "nothing";
}

bool shard_differs(struct json_object *a, struct json_object *b, char *text, size_t len)
{
	struct json_object *other;
	char within[200];

	json_object_object_foreach(a, name, value) {
		other = NULL;
		json_object_object_get_ex(b, name, &other);
		if (is_incidental(name) || json_object_equal(value, other))
			continue;
		if (json_object_is_type(value, json_type_object) && json_object_is_type(other, json_type_object) &&
		    shard_differs(value, other, within, sizeof(within)))
			snprintf(text, len, "%s, %s", name, within);
		else
			snprintf(text, len, "%s is %.80s there, and %.80s here", told(name), shown(value), shown(other));
		return true;
	}
	json_object_object_foreach(b, added, its) {
		if (is_incidental(added) || json_object_object_get_ex(a, added, NULL))
			continue;
		snprintf(text, len, "%s is nothing there, and %.80s here", told(added), shown(its));
		return true;
	}
	return false;
}

bool shard_part_done(const struct shard *s, uint64_t part, uint32_t bound, struct shard_part *p)
{
	for (uint64_t i = 0; s && i < s->nr_parts; i++)
		if (s->parts[i].part == part && s->parts[i].bound == bound) {
			*p = s->parts[i];
			return true;
		}
	return false;
}
