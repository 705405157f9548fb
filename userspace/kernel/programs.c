/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * programs.c - loading the BPF object, pinning what came of it, and taking it again
 *
 * Read programs.h first. programs_open() tries take_kept() and then load(). A folder of pinned programs is complete when
 * it has its name: it is filled under another one. What the maps hold when they are taken is of an earlier process, which
 * may have been killed: set_back() leaves nothing of it but numbers that must not come twice.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "kernel/machine.h"
#include "kernel/programs.h"
#include "kernel/syscalls.h"
#include "lib/label.h"
#include "lib/base/debug.h"
#include "lib/base/hash.h"
#include "lib/base/rights.h"
#include "zug.skel.h"

#define BPFFS		"/sys/fs/bpf"
#define BPFFS_MAGIC	0xcafe4a11
#define FOLDER		"zugzwang"

/* The verifier's figures, not its log. */
#define LOG_STATISTICS	4

#define MAX_DESCRIPTORS	64
#define NAME_LEN	48

/* Elements of a map that are deleted in one go. */
#define BATCH		1024

struct programs {
	struct zug_bpf *own;	/* loaded by this process; else they were taken */
	struct zug_bpf__bss *variables;
	size_t variables_size;	/* of the mapping, where it is ours */
	bool may_write;
	char key[32];		/* the folder's name */
	int folder;		/* locked; -1: none */
	/* of those that were taken; two threads ask while all is being attached */
	pthread_mutex_t lock;
	struct {
		char name[NAME_LEN];
		int fd;
	} taken[MAX_DESCRIPTORS];
	int nr_taken;
};

static char last_words[512];

const char *programs_words(void)
{
	return last_words;
}

/* libbpf explains a failed load on its own channel; keep the first line that looks like the reason. */
static int on_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (getenv("ZUG_LIBBPF_DEBUG"))
		return vfprintf(stderr, fmt, ap);
	if (level != LIBBPF_WARN)
		return 0;
	if (!last_words[0]) {
		vsnprintf(last_words, sizeof(last_words), fmt, ap);
		last_words[strcspn(last_words, "\n")] = 0;
	}
	return 0;
}

/* ---- loading ---- */

/* As is_of_go() of kworld_callers.c says it of a label. What the call itself is labelled may depend on more: SYSCALL. */
static bool may_be_runtimes(unsigned int op)
{
	switch (op) {
	case ZUG_OP_FUTEX_WAIT: case ZUG_OP_FUTEX_WAKE: case ZUG_OP_SLEEP: case ZUG_OP_KILL: case ZUG_OP_FORK:
	case ZUG_OP_SIGACTION: case ZUG_OP_SIGPROCMASK: case ZUG_OP_MMAP: case ZUG_OP_SYSCALL:
		return true;
	}
	return false;
}

/* What the label of such a call acts on (kworld_label_syscall()). */
static enum zug_call_object object_of(const struct syscall_desc *d)
{
	if (d->op == ZUG_OP_SIGACTION || d->op == ZUG_OP_SIGPROCMASK)
		return ZUG_CALL_SIGNAL;
	if (d->op == ZUG_OP_WAITPID)
		return ZUG_CALL_CHILDREN;
	if (d->op == ZUG_OP_END)
		return ZUG_CALL_PARENT;
	if (d->op == ZUG_OP_PIPE || d->op == ZUG_OP_SOCKET || d->op == ZUG_OP_EXEC)
		return ZUG_CALL_ANY;
	if (d->polls)
		return ZUG_CALL_POLLED;
	if (d->path_arg && (d->lease == ZUG_CALL_OPENS || d->lease == ZUG_CALL_PASSES))
		return ZUG_CALL_FILE;
	/* the address to which the socket is bound */
	if (d->op == ZUG_OP_LISTEN)
		return ZUG_CALL_UNKNOWN;
	return d->fd_arg && !d->path_arg ? ZUG_CALL_FD : ZUG_CALL_UNKNOWN;
}

/* What the programs know of system calls, by number. */
static void fill_syscalls(struct zug_syscall *list)
{
	for (unsigned int i = 0; i < syscall_table_nr; i++) {
		const struct syscall_desc *d = &syscall_table[i];
		struct zug_syscall *s = &list[d->nr];

		s->class = d->class;
		s->fd_arg = d->fd_arg;
		s->time_arg = d->time_arg;
		s->time_kind = d->time_kind;
		s->time_abs = d->time_abs;
		s->time_left = d->time_left;
		s->timer = d->timer;
		s->wait_fd = d->wait_fd;
		s->io = d->io;
		s->some = d->some;
		s->sysv = d->sysv;
		s->sock_time = d->sock_time;
		s->polls = d->polls;
		s->path_arg = d->path_arg;
		s->path2_arg = d->path2_arg;
		s->lease = d->lease;
		s->op = syscall_tells(d->op) ? d->op : 0;
		s->runtime = may_be_runtimes(d->op);
		s->object = object_of(d);
		s->writes = !!((d->flags | zug_op_flags(d->op)) & ZUG_L_WRITE);
	}
}

/* The functions of the kernel that zug can do without, and that this kernel has. */
struct hooks {
	bool fifo;	/* else a FIFO that is opened counts as storage: its opener keeps the turn, and lends it */
	bool fault;	/* BPF LSM: --faults and --flows */
};

static void hooks_find(struct hooks *h)
{
	struct btf *btf = btf__load_vmlinux_btf();

	if (!btf)
		return;
	h->fifo = btf__find_by_name_kind(btf, "fifo_open", BTF_KIND_FUNC) > 0;
	h->fault = btf__find_by_name_kind(btf, "bpf_lsm_file_permission", BTF_KIND_FUNC) > 0;
	btf__free(btf);
}

/* Programs at raw tracepoints of system calls run with preemption off: a task can be stopped there (points.bpf.h). */
static bool raw_is_atomic(void)
{
	struct utsname u;

	return !uname(&u) && atoi(u.release) < 7;
}

/* ZUG_DEBUG=tasks:N; 0: not given. */
static int room_for_tasks(void)
{
	const char *tasks = debug_word("tasks:");

	return tasks ? atoi(tasks) : 0;
}

static int load_with(struct programs *p, const struct hooks *has, char *err, size_t errlen)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .kernel_log_level = getenv("ZUG_LIBBPF_DEBUG") ? LOG_STATISTICS : 0);
	struct bpf_program *prog;
	int ret;

	last_words[0] = 0;
	p->own = zug_bpf__open_opts(&opts);
	if (!p->own) {
		ret = -errno;
		snprintf(err, errlen, "cannot open the BPF object: %s", strerror(errno));
		return ret;
	}
	if (p->own->rodata->zug_abi_version != ZUG_ABI_VERSION) {
		snprintf(err, errlen, "the BPF object has ABI version %u, zug has %u: build both again",
			 p->own->rodata->zug_abi_version, ZUG_ABI_VERSION);
		return -EPROTO;
	}
	if (room_for_tasks())
		bpf_map__set_max_entries(p->own->maps.tasks, room_for_tasks());
	fill_syscalls((struct zug_syscall *)p->own->rodata->syscalls);
	/* else the kernel refuses programs that write to a process's memory */
	p->own->rodata->may_write = p->may_write;
	p->own->rodata->stops_at_exit = raw_is_atomic();
	bpf_program__set_autoload(p->own->progs.zug_fifo_open, has->fifo);
	bpf_program__set_autoload(p->own->progs.zug_sys_enter_raw, raw_is_atomic());
	bpf_program__set_autoload(p->own->progs.zug_sys_enter, !raw_is_atomic());
	bpf_object__for_each_program(prog, p->own->obj)
		if (bpf_program__type(prog) == BPF_PROG_TYPE_LSM)
			bpf_program__set_autoload(prog, has->fault);
	ret = zug_bpf__load(p->own);
	if (!ret)
		return 0;
	if (strstr(last_words, "_impl"))
		snprintf(err, errlen, "this kernel cannot load any sched_ext scheduler: its BTF lacks "
			 "the *_impl functions (%s); use Linux 6.16 to 7.0", last_words);
	else
		snprintf(err, errlen, "cannot load the BPF programs: %s%s%s "
			 "(ZUG_LIBBPF_DEBUG=1 shows the verifier's words)", strerror(-ret),
			 last_words[0] ? ": " : "", last_words);
	return ret;
}

static int load(struct programs *p, char *err, size_t errlen)
{
	struct hooks has = { .fifo = true, .fault = true };
	int ret;

	/* to look before would cost more than all the rest: libbpf reads the kernel's types anew */
	ret = load_with(p, &has, err, errlen);
	if (ret == -ESRCH) {
		hooks_find(&has);
		zug_bpf__destroy(p->own);
		ret = load_with(p, &has, err, errlen);
	}
	if (!ret)
		p->variables = p->own->bss;
	return ret;
}

/* ---- the folder ---- */

/* A folder that no other user can have filled; -1: none. */
static int open_folder(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 077)))
		return fd;
	close(fd);
	return -1;
}

/* The folder of all that is kept, which is made if it is not there. -1: there can be none. */
static int open_top(bool make)
{
	struct statfs fs;
	int at, fd;

	/* each start is to show the verifier's words; and programs with another map are no other start's */
	if (getenv("ZUG_LIBBPF_DEBUG") || room_for_tasks() || statfs(BPFFS, &fs) || (uint32_t)fs.f_type != BPFFS_MAGIC)
		return -1;
	at = open(BPFFS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return -1;
	if (make)
		mkdirat(at, FOLDER, 0700);
	fd = open_folder(at, FOLDER);
	close(at);
	return fd;
}

/* All that the verifier has seen. */
static void make_key(struct programs *p)
{
	struct zug_syscall list[ZUG_NR_SYSCALLS] = { 0 };
	uint64_t h;

	fill_syscalls(list);
	h = hash_bytes(HASH_BEGIN, list, sizeof(list));
	h = hash_bytes(h, &p->may_write, sizeof(p->may_write));
	snprintf(p->key, sizeof(p->key), "%.12s%016llx", ZUG_BPF_ID, (unsigned long long)h);
}

static void remove_folder(int top, const char *name)
{
	int fd = open_folder(top, name), copy = fd < 0 ? -1 : dup(fd);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			unlinkat(fd, d->d_name, 0);
	if (dir)
		closedir(dir);
	if (fd >= 0)
		close(fd);
	unlinkat(top, name, AT_REMOVEDIR);
}

/* Removes what other builds of zug have left, unless it is in use. */
static void remove_others(int top, const char *key)
{
	int copy = dup(top), fd;
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *d;

	if (dir)
		rewinddir(dir);
	while (dir && (d = readdir(dir))) {
		if (d->d_name[0] == '.' || !strcmp(d->d_name, key))
			continue;
		fd = open_folder(top, d->d_name);
		if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
			remove_folder(top, d->d_name);
		if (fd >= 0)
			close(fd);
	}
	if (dir)
		closedir(dir);
}

static int pin(int folder, const char *prefix, const char *name, int fd)
{
	LIBBPF_OPTS(bpf_obj_pin_opts, o, .file_flags = BPF_F_PATH_FD, .path_fd = folder);
	char file[NAME_LEN];

	snprintf(file, sizeof(file), "%s%s", prefix, name);
	/* such a file system has no dots in names */
	for (char *c = file; *c; c++)
		if (*c == '.')
			*c = '_';
	return bpf_obj_pin_opts(fd, file, &o) ? -errno : 0;
}

static int pin_all(const struct programs *p, int folder)
{
	const struct bpf_object_skeleton *s = p->own->skeleton;
	struct bpf_program *prog;
	struct bpf_map *map;
	int ret = 0;

	bpf_object__for_each_map(map, p->own->obj)
		if (!ret)
			ret = pin(folder, "m_", map == p->own->maps.bss ? "variables" : bpf_map__name(map),
				  bpf_map__fd(map));
	for (int i = 0; i < s->prog_cnt && !ret; i++) {
		prog = *s->progs[i].prog;
		if (bpf_program__fd(prog) >= 0)
			ret = pin(folder, "p_", s->progs[i].name, bpf_program__fd(prog));
	}
	return ret;
}

void programs_keep(struct programs *p)
{
	char name[48];
	int top, fd;

	if (!p->own || p->folder >= 0)
		return;
	top = open_top(true);
	if (top < 0)
		return;
	remove_others(top, p->key);
	snprintf(name, sizeof(name), "new-%d", getpid());
	fd = mkdirat(top, name, 0700) ? -1 : open_folder(top, name);
	/* locked before it has the name under which it is found */
	if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB) && !pin_all(p, fd) && !renameat(top, name, top, p->key)) {
		p->folder = fd;
	} else {
		remove_folder(top, name);
		if (fd >= 0)
			close(fd);
	}
	close(top);
}

void programs_discard(struct programs *p)
{
	int top = p->folder < 0 ? -1 : open_top(false);

	if (top < 0)
		return;
	remove_folder(top, p->key);
	close(top);
}

/* ---- taking what was kept ---- */

static int take_locked(struct programs *p, const char *file)
{
	LIBBPF_OPTS(bpf_obj_get_opts, o, .file_flags = BPF_F_PATH_FD, .path_fd = p->folder);
	int fd;

	for (int i = 0; i < p->nr_taken; i++)
		if (!strcmp(p->taken[i].name, file))
			return p->taken[i].fd;
	if (p->nr_taken == MAX_DESCRIPTORS)
		return -EMFILE;
	fd = bpf_obj_get_opts(file, &o);
	if (fd < 0)
		return -errno;
	snprintf(p->taken[p->nr_taken].name, NAME_LEN, "%s", file);
	p->taken[p->nr_taken++].fd = fd;
	return fd;
}

static int take(struct programs *p, const char *file)
{
	int fd;
	RIGHTS_RAISED;

	pthread_mutex_lock(&p->lock);
	fd = take_locked(p, file);
	pthread_mutex_unlock(&p->lock);
	return fd;
}

/* Deletes all elements of a hash. */
static int empty(int fd, const struct bpf_map_info *info)
{
	void *keys = malloc((size_t)BATCH * info->key_size), *values = malloc((size_t)BATCH * info->value_size);
	uint32_t at = 0, nr;
	bool first = true;
	int ret = keys && values ? 0 : -ENOMEM;

	while (!ret) {
		nr = BATCH;
		ret = bpf_map_lookup_and_delete_batch(fd, first ? NULL : &at, &at, keys, values, &nr, NULL) ? -errno : 0;
		first = false;
	}
	free(keys);
	free(values);
	/* ENOENT: that was the last one */
	return ret == -ENOENT ? 0 : ret;
}

static int empty_all(struct programs *p)
{
	int copy = dup(p->folder), ret = 0, fd;
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	LIBBPF_OPTS(bpf_obj_get_opts, o, .file_flags = BPF_F_PATH_FD, .path_fd = p->folder);
	struct dirent *d;

	if (!dir)
		return -errno;
	rewinddir(dir);
	while (!ret && (d = readdir(dir))) {
		struct bpf_map_info info = { 0 };
		uint32_t len = sizeof(info);

		if (strncmp(d->d_name, "m_", 2))
			continue;
		fd = bpf_obj_get_opts(d->d_name, &o);
		if (fd < 0 || bpf_map_get_info_by_fd(fd, &info, &len))
			ret = -errno;
		else if (info.type == BPF_MAP_TYPE_HASH || info.type == BPF_MAP_TYPE_LRU_HASH)
			ret = empty(fd, &info);
		if (fd >= 0)
			close(fd);
	}
	closedir(dir);
	return ret;
}

/* The event rings of all sandboxes but the first one, which is always in use. */
static void drop_rings(struct programs *p)
{
	int all = programs_map(p, "events");

	for (uint32_t slot = 1; slot < p->variables->nr_slots; slot++)
		bpf_map_delete_elem(all, &slot);
}

/*
 * The numbers of executions and of address spaces go on: tasks that the last process has left have theirs, and no task
 * may be taken for a member of what comes now.
 */
static int set_back(struct programs *p)
{
	struct zug_bpf__bss *v = p->variables, *clean = calloc(1, sizeof(*clean));

	if (!clean)
		return -ENOMEM;
	clean->mm_counter = v->mm_counter;
	clean->nameless_counter = v->nameless_counter;
	clean->last_round = v->last_round;
	for (unsigned int i = 0; i < ZUG_MAX_SANDBOXES; i++)
		clean->sandboxes[i].run = v->sandboxes[i].run;
	drop_rings(p);
	*v = *clean;
	free(clean);
	return empty_all(p);
}

static int take_kept(struct programs *p)
{
	int top = open_top(false), fd, ret = -ENOENT;
	long page = sysconf(_SC_PAGESIZE);
	void *map;

	if (top < 0)
		return -ENOENT;
	p->folder = open_folder(top, p->key);
	close(top);
	if (p->folder < 0)
		return -ENOENT;
	if (flock(p->folder, LOCK_EX | LOCK_NB))
		goto fail;
	fd = take(p, "m_variables");
	ret = fd;
	if (fd < 0)
		goto fail;
	p->variables_size = (sizeof(*p->variables) + page - 1) / page * page;
	map = mmap(NULL, p->variables_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ret = map == MAP_FAILED ? -errno : 0;
	if (ret)
		goto fail;
	p->variables = map;
	ret = set_back(p);
	if (!ret)
		return 0;
	munmap(map, p->variables_size);
	p->variables = NULL;
fail:
	close(p->folder);
	p->folder = -1;
	while (p->nr_taken)
		close(p->taken[--p->nr_taken].fd);
	return ret;
}

int programs_open(struct programs **out, char *err, size_t errlen)
{
	struct programs *p = *out = calloc(1, sizeof(*p));
	int ret;

	if (!p)
		return -ENOMEM;
	libbpf_set_print(on_libbpf);
	p->folder = -1;
	pthread_mutex_init(&p->lock, NULL);
	p->may_write = !machine_locked_down("integrity");
	make_key(p);
	if (!take_kept(p))
		return 0;
	ret = load(p, err, errlen);
	if (ret) {
		programs_close(p);
		*out = NULL;
	}
	return ret;
}

void programs_close(struct programs *p)
{
	if (!p)
		return;
	if (p->own)
		zug_bpf__destroy(p->own);
	else if (p->variables)
		munmap(p->variables, p->variables_size);
	while (p->nr_taken)
		close(p->taken[--p->nr_taken].fd);
	if (p->folder >= 0)
		close(p->folder);
	free(p);
}

struct zug_bpf__bss *programs_variables(struct programs *p)
{
	return p->variables;
}

int programs_fd(struct programs *p, const char *name)
{
	struct bpf_program *prog;
	char file[NAME_LEN];
	int fd;

	if (!p->own) {
		snprintf(file, sizeof(file), "p_%s", name);
		return take(p, file);
	}
	prog = bpf_object__find_program_by_name(p->own->obj, name);
	fd = prog ? bpf_program__fd(prog) : -1;
	return fd < 0 ? -ENOENT : fd;
}

int programs_map(struct programs *p, const char *name)
{
	char file[NAME_LEN];
	int fd;

	if (!p->own) {
		snprintf(file, sizeof(file), "m_%s", name);
		return take(p, file);
	}
	fd = bpf_object__find_map_fd_by_name(p->own->obj, name);
	return fd < 0 ? -ENOENT : fd;
}

bool programs_may_write(const struct programs *p)
{
	return p->may_write;
}

int programs_attach_ops(struct programs *p)
{
	struct bpf_link *link;
	int fd;

	if (!p->own) {
		fd = programs_map(p, "zug_ops");
		fd = fd < 0 ? fd : bpf_link_create(fd, 0, BPF_STRUCT_OPS, NULL);
		return fd < 0 ? -errno : fd;
	}
	/* the map gets its value, too */
	link = bpf_map__attach_struct_ops(p->own->maps.zug_ops);
	if (!link)
		return -errno;
	fd = fcntl(bpf_link__fd(link), F_DUPFD_CLOEXEC, 0);
	fd = fd < 0 ? -errno : fd;
	bpf_link__destroy(link);
	return fd;
}
