/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probes_code.c - places in the code as points: atomic instructions, plain accesses
 *
 * probes_add_code() makes places of a module's catalogue (code.h) sites; probes_add_atomics() and
 * probes_is_own() choose among them: which instructions, of whose code. The rest is about
 * instructions that ask the processor (probes_answer()).
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/file_piece.h"
#include "lib/base/installed.h"
#include "probes/probes_internal.h"
#include "probes/rewriting.h"

/* A cache is believed as far as the file agrees with it. */
static bool agrees(struct file_piece *p, const struct code_place *c)
{
	const uint8_t *code;
	ssize_t n = file_piece_at(p, c->offset, CODE_LONGEST, &code);

	return n >= c->len && code_verify(c, code, n);
}

/* About a thousand places all over the file: one that was changed in place, with its build-id, shows. */
static bool agrees_all(const char *path, const struct code *code)
{
	struct file_piece p = { .fd = open(path, O_RDONLY | O_CLOEXEC) };
	uint32_t step = code_nr(code) / 1000 + 1;
	bool ok = p.fd >= 0;

	for (uint32_t i = 0; ok && i < code_nr(code); i += step)
		ok = agrees(&p, code_at(code, i));
	if (p.fd >= 0)
		close(p.fd);
	return ok;
}

static struct code *open_code(const struct probe_module *m, char *err, size_t errlen)
{
	struct code_stats st;
	struct code *code;

	if (m->made) {
		snprintf(err, errlen, "%s is made by the test", m->path);
		return NULL;
	}
	if (code_open(&code, m->path, m->file, CODE_CACHE, err, errlen))
		return NULL;
	code_get_stats(code, &st);
	if (!st.cached || agrees_all(m->path, code))
		return code;
	code_free(code);
	return code_open(&code, m->path, m->file, CODE_CACHE_RENEW, err, errlen) ? NULL : code;
}

uint16_t probes_code_op(const struct code_place *c)
{
	bool atomic = c->flags & CODE_SHARED;

	switch ((enum code_kind)c->kind) {
	case CODE_LOAD:
		return atomic ? ZUG_OP_ATOMIC_LOAD : ZUG_OP_DATA_READ;
	case CODE_STORE:
		return atomic ? ZUG_OP_ATOMIC_STORE : ZUG_OP_DATA_WRITE;
	case CODE_RMW:
		return ZUG_OP_DATA_WRITE;
	case CODE_LOCK:
	case CODE_XCHG:
		return ZUG_OP_ATOMIC_RMW;
	case CODE_BLOCK:
		if (atomic)
			return !(c->flags & CODE_WRITE) ? ZUG_OP_ATOMIC_LOAD :
			       c->flags & CODE_READ ? ZUG_OP_ATOMIC_RMW : ZUG_OP_ATOMIC_STORE;
		return c->flags & CODE_WRITE ? ZUG_OP_DATA_WRITE : ZUG_OP_DATA_READ;
	case CODE_STRING:
		return c->flags & CODE_WRITE ? ZUG_OP_DATA_WRITE : ZUG_OP_DATA_READ;
	case CODE_PAUSE:
		return ZUG_OP_PAUSE;
	case CODE_FENCE:
		return ZUG_OP_FENCE;
	default:
		return ZUG_OP_NONE;
	}
}

/* Of struct zug_site: 0 is none. */
static uint8_t site_register(uint8_t reg)
{
	uint8_t word = code_saved_register(reg);

	return word == CODE_NO_REG ? 0 : word + 1;
}

static void tell_operand(const struct code_place *c, struct zug_site *what)
{
	what->base = site_register(c->base);
	what->index = c->kind == CODE_BLOCK ? 0 : site_register(c->index);
	what->shift = c->shift;
	what->ip_add = c->base == CODE_RIP ? c->len : 0;
	what->disp = c->disp;
}

void probes_lock_site(const struct probe_site *s, struct zug_site *what)
{
	what->flags = ZUG_SITE_SHAPE(0, s->code.kind == CODE_CALL ? s->code.len : 0) |
		      (s->op == PROBES_READS_OWN_FILES ? ZUG_SITE_READS : 0);
	what->obj_arg = ZUG_ARG_OPERAND;
	tell_operand(&s->code, what);
}

void probes_code_site(const struct probe_site *s, struct zug_site *what)
{
	const struct code_place *c = &s->code;

	what->flags = ZUG_SITE_CODE | (s->op == ZUG_OP_POINT ? ZUG_SITE_ANY : s->inner ? ZUG_SITE_WHOLE : 0);
	if ((c->flags & (CODE_NO_ADDR | CODE_TLS)) || s->op == ZUG_OP_POINT || s->op == ZUG_OP_FENCE ||
	    s->op == ZUG_OP_PAUSE)
		return;
	/* a call of another function accesses nothing by itself */
	what->flags |= ZUG_SITE_OPERAND |
		       ZUG_SITE_SHAPE(c->kind == CODE_BLOCK ? 0 : c->size && c->size <= 64 ? c->size : 16, c->len);
	if (c->kind == CODE_BLOCK && code_block_access(c->size)->pieces) {
		what->flags |= ZUG_SITE_PIECES;
		what->path[0] = code_block_access(c->size)->message;
	} else if (code_second(c)) {
		what->flags |= ZUG_SITE_SECOND;
		what->obj2_arg = code_second_register(c) == CODE_RSI ? 0 : site_register(code_second_register(c));
	} else if (c->kind == CODE_BLOCK && code_block_access(c->size)->frees) {
		/* the word before the block: where glibc has its size */
		what->path[0] = -(int16_t)sizeof(uint64_t);
	}
	if (c->flags & CODE_REP)
		what->flags |= ZUG_SITE_REP;
	tell_operand(c, what);
}

int probes_rewrite(const char *copy, const struct probe_site *sites, int nr)
{
	struct rewriting r = { .fd = -1 };
	uint8_t buf[16];
	int ret = 0;

	for (int i = 0; i < nr && !ret; i++) {
		const struct code_place *c = &sites[i].code;

		if (!c->kind || (c->flags & CODE_PROBE) || sites[i].op == ZUG_OP_POINT)
			continue;
		ret = rewriting_begin(&r, copy);
		if (ret)
			break;
		if (pread(r.fd, buf, c->len, c->offset) != c->len) {
			ret = -EIO;
		} else if (buf[0] == 0x90) {
			continue;	/* by another campaign, or before the probes were planted again */
		} else if (code_rewrite(c, buf) || pwrite(r.fd, buf, c->len, c->offset) != c->len) {
			ret = -EIO;
		}
	}
	rewriting_end(&r);
	return ret;
}

/* rdtscp cannot be probed: in the private copy it is rdtsc, with a nop to have the same length. */
static int rewrite_rdtscp(const char *copy, const struct code_ask *list, uint32_t nr)
{
	static const uint8_t was[] = { 0x0f, 0x01, 0xf9 }, is[] = { 0x0f, 0x31, 0x90 };
	struct rewriting r = { .fd = -1 };
	uint8_t buf[3];
	int ret = 0;

	for (uint32_t i = 0; i < nr && !ret; i++) {
		if (!list[i].cpu)
			continue;
		ret = rewriting_begin(&r, copy);
		if (ret)
			break;
		if (pread(r.fd, buf, 3, list[i].offset) != 3 ||
		    (memcmp(buf, was, 3) && memcmp(buf, is, 3)) || pwrite(r.fd, is, 3, list[i].offset) != 3)
			ret = -EIO;
	}
	rewriting_end(&r);
	return ret;
}

/* The dynamic loader measures how long it takes, for LD_DEBUG. */
static bool is_loader(const char *path)
{
	const char *base = strrchr(path, '/');

	return base && !strncmp(base + 1, "ld-", 3);
}

int probes_tell_module(struct probes *p, uint32_t m)
{
	struct probe_module *mod = &p->modules[m];
	struct zug_module told = { .number = m, .of_system = mod->file && symfile_of_system(mod->file) };
	struct symfile_looks looks;
	uint64_t vaddr, size, code;

	if (p->executed && mod->file && symfile_interpreter_looks(mod->file, &looks) &&
	    symfile_interpreter_data(mod->file, &vaddr, &size) &&
	    !symfile_code_bias(mod->file, looks.begin, looks.begin, &code)) {
		told.data = vaddr + code;
		told.data_size = size;
		mod->told_frames = symfile_interpreter_frames(mod->file, &told.frames);
	}
	return kernel_add_module(p->k, mod->ino, mod->dev, &told);
}

int probes_plant_answers(struct probes *p, uint32_t m)
{
	struct probe_module *mod = &p->modules[m];
	char err[256];
	const char *copy;
	int ret;

	if (!mod->nr_answers)
		return 0;
	ret = sandbox_privatise(p->s, mod->path, &copy, err, sizeof(err));
	return ret ? ret : kernel_add_answers(p->k, m, copy, mod->answers, mod->nr_answers);
}

int probes_find_answers(struct probes *p, uint32_t m, char *err, size_t errlen)
{
	struct probe_module *mod = &p->modules[m];
	const char *copy = mod->path;
	struct code_ask *list = NULL;
	struct stat st;
	uint32_t nr = 0, n = 0;
	int ret = 0;

	if ((!p->answer_time && !p->answer_random) || is_loader(mod->path) || code_asks(mod->path, &list, &nr))
		return 0;
	for (uint32_t i = 0; i < nr; i++)
		if (list[i].kind == CODE_TIME ? p->answer_time : p->answer_random)
			list[n++] = list[i];
	/* other processes execute the file itself; where there is no room for a copy of a large one the processor answers */
	if (!n || sandbox_privatise(p->s, mod->path, &copy, err, errlen) || !strcmp(copy, mod->path) ||
	    !(mod->answers = calloc(n, sizeof(*mod->answers))))
		goto out;
	ret = rewrite_rdtscp(copy, list, n);
	for (uint32_t i = 0; i < n; i++)
		mod->answers[i] = (struct kernel_answer){
			list[i].offset, ZUG_ANSWER_SHAPE(list[i].len, code_saved_register(list[i].reg), list[i].size) |
						(list[i].cpu ? ZUG_ANSWER_CPU : 0) |
						(list[i].kind == CODE_RANDOM ? ZUG_ANSWER_RANDOM : 0)
		};
	mod->nr_answers = n;
	if (!ret && !stat(copy, &st)) {
		mod->ino = st.st_ino;
		mod->dev = st.st_dev;
		ret = probes_tell_module(p, m);
	}
	if (!ret)
		ret = probes_plant_answers(p, m);
	if (ret)
		snprintf(err, errlen, "cannot have rdtsc and rdrand in %s answered: %s", mod->path, strerror(-ret));
out:
	free(list);
	return ret ? ret : (int)mod->nr_answers;
}

/* Code that is not a program's own although it lies in its file. */
struct probe_foreign {
	bool lines;	/* a static program that was compiled with -g: what has no lines is its C library. See know_lines() */
	bool lines_known;
	bool go;
	bool rust;
	bool sanitizer;	/* linked into the program */
	bool malloc;	/* a malloc() of its own; glibc's, which has another name as well */
	bool glibc_malloc;
	bool runtime;	/* of a language whose programs lie elsewhere: Python, Node.js, Java, Ruby, .NET */
};

/* From the fourth on: what only such a runtime defines. */
static const char *const marks[] = { "runtime.main", "rust_eh_personality", "__sanitizer_print_stack_trace",
				     "Py_BytesMain", "napi_create_function", "JNI_CreateJavaVM", "ruby_process_options",
				     "coreclr_initialize", "malloc", "__libc_malloc" };

static int note_mark(const struct symdef *d, unsigned int name, void *arg)
{
	struct probe_foreign *f = arg;

	f->go |= name == 0;
	f->rust |= name == 1;
	f->sanitizer |= name == 2;
	f->runtime |= name > 2 && name < 8 && d->is_function && d->offset != UINT64_MAX;
	f->malloc |= name == 8 && d->is_function && d->offset != UINT64_MAX;
	f->glibc_malloc |= name == 9 && d->is_function && d->offset != UINT64_MAX;
	return 0;
}

/* NULL: not known. */
static struct probe_foreign *foreign_of(struct probes *p, uint32_t module)
{
	struct probe_module *m = &p->modules[module];

	if (!m->foreign && (m->foreign = calloc(1, sizeof(*m->foreign))))
		symfile_find_names(m->file, marks, sizeof(marks) / sizeof(marks[0]), note_mark, m->foreign);
	return m->foreign;
}

static bool is_atomic(const struct code_place *c)
{
	/* what looks at a lock before it is taken is part of that */
	if (code_rust(c) == CODE_RUST_PART && c->kind != CODE_CALL)
		return false;
	switch ((enum code_kind)c->kind) {
	case CODE_LOCK:
	case CODE_XCHG:
		/* also in the own frame: code takes that trouble only for what other tasks see */
		return !(c->flags & (CODE_TLS | CODE_CONST));
	case CODE_PAUSE:
	case CODE_CALL:
		return true;
	case CODE_FENCE:
		return c->flags & CODE_REWRITE;	/* full ones: lfence and sfence belong to the clock and to copying */
	case CODE_LOAD:
	case CODE_STORE:
	case CODE_RMW:
	case CODE_BLOCK:
		return c->flags & CODE_SHARED;
	default:
		return false;
	}
}

/* An atomic instruction of Rust's: what its object is called, by the locks that are inlined there, or that it takes one. */
static void know_rust(struct probe_site *s, struct symfile *f)
{
	bool atomic = is_atomic(&s->code) || s->op == ZUG_OP_ATOMIC_LOAD || s->op == ZUG_OP_ATOMIC_STORE;
	struct trace_frame frames[64];
	int nr = atomic ? symfile_frames(f, s->offset, frames, sizeof(frames) / sizeof(frames[0])) : 0;

	for (int i = 0; i < nr && !s->named_by; i++)
		s->named_by = probes_rust_names(frames[i].function);
	s->inner = nr > 0 && frames[nr - 1].function && !strncmp(frames[nr - 1].function, "core::sync::atomic::", 20);
	if (!code_rust(&s->code))
		return;
	s->op = probes_rust_op(&s->code);
	s->symbol = zug_op_name(s->op);
	s->layout = SYMLIBC_RUST;
	s->obj_arg = ZUG_ARG_OPERAND;
	s->here = true;
}

/* own: the file of a program, whose own code is told from that of others in it; or NULL. */
static int add_place(struct found *f, struct file_piece *file, const struct code_place *c, const struct probe_code *want,
		     bool copies, struct symfile *own)
{
	struct probe_site s = { .offset = c->offset, .symbol = code_kind_name(c->kind), .code = *c,
				.limit = want->limit, .within = want->within, .named_by = want->named_by };

	s.own = own && symfile_is_own(own, c->offset);
	s.op = want->op ? want->op : probes_code_op(c);
	if (own)
		know_rust(&s, own);
	if (!s.op)
		return 0;
	if (!agrees(file, c))
		return -ESTALE;
	s.split = want->split && c->kind == CODE_RMW && !(c->flags & CODE_NO_ADDR) && c->size <= 16;
	s.waits = want->waits;
	if (s.split)
		s.op = ZUG_OP_DATA_READ;
	if (!(c->flags & CODE_PROBE) && !(copies && (c->flags & CODE_REWRITE))) {
		if (!(c->flags & CODE_NEXT))
			return 0;
		s.offset += c->len;
		s.op = ZUG_OP_POINT;
		s.here = false;
		s.obj_arg = 0;
	}
	return found_append(f, &s);
}

bool probes_is_rust(struct probes *p, uint32_t module)
{
	const struct probe_foreign *f = foreign_of(p, module);

	return f && f->rust;
}

int probes_add_code(struct probes *p, uint32_t module, const struct probe_code *places, int nr,
		    char *err, size_t errlen)
{
	struct probe_module *m = &p->modules[module];
	struct found f = { 0 };
	struct file_piece file = { 0 };
	const char *copy = m->path;
	struct code *code = probes_code(p, module, err, errlen);
	/* most of a program in Rust may be packages, pools of threads among them, which are compiled into its file */
	struct symfile *own = probes_is_rust(p, module) ? m->file : NULL;
	int ret = 0;

	if (!code)
		return -ENOEXEC;
	if (!nr)
		return 0;
	ret = sandbox_privatise(p->s, m->path, &copy, err, errlen);
	if (ret)
		return ret;
	f.fd = open(m->path, O_RDONLY | O_CLOEXEC);
	if (f.fd < 0) {
		snprintf(err, errlen, "%s: %s", m->path, strerror(errno));
		return -errno;
	}
	file.fd = f.fd;
	for (int i = 0; i < nr && ret >= 0; i++) {
		const struct code_place *c = code_find(code, places[i].offset);

		/* a trace of another build, with --force, names what is no place in this one */
		if (c)
			ret = add_place(&f, &file, c, &places[i], strcmp(copy, m->path), own);
	}
	if (ret == -ESTALE)
		snprintf(err, errlen, "%s is not what its catalogue in the cache (~/.cache/zugzwang) says: "
			 "remove that", m->path);
	else if (ret < 0)
		snprintf(err, errlen, "out of memory");
	else
		ret = probes_plant(p, module, &f, err, errlen);
	found_free(&f);
	return ret;
}

void probes_silence(struct probes *p, uint32_t site, bool silent)
{
	if (site < p->nr_sites)
		p->sites[site].silent = silent;
}

void probes_wait_at(struct probes *p, uint32_t site)
{
	if (site >= p->nr_sites)
		return;
	p->sites[site].silent = false;
	p->sites[site].waits = true;
	p->sites[site].limit = 0;
}

void probes_wait_no_more(struct probes *p, uint32_t site, uint32_t limit)
{
	if (site >= p->nr_sites)
		return;
	p->sites[site].waits = false;
	p->sites[site].limit = limit;
}

void probes_set_within(struct probes *p, uint32_t site, uint32_t within)
{
	if (site < p->nr_sites)
		p->sites[site].within = within;
}

void probes_set_limit(struct probes *p, uint32_t site, uint32_t limit)
{
	if (site < p->nr_sites)
		p->sites[site].limit = limit;
}

/* ---- choosing ---- */

/* The runtimes of the compilers' sanitizers lie wherever the compiler does. */
static bool is_sanitizer(const char *path)
{
	static const char *const names[] = { "lib[almt]san.so*", "libubsan.so*", "libhwasan.so*", "libclang_rt.*" };
	const char *base = strrchr(path, '/');

	for (size_t i = 0; base && i < sizeof(names) / sizeof(names[0]); i++)
		if (!fnmatch(names[i], base + 1, 0))
			return true;
	return false;
}

bool probes_is_system(const char *path)
{
	return path_is_installed(path) || is_sanitizer(path);
}

bool probes_begins_with(const char *name, const char *const *list, size_t nr)
{
	for (size_t i = 0; name && i < nr; i++)
		if (!strncmp(name, list[i], strlen(list[i])))
			return true;
	return false;
}

/*
 * Functions of Rust's library, by names alone: how it starts a program or a thread, panics, and writes a stack. The compiler
 * inlines nothing of the program into these.
 */
static bool is_rust_start(const char *function)
{
	static const char *const names[] = {
		"std::rt::lang_start_internal", "std::rt::init", "std::rt::cleanup", "std::sys::pal::", "std::sys::thread::",
		"std::sys::thread_local::guard", "std::sys::thread_local::key", "std::sys::env::", "std::sys::args::",
		"std::sys::unix::thread::", "std::sys::unix::stack_overflow::", "std::sys::unix::os::", "std::sys::unix::args::",
		"std::sys_common::thread_info::", "std::thread::spawnhook::", "std::thread::id::", "std::thread::current::",
		"std::panicking::rust_panic", "std::panicking::default_hook", "std::panicking::begin_panic_handler",
		"std::panicking::panic_count::", "std::sys::backtrace::BacktraceLock", "std::sys::backtrace::lock",
		"std::backtrace_rs::", "std::backtrace::", "gimli::", "addr2line::",
	};

	/* "<std::sys::thread::unix::Thread>::new::thread_start" */
	return function && probes_begins_with(function + (function[0] == '<'), names, sizeof(names) / sizeof(names[0])) &&
	       !strstr(function, "::sync::");
}

/*
 * Rust's libraries count with every program: how they start a thread or unwind a stack is theirs, what they inline into
 * the program's functions is the program's, and so are their primitives (std::sync, std::sys::sync, core::sync). Where there
 * are no lines, as cargo's release builds have none, names tell.
 */
static bool is_rust_library(const struct trace_frame *frames, int nr)
{
	if (probes_in_rust_lock(frames[nr - 1].function))
		return true;
	if (nr == 1 && !frames[0].file)
		return is_rust_start(frames[0].function);
	for (int i = 0; i < nr; i++)
		if (!frames[i].file || !symbols_of_library(frames[i].file))
			return false;
	return !frames[nr - 1].function ||
	       (!strstr(frames[nr - 1].function, "::sync::") && !strstr(frames[nr - 1].function, "::sys::unix::locks::"));
}

static bool is_foreign(struct probe_module *m, uint64_t offset, const struct probe_foreign *f)
{
	static const char *const sanitizer[] = { "__asan", "__tsan", "__lsan", "__ubsan", "__msan", "__hwasan",
						 "__sanitizer", "__interc", "___interc" };
	struct trace_frame frames[64];
	int nr;

	if (f->runtime || symfile_is_library(m->file, offset))
		return true;
	if (!f->lines && !f->go && !f->rust && !f->sanitizer)
		return false;
	nr = symfile_frames(m->file, offset, frames, sizeof(frames) / sizeof(frames[0]));
	if (nr <= 0)
		return f->lines;
	if (f->lines && !frames[0].line)
		return true;
	return (f->go && probes_in_go_runtime(frames, nr)) ||
	       (f->rust && is_rust_library(frames, nr)) ||
	       (f->sanitizer && probes_begins_with(frames[0].function, sanitizer, sizeof(sanitizer) / sizeof(sanitizer[0])));
}


/*
 * In Rust all atomic accesses are functions of one file of its library, and what else accesses a like member as an atomic
 * instruction of its function does is an ordinary access: Arc::clone() loads its pointer, and adds to what that leads to.
 */
static void believe_rust(const struct probe_module *m, struct code *code)
{
	for (uint32_t i = 0; i < code_nr(code); i++) {
		const struct code_place *c = code_at(code, i);

		if (c->flags & CODE_SHARED && symfile_is_rust(m->file, c->offset) &&
		    symfile_says_atomic(m->file, c->offset) == SYMSAYS_PLAIN)
			code_set_plain(code, i);
	}
}

struct code *probes_code(struct probes *p, uint32_t module, char *err, size_t errlen)
{
	struct probe_module *m = &p->modules[module];
	const struct probe_foreign *f;

	if (m->code)
		return m->code;
	m->code = open_code(m, err, errlen);
	f = m->code && m->file ? foreign_of(p, module) : NULL;
	if (f && f->rust)
		believe_rust(m, m->code);
	return m->code;
}

/* Reads debug information, which takes long: only when a place in the file is asked about. */
static void know_lines(struct probes *p, uint32_t module, struct probe_foreign *f)
{
	const struct probe_module *m = &p->modules[module];
	struct trace_frame frame;
	struct code *code;
	char err[256];

	if (f->lines_known)
		return;
	f->lines_known = true;
	code = f->runtime ? NULL : probes_code(p, module, err, sizeof(err));
	for (uint32_t i = 0; code && !symfile_is_dynamic(m->file) && !f->lines && i < code_nr(code); i++)
		f->lines = is_atomic(code_at(code, i)) &&
			   symfile_frames(m->file, code_at(code, i)->offset, &frame, 1) > 0 && frame.line;
}

bool probes_has_glibc_blocks(struct probes *p, uint32_t module)
{
	const struct probe_module *mine = &p->modules[module];
	const struct probe_foreign *f;
	bool glibc = false;

	if (!symfile_is_dynamic(mine->file) && !strstr(mine->path, ".so")) {
		f = foreign_of(p, module);
		return f && f->glibc_malloc && symfile_libc(mine->file) == SYMLIBC_GLIBC;
	}
	for (uint32_t i = 0; i < p->nr_modules; i++) {
		const struct probe_module *m = &p->modules[i];
		bool library = strstr(m->path, ".so");
		enum symlibc libc = m->file && library ? symfile_libc(m->file) : SYMLIBC_NONE;

		glibc |= libc == SYMLIBC_GLIBC;
		if (libc == SYMLIBC_MUSL)
			return false;
		/* of programs the one that has the place counts; the loader has a malloc() until it has found the real one */
		if (!m->file || libc != SYMLIBC_NONE || strstr(m->path, "/ld-linux") || (!library && i != module))
			continue;
		f = foreign_of(p, i);
		if (!f || f->malloc)
			return false;
	}
	return glibc;
}

bool probes_is_runtime(struct probes *p, uint32_t module)
{
	const struct probe_foreign *f = foreign_of(p, module);

	return f && f->runtime;
}

bool probes_is_own(struct probes *p, uint32_t module, uint64_t offset)
{
	struct probe_foreign *f = foreign_of(p, module);

	if (f)
		know_lines(p, module, f);
	return !f || !is_foreign(&p->modules[module], offset, f);
}

bool probes_is_of_user(const struct probes *p, uint32_t module, uint64_t offset)
{
	const struct probe_module *m = &p->modules[module];

	return m->file && !probes_is_system(m->path) && symfile_has_lines(m->file) && symfile_is_own(m->file, offset);
}

bool probes_is_users(struct probes *p, uint32_t module, uint64_t offset)
{
	struct probe_module *m = &p->modules[module];
	struct trace_frame frames[64];
	int nr;

	if (!probes_is_own(p, module, offset))
		return false;
	if (!m->foreign || (!m->foreign->go && !m->foreign->rust))
		return true;
	nr = symfile_frames(m->file, offset, frames, sizeof(frames) / sizeof(frames[0]));
	/* without optimisation an atomic access of the program's is a function of Rust's library */
	for (int i = 0; i < nr; i++)
		if (!frames[i].file || !symbols_of_language(frames[i].file) || probes_in_go_map(&frames[i]) ||
		    (frames[i].function && !strncmp(frames[i].function, "core::sync::atomic::", 20)))
			return true;
	return nr <= 0;
}

int probes_add_atomics(struct probes *p, uint32_t module, char *const *scope, char *err, size_t errlen)
{
	struct probe_module *m = &p->modules[module];
	struct code *code = probes_code(p, module, err, errlen);
	const struct probe_foreign *f = foreign_of(p, module);
	bool go = f && f->go;
	struct probe_code *list;
	int nr = 0, ret;

	if (!code)
		return -ENOEXEC;
	list = malloc((code_nr(code) + 1) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (uint32_t i = 0; i < code_nr(code); i++) {
		const struct code_place *c = code_at(code, i);

		if (!is_atomic(c) || !probes_in_scope(m, c->offset, scope))
			continue;
		/* what calls an atomic access for a lock was compiled for the program, in whatever file it is written */
		if ((scope && scope[0]) || c->kind == CODE_CALL || probes_is_own(p, module, c->offset))
			list[nr++] = (struct probe_code){ .offset = c->offset, .named_by = go ? probes_go_lock(m->file, c) : 0,
							  .split = c->kind == CODE_RMW &&
								   probes_scope_of(p, module, c->offset) != PROBES_LEFT_OUT };
	}
	ret = probes_add_code(p, module, list, nr, err, errlen);
	free(list);
	if (ret >= 0)
		m->code_points = true;
	return ret;
}
