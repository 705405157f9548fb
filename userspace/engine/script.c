/* SPDX-License-Identifier: GPL-2.0-only */
/* script.c - script files, read, and the numbers of the tasks that they name (script.h) */
#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/trace.h"
#include "engine/script.h"

struct reader {
	struct script *s;
	const struct script_allows *allows;
	unsigned int line;
	char *err;
	size_t errlen;
};

__attribute__((format(printf, 2, 3)))
static int fail(struct reader *r, const char *fmt, ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	snprintf(r->err, r->errlen, "%s:%u: %s", r->s->path, r->line, what);
	return -EINVAL;
}

#define SCRIPT_MAX (16 << 20)	/* bytes; it may come from a pipe without an end */

/* All of a script, and a zero byte behind it. Its length; more than SCRIPT_MAX: it is longer; -1: not read. */
static ssize_t read_some(FILE *f, char **text)
{
	size_t room = 0, len = 0, n;

	do {
		char *more;

		room = room ? 2 * room : 4096;
		more = realloc(*text, room);
		if (!more)
			return -1;
		*text = more;
		n = fread(*text + len, 1, room - 1 - len, f);
		len += n;
		(*text)[len] = 0;
	} while (n && !feof(f) && !ferror(f) && len <= SCRIPT_MAX);
	return ferror(f) ? -1 : (ssize_t)len;
}

static int read_file(struct reader *r, char **text)
{
	FILE *f = fopen(r->s->path, "re");
	ssize_t len;
	int ret = 0;

	if (!f) {
		ret = -errno;
		snprintf(r->err, r->errlen, "%s: %s", r->s->path, strerror(errno));
		return ret;
	}
	len = read_some(f, text);
	if (len < 0 && ferror(f)) {
		ret = -errno;
		snprintf(r->err, r->errlen, "%s: %s", r->s->path, strerror(errno));
	} else if (len > SCRIPT_MAX) {
		snprintf(r->err, r->errlen, "%s: not a script: it has more than %d MiB", r->s->path, SCRIPT_MAX >> 20);
		ret = -EINVAL;
	} else if (len > 0 && memchr(*text, 0, len)) {
		snprintf(r->err, r->errlen, "%s: not a script: it has a byte that is 0",
			 r->s->path);
		ret = -EINVAL;
	}
	fclose(f);
	return ret ? ret : *text ? 0 : -ENOMEM;
}

static int add_option(struct reader *r, const char *rest)
{
	size_t n = strcspn(rest, " \t"), len = strlen(rest);
	const char *value = rest + n + strspn(rest + n, " \t");
	struct script_option *list, *o;
	char valid[512];

	/*
	 * what a search does by itself is asked for here: its executions have schedules of their
	 * own
	 */
	if (n == 5 && !strncmp(rest, "races", n)) {
		r->s->races = true;
		return *value && *value != '\r' ? fail(r, "'races' has no value") : 0;
	}
	if (!r->allows->option(rest, n)) {
		r->allows->list(valid, sizeof(valid));
		return fail(r, "'%.*s' is no option of a script; there are: races %s", (int)n, rest,
			    valid);
	}
	while (len > n && strchr(" \t\r", rest[len - 1]))
		len--;
	list = realloc(r->s->options, (r->s->nr_options + 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	r->s->options = list;
	o = &list[r->s->nr_options];
	o->line = r->line;
	if (asprintf(&o->argument, "--%.*s%s%.*s", (int)n, rest,
		     *value && value < rest + len ? "=" : "",
		     value < rest + len ? (int)(rest + len - value) : 0, value) < 0)
		return -ENOMEM;
	r->s->nr_options++;
	return 0;
}

static int add_task(struct reader *r, const char *rest)
{
	struct script_task *list, t = { .line = r->line };
	int end = 0;

	if (sscanf(rest, "T%6u child %6u of T%6u %n", &t.task, &t.nth, &t.parent, &end) != 3 ||
	    !end || (rest[end] && rest[end] != '#'))
		return fail(r, "'task %s': not 'task T1 child 1 of T0'", rest);
	if (!t.task || !t.nth || t.task == t.parent)
		return fail(
			r,
			"'task %s': T0 is the command itself, children are counted from 1, and no task is a "
			"child of itself",
			rest);
	for (size_t i = 0; i < r->s->nr_tasks; i++) {
		const struct script_task *o = &r->s->tasks[i];

		if (o->task == t.task || (o->parent == t.parent && o->nth == t.nth - 1))
			return fail(r, "'task %s': line %u has said otherwise", rest, o->line);
	}
	t.nth--;
	list = realloc(r->s->tasks, (r->s->nr_tasks + 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	r->s->tasks = list;
	list[r->s->nr_tasks++] = t;
	return 0;
}

/* 1: the line is one of these, and done with; 0: a statement. */
static int take_line(struct reader *r, const char *line)
{
	const char *at = line + strspn(line, " \t");
	size_t n = strcspn(at, " \t\r");
	const char *rest = at + n + strspn(at + n, " \t");
	int ret;

	if (n == 6 && !strncmp(at, "option", n))
		ret = add_option(r, rest);
	else if (n == 4 && !strncmp(at, "task", n))
		ret = add_task(r, rest);
	else
		return 0;
	return ret ? ret : 1;
}

int script_load(struct script *s, const char *path, const struct script_allows *allows, char *err, size_t errlen)
{
	struct reader r = { .s = s, .allows = allows, .line = 1, .err = err, .errlen = errlen };
	int ret;

	memset(s, 0, sizeof(*s));
	snprintf(err, errlen, "out of memory");
	s->path = strdup(path);
	ret = s->path ? read_file(&r, &s->rules) : -ENOMEM;
	for (char *line = s->rules; !ret && *line; r.line++) {
		char *end = strchrnul(line, '\n'), after = *end;

		*end = 0;
		ret = take_line(&r, line);
		if (ret > 0) {
			memset(line, ' ', end - line);
			ret = 0;
		}
		*end = after;
		line = end + (after != 0);
	}
	return ret;
}

void script_free(struct script *s)
{
	for (size_t i = 0; i < s->nr_options; i++)
		free(s->options[i].argument);
	free(s->options);
	free(s->tasks);
	free(s->rules);
	free(s->path);
	memset(s, 0, sizeof(*s));
}

void script_number_tasks(const struct script *s, struct spawn_table *spawn)
{
	uint32_t highest = 0;

	for (size_t i = 0; i < s->nr_tasks; i++)
		if (s->tasks[i].task > highest)
			highest = s->tasks[i].task;
	if (!highest)
		return;
	spawn_number(spawn, TRACE_NO_TASK, 0);
	/* a number that the script does not name stays free: no task is such a child */
	for (uint32_t k = 1; k <= highest; k++) {
		const struct script_task *t = NULL;

		for (size_t i = 0; i < s->nr_tasks; i++)
			if (s->tasks[i].task == k)
				t = &s->tasks[i];
		spawn_number(spawn, t ? t->parent : TRACE_NO_TASK - 1, t ? t->nth : k);
	}
}

bool rule_name_is(const char *pattern, const char *name)
{
	/* "accounts[3].lock" is its own name, and a pattern of others */
	return !strcmp(pattern, name) || !fnmatch(pattern, name, 0);
}

void script_unmade_text(const struct search_script_line *l, const char *script, FILE *out)
{
	unsigned long came = l->came;

	fprintf(out, "  %s:%u: %s\n    ", script, l->line, l->text);
	switch (l->state) {
	case SEARCH_SCRIPT_MADE:
		break;
	case SEARCH_SCRIPT_PART:
		fprintf(out, "made in part: T%u ran, but did not come to where it was to stop\n",
			l->run);
		break;
	case SEARCH_SCRIPT_UNTIL_GONE:
		fprintf(out, "gone: T%u ran, but does nothing any more like where it was to stop\n",
			l->run);
		break;
	case SEARCH_SCRIPT_UNABLE:
		if (l->let)
			fprintf(out, "not made: T%u came there, but %s\n", l->task, l->fault ?
				"what it does there cannot have that" : "no timer was set");
		else
			fprintf(out, "not made: T%u came there, but T%u could not run then\n",
				l->task, l->run);
		break;
	case SEARCH_SCRIPT_FEWER:
		fprintf(out, "not made: T%u came there %lu time%s, not %lu\n", l->task, came,
			came == 1 ? "" : "s", (unsigned long)l->nth);
		break;
	case SEARCH_SCRIPT_OTHER:
		fprintf(out, "not made: T%u uses that in this function, but not in this way\n",
			l->task);
		break;
	case SEARCH_SCRIPT_GONE:
		fprintf(out, "gone: T%u does nothing like that there any more\n", l->task);
		break;
	case SEARCH_SCRIPT_NO_TASK:
		fprintf(out, "gone: there was no T%u\n", l->run_exists ? l->task : l->run);
		break;
	}
}
