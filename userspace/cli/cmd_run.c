/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "campaign/campaign.h"
#include "cli/cases.h"
#include "cli/cli_options.h"
#include "zugd/client.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "kernel/interrupt.h"
#include "zugd/protocol.h"
#include "report/report.h"
#include "cli/results.h"

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* What a campaign prints goes where it went, and is kept for the results. */
struct tee {
	FILE *to, *kept;
	bool escape;	/* within a colour, which is not kept */
};

static ssize_t tee_write(void *cookie, const char *buf, size_t len)
{
	struct tee *t = cookie;

	for (size_t i = 0; t->kept && i < len; i++) {
		t->escape |= buf[i] == '\033';
		if (!t->escape)
			putc(buf[i], t->kept);
		else if (buf[i] == 'm')
			t->escape = false;
	}
	fwrite(buf, 1, len, t->to);
	fflush(t->to);
	return len;
}

/* One search whose results are kept under a name. An enum zug_exit. */
static int search_case(struct kernel *k, const struct campaign_options *o, const char *name, struct results *r,
		       FILE *out, FILE *err, const volatile sig_atomic_t *stop)
{
	struct campaign_figures f = { 0 };
	struct campaign *c = NULL;
	uint64_t start = now_ns();
	char *said = NULL;
	size_t len = 0;
	FILE *kept = open_memstream(&said, &len);
	struct tee to[2] = { { .to = out, .kept = kept }, { .to = err, .kept = kept } };
	FILE *tee[2] = { NULL, NULL };
	struct campaign_options own = *o;
	struct report_options ro;
	int ret = ZUG_EXIT_INTERNAL;

	/* what it writes to is no terminal, but may go to one */
	report_options_init(&ro, out);
	report_options_colour(&ro, o->results.colour);
	own.results.colour = ro.colour ? REPORT_COLOUR_ALWAYS : REPORT_COLOUR_NEVER;
	for (int i = 0; i < 2 && kept; i++) {
		tee[i] = fopencookie(&to[i], "w", (cookie_io_functions_t){ .write = tee_write });
		if (tee[i])
			setvbuf(tee[i], NULL, _IOLBF, 0);
	}
	if (tee[0] && tee[1]) {
		ret = campaign_new(&c, k, &own, tee[0], tee[1], stop, -1);
		if (!ret) {
			ret = campaign_run(c);
			campaign_get_figures(c, &f);
		}
		fflush(tee[0]);
		fflush(tee[1]);
	}
	if (kept)
		fclose(kept);
	if (results_add(r, name, ret, now_ns() - start, &f, said))
		ret = ZUG_EXIT_INTERNAL;
	/* what is said while it is freed is no result */
	for (int i = 0; i < 2; i++)
		to[i].kept = NULL;
	campaign_free(c);
	for (int i = 0; i < 2; i++)
		if (tee[i])
			fclose(tee[i]);
	free(said);
	return ret;
}

/* Each test case of the program by itself. An enum zug_exit; the cases are in r. */
static int search_cases(struct kernel *k, const struct run_options *o, struct results *r, FILE *out, FILE *err,
			const volatile sig_atomic_t *stop)
{
	unsigned int cases, failed, incomplete;
	struct campaign_options co = o->c;
	struct case_list l = { 0 };
	struct kernel *own = NULL;
	char line[1024] = "";
	int ret = 0;

	if (cases_list(&l, o->c.command.argv, o->c.command.envp, o->c.command.cwd, line, sizeof(line))) {
		fprintf(err, "zug run: %s\n", line[0] ? line : "out of memory");
		return ZUG_EXIT_USAGE;
	}
	if (!k && kernel_open(&own, line, sizeof(line))) {
		fprintf(err, "zug: %s\n", line);
		cases_free(&l);
		return ZUG_EXIT_ENVIRONMENT;
	}
	for (size_t i = 0; i < l.nr && !(stop && *stop); i++) {
		co.command.argv = cases_command(&l, i, o->c.command.argv);
		if (!co.command.argv) {
			ret = ZUG_EXIT_INTERNAL;
			break;
		}
		fprintf(out, "%scase %zu of %zu: %s\n", i ? "\n" : "", i + 1, l.nr, l.names[i]);
		fflush(out);
		ret = search_case(k ? k : own, &co, l.names[i], r, out, err, stop);
		cases_free_command(co.command.argv);
		/* what is wrong with the machine or the command line is so for all of them */
		if (ret != ZUG_EXIT_PASS && ret != ZUG_EXIT_FINDING && ret != ZUG_EXIT_INCOMPLETE)
			break;
	}
	results_count(r, &cases, &failed, &incomplete);
	fprintf(out, "\n%u of %zu cases searched: %u passed, %u failed, %u incomplete\n", cases, l.nr,
		cases - failed - incomplete, failed, incomplete);
	kernel_close(own);
	ret = cases < l.nr && results_exit(r) == ZUG_EXIT_PASS ? ZUG_EXIT_INCOMPLETE : results_exit(r);
	cases_free(&l);
	return ret;
}

static int write_results(const struct run_options *o, const struct results *r, int ret, FILE *err)
{
	char line[4200];

	if (o->junit && results_write_junit(r, o->junit, line, sizeof(line))) {
		fprintf(err, "zug run: --junit: %s\n", line);
		ret = ret == ZUG_EXIT_FINDING ? ret : ZUG_EXIT_ENVIRONMENT;
	}
	if (o->json && results_write_json(r, o->json, line, sizeof(line))) {
		fprintf(err, "zug run: --json: %s\n", line);
		ret = ret == ZUG_EXIT_FINDING ? ret : ZUG_EXIT_ENVIRONMENT;
	}
	return ret;
}

/* "./test --all": the command as a person would write it. */
static char *command_line(char *const *argv)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	for (int i = 0; argv[i]; i++)
		fprintf(f, "%s%s", i ? " " : "", argv[i]);
	fclose(f);
	return text;
}

int run_execute(struct kernel *k, int argc, char **argv, FILE *out, FILE *err,
		const volatile sig_atomic_t *stop)
{
	struct results *r = NULL;
	struct run_options o;
	struct campaign *c;
	char *name = NULL;
	int ret;

	ret = cli_run_options(&o, RUN_COMMAND, argc, argv);
	if (!ret && (o.each_case || o.junit || o.json)) {
		name = command_line(o.c.command.argv);
		r = name ? results_new(name) : NULL;
		ret = !r ? ZUG_EXIT_INTERNAL : o.each_case ? search_cases(k, &o, r, out, err, stop) :
		      search_case(k, &o.c, name, r, out, err, stop);
		if (r)
			ret = write_results(&o, r, ret, err);
		results_free(r);
		free(name);
	} else if (!ret) {
		ret = campaign_new(&c, k, &o.c, out, err, stop, -1);
		if (!ret) {
			ret = campaign_run(c);
			campaign_free(c);
		}
	}
	run_options_free(&o);
	return ret;
}

int cmd_run(int argc, char **argv)
{
	struct run_options o;
	int ret, fd;

	ret = cli_run_options(&o, RUN_COMMAND, argc, argv);
	if (ret) {
		ret = ret == -1 ? ZUG_EXIT_PASS : ret;
		goto out;
	}
	fd = client_connect(protocol_socket(o.socket));
	if (fd >= 0) {
		ret = client_hand_over(fd, "run", argc - 1, argv + 1, ZUG_EXIT_ENVIRONMENT);
	} else if (o.socket) {
		fprintf(stderr, "zug run: no zugd at %s: %s\n", o.socket, strerror(-fd));
		ret = ZUG_EXIT_ENVIRONMENT;
	} else {
		interrupt_catch();
		ret = run_execute(NULL, argc, argv, stdout, stderr, interrupt_flag());
	}
out:
	run_options_free(&o);
	return ret;
}
