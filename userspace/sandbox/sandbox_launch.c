/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sandbox_launch.c - starts an execution
 *
 * sandbox_launch() creates the first process in the cgroup. That process enters the environment,
 * the sandbox and the scheduling class, and executes the test's program (child_main()). Two pipes
 * connect it with the parent, which runs --setup and opens the watchpoints while the child waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "lib/base/descriptors.h"
#include "lib/base/rights.h"
#include "lib/base/run_user.h"
#include "kernel/lane_watch.h"
#include "sandbox/sandbox_internal.h"
#include "sandbox/sandbox_template.h"

#define SPAWN_TRIES 5000		/* a millisecond apart, the first ones less */
#define SPAWN_SHORT 100
#define PLACED_TRIES 1000000

struct child {
	struct sandbox *s;
	const struct launch *l;
	uint32_t task;
	pid_t pid;		/* in our pid namespace */
	bool placed;		/* its parent has done what it can */
	int ready, go;		/* pipes: the child says that it waits; the parent lets it go on */
	int err;		/* set by the child when it fails */
	const char *stage;	/* what it does, or was doing when it failed */
	sigset_t mask;
};

/* Scheduling calls that pass the filter (sandbox_space.c). 0, or -1 with errno. */
static int set_affinity(const struct sandbox *s, pid_t pid, bool all)
{
	cpu_set_t cpus;

	memset(&cpus, all ? 0xff : 0, sizeof(cpus));
	CPU_SET(s->lane, &cpus);
	return syscall(SYS_sched_setaffinity, pid, sizeof(cpus), &cpus, 0, 0, s->env.space->magic) < 0 ? -1 : 0;
}

static int set_class(const struct sandbox *s)
{
	struct sched_param sp = { 0 };

	return syscall(SYS_sched_setscheduler, 0, SCHED_EXT_POLICY, &sp, 0, 0, s->env.space->magic) ? -1 : 0;
}

/*
 * In the child: on another CPU a busy program of a higher class could keep it from running for ever.
 * Its parent has moved it to the lane, where that was cheap.
 */
static int reach_lane(struct child *c)
{
	for (int i = 0; !__atomic_load_n(&c->placed, __ATOMIC_ACQUIRE); i++) {
		if (i == PLACED_TRIES) {
			errno = ETIME;
			return -1;
		}
		sched_yield();
	}
	return sched_getcpu() == c->s->lane ? 0 : set_affinity(c->s, 0, false);
}

/* The child shares our memory but nothing else: no malloc, no stdio from here on. */
static int child_main(void *arg)
{
	struct child *c = arg;
	const struct launch *l = c->l;
	const bool theirs = rights_user();	/* whose folder is looked up with the user's rights */
	struct zug_ctl ctl = { .cmd = ZUG_CMD_ADOPT, .sandbox = c->s->slot };
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = &ctl, .ctx_size_in = sizeof(ctl));
	char byte = 0;

#define DO(what, call) do { c->stage = what; if (call) goto fail; } while (0)
	/* those with a handler have none any more (spawn()) */
	for (int sig = 1; sig < 64; sig++)
		if (c->s->ignored >> sig & 1)
			signal(sig, SIG_DFL);
	sigprocmask(SIG_SETMASK, &c->mask, NULL);
	descriptors_restore();
	/* when we die, the test must not go on without control; in a pid namespace it dies with our pid 1 */
	if (!(c->s->o.own & SANDBOX_PIDS))
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (c->s->killed)
		DO("join the cgroup", write(c->s->procs_fd, "0", 1) < 0);
	if (c->s->o.own & SANDBOX_PIDS && !c->s->env.space->in_cgroup)
		DO("make a cgroup namespace", unshare(CLONE_NEWCGROUP));
	if (!theirs)
		DO(l->cwd, chdir(l->cwd));
	if (c->s->o.setup || c->s->o.teardown) {
		DO("report to zug", write(c->ready, &byte, 1) != 1);
		DO("wait for --setup", read(c->go, &byte, 1) != 1);
	}
	DO("reset the pids", sandbox_environment_reset_pids(c->s));
	DO("start a session", setsid() < 0);
	DO("set up stdin", dup2(l->in, 0) < 0);
	DO("set up stdout", dup2(l->out, 1) < 0);
	DO("set up stderr", dup2(l->err, 2) < 0);
	DO("close descriptors", close_range(3, ~0u, CLOSE_RANGE_CLOEXEC));
	/* to clear a huge page takes longer than to run a small test */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	if (!l->randomise)
		personality(ADDR_NO_RANDOMIZE);
	ctl.pid = c->pid;
	c->stage = "join the sandbox";
	if (bpf_prog_test_run_opts(kernel_ctl_fd(c->s->k), &o))
		goto fail;
	if (ctl.ret) {
		errno = -ctl.ret;
		goto fail;
	}
	c->task = ctl.task;
	DO("move to the lane", reach_lane(c));
	DO("enter the scheduling class", set_class(c->s));
	/* the daemon keeps off the lane, and the test must not inherit that mask */
	DO("allow all CPUs", set_affinity(c->s, 0, true));
	if (l->nr_watches || l->traced) {
		DO("report to zug", write(c->ready, &byte, 1) != 1);
		DO("wait for watchpoints", read(c->go, &byte, 1) != 1);
	}
	DO("take on the rights of the user", c->s->o.user ? run_user_become(c->s->o.user) : run_user_remain());
	/* a change of user ends it */
	if (!(c->s->o.own & SANDBOX_PIDS))
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (theirs)
		DO(l->cwd, chdir(l->cwd));
	c->stage = NULL;
	execve(l->file, l->argv, l->envp);
	c->stage = l->file;
fail:
	c->err = errno;
	_exit(127);
#undef DO
}

/*
 * Creates the child on its own stack, in the cgroup (to move there later waits for RCU), with our
 * memory (a fork would copy the page tables of all symbol files for every execution). The C library
 * has no call for that. Linux (6.18) kills a process at once that is created in a cgroup which was
 * killed as a whole from outside (it compares the kill counts of two cgroups): then the child moves
 * there itself.
 */
static pid_t spawn_child(struct sandbox *s, struct child *c)
{
	const pid_t number = 2;	/* 1 is ours */
	struct clone_args a = { .flags = CLONE_VM | CLONE_INTO_CGROUP | CLONE_PARENT_SETTID | CLONE_CLEAR_SIGHAND,
				.exit_signal = SIGCHLD, .parent_tid = (uintptr_t)&c->pid,
				.stack = (uintptr_t)s->stack, .stack_size = CHILD_STACK,
				.cgroup = s->cgroup_fd };

	if (s->env.pid_ns >= 0) {
		a.set_tid = (uintptr_t)&number;
		a.set_tid_size = 1;
	}
	if (s->killed) {
		a.flags &= ~CLONE_INTO_CGROUP;
		a.cgroup = 0;
	}
	register struct child *arg __asm__("r12") = c;
	register int (*fn)(void *) __asm__("r13") = child_main;
	long ret;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %[arg], %%rdi\n\t"
			 "call *%[fn]\n\t"
			 "ud2\n"
			 "1:"
			 : "=a"(ret)
			 : "a"(SYS_clone3), "D"(&a), "S"(sizeof(a)), [arg] "r"(arg), [fn] "r"(fn)
			 : "rcx", "r11", "memory");
	if (ret < 0) {
		errno = -ret;
		return -1;
	}
	return ret;
}

/* As set_affinity() to the lane alone, without errno: the child, which shares our memory, uses it. */
static void place(const struct space *p, pid_t pid)
{
	register unsigned long none __asm__("r10") = 0, nothing __asm__("r8") = 0, magic __asm__("r9") = p->magic;
	cpu_set_t cpus;
	long ret = SYS_sched_setaffinity;

	CPU_ZERO(&cpus);
	CPU_SET(p->s->lane, &cpus);
	__asm__ volatile("syscall" : "+a"(ret)
			 : "D"((long)pid), "S"(sizeof(cpus)), "d"(&cpus), "r"(none), "r"(nothing), "r"(magic)
			 : "rcx", "r11", "memory");
}

/*
 * In the thread of the environment. From the child's birth to its exec the thread makes no call that
 * sets errno: that is the child's.
 */
static void spawn(struct space *p, void *arg)
{
	struct child *c = arg;

	if (space_enter(p, &c->stage)) {
		c->err = errno;
		return;
	}
	/*
	 * Linux (6.15) frees the pid of a dead process only after the process has gone from the
	 * list of processes
	 */
	for (int tries = 0; tries < SPAWN_TRIES; tries++) {
		if (spawn_child(p->s, c) >= 0) {
			/* a task that is runnable, but does not run yet, is moved at once */
			place(p, c->pid);
			__atomic_store_n(&c->placed, true, __ATOMIC_RELEASE);
			return;
		}
		if (errno != EEXIST)
			break;
		usleep(tries < SPAWN_SHORT ? 50 : 1000);
	}
	c->stage = "create a process";
	c->err = errno;
}

/*
 * Waits for the child. 1: it waits for us; 0: it has executed the program, or is dead; -EBUSY: it
 * cannot run, see err.
 */
static int hear(struct sandbox *s, int fd, pid_t pid, char *err, size_t errlen)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct lane_watch w;
	char byte;

	lane_watch_reset(&w);
	while (!poll(&p, 1, 1000))
		if (lane_watch_look(&w, s->lane, pid, err, errlen)) {
			/* in the normal class it can run, and die */
			kill(pid, SIGKILL);
			sched_setscheduler(pid, SCHED_OTHER, &(struct sched_param){ 0 });
			return -EBUSY;
		}
	return read(fd, &byte, 1) == 1;
}

static int open_watches(struct sandbox *s, const struct launch *l, pid_t pid, char *err, size_t errlen)
{
	for (unsigned int i = 0; i < l->nr_watches; i++) {
		int fd = kernel_open_watch(s->k, i, pid, l->watch_write_only);

		if (fd < 0) {
			snprintf(err, errlen, "cannot set a hardware breakpoint: %s", strerror(-fd));
			return fd;
		}
		/*
		 * closing the descriptor ends the watchpoint, also in the tasks that inherited it
		 */
		s->watch_fds[s->nr_watch_fds++] = fd;
	}
	return 0;
}

/* 0: the child has executed the program; else -errno with a line in err. */
static int child_result(const struct child *c, char *err, size_t errlen)
{
	if (c->err) {
		if (c->stage == c->l->file)
			snprintf(err, errlen, "cannot execute %s: %s", c->l->file, strerror(c->err));
		else if (c->stage == c->l->cwd)
			snprintf(err, errlen, "cannot change to %s: %s", c->l->cwd, strerror(c->err));
		else
			snprintf(err, errlen, "cannot set up the test: cannot %s: %s",
				 c->stage ? c->stage : "start", strerror(c->err));
		return -c->err;
	}
	if (c->stage) {
		snprintf(err, errlen, "the test was killed before it could start (%s)", c->stage);
		return -ECHILD;
	}
	return 0;
}

/* When the machine has no memory left, the test is to end, and not what the kernel finds largest. */
static void die_first(pid_t pid)
{
	char path[48];
	int fd;
	RIGHTS_RAISED;

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	/* without the right to (which root always has) it stays as it is */
	if (write(fd, "1000", 4) < 0)
		errno = 0;
	close(fd);
}

pid_t sandbox_launch(struct sandbox *s, const struct launch *l, uint32_t *task,
		     char *err, size_t errlen)
{
	struct child c = { .s = s, .l = l, .stage = "begin" };
	int up[2] = { -1, -1 }, down[2] = { -1, -1 };
	const bool waits = s->o.setup || s->o.teardown || l->nr_watches || l->traced;
	pid_t pid = -1;
	int ret;

	s->template.file_looks_lost = true;
	if (pipe2(up, O_CLOEXEC) || (waits && pipe2(down, O_CLOEXEC))) {
		ret = -errno;
		snprintf(err, errlen, "cannot create a pipe: %s", strerror(errno));
		goto out;
	}
	c.ready = up[1];
	c.go = down[0];
	sigprocmask(SIG_SETMASK, NULL, &c.mask);
	space_do(s->env.space, spawn, &c);
	space_wait(s->env.space);
	pid = c.pid;
	if (pid <= 0) {
		/* of what clone3() is given only the cgroup can be gone: not the command is wrong */
		ret = c.err == ENOENT ? -EIO : -c.err;
		snprintf(err, errlen, "cannot %s in the cgroup %s: %s", c.stage, s->cgroup, strerror(c.err));
		goto out;
	}
	close(up[1]);
	up[1] = -1;
	ret = 0;
	if (s->o.setup || s->o.teardown)
		ret = hear(s, up[0], pid, err, errlen);
	if (ret > 0) {
		ret = sandbox_set_up(s, l, pid, err, errlen);
		if (ret || write(down[1], "g", 1) != 1)
			kill(pid, SIGKILL);
	}
	if (!ret)
		ret = hear(s, up[0], pid, err, errlen);
	if (ret > 0) {
		ret = l->traced ? sandbox_template_trace(pid, err, errlen) : open_watches(s, l, pid, err, errlen);
		if (ret || write(down[1], "g", 1) != 1)
			kill(pid, SIGKILL);
		if (!ret && hear(s, up[0], pid, err, errlen) < 0)
			ret = -EBUSY;
	}
	if (!ret)
		ret = child_result(&c, err, errlen);
	if (!ret)
		die_first(pid);
	*task = c.task;
	if (ret)
		waitpid(pid, NULL, 0);
	else
		sandbox_environment_began(s, pid);
out:
	for (int i = 0; i < 2; i++) {
		if (up[i] >= 0)
			close(up[i]);
		if (down[i] >= 0)
			close(down[i]);
	}
	return ret ? ret : pid;
}
