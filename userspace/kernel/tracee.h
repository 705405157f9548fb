/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracee.h - ptrace, of a task of the test
 *
 * A task is seized while it is parked, which does not disturb it, and stops only while it has the
 * turn: for the scheduler it keeps it. Everything is said of thread ids; errors are -errno.
 */
#ifndef ZUG_TRACEE_H
#define ZUG_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

int tracee_seize(pid_t tid);
/* It stops when it runs next, before another instruction of its program (but a probed one it stands before). */
int tracee_interrupt(pid_t tid);

/* True when it runs, rather than waits in the kernel. (An interrupted wait would not be what the schedule says.) */
bool tracee_computes(pid_t tid);

enum tracee_stop_kind {
	TRACEE_NONE = 0,	/* it has not stopped */
	TRACEE_GONE,
	TRACEE_INTERRUPTED,	/* as tracee_interrupt() asked */
	TRACEE_STEPPED,
	TRACEE_BREAKPOINT,	/* pc is behind an int3 */
	TRACEE_WATCHPOINT,	/* which: index */
	TRACEE_SIGNAL,		/* is about to get value */
	TRACEE_EXEC,
	TRACEE_EXITS,		/* value: wait status of the thread */
	TRACEE_GROUP_STOP,	/* the test stopped its own process */
};
struct tracee_stop {
	enum tracee_stop_kind kind;
	int value;
	uint64_t pc;
};
/* Says whether, and why, it has stopped. */
void tracee_poll(pid_t tid, struct tracee_stop *s);

/* From a stop. */
int tracee_resume(pid_t tid, bool step, int signal);
int tracee_detach(pid_t tid, int signal);

/*
 * Registers of a stopped task as gdb counts and packs them for x86-64: the integer ones, rip,
 * eflags, segments, x87, SSE; then orig_rax, fs_base, gs_base. tracee_description() describes it for gdb.
 */
#define TRACEE_REGS_SIZE 560
int tracee_get_registers(pid_t tid, uint8_t regs[TRACEE_REGS_SIZE]);
int tracee_set_registers(pid_t tid, const uint8_t regs[TRACEE_REGS_SIZE]);
int tracee_set_pc(pid_t tid, uint64_t pc);
/* Integer registers of a stopped task in DWARF order, then fs_base. */
int tracee_dwarf_registers(pid_t tid, uint64_t dwarf[18]);

/*
 * Integer registers in DWARF order and fs_base (as the kernel side reads them of a parked task) into the same form; known: a
 * byte for each.
 */
void tracee_pack_registers(const uint64_t dwarf[18], uint8_t regs[TRACEE_REGS_SIZE], uint8_t known[TRACEE_REGS_SIZE]);
/* The target description in XML; malloc'd, NULL: no memory. */
char *tracee_description(void);
/* Where register n lies; false: there is none. */
bool tracee_register_place(unsigned int n, size_t *offset, size_t *size);

/* Watched memory, by debug register i of 0..3. len 0: none. */
struct tracee_watch {
	uint64_t addr;
	unsigned int len;	/* 1, 2, 4, 8 */
	enum { TRACEE_WATCH_EXECUTE = 0, TRACEE_WATCH_WRITE = 1, TRACEE_WATCH_ACCESS = 3 } kind;
};
#define TRACEE_WATCHES 4
/*
 * The watches of one task, which stops right behind an access of its program; zeroed: it has none.
 * They are events of the kernel and not the registers that ptrace writes, because those can be
 * changed only in a ptrace stop, and a task that is parked before a probe is in none. They must be
 * off (tracee_pause_watches()) while an instruction is single-stepped, by ptrace or by the kernel
 * behind a probe, that accesses what they watch: the kernel does not tell such an access behind a
 * probe, and QEMU's emulation reports it once more in the kernel's own handler of it, which then
 * never ends: the machine stands still. A task that blocks SIGTRAP stops when it unblocks it.
 */
struct tracee_watches {
	int fds[TRACEE_WATCHES];
	unsigned int nr;
};
/* In place of those that it has. It need not be stopped. 0, or -errno: it has none then. */
int tracee_set_watches(pid_t tid, const struct tracee_watch w[TRACEE_WATCHES], struct tracee_watches *s);
void tracee_pause_watches(const struct tracee_watches *s, bool off);
void tracee_clear_watches(struct tracee_watches *s);

/* Memory, of a task that is alive; it need be neither stopped nor seized. Number of bytes, or -errno. */
ssize_t tracee_read(pid_t tid, uint64_t addr, void *buf, size_t len);
ssize_t tracee_write(pid_t tid, uint64_t addr, const void *buf, size_t len);	/* also where the program may not */

#endif
