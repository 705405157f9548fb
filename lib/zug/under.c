/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * under.c - the calls of zug.h in a program that zug executes
 *
 * note() is where to begin: it tells zug what the calling thread is about to do (zug_note.h), and zug lets the
 * thread go on when its search chooses it. Threads, locks and conditions are the real ones, which zug sees anyway.
 * Waits are futexes, so that zug sees which threads cannot go on.
 *
 * zug lets one thread of a test run at a time, and takes the turn from it at points only, so what is between two
 * notes needs no lock.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include "lib/base/array.h"
#include "lib/base/hash.h"
#include "search/rng.h"
#include "bpf/zug_note.h"
#include "lib/zug/internal.h"
#include "lib/zug/under.h"

bool under_zug;

/* ---- what zug is told ---- */

/*
 * A system call of six arguments. Not syscall(): the address of the instruction tells zug that this is libzug, and
 * errno stays as it is. zug is for x86-64 only.
 */
static long call(long nr, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
#ifdef __x86_64__
	register uint64_t r10 __asm__("r10") = d;
	register uint64_t r8 __asm__("r8") = e;
	register uint64_t r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#else
	(void)nr, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
	return -ENOSYS;
#endif
}

static void note(uint32_t what, uint64_t object, const void *caller, const char *name, uint64_t *answer)
{
	call(SYS_prctl, ZUG_NOTE, what, object, (uintptr_t)caller, (uintptr_t)name, (uintptr_t)answer);
}

__attribute__((constructor)) static void look_for_zug(void)
{
	uint64_t answer = 0;

	note(ZUG_NOTE_HELLO, 0, NULL, NULL, &answer);
	/* the kernel has written there */
	__asm__ volatile("" : "+m"(answer));
	if (answer != ZUG_NOTE)
		return;
	under_zug = true;
	__atomic_store_n(&zug_active, 1, __ATOMIC_RELAXED);
}

static void wait_word(const uint32_t *word)
{
	while (!*(const volatile uint32_t *)word)
		call(SYS_futex, (uintptr_t)word, FUTEX_WAIT_PRIVATE, 0, 0, 0, ZUG_NOTE);
}

static void set_word(uint32_t *word)
{
	*(volatile uint32_t *)word = 1;
	call(SYS_futex, (uintptr_t)word, FUTEX_WAKE_PRIVATE, INT32_MAX, 0, 0, ZUG_NOTE);
}

static uint64_t name_hash(const char *name, uint64_t salt)
{
	return mix64(hash_bytes(HASH_BEGIN, name, strlen(name)) ^ salt) | 1;
}

int under_point(unsigned int op, const char *name, const void *caller)
{
	/* data of one name is the same in all processes: they may share it */
	note(op, name ? name_hash(name, 0x64617461) : 0, caller, name, NULL);
	return 0;
}

int under_yield(void)
{
	sched_yield();
	return 0;
}

int under_choose(int nr, const void *caller)
{
	uint64_t value = 0;

	if (nr < 1)
		return ZUG_E_INVALID;
	note(ZUG_OP_CHOICE | ZUG_NOTE_CHOICE, (uint64_t)nr, caller, NULL, &value);
	__asm__ volatile("" : "+m"(value));
	return value < (uint64_t)nr ? (int)value : 0;
}

void under_fail(const char *message, const char *file, int line, const char *func)
{
	fprintf(stderr, "%s:%d: %s: %s\n", file, line, func, message ? message : "failed");
	abort();
}

/* ---- operations ---- */

struct under_operation {
	char name[NAME_LEN];
	uint64_t id;
	void (*fn)(void *arg);		/* NULL: in a thread of the test's own */
	void *arg;
	pthread_t thread;
	bool claimed, joined;
	uint32_t ended;			/* a futex */
};

static struct under_operation **operations;
static uint32_t nr_operations, room_operations;
static __thread struct under_operation *mine __attribute__((tls_model("initial-exec")));

static struct under_operation *operation_of(int handle)
{
	return handle > 0 && (uint32_t)handle <= nr_operations ? operations[handle - 1] : NULL;
}

/* Its handle is nr_operations then. */
static struct under_operation *operation_new(const char *name)
{
	struct under_operation *op = NULL;

	if (ARRAY_RESERVE(operations, room_operations, nr_operations + 1))
		op = calloc(1, sizeof(*op));
	if (!op)
		return NULL;
	operations[nr_operations++] = op;
	if (name)
		snprintf(op->name, sizeof(op->name), "%s", name);
	else
		snprintf(op->name, sizeof(op->name), "operation %u", nr_operations);
	op->id = name_hash(op->name, nr_operations);
	return op;
}

static void *thread_main(void *arg)
{
	struct under_operation *op = arg;

	mine = op;
	op->fn(op->arg);
	set_word(&op->ended);
	return NULL;
}

int under_spawn(const char *name, void (*fn)(void *arg), void *arg, const void *caller)
{
	struct under_operation *op;
	int handle;

	if (!fn)
		return ZUG_E_INVALID;
	op = operation_new(name);
	if (!op)
		return ZUG_E_MEMORY;
	handle = (int)nr_operations;
	op->fn = fn;
	op->arg = arg;
	op->claimed = true;
	note(ZUG_NOTE_NEXT, 0, caller, op->name, NULL);
	if (pthread_create(&op->thread, NULL, thread_main, op)) {
		op->joined = true;
		op->ended = 1;
		return ZUG_E_THREAD;
	}
	return handle;
}

int under_create(const char *name, const void *caller)
{
	struct under_operation *op = operation_new(name);

	if (!op)
		return ZUG_E_MEMORY;
	note(ZUG_NOTE_NEXT, 0, caller, op->name, NULL);
	return (int)nr_operations;
}

int under_start(int handle)
{
	struct under_operation *op = operation_of(handle);

	if (!op)
		return ZUG_E_UNKNOWN;
	if (op->claimed)
		return ZUG_E_STARTED;
	op->claimed = true;
	mine = op;
	return 0;
}

int under_complete(int handle, const void *caller)
{
	struct under_operation *op = operation_of(handle);

	if (!op)
		return ZUG_E_UNKNOWN;
	if (op->ended)
		return ZUG_E_COMPLETED;
	if (op != mine || op->fn)
		return ZUG_E_NOT_OWN;
	note(ZUG_OP_RESOURCE_SIGNAL_ALL | ZUG_NOTE_OWN, op->id, caller, op->name, NULL);
	mine = NULL;
	set_word(&op->ended);
	return 0;
}

int under_join(int handle, const void *caller)
{
	struct under_operation *op = operation_of(handle);

	if (!op)
		return ZUG_E_UNKNOWN;
	if (op == mine)
		return ZUG_E_SELF;
	if (op->fn && !op->joined) {
		op->joined = true;
		note(ZUG_NOTE_NEXT, 0, caller, NULL, NULL);
		pthread_join(op->thread, NULL);
		return 0;
	}
	if (!op->ended) {
		note(ZUG_OP_RESOURCE_WAIT | ZUG_NOTE_OWN, op->id, caller, op->name, NULL);
		wait_word(&op->ended);
	}
	return 0;
}

void under_join_all(void)
{
	for (uint32_t i = 0; i < nr_operations; i++)
		if (operations[i]->fn && !operations[i]->joined && operations[i] != mine) {
			operations[i]->joined = true;
			pthread_join(operations[i]->thread, NULL);
		}
}

/* ---- resources ---- */

#define WAIT_MOST	4096		/* resources that one call waits for */

/* One resource that a thread waits for. */
struct link {
	struct link *next;
	struct wait *wait;
	struct under_resource *resource;
};

struct wait {
	struct link *links;		/* nr of them */
	int nr, left, signalled;
	uint32_t over;			/* a futex */
};

struct under_resource {
	char name[NAME_LEN];
	uint64_t id;
	bool live;
	struct link *first;		/* in the order in which they came */
};

static struct under_resource **resources;
static uint32_t nr_resources, room_resources;

static struct under_resource *resource_of(int handle, int *error)
{
	*error = ZUG_E_UNKNOWN;
	if (handle <= 0 || (uint32_t)handle > nr_resources)
		return NULL;
	*error = resources[handle - 1]->live ? 0 : ZUG_E_DELETED;
	return *error ? NULL : resources[handle - 1];
}

int under_create_resource(const char *name)
{
	struct under_resource *r = NULL;

	if (ARRAY_RESERVE(resources, room_resources, nr_resources + 1))
		r = calloc(1, sizeof(*r));
	if (!r)
		return ZUG_E_MEMORY;
	resources[nr_resources++] = r;
	if (name)
		snprintf(r->name, sizeof(r->name), "%s", name);
	else
		snprintf(r->name, sizeof(r->name), "#%u", nr_resources);
	r->id = name_hash(r->name, (uint64_t)nr_resources << 32);
	r->live = true;
	return (int)nr_resources;
}

int under_delete(int resource)
{
	int error;
	struct under_resource *r = resource_of(resource, &error);

	if (r && r->first)
		return ZUG_E_BUSY;
	if (r)
		r->live = false;
	return error;
}

static void queue(struct link *l)
{
	struct link **at = &l->resource->first;

	while (*at)
		at = &(*at)->next;
	l->next = NULL;
	*at = l;
}

static void unqueue(struct link *l)
{
	struct link **at = &l->resource->first;

	while (*at && *at != l)
		at = &(*at)->next;
	if (*at)
		*at = l->next;
}

int under_wait(const int *list, int nr, int nr_left, const void *caller)
{
	struct wait w = { .nr = nr, .left = nr_left, .signalled = -1 };
	struct link links[nr > 0 && nr <= WAIT_MOST ? nr : 1];
	int error = 0;

	if (!list || nr < 1)
		return ZUG_E_INVALID;
	if (nr > WAIT_MOST)
		return ZUG_E_MANY;
	/* on the stack: malloc() may have points in it, and the wait begins with no point before it */
	w.links = links;
	for (int i = 0; i < nr && !error; i++)
		links[i] = (struct link){ .wait = &w, .resource = resource_of(list[i], &error) };
	if (error)
		return error;
	for (int i = 0; i < nr; i++)
		queue(&links[i]);
	note(ZUG_OP_RESOURCE_WAIT | ZUG_NOTE_OWN, nr == 1 ? links[0].resource->id : 0, caller, links[0].resource->name,
	     NULL);
	wait_word(&w.over);
	return w.signalled;
}

static void signal_first(struct under_resource *r)
{
	struct link *l = r->first;
	struct wait *w = l->wait;

	unqueue(l);
	if (w->signalled < 0)
		w->signalled = (int)(l - w->links);
	if (--w->left)
		return;
	for (int i = 0; i < w->nr; i++)
		unqueue(&w->links[i]);
	set_word(&w->over);
}

int under_signal(int resource, bool all, const void *caller)
{
	int error;
	struct under_resource *r = resource_of(resource, &error);

	if (!r)
		return error;
	note((all ? ZUG_OP_RESOURCE_SIGNAL_ALL : ZUG_OP_RESOURCE_SIGNAL) | ZUG_NOTE_OWN, r->id, caller, r->name, NULL);
	if (!r->live)
		return ZUG_E_DELETED;
	while (r->first) {
		signal_first(r);
		if (!all)
			break;
	}
	return 0;
}
