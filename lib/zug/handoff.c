/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * handoff.c - the turn, from thread to thread by a futex, and from context to context by a jump
 *
 * A thread sleeps on the word of its host until that is TURN; only one that sleeps is woken. All threads of a test
 * share one CPU: the one that is woken is then queued there, and no other CPU has to be asked.
 *
 * Contexts are entered with makecontext() once and then left and entered with _setjmp() and
 * _longjmp(), which make no system call. A context whose operation has ended is used again.
 */
#undef _FORTIFY_SOURCE		/* its longjmp() refuses to go to another stack */
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include "lib/zug/internal.h"

#define STACK	(256u << 10)
#define YIELDS	4		/* so many operations at most: waiting begins with one sched_yield() */

/* Of a host's word; 0: its thread is running, or about to look. */
enum { TURN = 1, GONE, ASLEEP };

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
static int pin_cpu = -1;	/* on which all threads are; -1: they are where they are */
static int policy_before;

/* A program with -fsanitize=thread does not see the words of a library that is without. */
extern void __tsan_init(void) __attribute__((weak, visibility("default")));
extern void __tsan_acquire(void *addr) __attribute__((weak, visibility("default")));
extern void __tsan_release(void *addr) __attribute__((weak, visibility("default")));
extern void __asan_init(void) __attribute__((weak, visibility("default")));

static void say(struct host *h, uint32_t word)
{
	if (__atomic_exchange_n(&h->word, word, __ATOMIC_ACQ_REL) == ASLEEP)
		syscall(SYS_futex, &h->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void post(struct host *h)
{
	if (__tsan_release)
		__tsan_release(&z);
	say(h, TURN);
}

/* Something has been said to it. */
static bool is_told(struct host *h)
{
	const uint32_t word = __atomic_load_n(&h->word, __ATOMIC_ACQUIRE);

	return word == TURN || word == GONE;
}

/* Until then, or that time, which is then over. */
static bool doze(struct host *h, const struct timespec *most)
{
	uint32_t word = 0;

	if (!__atomic_compare_exchange_n(&h->word, &word, ASLEEP, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) && word != ASLEEP)
		return false;
	return syscall(SYS_futex, &h->word, FUTEX_WAIT_PRIVATE, ASLEEP, most, NULL, 0) && errno == ETIMEDOUT;
}

/* The root looks whether there are steps while it waits: an operation may block in what zug does not know. */
static void await_root(void)
{
	const uint64_t quarter = (uint64_t)(z.stuck_after * 1e9 / 4);
	const struct timespec wait = { .tv_sec = (time_t)(quarter / 1000000000), .tv_nsec = quarter % 1000000000 };
	uint32_t beat = __atomic_load_n(&z.beat, __ATOMIC_RELAXED), now;

	for (int quiet = 0; !is_told(&z.root_host);) {
		if (!doze(&z.root_host, &wait))
			continue;
		now = __atomic_load_n(&z.beat, __ATOMIC_RELAXED);
		quiet = now == beat ? quiet + 1 : 0;
		beat = now;
		if (quiet > 4) {
			end_stuck();
			return;
		}
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
	say(h, GONE);
}

void turn_await(struct host *h)
{
	if (h == &z.root_host)
		await_root();
	else
		while (!is_told(h))
			doze(h, NULL);
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

bool turn_is_mine(struct operation *const *op)
{
	/* a thread that is none of the test's does not look at what the others write */
	return my_host && *op && (*op)->host == my_host;
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
	bool few;

	while (z.current != me) {
		if (z.current->host == here) {
			switch_context(me);
			continue;
		}
		/* soon it is this one's turn again: then sleeping and being woken costs more than looking once more */
		few = pin_cpu >= 0 && z.nr_cands <= YIELDS;
		post(z.current->host);
		if (few)
			sched_yield();
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

/*
 * A thread of zug_spawn(). When its operation has ended it waits for another one, of this execution or a later one, if
 * the operation has left nothing behind that belongs to a thread: the next one finds what it would in a new thread.
 */
struct worker {
	struct worker *next;		/* in a list */
	struct host host;
	struct operation *op;		/* NULL: it is to end */
	void *signal_stack;
	sigset_t blocked;		/* signals, when it began */
};

/* Threads that wait; and what is left of those that have ended. The operation that has the turn changes the lists. */
static struct worker *idle_workers, *ended_workers;

static bool is_within(const void *what, const char *data, size_t len)
{
	return (uintptr_t)what - (uintptr_t)data < len;
}

/* Thread-local data of one module. 0: as it begins; the C library's is no state of the program. */
static int is_touched(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *data = info->dlpi_tls_data;

	(void)size, (void)arg;
	for (int i = 0; data && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const char *rest = data + p->p_filesz;
		size_t nr = p->p_memsz - p->p_filesz;

		if (p->p_type != PT_TLS)
			continue;
		/* in a static program both are one */
		if (is_within(&errno, data, p->p_memsz))
			return is_within(&my_host, data, p->p_memsz);
		if (memcmp(data, (const void *)(info->dlpi_addr + p->p_vaddr), p->p_filesz))
			return 1;
		if (nr && (rest[0] || memcmp(rest, rest + 1, nr - 1)))
			return 1;
	}
	return 0;
}

static sigset_t blocked_now(void)
{
	sigset_t set;

	memset(&set, 0, sizeof(set));
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	return set;
}

/* The calling thread is, to its next operation, like a new one. */
static bool is_as_new(const struct worker *w)
{
	sigset_t blocked = blocked_now();
	bool touched;

	if (!fiber_possible() || uselocale((locale_t)0) != LC_GLOBAL_LOCALE)
		return false;
	for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; key++)
		if (pthread_getspecific(key))
			return false;
	if (memcmp(&blocked, &w->blocked, sizeof(blocked)))
		return false;
	my_host = NULL;
	mine_to_end = false;
	touched = dl_iterate_phdr(is_touched, NULL);
	mine_to_end = true;
	errno = 0;
	return !touched;
}

static void list(struct worker **to, struct worker *w)
{
	w->next = *to;
	*to = w;
}

/* Of the calling thread, or of one that has ended. */
static void worker_free(struct worker *w)
{
	crash_free_stack(w->signal_stack);
	free(w);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct operation *op;
	bool stays;

	mine_to_end = true;
	w->blocked = blocked_now();
	crash_stack(&w->signal_stack);
	turn_claim(&w->host);
	turn_pin();
	do {
		turn_claim(&w->host);
		turn_await(&w->host);
		op = w->op;
		if (!op) {
			crash_leave_stack();
			worker_free(w);
			break;
		}
		__atomic_store_n(&op->state, OP_LIVE, __ATOMIC_RELAXED);
		op_run(op);
		op_finish(op);
		stays = is_as_new(w);
		if (!stays)
			crash_leave_stack();
		list(stays ? &idle_workers : &ended_workers, w);
		/* from here on w is another's, unless it stays */
		turn_leave(op);
	} while (stays);
	return NULL;
}

static struct worker *worker_new(void)
{
	struct worker *w = ended_workers;
	pthread_attr_t attr;
	pthread_t thread;
	int ret;

	if (w)
		ended_workers = w->next;
	else
		w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	ret = pthread_create(&thread, &attr, worker_main, w);
	pthread_attr_destroy(&attr);
	if (!ret)
		return w;
	list(&ended_workers, w);
	return NULL;
}

int thread_begin(struct operation *op)
{
	struct worker *w = idle_workers;

	if (w)
		idle_workers = w->next;
	else
		w = worker_new();
	if (!w)
		return ZUG_E_THREAD;
	__atomic_store_n(&op->claimed, 1, __ATOMIC_RELAXED);
	op->host = &w->host;
	w->op = op;
	return 0;
}

void workers_release(void)
{
	struct worker *w;

	while ((w = idle_workers)) {
		idle_workers = w->next;
		w->op = NULL;
		post(&w->host);
	}
	while ((w = ended_workers)) {
		ended_workers = w->next;
		worker_free(w);
	}
}

/* One policy of the two for threads without a priority instead of the other. */
static void change_policy(int from, int to)
{
	if (sched_getscheduler(0) == from)
		sched_setscheduler(0, to, &(struct sched_param){ .sched_priority = 0 });
}

void turn_pin(void)
{
	cpu_set_t one;
	int cpu;

	if (my_host == &z.root_host && pin_cpu < 0) {
		if (z.flags & ZUG_ANY_CPU || sched_getaffinity(0, sizeof(cpus_before), &cpus_before))
			return;
		policy_before = sched_getscheduler(0);
		__atomic_store_n(&pin_cpu, sched_getcpu(), __ATOMIC_RELAXED);
	}
	/* a thread may begin late, when the execution that made it has failed */
	cpu = __atomic_load_n(&pin_cpu, __ATOMIC_RELAXED);
	if (cpu < 0)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	/* who hands the turn on goes to sleep before the other one runs: one switch, and not two */
	change_policy(SCHED_OTHER, SCHED_BATCH);
}

void turn_unpin(void)
{
	if (pin_cpu >= 0) {
		sched_setaffinity(0, sizeof(cpus_before), &cpus_before);
		if (policy_before == SCHED_OTHER)
			change_policy(SCHED_BATCH, SCHED_OTHER);
	}
	__atomic_store_n(&pin_cpu, -1, __ATOMIC_RELAXED);
}
