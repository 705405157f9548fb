/*
 * world-change KIND: looks whether its environment is as it was before the first execution, says what it finds,
 * and changes one thing in it (KIND: nothing, created, ...). Fails with status 4 if it finds the change of an earlier
 * execution.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <mqueue.h>
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

static void need(int ok, const char *what)
{
	if (ok)
		return;
	printf("%s: %s\n", what, strerror(errno));
	exit(4);
}

static void create(void)
{
	need(access("new", F_OK) && open("new", O_CREAT | O_EXCL | O_RDWR, 0600) >= 0, "new");
	/* it is not there, but it has had an inode number */
	need(!unlink("new"), "unlink");
}

static void change(void)
{
	int fd = open("yours", O_RDWR);
	char text[64] = "";

	need(read(fd, text, sizeof(text)) == 6 && !strcmp(text, "yours\n") && pwrite(fd, "mine.", 5, 0) == 5, "yours");
}

static void delete(void)
{
	need(!unlink("folder/inside"), "folder/inside");
}

static void renames(void)
{
	need(!rename("folder", "elsewhere"), "folder");
}

static void mode(void)
{
	struct stat st;

	need(!stat(".", &st) && (st.st_mode & 0777) == 0755 && !chmod(".", 0700), "mode");
}

static void attribute(void)
{
	char value[8];

	need(getxattr(".", "user.mine", value, sizeof(value)) < 0 && !setxattr(".", "user.mine", "1", 1, 0), "attribute");
}

static void shared_memory(void)
{
	need(shm_open("/mine", O_CREAT | O_EXCL | O_RDWR, 0600) >= 0, "shared memory");
}

static void semaphore(void)
{
	int id = semget(IPC_PRIVATE, 1, 0600);

	/* the first one of a namespace */
	need(id == 0 && !semctl(id, 0, IPC_RMID), "semaphore");
}

static void queue(void)
{
	need(mq_open("/mine", O_CREAT | O_EXCL | O_RDWR, 0600, NULL) >= 0, "message queue");
}

static void port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(47012), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char text[8] = "";

	need(!bind(fd, (struct sockaddr *)&a, sizeof(a)) && !listen(fd, 1), "port");
	/* what outlives all descriptors */
	fd = open("/proc/sys/net/ipv4/ip_default_ttl", O_RDWR);
	need(read(fd, text, sizeof(text)) == 3 && !strcmp(text, "64\n") && pwrite(fd, "65", 2, 0) == 2, "setting");
}

/* A name in no folder; a device is changed by a socket of any kind. */
static int local(const char *also)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "\0mine" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	need(!bind(fd, (struct sockaddr *)&a, offsetof(struct sockaddr_un, sun_path) + 5) && !listen(fd, 1), also);
	return fd;
}

static void name(void)
{
	local("name");
}

static void device(void)
{
	struct ifreq r = { .ifr_name = "lo" };
	int fd = local("device");

	need(!ioctl(fd, SIOCGIFMTU, &r) && r.ifr_mtu != 1234, "a device as before");
	r.ifr_mtu = 1234;
	need(!ioctl(fd, SIOCSIFMTU, &r), "device");
}

/* Two sockets that are on their way in each other outlive all processes for a time. */
static void cycle(void)
{
	char space[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = "", byte = 0;
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof(space) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int fd = local("name in a message"), pair[2];

	*c = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "pair");
	for (int i = 0; i < 3; i++) {
		memcpy(CMSG_DATA(c), i < 2 ? &pair[i] : &fd, sizeof(fd));
		need(sendmsg(pair[i == 0], &m, 0) == 1, "message");
	}
}

static void mounts(void)
{
	need(!access("folder/inside", F_OK) && !mount("none", "folder", "tmpfs", 0, NULL), "mount");
}

static void host(void)
{
	char name[64];

	need(!gethostname(name, sizeof(name)) && !strcmp(name, "localhost") && !sethostname("mine", 4), "host name");
}

static void nothing(void)
{
}

static const struct {
	const char *name;
	void (*fn)(void);
} kinds[] = {
	{ "nothing", nothing }, { "created", create }, { "changed", change }, { "deleted", delete },
	{ "renamed", renames }, { "mode", mode }, { "attribute", attribute }, { "shm", shared_memory },
	{ "semaphore", semaphore }, { "queue", queue }, { "port", port }, { "mount", mounts }, { "host", host },
	{ "name", name }, { "device", device }, { "cycle", cycle },
};

static void show(const char *path)
{
	struct statx x;

	need(!statx(AT_FDCWD, path, 0, STATX_ALL, &x), path);
	printf("%s: inode %llu, mode %o, %u links, times %lld.%09u %lld.%09u %lld.%09u %lld.%09u\n", path,
	       (unsigned long long)x.stx_ino, x.stx_mode, x.stx_nlink, (long long)x.stx_atime.tv_sec, x.stx_atime.tv_nsec,
	       (long long)x.stx_btime.tv_sec, x.stx_btime.tv_nsec, (long long)x.stx_ctime.tv_sec, x.stx_ctime.tv_nsec,
	       (long long)x.stx_mtime.tv_sec, x.stx_mtime.tv_nsec);
}

int main(int argc, char **argv)
{
	const char *paths[] = { "/tmp", ".", "folder", "/dev/shm", "/dev/mqueue" };
	struct dirent *d;
	DIR *in;

	for (int i = 0; i < 5; i++) {
		if (access(paths[i], F_OK))
			continue;
		show(paths[i]);
		/* to read it is no change */
		in = opendir(paths[i]);
		while ((d = readdir(in)))
			if (i)
				printf("%s in %s\n", d->d_name, paths[i]);
		closedir(in);
	}
	fflush(stdout);
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (argc > 1 && !strcmp(argv[1], kinds[i].name)) {
			kinds[i].fn();
			return 0;
		}
	return 2;
}
