/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sandbox_environment.c - the environment that each execution has for itself: pids, private folders
 *
 * Every execution begins with the same environment, and what it changes is gone when it ends.
 * sandbox_space.c makes the namespaces and files, sandbox_keep.c says which execution has which.
 *
 * A process of ours, outside of the cgroup and of the schedule, is pid 1 of the test's pid
 * namespace. It lives as long as the sandbox; the first task of each execution makes pids start
 * again from 2.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/base/clock.h"
#include "lib/base/debug.h"
#include "lib/base/rights.h"
#include "sandbox/sandbox_internal.h"

#define LAST_PID "/proc/sys/kernel/ns_last_pid"
#define PID_MAX_DEFAULT 32768
#define PAUSES 32

/* ---- pid 1 ---- */

/* Hides the name and the arguments of zug from the test, which sees this process as "init". */
static void rename_process(void)
{
	unsigned long begin = 0, end = 0;
	char line[1024], *p;
	ssize_t n;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	prctl(PR_SET_NAME, "init");
	n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return;
	line[n] = 0;
	p = strrchr(line, ')');
	/* fields 48 and 49: the addresses of the arguments */
	for (int field = 2; p && field < 48; field++)
		p = strchr(p + 1, ' ');
	if (!p || sscanf(p, " %lu %lu", &begin, &end) != 2 || end < begin + 5)
		return;
	memset((void *)begin, 0, end - begin);
	memcpy((void *)begin, "init", 5);
}

/* A number in a file; other: there is none. */
static int number_in(int fd, int other)
{
	char text[24];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return other;
	text[n] = 0;
	return atoi(text);
}

/* The next pid is the one after that. last_pid: the file with the last one. */
static void go_on_after(int last_pid, int pid)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%d", pid);

	/* where that fails, the one who asked sees that a pid is not the one that it wants */
	if (pwrite(last_pid, text, len, 0) < 0)
		errno = 0;
}

/*
 * The pids of the last execution are free, whose processes are dead or are killed now, and the next pid is that of an
 * execution's first process. A template, whose pid is far above, is left alone.
 */
static void free_pids(int last_pid, int template)
{
	int last = number_in(last_pid, 0);

	/* the template was the last, and its prototype the only other one */
	if (last >= template)
		last = 2;
	for (int pid = 2; pid <= last; pid++)
		while (!kill(pid, SIGKILL))
			usleep(200);
	go_on_after(last_pid, 1);
}

/* The next pid is one that no execution comes to. Returns it. */
static int reach_high_pid(int last_pid)
{
	int fd = open("/proc/sys/kernel/pid_max", O_RDONLY | O_CLOEXEC), most = number_in(fd, PID_MAX_DEFAULT);

	if (fd >= 0)
		close(fd);
	go_on_after(last_pid, most - 2);
	return most - 1;
}

static void kill_others(void)
{
	while (!kill(-1, SIGKILL))
		usleep(200);
}

/* Descriptors that go with a request. */
#define MOST_FDS (1 + SPACE_NR_NS)

union fds_room {
	struct cmsghdr header;
	char room[CMSG_SPACE(MOST_FDS * sizeof(int))];
};

/* The next request, and the descriptors that came with it: their number. -1: the sandbox is gone. */
static int next_request(int from, char *byte, int *fds)
{
	union fds_room control;
	struct iovec v = { .iov_base = byte, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c;

	if (recvmsg(from, &m, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return 0;
	memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	return (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
}

/* Enters namespaces, and closes their descriptors. 0 or an errno. */
static int enter(const int *fds, int nr)
{
	int ret = 0;

	for (int i = 0; i < nr; i++) {
		if (setns(fds[i], 0))
			ret = errno;
		close(fds[i]);
	}
	return ret;
}

static void init_main(int fd)
{
	int template = INT_MAX, last_pid, fds[MOST_FDS], nr;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* processes without a parent that waits for them vanish as soon as they are dead */
	signal(SIGCHLD, SIG_IGN);
	setsid();
	dup2(fd, 3);
	close_range(4, ~0u, 0);
	rename_process();
	byte = unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) ? errno : 0;
	for (int i = 0; i < 3; i++)
		dup2(3, i);
	last_pid = open(LAST_PID, O_RDWR | O_CLOEXEC);
	if (write(3, &byte, 1) != 1)
		_exit(1);
	/* a byte asks for something; end of file: the sandbox is gone */
	while ((nr = next_request(3, &byte, fds)) >= 0) {
		char failed = 0;

		switch (byte) {
		case ENVIRONMENT_KILL:
			kill_others();
			break;
		case ENVIRONMENT_FIRST_PID:
			free_pids(last_pid, template);
			break;
		case ENVIRONMENT_NEXT_PID:
			go_on_after(last_pid, 1);
			break;
		case ENVIRONMENT_HIGH_PID:
			template = reach_high_pid(last_pid);
			break;
		case ENVIRONMENT_ENTER:
			failed = enter(fds, nr);
			break;
		}
		if (write(3, &failed, 1) != 1)
			break;
	}
	_exit(0);
}

static int open_ns(pid_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Pid 1 and what of it is used. */
struct init {
	pid_t pid;
	int fd, pid_ns, own_pid_ns, mnt_ns, last_pid;
};

static void init_end(struct init *i)
{
	for (int *fd = &i->fd; fd <= &i->last_pid; fd++)
		if (*fd >= 0)
			close(*fd);
	if (i->pid > 0) {
		kill(i->pid, SIGKILL);
		waitpid(i->pid, NULL, 0);
	}
}

/* 0 or -errno; what was made until then is left to init_end(). */
static int init_begin(struct init *i)
{
	struct clone_args a = { .flags = CLONE_NEWPID, .exit_signal = SIGCHLD };
	int fd[2], ret;
	char byte;

	*i = (struct init){ .fd = -1, .pid_ns = -1, .own_pid_ns = -1, .mnt_ns = -1, .last_pid = -1 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return -errno;
	i->pid = syscall(SYS_clone3, &a, sizeof(a));
	ret = i->pid < 0 ? -errno : 0;
	if (!i->pid)
		init_main(fd[1]);
	close(fd[1]);
	i->fd = fd[0];
	if (!ret && read(fd[0], &byte, 1) != 1)
		ret = -EIO;
	else if (!ret)
		ret = -byte;
	if (ret)
		return ret;
	i->pid_ns = open_ns(i->pid, "pid");
	i->own_pid_ns = open_ns(getpid(), "pid");
	i->mnt_ns = open_ns(i->pid, "mnt");
	/* it is that of the namespace of the process that writes */
	i->last_pid = open(LAST_PID, O_WRONLY | O_CLOEXEC);
	if (i->last_pid < 0)
		return -errno;
	return i->pid_ns < 0 ? i->pid_ns : i->own_pid_ns < 0 ? i->own_pid_ns : i->mnt_ns < 0 ? i->mnt_ns : 0;
}

/* Pid 1 of sandbox_init_ahead(), and a descriptor that tells whether mounts have changed since; of the process. */
static struct init ahead;
static int ahead_mounts = -1;

void sandbox_init_ahead(void)
{
	if (ahead_mounts >= 0)
		return;
	ahead_mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (ahead_mounts < 0 || !init_begin(&ahead))
		return;
	init_end(&ahead);
	close(ahead_mounts);
	ahead_mounts = -1;
}

void sandbox_end_ahead(void)
{
	if (ahead_mounts < 0)
		return;
	close(ahead_mounts);
	ahead_mounts = -1;
	init_end(&ahead);
}

/* True: there is one, and its mounts are those that it would have now. */
static bool take_ahead(struct init *i)
{
	struct pollfd p = { .fd = ahead_mounts, .events = POLLPRI };
	bool same;

	if (ahead_mounts < 0)
		return false;
	same = poll(&p, 1, 0) == 0;
	if (!same) {
		sandbox_end_ahead();
		return false;
	}
	close(ahead_mounts);
	ahead_mounts = -1;
	*i = ahead;
	return true;
}

static int start_init(struct sandbox *s)
{
	struct init i;
	int ret;
	RIGHTS_RAISED;

	ret = take_ahead(&i) ? 0 : init_begin(&i);
	s->env.init = i.pid;
	s->env.init_fd = i.fd;
	s->env.pid_ns = i.pid_ns;
	s->env.own_pid_ns = i.own_pid_ns;
	s->mnt_ns = i.mnt_ns;
	s->env.last_pid = i.last_pid;
	return ret;
}

int sandbox_environment_spawn_inside(struct sandbox *s, bool inside)
{
	RIGHTS_RAISED;

	if (s->env.pid_ns < 0)
		return 0;
	return setns(inside ? s->env.pid_ns : s->env.own_pid_ns, CLONE_NEWPID) ? -errno : 0;
}

int sandbox_environment_wait(struct sandbox *s)
{
	uint64_t begin = clock_now_ns(), spin_ns = kernel_spin_us(s->k) * 1000ull;
	ssize_t n;
	char byte;

	if (!s->env.asked)
		return 0;
	s->env.asked = false;
	/* where no process has to die it takes less time than to sleep and wake up */
	while ((n = recv(s->env.init_fd, &byte, 1, MSG_DONTWAIT)) < 0 && errno == EAGAIN && clock_now_ns() - begin < spin_ns)
		for (int i = 0; i < PAUSES; i++)
			__builtin_ia32_pause();
	while (n < 0 && (errno == EAGAIN || errno == EINTR))
		n = read(s->env.init_fd, &byte, 1);
	if (n == 1 && byte)
		s->env.init_net = s->env.init_space = 0;
	return n == 1 ? -byte : -ENOTCONN;
}

static int send_request(struct sandbox *s, enum environment_request what, const int *fds, int nr)
{
	union fds_room control = { .header = { .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
	char byte = what;
	struct iovec v = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	int ret = sandbox_environment_wait(s);

	if (nr) {
		control.header.cmsg_len = CMSG_LEN(nr * sizeof(*fds));
		memcpy(CMSG_DATA(&control.header), fds, nr * sizeof(*fds));
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(nr * sizeof(*fds));
	}
	if (!ret && (s->env.init_fd < 0 || sendmsg(s->env.init_fd, &m, MSG_NOSIGNAL) != 1))
		ret = -ENOTCONN;
	s->env.asked = !ret;
	return ret;
}

int sandbox_environment_send(struct sandbox *s, bool space)
{
	struct environment *w = &s->env;
	bool net = w->init_net != w->nr_nets;
	int fds[MOST_FDS], nr = 0, ret;
	RIGHTS_RAISED;

	space = space && w->init_space != w->nr_spaces;
	if (space)
		nr = space_open_ns(w->space, fds);
	if (nr < 0)
		return nr;
	/* that of the network is not ours to close */
	if (net)
		fds[nr] = w->net;
	ret = nr + net ? send_request(s, ENVIRONMENT_ENTER, fds, nr + net) : 0;
	while (nr)
		close(fds[--nr]);
	if (ret)
		return ret;
	w->init_net = w->nr_nets;
	if (space)
		w->init_space = w->nr_spaces;
	return 0;
}

int sandbox_environment_ask(struct sandbox *s, enum environment_request what)
{
	int ret = send_request(s, what, NULL, 0);

	return ret ? ret : sandbox_environment_wait(s);
}

void sandbox_environment_kill(struct sandbox *s)
{
	sandbox_environment_ask(s, s->template.pid ? ENVIRONMENT_FIRST_PID : ENVIRONMENT_KILL);
}

void sandbox_environment_first_pid(struct sandbox *s)
{
	send_request(s, ENVIRONMENT_NEXT_PID, NULL, 0);
}

int sandbox_environment_reset_pids(const struct sandbox *s)
{
	/* 1 is ours, 2 the root command */
	return s->env.last_pid >= 0 && pwrite(s->env.last_pid, "2", 1, 0) < 0 ? -1 : 0;
}

/* ---- folders ---- */

bool path_is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return !strncmp(path, folder, n) && path[n] == '/';
}

static bool same_or_below(const char *path, const char *folder)
{
	return !strcmp(path, folder) || path_is_below(path, folder);
}

/*
 * Adds a private folder, unless it does not exist, is shared, or lies in another one already. 0 or
 * -errno.
 */
static int add_folder(struct sandbox *s, const char *path)
{
	struct environment *w = &s->env;
	char real[PATH_MAX];
	struct private_folder *f, *other;
	struct stat st, up;

	if (!path || !realpath(path, real) || stat(real, &st) || !S_ISDIR(st.st_mode))
		return 0;
	for (char *const *p = s->o.share; p && *p; p++)
		if (same_or_below(real, *p))
			return 0;
	if (!strcmp(real, "/")) {
		snprintf(w->note, sizeof(w->note), "the test works in /, which cannot be private: files that "
			 "it writes there stay");
		return 0;
	}
	for (int i = 0; i < w->nr_folders; i++) {
		other = &w->folder[i];
		if (!strcmp(real, other->path) ||
		    (path_is_below(real, other->path) && !stat(other->path, &up) && up.st_dev == st.st_dev))
			return 0;
	}
	f = &w->folder[w->nr_folders++];
	f->st = st;
	f->path = strdup(real);
	return f->path ? 0 : -ENOMEM;
}

/* Outer folders first: a folder that lies in another one is mounted after it. */
static int by_length(const void *a, const void *b)
{
	return strlen(((const struct private_folder *)a)->path) - strlen(((const struct private_folder *)b)->path);
}

/* Leaves what is mounted at path visible, if path lies below the folder. 0 or -errno. */
static int keep(struct private_folder *f, const char *path)
{
	if (!path_is_below(path, f->path))
		return 0;
	for (int i = 0; i < f->nr_keep; i++)
		if (same_or_below(path, f->keep[i]))
			return 0;
	/* mounts below path come with it */
	for (int i = 0; i < f->nr_keep; i++)
		if (path_is_below(f->keep[i], path)) {
			free(f->keep[i]);
			f->keep[i--] = f->keep[--f->nr_keep];
		}
	if (f->nr_keep == SANDBOX_MAX_KEPT)
		return -E2BIG;
	if (!ARRAY_RESERVE(f->keep, f->keep_room, f->nr_keep + 1))
		return -ENOMEM;
	f->keep[f->nr_keep] = strdup(path);
	return f->keep[f->nr_keep++] ? 0 : -ENOMEM;
}

/* Replaces "\040" and the like in the kernel's list of mounts. */
static void unescape(char *p)
{
	char *out = p;

	for (; *p; p++)
		if (p[0] == '\\' && p[1] && p[2] && p[3]) {
			*out++ = (p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0');
			p += 3;
		} else {
			*out++ = *p;
		}
	*out = 0;
}

static int keep_mounts(struct private_folder *f)
{
	char *line = NULL, *p, *save;
	size_t size = 0;
	int ret = 0;
	FILE *in = fopen("/proc/self/mountinfo", "re");

	while (in && !ret && getline(&line, &size, in) > 0) {
		p = strtok_r(line, " ", &save);
		for (int field = 1; p && field < 5; field++)
			p = strtok_r(NULL, " ", &save);
		if (!p)
			continue;
		unescape(p);
		ret = keep(f, p);
	}
	free(line);
	if (in)
		fclose(in);
	return ret;
}

int sandbox_environment_private_file(struct sandbox *s, const char *path)
{
	char real[PATH_MAX];
	int ret = 0;

	for (int i = 0; i < s->env.nr_folders && !ret; i++)
		ret = keep(&s->env.folder[i], realpath(path, real) ? real : path);
	return ret;
}

static void drop_folder(struct environment *w, int i)
{
	struct private_folder *f = &w->folder[i];

	for (int k = 0; k < f->nr_keep; k++)
		free(f->keep[k]);
	free(f->keep);
	free(f->path);
	memmove(f, f + 1, (--w->nr_folders - i) * sizeof(*f));
}

/* ---- files that are thrown away ---- */

/*
 * Finds the first file (or removal) below dir, a folder in an overlay's upper folder, and appends
 * its name to path.
 */
static bool find_change(int dir, char *path, size_t len, const char *hidden)
{
	size_t n = strlen(path), h = hidden ? strlen(hidden) : 0;
	struct dirent *d;
	bool found = false;
	DIR *in = dir < 0 ? NULL : fdopendir(dir);

	if (!in && dir >= 0)
		close(dir);
	while (in && !found && (d = readdir(in))) {
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		snprintf(path + n, len - n, "/%s", d->d_name);
		if (strlen(path) >= h && h && !strcmp(path + strlen(path) - h, hidden))
			continue;
		found = d->d_type != DT_DIR ||
			find_change(openat(dirfd(in), d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), path, len,
				    hidden);
	}
	if (in)
		closedir(in);
	if (!found)
		path[n] = 0;
	return found;
}

/* Looks for a file in the working folder only: files in /tmp are not missed. */
void sandbox_environment_find_thrown(struct sandbox *s)
{
	/* the test may have put links there, which lead out of its files */
	struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };
	struct environment *w = &s->env;
	char path[PATH_MAX], up[16];
	int i = w->nr_folders - 1, n;

	while (i >= 0 && !same_or_below(w->cwd, w->folder[i].path))
		i--;
	if (i < 0)
		return;
	snprintf(up, sizeof(up), "u%d", i);
	n = snprintf(path, sizeof(path), "%s%s", up, w->cwd + strlen(w->folder[i].path));
	if (find_change((int)syscall(SYS_openat2, w->space->files, path, &how, sizeof(how)), path, sizeof(path),
			s->o.hide && path_is_below(s->o.hide, w->cwd) ? s->o.hide + strlen(w->cwd) : NULL))
		snprintf(w->thrown, sizeof(w->thrown), "%s", path + n + 1);
}

const char *sandbox_thrown(const struct sandbox *s)
{
	return s->env.thrown[0] ? s->env.thrown : NULL;
}

/* ---- once ---- */

void sandbox_environment_reset(struct sandbox *s)
{
	s->env = (struct environment){
		.net = -1, .init_fd = -1, .pid_ns = -1, .own_pid_ns = -1, .last_pid = -1, .cgroup_ns = -1,
		.rebuild = debug_word("rebuild"),
	};
	for (int i = 0; i < SANDBOX_NR_NS; i++)
		s->env.ns[i] = -1;
}

int sandbox_environment_new(struct sandbox *s, char *err, size_t errlen)
{
	struct environment *w = &s->env;
	int ret;

	if (s->o.own & SANDBOX_PIDS) {
		ret = start_init(s);
		if (ret) {
			snprintf(err, errlen, "cannot create a pid namespace for the test: %s; --world can leave "
				 "'pids' out", strerror(-ret));
			return ret;
		}
	}
	if (s->o.own & SANDBOX_FILES) {
		ret = add_folder(s, "/tmp");
		if (!ret)
			ret = add_folder(s, s->o.temporary);
		if (!ret)
			ret = add_folder(s, s->o.cwd);
		qsort(w->folder, w->nr_folders, sizeof(w->folder[0]), by_length);
		for (int i = 0; i < w->nr_folders && !ret; i++) {
			ret = keep_mounts(&w->folder[i]);
			for (char *const *p = s->o.share; p && *p && !ret; p++)
				ret = keep(&w->folder[i], *p);
			if (ret == -E2BIG) {
				snprintf(err, errlen, "cannot make %s private: there are more than %d mounts "
					 "below it; --share %s shares it", w->folder[i].path,
					 SANDBOX_MAX_KEPT, w->folder[i].path);
				return ret;
			}
		}
		if (ret)
			return ret;
		w->cwd = s->o.cwd;
	}
	return 0;
}

int sandbox_ready(struct sandbox *s, char *err, size_t errlen)
{
	struct environment *w = &s->env;
	const char *failed;
	int why;

	if (!s->o.own)
		return 0;
	while ((failed = sandbox_environment_try(s, &why))) {
		int i = 0;

		while (i < w->nr_folders && w->folder[i].path != failed)
			i++;
		if (i == w->nr_folders) {
			snprintf(err, errlen, "cannot create the test's environment: cannot %s: %s; --world can leave "
				 "parts of it out", failed, strerror(why));
			return -why;
		}
		snprintf(w->note, sizeof(w->note), "cannot make %s private, so files that the test writes there "
			 "stay: no overlay can be mounted over it (%s)", failed,
			 why == ENODEV ? "the kernel has no overlayfs" : strerror(why));
		drop_folder(w, i);
	}
	return 0;
}

const char *sandbox_note(const struct sandbox *s)
{
	return s->env.note[0] ? s->env.note : NULL;
}

void sandbox_environment_free(struct sandbox *s)
{
	struct environment *w = &s->env;

	sandbox_environment_forget(s);
	while (w->nr_folders)
		drop_folder(w, 0);
	if (w->last_pid >= 0)
		close(w->last_pid);
	if (w->cgroup_ns >= 0)
		close(w->cgroup_ns);
	if (w->pid_ns >= 0)
		close(w->pid_ns);
	if (w->own_pid_ns >= 0)
		close(w->own_pid_ns);
	if (w->init_fd >= 0)
		close(w->init_fd);
	if (w->init > 0) {
		kill(w->init, SIGKILL);
		waitpid(w->init, NULL, 0);
	}
}
