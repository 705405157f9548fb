/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zug run: a search (campaign_text.h renders it). With --junit or --json what it prints is kept,
 * too, for the results (results.h); with --each-case there is a search for each test case of the
 * program (cases.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/base/clock.h"
#include "campaign/run_options.h"
#include "kernel/kernel.h"
#include "cli/campaign_text.h"
#include "cli/cases.h"
#include "cli/cli_options.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "report/report.h"
#include "cli/results.h"

/* A stream that passes on what is written, and keeps it for the results. */
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

/* Streams that write to out and err, and keep what is written. */
struct kept {
	struct tee to[2];
	FILE *streams[2], *text_stream;
	char *text;
	size_t len;
};

static int kept_open(struct kept *k, FILE *out, FILE *err)
{
	*k = (struct kept){ 0 };
	k->text_stream = open_memstream(&k->text, &k->len);
	for (int i = 0; i < 2; i++) {
		k->to[i] = (struct tee){ .to = i ? err : out, .kept = k->text_stream };
		k->streams[i] =
			fopencookie(&k->to[i], "w", (cookie_io_functions_t){ .write = tee_write });
		if (k->streams[i])
			setvbuf(k->streams[i], NULL, _IOLBF, 0);
	}
	return k->text_stream && k->streams[0] && k->streams[1] ? 0 : -ENOMEM;
}

/* Keeps nothing more: the text is complete. */
static void kept_end(struct kept *k)
{
	for (int i = 0; i < 2; i++) {
		if (k->streams[i])
			fflush(k->streams[i]);
		k->to[i].kept = NULL;
	}
	if (k->text_stream)
		fclose(k->text_stream);
}

static void kept_close(struct kept *k)
{
	for (int i = 0; i < 2; i++)
		if (k->streams[i])
			fclose(k->streams[i]);
	free(k->text);
}

/* One search whose results are kept under a name. An enum zug_exit. */
static int search_case(struct kernel *k, const struct campaign_options *o, const char *name,
		       struct results *r, FILE *out, FILE *err, const volatile sig_atomic_t *stop)
{
	struct campaign_result result = { 0 };
	struct point_table points = { 0 };
	struct campaign_options own = *o;
	struct campaign *c = NULL;
	uint64_t start = clock_now_ns();
	struct report_options ro;
	struct campaign_text text;
	int ret = ZUG_EXIT_INTERNAL;
	struct kept kept;

	/* what it writes to is no terminal, but may go to one */
	report_options_init(&ro, out);
	report_options_colour(&ro, o->results.colour);
	own.results.colour = ro.colour ? REPORT_COLOUR_ALWAYS : REPORT_COLOUR_NEVER;
	if (!kept_open(&kept, out, err)) {
		campaign_text_init(&text, &own, kept.streams[0], kept.streams[1]);
		ret = campaign_text_new(&text, &c, k, stop);
		if (!ret) {
			ret = campaign_text_run(&text, c);
			campaign_get_result(c, &result);
		}
	}
	kept_end(&kept);
	if (c && o->results.list_points && campaign_points(c, &points))
		ret = ZUG_EXIT_INTERNAL;
	if (results_add(r, name, ret, clock_now_ns() - start, &result, &points, kept.text))
		ret = ZUG_EXIT_INTERNAL;
	point_table_release(&points);
	/* where the record is, is no result */
	if (c)
		campaign_text_end(&text, c);
	campaign_free(c);
	kept_close(&kept);
	return ret;
}

/* How the program is asked for its cases. */
struct lister {
	struct kernel *k;
	const struct campaign_options *o;
	FILE *err;
	const volatile sig_atomic_t *stop;
	int ret;	/* an enum zug_exit: it cannot be asked, and a message was printed */
};

/* All that the last execution wrote to its standard output; NULL: no memory. */
static char *whole_output(struct campaign *c)
{
	int fd = memfd_create("zug-list", MFD_CLOEXEC), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	char *text = NULL;
	struct stat st;

	if (fd >= 0 && null >= 0) {
		campaign_pass_on(c, fd, null);
		text = fstat(fd, &st) ? NULL : calloc(1, st.st_size + 1);
		if (text && pread(fd, text, st.st_size, 0) != st.st_size) {
			free(text);
			text = NULL;
		}
	}
	if (fd >= 0)
		close(fd);
	if (null >= 0)
		close(null);
	return text;
}

/* One execution, as those of the search are, but without points. A cases_output_fn. */
static char *output_of(void *ctx, char *const *argv, int *exit_status)
{
	struct lister *l = ctx;
	struct campaign_options o = *l->o;
	struct campaign_text text;
	struct campaign *c = NULL;
	enum campaign_step what;
	struct execution x;
	char line[1024] = "", *output = NULL;
	int ret;

	if (l->ret)
		return NULL;
	o.command.argv = (char **)argv;
	o.points = (struct options_points){ 0 };
	o.failure.match = NULL;
	o.failure.invariants = o.failure.discards = NULL;
	o.inputs.file = NULL;
	o.inputs.faults = 0;
	o.machine.start = START_EXEC;
	o.results.record = NULL;
	campaign_text_init(&text, &o, l->err, l->err);
	l->ret = campaign_text_new(&text, &c, l->k, l->stop);
	if (l->ret)
		return NULL;
	ret = campaign_step(c, &x, &what, line, sizeof(line));
	if (ret)
		l->ret = campaign_text_error(&text, ret, line);
	else if (l->stop && *l->stop)
		l->ret = ZUG_EXIT_INCOMPLETE;
	else if (x.status != -1 && WIFEXITED(x.status))
		output = whole_output(c);
	if (output)
		*exit_status = WEXITSTATUS(x.status);
	campaign_free(c);
	return output;
}

/* Each test case of the program by itself. An enum zug_exit; the cases are in r. */
static int search_cases(struct kernel *k, const struct run_options *o, struct results *r, FILE *out,
			FILE *err, const volatile sig_atomic_t *stop)
{
	unsigned int cases, failed, incomplete;
	struct campaign_options co = o->c;
	struct lister lister = { .o = &o->c, .err = err, .stop = stop };
	struct case_list l = { 0 };
	struct kernel *own = NULL;
	bool no_memory = false;
	char line[1024] = "";
	int ret = 0;

	if (!k && kernel_open(&own, line, sizeof(line))) {
		fprintf(err, "zug: %s\n", line);
		return ZUG_EXIT_ENVIRONMENT;
	}
	lister.k = k ? k : own;
	if (cases_list(&l, o->c.command.argv, output_of, &lister, line, sizeof(line))) {
		if (!lister.ret)
			fprintf(err, "zug run: %s\n", line[0] ? line : "out of memory");
		kernel_close(own);
		return lister.ret ? lister.ret : ZUG_EXIT_USAGE;
	}
	for (size_t i = 0; i < l.nr && !(stop && *stop); i++) {
		co.command.argv = cases_command(&l, i, o->c.command.argv);
		no_memory = !co.command.argv;
		if (no_memory)
			break;
		fprintf(out, "%scase %zu of %zu: %s\n", i ? "\n" : "", i + 1, l.nr, l.names[i]);
		fflush(out);
		ret = search_case(k ? k : own, &co, l.names[i], r, out, err, stop);
		cases_free_command(co.command.argv);
		/* what is wrong with the machine or the command line is so for all of them */
		if (ret != ZUG_EXIT_PASS && ret != ZUG_EXIT_FINDING && ret != ZUG_EXIT_INCOMPLETE)
			break;
	}
	results_count(r, &cases, &failed, &incomplete);
	fprintf(out, "\n%u of %zu cases searched: %u passed, %u failed, %u incomplete\n", cases,
		l.nr, cases - failed - incomplete, failed, incomplete);
	kernel_close(own);
	ret = no_memory ? ZUG_EXIT_INTERNAL :
	      cases < l.nr && results_exit(r) == ZUG_EXIT_PASS ? ZUG_EXIT_INCOMPLETE : results_exit(r);
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
	struct campaign_text text;
	struct run_options o;
	struct campaign *c;
	char *name = NULL;
	int ret;

	ret = cli_run_options(&o, RUN_COMMAND, argc, argv);
	if (!ret && (o.each_case || o.junit || o.json)) {
		name = command_line(o.c.command.argv);
		r = name ? results_new(name) : NULL;
		ret = !r	  ? ZUG_EXIT_INTERNAL :
		      o.each_case ? search_cases(k, &o, r, out, err, stop) :
				    search_case(k, &o.c, name, r, out, err, stop);
		if (r)
			ret = write_results(&o, r, ret, err);
		results_free(r);
		free(name);
	} else if (!ret) {
		campaign_text_init(&text, &o.c, out, err);
		ret = campaign_text_new(&text, &c, k, stop);
		if (!ret) {
			ret = campaign_text_run(&text, c);
			campaign_text_end(&text, c);
			campaign_end(c);
			kernel_over(k, ret);
			campaign_free(c);
		}
	}
	run_options_free(&o);
	return ret;
}

int cmd_run(int argc, char **argv)
{
	return command_with_run_options(RUN_COMMAND, "run", argc, argv, run_execute);
}
