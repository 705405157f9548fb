/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ZUG_PATIENT_WRITE_H
#define ZUG_PATIENT_WRITE_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

/* A reader that takes nothing for so long has gone, or stands in the way of all others. */
#define PATIENCE_NS 60000000000ull

/*
 * Writes all to another process's descriptor, which may be blocking, and whose mode is not ours to
 * change. 0 or -errno; -ETIMEDOUT: nothing was taken within patience_ns; -EINTR: *stop (NULL: none)
 * became true while the reader took nothing.
 */
int patient_write(int fd, const void *bytes, size_t len, uint64_t patience_ns, const volatile sig_atomic_t *stop);

#endif
