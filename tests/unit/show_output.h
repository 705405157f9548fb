/* SPDX-License-Identifier: GPL-2.0-only */
/* show_output.h - what zug show prints, for the tests of it; included once in a test */
#ifndef ZUG_TESTS_SHOW_OUTPUT_H
#define ZUG_TESTS_SHOW_OUTPUT_H

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/commands.h"

/* Runs "zug show ARGS" (NULL at the end) with output and errors caught together; malloc'd. */
static char *show(int want, ...)
{
	char *argv[16] = { (char *)"show" }, *out = calloc(1, 1 << 20);
	int argc = 1, fds[2], status;
	size_t len = 0;
	ssize_t n;
	va_list ap;
	pid_t pid;

	assert_non_null(out);
	va_start(ap, want);
	while ((argv[argc] = va_arg(ap, char *)))
		argc++;
	va_end(ap);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(fds[1], 1);
		dup2(fds[1], 2);
		close(fds[0]);
		close(fds[1]);
		optind = 0;
		status = cmd_show(argc, argv);
		fflush(stdout);
		_exit(status);
	}
	close(fds[1]);
	while ((n = read(fds[0], out + len, (1 << 20) - 1 - len)) > 0)
		len += n;
	close(fds[0]);
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != want)
		print_message("status %x, output: %s\n", status, out);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), want);
	return out;
}

static void expect(const char *out, const char *text)
{
	if (!strstr(out, text))
		print_message("no '%s' in:\n%s\n", text, out);
	assert_non_null(strstr(out, text));
}

static inline void expect_not(const char *out, const char *text)
{
	if (strstr(out, text))
		print_message("'%s' in:\n%s\n", text, out);
	assert_null(strstr(out, text));
}

#endif
