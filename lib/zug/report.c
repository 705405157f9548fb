/* SPDX-License-Identifier: GPL-2.0-only */
/* report.c - the lines that a test prints when it has failed, and what errors mean */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/base/shell_word.h"
#include "lib/zug/internal.h"
#include "lib/zug/report.h"

static const struct {
	int error;
	const char *text;
} texts[] = {
	{ ZUG_OK, "no error" },
	{ ZUG_E_NOT_OPERATION, "the calling thread is not the operation that has the turn" },
	{ ZUG_E_UNKNOWN, "no such operation or resource in this execution" },
	{ ZUG_E_STARTED, "the operation has been started already" },
	{ ZUG_E_NOT_OWN, "only the operation itself can complete it" },
	{ ZUG_E_COMPLETED, "the operation has ended" },
	{ ZUG_E_SELF, "an operation cannot wait for its own end" },
	{ ZUG_E_DELETED, "the resource has been deleted" },
	{ ZUG_E_BUSY, "the resource has waiters, or a test is running" },
	{ ZUG_E_INVALID, "an argument makes no sense" },
	{ ZUG_E_MANY, "more operations or resources than there can be" },
	{ ZUG_E_MEMORY, "out of memory" },
	{ ZUG_E_OVER, "the execution has failed" },
	{ ZUG_E_NOT_ATTACHED, "no execution is attached" },
	{ ZUG_E_OPTION, "an option was refused" },
	{ ZUG_E_REPLAY, "the trace cannot be replayed" },
	{ ZUG_E_THREAD, "no thread could be created" },
	{ ZUG_E_ROOT, "the first operation ends with zug_detach()" },
	{ ZUG_E_STUCK, "an operation has not come to a point for too long" },
	{ ZUG_E_WRITE, "the trace could not be written" },
};

const char *zug_strerror(int error)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].error == error)
			return texts[i].text;
	return error > 0 ? "a finding" : "no error of libzug";
}

static const char *plural(unsigned long nr)
{
	return nr == 1 ? "" : "s";
}

static void say_operation(uint32_t task, const struct zug_label *l)
{
	const struct place *p = place_of(l->site);
	char name[64];

	object_name(l->object, name, sizeof(name));
	fprintf(stderr, "      T%u (%s) does %s%s%s", task, task < z.nr_ops && z.ops[task] ? z.ops[task]->name : "?",
		zug_op_name(l->op), name[0] ? " " : "", name);
	if (p && p->line)
		fprintf(stderr, "  %s %s:%d", p->func, p->file, p->line);
	fprintf(stderr, "\n");
}

static void say_pairs(const struct trace_minimized *m)
{
	if (m->critical.known || m->critical.torn) {
		fprintf(stderr, m->critical.known ? "it fails when\n" : "it may fail because\n");
		say_operation(m->critical.first_task, &m->critical.first);
		fprintf(stderr, "  before\n");
		say_operation(m->critical.second_task, &m->critical.second);
	}
	if (m->critical.known)
		fprintf(stderr, "  and passes when these two%s come the other way round\n",
			m->critical.alone ? " alone" : "");
	else if (m->critical.torn)
		fprintf(stderr, "  and what was read before that change is the base of a later one; no schedule\n"
			"  without that was seen to pass\n");
	for (uint32_t i = 0; i < m->nr_pairs; i++) {
		fprintf(stderr, "step %lu: the turn goes from T%u to T%u; T%u is stopped before\n",
			(unsigned long)m->pairs[i].step, m->pairs[i].preempted, m->pairs[i].by, m->pairs[i].preempted);
		say_operation(m->pairs[i].preempted, &m->pairs[i].before);
	}
}

char **report_command(char *words[REPORT_WORDS], char *buf, size_t len)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, buf, len - 1);
	int nr = 0;

	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = 0;
	for (char *p = buf; p < buf + n && nr < REPORT_WORDS - 1; p += strlen(p) + 1)
		words[nr++] = p;
	words[nr] = NULL;
	return words;
}

/* The command that repeats a trace, as a line for a shell. */
static void say_replay(const char *trace)
{
	char *words[REPORT_WORDS], text[4096];

	fputs("ZUG_REPLAY=", stderr);
	shell_word_put(stderr, trace);
	shell_words_put(stderr, report_command(words, text, sizeof(text)));
	putc('\n', stderr);
}

void report_finding(const struct zug_report *r, const char *name, const struct trace_minimized *m,
		    unsigned long found_in)
{
	fprintf(stderr, "zug: %s: found in execution %lu: %s\n", name, found_in, r->failure);
	if (!r->replayed) {
		fprintf(stderr, "zug: %s: but the same schedule does not fail again: the test depends on something "
			"besides the schedule (state of an earlier execution, time, addresses)\n", name);
		return;
	}
	if (m) {
		fprintf(stderr, "minimised in %lu executions: %u preemption%s, %lu steps -> %u preemption%s, %lu step%s\n",
			(unsigned long)m->executions, m->preemptions_before, plural(m->preemptions_before),
			(unsigned long)m->steps_before, r->preemptions, plural(r->preemptions), r->failing_steps,
			plural(r->failing_steps));
		say_pairs(m);
	}
	if (r->result == ZUG_E_WRITE) {
		fprintf(stderr, "zug: %s: %s\n", name, zug_message());
		return;
	}
	fputs("look at it: zug show ", stderr);
	shell_word_put(stderr, r->trace);
	fputs("\nrepeat it:  ", stderr);
	say_replay(r->trace);
}

void report_as_found(const char *name, unsigned long found_in, const char *what, const char *trace)
{
	fprintf(stderr, "zug: %s: execution %lu: %s\n", name, found_in, what);
	if (!trace)
		return;
	fputs("as it was found: ", stderr);
	say_replay(trace);
}

void report_foreign(const char *name)
{
	fprintf(stderr, "zug: %s: calls of a thread that is no operation did nothing (zug_spawn, zug_start_operation and "
		"zug_pthread.h make operations)\n", name);
}

void report_pass(const struct zug_report *r, const char *name)
{
	fprintf(stderr, "zug: %s: nothing found in %lu execution%s, %lu steps%s\n", name, r->executions,
		plural(r->executions), r->steps,
		r->exhausted ? ": these are all that there are within the strategy's bounds" : "");
}

void report_script(const struct zug_report *r, const char *name, const char *script, unsigned int nr, unsigned int unmade)
{
	fprintf(stderr, "zug: %s: under %s: %s\n", name, script, r->failure[0] ? r->failure : "pass");
	if (unmade)
		fprintf(stderr, "the script does not fit the test any more: %u of %u statement%s not made, or only in part\n",
			unmade, nr, plural(nr));
}

void report_replay(const struct zug_report *r, const char *name, const char *divergence)
{
	if (r->replayed)
		fprintf(stderr, "zug: %s: replayed exactly (%lu steps): %s\n", name, r->steps,
			r->failure[0] ? r->failure : "pass");
	else if (divergence)
		fprintf(stderr, "zug: %s: left its trace at %s; then: %s\n", name, divergence,
			r->failure[0] ? r->failure : "pass");
	else
		fprintf(stderr, "zug: %s: followed its trace, but the outcome is another: %s\n", name,
			r->failure[0] ? r->failure : "pass");
}
