/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "kworld/spin.h"

/* linux/fs.h of the build machine may be older than the kernel that zug runs on. */
struct scan_region {
	uint64_t start, end, categories;
};

struct scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
#define SCAN_IOCTL		_IOWR('f', 16, struct scan_arg)
#define SCAN_IS_SOFT_DIRTY	(1ull << 7)
#define USER_END		0x7ffffffff000ull

void spin_reset(struct spin_trial *s)
{
	s->task = WORLD_NO_TASK;
	s->nr = 0;
}

static int open_of(int pid, const char *name, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return open(path, flags | O_CLOEXEC);
}

static bool forget_writes(int pid)
{
	int fd = open_of(pid, "clear_refs", O_WRONLY);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, "4", 1) == 1;
	close(fd);
	return ok;
}

/* True when memory was written since forget_writes(), but around the thread pointer, or when that is unknown. */
static bool has_written(int pid, uint64_t thread_pointer)
{
	struct scan_region r[8];
	struct scan_arg a = {
		.size = sizeof(a), .end = USER_END, .vec = (uintptr_t)r, .vec_len = 8,
		.category_mask = SCAN_IS_SOFT_DIRTY, .return_mask = SCAN_IS_SOFT_DIRTY,
	};
	uint64_t lo = (thread_pointer & ~0xfffull) - 0x1000, hi = lo + 0x3000;
	int fd = open_of(pid, "pagemap", O_RDONLY), n;
	bool wrote = fd < 0;

	while (!wrote && (n = ioctl(fd, SCAN_IOCTL, &a)) != 0) {
		wrote = n < 0;
		for (int i = 0; i < n && !wrote; i++)
			wrote = r[i].start < lo || r[i].end > hi;
		if (a.walk_end >= USER_END)
			break;
		a.start = a.walk_end;
	}
	if (fd >= 0)
		close(fd);
	return wrote;
}

enum spin_verdict spin_sample(struct spin_trial *s, uint32_t task, int pid, const __u64 *regs,
			      uint64_t thread_pointer)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (int i = 0; i < 17; i++)
		h = (h ^ regs[i]) * 0x9e3779b97f4a7c15ull + (h >> 29);
	if (s->task != task) {
		if (!forget_writes(pid))
			return SPIN_NO;
		s->task = task;
		s->nr = 0;
	} else if (has_written(pid, thread_pointer)) {
		spin_reset(s);
		return SPIN_NO;
	}
	for (unsigned int i = 0; i < s->nr; i++)
		if (s->states[i] == h)
			return SPIN_PROVEN;
	if (s->nr == SPIN_SAMPLES) {
		spin_reset(s);
		return SPIN_NO;
	}
	s->states[s->nr++] = h;
	return SPIN_AGAIN;
}
