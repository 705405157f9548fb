/* SPDX-License-Identifier: GPL-2.0-only */
/* primitives.c - the synchronisation primitives by name, and which of them a module defines or uses */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "probes/probes_internal.h"

/* The primitives, by name. In glibc the C11 ones call the others: those inner calls are no points. */
static const struct primitive {
	const char *name;
	uint16_t op;
	uint8_t obj_arg, obj2_arg;
} primitives[] = {
	{ "pthread_mutex_lock", ZUG_OP_LOCK, 1, 0 },
	{ "pthread_mutex_trylock", ZUG_OP_TRYLOCK, 1, 0 },
	{ "pthread_mutex_timedlock", ZUG_OP_TIMEDLOCK, 1, 0 },
	{ "pthread_mutex_clocklock", ZUG_OP_TIMEDLOCK, 1, 0 },
	{ "pthread_mutex_unlock", ZUG_OP_UNLOCK, 1, 0 },
	{ "pthread_mutex_init", ZUG_OP_MUTEX_INIT, 1, 0 },
	{ "pthread_mutex_destroy", ZUG_OP_MUTEX_DESTROY, 1, 0 },
	{ "pthread_cond_wait", ZUG_OP_COND_WAIT, 1, 2 },
	{ "pthread_cond_timedwait", ZUG_OP_COND_TIMEDWAIT, 1, 2 },
	{ "pthread_cond_clockwait", ZUG_OP_COND_TIMEDWAIT, 1, 2 },
	{ "pthread_cond_signal", ZUG_OP_COND_SIGNAL, 1, 0 },
	{ "pthread_cond_broadcast", ZUG_OP_COND_BROADCAST, 1, 0 },
	{ "pthread_cond_init", ZUG_OP_COND_INIT, 1, 0 },
	{ "pthread_cond_destroy", ZUG_OP_COND_DESTROY, 1, 0 },
	{ "pthread_rwlock_rdlock", ZUG_OP_RDLOCK, 1, 0 },
	{ "pthread_rwlock_wrlock", ZUG_OP_WRLOCK, 1, 0 },
	{ "pthread_rwlock_tryrdlock", ZUG_OP_TRYRDLOCK, 1, 0 },
	{ "pthread_rwlock_trywrlock", ZUG_OP_TRYWRLOCK, 1, 0 },
	{ "pthread_rwlock_timedrdlock", ZUG_OP_TIMEDRDLOCK, 1, 0 },
	{ "pthread_rwlock_timedwrlock", ZUG_OP_TIMEDWRLOCK, 1, 0 },
	{ "pthread_rwlock_clockrdlock", ZUG_OP_TIMEDRDLOCK, 1, 0 },
	{ "pthread_rwlock_clockwrlock", ZUG_OP_TIMEDWRLOCK, 1, 0 },
	{ "pthread_rwlock_unlock", ZUG_OP_RWUNLOCK, 1, 0 },
	{ "pthread_rwlock_init", ZUG_OP_RWLOCK_INIT, 1, 0 },
	{ "pthread_rwlock_destroy", ZUG_OP_RWLOCK_DESTROY, 1, 0 },
	{ "pthread_spin_lock", ZUG_OP_SPIN_LOCK, 1, 0 },
	{ "pthread_spin_trylock", ZUG_OP_SPIN_TRYLOCK, 1, 0 },
	{ "pthread_spin_unlock", ZUG_OP_SPIN_UNLOCK, 1, 0 },
	{ "pthread_spin_init", ZUG_OP_SPIN_INIT, 1, 0 },
	{ "pthread_spin_destroy", ZUG_OP_SPIN_DESTROY, 1, 0 },
	{ "pthread_barrier_init", ZUG_OP_BARRIER_INIT, 1, 0 },
	{ "pthread_barrier_wait", ZUG_OP_BARRIER_WAIT, 1, 0 },
	{ "pthread_barrier_destroy", ZUG_OP_BARRIER_DESTROY, 1, 0 },
	{ "sem_init", ZUG_OP_SEM_INIT, 1, 0 },
	{ "sem_open", ZUG_OP_SEM_OPEN, 0, 0 },
	{ "sem_wait", ZUG_OP_SEM_WAIT, 1, 0 },
	{ "sem_trywait", ZUG_OP_SEM_TRYWAIT, 1, 0 },
	{ "sem_timedwait", ZUG_OP_SEM_TIMEDWAIT, 1, 0 },
	{ "sem_clockwait", ZUG_OP_SEM_TIMEDWAIT, 1, 0 },
	{ "sem_post", ZUG_OP_SEM_POST, 1, 0 },
	{ "sem_getvalue", ZUG_OP_SEM_GETVALUE, 1, 0 },
	{ "sem_destroy", ZUG_OP_SEM_DESTROY, 1, 0 },
	{ "pthread_once", ZUG_OP_ONCE, 1, 0 },
	{ "pthread_create", ZUG_OP_CREATE, 0, 0 },
	{ "pthread_join", ZUG_OP_JOIN, 0, 0 },
	{ "pthread_tryjoin_np", ZUG_OP_JOIN, 0, 0 },
	{ "pthread_timedjoin_np", ZUG_OP_JOIN, 0, 0 },
	{ "pthread_clockjoin_np", ZUG_OP_JOIN, 0, 0 },
	{ "pthread_detach", ZUG_OP_DETACH, 0, 0 },
	/* writes the key's number: of two threads that both make it, one has another's */
	{ "pthread_key_create", ZUG_OP_DATA_WRITE, 1, 0 },
	{ "mtx_lock", ZUG_OP_LOCK, 1, 0 },
	{ "mtx_trylock", ZUG_OP_TRYLOCK, 1, 0 },
	{ "mtx_timedlock", ZUG_OP_TIMEDLOCK, 1, 0 },
	{ "mtx_unlock", ZUG_OP_UNLOCK, 1, 0 },
	{ "mtx_init", ZUG_OP_MUTEX_INIT, 1, 0 },
	{ "mtx_destroy", ZUG_OP_MUTEX_DESTROY, 1, 0 },
	{ "cnd_wait", ZUG_OP_COND_WAIT, 1, 2 },
	{ "cnd_timedwait", ZUG_OP_COND_TIMEDWAIT, 1, 2 },
	{ "cnd_signal", ZUG_OP_COND_SIGNAL, 1, 0 },
	{ "cnd_broadcast", ZUG_OP_COND_BROADCAST, 1, 0 },
	{ "cnd_init", ZUG_OP_COND_INIT, 1, 0 },
	{ "cnd_destroy", ZUG_OP_COND_DESTROY, 1, 0 },
	{ "thrd_create", ZUG_OP_CREATE, 0, 0 },
	{ "thrd_join", ZUG_OP_JOIN, 0, 0 },
	{ "thrd_detach", ZUG_OP_DETACH, 0, 0 },
	{ "call_once", ZUG_OP_ONCE, 1, 0 },
	/* GLib's own locks and conditions are words for futexes; its others are those of pthreads */
	{ "g_mutex_lock", ZUG_OP_LOCK, 1, 0 },
	{ "g_mutex_trylock", ZUG_OP_TRYLOCK, 1, 0 },
	{ "g_mutex_unlock", ZUG_OP_UNLOCK, 1, 0 },
	{ "g_cond_wait", ZUG_OP_COND_WAIT, 1, 2 },
	{ "g_cond_wait_until", ZUG_OP_COND_TIMEDWAIT, 1, 2 },
	{ "g_cond_signal", ZUG_OP_COND_SIGNAL, 1, 0 },
	{ "g_cond_broadcast", ZUG_OP_COND_BROADCAST, 1, 0 },
	{ "__cxa_guard_acquire", ZUG_OP_GUARD_ACQUIRE, 1, 0 },
	{ "__cxa_guard_release", ZUG_OP_GUARD_RELEASE, 1, 0 },
	{ "__cxa_guard_abort", ZUG_OP_GUARD_ABORT, 1, 0 },
	/* not primitives: what they read of the library's own files (locales, messages, code sets) is no point */
	{ "setlocale", PROBES_READS_OWN_FILES, 0, 0 },
	{ "newlocale", PROBES_READS_OWN_FILES, 0, 0 },
	{ "dcgettext", PROBES_READS_OWN_FILES, 0, 0 },
	{ "dcngettext", PROBES_READS_OWN_FILES, 0, 0 },
	{ "iconv_open", PROBES_READS_OWN_FILES, 0, 0 },
};
#define NR_PRIMITIVES (sizeof(primitives) / sizeof(primitives[0]))
_Static_assert(NR_PRIMITIVES <= MAX_PRIMITIVES, "MAX_PRIMITIVES");

/*
 * glibc's pthread_spin_lock() begins with a LOCK-prefixed instruction, which uprobes do not take:
 *
 *	1: lock decl (%rdi); jne 2f; xor %eax,%eax; ret
 *	2: pause; cmpl $0,(%rdi); jg 1b; jmp 2b
 *
 * A switch after the decrement is as good as one before the next operation, and a task that waits
 * stops at each look at the lock's word, where it counts as not enabled until that is free.
 */
static int spin_lock_places(struct found *f, uint64_t offset)
{
	static const uint8_t decrement[] = { 0xf0, 0xff, 0x0f }, look[] = { 0x83, 0x3f, 0x00 };
	uint8_t code[32];
	const uint8_t *p;

	if (pread(f->fd, code, sizeof(code), offset) != sizeof(code) ||
	    memcmp(code, decrement, sizeof(decrement)))
		return -ENOENT;
	p = memmem(code, sizeof(code), look, sizeof(look));
	if (!p)
		return -ENOENT;
	found_add(f, offset + sizeof(decrement), f->prim->name, ZUG_OP_POINT, 1, 0, true);
	return found_add(f, offset + (p - code), f->prim->name, ZUG_OP_SPIN_LOCK, 1, 0, true);
}

/* A static glibc program whose library's code is not known: inner calls of C11 primitives look like outer ones. */
static bool is_inner(struct symfile *file, const char *name)
{
	if (symfile_is_dynamic(file) || symfile_c_library(file) != UINT64_MAX || symfile_libc(file) != SYMLIBC_GLIBC)
		return false;
	return !strncmp(name, "mtx_", 4) || !strncmp(name, "cnd_", 4) || !strncmp(name, "thrd_", 5) ||
	       !strcmp(name, "call_once");
}

static int on_primitive(const struct symdef *d, unsigned int nr, void *arg)
{
	struct found *f = arg;

	f->prim = &primitives[f->which[nr]];
	if (!d->is_function || d->is_ifunc || d->offset == UINT64_MAX || is_inner(f->file, d->name))
		return 0;
	if (f->prim->op == ZUG_OP_SPIN_LOCK && !spin_lock_places(f, d->offset))
		return 0;
	return found_add(f, d->offset, f->prim->name, f->prim->op, f->prim->obj_arg,
			 f->prim->obj2_arg, true);
}

/* What is no primitive lies where much code is executed, in each program's start. What cannot stand elsewhere stays. */
static int put_apart(struct probes *p, const struct probe_module *mod, struct found *f, char *err, size_t errlen)
{
	const char *copy;
	int ret = 0;

	for (int i = 0; i < f->nr && !ret; i++) {
		if (f->sites[i].op != PROBES_READS_OWN_FILES)
			continue;
		ret = sandbox_privatise(p->s, mod->path, &copy, err, errlen);
		if (!ret && strcmp(copy, mod->path))
			probes_put_apart(copy, &f->sites[i].offset);
	}
	return ret;
}

int probes_plant_primitives(struct probes *p, uint32_t m, char *err, size_t errlen)
{
	struct probe_module *mod = &p->modules[m];
	const char *names[NR_PRIMITIVES];
	unsigned int which[NR_PRIMITIVES], nr = 0;
	bool all = p->all_used || !probes_is_c_library(mod);
	struct found f = { .fd = -1, .file = mod->file, .which = which, .later = true };
	int ret;

	for (unsigned int i = 0; i < NR_PRIMITIVES; i++)
		/* the first command of a shell may call the last ones, and no execution has shown it yet */
		if (all || p->used[i] || primitives[i].op == PROBES_READS_OWN_FILES) {
			which[nr] = i;
			names[nr++] = primitives[i].name;
		}
	if (!nr)
		return 0;
	f.fd = open(mod->path, O_RDONLY | O_CLOEXEC);
	symfile_find_names(f.file, names, nr, on_primitive, &f);
	mod->sync_points |= f.nr > 0;
	ret = f.no_memory ? -ENOMEM : put_apart(p, mod, &f, err, errlen);
	ret = ret ? ret : f.nr ? probes_plant(p, m, &f, err, errlen) : 0;
	found_free(&f);
	return ret;
}

bool probes_note_used(struct probes *p, const struct probe_module *mod)
{
	const char *names[NR_PRIMITIVES];
	bool before[NR_PRIMITIVES], all = p->all_used;

	if (probes_is_c_library(mod))
		return false;
	for (unsigned int i = 0; i < NR_PRIMITIVES; i++)
		names[i] = primitives[i].name;
	memcpy(before, p->used, sizeof(before));
	p->all_used |= !symfile_imports(mod->file, names, NR_PRIMITIVES, p->used);
	return p->all_used != all || memcmp(before, p->used, sizeof(before));
}
