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
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "kernel/lane_watch.h"
#include "kernel/machine.h"
#include "sandbox/sandbox_internal.h"
#include "sandbox/sandbox_template.h"

#define SPAWN_TRIES 5000		/* a millisecond apart */

struct child {
	struct sandbox *s;
	const struct launch *l;
	uint32_t task;
	pid_t pid;		/* in our pid namespace */
	int ready, go;		/* pipes: the child says that it waits; the parent lets it go on */
	int err;		/* set by the child when it fails */
	const char *stage;	/* what it does, or was doing when it failed */
	sigset_t mask;
};

/* A test must not change its scheduling: these calls succeed and do nothing. */
static int install_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 6),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setscheduler, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setparam, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setattr, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 1),
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

/* The child shares our memory but nothing else: no malloc, no stdio from here on. */
static int child_main(void *arg)
{
	struct child *c = arg;
	const struct launch *l = c->l;
	struct sched_param sp = { 0 };
	struct zug_ctl ctl = { .cmd = ZUG_CMD_ADOPT, .sandbox = c->s->slot };
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = &ctl, .ctx_size_in = sizeof(ctl));
	cpu_set_t cpus;
	char byte = 0;

#define DO(what, call) do { c->stage = what; if (call) goto fail; } while (0)
	for (int sig = 1; sig < 64; sig++)
		if (sig != SIGKILL && sig != SIGSTOP)
			signal(sig, SIG_DFL);
	sigprocmask(SIG_SETMASK, &c->mask, NULL);
	/* when we die, the test must not go on without control */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (c->s->killed)
		DO("join the cgroup", write(c->s->procs_fd, "0", 1) < 0);
	if (sandbox_environment_enter(c->s, &c->stage))
		goto fail;
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
	/* on another CPU a busy program of a higher class could keep it from running for ever */
	memset(&cpus, 0, sizeof(cpus));
	CPU_SET(c->s->lane, &cpus);
	DO("move to the lane", sched_setaffinity(0, sizeof(cpus), &cpus));
	DO("enter the scheduling class", sched_setscheduler(0, SCHED_EXT_POLICY, &sp));
	/* the daemon keeps off the lane, and the test must not inherit that mask */
	memset(&cpus, 0xff, sizeof(cpus));
	DO("allow all CPUs", sched_setaffinity(0, sizeof(cpus), &cpus));
	DO("filter scheduling calls", install_filter());
	DO("refuse io_uring", refuse_io_uring());
	if (l->nr_watches) {
		DO("report to zug", write(c->ready, &byte, 1) != 1);
		DO("wait for watchpoints", read(c->go, &byte, 1) != 1);
	}
	if (l->traced)
		DO("be traced", ptrace(PTRACE_TRACEME, 0, NULL, NULL));
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
	struct clone_args a = { .flags = CLONE_VM | CLONE_INTO_CGROUP | CLONE_PARENT_SETTID,
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

pid_t sandbox_launch(struct sandbox *s, const struct launch *l, uint32_t *task,
		     char *err, size_t errlen)
{
	struct child c = { .s = s, .l = l, .stage = "begin" };
	int up[2] = { -1, -1 }, down[2] = { -1, -1 };
	sigset_t all;
	pid_t pid = -1;
	int ret;

	if (s->template.file_looks)
		sandbox_template_drop(s);
	ret = sandbox_show_cpus(s);
	if (ret) {
		snprintf(err, errlen, "cannot show the test %d CPUs: %s%s", s->o.nr_cpus, strerror(-ret),
			 ret == -EPERM && machine_locked_down("integrity") ?
			 ": the kernel is locked down (secure boot); leave --cpus out" : "");
		return ret;
	}
	if (pipe2(up, O_CLOEXEC) || pipe2(down, O_CLOEXEC)) {
		ret = -errno;
		snprintf(err, errlen, "cannot create a pipe: %s", strerror(errno));
		goto out;
	}
	c.ready = up[1];
	c.go = down[0];
	if (s->env.scratch >= 0)
		sandbox_environment_end(s);
	ret = sandbox_environment_prepare(s);
	if (!ret)
		ret = sandbox_environment_spawn_inside(s, true);
	if (ret) {
		snprintf(err, errlen, "cannot create the test's environment: %s", strerror(-ret));
		goto out;
	}
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &c.mask);
	/*
	 * Linux (6.15) frees the pid of a dead process only after the process has gone from the
	 * list of processes
	 */
	for (int tries = 0; tries < SPAWN_TRIES; tries++) {
		pid = spawn_child(s, &c);
		ret = -errno;
		if (pid >= 0 || ret != -EEXIST)
			break;
		usleep(1000);
	}
	sandbox_environment_spawn_inside(s, false);
	sigprocmask(SIG_SETMASK, &c.mask, NULL);
	if (pid < 0) {
		snprintf(err, errlen, "cannot create a process: %s", strerror(-ret));
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
		ret = open_watches(s, l, pid, err, errlen);
		if (ret || write(down[1], "g", 1) != 1)
			kill(pid, SIGKILL);
		if (!ret && hear(s, up[0], pid, err, errlen) < 0)
			ret = -EBUSY;
	}
	if (!ret)
		ret = child_result(&c, err, errlen);
	*task = c.task;
	if (ret)
		waitpid(pid, NULL, 0);
out:
	for (int i = 0; i < 2; i++) {
		if (up[i] >= 0)
			close(up[i]);
		if (down[i] >= 0)
			close(down[i]);
	}
	return ret ? ret : pid;
}
