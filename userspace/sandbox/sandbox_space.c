/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sandbox_space.c - the namespaces and file systems of an execution, and the thread in them
 *
 * A thread makes them for itself and stays inside: a process that it creates is inside, too, and
 * need not enter anything (sandbox_launch.c). With the thread all of it ends. Mounts are in a mount
 * namespace of their own: message queues, /dev/shm, and for each private folder an overlay on a
 * memory file system.
 *
 * The thread also has the filters of system calls that every test has (filter()): to make one costs
 * more than all that is left to do for an execution.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/base/rights.h"
#include "sandbox/sandbox_internal.h"
#include "sandbox/sandbox_net.h"

/* Mostly longer than it takes to set the times of all folders, for it is waited for; and than it can take on a busy machine. */
#define SETTLE_NS 250000
#define SETTLE_MAX_NS 1024000000

#define DO(what, call) do { *stage = what; if (call) return -1; } while (0)

/* ---- folders that exist from the beginning ---- */

static uint64_t clock_real(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/*
 * Remembers a folder, so that a change of it is seen. It is to have this time of its last change;
 * NULL: the one that it has. seen: its path in the overlay above it; NULL: there is none. 0, or -1 with errno.
 */
static int note_folder(struct space *p, int at, const char *name, const struct timespec *changed, const char *seen)
{
	struct space_folder *f;

	if (!ARRAY_RESERVE(p->folder, p->folder_room, p->nr_folders + 1)) {
		errno = ENOMEM;
		return -1;
	}
	f = &p->folder[p->nr_folders];
	f->at = at;
	f->st.st_mtim = changed ? *changed : (struct timespec){ .tv_nsec = UTIME_OMIT };
	f->name = strdup(name);
	f->seen = seen ? strdup(seen) : NULL;
	if (!f->name || (seen && !f->seen)) {
		free(f->name);
		free(f->seen);
		errno = ENOMEM;
		return -1;
	}
	p->nr_folders++;
	return 0;
}

/* 1: all of them were changed before done_ns; 0: it came before that; -1 with errno. */
static int settle_before(struct space *p, uint64_t done_ns)
{
	bool before = true;

	p->done_ns = done_ns;
	for (int i = 0; i < p->nr_folders; i++) {
		struct space_folder *f = &p->folder[i];
		struct timespec t[2] = { { done_ns / 1000000000, done_ns % 1000000000 }, f->st.st_mtim };

		/* an overlay keeps times that it has looked up: they are set by it, or reading the folder would change them */
		if ((f->seen ? utimensat(AT_FDCWD, f->seen, t, 0) : utimensat(f->at, f->name, t, AT_EMPTY_PATH)) ||
		    fstatat(f->at, f->name, &f->st, AT_EMPTY_PATH))
			return -1;
		before &= (uint64_t)f->st.st_ctim.tv_sec * 1000000000 + (uint64_t)f->st.st_ctim.tv_nsec < done_ns;
	}
	return before;
}

/*
 * Once all is mounted. A folder whose time of access is after its last change keeps it when it is
 * read (relatime): what is only read stays as it was. The test is told that all these times are the
 * beginning of the search (bpf/inputs.bpf.h), if no execution begins before them.
 */
static int settle_folders(struct space *p)
{
	/* the last change is the machine's time now: on a busy machine, that may be long after we looked */
	for (uint64_t later = SETTLE_NS; later <= SETTLE_MAX_NS; later *= 2) {
		int settled = settle_before(p, clock_real(CLOCK_REALTIME) + later);

		if (settled)
			return settled < 0 ? -1 : 0;
	}
	errno = ETIME;
	return -1;
}

void space_wait_for_clock(const struct space *p)
{
	/* file systems look at the coarse clock, which stands still for some milliseconds */
	for (int i = 0; i < 4000 && clock_real(CLOCK_REALTIME_COARSE) <= p->done_ns; i++)
		usleep(500);
}

/* Every change, also one that was taken back, changes st_ctim. */
bool space_folders_as_they_were(struct space *p)
{
	struct stat st;

	for (int i = 0; i < p->nr_folders; i++) {
		const struct space_folder *f = &p->folder[i];

		if (fstatat(f->at, f->name, &st, AT_EMPTY_PATH) || !same_time(&st.st_ctim, &f->st.st_ctim) ||
		    !same_time(&st.st_mtim, &f->st.st_mtim) || !same_time(&st.st_atim, &f->st.st_atim) ||
		    st.st_mode != f->st.st_mode || st.st_uid != f->st.st_uid || st.st_gid != f->st.st_gid ||
		    st.st_nlink != f->st.st_nlink || st.st_size != f->st.st_size)
			return false;
	}
	return true;
}

/* ---- files ---- */

/* Makes a folder with the owner, mode and times of another one, as an overlay's upper folder, which is seen at that path. */
static int make_upper(struct space *p, const char *name, const struct stat *st, const char *seen)
{
	return mkdirat(p->files, name, 0700) || fchownat(p->files, name, st->st_uid, st->st_gid, 0) ||
	       fchmodat(p->files, name, st->st_mode & 07777, 0) || note_folder(p, p->files, name, &st->st_mtim, seen) ? -1 : 0;
}

/*
 * Hides zug's own output, also where there is none yet: an execution that found it would not find the
 * same as the one before.
 */
static int hide(const struct sandbox *s, struct space *p)
{
	const struct environment *w = &s->env;
	char path[PATH_MAX], up[PATH_MAX + 8], *slash;
	int i = w->nr_folders - 1;
	const char *rest;
	struct stat st;

	while (i >= 0 && s->o.hide && !path_is_below(s->o.hide, w->folder[i].path))
		i--;
	if (i < 0)
		return 0;
	snprintf(path, sizeof(path), "%s", s->o.hide);
	rest = s->o.hide + strlen(w->folder[i].path) + 1;
	while ((slash = strchr(path + (rest - s->o.hide), '/'))) {
		*slash = 0;
		snprintf(up, sizeof(up), "u%d%s", i, path + strlen(w->folder[i].path));
		if (rights_stat(path, &st))
			return errno == ENOENT ? 0 : -1;
		if (make_upper(p, up, &st, path))
			return -1;
		*slash = '/';
		rest = s->o.hide + (slash - path) + 1;
	}
	snprintf(up, sizeof(up), "u%d%s", i, path + strlen(w->folder[i].path));
	return mknodat(p->files, up, S_IFCHR, makedev(0, 0));
}

/* Of the machine's memory. Without it each of them could take half. */
#define MEMORY_SIZE "25%"

/* A memory file system, mounted nowhere yet. A descriptor, or -1 with errno. */
static int memory(const char *mode, unsigned int attributes)
{
	int fs = fsopen("tmpfs", FSOPEN_CLOEXEC), fd = -1;

	if (fs < 0)
		return -1;
	if (!fsconfig(fs, FSCONFIG_SET_STRING, "source", "tmpfs", 0) &&
	    !fsconfig(fs, FSCONFIG_SET_STRING, "mode", mode, 0) &&
	    !fsconfig(fs, FSCONFIG_SET_STRING, "size", MEMORY_SIZE, 0) &&
	    !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = fsmount(fs, FSMOUNT_CLOEXEC, attributes);
	close(fs);
	return fd;
}

static int make_files(const struct sandbox *s, struct space *p)
{
	const struct environment *w = &s->env;

	p->files = memory("0700", 0);
	if (p->files < 0 || note_folder(p, p->files, "", NULL, NULL))
		return -1;
	/* the root of an overlay has the owner, mode and times of its upper folder */
	for (int i = 0; i < w->nr_folders; i++) {
		char up[16], work[16];

		snprintf(up, sizeof(up), "u%d", i);
		snprintf(work, sizeof(work), "w%d", i);
		if (mkdirat(p->files, work, 0700) || make_upper(p, up, &w->folder[i].st, w->folder[i].path))
			return -1;
	}
	return hide(s, p);
}

/* The folder, as the user comes to it: its path may lead elsewhere a moment later. */
static int overlay(const struct sandbox *s, int i)
{
	char up[sizeof(s->files) + 8], work[sizeof(s->files) + 8];
	const char *path = s->env.folder[i].path;
	int folder = rights_open(path, O_PATH | O_DIRECTORY);
	int fs = folder < 0 ? -1 : fsopen("overlay", FSOPEN_CLOEXEC), m = -1, ret = -1;
	/* a user's test has pids of its own, so that this thread has a current folder of its own */
	const char *lower = rights_user() ? "." : path;

	snprintf(up, sizeof(up), "%s/u%d", s->files, i);
	snprintf(work, sizeof(work), "%s/w%d", s->files, i);
	if (fs >= 0 && rights_user() && fchdir(folder)) {
		close(fs);
		fs = -1;
	}
	/*
	 * as a plain folder: one device, lasting inode numbers, folders that can be renamed; sync
	 * has nothing to do
	 */
	if (fs >= 0 && !fsconfig(fs, FSCONFIG_SET_STRING, "lowerdir+", lower, 0) &&
	    !fsconfig(fs, FSCONFIG_SET_STRING, "upperdir", up, 0) &&
	    !fsconfig(fs, FSCONFIG_SET_STRING, "workdir", work, 0) &&
	    !fsconfig(fs, FSCONFIG_SET_STRING, "xino", "on", 0) &&
	    !fsconfig(fs, FSCONFIG_SET_STRING, "redirect_dir", "on", 0) &&
	    !fsconfig(fs, FSCONFIG_SET_FLAG, "volatile", NULL, 0) &&
	    !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		m = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	if (m >= 0)
		ret = move_mount(m, "", folder, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
	if (m >= 0)
		close(m);
	if (fs >= 0)
		close(fs);
	if (folder >= 0)
		close(folder);
	return ret;
}

/* What is mounted there, to be put over the overlay. A descriptor; -1 with errno 0: the test does not see it anyhow. */
static int take_mount(const char *path)
{
	int at = rights_open(path, O_PATH), fd = -1, error;

	if (at >= 0) {
		fd = open_tree(at, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
		error = errno;
		close(at);
		errno = error;
	}
	/* it was unmounted meanwhile, or is not for the user */
	if (fd < 0 && (errno == ENOENT || (rights_user() && errno == EACCES)))
		errno = 0;
	return fd;
}

static int put_mount(int fd, const char *path)
{
	int at = rights_open(path, O_PATH), ret = -1;

	if (at >= 0) {
		ret = move_mount(fd, "", at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
		close(at);
	}
	return ret;
}

static int mount_folder(const struct sandbox *s, int i)
{
	const struct private_folder *f = &s->env.folder[i];
	int fds[SANDBOX_MAX_KEPT], ret = 0;

	for (int k = 0; k < f->nr_keep; k++) {
		fds[k] = take_mount(f->keep[k]);
		if (fds[k] < 0 && errno)
			ret = -1;
	}
	if (!ret)
		ret = overlay(s, i);
	for (int k = 0; k < f->nr_keep; k++) {
		if (fds[k] < 0)
			continue;
		if (!ret)
			ret = put_mount(fds[k], f->keep[k]);
		close(fds[k]);
	}
	return ret;
}

/* ---- namespaces ---- */

static int open_own(const struct space *p, const char *name)
{
	return openat(p->own, name, O_RDONLY | O_CLOEXEC);
}

int space_open_ns(const struct space *p, int *fds)
{
	const uint32_t own = p->s->o.own;
	const char *const names[] = { own & SANDBOX_HOST ? "uts" : NULL, own & SANDBOX_IPC ? "ipc" : NULL,
				      own & (SANDBOX_FILES | SANDBOX_IPC) ? "mnt" : NULL };
	int nr = 0;

	for (int i = 0; i < SPACE_NR_NS; i++) {
		if (!names[i])
			continue;
		fds[nr] = open_own(p, names[i]);
		if (fds[nr] < 0) {
			int ret = -errno;

			while (nr)
				close(fds[--nr]);
			return ret;
		}
		nr++;
	}
	return nr;
}

static int make_mounts(const struct sandbox *s, struct space *p, const char **stage)
{
	struct stat st;

	/* a thread that shares its current folder with others may not go elsewhere */
	if (s->mnt_ns >= 0)
		DO("enter the mount namespace", unshare(CLONE_FS) || setns(s->mnt_ns, CLONE_NEWNS));
	DO("make a mount namespace", unshare(CLONE_NEWNS));
	if (s->mnt_ns < 0)
		DO("make mounts private", mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	if (s->o.own & SANDBOX_IPC && !stat("/dev/mqueue", &st)) {
		DO("mount /dev/mqueue", mount("mqueue", "/dev/mqueue", "mqueue", 0, NULL));
		p->mqueue = open("/dev/mqueue", O_PATH | O_CLOEXEC);
		DO("open /dev/mqueue", p->mqueue < 0 || note_folder(p, p->mqueue, "", NULL, NULL));
	}
	if (s->o.own & SANDBOX_IPC && !stat("/dev/shm", &st)) {
		p->shm = memory("1777", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
		DO("mount /dev/shm", p->shm < 0 || note_folder(p, p->shm, "", NULL, NULL) ||
				     move_mount(p->shm, "", AT_FDCWD, "/dev/shm", MOVE_MOUNT_F_EMPTY_PATH));
	}
	if (s->env.nr_folders) {
		DO("mount a memory file system", make_files(s, p) ||
						 move_mount(p->files, "", AT_FDCWD, s->files, MOVE_MOUNT_F_EMPTY_PATH));
		for (int i = 0; i < s->env.nr_folders; i++)
			DO(s->env.folder[i].path, mount_folder(s, i));
		/* an overlay writes an attribute into a folder that hide() has made when it is first looked up: now */
		if (s->o.hide)
			stat(s->o.hide, &st);
	}
	p->mnt_ns = open_own(p, "mnt");
	DO("open the mount namespace", p->mnt_ns < 0 || settle_folders(p));
	return 0;
}

static int make_net(struct space *p)
{
	if (unshare(CLONE_NEWNET))
		return -1;
	p->net = -1;
	if (sandbox_net_up())
		return -1;
	p->next_net = open_own(p, "net");
	p->net = p->next_net;
	return p->net < 0 ? -1 : 0;
}

/* ---- filters ---- */

/*
 * A test must not change its scheduling: these calls succeed and do nothing. We change it, before
 * the test begins, with a sixth argument that the test cannot know.
 */
static int filter_scheduling(uint64_t magic)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 10),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setscheduler, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setparam, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setattr, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)magic, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5]) + 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(magic >> 32), 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &prog);
}

/*
 * io_uring is refused: kernel threads do its work, and their order cannot be decided here. The call
 * is logged, so that the kernel side sees it and the user is told.
 */
static int refuse_io_uring(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		       SECCOMP_FILTER_FLAG_SPEC_ALLOW | SECCOMP_FILTER_FLAG_LOG, &prog);
}

/* ---- the thread ---- */

static int make_parts(struct space *p, const char **stage)
{
	const struct sandbox *s = p->s;
	const uint32_t parts = s->o.own;

	p->begun_ns = clock_real(CLOCK_REALTIME_COARSE);
	p->origin.generation = s->env.generation;
	for (int i = 0; i < s->env.nr_folders; i++)
		if (rights_stat(s->env.folder[i].path, &p->origin.lower[i]))
			memset(&p->origin.lower[i], 0, sizeof(p->origin.lower[i]));
	if (parts & SANDBOX_HOST) {
		DO("make a UTS namespace", unshare(CLONE_NEWUTS));
		/* a name that resolves without a network */
		DO("set the host name", sethostname("localhost", 9));
	}
	if (parts & SANDBOX_IPC) {
		DO("make an IPC namespace", unshare(CLONE_NEWIPC));
		p->ipc_ns = open_own(p, "ipc");
		DO("open the IPC namespace", p->ipc_ns < 0);
	}
	if (p->want_net)
		DO("make a network namespace", make_net(p));
	if (parts & (SANDBOX_FILES | SANDBOX_IPC)) {
		if (make_mounts(s, p, stage))
			return -1;
	} else if (s->mnt_ns >= 0) {
		DO("enter the mount namespace", unshare(CLONE_FS) || setns(s->mnt_ns, CLONE_NEWNS));
	}
	if (s->env.pid_ns >= 0)
		DO("enter the pid namespace", setns(s->env.pid_ns, CLONE_NEWPID));
	DO("get a random number", getrandom(&p->magic, sizeof(p->magic), 0) != sizeof(p->magic));
	DO("filter scheduling calls", filter_scheduling(p->magic));
	DO("refuse io_uring", refuse_io_uring());
	return 0;
}

static void make(struct space *p, void *arg)
{
	const char *stage = "open /proc";

	(void)arg;
	/* once: /proc becomes that of other pids */
	p->own = open("/proc/thread-self/ns", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (p->own < 0 || make_parts(p, &stage)) {
		p->err = errno;
		p->failed = stage;
	}
}

void space_make_net(struct space *p, void *arg)
{
	(void)arg;
	if (make_net(p)) {
		p->err = errno;
		p->failed = "make a network namespace";
	}
}

int space_enter(struct space *p, const char **stage)
{
	const struct environment *w = &p->s->env;

	if (w->net >= 0 && p->net != w->net) {
		DO("enter the network namespace", setns(w->net, CLONE_NEWNET));
		p->net = w->net;
	}
	if (w->cgroup_ns >= 0 && !p->in_cgroup) {
		DO("enter the cgroup namespace", setns(w->cgroup_ns, CLONE_NEWCGROUP));
		p->in_cgroup = true;
	}
	return 0;
}

static void *run(void *arg)
{
	struct space *p = arg;

	rights_thread();
	pthread_mutex_lock(&p->lock);
	while (!p->ends) {
		if (!p->busy) {
			pthread_cond_wait(&p->changed, &p->lock);
			continue;
		}
		pthread_mutex_unlock(&p->lock);
		p->fn(p, p->arg);
		pthread_mutex_lock(&p->lock);
		p->busy = false;
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	/* the namespaces end with the last that knows them: here, where nothing waits for it */
	if (p->own >= 0)
		close(p->own);
	if (p->mnt_ns >= 0)
		close(p->mnt_ns);
	if (p->ipc_ns >= 0)
		close(p->ipc_ns);
	if (p->files >= 0)
		close(p->files);
	if (p->shm >= 0)
		close(p->shm);
	if (p->mqueue >= 0)
		close(p->mqueue);
	if (p->next_net >= 0)
		close(p->next_net);
	return NULL;
}

struct space *space_new(struct sandbox *s, bool net)
{
	struct space *p = malloc(sizeof(*p));
	sigset_t all, mask;
	int ret;

	if (!p)
		return NULL;
	*p = (struct space){
		.s = s, .busy = true, .fn = make, .want_net = net, .own = -1, .mnt_ns = -1, .ipc_ns = -1, .files = -1,
		.shm = -1, .mqueue = -1,
		.net = -1, .next_net = -1,
	};
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	/* signals are for the other threads */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	ret = pthread_create(&p->thread, NULL, run, p);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (!ret)
		return p;
	free(p);
	return NULL;
}

void space_wait(struct space *p)
{
	pthread_mutex_lock(&p->lock);
	while (p->busy)
		pthread_cond_wait(&p->changed, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

void space_do(struct space *p, void (*fn)(struct space *p, void *arg), void *arg)
{
	pthread_mutex_lock(&p->lock);
	while (p->busy)
		pthread_cond_wait(&p->changed, &p->lock);
	p->fn = fn;
	p->arg = arg;
	p->busy = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

void space_end(struct space *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->ends = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

void space_free(struct space *p)
{
	if (!p)
		return;
	space_end(p);
	pthread_join(p->thread, NULL);
	for (int i = 0; i < p->nr_folders; i++) {
		free(p->folder[i].name);
		free(p->folder[i].seen);
	}
	free(p->folder);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
