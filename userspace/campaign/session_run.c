/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Executions of a session with their traces: session_execute() makes one, session_follow() one
 * under a given schedule. The trace of the last execution lies in s->paths.current until the next
 * one; session_keep_trace() copies it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/file_copy.h"
#include "lib/base/new_file.h"
#include "lib/version.h"
#include "campaign/session.h"

/* The outcome at the end of a trace, with the test's output. */
static int finish_trace(struct session *s, struct trace_writer *t, struct execution *x)
{
	struct trace_outcome o = { .kind = x->outcome.kind, .code = x->outcome.code,
				   .failure = x->outcome.failure, .ungranted = x->ungranted,
				   .wall_ns = x->wall_ns, .message = x->outcome.message };
	char *text[4] = { 0 };
	int ret, closed;

	capture_text(s->capture, 0, &text[0], &text[1]);
	capture_text(s->capture, 1, &text[2], &text[3]);
	o.out_head = text[0];
	o.out_tail = text[1];
	o.err_head = text[2];
	o.err_tail = text[3];
	ret = trace_add_outcome(t, &o);
	for (int i = 0; i < 4; i++)
		free(text[i]);
	if (o.kind != ZUG_OUTCOME_PASS)
		x->trace_sum = trace_sum(t);
	closed = trace_close(t, false);
	return ret ? ret : closed;
}

void session_count(struct session *s, const struct execution *x)
{
	struct session_figures *f = &s->figures;

	f->aside[s->aside]++;
	if (!s->aside) {
		f->executions++;
		f->steps += x->steps;
		f->run_ns += x->wall_ns;
		spent_add(&f->spent, &x->spent);
	}
	if (x->nr_tasks > f->most_tasks)
		f->most_tasks = x->nr_tasks;
	f->handlers |= x->handlers;
}

int session_execute(struct session *s, const struct replay *r, struct execution *x, char *err,
		    size_t errlen)
{
	const struct options_command *command = &s->o.command;
	const struct options_search *search = &s->o.search;
	struct trace_header h = {
		.argv = command->argv,
		.cwd = command->cwd,
		.envp = command->envp,
		.kernel = s->release,
		.zug_version = ZUG_VERSION,
		.strategy = search->script   ? "script" :
			    search->strategy ? search->strategy :
					       "default",
		.seed = search->seed,
		.execution = s->figures.executions + s->skipped + !s->aside,
		.options = s->options_json,
	};
	struct trace_writer *t;
	int ret, written;

	if (probes_planted(s->probes, err, errlen))
		return -EIO;
	engine_hold_none(s->engine, session_only_follows(s));
	if (s->o.inputs.file) {
		if (session_feed(s, err, errlen))
			return -EIO;
		kworld_launch(s->world)->in = s->input_fd;
	}
	h.copied = session_template_begin(s);
	t = (s->paths.current_made ? trace_create_again : trace_create)(s->paths.current, &h, &ret);
	s->paths.current_made = t;
	if (!t) {
		snprintf(err, errlen, "cannot write the trace %s: %s", s->paths.current,
			 strerror(-ret));
		return ret;
	}
	/* what replays and trials may take is for their callers to say */
	engine_until(s->engine, s->cuts && !s->aside ? s->until_ns : 0);
	ret = engine_run(s->engine, r, t, x, err, errlen);
	session_template_end(s, x);
	if (s->judge)
		s->judge(s->judge_ctx, x);
	session_count(s, x);
	/* without the end of one that passed: not every such trace has it */
	x->trace_sum = trace_sum(t);
	if (x->outcome.kind == ZUG_OUTCOME_PASS && !r && !s->keep_passes && !x->ungranted) {
		trace_close(t, true);
		return ret;
	}
	written = finish_trace(s, t, x);
	if (written && !ret) {
		snprintf(err, errlen, "cannot write the trace %s: %s", s->paths.current,
			 strerror(-written));
		ret = written;
	}
	/* the options were checked when the session was set up */
	return ret == -EINVAL ? -EIO : ret;
}

int session_follow(struct session *s, const struct replay *r, struct execution *x, char *err,
		   size_t errlen)
{
	int ret;

	if (search_replay(s->search, r ? r->tasks : NULL, r ? r->nr : 0) ||
	    search_begin(s->search) != SEARCH_GO) {
		snprintf(err, errlen, "the search does not begin another execution");
		return -ENOTRECOVERABLE;
	}
	ret = session_execute(s, r, x, err, errlen);
	search_end(s->search, &(struct search_end){ .result = SEARCH_ABANDONED });
	return ret;
}

static bool known_enough(const struct session *s, const struct session_replays *r)
{
	return session_late(s, 0) && (r->alike || r->made >= REPLAYS_FOR_ONCE);
}

void session_verify(struct session *s, const struct trace *t, int times,
		    struct session_replays *replays)
{
	const struct trace_outcome *want = trace_outcome(t);
	struct execution x;
	struct replay r;
	char err[512];
	bool alike;

	if (replay_init(&r, t))
		goto out;
	s->aside = ASIDE_REPLAY;
	for (int i = 0; i < times && !session_interrupted(s) && !known_enough(s, replays); i++) {
		if (session_follow(s, &r, &x, err, sizeof(err))) {
			session_say(s, "it could not be replayed: %s", err);
			break;
		}
		/* it says nothing about the failure */
		if (x.outcome.kind == ZUG_OUTCOME_INTERRUPTED)
			break;
		alike = x.outcome.failure == want->failure;
		replays->made++;
		replays->alike += alike;
		replays->same += alike && !x.diverged && x.hash == r.hash;
		if (x.diverged)
			session_say(s, "a replay did not follow: %s", x.divergence);
		session_say_trying(s, "replaying: %d of %d, %d failed alike", i + 1, times, replays->alike);
	}
	s->aside = ASIDE_NOT;
out:
	replay_release(&r);
}

/* ---- traces that are kept ---- */

char *session_trace_name(const struct session *s, const char *what, char *err, size_t errlen)
{
	const char *base = strrchr(s->paths.program, '/') + 1, *dir = s->o.results.dir;
	char *path;
	int fd;

	errno = -session_make_folder(dir, true);
	if (errno)
		goto fail;
	for (int n = 1; n < 1000000; n++) {
		if (asprintf(&path, "%s/%s.%s%d.trace", dir, base, what, n) < 0)
			goto fail;
		fd = new_file_only(path, 0644);
		if (fd >= 0) {
			close(fd);
			return path;
		}
		free(path);
		errno = -fd;
		if (errno != EEXIST)
			goto fail;
	}
	errno = EEXIST;
fail:
	snprintf(err, errlen, "cannot create a trace in %s: %s", dir, new_file_error(errno));
	return NULL;
}

int session_keep_trace(const struct session *s, const char *to, char *err, size_t errlen)
{
	int in, out, ret = 0;

	in = open(s->paths.current, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		ret = -errno;
	out = new_file(to, 0644);
	if (!ret && out < 0)
		ret = out;
	if (!ret)
		ret = file_copy(in, out);
	if (!ret && fsync(out) && errno != EINVAL)
		ret = -errno;
	if (in >= 0)
		close(in);
	if (out >= 0 && close(out) && !ret)
		ret = -errno;
	if (ret)
		snprintf(err, errlen,
			 "cannot keep the trace as %s: %s (it is in %s until zug ends)", to,
			 new_file_error(ret), s->paths.current);
	return ret;
}
