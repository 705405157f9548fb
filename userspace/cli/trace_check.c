/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <json-c/json.h>
#include "lib/base/machine_mark.h"
#include "lib/base/new_file.h"
#include "symbols/symbols.h"
#include "cli/exit_codes.h"
#include "cli/trace_check.h"

void trace_check_kernel(const struct trace *t, FILE *err)
{
	struct utsname u;
	char now[256];

	uname(&u);
	snprintf(now, sizeof(now), "%s %s", u.release, u.version);
	if (trace_header(t)->kernel && strcmp(trace_header(t)->kernel, now))
		fprintf(err, "zug: the trace was recorded on another kernel (%s): the test may not follow it\n",
			trace_header(t)->kernel);
}

int trace_check_builds(const struct trace *t, FILE *err, bool force)
{
	struct symbols *symbols = symbols_new();
	int changed = 0, moved = 0;
	uint32_t id = 0;

	if (!symbols) {
		fprintf(err, "zug: out of memory\n");
		return ZUG_EXIT_INTERNAL;
	}
	/* modules are numbered from 0 on, without gaps */
	for (const struct trace_module *m; (m = trace_module(t, id)); id++) {
		char why[256] = "";
		struct symfile *f;

		if (!m->build_id[0])
			continue;
		f = symbols_file(symbols, m->path, NULL, why, sizeof(why));
		if (f && (!symfile_build_id(f)[0] || !strcmp(symfile_build_id(f), m->build_id)))
			continue;
		changed++;
		moved += f != NULL;
		if (f)
			fprintf(err,
				"zug: %s was rebuilt since the trace was recorded (build-id %.12s..., "
				"then %.12s...)\n",
				m->path, symfile_build_id(f), m->build_id);
		else
			fprintf(err, "zug: %s cannot be read any more: %s\n", m->path, why);
	}
	symbols_free(symbols);
	if (!changed)
		return 0;
	if (force)
		fputs("zug: going on because of --force: the schedule may not fit\n", err);
	else
		fprintf(err, "zug: %s search again with zug run, or try it with --force\n", moved ?
			"its places have moved, so the schedule may not fit:" : "put it back where it was; or");
	return force ? 0 : ZUG_EXIT_USAGE;
}

int trace_check_failing(const struct trace *t, const char *path, const char *what, FILE *err)
{
	const struct trace_outcome *o = trace_outcome(t);

	if (!o) {
		fprintf(err,
			"zug %s: %s was cut off before its end: it does not say how the test failed\n",
			what, path);
		return ZUG_EXIT_USAGE;
	}
	if (!zug_outcome_is_finding(o->kind)) {
		fprintf(err, "zug %s: the test did not fail in %s: %s%s%s\n", what, path,
			zug_outcome_name(o->kind), o->message[0] ? ": " : "", o->message);
		return ZUG_EXIT_USAGE;
	}
	return 0;
}

bool trace_is_foreign(const struct trace *t, const char *path, char *why, size_t len)
{
	const char *options = trace_header(t)->options;
	struct json_object *j = options ? json_tokener_parse(options) : NULL, *mark;
	bool here = json_object_is_type(j, json_type_object) &&
		    json_object_object_get_ex(j, MACHINE_MARK_KEY, &mark) &&
		    json_object_is_type(mark, json_type_string) &&
		    !strcmp(json_object_get_string(mark), machine_mark());
	struct stat st;

	json_object_put(j);
	if (stat(path, &st))
		snprintf(why, len, "is not there any more");
	else if (!new_file_trusts(st.st_uid))
		snprintf(why, len, "belongs to user %u", st.st_uid);
	else if (!here)
		snprintf(why, len, "was recorded on another machine");
	else
		return false;
	return true;
}

int trace_check_origin(const struct trace *t, const char *path, FILE *err, bool trust)
{
	const struct trace_header *h = trace_header(t);
	char why[80];

	if (trust || !trace_is_foreign(t, path, why, sizeof(why)))
		return 0;
	fprintf(err, "zug: %s %s, and to follow it is to execute what it says: '", path, why);
	for (char *const *a = h->argv; a && *a; a++)
		fprintf(err, "%s%s", a == h->argv ? "" : " ", *a);
	fprintf(err, "' in %s, with the environment, the --setup and the --teardown that it names. Add --trust if "
		"you trust its author\n", h->cwd ? h->cwd : "?");
	return ZUG_EXIT_USAGE;
}
