/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What signals and the ends of processes act on: a signal is known by the process that gets it and its number, the end of a
 * process by its parent, which looks for it or is told by a signal.
 *
 * Two operations on the same of these depend on each other: a kill() and the handler, an exit and waitpid(). kworld_labels.c
 * calls kworld_label_signals() for each system call, behind what it has named itself.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kworld/kworld_internal.h"
#include "lib/base/proc_status.h"

/* What a task does with a signal; all zeroes: there is no such task. */
static struct zug_ctl ask(struct kworld *k, int pid, int signal)
{
	struct zug_ctl c = {
		.cmd = ZUG_CMD_SIGNAL, .sandbox = sandbox_slot(k->o.sandbox), .pid = pid, .signal.signal = signal
	};

	return kernel_ctl(k->o.kernel, &c) ? (struct zug_ctl){ 0 } : c;
}

bool kworld_has_signal(struct kworld *k, int pid)
{
	struct zug_ctl c = ask(k, pid, 1);

	return c.signal.pending & ~c.signal.blocked;
}

uint64_t kworld_blocked_signals(struct kworld *k, int pid)
{
	return ask(k, pid, 1).signal.blocked;
}

bool kworld_handles(struct kworld *k, int pid, int signal)
{
	return ask(k, pid, signal).signal.handled;
}

bool kworld_notices(struct kworld *k, int pid, int signal)
{
	struct zug_ctl c = ask(k, pid, signal);

	return c.signal.handled || c.signal.blocked >> (signal - 1) & 1;
}

/* Other threads of the process end with it. */
static bool ends_others(const struct kworld *k, const struct world_task *t)
{
	return world_living(&k->w, t->process, t);
}

uint64_t kworld_signal_object(struct kworld *k, uint32_t process, int signal)
{
	uint64_t id = zug_signal_object(process, signal);
	const char *abbrev = sigabbrev_np(signal);
	char name[32];

	if (abbrev)
		snprintf(name, sizeof(name), "SIG%s", abbrev);
	else
		snprintf(name, sizeof(name), "signal %d", signal);
	places_named(k->o.places, id, "signal", name);
	return id;
}

static uint64_t children_object(struct kworld *k, uint32_t process)
{
	uint64_t id = zug_children_object(process);
	char name[40];

	snprintf(name, sizeof(name), "children of T%u", process);
	places_named(k->o.places, id, "children", name);
	return id;
}

/*
 * What the end of a process is an operation on: its parent's children, or the signal that the parent is told by, and then
 * *told. 0: its parent has ended, or is none of the test's. e: with which it ends, or NULL; others may have gone on since, but
 * what the parent notices is in it then.
 */
static uint64_t end_object(struct kworld *k, uint32_t process, const struct zug_event *e, bool *told)
{
	const struct world_task *first = &k->w.tasks[process], *o = NULL;
	uint32_t parent = 0;

	*told = false;
	if (first->parent != WORLD_NO_TASK) {
		parent = k->w.tasks[first->parent].process;
		o = world_living(&k->w, parent, NULL);
	}
	if (!o)
		return 0;
	*told = e && e->flags & ZUG_EF_LEASED && e->word[0] ? e->word[1] : kworld_notices(k, o->pid, SIGCHLD);
	return *told ? kworld_signal_object(k, parent, SIGCHLD) : children_object(k, parent);
}

/*
 * kill(PID, 0): a task looks whether a process is there. That it ends makes a difference, and when its parent takes note of
 * that, with which its number is gone.
 */
static void label_look(struct kworld *k, struct zug_label *l, int pid)
{
	uint32_t of = pid > 0 ? kworld_task_of_tid(&k->w, pid) : WORLD_NO_TASK;
	bool told;

	if (pid > 0 && of == WORLD_NO_TASK)
		of = kworld_dead_of_tid(&k->w, pid);
	l->flags &= ~(ZUG_L_WRITE | ZUG_L_RELEASE);
	if (of == WORLD_NO_TASK)
		return;
	l->object = end_object(k, k->w.tasks[of].process, NULL, &told);
	if (told)
		l->object2 = children_object(k, k->w.tasks[k->w.tasks[k->w.tasks[of].process].parent].process);
}

/* A task wants a signal when its parent ends: if it has ended by then none comes. */
static void label_parent(struct kworld *k, const struct world_task *t, struct zug_label *l)
{
	uint32_t parent = k->w.tasks[t->process].parent;
	bool told;

	if (parent == WORLD_NO_TASK)
		return;
	parent = k->w.tasks[parent].process;
	l->object = end_object(k, parent, NULL, &told);
	if (told && k->w.tasks[parent].parent != WORLD_NO_TASK)
		l->object2 = children_object(k, k->w.tasks[k->w.tasks[parent].parent].process);
}

/* What a signal of process pid by that descriptor goes to, as the process itself would call it; -1: none that lives. */
static int pid_of_pidfd(pid_t pid, int fd)
{
	FILE *f = proc_fdinfo(pid, fd);
	char line[128], *number;
	int to = -1;

	/* the last number is that in the innermost namespace, which a test's processes have in common */
	while (f && to < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, "NSpid:", 6) && (number = strrchr(line, '\t')))
			to = atoi(number);
	if (f)
		fclose(f);
	return to;
}

/* A task sends a signal: what its receiver does next is another operation then. */
static void label_kill(struct kworld *k, struct zug_label *l, const struct zug_event *e)
{
	bool thread = e->nr == SYS_tgkill || e->nr == SYS_rt_tgsigqueueinfo;
	uint32_t to = WORLD_NO_TASK;
	int signal = (int)e->arg[thread ? 2 : 1], pid = (int)e->arg[thread ? 1 : 0];

	if (e->nr == SYS_pidfd_send_signal)
		pid = pid_of_pidfd(e->pid, pid);
	if (!signal) {
		if (e->nr == SYS_kill || e->nr == SYS_pidfd_send_signal)
			label_look(k, l, pid);
		return;
	}
	l->flags |= ZUG_L_ENDS_ALL;
	if (pid > 0)
		to = kworld_task_of_tid(&k->w, pid);
	if (to != WORLD_NO_TASK)
		l->object = kworld_signal_object(k, k->w.tasks[to].process, signal);
}

/* The only signal of a set; 0: it has none, or several. */
static int only_signal(uint64_t set)
{
	return set && !(set & (set - 1)) ? __builtin_ctzll(set) + 1 : 0;
}

/* A task waits for signals of a set: for which one, if there is only one. */
static void label_signal_wait(struct kworld *k, const struct world_task *t, struct zug_label *l, const struct zug_event *e)
{
	uint64_t set;

	if (e->nr == SYS_rt_sigtimedwait && remote_read(e->pid, e->arg[0], &set, sizeof(set)) && only_signal(set))
		l->object = kworld_signal_object(k, t->process, only_signal(set));
}

/* With several signals it could be about anything. */
void kworld_label_signal_read(struct kworld *k, const struct world_task *t, int fd, struct zug_label *l)
{
	char name[64], text[64];
	unsigned long long set = 0;
	ssize_t n;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/fd/%d", t->pid, fd);
	n = readlink(name, text, sizeof(text) - 1);
	if (n < 0)
		return;
	text[n] = 0;
	if (strcmp(text, "anon_inode:[signalfd]"))
		return;
	f = proc_fdinfo(t->pid, fd);
	while (f && fgets(text, sizeof(text), f))
		if (sscanf(text, "sigmask: %llx", &set) == 1)
			break;
	if (f)
		fclose(f);
	if (only_signal(set))
		l->object2 = kworld_signal_object(k, t->process, only_signal(set));
	else
		l->object = 0;
}

/* A process ends: its parent may look for that, or be told by a signal. */
static void label_end(struct kworld *k, const struct world_task *t, struct zug_label *l, const struct zug_event *e)
{
	uint64_t object;
	bool told;

	object = end_object(k, t->process, e, &told);
	if (object)
		l->object = object;
	if (told)
		l->flags |= ZUG_L_ENDS_ALL;
}

/*
 * A task says what is to become of a signal: sigaction(), or it blocks one. The end of a child that the task does not notice
 * yet is an operation on its children.
 */
static void label_signal_rule(struct kworld *k, const struct world_task *t, struct zug_label *l, const struct zug_event *e)
{
	int signal = e->nr == SYS_rt_sigprocmask ? only_signal(e->word[2] | (uint64_t)e->word[3] << 32) :
		     e->arg[1] ? (int)e->arg[0] : 0;

	if (signal == SIGCHLD)
		l->object = children_object(k, t->process);
	else if (signal)
		l->object = kworld_signal_object(k, t->process, signal);
}

void kworld_label_signals(struct kworld *k, struct world_task *t, const struct zug_event *e, struct zug_label *l)
{
	bool others = l->op == ZUG_OP_END && ends_others(k, t);

	if (l->op == ZUG_OP_KILL)
		label_kill(k, l, e);
	if (l->op == ZUG_OP_SIGNAL_WAIT)
		label_signal_wait(k, t, l, e);
	if (l->op == ZUG_OP_SIGACTION || l->op == ZUG_OP_SIGPROCMASK)
		label_signal_rule(k, t, l, e);
	if (l->op == ZUG_OP_PDEATHSIG)
		label_parent(k, t, l);
	if (e->nr == SYS_exit_group && others)
		l->flags |= ZUG_L_ENDS_ALL;
	if (e->nr == SYS_exit_group || (e->nr == SYS_exit && !others))
		label_end(k, t, l, e);
	/* it does not wait for the end: whether that has come makes a difference */
	if ((e->nr == SYS_wait4 && e->arg[2] & WNOHANG) || (e->nr == SYS_waitid && e->arg[3] & WNOHANG))
		l->object = children_object(k, t->process);
}
