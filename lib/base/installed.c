/* SPDX-License-Identifier: GPL-2.0-only */
/* installed.c - where a distribution installs its files */
#include <stddef.h>
#include <string.h>
#include "lib/base/installed.h"

static bool is_below(const char *path, const char *const *folders, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strncmp(path, folders[i], strlen(folders[i])))
			return true;
	return false;
}

/* Where a root is mounted in a folder of /run, or one folder below: what the path is in there, as far as that is in /usr. */
static const char *in_its_root(const char *path)
{
	static const char *const the_users[] = { "/run/user/", "/run/media/" };
	const char *slash, *usr = strstr(path, "/usr/");

	if (!usr || strncmp(path, "/run/", 5) || is_below(path, the_users, sizeof(the_users) / sizeof(the_users[0])))
		return path;
	slash = strchr(path + 5, '/');
	return slash && (slash == usr || strchr(slash + 1, '/') == usr) ? usr : path;
}

bool path_is_installed(const char *path)
{
	static const char *const its[] = { "/usr/", "/bin/", "/sbin/", "/lib/", "/lib32/", "/lib64/" };
	static const char *const the_users[] = { "/usr/local/", "/usr/src/" };

	path = in_its_root(path);
	return is_below(path, its, sizeof(its) / sizeof(its[0])) &&
	       !is_below(path, the_users, sizeof(the_users) / sizeof(the_users[0]));
}
