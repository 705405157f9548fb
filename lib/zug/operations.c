/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * operations.c - the life of operations, the points at which they stand, and the decisions there
 *
 * op_point() is where to begin. The operation that has the turn says what it is about to do, and asks
 * the search itself: there is no thread that only decides. If the search chooses another one, the turn
 * is handed on. The candidates are kept from one decision to the next.
 */
#undef _FORTIFY_SOURCE		/* its longjmp() knows one stack only */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "lib/base/hash.h"
#include "search/rng.h"
#include "search/script.h"
#include "lib/zug/internal.h"
#include "lib/zug/under.h"

struct runtime z;
int zug_active;

/* ---- names ---- */

uint64_t name_id(const char *name)
{
	uint64_t id = mix64(hash_bytes(HASH_BEGIN, name, strlen(name)) ^ 0x64617461) | 1;
	bool added;
	uint32_t *at = id_map_add(&z.names, id, z.nr_names, &added);

	if (at && added && ARRAY_RESERVE(z.name_list, z.room_names, z.nr_names + 1))
		snprintf(z.name_list[z.nr_names++], NAME_LEN, "%s", name);
	return id;
}

struct zug_label op_label(unsigned int op, uint64_t object, const char *file, int line, const char *func)
{
	return (struct zug_label){ .op = (uint16_t)op, .flags = (uint16_t)zug_op_flags(op), .object = object,
				   .site = place_site(file, line, func) };
}

/* ---- candidates ---- */

static void place_enabled(struct operation *op)
{
	uint32_t at = ARRAY_FROM(z.nr_enabled, i, z.enabled[i] < op->pos);

	memmove(&z.enabled[at + 1], &z.enabled[at], (z.nr_enabled - at) * sizeof(*z.enabled));
	z.enabled[at] = op->pos;
	z.nr_enabled++;
}

static void set_enabled(struct operation *op, bool enabled)
{
	struct search_cand *c = &z.cands[op->pos];
	uint32_t at;

	if (c->enabled == enabled)
		return;
	c->enabled = enabled;
	log_event(enabled ? EVENT_ENABLE : EVENT_DISABLE, op->task, 0, 0);
	if (enabled) {
		place_enabled(op);
		return;
	}
	at = ARRAY_FROM(z.nr_enabled, i, z.enabled[i] < op->pos);
	z.nr_enabled--;
	memmove(&z.enabled[at], &z.enabled[at + 1], (z.nr_enabled - at) * sizeof(*z.enabled));
}

/* Candidates from 'from' on have moved by one place. */
static void renumber(uint32_t from, int by)
{
	for (uint32_t i = from; i < z.nr_cands; i++)
		z.ops[z.cands[i].task]->pos = i;
	for (uint32_t i = 0; i < z.nr_enabled; i++)
		if (z.enabled[i] >= from)
			z.enabled[i] += by;
}

/* The room is there. */
static void add_candidate(struct operation *op, const struct zug_label *label)
{
	uint32_t at = z.nr_cands;

	while (at && z.cands[at - 1].task > op->task)
		at--;
	memmove(&z.cands[at + 1], &z.cands[at], (z.nr_cands - at) * sizeof(*z.cands));
	z.nr_cands++;
	z.cands[at] = (struct search_cand){ .task = op->task, .parent = op->parent, .label = *label };
	if (at + 1 < z.nr_cands)
		renumber(at, 1);
	op->pos = at;
	set_enabled(op, true);
}

static void remove_candidate(struct operation *op)
{
	uint32_t at = op->pos;

	set_enabled(op, false);
	z.nr_cands--;
	memmove(&z.cands[at], &z.cands[at + 1], (z.nr_cands - at) * sizeof(*z.cands));
	if (at < z.nr_cands)
		renumber(at, -1);
}

/* ---- what an operation needs to go on ---- */

static bool is_met(const struct operation *op)
{
	const struct object *o = op->on;

	switch (op->need) {
	case NEED_NOTHING:
		return true;
	case NEED_SIGNAL:
		return false;
	case NEED_MUTEX:
		return !o->owner || (o->owner == op && o->recursive);
	case NEED_COUNT:
		return o->count > 0;
	case NEED_NO_WRITER:
		return !o->owner;
	case NEED_FREE:
		return !o->owner && !o->count;
	case NEED_END:
		return op->target->state == OP_ENDED;
	}
	return true;
}

static struct operation **pending_list(struct operation *op)
{
	return op->need == NEED_END ? &op->target->joiners : &op->on->pending;
}

void op_need(struct operation *op, enum need need, struct object *on)
{
	struct operation **list;

	op->need = need;
	op->on = on;
	if (need != NEED_NOTHING && need != NEED_SIGNAL) {
		list = pending_list(op);
		op->next_pending = *list;
		*list = op;
	}
	set_enabled(op, is_met(op));
}

/* It has the turn: it needs nothing any more. */
static void need_over(struct operation *op)
{
	struct operation **at;

	if (op->need != NEED_NOTHING && op->need != NEED_SIGNAL) {
		for (at = pending_list(op); *at && *at != op; at = &(*at)->next_pending)
			;
		if (*at)
			*at = op->next_pending;
	}
	op->need = NEED_NOTHING;
	op->on = NULL;
	op->target = NULL;
}

void op_wake_pending(struct object *o)
{
	for (struct operation *op = o->pending; op; op = op->next_pending)
		set_enabled(op, is_met(op));
}

/* A signal has come: what is left to wait for is a lock, or nothing. */
void op_signalled(struct operation *op)
{
	op->need = NEED_NOTHING;
	if (op->blocked)
		log_event(EVENT_WAKE, op->task, z.current->task, 0);
	op->blocked = false;
	z.cands[op->pos].blocked = false;
	progress_made(&z.progress);
}

/* ---- decisions ---- */

static struct search_point point_now(void)
{
	return (struct search_point){ .step = z.steps, .last = z.last, .yielded = z.yielded,
				      .nr = z.nr_cands, .cand = z.cands,
				      .enabled = z.enabled, .nr_enabled = z.nr_enabled };
}

/* dpor learns from it why a deadlock happened. */
void op_final(void)
{
	struct search_point p = point_now();

	if (z.steps && !z.diverged)
		search_final(z.search, &p);
}

static void check_replay(const struct search_cand *c)
{
	const struct trace_step *want = z.replay ? replay_step(z.replay, z.steps) : NULL;

	if (!want || z.diverged ||
	    (want->task == c->task && want->label.op == c->label.op && want->label.site == c->label.site))
		return;
	z.diverged = true;
	snprintf(z.divergence, sizeof(z.divergence), "step %lu: T%u was to %s, but T%u is about to %s",
		 (unsigned long)z.steps, want->task, zug_op_name(want->label.op), c->task,
		 zug_op_name(c->label.op));
}

/* Candidate i makes its step. */
static bool note_step(uint32_t i)
{
	const struct search_cand *c = &z.cands[i];
	bool yield = c->label.flags & ZUG_L_YIELD;

	if (z.replay)
		check_replay(c);
	if (!log_step(c))
		return false;
	if (z.last != c->task && z.last != SEARCH_NO_TASK && !z.yielded && z.ops[z.last]->state == OP_LIVE &&
	    z.cands[z.ops[z.last]->pos].enabled)
		z.preemptions++;
	z.hash = replay_hash(z.hash, c->task, &c->label);
	z.same = z.last == c->task && z.nr_enabled > 1 ? z.same + 1 : 0;
	z.last = c->task;
	z.yielded = yield || z.same >= PROGRESS_STARVING;
	if (z.yielded)
		z.same = 0;
	z.steps++;
	__atomic_store_n(&z.beat, (uint32_t)z.steps, __ATOMIC_RELAXED);
	progress_point(&z.progress, c->task, c->label.site, yield);
	return true;
}

static void cut(enum zug_outcome_kind kind, const char *why)
{
	end_set(kind, 0, "%s", why);
	z.fatal = kind == ZUG_OUTCOME_ENVIRONMENT;
}

/*
 * Nothing can go on: then time-outs can be over. The operations that wait with one are enabled for this
 * decision, to go on with EXPIRE.
 */
static void enable_timed(bool enable)
{
	for (uint32_t i = 0; i < z.nr_cands; i++) {
		struct operation *op = z.ops[z.cands[i].task];
		struct search_cand *c = &z.cands[i];

		if (!op->timed || op->need == NEED_NOTHING)
			continue;
		if (enable) {
			op->label_before = c->label;
			c->label.op = ZUG_OP_EXPIRE;
			c->label.flags |= (uint16_t)zug_op_flags(ZUG_OP_EXPIRE);
		} else {
			c->label = op->label_before;
		}
		set_enabled(op, enable);
	}
}

/* Its time-out is over: it waits for nothing. */
static void expire(struct operation *op)
{
	op->expired = true;
	if (op->need == NEED_SIGNAL) {
		wait_over(op);
		op_signalled(op);
	}
	need_over(op);
	set_enabled(op, true);
}

bool op_expired(struct operation *me)
{
	bool expired = me->expired;

	me->expired = me->timed = false;
	return expired;
}

/* The operation that gets the turn; NULL: the execution is over, as z.outcome says. */
static struct operation *decide(void)
{
	bool timed = !z.nr_enabled;
	struct operation *op;
	struct search_point p;
	char why[96];
	int i;

	if (timed)
		enable_timed(true);
	if (!z.nr_enabled) {
		end_deadlock();
		return NULL;
	}
	p = point_now();
	i = search_pick(z.search, &p);
	if (i == -ESTALE) {
		z.diverged = true;
		snprintf(z.divergence, sizeof(z.divergence), "step %lu: the operation that was to go on cannot",
			 (unsigned long)z.steps);
		i = search_pick(z.search, &p);
	}
	if (i == -ELOOP) {
		snprintf(why, sizeof(why), "no end within %lu steps", (unsigned long)z.steps);
		cut(ZUG_OUTCOME_TIMEOUT, why);
		return NULL;
	}
	if (i < 0 || !note_step((uint32_t)i)) {
		snprintf(why, sizeof(why), "the search refused step %lu: %s", (unsigned long)z.steps,
			 strerror(i < 0 ? -i : ENOMEM));
		cut(ZUG_OUTCOME_ENVIRONMENT, why);
		return NULL;
	}
	op = z.ops[z.cands[i].task];
	if (timed) {
		enable_timed(false);
		expire(op);
	}
	if (end_livelock())
		return NULL;
	return op;
}

static int leave(struct operation *me)
{
	if (me != z.root)
		turn_abandon(me);
	if (test_can_jump())
		test_jump();
	return ZUG_E_OVER;
}

/* The turn goes to the operation that the search chooses; returns when it is back. */
static int give_turn(struct operation *me)
{
	struct operation *next = decide();

	if (!next)
		return leave(me);
	if (next != me) {
		z.current = next;
		turn_pass(me);
	}
	return z.over ? leave(me) : 0;
}

int op_point(struct operation *me, const struct zug_label *label)
{
	int ret;

	z.cands[me->pos].label = *label;
	ret = give_turn(me);
	if (!ret && me->need != NEED_NOTHING)
		need_over(me);
	return ret;
}

/* It waits for what it has queued for: the next label is that of going on. */
void op_wait(struct operation *me)
{
	me->blocked = true;
	z.cands[me->pos].blocked = true;
	log_event(EVENT_BLOCK, me->task, 0, z.cands[me->pos].label.object);
	progress_made(&z.progress);
}

struct operation *op_now(int *error)
{
	*error = ZUG_E_NOT_OPERATION;
	if (!turn_is_mine(&z.current))
		return NULL;
	*error = ZUG_E_OVER;
	return z.over ? NULL : z.current;
}

struct operation *op_self(int *error)
{
	struct operation *me = op_now(error);

	if (!me && *error == ZUG_E_NOT_OPERATION && ZUG_IN_TEST)
		__atomic_store_n(&z.foreign, true, __ATOMIC_RELAXED);
	return me;
}

/* ---- the life of operations ---- */

static uint32_t handle_of(uint32_t task)
{
	return (__atomic_load_n(&z.execution, __ATOMIC_RELAXED) & 0x7ff) << 20 | (task + 1);
}

struct operation *op_of(int handle, int *error)
{
	uint32_t task = ((uint32_t)handle & 0xfffff) - 1;

	*error = ZUG_E_UNKNOWN;
	if (handle <= 0 || task >= OPERATIONS || !z.ops[task] || (uint32_t)handle != handle_of(task) ||
	    z.ops[task]->handle != (uint32_t)handle)
		return NULL;
	*error = 0;
	return z.ops[task];
}

static void set_name(struct operation *op, const char *name)
{
	if (name)
		snprintf(op->name, sizeof(op->name), "%s", name);
	else
		snprintf(op->name, sizeof(op->name), "operation %u", op->task);
}

/* A slot of that number. One whose thread was left behind is not used again: that thread still sleeps there. */
static struct operation *take_slot(uint32_t task)
{
	struct operation *op = z.ops[task], *was = op;
	/* it was set without a word to this thread where the test ended because that one came to no point (end_stuck()) */
	int state = op ? __atomic_load_n(&op->state, __ATOMIC_RELAXED) : OP_NONE;

	if (state != OP_NONE && state != OP_ENDED && !op->fiber && task) {
		turn_forget(op->host);
		op = NULL;
	}
	if (!op) {
		op = calloc(1, sizeof(*op));
		if (!op)
			return NULL;
	}
	if (op == was) {
		struct waiter *many = op->waiters != &op->one ? op->waiters : NULL;
		uint32_t room = many ? op->room_waiters : 0;
		void *stack = op->signal_stack;

		memset(op, 0, sizeof(*op));
		op->signal_stack = stack;
		op->waiters = many;
		op->room_waiters = room;
	}
	z.ops[task] = op;
	return op;
}

/* A new operation, a candidate from now on. */
static struct operation *op_new(struct operation *parent, const char *name, const struct zug_label *begin, int *error)
{
	uint32_t up = parent ? parent->task : SEARCH_NO_TASK, nth = parent ? parent->children : 0;
	uint32_t task = spawn_number(&z.spawn, up, nth);
	struct operation *op;

	*error = ZUG_E_MANY;
	if (task >= OPERATIONS)
		return NULL;
	*error = ZUG_E_MEMORY;
	op = take_slot(task);
	if (!op || !ARRAY_RESERVE(z.cands, z.room_cands, z.nr_cands + 1) ||
	    !ARRAY_RESERVE(z.enabled, z.room_enabled, z.nr_cands + 1))
		return NULL;
	if (task >= z.nr_ops)
		z.nr_ops = task + 1;
	op->task = task;
	op->parent = up;
	op->nth = nth;
	op->handle = handle_of(task);
	op->state = OP_CREATED;
	op->host = &op->own;
	if (parent)
		parent->children++;
	set_name(op, name);
	log_event(EVENT_NEW, task, 0, 0);
	add_candidate(op, begin);
	progress_made(&z.progress);
	return op;
}

uint64_t op_object(uint32_t task)
{
	return mix64(0x6f7065726174696full + task) | 1;
}

static struct operation *create(const char *name, const char *file, int line, const char *func, int *error)
{
	struct operation *me = op_self(error), *op;
	struct zug_label label;
	uint32_t task;

	if (!me)
		return NULL;
	task = spawn_number(&z.spawn, me->task, me->children);
	label = op_label(ZUG_OP_CREATE, op_object(task), file, line, func);
	*error = op_point(me, &label);
	if (*error)
		return NULL;
	label.op = ZUG_OP_BEGIN;
	label.flags = (uint16_t)zug_op_flags(ZUG_OP_BEGIN);
	label.object = 0;
	label.site = place_begin(file, line, func);
	op = op_new(me, name, &label, error);
	return op;
}

int zug_at_create_operation(const char *name, const char *file, int line, const char *func)
{
	int error;
	struct operation *op;

	if (under_zug)
		return under_create(name, CALLER);
	op = create(name, file, line, func, &error);
	return op ? (int)op->handle : error;
}

int op_spawn(const char *name, void (*fn)(void *arg), void *(*start)(void *arg), void *arg, const char *file, int line,
	     const char *func)
{
	struct operation *op;
	int error;

	if (!fn && !start)
		return ZUG_E_INVALID;
	op = create(name, file, line, func, &error);
	if (!op)
		return error;
	op->fn = fn;
	op->start = start;
	op->arg = arg;
	error = z.flags & ZUG_FIBERS ? fiber_assign(op) : thread_begin(op);
	if (error) {
		remove_candidate(op);
		op->state = OP_ENDED;
		return error;
	}
	op->claimed = 1;
	if (op->fiber)
		op->state = OP_LIVE;
	return (int)op->handle;
}

int zug_at_spawn(const char *name, void (*fn)(void *arg), void *arg, const char *file, int line, const char *func)
{
	if (under_zug)
		return under_spawn(name, fn, arg, CALLER);
	return op_spawn(name, fn, NULL, arg, file, line, func);
}

void op_run(struct operation *op)
{
	if (_setjmp(op->out))
		return;
	if (op->fn)
		op->fn(op->arg);
	else
		op->value = op->start(op->arg);
}

void op_exit(struct operation *me)
{
	_longjmp(me->out, 1);
}

int zug_at_start_operation(int handle, const char *file, int line, const char *func)
{
	int error;
	struct operation *op = op_of(handle, &error);

	(void)file, (void)line, (void)func;
	if (under_zug)
		return under_start(handle);
	if (!op)
		return error;
	if (__atomic_exchange_n(&op->claimed, 1, __ATOMIC_ACQ_REL))
		return ZUG_E_STARTED;
	turn_claim(&op->own);
	crash_stack(&op->signal_stack);
	turn_pin();
	turn_await(&op->own);
	__atomic_store_n(&op->state, OP_LIVE, __ATOMIC_RELAXED);
	return 0;
}

int zug_at_join_operation(int handle, const char *file, int line, const char *func)
{
	int error;
	struct operation *me = op_self(&error), *op;
	struct zug_label label;

	if (under_zug)
		return under_join(handle, CALLER);
	if (!me)
		return error;
	op = op_of(handle, &error);
	if (!op)
		return error;
	if (op == me)
		return ZUG_E_SELF;
	label = op_label(ZUG_OP_JOIN, op_object(op->task), file, line, func);
	z.cands[me->pos].label = label;
	me->target = op;
	op_need(me, NEED_END, NULL);
	return op_point(me, &label);
}

static void end_operation(struct operation *me)
{
	remove_candidate(me);
	me->state = OP_ENDED;
	log_event(EVENT_EXIT, me->task, 0, 0);
	progress_made(&z.progress);
	for (struct operation *op = me->joiners; op; op = op->next_pending)
		set_enabled(op, true);
}

/* After the last step of an operation: the turn is the next one's. */
static void next_after(void)
{
	struct operation *next = z.root;

	if (z.nr_cands)
		next = decide();
	z.current = next ? next : z.root;
}

static int finish_at(struct operation *me, const char *file, int line, const char *func)
{
	struct zug_label label = op_label(ZUG_OP_END, op_object(me->task), file, line, func);
	int ret = op_point(me, &label);

	if (ret)
		return ret;
	end_operation(me);
	next_after();
	return 0;
}

void op_finish(struct operation *me)
{
	finish_at(me, "", 0, me->name);
}

int zug_at_complete_operation(int handle, const char *file, int line, const char *func)
{
	int error;
	struct operation *me = op_self(&error), *op = op_of(handle, &error);

	if (under_zug)
		return under_complete(handle, CALLER);
	if (!op)
		return error;
	if (op->state == OP_ENDED)
		return ZUG_E_COMPLETED;
	if (!me)
		return z.over ? ZUG_E_OVER : ZUG_E_NOT_OPERATION;
	if (op == z.root)
		return ZUG_E_ROOT;
	if (op != me || me->fn || me->start)
		return ZUG_E_NOT_OWN;
	error = finish_at(me, file, line, func);
	if (!error)
		turn_leave(me);
	return error;
}

int op_begin_root(void)
{
	struct zug_label label = op_label(ZUG_OP_BEGIN, 0, "", 0, "");
	int error;

	/* its slot is the first */
	z.root = op_new(NULL, "test", &label, &error);
	if (!z.root)
		return error;
	z.root->claimed = 1;
	z.root->host = &z.root_host;
	z.root->state = OP_LIVE;
	z.current = z.root;
	turn_claim(&z.root_host);
	turn_pin();
	return 0;
}

bool op_end_root(void)
{
	struct operation *me = z.root;

	z.ending = true;
	if (finish_at(me, "", 0, "test"))
		return false;
	if (z.current != me)
		turn_pass(me);
	return !z.over;
}

/* ---- points ---- */

static int simple_point(unsigned int op, uint64_t object, const char *file, int line, const char *func)
{
	int error;
	struct operation *me = op_self(&error);
	struct zug_label label;

	if (!me)
		return error;
	label = op_label(op, object, file, line, func);
	return op_point(me, &label);
}

int zug_at_schedule_next(const char *file, int line, const char *func)
{
	if (under_zug)
		return under_point(ZUG_OP_POINT, NULL, CALLER);
	return simple_point(ZUG_OP_POINT, 0, file, line, func);
}

int zug_at_yield(const char *file, int line, const char *func)
{
	if (under_zug)
		return under_yield();
	return simple_point(ZUG_OP_YIELD, 0, file, line, func);
}

static int data_point(unsigned int op, const char *name, const char *file, int line, const char *func)
{
	int error;

	if (!op_self(&error))
		return error;
	return name ? simple_point(op, name_id(name), file, line, func) : ZUG_E_INVALID;
}

int zug_at_read(const char *name, const char *file, int line, const char *func)
{
	if (under_zug)
		return name ? under_point(ZUG_OP_DATA_READ, name, CALLER) : ZUG_E_INVALID;
	return data_point(ZUG_OP_DATA_READ, name, file, line, func);
}

int zug_at_write(const char *name, const char *file, int line, const char *func)
{
	if (under_zug)
		return name ? under_point(ZUG_OP_DATA_WRITE, name, CALLER) : ZUG_E_INVALID;
	return data_point(ZUG_OP_DATA_WRITE, name, file, line, func);
}

int zug_at_next_integer(int nr, const char *file, int line, const char *func)
{
	int error, value;
	struct operation *me = op_self(&error);
	uint32_t nth, said;
	unsigned int op;

	if (under_zug)
		return under_choose(nr, CALLER);
	if (!me)
		return error;
	if (nr < 1)
		return ZUG_E_INVALID;
	error = simple_point(ZUG_OP_CHOICE, 0, file, line, func);
	if (error)
		return error;
	nth = values_next(&z.values, me->task);
	if (z.follow_values) {
		value = (int)values_given(&z.values, me->task, nth, (uint32_t)nr);
	} else if (search_script_let(z.search, false, &op, &said) && op == ZUG_OP_CHOICE && said < (uint32_t)nr) {
		search_script_was_made(z.search, false);
		value = (int)said;
	} else {
		value = search_choose(z.search, (uint32_t)nr);
	}
	if (value < 0) {
		cut(ZUG_OUTCOME_ENVIRONMENT, "the search gave no value");
		return leave(me);
	}
	log_value((uint32_t)value);
	return value;
}
