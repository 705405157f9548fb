/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probes.c - sites of modules, and places that the user names (--point, --from)
 *
 * probes_add_file() is called for each file that the test maps, probes_add_point() for each
 * --point or --from. Both collect places (struct found) and give them to probes_plant(), which numbers them
 * and plants the breakpoints. The primitives are in primitives.c, places by kind of instruction in probes_code.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/base/file_piece.h"
#include "probes/probes_internal.h"
#include "search/access.h"

/*
 * So often in an execution, and a few times more, is a look of an interpreter a point: a loop of the program has no end of
 * them.
 */
#define EXECUTED_MOST 300
/* The same of the fields that one method accesses. */
#define FIELDS_MOST 100
struct probes *probes_new(struct kernel *k, struct sandbox *s, struct symbols *symbols)
{
	struct probes *p = calloc(1, sizeof(*p));

	if (p) {
		p->k = k;
		p->s = s;
		p->symbols = symbols;
	}
	return p;
}

void probes_answer(struct probes *p, bool time, bool random)
{
	p->answer_time = time && kernel_can_answer(p->k);
	p->answer_random = random && kernel_can_answer(p->k);
}

void probes_free(struct probes *p)
{
	if (!p)
		return;
	for (unsigned int i = 0; i < p->nr_modules; i++) {
		free((char *)p->modules[i].path);
		code_free(p->modules[i].code);
		free(p->modules[i].foreign);
		free(p->modules[i].answers);
	}
	for (unsigned int i = 0; i < p->nr_sites; i++)
		free((char *)p->sites[i].symbol);
	free(p->modules);
	free(p->sites);
	free(p);
}

int found_append(struct found *f, const struct probe_site *s)
{
	char *symbol = ARRAY_RESERVE(f->sites, f->size, f->nr + 1) ? strdup(s->symbol) : NULL;

	if (!symbol) {
		f->no_memory = true;
		return -ENOMEM;
	}
	f->sites[f->nr] = *s;
	f->sites[f->nr++].symbol = symbol;
	return 0;
}

static int found_append_once(struct found *f, const struct probe_site *s)
{
	for (int i = 0; i < f->nr; i++)
		if (f->sites[i].offset == s->offset)
			return 0;
	return found_append(f, s);
}

int found_add(struct found *f, uint64_t offset, const char *symbol, uint16_t op,
		     uint8_t obj_arg, uint8_t obj2_arg, bool entry)
{
	struct probe_site s = {
		.offset = offset, .symbol = symbol, .op = op, .obj_arg = obj_arg,
		.obj2_arg = obj2_arg, .entry = entry,
	};

	return found_append_once(f, &s);
}

void found_free(struct found *f)
{
	if (f->fd >= 0)
		close(f->fd);
	for (int i = 0; i < f->nr; i++)
		free((char *)f->sites[i].symbol);
	free(f->sites);
}

enum symlibc probes_layout(const struct probe_module *mod, const struct probe_site *s)
{
	return s->layout != SYMLIBC_NONE ? s->layout : symfile_libc(mod->file);
}

bool probes_is_c_library(const struct probe_module *mod)
{
	return symfile_libc(mod->file) != SYMLIBC_NONE && strstr(mod->path, ".so");
}

/* What an interpreter executes at its looks says whether they are points. */
static void tell_executed(const struct probe_module *mod, const struct probe_site *s, struct zug_site *what)
{
	const struct symfile_fields *fields = s->fields ? symfile_fields(mod->file) : NULL;
	struct symfile_looks looks;

	what->flags = ZUG_SITE_CODE | ZUG_SITE_EXECUTES;
	what->base = code_saved_register(fields ? fields->base : s->code.base) + 1;
	what->disp = s->code.disp;
	/* that is said of no object: user space is asked each time, also before the search begins */
	if (s->fields == PROBE_FIELDS_POSSIBLE || s->fields == PROBE_FIELDS_WANTED) {
		what->flags |= ZUG_SITE_WAITS;
	} else if (fields) {
		what->flags |= ZUG_SITE_ALONE | (s->java == JAVA_ELEMENT ? ZUG_SITE_ELEMENT : 0);
		memcpy(what->path, fields->path, sizeof(what->path));
	} else if (symfile_interpreter_looks(mod->file, &looks)) {
		memcpy(what->path, looks.path, sizeof(what->path));
	}
}

/* Which object a function of Java's machine is about. */
static void tell_object(const struct probe_site *s, struct zug_site *what)
{
	uint8_t base;
	int32_t at;

	if (!symbols_java_leads(s->java, &base, &at))
		return;
	/* 0 in a path is its end */
	what->base = code_saved_register(base) + 1;
	what->disp = at - 8;
	what->path[0] = 8;
}

/* It ends at once, of a lock where that is free (struct zug_pass). */
static bool ends_at_once(uint16_t op)
{
	return op == ZUG_OP_LOCK || op == ZUG_OP_UNLOCK || op == ZUG_OP_COND_SIGNAL || op == ZUG_OP_COND_BROADCAST;
}

/*
 * A library may use that for itself: on a lock that memory says the owner of, or on a condition. A semaphore says none, and one
 * that is taken before a thread is created may be given back by it.
 */
static bool may_be_inner(uint16_t op)
{
	switch (op) {
	case ZUG_OP_LOCK: case ZUG_OP_TRYLOCK: case ZUG_OP_UNLOCK: case ZUG_OP_MUTEX_INIT: case ZUG_OP_MUTEX_DESTROY:
	case ZUG_OP_RDLOCK: case ZUG_OP_TRYRDLOCK: case ZUG_OP_WRLOCK: case ZUG_OP_TRYWRLOCK: case ZUG_OP_RWUNLOCK:
	case ZUG_OP_RWLOCK_INIT: case ZUG_OP_RWLOCK_DESTROY: case ZUG_OP_COND_INIT: case ZUG_OP_COND_DESTROY:
	case ZUG_OP_COND_SIGNAL: case ZUG_OP_COND_BROADCAST: case ZUG_OP_ONCE:
		return true;
	}
	return false;
}

/* What the label of that operation will say that it accesses (search/access.h); the objects are those of the event. */
static uint32_t access_there(const struct probe_site *s, const struct zug_site *what)
{
	bool object = what->obj_arg || what->flags & ZUG_SITE_OPERAND;

	if (s->split || s->executes || s->java)
		return 0;
	if (!object && access_op_local(s->op))
		return ZUG_ACCESS_KNOWN;
	return ZUG_ACCESS_KNOWN | (!object || zug_op_flags(s->op) & ZUG_L_WRITE ? ZUG_ACCESS_WRITES : 0) |
	       (s->op == ZUG_OP_BARRIER_WAIT ? ZUG_ACCESS_GATHERS : 0) | (ends_at_once(s->op) ? ZUG_ACCESS_ENDS : 0);
}

/* The site as the kernel side has to know it. */
static struct kernel_probe probe_of(struct probes *p, const struct probe_module *mod,
				    const struct probe_site *s, uint32_t nr)
{
	struct kernel_probe kp = { .offset = s->offset, .site = nr };
	enum probes_scope scope;

	kp.what.op = s->op;
	kp.what.limit = s->limit;
	kp.what.pass = probes_pass(mod, s);
	if (s->executes) {
		tell_executed(mod, s, &kp.what);
		kp.what.access |= ZUG_ACCESS_OWN;
		/* of functions that the lists name user space is asked */
		kp.what.flags |= probes_has_scope(p) ? ZUG_SITE_CALLED : 0;
		kp.what.flags |= s->from ? ZUG_SITE_FROM : 0;
		return kp;
	}
	if (s->here)
		probes_lock_site(s, &kp.what);
	else if (s->code.kind)
		probes_code_site(s, &kp.what);
	else if (s->go)
		probes_go_site(s, &kp.what);
	/* others are to have a turn there, also before the search begins */
	if (s->waits || s->op == ZUG_OP_PAUSE || s->op == ZUG_OP_SPIN_LOCK)
		kp.what.flags |= ZUG_SITE_WAITS;
	if (s->from)
		kp.what.flags |= ZUG_SITE_FROM | (s->once ? ZUG_SITE_ONCE : 0) | (s->behind ? ZUG_SITE_BEHIND : 0);
	kp.what.within = s->within;
	if (!s->code.kind || s->here) {
		kp.what.obj_arg = s->obj_arg;
		kp.what.obj2_arg = s->obj2_arg;
	}
	kp.what.access = access_there(s, &kp.what);
	if (s->own || s->op == ZUG_OP_POINT || (s->code.kind && probes_is_of_user(p, s->module, s->offset)))
		kp.what.access |= ZUG_ACCESS_OWN;
	if (!s->code.kind && !s->here && !s->go && !s->java && s->obj_arg && !s->obj2_arg && may_be_inner(s->op))
		kp.what.access |= ZUG_ACCESS_INNER;
	if (s->code.kind) {
		scope = probes_scope_of(p, s->module, s->offset);
		kp.what.flags |= scope == PROBES_LEFT_OUT ? ZUG_SITE_LEFT_OUT : scope == PROBES_BY_CALLER ? ZUG_SITE_CALLED : 0;
		return kp;
	}
	if (s->go) {
		kp.what.flags |= probes_has_scope(p) && s->op != ZUG_OP_CHOICE ? ZUG_SITE_CALLED : 0;
		return kp;
	}
	if (s->op == PROBES_READS_OWN_FILES)
		kp.what.flags |= ZUG_SITE_READS;
	else if (s->op != ZUG_OP_POINT)
		kp.what.flags |= ZUG_SITE_WHOLE;
	/* a C library's own calls of its primitives are part of the outer operation */
	if (s->op != ZUG_OP_POINT && probes_is_c_library(mod)) {
		kp.what.flags |= ZUG_SITE_OUTER;
	} else if (s->op != ZUG_OP_POINT && s->offset > mod->c_library) {
		kp.what.flags |= ZUG_SITE_OUTER;
		kp.what.disp = s->offset - mod->c_library;
	} else if (s->op == ZUG_OP_COND_WAIT || s->op == ZUG_OP_COND_TIMEDWAIT) {
		kp.what.flags |= ZUG_SITE_NESTS;
	}
	if (s->entry)
		kp.what.flags |= ZUG_SITE_CALL | (s->layout == SYMLIBC_RUST ? ZUG_SITE_SHAPE(0, 1) : 0);
	if (probes_has_scope(p) &&
	    (s->op != ZUG_OP_POINT ? s->entry : symfile_interprets(mod->file) && probes_scope_interpreted(p)))
		kp.what.flags |= ZUG_SITE_CALLED;
	if (s->op == ZUG_OP_JOIN)
		kp.what.flags |= ZUG_SITE_JOIN;
	if (s->op == ZUG_OP_SEM_WAIT || s->op == ZUG_OP_SEM_TIMEDWAIT)
		kp.what.flags |= ZUG_SITE_EINTR;
	if (s->java)
		tell_object(s, &kp.what);
	if (s->java == JAVA_ENTER)
		kp.what.flags |= ZUG_SITE_MONITOR;
	if (s->op == ZUG_OP_POINT)
		kp.what.flags |= ZUG_SITE_ANY;
	return kp;
}

/*
 * What the kernel's uprobes refuse on x86: LOCK and EVEX prefixes, syscall, mfence. It says so only when
 * the file is mapped already; otherwise the breakpoint is just never there.
 */
static bool probeable(int fd, uint64_t offset)
{
	unsigned char b[16] = { 0 }, *p = b;

	if (fd < 0 || pread(fd, b, sizeof(b) - 4, offset) <= 0)
		return true;
	while (p < b + 12 && (*p == 0x66 || *p == 0x67 || *p == 0xf2 || *p == 0xf3 || (*p & 0xfe) == 0x64 ||
			      (*p & 0xe7) == 0x26))
		p++;
	if (p[0] == 0xf0 || p[0] == 0x62)
		return false;
	return p[0] != 0x0f || (p[1] != 0x05 && p[1] != 0x34 && (p[1] != 0xae || (p[2] & 0xf8) != 0xf0));
}

static int compare_offsets(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* A place that is probed already stays as it is; one that cannot be probed is no point. */
static int keep_new(const struct probes *p, uint32_t m, struct found *f)
{
	uint64_t *known = malloc((p->nr_sites + 1) * sizeof(*known));
	size_t n = 0;
	int nr = 0;

	if (!known)
		return -ENOMEM;
	for (unsigned int i = 0; i < p->nr_sites; i++)
		if (p->sites[i].module == m)
			known[n++] = p->sites[i].offset;
	qsort(known, n, sizeof(*known), compare_offsets);
	for (int i = 0; i < f->nr; i++) {
		struct probe_site *s = &f->sites[i];

		if ((!s->code.kind && !probeable(f->fd, s->offset)) ||
		    bsearch(&s->offset, known, n, sizeof(*known), compare_offsets))
			free((char *)s->symbol);
		else
			f->sites[nr++] = *s;
	}
	f->nr = nr;
	free(known);
	return 0;
}

/* s: the place that the kernel refuses; NULL: that is not known. */
static void say_refused(const struct probe_module *mod, const struct probe_site *s, int error, char *err, size_t errlen)
{
	if (s)
		snprintf(err, errlen, "cannot probe %s at %s (file offset 0x%lx): %s: the kernel "
			 "does not probe this instruction", mod->path, s->symbol, s->offset, strerror(-error));
	else
		snprintf(err, errlen, "cannot probe %s: %s", mod->path, strerror(-error));
}

int probes_planted(struct probes *p, char *err, size_t errlen)
{
	const struct probe_site *s = NULL;
	struct kernel_refused r;
	int ret = kernel_planted(p->k, &r);

	if (!ret)
		return 0;
	for (uint32_t i = 0; r.place && i < p->nr_sites && !s; i++)
		if (p->sites[i].module == r.module && p->sites[i].offset == r.offset)
			s = &p->sites[i];
	if (r.answers)
		snprintf(err, errlen, "cannot have rdtsc and rdrand in %s answered: %s", p->modules[r.module].path, strerror(-ret));
	else
		say_refused(&p->modules[r.module], s, ret, err, errlen);
	return ret;
}

/* Plants places of a module in its private copy: where they are simple, the kernel side executes the instructions there. */
static int add_probes(struct probes *p, uint32_t m, const char *copy, struct kernel_probe *kp, int nr, int *bad)
{
	struct file_piece code = { .fd = open(copy, O_RDONLY | O_CLOEXEC) };

	for (int i = 0; i < nr && code.fd >= 0; i++) {
		const uint8_t *bytes;
		ssize_t n = file_piece_at(&code, kp[i].offset, CODE_LONGEST, &bytes);

		if (n > 0)
			code_simple(bytes, n, &kp[i].what.insn);
	}
	if (code.fd >= 0)
		close(code.fd);
	return kernel_add_probes(p->k, m, copy, kp, nr, bad);
}

int probes_plant(struct probes *p, uint32_t m, struct found *f, char *err, size_t errlen)
{
	struct probe_module *mod = &p->modules[m];
	struct kernel_probe *kp;
	const char *copy;
	struct stat st;
	int ret, bad = -1, nr;

	ret = keep_new(p, m, f);
	nr = f->nr;
	if (ret || !nr)
		return ret;
	if (p->nr_sites + nr > ZUG_MAX_SITES) {
		snprintf(err, errlen, "%s: more than %u places to probe; narrow --point or --code", mod->path,
			 ZUG_MAX_SITES);
		return -ENOSPC;
	}
	ret = sandbox_privatise(p->s, mod->path, &copy, err, errlen);
	if (ret)
		return ret;
	if (strcmp(copy, mod->path)) {
		ret = probes_rewrite(copy, f->sites, nr);
		if (ret) {
			snprintf(err, errlen, "cannot change the private copy of %s: %s", mod->path, strerror(-ret));
			return ret;
		}
	}
	if (stat(copy, &st))
		return -errno;
	kp = calloc(nr, sizeof(*kp));
	if (!kp || !ARRAY_RESERVE(p->sites, p->room_sites, p->nr_sites + nr)) {
		free(kp);
		return -ENOMEM;
	}
	for (int i = 0; i < nr; i++) {
		/* whose code it is, and whether it is a point, is said by its module */
		f->sites[i].module = m;
		kp[i] = probe_of(p, mod, &f->sites[i], p->nr_sites + i);
	}
	mod->ino = st.st_ino;
	mod->dev = st.st_dev;
	ret = probes_tell_module(p, m);
	if (!ret)
		ret = add_probes(p, m, copy, kp, nr, f->later ? NULL : &bad);
	free(kp);
	if (ret) {
		say_refused(mod, bad >= 0 ? &f->sites[bad] : NULL, ret, err, errlen);
		return ret;
	}
	for (int i = 0; i < nr; i++)
		p->sites[p->nr_sites++] = f->sites[i];
	mod->nr_sites += nr;
	f->nr = 0;
	return nr;
}

static int module_by_path(const struct probes *p, const char *path)
{
	for (unsigned int i = 0; i < p->nr_modules; i++)
		if (!strcmp(p->modules[i].path, path))
			return i;
	return -1;
}

/* The places where an interpreter looks what other threads want become points. Their number, or -errno. */
static int plant_looks(struct probes *p, uint32_t m, char *err, size_t errlen)
{
	struct probe_module *mod = &p->modules[m];
	struct found f = { .fd = -1, .file = mod->file };
	struct code_place *places = NULL;
	struct symfile_looks looks;
	uint32_t nr = 0;
	int ret = 0;

	if (!p->executed || !symfile_interpreter_looks(mod->file, &looks))
		return 0;
	/* a file that cannot be decoded has none */
	code_loads(mod->path, looks.begin, looks.end, looks.disp, looks.bytes, looks.low_byte, &places, &nr);
	for (uint32_t i = 0; i < nr && !ret; i++)
		ret = found_append(&f, &(struct probe_site){ .offset = places[i].offset, .symbol = "next", .op = ZUG_OP_POINT,
							      .executes = true, .code = places[i], .limit = EXECUTED_MOST });
	mod->sync_points |= f.nr > 0;
	p->knows_executed |= f.nr > 0;
	ret = ret ? ret : f.nr ? probes_plant(p, m, &f, err, errlen) : 0;
	free(places);
	found_free(&f);
	return ret;
}

static int append_fields(struct found *f, const struct symfile_places *places, const char *name, enum probe_fields what,
			 enum java_operation does)
{
	int ret = 0;

	for (uint32_t i = 0; i < places->nr && !ret; i++)
		ret = found_append(f, &(struct probe_site){ .offset = places->at[i], .symbol = name, .op = ZUG_OP_POINT,
							    .executes = true, .fields = what, .java = does,
							    .limit = what == PROBE_FIELDS_ACCESS ? FIELDS_MOST : 0 });
	return ret;
}

/* Accesses of fields become points, where an interpreter can tell of them. The number of places, or -errno. */
static int plant_fields(struct probes *p, uint32_t m, char *err, size_t errlen)
{
	const struct symfile_fields *x = p->fields ? symfile_fields(p->modules[m].file) : NULL;
	struct found f = { .fd = -1, .file = p->modules[m].file };
	int ret;

	if (!x)
		return 0;
	ret = append_fields(&f, &x->makes, "start", PROBE_FIELDS_POSSIBLE, JAVA_NONE);
	ret = ret ? ret : append_fields(&f, &x->starts, "start", PROBE_FIELDS_WANTED, JAVA_NONE);
	ret = ret ? ret : append_fields(&f, &x->reads, "field", PROBE_FIELDS_ACCESS, JAVA_READ);
	ret = ret ? ret : append_fields(&f, &x->writes, "field", PROBE_FIELDS_ACCESS, JAVA_WRITE);
	ret = ret ? ret : append_fields(&f, &x->steps, "element", PROBE_FIELDS_ACCESS, JAVA_ELEMENT);
	p->modules[m].sync_points |= f.nr > 0;
	ret = ret ? ret : probes_plant(p, m, &f, err, errlen);
	found_free(&f);
	return ret;
}

int probes_add_file(struct probes *p, const char *path, bool sync, char *err, size_t errlen)
{
	struct probe_module mod = { 0 };
	int ret, total = 0, m = module_by_path(p, path);
	bool new = m < 0, more = false;
	struct stat st;

	if (!new && p->modules[m].made)
		return -ENOEXEC;
	if (new) {
		if (!ARRAY_RESERVE(p->modules, p->room_modules, p->nr_modules + 1))
			return -ENOMEM;
		mod.file = symbols_file(p->symbols, path, NULL, err, errlen);
		if (!mod.file || stat(path, &st))
			return -ENOEXEC;
		mod.ino = st.st_ino;
		mod.dev = st.st_dev;
		mod.c_library = symfile_c_library(mod.file);
		mod.path = strdup(path);
		if (!mod.path)
			return -ENOMEM;
		m = p->nr_modules++;
		p->modules[m] = mod;
		more = probes_note_used(p, &mod);
		ret = probes_tell_module(p, m);
		if (ret)
			return ret;
	} else if (!sync || p->modules[m].sync_wanted) {
		return 0;
	}
	p->modules[m].sync_wanted = sync;
	for (unsigned int i = 0; i < p->nr_modules; i++) {
		if (!p->modules[i].sync_wanted || ((int)i != m && !(more && probes_is_c_library(&p->modules[i]))))
			continue;
		ret = probes_plant_primitives(p, i, err, errlen);
		if (ret < 0)
			return ret;
		total += ret;
	}
	if (sync) {
		ret = plant_looks(p, m, err, errlen);
		if (ret < 0)
			return ret;
		total += ret;
		ret = probes_plant_go(p, m, err, errlen);
		if (ret < 0)
			return ret;
		total += ret;
		ret = probes_plant_rust(p, m, err, errlen);
		if (ret < 0)
			return ret;
		total += ret;
	}
	if (new) {
		ret = plant_fields(p, m, err, errlen);
		if (ret < 0)
			return ret;
		total += ret;
		ret = probes_find_answers(p, m, err, errlen);
		if (ret < 0)
			return ret;
		total += ret;
	}
	return total;
}

int probes_made(const struct probes *p, const char *path)
{
	int m = module_by_path(p, path);

	return m >= 0 && p->modules[m].made ? m : -1;
}

int probes_add_made(struct probes *p, const char *path, const char *copy)
{
	struct probe_module mod = { .made = true };
	char err[256];

	if (module_by_path(p, path) >= 0)
		return -EEXIST;
	if (!ARRAY_RESERVE(p->modules, p->room_modules, p->nr_modules + 1))
		return -ENOMEM;
	mod.file = symbols_file(p->symbols, path, copy, err, sizeof(err));
	if (!mod.file)
		return -ENOEXEC;
	mod.path = strdup(path);
	if (!mod.path)
		return -ENOMEM;
	p->modules[p->nr_modules] = mod;
	return (int)p->nr_modules++;
}

int probes_use_all(struct probes *p, char *err, size_t errlen)
{
	int total = 0;

	p->all_used = true;
	for (unsigned int i = 0; i < p->nr_modules; i++) {
		int ret;

		if (!p->modules[i].sync_wanted || !probes_is_c_library(&p->modules[i]))
			continue;
		ret = probes_plant_primitives(p, i, err, errlen);
		if (ret < 0)
			return ret;
		total += ret;
	}
	return total;
}

int probes_replant(struct probes *p, char *err, size_t errlen)
{
	struct kernel_probe *kp = calloc(p->nr_sites + 1, sizeof(*kp));
	int ret = kp ? 0 : -ENOMEM;

	for (uint32_t m = 0; m < p->nr_modules && !ret; m++) {
		const struct probe_module *mod = &p->modules[m];
		const char *copy;
		int nr = 0;

		if (mod->made)
			continue;
		ret = probes_tell_module(p, m);
		if (!ret)
			ret = probes_plant_answers(p, m);
		for (uint32_t i = 0; i < p->nr_sites; i++)
			if (p->sites[i].module == m && !p->sites[i].silent)
				kp[nr++] = probe_of(p, mod, &p->sites[i], i);
		if (ret || !nr)
			continue;
		ret = sandbox_privatise(p->s, mod->path, &copy, err, errlen);
		if (!ret)
			ret = add_probes(p, m, copy, kp, nr, NULL);
		if (ret)
			snprintf(err, errlen, "cannot probe %s again: %s", mod->path, strerror(-ret));
	}
	free(kp);
	return ret;
}

/* ---- --point and --from ---- */

struct point_spec {
	struct found f;
	bool from, behind;
	const char *path;	/* of the module */
	uint64_t add;		/* SYMBOL+OFF */
	uint64_t refused;	/* offset of a place that cannot be probed, 0 none */
};

static int add_point(struct point_spec *ps, uint64_t offset, const char *symbol)
{
	if (!probeable(ps->f.fd, offset)) {
		ps->refused = offset;
		return 0;
	}
	return found_append_once(&ps->f, &(struct probe_site){ .offset = offset, .symbol = symbol, .op = ZUG_OP_POINT,
							       .from = ps->from, .once = ps->from, .behind = ps->behind,
							       .java = symfile_java_operation(ps->f.file, symbol) });
}

static int on_point(const struct symdef *d, void *arg)
{
	struct point_spec *ps = arg;
	const char *name = d->demangled ? d->demangled : d->name;

	if (!d->is_function || d->is_ifunc || d->offset == UINT64_MAX)
		return 0;
	/* the place itself was asked for, not its caller */
	return add_point(ps, d->offset + ps->add, name);
}

static int point_in(struct probes *p, uint32_t m, const char *what, struct point_spec *ps)
{
	char name[512], *plus, *end, *colon;
	uint64_t offsets[64];
	uint32_t nearest;
	int nr;

	snprintf(name, sizeof(name), "%s", what);
	ps->add = 0;
	colon = strrchr(name, ':');
	if (colon && colon > name && colon[-1] != ':' && colon[1] >= '0' && colon[1] <= '9') {
		unsigned long line = strtoul(colon + 1, &end, 10);

		if (*end)
			return 0;
		*colon = 0;
		nr = symfile_line(p->modules[m].file, name, line, offsets, 64, &nearest);
		for (int i = 0; i < nr; i++)
			add_point(ps, offsets[i], what);
		return nr > 0 ? nr : 0;
	}
	plus = strrchr(name, '+');
	if (plus && plus > name) {
		uint64_t add = strtoull(plus + 1, &end, 0);

		if (!*end && end > plus + 1) {
			*plus = 0;
			ps->add = add;
		}
	}
	symfile_find(p->modules[m].file, name, on_point, ps);
	return ps->f.nr;
}

static const char *base_of(const char *path)
{
	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

static void say_inlined(const char *option, const char *what, const struct symfile_inlined *in, char *err, size_t errlen)
{
	char more[64] = "", place[256] = "", instead[512] = "";

	if (in->nr > 1)
		snprintf(more, sizeof(more), ", and %u more place%s", in->nr - 1, in->nr > 2 ? "s" : "");
	if (in->into.file && in->into.line)
		snprintf(place, sizeof(place), " at %s:%u", base_of(in->into.file), in->into.line);
	if (in->body.file && in->body.line)
		snprintf(instead, sizeof(instead), "; %s %s:%u is a place in it", option, base_of(in->body.file),
			 in->body.line);
	snprintf(err, errlen, "%s %s: the compiler has inlined it everywhere (%s%s%s)%s", option, what,
		 in->into.function ? in->into.function : "?", place, more, instead);
}

/* The next line with code after FILE:LINE, for the message. */
static void say_nearest(struct probes *p, const char *option, const char *what, char *err, size_t errlen)
{
	char name[512], near[256] = "", *colon;
	struct symfile_inlined in;
	uint32_t nearest = 0, best = 0;
	uint64_t off;

	snprintf(name, sizeof(name), "%s", what);
	colon = strrchr(name, ':');
	if (colon && colon > name && colon[-1] != ':' && colon[1] >= '0' && colon[1] <= '9') {
		*colon = 0;
		for (unsigned int m = 0; m < p->nr_modules; m++)
			if (symfile_line(p->modules[m].file, name, atoi(colon + 1), &off, 1, &nearest) == -ENOENT &&
			    nearest && (!best || nearest < best))
				best = nearest;
		if (best)
			snprintf(err, errlen, "%s %s: no code at that line; the next line with code is %s:%u",
				 option, what, name, best);
		else
			snprintf(err, errlen, "%s %s: no line table names that file (was the program "
				 "built with -g?)", option, what);
		return;
	}
	for (unsigned int m = 0; m < p->nr_modules; m++)
		if (symfile_inlined(p->modules[m].file, name, &in)) {
			say_inlined(option, what, &in, err, errlen);
			return;
		}
	for (unsigned int m = 0; m < p->nr_modules && !near[0]; m++)
		symfile_nearest(p->modules[m].file, name, true, near, sizeof(near));
	snprintf(err, errlen, "%s %s: no such function in the program or its libraries%s%s%s", option, what,
		 near[0] ? "; did you mean " : "", near, near[0] ? "?" : " (was it stripped?)");
}

/*
 * The module of a path. A file that is not there may be one that the test makes, and a module
 * already. -errno with a line in err.
 */
static int module_of(struct probes *p, const char *option, const char *spec, const char *name, const char *cwd,
		     bool sync, char *err, size_t errlen)
{
	char full[2 * PATH_MAX], path[PATH_MAX];
	int ret, m;

	while (name[0] == '.' && name[1] == '/')
		name += 2;
	snprintf(full, sizeof(full), "%s%s%s", name[0] == '/' ? "" : cwd, name[0] == '/' ? "" : "/",
		 name);
	if (!realpath(full, path)) {
		m = module_by_path(p, full);
		if (m < 0)
			snprintf(err, errlen, "%s %s: %s: %s", option, spec, name, strerror(errno));
		return m < 0 ? -ENOENT : m;
	}
	ret = probes_add_file(p, path, sync, err, errlen);
	return ret < 0 ? ret : module_by_path(p, path);
}

/* Sites that exist already where the search begins as well. true: there is one that did not. */
static bool mark_from(struct probes *p, uint32_t m, const struct found *f)
{
	bool any = false;

	for (unsigned int i = 0; i < p->nr_sites; i++)
		for (int k = 0; k < f->nr && p->sites[i].module == m && !p->sites[i].from; k++)
			if (p->sites[i].offset == f->sites[k].offset)
				any = p->sites[i].from = true;
	return any;
}

/* again: for --from, as probes_add_from() has it; NULL: for --point. behind: with --from, as probes_add_behind() has it. */
static int add_named(struct probes *p, const char *spec, const char *cwd, bool sync, bool *again, bool behind, char *err,
		     size_t errlen)
{
	const char *option = again ? "--from" : "--point";
	struct point_spec ps;
	const char *refused_in = NULL;
	uint64_t refused = 0;
	const char *what = spec, *slash = strrchr(spec, '/');
	int total = 0, ret, only = -1;

	/* BINARY:..., BINARY being a path */
	if (slash) {
		const char *colon = strchr(slash, ':');

		if (colon && colon[1] != ':' && (colon[1] < '0' || colon[1] > '9')) {
			char name[PATH_MAX];

			snprintf(name, sizeof(name), "%.*s", (int)(colon - spec), spec);
			only = module_of(p, option, spec, name, cwd, sync, err, errlen);
			if (only < 0)
				return only;
			what = colon + 1;
		}
	} else {
		/* BINARY by the last part of its path */
		const char *colon = strchr(spec, ':');

		for (unsigned int m = 0; colon && colon[1] != ':' && m < p->nr_modules; m++) {
			const char *base = strrchr(p->modules[m].path, '/');

			base = base ? base + 1 : p->modules[m].path;
			if (strlen(base) == (size_t)(colon - spec) && !strncmp(base, spec, colon - spec)) {
				only = m;
				what = colon + 1;
				break;
			}
		}
	}
	for (unsigned int m = 0; m < p->nr_modules; m++) {
		if ((only >= 0 && m != (unsigned int)only) || p->modules[m].made)
			continue;
		ps = (struct point_spec){ .f.fd = open(p->modules[m].path, O_RDONLY | O_CLOEXEC), .f.file = p->modules[m].file,
					  .from = again, .behind = behind };
		point_in(p, m, what, &ps);
		if (again && !behind)
			*again |= mark_from(p, m, &ps.f);
		total += ps.f.nr;	/* with those that are points already */
		ret = probes_plant(p, m, &ps.f, err, errlen);
		found_free(&ps.f);
		if (ret < 0)
			return ret;
		if (ps.refused && !refused) {
			refused = ps.refused;
			refused_in = p->modules[m].path;
		}
	}
	if (!total && refused) {
		snprintf(err, errlen, "%s %s: the kernel does not probe the instruction at offset 0x%lx of %s "
			 "(LOCK prefix, syscall, fence): take the one after it", option, spec, refused, refused_in);
		return -EOPNOTSUPP;
	}
	if (total || only < 0)
		return total;
	say_nearest(p, option, what, err, errlen);
	return -ENXIO;
}

int probes_add_point(struct probes *p, const char *spec, const char *cwd, bool sync, char *err,
		     size_t errlen)
{
	return add_named(p, spec, cwd, sync, NULL, false, err, errlen);
}

int probes_add_from(struct probes *p, const char *spec, const char *cwd, bool sync, bool *again, char *err, size_t errlen)
{
	*again = false;
	return add_named(p, spec, cwd, sync, again, false, err, errlen);
}

int probes_add_behind(struct probes *p, const char *function, const char *cwd, char *err, size_t errlen)
{
	bool again = false;

	return add_named(p, function, cwd, false, &again, true, err, errlen);
}

void probes_say_unknown(struct probes *p, bool from, const char *spec, char *err, size_t errlen)
{
	say_nearest(p, from ? "--from" : "--point", spec, err, errlen);
}

void probes_tells(struct probes *p, uint32_t module)
{
	if (module < p->nr_modules)
		p->modules[module].tells = true;
}

unsigned int probes_nr_modules(const struct probes *p)
{
	return p->nr_modules;
}

const struct probe_module *probes_module(const struct probes *p, uint32_t module)
{
	return module < p->nr_modules ? &p->modules[module] : NULL;
}

int probes_module_by_file(const struct probes *p, uint64_t ino, uint32_t kdev)
{
	for (unsigned int i = 0; i < p->nr_modules; i++)
		if (p->modules[i].ino == ino && kernel_dev(p->modules[i].dev) == kdev)
			return i;
	return -1;
}

unsigned int probes_nr_sites(const struct probes *p)
{
	return p->nr_sites;
}

const struct probe_site *probes_site(const struct probes *p, uint32_t site)
{
	return site < p->nr_sites ? &p->sites[site] : NULL;
}

struct zug_pass probes_site_pass(const struct probes *p, uint32_t site)
{
	const struct probe_site *s = probes_site(p, site);

	return s ? probes_pass(probes_module(p, s->module), s) : (struct zug_pass){ .kind = ZUG_PASS_NEVER };
}
