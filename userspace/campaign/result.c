/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "campaign/result.h"

enum campaign_blame campaign_blame(int error)
{
	return error == -EINVAL				     ? BLAME_USER :
	       error == -ENOMEM || error == -ENOTRECOVERABLE ? BLAME_ZUG :
							       BLAME_MACHINE;
}

uint32_t campaign_preemptions_done(const struct search_stats *s)
{
	return s->delays ? UINT32_MAX : s->bound_done;
}

enum search_result campaign_verdict(const struct execution *x)
{
	if (x->diverged)
		return SEARCH_DIVERGED;
	if (x->outcome.kind == ZUG_OUTCOME_PASS)
		return SEARCH_PASS;
	return zug_outcome_is_finding(x->outcome.kind) ? SEARCH_FAIL : SEARCH_ABANDONED;
}

static const struct {
	const char *name, *words;
} asides[ASIDE_NR] = {
	[ASIDE_REPEAT] = { "repeat", "to see whether it repeats" },
	[ASIDE_REPLAY] = { "replay", "to replay what was found" },
	[ASIDE_MINIMIZE] = { "minimize", "to minimise" },
	[ASIDE_EXPLAIN] = { "explain", "to explain" },
};

const char *campaign_aside_name(enum campaign_aside what)
{
	return asides[what].name;
}

const char *campaign_aside_words(enum campaign_aside what)
{
	return asides[what].words;
}

struct campaign_failure *failures_find(const struct failure_list *f, uint64_t failure)
{
	for (unsigned int i = 0; i < f->nr; i++)
		if (f->list[i].failure == failure)
			return &f->list[i];
	return NULL;
}

struct campaign_failure *failures_note(struct failure_list *f, const struct execution *x,
				       uint64_t execution, bool *new)
{
	struct campaign_failure *known = failures_find(f, x->outcome.failure);

	*new = false;
	f->findings++;
	if (known) {
		known->times++;
		return known;
	}
	if (!ARRAY_RESERVE(f->list, f->room, f->nr + 1))
		return NULL;
	f->list[f->nr] = (struct campaign_failure){ .failure = x->outcome.failure,
						    .kind = x->outcome.kind,
						    .times = 1,
						    .first = execution,
						    .message = strdup(x->outcome.message) };
	if (!f->list[f->nr].message)
		return NULL;
	*new = true;
	return &f->list[f->nr++];
}

int failures_add(struct failure_list *f, const struct campaign_failure *known)
{
	if (!ARRAY_RESERVE(f->list, f->room, f->nr + 1))
		return -ENOMEM;
	f->list[f->nr++] = *known;
	return 0;
}

static void release(struct campaign_failure *failure)
{
	free(failure->trace);
	free(failure->message);
}

void failures_drop(struct failure_list *f, uint64_t failure)
{
	struct campaign_failure *known = failures_find(f, failure);

	if (!known)
		return;
	f->findings -= known->times;
	release(known);
	*known = f->list[--f->nr];
}

void failures_release(struct failure_list *f)
{
	for (unsigned int i = 0; i < f->nr; i++)
		release(&f->list[i]);
	free(f->list);
}

void campaign_notes_release(struct campaign_notes *n)
{
	free(n->races);
	free(n->monitors);
	free(n->code);
	free(n->waits);
	free(n->timeouts);
	free(n->untried);
	free(n->files);
	free(n->runtime);
	free(n->start);
	*n = (struct campaign_notes){ 0 };
}
