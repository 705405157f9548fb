/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "lib/base/run_user.h"

#define GROUPS_MAX 1024

static bool number(const char *text, unsigned long *value)
{
	char *end;

	errno = 0;
	*value = strtoul(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && !*end && !errno && *value < (uid_t)-1;
}

/* The groups of that name in /etc/group, or the first one alone. */
static int find_groups(struct run_user *u)
{
	u->groups = calloc(GROUPS_MAX, sizeof(*u->groups));
	if (!u->groups)
		return -ENOMEM;
	u->nr_groups = GROUPS_MAX;
	if (u->name && getgrouplist(u->name, u->gid, u->groups, &u->nr_groups) >= 0)
		return 0;
	u->groups[0] = u->gid;
	u->nr_groups = 1;
	return 0;
}

int run_user_find(struct run_user *u, const char *name, char *err, size_t errlen)
{
	const char *wanted = name ? name : getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	unsigned long value;
	struct passwd *pw;

	*u = (struct run_user){ 0 };
	if (!wanted || (!name && geteuid()))
		return 0;
	errno = 0;
	pw = number(wanted, &value) ? getpwuid(value) : getpwnam(wanted);
	if (!pw && !number(wanted, &value)) {
		snprintf(err, errlen, "--user %s: there is no such user", wanted);
		return -EINVAL;
	}
	u->uid = pw ? pw->pw_uid : value;
	u->gid = pw ? pw->pw_gid : !name && gid && number(gid, &value) ? value : u->uid;
	if (u->uid == geteuid())
		return 0;
	if (geteuid()) {
		snprintf(err, errlen, "--user %s: only root can give a test the rights of another user", wanted);
		return -EINVAL;
	}
	u->name = pw ? strdup(pw->pw_name) : NULL;
	u->home = pw ? strdup(pw->pw_dir) : NULL;
	if ((pw && (!u->name || !u->home)) || find_groups(u)) {
		run_user_free(u);
		snprintf(err, errlen, "out of memory");
		return -ENOMEM;
	}
	return 1;
}

void run_user_free(struct run_user *u)
{
	free(u->groups);
	free(u->name);
	free(u->home);
	*u = (struct run_user){ 0 };
}

int run_user_copy(struct run_user *to, const struct run_user *u)
{
	*to = *u;
	to->groups = calloc(u->nr_groups + 1, sizeof(*to->groups));
	to->name = u->name ? strdup(u->name) : NULL;
	to->home = u->home ? strdup(u->home) : NULL;
	if (!to->groups || (u->name && !to->name) || (u->home && !to->home)) {
		run_user_free(to);
		return -ENOMEM;
	}
	if (u->nr_groups)
		memcpy(to->groups, u->groups, u->nr_groups * sizeof(*to->groups));
	return 0;
}

bool run_user_same(const struct run_user *a, const struct run_user *b)
{
	return a->uid == b->uid && a->gid == b->gid && a->nr_groups == b->nr_groups &&
	       (!a->nr_groups || !memcmp(a->groups, b->groups, a->nr_groups * sizeof(*a->groups)));
}

int run_user_become(const struct run_user *u)
{
	/* the C library's functions would change all threads of the process that shares our memory */
	if (syscall(SYS_setgroups, (long)u->nr_groups, u->groups) || syscall(SYS_setresgid, u->gid, u->gid, u->gid) ||
	    syscall(SYS_setresuid, u->uid, u->uid, u->uid))
		return -1;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int run_user_remain(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (!geteuid())
		return 0;
	/* the ambient ones go with them */
	if (syscall(SYS_capset, &header, none))
		return -1;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static bool is_variable(const char *text, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(text, name, n) && text[n] == '=';
}

char **run_user_environment(const struct run_user *u, char *const *envp)
{
	const char *const names[] = { "HOME", "USER", "LOGNAME" }, *const values[] = { u->home, u->name, u->name };
	size_t nr = 0, room = 0, n = 0;
	char **list, *text;

	while (envp && envp[nr])
		nr++;
	for (int i = 0; i < 3; i++)
		room += values[i] ? strlen(names[i]) + strlen(values[i]) + 2 : 0;
	list = malloc((nr + 4) * sizeof(*list) + room);
	if (!list)
		return NULL;
	text = (char *)(list + nr + 4);
	for (size_t i = 0; i < nr; i++) {
		bool ours = false;

		for (int k = 0; k < 3; k++)
			ours |= values[k] && is_variable(envp[i], names[k]);
		if (!ours)
			list[n++] = envp[i];
	}
	for (int i = 0; i < 3; i++) {
		if (!values[i])
			continue;
		list[n++] = text;
		text += sprintf(text, "%s=%s", names[i], values[i]) + 1;
	}
	list[n] = NULL;
	return list;
}
