/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * keeps.c - a program that a copy could betray: it keeps what a fork changes, or changes what happens at a fork, before its
 * first point; then two threads use a lock, and it looks whether all is as it was
 *
 * keeps KIND...: pid, atfork, uring, memfd, shared, parent-death, no-parent-death, filter, traced, timer, pending, locked
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pid_t pid, sid, tid;
static volatile int handled;
static int forks;
static char *shared, *locked;
static int memfd = -1, uring;

static void on_fork(void)
{
	forks++;
}

static void on_signal(int sig)
{
	handled += sig == SIGUSR1;
}

static void *work(void *arg)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&m);
		pthread_mutex_unlock(&m);
	}
	return arg;
}

/* setsid() is not there: a template's copies would have needed it. */
static int forbid(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setsid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static void begin(const char *kind)
{
	struct itimerval far = { .it_value.tv_sec = 1000 };
	struct rlimit none = { 0, 0 };
	sigset_t set;

	if (!strcmp(kind, "pid")) {
		pid = getpid();
		sid = getsid(0);
		tid = gettid();
	} else if (!strcmp(kind, "atfork")) {
		pthread_atfork(on_fork, on_fork, on_fork);
	} else if (!strcmp(kind, "uring")) {
		uring = syscall(SYS_io_uring_setup, 1, NULL) < 0 ? errno : -1;
	} else if (!strcmp(kind, "memfd")) {
		memfd = memfd_create("memfd", 0);
		assert(!ftruncate(memfd, 4096));
		shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	} else if (!strcmp(kind, "shared")) {
		shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	} else if (!strcmp(kind, "parent-death")) {
		assert(!prctl(PR_SET_PDEATHSIG, SIGUSR2));
	} else if (!strcmp(kind, "filter")) {
		assert(!forbid());
	} else if (!strcmp(kind, "traced")) {
		assert(!ptrace(PTRACE_TRACEME, 0, 0, 0));
	} else if (!strcmp(kind, "timer")) {
		assert(!setitimer(ITIMER_REAL, &far, NULL));
	} else if (!strcmp(kind, "pending")) {
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		signal(SIGUSR1, on_signal);
		sigprocmask(SIG_BLOCK, &set, NULL);
		raise(SIGUSR1);
	} else if (!strcmp(kind, "locked")) {
		locked = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0);
		assert(!setrlimit(RLIMIT_CORE, &none));
	}
}

static void look(const char *kind)
{
	struct itimerval far;
	char path[64], line[256];
	int sig = -1, kb = 0;
	sigset_t set;
	FILE *f;

	if (!strcmp(kind, "pid"))
		assert(pid == 2 && pid == getpid() && sid == getsid(0) && tid == gettid() && getpgrp() == sid);
	else if (!strcmp(kind, "atfork"))
		assert(!forks);
	else if (!strcmp(kind, "uring"))
		assert(uring == ENOSYS);
	else if (!strcmp(kind, "memfd") || !strcmp(kind, "shared"))
		assert(shared != MAP_FAILED && shared[0]++ == 0);
	else if (!strcmp(kind, "parent-death"))
		assert(!prctl(PR_GET_PDEATHSIG, &sig) && sig == SIGUSR2);
	else if (!strcmp(kind, "no-parent-death"))
		assert(!prctl(PR_GET_PDEATHSIG, &sig) && sig == 0);
	else if (!strcmp(kind, "filter"))
		assert(prctl(PR_GET_SECCOMP) == SECCOMP_MODE_FILTER);
	else if (!strcmp(kind, "traced"))
		assert(ptrace(PTRACE_TRACEME, 0, 0, 0) == -1 && errno == EPERM);
	else if (!strcmp(kind, "timer"))
		assert(!getitimer(ITIMER_REAL, &far) && far.it_value.tv_sec >= 900);
	else if (!strcmp(kind, "pending"))
		assert(!sigpending(&set) && sigismember(&set, SIGUSR1) && !handled);
	if (locked) {
		snprintf(path, sizeof(path), "/proc/self/status");
		f = fopen(path, "r");
		while (f && fgets(line, sizeof(line), f))
			sscanf(line, "VmLck: %d", &kb);
		assert(f && kb >= 4);
		fclose(f);
	}
}

int main(int argc, char **argv)
{
	pthread_t t[2];

	for (int i = 1; i < argc; i++)
		begin(argv[i]);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	for (int i = 1; i < argc; i++)
		look(argv[i]);
	return 0;
}
