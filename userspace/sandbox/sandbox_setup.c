/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sandbox_setup.c - --setup and --teardown: shell commands in an execution's environment, outside
 * of its schedule
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/base/clock.h"
#include "lib/base/descriptors.h"
#include "lib/base/rights.h"
#include "lib/base/run_user.h"
#include "sandbox/sandbox_internal.h"

#define LOOK_MS 100	/* so often it is looked whether the command is to end */

static const struct {
	uint32_t own;
	int flag;
	const char *name;
} namespaces[SANDBOX_NR_NS] = {
	{ SANDBOX_FILES | SANDBOX_IPC | SANDBOX_PIDS, CLONE_NEWNS, "mnt" },
	{ SANDBOX_IPC, CLONE_NEWIPC, "ipc" },
	{ SANDBOX_NET, CLONE_NEWNET, "net" },
	{ SANDBOX_HOST, CLONE_NEWUTS, "uts" },
};

static void child(const struct sandbox *s, const char *command, const struct launch *l, int out)
{
	setpgid(0, 0);
	descriptors_restore();
	for (int i = 0; i < SANDBOX_NR_NS; i++)
		if (s->env.ns[i] >= 0 && setns(s->env.ns[i], namespaces[i].flag))
			_exit(126);
	for (int sig = 1; sig < 64; sig++)
		if (sig != SIGKILL && sig != SIGSTOP)
			signal(sig, SIG_DFL);
	/* a user's folder is looked up with the user's rights */
	const bool theirs = rights_user();

	if ((!theirs && chdir(l->cwd)) || dup2(open("/dev/null", O_RDONLY), 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 ||
	    close_range(3, ~0u, CLOSE_RANGE_CLOEXEC))
		_exit(126);
	if ((s->o.user ? run_user_become(s->o.user) : run_user_remain()) || (theirs && chdir(l->cwd)))
		_exit(126);
	execle("/bin/sh", "sh", "-c", command, NULL, l->envp);
	_exit(127);
}

/* ": " and the last line that the command printed, if any */
static void last_line(int fd, char *text, size_t len)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char buf[512], *line;
	ssize_t n = pread(fd, buf, sizeof(buf) - 1, size > (off_t)sizeof(buf) - 1 ? size - (off_t)sizeof(buf) + 1 : 0);

	text[0] = 0;
	while (n > 0 && (buf[n - 1] == '\n' || !buf[n - 1]))
		n--;
	if (n <= 0)
		return;
	buf[n] = 0;
	line = strrchr(buf, '\n');
	snprintf(text, len, ": %s", line ? line + 1 : buf);
}

/*
 * Waits for the command within its time. 0, or -ETIMEDOUT or -EINTR: it was killed, with the
 * processes of its group.
 */
static int wait_for(const struct sandbox *s, pid_t pid, int *status)
{
	uint64_t limit = s->o.setup_ns > SANDBOX_SETUP_NS ? s->o.setup_ns : SANDBOX_SETUP_NS;
	uint64_t until = clock_now_ns() + limit;
	struct pollfd p = { .fd = syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	int ret = p.fd < 0 ? -errno : 0;

	while (!ret && poll(&p, 1, LOOK_MS) <= 0)
		ret = s->o.stop && *s->o.stop ? -EINTR : clock_now_ns() > until ? -ETIMEDOUT : 0;
	if (p.fd >= 0)
		close(p.fd);
	if (ret) {
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
	}
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return ret ? ret : -errno;
	return ret;
}

static int run(struct sandbox *s, const char *option, const char *command, const struct launch *l, char *err,
	       size_t errlen)
{
	int out = memfd_create("zug-setup", MFD_CLOEXEC), status = 0;
	int ret = out < 0 ? -errno : sandbox_environment_spawn_inside(s, true);
	char said[520];
	pid_t pid = -1;

	if (!ret) {
		rights_raise();
		pid = fork();
		if (!pid)
			child(s, command, l, out);
		ret = pid < 0 ? -errno : 0;
		rights_lower();
		sandbox_environment_spawn_inside(s, false);
	}
	if (pid > 0)
		ret = wait_for(s, pid, &status);
	if (ret == -EINTR) {
		snprintf(err, errlen, "interrupted while %s '%s' ran", option, command);
	} else if (ret == -ETIMEDOUT) {
		snprintf(err, errlen, "%s '%s' did not end within %llu s, and was killed", option, command,
			 (unsigned long long)((s->o.setup_ns > SANDBOX_SETUP_NS ? s->o.setup_ns : SANDBOX_SETUP_NS) /
					      1000000000));
	} else if (ret) {
		snprintf(err, errlen, "cannot execute %s '%s': %s", option, command, strerror(-ret));
	} else if (status) {
		last_line(out, said, sizeof(said));
		snprintf(err, errlen, "%s '%s' failed (%s %d)%s", option, command,
			 WIFSIGNALED(status) ? "signal" : "exit status",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), said);
		ret = -ECANCELED;
	}
	if (out >= 0)
		close(out);
	return ret;
}

int sandbox_set_up(struct sandbox *s, const struct launch *l, pid_t root, char *err, size_t errlen)
{
	char path[64];
	int ret;

	rights_raise();
	for (int i = 0; i < SANDBOX_NR_NS; i++) {
		if (!(s->o.own & namespaces[i].own))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/ns/%s", root, namespaces[i].name);
		s->env.ns[i] = open(path, O_RDONLY | O_CLOEXEC);
		if (s->env.ns[i] < 0) {
			ret = -errno;
			snprintf(err, errlen, "cannot open %s: %s", path, strerror(errno));
			rights_lower();
			return ret;
		}
	}
	rights_lower();
	s->env.helpers = s->o.setup;
	return s->o.setup ? run(s, "--setup", s->o.setup, l, err, errlen) : 0;
}

int sandbox_finish(struct sandbox *s, const struct launch *l, char *err, size_t errlen)
{
	int ret = s->o.teardown ? run(s, "--teardown", s->o.teardown, l, err, errlen) : 0;

	sandbox_environment_end(s);
	sandbox_template_look(s);
	return ret;
}

bool sandbox_net_closed(const struct sandbox *s)
{
	return (s->o.own & SANDBOX_NET) && !s->env.helpers;
}
