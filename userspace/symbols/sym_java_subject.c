// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_java_subject.c - the object, or the field, that an operation of a Java program is about
 *
 * The operation is a function of libjvm, at its entry, so its arguments are in registers. Objects are moved by the collector:
 * an address stands for an object up to the next collection.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bpf/zug_abi.h"
#include "symbols/sym_java.h"

/* Registers by their numbers in instructions. */
enum { RDX = 2, RSI = 6 };

/*
 * Bytes before the elements, with compressed class pointers. Where there are none each element still has an address of its
 * own.
 */
#define ARRAY_HEADER	16

/*
 * The functions; the argument that leads to the object: a handle, or (of an interpreted frame) the place of what it has
 * entered.
 */
static const struct {
	const char *name;
	enum java_operation operation;
	uint8_t base;
	int16_t at;
} functions[] = {
	{ "InterpreterRuntime::monitorenter(", JAVA_ENTER, RSI, 8 },
	{ "JVM_MonitorWait", JAVA_WAIT, RSI, 0 },
	{ "JVM_MonitorNotify", JAVA_NOTIFY, RSI, 0 },
	{ "JVM_MonitorNotifyAll", JAVA_NOTIFY, RSI, 0 },
	{ "Unsafe_Park", JAVA_PARK, 0, 0 },
	{ "Unsafe_Unpark", JAVA_UNPARK, RDX, 0 },
};

enum java_operation symfile_java_operation(struct symfile *f, const char *function)
{
	if (!f || !symfile_is_java(f))
		return JAVA_NONE;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		size_t n = strlen(functions[i].name);

		if (functions[i].name[n - 1] == '(' ? !strncmp(function, functions[i].name, n)
						    : !strcmp(function, functions[i].name))
			return functions[i].operation;
	}
	return JAVA_NONE;
}

bool symbols_java_leads(enum java_operation operation, uint8_t *base, int32_t *at)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (functions[i].operation == operation && functions[i].base) {
			*base = functions[i].base;
			*at = functions[i].at;
			return true;
		}
	return false;
}

static bool knows(const struct java *j, enum symjava what)
{
	return j->l->known >> what & 1;
}

/* "com/acme/Bank$Account" makes Bank$Account: of two classes of one name the line tells. false: that is no class. */
static bool name_class(const struct java *j, uint64_t class, char *name, size_t len)
{
	char text[JAVA_TEXT_MAX + 1], *end, *begin;
	uint64_t symbol;

	if (!class || !sym_java_word(j, class + j->l->value[SYMJAVA_CLASS_NAME], &symbol) || !sym_java_symbol(j, symbol, text))
		return false;
	/* one that was made at run time ends with its address */
	end = strstr(text, "+0x");
	if (end)
		*end = '\0';
	begin = strrchr(text, '/');
	begin = begin && begin[1] ? begin + 1 : text;
	snprintf(name, len, "%.*s", (int)len - 1, begin);
	return true;
}

/* The class of the object at that address. */
static bool class_of(const struct java *j, uint64_t object, uint64_t *class, char *name, size_t len)
{
	const int64_t *v = j->l->value;
	uint64_t base, at = object + v[SYMJAVA_OBJECT_CLASS];
	uint32_t narrow, shift;

	if (!knows(j, SYMJAVA_OBJECT_CLASS) || !knows(j, SYMJAVA_NARROW_BASE) || !knows(j, SYMJAVA_NARROW_SHIFT))
		return false;
	if (sym_java_half(j, at, &narrow) && sym_java_word(j, v[SYMJAVA_NARROW_BASE] + j->bias, &base) &&
	    sym_java_half(j, v[SYMJAVA_NARROW_SHIFT] + j->bias, &shift) && shift < 32) {
		*class = base + ((uint64_t)narrow << shift);
		if (name_class(j, *class, name, len))
			return true;
	}
	return sym_java_word(j, at, class) && name_class(j, *class, name, len);
}

static void name_object(const struct java *j, uint64_t object, struct java_subject *s)
{
	uint64_t class, of;
	uint32_t at;
	char name[sizeof(s->name) - 8];

	if (!object || !class_of(j, object, &class, name, sizeof(name)))
		return;
	snprintf(s->name, sizeof(s->name), "%s", name);
	/* what is synchronized and static has the class's own object */
	if (!strcmp(name, "Class") && knows(j, SYMJAVA_MIRRORED) &&
	    sym_java_half(j, j->l->value[SYMJAVA_MIRRORED] + j->bias, &at) && at < 4096 && sym_java_word(j, object + at, &of) &&
	    name_class(j, of, name, sizeof(name)))
		snprintf(s->name, sizeof(s->name), "%s.class", name);
}

/* By an entry of the constant pool's cache of the method that is executed. */
static bool find_field(const struct java *j, const uint64_t *args, struct java_subject *s)
{
	const int64_t *v = j->l->value;
	uint64_t method = args[0], entry = args[2], constant, pool, word, class, offset;
	char holder[64], name[JAVA_TEXT_MAX + 1], type[JAVA_TEXT_MAX + 1];
	uint32_t indices, both, length;

	if (!method || !entry || !knows(j, SYMJAVA_ACCESS_INDICES) || !knows(j, SYMJAVA_ACCESS_HOLDER) ||
	    !knows(j, SYMJAVA_ACCESS_OFFSET) || !sym_java_word(j, method + v[SYMJAVA_METHOD_CONST], &constant) ||
	    !sym_java_word(j, constant + v[SYMJAVA_CONST_POOL], &pool) ||
	    !sym_java_half(j, pool + v[SYMJAVA_POOL_LENGTH], &length) ||
	    !sym_java_half(j, entry + v[SYMJAVA_ACCESS_INDICES], &indices) || (indices &= 0xffff) >= length ||
	    /* a reference to a field: its class, its name and type */
	    !sym_java_word(j, pool + v[SYMJAVA_POOL_BYTES] + 8ull * indices, &word) || (word = word >> 16 & 0xffff) >= length ||
	    !sym_java_half(j, pool + v[SYMJAVA_POOL_BYTES] + 8ull * word, &both) ||
	    !sym_java_pool_symbol(j, pool, both & 0xffff, name) || !sym_java_pool_symbol(j, pool, both >> 16, type) ||
	    !sym_java_word(j, entry + v[SYMJAVA_ACCESS_HOLDER], &class) || !name_class(j, class, holder, sizeof(holder)) ||
	    !sym_java_word(j, entry + v[SYMJAVA_ACCESS_OFFSET], &offset))
		return false;
	/* a static one lies in an object of the class that moves, too */
	s->object = args[1] ? args[1] + offset : 0;
	s->refers = type[0] == 'L' || type[0] == '[';
	snprintf(s->name, sizeof(s->name), "%s.%.48s", holder, name);
	return true;
}

/* An element of an array (ZUG_SITE_ELEMENT): types in the order of bytecodes. Behind the header it lies by its index. */
static bool find_element(const uint64_t *args, struct java_subject *s)
{
	static const struct {
		const char *name;
		uint8_t size;
	} types[ZUG_JAVA_ARRAYS] = {
		{ "int", 4 }, { "long", 8 }, { "float", 4 }, { "double", 8 }, { "Object", 4 }, { "byte", 1 }, { "char", 2 }, { "short", 2 },
	};
	uint32_t code = args[2] & 0xff, index = args[2] >> 8, type;

	s->writes = code >= ZUG_JAVA_STORES;
	type = code - (s->writes ? ZUG_JAVA_STORES : ZUG_JAVA_LOADS);
	if (type >= ZUG_JAVA_ARRAYS || !args[1])
		return false;
	s->object = args[1] + ARRAY_HEADER + (uint64_t)index * types[type].size;
	s->refers = types[type].name[0] == 'O';
	snprintf(s->name, sizeof(s->name), "%s[] element %u", types[type].name, index);
	return true;
}

bool symfile_java_subject(struct symfile *f, enum java_operation operation, int pid, uint64_t bias, const uint64_t *args,
			  struct java_subject *s)
{
	struct java j = { .l = &f->java, .pid = pid, .bias = bias };
	/* a process that has ended meanwhile cannot be read: objects are the same then, without their names */
	bool known = symfile_is_java(f) && sym_java_layout(&j, &f->java);
	uint64_t handle;

	*s = (struct java_subject){ 0 };
	switch (operation) {
	case JAVA_ENTER:
	case JAVA_WAIT:
	case JAVA_NOTIFY:
	case JAVA_UNPARK:
	case JAVA_CALL:
		s->object = args[1];
		break;
	case JAVA_PARK:
		if (!known || !knows(&j, SYMJAVA_THREAD_OBJECT) || !knows(&j, SYMJAVA_ENVIRONMENT) ||
		    !sym_java_word(&j, args[0] - j.l->value[SYMJAVA_ENVIRONMENT] + j.l->value[SYMJAVA_THREAD_OBJECT],
				   &handle) ||
		    !sym_java_word(&j, handle, &s->object))
			return false;
		break;
	case JAVA_READ:
	case JAVA_WRITE:
		return known && find_field(&j, args, s);
	case JAVA_ELEMENT:
		return find_element(args, s);
	case JAVA_NONE:
		return false;
	}
	if (known)
		name_object(&j, s->object, s);
	return s->object;
}

/* Up to the innermost function that is none of Java's own. */
bool sym_java_begins_thread(const struct trace_frame *frames, int nr)
{
	static const char *const methods[] = {
		"java.lang.Thread.start", "java.lang.Thread.exit", "java.lang.Thread.join", "java.lang.ThreadGroup.",
		"java.lang.Shutdown.", "java.lang.ClassLoader.", "java.lang.invoke.", "jdk.internal.loader.",
	};
	int first = symbols_own_frame(frames, nr);

	for (int i = 0; i < (first < 0 ? nr : first) && !symbols_of_jar(frames[i].file); i++) {
		/* a class of the language's is made ready: others wait for that */
		if (symbols_initialises_class(&frames[i]))
			return true;
		for (size_t k = 0; k < sizeof(methods) / sizeof(methods[0]) && frames[i].function; k++) {
			size_t n = strlen(methods[k]);

			if (methods[k][n - 1] == '.' ? !strncmp(frames[i].function, methods[k], n) :
						       !strcmp(frames[i].function, methods[k]))
				return true;
		}
	}
	return false;
}
