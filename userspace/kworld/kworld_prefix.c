/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kworld_prefix.c - executions that begin as copies of a process that stands still (sandbox_template.h)
 *
 * kworld_make_template() starts the program once and follows it to the moment from which executions are copied. The events
 * up to there, the *prefix*, are kept. Only the program's start, and looks at what it has mapped, are questions among them:
 * all its points are passed, so that what they say is in the events alone. An execution from the template begins with
 * the prefix: its events take effect as if they came from the kernel side, and their questions are answered like any
 * other, but for the grants, of which the last is the copy's. So the engine cannot tell the two ways apart.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/base/array.h"
#include "kworld/kworld_internal.h"

#define STEP_US 50

void kworld_prefix_note(struct kworld *k, const struct zug_event *e)
{
	struct prefix *p = &k->prefix;

	/* what stops a prototype stops no execution */
	if (!p->recording || (e->kind == ZUG_EV_FRESH && e->arg[0]))
		return;
	if (!ARRAY_RESERVE(p->list, p->room, p->nr + 1)) {
		k->run.broken = "out of memory";
		return;
	}
	p->list[p->nr++] = *e;
}

/* ---- making the template ---- */

/* True for an event that an execution from a template can begin with. */
static bool can_begin(const struct zug_event *e)
{
	switch (e->kind) {
	case ZUG_EV_EXEC:
	case ZUG_EV_MODULE:
	case ZUG_EV_UNPROBED:
	case ZUG_EV_START:
	case ZUG_EV_FRESH:
	case ZUG_EV_RETURNS:
	case ZUG_EV_HOT:
		return true;
	case ZUG_EV_SIGNAL:
	case ZUG_EV_POINT:
		return e->flags & ZUG_EF_LONE && !(e->flags & ZUG_EF_WATCHED);
	}
	return false;
}

/* The events that have come, and the answers to their questions. 0, or -errno with the reason in err. */
static int take_events(struct kworld *k, int64_t timeout_us, char *err, size_t errlen)
{
	size_t first = k->prefix.nr;
	int ret;

	do {
		ret = kworld_pump_for(k, timeout_us);
		k->told_events.first = k->told_events.end = 0;
		if (ret < 0) {
			snprintf(err, errlen, "%s", k->run.broken);
			return ret;
		}
		for (; first < k->prefix.nr; first++)
			if (!can_begin(&k->prefix.list[first])) {
				snprintf(err, errlen, "it waits, or comes to a point, before the first system call at which copies could begin");
				return -ENOTSUP;
			}
		if (k->run.asked)
			kworld_answer_alone(k);
		timeout_us = 0;
	} while (ret);
	return 0;
}

/*
 * Follows the prototype to the moment. It stops twice at each system call, for some microseconds: so zug looks again at once,
 * and sleeps only where nothing has come for long. 0, or -errno with the reason in err.
 */
static int follow(struct kworld *k, pid_t prototype, uint64_t patience_ns, char *err, size_t errlen)
{
	uint64_t now = clock_now_ns(), end = now + patience_ns, stopped = now, spin_ns = kernel_spin_us(k->o.kernel) * 1000ull;
	int ret = 0, stop = 0;
	bool waits;

	while (!ret && stop != 1) {
		stop = sandbox_template_follow(k->o.sandbox, prototype, err, errlen);
		now = clock_now_ns();
		if (stop)
			stopped = now;
		waits = now - stopped >= spin_ns;
		if (!waits)
			__builtin_ia32_pause();
		ret = stop < 0 ? stop : take_events(k, waits ? STEP_US : 0, err, errlen);
		if (!ret && now > end) {
			snprintf(err, errlen, "it takes too long to come to its first point");
			ret = -ETIME;
		}
	}
	if (!ret && (!k->prefix.nr || !k->run.have_root || k->run.asked)) {
		snprintf(err, errlen, "it was never under control before its first point");
		ret = -ENOTSUP;
	}
	return ret;
}

/* hastens: up to its last call the prototype makes its calls without a stop, if an execution has told how many these are. */
static int make_template(struct kworld *k, bool hastens, uint64_t patience_ns, char *err, size_t errlen)
{
	struct launch l = k->o.launch;
	char ignored[256];
	uint32_t kid;
	int ret, status;

	sandbox_template_drop(k->o.sandbox);
	sandbox_template_learn(k->o.sandbox);
	k->prefix.hastened = sandbox_template_hasten(k->o.sandbox, hastens);
	kworld_begin(k, false);
	l.traced = true;
	k->prefix.nr = 0;
	ret = sandbox_prepare(k->o.sandbox, err, errlen);
	if (!ret) {
		sandbox_reset(k->o.sandbox);
		ret = sandbox_launch(k->o.sandbox, &l, &kid, err, errlen);
	}
	if (ret < 0)
		return ret;
	k->run.root_pid = ret;
	k->prefix.nr_touched = 0;
	k->prefix.recording = true;
	ret = follow(k, k->run.root_pid, patience_ns, err, errlen);
	k->prefix.recording = false;
	k->prefix.looks_out = k->run.turn.looks_out;
	if (!ret)
		ret = sandbox_template_keep(k->o.sandbox, k->run.root_pid, err, errlen);
	if (ret) {
		sandbox_template_drop(k->o.sandbox);
		sandbox_drain(k->o.sandbox, k->run.root_pid, &status);
		sandbox_finish(k->o.sandbox, &k->o.launch, ignored, sizeof(ignored));
	}
	return ret;
}

int kworld_make_template(struct world *w, uint64_t patience_ns, char *err, size_t errlen)
{
	struct kworld *k = (struct kworld *)w;
	int ret = make_template(k, true, patience_ns, err, errlen);

	if (ret && k->prefix.hastened)
		ret = make_template(k, false, patience_ns, err, errlen);
	return ret && sandbox_template_earlier(k->o.sandbox) ? make_template(k, false, patience_ns, err, errlen) : ret;
}

/* ---- executions ---- */

bool kworld_used_template(const struct world *w)
{
	return ((const struct kworld *)w)->prefix.used;
}

#define PAGE_BYTES 4096

/* One for each page. */
void kworld_unread(struct kworld *k, const struct world_task *t, uint64_t addr)
{
	struct prefix *p = &k->prefix;

	if (!addr || t->process != k->run.root || p->nr_unread == UNREAD_LOCKS)
		return;
	for (uint32_t i = 0; i < p->nr_unread; i++)
		if (p->unread[i] / PAGE_BYTES == addr / PAGE_BYTES)
			return;
	p->unread[p->nr_unread++] = addr;
}

/*
 * A task stops before a lock that the kernel side cannot read. In each copy that is so at the first lock of a page that the
 * program had not touched before the template was made; a page that is there in the template is there in its copies.
 */
static void touch(struct kworld *k)
{
	struct prefix *p = &k->prefix;

	for (; p->nr_touched < p->nr_unread; p->nr_touched++)
		sandbox_template_touch(k->o.sandbox, p->unread[p->nr_touched], LOCK_WORDS * sizeof(uint32_t));
}

bool kworld_fork(struct world *w)
{
	struct kworld *k = (struct kworld *)w;
	struct sandbox *s = k->o.sandbox;
	char ignored[256];
	pid_t pid = -1;

	if (!sandbox_template_there(s))
		return false;
	/* what is wrong here is said when the execution is started by exec */
	if (!sandbox_prepare(s, ignored, sizeof(ignored))) {
		sandbox_reset(s);
		touch(k);
		pid = sandbox_template_fork(s);
	}
	if (pid < 0)
		sandbox_template_drop(s);
	else
		k->prefix.pid = pid;
	return pid > 0;
}

bool kworld_take_copy(struct kworld *k)
{
	struct prefix *p = &k->prefix;

	if (!p->pid)
		return false;
	k->run.root_pid = p->pid;
	p->pid = 0;
	p->used = p->feeding = k->w.told_again = true;
	k->run.turn.looks_out = p->looks_out;
	p->next = 0;
	return true;
}

int kworld_prefix_next(struct kworld *k)
{
	struct prefix *p = &k->prefix;
	struct zug_event e;

	if (!p->feeding || k->run.asked)
		return 0;
	if (p->next == p->nr) {
		p->feeding = k->w.told_again = false;
		kworld_lease_begin(k, k->run.root);
		if (!sandbox_template_go(k->o.sandbox, k->run.root_pid, &k->run.turn))
			return 0;
		k->run.broken = "the copy of the template does not go on";
		return -EIO;
	}
	e = p->list[p->next++];
	/* its breakpoint is out of the template already */
	if (e.kind == ZUG_EV_HOT)
		return 1;
	e.pid = e.tgid = k->run.root_pid;
	/* as of any fork: an address space is told by the number of its process */
	if (e.kind == ZUG_EV_EXEC || e.kind == ZUG_EV_MODULE || e.kind == ZUG_EV_UNPROBED)
		e.arg[3] = 0;
	kworld_handle(k, &e);
	return k->run.broken ? -EIO : 1;
}
