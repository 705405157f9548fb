/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * programs.h - the BPF programs and maps: loaded, or taken from where an earlier start has left them
 *
 * The verifier takes a second in an emulator, and the same programs have the same result until the machine is booted
 * again. So the first start pins them in /sys/fs/bpf/zugzwang/KEY. They are attached to nothing there. The next start
 * takes them, with the maps as they were left: programs_open() sets those back. One process at a time may use them; it
 * holds a lock on the folder, which ends with the process. Where there is no BPF file system, where it is another user's,
 * or the lock is held, programs are loaded for this process alone.
 */
#ifndef ZUG_PROGRAMS_H
#define ZUG_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

struct programs;
struct zug_bpf__bss;

/* 0, or -errno with a line in err. */
int programs_open(struct programs **out, char *err, size_t errlen);
/* All of them are attached as they should be, once: later starts may take them. */
void programs_keep(struct programs *p);
/* Later starts are to load new ones. */
void programs_discard(struct programs *p);
void programs_close(struct programs *p);

/* The variables of the programs. */
struct zug_bpf__bss *programs_variables(struct programs *p);
/* The descriptor of a program, or of a map; it stays p's. -ENOENT: this kernel has no use for that program. */
int programs_fd(struct programs *p, const char *name);
int programs_map(struct programs *p, const char *name);
/* True when the programs may write to the memory of processes. */
bool programs_may_write(const struct programs *p);
/* Makes ours the scheduler. The descriptor of the link, which becomes the caller's, or -errno. */
int programs_attach_ops(struct programs *p);

/* What libbpf has said of the last failure; "" for nothing. */
const char *programs_words(void);

#endif
