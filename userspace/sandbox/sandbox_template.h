/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sandbox_template.h - executions that are forked from a process that stands still
 *
 * All executions of a test are equal until one of them makes a second task, or anything that a fork would share. So a
 * *prototype* is started by sandbox_launch() with launch.traced, and followed to that moment by
 * sandbox_template_follow(). sandbox_template_keep() makes a copy of it, the *template*, which stands there until
 * sandbox_template_drop(). For each execution sandbox_template_fork() makes a copy of that, with the pid that a program
 * has that was started by exec, and sandbox_template_go() lets it go on: it makes the call before which the prototype
 * stood. The BPF side gives it the prototype's state (bpf/template.bpf.h).
 *
 * The template lives in one environment, and so do the executions that are forked from it. Where one of them has changed
 * something there, the next ones enter another one that was made of the same things (sandbox_keep.c).
 */
#ifndef ZUG_SANDBOX_TEMPLATE_H
#define ZUG_SANDBOX_TEMPLATE_H

#include "sandbox/sandbox.h"

/* Begins to trace it, before its exec: for sandbox_launch(). 0, or -errno with a line in err. */
int sandbox_template_trace(pid_t pid, char *err, size_t errlen);
/*
 * An execution that was started by exec has told how many calls it made up to the moment. With wanted the next prototype makes
 * them without a stop, if that is known; the kernel side tells when it has come there (FRESH, arg[0] 1), and
 * sandbox_template_halt() stops it. Without it is followed from its first call on. True when it makes them without a
 * stop.
 */
void sandbox_template_learn(struct sandbox *s);
bool sandbox_template_hasten(struct sandbox *s, bool wanted);
void sandbox_template_halt(struct sandbox *s, pid_t prototype);
/*
 * Lets the prototype go on from its last stop, if it has stopped. 1: it stands at the moment; 2: it had stopped before
 * that, and goes on; 0: it has not stopped; -errno with the reason in err: there is no such moment.
 */
int sandbox_template_follow(struct sandbox *s, pid_t prototype, char *err, size_t errlen);
/*
 * No template could be made where the search begins. true: from now on the moment is an earlier one, before the first call
 * that would be a point.
 */
bool sandbox_template_earlier(struct sandbox *s);
/* The search begins at the moment, or behind it: no point comes before. */
bool sandbox_template_is_quiet(const struct sandbox *s);
/*
 * Makes the template, and ends the prototype, whose events have all been seen. 0, or -errno with the reason in err: then the
 * prototype is left for sandbox_drain().
 */
int sandbox_template_keep(struct sandbox *s, pid_t prototype, char *err, size_t errlen);
/* True when there is one, in an environment that is as it was. */
bool sandbox_template_there(const struct sandbox *s);
/* Why it was dropped, although it was not asked for; NULL: it was not. */
const char *sandbox_template_spoilt(const struct sandbox *s);
/* Has these pages of it there, as far as they are mapped: its copies begin with them. */
void sandbox_template_touch(struct sandbox *s, uint64_t addr, size_t len);
/* Ends it. */
void sandbox_template_drop(struct sandbox *s);

/* After sandbox_reset(): the first process of an execution, which stands still. Its pid, or -errno. */
pid_t sandbox_template_fork(struct sandbox *s);
/* It goes on, with the turn. 0 or -errno. */
int sandbox_template_go(struct sandbox *s, pid_t first, const struct zug_turn *turn);

#endif
