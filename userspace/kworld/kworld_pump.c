/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pump: the one place that takes the events of the sandbox.
 *
 * kworld_pump() takes one event and lets it take effect on its task (kworld_events.c); what the engine is to be told of it
 * goes into a queue, in the order of the events. kworld_next() pumps until that queue has something. Code that does
 * something with one task on its own account, an *errand*, drives the same pump: it takes a task out of its wait, sends it
 * back, or lets it make a call that is to fail. The events that the errand waits for end there; all others take their
 * usual way, and are told later.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/base/array.h"
#include "kworld/kworld_internal.h"

/* Of steps that take microseconds: beyond it something is wrong. */
#define PATIENCE_US 2000000
/*
 * How long an uninterruptible wait keeps the turn before it is lent. Disk waits should be shorter: a task
 * whose turn was lent stops inside the kernel when it wakes up, and may hold locks there.
 */
#define LEND_AFTER_MS 2000
/* So long where the test itself serves files: it waits for the answer of a task that needs the turn for that. */
#define LEND_FUSE_AFTER_MS 10

/* ---- the queue ---- */

bool kworld_tell(struct kworld *k, const struct world_event *ev)
{
	struct told_events *q = &k->told_events;

	if (q->first == q->end)
		q->first = q->end = 0;
	if (!ARRAY_RESERVE(q->list, q->room, q->end + 1)) {
		k->run.broken = "out of memory";
		return false;
	}
	world_event_copy(&q->list[q->end++], ev);
	return true;
}

bool kworld_tell_first(struct kworld *k, const struct world_event *ev)
{
	struct told_events *q = &k->told_events;

	if (!kworld_tell(k, ev))
		return false;
	memmove(&q->list[q->first + 1], &q->list[q->first], (q->end - 1 - q->first) * sizeof(*ev));
	q->list[q->first] = *ev;
	return true;
}

static bool take(struct kworld *k, struct world_event *ev)
{
	struct told_events *q = &k->told_events;

	if (q->first == q->end)
		return false;
	world_event_copy(ev, &q->list[q->first++]);
	return true;
}

/* ---- the pump ---- */

/* True when the event is the errand's: it goes no further. */
static bool errand_takes(struct kworld *k, const struct zug_event *e)
{
	struct errand *d = &k->run.errand;

	if (!d->awaits)
		return false;
	if (e->kind == d->awaits && (e->task == d->kid || e->kind == ZUG_EV_ASK)) {
		d->came = *e;
		d->awaits = 0;
		return true;
	}
	if (e->task != d->kid)
		return false;
	/* queued again, for example by priority inheritance; a call that was refused for kworld_byte_flows.c */
	if (e->kind == ZUG_EV_WAKE || e->kind == ZUG_EV_FAULT)
		return true;
	/* a note of it, which is no way that it goes */
	if (e->kind == ZUG_EV_RETURNS)
		return false;
	/* it went another way: into the program, or to its end */
	d->strayed = true;
	return false;
}

static int pump(struct kworld *k, int64_t timeout_us, int wake_fd)
{
	struct zug_event e;
	int ret = kernel_event(k->o.kernel, sandbox_slot(k->o.sandbox), &e, timeout_us, wake_fd);
	bool asks = ret > 0 && e.flags & ZUG_EF_ASK;
	uint64_t now = asks ? clock_now_ns() : 0;

	if (ret > 0)
		kworld_prefix_note(k, &e);
	if (ret < 0)
		k->run.broken = ret == -ENOMEM ? "out of memory" : "the kernel side sent an event of a wrong size";
	else if (ret && !errand_takes(k, &e))
		kworld_handle(k, &e);
	if (asks) {
		k->run.spent.ns[SPENT_WAKE] += now - kworld_state(k)->asked_at;
		k->run.spent.ns[SPENT_READ] += clock_now_ns() - now;
	}
	if (kworld_state(k)->nr_lost)
		k->run.broken = "events of the test are lost: the event ring was full (please report this)";
	return k->run.broken ? -EIO : ret;
}

int kworld_pump(struct kworld *k)
{
	return pump(k, 0, -1);
}

int kworld_pump_for(struct kworld *k, int64_t timeout_us)
{
	return pump(k, timeout_us, -1);
}

/* ---- errands ---- */

void kworld_errand_begin(struct kworld *k, uint32_t n)
{
	k->run.errand = (struct errand){ .kid = k->kt[n].kid };
}

void kworld_errand_end(struct kworld *k)
{
	k->run.errand.kid = 0;
	k->run.errand.awaits = 0;
	kworld_waiters_all_changed(k);
}

int kworld_await(struct kworld *k, enum zug_event_kind kind)
{
	int ret;

	k->run.errand.awaits = kind;
	k->run.errand.strayed = false;
	do {
		ret = pump(k, PATIENCE_US, -1);
		if (ret <= 0)
			return ret ? ret : -ETIME;
	} while (k->run.errand.awaits && !k->run.errand.strayed);
	return k->run.errand.strayed ? -EAGAIN : 0;
}

int kworld_run_errand(struct kworld *k)
{
	uint32_t kid = k->run.errand.kid;
	int ret;

	kworld_give_turn(k, kid, k->w.tasks[kworld_number(k, kid)].pid);
	ret = kworld_await(k, ZUG_EV_BLOCK);
	/* the question of that stop is the errand's; it comes later where dying tasks had to run first */
	if (!ret && !(k->run.errand.came.flags & ZUG_EF_ASK))
		ret = kworld_await(k, ZUG_EV_ASK);
	return ret;
}

/* ---- waits that nothing of the test can end ---- */

/* No question comes before a task that sleeps while it dies is dead. */
static bool dying_wait(const volatile struct zug_sandbox *z)
{
	return !z->holder && !z->aux && z->need_ask && z->dying_waits;
}

/* For so many milliseconds the holder, or a task that dies, has been in an uninterruptible wait; 0: none is. */
static uint32_t stuck_ms(struct kworld *k)
{
	const volatile struct zug_sandbox *z = kworld_state(k);
	uint64_t since = z->holder_io ? z->io_since : dying_wait(z) ? z->dying_since : 0, now = clock_now_ns();

	if (!since || now < since)
		return 0;
	return (now - since) / 1000000 + 1;
}

/* That process waits for an answer of a FUSE server, while the test has one, or perhaps for a lock of another that does. */
static bool waits_for_own_files(struct kworld *k, uint32_t pid)
{
	char path[40], where[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/wchan", pid);
	f = fopen(path, "re");
	if (f) {
		if (!fgets(where, sizeof(where), f))
			where[0] = 0;
		fclose(f);
	}
	return (k->run.nr_lent || !strcmp(where, "request_wait_answer")) && kworld_serves_files(k, pid);
}

bool kworld_lend(struct kworld *k)
{
	const volatile struct zug_sandbox *z = kworld_state(k);
	uint32_t n = kworld_number(k, z->holder);
	struct zug_ctl c = { .cmd = ZUG_CMD_LEND, .sandbox = sandbox_slot(k->o.sandbox) };

	uint32_t ms = stuck_ms(k);

	if (ms <= LEND_FUSE_AFTER_MS || (n == WORLD_NO_TASK && !dying_wait(z)))
		return false;
	c.pid = n == WORLD_NO_TASK ? ZUG_LEND_DYING : (uint32_t)k->w.tasks[n].pid;
	if (ms <= LEND_AFTER_MS && (n == WORLD_NO_TASK || !waits_for_own_files(k, c.pid)))
		return false;
	return !kernel_ctl(k->o.kernel, &c);
}

/* ---- the turn ---- */

int kworld_give_turn(struct kworld *k, uint32_t kid, int pid)
{
	struct zug_ctl c = { .cmd = ZUG_CMD_GRANT, .sandbox = sandbox_slot(k->o.sandbox), .task = kid, .pid = pid };

	/* it gets it when the prefix has taken effect */
	if (k->prefix.feeding)
		return 0;
	kworld_looks_put_back(k);
	c.turn = k->run.turn;
	c.turn.granted_at = clock_now_ns();
	return kernel_ctl(k->o.kernel, &c);
}

/* A stop that was not for the search: no other task is asked about. */
static void go_on(struct kworld *k)
{
	kworld_give_turn(k, k->run.goes_on, k->run.goes_on_pid);
	k->run.goes_on = 0;
	k->run.goes_on_now = false;
	k->run.asked = false;
}

void kworld_answer_alone(struct kworld *k)
{
	if (k->run.goes_on_now)
		go_on(k);
	else
		kworld_grant(&k->w, k->run.root);
}

int kworld_next(struct world *w, struct world_event *ev, int64_t timeout_us, char *err, size_t errlen)
{
	struct kworld *k = (struct kworld *)w;
	const char *words;
	int ret;

	if (k->run.goes_on_now)
		go_on(k);
	/* the second step shares the label with the first, which has to be told before */
	if ((!k->run.split_passed || k->told_events.first == k->told_events.end) && kworld_split_next(k, ev))
		return 1;
	for (;;) {
		/* the timers of those that are not awake for good start anew, and may run out again: the caller has a say */
		if (k->run.asked && k->run.nr_held && !kworld_settle(k) && k->told_events.first == k->told_events.end)
			return 0;
		if (take(k, ev))
			return 1;
		if (k->run.goes_on_now) {
			go_on(k);
			continue;
		}
		ret = k->run.broken ? -EIO : kworld_prefix_next(k);
		ret = ret ? ret : pump(k, timeout_us, k->o.wake_fd);
		if (ret > 0)
			continue;
		/* without a scheduler nothing goes on as it should */
		words = ret ? kernel_thrown_out(k->o.kernel) : kernel_ejected(k->o.kernel);
		if (words) {
			snprintf(err, errlen, "the kernel ejected the scheduler: %s", words);
			return -EPIPE;
		}
		if (ret) {
			snprintf(err, errlen, "%s", k->run.broken);
			return ret;
		}
		kworld_lend(k);
		return 0;
	}
}
