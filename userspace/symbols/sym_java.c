// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_java.c - the Java methods in which a task stands
 *
 * HotSpot describes its own data for debuggers (gHotSpotVMStructs and its kin, in libjvm.so): offsets of members, sizes of
 * types, addresses of static members. These are read once for each file. From there the way leads along the list of
 * threads to the one with this thread pointer, to the stack that it had when it last left Java (its anchor), and up
 * along the frames of the interpreter. What HotSpot does not describe is where an interpreted frame on x86-64 keeps its
 * method and bytecode, and how line numbers are packed: that is the same from JDK 17 to 25, or its change is known here.
 * Other versions are not read.
 *
 * Nothing that is read is believed: a frame has a name only where its method is one of the methods of the class to
 * which it says that it belongs, and frames lie within the thread's stack, each above the one before. Compiled
 * methods end the walk.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "lib/base/hash.h"
#include "lib/base/remote.h"
#include "symbols/sym_java.h"

#define VERSION_FIRST	17
#define VERSION_LAST	25
#define ENTRIES_MAX	20000
#define ENTRY_MAX	256		/* bytes */
#define NAME_MAX_READ	128
#define THREADS_MAX	10000
#define WALK_MAX	4096
#define TABLE_MAX	(1 << 16)
#define FRAMES_KEPT	20000

/* Words of an interpreted frame on x86-64, counted from its last_sp, which is told (frame_x86.hpp). */
#define FRAME_METHOD	(-1)
#define FRAME_BYTECODE	(-6)

/* ---- what the machine says of itself ---- */

/* Members, types and constants, as JDK 17 names them. */
static const char *const fields[NR_SYMJAVA] = {
	[SYMJAVA_VERSION] = "Abstract_VM_Version::_vm_major_version",
	[SYMJAVA_THREADS] = "ThreadsSMRSupport::_java_thread_list",
	[SYMJAVA_LIST_LENGTH] = "ThreadsList::_length",
	[SYMJAVA_LIST_THREADS] = "ThreadsList::_threads",
	[SYMJAVA_OSTHREAD] = "JavaThread::_osthread",
	[SYMJAVA_PTHREAD] = "OSThread::_pthread_id",
	[SYMJAVA_STACK_BASE] = "JavaThread::_stack_base",
	[SYMJAVA_STACK_SIZE] = "JavaThread::_stack_size",
	[SYMJAVA_ANCHOR] = "JavaThread::_anchor",
	[SYMJAVA_ANCHOR_SP] = "JavaFrameAnchor::_last_Java_sp",
	[SYMJAVA_ANCHOR_FP] = "JavaFrameAnchor::_last_Java_fp",
	[SYMJAVA_ANCHOR_PC] = "JavaFrameAnchor::_last_Java_pc",
	[SYMJAVA_INTERPRETER] = "AbstractInterpreter::_code",
	[SYMJAVA_STUBS] = "StubQueue::_stub_buffer",
	[SYMJAVA_STUBS_SIZE] = "StubQueue::_buffer_limit",
	[SYMJAVA_CALL_STUB] = "StubRoutines::_call_stub_return_address",
	[SYMJAVA_WRAPPER_ANCHOR] = "JavaCallWrapper::_anchor",
	[SYMJAVA_METHOD_CONST] = "Method::_constMethod",
	[SYMJAVA_CONST_POOL] = "ConstMethod::_constants",
	[SYMJAVA_CONST_SIZE] = "ConstMethod::_constMethod_size",
	[SYMJAVA_CONST_FLAGS] = "ConstMethod::_flags",
	[SYMJAVA_CODE_SIZE] = "ConstMethod::_code_size",
	[SYMJAVA_NAME_INDEX] = "ConstMethod::_name_index",
	[SYMJAVA_METHOD_NUMBER] = "ConstMethod::_method_idnum",
	[SYMJAVA_POOL_HOLDER] = "ConstantPool::_pool_holder",
	[SYMJAVA_POOL_LENGTH] = "ConstantPool::_length",
	[SYMJAVA_POOL_SOURCE] = "ConstantPool::_source_file_name_index",
	[SYMJAVA_CLASS_NAME] = "Klass::_name",
	[SYMJAVA_CLASS_POOL] = "InstanceKlass::_constants",
	[SYMJAVA_CLASS_METHODS] = "InstanceKlass::_methods",
	[SYMJAVA_ARRAY_LENGTH] = "Array<int>::_length",
	[SYMJAVA_ARRAY_METHODS] = "Array<Method*>::_data",
	[SYMJAVA_SYMBOL_LENGTH] = "Symbol::_length",
	[SYMJAVA_SYMBOL_TEXT] = "Symbol::_body",
	[SYMJAVA_POOL_BYTES] = "ConstantPool",
	[SYMJAVA_CONST_BYTES] = "ConstMethod",
	[SYMJAVA_HAS_LINES] = "ConstMethod::_has_linenumber_table",
	[SYMJAVA_CALL_WRAPPER] = "frame::entry_frame_call_wrapper_offset",
	[SYMJAVA_LAST_SP] = "frame::interpreter_frame_last_sp_offset",
	[SYMJAVA_ENVIRONMENT] = "JavaThread::_jni_environment",
	[SYMJAVA_THREAD_OBJECT] = "JavaThread::_threadObj",
	[SYMJAVA_ACCESS_INDICES] = "ConstantPoolCacheEntry::_indices",
	[SYMJAVA_ACCESS_HOLDER] = "ConstantPoolCacheEntry::_f1",
	[SYMJAVA_ACCESS_OFFSET] = "ConstantPoolCacheEntry::_f2",
	[SYMJAVA_OBJECT_CLASS] = "oopDesc::_metadata._compressed_klass",
	[SYMJAVA_NARROW_BASE] = "CompressedKlassPointers::_narrow_klass._base",
	[SYMJAVA_NARROW_SHIFT] = "CompressedKlassPointers::_narrow_klass._shift",
	[SYMJAVA_MIRRORED] = "java_lang_Class::_klass_offset",
};

/* How later versions name the same. */
static const struct {
	const char *name, *later;
} renamed[] = {
	{ "JavaThread::_osthread", "Thread::_osthread" },
	{ "JavaThread::_stack_base", "Thread::_stack_base" },
	{ "JavaThread::_stack_size", "Thread::_stack_size" },
	{ "ConstMethod::_flags", "ConstMethod::_flags._flags" },
	{ "ConstMethod::_has_linenumber_table", "ConstMethodFlags::_misc_has_linenumber_table" },
};

/* The variables of libjvm.so that are read, in the order of enum. */
enum {
	STRUCTS, STRUCT_STRIDE, STRUCT_TYPE, STRUCT_FIELD, STRUCT_STATIC, STRUCT_OFFSET, STRUCT_ADDRESS,
	TYPES, TYPE_STRIDE, TYPE_NAME, TYPE_SIZE, INTS, INT_STRIDE, INT_NAME, INT_VALUE,
};

static const char *const variables[SYMJAVA_VARIABLES] = {
	"gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride", "gHotSpotVMStructEntryTypeNameOffset",
	"gHotSpotVMStructEntryFieldNameOffset", "gHotSpotVMStructEntryIsStaticOffset",
	"gHotSpotVMStructEntryOffsetOffset", "gHotSpotVMStructEntryAddressOffset",
	"gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride", "gHotSpotVMTypeEntryTypeNameOffset",
	"gHotSpotVMTypeEntrySizeOffset", "gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntryArrayStride",
	"gHotSpotVMIntConstantEntryNameOffset", "gHotSpotVMIntConstantEntryValueOffset",
};

static int note_variable(const struct symdef *d, unsigned int name, void *arg)
{
	uint64_t *at = arg;

	if (d->is_object && !strcmp(d->name, variables[name]))
		at[name] = d->vaddr;
	return 0;
}

bool symfile_is_java(struct symfile *f)
{
	struct symfile_java *l = &f->java;

	if (!l->sought) {
		l->sought = l->is = true;
		symfile_find_names(f, variables, SYMJAVA_VARIABLES, note_variable, l->variables);
		for (int i = 0; i < SYMJAVA_VARIABLES; i++)
			l->is = l->is && l->variables[i];
	}
	return l->is;
}

bool sym_java_word(const struct java *j, uint64_t addr, uint64_t *word)
{
	return remote_read(j->pid, addr, word, sizeof(*word));
}

bool sym_java_half(const struct java *j, uint64_t addr, uint32_t *half)
{
	return remote_read(j->pid, addr, half, sizeof(*half));
}

static bool read_short(const struct java *j, uint64_t addr, uint16_t *word)
{
	return remote_read(j->pid, addr, word, sizeof(*word));
}

/* A string of C's, cut off; "" where none can be read. */
static void read_name(const struct java *j, uint64_t addr, char *name)
{
	ssize_t n = addr ? remote_read_some(j->pid, addr, name, NAME_MAX_READ - 1) : 0;

	name[n > 0 ? n : 0] = '\0';
}

static void note_value(struct symfile_java *l, const char *name, int64_t value)
{
	for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++)
		if (!strcmp(name, renamed[i].later))
			name = renamed[i].name;
	for (int i = 0; i < NR_SYMJAVA; i++)
		if (!strcmp(name, fields[i])) {
			l->value[i] = value;
			l->known |= 1ull << i;
		}
}

/*
 * One of the tables, at the address that lies at vaddr: entries of 'stride' bytes up to one without a name. fn gets each.
 */
static bool read_table(const struct java *j, struct symfile_java *l, uint64_t vaddr, uint64_t stride, uint64_t name_at,
		       void (*fn)(const struct java *j, struct symfile_java *l, const uint8_t *entry))
{
	uint8_t entry[ENTRY_MAX];
	uint64_t at, name;

	if (!sym_java_word(j, vaddr + j->bias, &at) || stride < 8 || stride > ENTRY_MAX || name_at > stride - 8)
		return false;
	for (int i = 0; i < ENTRIES_MAX; i++) {
		if (!remote_read(j->pid, at + i * stride, entry, stride))
			return false;
		memcpy(&name, entry + name_at, 8);
		if (!name)
			return true;
		fn(j, l, entry);
	}
	return false;
}

static uint64_t word_at(const uint8_t *entry, uint64_t at)
{
	uint64_t word = 0;

	if (at <= ENTRY_MAX - 8)
		memcpy(&word, entry + at, 8);
	return word;
}

static void note_field(const struct java *j, struct symfile_java *l, const uint8_t *entry)
{
	const uint64_t *o = l->told;
	char name[2 * NAME_MAX_READ + 2];
	size_t n;

	read_name(j, word_at(entry, o[STRUCT_TYPE]), name);
	n = strlen(name);
	memcpy(name + n, "::", 2);
	read_name(j, word_at(entry, o[STRUCT_FIELD]), name + n + 2);
	if ((uint32_t)word_at(entry, o[STRUCT_STATIC]))
		note_value(l, name, word_at(entry, o[STRUCT_ADDRESS]) - j->bias);
	else
		note_value(l, name, word_at(entry, o[STRUCT_OFFSET]));
}

static void note_type(const struct java *j, struct symfile_java *l, const uint8_t *entry)
{
	char name[NAME_MAX_READ];

	read_name(j, word_at(entry, l->told[TYPE_NAME]), name);
	note_value(l, name, word_at(entry, l->told[TYPE_SIZE]));
}

static void note_constant(const struct java *j, struct symfile_java *l, const uint8_t *entry)
{
	char name[NAME_MAX_READ];

	read_name(j, word_at(entry, l->told[INT_NAME]), name);
	note_value(l, name, (int32_t)word_at(entry, l->told[INT_VALUE]));
}

/* Offsets and addresses, of which the last are the file's (without the bias). They are read once. */
bool sym_java_layout(struct java *j, struct symfile_java *l)
{
	uint32_t version;

	if (!l->read) {
		uint64_t told[SYMJAVA_VARIABLES];

		for (int i = 0; i < SYMJAVA_VARIABLES; i++)
			if (!sym_java_word(j, l->variables[i] + j->bias, &told[i]))
				return false;
		l->told = told;
		l->known = 0;
		l->read = read_table(j, l, l->variables[STRUCTS], told[STRUCT_STRIDE], told[STRUCT_TYPE], note_field) &&
			  read_table(j, l, l->variables[TYPES], told[TYPE_STRIDE], told[TYPE_NAME], note_type) &&
			  read_table(j, l, l->variables[INTS], told[INT_STRIDE], told[INT_NAME], note_constant);
		l->told = NULL;
	}
	if (!l->read || ~l->known & ((1ull << NR_SYMJAVA_FRAMES) - 1) ||
	    !sym_java_half(j, l->value[SYMJAVA_VERSION] + j->bias, &version))
		return false;
	j->version = version;
	return version >= VERSION_FIRST && version <= VERSION_LAST;
}

/* ---- names and lines ---- */

/* A Symbol; false: it is none, or too long. */
bool sym_java_symbol(const struct java *j, uint64_t addr, char *text)
{
	uint16_t length;

	if (!addr || !read_short(j, addr + j->l->value[SYMJAVA_SYMBOL_LENGTH], &length) || !length || length > JAVA_TEXT_MAX ||
	    !remote_read(j->pid, addr + j->l->value[SYMJAVA_SYMBOL_TEXT], text, length))
		return false;
	text[length] = '\0';
	for (int i = 0; i < length; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 127)
			return false;
	return true;
}

bool sym_java_pool_symbol(const struct java *j, uint64_t pool, uint16_t index, char *text)
{
	uint32_t length;
	uint64_t addr;

	return index && sym_java_half(j, pool + j->l->value[SYMJAVA_POOL_LENGTH], &length) && index < length &&
	       sym_java_word(j, pool + j->l->value[SYMJAVA_POOL_BYTES] + 8ull * index, &addr) && sym_java_symbol(j, addr, text);
}

/*
 * UNSIGNED5: a byte below 'low' ends a number, one of the other 64 says that another follows, with six bits more. From
 * JDK 20 on no byte is 0.
 */
static bool read_number(const uint8_t *table, size_t len, size_t *at, int version, int64_t *number)
{
	unsigned int excluded = version >= 20, low = 192 - excluded;
	uint32_t sum = 0;

	for (unsigned int i = 0; i < 5; i++) {
		uint32_t b;

		if (*at >= len || table[*at] < excluded)
			return false;
		b = table[(*at)++] - excluded;
		sum += b << (6 * i);
		if (b < low)
			break;
	}
	*number = sum & 1 ? -(int64_t)(sum >> 1) - 1 : (int64_t)(sum >> 1);
	return true;
}

/*
 * Each entry is a byte with both differences to the one before, of the bytecode in the upper five bits and of the line in
 * the lower three; or 255, and two numbers. 0 ends the table. A bytecode is on the line of the last entry at or before it:
 * those need not ascend.
 */
int sym_java_line(const uint8_t *table, size_t len, int version, uint32_t at)
{
	int64_t code = 0, line = 0, best = -1, found = 0, more, lines;
	size_t i = 0;

	while (i < len && table[i]) {
		unsigned int head = table[i++];

		if (head == 255) {
			if (!read_number(table, len, &i, version, &more) || !read_number(table, len, &i, version, &lines))
				return 0;
			code += more;
			line += lines;
		} else {
			code += head >> 3;
			line += head & 7;
		}
		if (code <= at && (code > best || (code == best && code != at))) {
			best = code;
			found = line;
		}
	}
	/* a table without its end is none */
	return i < len && found > 0 && found <= UINT16_MAX ? (int)found : 0;
}

static int line_of(const struct java *j, uint64_t method, uint64_t bytecode)
{
	const int64_t *v = j->l->value;
	uint64_t begin = method + v[SYMJAVA_CONST_BYTES], length;
	uint32_t words;
	uint16_t flags, size;
	uint8_t *table;
	int line = 0;

	if (!read_short(j, method + v[SYMJAVA_CONST_FLAGS], &flags) || !(flags & v[SYMJAVA_HAS_LINES]) ||
	    !read_short(j, method + v[SYMJAVA_CODE_SIZE], &size) || bytecode - begin >= size ||
	    !sym_java_half(j, method + v[SYMJAVA_CONST_SIZE], &words))
		return 0;
	length = 8ull * words - v[SYMJAVA_CONST_BYTES] - size;
	if (8ull * words < (uint64_t)v[SYMJAVA_CONST_BYTES] + size || length > TABLE_MAX)
		return 0;
	table = malloc(length + 1);
	if (table && remote_read(j->pid, begin + size, table, length))
		line = sym_java_line(table, length, j->version, bytecode - begin);
	free(table);
	return line;
}

/* ---- frames ---- */

static bool is_method_of(const struct java *j, uint64_t method, uint64_t constant, uint64_t class)
{
	const int64_t *v = j->l->value;
	uint64_t array, all[512];
	uint32_t length;
	uint16_t number;

	if (!sym_java_word(j, class + v[SYMJAVA_CLASS_METHODS], &array) ||
	    !sym_java_half(j, array + v[SYMJAVA_ARRAY_LENGTH], &length) || length > UINT16_MAX ||
	    !read_short(j, constant + v[SYMJAVA_METHOD_NUMBER], &number))
		return false;
	array += v[SYMJAVA_ARRAY_METHODS];
	/* most often that is its place */
	if (number < length && sym_java_word(j, array + 8ull * number, &all[0]) && all[0] == method)
		return true;
	for (uint32_t i = 0; i < length; i += 512) {
		uint32_t n = length - i < 512 ? length - i : 512;

		if (!remote_read(j->pid, array + 8ull * i, all, 8ull * n))
			return false;
		for (uint32_t k = 0; k < n; k++)
			if (all[k] == method)
				return true;
	}
	return false;
}

/*
 * "com/acme/Bank$Account" and "get" make com.acme.Bank$Account.get in com/acme/Bank.java, which lies "in" a library's jar where
 * it comes from one. The name of a class that was made at run time ends with its address.
 */
static bool name_frame(const struct java *j, char *class, const char *method, const char *source, struct trace_frame *frame)
{
	char text[PATH_MAX + 2 * JAVA_TEXT_MAX + 3], *end = strstr(class, "+0x");
	const char *jar = sym_java_jar_of(j->l, j->strings, j->pid, class);
	size_t folder;

	if (!end)
		end = strstr(class, "/0x");
	if (end)
		*end = '\0';
	end = strrchr(class, '/');
	folder = end ? (size_t)(end + 1 - class) : 0;
	if (source || jar) {
		snprintf(text, sizeof(text), "%s%s%.*s%s", jar ? jar : "", jar ? "/" : "", (int)folder, class,
			 source ? source : class + folder);
		frame->file = sym_string(j->strings, text);
	}
	for (char *at = class; *at; at++)
		if (*at == '/')
			*at = '.';
	snprintf(text, sizeof(text), "%s.%s", class, method);
	frame->function = sym_string(j->strings, text);
	return frame->function && (!(source || jar) || frame->file);
}

/* A frame, by what it was read from. A method that was unloaded leaves no other one with the same description at its place. */
struct java_frame {
	uint64_t from[4];	/* the task, the method, its description, the bytecode */
	struct trace_frame frame;
};

void sym_java_release(struct symfile_java *l)
{
	id_map_free(&l->frame_of);
	free(l->frames);
	l->frames = NULL;
	l->nr_frames = l->room_frames = 0;
}

static struct java_frame *find_frame(const struct java *j, const uint64_t from[4])
{
	const uint32_t *nr = id_map_find(&j->l->frame_of, hash_bytes(HASH_BEGIN, from, sizeof(j->l->frames->from)));

	return nr && !memcmp(j->l->frames[*nr].from, from, sizeof(j->l->frames->from)) ? &j->l->frames[*nr] : NULL;
}

static void keep_frame(const struct java *j, const uint64_t from[4], const struct trace_frame *frame)
{
	struct symfile_java *l = j->l;
	bool added;

	if (l->nr_frames == FRAMES_KEPT)
		sym_java_release(l);
	if (!ARRAY_RESERVE(l->frames, l->room_frames, l->nr_frames + 1) ||
	    !id_map_add(&l->frame_of, hash_bytes(HASH_BEGIN, from, sizeof(l->frames->from)), l->nr_frames, &added) || !added)
		return;
	memcpy(l->frames[l->nr_frames].from, from, sizeof(l->frames->from));
	l->frames[l->nr_frames++].frame = *frame;
}

static bool read_frame(const struct java *j, uint64_t fp, struct trace_frame *frame, uint64_t *code)
{
	const int64_t *v = j->l->value;
	uint64_t words = fp + 8 * v[SYMJAVA_LAST_SP], method, bytecode, constant, pool, class, word, from[4];
	char names[3][JAVA_TEXT_MAX + 1];
	const struct java_frame *known;
	uint16_t index;
	bool source;

	*frame = (struct trace_frame){ 0 };
	if (!sym_java_word(j, words + 8 * FRAME_METHOD, &method) || !sym_java_word(j, words + 8 * FRAME_BYTECODE, &bytecode) ||
	    !sym_java_word(j, method + v[SYMJAVA_METHOD_CONST], &constant))
		return false;
	*code = method;
	from[0] = j->pid;
	from[1] = method;
	from[2] = constant;
	from[3] = bytecode;
	known = find_frame(j, from);
	if (known) {
		*frame = known->frame;
		return true;
	}
	if (!sym_java_word(j, constant + v[SYMJAVA_CONST_POOL], &pool) ||
	    !sym_java_word(j, pool + v[SYMJAVA_POOL_HOLDER], &class) ||
	    !sym_java_word(j, class + v[SYMJAVA_CLASS_POOL], &word) || word != pool ||
	    !is_method_of(j, method, constant, class) ||
	    !sym_java_word(j, class + v[SYMJAVA_CLASS_NAME], &word) || !sym_java_symbol(j, word, names[0]) ||
	    !read_short(j, constant + v[SYMJAVA_NAME_INDEX], &index) || !sym_java_pool_symbol(j, pool, index, names[1]))
		return false;
	source = read_short(j, pool + v[SYMJAVA_POOL_SOURCE], &index) && sym_java_pool_symbol(j, pool, index, names[2]);
	if (!name_frame(j, names[0], names[1], source ? names[2] : NULL, frame))
		return false;
	frame->line = source ? line_of(j, constant, bytecode) : 0;
	keep_frame(j, from, frame);
	return true;
}

/* The thread's stack and its anchor; false: it is no thread of Java's. */
static bool find_thread(struct java *j, uint64_t tls, uint64_t *anchor)
{
	const int64_t *v = j->l->value;
	uint64_t list, threads, thread, os, id, size;
	uint32_t length;

	if (!sym_java_word(j, v[SYMJAVA_THREADS] + j->bias, &list) ||
	    !sym_java_half(j, list + v[SYMJAVA_LIST_LENGTH], &length) || length > THREADS_MAX ||
	    !sym_java_word(j, list + v[SYMJAVA_LIST_THREADS], &threads))
		return false;
	for (uint32_t i = 0; i < length; i++) {
		/* one that begins has no osthread yet */
		if (!sym_java_word(j, threads + 8ull * i, &thread) || !sym_java_word(j, thread + v[SYMJAVA_OSTHREAD], &os) ||
		    !os || !sym_java_word(j, os + v[SYMJAVA_PTHREAD], &id) || id != tls)
			continue;
		*anchor = thread + v[SYMJAVA_ANCHOR];
		if (!sym_java_word(j, thread + v[SYMJAVA_STACK_BASE], &j->stack_end) ||
		    !sym_java_word(j, thread + v[SYMJAVA_STACK_SIZE], &size) || size > j->stack_end)
			return false;
		j->stack = j->stack_end - size;
		return true;
	}
	return false;
}

static bool read_anchor(const struct java *j, uint64_t anchor, uint64_t *fp, uint64_t *pc)
{
	const int64_t *v = j->l->value;
	uint64_t sp;

	if (!sym_java_word(j, anchor + v[SYMJAVA_ANCHOR_SP], &sp) || !sp || sp < j->stack || sp >= j->stack_end ||
	    !sym_java_word(j, anchor + v[SYMJAVA_ANCHOR_FP], fp) || !sym_java_word(j, anchor + v[SYMJAVA_ANCHOR_PC], pc))
		return false;
	/* the call that left Java has put it there */
	return *pc || sym_java_word(j, sp - 8, pc);
}

static bool find_interpreter(struct java *j)
{
	const int64_t *v = j->l->value;
	uint64_t stubs;
	uint32_t size;

	if (!sym_java_word(j, v[SYMJAVA_INTERPRETER] + j->bias, &stubs) ||
	    !sym_java_word(j, stubs + v[SYMJAVA_STUBS], &j->code) ||
	    !sym_java_half(j, stubs + v[SYMJAVA_STUBS_SIZE], &size) ||
	    !sym_java_word(j, v[SYMJAVA_CALL_STUB] + j->bias, &j->call_stub))
		return false;
	j->code_end = j->code + size;
	return true;
}

int sym_java_frames(struct symfile *f, struct sym_string **strings, int pid, uint64_t bias, uint64_t tls,
		    struct interpreted_frame *frames, int max)
{
	struct java j = { .l = &f->java, .pid = pid, .bias = bias, .strings = strings };
	uint64_t anchor, fp, pc, above, wrapper, last = 0;
	int nr = 0;

	if (!tls || !symfile_is_java(f) || !sym_java_layout(&j, &f->java) || !find_interpreter(&j) ||
	    !find_thread(&j, tls, &anchor) || !read_anchor(&j, anchor, &fp, &pc))
		return 0;
	for (int i = 0; i < WALK_MAX && nr < max; i++) {
		if (fp <= last || fp < j.stack || fp > j.stack_end - 16)
			break;
		last = fp;
		if (pc == j.call_stub) {
			if (nr)
				frames[nr - 1].entry = true;
			if (!sym_java_word(&j, fp + 8 * j.l->value[SYMJAVA_CALL_WRAPPER], &wrapper) ||
			    !read_anchor(&j, wrapper + j.l->value[SYMJAVA_WRAPPER_ANCHOR], &fp, &pc))
				break;
			continue;
		}
		if (pc < j.code || pc >= j.code_end)
			break;
		if (read_frame(&j, fp, &frames[nr].frame, &frames[nr].code))
			frames[nr++].entry = false;
		if (!sym_java_word(&j, fp + 8, &pc) || !sym_java_word(&j, fp, &above))
			break;
		fp = above;
	}
	return nr;
}
