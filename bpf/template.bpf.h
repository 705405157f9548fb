/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * template.bpf.h - executions that begin as a fork of a process that stands still
 *
 * The *prototype* is the first process of an execution that was started by exec, and stands where executions may
 * part (ZUG_CMD_TEMPLATE). Its state and its sandbox's are kept. From then on it is of no execution, and its child, the
 * *template*, is of none either: both run freely, in system calls that user space makes in their place. A child of the
 * template is the first process of the execution that goes on. It begins with the state that the prototype had, and its
 * sandbox with the prototype's: one cannot tell such an execution from one that was started by exec and has come as far.
 * It is under control when user space says so (ZUG_CMD_GO), and has the turn then.
 */
#ifndef ZUG_TEMPLATE_BPF_H
#define ZUG_TEMPLATE_BPF_H

/* The sandboxes' state when their prototypes stood still. */
struct zug_sandbox kept_sandboxes[ZUG_MAX_SANDBOXES];

/* The holder becomes a prototype. It stands still, stopped by a debugger. */
static __always_inline int template_keep(struct zug_sandbox *s, __u32 slot, struct task_state *t)
{
	if (slot >= ZUG_MAX_SANDBOXES || !member(t, s) || s->holder != t->id || s->aux || s->grant || s->next_id != 2)
		return -11; /* EAGAIN */
	__builtin_memcpy(&kept_sandboxes[slot], s, sizeof(*s));
	t->flags = (t->flags & ~(TF_TRACED | TF_STOP | TF_BLIP)) | TF_PROTOTYPE;
	/* of no execution */
	t->run = 0;
	s->holder = 0;
	s->template_run = s->run;
	return 0;
}

/* The sandbox is as it was then. */
static __always_inline void template_restore(struct zug_sandbox *s, const struct zug_sandbox *kept)
{
	/*
	 * the prototype was told times of files that count from there; the files of an environment that was made since
	 * are older
	 */
	if (kept->nr_file_looks) {
		s->setup.files_since = kept->setup.files_since;
		if (s->setup.files_done > kept->setup.files_since) {
			s->setup.files_until = s->setup.files_done;
		} else {
			s->setup.files_from = kept->setup.files_from;
			s->setup.files_until = kept->setup.files_until;
		}
	}
	s->next_id = kept->next_id;
	s->clock = kept->clock;
	s->looks = kept->looks;
	s->nr_idle = kept->nr_idle;
	s->nr_file_looks = kept->nr_file_looks;
	s->quiet = kept->quiet;
	s->nr_points = kept->nr_points;
	s->nr_asks = kept->nr_asks;
	s->nr_switches = kept->nr_switches;
	s->forked = 1;
}

/* True when the child t of parent is a template, or begins an execution. */
static __always_inline bool template_forks(struct zug_sandbox *s, const struct task_state *parent, struct task_state *t)
{
	__u32 slot = parent->slot;

	if (!(parent->flags & (TF_PROTOTYPE | TF_TEMPLATE)) || slot >= ZUG_MAX_SANDBOXES)
		return false;
	__builtin_memcpy(t, parent, sizeof(*t));
	t->flags &= ~(TF_PROTOTYPE | TF_TEMPLATE);
	if (parent->flags & TF_PROTOTYPE) {
		t->flags |= TF_TEMPLATE;
		return true;
	}
	t->flags |= TF_PRE;
	t->run = s->run;
	template_restore(s, &kept_sandboxes[slot]);
	return true;
}

/* The first process, which is stopped by a debugger as its template was, is under control and has the turn. */
static __always_inline int template_go(struct zug_sandbox *s, struct task_state *t)
{
	if (!member(t, s) || !(t->flags & TF_PRE) || s->holder || s->grant)
		return -11; /* EAGAIN */
	t->flags = (t->flags & ~TF_PRE) | TF_TRACED;
	s->turn_since = bpf_ktime_get_ns();
	s->holder = t->id;
	return 0;
}

#endif
