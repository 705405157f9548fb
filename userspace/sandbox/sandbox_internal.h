/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sandbox_internal.h - inside of sandbox.h: the state of a sandbox, and the functions that its
 * files have for each other
 */
#ifndef ZUG_SANDBOX_INTERNAL_H
#define ZUG_SANDBOX_INTERNAL_H

#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/user.h>
#include "sandbox/sandbox.h"

#define CGROUP_ROOT "/sys/fs/cgroup"
#define SCHED_EXT_POLICY 7
#define CHILD_STACK (64 * 1024)		/* bytes; of a child before its exec */
#define CHILD_GUARD 65536		/* bytes below it that cannot be touched */
#define SANDBOX_MAX_STRAYS 64

#define SANDBOX_MAX_KEPT 64		/* mounts below a private folder */
#define SANDBOX_MAX_FOLDERS 4		/* private folders */
#define SANDBOX_NR_NS 4

/* A folder over which each execution has an overlay of its own. */
struct private_folder {
	char *path;
	struct stat st;
	char **keep;		/* mounts below it that the test sees as they are */
	int nr_keep;
	size_t keep_room;
};

/* A folder that an execution finds in a memory file system of ours. */
struct space_folder {
	int at;			/* descriptor; the name is relative to it, or empty */
	char *name;
	char *seen;		/* its path in an overlay; NULL: it is in none */
	struct stat st;
};

enum { SPACE_MNT, SPACE_IPC, SPACE_UTS, SPACE_NR_NS };

/* What a space was made of. When that is something else, the next execution needs another one. */
struct space_origin {
	unsigned int generation;	/* of the mounts that all executions see */
	struct stat lower[SANDBOX_MAX_FOLDERS];	/* the private folders themselves */
};

/*
 * The namespaces and file systems that an execution has for itself, and the thread that has made
 * them. It stays inside, and creates the first process of each execution.
 */
struct space {
	struct sandbox *s;
	pthread_t thread;
	pthread_mutex_t lock;	/* guards what is between here and the next comment */
	pthread_cond_t changed;
	bool busy, ends;
	void (*fn)(struct space *p, void *arg);
	void *arg;
	/* of the thread while it is busy, of the others while it is not */
	const char *failed;	/* what could not be made, and why; NULL: nothing */
	int err;
	uint64_t magic;		/* lets a scheduling call pass its filter */
	bool want_net;		/* it makes a network namespace, too */
	int own;		/* folder of its namespaces in /proc */
	int mnt_ns, ipc_ns;	/* -1: --world leaves it out */
	int files, shm, mqueue;	/* file systems: of private folders, /dev/shm, /dev/mqueue; -1: none */
	int net;		/* network namespace in which the thread is; -1: the machine's */
	int next_net;		/* one that it has made; -1: none */
	bool in_cgroup;		/* it is in the cgroup namespace */
	struct space_folder *folder;
	int nr_folders;
	size_t folder_room;
	uint64_t begun_ns, done_ns;	/* CLOCK_REALTIME: times of its folders are between; 0: it has none */
	struct space_origin origin;
	bool known;		/* `was` says what it was like before its first execution */
	struct zug_environment was;
};

struct environment {
	pid_t init;		/* pid 1 of the test's pid namespace; 0: the test has none */
	int init_fd, pid_ns, own_pid_ns;
	bool asked;		/* init has not answered yet */
	int last_pid;		/* the pid namespace's file with its last pid; -1: none */
	int cgroup_ns;		/* -1: the next execution's first process makes it */
	struct space *space;	/* of the running execution, or of the last one; NULL: none */
	struct space *spare;	/* for the next one, if it needs another */
	struct space *old;	/* ends */
	int net;		/* the network namespace of that execution; -1: none */
	unsigned int nr_nets, nr_spaces;	/* so far: the numbers of that execution's network and space */
	unsigned int init_net, init_space;	/* the numbers of those in which init is; 0: in its own */
	uint32_t used;		/* ZUG_ENV_*: what an execution may have changed there */
	bool in_use;		/* an execution has begun, and what it has changed was not looked for yet */
	bool fresh;		/* the next execution has the last one's environment, or another one that was made alike */
	bool writes, talks;	/* another space, another network, because of the last execution */
	unsigned int generation;
	bool rebuild;		/* ZUG_DEBUG=rebuild: no environment is used again */
	int ns[SANDBOX_NR_NS];	/* the execution's, for --setup and --teardown; -1: the machine's */
	struct private_folder folder[SANDBOX_MAX_FOLDERS];
	int nr_folders;
	const char *cwd;
	char thrown[PATH_MAX];	/* a file that was thrown away with its environment */
	unsigned int looks;	/* executions that were searched for one */
	bool helpers;		/* --setup may have left processes */
	char note[PATH_MAX + 160];
};

struct private_file {
	char *path, *copy;
};

/* sandbox_template.c */
struct sandbox_template {
	pid_t pid;		/* 0: none */
	struct user_regs_struct at;	/* with which executions go on */
	uint64_t insn;		/* the address of a system call instruction */
	uint64_t tid_address, robust_list, robust_len;	/* of the first thread; 0: none */
	uint64_t loader, loader_end;	/* code of the dynamic loader; 0: none */
	uint64_t other, other_end;	/* a mapping that is none of its; 0: none */
	struct zug_file_look *file_looks;	/* times of files that it was told, nr_file_looks */
	uint32_t nr_file_looks;
	bool file_looks_lost;	/* an execution by exec has overwritten them since */
	unsigned int net, space;	/* the numbers of its network and its space */
	struct space_origin origin;	/* of its space */
	const char *stays;	/* why its copies may have no other space; NULL: they may */
	bool tied;		/* a copy was not allowed to go to another network or space: nor are those of other templates */
	char *cwd;
	bool early;		/* sandbox_template_earlier() */
	bool behind;		/* it stands behind where the search begins: points came before */
	uint32_t moment;	/* the number of the call before which a prototype will stand; 0: not known */
	bool runs;		/* the prototype makes its calls without stops, up to that before it */
	const char *spoilt;	/* why it was dropped; NULL: it was not */
	char failed[96];	/* what spoilt is, where it could not be forked */
};

struct sandbox {
	struct kernel *k;
	unsigned int slot;
	int lane;
	struct sandbox_options o;
	char cgroup[256];
	char files[128];	/* folder of private copies */
	int cgroup_fd, procs_fd, kill_fd, events_fd, stat_fd;
	bool killed;		/* the cgroup was killed as a whole: see spawn_child() */
	int mnt_ns;		/* -1: none yet */
	uint64_t cgid, limit_seen, kills_seen;
	struct private_file *priv;
	int nr_priv;
	size_t priv_room;
	bool borrows;		/* the copies are those of the process that this one was forked from */
	void *stack;
	uint64_t ignored;	/* signals that we ignore, and that the test must not */
	char cpus_file[160];
	int watch_fds[ZUG_MAX_WATCHES];
	int nr_watch_fds;
	int strays[SANDBOX_MAX_STRAYS];	/* pidfds of processes that were killed outside of the cgroup */
	int nr_strays;
	bool left;		/* processes of the test have left the cgroup */
	struct environment env;
	struct sandbox_template template;
};

/* Sets the limit on tasks in the cgroup: the test's, and so many others. */
void sandbox_limit_tasks(const struct sandbox *s, int others);
/* Replaces the files of /sys that tell how many CPUs there are. 0 or -errno. */
int sandbox_show_cpus(struct sandbox *s);

/* Writes a file of /proc or of a cgroup. 0 or -errno. */
int sandbox_write_file(const char *path, const char *text);
/* "+NAME" for the cgroups in sandbox_parent(). 0 or -errno. */
int sandbox_pass_on_controller(const char *name);
/* Of a cgroup, which has the controller. 0 or -errno. */
int sandbox_limit_memory(const char *cgroup, uint64_t memory);
/* Where files are that last as long as a sandbox. */
const char *sandbox_run_folder(void);

/* Empties the state, before anything else. */
void sandbox_environment_reset(struct sandbox *s);
/* Once for a sandbox: finds out what each execution needs. 0, or -errno with a line in err. */
int sandbox_environment_new(struct sandbox *s, char *err, size_t errlen);
void sandbox_environment_free(struct sandbox *s);
/*
 * Must be called for each private copy: it stays visible in the private folder in which it may lie.
 * 0 or -errno.
 */
int sandbox_environment_private_file(struct sandbox *s, const char *path);

/*
 * Waits until no thread makes an environment. The mounts that all executions see may be changed
 * after that; environments that were made before are not used any more.
 */
void sandbox_environment_settle(struct sandbox *s);
/* Once: tries to make an environment. NULL; or what failed, and *err why (errno). */
const char *sandbox_environment_try(struct sandbox *s, int *err);
/* After sandbox_launch(): takes what the first process has made itself, and prepares the next one. */
void sandbox_environment_began(struct sandbox *s, pid_t root);
/*
 * From now on our children are created in the test's pid namespace (or in ours again). 0 or -errno.
 */
int sandbox_environment_spawn_inside(struct sandbox *s, bool inside);
/* In the execution's first process: the next pid is the one after its own. 0, or -1 with errno. */
int sandbox_environment_reset_pids(const struct sandbox *s);
/* What the first process of the pid namespace does for us. 0 or -errno. */
enum environment_request {
	ENVIRONMENT_KILL = 0,		/* kills all others */
	ENVIRONMENT_FIRST_PID,		/* the same, but for a template; the next process gets pid 2 */
	ENVIRONMENT_NEXT_PID,		/* the same, where none is left */
	ENVIRONMENT_HIGH_PID,		/* the next process gets a pid that is used in no execution */
	ENVIRONMENT_ENTER,		/* it enters the namespaces that come along, for sandbox_environment_send() alone */
};
int sandbox_environment_ask(struct sandbox *s, enum environment_request what);
/* Where no process but a template is left: asks for the first pid, and goes on. */
void sandbox_environment_first_pid(struct sandbox *s);
/* Sends the first process to the execution's network, or to its network and its space, and goes on. 0 or -errno. */
int sandbox_environment_send(struct sandbox *s, bool space);
/* Waits until the last thing that was asked for is done. 0, or -errno: it has failed. */
int sandbox_environment_wait(struct sandbox *s);
/*
 * After an execution: kills all processes of its pid namespace, and waits until they are gone. The
 * test's tasks are dead by then, but some may still have their pids, and --setup may have left
 * others.
 */
void sandbox_environment_kill(struct sandbox *s);
/* After the tasks are dead: ends the pids, too, and finds out what the execution has changed. */
void sandbox_environment_end(struct sandbox *s);
/* True when both were made of the same things. */
bool sandbox_same_origin(const struct sandbox *s, const struct space_origin *a, const struct space_origin *b);
/* In sandbox_free(): ends the thread, and frees all environments. */
void sandbox_environment_forget(struct sandbox *s);
/* A file that the execution has changed in its working folder becomes sandbox_thrown(). */
void sandbox_environment_find_thrown(struct sandbox *s);

/* ---- sandbox_space.c ---- */

/* Starts a thread that makes a space, and with `net` a network namespace. NULL: it cannot be started. */
struct space *space_new(struct sandbox *s, bool net);
/* Waits until the thread has done what it was given to do. */
void space_wait(struct space *p);
/* Gives it something to do, which space_wait() waits for. */
void space_do(struct space *p, void (*fn)(struct space *p, void *arg), void *arg);
/* Makes a network namespace: next_net, or failed. For space_do(). */
void space_make_net(struct space *p, void *arg);
/* Enters the network and cgroup namespaces of the next execution. 0, or -1 with errno. For fn. */
int space_enter(struct space *p, const char **stage);
/* Descriptors of what belongs to its mounts, to be closed. Their number, at most SPACE_NR_NS, or -errno. */
int space_open_ns(const struct space *p, int *fds);
/* Ends the thread some time; space_free() waits for that, and frees what is left. NULL is fine. */
void space_end(struct space *p);
void space_free(struct space *p);
/* Waits until what is made in it has a later time. */
void space_wait_for_clock(const struct space *p);
/* False when a folder that an execution finds has other attributes than before its first execution. */
bool space_folders_as_they_were(struct space *p);

bool path_is_below(const char *path, const char *folder);

/* After each execution: drops the template when its environment is not what it was. */
void sandbox_template_look(struct sandbox *s);

/* Runs --setup while the first process of the execution waits. 0, or -errno with a line in err. */
int sandbox_set_up(struct sandbox *s, const struct launch *l, pid_t root, char *err, size_t errlen);

#endif
