/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The BPF side from user space: open it, read the event rings, give commands. How it is attached is in kernel_attach.c, what
 * a search plants in kernel_probes.c.
 *
 * Each sandbox has a ring. What is read from it is kept, in the order in which it came, until it is taken: by
 * kworld_pump(), or by the door of zugd while a test joins. Read kernel.h first, and bpf/zug_abi.h for what the events
 * and commands say.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "kernel/kernel_internal.h"
#include "kernel/machine.h"
#include "kernel/programs.h"
#include "lib/base/array.h"
#include "lib/base/clock.h"
#include "lib/base/descriptors.h"
#include "lib/base/mappings.h"
#include "lib/base/mounts.h"
#include "lib/base/rights.h"
#include "zug.skel.h"

/* A decision takes some 50 us; beyond a few of those sleeping is cheaper than spinning. */
#define SPIN_US 400
/* A stop of a task on the lane may be behind a fork, which takes an emulator a millisecond. */
#define SPIN_FOR_STOP_US 2000
/* Slots whose rings stay for the next one to have them: to put one into the map, or take it out, waits for all CPUs. */
#define RINGS_KEPT 2
/* Between two looks at the ring. An emulator may take a microsecond for one. */
#define PAUSES 4

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
	kernel_translate(k, &l->list[l->end - 1]);
	return 0;
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

/*
 * A copy of this process reads no ring of ours (kernel_forked()). To copy the page tables of one, and to take them away again,
 * would take most of a fork.
 */
static void keep_rings_from_copies(void)
{
	const size_t size = 2 * ZUG_RING_BYTES + sysconf(_SC_PAGESIZE);
	struct mappings ms;
	struct mapping m;

	mappings_open(&ms, getpid());
	while (mappings_next(&ms, &m))
		if (m.shared && m.end - m.start == size && !strcmp(m.path, "anon_inode:bpf-map"))
			madvise((void *)m.start, size, MADV_DONTFORK);
	mappings_close(&ms);
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
	keep_rings_from_copies();
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
	RIGHTS_RAISED;

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
	k->bss->searches[slot] = k->first_slot;
	if (slot != k->first_slot)
		memcpy(k->bss->watches[slot], k->bss->watches[k->first_slot], sizeof(k->bss->watches[slot]));
	count_slot(k, slot);
	/* what lies in it is of an earlier process */
	kernel_forget(k, slot);
	return 0;
}

void kernel_free_slot(struct kernel *k, unsigned int slot)
{
	kernel_ctl(k, &(struct zug_ctl){ .cmd = ZUG_CMD_FREE, .sandbox = slot });
	if (slot >= RINGS_KEPT)
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

/* ---- opening and closing ---- */

/* Where the distribution lies, for calls that only read there. */
static void note_installed(struct kernel *k)
{
	struct stat st;

	if (stat("/usr", &st))
		return;
	k->bss->installed.ino = st.st_ino;
	k->bss->installed.dev = kernel_dev(st.st_dev);
	mounts_other_path("/proc/self/mountinfo", "/usr", k->bss->installed.other, sizeof(k->bss->installed.other));
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
	descriptors_raise();
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->epoll = k->ops = k->ops_last = k->lane = -1;
	memset(k->rings, -1, sizeof(k->rings));
	pthread_mutex_init(&k->plant_lock, NULL);
	k->spin = sysconf(_SC_NPROCESSORS_ONLN) > 1;
	ret = programs_open(&k->programs, err, errlen);
	if (ret)
		goto fail;
	k->bss = programs_variables(k->programs);
	note_installed(k);
	kernel_begin_search(k, 0);
	k->ctl_fd = programs_fd(k->programs, "zug_ctl");
	k->epoll = epoll_create1(EPOLL_CLOEXEC);
	ret = k->epoll < 0 ? -errno : kernel_open_slot(k, 0, err, errlen);
	if (ret)
		goto fail;
	kernel_begin_attaching(k);
	*out = k;
	return 0;
fail:
	kernel_close(k);
	return ret;
}

void kernel_close(struct kernel *k)
{
	struct kernel_refused refused;
	char err[512];

	if (!k)
		return;
	kernel_ready(k, err, sizeof(err));
	kernel_planted(k, &refused);
	/* a kernel that has thrown the scheduler out did so for a reason */
	if (k->ops >= 0 && k->bss->exit_kind)
		programs_discard(k->programs);
	kernel_detach(k);
	close_rings(k);
	free(k->links);
	free(k->files);
	free(k->places);
	programs_close(k->programs);
	for (int i = 0; i < ZUG_MAX_SANDBOXES; i++)
		free(k->events[i].list);
	free(k);
}

int kernel_forked(struct kernel *k, char *err, size_t errlen)
{
	/* the parent decides how long they last */
	kernel_leave_links(k);
	/* nothing is mapped here where the parent has its rings, or something else is: only what else it holds is closed */
	if (k->rb)
		close(ring_buffer__epoll_fd(k->rb));
	k->parents_rb = k->rb;
	k->rb = NULL;
	close_rings(k);
	k->beside_others = true;
	k->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (k->epoll >= 0)
		return 0;
	snprintf(err, errlen, "cannot wait for events: %s", strerror(errno));
	return -errno;
}

int kernel_share(struct kernel *k, unsigned int slot, kernel_attach_fn ask, void *ctx, char *err, size_t errlen)
{
	int ret = kernel_forked(k, err, errlen);

	k->borrowed = true;
	k->ask = ask;
	k->ask_ctx = ctx;
	kernel_begin_search(k, slot);
	return ret ? ret : kernel_open_slot(k, slot, err, errlen);
}

unsigned int kernel_first_slot(const struct kernel *k)
{
	return k->first_slot;
}

void kernel_set_broker(struct kernel *k, const struct lane_broker *b)
{
	k->broker = b;
}

const struct lane_broker *kernel_broker(const struct kernel *k)
{
	return k->broker;
}

void kernel_over(const struct kernel *k, int status)
{
	if (k && k->broker)
		k->broker->over(k->broker->ctx, status);
}

void kernel_set_lane(struct kernel *k, int lane)
{
	k->lane = lane;
}

int kernel_lane(const struct kernel *k)
{
	return k->lane;
}

bool kernel_may_write(const struct kernel *k)
{
	return programs_may_write(k->programs);
}

/* ---- commands and events ---- */

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

unsigned int kernel_spin_us(const struct kernel *k)
{
	if (!k->spin)
		return 0;
	/* two that spin on each other's lanes would both wait in vain */
	return k->beside_others ? SPIN_US : SPIN_FOR_STOP_US;
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
