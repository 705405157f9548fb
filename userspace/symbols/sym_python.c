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
#include "lib/base/array.h"
#include "lib/base/id_map.h"
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
	uint16_t interpreter_breaker;	/* 3.11: not 0: the thread that executes is to look at what others want */
	uint16_t interpreter_runtime, runtime_current;	/* the latter: the thread that executes */
	uint16_t thread_breaker;	/* 3.13: the same of one thread, in the lowest byte */
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
#define PYTHON_3_13	0x030d
#define OWNED_BY_C	3	/* the frame of a call from C, from 3.12 on */

/* What a code object leads to. While none of it has changed, neither has what is told of the object. */
struct code_links {
	uint64_t type, name, file, table;
	int32_t first_line;
};

/* A code object that was read: a look at its links tells whether it is the same. */
struct python_code {
	struct code_links links;
	const char *function, *file;	/* NULL: they cannot be read */
	uint8_t *table;			/* of its lines; NULL: it cannot be read */
	size_t table_len;
};

/* Kept of an interpreter's file for all tasks that it is mapped in. */
struct python_known {
	struct layout l;
	bool has_layout;
	struct id_map at;	/* addresses of code objects, to places in codes */
	struct python_code *codes;
	size_t nr, room;
};

/* What is read of one task. */
struct python {
	const struct symfile_python *names;
	struct python_known *known;
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
		if (name == NAME_RUNTIME) {
			p->runtime_size = d->size;
			p->runtime_offset = d->offset;
		}
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

uint32_t symbols_code_of(const struct trace_frame *f)
{
	static const char *const functions[] = { "Thread.start", "Thread.join", "Thread._bootstrap_inner",
						 "Thread._bootstrap" };

	if (!f->function || !f->file)
		return ZUG_CODE_RUNS;
	if (symbols_is_source(f->file) && !symbols_of_library(f->file))
		return ZUG_CODE_OWN;
	if (ends_with(f->function, ".run"))
		return ZUG_CODE_RUNS;
	for (size_t k = 0; k < sizeof(functions) / sizeof(functions[0]); k++)
		if (!strcmp(f->function, functions[k]) && ends_with(f->file, "/threading.py"))
			return ZUG_CODE_BEGINS;
	return ZUG_CODE_LIBRARY;
}

static bool is_ascii(const char *text)
{
	while (*text && !(*text & 0x80))
		text++;
	return !*text;
}

struct zug_code sym_python_code(const struct trace_frame *f)
{
	size_t file = f->file ? strlen(f->file) : 0, name = f->function ? strlen(f->function) : 0;
	struct zug_code c = { .file_length = file, .name_length = name };

	if (file < ZUG_CODE_FILE_LEAST || !is_ascii(f->file) || !name || !is_ascii(f->function))
		return c;
	c.what = symbols_code_of(f);
	memcpy(&c.file_end[1], f->file + file - 8, 8);
	if (file >= sizeof(c.file_end))
		memcpy(&c.file_end[0], f->file + file - 16, 8);
	memcpy(&c.name_begin, f->function, name < sizeof(c.name_begin) ? name : sizeof(c.name_begin));
	return c;
}

/* Up to the program's innermost function, or to that for which the library made a thread. As library_does() of bpf/. */
bool sym_python_begins_thread(const struct trace_frame *frames, int nr)
{
	for (int i = 0; i < nr; i++) {
		uint32_t code = symbols_code_of(&frames[i]);

		if (code != ZUG_CODE_LIBRARY)
			return code == ZUG_CODE_BEGINS;
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

/* ---- code objects ---- */

#define OBJECT_MAX 512	/* of an object, from its begin on: enough for all that is looked for */

/* So many bytes from addr on, of an object that may lie at the end of what is mapped. */
static bool read_object(const struct python *p, uint64_t addr, unsigned char to[OBJECT_MAX], size_t len)
{
	return len <= OBJECT_MAX && remote_read(p->pid, addr, to, len);
}

static uint64_t word_of(const unsigned char *object, uint16_t at)
{
	uint64_t word;

	memcpy(&word, object + at, sizeof(word));
	return word;
}

static size_t end_of(const uint16_t *words, size_t nr)
{
	size_t end = 0;

	for (size_t i = 0; i < nr; i++)
		if (end < words[i] + sizeof(uint64_t))
			end = words[i] + sizeof(uint64_t);
	return end;
}

static bool read_links(const struct python *p, uint64_t code, struct code_links *links)
{
	const struct layout *l = &p->l;
	const uint16_t at[] = { l->object_type, l->code_name, l->code_file, l->code_table, l->code_first_line };
	unsigned char object[OBJECT_MAX];

	if (!code || !read_object(p, code, object, end_of(at, sizeof(at) / sizeof(at[0]))))
		return false;
	*links = (struct code_links){
		.type = word_of(object, l->object_type), .name = word_of(object, l->code_name),
		.file = word_of(object, l->code_file), .table = word_of(object, l->code_table),
		.first_line = (int32_t)word_of(object, l->code_first_line),
	};
	return links->type == p->names->code + p->bias;
}

static bool same_links(const struct code_links *a, const struct code_links *b)
{
	return a->type == b->type && a->name == b->name && a->file == b->file && a->table == b->table &&
	       a->first_line == b->first_line;
}

static void read_table(const struct python *p, struct python_code *c)
{
	uint64_t length;

	c->table_len = 0;
	if (!is_object(p, c->links.table, p->names->bytes) || !read_word(p, c->links.table + p->l.bytes_length, &length) ||
	    length > TABLE_MAX)
		return;
	c->table = malloc(length + 1);
	if (c->table && remote_read(p->pid, c->links.table + p->l.bytes_text, c->table, length)) {
		c->table_len = length;
		return;
	}
	free(c->table);
	c->table = NULL;
}

/* NULL: there is no code object, or no memory. */
static const struct python_code *code_at(const struct python *p, uint64_t addr)
{
	struct python_known *known = p->known;
	struct python_code *c;
	struct code_links links;
	const uint32_t *at;
	bool added;

	if (!read_links(p, addr, &links) || !ARRAY_RESERVE(known->codes, known->room, known->nr + 1))
		return NULL;
	at = id_map_add(&known->at, addr, (uint32_t)known->nr, &added);
	if (!at)
		return NULL;
	c = &known->codes[*at];
	if (!added && same_links(&c->links, &links))
		return c;
	if (added)
		known->nr++;
	else
		free(c->table);
	*c = (struct python_code){ .links = links };
	c->function = read_text(p, links.name);
	c->file = read_text(p, links.file);
	read_table(p, c);
	/* it may be there next time */
	if (!c->function || !c->file || !c->table)
		c->links.type = 0;
	return c;
}

static int line_of(const struct python *p, const struct python_code *c, uint64_t code, uint64_t instruction)
{
	int64_t at = (int64_t)(instruction - (code + p->l.code_begin));

	if (!c->table)
		return -1;
	/* before its first instruction */
	return at < 0 ? c->links.first_line : sym_python_line(c->table, c->table_len, c->links.first_line, at);
}

/* ---- frames ---- */

/* The words at the begin of _PyRuntime, from 3.13 on. */
enum told {
	COOKIE, VERSION, FREE_THREADED, RUNTIME, INTERPRETER = RUNTIME + 3, THREAD = INTERPRETER + 13,
	FRAME = THREAD + 9, CODE = FRAME + 6, OBJECT = CODE + 10, TYPE = OBJECT + 2, TUPLE = TYPE + 4,
	LIST = TUPLE + 3, DICT = LIST + 3, FLOAT = DICT + 3, LONG = FLOAT + 2, BYTES = LONG + 3,
	TEXT = BYTES + 3, NR_TOLD = TEXT + 4,
};

/* The offsets that the interpreter itself tells; of what is told only that which is needed here. */
static bool told_layout(uint64_t o[NR_TOLD], uint64_t version, struct layout *l)
{
	if (memcmp(&o[COOKIE], "xdebugpy", 8) || o[VERSION] != version || o[FREE_THREADED])
		return false;
	for (int i = RUNTIME; i < NR_TOLD; i++)
		if (o[i] >= INCOMPLETE && i != RUNTIME && i != RUNTIME + 2 && i != INTERPRETER && i != THREAD)
			o[i] = INCOMPLETE;
	if (o[RUNTIME + 2] >= INCOMPLETE)
		return false;
	*l = (struct layout){
		.runtime_interpreters = o[RUNTIME + 2],
		.interpreter_next = o[INTERPRETER + 2], .interpreter_threads = o[INTERPRETER + 3],
		/* what each thread looks at is the member behind the one that leads to its interpreter */
		.thread_breaker = o[THREAD + 3] + sizeof(uint64_t),
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

/* The file says it, and so it is the same wherever that is mapped. */
static bool find_layout(struct python *p)
{
	struct python_known *known = p->known;
	uint64_t version, told[NR_TOLD];

	if (!known->has_layout) {
		if (!read_word(p, p->names->version + p->bias, &version))
			return false;
		if (VERSION_OF(version) == PYTHON_3_11)
			p->l = layout_3_11;
		else if (VERSION_OF(version) != PYTHON_3_13 ||
			 !remote_read(p->pid, p->names->runtime + p->bias, told, sizeof(told)) ||
			 !told_layout(told, version, &p->l))
			return false;
		known->l = p->l;
		known->has_layout = true;
	}
	p->l = known->l;
	return true;
}

/* As find_layout(), by the file alone. */
static bool layout_of(struct symfile *f, struct layout *l)
{
	const struct symfile_python *p = &f->python;
	uint64_t version = 0, told[NR_TOLD];

	if (!sym_is_python(f) || pread(f->fd, &version, sizeof(version), p->version_offset) != sizeof(version))
		return false;
	*l = layout_3_11;
	return VERSION_OF(version) == PYTHON_3_11 ||
	       (VERSION_OF(version) == PYTHON_3_13 && pread(f->fd, told, sizeof(told), p->runtime_offset) == sizeof(told) &&
		told_layout(told, version, l));
}

bool symfile_interpreter_frames(struct symfile *f, struct zug_frames *frames)
{
	struct layout l;

	if (!layout_of(f, &l))
		return false;
	*frames = (struct zug_frames){
		.known = 1, .interpreters = l.runtime_interpreters, .threads = l.interpreter_threads,
		.thread_next = l.thread_next, .thread_id = l.thread_id, .thread_frame = l.thread_frame,
		.cframe_frame = l.cframe_frame == INCOMPLETE ? ZUG_FRAMES_NONE : l.cframe_frame,
		.code = l.frame_code, .previous = l.frame_previous,
		.owner = l.frame_entry == INCOMPLETE ? l.frame_owner : ZUG_FRAMES_NONE,
		.file = l.code_file, .name = l.code_name, .text_length = l.text_length, .text_begin = l.text_ascii,
	};
	return true;
}

bool symfile_interpreter_looks(struct symfile *f, struct symfile_looks *looks)
{
	const struct symfile_python *p = &f->python;
	struct layout l;

	if (!layout_of(f, &l) || p->loop_end <= p->loop_begin)
		return false;
	*looks = (struct symfile_looks){ .begin = p->loop_begin, .end = p->loop_end };
	if (l.cframe_frame != INCOMPLETE) {
		const int16_t path[ZUG_SITE_PATH] = { l.interpreter_runtime - l.interpreter_breaker, l.runtime_current,
						      l.thread_frame, l.cframe_frame, l.frame_code };

		looks->disp = l.interpreter_breaker;
		looks->bytes = 4;
		memcpy(looks->path, path, sizeof(path));
		return true;
	}
	looks->disp = l.thread_breaker;
	looks->bytes = 8;
	looks->low_byte = true;
	looks->path[0] = l.thread_frame - l.thread_breaker;
	looks->path[1] = l.frame_code ? l.frame_code : ZUG_PATH_HERE;
	return true;
}

/*
 * The innermost frame of the thread; 0: it is no thread of Python's, or executes nothing. The state of a thread that is being
 * created bears the name of its creator, and executes nothing yet.
 */
static uint64_t find_frame(const struct python *p, uint64_t tls)
{
	const uint16_t words[] = { p->l.thread_next, p->l.thread_id, p->l.thread_frame };
	unsigned char state[OBJECT_MAX];
	uint64_t interpreter, thread, at;

	if (!read_word(p, p->names->runtime + p->bias + p->l.runtime_interpreters, &interpreter))
		return 0;
	for (int i = 0; interpreter && i < INTERPRETERS_MAX; i++) {
		if (!read_word(p, interpreter + p->l.interpreter_threads, &thread))
			return 0;
		for (int k = 0; thread && k < THREADS_MAX; k++) {
			if (!read_object(p, thread, state, end_of(words, sizeof(words) / sizeof(words[0]))))
				return 0;
			if (word_of(state, p->l.thread_id) == tls) {
				at = word_of(state, p->l.thread_frame);
				if (p->l.cframe_frame != INCOMPLETE && at && !read_word(p, at + p->l.cframe_frame, &at))
					return 0;
				if (at)
					return at;
			}
			thread = word_of(state, p->l.thread_next);
		}
		if (!read_word(p, interpreter + p->l.interpreter_next, &interpreter))
			return 0;
	}
	return 0;
}

/* What is read of a frame at a time. */
struct frame_words {
	uint64_t code, instruction, previous;
	uint8_t owner, entry;
};

static bool read_frame(const struct python *p, uint64_t addr, struct frame_words *f)
{
	const struct layout *l = &p->l;
	const uint16_t at[] = { l->frame_code, l->frame_instruction, l->frame_previous };
	size_t end = end_of(at, sizeof(at) / sizeof(at[0]));
	bool has_entry = l->frame_entry != INCOMPLETE;
	unsigned char object[OBJECT_MAX];

	if (end < l->frame_owner + 1u)
		end = l->frame_owner + 1u;
	if (has_entry && end < l->frame_entry + 1u)
		end = l->frame_entry + 1u;
	if (!read_object(p, addr, object, end))
		return false;
	*f = (struct frame_words){
		.code = word_of(object, l->frame_code), .instruction = word_of(object, l->frame_instruction),
		.previous = word_of(object, l->frame_previous), .owner = object[l->frame_owner],
		.entry = has_entry ? object[l->frame_entry] : 0,
	};
	return f->owner <= OWNED_BY_C;
}

static bool tell_frame(const struct python *p, const struct frame_words *f, struct interpreted_frame *to)
{
	const struct python_code *c = code_at(p, f->code);
	int line;

	if (!c || !c->function || !c->file)
		return false;
	line = line_of(p, c, f->code, f->instruction);
	to->frame = (struct trace_frame){ .function = c->function, .file = c->file, .line = line > 0 ? line : 0 };
	to->begins = line > 0 && line == c->links.first_line;
	to->code = f->code;
	return true;
}

static struct python_known *known_of(struct symfile *f)
{
	if (!f->python.known)
		f->python.known = calloc(1, sizeof(*f->python.known));
	return f->python.known;
}

void sym_python_free(struct symfile *f)
{
	struct python_known *known = f->python.known;

	if (!known)
		return;
	for (size_t i = 0; i < known->nr; i++)
		free(known->codes[i].table);
	free(known->codes);
	id_map_free(&known->at);
	free(known);
	f->python.known = NULL;
}

int sym_python_frames(struct symfile *f, struct sym_string **strings, int pid, uint64_t bias, uint64_t tls,
		      struct interpreted_frame *frames, int max)
{
	struct python p = { .names = &f->python, .pid = pid, .bias = bias, .strings = strings };
	struct frame_words words;
	uint64_t at;
	int nr = 0;

	if (!tls || !sym_is_python(f))
		return 0;
	p.known = known_of(f);
	if (!p.known || !find_layout(&p))
		return 0;
	for (at = find_frame(&p, tls); at && nr < max; at = words.previous) {
		if (!read_frame(&p, at, &words))
			break;
		if (p.l.frame_entry == INCOMPLETE && words.owner == OWNED_BY_C) {
			if (nr)
				frames[nr - 1].entry = true;
			continue;
		}
		if (!tell_frame(&p, &words, &frames[nr]))
			break;
		frames[nr++].entry = p.l.frame_entry != INCOMPLETE && words.entry;
	}
	return nr;
}
