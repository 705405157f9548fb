/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Results of searches as JUnit XML and JSON: results_add() copies those of one search, the rest
 * writes them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "lib/base/new_file.h"
#include "lib/version.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "report/json_text.h"
#include "cli/results.h"

struct failure {
	unsigned int kind;
	uint64_t times;
	bool once;	/* it did not come again when it was replayed: no finding */
	char *message, *trace;
};

static const char *const race_kinds[] = {
	[RACE_REAL] = "race",
	[RACE_SAME_VALUE] = "same-value",
	[RACE_COUNTER] = "counter",
	[RACE_POSSIBLE] = "possible",
};

struct race {
	const char *kind;
	char *object, *message, *trace;
};

struct result {
	char *name, *said;
	int exit;
	uint64_t wall_ns, executions, steps;
	uint64_t aside[ASIDE_NR];
	struct spent spent;
	bool exhausted;
	uint32_t bound_done;
	struct failure *failures;	/* those that came once after the findings */
	unsigned int nr_failures, nr_findings;
	struct race *races;
	unsigned int nr_races;
	struct point_table points;	/* --list-points */
};

struct results {
	char *suite;
	struct result *list;
	size_t nr;
};

struct results *results_new(const char *suite)
{
	struct results *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->suite = strdup(suite);
	if (!r->suite) {
		free(r);
		return NULL;
	}
	return r;
}

static void release(struct result *c)
{
	for (unsigned int i = 0; i < c->nr_failures; i++) {
		free(c->failures[i].message);
		free(c->failures[i].trace);
	}
	free(c->failures);
	for (unsigned int i = 0; i < c->nr_races; i++) {
		free(c->races[i].object);
		free(c->races[i].message);
		free(c->races[i].trace);
	}
	free(c->races);
	point_table_release(&c->points);
	free(c->name);
	free(c->said);
}

void results_free(struct results *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nr; i++)
		release(&r->list[i]);
	free(r->list);
	free(r->suite);
	free(r);
}

int results_add(struct results *r, const char *name, int exit, uint64_t wall_ns,
		const struct campaign_result *f, struct point_table *points, const char *said)
{
	struct result *list = realloc(r->list, (r->nr + 1) * sizeof(*list)), *c;

	if (!list)
		return -ENOMEM;
	r->list = list;
	c = &list[r->nr];
	*c = (struct result){ .name = strdup(name),
			      .said = strdup(said ? said : ""),
			      .exit = exit,
			      .wall_ns = wall_ns,
			      .executions = f->executions,
			      .steps = f->steps,
			      .spent = f->spent,
			      .exhausted = f->exhausted,
			      .bound_done = f->preemptions_done };
	c->nr_findings = f->nr_failures;
	/* no campaign, no counts */
	if (f->aside)
		memcpy(c->aside, f->aside, sizeof(c->aside));
	c->failures = calloc(f->nr_failures + f->nr_once + 1, sizeof(*c->failures));
	c->races = calloc(f->nr_races + 1, sizeof(*c->races));
	if (!c->name || !c->said || !c->failures || !c->races) {
		release(c);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < f->nr_failures + f->nr_once; i++) {
		bool once = i >= f->nr_failures;
		const struct campaign_failure *from = once ? &f->once[i - f->nr_failures] :
							     &f->failures[i];

		c->failures[i] =
			(struct failure){ .kind = from->kind,
					  .times = from->times,
					  .once = once,
					  .message = strdup(from->message ? from->message : ""),
					  .trace = from->trace ? strdup(from->trace) : NULL };
		c->nr_failures++;
		if (!c->failures[i].message) {
			release(c);
			return -ENOMEM;
		}
	}
	for (unsigned int i = 0; i < f->nr_races; i++) {
		const struct campaign_race *from = &f->races[i];
		struct race *to = &c->races[c->nr_races++];

		*to = (struct race){ .kind = race_kinds[from->kind],
				     .object = strdup(from->object),
				     .message = strdup(from->message),
				     .trace = strdup(from->trace) };
		if (!to->object || !to->message || !to->trace) {
			release(c);
			return -ENOMEM;
		}
	}
	/* the rows are its own now */
	if (points) {
		c->points = *points;
		*points = (struct point_table){ 0 };
	}
	r->nr++;
	return 0;
}

int results_exit(const struct results *r)
{
	/* what says most comes first */
	static const int order[] = { ZUG_EXIT_INTERNAL, ZUG_EXIT_ENVIRONMENT, ZUG_EXIT_USAGE,
				     ZUG_EXIT_FINDING,	ZUG_EXIT_SCRIPT,      ZUG_EXIT_INCOMPLETE };

	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++)
		for (size_t i = 0; i < r->nr; i++)
			if (r->list[i].exit == order[k])
				return order[k];
	return ZUG_EXIT_PASS;
}

void results_count(const struct results *r, unsigned int *cases, unsigned int *failed,
		   unsigned int *incomplete)
{
	*cases = r->nr;
	*failed = *incomplete = 0;
	for (size_t i = 0; i < r->nr; i++) {
		*failed += r->list[i].exit == ZUG_EXIT_FINDING;
		*incomplete += r->list[i].exit != ZUG_EXIT_FINDING &&
			       r->list[i].exit != ZUG_EXIT_PASS;
	}
}

static const char *verdict(int exit)
{
	static const char *const words[] = { "passed",	 "failed",     "usage", "environment",
					     "internal", "incomplete", "script" };

	return exit >= 0 && exit <= ZUG_EXIT_SCRIPT ? words[exit] : "internal";
}

/* ---- XML ---- */

/* Length of the UTF-8 character at p, 0 when it is none, or one that XML may not contain. */
static size_t character(const unsigned char *p)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = *p < 0x80	       ? 1 :
		   (*p & 0xe0) == 0xc0 ? 2 :
		   (*p & 0xf0) == 0xe0 ? 3 :
		   (*p & 0xf8) == 0xf0 ? 4 :
					 0;
	uint32_t c = n == 1 ? *p : n == 2 ? *p & 0x1f : n == 3 ? *p & 0x0f : *p & 0x07;

	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (!n || c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) || c == 0xfffe ||
	    c == 0xffff || (c < 0x20 && c != '\t' && c != '\n' && c != '\r'))
		return 0;
	return n;
}

/* As text or in an attribute; what XML cannot contain becomes a question mark. */
static void put(FILE *f, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n;

	for (; *p; p += n ? n : 1) {
		n = character(p);
		if (!n)
			fputc('?', f);
		else if (strchr("<>&\"\n\t\r", *p))
			fprintf(f, "&#%u;", *p);
		else
			fwrite(p, 1, n, f);
	}
}

/* The same with line breaks left as they are; without the last one. */
static void put_text(FILE *f, const char *text)
{
	char *copy = strdup(text), *line = copy, *end;

	while (line && *line) {
		end = strchrnul(line, '\n');
		if (line != copy)
			fputc('\n', f);
		if (*end)
			*end++ = 0;
		put(f, line);
		line = end;
	}
	free(copy);
}

static void put_case(FILE *f, const struct results *r, const struct result *c)
{
	fputs("  <testcase classname=\"", f);
	put(f, r->suite);
	fputs("\" name=\"", f);
	put(f, c->name);
	fprintf(f, "\" time=\"%.3f\">\n", c->wall_ns / 1e9);
	if (c->exit == ZUG_EXIT_FINDING) {
		fputs("    <failure type=\"", f);
		put(f, c->nr_findings ? zug_outcome_name(c->failures[0].kind) : "finding");
		fputs("\" message=\"", f);
		for (unsigned int i = 0; i < c->nr_findings; i++) {
			fputs(i ? "; " : "", f);
			put(f, zug_outcome_name(c->failures[i].kind));
			fputs(": ", f);
			put(f, c->failures[i].message);
		}
		fputs("\">", f);
		put_text(f, c->said);
		fputs("</failure>\n", f);
	} else if (c->exit != ZUG_EXIT_PASS) {
		fprintf(f, "    <error type=\"%s\" message=\"%s\">", verdict(c->exit),
			c->exit == ZUG_EXIT_INCOMPLETE ?
				c->nr_failures > c->nr_findings ?
				"a failure was seen once, and did not repeat" :
				"the search was cut, or executions did not follow their schedule" :
				"the test could not be searched");
		put_text(f, c->said);
		fputs("</error>\n", f);
	} else {
		fputs("    <system-out>", f);
		put_text(f, c->said);
		fputs("</system-out>\n", f);
	}
	fputs("  </testcase>\n", f);
}

static int finish(FILE *f, const char *path, char *err, size_t errlen)
{
	int ret = ferror(f) ? -EIO : 0;

	if (fclose(f) && !ret)
		ret = -errno;
	if (ret)
		snprintf(err, errlen, "cannot write %s: %s", path, strerror(-ret));
	return ret;
}

int results_write_junit(const struct results *r, const char *path, char *err, size_t errlen)
{
	FILE *f = new_file_stream(path);
	unsigned int cases, failed, incomplete;
	uint64_t ns = 0;

	if (!f) {
		snprintf(err, errlen, "cannot write %s: %s", path, new_file_error(errno));
		return -errno;
	}
	results_count(r, &cases, &failed, &incomplete);
	for (size_t i = 0; i < r->nr; i++)
		ns += r->list[i].wall_ns;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"", f);
	put(f, r->suite);
	fprintf(f, "\" tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"0\" time=\"%.3f\">\n",
		cases, failed, incomplete, ns / 1e9);
	for (size_t i = 0; i < r->nr; i++)
		put_case(f, r, &r->list[i]);
	fputs("</testsuite>\n</testsuites>\n", f);
	return finish(f, path, err, errlen);
}

/* ---- JSON ---- */

/* The findings, or the failures that did not come again. */
static struct json_object *json_failures(const struct result *c, bool once)
{
	struct json_object *a = json_object_new_array();

	for (unsigned int i = once ? c->nr_findings : 0;
	     i < (once ? c->nr_failures : c->nr_findings); i++) {
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "outcome",
				       json_text(zug_outcome_name(c->failures[i].kind)));
		json_object_object_add(o, "message", json_text(c->failures[i].message));
		json_object_object_add(o, "times", json_object_new_uint64(c->failures[i].times));
		json_object_object_add(
			o, "trace", c->failures[i].trace ? json_text(c->failures[i].trace) : NULL);
		json_object_array_add(a, o);
	}
	return a;
}

static struct json_object *json_races(const struct result *c)
{
	struct json_object *a = json_object_new_array();

	for (unsigned int i = 0; i < c->nr_races; i++) {
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "kind", json_object_new_string(c->races[i].kind));
		json_object_object_add(o, "object", json_text(c->races[i].object));
		json_object_object_add(o, "message", json_text(c->races[i].message));
		json_object_object_add(o, "trace", json_text(c->races[i].trace));
		json_object_array_add(a, o);
	}
	return a;
}

static struct json_object *json_points(const struct result *c)
{
	struct json_object *a = json_object_new_array();

	for (uint32_t i = 0; i < c->points.nr; i++) {
		const struct point_row *row = &c->points.rows[i];
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "object", row->object[0] ? json_text(row->object) : NULL);
		json_object_object_add(o, "place", row->place[0] ? json_text(row->place) : NULL);
		json_object_object_add(o, "operation", row->op ? json_text(row->op) : NULL);
		json_object_object_add(o, "times", json_object_new_uint64(row->times));
		json_object_object_add(o, "since", row->since ? json_object_new_uint64(row->since) : NULL);
		json_object_object_add(o, "why_none", row->why ? json_text(row->why) : NULL);
		json_object_array_add(a, o);
	}
	return a;
}

/* Executions beside those of the search, by what they were for. */
static struct json_object *json_aside(const struct result *c)
{
	struct json_object *o = json_object_new_object();

	for (int i = ASIDE_NOT + 1; i < ASIDE_NR; i++)
		json_object_object_add(o, campaign_aside_name(i), json_object_new_uint64(c->aside[i]));
	return o;
}

/* Milliseconds of all executions, by part. */
static struct json_object *json_spent(const struct spent *s)
{
	struct json_object *o = json_object_new_object(), *parts = json_object_new_object();
	struct json_object *causes = json_object_new_object();

	json_object_object_add(o, "points", json_object_new_uint64(s->points));
	json_object_object_add(o, "questions", json_object_new_uint64(s->asked));
	json_object_object_add(o, "ms", json_object_new_double(s->all_ns / 1e6));
	for (int i = 0; i < SPENT_NR; i++)
		json_object_object_add(parts, spent_name(i), json_object_new_double(s->ns[i] / 1e6));
	json_object_object_add(parts, "rest", json_object_new_double(spent_rest_ns(s) / 1e6));
	json_object_object_add(o, "parts_ms", parts);
	for (int i = 0; i < ASK_NR; i++)
		if (s->causes[i])
			json_object_object_add(causes, ask_cause_name(i), json_object_new_uint64(s->causes[i]));
	json_object_object_add(o, "decisions_by_cause", causes);
	return o;
}

int results_write_json(const struct results *r, const char *path, char *err, size_t errlen)
{
	struct json_object *j, *a, *o;
	FILE *f = new_file_stream(path);

	if (!f) {
		snprintf(err, errlen, "cannot write %s: %s", path, new_file_error(errno));
		return -errno;
	}
	j = json_object_new_object();
	a = json_object_new_array();
	json_object_object_add(j, "version", json_object_new_int(1));
	json_object_object_add(j, "zug_version", json_object_new_string(ZUG_VERSION));
	json_object_object_add(j, "suite", json_text(r->suite));
	json_object_object_add(j, "exit", json_object_new_int(results_exit(r)));
	for (size_t i = 0; i < r->nr; i++) {
		const struct result *c = &r->list[i];

		o = json_object_new_object();
		json_object_object_add(o, "name", json_text(c->name));
		json_object_object_add(o, "verdict", json_object_new_string(verdict(c->exit)));
		json_object_object_add(o, "seconds", json_object_new_double(c->wall_ns / 1e9));
		json_object_object_add(o, "executions", json_object_new_uint64(c->executions));
		json_object_object_add(o, "beside", json_aside(c));
		json_object_object_add(o, "steps", json_object_new_uint64(c->steps));
		json_object_object_add(o, "profile", json_spent(&c->spent));
		json_object_object_add(o, "exhausted", json_object_new_boolean(c->exhausted));
		json_object_object_add(
			o, "preemptions_covered",
			c->bound_done == UINT32_MAX ? NULL : json_object_new_uint64(c->bound_done));
		json_object_object_add(o, "failures", json_failures(c, false));
		json_object_object_add(o, "seen_once", json_failures(c, true));
		json_object_object_add(o, "data_races", json_races(c));
		if (c->points.nr)
			json_object_object_add(o, "points", json_points(c));
		json_object_object_add(o, "report", json_text(c->said));
		json_object_array_add(a, o);
	}
	json_object_object_add(j, "cases", a);
	fprintf(f, "%s\n",
		json_object_to_json_string_ext(j, JSON_C_TO_STRING_PRETTY |
							  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(j);
	return finish(f, path, err, errlen);
}
