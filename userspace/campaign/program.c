/* SPDX-License-Identifier: GPL-2.0-only */
/* program.c - the file of a command */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "campaign/program.h"

char *find_program(const struct campaign_options *o, const char *name, char *err, size_t errlen)
{
	const char *path = NULL;
	char buf[PATH_MAX], *real;
	struct stat st;

	for (char **e = o->command.envp; e && *e; e++)
		if (!strncmp(*e, "PATH=", 5))
			path = *e + 5;
	if (strchr(name, '/')) {
		if (name[0] == '/')
			snprintf(buf, sizeof(buf), "%s", name);
		else
			snprintf(buf, sizeof(buf), "%s/%s", o->command.cwd, name);
	} else {
		buf[0] = 0;
		for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p;) {
			size_t n = strcspn(p, ":");

			snprintf(buf, sizeof(buf), "%.*s/%s", (int)n, n ? p : ".", name);
			if (!stat(buf, &st) && S_ISREG(st.st_mode) && !access(buf, X_OK))
				break;
			buf[0] = 0;
			p += n + (p[n] == ':');
		}
		if (!buf[0]) {
			snprintf(err, errlen, "%s: command not found in PATH", name);
			return NULL;
		}
	}
	if (stat(buf, &st)) {
		snprintf(err, errlen, "%s: %s", name, strerror(errno));
		return NULL;
	}
	if (S_ISDIR(st.st_mode)) {
		snprintf(err, errlen, "%s: is a directory", name);
		return NULL;
	}
	if (access(buf, X_OK)) {
		snprintf(err, errlen, "%s: not executable (%s)", name, strerror(errno));
		return NULL;
	}
	real = realpath(buf, NULL);
	if (!real)
		snprintf(err, errlen, "%s: %s", name, strerror(errno));
	return real;
}
