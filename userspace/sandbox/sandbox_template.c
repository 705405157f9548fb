/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sandbox_template.c - makes a template of a test's first process, and forks executions from it
 *
 * sandbox_template.h has the steps. A prototype is stopped by ptrace at each of its system calls, until one comes that is
 * not known to leave everything in the process itself (bpf/inside.h); up to where the search begins it may read files as well.
 * It stands before that call. Its pid is free again once the template exists: that has a pid of its own, and a session of its
 * own, so that an execution's first process can have those of a program that was started by exec. What fork does not pass on,
 * that process gets by system calls that are made in its place (first_process()).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bpf/inside.h"
#include "kernel/syscalls.h"
#include "kernel/tracee_call.h"
#include "lib/base/mappings.h"
#include "lib/base/proc_status.h"
#include "lib/base/remote.h"
#include "lib/base/rights.h"
#include "sandbox/sandbox_internal.h"
#include "sandbox/sandbox_template.h"

#define CODE_64		0x33		/* cs of 64-bit code */
#define SYSCALL_LEN	2		/* bytes of a system call instruction */
#define SYSCALL_STOP	(SIGTRAP | 0x80)	/* with PTRACE_O_TRACESYSGOOD */
#define FIRST_PID	2		/* of an execution's first process; 1 is ours */
#define FORK_TRIES	1000		/* a millisecond apart */
#define LEAST_CALLS	8	/* so many a prototype makes before it is worth while to let it make them without a stop */

/* ---- the moment ---- */

/*
 * The BPF side knows the loader, too: what it does is no point. Other code that calls is most often the C library's, and no
 * loader comes there before another exec: so the way through all mappings is not gone at each call.
 */
static bool in_loader(struct sandbox_template *t, pid_t pid, uint64_t ip)
{
	struct mappings ms;
	struct mapping m;
	bool found;

	if (ip >= t->loader && ip < t->loader_end)
		return true;
	if (ip >= t->other && ip < t->other_end)
		return false;
	mappings_open(&ms, pid);
	found = mappings_find(&ms, ip, &m);
	if (found && mapping_is_loader(&m)) {
		t->loader = m.start;
		t->loader_end = m.end;
	} else if (found) {
		t->other = m.start;
		t->other_end = m.end;
		found = false;
	}
	mappings_close(&ms);
	return found;
}

/* No point comes before the search begins, so the program may read files on its way there. */
static bool begins_later(const struct sandbox *s)
{
	return s->o.quiet != ZUG_QUIET_NOT && !s->template.early;
}

/* A call before which a task stops, or which user space has to look at, unless the loader makes it. */
static bool is_point(const struct sandbox *s, pid_t pid, int nr, const __u64 *a, uint64_t ip)
{
	const struct syscall_desc *d = syscall_desc(nr);
	uint64_t set;

	if (!d || !(d->class & s->o.syscall_points))
		return false;
	/* no signal is pending: then it is none where it blocks none */
	return nr != SYS_rt_sigprocmask || (a[0] != SIG_UNBLOCK && a[1] &&
					    !(remote_read(pid, a[1], &set, sizeof(set)) && zug_blocks_all(set, a[1], ip, 0)));
}

static bool is_moment(struct sandbox *s, pid_t pid, const struct __ptrace_syscall_info *i)
{
	struct sandbox_template *t = &s->template;
	const bool quiet = begins_later(s) && kernel_sandbox(s->k, s->slot)->quiet != ZUG_QUIET_NOT;
	int nr = i->entry.nr;
	__u64 a[6];
	bool inside;

	for (int k = 0; k < 6; k++)
		a[k] = i->entry.args[k];
	if (nr == SYS_set_tid_address)
		t->tid_address = a[0];
	if (nr == SYS_set_robust_list) {
		t->robust_list = a[0];
		t->robust_len = a[1];
	}
	inside = zug_stays_inside(nr, a);
	if (quiet)
		return !inside && !zug_only_reads(nr, a);
	if (inside && !is_point(s, pid, nr, a, i->instruction_pointer))
		return false;
	/* of the loader it is no point */
	return !((inside || zug_only_reads(nr, a)) && in_loader(t, pid, i->instruction_pointer));
}

bool sandbox_template_is_quiet(const struct sandbox *s)
{
	return begins_later(s) && !s->template.behind;
}

int sandbox_template_trace(pid_t pid, char *err, size_t errlen)
{
	/* until its exec it shares the memory of this process */
	RIGHTS_RAISED;
	int ret = ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) ? -errno : 0;

	if (ret)
		snprintf(err, errlen, "it cannot be traced (%s)", strerror(-ret));
	return ret;
}

bool sandbox_template_earlier(struct sandbox *s)
{
	bool can = begins_later(s);

	s->template.early |= can;
	return can;
}

void sandbox_template_learn(struct sandbox *s)
{
	const volatile struct zug_sandbox *z = kernel_sandbox(s->k, s->slot);

	/* a copy begins behind most of its calls */
	if (!z->forked && z->moment > LEAST_CALLS)
		s->template.moment = z->moment;
}

bool sandbox_template_hasten(struct sandbox *s, bool wanted)
{
	struct sandbox_template *t = &s->template;

	t->runs = wanted && begins_later(s) && t->moment;
	/* once it does not come there, it is followed all the way */
	if (!wanted)
		t->moment = 0;
	return t->runs;
}

void sandbox_template_halt(struct sandbox *s, pid_t prototype)
{
	const volatile struct zug_sandbox *z = kernel_sandbox(s->k, s->slot);
	struct sandbox_template *t = &s->template;

	t->runs = false;
	t->tid_address = z->tid_address;
	t->robust_list = z->robust_list;
	t->robust_len = z->robust_len;
	ptrace(PTRACE_INTERRUPT, prototype, NULL, NULL);
}

int sandbox_template_follow(struct sandbox *s, pid_t prototype, char *err, size_t errlen)
{
	struct sandbox_template *t = &s->template;
	struct __ptrace_syscall_info i;
	int status, ret = waitpid(prototype, &status, __WALL | WNOHANG);

	if (!ret)
		return 0;
	if (ret < 0 || !WIFSTOPPED(status)) {
		snprintf(err, errlen, "the program was ended before its first point");
		return -ECHILD;
	}
	if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
		t->tid_address = t->robust_list = t->robust_len = t->loader = t->loader_end = t->other = t->other_end = 0;
		ret = 0;
	} else if (status >> 8 == (SIGTRAP | PTRACE_EVENT_STOP << 8)) {
		ret = 0;	/* sandbox_template_halt() */
	} else if (WSTOPSIG(status) != SYSCALL_STOP) {
		snprintf(err, errlen, "the program gets signal %d before its first point", WSTOPSIG(status));
		return -EINTR;
	} else if (ptrace(PTRACE_GET_SYSCALL_INFO, prototype, sizeof(i), &i) < 0) {
		ret = -errno;
	} else if (i.op == PTRACE_SYSCALL_INFO_ENTRY && is_moment(s, prototype, &i)) {
		return 1;
	} else {
		ret = 0;
	}
	if (!ret && ptrace(t->runs ? PTRACE_CONT : PTRACE_SYSCALL, prototype, NULL, NULL))
		ret = -errno;
	if (ret)
		snprintf(err, errlen, "it cannot be traced (%s)", strerror(-ret));
	return ret ? ret : 2;
}

/* ---- what a fork would not pass on ---- */

static bool other_descriptors(pid_t pid)
{
	char path[64];
	struct dirent *d;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir)))
		found |= d->d_name[0] != '.' && atoi(d->d_name) > 2;
	if (!dir)
		return true;
	closedir(dir);
	return found;
}

/* A signal is pending, or there is a second thread. */
static const char *not_at_rest(pid_t pid)
{
	struct proc_status st;

	return !proc_status(pid, &st) ? "its state cannot be read" :
	       st.threads != 1 ? "it has a second thread already" :
	       st.pending ? "a signal is pending" : NULL;
}

/* NULL: nothing speaks against a template. */
static const char *unfit(const struct sandbox *s, pid_t pid, const struct user_regs_struct *r)
{
	const volatile struct zug_sandbox *z = kernel_sandbox(s->k, s->slot);

	if (r->cs != CODE_64)
		return "it is no 64-bit program";
	if (z->env_used)
		return "it may change its environment before its first point";
	if (other_descriptors(pid))
		return "it has open files";
	/* before anything is forked that could not be ended */
	if (kill(pid, 0))
		return "it could not be ended without CAP_KILL";
	return not_at_rest(pid);
}

static const char *not_fresh(const struct sandbox *s)
{
	if (!s->env.fresh)
		return "each execution has another environment";
	if (s->template.tied)
		return s->env.talks ? "the test uses its network, and its user may not take a copy to another one" :
		       "the test changes its files or its IPC objects, and its user may not take a copy to others";
	return s->env.writes && s->template.stays ? s->template.stays :
	       s->env.writes ? "the test changes its files, its IPC objects or what is mounted" : "the test uses its network";
}

/* A file that it has mapped would be another one, by its numbers, in another space: one of a private folder. */
static bool maps_private(const struct sandbox *s, pid_t pid)
{
	char path[PATH_MAX + 32];
	struct mappings ms;
	struct mapping m;
	struct stat st;
	bool found = false;
	RIGHTS_RAISED;

	for (int i = 0; i < s->env.nr_folders && !found; i++) {
		snprintf(path, sizeof(path), "/proc/%d/root%s", pid, s->env.folder[i].path);
		if (stat(path, &st))
			return true;
		mappings_open(&ms, pid);
		while (!found && mappings_next(&ms, &m))
			found = m.ino && m.dev == (uint32_t)(major(st.st_dev) << 20 | minor(st.st_dev));
		mappings_close(&ms);
	}
	return found;
}

/* Its current folder: malloc'd, or NULL. */
static char *folder_of(pid_t pid)
{
	char path[64], folder[PATH_MAX];
	ssize_t n;
	RIGHTS_RAISED;

	snprintf(path, sizeof(path), "/proc/%d/cwd", pid);
	n = readlink(path, folder, sizeof(folder));
	return n > 0 && n < (ssize_t)sizeof(folder) ? strndup(folder, n) : NULL;
}

/* Why copies of it may not go to another space; NULL: they may. */
static const char *stays(const struct sandbox *s, pid_t pid)
{
	return !s->template.cwd ? "the test changes its files, and its folder cannot be read" :
	       maps_private(s, pid) ? "the test changes its files, and has mapped one of a private folder" : NULL;
}

/* ---- the template ---- */

/* From the entry of a call to its end, without making it. */
static int skip_call(const struct sandbox *s, pid_t pid, const struct user_regs_struct *at_entry)
{
	struct user_regs_struct r = *at_entry;
	int status = 0, ret;

	r.orig_rax = -1;
	ret = tracee_set_regs(pid, &r);
	if (!ret && ptrace(PTRACE_SYSCALL, pid, NULL, NULL))
		ret = -errno;
	if (!ret)
		ret = tracee_wait(pid, 0, kernel_spin_us(s->k), &status);
	return ret < 0 ? ret : WSTOPSIG(status) == SYSCALL_STOP ? 0 : -EINTR;
}

static pid_t fork_tracee(struct sandbox *s, pid_t pid, pid_t group)
{
	const struct sandbox_template *t = &s->template;
	const struct tracee_call c = {
		.regs = t->at, .insn = t->insn, .nr = SYS_clone,
		.arg = { SIGCHLD | CLONE_PARENT | CLONE_PTRACE | (t->tid_address ? CLONE_CHILD_CLEARTID : 0), 0, 0,
			 t->tid_address },
		.spin_us = kernel_spin_us(s->k),
	};

	return tracee_clone(pid, group, &c);
}

static long call(const struct sandbox *s, pid_t pid, long nr, uint64_t a, uint64_t b)
{
	const struct sandbox_template *t = &s->template;
	const struct tracee_call c = {
		.regs = t->at, .insn = t->insn, .nr = nr, .arg = { a, b }, .spin_us = kernel_spin_us(s->k),
	};

	return tracee_call(pid, &c);
}

/* It has to run in order to die, also while a higher class keeps the lane busy. */
static int end(pid_t pid)
{
	if (kill(pid, SIGKILL))
		return -errno;
	sched_setscheduler(pid, SCHED_OTHER, &(struct sched_param){ 0 });
	waitpid(pid, NULL, __WALL);
	return 0;
}

static int keep(struct sandbox *s, pid_t prototype, const struct user_regs_struct *at_entry)
{
	struct zug_ctl c = { .cmd = ZUG_CMD_TEMPLATE, .sandbox = s->slot, .pid = prototype };
	struct sandbox_template *t = &s->template;
	long ret;

	t->at = *at_entry;
	t->insn = at_entry->rip - SYSCALL_LEN;
	t->at.rip = t->insn;
	t->at.rax = at_entry->orig_rax;
	t->at.orig_rax = -1;
	ret = kernel_ctl(s->k, &c);
	if (!ret)
		ret = skip_call(s, prototype, at_entry);
	if (!ret)
		ret = sandbox_environment_ask(s, ENVIRONMENT_HIGH_PID);
	if (!ret)
		ret = fork_tracee(s, prototype, prototype);
	if (ret < 0)
		return ret;
	t->pid = ret;
	ret = call(s, t->pid, SYS_setsid, 0, 0);
	if (ret < 0) {
		end(t->pid);
		t->pid = 0;
		return ret;
	}
	ret = end(prototype);
	if (!ret)
		sandbox_limit_tasks(s, 1);
	return ret;
}

static int keep_file_looks(struct sandbox *s)
{
	struct sandbox_template *t = &s->template;
	uint32_t nr = kernel_sandbox(s->k, s->slot)->nr_file_looks;

	free(t->file_looks);
	t->file_looks = calloc(nr + 1, sizeof(*t->file_looks));
	t->nr_file_looks = t->file_looks ? nr : 0;
	t->file_looks_lost = false;
	return t->file_looks ? kernel_file_looks(s->k, s->slot, t->file_looks, nr, false) : -ENOMEM;
}

int sandbox_template_keep(struct sandbox *s, pid_t prototype, char *err, size_t errlen)
{
	struct sandbox_template *t = &s->template;
	struct user_regs_struct r;
	const char *why;
	int ret = tracee_get_regs(prototype, &r);

	why = ret ? NULL : unfit(s, prototype, &r);
	if (why) {
		snprintf(err, errlen, "%s", why);
		return -ENOTSUP;
	}
	if (!ret)
		ret = keep(s, prototype, &r);
	if (ret) {
		snprintf(err, errlen, "it cannot be forked (%s)", strerror(-ret));
		return ret;
	}
	sandbox_environment_ask(s, ENVIRONMENT_FIRST_PID);
	/* the executions that follow find what the prototype has found */
	sandbox_environment_end(s);
	if (!s->env.fresh || s->env.writes || s->env.talks) {
		snprintf(err, errlen, "%s", not_fresh(s));
		sandbox_template_drop(s);
		return -ENOTSUP;
	}
	ret = keep_file_looks(s);
	if (ret) {
		snprintf(err, errlen, "the times of files that it was told cannot be kept (%s)", strerror(-ret));
		sandbox_template_drop(s);
		return ret;
	}
	t->cwd = folder_of(t->pid);
	t->stays = stays(s, t->pid);
	t->net = s->env.nr_nets;
	t->space = s->env.nr_spaces;
	t->origin = s->env.space->origin;
	t->behind = begins_later(s) && kernel_sandbox(s->k, s->slot)->quiet == ZUG_QUIET_NOT;
	t->spoilt = NULL;
	return 0;
}

bool sandbox_template_there(const struct sandbox *s)
{
	return s->template.pid > 0;
}

const char *sandbox_template_spoilt(const struct sandbox *s)
{
	return s->template.spoilt;
}

/*
 * What is written from outside the kernel puts there. To read it would not do: a fork copies no page of a mapping in which none
 * was ever written.
 */
static void write_again(pid_t pid, uint64_t addr)
{
	char byte;

	if (remote_read(pid, addr, &byte, 1))
		remote_write(pid, addr, &byte, 1);
}

void sandbox_template_touch(struct sandbox *s, uint64_t addr, size_t len)
{
	if (!s->template.pid || !len)
		return;
	write_again(s->template.pid, addr);
	write_again(s->template.pid, addr + len - 1);
}

void sandbox_template_drop(struct sandbox *s)
{
	struct sandbox_template *t = &s->template;

	t->runs = false;
	t->nr_file_looks = 0;
	free(t->file_looks);
	t->file_looks = NULL;
	free(t->cwd);
	t->cwd = NULL;
	if (!t->pid)
		return;
	end(t->pid);
	t->pid = 0;
	sandbox_limit_tasks(s, 0);
}

void sandbox_template_look(struct sandbox *s)
{
	struct sandbox_template *t = &s->template;

	if (!t->pid || (s->env.fresh && !(s->env.writes && (t->stays || t->tied)) && !(s->env.talks && t->tied)))
		return;
	sandbox_template_drop(s);
	t->spoilt = not_fresh(s);
}

/* ---- executions ---- */

/* Namespaces of the execution that are not the template's, as CLONE_NEW*. */
static unsigned long other_namespaces(const struct sandbox *s)
{
	const struct sandbox_template *t = &s->template;
	unsigned long flags = t->net != s->env.nr_nets ? CLONE_NEWNET : 0;

	if (t->space != s->env.nr_spaces)
		flags |= (s->o.own & SANDBOX_HOST ? CLONE_NEWUTS : 0) | (s->o.own & SANDBOX_IPC ? CLONE_NEWIPC : 0) |
			 (s->o.own & (SANDBOX_FILES | SANDBOX_IPC) ? CLONE_NEWNS : 0);
	return flags;
}

/* To the template's folder: a process that enters a mount namespace stands in its root. 0 or -errno. */
static int go_to_folder(const struct sandbox *s, pid_t pid)
{
	/* that page is there: it is the stack's */
	const uint64_t page = s->template.at.rsp & ~(uint64_t)(PATH_MAX - 1);
	const char *cwd = s->template.cwd;
	char before[PATH_MAX];
	size_t len = strlen(cwd) + 1;
	int ret;

	if (!remote_read(pid, page, before, len) || !remote_write(pid, page, cwd, len))
		return -EFAULT;
	ret = call(s, pid, SYS_chdir, page, 0);
	return remote_write(pid, page, before, len) ? ret : -EFAULT;
}

/*
 * The execution has another network than its template, or other files: it enters what pid 1 has entered already, and
 * needs no path or descriptor for that. 0 or -errno.
 */
static int enter(struct sandbox *s, pid_t pid, unsigned long namespaces)
{
	int ret = sandbox_environment_wait(s);
	long fd = ret ? ret : call(s, pid, SYS_pidfd_open, 1, 0), closed;

	if (fd < 0)
		return fd;
	ret = call(s, pid, SYS_setns, fd, namespaces);
	closed = call(s, pid, SYS_close, fd, 0);
	s->template.tied |= ret == -EPERM;
	if (!ret)
		ret = closed;
	return ret || !(namespaces & CLONE_NEWNS) ? ret : go_to_folder(s, pid);
}

/* What an execution's first process has that a fork does not pass on. 1: its pid is another one; 0; -errno. */
static int first_process(struct sandbox *s, pid_t pid)
{
	const struct sandbox_template *t = &s->template;
	/* the session's number is that of its leader, as the test knows it */
	long ret = call(s, pid, SYS_setsid, 0, 0);

	if (ret > 0 && ret != FIRST_PID)
		return 1;
	if (ret > 0 && t->robust_list)
		ret = call(s, pid, SYS_set_robust_list, t->robust_list, t->robust_len);
	if (ret >= 0 && other_namespaces(s)) {
		ret = enter(s, pid, other_namespaces(s));
		if (ret < 0)
			s->template.spoilt = ret == -EPERM ? not_fresh(s) : "a copy cannot enter its environment";
	}
	return ret < 0 ? ret : tracee_set_regs(pid, &t->at);
}

pid_t sandbox_template_fork(struct sandbox *s)
{
	struct sandbox_template *t = &s->template;
	pid_t pid;
	int ret;

	/* the private folders, or what is mounted, are others than those that it has seen */
	if (!sandbox_same_origin(s, &t->origin, &s->env.space->origin)) {
		t->spoilt = "a private folder, or what is mounted, is changed from outside";
		return -ESTALE;
	}
	if (t->file_looks_lost) {
		ret = kernel_file_looks(s->k, s->slot, t->file_looks, t->nr_file_looks, true);
		if (ret)
			return ret;
		t->file_looks_lost = false;
	}
	if (other_namespaces(s)) {
		ret = sandbox_environment_send(s, t->space != s->env.nr_spaces);
		if (ret)
			return ret;
	}
	/* a dead process's pid may be free a little later than the process is gone */
	for (int tries = 0;; tries++) {
		pid = fork_tracee(s, t->pid, t->pid);
		ret = pid < 0 ? pid : first_process(s, pid);
		if (!ret) {
			sandbox_environment_began(s, pid);
			return pid;
		}
		if (pid > 0)
			end(pid);
		if (ret < 0 || tries == FORK_TRIES)
			break;
		usleep(1000);
		sandbox_environment_ask(s, ENVIRONMENT_FIRST_PID);
	}
	ret = ret < 0 ? ret : -EEXIST;
	/* one that is dead was ended by the test */
	if (!t->spoilt && ret != -ECHILD && ret != -ESRCH) {
		snprintf(t->failed, sizeof(t->failed), "the process that stands still cannot be forked (%s)", strerror(-ret));
		t->spoilt = t->failed;
	}
	return ret;
}

int sandbox_template_go(struct sandbox *s, pid_t first, const struct zug_turn *turn)
{
	struct zug_ctl go = { .cmd = ZUG_CMD_GO, .sandbox = s->slot, .pid = first, .turn = *turn };
	int ret = kernel_ctl(s->k, &go);

	if (ret)
		return ret;
	return ptrace(PTRACE_DETACH, first, NULL, NULL) ? -errno : 0;
}
