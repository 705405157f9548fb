/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * places.h - from the addresses of one execution to names that all executions share
 *
 * A process' address space is known by the executable mappings that the kernel
 * side reports (ZUG_EV_MODULE, ZUG_EV_UNPROBED). Code addresses become sites:
 * hash of (path, file offset). Objects get an id that does not depend on the
 * schedule:
 *
 *  - static data: its module, its offset, and the process (by its task's number);
 *  - files: their path; other descriptors and shared memory: (task that used it
 *    first, its ordinal among the objects that the task used first);
 *  - heap and stack: the same, from the operation that creates it on (an init
 *    call starts a new object at the same address). These ids are numbered (lib/label.h).
 */
#ifndef ZUG_PLACES_H
#define ZUG_PLACES_H

#include <stdbool.h>
#include <stdint.h>
#include "kernel/kernel.h"
#include "probes/probes.h"
#include "symbols/symbols.h"

struct places;

struct places *places_new(struct probes *probes, struct symbols *symbols);
void places_free(struct places *p);
void places_reset(struct places *p);	/* a new execution */
/* In table stands from now on which files have a name in the execution *run (struct zug_known_file). */
void places_say_known(struct places *p, volatile struct zug_known_file *table, const volatile uint32_t *run);

/* Feed: NEW (of a process), EXEC, MODULE, UNPROBED. task numbers are the engine's stable ones. */
void places_fork(struct places *p, uint32_t process, uint32_t parent);
void places_exec(struct places *p, uint32_t process, const struct zug_event *e);
void places_map(struct places *p, uint32_t process, const struct zug_event *e);

/* Code has places that lies in a file of which the kernel side does not know: the test has made it, for example. */
bool places_knows_strange(const struct places *p);

/* A process has this pid: what lies below /proc/PID is known by its task. */
void places_pid(struct places *p, int pid, uint32_t task);

/* The site of a code address; 0 unknown. Known sites can be asked for below. */
uint64_t places_site(struct places *p, uint32_t process, uint64_t addr);
/* Where the code of that site lies in a process; 0: it does not. */
uint64_t places_code(const struct places *p, uint32_t process, uint64_t site);
/* The site of an offset in a file. */
uint64_t places_site_in(struct places *p, uint32_t module, uint64_t offset);
struct place_site {
	uint64_t site;
	uint32_t module;
	uint64_t offset;
};
const struct place_site *places_find_site(const struct places *p, uint64_t site);

bool places_creates(unsigned int op);	/* a creating one: it initialises a lock or the like */
/*
 * The id of what lies there. process, task: whose operation it is (stable numbers);
 * fd: descriptor it was reached through, -1 for memory; op: a creating one makes a new object.
 */
uint64_t places_object(struct places *p, uint32_t process, uint32_t task, int pid,
		       const struct zug_where *w, int fd, unsigned int op);
/* The id of a file system entry by its path. */
uint64_t places_path(struct places *p, const char *path);
/* The same where the entry exists: two names of one inode (kernel_dev(st_dev), st_ino) are one object. */
uint64_t places_file(struct places *p, const char *path, uint32_t kdev, uint64_t ino);
/* The id of a file that was met already; 0: it was not. */
uint64_t places_known_file(const struct places *p, uint32_t kdev, uint64_t ino);
/* The inode's last name is about to vanish: its number may come again. */
void places_file_gone(struct places *p, uint32_t kdev, uint64_t ino);
/* The same for one that task creates now under a name that differs in every execution. */
uint64_t places_temporary(struct places *p, const char *path, uint32_t task);

/*
 * The id of an address that task binds or connects a socket to: numbered, for a port, or a folder in a path, may be
 * another one in every execution.
 */
uint64_t places_address(struct places *p, const void *address, size_t len, uint32_t task);

/* Takes down (address: not 0) to which address a socket is bound. That address; 0: none is known. */
uint64_t places_bound(struct places *p, uint64_t socket, uint64_t address);

/* The id of what a System V key stands for, in semget() or one of its kin: the number of that call. */
uint64_t places_key(struct places *p, int call, uint32_t ipc_key);

/* The id of the nth semaphore of a set, which task uses now. */
uint64_t places_semaphore(struct places *p, uint64_t set, unsigned int nth, uint32_t task);

/* The id of static data that an interpreter keeps by its name. */
uint64_t places_static(struct places *p, uint32_t process, const char *name, unsigned int op);
/* A numbered object has that name in the program; the second of that name "NAME #2". The first call counts. */
void places_call(struct places *p, uint64_t id, const char *name);
/* What an id stands for that lies nowhere: an amount of something, or a signal, said by name. */
void places_named(struct places *p, uint64_t id, const char *kind, const char *name);

struct place_object {
	uint64_t object;
	char kind[12];		/* "mutex", "file", "pipe"... */
	char *name;
	bool fixed;	/* static data: its memory is never another object's */
};
/* NULL: not an object of this execution. Names static data on demand. */
const struct place_object *places_find_object(struct places *p, uint64_t object);

/* True when the object is one of this execution that does not lie in memory: a file, a pipe, a signal. */
bool places_is_elsewhere(struct places *p, uint64_t object);

/* True when a path may lead to it. */
bool places_is_file(struct places *p, uint64_t object);

/*
 * Where the object lies, if it is static data that was met in this execution or an earlier one; false: that is not
 * known, or its file is not mapped now.
 */
bool places_static_address(struct places *p, uint64_t object, uint32_t *process, uint64_t *address);
/* In this execution no operation has been on the object yet: it gets its number by one of zug_object_task(), or not at all. */
bool places_is_to_come(const struct places *p, uint64_t object);

/* True when the object is static data whose type is _Atomic (symfile_is_atomic()). */
bool places_is_atomic(struct places *p, uint64_t object);

/* True when the object is static data that is mapped read-only: the text of a program, a literal. */
bool places_is_constant(struct places *p, uint64_t object);

/* Files mapped executable that had no probes, since the last call: paths for probes_add_file(). */
const char *places_next_unprobed(struct places *p);

/* The load bias of a module in a process: 0 and *bias, or -ENOENT. */
int places_bias(const struct places *p, uint32_t process, uint32_t module, uint64_t *bias);

#endif
