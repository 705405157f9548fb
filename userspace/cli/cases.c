/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The test cases in a test program: has the program asked for its list, parses what it prints, and makes
 * the command for one case. frameworks[] has the arguments of each framework; cases_list() tries
 * them in turn.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/cases.h"

/*
 * Arguments that make the program print the list, and those that run one case (its name follows).
 */
static const struct {
	const char *list[4];
	const char *run[3];
} frameworks[CASES_NR] = {
	[CASES_GOOGLETEST] = { { "--gtest_list_tests" }, { "--gtest_filter=" } },
	[CASES_CATCH2] = { { "--list-tests", "--verbosity", "quiet" }, { "" } },
	[CASES_CATCH2_OLD] = { { "--list-test-names-only" }, { "" } },
	[CASES_RUST] = { { "--list", "--format", "terse" }, { "--exact", "--test-threads=1", "" } },
};

/*
 * The first line of Catch2's list without "quiet"; a quiet list could be the output of any program.
 */
static const char catch2_head[] = "All available test cases:";

static int add(struct case_list *l, const char *name, size_t len)
{
	char **names = realloc(l->names, (l->nr + 2) * sizeof(*names));

	if (!names)
		return -ENOMEM;
	l->names = names;
	names[l->nr] = strndup(name, len);
	if (!names[l->nr])
		return -ENOMEM;
	names[++l->nr] = NULL;
	return 0;
}

void cases_free(struct case_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->names[i]);
	free(l->names);
	memset(l, 0, sizeof(*l));
}

/* "Suite." and below it "  Name", with a comment about its parameters. */
static int parse_googletest(struct case_list *l, const char *line, size_t n, char *suite,
			    size_t size)
{
	char name[1024];
	size_t len = 0;

	if (!strncmp(line, "Running main() from ", 20))
		return 0;
	while (len < n && line[len] != ' ' && line[len] != '#')
		len++;
	if (line[0] != ' ') {
		if (!len || line[len - 1] != '.' || len >= size ||
		    (len < n && strncmp(line + len, "  # ", 4)))
			return -EINVAL;
		snprintf(suite, size, "%.*s", (int)len, line);
		return 0;
	}
	for (len = 2; len < n && line[len] != ' '; len++)
		;
	if (n < 3 || line[1] != ' ' || line[2] == ' ' || !suite[0] ||
	    (len < n && strncmp(line + len, "  # ", 4)))
		return -EINVAL;
	/* a disabled one is not run by its name either */
	if (!strncmp(line + 2, "DISABLED_", 9) || !strncmp(suite, "DISABLED_", 9) ||
	    strstr(suite, "/DISABLED_"))
		return 0;
	snprintf(name, sizeof(name), "%s%.*s", suite, (int)(len - 2), line + 2);
	return add(l, name, strlen(name));
}

/* "module::name: test" */
static int parse_rust(struct case_list *l, const char *line, size_t n)
{
	if (n > 11 && !strncmp(line + n - 11, ": benchmark", 11))
		return 0;
	if (n < 7 || strncmp(line + n - 6, ": test", 6))
		return -EINVAL;
	return add(l, line, n - 6);
}

int cases_parse(struct case_list *l, enum case_framework framework, const char *text, int exit)
{
	char suite[512] = "";
	size_t n;
	int ret = 0;

	memset(l, 0, sizeof(*l));
	l->framework = framework;
	/* Catch2 2 ends with the number of its tests */
	if (exit && framework != CASES_CATCH2_OLD)
		return -EINVAL;
	for (; *text && !ret; text += n + (text[n] == '\n')) {
		size_t len;

		n = len = strcspn(text, "\n");
		while (len && (text[len - 1] == '\r' ||
			       (framework != CASES_CATCH2 && text[len - 1] == ' ')))
			len--;
		if (!len)
			continue;
		if (framework == CASES_GOOGLETEST)
			ret = parse_googletest(l, text, len, suite, sizeof(suite));
		else if (framework == CASES_RUST)
			ret = parse_rust(l, text, len);
		else if (!strncmp(text, catch2_head, strlen(catch2_head)))
			ret = -EINVAL;	/* version 2 knows no quiet list */
		else
			ret = add(l, text, len);
	}
	if (!ret && framework == CASES_CATCH2_OLD && exit != (int)(l->nr & 0xff))
		ret = -EINVAL;
	if (!ret && !l->nr)
		ret = -EINVAL;
	if (ret)
		cases_free(l);
	return ret;
}

static char **extend(char *const *argv, const char *const *more, size_t nr_more, const char *last)
{
	size_t n = 0, k = 0;
	char **v;

	while (argv[n])
		n++;
	v = calloc(n + nr_more + 1, sizeof(*v));
	if (!v)
		return NULL;
	for (size_t i = 0; i < n + nr_more; i++) {
		const char *word = i < n ? argv[i] : more[k++];
		int ret = last && i == n + nr_more - 1 ? asprintf(&v[i], "%s%s", word, last) :
							 asprintf(&v[i], "%s", word);

		if (ret < 0) {
			v[i] = NULL;
			cases_free_command(v);
			return NULL;
		}
	}
	return v;
}

void cases_free_command(char **command)
{
	for (char **p = command; p && *p; p++)
		free(*p);
	free(command);
}

char **cases_command(const struct case_list *l, size_t i, char *const *argv)
{
	const char *const *run = frameworks[l->framework].run;
	bool catch2 = l->framework == CASES_CATCH2 || l->framework == CASES_CATCH2_OLD;
	char *name = malloc(2 * strlen(l->names[i]) + 1), **command, *to = name;
	size_t nr = 0;

	if (!name)
		return NULL;
	/* Catch2 reads a name as an expression */
	for (const char *p = l->names[i]; *p; p++) {
		if (catch2 && strchr("\\,[]\"*~", *p))
			*to++ = '\\';
		*to++ = *p;
	}
	*to = 0;
	while (nr < 3 && run[nr])
		nr++;
	command = extend(argv, run, nr, name);
	free(name);
	return command;
}

static bool is_catch2(char *const *argv, cases_output_fn *output, void *ctx)
{
	static const char *const list[] = { "--list-tests" };
	char **command = extend(argv, list, 1, NULL), *text;
	int exit_status;
	bool is;

	text = command ? output(ctx, command, &exit_status) : NULL;
	is = text && !strncmp(text, catch2_head, strlen(catch2_head));
	cases_free_command(command);
	free(text);
	return is;
}

int cases_list(struct case_list *l, char *const *argv, cases_output_fn *output, void *ctx, char *err, size_t errlen)
{
	static const enum case_framework order[] = { CASES_GOOGLETEST, CASES_RUST, CASES_CATCH2,
						     CASES_CATCH2_OLD };
	char **command, *text;
	size_t nr;
	int ret, exit_status;

	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++) {
		const char *const *list = frameworks[order[k]].list;

		if (order[k] == CASES_CATCH2 && !is_catch2(argv, output, ctx))
			break;
		for (nr = 0; nr < 4 && list[nr]; nr++)
			;
		command = extend(argv, list, nr, NULL);
		if (!command)
			return -ENOMEM;
		text = output(ctx, command, &exit_status);
		cases_free_command(command);
		if (!text)
			continue;
		ret = cases_parse(l, order[k], text, exit_status);
		free(text);
		if (ret != -EINVAL)
			return ret;
	}
	snprintf(err, errlen,
		 "--each-case: %s does not list its cases as GoogleTest, Catch2 or Rust's tests do "
		 "(--gtest_list_tests, --list-tests, --list)",
		 argv[0]);
	return -EINVAL;
}
