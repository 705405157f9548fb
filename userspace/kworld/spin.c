/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "kworld/spin.h"
#include "lib/base/remote.h"

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
#define SPIN_PAGE		4096

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

static uint64_t add_hash(uint64_t h, const void *data, size_t len)
{
	const uint64_t *words = data;

	for (size_t i = 0; i < len / sizeof(*words); i++)
		h = (h ^ words[i]) * 0x9e3779b97f4a7c15ull + (h >> 29);
	return h;
}

/* Adds a region's addresses and bytes to *h. false: it cannot be read, or *pages would be too many. */
static bool hash_region(int pid, const struct scan_region *r, unsigned int *pages, uint64_t *h)
{
	uint64_t page[SPIN_PAGE / 8];

	*h = add_hash(*h, r, 2 * sizeof(uint64_t));
	for (uint64_t at = r->start; at < r->end; at += SPIN_PAGE) {
		if (++*pages > SPIN_PAGES || !remote_read(pid, at, page, SPIN_PAGE))
			return false;
		*h = add_hash(*h, page, SPIN_PAGE);
	}
	return true;
}

/*
 * Adds to *h the memory that was written since forget_writes(), and to *pages how much it is: the pages around the thread
 * pointer are written by the kernel, too, and add their bytes alone. (A thread's stack may begin there, and all that a loop
 * of an unoptimised program changes.) false: that is unknown, or too much.
 */
static bool hash_written(int pid, uint64_t thread_pointer, uint64_t *h, unsigned int *pages)
{
	struct scan_region r[8];
	struct scan_arg a = {
		.size = sizeof(a), .end = USER_END, .vec = (uintptr_t)r, .vec_len = 8,
		.category_mask = SCAN_IS_SOFT_DIRTY, .return_mask = SCAN_IS_SOFT_DIRTY,
	};
	uint64_t lo = (thread_pointer & ~0xfffull) - 0x1000, hi = lo + 0x3000;
	int fd = open_of(pid, "pagemap", O_RDONLY), n;
	unsigned int shared = 0;
	bool known = fd >= 0;

	while (known && (n = ioctl(fd, SCAN_IOCTL, &a)) != 0) {
		known = n >= 0;
		for (int i = 0; i < n && known; i++) {
			struct scan_region below = { .start = r[i].start, .end = r[i].end < lo ? r[i].end : lo };
			struct scan_region above = { .start = r[i].start > hi ? r[i].start : hi, .end = r[i].end };
			struct scan_region both = { .start = r[i].start > lo ? r[i].start : lo,
						    .end = r[i].end < hi ? r[i].end : hi };

			known = (below.start >= below.end || hash_region(pid, &below, pages, h)) &&
				(both.start >= both.end || hash_region(pid, &both, &shared, h)) &&
				(above.start >= above.end || hash_region(pid, &above, pages, h));
		}
		if (a.walk_end >= USER_END)
			break;
		a.start = a.walk_end;
	}
	if (fd >= 0)
		close(fd);
	return known;
}

/* The time for which the task itself has run; 0: unknown. */
static uint64_t run_time(int pid)
{
	int fd = open_of(pid, "schedstat", O_RDONLY);
	char buf[32] = "";

	if (fd < 0)
		return 0;
	if (read(fd, buf, sizeof(buf) - 1) < 0)
		buf[0] = 0;
	close(fd);
	return strtoull(buf, NULL, 10);
}

/* The task is in the state that it was in at the last sample. */
static enum spin_verdict same_again(struct spin_trial *s, int pid, bool moved, bool stepped)
{
	uint64_t run_ns;

	if (moved)
		return SPIN_PROVEN;
	run_ns = run_time(pid);
	if (run_ns < s->run_ns + SPIN_TRIAL_NS)
		return SPIN_AGAIN;
	s->run_ns = run_ns;
	return ++s->same < SPIN_SAME || stepped ? SPIN_AGAIN : SPIN_PROVEN;
}

uint64_t spin_standing(int pid, const struct zug_regs *regs)
{
	/* in DWARF's order: rbx, rbp, rsp, r12 to r15 and rip */
	static const uint8_t kept[] = { 3, 6, 7, 12, 13, 14, 15, 16 };
	uint64_t h = 0xcbf29ce484222325ull, stack[SPIN_STACK / 8];
	size_t len = sizeof(stack);

	/* a stack may end before that */
	while (len >= 64 && !remote_read(pid, regs->regs[7], stack, len))
		len /= 2;
	if (len < 64)
		return 0;
	for (size_t i = 0; i < sizeof(kept); i++)
		h = add_hash(h, &regs->regs[kept[i]], sizeof(regs->regs[0]));
	return add_hash(h, stack, len) | 1;
}

enum spin_verdict spin_sample(struct spin_trial *s, uint32_t task, int pid, bool moved, const struct zug_regs *regs)
{
	uint64_t h = add_hash(0xcbf29ce484222325ull, regs, sizeof(*regs));
	unsigned int pages = 0;

	if (s->task != task) {
		if (!forget_writes(pid))
			return SPIN_NO;
		s->task = task;
		s->nr = 0;
	} else if (!hash_written(pid, regs->fsbase, &h, &pages) || (pages && !moved)) {
		/* a computation that writes works; at points it may write what is there already */
		spin_reset(s);
		return SPIN_NO;
	}
	if (s->nr && s->states[s->nr - 1] == h)
		return same_again(s, pid, moved, regs->stepped);
	for (unsigned int i = 0; i < s->nr; i++)
		if (s->states[i] == h)
			return SPIN_PROVEN;
	if (s->nr == (moved ? SPIN_SAMPLES : SPIN_TICKS)) {
		spin_reset(s);
		return SPIN_NO;
	}
	s->states[s->nr++] = h;
	s->same = 0;
	s->run_ns = run_time(pid);
	return SPIN_AGAIN;
}
