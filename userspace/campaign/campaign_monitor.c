/* SPDX-License-Identifier: GPL-2.0-only */
/* --invariant and --discard-if: expressions over the test's variables, looked at before every step. */
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include "search/identity.h"
#include "campaign/campaign_internal.h"
#include "cli/exit_codes.h"
#include "symbols/expr.h"

/* One option. Exactly one of expression, status and output is what it looks at. */
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
	struct monitor *list;
	unsigned int nr;
	struct symfile **files;		/* where names are looked for, in this order */
	uint32_t *modules;		/* of these files */
	uint32_t process;		/* whose memory is looked at, and its id */
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
			snprintf(err, errlen, "--discard-if %s: not an exit status from 0 to 255", m->text);
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

int campaign_monitors_new(struct campaign *c, char *err, size_t errlen)
{
	char **const lists[] = { c->o.failure.invariants, c->o.failure.discards };
	struct monitors *ms = calloc(1, sizeof(*ms));
	unsigned int nr = 0;
	int ret = 0;

	for (int k = 0; k < 2; k++)
		for (char **t = lists[k]; t && *t; t++)
			nr++;
	if (!nr) {
		free(ms);
		return 0;
	}
	c->monitors = ms;
	if (ms)
		ms->list = calloc(nr, sizeof(*ms->list));
	if (!ms || !ms->list) {
		snprintf(err, errlen, "out of memory");
		return -ENOMEM;
	}
	for (int k = 0; k < 2; k++)
		for (char **t = lists[k]; t && *t && !ret; t++) {
			struct monitor *m = &ms->list[ms->nr++];

			m->text = *t;
			m->discard = k == 1;
			ret = parse(m, err, errlen);
		}
	return ret;
}

void campaign_monitors_free(struct campaign *c)
{
	struct monitors *ms = c->monitors;

	if (!ms)
		return;
	for (unsigned int i = 0; i < ms->nr; i++) {
		expr_free(ms->list[i].e);
		if (ms->list[i].has_output)
			regfree(&ms->list[i].output);
	}
	free(ms->list);
	free(ms->files);
	free(ms->modules);
	free(ms);
}

/* The command itself, other programs, libraries, the C library: whose names are meant first. */
#define RANKS 4
static int rank(const struct campaign *c, const struct probe_module *m)
{
	if (!strcmp(m->path, c->file))
		return 0;
	return symfile_libc(m->file) != SYMLIBC_NONE ? 3 : symfile_interp(m->file) ? 1 : 2;
}

static int order_files(struct campaign *c)
{
	unsigned int nr = probes_nr_modules(c->probes), n = 0;
	struct monitors *ms = c->monitors;

	free(ms->files);
	free(ms->modules);
	ms->files = calloc(nr + 1, sizeof(*ms->files));
	ms->modules = calloc(nr + 1, sizeof(*ms->modules));
	if (!ms->files || !ms->modules)
		return -ENOMEM;
	for (int k = 0; k < RANKS; k++)
		for (unsigned int i = 0; i < nr; i++)
			if (probes_module(c->probes, i)->file && rank(c, probes_module(c->probes, i)) == k) {
				ms->files[n] = probes_module(c->probes, i)->file;
				ms->modules[n++] = i;
			}
	return n;
}

int campaign_monitors_resolve(struct campaign *c, bool last, char *err, size_t errlen)
{
	struct monitors *ms = c->monitors;
	char why[700];
	int ret, nr;

	if (!ms)
		return 0;
	nr = order_files(c);
	if (nr < 0) {
		snprintf(err, errlen, "out of memory");
		return ZUG_EXIT_INTERNAL;
	}
	for (unsigned int i = 0; i < ms->nr; i++) {
		struct monitor *m = &ms->list[i];

		if (!m->e)
			continue;
		ret = expr_resolve(m->e, ms->files, nr, why, sizeof(why));
		m->resolved = !ret;
		/* what it names may be in a file that is mapped later */
		if (!ret || (ret == -ENOENT && !last))
			continue;
		snprintf(err, errlen, "%s '%s': %s", option_of(m), m->text, why);
		return ret == -ENOMEM ? ZUG_EXIT_INTERNAL : ZUG_EXIT_USAGE;
	}
	return 0;
}

/* ---- in an execution ---- */

static int get_bias(void *ctx, unsigned int file, uint64_t *bias)
{
	struct campaign *c = ctx;

	return places_bias(c->places, c->monitors->process, c->monitors->modules[file], bias);
}

static int get_memory(void *ctx, uint64_t addr, void *to, size_t len)
{
	struct campaign *c = ctx;
	struct iovec a = { to, len }, b = { (void *)addr, len };

	return process_vm_readv(c->monitors->tgid, &a, 1, &b, 1, 0) == (ssize_t)len ? 0 : -EFAULT;
}

static bool violated(struct campaign *c, struct monitor *m, uint32_t task, const struct expr_memory *memory,
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
			outcome_set(o, ZUG_OUTCOME_INVARIANT, "%s does not hold after what T%u did: %s", m->text, task,
				    values);
		/* the values and the task do not make it another bug */
		o->failure = m->discard ? 0 : identity_message(m->text);
		return true;
	}
	return false;
}

/* What a task did changed the memory of its own process, or shared memory that is seen from there. */
bool campaign_monitors_look(void *ctx, uint32_t task, struct outcome *o)
{
	struct campaign *c = ctx;
	const struct expr_memory memory = { .bias = get_bias, .read = get_memory, .ctx = c };
	struct monitors *ms = c->monitors;
	const struct world_task *t;

	if (task >= c->world->nr_tasks)
		return false;
	t = &c->world->tasks[task];
	/* of one that has ended the others of its process see the memory */
	for (uint32_t i = 0; i < c->world->nr_tasks && t->state == TASK_DEAD; i++)
		if (c->world->tasks[i].process == t->process && c->world->tasks[i].state != TASK_NONE &&
		    c->world->tasks[i].state != TASK_DEAD)
			t = &c->world->tasks[i];
	if (t->state == TASK_NONE || t->state == TASK_DEAD)
		return false;
	ms->process = t->process;
	ms->tgid = t->tgid;
	for (unsigned int i = 0; i < ms->nr; i++)
		if (ms->list[i].resolved && violated(c, &ms->list[i], task, &memory, o))
			return true;
	return false;
}

bool campaign_monitors_watch(const struct campaign *c)
{
	for (unsigned int i = 0; c->monitors && i < c->monitors->nr; i++)
		if (c->monitors->list[i].e)
			return true;
	return false;
}

static bool has_output(struct campaign *c, const regex_t *re)
{
	char *head, *tail;
	bool found = false;

	for (int i = 0; i < 2 && !found; i++) {
		if (capture_text(c->capture, i, &head, &tail))
			continue;
		found = !regexec(re, head, 0, NULL, 0) || (tail && !regexec(re, tail, 0, NULL, 0));
		free(head);
		free(tail);
	}
	return found;
}

void campaign_monitors_end(struct campaign *c, struct execution *x)
{
	struct monitors *ms = c->monitors;

	for (unsigned int i = 0; ms && i < ms->nr; i++) {
		const struct monitor *m = &ms->list[i];

		if (x->status >= 0 && WIFEXITED(x->status) && WEXITSTATUS(x->status) == m->status)
			outcome_set(&x->outcome, ZUG_OUTCOME_DISCARDED, "exit status %d", m->status);
		else if (m->has_output && x->outcome.kind != ZUG_OUTCOME_ENVIRONMENT && has_output(c, &m->output))
			outcome_set(&x->outcome, ZUG_OUTCOME_DISCARDED, "output matches %s", m->text + 7);
		else
			continue;
		x->outcome.failure = 0;
		break;
	}
	if (ms && !c->aside)
		ms->discarded += x->outcome.kind == ZUG_OUTCOME_DISCARDED;
}

void campaign_monitors_tell(const struct campaign *c, FILE *to)
{
	const struct monitors *ms = c->monitors;

	if (!ms)
		return;
	if (ms->discarded)
		fprintf(to, "%lu of the executions do not count (--discard-if)\n", (unsigned long)ms->discarded);
	for (unsigned int i = 0; i < ms->nr; i++) {
		const struct monitor *m = &ms->list[i];

		if (!m->e || m->tested)
			continue;
		fprintf(to, "%s '%s' was never looked at: %s\n", option_of(m), m->text, m->why == -EFAULT ?
			"it follows a pointer to no memory" : m->why == -EDOM ? "it divides by zero" :
			m->why == -ENOENT ? "no process that made a step has mapped the file of its variables" :
			"there was no point");
	}
}
