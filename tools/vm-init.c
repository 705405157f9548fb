/*
 * vm-init: first process of the virtual machine that tools/vm boots.
 *
 * The root file system is the host's, through virtiofs, mounted by the kernel. This program makes it a safe and
 * quick place to run one command, runs it, passes its output and status on, and powers off:
 *
 *   - /proc, /sys and friends, private tmpfs on /run, /tmp, /var/tmp and /dev/shm, a cgroup v2 tree, bpffs, tracefs;
 *   - the root is a folder in memory into which the host's are bound, read-only, except those that tools/vm names (the
 *     user's working folder, the project);
 *   - files that are executed often are copied to memory. A virtiofs root costs 150 ms a fork+exec under emulation, a copy
 *     10 ms; and page faults on virtiofs are FUSE requests, which would disturb the programs under test;
 *   - stdout, stderr, the kernel's log and the result each have a virtio-serial port of their own.
 *
 * The folder named by `zugvm=DIR` on the kernel's command line holds the job (all written by tools/vm):
 *   argv, env   NUL-terminated strings
 *   cwd         one path
 *   writable    a path a line
 *   copy        lines `VERB PATH`:
 *                 farm DIR    DIR becomes a memory folder of links to the real entries (see /run/vm/root) ...
 *                 hot NAME    ... except NAME (a file or a link of that DIR), which is copied
 *                 tree DIR    the whole of DIR is copied
 *                 file FILE   FILE is copied
 *               Copies are read-only, so that a write to one fails and is not lost.
 *
 * On the host, `vm-init --tsc-khz` prints the frequency of the time stamp counter.
 *
 * Result port, a line each: `ready`, then `exit STATUS` (128 + N for signal N) or `fail MESSAGE`.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define VM_DIR		"/run/vm"
#define REAL_ROOT	VM_DIR "/root"		/* the host's root, without our mounts */
#define COPIES		VM_DIR "/tmpfs"
/* Ports appear once their control messages have been handled, a few ms after the driver starts. */
#define PORT_WAIT_MS	20000
/* Time for killed processes to die; then the result is sent without them. */
#define REAP_WAIT_MS	10000
#define PORT_MAX	65536

enum { PORT_OUT = 1, PORT_ERR, PORT_KMSG, PORT_RESULT, NR_PORTS };

static int ports[NR_PORTS];

static void write_all(int fd, const char *buf, size_t len)
{
	while (len) {
		ssize_t n = write(fd, buf, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		buf += n;
		len -= n;
	}
}

static void __attribute__((noreturn)) power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *fmt, ...)
{
	char msg[1024] = "fail ";
	size_t len = strlen(msg);
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(msg + len, sizeof(msg) - len - 1, fmt, ap);
	va_end(ap);
	len += n < (int)(sizeof(msg) - len - 1) ? (size_t)n : sizeof(msg) - len - 2;
	msg[len++] = '\n';
	write_all(ports[PORT_RESULT] > 0 ? ports[PORT_RESULT] : STDERR_FILENO, msg, len);
	power_off();
}

static void make_dirs(const char *path)
{
	char tmp[PATH_MAX];
	char *p;

	snprintf(tmp, sizeof(tmp), "%s", path);
	for (p = strchr(tmp + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(tmp, 0755);
		*p = '/';
	}
	mkdir(tmp, 0755);
}

static bool try_mount(const char *type, const char *dir, unsigned long flags, const char *data)
{
	return !mount(type, dir, type, flags, data) || errno == EBUSY;
}

static void must_mount(const char *type, const char *dir, unsigned long flags, const char *data)
{
	if (!try_mount(type, dir, flags, data))
		die("cannot mount %s on %s: %s", type, dir, strerror(errno));
}

static void bind_mount(const char *from, const char *to, bool read_only)
{
	if (mount(from, to, NULL, MS_BIND, NULL))
		die("cannot bind %s to %s: %s", from, to, strerror(errno));
	if (read_only && mount(NULL, to, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL))
		die("cannot make %s read-only: %s", to, strerror(errno));
}

/* Returns the whole file, NUL-terminated, to be freed; its length in *len unless len is NULL. */
static char *read_file(const char *dir, const char *name, size_t *len)
{
	size_t size = 0, room = 0;
	char path[PATH_MAX];
	char *buf = NULL;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("cannot read %s: %s", path, strerror(errno));
	do {
		if (room - size < 4096) {
			room += 65536;
			buf = realloc(buf, room);
			if (!buf)
				die("no memory for %s", path);
		}
		n = read(fd, buf + size, room - size - 1);
		if (n < 0)
			die("cannot read %s: %s", path, strerror(errno));
		size += n;
	} while (n);
	close(fd);
	buf[size] = '\0';
	if (len)
		*len = size;
	return buf;
}

/* The NUL-terminated strings of a file as a NULL-terminated vector. */
static char **read_vector(const char *dir, const char *name)
{
	char *buf, *p, **vec;
	size_t len, nr = 0;

	buf = read_file(dir, name, &len);
	for (p = buf; p < buf + len; p += strlen(p) + 1)
		nr++;
	vec = calloc(nr + 1, sizeof(*vec));
	if (!vec)
		die("no memory for %s", name);
	for (nr = 0, p = buf; p < buf + len; p += strlen(p) + 1)
		vec[nr++] = p;
	return vec;
}

static void kernel_mounts(void)
{
	must_mount("proc", "/proc", 0, NULL);
	must_mount("sysfs", "/sys", 0, NULL);
	must_mount("devtmpfs", "/dev", 0, NULL);
	must_mount("cgroup2", "/sys/fs/cgroup", 0, NULL);
	must_mount("bpf", "/sys/fs/bpf", 0, NULL);
	must_mount("tracefs", "/sys/kernel/tracing", 0, NULL);
	try_mount("debugfs", "/sys/kernel/debug", 0, NULL);
	try_mount("securityfs", "/sys/kernel/security", 0, NULL);
	mkdir("/dev/pts", 0755);
	mkdir("/dev/shm", 01777);
	must_mount("devpts", "/dev/pts", 0, "mode=0620,ptmxmode=0666");
	must_mount("tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV, "mode=1777");
	must_mount("tmpfs", "/run", MS_NOSUID | MS_NODEV, "mode=0755");
	symlink("/proc/self/fd", "/dev/fd");
	symlink("/proc/self/fd/0", "/dev/stdin");
	symlink("/proc/self/fd/1", "/dev/stdout");
	symlink("/proc/self/fd/2", "/dev/stderr");
}

/* Ports are named vportDpN; the device's number D depends on the order in which the kernel finds devices. */
static int open_port(int nr)
{
	char path[32];
	int device, ms, fd;

	for (ms = 0; ms < PORT_WAIT_MS; ms += 5) {
		for (device = 0; device < 4; device++) {
			snprintf(path, sizeof(path), "/dev/vport%dp%d", device, nr);
			fd = open(path, O_WRONLY | O_CLOEXEC);
			if (fd >= 0)
				return fd;
		}
		usleep(5000);
	}
	die("cannot open virtio-serial port %d: %s", nr, strerror(errno));
}

static void open_ports(void)
{
	int i;

	for (i = PORT_RESULT; i >= PORT_OUT; i--)
		ports[i] = open_port(i);
}

static void copy_data(int from, int to, const char *name)
{
	static char buf[1 << 20];
	ssize_t n;

	while ((n = read(from, buf, sizeof(buf))) > 0)
		write_all(to, buf, n);
	if (n < 0)
		die("cannot copy %s: %s", name, strerror(errno));
}

/* Copies the regular file or symbolic link NAME of FROM_FD's folder to TO_FD's; anything else is left out. */
static void copy_entry(int from_fd, int to_fd, const char *name)
{
	char target[PATH_MAX];
	struct stat st;
	int in, out;
	ssize_t n;

	if (fstatat(from_fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return;
	if (S_ISLNK(st.st_mode)) {
		n = readlinkat(from_fd, name, target, sizeof(target) - 1);
		if (n < 0)
			die("cannot read link %s: %s", name, strerror(errno));
		target[n] = '\0';
		if (symlinkat(target, to_fd, name) && errno != EEXIST)
			die("cannot copy link %s: %s", name, strerror(errno));
		return;
	}
	if (!S_ISREG(st.st_mode))
		return;
	in = openat(from_fd, name, O_RDONLY | O_CLOEXEC);
	if (in < 0)
		die("cannot copy %s: %s", name, strerror(errno));
	out = openat(to_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (out < 0)
		die("cannot copy %s: %s", name, strerror(errno));
	copy_data(in, out, name);
	fchmod(out, st.st_mode & 07777);
	close(in);
	close(out);
}

static int open_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		die("cannot open folder %s: %s", path, strerror(errno));
	return fd;
}

static void copy_tree(int from_fd, int to_fd)
{
	DIR *dir = fdopendir(dup(from_fd));
	struct dirent *e;
	int from, to;

	if (!dir)
		die("cannot list a folder to copy: %s", strerror(errno));
	while ((e = readdir(dir))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (e->d_type != DT_DIR) {
			copy_entry(from_fd, to_fd, e->d_name);
			continue;
		}
		mkdirat(to_fd, e->d_name, 0755);
		from = openat(from_fd, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		to = openat(to_fd, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (from < 0 || to < 0)
			die("cannot copy folder %s: %s", e->d_name, strerror(errno));
		copy_tree(from, to);
		close(from);
		close(to);
	}
	closedir(dir);
}

/* One symlink per entry of DIR that was not copied, to the same entry of the real root. */
static void link_rest(const char *dir, int from_fd, int to_fd)
{
	char target[PATH_MAX];
	DIR *list = fdopendir(dup(from_fd));
	struct dirent *e;

	if (!list)
		die("cannot list %s: %s", dir, strerror(errno));
	while ((e = readdir(list))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (snprintf(target, sizeof(target), REAL_ROOT "%s/%s", dir, e->d_name) < PATH_MAX &&
		    symlinkat(target, to_fd, e->d_name) && errno != EEXIST)
			die("cannot link %s/%s: %s", dir, e->d_name, strerror(errno));
	}
	closedir(list);
}

/* Makes a place to bind to: a path below one of our own tmpfs does not exist yet. */
static void make_target(const char *path, bool is_file)
{
	char parent[PATH_MAX];

	if (!is_file) {
		make_dirs(path);
		return;
	}
	snprintf(parent, sizeof(parent), "%s", path);
	*strrchr(parent, '/') = '\0';
	make_dirs(parent);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

/*
 * Prepares every copy under COPIES first and binds all of them afterwards, so that no copy is made from a copy.
 */
static void make_copies(char *list)
{
	char farm[PATH_MAX] = "", path[PATH_MAX], real[PATH_MAX];
	int from = -1, to = -1;
	char *line, *save, *arg, *dup = strdup(list);
	bool single;

	for (line = strtok_r(list, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		arg = strchr(line, ' ');
		if (!arg)
			die("copy list: no path in '%s'", line);
		*arg++ = '\0';
		if (!strcmp(line, "hot")) {
			copy_entry(from, to, arg);
			continue;
		}
		if (farm[0])
			link_rest(farm, from, to);
		farm[0] = '\0';
		if (from >= 0) {
			close(from);
			close(to);
		}
		single = !strcmp(line, "file");
		snprintf(path, sizeof(path), COPIES "%s", arg);
		snprintf(real, sizeof(real), REAL_ROOT "%s", arg);
		if (single) {
			char *base = strrchr(path, '/');

			*base = '\0';
			make_dirs(path);
			to = open_dir(path);
			*strrchr(real, '/') = '\0';
			from = open_dir(real);
			copy_entry(from, to, base + 1);
			continue;
		}
		make_dirs(path);
		from = open_dir(real);
		to = open_dir(path);
		if (!strcmp(line, "tree"))
			copy_tree(from, to);
		else
			snprintf(farm, sizeof(farm), "%s", arg);
	}
	if (farm[0])
		link_rest(farm, from, to);
	for (line = strtok_r(dup, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "hot ", 4))
			continue;
		arg = strchr(line, ' ') + 1;
		snprintf(path, sizeof(path), COPIES "%s", arg);
		make_target(arg, !strncmp(line, "file ", 5));
		bind_mount(path, arg, true);
	}
}

/*
 * Makes the root folder itself in memory, with the host's folders bound into it: on virtiofs each lookup of a link such
 * as /lib64 is a request to the host, and the start of a program needs four of them. It is built on /tmp of the root that
 * the kernel has mounted; each Linux has a folder of that name.
 */
static void make_top(void)
{
	int root = open_dir("/"), top;
	char from[PATH_MAX], to[PATH_MAX];
	struct dirent *e;
	struct stat st;
	DIR *list;

	must_mount("tmpfs", "/tmp", 0, "mode=0755");
	top = open_dir("/tmp");
	list = fdopendir(root);
	if (!list)
		die("cannot list the root folder: %s", strerror(errno));
	while ((e = readdir(list))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    fstatat(root, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		snprintf(from, sizeof(from), "/%s", e->d_name);
		snprintf(to, sizeof(to), "/tmp/%s", e->d_name);
		if (S_ISLNK(st.st_mode))
			copy_entry(root, top, e->d_name);
		if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
			continue;
		make_target(to, S_ISREG(st.st_mode));
		if (!strcmp(from, "/proc") || !strcmp(from, "/sys") || !strcmp(from, "/dev") || !strcmp(from, "/run")) {
			if (mount(from, to, NULL, MS_MOVE, NULL))
				die("cannot move %s: %s", from, strerror(errno));
		} else if (strcmp(from, "/tmp")) {
			bind_mount(from, to, true);
		}
	}
	closedir(list);
	close(top);
	if (chdir("/tmp") || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/"))
		die("cannot change to another root: %s", strerror(errno));
}

static void set_up_root(const char *job)
{
	char *copies = read_file(job, "copy", NULL), *writable = read_file(job, "writable", NULL);
	char path[PATH_MAX], *line, *save;

	make_dirs(REAL_ROOT);
	if (mount("tmpfs", VM_DIR, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755"))
		die("cannot mount tmpfs on " VM_DIR ": %s", strerror(errno));
	make_dirs(REAL_ROOT);
	make_dirs(COPIES);
	bind_mount("/", REAL_ROOT, false);
	make_top();
	must_mount("tmpfs", "/tmp", MS_NOSUID | MS_NODEV, "mode=1777");
	must_mount("tmpfs", "/var/tmp", MS_NOSUID | MS_NODEV, "mode=1777");
	for (line = strtok_r(writable, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		make_dirs(line);
		snprintf(path, sizeof(path), REAL_ROOT "%s", line);
		bind_mount(path, line, false);
	}
	make_copies(copies);
	if (mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL))
		die("cannot make / read-only: %s", strerror(errno));
	if (mount(NULL, REAL_ROOT, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL))
		die("cannot make " REAL_ROOT " read-only: %s", strerror(errno));
	free(copies);
	free(writable);
}

/* Modules that a kernel usually loads on demand, which needs programs that are slow to start here. */
static void load_module(const char *job, const char *name)
{
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", job, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (syscall(SYS_finit_module, fd, "", 0))
		fprintf(stderr, "vm: cannot load %s: %s\n", name, strerror(errno));
	close(fd);
}

static void set_up_system(void)
{
	struct rlimit files = { .rlim_cur = 1024, .rlim_max = 524288 };
	struct ifreq ifr = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && !ioctl(fd, SIOCGIFFLAGS, &ifr)) {
		ifr.ifr_flags |= IFF_UP;
		ioctl(fd, SIOCSIFFLAGS, &ifr);
	}
	close(fd);
	sethostname("zug-vm", 6);
	setrlimit(RLIMIT_NOFILE, &files);
}

static pid_t start_command(const char *job, int out, int err)
{
	char **argv = read_vector(job, "argv"), **env = read_vector(job, "env");
	char *cwd = read_file(job, "cwd", NULL);
	sigset_t none;
	pid_t pid;

	if (!argv[0])
		die("no command");
	pid = fork();
	if (pid < 0)
		die("cannot fork: %s", strerror(errno));
	if (!pid) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		setsid();
		dup2(open("/dev/null", O_RDWR), STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		if (chdir(cwd)) {
			fprintf(stderr, "vm: cannot enter %s: %s\n", cwd, strerror(errno));
			_exit(126);
		}
		environ = env;
		execvp(argv[0], argv);
		fprintf(stderr, "vm: cannot run %s: %s\n", argv[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	close(out);
	close(err);
	free(cwd);
	return pid;
}

/* Moves the bytes of one read. False at the end of the stream, or when there were no bytes. */
static bool relay(int from, int to)
{
	static char buf[PORT_MAX];
	ssize_t n = read(from, buf, sizeof(buf));

	if (n > 0)
		write_all(to, buf, n);
	/* EPIPE: records of the kernel's log were overwritten before they were read. */
	return n > 0 || (n < 0 && (errno == EINTR || errno == EPIPE));
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/*
 * Passes output on until MAIN has ended, then kills the remaining processes and passes output on until all are dead.
 * Returns MAIN's exit status.
 */
static int supervise(pid_t main_pid, int out, int err, int kmsg, int signals)
{
	struct pollfd fds[] = {
		{ out, POLLIN, 0 }, { err, POLLIN, 0 }, { kmsg, POLLIN, 0 }, { signals, POLLIN, 0 },
	};
	static const int to[] = { PORT_OUT, PORT_ERR, PORT_KMSG };
	long deadline = LONG_MAX;
	int status = -1, wstatus;
	struct signalfd_siginfo si;
	pid_t pid = 0;
	size_t i;

	while (pid >= 0 && now_ms() < deadline) {
		if (poll(fds, 4, status < 0 ? -1 : 100) < 0 && errno != EINTR)
			die("poll: %s", strerror(errno));
		for (i = 0; i < 3; i++)
			if (fds[i].revents && !relay(fds[i].fd, ports[to[i]]) && errno != EAGAIN)
				fds[i].fd = -1;
		if (fds[3].revents && read(signals, &si, sizeof(si)) < 0 && errno != EAGAIN)
			die("signalfd: %s", strerror(errno));
		while ((pid = waitpid(-1, &wstatus, WNOHANG)) > 0) {
			if (pid != main_pid)
				continue;
			status = WIFSIGNALED(wstatus) ? 128 + WTERMSIG(wstatus) : WEXITSTATUS(wstatus);
			deadline = now_ms() + REAP_WAIT_MS;
			kill(-1, SIGKILL);
		}
	}
	for (i = 0; i < 3; i++)
		while (fds[i].fd >= 0 && relay(fds[i].fd, ports[to[i]]))
			;
	return status;
}

static void run_job(const char *job)
{
	int out[2], err[2], kmsg, signals, status;
	char text[32];
	sigset_t set;
	pid_t pid;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (signals < 0 || kmsg < 0 || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		die("cannot set up the channels: %s", strerror(errno));
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	write_all(ports[PORT_RESULT], "ready\n", 6);
	pid = start_command(job, out[1], err[1]);
	status = supervise(pid, out[0], err[0], kmsg, signals);
	sync();
	snprintf(text, sizeof(text), "exit %d\n", status);
	write_all(ports[PORT_RESULT], text, strlen(text));
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* The frequency of this machine's time stamp counter, which an emulated machine has, too. */
static void say_tsc_khz(void)
{
	uint64_t from = now_ns(), ticks = __builtin_ia32_rdtsc(), ns;

	while ((ns = now_ns() - from) < 20000000)
		;
	printf("%llu\n", (unsigned long long)((__builtin_ia32_rdtsc() - ticks) * 1000000ull / ns));
}

int main(int argc, char **argv)
{
	char *cmdline, *p, job[PATH_MAX];

	if (argc == 2 && !strcmp(argv[1], "--tsc-khz")) {
		say_tsc_khz();
		return 0;
	}
	if (getpid() != 1) {
		fprintf(stderr, "vm-init: only tools/vm starts this, as the first process of a machine\n");
		return 2;
	}
	umask(022);
	kernel_mounts();
	open_ports();
	cmdline = read_file("/proc", "cmdline", NULL);
	p = strstr(cmdline, " zugvm=");
	if (!p)
		die("no zugvm=DIR on the kernel's command line");
	p += strlen(" zugvm=");
	p[strcspn(p, " \n")] = '\0';
	set_up_root(p);
	set_up_system();
	snprintf(job, sizeof(job), REAL_ROOT "%s", p);	/* /tmp is ours by now */
	load_module(job, "overlay.ko");
	run_job(job);
	power_off();
}
