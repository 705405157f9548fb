/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - the BPF side as seen from user space: load, attach, events, commands
 *
 * There is one root scheduler in a system, so at most one struct kernel is
 * open at a time (kernel_open() names the process that holds it otherwise). Single-threaded.
 */
#ifndef ZUG_KERNEL_H
#define ZUG_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include "bpf/zug_abi.h"

struct kernel;

/* Loads everything, and begins to attach it but for probes. 0, or -errno with one line in err. */
int kernel_open(struct kernel **out, char *err, size_t errlen);
/* Waits until all is attached: before the first task comes under control. 0, or -errno with one line in err. */
int kernel_ready(struct kernel *k, char *err, size_t errlen);
/*
 * No task is under control, nor comes under control, before kernel_wake(): the system calls of other processes cost nothing
 * meanwhile. Each takes milliseconds. wake: 0, or -errno with one line in err, and it rests on. After kernel_ready().
 */
void kernel_rest(struct kernel *k);
int kernel_wake(struct kernel *k, char *err, size_t errlen);
/* For more sandboxes than the first one: its events can be had. 0, or -errno with one line in err. */
int kernel_open_slot(struct kernel *k, unsigned int slot, char *err, size_t errlen);
/* After another process, a copy of this one, had it and is gone. */
void kernel_free_slot(struct kernel *k, unsigned int slot);
/*
 * In a copy of the process that has opened it: it can be used for other sandboxes, until the other process closes it. This
 * one must not. 0, or -errno with one line in err.
 */
int kernel_forked(struct kernel *k, char *err, size_t errlen);
/*
 * In a copy of the process, too: it makes a search of its own, besides others, with the sandbox `slot` and probes of its own.
 * The other process holds the scheduler, and attaches for it what is asked for: 0, or -errno with one line in err.
 */
enum kernel_extra { KERNEL_STEPS, KERNEL_FAULTS };
typedef int (*kernel_attach_fn)(void *ctx, enum kernel_extra what, char *err, size_t errlen);
int kernel_share(struct kernel *k, unsigned int slot, kernel_attach_fn ask, void *ctx, char *err, size_t errlen);
/* In that other process: attaches it. Until kernel_close(). */
int kernel_attach(struct kernel *k, enum kernel_extra what, char *err, size_t errlen);
/* In that other process, when the copy is gone, and its sandboxes were drained: its numbers and probes are others' to have. */
void kernel_search_gone(struct kernel *k, unsigned int slot);
/* The sandbox of this process's search; 0 but after kernel_share(). */
unsigned int kernel_first_slot(const struct kernel *k);
/*
 * Who gives a search more sandboxes and CPUs than its own, and takes them back; NULL: they are all its own. The search asks
 * for nr CPUs, its own among them (1: nothing more comes after that), and looks for changes: what it gets, and how many it is
 * to keep. What it gives back was freed before. forked: in a copy of the process, which must hold nothing of it.
 */
struct lane_change {
	bool keep;		/* no more than nr; else cpu and slot are its own */
	unsigned int nr, slot;
	int cpu;
};
struct lane_broker {
	void *ctx;
	void (*over)(void *ctx, int status);	/* kernel_over() */
	void (*want)(void *ctx, unsigned int nr);
	bool (*next)(void *ctx, struct lane_change *c);
	void (*freed)(void *ctx, int cpu, unsigned int slot);
	void (*forked)(void *ctx);
};
void kernel_set_broker(struct kernel *k, const struct lane_broker *b);
const struct lane_broker *kernel_broker(const struct kernel *k);
/*
 * All is done that the user waits for, with this exit status; what follows only takes down what was set up. k may be NULL, or
 * without a broker: then nothing is told.
 */
void kernel_over(const struct kernel *k, int status);
/* The CPU for the first sandbox where no option says another one; -1: the quietest one. */
void kernel_set_lane(struct kernel *k, int lane);
int kernel_lane(const struct kernel *k);
/* Detaches, also probes, and frees; all sandboxes must have been drained. NULL is fine. */
void kernel_close(struct kernel *k);

/* The mapped state of a slot, which commands change. */
const volatile struct zug_sandbox *kernel_sandbox(struct kernel *k, unsigned int slot);
/* One command; c->ret holds the kernel's answer, which is also returned. */
int kernel_ctl(struct kernel *k, struct zug_ctl *c);
/* For a child that adopts itself: the program to test_run. */
int kernel_ctl_fd(const struct kernel *k);
/* So long a task on the lane is waited for without sleeping, when it is to stop or to answer. */
unsigned int kernel_spin_us(const struct kernel *k);

/*
 * The next event of a sandbox into *e: 1; 0: none came within timeout_us (0: does not wait); -EPROTO, -ENOMEM: an event is
 * lost. Spins shortly, then sleeps; extra_fd (or -1), when it is readable, ends the wait too, with 0.
 */
int kernel_event(struct kernel *k, unsigned int slot, struct zug_event *e, int64_t timeout_us, int extra_fd);
/* The same for the event after the next nth ones, which all stay where they are. */
int kernel_look(struct kernel *k, unsigned int slot, size_t nth, struct zug_event *e, int64_t timeout_us);
/* Takes that event, which has come, out from among the others. */
void kernel_drop(struct kernel *k, unsigned int slot, size_t nth);
/* Drops all events that have come: they are of the sandbox's last execution. */
void kernel_forget(struct kernel *k, unsigned int slot);

/* The lease of a sandbox's holder: to be written while no task has the turn. */
struct zug_lease *kernel_lease(struct kernel *k, unsigned int slot);

/* Files that user space has a name for, by zug_file_place(): to be written at any time, run last. */
volatile struct zug_known_file *kernel_known_files(struct kernel *k, unsigned int slot);

/* What was read of the memory of the task whose system call stopped last: to be read before it goes on. */
const struct zug_call *kernel_call(struct kernel *k, unsigned int slot);

/* The kernel's words when it has thrown the scheduler out, else NULL. */
const char *kernel_ejected(struct kernel *k);
/* The same for a scheduler that is being thrown out just now: waits until it is over. */
const char *kernel_thrown_out(struct kernel *k);

/* A file whose probes stop tasks. module->number: index for events. */
int kernel_add_module(struct kernel *k, uint64_t ino, uint64_t st_dev, const struct zug_module *module);

/* The way from a place in a module's code to the caller of its system call; good until kernel_probes_round() is another one. */
void kernel_tell_step(struct kernel *k, uint32_t module, uint64_t offset, const struct zug_caller *c);
uint32_t kernel_probes_round(const struct kernel *k);

/* What is known of a caller of primitives; run: of what an interpreter executes, in that execution of the sandbox, else 0. */
void kernel_tell_caller(struct kernel *k, uint32_t mm, uint32_t run, uint64_t addr, const struct zug_caller *c);
/* What a function is that an interpreter executes in that sandbox, by its code object. */
void kernel_tell_code(struct kernel *k, uint32_t slot, uint64_t addr, const struct zug_code *c);

/* One probe: site is the index that events name. */
struct kernel_probe {
	uint64_t offset;	/* in the file */
	uint32_t site;
	struct zug_site what;
};
/*
 * Plants nr probes in one file in one go. -errno; *bad is then the index of the
 * first place the kernel refuses, where that can be told, else -1. bad NULL: they are planted by kernel_planted(), which
 * tells of such a place.
 */
int kernel_add_probes(struct kernel *k, uint32_t module, const char *file,
		      const struct kernel_probe *probes, int nr, int *bad);

/* True when the test can be given other answers than the processor's (Linux 6.18). */
bool kernel_can_answer(struct kernel *k);
/* An instruction that asks it, in a file that only the test executes; how: ZUG_ANSWER_*. 0 or -errno. */
struct kernel_answer {
	uint64_t offset, how;
};
/* They are planted by kernel_planted(). */
int kernel_add_answers(struct kernel *k, uint32_t module, const char *file, const struct kernel_answer *list, int nr);

/* What could not be planted. */
struct kernel_refused {
	uint32_t module;
	bool answers;
	bool place;		/* it is known which place the kernel refuses: that at offset */
	uint64_t offset;
};
/* Before an execution, and before this process is copied: waits until all is planted. 0, or -errno with *refused. */
int kernel_planted(struct kernel *k, struct kernel_refused *refused);

/*
 * Reads what a sandbox has been told of times of files, the first nr, or (write) sets it: an execution that begins as a
 * copy has been told them as well. 0 or -errno.
 */
int kernel_file_looks(struct kernel *k, unsigned int slot, struct zug_file_look *list, uint32_t nr, bool write);

/* Grows with every change of probes and watches. */
uint64_t kernel_probes_changed(const struct kernel *k);
/*
 * A sum of what an execution may meet before its search begins: files with places, those at which loops that wait stop,
 * those at which it begins, and answers. Other places are passed there, without a trace.
 */
uint64_t kernel_probes_begins(const struct kernel *k);
/* Takes all probes out and forgets modules and watches; nothing may be under control. */
void kernel_clear_probes(struct kernel *k);

/* Watches of the next execution; len 0 clears the slot. No task may be parked. 0, or -errno with a line in err. */
int kernel_set_watch(struct kernel *k, unsigned int i, const struct zug_watch *w, char *err, size_t errlen);
/* True when a watch covers a part of that memory in a process that executes that file (exe_dev: kernel_dev()). */
bool kernel_watched(const struct kernel *k, uint64_t addr, uint64_t size, uint32_t exe_dev, uint64_t exe_ino);
/* Opens breakpoint i of pid (and what it will create); enabled at its next exec. fd or -errno. */
int kernel_open_watch(struct kernel *k, unsigned int i, int pid, bool write_only);

/* False when the kernel is locked down: then a test cannot be told other CPUs, another time or random numbers. */
bool kernel_may_write(const struct kernel *k);
/*
 * From now on calls can be made to fail (ZUG_CMD_FAULT), which costs many calls on the machine a little. No task may
 * be parked meanwhile. 0, or -errno with a line in err.
 */
int kernel_allow_faults(struct kernel *k, char *err, size_t errlen);
/* Functions can be made to return at once (ZUG_FAULT_RETURN): 0, or -EOPNOTSUPP with a line in err. */
int kernel_may_return(char *err, size_t errlen);


/* Dev number as the kernel's programs see it. */
uint32_t kernel_dev(uint64_t st_dev);

#endif
