/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probes_rust.c - the locks of Rust's standard library where they are taken
 *
 * A Mutex or RwLock of std is a word for futexes. To lock a free one is an atomic instruction, which the compiler puts into
 * the program's functions; where that fails a function of the library looks at the word a hundred times, and then waits in
 * the kernel. The instruction (code_locks.c) is one point, as a call of pthread_mutex_lock() is: a task that stands there is
 * not enabled while the word says that the lock is taken, so it neither looks nor waits. What the function does is part of
 * it. Where the instruction is not known the entry of the function is that point.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include "probes/probes_internal.h"

static const struct rust_lock {
	const char *pattern;	/* of the function's name; its literal part spares most names from being demangled */
	const char *name;
	const char *type;
	uint16_t op;
} locks[] = {
	{ "*::lock_contended", "lock_contended", "Mutex", ZUG_OP_LOCK },
	{ "*::read_contended", "read_contended", "RwLock", ZUG_OP_RDLOCK },
	{ "*::write_contended", "write_contended", "RwLock", ZUG_OP_WRLOCK },
};
#define NR_LOCKS (sizeof(locks) / sizeof(locks[0]))

/*
 * "<std::sys::sync::mutex::futex::Mutex>::lock_contended"; earlier ones begin with
 * "std::sys::unix::locks::futex_mutex::Mutex"
 */
static const struct rust_lock *lock_of(const char *function)
{
	const char *name, *in;

	if (!function)
		return NULL;
	function += function[0] == '<';
	if (strncmp(function, "std", 3) || !(in = strstr(function, "::sys::")))
		return NULL;
	for (size_t i = 0; i < NR_LOCKS; i++) {
		name = strstr(in, locks[i].name);
		if (name && strstr(in, "futex") && strstr(in, locks[i].type) &&
		    (name[strlen(locks[i].name)] == 0 || !strncmp(name + strlen(locks[i].name), "::h", 3)))
			return &locks[i];
	}
	return NULL;
}

bool probes_in_rust_lock(const char *function)
{
	return lock_of(function) != NULL;
}

uint16_t probes_rust_names(const char *function)
{
	static const struct {
		const char *type;
		uint16_t op;
	} types[] = {
		{ "::mutex::futex::Mutex", ZUG_OP_LOCK }, { "::futex_mutex::Mutex", ZUG_OP_LOCK },
		{ "::rwlock::futex::RwLock", ZUG_OP_RDLOCK }, { "::futex_rwlock::RwLock", ZUG_OP_RDLOCK },
		{ "::condvar::futex::Condvar", ZUG_OP_COND_WAIT }, { "::once::futex::Once", ZUG_OP_ONCE },
		{ "parking_lot::raw_mutex::RawMutex", ZUG_OP_LOCK }, { "parking_lot::raw_rwlock::RawRwLock", ZUG_OP_RDLOCK },
	};

	for (size_t i = 0; function && i < sizeof(types) / sizeof(types[0]); i++)
		if (strstr(function, types[i].type))
			return types[i].op;
	return ZUG_OP_NONE;
}

uint16_t probes_rust_op(const struct code_place *c)
{
	static const uint16_t ops[] = {
		[CODE_RUST_LOCK] = ZUG_OP_LOCK, [CODE_RUST_UNLOCK] = ZUG_OP_UNLOCK, [CODE_RUST_RDLOCK] = ZUG_OP_RDLOCK,
		[CODE_RUST_WRLOCK] = ZUG_OP_WRLOCK, [CODE_RUST_RWUNLOCK] = ZUG_OP_RWUNLOCK,
		[CODE_RUST_PART] = PROBES_READS_OWN_FILES,
	};
	unsigned int which = code_rust(c);

	return which < sizeof(ops) / sizeof(ops[0]) ? ops[which] : ZUG_OP_NONE;
}

static int on_lock(const struct symdef *d, void *arg)
{
	const struct rust_lock *lock = d->is_function && d->offset != UINT64_MAX ? lock_of(d->demangled) : NULL;

	return !lock ? 0 :
	       found_append(arg, &(struct probe_site){ .offset = d->offset, .symbol = lock->name, .op = lock->op, .obj_arg = 1,
						       .entry = true, .layout = SYMLIBC_RUST });
}

int probes_plant_rust(struct probes *p, uint32_t m, char *err, size_t errlen)
{
	struct probe_module *mod = &p->modules[m];
	struct found f = { .fd = -1, .file = mod->file };
	int ret = 0;

	if (!probes_is_rust(p, m))
		return 0;
	f.fd = open(mod->path, O_RDONLY | O_CLOEXEC);
	for (size_t i = 0; i < NR_LOCKS; i++)
		symfile_find(mod->file, locks[i].pattern, on_lock, &f);
	mod->sync_points |= f.nr > 0;
	ret = f.no_memory ? -ENOMEM : f.nr ? probes_plant(p, m, &f, err, errlen) : 0;
	found_free(&f);
	return ret;
}
