// SPDX-License-Identifier: GPL-2.0-only
/*
 * record.c - writes the record of a campaign
 *
 * record_execution() counts, and writes a sample when its turn has come (put_sample());
 * record_finding() writes a line for the first finding of each failure.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/base/new_file.h"
#include "report/record.h"
#include "report/record_internal.h"

#define ALL_UNTIL 100		/* each of the first executions has a line */
#define STRATEGIES_MAX 16
#define PREEMPTIONS_MAX 10	/* the last counter is for this number and more */

struct by_strategy {
	char name[32];
	uint64_t executions, fresh, findings;
};

struct record {
	int fd;
	int error;
	struct record_execution last;	/* without its strategy */
	uint64_t written, next;		/* executions: of the last line, of the next line */
	struct by_strategy by[STRATEGIES_MAX];
	unsigned int nr_by;
	uint64_t preempted[PREEMPTIONS_MAX];
	uint64_t *failures, findings;
	size_t nr_failures, failures_room;
};

/* Each line is one write: a reader sees whole lines, also after a crash. */
static void put_line(struct record *r, struct json_object *o)
{
	char *line;
	int len = asprintf(&line, "%s\n", json_line(o));
	ssize_t n;

	if (len < 0)
		r->error = r->error ? r->error : -ENOMEM;
	else if (!r->error && (n = write(r->fd, line, len)) != len)
		r->error = n < 0 ? -errno : -ENOSPC;
	if (len >= 0)
		free(line);
	json_object_put(o);
}

static void add_bound(struct json_object *o, const char *name, uint32_t v)
{
	json_object_object_add(o, name, v == UINT32_MAX ? NULL : json_object_new_uint64(v));
}

static void add_double(struct json_object *o, const char *name, double v)
{
	json_object_object_add(o, name, isfinite(v) ? json_object_new_double(v) : NULL);
}

/*
 * Checks what the file has already: nothing, or a record, whose last line is ended. 0, or -errno
 * with a line in err.
 */
static int check_old(const char *path, int fd, char *err, size_t errlen)
{
	struct stat st;
	char last;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return 0;
	if (!record_is_one(path)) {
		snprintf(err, errlen, "--record %s: the file exists and is not the record of a campaign; "
			 "it was not changed", path);
		return -EEXIST;
	}
	/* a campaign was killed while it wrote its last line */
	if (pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n' && write(fd, "\n", 1) != 1) {
		snprintf(err, errlen, "--record %s: %s", path, strerror(errno));
		return -EIO;
	}
	return 0;
}

struct record *record_open(const char *path, const struct record_head *h, char *err, size_t errlen)
{
	struct record *r = calloc(1, sizeof(*r));
	struct json_object *o, *argv;

	if (!r) {
		snprintf(err, errlen, "out of memory");
		return NULL;
	}
	r->fd = new_file_append(path, 0644);
	if (r->fd < 0) {
		snprintf(err, errlen, "--record %s: %s", path, new_file_error(r->fd));
		goto fail;
	}
	if (check_old(path, r->fd, err, errlen))
		goto fail;
	r->next = 1;
	o = json_object_new_object();
	argv = json_object_new_array();
	json_add_text(o, "record", RECORD_MAGIC);
	json_add_number(o, "version", RECORD_VERSION);
	for (char *const *a = h->argv; *a; a++)
		json_object_array_add(argv, json_text(*a));
	json_object_object_add(o, "argv", argv);
	json_add_text(o, "cwd", h->cwd);
	json_add_text(o, "strategy", h->strategy);
	json_add_number(o, "seed", h->seed);
	json_add_text(o, "kernel", h->kernel);
	json_add_text(o, "zug_version", h->zug_version);
	json_add_number(o, "executions", h->executions);
	json_add_number(o, "time_ms", h->time_ns / 1000000);
	json_add_number(o, "start", time(NULL));
	put_line(r, o);
	if (r->error) {
		snprintf(err, errlen, "--record %s: %s", path, strerror(-r->error));
		goto fail;
	}
	return r;
fail:
	if (r->fd >= 0)
		close(r->fd);
	free(r);
	return NULL;
}

static struct by_strategy *by(struct record *r, const char *name)
{
	for (unsigned int i = 0; i < r->nr_by; i++)
		if (!strncmp(r->by[i].name, name, sizeof(r->by[i].name) - 1))
			return &r->by[i];
	if (r->nr_by == STRATEGIES_MAX)
		return &r->by[STRATEGIES_MAX - 1];
	snprintf(r->by[r->nr_by].name, sizeof(r->by[r->nr_by].name), "%s", name);
	return &r->by[r->nr_by++];
}

/* Microseconds of all executions so far, by part. */
static struct json_object *spent_object(const struct spent *s)
{
	struct json_object *o = json_object_new_object();

	json_add_number(o, "points", s->points);
	json_add_number(o, "questions", s->asked);
	for (int i = 0; i < SPENT_NR; i++)
		json_add_number(o, spent_name(i), s->ns[i] / 1000);
	json_add_number(o, "rest", spent_rest_ns(s) / 1000);
	return o;
}

static void put_sample(struct record *r)
{
	const struct record_execution *x = &r->last;
	struct json_object *o, *strategies, *preempted;

	if (r->written == x->n)
		return;
	o = json_object_new_object();
	strategies = json_object_new_object();
	preempted = json_object_new_array();
	r->written = x->n;
	json_add_number(o, "n", x->n);
	json_add_number(o, "at", x->ns / 1000000);
	json_add_number(o, "steps", x->steps);
	json_add_number(o, "schedules", x->schedules);
	json_add_number(o, "distinct", x->distinct);
	add_bound(o, "bound", x->bound);
	add_bound(o, "bound_done", x->bound_done);
	add_double(o, "chance", x->new_probability);
	add_double(o, "estimate", x->estimate);
	for (unsigned int i = 0; i < r->nr_by; i++) {
		struct json_object *a = json_object_new_array();

		json_object_array_add(a, json_object_new_uint64(r->by[i].executions));
		json_object_array_add(a, json_object_new_uint64(r->by[i].fresh));
		json_object_array_add(a, json_object_new_uint64(r->by[i].findings));
		json_object_object_add(strategies, r->by[i].name, a);
	}
	json_object_object_add(o, "by", strategies);
	for (unsigned int i = 0; i < PREEMPTIONS_MAX; i++)
		json_object_array_add(preempted, json_object_new_uint64(r->preempted[i]));
	json_object_object_add(o, "preemptions", preempted);
	json_object_object_add(o, "spent", spent_object(&r->last.spent));
	put_line(r, o);
}

void record_execution(struct record *r, const struct record_execution *x)
{
	struct by_strategy *s = by(r, x->strategy);
	bool done = x->bound_done != r->last.bound_done && r->written;

	s->executions++;
	s->fresh += x->distinct > r->last.distinct;
	r->preempted[x->preemptions < PREEMPTIONS_MAX ? x->preemptions : PREEMPTIONS_MAX - 1]++;
	r->last = *x;
	if (x->n < r->next && !done)
		return;
	put_sample(r);
	r->next = x->n < ALL_UNTIL ? x->n + 1 : x->n + x->n / 50;
}

static void put_failure(struct record *r, const struct record_finding *f, const char *first)
{
	struct json_object *o = json_object_new_object();
	char failure[32];

	json_add_number(o, first, f->n);
	json_add_number(o, "at", f->ns / 1000000);
	json_add_text(o, "kind", f->kind);
	snprintf(failure, sizeof(failure), "0x%llx", (unsigned long long)f->failure);
	json_add_text(o, "failure", failure);
	json_add_text(o, "message", f->message);
	json_add_text(o, "strategy", f->strategy);
	json_add_number(o, "steps", f->steps);
	json_add_number(o, "preemptions", f->preemptions);
	json_add_text(o, "trace", f->trace);
	put_line(r, o);
}

void record_once(struct record *r, const struct record_finding *f)
{
	put_failure(r, f, "seen_once");
}

void record_finding(struct record *r, const struct record_finding *f)
{
	r->findings++;
	by(r, f->strategy)->findings++;
	for (size_t i = 0; i < r->nr_failures; i++)
		if (r->failures[i] == f->failure)
			return;
	if (!ARRAY_RESERVE(r->failures, r->failures_room, r->nr_failures + 1)) {
		r->error = r->error ? r->error : -ENOMEM;
		return;
	}
	r->failures[r->nr_failures++] = f->failure;
	put_failure(r, f, "finding");
	/* the counts have changed since the sample of this execution: it is written again */
	r->written = 0;
}

void record_end(struct record *r, const char *why, uint32_t bound_done)
{
	struct json_object *o = json_object_new_object();

	if (r->last.n)
		put_sample(r);
	json_add_text(o, "end", why);
	json_add_number(o, "n", r->last.n);
	json_add_number(o, "at", r->last.ns / 1000000);
	json_add_number(o, "findings", r->findings);
	add_bound(o, "bound_done", bound_done);
	put_line(r, o);
}

int record_close(struct record *r)
{
	int ret;

	if (!r)
		return 0;
	ret = close(r->fd) && !r->error ? -errno : r->error;
	free(r->failures);
	free(r);
	return ret;
}
