/* SPDX-License-Identifier: GPL-2.0-only */
/* zug plan: the prologue of a shard, and the division, which is written; nothing else is searched. */
#include <stdio.h>
#include <string.h>
#include "cli/campaign_text.h"
#include "cli/cli_options.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"

static void sizes_text(FILE *out, const struct campaign_plan *p)
{
	fprintf(out,
		"%lu subtrees, about %.3g executions together%s, by %lu random ones; the largest %.3g, the smallest %.3g\n",
		(unsigned long)p->subtrees, p->total, p->bounds ? " under the greatest bound" : "", (unsigned long)p->measured,
		p->largest, p->smallest);
}

static int plan(struct campaign_text *text, struct campaign *c, FILE *out, FILE *err)
{
	const struct options_search *s = &text->o->search;
	char line[512] = "";
	struct campaign_plan p;
	int ret = campaign_plan(c, &p, line, sizeof(line));

	campaign_text_clear(text);
	if (ret < 0)
		fprintf(err, "zug plan: %s\n", line);
	if (ret == CAMPAIGN_FAILED)
		fputs("an execution failed, as above: there is no plan; mend that first\n", out);
	if (ret == CAMPAIGN_INCOMPLETE)
		fputs("there is no plan: it was ended before the tree was divided\n", out);
	if (ret)
		return exit_of_campaign(ret);
	sizes_text(out, &p);
	if (p.subtrees < s->subtrees)
		fprintf(out, "there are no more: the tree is small, and one machine may do\n");
	fprintf(out, "plan: %s (zug run --shard K/N --plan %s, with the same options)\n", s->plan, s->plan);
	return ZUG_EXIT_PASS;
}

int plan_execute(struct kernel *k, int argc, char **argv, FILE *out, FILE *err, const volatile sig_atomic_t *stop)
{
	struct campaign_text text;
	struct run_options o;
	struct campaign *c;
	int ret = cli_run_options(&o, RUN_PLAN, argc, argv);

	if (!ret) {
		campaign_text_init(&text, &o.c, out, err);
		ret = campaign_text_new(&text, &c, k, stop);
		if (!ret) {
			ret = plan(&text, c, out, err);
			campaign_free(c);
		}
	}
	run_options_free(&o);
	return ret;
}

int cmd_plan(int argc, char **argv)
{
	return command_with_run_options(RUN_PLAN, "plan", argc, argv, plan_execute);
}
