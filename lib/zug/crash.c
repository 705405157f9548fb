/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * crash.c - executions that end the process: abort(), faults, exit()
 *
 * The handler of abort() lets the execution fail, and the root goes on: the search, and then the simplest
 * schedule. A fault (SIGSEGV, SIGBUS, SIGFPE, SIGILL) is treated alike, but the memory of the process may be in
 * any state by then, a lock of malloc() may be held, and the root may not get far. So the handler first makes a
 * copy of the process by a bare clone() system call, which runs no handlers of fork(). The copy writes the trace
 * of the execution as it is, with time for that, and says how to repeat it. It can fail, too; then the process
 * is as it was.
 *
 * Handlers run on stacks of their own, for a fault may be the end of a stack. Sanitizers have their own handlers,
 * which say more: where one is, a fault ends the process.
 *
 * exit() cannot be left again. So the trace is written as it was found, and the process ends with a failure.
 * A process that the test has forked has no test: calls of the library do nothing there.
 */
#undef _FORTIFY_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/zug/internal.h"
#include "lib/zug/under.h"

#define STACK	(256u << 10)
#define SECONDS	5		/* for the trace */

static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
#define NR_FAULTS (sizeof(faults) / sizeof(faults[0]))
static struct sigaction abort_before, faults_before[NR_FAULTS];
static void *root_stack;
static stack_t stack_before;
static bool installed, watches;

/* Where the operation was when it ended so: the same text in each execution that ends alike. */
static void set_outcome(const struct operation *me, enum zug_outcome_kind kind, int code, const char *what)
{
	const struct place *p = place_of(z.cands[me->pos].label.site);
	const char *file = p && p->line ? p->file : "its begin";
	int line = p ? p->line : 0;

	end_set(kind, 0, "%s in %s, after the point at %s:%d", what, me->name, file, line);
	z.outcome.code = code;
}

/* The default, now. */
static void die(int signal)
{
	sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	raise(signal);
}

static void write_in_copy(void)
{
	long copy = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	int status;

	if (!copy) {
		for (size_t i = 0; i < NR_FAULTS; i++)
			sigaction(faults[i], &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
		sigaction(SIGALRM, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
		alarm(SECONDS);
		test_write_as_found();
		syscall(SYS_exit_group, 0);
	}
	while (copy > 0 && waitpid((pid_t)copy, &status, 0) < 0 && errno == EINTR)
		;
}

static void on_signal(int signal)
{
	int error;
	struct operation *me = op_now(&error);
	char name[32];

	if (me) {
		snprintf(name, sizeof(name), "SIG%s", sigabbrev_np(signal));
		if (signal == SIGABRT)
			set_outcome(me, ZUG_OUTCOME_ABORT, 0, "abort()");
		else
			set_outcome(me, ZUG_OUTCOME_SIGNAL, signal, name);
		if (signal != SIGABRT && test_keeps_found())
			write_in_copy();
		end_leave(me);
	}
	/* not of the test, or the test runs by hand: as always */
	die(signal);
}

static void exits(int status, void *arg)
{
	int error;
	struct operation *me = ZUG_IN_TEST && !under_zug ? op_now(&error) : NULL;
	char what[32];

	(void)arg;
	if (!me)
		return;
	snprintf(what, sizeof(what), "exit(%d)", status);
	set_outcome(me, ZUG_OUTCOME_EXIT, status, what);
	test_exits();
	fflush(NULL);
	_exit(1);
}

static void is_forked(void)
{
	if (under_zug)
		return;
	__atomic_store_n(&zug_active, 0, __ATOMIC_RELAXED);
	turn_claim(NULL);
}

void crash_stack(void **stack)
{
	stack_t ss = { .ss_size = STACK };

	if (!installed)
		return;
	if (!*stack) {
		*stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (*stack == MAP_FAILED)
			*stack = NULL;
	}
	ss.ss_sp = *stack;
	if (ss.ss_sp)
		sigaltstack(&ss, NULL);
}

void crash_leave_stack(void)
{
	sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL);
}

void crash_free_stack(void *stack)
{
	if (stack)
		munmap(stack, STACK);
}

void crash_begin(void)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_NODEFER | SA_ONSTACK };

	if (!watches)
		watches = !on_exit(exits, NULL) && !pthread_atfork(NULL, NULL, is_forked);
	sigaction(SIGABRT, &sa, &abort_before);
	if (!fiber_possible())
		return;
	installed = true;
	sigaltstack(NULL, &stack_before);
	crash_stack(&root_stack);
	for (size_t i = 0; i < NR_FAULTS; i++)
		sigaction(faults[i], &sa, &faults_before[i]);
}

void crash_end(void)
{
	sigaction(SIGABRT, &abort_before, NULL);
	if (!installed)
		return;
	for (size_t i = 0; i < NR_FAULTS; i++)
		sigaction(faults[i], &faults_before[i], NULL);
	sigaltstack(&stack_before, NULL);
	installed = false;
}
