/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The BPF side from user space: attach it, plant probes, read the event ring, give commands.
 *
 * Each sandbox has a ring. What is read from it is kept, in the order in which it came, until it is taken: by
 * kworld_pump(), or by the door of zugd while a test joins. Read kernel.h first, and bpf/zug_abi.h for what the events
 * and commands say.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "kernel/kernel.h"
#include "kernel/machine.h"
#include "kernel/programs.h"
#include "lib/base/array.h"
#include "lib/base/clock.h"
#include "zug.skel.h"

/* A decision takes some 50 us; beyond a few of those sleeping is cheaper than spinning. */
#define SPIN_US 400
/* Between two looks at the ring. An emulator may take a microsecond for one. */
#define PAUSES 4

/* Between two tries to attach, and for how long: the links of an earlier process are still being taken away. */
#define ATTACH_PAUSE_US	2000
#define ATTACH_WITHIN_NS 20000000000ull

#define MAX_HOOKS 40

struct kernel {
	struct programs *programs;
	struct zug_bpf__bss *bss;	/* the programs' variables */
	int ops, ops_last;		/* the scheduler's link; hold_last() */
	/* links of programs in the kernel's own functions and tracepoints */
	struct hook {
		int link;
		bool slow;		/* to take it away waits for all CPUs */
		bool calls;		/* each system call of each process of the machine comes there */
	} hooks[MAX_HOOKS];
	int nr_hooks;
	bool rests;			/* kernel_rest() */
	/* attaches meanwhile; what came of it, once it has ended */
	pthread_t thread;
	bool attaching;
	int attached;
	char attach_err[512];
	bool steps;			/* over instructions that access watched memory are seen */
	bool faults;			/* may be injected */
	int *links;	/* probes, one a module */
	size_t nr_links, room_links;
	uint64_t probes_changed;
	struct ring_buffer *rb;		/* of the sandboxes that this process has opened; NULL: none yet */
	int ctl_fd, epoll;
	int rings[ZUG_MAX_SANDBOXES];	/* -1: not opened */
	bool spin;
	/* by sandbox: the events that were read from the ring and are not taken yet, list[first..end) */
	struct event_list {
		struct zug_event *list;
		size_t first, end, room;
	} events[ZUG_MAX_SANDBOXES];
	int lost;		/* -errno: an event could not be kept; 0 */
	char ejected[512];
};

static int on_event(void *ctx, void *data, size_t len)
{
	const struct zug_event *e = data;
	struct kernel *k = ctx;
	struct event_list *l;

	if (len != sizeof(*e) || e->sandbox >= ZUG_MAX_SANDBOXES) {
		k->lost = -EPROTO;
		return 0;
	}
	l = &k->events[e->sandbox];
	if (!ARRAY_RESERVE(l->list, l->room, l->end + 1)) {
		k->lost = -ENOMEM;
		return 0;
	}
	l->list[l->end++] = *e;
	return 0;
}

/* ---- attaching ---- */

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

/* ---- rings ---- */

/* The ring of a sandbox, which is made if it is not there: a descriptor, or -errno. */
static int find_ring(struct kernel *k, unsigned int slot)
{
	int all = programs_map(k->programs, "events"), fd, ret;
	uint32_t id;

	if (!bpf_map_lookup_elem(all, &slot, &id)) {
		fd = bpf_map_get_fd_by_id(id);
		return fd < 0 ? -errno : fd;
	}
	fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "event_ring", 0, 0, ZUG_RING_BYTES, NULL);
	if (fd < 0)
		return -errno;
	ret = bpf_map_update_elem(all, &slot, &fd, BPF_ANY) ? -errno : 0;
	if (ret)
		close(fd);
	return ret ? ret : fd;
}

/* The events of that ring are read from now on. 0 or -errno. */
static int read_ring(struct kernel *k, int ring)
{
	struct epoll_event ee = { .events = EPOLLIN };
	int ret = 0;

	if (k->rb)
		ret = ring_buffer__add(k->rb, ring, on_event, k);
	else
		k->rb = ring_buffer__new(ring, on_event, k, NULL);
	if (ret || !k->rb)
		return ret ? ret : -errno;
	return epoll_ctl(k->epoll, EPOLL_CTL_ADD, ring, &ee) ? -errno : 0;
}

/* Other processes may open other slots meanwhile. */
static void count_slot(struct kernel *k, unsigned int slot)
{
	uint32_t nr = k->bss->nr_slots;

	while (nr <= slot && !__atomic_compare_exchange_n(&k->bss->nr_slots, &nr, slot + 1, false, __ATOMIC_SEQ_CST,
							  __ATOMIC_SEQ_CST))
		;
}

int kernel_open_slot(struct kernel *k, unsigned int slot, char *err, size_t errlen)
{
	int ret = -EINVAL;

	if (slot < ZUG_MAX_SANDBOXES && k->rings[slot] >= 0)
		return 0;
	if (slot < ZUG_MAX_SANDBOXES)
		ret = k->rings[slot] = find_ring(k, slot);
	if (ret >= 0)
		ret = read_ring(k, k->rings[slot]);
	if (ret) {
		snprintf(err, errlen, "cannot map the event ring of sandbox %u: %s", slot, strerror(-ret));
		return ret;
	}
	count_slot(k, slot);
	/* what lies in it is of an earlier process */
	kernel_forget(k, slot);
	return 0;
}

void kernel_free_slot(struct kernel *k, unsigned int slot)
{
	kernel_ctl(k, &(struct zug_ctl){ .cmd = ZUG_CMD_FREE, .sandbox = slot });
	bpf_map_delete_elem(programs_map(k->programs, "events"), &slot);
}

static void close_rings(struct kernel *k)
{
	ring_buffer__free(k->rb);
	k->rb = NULL;
	for (int i = 0; i < ZUG_MAX_SANDBOXES; i++) {
		if (k->rings[i] >= 0)
			close(k->rings[i]);
		k->rings[i] = -1;
		k->events[i].first = k->events[i].end = 0;
	}
	if (k->epoll >= 0)
		close(k->epoll);
	k->epoll = -1;
}

int kernel_forked(struct kernel *k, char *err, size_t errlen)
{
	/* the parent decides how long they last */
	for (int i = 0; i < k->nr_hooks; i++)
		close(k->hooks[i].link);
	for (size_t i = 0; i < k->nr_links; i++)
		close(k->links[i]);
	close(k->ops_last);
	close(k->ops);
	k->nr_hooks = 0;
	k->nr_links = 0;
	k->ops = k->ops_last = -1;
	close_rings(k);
	k->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (k->epoll >= 0)
		return 0;
	snprintf(err, errlen, "cannot wait for events: %s", strerror(errno));
	return -errno;
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

int kernel_open(struct kernel **out, char *err, size_t errlen)
{
	struct rlimit inf = { RLIM_INFINITY, RLIM_INFINITY };
	struct kernel *k;
	int ret;

	*out = NULL;
	ret = machine_check(err, errlen);
	ret = ret ? ret : machine_drop_privileges(err, errlen);
	if (ret)
		return ret;
	setrlimit(RLIMIT_MEMLOCK, &inf);
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->epoll = k->ops = k->ops_last = -1;
	memset(k->rings, -1, sizeof(k->rings));
	k->spin = sysconf(_SC_NPROCESSORS_ONLN) > 1;
	ret = programs_open(&k->programs, err, errlen);
	if (ret)
		goto fail;
	k->bss = programs_variables(k->programs);
	k->ctl_fd = programs_fd(k->programs, "zug_ctl");
	k->epoll = epoll_create1(EPOLL_CLOEXEC);
	ret = k->epoll < 0 ? -errno : kernel_open_slot(k, 0, err, errlen);
	if (ret)
		goto fail;
	k->attaching = !pthread_create(&k->thread, NULL, attach_thread, k);
	if (!k->attaching)
		attach_thread(k);
	*out = k;
	return 0;
fail:
	kernel_close(k);
	return ret;
}

/*
 * A process that closes the last descriptor of a program attached to a function of the kernel, or to code of user space,
 * waits until no CPU can be in it: a tenth of a second for each. Where a file of a BPF file system is the last to know of
 * it, a worker of the kernel does that after us. That file system is seen by no other process, and gone with the descriptor
 * returned; -1 where there can be none (then we wait). hooks: those of the kernel's functions, too.
 */
static int leave_detaching(const struct kernel *k, bool hooks)
{
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

void kernel_close(struct kernel *k)
{
	int detached = -1;
	char err[512];

	if (!k)
		return;
	kernel_ready(k, err, sizeof(err));
	/* a kernel that has thrown the scheduler out did so for a reason */
	if (k->ops >= 0 && k->bss->exit_kind)
		programs_discard(k->programs);
	if (k->ops_last >= 0)
		close(k->ops_last);
	if (k->ops >= 0)
		close(k->ops);
	close_rings(k);
	detached = leave_detaching(k, true);
	for (int i = 0; i < k->nr_hooks; i++)
		close(k->hooks[i].link);
	for (size_t i = 0; i < k->nr_links; i++)
		close(k->links[i]);
	free(k->links);
	programs_close(k->programs);
	if (detached >= 0)
		close(detached);
	for (int i = 0; i < ZUG_MAX_SANDBOXES; i++)
		free(k->events[i].list);
	free(k);
}

const volatile struct zug_sandbox *kernel_sandbox(struct kernel *k, unsigned int slot)
{
	return slot < ZUG_MAX_SANDBOXES ? &k->bss->sandboxes[slot] : NULL;
}

struct zug_lease *kernel_lease(struct kernel *k, unsigned int slot)
{
	return slot < ZUG_MAX_SANDBOXES ? &k->bss->leases[slot] : NULL;
}

volatile struct zug_known_file *kernel_known_files(struct kernel *k, unsigned int slot)
{
	return slot < ZUG_MAX_SANDBOXES ? k->bss->known_files[slot] : NULL;
}

const struct zug_call *kernel_call(struct kernel *k, unsigned int slot)
{
	return slot < ZUG_MAX_SANDBOXES ? &k->bss->call_memories[slot] : NULL;
}

int kernel_ctl_fd(const struct kernel *k)
{
	return k->ctl_fd;
}

int kernel_ctl(struct kernel *k, struct zug_ctl *c)
{
	/* the context is copied back by itself */
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = c, .ctx_size_in = sizeof(*c));

	if (bpf_prog_test_run_opts(k->ctl_fd, &o))
		return -errno;
	return c->ret;
}

static int64_t elapsed_us(uint64_t start)
{
	return (clock_now_ns() - start) / 1000;
}

/* Reads the ring: 1: more than nr events of the sandbox wait; 0: not so; -errno. */
static int pull(struct kernel *k, const struct event_list *l, size_t nr)
{
	if (l->end - l->first > nr)
		return 1;
	ring_buffer__consume(k->rb);
	return k->lost ? k->lost : l->end - l->first > nr;
}

/* Waits until more than nr events of the sandbox are there to be taken. As kernel_event(). */
static int wait_events(struct kernel *k, unsigned int slot, size_t nr, int64_t timeout_us, int extra_fd)
{
	const struct event_list *l = &k->events[slot];
	volatile uint32_t *sleeps = &k->bss->sleeps[slot];
	uint64_t start;
	int64_t left;
	int ret = pull(k, l, nr), woken;

	if (ret || timeout_us <= 0)
		return ret;
	start = clock_now_ns();
	if (k->spin)
		do {
			for (int i = 0; i < PAUSES; i++)
				__builtin_ia32_pause();
			ret = pull(k, l, nr);
			if (ret)
				return ret;
		} while (elapsed_us(start) < (timeout_us < SPIN_US ? timeout_us : SPIN_US));
	for (;;) {
		struct pollfd p[2] = {
			{ .fd = k->epoll, .events = POLLIN },
			{ .fd = extra_fd, .events = POLLIN },
		};

		*sleeps = 1;
		__sync_synchronize();
		ret = pull(k, l, nr);
		left = timeout_us - elapsed_us(start);
		if (ret || left <= 0) {
			*sleeps = 0;
			return ret;
		}
		woken = poll(p, 2, left / 1000 + 1);
		if (woken < 0)
			woken = -errno;
		*sleeps = 0;
		ret = pull(k, l, nr);
		if (ret || woken == -EINTR || p[1].revents)
			return ret;
	}
}

int kernel_event(struct kernel *k, unsigned int slot, struct zug_event *e, int64_t timeout_us, int extra_fd)
{
	struct event_list *l = &k->events[slot];
	int ret = wait_events(k, slot, 0, timeout_us, extra_fd);

	if (ret != 1)
		return ret;
	*e = l->list[l->first++];
	if (l->first == l->end)
		l->first = l->end = 0;
	return 1;
}

int kernel_look(struct kernel *k, unsigned int slot, size_t nth, struct zug_event *e, int64_t timeout_us)
{
	struct event_list *l = &k->events[slot];
	int ret = wait_events(k, slot, nth, timeout_us, -1);

	if (ret == 1)
		*e = l->list[l->first + nth];
	return ret;
}

void kernel_drop(struct kernel *k, unsigned int slot, size_t nth)
{
	struct event_list *l = &k->events[slot];
	struct zug_event *e = &l->list[l->first + nth];

	memmove(e, e + 1, (--l->end - l->first - nth) * sizeof(*e));
}

void kernel_forget(struct kernel *k, unsigned int slot)
{
	struct event_list *l = &k->events[slot];

	ring_buffer__consume(k->rb);
	l->first = l->end = 0;
	k->lost = 0;
}

const char *kernel_ejected(struct kernel *k)
{
	if (!k->bss->exit_kind)
		return NULL;
	snprintf(k->ejected, sizeof(k->ejected), "%s%s%s", k->bss->exit_reason,
		 k->bss->exit_message[0] ? ": " : "", k->bss->exit_message);
	return k->ejected;
}

const char *kernel_thrown_out(struct kernel *k)
{
	char state[32];

	/* tasks run freely from the moment the kernel decides; why is known when it is done */
	for (int i = 0; i < 200 && !k->bss->exit_kind; i++) {
		machine_line("/sys/kernel/sched_ext/state", state, sizeof(state));
		if (!strcmp(state, "enabled"))
			return NULL;
		usleep(10000);
	}
	return kernel_ejected(k);
}

uint32_t kernel_dev(uint64_t st_dev)
{
	return major(st_dev) << 20 | minor(st_dev);
}

int kernel_add_module(struct kernel *k, uint64_t ino, uint64_t st_dev, uint32_t module)
{
	struct zug_file_key key = { .ino = ino, .dev = kernel_dev(st_dev) };

	return bpf_map_update_elem(programs_map(k->programs, "modules"), &key, &module, BPF_ANY) ? -errno : 0;
}

void kernel_tell_step(struct kernel *k, uint32_t module, uint64_t offset, const struct zug_caller *c)
{
	struct zug_step_key key = { .module = module, .offset = offset, .round = k->bss->plants };

	/* where that fails tasks stop */
	bpf_map_update_elem(programs_map(k->programs, "steps"), &key, c, BPF_ANY);
}

uint32_t kernel_probes_round(const struct kernel *k)
{
	return k->bss->plants;
}

void kernel_tell_caller(struct kernel *k, uint32_t mm, uint64_t addr, const struct zug_caller *c)
{
	struct zug_caller_key key = { .mm = mm, .addr = addr };

	/* where that fails it is asked about again */
	bpf_map_update_elem(programs_map(k->programs, "callers"), &key, c, BPF_ANY);
}

/* Uprobes of one program in a file, in one link. cookies: one for each; NULL: none. The link or -errno. */
static int attach_multi(struct kernel *k, const char *prog, const char *file, const unsigned long *offsets,
			const __u64 *cookies, size_t nr)
{
	LIBBPF_OPTS(bpf_link_create_opts, o, .uprobe_multi = {
		.path = file, .offsets = offsets, .cookies = cookies, .cnt = nr,
	});
	int link = bpf_link_create(programs_fd(k->programs, prog), 0, BPF_TRACE_UPROBE_MULTI, &o);

	return link < 0 ? -errno : link;
}

/* Until kernel_clear_probes(). */
static int keep_link(struct kernel *k, int link)
{
	if (!ARRAY_RESERVE(k->links, k->room_links, k->nr_links + 1)) {
		close(link);
		return -ENOMEM;
	}
	k->links[k->nr_links++] = link;
	return 0;
}

int kernel_add_probes(struct kernel *k, uint32_t module, const char *file,
		      const struct kernel_probe *probes, int nr, int *bad)
{
	int map = programs_map(k->programs, "sites"), index = programs_map(k->programs, "site_index");
	unsigned long *offsets;
	__u64 *cookies;
	int ret = 0, link;

	*bad = -1;
	if (!nr)
		return 0;
	offsets = calloc(nr, sizeof(*offsets));
	cookies = calloc(nr, sizeof(*cookies));
	if (!offsets || !cookies) {
		ret = -ENOMEM;
		goto out;
	}
	for (int i = 0; i < nr; i++) {
		struct zug_site_key key = { .offset = probes[i].offset, .module = module };

		if (bpf_map_update_elem(map, &probes[i].site, &probes[i].what, BPF_ANY) ||
		    bpf_map_update_elem(index, &key, &probes[i].site, BPF_ANY)) {
			ret = -errno;
			goto out;
		}
		offsets[i] = probes[i].offset;
		cookies[i] = ZUG_COOKIE(k->bss->plants, probes[i].site + 1);
	}
	ret = attach_multi(k, "zug_plant", file, offsets, cookies, nr);
	/* one place that cannot be probed fails them all: find it */
	for (int i = 0; ret < 0 && *bad < 0 && i < nr; i++) {
		link = attach_multi(k, "zug_plant", file, &offsets[i], NULL, 1);
		if (link < 0)
			*bad = i;
		else
			close(link);
	}
	if (ret >= 0)
		ret = keep_link(k, ret);
	k->probes_changed++;
out:
	free(offsets);
	free(cookies);
	return ret;
}

static void clear_map(struct kernel *k, const char *name)
{
	int map = programs_map(k->programs, name);
	char key[32], next[32];
	void *prev = NULL;

	while (!bpf_map_get_next_key(map, prev, next)) {
		if (prev)
			bpf_map_delete_elem(map, key);
		memcpy(key, next, sizeof(key));
		prev = key;
	}
	if (prev)
		bpf_map_delete_elem(map, key);
}

bool kernel_can_answer(struct kernel *k)
{
	struct zug_ctl c = { .cmd = ZUG_CMD_CAN_ANSWER };

	return !kernel_ctl(k, &c);
}

int kernel_add_answers(struct kernel *k, const char *file, const struct kernel_answer *list, int nr)
{
	unsigned long *offsets = calloc(nr, sizeof(*offsets));
	__u64 *cookies = calloc(nr, sizeof(*cookies));
	int ret = -ENOMEM;

	for (int i = 0; i < nr && offsets && cookies; i++) {
		offsets[i] = list[i].offset;
		cookies[i] = ZUG_COOKIE(k->bss->plants, list[i].how);
	}
	if (offsets && cookies)
		ret = attach_multi(k, "zug_answer", file, offsets, cookies, nr);
	if (ret >= 0)
		ret = keep_link(k, ret);
	k->probes_changed++;
	free(offsets);
	free(cookies);
	return ret;
}

uint64_t kernel_probes_changed(const struct kernel *k)
{
	return k->probes_changed;
}

void kernel_clear_probes(struct kernel *k)
{
	int detached = leave_detaching(k, false);

	k->probes_changed++;
	for (size_t i = 0; i < k->nr_links; i++)
		close(k->links[i]);
	k->nr_links = 0;
	if (detached >= 0)
		close(detached);
	k->bss->plants = (k->bss->plants + 1) % ZUG_COOKIE_ROUNDS;
	clear_map(k, "modules");
	clear_map(k, "site_index");
	clear_map(k, "site_cache");
	memset(k->bss->watches, 0, sizeof(k->bss->watches));
}

int kernel_set_watch(struct kernel *k, unsigned int i, const struct zug_watch *w, char *err, size_t errlen)
{
	int ret = 0;

	if (i >= ZUG_MAX_WATCHES)
		return -EINVAL;
	if (!k->steps)
		ret = attach(k, "zug_stepped", BPF_TRACE_FENTRY, err, errlen);
	if (ret)
		return ret;
	k->steps = true;
	k->bss->watches[i] = *w;
	k->probes_changed++;
	return 0;
}

bool kernel_watched(const struct kernel *k, uint64_t addr, uint64_t size, uint32_t exe_dev, uint64_t exe_ino)
{
	for (unsigned int i = 0; i < ZUG_MAX_WATCHES; i++) {
		const struct zug_watch *w = &k->bss->watches[i];

		if (w->len && addr < w->addr + w->len && w->addr < addr + size &&
		    (!w->exe_ino || (w->exe_ino == exe_ino && w->exe_dev == exe_dev)))
			return true;
	}
	return false;
}

int kernel_open_watch(struct kernel *k, unsigned int i, int pid, bool write_only)
{
	const struct zug_watch *w = &k->bss->watches[i];
	struct perf_event_attr a = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(a),
		.bp_type = write_only ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW,
		.bp_addr = w->addr,
		.bp_len = w->len,
		.sample_period = 1,
		.wakeup_events = 1,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = syscall(SYS_perf_event_open, &a, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, programs_fd(k->programs, "zug_watchpoint"))) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	return fd;
}

bool kernel_may_write(const struct kernel *k)
{
	return programs_may_write(k->programs);
}

int kernel_allow_faults(struct kernel *k, char *err, size_t errlen)
{
	static const char *const hooks[] = {
		"zug_fault_rw", "zug_fault_create", "zug_fault_mkdir", "zug_fault_connect", "zug_fault_accept",
		"zug_fault_send", "zug_fault_recv", "zug_fault_fork", "zug_fault_mmap",
	};
	bool can_fault = programs_fd(k->programs, hooks[0]) >= 0;
	char list[512] = "";
	int ret = 0;
	FILE *f;

	if (k->faults)
		return 0;
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
	ret = ret ? ret : attach_tracepoint(k, "zug_fault_exit", "raw_syscalls/sys_exit", err, errlen);
	k->faults = !ret;
	return ret;
}
