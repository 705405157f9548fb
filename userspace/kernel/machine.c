/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What zug needs of a machine, and whether this one has it: a list of checks, each with what to do when it fails. `zug doctor`
 * shows them all; machine_check() is the short form before every start, with the first failure as its message.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/hw_breakpoint.h>
#include <linux/kvm.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <zlib.h>
#include <bpf/btf.h>
#include "kernel/machine.h"
#include "lib/base/debug.h"

#define CGROUP2_MAGIC 0x63677270

void machine_line(const char *path, char *buf, size_t len)
{
	FILE *f = fopen(path, "re");

	buf[0] = 0;
	if (!f)
		return;
	if (fgets(buf, len, f))
		buf[strcspn(buf, "\n")] = 0;
	fclose(f);
}

static void bad(struct machine_fact *f, int error, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static void bad(struct machine_fact *f, int error, const char *fix, const char *fmt, ...)
{
	va_list ap;

	f->verdict = MACHINE_BAD;
	f->error = error;
	snprintf(f->fix, sizeof(f->fix), "%s", fix);
	va_start(ap, fmt);
	vsnprintf(f->found, sizeof(f->found), fmt, ap);
	va_end(ap);
}

static void note(struct machine_fact *f, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void note(struct machine_fact *f, const char *fix, const char *fmt, ...)
{
	va_list ap;

	f->verdict = MACHINE_NOTE;
	snprintf(f->fix, sizeof(f->fix), "%s", fix);
	va_start(ap, fmt);
	vsnprintf(f->found, sizeof(f->found), fmt, ap);
	va_end(ap);
}

/* ---- the distribution, for the names of its packages ---- */

static const struct distribution {
	const char *id, *kernel, *qemu, *virtiofsd;
} distributions[] = {
	{ "debian", "install a kernel from 6.16 to 7.0 of trixie-backports (its linux-image-6.18*-cloud-amd64 is the "
	  "one that is tested; Debian's own up to 6.12 have sched_ext off)",
	  "apt install qemu-system-x86", "apt install virtiofsd (Debian 12: qemu-system-common)" },
	{ "ubuntu", "take a kernel from 6.16 to 7.0: linux-generic of Ubuntu 25.10 or later, "
	  "linux-generic-hwe-24.04 on 24.04 once it is that new",
	  "apt install qemu-system-x86", "apt install virtiofsd" },
	{ "fedora", "take a kernel from 6.16 to 7.0: dnf upgrade kernel",
	  "dnf install qemu-system-x86-core", "dnf install virtiofsd" },
	{ NULL, "boot a kernel from 6.16 to 7.0 with CONFIG_SCHED_CLASS_EXT, CONFIG_DEBUG_INFO_BTF and CONFIG_UPROBES",
	  "install QEMU for x86-64 (qemu-system-x86_64)", "install virtiofsd" },
};

/* ID or one of ID_LIKE; the last of the table when it is another one. */
static const struct distribution *distribution(void)
{
	const struct distribution *d = &distributions[sizeof(distributions) / sizeof(distributions[0]) - 1];
	char line[256], words[600] = " ";
	FILE *f = fopen("/etc/os-release", "re");

	while (f && fgets(line, sizeof(line), f)) {
		size_t n = strlen(words);

		if (!strncmp(line, "ID=", 3) || !strncmp(line, "ID_LIKE=", 8))
			snprintf(words + n, sizeof(words) - n, "%s ", strchr(line, '=') + 1);
	}
	if (f)
		fclose(f);
	for (char *p = words; *p; p++)
		if (strchr("\"'\n", *p))
			*p = ' ';
	/* a system that is like Debian names itself first */
	for (char *save, *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		for (d = distributions; d->id; d++)
			if (!strcmp(w, d->id))
				return d;
	return d;
}

/* ---- the kernel ---- */

/* "CONFIG_X is off in FILE", or "" when no configuration tells. */
static void say_config(const char *name, char *buf, size_t len)
{
	static const char *const where[] = { "/proc/config.gz", "/boot/config-%s", "/lib/modules/%s/config",
					     "/usr/lib/modules/%s/config" };
	char path[160], line[512];
	struct utsname u;
	size_t n = strlen(name);

	buf[0] = 0;
	uname(&u);
	for (size_t i = 0; i < sizeof(where) / sizeof(where[0]) && !buf[0]; i++) {
		bool on = false;
		gzFile f;

		snprintf(path, sizeof(path), where[i], u.release);
		f = gzopen(path, "re");
		if (!f)
			continue;
		while (gzgets(f, line, sizeof(line)))
			on |= !strncmp(line, name, n) && line[n] == '=' && line[n + 1] == 'y';
		gzclose(f);
		snprintf(buf, len, "%s is %s in %s", name, on ? "on" : "off", path);
	}
}

static void look_sched_ext(struct machine_fact *f)
{
	char config[256], fix[sizeof(f->fix)];
	struct utsname u;

	uname(&u);
	if (!access("/sys/kernel/sched_ext", F_OK)) {
		snprintf(f->found, sizeof(f->found), "Linux %s has sched_ext", u.release);
		return;
	}
	say_config("CONFIG_SCHED_CLASS_EXT", config, sizeof(config));
	snprintf(fix, sizeof(fix), "%s; or test in a virtual machine: tools/vm of zugzwang's source",
		 distribution()->kernel);
	bad(f, -ENOSYS, fix, "this kernel has no sched_ext (%s)%s", config[0] ? config : "CONFIG_SCHED_CLASS_EXT",
	    access("/sys", R_OK) || access("/sys/kernel", R_OK) ? "; /sys is not mounted" : "");
}

static void look_btf(struct machine_fact *f)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		bad(f, -ENOSYS, "the kernel needs CONFIG_DEBUG_INFO_BTF", "/sys/kernel/btf/vmlinux: %s",
		    strerror(errno));
	else
		snprintf(f->found, sizeof(f->found), "/sys/kernel/btf/vmlinux");
}

/* Where the programs attach, and what they call: breakpoint.bpf.h, signals.bpf.h, tasks.bpf.h and turn.bpf.h of bpf/. */
static const char *const functions[] = {
	"uprobe_pre_sstep_notifier", "uprobe_mmap", "uprobe_munmap",
	"scx_bpf_create_dsq", "scx_bpf_dsq_insert", "scx_bpf_dsq_move", "scx_bpf_dsq_move_to_local",
	"scx_bpf_kick_cpu",
};

static void look_functions(struct machine_fact *f)
{
	unsigned int major = 0, minor = 0;
	char missing[300] = "";
	struct btf *btf;
	struct utsname u;

	uname(&u);
	sscanf(u.release, "%u.%u", &major, &minor);
	btf = btf__load_vmlinux_btf();
	if (!btf) {
		bad(f, -ENOSYS, "correct what is listed above first", "the kernel's types cannot be read: %s", strerror(errno));
		return;
	}
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		/* those of sched_ext come with it: it was told that it is missing */
		if (btf__find_by_name_kind(btf, functions[i], BTF_KIND_FUNC) < 0 &&
		    (strncmp(functions[i], "scx_", 4) || !access("/sys/kernel/sched_ext", F_OK)))
			snprintf(missing + strlen(missing), sizeof(missing) - strlen(missing), "%s%s",
				 missing[0] ? ", " : "", functions[i]);
	if (missing[0])
		bad(f, -ENOSYS, strstr(missing, "uprobe") ? "the kernel needs CONFIG_UPROBES, and 6.16 or later" :
		    "the kernel must be 6.16 or later", "Linux %s lacks functions that are needed: %s", u.release,
		    missing);
	else if ((major > 7 || (major == 7 && minor >= 1)) &&
		 btf__find_by_name_kind(btf, "scx_bpf_create_dsq_impl", BTF_KIND_FUNC) < 0)
		bad(f, -ENOSYS, "use Linux 6.16 to 7.0; kernels 7.1 and 7.2 as Debian builds them are like this",
		    "Linux %s cannot load any sched_ext scheduler: its BTF lacks the *_impl functions", u.release);
	else if (major * 1000 + minor < 6016 || major * 1000 + minor > 7000)
		note(f, "", "Linux %s is not one of those that are tested (6.16 to 7.0)", u.release);
	else
		snprintf(f->found, sizeof(f->found), "the functions that are probed and called are there");
	btf__free(btf);
}

int machine_locked_down(const char *word)
{
	char line[128], chosen[40];

	machine_line("/sys/kernel/security/lockdown", line, sizeof(line));
	snprintf(chosen, sizeof(chosen), "[%s]", word);
	return strstr(line, chosen) != NULL;
}

static void look_lockdown(struct machine_fact *f)
{
	if (machine_locked_down("confidentiality"))
		bad(f, -EPERM, "boot without lockdown=confidentiality on the kernel's command line",
		    "the kernel is locked down (confidentiality): BPF programs may not read its memory");
	else if (machine_locked_down("integrity"))
		note(f, "boot with secure boot off, for --cpus and virtual time",
		     "the kernel is locked down (integrity): no --cpus, no virtual time; everything else works");
	else
		snprintf(f->found, sizeof(f->found), "not locked down");
}

/*
 * What zug needs of root's rights: the one list, which every start looks through. tests/vm/t/trust.sh holds the list of
 * docs/security.md against it, tests/vm/t/bad-input.sh shows that each is needed.
 */
static const struct {
	cap_value_t cap;
	const char *name, *why;
} privileges[] = {
	/* with CAP_BPF and CAP_PERFMON in it */
	{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN", "to load the scheduler, to place probes and for namespaces" },
	{ CAP_SYS_NICE, "CAP_SYS_NICE", "to move a test that joins into the scheduling class" },
	{ CAP_SYS_CHROOT, "CAP_SYS_CHROOT", "to enter a test's mount namespace" },
	{ CAP_NET_ADMIN, "CAP_NET_ADMIN", "for a test's own network" },
	{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "to read the memory of tests of other users" },
	{ CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE", "for a test's limits" },
	{ CAP_KILL, "CAP_KILL", "to end tests of other users" },
	{ CAP_SETUID, "CAP_SETUID", "to give a test its user's rights" },
	{ CAP_SETGID, "CAP_SETGID", "to give a test its user's groups" },
	{ CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE", "for control groups and the files of users" },
	{ CAP_CHOWN, "CAP_CHOWN", "to give files to a test's user" },
	{ CAP_FOWNER, "CAP_FOWNER", "for private copies of the files of users" },
	{ CAP_FSETID, "CAP_FSETID", "for private copies of setuid files" },
	{ CAP_SETFCAP, "CAP_SETFCAP", "for private copies of files with capabilities" },
	{ CAP_MKNOD, "CAP_MKNOD", "for private copies of device files" },
};

#define NR_PRIVILEGES (sizeof(privileges) / sizeof(privileges[0]))

static void look_privileges(struct machine_fact *f)
{
	cap_t caps = cap_get_proc();
	char missing[1024] = "";

	for (size_t i = 0; i < NR_PRIVILEGES; i++) {
		cap_flag_value_t set = CAP_CLEAR;

		if (!caps || cap_get_flag(caps, privileges[i].cap, CAP_EFFECTIVE, &set) || set != CAP_SET)
			snprintf(missing + strlen(missing), sizeof(missing) - strlen(missing), "%s%s (%s)",
				 missing[0] ? ", " : "", privileges[i].name, privileges[i].why);
	}
	cap_free(caps);
	if (missing[0])
		bad(f, -EPERM, "run zug as root, or give it these as ambient capabilities (docs/security.md)",
		    "missing privileges: %s", missing);
	else
		snprintf(f->found, sizeof(f->found), "the %zu capabilities that zug needs", NR_PRIVILEGES);
}

int machine_drop_privileges(char *err, size_t errlen)
{
	const char *without = debug_word("without:");
	cap_t caps = cap_get_proc();
	int ret = !caps || cap_clear_flag(caps, CAP_EFFECTIVE) ? -errno : 0;

	for (size_t i = 0; i < NR_PRIVILEGES && !ret; i++) {
		const char *name = privileges[i].name;

		if (without && !strncmp(without, name, strlen(name)))
			continue;
		if (cap_set_flag(caps, CAP_EFFECTIVE, 1, &privileges[i].cap, CAP_SET))
			ret = -errno;
	}
	if (!ret && cap_set_proc(caps))
		ret = -errno;
	cap_free(caps);
	if (ret)
		snprintf(err, errlen, "cannot give up the capabilities that are not needed: %s", strerror(-ret));
	return ret;
}

static void look_cgroup(struct machine_fact *f)
{
	struct statfs fs;
	struct statvfs v;

	if (statfs("/sys/fs/cgroup", &fs))
		bad(f, -ENOENT, "mount cgroup2 there", "/sys/fs/cgroup: %s", strerror(errno));
	else if (fs.f_type != CGROUP2_MAGIC)
		bad(f, -ENOTSUP, "boot with systemd.unified_cgroup_hierarchy=1 (cgroup v1 is not supported)",
		    "/sys/fs/cgroup is not cgroup v2");
	else if (!statvfs("/sys/fs/cgroup", &v) && (v.f_flag & ST_RDONLY))
		bad(f, -EROFS, "in a container: start it with --privileged --cgroupns=host, or use the host itself",
		    "/sys/fs/cgroup is mounted read-only");
	else
		snprintf(f->found, sizeof(f->found), "cgroup v2 at /sys/fs/cgroup");
}

/* True when a process holds a struct_ops link, as one that has loaded a scheduler does. */
static bool holds_scheduler(const char *pid)
{
	char path[544], line[256];
	struct dirent *d;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	while (dir && !found && (d = readdir(dir))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/fd/%s", pid, d->d_name);
		if (readlink(path, line, sizeof(line)) < 14 || strncmp(line, "anon_inode:bpf", 14))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, d->d_name);
		f = fopen(path, "re");
		while (f && !found && fgets(line, sizeof(line), f))
			found = !strncmp(line, "link_type:", 10) && strstr(line, "struct_ops");
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* " by COMMAND (pid N)", of the process that has loaded it; "" when that cannot be seen. */
static void find_holder(char *buf, size_t len)
{
	char path[300], comm[32];
	struct dirent *d;
	DIR *dir = opendir("/proc");

	buf[0] = 0;
	while (dir && !buf[0] && (d = readdir(dir))) {
		if (d->d_name[0] < '1' || d->d_name[0] > '9' || !holds_scheduler(d->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", d->d_name);
		machine_line(path, comm, sizeof(comm));
		snprintf(buf, len, " by %s (pid %s)", comm, d->d_name);
	}
	if (dir)
		closedir(dir);
}

/* The scheduler of a zug that was killed stays until the kernel has unloaded it. */
#define UNLOADED_WITHIN_MS	30000

static void look_scheduler(struct machine_fact *f)
{
	char state[128], ops[128], holder[384];

	for (int ms = 0;; ms += 10) {
		machine_line("/sys/kernel/sched_ext/state", state, sizeof(state));
		if (!state[0] || !strcmp(state, "disabled")) {
			snprintf(f->found, sizeof(f->found), "no other sched_ext scheduler is loaded");
			return;
		}
		machine_line("/sys/kernel/sched_ext/root/ops", ops, sizeof(ops));
		find_holder(holder, sizeof(holder));
		if (holder[0] || (ops[0] && strncmp(ops, "zugzwang", 8)) || ms >= UNLOADED_WITHIN_MS)
			break;
		usleep(10000);
	}
	bad(f, -EBUSY, strncmp(ops, "zugzwang", 8) ? "stop it first" :
	    "wait until that ends, or let zugd share it out (zugd, then zug run as before)",
	    "the sched_ext scheduler '%s' is loaded%s (state: %s), and a system has room for one", ops, holder, state);
}

/* A search of a small program has about 90 at once; each lane, library and file of points needs more. */
#define DESCRIPTORS_NEEDED	128

static void look_descriptors(struct machine_fact *f)
{
	struct rlimit l = { 0 };

	getrlimit(RLIMIT_NOFILE, &l);
	if (l.rlim_max < DESCRIPTORS_NEEDED)
		bad(f, -EMFILE, "raise the hard limit of the shell that starts zug (ulimit -n)",
		    "zug may open %llu files at once, and needs %d", (unsigned long long)l.rlim_max, DESCRIPTORS_NEEDED);
	else if (l.rlim_max == RLIM_INFINITY)
		snprintf(f->found, sizeof(f->found), "no limit of open files");
	else
		snprintf(f->found, sizeof(f->found), "%llu open files at once", (unsigned long long)l.rlim_max);
}

/* ---- what some options need ---- */

static void look_breakpoints(struct machine_fact *f)
{
	static long target;
	struct perf_event_attr a = {
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(a), .bp_type = HW_BREAKPOINT_RW,
		.bp_addr = (uintptr_t)&target, .bp_len = HW_BREAKPOINT_LEN_8, .sample_period = 1,
		.exclude_kernel = 1, .exclude_hv = 1,
	};
	char paranoid[32];
	int fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC), error = errno;

	if (fd >= 0) {
		close(fd);
		snprintf(f->found, sizeof(f->found), "hardware breakpoints work (--watch)");
		return;
	}
	machine_line("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof(paranoid));
	if (error == EACCES || error == EPERM)
		note(f, "run as root", "hardware breakpoints (--watch): this user may not, kernel.perf_event_paranoid is %s",
		     paranoid);
	else
		note(f, "in a virtual machine: one whose processor has debug registers; else stop the debugger that uses them",
		     "no hardware breakpoints: --watch does not work (%s)", strerror(error));
}

static void look_cpus(struct machine_fact *f)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	if (n > 1)
		snprintf(f->found, sizeof(f->found), "%ld CPUs: one for the test, the others for zug", n);
	else
		note(f, "give it a second one", "one CPU: zug and the test take turns on it, which is slower");
}

/* ---- the virtual machine ---- */

bool machine_has_program(const char *name, const char *also)
{
	const char *path = getenv("PATH");
	char file[4096];

	if (also && !access(also, X_OK))
		return true;
	for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p;) {
		size_t n = strcspn(p, ":");

		snprintf(file, sizeof(file), "%.*s/%s", (int)n, p, name);
		if (!access(file, X_OK))
			return true;
		p += n + (p[n] == ':');
	}
	return false;
}

static void look_qemu(struct machine_fact *f)
{
	bool qemu = machine_has_program("qemu-system-x86_64", NULL);
	bool fs = machine_has_program("virtiofsd", "/usr/libexec/virtiofsd") || !access("/usr/lib/qemu/virtiofsd", X_OK);

	if (qemu && fs)
		snprintf(f->found, sizeof(f->found), "qemu-system-x86_64 and virtiofsd are there");
	else if (!qemu)
		note(f, distribution()->qemu, "no qemu-system-x86_64 in PATH");
	else
		note(f, distribution()->virtiofsd, "no virtiofsd");
}

static void look_kvm(struct machine_fact *f)
{
	int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC), vm = -1;

	if (fd < 0 && errno == ENOENT)
		note(f, "switch virtualisation on in the firmware, or nested virtualisation in the host",
		     "no /dev/kvm: the machine is emulated (about 10 times slower)");
	else if (fd < 0)
		note(f, "add the user to the group kvm", "/dev/kvm: %s: the machine is emulated (about 10 times slower)",
		     strerror(errno));
	else if (!access("/sys/module/kvm_pvm", F_OK))
		note(f, "", "/dev/kvm is PVM, which runs only kernels made for it: the machine is emulated");
	else if (ioctl(fd, KVM_GET_API_VERSION, 0) != KVM_API_VERSION || (vm = ioctl(fd, KVM_CREATE_VM, 0)) < 0)
		note(f, "see the kernel's log", "/dev/kvm cannot make a machine (%s): it is emulated", strerror(errno));
	else
		snprintf(f->found, sizeof(f->found), "/dev/kvm makes machines (tools/vm tries a boot, once)");
	if (vm >= 0)
		close(vm);
	if (fd >= 0)
		close(fd);
}

static void look_cached_kernel(struct machine_fact *f)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char pattern[4096];
	glob_t g = { 0 };
	size_t n;

	if (cache && cache[0])
		snprintf(pattern, sizeof(pattern), "%s/zugzwang/kernel-*[0-9]", cache);
	else
		snprintf(pattern, sizeof(pattern), "%s/.cache/zugzwang/kernel-*[0-9]", home ? home : "");
	if (glob(pattern, 0, NULL, &g) || !g.gl_pathc) {
		note(f, "tools/kernel of zugzwang's source (on Debian)",
		     "no kernel has been fetched yet; tools/vm does it when it is first used");
		globfree(&g);
		return;
	}
	snprintf(f->found, sizeof(f->found), "kernels that were fetched:");
	for (size_t i = 0; i < g.gl_pathc; i++) {
		n = strlen(f->found);
		snprintf(f->found + n, sizeof(f->found) - n, " %s", strrchr(g.gl_pathv[i], '-') + 1);
	}
	globfree(&g);
}

/* ---- the table ---- */

static const struct {
	const char *name;
	enum machine_part part;
	bool at_start;		/* takes no time: every start looks */
	void (*look)(struct machine_fact *f);
} facts[] = {
	{ "sched_ext", MACHINE_NEEDED, true, look_sched_ext },
	{ "types", MACHINE_NEEDED, true, look_btf },
	{ "kernel", MACHINE_NEEDED, false, look_functions },
	{ "lockdown", MACHINE_NEEDED, true, look_lockdown },
	{ "privileges", MACHINE_NEEDED, true, look_privileges },
	{ "cgroup", MACHINE_NEEDED, true, look_cgroup },
	{ "scheduler", MACHINE_NEEDED, true, look_scheduler },
	{ "descriptors", MACHINE_NEEDED, true, look_descriptors },
	{ "breakpoints", MACHINE_USEFUL, false, look_breakpoints },
	{ "cpus", MACHINE_USEFUL, false, look_cpus },
	{ "qemu", MACHINE_VIRTUAL, false, look_qemu },
	{ "kvm", MACHINE_VIRTUAL, false, look_kvm },
	{ "kernels", MACHINE_VIRTUAL, false, look_cached_kernel },
};

#define NR_FACTS (sizeof(facts) / sizeof(facts[0]))

int machine_look(unsigned int i, struct machine_fact *f)
{
	if (i >= NR_FACTS)
		return -ENOENT;
	memset(f, 0, sizeof(*f));
	f->name = facts[i].name;
	f->part = facts[i].part;
	facts[i].look(f);
	return 0;
}

int machine_check(char *err, size_t errlen)
{
	struct machine_fact f;

	for (unsigned int i = 0; i < NR_FACTS; i++) {
		if (!facts[i].at_start)
			continue;
		memset(&f, 0, sizeof(f));
		facts[i].look(&f);
		if (f.verdict != MACHINE_BAD)
			continue;
		snprintf(err, errlen, "%s: %s", f.found, f.fix);
		return f.error;
	}
	return 0;
}
