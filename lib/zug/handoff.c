/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * handoff.c - the turn, from thread to thread by a futex, and from context to context by a jump
 *
 * A thread sleeps on the word of its host until that is 1. All threads of a test share one CPU: the
 * one that is woken is then queued there, and no other CPU has to be asked.
 *
 * Contexts are entered with makecontext() once and then left and entered with _setjmp() and
 * _longjmp(), which make no system call. A context whose operation has ended is used again.
 */
#undef _FORTIFY_SOURCE		/* its longjmp() refuses to go to another stack */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include "lib/base/clock.h"
#include "lib/zug/internal.h"

#define STACK	(256u << 10)
#define GONE	2		/* of a host's word: the turn will never come */

struct fiber {
	struct fiber *next;		/* in a list */
	void *stack;
	ucontext_t uc;			/* to enter it at first */
	jmp_buf ctx;
	bool entered;
	struct operation *op;
};

static __thread struct host *my_host __attribute__((tls_model("initial-exec")));
static __thread bool mine_to_end __attribute__((tls_model("initial-exec")));	/* zug_spawn() has made this thread */
static struct fiber *idle_fibers;
static jmp_buf root_ctx;
static cpu_set_t cpus_before;
static bool pinned;
static int pin_cpu;

static void futex_wait(uint32_t *word, const struct timespec *timeout)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, timeout, NULL, 0);
}

/* A program with -fsanitize=thread does not see the words of a library that is without. */
extern void __tsan_init(void) __attribute__((weak, visibility("default")));
extern void __tsan_acquire(void *addr) __attribute__((weak, visibility("default")));
extern void __tsan_release(void *addr) __attribute__((weak, visibility("default")));
extern void __asan_init(void) __attribute__((weak, visibility("default")));

static void post(struct host *h)
{
	if (__tsan_release)
		__tsan_release(&z);
	__atomic_store_n(&h->word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &h->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* The root looks whether there are steps while it waits: an operation may block in what zug does not know. */
static void await_root(void)
{
	const uint64_t most = (uint64_t)(z.stuck_after * 1e9);
	const struct timespec wait = { .tv_sec = (time_t)(most / 4 / 1000000000), .tv_nsec = most / 4 % 1000000000 };
	uint32_t beat = __atomic_load_n(&z.beat, __ATOMIC_RELAXED);
	uint64_t since = clock_now_ns();

	while (!__atomic_load_n(&z.root_host.word, __ATOMIC_ACQUIRE)) {
		uint32_t now = __atomic_load_n(&z.beat, __ATOMIC_RELAXED);

		if (now != beat)
			since = clock_now_ns();
		beat = now;
		if (clock_now_ns() - since > most) {
			end_stuck();
			return;
		}
		futex_wait(&z.root_host.word, &wait);
	}
}

/* Sanitizers keep books about stacks, which jumps between them would spoil. */
bool fiber_possible(void)
{
	return !__tsan_init && !__asan_init;
}

/*
 * The execution of this thread has failed. Nothing of it is unwound, for what it would do then is not
 * controlled; but the kernel's part of the thread can end.
 */
__attribute__((noreturn)) static void gone(void)
{
	if (mine_to_end && fiber_possible())
		syscall(SYS_exit, 0);
	for (;;)
		pause();
}

void turn_forget(struct host *h)
{
	__atomic_store_n(&h->word, GONE, __ATOMIC_RELEASE);
	syscall(SYS_futex, &h->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void turn_await(struct host *h)
{
	if (h == &z.root_host)
		await_root();
	else
		while (!__atomic_load_n(&h->word, __ATOMIC_ACQUIRE))
			futex_wait(&h->word, NULL);
	if (__atomic_load_n(&h->word, __ATOMIC_RELAXED) == GONE)
		gone();
	__atomic_store_n(&h->word, 0, __ATOMIC_RELAXED);
	if (__tsan_acquire)
		__tsan_acquire(&z);
}

void host_reset(struct host *h)
{
	__atomic_store_n(&h->word, 0, __ATOMIC_RELAXED);
}

bool turn_is_mine(const struct operation *op)
{
	return my_host && op && op->host == my_host;
}

void turn_claim(struct host *h)
{
	my_host = h;
}

/* ---- contexts ---- */

static void enter_fiber(struct fiber *f)
{
	if (f->entered)
		_longjmp(f->ctx, 1);
	f->entered = true;
	setcontext(&f->uc);
	abort();
}

/* Operations run here, one after another; the turn comes back with the next one. */
static void fiber_main(void)
{
	for (;;) {
		struct operation *op = z.current;

		op_run(op);
		op_finish(op);
		op->fiber->next = idle_fibers;
		idle_fibers = op->fiber;
		turn_leave(op);
	}
}

static struct fiber *fiber_new(void)
{
	struct fiber *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (f->stack == MAP_FAILED) {
		free(f);
		return NULL;
	}
	/* an overflow is a fault, not another operation's data */
	mprotect(f->stack, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE);
	return f;
}

static void make_context(struct fiber *f)
{
	getcontext(&f->uc);
	f->uc.uc_stack.ss_sp = f->stack;
	f->uc.uc_stack.ss_size = STACK;
	f->uc.uc_link = NULL;
	makecontext(&f->uc, fiber_main, 0);
}

int fiber_assign(struct operation *op)
{
	struct fiber *f = idle_fibers;

	if (f)
		idle_fibers = f->next;
	else
		f = fiber_new();
	if (!f)
		return ZUG_E_MEMORY;
	if (!f->entered)
		make_context(f);
	f->op = op;
	op->fiber = f;
	op->host = &z.root_host;
	return 0;
}

void fiber_forget_abandoned(void)
{
	for (uint32_t i = 0; i < z.nr_ops; i++) {
		struct operation *op = z.ops[i];

		if (!op || !op->fiber || op->fiber->op != op)
			continue;
		if (op->state != OP_ENDED) {
			op->fiber->entered = false;
			op->fiber->next = idle_fibers;
			idle_fibers = op->fiber;
			op->state = OP_ENDED;
		}
		op->fiber = NULL;
	}
}

void fiber_release(void)
{
	while (idle_fibers) {
		struct fiber *f = idle_fibers;

		idle_fibers = f->next;
		munmap(f->stack, STACK);
		free(f);
	}
}

/* The context that has the turn on this host is entered; returns when the turn is back with me. */
static void switch_context(struct operation *me)
{
	struct operation *to = z.current;

	if (to == me)
		return;
	if (_setjmp(me->fiber ? me->fiber->ctx : root_ctx))
		return;
	if (to->fiber)
		enter_fiber(to->fiber);
	_longjmp(root_ctx, 1);
}

void turn_pass(struct operation *me)
{
	struct host *here = me->host;

	while (z.current != me) {
		if (z.current->host == here) {
			switch_context(me);
			continue;
		}
		post(z.current->host);
		turn_await(here);
	}
}

void turn_leave(struct operation *me)
{
	struct fiber *f = me->fiber;

	if (!f) {
		my_host = NULL;
		post(z.current->host);
		return;
	}
	for (;;) {
		struct operation *to = z.current;

		if (to->host == me->host && to->fiber == f)
			return;
		if (to->host != me->host) {
			post(to->host);
			turn_await(me->host);
			continue;
		}
		if (_setjmp(f->ctx))
			return;
		if (to->fiber)
			enter_fiber(to->fiber);
		_longjmp(root_ctx, 1);
	}
}

void turn_abandon(struct operation *me)
{
	z.current = z.root;
	if (me->fiber && me->host == z.root->host)
		_longjmp(root_ctx, 1);
	post(z.root->host);
	gone();
}

/* ---- threads ---- */

static void *thread_main(void *arg)
{
	struct operation *op = arg;

	mine_to_end = true;
	turn_claim(&op->own);
	crash_stack(&op->signal_stack);
	turn_pin();
	turn_await(&op->own);
	op->state = OP_LIVE;
	op_run(op);
	op_finish(op);
	turn_leave(op);
	return NULL;
}

int thread_begin(struct operation *op)
{
	pthread_attr_t attr;
	pthread_t thread;
	int ret;

	__atomic_store_n(&op->claimed, 1, __ATOMIC_RELAXED);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	ret = pthread_create(&thread, &attr, thread_main, op);
	pthread_attr_destroy(&attr);
	return ret ? ZUG_E_THREAD : 0;
}

void turn_pin(void)
{
	cpu_set_t one;

	if (z.flags & ZUG_ANY_CPU)
		return;
	if (my_host == &z.root_host) {
		if (pinned || sched_getaffinity(0, sizeof(cpus_before), &cpus_before))
			return;
		pinned = true;
		pin_cpu = sched_getcpu();
	}
	if (!pinned || pin_cpu < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET(pin_cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

void turn_unpin(void)
{
	if (pinned)
		sched_setaffinity(0, sizeof(cpus_before), &cpus_before);
	pinned = false;
}
