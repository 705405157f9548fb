/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <sys/uio.h>
#include "lib/base/remote.h"

ssize_t remote_read_some(pid_t pid, uint64_t addr, void *to, size_t len)
{
	struct iovec local = { to, len }, remote = { (void *)(uintptr_t)addr, len };
	ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return n < 0 ? -errno : n;
}

bool remote_read(pid_t pid, uint64_t addr, void *to, size_t len)
{
	return remote_read_some(pid, addr, to, len) == (ssize_t)len;
}

bool remote_write(pid_t pid, uint64_t addr, const void *from, size_t len)
{
	struct iovec local = { (void *)from, len }, remote = { (void *)(uintptr_t)addr, len };

	return process_vm_writev(pid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}
