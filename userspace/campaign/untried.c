/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>
#include "campaign/untried.h"
#include "engine/world.h"

void untried_begin(struct untried *u)
{
	memset(u->nr_stored, 0, sizeof(u->nr_stored));
}

static void note_store(struct untried *u, uint32_t task, uint64_t object)
{
	uint64_t *s = u->stored[task];
	uint32_t *nr = &u->nr_stored[task];

	for (uint32_t i = 0; i < *nr; i++)
		if (s[i] == object)
			return;
	if (*nr == UNTRIED_STORES)
		memmove(s, s + 1, --*nr * sizeof(*s));
	s[(*nr)++] = object;
}

/* The two tasks each store, and then load what the other one stores. */
static void note_pair(struct untried *u, const struct untried_pair *p)
{
	for (uint32_t i = 0; i < u->nr_pairs; i++) {
		const struct untried_pair *o = &u->pairs[i];

		if (o->task == p->task && o->stored == p->stored && o->loaded == p->loaded)
			return;
		if (o->task != p->task && o->stored == p->loaded && o->loaded == p->stored) {
			u->delayed[0] = o->stored;
			u->delayed[1] = p->stored;
		}
	}
	if (u->nr_pairs < UNTRIED_PAIRS)
		u->pairs[u->nr_pairs++] = *p;
}

static void note_memory(struct untried *u, uint32_t task, const struct zug_label *l)
{
	bool loads = l->op == ZUG_OP_ATOMIC_LOAD || l->op == ZUG_OP_DATA_READ;
	uint32_t i;

	if (l->op == ZUG_OP_ATOMIC_STORE || l->op == ZUG_OP_DATA_WRITE) {
		if (l->object)
			note_store(u, task, l->object);
		return;
	}
	if (!loads && l->op != ZUG_OP_DATA_ACCESS && l->op != ZUG_OP_POINT &&
	    l->op != ZUG_OP_PAUSE) {
		/* an operation of any other kind waits for the stores before it */
		u->nr_stored[task] = 0;
		return;
	}
	/* what the task has stored itself it loads from its own store */
	for (i = 0; i < u->nr_stored[task] && u->stored[task][i] != l->object; i++)
		;
	if (!loads || !l->object || i < u->nr_stored[task])
		return;
	for (i = 0; i < u->nr_stored[task]; i++)
		note_pair(u, &(struct untried_pair){ task, u->stored[task][i], l->object });
}

static bool is_try(unsigned int op)
{
	return op == ZUG_OP_TRYLOCK || op == ZUG_OP_TRYWRLOCK || op == ZUG_OP_TRYRDLOCK || op == ZUG_OP_SPIN_TRYLOCK ||
	       op == ZUG_OP_SEM_TRYWAIT;
}

void untried_step(struct untried *u, uint32_t task, const struct zug_label *l, bool stores)
{
	u->timed |= l->flags & (ZUG_L_TIMED | ZUG_L_TIMER) && !(l->flags & ZUG_L_LEFT_OUT);
	u->handlers |= l->op == ZUG_OP_SIGACTION;
	u->signals |= l->op == ZUG_OP_KILL;
	u->threads |= l->op == ZUG_OP_CREATE;
	if (task < 64 && is_try(l->op))
		u->tries |= 1ull << task;
	if (task < 64 && (l->op == ZUG_OP_YIELD || l->op == ZUG_OP_PAUSE || l->op == ZUG_OP_SLEEP))
		u->yields |= 1ull << task;
	if (stores && task < UNTRIED_TASKS && !u->delayed[0])
		note_memory(u, task, l);
}

const char *const *untried_keepers(void)
{
	/* POSIX: need not be thread-safe; and in glibc they are not */
	static const char *const names[] = {
		"strtok", "localtime", "gmtime", "ctime", "asctime", "gethostbyname", "gethostbyaddr", "getpwnam",
		"getpwuid", "getgrnam", "getgrgid", "drand48", "lrand48", "mrand48", "hsearch", "ttyname", NULL
	};

	return names;
}

static bool is_point(const struct campaign_options *o, const char *function)
{
	for (char **p = o->points.places; p && *p; p++)
		if (!strcmp(*p, function))
			return true;
	return false;
}

static const char *name_of(const char *(*name)(void *ctx, uint64_t object), void *ctx,
			   uint64_t object)
{
	const char *s = name ? name(ctx, object) : NULL;

	return s ? s : "a variable";
}

void untried_text(const struct untried *u, const struct campaign_options *o,
		  const char *(*name)(void *ctx, uint64_t object), void *ctx, FILE *to)
{
	if (u->timed && !u->early)
		fprintf(to,
			"not tried: time-outs and timers that are over while other tasks can run: "
			"--timeouts explore\n");
	if (u->handlers && u->signals && !(o->inputs.faults & 1u << FAULT_EINTR))
		fprintf(to,
			"not tried: system calls that a signal interrupts: --faults eintr; a signal "
			"between two accesses: --watch stops behind the first\n");
	if (u->conditions && !(o->inputs.faults & 1u << FAULT_SPURIOUS))
		fprintf(to, "not tried: waits for a condition that return without a signal, as they may: --faults spurious\n");
	/* one task that does so gives way to others, which get on */
	if (__builtin_popcountll(u->tries & u->yields) > 1 &&
	    !(o->search.strategy && !strncmp(o->search.strategy, "lockstep", 8)))
		fprintf(to, "not tried: tasks that give way to each other for ever: --strategy lockstep\n");
	/* else the scan sees the calls */
	for (int i = 0; u->threads && !o->points.races && i < UNTRIED_KEEP && u->keep[i]; i++)
		if (!is_point(o, u->keep[i]))
			fprintf(to,
				"not tried: switches between calls of %s(), which keeps something for all threads: "
				"--point %s\n", u->keep[i], u->keep[i]);
	if (u->delayed[0])
		fprintf(to,
			"not tried: stores that other tasks see late, as processors do it (weak "
			"memory), such as those to %s and %s: no option does\n",
			name_of(name, ctx, u->delayed[0]), name_of(name, ctx, u->delayed[1]));
}
