/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zugd runs with copies of its libraries: for tests that join, the machine's own libc is probed,
 * and a zugd that uses the same one would stop at its own breakpoints, many thousand times while it
 * reads symbols.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/file_copy.h"
#include "lib/base/mappings.h"
#include "lib/base/proc_status.h"
#include "zugd/daemon.h"

#define MARK "ZUGD_LIBRARIES"		/* the folder; set: this is the second start */
#define BEFORE "ZUGD_LD_LIBRARY_PATH"	/* what LD_LIBRARY_PATH was */

static bool copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out;
	bool ok;

	if (in < 0)
		return false;
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	ok = out >= 0 && !file_copy(in, out);
	close(in);
	if (out >= 0 && close(out))
		ok = false;
	return ok;
}

/* Calls fn for every library that is mapped, once. */
static bool each_library(bool (*fn)(const char *path, const char *dir), const char *dir)
{
	char last[PATH_MAX] = "";
	struct mappings ms;
	struct mapping m;
	bool ok = mappings_open(&ms, getpid());

	while (ok && mappings_next(&ms, &m)) {
		if (m.path[0] != '/' || !strcmp(m.path, last) || !strstr(m.path, ".so") || mapping_is_loader(&m))
			continue;
		snprintf(last, sizeof(last), "%s", m.path);
		ok = fn(m.path, dir);
	}
	mappings_close(&ms);
	return ok;
}

static bool copy_to(const char *path, const char *dir)
{
	char to[PATH_MAX];

	snprintf(to, sizeof(to), "%s%s", dir, strrchr(path, '/'));
	return copy(path, to);
}

static bool remove_from(const char *path, const char *dir)
{
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s%s", dir, strrchr(path, '/'));
	unlink(name);
	return true;
}

/* The second start: they are mapped, and their names are not needed any more. */
static void arrived(const char *dir)
{
	const char *before = getenv(BEFORE);

	each_library(remove_from, dir);
	rmdir(dir);
	if (before)
		setenv("LD_LIBRARY_PATH", before, 1);
	else
		unsetenv("LD_LIBRARY_PATH");
	unsetenv(BEFORE);
	unsetenv(MARK);
}

void daemon_own_libraries(char **argv)
{
	const char *old = getenv("LD_LIBRARY_PATH"), *mark = getenv(MARK);
	char dir[96], self[PATH_MAX], path[PATH_MAX];
	ssize_t n;

	snprintf(dir, sizeof(dir), "/run/%s-lib", proc_own_name());
	/* an exec keeps the name; any other folder in the environment is not ours to empty */
	if (mark && !strcmp(mark, dir)) {
		arrived(dir);
		return;
	}
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0 || mkdir(dir, 0700))
		return;
	self[n] = 0;
	if (each_library(copy_to, dir)) {
		if (old)
			setenv(BEFORE, old, 1);
		snprintf(path, sizeof(path), "%s%s%s", dir, old ? ":" : "", old ? old : "");
		setenv("LD_LIBRARY_PATH", path, 1);
		setenv(MARK, dir, 1);
		argv[0] = (char *)"zugd";
		execv(self, argv);
		arrived(dir);
	}
	/* slower, but not wrong */
	each_library(remove_from, dir);
	rmdir(dir);
}
