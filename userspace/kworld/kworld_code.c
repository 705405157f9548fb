/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kworld_code.c - points at places in the code: their labels, read-modify-writes in two steps, and how hot they are
 *
 * On one processor an instruction like `addl $1,counter(%rip)` is indivisible; on two it is a load and a
 * store, between which others may write. Such a place is *split*: a task parked before it is asked about
 * twice. When it is granted the first turn its operand is read, and nothing executes; when it is granted the
 * second, what was read is written back before the instruction executes, if another task changed it
 * meanwhile: so the instruction computes from the stale value. Two steps, a data-read and a data-write,
 * also where the task was not stopped because no other task could have run.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "search/rng.h"
#include "kworld/kworld_internal.h"

/* ---- labels ---- */

/* Reads up to n bytes of a string: the number of bytes, with its end, that are accessed at most; 1: it cannot be read. */
static uint32_t text_bytes(const struct world_task *t, uint64_t addr, uint8_t *buf, uint32_t n)
{
	const uint8_t *end;
	ssize_t got;

	/* not across a page that may be the last one */
	if (n > 4096 - (addr & 4095))
		n = 4096 - (addr & 4095);
	got = remote_read_some(t->tgid, addr, buf, n);
	if (got <= 0)
		return 1;
	end = memchr(buf, 0, got);
	return end ? end - buf + 1 : got;
}

/*
 * The bytes of the block that a call frees. glibc: its size, with three flags, is in the word before it (malloc.c: of a block
 * that was mapped it counts two words, else one); other places of that word are none. Blocks of other libraries have 8
 * at least. Pages that are unmapped: as many as the call says.
 */
static uint64_t block_bytes(struct kworld *k, const struct probe_site *s, const struct zug_event *e)
{
	enum { MAPPED = 2, FLAGS = 7, LEAST = 32, ALIGNED = 16 };
	uint64_t size = e->arg[3] & ~(uint64_t)FLAGS;

	if (s->code.size == CODE_BLOCK_UNMAP)
		return e->arg[1];
	if (probes_has_glibc_blocks(k->o.probes, s->module) && size >= LEAST && !(size % ALIGNED) && !(e->arg[0] % ALIGNED))
		return size - (e->arg[3] & MAPPED ? 2 : 1) * sizeof(uint64_t);
	return s->code.size == CODE_BLOCK_FREE_SIZED && e->arg[1] ? e->arg[1] : sizeof(uint64_t);
}

/* The number of bytes that a place accesses at its operand, and at the second one if it has that; 4096 at most. */
static uint32_t bytes_of(struct kworld *k, const struct world_task *t, const struct probe_site *s, const struct zug_event *e)
{
	const struct code_place *c = &s->code;
	enum { MOST = 4096 };
	uint8_t a[MOST], b[MOST];
	uint64_t n = e->arg[2];
	uint32_t na, nb, same = 0;

	if (c->kind == CODE_STRING) {
		n = c->flags & CODE_REP ? e->arg[3] : 1;
		n = n > MOST ? MOST : n * c->size;
	} else if (c->kind != CODE_BLOCK) {
		n = c->size;
	} else if (code_block_access(c->size)->frees) {
		n = block_bytes(k, s, e);
	} else if (code_block_access(c->size)->bytes) {
		n = code_block_access(c->size)->bytes;
	} else if (c->size == CODE_BLOCK_PRINT_N) {
		n = e->arg[1] ? 1 : 0;
	} else if (c->size == CODE_BLOCK_FREAD || c->size == CODE_BLOCK_FWRITE || c->size == CODE_BLOCK_SORT) {
		if (__builtin_mul_overflow(e->arg[1], e->arg[2], &n))
			n = MOST;
	} else if (c->size == CODE_BLOCK_STRCPY) {
		n = text_bytes(t, e->arg[1], a, sizeof(a));
	} else if (c->size == CODE_BLOCK_STRLEN || c->size == CODE_BLOCK_PUTS || c->size == CODE_BLOCK_PRINT_TEXT ||
		   c->size == CODE_BLOCK_STRCAT) {
		n = text_bytes(t, e->arg[0], a, sizeof(a));
	} else if (c->size == CODE_BLOCK_STRCMP) {
		na = text_bytes(t, e->arg[0], a, sizeof(a));
		nb = text_bytes(t, e->arg[1], b, sizeof(b));
		while (same + 1 < na && same + 1 < nb && a[same] == b[same])
			same++;
		n = same + 1;
	}
	return n > MOST ? MOST : n;
}

static uint64_t space_of(const struct world_task *t, const struct zug_where *w)
{
	return w->ino ? mix64(w->ino + ((uint64_t)w->dev << 32)) : t->process;
}

void kworld_note_use(struct kworld *k, struct world_task *t)
{
	const struct zug_where *w = &k->kt[t->task].at[0];
	bool begins = places_creates(t->label.op);

	if (!t->label.object || !zug_op_is_sync(t->label.op))
		return;
	t->access[t->nr_accesses++] = (struct world_access){
		.space = space_of(t, w), .addr = w->offset, .size = sizeof(uint32_t), .write = begins, .object = t->label.object,
	};
}

/* Adds a piece of memory that is accessed. Its object; 0: unknown. */
static uint64_t add_access(struct kworld *k, struct world_task *t, const struct zug_event *e, uint32_t flag,
			   uint64_t addr, uint32_t size, bool write, unsigned int op)
{
	struct world_access *a = &t->access[t->nr_accesses];
	struct zug_where w;

	if (!kworld_where(e, flag, addr, &w))
		return 0;
	k->kt[t->task].at[flag == ZUG_EF_OBJECT2] = w;
	*a = (struct world_access){
		.space = space_of(t, &w), .addr = w.offset, .size = size, .write = write,
		.object = places_object(k->o.places, t->process, t->task, e->pid, &w, -1, op),
	};
	t->nr_accesses++;
	return a->object;
}

/* The object that begins so many bytes before the operand. */
static uint64_t object_before(struct kworld *k, const struct world_task *t, const struct zug_event *e, uint32_t bytes,
			      unsigned int op)
{
	struct zug_where w;

	if (!kworld_where(e, ZUG_EF_OBJECT, e->arg[0], &w))
		return 0;
	w.offset -= bytes;
	k->kt[t->task].at[1] = w;
	return places_object(k->o.places, t->process, t->task, e->pid, &w, -1, op);
}

/*
 * What a call of a library writes there may have to come first. Where the kernel accesses that memory in the system call that
 * comes next, which is a point of its own, the label of that has what it accesses, too (label_buffer()).
 */
static void note_buffer(struct world_task *t, struct ktask *kt, const struct zug_event *e, const struct code_place *c)
{
	const struct code_block_access *access;

	if (c->kind != CODE_BLOCK || !t->nr_accesses)
		return;
	access = code_block_access(c->size);
	for (uint32_t i = 0; i < t->nr_accesses; i++)
		t->access[i].later = access->later;
	if (!access->call)
		return;
	kt->buffer.addr = access->pieces ? e->ret : e->arg[0];
	kt->buffer.object = t->label.object;
	kt->buffer.write = t->access[0].write;
}

/* As read_pieces() of the kernel side, for memory that was not there when that looked. */
static void find_pieces(const struct world_task *t, struct zug_event *e, const struct code_place *c)
{
	uint64_t piece[2], addr = e->ret, nr = e->arg[3];
	uint8_t message = code_block_access(c->size)->message;

	if (message && remote_read(t->tgid, addr + message, piece, sizeof(piece))) {
		addr = piece[0];
		nr = piece[1];
	} else if (message) {
		nr = 0;
	}
	e->arg[0] = e->arg[1] = 0;
	for (uint64_t i = 0; i < ZUG_MAX_PIECES && i < nr && !e->arg[1]; i++) {
		unsigned int at = e->arg[0] != 0;

		if (!remote_read(t->tgid, addr + i * sizeof(piece), piece, sizeof(piece)))
			break;
		if (!piece[1])
			continue;
		e->arg[at] = piece[0];
		e->arg[2 + at] = piece[1];
	}
}

/* The second piece of memory that it accesses; *size is that of the first. 0: none. */
static uint16_t second_of(const struct world_task *t, const struct zug_event *e, const struct code_place *c, uint32_t *size)
{
	uint8_t text[4096];

	if (c->kind == CODE_BLOCK && c->index != CODE_NO_REG) {
		*size = text_bytes(t, e->arg[1], text, sizeof(text));
		return e->arg[1] ? code_second(c) : 0;
	}
	if (c->kind == CODE_BLOCK && code_block_access(c->size)->second_bytes)
		*size = code_block_access(c->size)->second_bytes;
	if (c->kind != CODE_BLOCK || !code_block_access(c->size)->pieces)
		return code_second(c);
	*size = e->arg[3] > 4096 ? 4096 : e->arg[3];
	return e->arg[1] ? code_second(c) : 0;
}

/* The buffer on the heap that a member of std::string is about to give back, for a larger one or for good; *size 0: none. */
static uint64_t buffer_given_back(const struct world_task *t, const struct zug_event *e, enum code_grows grows, uint64_t *size)
{
	enum { POINTER, LENGTH, ROOM, WORDS };
	uint64_t own[WORDS], other[2] = { 0 }, needs = UINT64_MAX;

	*size = 0;
	if (!grows || !remote_read(t->tgid, e->arg[0], own, sizeof(own)) || own[POINTER] - e->arg[0] < 4 * sizeof(uint64_t))
		return 0;
	if ((grows == CODE_GROWS_TO_STRING || grows == CODE_GROWS_BY_STRING) &&
	    !remote_read(t->tgid, e->arg[1], other, sizeof(other)))
		return 0;
	switch (grows) {
	case CODE_GROWS_NOT: case CODE_GROWS_ALWAYS:
		break;
	case CODE_GROWS_TO_NUMBER:
		needs = e->arg[1];
		break;
	case CODE_GROWS_BY_NUMBER:
		needs = own[LENGTH] + e->arg[2];
		break;
	case CODE_GROWS_TO_STRING:
		needs = other[LENGTH];
		break;
	case CODE_GROWS_BY_STRING:
		needs = own[LENGTH] + other[LENGTH];
		break;
	}
	/* the zero at its end counts only where it would look as large as the string's object, whose name it has */
	if (needs > own[ROOM])
		*size = own[ROOM] + (own[ROOM] == 4 * sizeof(uint64_t));
	return own[POINTER];
}

/*
 * A std::string is about to give its buffer back: libstdc++ frees it. Only what looks for data races asks for that, and then
 * there are no leases, so that memory is as it was when the task stopped. It is called by the string's name: to number it, as
 * memory that an operation names, would count it in some executions alone.
 */
static void note_given_back(struct world_task *t, const struct zug_event *e, const struct code_place *c)
{
	struct world_access *a = &t->access[t->nr_accesses];
	struct zug_where w = { 0 };
	uint64_t size;

	if (c->kind != CODE_BLOCK || !t->label.object || e->flags & ZUG_EF_LEASED)
		return;
	w.offset = buffer_given_back(t, e, code_block_access(c->size)->grows, &size);
	if (!size)
		return;
	*a = (struct world_access){
		.space = space_of(t, &w), .addr = w.offset, .size = size > 4096 ? 4096 : size, .write = true, .frees = true,
		.object = t->label.object,
	};
	t->nr_accesses++;
}

/* C++ lets several threads use these at a time, without a lock. */
static bool is_standard_stream(struct kworld *k, uint64_t object)
{
	static const char *const names[] = { "std::cout", "std::cerr", "std::clog", "std::cin" };
	const struct place_object *o = places_find_object(k->o.places, object);

	for (size_t i = 0; o && o->fixed && o->name && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(o->name, names[i]))
			return true;
	return false;
}

/*
 * A load near a loop that waits is also executed where nothing waits: the loop's last round, or the same function, called
 * elsewhere. A task that gave way to others there could never come past them. So it does where it stands as at its last visit;
 * and where it never does (the loop counts its rounds), at every 16th one.
 */
#define VISITS_MOST	16

static bool goes_round(struct rounds *r, const struct zug_event *e)
{
	size_t i = 0;
	bool same;

	while (i < ROUNDS_SITES && r->at[i].site != e->site + 1)
		i++;
	if (i == ROUNDS_SITES) {
		i = r->next++ % ROUNDS_SITES;
		r->at[i].site = e->site + 1;
		r->at[i].visits = 1;
		r->at[i].stands = e->ret;
		return false;
	}
	same = r->at[i].stands == e->ret;
	r->at[i].stands = e->ret;
	if (!same && ++r->at[i].visits < VISITS_MOST)
		return false;
	r->at[i].visits = 0;
	return true;
}

void kworld_label_code(struct kworld *k, struct world_task *t, struct ktask *kt, const struct zug_event *e,
		       const struct probe_site *s)
{
	struct zug_label *l = &t->label;
	struct zug_site what = { 0 };
	struct zug_event found;
	uint16_t second;
	uint32_t size;

	kt->split = (struct split){ 0 };
	l->op = s->op;
	l->flags = zug_op_flags(s->op) | (s->own ? ZUG_L_OWN : 0);
	l->site = places_site(k->o.places, t->process, e->ip);
	kt->yields = s->op == ZUG_OP_PAUSE || (s->waits && goes_round(&kt->rounds, e));
	probes_code_site(s, &what);
	if (!(what.flags & ZUG_SITE_OPERAND))
		return;
	t->in_handler = e->flags & ZUG_EF_HANDLER;
	if (!e->arg[0] && what.flags & ZUG_SITE_PIECES) {
		found = *e;
		find_pieces(t, &found, &s->code);
		e = &found;
		if (!e->arg[0])
			return;
	}
	size = bytes_of(k, t, s, e);
	l->object = add_access(k, t, e, ZUG_EF_OBJECT, e->arg[0], size, zug_op_flags(s->op) & ZUG_L_WRITE,
			       s->named_by ? s->named_by : s->op);
	if (s->code.kind == CODE_BLOCK && code_block_access(s->code.size)->stream && is_standard_stream(k, l->object))
		t->nr_accesses = 0;
	/* memory that other processes share stays, whoever unmaps it */
	if (s->code.kind == CODE_BLOCK && s->code.size == CODE_BLOCK_UNMAP && t->nr_accesses && k->kt[t->task].at[0].ino)
		t->nr_accesses = 0;
	/* what is read as well, or the whole of which this is a part: tasks that access that depend on this step */
	second = second_of(t, e, &s->code, &size);
	if (second) {
		l->object2 = add_access(k, t, e, ZUG_EF_OBJECT2, e->arg[1], size, second == CODE_WRITE, s->op);
		/* a literal: to name it says nothing */
		if (l->object2 && places_is_constant(k->o.places, l->object2)) {
			l->object2 = 0;
			t->nr_accesses--;
		} else if (s->op == ZUG_OP_DATA_WRITE && second == CODE_READ)
			l->flags |= ZUG_L_COPIES;
	} else if (s->within) {
		l->object2 = object_before(k, t, e, s->within, s->op);
		l->flags |= ZUG_L_PART;
	}
	if (t->nr_accesses && s->code.kind == CODE_BLOCK && code_block_access(s->code.size)->frees) {
		l->flags |= ZUG_L_FREES;
		t->access[0].frees = true;
		k->w.frees = true;
	}
	note_buffer(t, kt, e, &s->code);
	note_given_back(t, e, &s->code);
	if (s->split)
		kt->split = (struct split){ .phase = SPLIT_READ, .addr = e->arg[0], .size = s->code.size };
}

/* ---- split read-modify-writes ---- */

void kworld_split_passed(struct kworld *k, uint32_t task, bool leased)
{
	struct ktask *kt = &k->kt[task];

	if (kt->split.phase != SPLIT_READ)
		return;
	kt->split.phase = SPLIT_NONE;
	k->run.split_task = task;
	k->run.split_passed = true;
	k->run.split_leased = leased;
}

bool kworld_split_granted(struct kworld *k, uint32_t task)
{
	struct world_task *t = &k->w.tasks[task];
	struct split *s = &k->kt[task].split;
	uint8_t now[16];

	switch (s->phase) {
	case SPLIT_READ:
		/* memory that is not there: the instruction will fault, in one step as in two */
		s->known = remote_read(t->tgid, s->addr, s->old, s->size);
		s->phase = SPLIT_WRITE;
		k->run.split_task = task;
		k->run.split_passed = k->run.split_leased = false;
		return true;
	case SPLIT_WRITE:
		s->phase = SPLIT_NONE;
		if (s->known && remote_read(t->tgid, s->addr, now, s->size) && memcmp(now, s->old, s->size))
			remote_write(t->tgid, s->addr, s->old, s->size);
		return false;
	default:
		return false;
	}
}

bool kworld_split_next(struct kworld *k, struct world_event *ev)
{
	struct world_task *t;

	if (k->run.split_task == WORLD_NO_TASK)
		return false;
	t = &k->w.tasks[k->run.split_task];
	world_changed(&k->w, k->run.split_task);
	t->label.op = ZUG_OP_DATA_WRITE;
	t->label.flags = zug_op_flags(ZUG_OP_DATA_WRITE) | (t->label.flags & ZUG_L_OWN);
	t->access[0].write = true;
	t->state = k->run.split_passed && !k->run.split_leased ? TASK_RUNNING : TASK_PARKED;
	memset(ev, 0, sizeof(*ev));
	ev->kind = WORLD_POINT;
	ev->task = k->run.split_task;
	ev->waker = WORLD_NO_TASK;
	ev->passed = k->run.split_passed && !k->run.split_leased;
	ev->leased = k->run.split_leased;
	ev->ask = !ev->passed;
	if (ev->leased)
		k->run.lease.ahead = ev->task;
	k->run.split_task = WORLD_NO_TASK;
	return true;
}

/* ---- heat ---- */

void kworld_heat_free(struct heat *h)
{
	free(h->sites);
	id_map_free(&h->index);
	free(h->objects);
}

/* The use of an object in this execution, which begins with that task; NULL: out of memory. */
static struct heat_object *object_of(struct heat *h, uint64_t object, uint32_t task)
{
	const uint32_t *i;
	bool added;

	if (!ARRAY_RESERVE(h->objects, h->room_objects, h->index.nr + 1))
		return NULL;
	i = id_map_add(&h->index, object, h->index.nr, &added);
	if (!i)
		return NULL;
	if (added)
		h->objects[*i] = (struct heat_object){ .task = task };
	return &h->objects[*i];
}

void kworld_heat_hit(struct kworld *k, uint32_t site, uint32_t task, const struct zug_label *l)
{
	/* a fence belongs to the task that executes it */
	uint64_t object = l->object ? l->object : l->site | 1;
	struct heat *h = &k->heat;
	struct heat_site *s;
	struct heat_object *o;
	unsigned int i;

	if (site >= probes_nr_sites(k->o.probes) || !ARRAY_RESERVE_ZERO(h->sites, h->nr_sites, site + 1))
		return;
	s = &h->sites[site];
	s->hits++;
	o = object_of(h, object, task);
	if (!o)
		return;
	o->shared |= o->task != task;
	s->contended |= o->shared;
	for (i = 0; i < s->nr; i++)
		if (s->objects[i] == object)
			return;
	if (i < HEAT_OBJECTS)
		s->objects[s->nr++] = object;
}

/*
 * In this process alone, and until its next execution: the probe stays. Its page is the process's own since the
 * breakpoint was put there.
 */
void kworld_take_breakpoint(struct kworld *k, const struct world_task *t, uint32_t site, uint64_t ip)
{
	const struct probe_site *s = probes_site(k->o.probes, site);
	char path[64], err[256];
	const char *copy;
	uint8_t byte;
	int fd;

	if (!s || sandbox_privatise(k->o.sandbox, probes_module(k->o.probes, s->module)->path, &copy, err, sizeof(err)))
		return;
	fd = open(copy, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (pread(fd, &byte, 1, s->offset) != 1) {
		close(fd);
		return;
	}
	close(fd);
	snprintf(path, sizeof(path), "/proc/%d/mem", t->tgid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	/* where it cannot be written the process is only slower */
	if (pwrite(fd, &byte, 1, ip) != 1 && k->debug)
		fprintf(stderr, "the breakpoint at %lx stays\n", (unsigned long)ip);
	close(fd);
}

void kworld_heat_fold(struct heat *h)
{
	for (uint32_t i = 0; i < h->nr_sites; i++) {
		struct heat_site *s = &h->sites[i];

		for (unsigned int n = 0; n < s->nr; n++)
			s->contended |= h->objects[*id_map_find(&h->index, s->objects[n])].shared;
		if (s->hits > s->most)
			s->most = s->hits;
		s->hits = s->nr = 0;
	}
	id_map_clear(&h->index);
}

bool kworld_is_hot(struct world *w, uint32_t site, bool *contended)
{
	struct heat *h = &((struct kworld *)w)->heat;

	kworld_heat_fold(h);
	if (site >= h->nr_sites || h->sites[site].most < KWORLD_HOT)
		return false;
	*contended = h->sites[site].contended;
	return true;
}

uint32_t kworld_hits(struct world *w, uint32_t site)
{
	const struct heat *h = &((struct kworld *)w)->heat;

	return site < h->nr_sites ? h->sites[site].hits : 0;
}

/* ---- computations ---- */

void kworld_computes(struct kworld *k, uint32_t n, uint64_t site)
{
	if (!site && k->run.quiet_stops.task == n)
		k->run.quiet_stops.nr = 0;
	if (k->run.computed_long || (!site && k->run.computes != n))
		return;
	if (!site || k->run.computes != n)
		k->run.nr_stops = 0;
	k->run.computes = n;
	if (site)
		k->run.stops[k->run.nr_stops++] = site;
	k->run.computed_long = k->run.nr_stops == KWORLD_STOPS;
}

void kworld_loops(struct kworld *k, uint32_t n, uint64_t site)
{
	while (site && !k->run.computed_long)
		kworld_computes(k, n, site);
}

/* The task was stopped there too. true: all places since the first one of q are so near that they may be one loop. */
static bool is_near(struct quiet_stops *q, const struct place_site *at)
{
	if (!at || (q->nr && at->module != q->module))
		return false;
	if (!q->nr || at->offset < q->low)
		q->low = at->offset;
	if (!q->nr || at->offset > q->high)
		q->high = at->offset;
	q->module = at->module;
	return q->high - q->low <= QUIET_LOOP;
}

bool kworld_waits_quietly(struct kworld *k, const struct world_task *t)
{
	struct quiet_stops *q = &k->run.quiet_stops;
	uint32_t passed = kworld_state(k)->nr_quiet;
	bool near;

	if (q->task != t->task || q->passed != passed)
		*q = (struct quiet_stops){ .task = t->task, .passed = passed };
	near = is_near(q, places_find_site(k->o.places, t->label.site));
	q->scattered |= !near;
	if (++q->nr < QUIET_STOPS)
		return false;
	if (!q->scattered)
		kworld_loops(k, t->task, t->label.site);
	*q = (struct quiet_stops){ .task = t->task, .passed = passed };
	return true;
}

unsigned int kworld_long_computation(struct world *w, const uint64_t **sites)
{
	struct kworld *k = (struct kworld *)w;

	*sites = k->run.stops;
	return k->run.computed_long ? k->run.nr_stops : 0;
}

