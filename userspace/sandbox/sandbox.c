/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sandbox.c - a sandbox from sandbox_new() to sandbox_free(): its cgroup, its private copies of
 * files, its end
 *
 * Read sandbox.h first. sandbox_launch.c starts an execution, sandbox_environment.c, sandbox_space.c
 * and sandbox_keep.c give it namespaces and files, sandbox_setup.c runs --setup and --teardown, sandbox_join.c takes in
 * processes that run already.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/base/clock.h"
#include "lib/base/debug.h"
#include "lib/base/file_copy.h"
#include "lib/base/proc_status.h"
#include "lib/base/rights.h"
#include "lib/base/same_file.h"
#include "kernel/lane_watch.h"
#include "sandbox/sandbox_internal.h"
#include "sandbox/sandbox_template.h"
#include "kernel/tracee.h"

/*
 * CLOCK_MONOTONIC at the begin of an execution, with virtual time: the machine has been up for an
 * hour.
 */
#define CLOCK_MONO 3600000000000ull

static int open_in(const struct sandbox *s, const char *name, int flags)
{
	char path[320];

	snprintf(path, sizeof(path), "%s/%s", s->cgroup, name);
	return open(path, flags | O_CLOEXEC);
}

bool sandbox_populated(const struct sandbox *s)
{
	char buf[128];
	ssize_t n = pread(s->events_fd, buf, sizeof(buf) - 1, 0);

	if (n <= 0)
		return false;
	buf[n] = 0;
	return strstr(buf, "populated 1") != NULL;
}

void sandbox_limit_tasks(const struct sandbox *s, int others)
{
	char path[320], max[24];
	RIGHTS_RAISED;

	snprintf(path, sizeof(path), "%s/pids.max", s->cgroup);
	snprintf(max, sizeof(max), "%d", (s->o.max_tasks ? s->o.max_tasks : SANDBOX_MAX_TASKS) + others);
	sandbox_write_file(path, max);
}

/* 0, or -errno with a line in err: a limit that was asked for must hold. */
static int limit_memory(const struct sandbox *s, char *err, size_t errlen)
{
	int ret = sandbox_pass_on_controller("+memory");

	ret = ret ? ret : sandbox_limit_memory(s->cgroup, s->o.max_memory);
	if (ret)
		snprintf(err, errlen, "--memory-max needs the memory controller of cgroups, which cannot be used at %s: %s",
			 s->cgroup, strerror(-ret));
	return ret;
}

static int make_cgroup(struct sandbox *s, char *err, size_t errlen)
{
	struct stat st;
	int ret;

	if (mkdir(s->cgroup, 0755) && errno != EEXIST) {
		ret = -errno;
		snprintf(err, errlen, "cannot create the cgroup %s: %s", s->cgroup, strerror(errno));
		return ret;
	}
	/* whatever the user's mask is */
	if (rights_user())
		chmod(s->cgroup, 0755);
	s->cgroup_fd = open_in(s, ".", O_RDONLY | O_DIRECTORY);
	s->procs_fd = open_in(s, "cgroup.procs", O_RDWR);
	s->kill_fd = open_in(s, "cgroup.kill", O_WRONLY);
	s->events_fd = open_in(s, "cgroup.events", O_RDONLY);
	s->stat_fd = open_in(s, "cpu.stat", O_RDONLY);
	if (s->cgroup_fd < 0 || s->procs_fd < 0 || s->kill_fd < 0 || s->events_fd < 0 || s->stat_fd < 0) {
		ret = -errno;
		snprintf(err, errlen, "cannot use the cgroup %s: %s", s->cgroup, strerror(errno));
		return ret;
	}
	if (sandbox_populated(s)) {
		snprintf(err, errlen, "the sandbox name '%s' is in use: there are processes in %s; "
			 "choose another name with --name", strrchr(s->cgroup, '/') + 1, s->cgroup);
		return -EEXIST;
	}
	if (fstat(s->cgroup_fd, &st) || stat(s->cgroup, &st))
		return -errno;
	s->cgid = st.st_ino;
	/* the limit needs the pids controller; without it the kernel's own limits remain */
	sandbox_pass_on_controller("+pids");
	sandbox_limit_tasks(s, 0);
	return s->o.max_memory ? limit_memory(s, err, errlen) : 0;
}

/* Bit N: signal N. The debugger ignores SIGINT later. */
static uint64_t find_ignored(void)
{
	uint64_t set = 1ull << SIGINT | 1ull << SIGPIPE;
	struct sigaction sa;

	for (int sig = 1; sig < 64; sig++)
		if (!sigaction(sig, NULL, &sa) && sa.sa_handler == SIG_IGN)
			set |= 1ull << sig;
	return set;
}

/* With a page below it that cannot be touched: the child that uses it shares our memory. 0 or -errno. */
static int make_stack(struct sandbox *s)
{
	char *p = mmap(NULL, CHILD_GUARD + CHILD_STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	s->stack = p + CHILD_GUARD;
	return mprotect(s->stack, CHILD_STACK, PROT_READ | PROT_WRITE) ? -errno : 0;
}

/* Its cgroup and its folder. 0, or -errno with a line in err. */
static int make_places(struct sandbox *s, unsigned int serial, char *err, size_t errlen)
{
	/* a user sees its own copies, in a folder that others do not see */
	const mode_t mode = rights_user() ? 0755 : 0700;
	int ret;
	RIGHTS_RAISED;

	sandbox_clean_up();
	ret = make_cgroup(s, err, errlen);
	if (ret) {
		if (ret == -EEXIST)
			s->cgroup[0] = 0;	/* it is not ours to remove */
		return ret;
	}
	snprintf(s->files, sizeof(s->files), "%s/%s-%u", sandbox_run_folder(), proc_own_name(), serial);
	if ((mkdir(s->files, mode) && errno != EEXIST) || chmod(s->files, mode)) {
		ret = -errno;
		snprintf(err, errlen, "cannot create %s: %s", s->files, strerror(errno));
		s->files[0] = 0;
	}
	return ret;
}

/* 0, or -errno with a line in err; what was made until then is left to sandbox_free(). */
static int set_up(struct sandbox *s, struct kernel *k, unsigned int slot, const struct sandbox_options *o, char *err,
		  size_t errlen)
{
	/* zugd has many sandboxes: each needs its own cgroup and folder */
	static unsigned int serial;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), conf = sysconf(_SC_NPROCESSORS_CONF);
	int ret;

	s->k = k;
	s->slot = slot;
	s->o = *o;
	s->cgroup_fd = s->procs_fd = s->kill_fd = s->events_fd = s->stat_fd = s->mnt_ns = -1;
	sandbox_environment_reset(s);
	s->ignored = find_ignored();
	s->lane = o->lane >= 0 ? o->lane : kernel_lane(k) >= 0 ? kernel_lane(k) : lane_watch_choose(cpus);
	if (s->lane >= conf || s->lane >= CPU_SETSIZE) {
		snprintf(err, errlen, "no such lane: CPU %d; this machine has 0..%ld", s->lane, conf - 1);
		return -EINVAL;
	}
	if (o->name)
		snprintf(s->cgroup, sizeof(s->cgroup), "%s/%s", sandbox_parent(), o->name);
	else
		snprintf(s->cgroup, sizeof(s->cgroup), "%s/%s-%u", sandbox_parent(), proc_own_name(), serial);
	if (o->name && (strchr(o->name, '/') || o->name[0] == '.' || !o->name[0])) {
		snprintf(err, errlen, "bad sandbox name '%s': it must not be empty, begin with '.', or contain "
			 "'/'", o->name);
		s->cgroup[0] = 0;
		return -EINVAL;
	}
	ret = make_places(s, serial++, err, errlen);
	ret = ret ? ret : make_stack(s);
	ret = ret ? ret : kernel_open_slot(k, slot, err, errlen);
	if (!ret && o->own)
		ret = sandbox_environment_new(s, err, errlen);
	if (ret)
		return ret;
	if ((o->virtual_time || o->seeded) && !kernel_may_write(k)) {
		snprintf(err, errlen, "the kernel is locked down: the test cannot be told another time");
		return -EPERM;
	}
	/* orphans of the test become our children, so that we can reap them */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sandbox_reset(s);
	return 0;
}

int sandbox_new(struct sandbox **out, struct kernel *k, unsigned int slot,
		const struct sandbox_options *o, char *err, size_t errlen)
{
	struct sandbox *s = calloc(1, sizeof(*s));
	int ret;

	*out = NULL;
	if (!s)
		return -ENOMEM;
	ret = set_up(s, k, slot, o, err, errlen);
	if (ret)
		sandbox_free(s);
	else
		*out = s;
	return ret;
}


void sandbox_free(struct sandbox *s)
{
	char path[160];

	if (!s)
		return;
	sandbox_template_drop(s);
	sandbox_environment_free(s);
	if (s->mnt_ns >= 0)
		close(s->mnt_ns);
	rights_raise();
	for (int i = 0; i < s->nr_priv; i++) {
		if (!s->borrows)
			unlink(s->priv[i].copy);
		free(s->priv[i].path);
		free(s->priv[i].copy);
	}
	free(s->priv);
	if (s->cpus_file[0])
		unlink(s->cpus_file);
	if (s->files[0] && rmdir(s->files)) {
		snprintf(path, sizeof(path), "%s/status", s->files);
		unlink(path);
		rmdir(s->files);
	}
	if (s->cgroup_fd >= 0)
		close(s->cgroup_fd);
	if (s->procs_fd >= 0)
		close(s->procs_fd);
	if (s->kill_fd >= 0)
		close(s->kill_fd);
	if (s->events_fd >= 0)
		close(s->events_fd);
	if (s->stat_fd >= 0)
		close(s->stat_fd);
	if (s->cgroup[0])
		rmdir(s->cgroup);
	rights_lower();
	if (s->stack)
		munmap((char *)s->stack - CHILD_GUARD, CHILD_GUARD + CHILD_STACK);
	if (s->k)
		kernel_ctl(s->k, &(struct zug_ctl){ .cmd = ZUG_CMD_FREE, .sandbox = s->slot });
	free(s);
}

const char *sandbox_cgroup(const struct sandbox *s)
{
	return s->cgroup;
}

unsigned int sandbox_slot(const struct sandbox *s)
{
	return s->slot;
}

int sandbox_lane(const struct sandbox *s)
{
	return s->lane;
}

uint64_t sandbox_spin_ns(const struct sandbox *s)
{
	return s->o.spin_ns;
}

uint64_t sandbox_cpu_ns(const struct sandbox *s)
{
	char buf[128];
	unsigned long us = 0;
	ssize_t n = pread(s->stat_fd, buf, sizeof(buf) - 1, 0);

	if (n <= 0)
		return 0;
	buf[n] = 0;
	sscanf(buf, "usage_usec %lu", &us);
	return us * 1000ull;
}

void sandbox_avoid_lane(const struct sandbox *s)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	CPU_CLR(s->lane, &set);
	if (CPU_COUNT(&set))
		sched_setaffinity(0, sizeof(set), &set);
}

/* ---- private copies ---- */

struct in_mount_ns {
	struct sandbox *s;
	int (*fn)(void *);
	void *arg;
	int ret;
};

static void *mount_ns_main(void *arg)
{
	struct in_mount_ns *in = arg;
	struct sandbox *s = in->s;

	rights_thread();
	if (s->mnt_ns >= 0)
		in->ret = unshare(CLONE_FS) || setns(s->mnt_ns, CLONE_NEWNS) ? -errno : 0;
	else
		in->ret = unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ? -errno : 0;
	in->ret = in->ret ? in->ret : in->fn(in->arg);
	if (in->ret || s->mnt_ns >= 0)
		return NULL;
	s->mnt_ns = open("/proc/thread-self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (s->mnt_ns < 0)
		in->ret = -errno;
	return NULL;
}

/*
 * Runs fn(arg) in the sandbox's mount namespace, which is created the first time: in a thread, for a child would begin with
 * a copy of the page tables of all that the kernel side and symbols have mapped.
 */
static int in_mount_ns(struct sandbox *s, int (*fn)(void *), void *arg)
{
	struct in_mount_ns in = { .s = s, .fn = fn, .arg = arg };
	sigset_t all, mask;
	pthread_t thread;
	int ret;
	RIGHTS_RAISED;

	sandbox_environment_settle(s);
	/* signals are for the other threads */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	ret = pthread_create(&thread, NULL, mount_ns_main, &in);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (ret)
		return -ret;
	pthread_join(thread, NULL);
	return in.ret;
}

static int do_bind(void *arg)
{
	struct private_file *f = arg;
	int copy = open_tree(AT_FDCWD, f->copy, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC), ret = 0;
	int over = copy < 0 ? -1 : rights_open(f->path, O_PATH);

	if (over < 0 || move_mount(copy, "", over, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH))
		ret = -errno;
	if (over >= 0)
		close(over);
	if (copy >= 0)
		close(copy);
	return ret;
}

/* The copy of sandbox_copy_ahead(), in a file that has no name yet, and what it was made of; of the process. */
static int ahead = -1;
static struct stat ahead_of;

void sandbox_copy_ahead(const char *path)
{
	int in = open(path, O_RDONLY | O_CLOEXEC);

	if (ahead >= 0 || in < 0 || fstat(in, &ahead_of))
		goto out;
	ahead = open(sandbox_run_folder(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (ahead < 0 || !file_copy(in, ahead))
		goto out;
	close(ahead);
	ahead = -1;
out:
	if (in >= 0)
		close(in);
}

/* Puts that copy at to, if it is one of this file. A descriptor, or -1. */
static int take_ahead(const struct stat *st, const char *to)
{
	char path[40];
	int fd = ahead;

	if (fd < 0 || !same_file(st, &ahead_of))
		return -1;
	ahead = -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!linkat(AT_FDCWD, path, AT_FDCWD, to, AT_SYMLINK_FOLLOW))
		return fd;
	close(fd);
	return -1;
}

static int copy_contents(int in, const char *to)
{
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), ret;

	if (out < 0)
		return -errno;
	ret = file_copy(in, out);
	if (!ret)
		return out;
	close(out);
	unlink(to);
	return ret;
}

static int copy_file(const char *from, const char *to)
{
	int in = rights_open(from, O_RDONLY), out, ret = 0;
	struct timespec t[2];
	struct stat st;
	RIGHTS_RAISED;

	if (in < 0)
		return -errno;
	if (fstat(in, &st)) {
		ret = -errno;
		close(in);
		return ret;
	}
	out = take_ahead(&st, to);
	if (out < 0)
		out = copy_contents(in, to);
	close(in);
	if (out < 0)
		return out;
	t[0] = st.st_atim;
	t[1] = st.st_mtim;
	if (fchown(out, st.st_uid, st.st_gid) || fchmod(out, st.st_mode & 07777) || futimens(out, t))
		ret = -errno;
	close(out);
	if (ret)
		unlink(to);
	return ret;
}

static const char *known_copy(const struct sandbox *s, const char *path)
{
	for (int i = 0; i < s->nr_priv; i++)
		if (!strcmp(s->priv[i].path, path))
			return s->priv[i].copy;
	return NULL;
}

int sandbox_privatise(struct sandbox *s, const char *path, const char **copy,
		      char *err, size_t errlen)
{
	struct private_file f = { 0 };
	int ret;

	if (s->o.in_place) {
		*copy = path;
		return 0;
	}
	*copy = known_copy(s, path);
	if (*copy)
		return 0;
	if (asprintf(&f.copy, "%s/%d", s->files, s->nr_priv) < 0)
		return -ENOMEM;
	f.path = strdup(path);
	if (!f.path || !ARRAY_RESERVE(s->priv, s->priv_room, s->nr_priv + 1)) {
		ret = -ENOMEM;
		goto fail;
	}
	ret = copy_file(path, f.copy);
	if (ret) {
		snprintf(err, errlen, "cannot make a private copy of %s in %s: %s", path, s->files,
			 strerror(-ret));
		goto fail;
	}
	ret = in_mount_ns(s, do_bind, &f);
	if (ret) {
		snprintf(err, errlen, "cannot put the private copy over %s: %s", path, strerror(-ret));
		unlink(f.copy);
		goto fail;
	}
	s->priv[s->nr_priv++] = f;
	ret = sandbox_environment_private_file(s, path);
	if (ret) {
		snprintf(err, errlen, "cannot make a private copy of %s: there are too many in its folder",
			 path);
		return ret;
	}
	*copy = f.copy;
	return 0;
fail:
	free(f.copy);
	free(f.path);
	return ret;
}

int sandbox_forked(struct sandbox *s, unsigned int slot, int lane, char *err, size_t errlen)
{
	struct private_file *priv = s->priv;
	struct sandbox_options o = s->o;
	struct kernel *k = s->k;
	int nr = s->nr_priv, ret;
	cpu_set_t all;

	o.lane = lane;
	o.name = NULL;
	*s = (struct sandbox){ .borrows = true, .priv = priv, .priv_room = s->priv_room };
	ret = set_up(s, k, slot, &o, err, errlen);
	for (int i = 0; i < nr && !ret; i++) {
		ret = in_mount_ns(s, do_bind, &priv[i]);
		s->nr_priv++;
		ret = ret ? ret : sandbox_environment_private_file(s, priv[i].path);
		if (ret)
			snprintf(err, errlen, "cannot put the private copy over %s: %s", priv[i].path, strerror(-ret));
	}
	ret = ret ? ret : sandbox_ready(s, err, errlen);
	/* the other lane may be ours now */
	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
	sandbox_avoid_lane(s);
	return ret;
}

static int bind_cpus(void *arg)
{
	static const char *const over[] = { "online", "possible", "present" };
	char path[64];

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", over[i]);
		if (mount(arg, path, NULL, MS_BIND, NULL))
			return -errno;
	}
	return 0;
}

/*
 * The C library reads these files for sysconf(_SC_NPROCESSORS_*), which must agree with
 * sched_getaffinity().
 */
int sandbox_show_cpus(struct sandbox *s)
{
	char text[24];
	int fd, ret;

	if (!s->o.nr_cpus || s->cpus_file[0])
		return 0;
	rights_raise();
	snprintf(s->cpus_file, sizeof(s->cpus_file), "%s/cpus", s->files);
	fd = open(s->cpus_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0444);
	ret = fd < 0 || fchmod(fd, 0444) ? -errno : 0;
	rights_lower();
	snprintf(text, sizeof(text), s->o.nr_cpus > 1 ? "0-%d\n" : "%d\n", s->o.nr_cpus - 1);
	if (!ret && write(fd, text, strlen(text)) < 0)
		ret = -errno;
	if (fd >= 0)
		close(fd);
	if (!ret)
		ret = in_mount_ns(s, bind_cpus, s->cpus_file);
	return ret ? ret : kernel_may_write(s->k) ? 0 : -EPERM;
}

/* ---- ending ---- */

/* So often it is looked for soon. */
#define SOON_TRIES 10
/* Between two looks for a child that is dead. */
#define PAUSES 4
/* Up to 10 s for what left the cgroup; a root command that is dying already is not hurried. */
#define STRAY_TRIES 10000
#define STRAY_US 1000
#define REAP_TRIES 200
#define QUIT_MS 500

static void close_watches(struct sandbox *s)
{
	while (s->nr_watch_fds)
		close(s->watch_fds[--s->nr_watch_fds]);
}

void sandbox_pause_watches(struct sandbox *s, bool off)
{
	for (int i = 0; i < s->nr_watch_fds; i++)
		ioctl(s->watch_fds[i], off ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE, 0);
}

void sandbox_reset(struct sandbox *s)
{
	struct timespec now, tai;
	struct zug_ctl c = {
		.cmd = ZUG_CMD_BEGIN, .sandbox = s->slot,
		.setup = {
			.cgid = s->cgid, .lane = s->lane, .syscall_points = s->o.syscall_points, .nr_cpus = s->o.nr_cpus,
			.virtual_time = s->o.virtual_time, .clock_real = s->o.clock_real, .clock_mono = CLOCK_MONO,
			.seeded = s->o.seeded, .seed = s->o.seed, .stepped = s->o.stepped,
			.quiet = s->o.quiet, .tell_output = s->o.tell_output,
			.halt_behind = s->template.runs ? s->template.moment - 1 : 0,
		},
	};

	const struct space *p = s->env.space;
	const char *blips = debug_word("blips:");

	if (blips)
		c.setup.blip_ms = strtoul(blips, NULL, 10);
	memcpy(c.setup.from_calls, s->o.from_calls, sizeof(c.setup.from_calls));
	memcpy(c.setup.lookups, s->o.lookups, sizeof(c.setup.lookups));
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_TAI, &tai);
	/* file systems may look at a clock that lags some milliseconds behind */
	c.setup.files_since = now.tv_sec * 1000000000ull + now.tv_nsec - 20000000;
	/* the folders of its environment are not the execution's, and it makes none that are as old */
	if (p && p->done_ns) {
		c.setup.files_from = p->begun_ns;
		c.setup.files_done = p->done_ns;
		if (p->done_ns > c.setup.files_since)
			c.setup.files_since = p->done_ns;
		c.setup.files_until = c.setup.files_since;
	}
	/* whole seconds: the two were asked one after the other */
	c.setup.tai_ahead = (tai.tv_sec - now.tv_sec - (tai.tv_nsec < now.tv_nsec)) * 1000000000ull;
	kernel_ctl(s->k, &c);
}

/* Kills all but the template. The number of processes that were there. */
static int kill_all(const struct sandbox *s)
{
	char buf[4096], *p = buf, *end;
	ssize_t n = pread(s->procs_fd, buf, sizeof(buf) - 1, 0);
	int nr = 0;

	if (n <= 0)
		return 0;
	buf[n] = 0;
	/*
	 * a number that is cut off at the end of the buffer may be another process: it is left for
	 * the next time
	 */
	for (long pid; (pid = strtol(p, &end, 10)) > 0 && *end == '\n'; p = end) {
		if (pid == s->template.pid)
			continue;
		kill(pid, SIGKILL);
		nr++;
	}
	return nr;
}

/*
 * A task has to run in order to die, and cannot while a higher scheduling class keeps the lane
 * busy. No task is under control any more, so all may run in the normal class.
 */
static void leave_class(const struct sandbox *s)
{
	const struct sched_param zero = { 0 };
	int fd = open_in(s, "cgroup.threads", O_RDONLY);
	char buf[4096], *p = buf, *end;
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return;
	buf[n] = 0;
	for (long tid; (tid = strtol(p, &end, 10)) > 0 && *end == '\n'; p = end)
		sched_setscheduler(tid, SCHED_OTHER, &zero);
}

/* The cgroup is empty, but the root command has left it. It is our child, so the number is still its own. */
static int reap_root(pid_t root, int *status)
{
	int st = -1;
	pid_t pid;

	for (int i = 0; i < STRAY_TRIES; i++) {
		pid = waitpid(root, &st, WNOHANG);
		if (pid == root || (pid < 0 && errno == ECHILD)) {
			if (status)
				*status = pid == root ? st : -1;
			return 0;
		}
		if (i == REAP_TRIES)
			kill(root, SIGKILL);
		usleep(STRAY_US);
	}
	return -ETIME;
}

void sandbox_kill_stray(struct sandbox *s, pid_t pid)
{
	int fd = syscall(SYS_pidfd_open, pid, 0);

	kill(pid, SIGKILL);
	s->left = true;
	if (fd < 0 || s->nr_strays == SANDBOX_MAX_STRAYS) {
		if (fd >= 0)
			close(fd);
		return;
	}
	s->strays[s->nr_strays++] = fd;
}

/* Waits for the processes that were killed outside of the cgroup. */
static int await_strays(struct sandbox *s)
{
	int ret = 0;

	while (s->nr_strays) {
		struct pollfd p = { .fd = s->strays[--s->nr_strays], .events = POLLIN };

		for (int i = 0; !ret && poll(&p, 1, 1) == 0; i++) {
			while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
				;
			if (i == STRAY_TRIES)
				ret = -ETIME;
		}
		close(p.fd);
	}
	return ret;
}

bool sandbox_was_left(const struct sandbox *s)
{
	return s->left;
}

/*
 * After so many looks at what is left, since begin_ns: until a child of ours is dead, or for a moment. Mostly all are dead but
 * for the last steps of the last one, which take less than to sleep and wake up.
 */
static void await_death(const struct sandbox *s, int looks, uint64_t begin_ns)
{
	const struct timespec soon = { .tv_nsec = 50000 }, later = { .tv_nsec = 500000 };
	uint64_t spin_ns = kernel_spin_us(s->k) * 1000ull;
	siginfo_t dead = { 0 };

	while (clock_now_ns() - begin_ns < spin_ns && !waitid(P_ALL, 0, &dead, WEXITED | WNOHANG | WNOWAIT | __WALL)) {
		if (dead.si_pid)
			return;
		for (int i = 0; i < PAUSES; i++)
			__builtin_ia32_pause();
	}
	nanosleep(looks < SOON_TRIES ? &soon : &later, NULL);
}

void sandbox_quit(struct sandbox *s, pid_t root)
{
	struct zug_ctl ctl = { .cmd = ZUG_CMD_DRAIN, .sandbox = s->slot };
	const struct timespec pause = { .tv_nsec = 1000000 };
	siginfo_t dead = { 0 };

	sandbox_pause_watches(s, true);
	kernel_ctl(s->k, &ctl);
	if (kill(root, SIGQUIT))
		return;
	for (int i = 0; i < QUIT_MS && !dead.si_pid; i++) {
		if (waitid(P_PID, root, &dead, WEXITED | WNOHANG | WNOWAIT | __WALL))
			return;
		nanosleep(&pause, NULL);
	}
}

int sandbox_drain(struct sandbox *s, pid_t root, int *status)
{
	struct zug_ctl ctl = { .cmd = ZUG_CMD_DRAIN, .sandbox = s->slot };
	uint64_t begin_ns = clock_now_ns();
	bool reaped = root <= 0;
	int st, ret;
	pid_t pid;

	/* a task that stands before an instruction that accesses watched data goes on: see zug_stepped() of the kernel side */
	sandbox_pause_watches(s, true);
	kernel_ctl(s->k, &ctl);
	/* 10 s: a task that cannot die by then is stuck in the kernel */
	for (int i = 0; i < 20000; i++) {
		while ((pid = waitpid(-1, &st, WNOHANG | __WALL)) > 0)
			if (WIFSTOPPED(st)) {
				/* a debugger has stopped it */
				tracee_detach(pid, 0);
			} else if (pid == root) {
				reaped = true;
				if (status)
					*status = st;
			}
		/* a template stays */
		if (s->template.pid ? !kill_all(s) : !sandbox_populated(s)) {
			ret = reaped ? 0 : reap_root(root, status);
			close_watches(s);
			return ret ? ret : await_strays(s);
		}
		/*
		 * one by one first: processes cannot be created in a cgroup that was killed as a
		 * whole
		 */
		if (i < 200) {
			kill_all(s);
		} else if (i % 50 == 0) {
			s->killed = true;
			sandbox_template_drop(s);
			if (write(s->kill_fd, "1", 1) < 0)
				return -errno;
		}
		if (i % 200 == 199)
			leave_class(s);
		if (i % 50 == 49)
			kernel_ctl(s->k, &ctl);
		await_death(s, i, begin_ns);
	}
	close_watches(s);
	return -ETIME;
}

/* A number that only grows, from a file of the cgroup; what was added since *seen. */
static uint64_t count_of(const struct sandbox *s, const char *file, const char *word, uint64_t *seen)
{
	int fd = open_in(s, file, O_RDONLY);
	uint64_t before = *seen;
	char buf[256], *p;
	ssize_t len;

	if (fd < 0)
		return 0;
	len = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (len <= 0)
		return 0;
	buf[len] = 0;
	p = strstr(buf, word);
	*seen = p ? strtoull(p + strlen(word), NULL, 10) : 0;
	return *seen - before;
}

uint64_t sandbox_limit_hits(struct sandbox *s)
{
	return count_of(s, "pids.events", "max ", &s->limit_seen);
}

uint64_t sandbox_refused(const struct sandbox *s)
{
	return kernel_sandbox(s->k, s->slot)->nr_refused;
}

uint64_t sandbox_memory_kills(struct sandbox *s)
{
	return count_of(s, "memory.events", "oom_kill ", &s->kills_seen);
}
