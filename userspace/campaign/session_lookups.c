/* SPDX-License-Identifier: GPL-2.0-only */
/* The folders of $PATH that no task of the test has for itself: that a name is looked for there is no point (unseen.bpf.h). */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "campaign/session.h"

const char *session_temporary_folder(const struct session *s)
{
	for (char *const *v = s->o.command.envp; v && *v; v++)
		if (!strncmp(*v, "TMPDIR=", 7))
			return *v + 7;
	return NULL;
}

static bool is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	while (len > 1 && folder[len - 1] == '/')
		len--;
	return !strncmp(path, folder, len) && (len == 1 || path[len] == '/' || !path[len]);
}

/* The test may write there: what it makes there is another program to who looks. */
static bool is_of_test(const struct session *s, const char *folder)
{
	const char *own[] = { "/tmp", "/var/tmp", "/dev/shm", session_temporary_folder(s), s->o.command.cwd };

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (own[i] && own[i][0] == '/' && is_below(folder, own[i]))
			return true;
	for (char **share = s->paths.shares; share && *share; share++)
		if (is_below(folder, *share))
			return true;
	return false;
}

static bool leads_up(const char *folder)
{
	const char *up = strstr(folder, "/..");

	return up && (up[3] == '/' || !up[3]);
}

static uint64_t folder_number(const char *folder)
{
	uint64_t number = ZUG_FOLDER_NUMBER;

	for (; *folder; folder++)
		number = zug_folder_number(number, *folder);
	return number;
}

void session_number_lookups(const struct session *s, uint64_t *numbers)
{
	char folder[PATH_MAX], real[PATH_MAX];
	const char *list = NULL;
	size_t len, nr = 0;

	for (char *const *v = s->o.command.envp; v && *v; v++)
		if (!strncmp(*v, "PATH=", 5))
			list = *v + 5;
	for (; s->o.points.seen_only && list && *list && nr < ZUG_LOOKUPS; list += len + (list[len] == ':')) {
		len = strcspn(list, ":");
		if (len < 2 || len >= sizeof(folder) || *list != '/')
			continue;
		memcpy(folder, list, len);
		folder[len] = '\0';
		while (len > 1 && folder[len - 1] == '/')
			folder[--len] = '\0';
		len = strcspn(list, ":");
		if (leads_up(folder) || is_of_test(s, folder) || (realpath(folder, real) && is_of_test(s, real)))
			continue;
		numbers[nr++] = folder_number(folder);
	}
}
