// SPDX-License-Identifier: GPL-2.0-only
/*
 * stacks.c - the stack of a task that stands still, without ptrace
 *
 * Everything goes by the thread id, not the process id: a main thread that has exited has neither
 * memory nor maps of its own any more while the other threads live on. symbols_unwind() at the end
 * is the way in; libdwfl unwinds, with memory, registers and modules from the functions above it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <elfutils/libdwfl.h>
#include "lib/base/array.h"
#include "lib/base/hash.h"
#include "lib/base/mappings.h"
#include "lib/base/proc_status.h"
#include "lib/base/remote.h"
#include "symbols/sym_bash.h"
#include "symbols/sym_dash.h"
#include "symbols/sym_java.h"
#include "symbols/sym_python.h"

#define PAGE 4096u
#define INTERPRETED_MAX 64

struct unwind {
	struct symbols *s;
	int tid;
	struct user_registers regs;
	struct mapping *maps;
	size_t nr_maps, maps_size;
	uint64_t page;		/* address of what is in data, 1: nothing */
	unsigned char data[PAGE];
	struct trace_frame *frames;
	int nr, max;
	struct symfile *interpreter;	/* NULL: none, or it executes nothing here */
	struct interpreted_frame interpreted[INTERPRETED_MAX];
	int nr_interpreted, next_interpreted;	/* the next one that is not among the frames yet */
	bool generated;		/* the frame before is of code that is in no file */
};

/*
 * libdwfl, with the files of a process: it takes most of the time of a stack to open them. The tasks of a process, and copies
 * of a template, have the same ones at the same addresses.
 */
struct unwinder {
	Dwfl *dwfl;
	uint64_t files;		/* hash of what is mapped where */
	struct unwind *now;	/* the stack that is asked for */
};

static bool read_maps(struct unwind *u)
{
	struct mappings ms;
	struct mapping m;

	mappings_open(&ms, u->tid);
	while (mappings_next(&ms, &m)) {
		m.path = strdup(m.path);
		if (!m.path)
			break;
		if (!ARRAY_RESERVE(u->maps, u->maps_size, u->nr_maps + 1)) {
			free(m.path);
			break;
		}
		u->maps[u->nr_maps++] = m;
	}
	mappings_close(&ms);
	return u->nr_maps;
}

static const struct mapping *mapping_at(const struct unwind *u, uint64_t addr)
{
	for (size_t i = 0; i < u->nr_maps; i++)
		if (addr >= u->maps[i].start && addr < u->maps[i].end)
			return &u->maps[i];
	return NULL;
}

static bool read_memory(struct unwind *u, uint64_t addr, void *buf, size_t len)
{
	unsigned char *out = buf;

	while (len) {
		uint64_t page = addr & ~(uint64_t)(PAGE - 1);
		size_t at = addr - page, n = PAGE - at < len ? PAGE - at : len;

		if (u->page != page) {
			u->page = 1;
			if (!remote_read(u->tid, page, u->data, PAGE))
				return false;
			u->page = page;
		}
		memcpy(out, u->data + at, n);
		out += n;
		addr += n;
		len -= n;
	}
	return true;
}

/* The file of that name as the task sees it: the sandbox has mounts of its own. */
static struct symfile *file_at(struct symbols *s, int tid, const char *name)
{
	char path[PATH_MAX + 32], err[256];

	snprintf(path, sizeof(path), "/proc/%d/root%s", tid, name);
	return symbols_file(s, name, path, err, sizeof(err));
}

static struct symfile *file_of(struct unwind *u, const struct mapping *m)
{
	return m && m->path[0] == '/' ? file_at(u->s, u->tid, m->path) : NULL;
}

/*
 * A task parked at a probe stands behind the breakpoint, with the instruction in it not executed:
 * the place is the breakpoint's. A breakpoint that the file has as well is the program's own.
 */
static void step_back_from_probe(struct unwind *u)
{
	uint64_t pc = u->regs.r[16] - 1;
	const struct mapping *m = mapping_at(u, pc);
	struct symfile *f = file_of(u, m);
	unsigned char now, before;

	if (!f || !read_memory(u, pc, &now, 1) || now != 0xcc)
		return;
	if (pread(f->fd, &before, 1, pc - m->start + m->offset) == 1 && before != 0xcc)
		u->regs.r[16] = pc;
}

static bool is_outermost(const struct trace_frame *f)
{
	static const char *const names[] = { "clone3", "__clone3", "clone", "__clone", "_start" };

	for (size_t i = 0; f->function && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(f->function, names[i]))
			return true;
	return false;
}

static int interpreted_by(struct symfile *f, struct sym_string **strings, int tid, uint64_t bias, uint64_t tls,
			  struct interpreted_frame *frames, int max)
{
	return (sym_is_python(f) ? sym_python_frames : sym_java_frames)(f, strings, tid, bias, tls, frames, max);
}

/* Finds the interpreter among the mappings, and the functions that it executes in this task. */
static void read_interpreted(struct unwind *u)
{
	uint64_t bias;

	for (size_t i = 0; i < u->nr_maps && !u->nr_interpreted; i++) {
		const struct mapping *m = &u->maps[i];
		struct symfile *f;

		f = m->executable ? file_of(u, m) : NULL;
		if (!f || !symfile_interprets(f) || symfile_code_bias(f, m->start, m->offset, &bias))
			continue;
		u->interpreter = f;
		u->nr_interpreted = interpreted_by(f, &u->s->strings, u->tid, bias, u->regs.tls, u->interpreted,
						   INTERPRETED_MAX);
	}
}

/* The functions that one call of the interpreter executes, in its place. */
static void add_interpreted(struct unwind *u)
{
	while (u->next_interpreted < u->nr_interpreted && u->nr < u->max) {
		const struct interpreted_frame *p = &u->interpreted[u->next_interpreted++];

		u->frames[u->nr++] = p->frame;
		if (p->entry)
			return;
	}
}

static int add_frame(Dwfl_Frame *state, void *arg)
{
	struct unwind *u = arg;
	const struct mapping *m;
	struct symfile *f;
	Dwarf_Addr pc;
	bool active, generated;
	char text[PATH_MAX];
	int nr = 0;

	if (!dwfl_frame_pc(state, &pc, &active) || u->nr == u->max)
		return DWARF_CB_ABORT;
	/* A return address may belong to the next line, or function. */
	if (!active)
		pc--;
	m = mapping_at(u, pc);
	f = file_of(u, m);
	/* HotSpot's interpreter is made at run time */
	generated = m && !m->path[0] && u->nr_interpreted && symfile_is_java(u->interpreter);
	if (generated && !u->generated)
		add_interpreted(u);
	u->generated = generated;
	if (generated)
		return DWARF_CB_OK;
	if (f)
		nr = symfile_frames(f, pc - m->start + m->offset, u->frames + u->nr, u->max - u->nr);
	if (f && u->nr_interpreted && f == u->interpreter) {
		/*
		 * What the interpreter does below its innermost function is told, its way between them is not.
		 * Its own lines are none of the program's.
		 */
		if (nr > 0 && sym_is_python_loop(u->frames[u->nr + nr - 1].function)) {
			add_interpreted(u);
			return DWARF_CB_OK;
		}
		if (u->next_interpreted)
			return DWARF_CB_OK;
		for (int i = 0; i < nr; i++)
			u->frames[u->nr + i] = (struct trace_frame){ .function = u->frames[u->nr + i].function };
	}
	if (nr > 0) {
		u->nr += nr;
		/* frames behind the first function of a thread are chance */
		return is_outermost(&u->frames[u->nr - 1]) ? DWARF_CB_ABORT : DWARF_CB_OK;
	}
	/* The outermost frame of a thread may have a null return address. */
	if (!m && u->nr)
		return DWARF_CB_ABORT;
	if (m && m->path[0])
		snprintf(text, sizeof(text), "%s+0x%llx", strrchr(m->path, '/') ?
			 strrchr(m->path, '/') + 1 : m->path,
			 (unsigned long long)(pc - m->start + m->offset));
	else
		snprintf(text, sizeof(text), "0x%llx", (unsigned long long)pc);
	u->frames[u->nr++] = (struct trace_frame){ .function = sym_string(&u->s->strings, text) };
	return DWARF_CB_OK;
}

/* ---- what libdwfl asks ---- */

static int find_elf(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
		    char **file_name, Elf **elf)
{
	const struct unwinder *w = *userdata;
	char path[PATH_MAX + 32];
	int fd;

	if (name[0] != '/')
		return dwfl_linux_proc_find_elf(mod, userdata, name, base, file_name, elf);
	snprintf(path, sizeof(path), "/proc/%d/root%s", w->now->tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	*elf = NULL;
	*file_name = fd >= 0 ? strdup(path) : NULL;
	return fd;
}

/*
 * There is no other way for find_elf() to know whose module it is asked for. What is in no file is read now: it lies in the
 * memory of a process that may have ended when the next stack is asked for.
 */
static int set_userdata(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
			void *arg)
{
	GElf_Addr bias;

	*userdata = arg;
	if (name[0] != '/')
		dwfl_module_getelf(mod, &bias);
	return DWARF_CB_OK;
}

/* Unwinding needs .eh_frame alone; names are found by our own symfile. */
static int no_debuginfo(Dwfl_Module *mod, void **userdata, const char *modname, Dwarf_Addr base,
			const char *file_name, const char *link, GElf_Word crc, char **debug_name)
{
	return -1;
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	const struct unwinder *w = arg;

	if (*thread_arg)
		return 0;
	*thread_arg = arg;
	return w->now->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	*thread_arg = arg;
	return true;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *result, void *arg)
{
	const struct unwinder *w = arg;

	return read_memory(w->now, addr, result, sizeof(*result));
}

static bool initial_registers(Dwfl_Thread *thread, void *arg)
{
	const struct unwinder *w = arg;
	Dwarf_Word regs[17];

	for (int i = 0; i < 17; i++)
		regs[i] = w->now->regs.r[i];
	return dwfl_thread_state_registers(thread, 0, 17, regs);
}

static uint64_t hash_files(const struct unwind *u)
{
	uint64_t h = HASH_BEGIN;

	for (size_t i = 0; i < u->nr_maps; i++) {
		const struct mapping *m = &u->maps[i];
		const uint64_t at[] = { m->start, m->end, m->offset, m->ino, m->dev };

		if (m->path[0] == '/' || !strcmp(m->path, "[vdso]"))
			h = hash_bytes(hash_bytes(h, at, sizeof(at)), m->path, strlen(m->path) + 1);
	}
	return h;
}

void sym_unwinder_free(struct unwinder *w)
{
	if (w && w->dwfl)
		dwfl_end(w->dwfl);
	free(w);
}

/* The one for the process of u. NULL: out of memory, or its files cannot be told. */
static struct unwinder *unwinder_for(struct unwind *u, int pid)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = find_elf, .find_debuginfo = no_debuginfo,
	};
	static const Dwfl_Thread_Callbacks threads = {
		.next_thread = next_thread, .get_thread = get_thread, .memory_read = memory_read,
		.set_initial_registers = initial_registers,
	};
	uint64_t files = hash_files(u);
	struct unwinder *w = u->s->unwinder;

	if (w && w->files == files) {
		w->now = u;
		return w;
	}
	sym_unwinder_free(w);
	u->s->unwinder = NULL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	*w = (struct unwinder){ .dwfl = dwfl_begin(&callbacks), .files = files, .now = u };
	if (!w->dwfl || dwfl_linux_proc_report(w->dwfl, u->tid) || dwfl_report_end(w->dwfl, NULL, NULL) ||
	    dwfl_getmodules(w->dwfl, set_userdata, w, 0) || !dwfl_attach_state(w->dwfl, NULL, pid, &threads, w)) {
		sym_unwinder_free(w);
		return NULL;
	}
	u->s->unwinder = w;
	return w;
}

static void end_unwind(struct unwind *u)
{
	for (size_t i = 0; i < u->nr_maps; i++)
		free(u->maps[i].path);
	free(u->maps);
	free(u);
}

int symbols_unwind(struct symbols *s, int pid, int tid, const struct user_registers *regs,
		   struct trace_frame *frames, int max)
{
	struct unwinder *w;
	struct unwind *u;
	int ret = -ENOMEM;

	u = calloc(1, sizeof(*u));
	if (!u)
		return ret;
	*u = (struct unwind){ .s = s, .tid = tid, .regs = *regs, .page = 1, .frames = frames,
			      .max = max };
	if (!read_maps(u)) {
		ret = -ESRCH;
		goto out;
	}
	step_back_from_probe(u);
	read_interpreted(u);
	ret = -EIO;
	w = unwinder_for(u, pid);
	if (!w)
		goto out;
	/* Its end is often an error, and a stack that is cut off is better than none. */
	dwfl_getthread_frames(w->dwfl, tid, add_frame, u);
	while (u->next_interpreted < u->nr_interpreted && u->nr < u->max)
		add_interpreted(u);
	ret = u->nr;
	w->now = NULL;
out:
	end_unwind(u);
	return ret;
}

int symbols_interpreted(struct symbols *s, int tid, uint64_t tls, struct trace_frame *frames, int max)
{
	struct unwind *u = calloc(1, sizeof(*u));
	int nr = 0;

	if (!u)
		return -ENOMEM;
	*u = (struct unwind){ .s = s, .tid = tid, .regs.tls = tls, .page = 1, .frames = frames, .max = max };
	if (read_maps(u))
		read_interpreted(u);
	while (u->next_interpreted < u->nr_interpreted && u->nr < u->max)
		add_interpreted(u);
	nr = u->nr;
	end_unwind(u);
	return nr;
}

/* The innermost ones, *nr of at most max; the caller frees them. NULL: none. */
static struct interpreted_frame *innermost_frames(struct symbols *s, struct symfile *f, uint64_t bias, int tid, uint64_t tls,
						  int max, int *nr)
{
	struct interpreted_frame *all = max > 0 ? malloc(max * sizeof(*all)) : NULL;

	*nr = all ? interpreted_by(f, &s->strings, tid, bias, tls, all, max) : 0;
	return all;
}

int symbols_interpreted_by(struct symbols *s, struct symfile *f, uint64_t bias, int tid, uint64_t tls,
			   struct trace_frame *frames, int max)
{
	int nr;
	struct interpreted_frame *all = innermost_frames(s, f, bias, tid, tls, max, &nr);

	for (int i = 0; i < nr; i++)
		frames[i] = all[i].frame;
	free(all);
	return nr;
}

bool symbols_interpreted_begins(struct symbols *s, struct symfile *f, uint64_t bias, int tid, uint64_t tls)
{
	struct interpreted_frame innermost = { 0 };

	return interpreted_by(f, &s->strings, tid, bias, tls, &innermost, 1) == 1 && innermost.begins;
}

int symbols_interpreted_codes(struct symbols *s, struct symfile *f, uint64_t bias, int tid, uint64_t tls, uint64_t *codes,
			      struct zug_code *told, int max)
{
	int nr;
	struct interpreted_frame *all = innermost_frames(s, f, bias, tid, tls, sym_is_python(f) ? max : 0, &nr);

	for (int i = 0; i < nr; i++) {
		codes[i] = all[i].code;
		told[i] = sym_python_code(&all[i].frame);
	}
	free(all);
	return nr;
}

int symbols_java_methods(struct symbols *s, struct symfile *f, uint64_t bias, int tid, uint64_t tls, uint64_t *methods,
			 uint32_t *says, int max)
{
	int nr;
	struct interpreted_frame *all = innermost_frames(s, f, bias, tid, tls, max, &nr);

	for (int i = 0; i < nr; i++) {
		methods[i] = all[i].code;
		says[i] = symbols_java_says(&all[i].frame);
	}
	free(all);
	return nr;
}

static bool is_shell(struct symfile *f)
{
	return sym_is_bash(f) || sym_is_dash(f);
}

int symbols_script(struct symbols *s, int tid, struct trace_frame *frame)
{
	char exe[PATH_MAX];
	struct symfile *f = proc_exe(tid, exe, sizeof(exe)) ? file_at(s, tid, exe) : NULL;
	struct mappings ms;
	struct mapping m;
	int ret = -ENOENT;
	uint64_t bias;

	if (!f || !is_shell(f))
		return ret;
	mappings_open(&ms, tid);
	while (ret == -ENOENT && mappings_next(&ms, &m))
		if (m.executable && !strcmp(m.path, exe) && !symfile_code_bias(f, m.start, m.offset, &bias))
			ret = sym_is_bash(f) ? sym_bash_place(f, &s->strings, tid, bias, frame) :
					       sym_dash_place(f, &s->strings, tid, bias, frame);
	mappings_close(&ms);
	return ret;
}

bool symbols_have_scripts(struct symbols *s)
{
	for (struct symfile *f = s->files; f; f = f->next)
		if (is_shell(f))
			return true;
	return false;
}

bool symbols_begins_thread(const struct trace_frame *frames, int nr)
{
	return sym_python_begins_thread(frames, nr) || sym_java_begins_thread(frames, nr);
}

bool symfile_interprets(struct symfile *f)
{
	return sym_is_python(f) || symfile_is_java(f);
}

bool symfile_interpreter_data(struct symfile *f, uint64_t *vaddr, uint64_t *size)
{
	if (!sym_is_python(f))
		return false;
	*vaddr = f->python.runtime;
	*size = f->python.runtime_size;
	return true;
}

bool symbols_interpret(struct symbols *s)
{
	for (struct symfile *f = s->files; f; f = f->next)
		if (symfile_interprets(f))
			return true;
	return false;
}
