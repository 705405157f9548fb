/* SPDX-License-Identifier: GPL-2.0-only */
/* What is done with a failure: which bug it is, its trace, the simplest schedule of it, its report. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "campaign/campaign_internal.h"
#include "cli/exit_codes.h"
#include "campaign/minimize.h"
#include "report/report.h"

/* What minimising a finding may cost before it is reported; zug minimize has no such bounds. */
#define MINIMIZE_EXECUTIONS 200
#define MINIMIZE_STEPS 50000

/* "abba-deadlock.3.trace": the first number that is free. */
char *campaign_trace_name(const struct campaign *c, const char *what)
{
	const char *base = strrchr(c->file, '/') + 1;
	char *path;
	int fd;

	if (mkdir(c->o.results.dir, 0755) && errno != EEXIST)
		return NULL;
	for (int n = 1; n < 1000000; n++) {
		if (asprintf(&path, "%s/%s.%s%d.trace", c->o.results.dir, base, what, n) < 0)
			return NULL;
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd >= 0) {
			close(fd);
			return path;
		}
		free(path);
		if (errno != EEXIST)
			return NULL;
	}
	errno = EEXIST;
	return NULL;
}

int campaign_keep_trace(struct campaign *c, const char *to, char *err, size_t errlen)
{
	int in, out, ret = 0;
	char buf[65536];
	ssize_t n;

	in = open(c->current, O_RDONLY | O_CLOEXEC);
	out = open(to, O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, 0644);
	if (in < 0 || out < 0)
		ret = -errno;
	while (!ret && (n = read(in, buf, sizeof(buf))) != 0)
		if (n < 0 || write(out, buf, n) != n)
			ret = n < 0 || errno ? -errno : -ENOSPC;
	if (!ret && fsync(out) && errno != EINVAL)
		ret = -errno;
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out) && !ret)
		ret = -errno;
	if (ret)
		snprintf(err, errlen, "cannot keep the trace as %s: %s (it is in %s until zug ends)", to,
			 strerror(-ret), c->current);
	return ret;
}

bool campaign_knows(const struct campaign *c, uint64_t failure)
{
	for (unsigned int i = 0; i < c->nr_failures; i++)
		if (c->failures[i].failure == failure)
			return true;
	return false;
}

struct campaign_failure *campaign_note_failure(struct campaign *c, const struct execution *x, bool *new)
{
	struct campaign_failure *f;

	*new = false;
	c->findings++;
	for (unsigned int i = 0; i < c->nr_failures; i++)
		if (c->failures[i].failure == x->outcome.failure) {
			c->failures[i].times++;
			return &c->failures[i];
		}
	f = realloc(c->failures, (c->nr_failures + 1) * sizeof(*f));
	if (!f)
		return NULL;
	c->failures = f;
	f += c->nr_failures;
	*f = (struct campaign_failure){ .failure = x->outcome.failure, .kind = x->outcome.kind, .times = 1,
					.first = c->executions, .message = strdup(x->outcome.message) };
	if (!f->message)
		return NULL;
	c->nr_failures++;
	*new = true;
	return f;
}

static void show(struct campaign *c, const char *path)
{
	struct report_options ro;
	char err[512];
	struct trace *t = trace_open(path, err, sizeof(err));

	if (!t) {
		fprintf(c->err, "zug: %s: %s\n", path, err);
		return;
	}
	report_options_init(&ro, c->out);
	report_options_colour(&ro, c->o.results.colour);
	ro.symbols = c->symbols;
	report_finding(c->out, t, &ro);
	trace_free(t);
}

int campaign_verify(struct campaign *c, const struct trace *t, int times, int *done)
{
	const struct trace_outcome *want = trace_outcome(t);
	struct execution x;
	struct replay r;
	char err[512];
	int same = 0;

	*done = 0;
	if (replay_init(&r, t))
		goto out;
	c->aside = true;
	for (; *done < times && !(c->stop && *c->stop); ++*done) {
		if (search_replay(c->search, r.tasks, r.nr) || search_begin(c->search) != SEARCH_GO)
			break;
		if (campaign_execute(c, &r, &x, err, sizeof(err))) {
			fprintf(c->err, "zug: it could not be replayed: %s\n", err);
			break;
		}
		search_end(c->search, &(struct search_end){ .result = SEARCH_ABANDONED });
		same += !x.diverged && x.outcome.failure == want->failure && x.hash == r.hash;
		if (x.diverged)
			fprintf(c->err, "zug: a replay did not follow: %s\n", x.divergence);
	}
	c->aside = false;
out:
	replay_release(&r);
	return same;
}

/* "zug-out/test.1.trace" -> "zug-out/test.1.found.trace"; malloc'd. */
static char *name_with(const char *path, const char *word)
{
	size_t n = strlen(path);
	char *name;

	if (n > 6 && !strcmp(path + n - 6, ".trace"))
		n -= 6;
	return asprintf(&name, "%.*s.%s.trace", (int)n, path, word) < 0 ? NULL : name;
}

/*
 * The simplest schedule takes the place of the one that was found, which stays beside it. Whatever
 * goes wrong here, the trace at path fails as it was found to.
 */
static void simplify(struct campaign *c, const char *path)
{
	const struct minimize_limits limits = { MINIMIZE_EXECUTIONS, MINIMIZE_STEPS };
	char err[PATH_MAX + 128], *found = name_with(path, "found"), *min = name_with(path, "new");
	struct trace *t = trace_open(path, err, sizeof(err)), *simple = NULL;
	struct minimized m;
	int done = 0;

	if (!found || !min || !t)
		goto out;
	if (minimize_trace(c, t, &limits, min, &m, err, sizeof(err))) {
		fprintf(c->err, "zug: not minimised: %s\n", err);
		goto out;
	}
	if (!m.reproduced) {
		if (m.came[0])
			fprintf(c->err, "zug: not minimised: the same schedule ended differently (%s)\n", m.came);
		goto out;
	}
	simple = trace_open(min, err, sizeof(err));
	if (!simple || (m.simpler && campaign_verify(c, simple, 1, &done) != done)) {
		fprintf(c->err, "zug: not minimised: a simpler schedule failed, but not again\n");
		goto out;
	}
	if ((m.simpler && rename(path, found)) || rename(min, path)) {
		fprintf(c->err, "zug: not minimised: %s: %s\n", min, strerror(errno));
		goto out;
	}
	minimize_say(c->out, &m);
	if (m.simpler)
		fprintf(c->out, "as it was found: %s\n", found);
	putc('\n', c->out);
out:
	if (min)
		unlink(min);
	free(found);
	free(min);
	trace_free(t);
	trace_free(simple);
}

static void say_trace(struct campaign *c, const char *path)
{
	uint64_t preemptions = 0;
	char err[512];
	struct trace *t = trace_open(path, err, sizeof(err));
	int same, done;

	if (!t) {
		fprintf(c->err, "zug: %s\n", err);
		return;
	}
	for (uint64_t i = 0; i < trace_nr_steps(t); i++)
		preemptions += !!(trace_step(t, i)->flags & TRACE_STEP_PREEMPTION);
	fprintf(c->out, "\ntrace: %s (%lu steps, %lu preemption%s)\n", path,
		(unsigned long)trace_nr_steps(t), (unsigned long)preemptions, preemptions == 1 ? "" : "s");
	if (c->o.results.verify) {
		same = campaign_verify(c, t, c->o.results.verify, &done);
		if (done)
			fprintf(c->out, "replayed: %d of %d times the same failure, step for step\n", same, done);
	}
	fprintf(c->out, "replay it: zug replay %s\ndebug it: zug replay --gdb %s\nall of it: zug show %s\n"
		"a picture: zug show --html %s\nthe closest that passes: zug diff %s\n", path, path, path, path, path);
	trace_free(t);
}

int campaign_on_finding(struct campaign *c, const struct execution *x)
{
	char err[PATH_MAX + 128], t[32], *path;
	bool new;
	struct campaign_failure *f = campaign_note_failure(c, x, &new);

	if (!f)
		return ZUG_EXIT_INTERNAL;
	if (!new && c->o.results.keep_going)
		return ZUG_EXIT_FINDING;
	path = campaign_trace_name(c, "");
	if (!path) {
		fprintf(c->err, "zug: cannot create a trace in %s: %s\n", c->o.results.dir, strerror(errno));
		return ZUG_EXIT_ENVIRONMENT;
	}
	if (campaign_keep_trace(c, path, err, sizeof(err))) {
		fprintf(c->err, "zug: %s\n", err);
		show(c, c->current);
		unlink(path);
		free(path);
		return ZUG_EXIT_ENVIRONMENT;
	}
	free(f->trace);
	f->trace = path;
	fprintf(c->out, "found in execution %lu, after %s: %s\n\n", (unsigned long)c->executions,
		campaign_seconds(campaign_now() - c->start_ns, t, sizeof(t)), zug_outcome_name(x->outcome.kind));
	fflush(c->out);
	/* of a time-out every trial would be one, too */
	if (c->o.results.minimize && x->outcome.kind != ZUG_OUTCOME_TIMEOUT)
		simplify(c, path);
	show(c, path);
	campaign_sample_tell(c, c->out);
	campaign_monitors_tell(c, c->out);
	say_trace(c, path);
	if (x->outcome.kind == ZUG_OUTCOME_RACE)
		campaign_know_race(c, x->outcome.failure);
	if (!c->o.results.keep_going)
		campaign_tell_races(c, c->out);
	if (c->o.results.keep_going)
		putc('\n', c->out);
	fflush(c->out);
	return ZUG_EXIT_FINDING;
}

void campaign_list_failures(const struct campaign *c)
{
	fprintf(c->out, "%u distinct failure%s in %lu executions:\n", c->nr_failures,
		c->nr_failures == 1 ? "" : "s", (unsigned long)c->executions);
	for (unsigned int i = 0; i < c->nr_failures; i++) {
		const struct campaign_failure *f = &c->failures[i];

		fprintf(c->out, "  %s: %.200s\n    %lu time%s, first in execution %lu; trace: %s\n",
			zug_outcome_name(f->kind), f->message, (unsigned long)f->times,
			f->times == 1 ? "" : "s", (unsigned long)f->first,
			f->trace ? f->trace : "(could not be kept)");
	}
}
