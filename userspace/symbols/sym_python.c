// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_python.c - the Python functions in which a task stands
 *
 * CPython keeps the frames of each thread in a list: _PyRuntime -> interpreters -> thread states -> frames -> code
 * objects. Where these lie differs by version. From 3.13 on the interpreter tells it (_Py_DebugOffsets, at the begin of
 * _PyRuntime), that of 3.11 is in a table here, and other versions are not read. Whatever the layout, each object that is
 * used must be of the type that it should be, by the address of the type: a wrong one gives no names, not wrong ones.
 *
 * The process stands still, or at least this task does, and its own frames change with it alone.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/remote.h"
#include "symbols/sym_python.h"

#define THREADS_MAX 10000
#define INTERPRETERS_MAX 100
#define TEXT_MAX 1024
#define TABLE_MAX (1 << 20)
#define INCOMPLETE 0xffff

/* Offsets in CPython's structures. */
struct layout {
	uint16_t runtime_interpreters;
	uint16_t interpreter_next, interpreter_threads;
	uint16_t interpreter_breaker;	/* not 0: the thread that executes is to look at what others want */
	uint16_t interpreter_runtime, runtime_current;	/* the latter: the thread that executes */
	uint16_t thread_next, thread_id, thread_frame;
	uint16_t cframe_frame;		/* 3.11: thread_frame leads there first; else INCOMPLETE */
	uint16_t frame_code, frame_previous, frame_instruction, frame_owner;
	uint16_t frame_entry;		/* 3.11 marks frames that C called; later ones have a frame of their own for that */
	uint16_t code_first_line, code_file, code_name, code_table, code_begin;
	uint16_t object_type, bytes_length, bytes_text;
	uint16_t text_state, text_length, text_ascii, text_compact;
};

/* Include/internal/pycore_*.h and Include/cpython/{code,pystate,unicodeobject}.h of 3.11. */
static const struct layout layout_3_11 = {
	.runtime_interpreters = 40, .interpreter_next = 0, .interpreter_threads = 16,
	.interpreter_breaker = 100, .interpreter_runtime = 40, .runtime_current = 576,
	.thread_next = 8, .thread_id = 152, .thread_frame = 56, .cframe_frame = 8,
	.frame_code = 32, .frame_previous = 48, .frame_instruction = 56, .frame_owner = 69, .frame_entry = 68,
	.code_first_line = 72, .code_file = 112, .code_name = 128, .code_table = 136, .code_begin = 184,
	.object_type = 8, .bytes_length = 16, .bytes_text = 32,
	.text_state = 32, .text_length = 16, .text_ascii = 48, .text_compact = 72,
};

#define VERSION_OF(hex)	((hex) >> 16)
#define PYTHON_3_11	0x030b
#define OWNED_BY_C	3	/* the frame of a call from C, from 3.12 on */

/* What is read of one task. */
struct python {
	const struct symfile_python *names;
	struct layout l;
	int pid;
	uint64_t bias;
	struct sym_string **strings;
};

/* ---- the interpreter ---- */

static const char *const names[] = { "_PyRuntime", "Py_Version", "PyCode_Type", "PyUnicode_Type", "PyBytes_Type",
				     "_PyEval_EvalFrameDefault" };
#define NAME_RUNTIME	0
#define NAME_VERSION	1
#define NAME_LOOP	5

static int note_name(const struct symdef *d, unsigned int name, void *arg)
{
	struct symfile_python *p = arg;
	uint64_t *const to[] = { &p->runtime, &p->version, &p->code, &p->text, &p->bytes };

	/* the compiler's copies of a name are none */
	if (strcmp(d->name, names[name]))
		return 0;
	if (name == NAME_LOOP && d->is_function && d->offset != UINT64_MAX) {
		p->loop_begin = d->offset;
		p->loop_end = d->offset + d->size;
	} else if (name != NAME_LOOP && d->is_object) {
		*to[name] = d->vaddr;
		if (name == NAME_RUNTIME)
			p->runtime_size = d->size;
		if (name == NAME_VERSION)
			p->version_offset = d->offset;
	}
	return 0;
}

bool sym_is_python(struct symfile *f)
{
	struct symfile_python *p = &f->python;

	if (!f->python_sought) {
		f->python_sought = true;
		symfile_find_names(f, names, sizeof(names) / sizeof(names[0]), note_name, p);
	}
	return p->runtime && p->version && p->code && p->text && p->bytes;
}

bool sym_is_python_loop(const char *function)
{
	return function && !strncmp(function, "_PyEval_EvalFrameDefault", 24);
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* Up to the program's innermost function, or to that for which the library made a thread of its own. */
bool sym_python_begins_thread(const struct trace_frame *frames, int nr)
{
	static const char *const functions[] = { "Thread.start", "Thread.join", "Thread._bootstrap_inner", "Thread._bootstrap" };
	int own = symbols_own_frame(frames, nr);

	for (int i = 0; i < (own < 0 ? nr : own); i++) {
		if (!frames[i].function || !frames[i].file || ends_with(frames[i].function, ".run"))
			return false;
		for (size_t k = 0; k < sizeof(functions) / sizeof(functions[0]); k++)
			if (!strcmp(frames[i].function, functions[k]) && ends_with(frames[i].file, "/threading.py"))
				return true;
	}
	return false;
}

/* ---- memory ---- */

static bool read_word(const struct python *p, uint64_t addr, uint64_t *word)
{
	return remote_read(p->pid, addr, word, sizeof(*word));
}

static bool is_object(const struct python *p, uint64_t addr, uint64_t type)
{
	uint64_t is;

	return addr && read_word(p, addr + p->l.object_type, &is) && is == type + p->bias;
}

static size_t put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = 0xc0 | c >> 6;
		to[1] = 0x80 | (c & 63);
		return 2;
	}
	if (c < 0x10000) {
		to[0] = 0xe0 | c >> 12;
		to[1] = 0x80 | (c >> 6 & 63);
		to[2] = 0x80 | (c & 63);
		return 3;
	}
	to[0] = 0xf0 | (c >> 18 & 7);
	to[1] = 0x80 | (c >> 12 & 63);
	to[2] = 0x80 | (c >> 6 & 63);
	to[3] = 0x80 | (c & 63);
	return 4;
}

/* A str; NULL: it is none, or too long. */
static const char *read_text(const struct python *p, uint64_t addr)
{
	unsigned char raw[4 * TEXT_MAX];
	char text[4 * TEXT_MAX + 1];
	uint64_t length;
	uint32_t state, c;
	unsigned int kind;
	size_t n = 0;

	if (!is_object(p, addr, p->names->text) || !read_word(p, addr + p->l.text_length, &length) ||
	    length > TEXT_MAX || !remote_read(p->pid, addr + p->l.text_state, &state, sizeof(state)))
		return NULL;
	/* interned: 2 bits, kind: 3, compact, ascii */
	kind = state >> 2 & 7;
	if (!(state >> 5 & 1) || (kind != 1 && kind != 2 && kind != 4) || (state >> 6 & 1 && kind != 1))
		return NULL;
	if (!remote_read(p->pid, addr + (state >> 6 & 1 ? p->l.text_ascii : p->l.text_compact), raw, length * kind))
		return NULL;
	for (size_t i = 0; i < length; i++) {
		c = 0;
		memcpy(&c, raw + i * kind, kind);
		if (!c)
			return NULL;
		n += put_utf8(text + n, c);
	}
	text[n] = '\0';
	return sym_string(p->strings, text);
}

/* ---- lines ---- */

/* Groups of six bits, the lowest first; bit 6 says that another one follows. */
static bool read_number(const uint8_t *table, size_t len, size_t *at, uint32_t *number)
{
	unsigned int shift = 0;

	*number = 0;
	do {
		if (*at >= len || shift > 30)
			return false;
		*number |= (uint32_t)(table[*at] & 63) << shift;
		shift += 6;
	} while (table[(*at)++] & 64);
	return true;
}

/*
 * Each entry begins with a byte whose bit 7 is set: its kind in bits 3 to 6, the number of code units less one below. Kinds
 * 0 to 9 are on the line of the entry before, 10 to 12 on it or one of the next two, 13 and 14 tell the difference with its
 * sign in the lowest bit, 15 has no line. What else an entry tells is about columns.
 */
int sym_python_line(const uint8_t *table, size_t len, int first, int64_t at)
{
	int64_t line = first, end = 0;
	size_t i = 0;

	while (i < len) {
		unsigned int head = table[i++], kind = head >> 3 & 15;
		uint32_t delta = 0;

		if (!(head & 128))
			return -1;
		if (kind >= 10 && kind <= 12)
			line += kind - 10;
		if (kind == 13 || kind == 14) {
			if (!read_number(table, len, &i, &delta))
				return -1;
			line += delta & 1 ? -(int64_t)(delta >> 1) : (int64_t)(delta >> 1);
		}
		while (i < len && !(table[i] & 128))
			i++;
		end += 2 * ((head & 7) + 1);
		if (at < end)
			return kind == 15 || line <= 0 || line > INT32_MAX ? -1 : (int)line;
	}
	return -1;
}

static int line_of(const struct python *p, uint64_t code, uint64_t instruction)
{
	int64_t at = (int64_t)(instruction - (code + p->l.code_begin));
	uint64_t table, length;
	uint8_t *bytes;
	int32_t first;
	int line = -1;

	if (!remote_read(p->pid, code + p->l.code_first_line, &first, sizeof(first)) ||
	    !read_word(p, code + p->l.code_table, &table) || !is_object(p, table, p->names->bytes) ||
	    !read_word(p, table + p->l.bytes_length, &length) || length > TABLE_MAX)
		return -1;
	/* before its first instruction */
	if (at < 0)
		return first;
	bytes = malloc(length + 1);
	if (bytes && remote_read(p->pid, table + p->l.bytes_text, bytes, length))
		line = sym_python_line(bytes, length, first, at);
	free(bytes);
	return line;
}

/* ---- frames ---- */

/* The offsets that the interpreter itself tells; of what is told only that which is needed here. */
static bool told_layout(struct python *p, uint64_t version)
{
	enum {
		COOKIE, VERSION, FREE_THREADED, RUNTIME, INTERPRETER = RUNTIME + 3, THREAD = INTERPRETER + 13,
		FRAME = THREAD + 9, CODE = FRAME + 6, OBJECT = CODE + 10, TYPE = OBJECT + 2, TUPLE = TYPE + 4,
		LIST = TUPLE + 3, DICT = LIST + 3, FLOAT = DICT + 3, LONG = FLOAT + 2, BYTES = LONG + 3,
		TEXT = BYTES + 3, NR = TEXT + 4,
	};
	uint64_t o[NR];

	if (!remote_read(p->pid, p->names->runtime + p->bias, o, sizeof(o)) || memcmp(&o[COOKIE], "xdebugpy", 8) ||
	    o[VERSION] != version || o[FREE_THREADED])
		return false;
	for (int i = RUNTIME; i < NR; i++)
		if (o[i] >= INCOMPLETE && i != RUNTIME && i != RUNTIME + 2 && i != INTERPRETER && i != THREAD)
			o[i] = INCOMPLETE;
	if (o[RUNTIME + 2] >= INCOMPLETE)
		return false;
	p->l = (struct layout){
		.runtime_interpreters = o[RUNTIME + 2],
		.interpreter_next = o[INTERPRETER + 2], .interpreter_threads = o[INTERPRETER + 3],
		.thread_next = o[THREAD + 2], .thread_frame = o[THREAD + 4], .thread_id = o[THREAD + 5],
		.cframe_frame = INCOMPLETE,
		.frame_previous = o[FRAME + 1], .frame_code = o[FRAME + 2], .frame_instruction = o[FRAME + 3],
		.frame_owner = o[FRAME + 5], .frame_entry = INCOMPLETE,
		.code_file = o[CODE + 1], .code_name = o[CODE + 3], .code_table = o[CODE + 4],
		.code_first_line = o[CODE + 5], .code_begin = o[CODE + 9],
		.object_type = o[OBJECT + 1], .bytes_length = o[BYTES + 1], .bytes_text = o[BYTES + 2],
		.text_state = o[TEXT + 1], .text_length = o[TEXT + 2], .text_ascii = o[TEXT + 3],
		/* a str that is not ASCII has its length in UTF-8, and the address of that, as well */
		.text_compact = o[TEXT + 3] + 16,
	};
	return true;
}

static bool find_layout(struct python *p)
{
	uint64_t version;

	if (!read_word(p, p->names->version + p->bias, &version))
		return false;
	if (VERSION_OF(version) == PYTHON_3_11)
		p->l = layout_3_11;
	else
		return VERSION_OF(version) == 0x030d && told_layout(p, version);
	return true;
}

bool symfile_interpreter_looks(struct symfile *f, struct symfile_looks *looks)
{
	const struct layout *l = &layout_3_11;
	const struct symfile_python *p = &f->python;
	uint64_t version = 0;

	if (!sym_is_python(f) || p->loop_end <= p->loop_begin ||
	    pread(f->fd, &version, sizeof(version), p->version_offset) != sizeof(version) ||
	    VERSION_OF(version) != PYTHON_3_11)
		return false;
	*looks = (struct symfile_looks){
		.begin = p->loop_begin, .end = p->loop_end, .disp = l->interpreter_breaker,
		.path = { l->interpreter_runtime - l->interpreter_breaker, l->runtime_current, l->thread_frame,
			  l->cframe_frame, l->frame_code },
	};
	return true;
}

/*
 * The innermost frame of the thread; 0: it is no thread of Python's, or executes nothing. The state of a thread that is being
 * created bears the name of its creator, and executes nothing yet.
 */
static uint64_t find_frame(const struct python *p, uint64_t tls)
{
	uint64_t interpreter, thread, id, at;

	if (!read_word(p, p->names->runtime + p->bias + p->l.runtime_interpreters, &interpreter))
		return 0;
	for (int i = 0; interpreter && i < INTERPRETERS_MAX; i++) {
		if (!read_word(p, interpreter + p->l.interpreter_threads, &thread))
			return 0;
		for (int k = 0; thread && k < THREADS_MAX; k++) {
			if (!read_word(p, thread + p->l.thread_id, &id))
				return 0;
			if (id == tls) {
				if (!read_word(p, thread + p->l.thread_frame, &at))
					return 0;
				if (p->l.cframe_frame != INCOMPLETE && at && !read_word(p, at + p->l.cframe_frame, &at))
					return 0;
				if (at)
					return at;
			}
			if (!read_word(p, thread + p->l.thread_next, &thread))
				return 0;
		}
		if (!read_word(p, interpreter + p->l.interpreter_next, &interpreter))
			return 0;
	}
	return 0;
}

static bool read_frame(const struct python *p, uint64_t code, uint64_t instruction, struct trace_frame *frame)
{
	uint64_t name, file;
	int line;

	if (!is_object(p, code, p->names->code) || !read_word(p, code + p->l.code_name, &name) ||
	    !read_word(p, code + p->l.code_file, &file))
		return false;
	*frame = (struct trace_frame){ .function = read_text(p, name), .file = read_text(p, file) };
	line = line_of(p, code, instruction);
	frame->line = line > 0 ? line : 0;
	return frame->function && frame->file;
}

int sym_python_frames(struct symfile *f, struct sym_string **strings, int pid, uint64_t bias, uint64_t tls,
		      struct interpreted_frame *frames, int max)
{
	struct python p = { .names = &f->python, .pid = pid, .bias = bias, .strings = strings };
	uint64_t at, code, instruction;
	uint8_t owner = 0, entry = 0;
	int nr = 0;

	if (!tls || !sym_is_python(f) || !find_layout(&p))
		return 0;
	for (at = find_frame(&p, tls); at && nr < max;) {
		if (!read_word(&p, at + p.l.frame_code, &code) ||
		    !read_word(&p, at + p.l.frame_instruction, &instruction) ||
		    !remote_read(pid, at + p.l.frame_owner, &owner, 1) || owner > OWNED_BY_C ||
		    (p.l.frame_entry != INCOMPLETE && !remote_read(pid, at + p.l.frame_entry, &entry, 1)))
			break;
		if (p.l.frame_entry == INCOMPLETE && owner == OWNED_BY_C) {
			if (nr)
				frames[nr - 1].entry = true;
		} else {
			if (!read_frame(&p, code, instruction, &frames[nr].frame))
				break;
			frames[nr++].entry = p.l.frame_entry != INCOMPLETE && entry;
		}
		if (!read_word(&p, at + p.l.frame_previous, &at))
			break;
	}
	return nr;
}
