/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --invariant and --discard-if: expressions over the test's variables, tested before every step.
 * parse() reads them when the campaign begins; resolve() finds their variables as files become
 * known; look() tests them in an execution.
 */
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "lib/base/remote.h"
#include "search/identity.h"
#include "campaign/policy.h"
#include "symbols/expr.h"

/* One option. It tests exactly one of expression, status and output. */
struct monitor {
	const char *text;
	bool discard;
	struct expr *e;
	bool resolved;
	int status;		/* "exit=N"; -1: no */
	bool has_output;	/* "output=REGEX" */
	regex_t output;
	uint64_t tested;	/* states in which it had a value */
	int why;		/* otherwise, the last time: -errno */
};

struct monitors {
	struct session *s;
	struct monitor *list;
	unsigned int nr;
	struct symfile **files;		/* where names are looked for, in this order */
	uint32_t *modules;		/* of these files */
	uint32_t process;		/* the process that the expressions read, and its id */
	int tgid;
	uint64_t discarded;
};

static const char *option_of(const struct monitor *m)
{
	return m->discard ? "--discard-if" : "--invariant";
}

/* 0, or -EINVAL with a line in err. */
static int parse(struct monitor *m, char *err, size_t errlen)
{
	char why[512], *end;
	int ret;

	m->status = -1;
	if (m->discard && !strncmp(m->text, "exit=", 5)) {
		unsigned long v = strtoul(m->text + 5, &end, 10);

		if (m->text[5] < '0' || m->text[5] > '9' || *end || v > 255) {
			snprintf(err, errlen, "--discard-if %s: not an exit status from 0 to 255",
				 m->text);
			return -EINVAL;
		}
		m->status = (int)v;
		return 0;
	}
	if (m->discard && !strncmp(m->text, "output=", 7)) {
		ret = regcomp(&m->output, m->text + 7, REG_EXTENDED | REG_NEWLINE | REG_NOSUB);
		if (ret) {
			regerror(ret, &m->output, why, sizeof(why));
			snprintf(err, errlen, "--discard-if %s: %s", m->text, why);
			return -EINVAL;
		}
		m->has_output = true;
		return 0;
	}
	m->e = expr_parse(m->text, why, sizeof(why));
	if (m->e)
		return 0;
	snprintf(err, errlen, "%s '%s': %s", option_of(m), m->text, why);
	return -EINVAL;
}

static int open_monitors(void *state, struct session *s, struct race_book *races, char *err,
			 size_t errlen)
{
	char **const lists[] = { s->o.failure.invariants, s->o.failure.discards };
	struct monitors *ms = state;
	unsigned int nr = 0;
	int ret = 0;

	for (int k = 0; k < 2; k++)
		for (char **t = lists[k]; t && *t; t++)
			nr++;
	ms->list = calloc(nr + 1, sizeof(*ms->list));
	if (!ms->list)
		return -ENOMEM;
	ms->s = s;
	for (int k = 0; k < 2; k++)
		for (char **t = lists[k]; t && *t && !ret; t++) {
			struct monitor *m = &ms->list[ms->nr++];

			m->text = *t;
			m->discard = k == 1;
			ret = parse(m, err, errlen);
		}
	return ret;
}

static void release_monitors(void *state)
{
	struct monitors *ms = state;

	for (unsigned int i = 0; i < ms->nr; i++) {
		expr_free(ms->list[i].e);
		if (ms->list[i].has_output)
			regfree(&ms->list[i].output);
	}
	free(ms->list);
	free(ms->files);
	free(ms->modules);
}

/*
 * The order in which files are searched for a name: the command itself, other programs, libraries,
 * the C library.
 */
#define RANKS 4
static int rank(const struct session *s, const struct probe_module *m)
{
	if (!strcmp(m->path, s->paths.program))
		return 0;
	return symfile_libc(m->file) != SYMLIBC_NONE ? 3 : symfile_interp(m->file) ? 1 : 2;
}

static int order_files(struct monitors *ms)
{
	struct probes *probes = ms->s->probes;
	unsigned int nr = probes_nr_modules(probes), n = 0;

	free(ms->files);
	free(ms->modules);
	ms->files = calloc(nr + 1, sizeof(*ms->files));
	ms->modules = calloc(nr + 1, sizeof(*ms->modules));
	if (!ms->files || !ms->modules)
		return -ENOMEM;
	for (int k = 0; k < RANKS; k++)
		for (unsigned int i = 0; i < nr; i++)
			if (probes_module(probes, i)->file &&
			    rank(ms->s, probes_module(probes, i)) == k) {
				ms->files[n] = probes_module(probes, i)->file;
				ms->modules[n++] = i;
			}
	return n;
}

/*
 * Finds the variables; what an expression names may be in a file that is mapped later, until the
 * last time.
 */
static int resolve(struct monitors *ms, bool last, char *err, size_t errlen)
{
	int nr = ms->nr ? order_files(ms) : 0, ret;
	char why[700];

	if (nr < 0)
		return nr;
	for (unsigned int i = 0; i < ms->nr; i++) {
		struct monitor *m = &ms->list[i];

		if (!m->e)
			continue;
		ret = expr_resolve(m->e, ms->files, nr, why, sizeof(why));
		m->resolved = !ret;
		if (!ret || (ret == -ENOENT && !last))
			continue;
		snprintf(err, errlen, "%s '%s': %s", option_of(m), m->text, why);
		return ret == -ENOMEM ? ret : -EINVAL;
	}
	return 0;
}

static int start(void *state, char *err, size_t errlen)
{
	return resolve(state, false, err, errlen);
}

static int settle(void *state, bool only_more, bool *more, char *err, size_t errlen)
{
	return resolve(state, true, err, errlen);
}

/* ---- in an execution ---- */

static int get_bias(void *ctx, unsigned int file, uint64_t *bias)
{
	const struct monitors *ms = ctx;

	return places_bias(ms->s->places, ms->process, ms->modules[file], bias);
}

static int get_memory(void *ctx, uint64_t addr, void *to, size_t len)
{
	const struct monitors *ms = ctx;

	return remote_read(ms->tgid, addr, to, len) ? 0 : -EFAULT;
}

static bool violated(struct monitor *m, uint32_t task, const struct expr_memory *memory,
		     struct outcome *o)
{
	char values[512];
	int ret = expr_test(m->e, memory);

	if (ret < 0) {
		m->why = ret;
		return false;
	}
	m->tested++;
	if (ret == m->discard) {
		expr_values(m->e, memory, values, sizeof(values));
		if (m->discard)
			outcome_set(o, ZUG_OUTCOME_DISCARDED, "%s: %s", m->text, values);
		else
			outcome_set(o, ZUG_OUTCOME_INVARIANT,
				    "%s does not hold after what T%u did: %s", m->text, task,
				    values);
		/* the values and the task do not make it another bug */
		o->failure = m->discard ? 0 : identity_message(m->text);
		return true;
	}
	return false;
}

/*
 * Tests the expressions in the process of the task that made the last step: only its memory has
 * changed.
 */
static bool look(void *ctx, uint32_t task, struct outcome *o)
{
	struct monitors *ms = ctx;
	const struct expr_memory memory = { .bias = get_bias, .read = get_memory, .ctx = ms };
	const struct world *w = ms->s->world;
	const struct world_task *t;

	if (task >= w->nr_tasks)
		return false;
	t = &w->tasks[task];
	/* the memory of a task that has ended is seen by the others of its process */
	if (t->state == TASK_DEAD)
		t = world_living(w, t->process, NULL);
	if (!t || !world_lives(t))
		return false;
	ms->process = t->process;
	ms->tgid = t->tgid;
	for (unsigned int i = 0; i < ms->nr; i++)
		if (ms->list[i].resolved && violated(&ms->list[i], task, &memory, o))
			return true;
	return false;
}

static void watch(void *state)
{
	struct monitors *ms = state;

	for (unsigned int i = 0; i < ms->nr; i++)
		if (ms->list[i].e) {
			engine_watch_states(ms->s->engine, look, ms);
			break;
		}
}

static bool has_output(struct capture *c, const regex_t *re)
{
	char *head, *tail;
	bool found = false;

	for (int i = 0; i < 2 && !found; i++) {
		if (capture_text(c, i, &head, &tail))
			continue;
		found = !regexec(re, head, 0, NULL, 0) || (tail && !regexec(re, tail, 0, NULL, 0));
		free(head);
		free(tail);
	}
	return found;
}

static void judge(void *state, struct execution *x)
{
	struct monitors *ms = state;

	for (unsigned int i = 0; i < ms->nr; i++) {
		const struct monitor *m = &ms->list[i];

		if (x->status >= 0 && WIFEXITED(x->status) && WEXITSTATUS(x->status) == m->status)
			outcome_set(&x->outcome, ZUG_OUTCOME_DISCARDED, "exit status %d",
				    m->status);
		else if (m->has_output && x->outcome.kind != ZUG_OUTCOME_ENVIRONMENT &&
			 has_output(ms->s->capture, &m->output))
			outcome_set(&x->outcome, ZUG_OUTCOME_DISCARDED, "output matches %s",
				    m->text + 7);
		else
			continue;
		x->outcome.failure = 0;
		break;
	}
	if (!ms->s->aside)
		ms->discarded += x->outcome.kind == ZUG_OUTCOME_DISCARDED;
}

static void note(void *state, struct campaign_notes *n)
{
	const struct monitors *ms = state;
	size_t len;
	FILE *to = open_memstream(&n->monitors, &len);

	if (!to)
		return;
	if (ms->discarded)
		fprintf(to, "%lu of the executions do not count (--discard-if)\n",
			(unsigned long)ms->discarded);
	for (unsigned int i = 0; i < ms->nr; i++) {
		const struct monitor *m = &ms->list[i];

		if (!m->e || m->tested)
			continue;
		fprintf(to, "%s '%s' was never looked at: %s\n", option_of(m), m->text,
			m->why == -EFAULT ?
				"it follows a pointer to no memory" :
			m->why == -EDOM ?
				"it divides by zero" :
			m->why == -ENOENT ?
				"no process that made a step has mapped the file of its variables" :
				"there was no point");
	}
	fclose(to);
}

const struct point_policy policy_monitors = {
	.size = sizeof(struct monitors),
	.open = open_monitors,
	.release = release_monitors,
	.start = start,
	.watch = watch,
	.settle = settle,
	.judge = judge,
	.note = note,
};
