/* SPDX-License-Identifier: GPL-2.0-only */
/* One execution at a time, for zugd: whoever asks decides when, and many campaigns share one kernel. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "campaign/campaign_internal.h"
#include "cli/exit_codes.h"

void campaign_park(struct campaign *c)
{
	kernel_clear_probes(c->k);
}

int campaign_unpark(struct campaign *c, char *err, size_t errlen)
{
	int ret = probes_replant(c->probes, err, errlen);

	for (unsigned int i = 0; i < c->nr_watches && !ret; i++)
		kernel_set_watch(c->k, i, &c->watch[i]);
	return ret;
}

/* A test that fails every other time must not fill the disk with traces of one bug. */
static void on_failure(struct campaign *c, struct campaign_once *r)
{
	char err[512];
	bool new;
	struct campaign_failure *f = campaign_note_failure(c, &r->x, &new);

	if (r->x.outcome.kind == ZUG_OUTCOME_RACE)
		campaign_know_race(c, r->x.outcome.failure);
	if (!f)
		return;
	r->failure = f;
	if (!new)
		return;
	f->trace = campaign_trace_name(c, "");
	if (!f->trace) {
		fprintf(c->err, "zug: cannot create a trace in %s: %s\n", c->o.results.dir, strerror(errno));
	} else if (campaign_keep_trace(c, f->trace, err, sizeof(err))) {
		fprintf(c->err, "zug: %s\n", err);
		unlink(f->trace);
		free(f->trace);
		f->trace = NULL;
	}
}

/* Nothing new can be tried, but the test must run: its caller waits for its result. */
static int again(struct campaign *c, struct execution *x, char *err, size_t errlen)
{
	int ret;

	if (search_replay(c->search, NULL, 0) || search_begin(c->search) != SEARCH_GO) {
		snprintf(err, errlen, "the search does not begin another execution");
		return ZUG_EXIT_INTERNAL;
	}
	ret = campaign_execute(c, NULL, x, err, errlen);
	search_end(c->search, &(struct search_end){ .result = SEARCH_ABANDONED });
	return ret ? ZUG_EXIT_ENVIRONMENT : 0;
}

int campaign_once(struct campaign *c, const struct campaign_io *io, struct campaign_once *r,
		  char *err, size_t errlen)
{
	struct launch *l = kworld_launch(c->world);
	enum campaign_step what;
	int ret;

	memset(r, 0, sizeof(*r));
	c->one_by_one = true;
	c->o.command.envp = io->envp;
	c->out = io->out;
	c->err = io->err;
	l->envp = io->envp;
	l->in = io->in >= 0 ? io->in : c->input_fd;
	l->joined = io->joined;
	ret = campaign_step(c, &r->x, &what, err, errlen);
	if (!ret && what == CAMPAIGN_EXHAUSTED) {
		c->exhausted = r->exhausted = true;
		ret = again(c, &r->x, err, errlen);
	}
	if (ret)
		return ret;
	if (r->x.ungranted) {
		snprintf(err, errlen, "%lu runs without a grant: the result cannot be trusted; please report "
			 "this", (unsigned long)r->x.ungranted);
		return ZUG_EXIT_INTERNAL;
	}
	if (zug_outcome_is_finding(r->x.outcome.kind))
		on_failure(c, r);
	return 0;
}

void campaign_pass_on(struct campaign *c, int out, int err)
{
	capture_copy(c->capture, 0, out);
	capture_copy(c->capture, 1, err);
}

void campaign_get_figures(const struct campaign *c, struct campaign_figures *f)
{
	struct search_stats st;

	search_get_stats(c->search, &st);
	*f = (struct campaign_figures){
		.executions = c->executions, .steps = c->steps, .findings = c->findings,
		.diverged = c->diverged, .run_ns = c->run_ns, .primed = c->primed,
		.exhausted = c->exhausted, .bound_done = st.bound_done, .failures = c->failures,
		.nr_failures = c->nr_failures,
	};
	f->races = campaign_races(c, &f->nr_races);
}

const char *campaign_file(const struct campaign *c)
{
	return c->file;
}
