// SPDX-License-Identifier: GPL-2.0-only
/*
 * record_read.c - the record of a campaign: reading and checking it, and printing it as text, JSON
 * and a page
 *
 * record_read() checks every member that the page and the tables rely on (struct field); a record
 * may have more. A file may have several campaigns, one after the other; the text is about the last
 * of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "lib/base/shell_word.h"
#include "report/page.h"
#include "report/record.h"
#include "report/record_internal.h"
#include "report/report_internal.h"

#define RECORD_MAX (256u << 20)		/* bytes; a campaign of years takes a thousandth of it */

struct campaign_record {
	char *path;
	struct json_object *campaigns;	/* [{ head: {}, samples: [], findings: [], once: [], end: {} or null }] */
};

bool record_is_one(const char *path)
{
	static const char magic[] = "{\"record\":\"" RECORD_MAGIC "\"";
	char begin[sizeof(magic)] = "";
	struct stat st;
	FILE *f;
	size_t n;

	/* to look into a pipe is to take from it, and to wait */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(begin, 1, sizeof(magic) - 1, f);
	fclose(f);
	return n == sizeof(magic) - 1 && !memcmp(begin, magic, n);
}

static struct json_object *get(struct json_object *o, const char *name)
{
	struct json_object *v = NULL;

	return o && json_object_object_get_ex(o, name, &v) ? v : NULL;
}

static uint64_t number(struct json_object *o, const char *name)
{
	return json_object_get_uint64(get(o, name));
}

static const char *text(struct json_object *o, const char *name)
{
	struct json_object *v = get(o, name);

	return v && json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";
}

/* ---- reading ---- */

struct field {
	const char *name;
	enum json_type type;
	bool optional;		/* may be null */
};

static const struct field head_fields[] = {
	{ "argv", json_type_array, false }, { "strategy", json_type_string, false },
	{ "cwd", json_type_string, false }, { "seed", json_type_int, false },
	{ "kernel", json_type_string, false }, { "zug_version", json_type_string, false },
	{ "executions", json_type_int, false }, { "time_ms", json_type_int, false },
	{ "start", json_type_int, false }, { 0 },
};
static const struct field sample_fields[] = {
	{ "n", json_type_int, false }, { "at", json_type_int, false }, { "steps", json_type_int, false },
	{ "schedules", json_type_int, false }, { "distinct", json_type_int, false },
	{ "bound", json_type_int, true }, { "bound_done", json_type_int, true },
	{ "chance", json_type_double, true }, { "by", json_type_object, false },
	{ "preemptions", json_type_array, false }, { 0 },
};
static const struct field finding_fields[] = {
	{ "finding", json_type_int, false }, { "at", json_type_int, false },
	{ "kind", json_type_string, false }, { "failure", json_type_string, false },
	{ "message", json_type_string, false }, { "strategy", json_type_string, false },
	{ "steps", json_type_int, false }, { "preemptions", json_type_int, false },
	{ "trace", json_type_string, true }, { 0 },
};
static const struct field once_fields[] = {
	{ "seen_once", json_type_int, false }, { "at", json_type_int, false },
	{ "kind", json_type_string, false }, { "message", json_type_string, false },
	{ "trace", json_type_string, true }, { 0 },
};
static const struct field end_fields[] = {
	{ "end", json_type_string, false }, { "n", json_type_int, false }, { "at", json_type_int, false },
	{ "findings", json_type_int, false }, { "bound_done", json_type_int, true }, { 0 },
};

struct reason {
	char text[80];
};

static bool bad_member(struct reason *why, const char *name)
{
	snprintf(why->text, sizeof(why->text), "its member '%s' is missing or wrong", name);
	return false;
}

static bool has_fields(struct json_object *o, const struct field *f, struct reason *why)
{
	for (; f->name; f++) {
		struct json_object *v;

		if (!json_object_object_get_ex(o, f->name, &v) || (!v && !f->optional))
			return bad_member(why, f->name);
		if (v && !json_object_is_type(v, f->type) &&
		    !(f->type == json_type_double && json_object_is_type(v, json_type_int)))
			return bad_member(why, f->name);
	}
	return true;
}

static bool numbers_only(struct json_object *array)
{
	for (size_t i = 0; i < json_object_array_length(array); i++)
		if (!json_object_is_type(json_object_array_get_idx(array, i), json_type_int))
			return false;
	return true;
}

static bool sample_is_sound(struct json_object *o, struct reason *why)
{
	if (!numbers_only(get(o, "preemptions")))
		return bad_member(why, "preemptions");
	json_object_object_foreach(get(o, "by"), name, counts) {
		(void)name;
		if (!json_object_is_type(counts, json_type_array) || json_object_array_length(counts) < 3 ||
		    !numbers_only(counts))
			return bad_member(why, "by");
	}
	return true;
}

static struct json_object *new_campaign(struct json_object *head)
{
	struct json_object *c = json_object_new_object();

	json_object_object_add(c, "head", head);
	json_object_object_add(c, "samples", json_object_new_array());
	json_object_object_add(c, "findings", json_object_new_array());
	json_object_object_add(c, "once", json_object_new_array());
	json_object_object_add(c, "end", NULL);
	return c;
}

/* Adds one line to the campaigns. False with the reason. */
static bool add_line(struct campaign_record *c, struct json_object *o, struct reason *why)
{
	size_t nr = json_object_array_length(c->campaigns);
	struct json_object *now = nr ? json_object_array_get_idx(c->campaigns, nr - 1) : NULL;

	*why = (struct reason){ "not a JSON object" };
	if (!o || !json_object_is_type(o, json_type_object))
		return false;
	if (get(o, "record")) {
		if (!has_fields(o, head_fields, why))
			return false;
		json_object_array_add(c->campaigns, new_campaign(json_object_get(o)));
	} else if (!now) {
		*why = (struct reason){ "it comes before the first line of a campaign" };
		return false;
	} else if (get(o, "finding")) {
		if (!has_fields(o, finding_fields, why))
			return false;
		json_object_array_add(get(now, "findings"), json_object_get(o));
	} else if (get(o, "seen_once")) {
		if (!has_fields(o, once_fields, why))
			return false;
		json_object_array_add(get(now, "once"), json_object_get(o));
	} else if (get(o, "end")) {
		if (!has_fields(o, end_fields, why))
			return false;
		json_object_object_add(now, "end", json_object_get(o));
	} else if (get(o, "n")) {
		if (!has_fields(o, sample_fields, why) || !sample_is_sound(o, why))
			return false;
		json_object_array_add(get(now, "samples"), json_object_get(o));
	}
	return true;
}

static bool is_newer(struct json_object *o, const char *path, char *err, size_t errlen)
{
	if (!o || !json_object_is_type(o, json_type_object) || !get(o, "record") ||
	    number(o, "version") <= RECORD_VERSION)
		return false;
	snprintf(err, errlen, "%s: is a version %llu record, made by a newer zugzwang; "
		 "this one reads version %u", path, (unsigned long long)number(o, "version"), RECORD_VERSION);
	return true;
}

struct campaign_record *record_read(const char *path, char *err, size_t errlen)
{
	struct campaign_record *c = calloc(1, sizeof(*c));
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	unsigned long long nr = 0;
	char *line = NULL;
	struct stat st;
	size_t size = 0;
	ssize_t len;
	bool ok = f && c;

	if (!ok) {
		snprintf(err, errlen, "%s: %s", path, strerror(errno));
		goto out;
	}
	if (fstat(fileno(f), &st) || !S_ISREG(st.st_mode)) {
		snprintf(err, errlen, "%s: is not a regular file", path);
		ok = false;
		goto out;
	}
	if (st.st_size > (off_t)RECORD_MAX) {
		snprintf(err, errlen, "%s: too large: the record of a campaign has at most %u MiB", path,
			 RECORD_MAX >> 20);
		ok = false;
		goto out;
	}
	c->path = strdup(path);
	c->campaigns = json_object_new_array();
	while (ok && (len = getline(&line, &size, f)) > 0) {
		struct json_object *o;
		struct reason why;

		nr++;
		/* the campaign was killed while it wrote the line, or is writing it now */
		if (line[len - 1] != '\n')
			break;
		o = json_tokener_parse(line);
		if (is_newer(o, path, err, errlen)) {
			ok = false;
		} else if (!o && json_object_array_length(c->campaigns)) {
			/* the rest of a killed campaign's last line, before the next campaign */
		} else if (!add_line(c, o, &why)) {
			snprintf(err, errlen, "%s: damaged in line %llu: %s", path, nr, why.text);
			ok = false;
		}
		json_object_put(o);
	}
	if (ok && !json_object_array_length(c->campaigns)) {
		snprintf(err, errlen, "%s: it has no campaign", path);
		ok = false;
	}
out:
	free(line);
	if (f)
		fclose(f);
	if (ok)
		return c;
	record_free(c);
	return NULL;
}

void record_free(struct campaign_record *c)
{
	if (!c)
		return;
	free(c->path);
	json_object_put(c->campaigns);
	free(c);
}

/* ---- printing ---- */

static struct json_object *last_of(struct json_object *array)
{
	size_t nr = json_object_array_length(array);

	return nr ? json_object_array_get_idx(array, nr - 1) : NULL;
}

static struct json_object *now(const struct campaign_record *c)
{
	return last_of(c->campaigns);
}

/* "14 findings of 2 failures in 2000 executions" */
static void say_result(const struct campaign_record *c, char *buf, size_t len)
{
	size_t nr = json_object_array_length(get(now(c), "findings"));
	struct json_object *last = last_of(get(now(c), "samples"));
	uint64_t n = number(last, "n");

	if (nr)
		snprintf(buf, len, "%zu failure%s found in %llu execution%s", nr, plural(nr),
			 (unsigned long long)n, plural(n));
	else
		snprintf(buf, len, "nothing found in %llu execution%s", (unsigned long long)n,
			 plural(n));
}

static void put_clean(FILE *out, const char *s)
{
	report_put(out, s, false);
}

static void put_command(FILE *out, struct json_object *head)
{
	struct json_object *argv = get(head, "argv");

	for (size_t i = 0; i < json_object_array_length(argv); i++) {
		const char *word = json_object_get_string(json_object_array_get_idx(argv, i));

		if (i)
			putc(' ', out);
		shell_word_put(out, word ? word : "");
	}
}

static void put_strategies(FILE *out, struct json_object *last)
{
	struct json_object *by = get(last, "by");

	if (!by || !json_object_object_length(by))
		return;
	fprintf(out, "\n%-14s %12s %14s %10s\n", "strategy", "executions", "new behaviour", "findings");
	json_object_object_foreach(by, name, counts) {
		put_clean(out, name);
		fprintf(out, "%*s", (int)(strlen(name) < 14 ? 14 - strlen(name) : 0), "");
		fprintf(out, " %12llu %14llu %10llu\n",
			(unsigned long long)json_object_get_uint64(json_object_array_get_idx(counts, 0)),
			(unsigned long long)json_object_get_uint64(json_object_array_get_idx(counts, 1)),
			(unsigned long long)json_object_get_uint64(json_object_array_get_idx(counts, 2)));
	}
}

static void put_failures(FILE *out, struct json_object *list, const char *execution, const char *what)
{
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *f = json_object_array_get_idx(list, i);

		fprintf(out, "\nexecution %llu, after %.1f s",
			(unsigned long long)number(f, execution), number(f, "at") / 1e3);
		if (get(f, "strategy")) {
			fputs(", by ", out);
			put_clean(out, text(f, "strategy"));
		}
		fprintf(out, ": %s", what);
		put_clean(out, text(f, "kind"));
		fputs("\n    ", out);
		put_clean(out, text(f, "message"));
		if (get(f, "trace")) {
			fputs("\n    zug show ", out);
			shell_word_put(out, text(f, "trace"));
		}
		putc('\n', out);
	}
}

void record_text(FILE *out, const struct campaign_record *c)
{
	struct json_object *campaign = now(c), *head = get(campaign, "head"), *end = get(campaign, "end");
	struct json_object *last = last_of(get(campaign, "samples"));
	size_t nr = json_object_array_length(c->campaigns);
	char result[200];

	fputs("command   ", out);
	put_command(out, head);
	fputs("\nin        ", out);
	put_clean(out, text(head, "cwd"));
	fputs("\nsearch    ", out);
	put_clean(out, text(head, "strategy"));
	fprintf(out, ", seed %llu; zug ", (unsigned long long)number(head, "seed"));
	put_clean(out, text(head, "zug_version"));
	fputs(", Linux ", out);
	put_clean(out, text(head, "kernel"));
	say_result(c, result, sizeof(result));
	fprintf(out, "\nresult    %s\nended     ", result);
	put_clean(out, end ? text(end, "end") : "unknown: the campaign still runs, or was killed");
	if (nr > 1)
		fprintf(out, "\nrecord    the last of %zu campaigns in this file", nr);
	if (last)
		fprintf(out, "\nfigures   %.1f s, %llu step%s, %llu distinct schedule%s in %llu equivalence class%s",
			number(last, "at") / 1e3, (unsigned long long)number(last, "steps"),
			plural(number(last, "steps")), (unsigned long long)number(last, "schedules"),
			plural(number(last, "schedules")), (unsigned long long)number(last, "distinct"),
			number(last, "distinct") == 1 ? "" : "es");
	if (get(end ? end : last, "bound_done"))
		fprintf(out, "\ncovered   every schedule of the known points with up to %llu preemption%s",
			(unsigned long long)number(end ? end : last, "bound_done"),
			plural(number(end ? end : last, "bound_done")));
	if (get(last, "chance"))
		fprintf(out, "\nchance    %.2f %% that the next execution shows new behaviour (estimated from "
			"behaviour seen only once)",
			100 * json_object_get_double(get(last, "chance")));
	putc('\n', out);
	put_strategies(out, last);
	put_failures(out, get(campaign, "findings"), "finding", "");
	put_failures(out, get(campaign, "once"), "seen_once", "seen once, did not repeat: ");
}

static int put_data(FILE *json, void *ctx)
{
	const struct campaign_record *c = ctx;
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "version", json_object_new_int(RECORD_VERSION));
	json_object_object_add(o, "path", json_text(c->path));
	json_object_object_add(o, "campaigns", json_object_get(c->campaigns));
	fprintf(json, "%s\n", json_line(o));
	json_object_put(o);
	return 0;
}

int record_json(FILE *out, const struct campaign_record *c)
{
	return put_data(out, (void *)c);
}

int record_html(FILE *out, const struct campaign_record *c)
{
	struct json_object *argv = get(get(now(c), "head"), "argv"), *first;
	char result[200], title[500];

	first = json_object_array_length(argv) ? json_object_array_get_idx(argv, 0) : NULL;
	say_result(c, result, sizeof(result));
	snprintf(title, sizeof(title), "%s - %.200s", result, first ? json_object_get_string(first) : "?");
	return page_write(out, PAGE_CAMPAIGN, title, result, put_data, (void *)c);
}
