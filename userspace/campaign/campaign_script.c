/* SPDX-License-Identifier: GPL-2.0-only */
/* What came of a script (search/script.h): which of its statements were made, and why others were not. */
#include <errno.h>
#include <stdio.h>
#include "campaign/campaign_internal.h"
#include "campaign/run_options.h"
#include "cli/exit_codes.h"
#include "engine/faults.h"
#include "campaign/script.h"

/* Is it a statement of a program that is no more? */
static bool is_gone(const struct search_script_line *l)
{
	return l->state == SEARCH_SCRIPT_GONE || l->state == SEARCH_SCRIPT_UNTIL_GONE || l->state == SEARCH_SCRIPT_NO_TASK;
}

static void tell_line(const struct campaign *c, const struct search_script_line *l, FILE *out)
{
	unsigned long came = l->came;

	fprintf(out, "  %s:%u: %s\n    ", c->o.search.script->path, l->line, l->text);
	switch (l->state) {
	case SEARCH_SCRIPT_MADE:
		break;
	case SEARCH_SCRIPT_PART:
		fprintf(out, "made in part: T%u ran, but did not come to where it was to stop\n", l->run);
		break;
	case SEARCH_SCRIPT_UNTIL_GONE:
		fprintf(out, "gone: T%u ran, but does nothing any more like where it was to stop\n", l->run);
		break;
	case SEARCH_SCRIPT_UNABLE:
		if (l->let)
			fprintf(out, "not made: T%u came there, but %s\n", l->task, l->fault ?
				"its call there cannot have that" : "no timer was set");
		else
			fprintf(out, "not made: T%u came there, but T%u could not run then\n", l->task, l->run);
		break;
	case SEARCH_SCRIPT_FEWER:
		fprintf(out, "not made: T%u came there %lu time%s, not %lu\n", l->task, came, came == 1 ? "" : "s",
			(unsigned long)l->nth);
		break;
	case SEARCH_SCRIPT_OTHER:
		fprintf(out, "not made: T%u uses that in this function, but not in this way\n", l->task);
		break;
	case SEARCH_SCRIPT_GONE:
		fprintf(out, "gone: T%u does nothing like that there any more\n", l->task);
		break;
	case SEARCH_SCRIPT_NO_TASK:
		fprintf(out, "gone: there was no T%u\n", l->run_exists ? l->task : l->run);
		break;
	}
}

unsigned int campaign_script_tell_unmade(const struct campaign *c, FILE *out)
{
	unsigned int nr = search_script_lines(c->search), unmade = 0;
	struct search_script_line l;

	for (unsigned int i = 0; i < nr; i++) {
		search_script_line(c->search, i, &l);
		if (l.state == SEARCH_SCRIPT_MADE)
			continue;
		tell_line(c, &l, out);
		unmade++;
	}
	return unmade;
}

int campaign_script_check(const struct campaign_options *o, const struct search *s, char *err, size_t errlen)
{
	unsigned int nr = search_script_lines(s);
	struct search_script_line l;
	char option[64];

	for (unsigned int i = 0; i < nr; i++) {
		search_script_line(s, i, &l);
		if (!l.let || (l.fault ? faults_of(o->inputs.faults, l.fault) >= 0 : o->inputs.explore_timeouts))
			continue;
		if (l.fault)
			snprintf(err, errlen, "%s:%u: no call gets '%s' without 'option %s'", o->search.script->path, l.line,
				 zug_op_name(l.fault),
				 run_options_fault(faults_of(~0u, l.fault), option, sizeof(option)));
		else
			snprintf(err, errlen, "%s:%u: no timer fires early without 'option timeouts explore'",
				 o->search.script->path, l.line);
		return -EINVAL;
	}
	return 0;
}

int campaign_script_tell(struct campaign *c, uint64_t passed)
{
	unsigned int nr = search_script_lines(c->search), made = 0, gone = 0;
	bool failed = c->nr_failures, fits;
	struct search_script_line l;
	char t[32];

	for (unsigned int i = 0; i < nr; i++) {
		search_script_line(c->search, i, &l);
		made += l.state == SEARCH_SCRIPT_MADE;
		gone += is_gone(&l);
	}
	if (!failed && !passed) {
		fprintf(c->out, "%s: no execution of it counts\n", c->o.search.script->path);
		campaign_monitors_tell(c, c->out);
		return ZUG_EXIT_INCOMPLETE;
	}
	/* a correction may take away some of its places; where nothing is left, it is about another program */
	fits = !(nr && gone == nr) && !(search_script_strict(c->search) && made < nr);
	if (failed)
		fprintf(c->out, "%s: ", c->o.search.script->path);
	else
		fprintf(c->out, "%s under %s (%lu execution%s, %s): ", fits ? "passed" : "did not fail",
			c->o.search.script->path, (unsigned long)c->executions, c->executions == 1 ? "" : "s",
			campaign_seconds(campaign_now() - c->start_ns, t, sizeof(t)));
	fprintf(c->out, "%u of %u statements made\n", made, nr);
	if (!failed)
		campaign_monitors_tell(c, c->out);
	/* a failure may come before the last of them */
	if (!failed)
		campaign_script_tell_unmade(c, c->out);
	if (!failed && fits && gone)
		fprintf(c->out, "a correction may take away what is gone; if none did, pin the failure again (zug pin): with "
			"'strict' this is an error\n");
	if (!failed && !fits)
		fprintf(c->out, "%s does not fit the program%s: mend it, or pin the failure again (zug pin)\n",
			c->o.search.script->path, gone == nr ? " any more" : ", and it is 'strict'");
	fflush(c->out);
	return failed ? ZUG_EXIT_FINDING : fits ? ZUG_EXIT_PASS : ZUG_EXIT_SCRIPT;
}
