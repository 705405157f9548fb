/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "lib/base/rights.h"

/* Of the process: it is confined to one user, once and for good. */
static const struct run_user *user;
static struct __user_cap_data_struct raised[_LINUX_CAPABILITY_U32S_3], lowered[_LINUX_CAPABILITY_U32S_3];
/* How many raises are open in this thread. */
static _Thread_local unsigned int depth;

const struct run_user *rights_user(void)
{
	return user;
}

static int set_capabilities(const struct __user_cap_data_struct *data)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

static void drop(int cap)
{
	raised[CAP_TO_INDEX(cap)].effective &= ~CAP_TO_MASK(cap);
}

/* The C library's functions would change all threads. The saved user stays root: it keeps the user from tracing the process. */
static int become(const struct run_user *u)
{
	if (syscall(SYS_setgroups, (long)u->nr_groups, u->groups) || syscall(SYS_setresgid, u->gid, u->gid, u->gid) ||
	    syscall(SYS_setresuid, u->uid, u->uid, 0))
		return -errno;
	return 0;
}

int rights_confine(const struct run_user *u)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	int ret;

	if (user || !u->uid)
		return -EINVAL;
	if (syscall(SYS_capget, &header, raised))
		return -errno;
	ret = become(u);
	drop(CAP_KILL);
	drop(CAP_SYS_NICE);
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		raised[i].permitted = lowered[i].permitted = raised[i].effective;
		raised[i].inheritable = 0;
	}
	ret = ret ? ret : set_capabilities(lowered);
	if (!ret)
		user = u;
	return ret;
}

/* A process that cannot give up its rights, or get them back, must not go on. */
static void set(bool up)
{
	const pid_t parent = getppid();
	const int error = errno;

	if (up) {
		syscall(SYS_setfsuid, 0);
		if (set_capabilities(raised))
			abort();
	} else {
		if (set_capabilities(lowered))
			abort();
		syscall(SYS_setfsuid, user->uid);
	}
	if (syscall(SYS_setfsuid, -1) != (up ? 0 : (long)user->uid))
		abort();
	/* a change of the user for files ends it; the parent may have died meanwhile */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		raise(SIGKILL);
	errno = error;
}

void rights_raise(void)
{
	if (user && !depth++)
		set(true);
}

void rights_lower(void)
{
	if (user && !--depth)
		set(false);
}

/* With the user's rights in between. True: they are raised again by resume(). */
static bool pause_raise(void)
{
	if (!user || !depth)
		return false;
	set(false);
	return true;
}

static void resume(bool paused)
{
	if (paused)
		set(true);
}

int rights_open(const char *path, int flags)
{
	bool paused = pause_raise();
	int fd = open(path, flags | O_CLOEXEC);

	resume(paused);
	return fd;
}

int rights_stat(const char *path, struct stat *st)
{
	bool paused = pause_raise();
	int ret = stat(path, st);

	resume(paused);
	return ret;
}

void rights_thread(void)
{
	depth = 0;
	rights_raise();
}
