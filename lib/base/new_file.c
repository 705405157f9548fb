/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * new_file.c - files written below folders of other users (new_file.h)
 *
 * walk() goes along a path, one name after the other, by descriptors: what it has checked is what it
 * uses. (openat2() with RESOLVE_NO_SYMLINKS would also refuse the links of root, such as a /home
 * that lies on another disk.)
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "lib/base/new_file.h"

#define MAX_LINKS 40		/* as many as the kernel follows */
#define CREATE_TRIES 8		/* while another process makes and removes the same name */

static struct {
	bool known;
	uid_t uid;
	gid_t gid;
} owner;

void new_file_owner(uid_t uid, gid_t gid)
{
	owner.known = true;
	owner.uid = uid;
	owner.gid = gid;
}

bool new_file_trusts(uid_t uid)
{
	return !uid || uid == geteuid() || (owner.known && uid == owner.uid);
}

/* A path that is being gone along. */
struct walk {
	int dir;			/* the folder that was reached */
	char name[NAME_MAX + 1];	/* the last name, which lies in it, and is no link */
	char rest[2 * PATH_MAX];	/* what is left of the path */
	int links;
	bool keep_last;			/* the last name is the link itself, if it is one */
};

/* The link's text takes the place of its name. 0 or -errno. */
static int follow(struct walk *w, int link)
{
	char text[PATH_MAX], rest[2 * PATH_MAX];
	ssize_t n = readlinkat(link, "", text, sizeof(text) - 1);

	if (n < 0)
		return -errno;
	text[n] = 0;
	if (++w->links > MAX_LINKS)
		return -ELOOP;
	strcpy(rest, w->rest);
	if ((size_t)n + strlen(rest) + 2 > sizeof(w->rest))
		return -ENAMETOOLONG;
	strcpy(w->rest, text);
	if (rest[0]) {
		strcat(w->rest, "/");
		strcat(w->rest, rest);
	}
	return 0;
}

/* The next name of the rest goes to w->name. False: there is none. */
static bool next_name(struct walk *w)
{
	const char *p = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(p, "/");

	if (!n || n >= sizeof(w->name))
		return false;
	memcpy(w->name, p, n);
	w->name[n] = 0;
	p += n;
	p += strspn(p, "/");
	memmove(w->rest, p, strlen(p) + 1);
	return true;
}

static int enter(struct walk *w, int dir)
{
	if (dir < 0)
		return -errno;
	close(w->dir);
	w->dir = dir;
	return 0;
}

/* A link of /proc leads to an object, and its text need not be a path. */
static bool in_proc(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* One name. 1: it was the last one, and lies in w->dir; 0: there are more; -errno. */
static int step(struct walk *w)
{
	struct stat st;
	int fd, ret;

	if (w->rest[0] == '/') {
		ret = enter(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
		if (ret)
			return ret;
	}
	if (!next_name(w))
		return w->rest[strspn(w->rest, "/")] ? -ENAMETOOLONG : -EISDIR;
	fd = openat(w->dir, w->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT && !w->rest[0] ? 1 : -errno;
	ret = fstat(fd, &st) ? -errno : 0;
	if (!ret && S_ISLNK(st.st_mode) && (w->rest[0] || !(w->keep_last || in_proc(fd))))
		ret = new_file_trusts(st.st_uid) ? follow(w, fd) : -ELOOP;
	else if (!ret && w->rest[0])
		ret = enter(w, openat(w->dir, w->name, O_PATH | O_DIRECTORY | O_CLOEXEC |
				      (in_proc(fd) ? 0 : O_NOFOLLOW)));
	else if (!ret)
		ret = 1;
	close(fd);
	return ret;
}

/* Goes to the folder of the last name. 0, or -errno with nothing to close. */
static int walk(struct walk *w, const char *path)
{
	int ret = 0;

	if (!path[0])
		return -ENOENT;
	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	strcpy(w->rest, path);
	w->dir = open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w->dir < 0)
		return -errno;
	while (!ret)
		ret = step(w);
	if (ret > 0)
		return 0;
	close(w->dir);
	return ret;
}

static int give(int fd)
{
	if (owner.known && !geteuid() && fchown(fd, owner.uid, owner.gid))
		return -errno;
	return 0;
}

/* Opens what is there, if it is ours alone and was not exchanged meanwhile. -ESTALE: it is not. */
static int open_old(const struct walk *w, int flags)
{
	struct stat st;
	int fd = openat(w->dir, w->name, flags | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && (!S_ISREG(st.st_mode) || (new_file_trusts(st.st_uid) && st.st_nlink == 1)))
		return fd;
	close(fd);
	return -ESTALE;
}

static int open_new(const struct walk *w, int flags, mode_t mode)
{
	int fd = openat(w->dir, w->name, flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode), ret;

	if (fd < 0)
		return -errno;
	ret = give(fd);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/* What stands there is kept when it is ours or no file, else replaced. A descriptor or -errno. */
static int open_either(const struct walk *w, int flags, mode_t mode)
{
	int ret = -EEXIST;
	struct stat st;

	for (int i = 0; i < CREATE_TRIES && (ret == -EEXIST || ret == -ESTALE); i++) {
		if (fstatat(w->dir, w->name, &st, AT_SYMLINK_NOFOLLOW)) {
			ret = errno == ENOENT ? open_new(w, flags, mode) : -errno;
			continue;
		}
		if (S_ISDIR(st.st_mode))
			return -EISDIR;
		if (S_ISLNK(st.st_mode) && in_proc(w->dir)) {
			ret = openat(w->dir, w->name, flags | O_CLOEXEC);
			return ret < 0 ? -errno : ret;
		}
		ret = S_ISREG(st.st_mode) && (!new_file_trusts(st.st_uid) || st.st_nlink != 1) ? -ESTALE : open_old(w, flags);
		if (ret == -ESTALE || ret == -ELOOP)
			ret = unlinkat(w->dir, w->name, 0) && errno != ENOENT ? -errno : -EEXIST;
	}
	return ret;
}

int new_file(const char *path, mode_t mode)
{
	struct walk w = { 0 };
	struct stat st;
	int fd = walk(&w, path), ret;

	if (fd)
		return fd;
	fd = open_either(&w, O_WRONLY, mode);
	close(w.dir);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return fd;
	if (!ftruncate(fd, 0))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

int new_file_only(const char *path, mode_t mode)
{
	struct walk w = { .keep_last = true };
	int fd = walk(&w, path);

	if (fd)
		return fd;
	fd = open_new(&w, O_WRONLY, mode);
	close(w.dir);
	return fd;
}

FILE *new_file_stream(const char *path)
{
	int fd = new_file(path, 0666);
	FILE *f;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	f = fdopen(fd, "w");
	if (!f)
		close(fd);
	return f;
}

int new_file_append(const char *path, mode_t mode)
{
	struct walk w = { 0 };
	int fd = walk(&w, path);

	if (fd)
		return fd;
	fd = open_either(&w, O_RDWR | O_APPEND, mode);
	close(w.dir);
	return fd;
}

int new_folder(const char *path, mode_t mode)
{
	struct walk w = { 0 };
	int ret = walk(&w, path), fd;

	if (ret)
		return ret == -EISDIR ? -EEXIST : ret;
	ret = mkdirat(w.dir, w.name, mode) ? -errno : 0;
	if (!ret) {
		fd = openat(w.dir, w.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		ret = fd < 0 ? -errno : give(fd);
		if (fd >= 0)
			close(fd);
	}
	close(w.dir);
	return ret;
}

static int renamed(const char *from, const char *to)
{
	struct walk a = { .keep_last = true }, b = a;
	int ret = walk(&a, from);

	if (ret)
		return ret;
	ret = walk(&b, to);
	if (!ret) {
		ret = renameat(a.dir, a.name, b.dir, b.name) ? -errno : 0;
		close(b.dir);
	}
	close(a.dir);
	return ret;
}

int new_file_rename(const char *from, const char *to)
{
	int ret = renamed(from, to);

	if (ret)
		errno = -ret;
	return ret;
}

int new_file_unlink(const char *path)
{
	struct walk w = { .keep_last = true };
	int ret = walk(&w, path);

	if (ret)
		return ret;
	ret = unlinkat(w.dir, w.name, 0) ? -errno : 0;
	close(w.dir);
	return ret;
}

const char *new_file_error(int err)
{
	return err == ELOOP || err == -ELOOP ? "a symbolic link on the path belongs to another user" :
					       strerror(err < 0 ? -err : err);
}
