/* SPDX-License-Identifier: GPL-2.0-only */
/* run_user.h - the user whose rights a program gets that root starts for another user */
#ifndef ZUG_RUN_USER_H
#define ZUG_RUN_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct run_user {
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	int nr_groups;
	char *name, *home;	/* name: NULL where /etc/passwd does not know the user */
};

/*
 * By name or number; NULL: the user who has called sudo. 1; 0: none, so that the program keeps our
 * rights (we are not root, it is root who is meant, or there was no sudo); -errno with a line in err.
 */
int run_user_find(struct run_user *u, const char *name, char *err, size_t errlen);
void run_user_free(struct run_user *u);
/* The same user once more, to be freed. 0 or -ENOMEM. */
int run_user_copy(struct run_user *to, const struct run_user *u);
bool run_user_same(const struct run_user *a, const struct run_user *b);
/*
 * In a child: takes on the user's rights, without any capability, and gives up that setuid programs
 * give others. Async-signal-safe, and changes the calling thread alone. 0, or -1 with errno.
 */
int run_user_become(const struct run_user *u);
/*
 * The same where the program keeps our user: root stays root; any other user gives up all capabilities, and that setuid
 * programs give others.
 */
int run_user_remain(void);
/* The environment with the user's HOME, USER and LOGNAME: malloc'd, NULL-terminated, in one piece. NULL: no memory. */
char **run_user_environment(const struct run_user *u, char *const *envp);

#endif
