/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cases.h - the test cases in a test program, and how to run one of them
 *
 * GoogleTest, Catch2 (2 and 3) and Rust's own test programs are known, by what they print when they
 * are asked for a list.
 */
#ifndef ZUG_CASES_H
#define ZUG_CASES_H

#include <stddef.h>

enum case_framework { CASES_GOOGLETEST = 0, CASES_CATCH2, CASES_CATCH2_OLD, CASES_RUST, CASES_NR };

struct case_list {
	enum case_framework framework;
	char **names;		/* NULL-terminated */
	size_t nr;
};

/*
 * Executes a command. What it wrote to its standard output, malloc'd, and its exit status; NULL: it did not come to its end.
 */
typedef char *cases_output_fn(void *ctx, char *const *argv, int *exit_status);
/* Asks the program, through output(). 0, or -errno with a line in err. */
int cases_list(struct case_list *l, char *const *argv, cases_output_fn *output, void *ctx, char *err, size_t errlen);
/*
 * The same from what a program has printed; exit: its status. -EINVAL: this is not that framework's
 * list.
 */
int cases_parse(struct case_list *l, enum case_framework framework, const char *text, int exit);
void cases_free(struct case_list *l);

/*
 * The command for one case: argv with what selects it; free with cases_free_command(). NULL: no
 * memory.
 */
char **cases_command(const struct case_list *l, size_t i, char *const *argv);
void cases_free_command(char **command);

#endif
