/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the events of the kernel side to labels: the operation, its object, its site.
 *
 * kworld_label_point() and kworld_label_syscall() name what a task is about to do; the task stands still, so its memory,
 * paths and descriptors can be read. The names of objects are made in places.c; what signals and ends act on in
 * kworld_signals.c; what a task that has blocked waits for in kworld_blocked.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include "kworld/kworld_internal.h"
#include "kernel/syscalls.h"
#include "lib/base/mappings.h"
#include "lib/base/mounts.h"
#include "search/rng.h"

static bool read_text(int pid, uint64_t addr, char *buf, size_t len)
{
	/* up to the end of the page, then on: a string may end just before an unmapped one */
	size_t done = 0;

	while (done < len - 1) {
		size_t n = 4096 - ((addr + done) & 4095);
		ssize_t got;

		if (n > len - 1 - done)
			n = len - 1 - done;
		got = remote_read_some(pid, addr + done, buf + done, n);
		if (got <= 0)
			return false;
		if (memchr(buf + done, 0, got))
			return true;
		done += got;
	}
	buf[len - 1] = 0;
	return true;
}

/* Folds "//", "/./" and "/../" in place, so that one path has one spelling. */
static void fold(char *path)
{
	char *out = path, *in = path;

	while (*in) {
		if (in[0] == '/' && in[1] == '/') {
			in++;
		} else if (in[0] == '/' && in[1] == '.' && (in[2] == '/' || !in[2])) {
			in += 2;
		} else if (in[0] == '/' && in[1] == '.' && in[2] == '.' && (in[3] == '/' || !in[3])) {
			in += 3;
			while (out > path && *--out != '/')
				;
		} else {
			*out++ = *in++;
		}
	}
	if (out == path)
		*out++ = '/';
	*out = 0;
}

void kworld_root_close(struct test_root *r)
{
	if (r->mnt)
		close(r->fd);
	r->mnt = 0;
}

/* Devices make others, and the kernel's own files change by themselves: tell_path() of the kernel side. */
static bool is_plain(const char *path)
{
	return strncmp(path, "/dev", 4) && strncmp(path, "/proc", 5) && strncmp(path, "/sys", 4);
}

/* From here on relative paths are known by that folder of the task, whose name is path, also when the task has gone on. */
static void cwd_keep(struct kworld *k, uint64_t mnt, uint64_t dentry, const char *path, const char *link)
{
	if (!is_plain(path) || mnt != k->cwd.mnt || dentry != k->cwd.dentry)
		kworld_root_close(&k->cwd);
	if (!is_plain(path) || !mnt)
		return;
	if (!k->cwd.mnt) {
		k->cwd.fd = open(link, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (k->cwd.fd < 0)
			return;
		k->cwd.mnt = mnt;
		k->cwd.dentry = dentry;
	}
	snprintf(k->cwd_path, sizeof(k->cwd_path), "%s", path);
	k->uses_cwd = true;
}

/* The task's current folder: the length of its name; -1: it has none. full has room for PATH_MAX. */
static ssize_t cwd_text(struct kworld *k, const struct zug_event *e, const struct zug_call *c, char *full)
{
	char link[32];
	ssize_t n;

	/* the kernel side has looked whether it is that one */
	if (e->flags & ZUG_EF_LEASED && k->cwd.mnt) {
		snprintf(full, PATH_MAX, "%s", k->cwd_path);
		return strlen(full);
	}
	snprintf(link, sizeof(link), "/proc/%u/cwd", e->pid);
	n = readlink(link, full, PATH_MAX - 1);
	if (n < 0)
		return -1;
	full[n] = 0;
	if (c && !k->prefix.feeding && !(e->flags & ZUG_EF_LEASED))
		cwd_keep(k, c->cwd_mnt, c->cwd_dentry, full, link);
	return n;
}

void kworld_cwd_ahead(struct kworld *k, int pid)
{
	struct zug_ctl c = { .cmd = ZUG_CMD_FOLDER, .sandbox = sandbox_slot(k->o.sandbox), .pid = pid };
	char link[32], path[PATH_MAX];
	ssize_t n;

	if (!k->uses_cwd || k->run.cwd_ahead || k->cwd.mnt)
		return;
	k->run.cwd_ahead = true;
	snprintf(link, sizeof(link), "/proc/%d/cwd", pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0 || kernel_ctl(k->o.kernel, &c))
		return;
	path[n] = 0;
	cwd_keep(k, c.folder.mnt, c.folder.dentry, path, link);
}

void kworld_cwd_follow(struct kworld *k, uint32_t n)
{
	const struct syscall_desc *d = syscall_desc(k->kt[n].call_nr);

	if (d && (d->op == ZUG_OP_RENAME || d->op == ZUG_OP_RMDIR || d->lease == ZUG_CALL_MOVES))
		kworld_root_close(&k->cwd);
}

/*
 * The folder that a relative path begins in. renameat() is given it before each path; rename(), link() and symlink() are not,
 * and inotify_add_watch() is given something else there.
 */
static int folder_of(const struct syscall_desc *d, const struct zug_event *e, int path_arg)
{
	if (path_arg < 2 || d->path2_arg == 2 || d->nr == SYS_symlink || d->nr == SYS_inotify_add_watch)
		return AT_FDCWD;
	return (int)e->arg[(path_arg - 2) & 3];
}

/* An argument that is a path, made absolute; full has room for two paths. c may be NULL. */
static bool path_text(struct kworld *k, const struct syscall_desc *d, const struct zug_event *e, const struct zug_call *c,
		      bool second, char *full)
{
	const size_t size = 2 * PATH_MAX;
	char text[PATH_MAX], link[64];
	const char *path = text;
	int path_arg = second ? d->path2_arg : d->path_arg, dirfd = folder_of(d, e, path_arg);
	ssize_t n;

	if (c && c->path_len[second])
		path = c->path[second];
	else if (!read_text(e->pid, e->arg[(path_arg - 1) & 3], text, sizeof(text)))
		return false;
	if (path[0] == '/') {
		snprintf(full, size, "%s", path);
	} else {
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", e->pid, dirfd);
		n = dirfd == AT_FDCWD ? cwd_text(k, e, c, full) : readlink(link, full, PATH_MAX - 1);
		if (n < 0)
			return false;
		full[n] = 0;
		/* fstatat(fd, "") is about the descriptor itself, which may be a pipe */
		if (full[0] != '/')
			return false;
		snprintf(full + n, size - n, "%s%s", path[0] ? "/" : "", path);
	}
	fold(full);
	return true;
}

/*
 * The name of a temporary file or folder is another one in every execution: what mkstemp() and
 * mkdtemp() create, which their flags tell, is named by the task that created it. (A lock file is not opened for reading.)
 */
static bool creates_temporary(const struct syscall_desc *d, const struct zug_event *e)
{
	uint64_t flags = e->arg[d->path_arg & 3], mode = e->arg[(d->path_arg + 1) & 3];

	if (d->op == ZUG_OP_MKDIR)
		return (flags & 0777) == 0700;	/* its mode comes where an open has its flags */
	return d->op == ZUG_OP_OPEN && (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) &&
	       (flags & O_ACCMODE) == O_RDWR && (mode & 0777) == 0600;
}

/* Its / as a descriptor; -1: not known. While it is open the kernel gives its numbers to nothing else. */
static int root_of(struct test_root *r, const struct zug_event *e, const struct zug_call *c)
{
	char path[32];

	if (!c || !c->root_mnt)
		return -1;
	if (r->mnt == c->root_mnt && r->dentry == c->root_dentry)
		return r->fd;
	kworld_root_close(r);
	snprintf(path, sizeof(path), "/proc/%u/root", e->pid);
	r->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (r->fd < 0)
		return -1;
	r->mnt = c->root_mnt;
	r->dentry = c->root_dentry;
	return r->fd;
}

/* The call is about the link itself where the path's last part is a symbolic link. */
static bool is_of_link(const struct syscall_desc *d, const struct zug_event *e)
{
	if (d->op == ZUG_OP_UNLINK || d->op == ZUG_OP_RENAME || d->op == ZUG_OP_LINK)
		return true;
	if (d->op == ZUG_OP_OPEN)
		return e->arg[d->path_arg & 3] & O_NOFOLLOW && strcmp(d->name, "openat2") && strcmp(d->name, "creat");
	return !strcmp(d->name, "lstat") || !strncmp(d->name, "readlink", 8) ||
	       (!strcmp(d->name, "newfstatat") && e->arg[3] & AT_SYMLINK_NOFOLLOW) ||
	       (!strcmp(d->name, "statx") && e->arg[2] & AT_SYMLINK_NOFOLLOW);
}

/* The file that a path names now, if it exists. Symbolic links are followed, for what they stand for, unless flags say no. */
static bool find_file(struct kworld *k, const struct zug_event *e, const struct zug_call *c, const char *full, int flags,
		      struct stat *st)
{
	char path[2 * PATH_MAX + 32];
	int root = root_of(&k->root, e, c);

	if (root >= 0)
		return !fstatat(root, full[1] ? full + 1 : ".", st, flags);
	snprintf(path, sizeof(path), "/proc/%u/root%s", e->pid, full);
	return !fstatat(AT_FDCWD, path, st, flags);
}

#define LINKS_MAX	8

/* part, the begin of full with that length, is a link to the text 'to': full leads there instead. It has room for two paths. */
static void follow_link(char *full, const char *part, size_t len, const char *to)
{
	char *rest = strdup(full + len);

	if (!rest)
		return;
	if (to[0] == '/')
		snprintf(full, 2 * PATH_MAX, "%.*s%s", PATH_MAX, to, rest);
	else
		snprintf(full, 2 * PATH_MAX, "%.*s%.*s%s", (int)(strrchr(part, '/') + 1 - part), part, PATH_MAX / 2, to, rest);
	fold(full);
	free(rest);
}

/*
 * Follows the links of a path; full leads to the same without them afterwards. The first of them, or the first part that
 * does not exist and has others below it: what the path leads to depends on who makes or removes that. 0: there is none.
 * Links right below the root (/bin, /lib) are the machine's. of_link: the last part's own is not followed.
 */
static uint64_t follow_way(struct kworld *k, int root, char *full, bool of_link)
{
	char part[2 * PATH_MAX], to[PATH_MAX];
	unsigned int links = 0;
	uint64_t way = 0;
	struct stat st;
	ssize_t n;

	for (size_t len = 1 + strcspn(full + 1, "/"); full[len];) {
		len += 1 + strcspn(full + len + 1, "/");
		snprintf(part, sizeof(part), "%.*s", (int)len, full);
		if (fstatat(root, part + 1, &st, AT_SYMLINK_NOFOLLOW))
			return way ? way : full[len] ? places_path(k->o.places, part) : 0;
		if (!S_ISLNK(st.st_mode) || (!full[len] && of_link))
			continue;
		if (!way)
			way = places_file(k->o.places, part, kernel_dev(st.st_dev), st.st_ino);
		n = readlinkat(root, part + 1, to, sizeof(to) - 1);
		if (n <= 0 || ++links > LINKS_MAX)
			return way;
		to[n] = 0;
		follow_link(full, part, len, to);
		len = 1 + strcspn(full + 1, "/");
	}
	return way;
}

/* A descriptor of what a path below root leads to without any link; -1, with errno. */
static int open_plain(int root, const char *path, int flags)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | flags, .resolve = RESOLVE_NO_SYMLINKS };

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

/* As find_file(), and *way as follow_way() has it. Most often there is no link, and one call says so. */
static bool find_way(struct kworld *k, const struct zug_event *e, const struct zug_call *c, char *full, bool of_link,
		     struct stat *st, uint64_t *way)
{
	int flags = of_link ? AT_SYMLINK_NOFOLLOW : 0, root = root_of(&k->root, e, c), fd, failed;
	char *last = strrchr(full, '/');

	if (root < 0 || !full[1])
		return find_file(k, e, c, full, flags, st);
	fd = open_plain(root, full + 1, of_link ? O_NOFOLLOW : 0);
	failed = fd < 0 ? errno : fstat(fd, st) ? errno : 0;
	if (fd >= 0)
		close(fd);
	if (!failed)
		return true;
	/* a search of PATH: the folder is there, and the file is not */
	if (failed == ENOENT) {
		*last = 0;
		fd = full[0] ? open_plain(root, full + 1, O_DIRECTORY) : root;
		*last = '/';
		if (fd >= 0 && fd != root)
			close(fd);
		if (fd >= 0)
			return false;
	}
	if (failed == ENOENT || failed == ELOOP)
		*way = follow_way(k, root, full, of_link);
	return find_file(k, e, c, full, flags, st);
}

bool kworld_serves_files(struct kworld *k, pid_t pid)
{
	return kworld_state(k)->env_used & ZUG_ENV_MOUNTS && mounts_own_fuse(pid);
}

/* fstat(): the file behind a descriptor, if an operation on it has come before. 0: not so. */
static uint64_t known_file(struct kworld *k, const struct zug_call *c)
{
	/* what has no name any more, or never had one, is not told by its inode alone */
	if (!c || !c->at.ino || !c->at_links || !(S_ISREG(c->at.mode) || S_ISDIR(c->at.mode) || S_ISCHR(c->at.mode)))
		return 0;
	return places_known_file(k->o.places, c->at.dev, c->at.ino);
}

/* way: NULL, or 0; then what follow_way() has found. */
static uint64_t path_object(struct kworld *k, const struct world_task *t, const struct syscall_desc *d,
			    const struct zug_event *e, bool second, uint64_t *way)
{
	const struct zug_call *c = kworld_call(k, e);
	char full[2 * PATH_MAX];
	bool of_link = is_of_link(d, e);
	struct stat st;
	uint64_t id;

	if (!second && !k->run.nr_lent && (id = known_file(k, c)))
		return id;
	/* nor is it a path that /proc would say of that descriptor */
	if (e->flags & ZUG_EF_LEASED && c->at.ino)
		return 0;
	if (!path_text(k, d, e, c, second, full))
		return 0;
	if (!strncmp(full, "/proc/self/", 11)) {
		char rest[PATH_MAX];

		snprintf(rest, sizeof(rest), "%.*s", PATH_MAX - 1, full + 10);
		snprintf(full, sizeof(full), "/proc/%d%s", k->w.tasks[t->process].own_pid, rest);
	}
	if (creates_temporary(d, e))
		return places_temporary(k->o.places, full, t->task);
	/* a look at the file could wait for a lock of a task that waits for us, or for an answer of the test's own */
	if (k->run.nr_lent || !strncmp(full, "/proc/", 6) || kworld_serves_files(k, e->pid))
		return places_path(k->o.places, full);
	if (!(way ? find_way(k, e, c, full, of_link, &st, way) :
		    find_file(k, e, c, full, of_link ? AT_SYMLINK_NOFOLLOW : 0, &st)))
		return places_path(k->o.places, full);
	id = places_file(k->o.places, full, kernel_dev(st.st_dev), st.st_ino);
	/*
	 * what is moved to a name is known by that name from then on: a file that is written anew and put in place is
	 * the same one
	 */
	if (d->op == ZUG_OP_RMDIR || (st.st_nlink <= 1 && (d->op == ZUG_OP_UNLINK || d->op == ZUG_OP_RENAME)))
		places_file_gone(k->o.places, kernel_dev(st.st_dev), st.st_ino);
	return id;
}

/* The one or two descriptors of a poll() or its kin. */
static void poll_objects(struct kworld *k, const struct world_task *t, const struct zug_event *e, struct zug_label *l)
{
	l->object = places_object(k->o.places, t->process, t->task, e->pid, &e->obj, (int)e->word[2], l->op);
	if (e->flags & ZUG_EF_OBJECT2)
		l->object2 = places_object(k->o.places, t->process, t->task, e->pid, &e->obj2, (int)e->word[3], l->op);
}

/* What all threads of a process have in common, and that operation changes. */
static uint64_t common_object(struct kworld *k, uint32_t process, unsigned int op)
{
	const char *what = op == ZUG_OP_CHDIR ? "working folder" : op == ZUG_OP_UMASK ? "umask" : "descriptors";
	uint64_t id = mix64(zug_children_object(process) + op);
	char name[40];

	snprintf(name, sizeof(name), "%s of T%u", what, process);
	places_named(k->o.places, id, what, name);
	return id;
}

/* The one semaphore of its set that the call is about; -1: it is about several, or all. */
static int semaphore_of(const struct zug_event *e)
{
	struct sembuf ops[8];

	if (e->nr == SYS_semctl) {
		switch (e->arg[2]) {
		case GETVAL: case SETVAL: case GETPID: case GETNCNT: case GETZCNT:
			return (int)e->arg[1];
		}
		return -1;
	}
	if (!e->arg[2] || e->arg[2] > sizeof(ops) / sizeof(*ops) ||
	    !remote_read(e->pid, e->arg[1], ops, e->arg[2] * sizeof(*ops)))
		return -1;
	for (uint64_t i = 1; i < e->arg[2]; i++)
		if (ops[i].sem_num != ops[0].sem_num)
			return -1;
	return ops[0].sem_num;
}

/* The label's object is a set of semaphores. */
static void label_semaphore(struct kworld *k, const struct world_task *t, const struct zug_event *e, struct zug_label *l)
{
	int n = semaphore_of(e);

	if (n < 0)
		return;
	l->object2 = l->object;
	l->object = places_semaphore(k->o.places, l->object2, n, t->task);
	l->flags |= ZUG_L_PART;
}

/*
 * What is listening there takes connections in the order in which they come: two of them depend on each other, and on when
 * it begins. 0: unknown, or no address before the kernel chooses the port.
 */
static uint64_t address_object(struct kworld *k, const struct world_task *t, const struct zug_event *e, uint64_t addr,
			       uint64_t addr_len)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} a = { 0 };
	const struct zug_call *c = kworld_call(k, e);
	size_t len = addr_len < sizeof(a) ? addr_len : sizeof(a);

	if (len < sizeof(a.any.sa_family))
		return 0;
	/* it came ahead of the call */
	if (e->flags & ZUG_EF_LEASED)
		memcpy(&a, c->path[0], c->path_len[0] < len ? c->path_len[0] : len);
	else if (!remote_read(e->pid, addr, &a, len))
		return 0;
	switch (a.any.sa_family) {
	case AF_UNIX:
		/* what comes after the end of a path is chance; one that begins with 0 is no path */
		if (a.un.sun_path[0])
			len = offsetof(struct sockaddr_un, sun_path) + strnlen(a.un.sun_path, sizeof(a.un.sun_path));
		break;
	case AF_INET:
	case AF_INET6:
		/*
		 * a socket may be bound to all addresses of the machine, and to those of both families: the port alone
		 * counts
		 */
		a.in.sin_family = AF_INET;
		if (!a.in.sin_port)
			return 0;
		len = offsetof(struct sockaddr_in, sin_addr);
		break;
	default:
		return 0;
	}
	return places_address(k->o.places, &a, len, t->task);
}

/* What the kernel reads or writes of the program's memory in a call whose place was a point just before (note_buffer()). */
static void label_buffer(const struct ktask *kt, const struct zug_event *e, struct zug_label *l)
{
	if (!zug_op_has_buffer(l->op) || !kt->buffer.object || l->object2 || e->arg[1] != kt->buffer.addr)
		return;
	l->object2 = kt->buffer.object;
	l->flags |= kt->buffer.write ? ZUG_L_WRITE : ZUG_L_COPIES;
}

/* The place of an address that the kernel side could not look up at once, in shared memory or private. */
static bool where_is(int pid, uint64_t addr, struct zug_where *w)
{
	struct mappings ms;
	struct mapping m;

	memset(w, 0, sizeof(*w));
	w->offset = addr;
	if (!mappings_open(&ms, pid))
		return false;
	if (mappings_find(&ms, addr, &m) && m.shared) {
		w->ino = m.ino ? m.ino : ZUG_INO_NONE;
		w->dev = m.dev;
		w->offset = addr - m.start + m.offset;
	}
	mappings_close(&ms);
	return true;
}

/* The System V memory that lies there; 0: other memory, or none. Its id is the number of its file. */
static uint64_t attached_object(struct kworld *k, const struct world_task *t, const struct zug_event *e, unsigned int op)
{
	struct zug_where w;

	if (!where_is(e->pid, e->arg[0], &w) || !w.ino)
		return 0;
	w = (struct zug_where){ .ino = (uint32_t)w.ino + 1ull, .dev = ZUG_DEV_SYSV, .offset = 3 };
	return places_object(k->o.places, t->process, t->task, e->pid, &w, -1, op);
}

/* Otherwise a process is made: what the other threads have done is copied, and what they do from here on is not. */
static bool starts_thread(const struct zug_event *e)
{
	uint64_t flags = e->nr == SYS_clone ? e->arg[0] : 0;

	if (e->nr == SYS_clone3 && !remote_read(e->pid, e->arg[0], &flags, sizeof(flags)))
		return true;
	return flags & CLONE_THREAD;
}

void kworld_label_syscall(struct kworld *k, struct world_task *t, const struct zug_event *e)
{
	const struct syscall_desc *d = syscall_desc(e->nr);
	struct zug_label *l = &t->label;
	uint64_t way = 0;
	int fd = -1;

	l->op = d ? d->op : ZUG_OP_SYSCALL;
	l->flags = (d ? d->flags : ZUG_L_WRITE) | zug_op_flags(l->op);
	if (d && !strcmp(d->name, "futex")) {
		unsigned int cmd = e->arg[1] & FUTEX_CMD_MASK;

		l->op = cmd == FUTEX_WAKE || cmd == FUTEX_WAKE_OP || cmd == FUTEX_WAKE_BITSET ||
			cmd == FUTEX_UNLOCK_PI ? ZUG_OP_FUTEX_WAKE : ZUG_OP_FUTEX_WAIT;
		l->flags = ZUG_L_WRITE | zug_op_flags(l->op);
	}
	if (d && d->polls && (e->flags & ZUG_EF_OBJECT))
		poll_objects(k, t, e, l);
	else if (d && d->fd_arg)
		fd = (int)e->arg[(d->fd_arg - 1) & 3];
	if ((e->flags & ZUG_EF_OBJECT) && !(d && d->polls))
		l->object = places_object(k->o.places, t->process, t->task, e->pid, &e->obj, fd, l->op);
	else if (d && d->path_arg)
		l->object = path_object(k, t, d, e, false, d->path2_arg ? NULL : &way);
	if (l->object && (l->op == ZUG_OP_SEMOP || l->op == ZUG_OP_SEMCTL))
		label_semaphore(k, t, e, l);
	if (d && d->path2_arg)
		l->object2 = path_object(k, t, d, e, true, NULL);
	/* the way there is only looked at */
	if (way && way != l->object && !l->object2) {
		l->object2 = way;
		l->flags |= ZUG_L_COPIES;
	}
	if (l->op == ZUG_OP_CONNECT || l->op == ZUG_OP_BIND)
		l->object2 = address_object(k, t, e, e->arg[1], e->arg[2]);
	if ((e->nr == SYS_sendto || e->nr == SYS_sendmsg) && e->arg[3])
		l->object2 = address_object(k, t, e, e->arg[3] & ((1ull << ZUG_SENDTO_LENGTH) - 1),
					    e->arg[3] >> ZUG_SENDTO_LENGTH);
	if (l->object && (l->op == ZUG_OP_BIND || l->op == ZUG_OP_LISTEN)) {
		uint64_t address = places_bound(k->o.places, l->object, l->object2);

		/* from then on there is somebody to connect to */
		if (l->op == ZUG_OP_LISTEN)
			l->object2 = address;
	}
	if (l->op == ZUG_OP_IPC_GET) {
		bool creates = (e->nr == SYS_msgget ? e->arg[1] : e->arg[2]) & IPC_CREAT;

		if ((key_t)e->arg[0] != IPC_PRIVATE)
			l->object = places_key(k->o.places, e->nr, e->arg[0]);
		l->flags |= creates ? ZUG_L_WRITE : 0;
	}
	if (e->nr == SYS_fcntl && (int)e->arg[1] == F_SETFD) {
		l->op = ZUG_OP_FCNTL;
		l->flags = zug_op_flags(l->op);
		l->object2 = common_object(k, t->process, ZUG_OP_FORK);
	}
	if (l->op == ZUG_OP_SHMDT)
		l->object = attached_object(k, t, e, l->op);
	if (l->op == ZUG_OP_CHDIR || l->op == ZUG_OP_UMASK)
		l->object = common_object(k, t->process, l->op);
	if (d && !strncmp(d->name, "open", 4) &&
	    (e->arg[d->path_arg & 3] & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)))
		l->flags |= ZUG_L_WRITE;
	/* the copy has the descriptors that there are */
	if (l->op == ZUG_OP_FORK && world_living(&k->w, t->process, t) && !starts_thread(e)) {
		l->flags |= ZUG_L_ENDS_ALL;
		l->object = common_object(k, t->process, l->op);
	}
	if (e->nr == SYS_mq_getsetattr && e->arg[1])
		l->flags |= ZUG_L_WRITE;
	if (l->op == ZUG_OP_READ && fd >= 0 && e->flags & ZUG_EF_OBJECT && !(e->obj.mode & S_IFMT))
		kworld_label_signal_read(k, t, fd, l);
	label_buffer(&k->kt[t->task], e, l);
	kworld_label_signals(k, t, e, l);
	l->site = kworld_caller(k, t, e);
}

bool kworld_where(const struct zug_event *e, uint32_t flag, uint64_t addr, struct zug_where *w)
{
	*w = flag == ZUG_EF_OBJECT2 ? e->obj2 : e->obj;
	return (e->flags & flag) || where_is(e->pid, addr, w);
}

uint64_t kworld_memory_object(struct kworld *k, const struct world_task *t, const struct zug_event *e,
			      uint32_t flag, uint64_t addr, unsigned int op)
{
	struct zug_where w;

	if (!kworld_where(e, flag, addr, &w))
		return 0;
	k->kt[t->task].at[flag == ZUG_EF_OBJECT2] = w;
	return places_object(k->o.places, t->process, t->task, e->pid, &w, -1, op);
}

/*
 * Which memory a function of a runtime is about is not known: it is one object. Such an operation is the program's own, among
 * the files, pipes, events and messages of its runtime.
 */
#define SHARED_MEMORY	0x7368617265640001ull

static void label_shared(struct kworld *k, const struct probe_site *s, struct zug_label *l)
{
	size_t len = k->o.shares ? strlen(k->o.shares) : 0;

	if (!len || s->op != ZUG_OP_POINT || !s->symbol || strncmp(s->symbol, k->o.shares, len))
		return;
	l->object = SHARED_MEMORY;
	l->flags |= ZUG_L_OWN | (strcmp(s->symbol + len, "Load") ? ZUG_L_WRITE : 0);
	places_named(k->o.places, l->object, "memory", "shared memory");
}

/*
 * An operation of Java's is about an object, a field, or an element of an array. What is not told is accessed between
 * these (what is entered is left), so that dpor has them as points, which depend on each other.
 */
static void label_java(struct kworld *k, struct world_task *t, const struct zug_event *e, const struct probe_site *s,
		       const struct call *call)
{
	static const uint16_t ops[] = {
		[JAVA_NONE] = ZUG_OP_POINT, [JAVA_ENTER] = ZUG_OP_MONITOR_ENTER, [JAVA_WAIT] = ZUG_OP_MONITOR_WAIT,
		[JAVA_NOTIFY] = ZUG_OP_MONITOR_NOTIFY, [JAVA_PARK] = ZUG_OP_PARK, [JAVA_UNPARK] = ZUG_OP_UNPARK,
		[JAVA_READ] = ZUG_OP_FIELD_READ, [JAVA_WRITE] = ZUG_OP_FIELD_WRITE, [JAVA_CALL] = ZUG_OP_CALL,
		[JAVA_ELEMENT] = ZUG_OP_FIELD_READ,
	};
	struct zug_label *l = &t->label;
	struct zug_where w = { 0 };
	struct java_subject subject;
	const uint64_t args[3] = { e->arg[0], call->begins ? call->object : e->arg[1], e->arg[2] };
	enum java_operation does = call->begins ? JAVA_CALL : s->java;
	uint64_t bias;

	if (places_bias(k->o.places, t->process, s->module, &bias) ||
	    !symfile_java_subject(probes_module(k->o.probes, s->module)->file, does, t->tgid, bias, args, &subject))
		return;
	l->op = subject.writes ? ZUG_OP_FIELD_WRITE : ops[does];
	l->flags = zug_op_flags(l->op) | (subject.refers ? ZUG_L_WRITE | ZUG_L_COARSE : 0) |
		   (does == JAVA_CALL && !call->reads ? ZUG_L_WRITE : 0);
	w.offset = subject.object;
	if (subject.object)
		l->object = places_object(k->o.places, t->process, t->task, e->pid, &w, -1, l->op);
	else
		l->object = places_static(k->o.places, t->process, subject.name, l->op);
	places_call(k->o.places, l->object, subject.name);
}

/*
 * Where Python's interpreter looks is a point in the program's own functions alone, and at a call of the library that these
 * make: a few among the many steps of the library's locks and of the interpreter's.
 */
static bool is_own_look(const struct probe_site *s)
{
	return s->executes && !s->java && !s->fields;
}

void kworld_label_point(struct kworld *k, struct world_task *t, struct ktask *kt,
			const struct zug_event *e)
{
	const struct probe_site *s = probes_site(k->o.probes, e->site);
	struct zug_label *l = &t->label;

	kt->lock = kt->mutex = 0;
	kt->split.phase = SPLIT_NONE;
	t->nr_accesses = 0;
	kt->have_words = e->flags & ZUG_EF_WORDS;
	memcpy(kt->words, e->word, sizeof(kt->words));
	if (!s) {
		l->op = ZUG_OP_POINT;
		l->site = places_site(k->o.places, t->process, e->ip);
		return;
	}
	if (s->code.kind && !s->here) {
		kworld_label_code(k, t, kt, e, s);
		kworld_heat_hit(k, e->site, t->task, l);
		return;
	}
	l->op = s->op;
	l->flags = zug_op_flags(s->op) | (s->own || is_own_look(s) ? ZUG_L_OWN : 0);
	label_shared(k, s, l);
	if (s->java && k->o.leave_interpreter)
		label_java(k, t, e, s, &kt->call);
	kt->call.begins = false;
	if (s->go) {
		/* a channel that is nil is never ready */
		if (e->arg[0])
			l->object = kworld_memory_object(k, t, e, ZUG_EF_OBJECT, e->arg[0], s->op);
		if (s->op == ZUG_OP_SELECT && e->arg[1])
			l->object2 = kworld_memory_object(k, t, e, ZUG_EF_OBJECT2, e->arg[1], s->op);
		l->site = places_site(k->o.places, t->process, s->op == ZUG_OP_CHOICE ? e->ip : e->ret - 1);
		if (s->op == ZUG_OP_CHOICE)
			kworld_asks_numbers(k, t);
		return;
	}
	if (s->obj_arg)
		kt->lock = e->arg[(s->obj_arg - 1) & 3];
	if (s->obj2_arg)
		kt->mutex = e->arg[(s->obj2_arg - 1) & 3];
	if (kt->have_words && (e->flags & (ZUG_EF_ASK | ZUG_EF_LEASED)))
		lock_memory_put(&k->locks, t->tgid, kt->mutex ? kt->mutex : kt->lock, kt->words);
	if (!kt->have_words && (kt->mutex || kt->lock))
		kworld_unread(k, t, kt->mutex ? kt->mutex : kt->lock);
	kt->libc = probes_layout(probes_module(k->o.probes, s->module), s);
	if (s->obj_arg)
		l->object = kworld_memory_object(k, t, e, ZUG_EF_OBJECT, kt->lock, s->op);
	if (s->obj2_arg)
		l->object2 = kworld_memory_object(k, t, e, ZUG_EF_OBJECT2, kt->mutex, ZUG_OP_LOCK);
	if (s->obj_arg)
		kworld_note_use(k, t);
	if (lock_is_mutex(s->op)) {
		kt->mutexes[1] = kt->mutexes[0];
		kt->mutexes[0].object = kt->mutex ? l->object2 : l->object;
		kt->mutexes[0].addr = kt->mutex ? kt->mutex : kt->lock;
		kt->mutexes[0].op = s->op;
		kt->mutexes[0].libc = kt->libc;
	}
	/* a person wants to see the caller: the instruction before the return address */
	if (s->entry && kt->told_site) {
		l->site = kt->told_site;
		kt->told_site = 0;
	} else if (s->entry && e->ret)
		l->site = places_site(k->o.places, t->process, e->ret - 1);
	if (!l->site)
		l->site = places_site(k->o.places, t->process, e->ip);
}
