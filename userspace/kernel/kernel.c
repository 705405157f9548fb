/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The BPF side from user space: load and attach it, plant probes, read the event ring, give commands.
 *
 * There is one ring for all sandboxes. What is read from it is kept by sandbox, in the order in which it came, until it is
 * taken: by kworld_pump(), or by the door of zugd while a test joins. Read kernel.h first, and bpf/zug_abi.h for what the
 * events and commands say.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "kernel/kernel.h"
#include "kernel/machine.h"
#include "kernel/syscalls.h"
#include "lib/base/array.h"
#include "lib/base/clock.h"
#include "zug.skel.h"

/* A decision takes some 50 us; beyond a few of those sleeping is cheaper than spinning. */
#define SPIN_US 400
/* Between two looks at the ring. An emulator may take a microsecond for one. */
#define PAUSES 4

#define NR_FAULT_HOOKS 10

/* The verifier's figures, not its log. */
#define LOG_STATISTICS 4

struct kernel {
	struct zug_bpf *bpf;
	struct bpf_link *ops, *exits;
	struct bpf_link *fault_hooks[NR_FAULT_HOOKS];	/* while --faults is in use */
	bool can_fault;
	struct bpf_link **links;	/* probes, one a module */
	size_t nr_links, room_links;
	uint64_t probes_changed;
	struct ring_buffer *rb;
	int ctl_fd, epoll;
	int ops_last;		/* hold_last() */
	bool spin;
	/* by sandbox: the events that were read from the ring and are not taken yet, list[first..end) */
	struct event_list {
		struct zug_event *list;
		size_t first, end, room;
	} events[ZUG_MAX_SANDBOXES];
	int lost;		/* -errno: an event could not be kept; 0 */
	char ejected[512];
};

static char last_libbpf[512];

/* libbpf explains a failed load on its own channel; keep the first line that looks like the reason. */
static int on_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (getenv("ZUG_LIBBPF_DEBUG"))
		return vfprintf(stderr, fmt, ap);
	if (level != LIBBPF_WARN)
		return 0;
	if (!last_libbpf[0]) {
		vsnprintf(last_libbpf, sizeof(last_libbpf), fmt, ap);
		last_libbpf[strcspn(last_libbpf, "\n")] = 0;
	}
	return 0;
}

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

static void fill_syscalls(struct zug_bpf *b)
{
	for (unsigned int i = 0; i < syscall_table_nr; i++) {
		const struct syscall_desc *d = &syscall_table[i];

		b->rodata->syscalls[d->nr].class = d->class;
		b->rodata->syscalls[d->nr].fd_arg = d->fd_arg;
		b->rodata->syscalls[d->nr].time_arg = d->time_arg;
		b->rodata->syscalls[d->nr].time_kind = d->time_kind;
		b->rodata->syscalls[d->nr].time_abs = d->time_abs;
		b->rodata->syscalls[d->nr].time_left = d->time_left;
		b->rodata->syscalls[d->nr].timer = d->timer;
		b->rodata->syscalls[d->nr].wait_fd = d->wait_fd;
		b->rodata->syscalls[d->nr].io = d->io;
		b->rodata->syscalls[d->nr].locks = d->locks;
		b->rodata->syscalls[d->nr].sysv = d->sysv;
		b->rodata->syscalls[d->nr].sock_time = d->sock_time;
		b->rodata->syscalls[d->nr].polls = d->polls;
	}
}

static int attach(struct bpf_program *prog, struct bpf_link **link, char *err, size_t errlen)
{
	*link = bpf_program__attach(prog);
	if (*link)
		return 0;
	snprintf(err, errlen, "cannot attach %s: %s%s%s", bpf_program__name(prog), strerror(errno),
		 last_libbpf[0] ? ": " : "", last_libbpf);
	return -errno;
}

/* The functions of the kernel that zug can do without, and that this kernel has. */
struct hooks {
	bool audit;	/* a kernel without auditing says nothing of refused calls */
	bool fifo;	/* else a FIFO that is opened counts as storage: its opener keeps the turn, and lends it */
	bool fault;	/* BPF LSM: --faults and --flows */
};

static void hooks_find(struct hooks *h)
{
	struct btf *btf = btf__load_vmlinux_btf();

	if (!btf)
		return;
	h->audit = btf__find_by_name_kind(btf, "audit_seccomp", BTF_KIND_FUNC) > 0;
	h->fifo = btf__find_by_name_kind(btf, "fifo_open", BTF_KIND_FUNC) > 0;
	h->fault = btf__find_by_name_kind(btf, "bpf_lsm_file_permission", BTF_KIND_FUNC) > 0;
	btf__free(btf);
}

static void fault_programs(const struct kernel *k, struct bpf_program *list[NR_FAULT_HOOKS])
{
	struct bpf_program *const all[NR_FAULT_HOOKS] = {
		k->bpf->progs.zug_fault_rw, k->bpf->progs.zug_fault_create, k->bpf->progs.zug_fault_mkdir,
		k->bpf->progs.zug_fault_connect, k->bpf->progs.zug_fault_accept, k->bpf->progs.zug_fault_send,
		k->bpf->progs.zug_fault_recv, k->bpf->progs.zug_fault_fork, k->bpf->progs.zug_fault_mmap,
		k->bpf->progs.zug_fault_exit,
	};

	memcpy(list, all, sizeof(all));
}

/* Programs at raw tracepoints of system calls run with preemption off: a task can be stopped there (points.bpf.h). */
static bool raw_is_atomic(void)
{
	struct utsname u;

	return !uname(&u) && atoi(u.release) < 7;
}

static int load(struct kernel *k, const struct hooks *has, char *err, size_t errlen)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .kernel_log_level = getenv("ZUG_LIBBPF_DEBUG") ? LOG_STATISTICS : 0);
	struct bpf_program *faults[NR_FAULT_HOOKS];
	int ret;

	last_libbpf[0] = 0;
	k->bpf = zug_bpf__open_opts(&opts);
	if (!k->bpf) {
		ret = -errno;
		snprintf(err, errlen, "cannot open the BPF object: %s", strerror(errno));
		return ret;
	}
	if (k->bpf->rodata->zug_abi_version != ZUG_ABI_VERSION) {
		snprintf(err, errlen, "the BPF object has ABI version %u, zug has %u: build both again",
			 k->bpf->rodata->zug_abi_version, ZUG_ABI_VERSION);
		return -EPROTO;
	}
	fill_syscalls(k->bpf);
	/* else the kernel refuses programs that write to a process's memory */
	k->bpf->rodata->may_write = !machine_locked_down("integrity");
	k->bpf->rodata->stops_at_exit = k->bpf->rodata->may_write && raw_is_atomic();
	bpf_program__set_autoload(k->bpf->progs.zug_refused, has->audit);
	bpf_program__set_autoload(k->bpf->progs.zug_fifo_open, has->fifo);
	bpf_program__set_autoload(k->bpf->progs.zug_sys_enter_raw, raw_is_atomic());
	bpf_program__set_autoload(k->bpf->progs.zug_sys_enter, !raw_is_atomic());
	fault_programs(k, faults);
	for (int i = 0; i < NR_FAULT_HOOKS; i++)
		bpf_program__set_autoload(faults[i], has->fault);
	ret = zug_bpf__load(k->bpf);
	if (!ret)
		return 0;
	if (strstr(last_libbpf, "_impl"))
		snprintf(err, errlen, "this kernel cannot load any sched_ext scheduler: its BTF lacks "
			 "the *_impl functions (%s); use Linux 6.16 to 7.0", last_libbpf);
	else
		snprintf(err, errlen, "cannot load the BPF programs: %s%s%s "
			 "(ZUG_LIBBPF_DEBUG=1 shows the verifier's words)", strerror(-ret),
			 last_libbpf[0] ? ": " : "", last_libbpf);
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

int kernel_open(struct kernel **out, char *err, size_t errlen)
{
	struct hooks has = { .audit = true, .fifo = true, .fault = true };
	struct rlimit inf = { RLIM_INFINITY, RLIM_INFINITY };
	struct epoll_event ee = { .events = EPOLLIN };
	struct kernel *k;
	int ret;

	*out = NULL;
	ret = machine_check(err, errlen);
	if (ret)
		return ret;
	libbpf_set_print(on_libbpf);
	setrlimit(RLIMIT_MEMLOCK, &inf);
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->epoll = k->ops_last = -1;
	k->spin = sysconf(_SC_NPROCESSORS_ONLN) > 1;
	/* to look before would cost more than all the rest: libbpf reads the kernel's types anew */
	ret = load(k, &has, err, errlen);
	if (ret == -ESRCH) {
		hooks_find(&has);
		zug_bpf__destroy(k->bpf);
		ret = load(k, &has, err, errlen);
	}
	if (ret)
		goto fail;
	k->can_fault = has.fault;
	k->ctl_fd = bpf_program__fd(k->bpf->progs.zug_ctl);
	if ((ret = attach(k->bpf->progs.zug_breakpoint, &k->bpf->links.zug_breakpoint, err, errlen)) ||
	    (ret = attach(k->bpf->progs.zug_stepped, &k->bpf->links.zug_stepped, err, errlen)) ||
	    (ret = attach(k->bpf->progs.zug_signal, &k->bpf->links.zug_signal, err, errlen)) ||
	    (ret = attach(k->bpf->progs.zug_deliver, &k->bpf->links.zug_deliver, err, errlen)) ||
	    (raw_is_atomic() ?
	     (ret = attach(k->bpf->progs.zug_sys_enter_raw, &k->bpf->links.zug_sys_enter_raw, err, errlen)) :
	     (ret = attach(k->bpf->progs.zug_sys_enter, &k->bpf->links.zug_sys_enter, err, errlen))) ||
	    (ret = attach(k->bpf->progs.zug_newtask, &k->bpf->links.zug_newtask, err, errlen)) ||
	    (ret = attach(k->bpf->progs.zug_exec, &k->bpf->links.zug_exec, err, errlen)) ||
	    (ret = attach(k->bpf->progs.zug_cgroup_move, &k->bpf->links.zug_cgroup_move, err, errlen)) ||
	    (ret = attach(k->bpf->progs.zug_mmap, &k->bpf->links.zug_mmap, err, errlen)) ||
	    (ret = attach(k->bpf->progs.zug_munmap, &k->bpf->links.zug_munmap, err, errlen)) ||
	    (ret = attach(k->bpf->progs.zug_mm_gone, &k->bpf->links.zug_mm_gone, err, errlen)) ||
	    (ret = attach(k->bpf->progs.zug_released, &k->bpf->links.zug_released, err, errlen)) ||
	    (has.fifo && (ret = attach(k->bpf->progs.zug_fifo_open, &k->bpf->links.zug_fifo_open, err, errlen))) ||
	    (has.audit && (ret = attach(k->bpf->progs.zug_refused, &k->bpf->links.zug_refused, err, errlen))))
		goto fail;
	k->ops = bpf_map__attach_struct_ops(k->bpf->maps.zug_ops);
	if (!k->ops) {
		ret = -errno;
		snprintf(err, errlen, "the kernel refused the scheduler: %s%s%s%s", strerror(errno),
			 k->bpf->bss->exit_message[0] ? ": " : "", k->bpf->bss->exit_message,
			 errno == EBUSY ? " (another sched_ext scheduler is loaded)" : "");
		goto fail;
	}
	k->ops_last = hold_last(bpf_link__fd(k->ops));
	k->rb = ring_buffer__new(bpf_map__fd(k->bpf->maps.events), on_event, k, NULL);
	k->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!k->rb || k->epoll < 0 ||
	    epoll_ctl(k->epoll, EPOLL_CTL_ADD, bpf_map__fd(k->bpf->maps.events), &ee)) {
		ret = -errno;
		snprintf(err, errlen, "cannot map the event ring: %s", strerror(errno));
		goto fail;
	}
	*out = k;
	return 0;
fail:
	kernel_close(k);
	return ret;
}

/*
 * A process that closes the last descriptor of a program attached to a function of the kernel waits until no CPU can be
 * in it: a tenth of a second for each. Where a file of a BPF file system is the last to know of it, a worker of the
 * kernel does that after us. That file system is seen by no other process, and gone with the descriptor returned; -1 where
 * there can be none (then we wait).
 */
static int leave_detaching(const struct kernel *k)
{
	int fs = syscall(SYS_fsopen, "bpf", FSOPEN_CLOEXEC), mnt = -1;

	if (fs >= 0 && !syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		mnt = syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0);
	if (fs >= 0)
		close(fs);
	for (int i = 0; mnt >= 0 && i < k->bpf->skeleton->prog_cnt; i++) {
		struct bpf_link *link = *k->bpf->skeleton->progs[i].link;
		LIBBPF_OPTS(bpf_obj_pin_opts, o, .file_flags = BPF_F_PATH_FD, .path_fd = mnt);

		if (link)
			bpf_obj_pin_opts(bpf_link__fd(link), k->bpf->skeleton->progs[i].name, &o);
	}
	return mnt;
}

void kernel_close(struct kernel *k)
{
	int detached = -1;

	if (!k)
		return;
	for (size_t i = 0; i < k->nr_links; i++)
		bpf_link__destroy(k->links[i]);
	free(k->links);
	bpf_link__destroy(k->exits);
	for (int i = 0; i < NR_FAULT_HOOKS; i++)
		bpf_link__destroy(k->fault_hooks[i]);
	if (k->ops_last >= 0)
		close(k->ops_last);
	bpf_link__destroy(k->ops);
	ring_buffer__free(k->rb);
	if (k->epoll >= 0)
		close(k->epoll);
	if (k->bpf)
		detached = leave_detaching(k);
	zug_bpf__destroy(k->bpf);
	if (detached >= 0)
		close(detached);
	for (int i = 0; i < ZUG_MAX_SANDBOXES; i++)
		free(k->events[i].list);
	free(k);
}

const volatile struct zug_sandbox *kernel_sandbox(struct kernel *k, unsigned int slot)
{
	return slot < ZUG_MAX_SANDBOXES ? &k->bpf->bss->sandboxes[slot] : NULL;
}

struct zug_lease *kernel_lease(struct kernel *k, unsigned int slot)
{
	return slot < ZUG_MAX_SANDBOXES ? &k->bpf->bss->leases[slot] : NULL;
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
static int wait_events(struct kernel *k, const struct event_list *l, size_t nr, int64_t timeout_us, int extra_fd)
{
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

		k->bpf->bss->daemon_sleeps = 1;
		__sync_synchronize();
		ret = pull(k, l, nr);
		left = timeout_us - elapsed_us(start);
		if (ret || left <= 0) {
			k->bpf->bss->daemon_sleeps = 0;
			return ret;
		}
		woken = poll(p, 2, left / 1000 + 1);
		if (woken < 0)
			woken = -errno;
		k->bpf->bss->daemon_sleeps = 0;
		ret = pull(k, l, nr);
		if (ret || woken == -EINTR || p[1].revents)
			return ret;
	}
}

int kernel_event(struct kernel *k, unsigned int slot, struct zug_event *e, int64_t timeout_us, int extra_fd)
{
	struct event_list *l = &k->events[slot];
	int ret = wait_events(k, l, 0, timeout_us, extra_fd);

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
	int ret = wait_events(k, l, nth, timeout_us, -1);

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
	if (!k->bpf->bss->exit_kind)
		return NULL;
	snprintf(k->ejected, sizeof(k->ejected), "%s%s%s", k->bpf->bss->exit_reason,
		 k->bpf->bss->exit_message[0] ? ": " : "", k->bpf->bss->exit_message);
	return k->ejected;
}

const char *kernel_thrown_out(struct kernel *k)
{
	char state[32];

	/* tasks run freely from the moment the kernel decides; why is known when it is done */
	for (int i = 0; i < 200 && !k->bpf->bss->exit_kind; i++) {
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

	return bpf_map__update_elem(k->bpf->maps.modules, &key, sizeof(key), &module,
				    sizeof(module), BPF_ANY);
}

/* Uprobes of one program in a file, in one link. cookies: NULL, or one for each. */
static int attach_multi(struct bpf_program *prog, const char *file, const unsigned long *offsets, const __u64 *cookies,
			size_t nr, struct bpf_link **out)
{
	LIBBPF_OPTS(bpf_uprobe_multi_opts, o, .offsets = offsets, .cookies = cookies, .cnt = nr);

	*out = bpf_program__attach_uprobe_multi(prog, -1, file, NULL, &o);
	return *out ? 0 : -errno;
}

/* Until kernel_clear_probes(). */
static int keep_link(struct kernel *k, struct bpf_link *link)
{
	if (!ARRAY_RESERVE(k->links, k->room_links, k->nr_links + 1)) {
		bpf_link__destroy(link);
		return -ENOMEM;
	}
	k->links[k->nr_links++] = link;
	return 0;
}

int kernel_add_probes(struct kernel *k, uint32_t module, const char *file,
		      const struct kernel_probe *probes, int nr, int *bad)
{
	unsigned long *offsets;
	struct bpf_link *link;
	int ret;

	*bad = -1;
	if (!nr)
		return 0;
	k->probes_changed++;
	offsets = calloc(nr, sizeof(*offsets));
	if (!offsets)
		return -ENOMEM;
	for (int i = 0; i < nr; i++) {
		struct zug_site_key key = { .offset = probes[i].offset, .module = module };

		ret = bpf_map__update_elem(k->bpf->maps.sites, &probes[i].site, sizeof(__u32),
					   &probes[i].what, sizeof(struct zug_site), BPF_ANY);
		if (!ret)
			ret = bpf_map__update_elem(k->bpf->maps.site_index, &key, sizeof(key),
						   &probes[i].site, sizeof(__u32), BPF_ANY);
		if (ret)
			goto out;
		offsets[i] = probes[i].offset;
	}
	ret = attach_multi(k->bpf->progs.zug_plant, file, offsets, NULL, nr, &link);
	/* one place that cannot be probed fails them all: find it */
	for (int i = 0; ret && *bad < 0 && i < nr; i++) {
		if (attach_multi(k->bpf->progs.zug_plant, file, &offsets[i], NULL, 1, &link))
			*bad = i;
		else
			bpf_link__destroy(link);
	}
	if (!ret)
		ret = keep_link(k, link);
out:
	free(offsets);
	return ret;
}

static void clear_map(struct bpf_map *map, size_t key_size)
{
	char key[32], next[32];
	void *prev = NULL;

	while (!bpf_map__get_next_key(map, prev, next, key_size)) {
		if (prev)
			bpf_map__delete_elem(map, key, key_size, 0);
		memcpy(key, next, key_size);
		prev = key;
	}
	if (prev)
		bpf_map__delete_elem(map, key, key_size, 0);
}

bool kernel_can_answer(const struct kernel *k)
{
	return k->bpf->bss->answers;
}

int kernel_add_answers(struct kernel *k, const char *file, const struct kernel_answer *list, int nr)
{
	unsigned long *offsets = calloc(nr, sizeof(*offsets));
	__u64 *cookies = calloc(nr, sizeof(*cookies));
	struct bpf_link *link;
	int ret = -ENOMEM;

	k->probes_changed++;
	for (int i = 0; i < nr && offsets && cookies; i++) {
		offsets[i] = list[i].offset;
		cookies[i] = list[i].how;
	}
	if (offsets && cookies)
		ret = attach_multi(k->bpf->progs.zug_answer, file, offsets, cookies, nr, &link);
	if (!ret)
		ret = keep_link(k, link);
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
	k->probes_changed++;
	for (size_t i = 0; i < k->nr_links; i++)
		bpf_link__destroy(k->links[i]);
	k->nr_links = 0;
	clear_map(k->bpf->maps.modules, sizeof(struct zug_file_key));
	clear_map(k->bpf->maps.site_index, sizeof(struct zug_site_key));
	clear_map(k->bpf->maps.site_cache, 16);
	memset(k->bpf->bss->watches, 0, sizeof(k->bpf->bss->watches));
}

void kernel_set_watch(struct kernel *k, unsigned int i, const struct zug_watch *w)
{
	if (i >= ZUG_MAX_WATCHES)
		return;
	k->bpf->bss->watches[i] = *w;
	k->probes_changed++;
}

int kernel_open_watch(struct kernel *k, unsigned int i, int pid, bool write_only)
{
	const struct zug_watch *w = &k->bpf->bss->watches[i];
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
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(k->bpf->progs.zug_watchpoint))) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	return fd;
}

int kernel_watch_exits(struct kernel *k)
{
	if (!k->bpf->rodata->may_write)
		return -EPERM;
	if (!k->exits)
		k->exits = bpf_program__attach(k->bpf->progs.zug_sys_exit);
	return k->exits ? 0 : -errno;
}

int kernel_allow_faults(struct kernel *k, char *err, size_t errlen)
{
	struct bpf_program *progs[NR_FAULT_HOOKS];
	char list[512] = "";
	FILE *f = fopen("/sys/kernel/security/lsm", "re");

	if (f && !fgets(list, sizeof(list), f))
		list[0] = 0;
	if (f)
		fclose(f);
	if (!k->can_fault || (list[0] && !strstr(list, "bpf"))) {
		snprintf(err, errlen, "--faults and --flows: this kernel %s", k->can_fault ?
			 "was started without the security module bpf (add it to lsm= on its command line)" :
			 "was built without the security module bpf (CONFIG_BPF_LSM)");
		return -EOPNOTSUPP;
	}
	fault_programs(k, progs);
	for (int i = 0; i < NR_FAULT_HOOKS && !k->fault_hooks[i]; i++) {
		int ret = attach(progs[i], &k->fault_hooks[i], err, errlen);

		if (ret)
			return ret;
	}
	return 0;
}
