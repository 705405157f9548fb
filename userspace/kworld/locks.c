/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Layouts (x86-64), which the libraries keep stable because programs are compiled against them:
 *
 *	glibc mutex	int lock, unsigned count, int owner, unsigned users, int kind
 *	musl mutex	int type, int lock (owner's tid, top bit: waiters), ...
 *	glibc rwlock	unsigned readers (bit 0: write phase, bit 1: write locked, rest: readers), ...,
 *			int cur_writer at 24, unsigned kind at 48 (2: writers first)
 *	musl rwlock	int lock (0x7fffffff: a writer, else readers)
 *	glibc semaphore	unsigned value, ...; musl: int value
 *	glibc spinlock	int, 1 is free; musl: int, 0 is free
 *
 * Rust's standard library is compiled into programs, and so are its locks, since 1.62 (Mutex) and 1.63 (RwLock):
 *
 *	mutex	u32: 0 free, 1 taken, 2 taken and some wait
 *	rwlock	u32: low 30 bits readers, all set: a writer; bit 30: readers wait, bit 31: writers wait (both stop readers)
 */
#include <linux/futex.h>
#include <string.h>
#include <sys/uio.h>
#include "kworld/locks.h"
#include "lib/base/remote.h"

#define KIND_RECURSIVE		1
#define KIND_ERRORCHECK		2
#define KIND_TYPE		3
#define KIND_ROBUST		16
#define KIND_PI			32
/* Where glibc's rwlock has its kind. */
#define RWLOCK_KIND		48

#define PAGE_BYTES		4096
#define LOCK_BYTES		(LOCK_WORDS * sizeof(uint32_t))

void lock_memory_forget(struct lock_memory *m)
{
	m->nr = 0;
	m->moving = false;
	m->first = NULL;
	if (!++m->round)
		memset(m->index, 0, sizeof(m->index));
}

/* The place in the index from which on that address is looked for. */
static unsigned int place(uint64_t addr)
{
	return (addr * 0x9e3779b97f4a7c15ull >> 32) % LOCK_PLACES;
}

static bool is_used(const struct lock_memory *m, unsigned int i)
{
	return m->index[i].at && m->index[i].round == m->round;
}

void lock_memory_put(struct lock_memory *m, int pid, uint64_t addr, const uint32_t *words)
{
	unsigned int i = place(addr);

	if (m->nr == LOCK_MEMORY)
		return;
	while (is_used(m, i))
		i = (i + 1) % LOCK_PLACES;
	m->index[i].round = m->round;
	m->index[i].at = m->nr + 1;
	m->e[m->nr].pid = pid;
	m->e[m->nr].addr = addr;
	memcpy(m->e[m->nr++].words, words, sizeof(m->e[0].words));
}

unsigned int lock_memory_find(const struct lock_memory *m, int pid, uint64_t addr)
{
	for (unsigned int i = place(addr); is_used(m, i); i = (i + 1) % LOCK_PLACES) {
		unsigned int at = m->index[i].at - 1;

		if (m->e[at].addr == addr && m->e[at].pid == pid)
			return at;
	}
	return m->nr;
}

/* The words that are known to be there; NULL: they are not known. */
static const uint32_t *known(const struct lock_memory *m, int pid, uint64_t addr)
{
	unsigned int at = m->first ? lock_memory_find(m->first, pid, addr) : 0;

	if (m->first && at < m->first->nr)
		return m->first->e[at].words;
	at = lock_memory_find(m, pid, addr);
	return at < m->nr ? m->e[at].words : NULL;
}

/* What is not known of these addresses, ascending, each once; list has room for LOCK_FETCH. Their number. */
static unsigned int unknown(const struct lock_memory *m, int pid, const uint64_t *addrs, unsigned int nr, uint64_t *list)
{
	unsigned int wanted = 0, at;

	for (unsigned int i = 0; i < nr && wanted < LOCK_FETCH && m->nr + wanted < LOCK_MEMORY; i++) {
		if (known(m, pid, addrs[i]))
			continue;
		for (at = wanted; at && list[at - 1] > addrs[i]; at--)
			;
		if (at && list[at - 1] == addrs[i])
			continue;
		memmove(&list[at + 1], &list[at], (wanted++ - at) * sizeof(*list));
		list[at] = addrs[i];
	}
	return wanted;
}

/*
 * Locks that lie so near each other in one page are read in one piece: each piece costs the kernel a look at the page
 * tables.
 */
#define LOCK_GAP	128

static bool is_near(uint64_t addr, uint64_t next)
{
	return next - addr <= LOCK_GAP && addr / PAGE_BYTES == (next + LOCK_BYTES - 1) / PAGE_BYTES;
}

void lock_memory_fetch(struct lock_memory *m, int pid, const uint64_t *addrs, unsigned int nr)
{
	unsigned char read[LOCK_FETCH * LOCK_GAP + LOCK_BYTES];
	struct iovec local = { .iov_base = read }, remote[LOCK_FETCH];
	uint64_t list[LOCK_FETCH];
	unsigned int wanted = unknown(m, pid, addrs, nr, list), pieces = 0;
	size_t at[LOCK_FETCH];
	uint32_t words[LOCK_WORDS];
	ssize_t got;

	/* one alone is read when it is asked for */
	if (wanted < 2)
		return;
	for (unsigned int i = 0; i < wanted; i++) {
		if (i && is_near(list[i - 1], list[i])) {
			at[i] = at[i - 1] + (list[i] - list[i - 1]);
			remote[pieces - 1].iov_len += at[i] + LOCK_BYTES - local.iov_len;
		} else {
			at[i] = local.iov_len;
			remote[pieces++] = (struct iovec){ (void *)(uintptr_t)list[i], LOCK_BYTES };
		}
		local.iov_len = at[i] + LOCK_BYTES;
	}
	got = process_vm_readv(pid, &local, 1, remote, pieces, 0);
	for (unsigned int i = 0; i < wanted && got >= (ssize_t)(at[i] + LOCK_BYTES); i++) {
		memcpy(words, read + at[i], LOCK_BYTES);
		lock_memory_put(m, pid, list[i], words);
	}
}

static bool read_words(struct lock_memory *m, int pid, uint64_t addr, uint32_t *w, unsigned int nr)
{
	const uint32_t *words = nr <= LOCK_WORDS ? known(m, pid, addr) : NULL;
	uint32_t all[LOCK_WORDS];

	if (words) {
		memcpy(w, words, nr * sizeof(*w));
		return true;
	}
	if (m->moving)
		return false;
	/* a small one may lie at the end of what is mapped */
	if (nr > LOCK_WORDS || !remote_read(pid, addr, all, sizeof(all)))
		return remote_read(pid, addr, w, nr * sizeof(*w));
	lock_memory_put(m, pid, addr, all);
	memcpy(w, all, nr * sizeof(*w));
	return true;
}

bool lock_memory_get(struct lock_memory *m, int pid, uint64_t addr, uint32_t *words)
{
	return read_words(m, pid, addr, words, LOCK_WORDS);
}

unsigned int lock_reads(unsigned int op, uint64_t addr, enum symlibc libc, uint64_t *addrs)
{
	if (libc == SYMLIBC_NONE || !addr || !zug_op_waits_for_lock(op))
		return 0;
	addrs[0] = addr;
	addrs[1] = addr + RWLOCK_KIND;
	return op == ZUG_OP_WRLOCK && libc == SYMLIBC_GLIBC ? 2 : 1;
}

#define RUST_HOLDERS	0x3fffffffu

static bool rust_blocks(struct lock_memory *m, int pid, unsigned int op, uint64_t addr)
{
	uint32_t w;

	if (!zug_op_waits_for_lock(op) || !read_words(m, pid, addr, &w, 1))
		return false;
	if (op == ZUG_OP_RDLOCK)
		return (w & RUST_HOLDERS) == RUST_HOLDERS || w & ~RUST_HOLDERS;
	return w & (op == ZUG_OP_WRLOCK ? RUST_HOLDERS : UINT32_MAX);
}

static bool mutex_blocks(struct lock_memory *m, int pid, int tid, uint64_t addr, enum symlibc libc)
{
	uint32_t w[5];

	if (!read_words(m, pid, addr, w, 5))
		return false;
	if (libc == SYMLIBC_MUSL) {
		uint32_t owner = w[1] & FUTEX_TID_MASK;

		if (!(w[1] & 0x7fffffff) || (w[1] & FUTEX_OWNER_DIED))
			return false;
		return !((w[0] & 3) && owner == (uint32_t)tid);
	}
	if (w[4] & (KIND_ROBUST | KIND_PI)) {
		if (!(w[0] & FUTEX_TID_MASK) || (w[0] & FUTEX_OWNER_DIED))
			return false;
	} else if (!w[0]) {
		return false;
	}
	/* a relock that counts or fails returns at once */
	return !((w[4] & KIND_TYPE) >= KIND_RECURSIVE && (w[4] & KIND_TYPE) <= KIND_ERRORCHECK &&
		 w[2] == (uint32_t)tid);
}

bool lock_would_block(struct lock_memory *m, int pid, int tid, unsigned int op, uint64_t addr, enum symlibc libc)
{
	uint32_t w, kind;

	if (libc == SYMLIBC_NONE || !addr)
		return false;
	if (libc == SYMLIBC_RUST)
		return rust_blocks(m, pid, op, addr);
	switch (op) {
	case ZUG_OP_LOCK:
		return mutex_blocks(m, pid, tid, addr, libc);
	case ZUG_OP_RDLOCK:
		if (!read_words(m, pid, addr, &w, 1))
			return false;
		return libc == SYMLIBC_MUSL ? (w & 0x7fffffff) == 0x7fffffff : (w & 3) == 3;
	case ZUG_OP_WRLOCK:
		if (!read_words(m, pid, addr, &w, 1))
			return false;
		if (libc == SYMLIBC_MUSL)
			return (w & 0x7fffffff) != 0;
		if (!(w & 2) && !(w >> 3))
			return false;
		/* where writers come first one that waits stops readers: it must be let go and wait */
		return !read_words(m, pid, addr + RWLOCK_KIND, &kind, 1) || kind != 2;
	case ZUG_OP_SEM_WAIT:
		if (!read_words(m, pid, addr, &w, 1))
			return false;
		return libc == SYMLIBC_MUSL ? !(w & 0x7fffffff) : !w;
	case ZUG_OP_SPIN_LOCK:
		if (!read_words(m, pid, addr, &w, 1))
			return false;
		return libc == SYMLIBC_MUSL ? w != 0 : w != 1;
	}
	return false;
}

/* musl's mutexes: robust, with priority inheritance */
#define MUSL_KERNEL_SHARES (4 | 8)

bool lock_outlives_owner(unsigned int op, enum symlibc libc, const uint32_t *words)
{
	if (op != ZUG_OP_LOCK || libc == SYMLIBC_RUST)
		return false;
	return libc == SYMLIBC_MUSL ? words[0] & MUSL_KERNEL_SHARES : words[4] & (KIND_ROBUST | KIND_PI);
}

int lock_owner(struct lock_memory *m, int pid, unsigned int op, uint64_t addr, enum symlibc libc)
{
	uint32_t w[7];

	/* Rust's do not say */
	if (libc == SYMLIBC_NONE || libc == SYMLIBC_RUST || !addr)
		return 0;
	switch (op) {
	case ZUG_OP_LOCK:
	case ZUG_OP_TIMEDLOCK:
	case ZUG_OP_COND_WAIT:	/* relocking the mutex, whose address the caller passes */
		if (!read_words(m, pid, addr, w, 5))
			return 0;
		if (libc == SYMLIBC_MUSL)	/* a normal mutex does not say */
			return (w[0] & 15) ? (int)(w[1] & FUTEX_TID_MASK) : 0;
		if (w[4] & (KIND_ROBUST | KIND_PI))
			return w[0] & FUTEX_TID_MASK;
		return w[0] ? (int)w[2] : 0;
	case ZUG_OP_WRLOCK:
	case ZUG_OP_RDLOCK:
	case ZUG_OP_TIMEDRDLOCK:
	case ZUG_OP_TIMEDWRLOCK:
		if (libc != SYMLIBC_GLIBC || !read_words(m, pid, addr, w, 7))
			return 0;
		return w[6];
	}
	return 0;
}

bool lock_is_mutex(unsigned int op)
{
	switch (op) {
	case ZUG_OP_LOCK: case ZUG_OP_TRYLOCK: case ZUG_OP_TIMEDLOCK: case ZUG_OP_UNLOCK:
	case ZUG_OP_MUTEX_INIT: case ZUG_OP_MUTEX_DESTROY:
	case ZUG_OP_COND_WAIT: case ZUG_OP_COND_TIMEDWAIT:
		return true;
	}
	return false;
}

bool lock_read(struct lock_memory *m, int pid, unsigned int op, uint64_t addr, enum symlibc libc,
	       const uint32_t *words, struct lock_state *s)
{
	uint32_t w[5];

	/* of one of Rust's not all operations are told */
	if (!lock_is_mutex(op) || libc == SYMLIBC_NONE || libc == SYMLIBC_RUST || !addr)
		return false;
	if (words)
		memcpy(w, words, sizeof(w));
	else if (!read_words(m, pid, addr, w, 5))
		return false;
	memset(s, 0, sizeof(*s));
	if (libc == SYMLIBC_MUSL) {
		s->locked = w[1] & 0x7fffffff;
		s->recursive = w[0] & 3;
		s->owner = (w[0] & 15) ? (int)(w[1] & FUTEX_TID_MASK) : 0;
		return true;
	}
	if (w[4] & (KIND_ROBUST | KIND_PI))
		return false;	/* the kernel shares in their state */
	s->locked = w[0];
	s->recursive = (w[4] & KIND_TYPE) == KIND_RECURSIVE || (w[4] & KIND_TYPE) == KIND_ERRORCHECK;
	s->owner = w[0] ? (int)w[2] : 0;
	return true;
}
