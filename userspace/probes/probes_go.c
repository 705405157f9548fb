/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probes_go.c - the operations of Go: channels, sync.WaitGroup, sync.Cond; and which thread executes which goroutine
 *
 * A Go program has its runtime in its own file. What that does to carry out such an operation is no point: the entry of
 * the function that the compiler calls for it is one. (A sync.Mutex has no such function, for its fast path lies in the
 * program's functions: it is told by its atomic instructions.)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "probes/probes_internal.h"

/* Go's calls have their arguments in these, in this order, from 1.17 on. */
#define FIRST	0	/* rax */
#define SECOND	3	/* rbx */

static const struct go_operation {
	const char *name;
	uint16_t op;
	uint8_t reg;	/* has the object's address */
} operations[] = {
	{ "runtime.closechan", ZUG_OP_CHAN_CLOSE, FIRST },
	{ "runtime.chansend1", ZUG_OP_CHAN_SEND, FIRST },
	{ "runtime.chanrecv1", ZUG_OP_CHAN_RECV, FIRST },
	{ "runtime.chanrecv2", ZUG_OP_CHAN_RECV, FIRST },
	/* a select with one channel and a default; with several, or one and no default */
	{ "runtime.selectnbsend", ZUG_OP_CHAN_SEND, FIRST },
	{ "runtime.selectnbrecv", ZUG_OP_CHAN_RECV, SECOND },
	{ "runtime.selectgo", ZUG_OP_SELECT, FIRST },
	{ "sync.(*WaitGroup).Add", ZUG_OP_GROUP_ADD, FIRST },
	{ "sync.(*WaitGroup).Wait", ZUG_OP_GROUP_WAIT, FIRST },
	{ "sync.(*Cond).Wait", ZUG_OP_COND_WAIT, FIRST },
	{ "sync.(*Cond).Signal", ZUG_OP_COND_SIGNAL, FIRST },
	{ "sync.(*Cond).Broadcast", ZUG_OP_COND_BROADCAST, FIRST },
	/* a goroutine is made or woken, waits, gives way, ends (and leaves its stack to the next one); and goes on */
	{ "runtime.runqput", ZUG_OP_GO_READY, SECOND },
	{ "runtime.park_m", ZUG_OP_GO_READY, FIRST },
	{ "runtime.goschedImpl", ZUG_OP_GO_READY, FIRST },
	{ "runtime.goexit0", ZUG_OP_GO_READY, FIRST },
	{ "runtime.execute", ZUG_OP_GO_ON, FIRST },
	/* the search chooses what the runtime's random numbers follow from */
	{ "main.main", ZUG_OP_CHOICE, FIRST },
};
#define NR_OPERATIONS (sizeof(operations) / sizeof(operations[0]))

/* What Go's scheduler does orders what goroutines do, and is no decision. */
static bool is_scheduling(uint16_t op)
{
	return op == ZUG_OP_GO_READY || op == ZUG_OP_GO_ON;
}

/*
 * A function looks first whether its stack is large enough, and begins again behind that when it had to be made larger:
 *
 *	[lea -N(%rsp),%r12;] cmp 0x10(%r14),%rsp (or %r12); jbe ...
 *
 * The length of that, so that each call comes to the place behind it once; 0: the function does not look, or not so.
 */
static unsigned int stack_check(int fd, uint64_t offset)
{
	static const uint8_t near[] = { 0x4c, 0x8d, 0x64, 0x24 }, far[] = { 0x4c, 0x8d, 0xa4, 0x24 };
	static const uint8_t compare[] = { 0x3b, 0x66, 0x10 };
	uint8_t b[32];
	unsigned int n = 0;

	if (fd < 0 || pread(fd, b, sizeof(b), offset) != sizeof(b))
		return 0;
	if (!memcmp(b, near, sizeof(near)))
		n = sizeof(near) + 1;
	else if (!memcmp(b, far, sizeof(far)))
		n = sizeof(far) + 4;
	if (b[n] != (n ? 0x4d : 0x49) || memcmp(b + n + 1, compare, sizeof(compare)))
		return 0;
	n += 1 + sizeof(compare);
	if (b[n] == 0x76)
		return n + 2;
	return b[n] == 0x0f && b[n + 1] == 0x86 ? n + 6 : 0;
}

struct go_search {
	struct found *f;
	bool registers;	/* arguments are in registers, as r14 has the goroutine since then */
};

static int on_operation(const struct symdef *d, unsigned int nr, void *arg)
{
	const struct go_operation *o = &operations[nr];
	struct go_search *s = arg;
	unsigned int check;

	/* the names of a function's own functions begin with its name */
	if (!d->is_function || d->offset == UINT64_MAX || strcmp(d->name, o->name))
		return 0;
	check = stack_check(s->f->fd, d->offset);
	s->registers |= check > 0;
	/* where it looks at no stack it calls nothing, and its entry may be where the search begins */
	if (o->op == ZUG_OP_CHOICE && !check)
		return 0;
	return found_append(s->f, &(struct probe_site){ .offset = d->offset + check, .symbol = o->name, .op = o->op, .entry = true,
							.go = true, .code.base = o->reg });
}

/* The places in a file: none where it is no Go program. 0 or -ENOMEM. */
static int find_operations(struct found *f)
{
	struct go_search s = { f, false };
	const char *names[NR_OPERATIONS];

	for (unsigned int i = 0; i < NR_OPERATIONS; i++)
		names[i] = operations[i].name;
	symfile_find_names(f->file, names, NR_OPERATIONS, on_operation, &s);
	if (f->no_memory)
		return -ENOMEM;
	for (int i = 0; i < f->nr && !s.registers; i++)
		free((char *)f->sites[i].symbol);
	f->nr = s.registers ? f->nr : 0;
	return 0;
}

int probes_plant_go(struct probes *p, uint32_t m, char *err, size_t errlen)
{
	struct probe_module *mod = &p->modules[m];
	struct found f = { .fd = open(mod->path, O_RDONLY | O_CLOEXEC), .file = mod->file };
	int ret = find_operations(&f);

	mod->sync_points |= f.nr > 0;
	mod->go = f.nr > 0 && !symfile_is_dynamic(mod->file);
	p->go |= f.nr > 0;
	ret = ret ? ret : f.nr ? probes_plant(p, m, &f, err, errlen) : 0;
	found_free(&f);
	return ret;
}

static uint16_t lock_of(const struct trace_frame *frames, int nr)
{
	static const struct {
		const char *prefix;
		uint16_t op;
	} locks[] = {
		{ "sync.(*Mutex).", ZUG_OP_LOCK }, { "internal/sync.(*Mutex).", ZUG_OP_LOCK },
		{ "sync.(*RWMutex).", ZUG_OP_RDLOCK }, { "sync.(*Once).", ZUG_OP_ONCE },
	};

	for (int i = 0; i < nr; i++)
		for (size_t k = 0; frames[i].function && k < sizeof(locks) / sizeof(locks[0]); k++)
			if (!strncmp(frames[i].function, locks[k].prefix, strlen(locks[k].prefix)))
				return locks[k].op;
	return ZUG_OP_NONE;
}

uint16_t probes_go_lock(struct symfile *f, const struct code_place *c)
{
	/*
	 * Where a lock is inlined its instruction has the line of the call, and what tests the outcome, soon behind it, that of
	 * the lock: after `sete` of three bytes, and before another atomic instruction could be made and tested.
	 */
	enum { TEST_FIRST = 3, TEST_LAST = 12 };
	struct trace_frame frames[64];
	const int max = sizeof(frames) / sizeof(frames[0]);
	uint16_t op = lock_of(frames, symfile_frames(f, c->offset, frames, max));

	for (unsigned int i = TEST_FIRST; i <= TEST_LAST && !op; i++)
		op = lock_of(frames, symfile_frames(f, c->offset + c->len + i, frames, max));
	return op;
}

bool probes_in_go_map(const struct trace_frame *frame)
{
	static const char *const maps[] = { "runtime.mapassign", "runtime.mapaccess", "runtime.mapdelete", "runtime.mapiter",
					    "runtime.mapclear", "internal/runtime/maps." };

	return probes_begins_with(frame->function, maps, sizeof(maps) / sizeof(maps[0]));
}

bool probes_in_go_runtime(const struct trace_frame *frames, int nr)
{
	static const char *const runtime[] = { "runtime.", "runtime/", "internal/runtime/" };
	static const char *const whole[] = { "sync.(*WaitGroup).", "sync.(*Cond).", "sync.(*copyChecker)." };

	for (int i = 0; i < nr; i++)
		if (probes_begins_with(frames[i].function, whole, sizeof(whole) / sizeof(whole[0])))
			return true;
	return nr > 0 && probes_begins_with(frames[0].function, runtime, sizeof(runtime) / sizeof(runtime[0])) &&
	       !probes_in_go_map(&frames[0]);
}

void probes_go_site(const struct probe_site *s, struct zug_site *what)
{
	if (s->op == ZUG_OP_CHOICE) {
		what->flags = ZUG_SITE_CHOICE;
		return;
	}
	what->flags = ZUG_SITE_OPERAND | (s->op == ZUG_OP_SELECT ? ZUG_SITE_CASES : 0) |
		      (is_scheduling(s->op) ? ZUG_SITE_LEFT_OUT : 0);
	what->base = code_saved_register(s->code.base) + 1;
}
