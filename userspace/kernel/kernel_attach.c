/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attaching: the scheduler, and the programs in the kernel's own functions and tracepoints. Most of it is waiting for the
 * kernel, so it is done in a thread beside what else there is to begin. What only some searches need (watches, faults) is
 * attached when the first of them asks. Read kernel.h first.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "kernel/kernel_internal.h"
#include "kernel/machine.h"
#include "kernel/programs.h"
#include "lib/base/clock.h"
#include "lib/base/rights.h"
#include "zug.skel.h"

/* Between two tries to attach, and for how long: the links of an earlier process are still being taken away. */
#define ATTACH_PAUSE_US	2000
#define ATTACH_WITHIN_NS 20000000000ull

static int keep_hook(struct kernel *k, int link, bool slow)
{
	if (k->nr_hooks == MAX_HOOKS) {
		close(link);
		return -EMFILE;
	}
	k->hooks[k->nr_hooks++] = (struct hook){ .link = link, .slow = slow };
	return 0;
}

static int cannot_attach(const char *name, int error, char *err, size_t errlen)
{
	snprintf(err, errlen, "cannot attach %s: %s", name, strerror(-error));
	return error;
}

/* A program takes the kernel's place for it once: one that was taken from an earlier start may be there yet. */
static int link_create(int prog, int target, enum bpf_attach_type type)
{
	uint64_t start = clock_now_ns();
	int link;

	for (;;) {
		link = bpf_link_create(prog, target, type, NULL);
		if (link >= 0 || (errno != EBUSY && errno != EEXIST) || clock_now_ns() - start > ATTACH_WITHIN_NS)
			return link < 0 ? -errno : link;
		usleep(ATTACH_PAUSE_US);
	}
}

/* To a function of the kernel (BPF_TRACE_FENTRY, BPF_LSM_MAC) or a tracepoint (BPF_TRACE_RAW_TP). */
static int attach(struct kernel *k, const char *name, enum bpf_attach_type type, char *err, size_t errlen)
{
	int fd = programs_fd(k->programs, name), ret;

	if (fd == -ENOENT)
		return 0;
	ret = fd < 0 ? fd : link_create(fd, 0, type);
	ret = ret < 0 ? ret : keep_hook(k, ret, type != BPF_TRACE_RAW_TP);
	return ret < 0 ? cannot_attach(name, ret, err, errlen) : 0;
}

/* The number of a tracepoint, or -errno. */
static int tracepoint_number(const char *event)
{
	static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[128], line[32];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/events/%s/id", roots[i], event);
		machine_line(path, line, sizeof(line));
		if (line[0])
			return atoi(line);
	}
	return -ENOENT;
}

/* To a tracepoint through perf: the program runs with preemption off on all kernels. */
static int attach_tracepoint(struct kernel *k, const char *name, const char *event, char *err, size_t errlen)
{
	struct perf_event_attr a = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(a) };
	int fd = programs_fd(k->programs, name), number = tracepoint_number(event), perf, ret;

	if (fd < 0 || number < 0)
		return cannot_attach(name, fd < 0 ? fd : number, err, errlen);
	a.config = number;
	perf = syscall(SYS_perf_event_open, &a, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (perf < 0)
		return cannot_attach(name, -errno, err, errlen);
	ret = link_create(fd, perf, BPF_PERF_EVENT);
	if (ret >= 0 && ioctl(perf, PERF_EVENT_IOC_ENABLE, 0)) {
		close(ret);
		ret = -errno;
	}
	close(perf);
	ret = ret < 0 ? ret : keep_hook(k, ret, true);
	return ret < 0 ? cannot_attach(name, ret, err, errlen) : 0;
}

/* What sees the begin and the end of system calls. */
static int attach_calls(struct kernel *k, char *err, size_t errlen)
{
	int ret = 0, first = k->nr_hooks;

	if (programs_fd(k->programs, "zug_sys_enter") >= 0)
		ret = attach_tracepoint(k, "zug_sys_enter", "raw_syscalls/sys_enter", err, errlen);
	ret = ret ? ret : attach(k, "zug_sys_enter_raw", BPF_TRACE_RAW_TP, err, errlen);
	ret = ret ? ret : attach(k, "zug_sys_exit", BPF_TRACE_RAW_TP, err, errlen);
	for (int i = first; i < k->nr_hooks; i++)
		k->hooks[i].calls = true;
	return ret;
}

static int attach_all(struct kernel *k, char *err, size_t errlen)
{
	static const struct {
		const char *name;
		enum bpf_attach_type type;
	} hooks[] = {
		{ "zug_signal", BPF_TRACE_RAW_TP },	{ "zug_deliver", BPF_TRACE_RAW_TP },
		{ "zug_newtask", BPF_TRACE_RAW_TP },	{ "zug_exec", BPF_TRACE_RAW_TP },
		{ "zug_cgroup_move", BPF_TRACE_RAW_TP }, { "zug_mm_gone", BPF_TRACE_RAW_TP },
		{ "zug_breakpoint", BPF_TRACE_FENTRY },	{ "zug_mmap", BPF_TRACE_FENTRY },
		{ "zug_munmap", BPF_TRACE_FENTRY },	{ "zug_fifo_open", BPF_TRACE_FENTRY },
	};
	int ret = attach_calls(k, err, errlen);

	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]) && !ret; i++)
		ret = attach(k, hooks[i].name, hooks[i].type, err, errlen);
	return ret;
}

/*
 * When zug is killed its descriptors are closed from the lowest on, and the kernel then lets go of what they were the last
 * of beginning with the last. That has to be the scheduler: probes wait for tasks that it has parked within them.
 */
static int hold_last(int fd)
{
	struct rlimit max;
	int last = 4096;

	if (!getrlimit(RLIMIT_NOFILE, &max) && max.rlim_cur <= (rlim_t)last)
		last = (int)max.rlim_cur - 1;
	return fcntl(fd, F_DUPFD_CLOEXEC, last);
}

/* Most of it is waiting for the kernel. */
static void *attach_thread(void *arg)
{
	struct kernel *k = arg;

	k->attached = attach_all(k, k->attach_err, sizeof(k->attach_err));
	if (k->attached)
		return NULL;
	k->ops = programs_attach_ops(k->programs);
	if (k->ops < 0) {
		k->attached = k->ops;
		snprintf(k->attach_err, sizeof(k->attach_err), "the kernel refused the scheduler: %s%s%s%s",
			 strerror(-k->ops), k->bss->exit_message[0] ? ": " : "", k->bss->exit_message,
			 k->ops == -EBUSY ? " (another sched_ext scheduler is loaded)" : "");
		return NULL;
	}
	k->ops_last = hold_last(k->ops);
	programs_keep(k->programs);
	return NULL;
}

void kernel_begin_attaching(struct kernel *k)
{
	k->attaching = !pthread_create(&k->thread, NULL, attach_thread, k);
	if (!k->attaching)
		attach_thread(k);
}

int kernel_ready(struct kernel *k, char *err, size_t errlen)
{
	if (k->attaching)
		pthread_join(k->thread, NULL);
	k->attaching = false;
	if (k->attached)
		snprintf(err, errlen, "%s", k->attach_err);
	return k->attached;
}

void kernel_rest(struct kernel *k)
{
	int nr = 0;

	for (int i = 0; i < k->nr_hooks; i++)
		if (k->hooks[i].calls)
			close(k->hooks[i].link);
		else
			k->hooks[nr++] = k->hooks[i];
	k->nr_hooks = nr;
	k->rests = true;
}

int kernel_wake(struct kernel *k, char *err, size_t errlen)
{
	int ret = 0;

	if (k->rests)
		ret = attach_calls(k, err, errlen);
	if (!ret)
		k->rests = false;
	else
		kernel_rest(k);
	return ret;
}

int kernel_leave_detaching(const struct kernel *k, bool hooks)
{
	RIGHTS_RAISED;
	int fs = syscall(SYS_fsopen, "bpf", FSOPEN_CLOEXEC), mnt = -1;
	char name[32];

	if (fs >= 0 && !syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		mnt = syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0);
	if (fs >= 0)
		close(fs);
	for (size_t i = hooks ? 0 : k->nr_hooks; mnt >= 0 && i < k->nr_hooks + k->nr_links; i++) {
		LIBBPF_OPTS(bpf_obj_pin_opts, o, .file_flags = BPF_F_PATH_FD, .path_fd = mnt);

		snprintf(name, sizeof(name), "%zu", i);
		if (i >= (size_t)k->nr_hooks)
			bpf_obj_pin_opts(k->links[i - k->nr_hooks], name, &o);
		else if (k->hooks[i].slow)
			bpf_obj_pin_opts(k->hooks[i].link, name, &o);
	}
	return mnt;
}

static void close_links(struct kernel *k)
{
	for (int i = 0; i < k->nr_hooks; i++)
		close(k->hooks[i].link);
	for (size_t i = 0; i < k->nr_links; i++)
		close(k->links[i]);
	k->nr_hooks = 0;
	k->nr_links = 0;
}

static void close_ops(struct kernel *k)
{
	if (k->ops_last >= 0)
		close(k->ops_last);
	if (k->ops >= 0)
		close(k->ops);
	k->ops = k->ops_last = -1;
}

void kernel_leave_links(struct kernel *k)
{
	close_links(k);
	close_ops(k);
}

void kernel_detach(struct kernel *k)
{
	int detached;

	close_ops(k);
	detached = kernel_leave_detaching(k, true);
	close_links(k);
	if (detached >= 0)
		close(detached);
}

static int attach_faults(struct kernel *k, char *err, size_t errlen)
{
	static const char *const hooks[] = {
		"zug_fault_rw", "zug_fault_create", "zug_fault_mkdir", "zug_fault_connect", "zug_fault_accept",
		"zug_fault_send", "zug_fault_recv", "zug_fault_fork", "zug_fault_mmap",
	};
	bool can_fault = programs_fd(k->programs, hooks[0]) >= 0;
	char list[512] = "";
	int ret = 0;
	FILE *f;

	f = fopen("/sys/kernel/security/lsm", "re");
	if (f && !fgets(list, sizeof(list), f))
		list[0] = 0;
	if (f)
		fclose(f);
	if (!can_fault || (list[0] && !strstr(list, "bpf"))) {
		snprintf(err, errlen, "--faults and --flows: this kernel %s", can_fault ?
			 "was started without the security module bpf (add it to lsm= on its command line)" :
			 "was built without the security module bpf (CONFIG_BPF_LSM)");
		return -EOPNOTSUPP;
	}
	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]) && !ret; i++)
		ret = attach(k, hooks[i], BPF_LSM_MAC, err, errlen);
	return ret ? ret : attach_tracepoint(k, "zug_fault_exit", "raw_syscalls/sys_exit", err, errlen);
}

int kernel_attach(struct kernel *k, enum kernel_extra what, char *err, size_t errlen)
{
	bool *has = what == KERNEL_FAULTS ? &k->faults : &k->steps;
	int ret;

	if (*has)
		return 0;
	if (k->borrowed)
		ret = k->ask(k->ask_ctx, what, err, errlen);
	else if (what == KERNEL_FAULTS)
		ret = attach_faults(k, err, errlen);
	else
		ret = attach(k, "zug_stepped", BPF_TRACE_FENTRY, err, errlen);
	*has = !ret;
	return ret;
}

int kernel_allow_faults(struct kernel *k, char *err, size_t errlen)
{
	return kernel_attach(k, KERNEL_FAULTS, err, errlen);
}

int kernel_may_return(char *err, size_t errlen)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *t = btf ? btf__type_by_id(btf, btf__find_by_name_kind(btf, "bpf_prog_aux", BTF_KIND_STRUCT)) : NULL;
	const struct btf_member *m = t ? btf_members(t) : NULL;
	int ret = -EOPNOTSUPP;

	for (int i = 0; m && i < btf_vlen(t) && ret; i++)
		if (!strcmp(btf__name_by_offset(btf, m[i].name_off), "kprobe_write_ctx"))
			ret = 0;
	btf__free(btf);
	if (ret)
		snprintf(err, errlen, "--faults spurious: this kernel lets no BPF program change a task's registers "
			 "(Linux 6.18 does)");
	return ret;
}
