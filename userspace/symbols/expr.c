/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * expr.c - the meaning of an expression in a program (DWARF), and its value in a process
 *
 * expr_resolve() gives each node of the tree of expr_parse.c its type and each name its address
 * (resolve_*()); expr_test() and expr_values() compute with the memory of a process (value_of()),
 * by C's rules of promotion and width.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "symbols/expr_internal.h"
#include "symbols/sym_internal.h"

struct resolver {
	const struct expr *e;
	struct symfile *const *files;
	unsigned int nr;
	char *err;
	size_t errlen;
};

/* The node as it was written, for "'%.*s'". */
static int text_of(const struct resolver *r, const struct expr_node *n)
{
	return (int)(n->to - n->from);
}

#define TEXT(r, n) text_of(r, n), (r)->e->text + (n)->from

/* ---- types ---- */

/* Of a type without typedefs. 0 or -EINVAL with a line in err. */
static int set_type(struct resolver *r, const struct expr_node *n, Dwarf_Die *die, struct expr_type *t)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding = 0;
	Dwarf_Die under;
	int tag = dwarf_tag(die);

	*t = (struct expr_type){ .typed = true, .die = *die, .size = sym_type_size(die) };
	switch (tag) {
	case DW_TAG_base_type:
		dwarf_formudata(dwarf_attr(die, DW_AT_encoding, &attr), &encoding);
		t->class = encoding == DW_ATE_float ? CLASS_FLOAT : CLASS_INT;
		t->is_unsigned = encoding == DW_ATE_unsigned || encoding == DW_ATE_unsigned_char ||
				 encoding == DW_ATE_boolean || encoding == DW_ATE_UTF || encoding == DW_ATE_address;
		if (t->class == CLASS_FLOAT ? t->size == 4 || t->size == 8 : t->size && t->size <= 8)
			return 0;
		snprintf(r->err, r->errlen, "'%.*s' is a number of %lu bytes: too long", TEXT(r, n),
			 (unsigned long)t->size);
		return -EINVAL;
	case DW_TAG_enumeration_type:
		t->class = CLASS_INT;
		if (sym_type_of(die, &under) && dwarf_tag(&under) == DW_TAG_base_type)
			return set_type(r, n, &under, t);
		return 0;
	case DW_TAG_pointer_type:
		t->class = CLASS_POINTER;
		t->is_unsigned = true;
		t->size = 8;
		return 0;
	case DW_TAG_array_type:
		t->class = CLASS_ARRAY;
		return 0;
	}
	if (sym_is_class(die)) {
		t->class = CLASS_RECORD;
		return 0;
	}
	snprintf(r->err, r->errlen, "'%.*s' is %s, which is not supported", TEXT(r, n),
		 tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type ? "a reference" :
		 tag == DW_TAG_subroutine_type ? "a function" : "of a type");
	return -EINVAL;
}

/* The type that a pointer points to, or an array consists of. */
static int pointed_to(struct resolver *r, const struct expr_node *n, struct expr_type *t)
{
	Dwarf_Die die = n->type.die, to;

	if (n->type.class != CLASS_POINTER || !n->type.typed) {
		snprintf(r->err, r->errlen, "'%.*s' is not a pointer", TEXT(r, n));
		return -EINVAL;
	}
	if (!sym_type_of(&die, &to)) {
		snprintf(r->err, r->errlen, "the type that '%.*s' points to is not known", TEXT(r, n));
		return -EINVAL;
	}
	return set_type(r, n, &to, t);
}

/* A structure that is all one number, as std::atomic<int> is: that number. */
static bool unwrap(struct resolver *r, const struct expr_node *n, struct expr_type *t)
{
	for (int depth = 0; depth < 8 && t->class == CLASS_RECORD; depth++) {
		Dwarf_Die type = t->die, die, inner, only;
		int nr = 0;

		if (dwarf_child(&type, &die))
			return false;
		do {
			int tag = dwarf_tag(&die);

			if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_hasattr(&die, DW_AT_external) ||
			    !sym_type_of(&die, &inner))
				continue;
			if (sym_type_size(&inner) != t->size)
				continue;
			only = inner;
			nr++;
		} while (dwarf_siblingof(&die, &die) == 0);
		if (nr != 1)
			return false;
		if (set_type(r, n, &only, t))
			return false;
	}
	return t->class == CLASS_INT || t->class == CLASS_FLOAT || t->class == CLASS_POINTER;
}

/* ---- names ---- */

static bool find_enumerator(Dwarf_Die *parent, const char *name, int64_t *value, int depth)
{
	const char *last = strrchr(name, ':') ? strrchr(name, ':') + 1 : name;
	Dwarf_Die die, item;
	Dwarf_Attribute attr;
	Dwarf_Sword v;

	if (depth > 8 || dwarf_child(parent, &die))
		return false;
	do {
		int tag = dwarf_tag(&die);
		const char *n;

		if (tag == DW_TAG_namespace || sym_is_class(&die)) {
			if (find_enumerator(&die, name, value, depth + 1))
				return true;
			continue;
		}
		if (tag != DW_TAG_enumeration_type || dwarf_child(&die, &item))
			continue;
		do {
			n = dwarf_tag(&item) == DW_TAG_enumerator ? dwarf_diename(&item) : NULL;
			if (!n || strcmp(n, last) || dwarf_formsdata(dwarf_attr(&item, DW_AT_const_value, &attr), &v))
				continue;
			*value = v;
			return true;
		} while (dwarf_siblingof(&item, &item) == 0);
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

/* Why a name has no address, if the program knows it. */
static bool say_why(struct resolver *r, Dwarf_Die *parent, const char *name, const char *function, int depth)
{
	Dwarf_Attribute attr;
	Dwarf_Die die;

	if (depth > 32 || dwarf_child(parent, &die))
		return false;
	do {
		int tag = dwarf_tag(&die);
		const char *n = dwarf_diename(&die);

		if (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block || tag == DW_TAG_namespace) {
			if (say_why(r, &die, name, tag == DW_TAG_subprogram ? n : function, depth + 1))
				return true;
			continue;
		}
		if ((tag != DW_TAG_variable && tag != DW_TAG_formal_parameter) || !n || strcmp(n, name) ||
		    dwarf_hasattr(&die, DW_AT_declaration))
			continue;
		if (function)
			snprintf(r->err, r->errlen, "'%s' is a local variable of %s: only what has a fixed address can be "
				 "looked at (global and static variables)", name, function);
		else if (dwarf_attr(&die, DW_AT_const_value, &attr) || !dwarf_hasattr(&die, DW_AT_location))
			snprintf(r->err, r->errlen, "'%s' was optimised away: it has no place in memory; build with -O0 or "
				 "-Og, or make it volatile", name);
		else
			return false;
		return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

static int not_found(struct resolver *r, const struct expr_node *n)
{
	uint64_t vaddr, size;
	char near[200] = "";

	for (unsigned int i = 0; i < r->nr && !n->file; i++) {
		sym_read_cus(r->files[i]);
		for (size_t k = 0; k < r->files[i]->nr_cus; k++)
			if (say_why(r, &r->files[i]->cus[k], n->name, NULL, 0))
				return -ENOENT;
	}
	/* thread-local ones are told apart there */
	for (unsigned int i = 0; i < r->nr && !n->file; i++)
		if (symfile_variable(r->files[i], n->name, &vaddr, &size, r->err, r->errlen) == -EINVAL)
			return -ENOENT;
	for (unsigned int i = 0; i < r->nr && !near[0]; i++)
		symfile_nearest(r->files[i], n->name, false, near, sizeof(near));
	snprintf(r->err, r->errlen, "no variable '%s'%s%s%s in the program or its libraries%s%s%s", n->name,
		 n->file ? " of '" : "", n->file ? n->file : "", n->file ? "'" : "", near[0] ? "; did you mean " : "",
		 near, near[0] ? "?" : "");
	return -ENOENT;
}

static int resolve_name(struct resolver *r, struct expr_node *n)
{
	char unclear[512] = "";		/* a file has several, which matters if no other has one */
	uint64_t size;
	Dwarf_Die type;
	int64_t value;
	bool typed;

	for (unsigned int i = 0; i < r->nr; i++) {
		char why[512] = "";

		if (!sym_find_variable(r->files[i], n->name, n->file, &type, &typed, &n->vaddr, &size, why,
				       sizeof(why))) {
			if (!unclear[0])
				memcpy(unclear, why, sizeof(why));
			continue;
		}
		n->module = i;
		if (typed)
			return set_type(r, n, &type, &n->type);
		break;
	}
	if (unclear[0] && !n->type.typed) {
		snprintf(r->err, r->errlen, "%s", unclear);
		return -EINVAL;
	}
	for (unsigned int i = 0; i < r->nr && !n->file; i++) {
		sym_read_cus(r->files[i]);
		for (size_t k = 0; k < r->files[i]->nr_cus; k++) {
			if (!find_enumerator(&r->files[i]->cus[k], n->name, &value, 0))
				continue;
			n->kind = EXPR_NUMBER;
			n->number = (struct expr_value){ .i = value, .wide = value != (int32_t)value };
			n->type = (struct expr_type){ .class = CLASS_INT, .size = 8 };
			return 0;
		}
	}
	/* a name of the symbol table, without a type: an integer of its size */
	for (unsigned int i = 0; i < r->nr && !n->file; i++) {
		if (strstr(n->name, "::") ||
		    symfile_variable(r->files[i], n->name, &n->vaddr, &size, r->err, r->errlen))
			continue;
		n->module = i;
		n->type = (struct expr_type){ .class = CLASS_INT, .size = size };
		if (size == 1 || size == 2 || size == 4 || size == 8)
			return 0;
		snprintf(r->err, r->errlen, "no type of '%s' is known (built without -g?)", n->name);
		return -EINVAL;
	}
	return not_found(r, n);
}

/* ---- the tree ---- */

static int resolve(struct resolver *r, struct expr_node *n);

static int resolve_member(struct resolver *r, struct expr_node *n)
{
	struct expr_type whole = n->a->type;
	Dwarf_Attribute attr;
	Dwarf_Die member, type;
	Dwarf_Word v, start;
	int ret;

	if (n->arrow) {
		ret = pointed_to(r, n->a, &whole);
		if (ret)
			return ret;
	}
	if (whole.class != CLASS_RECORD) {
		snprintf(r->err, r->errlen, "'%.*s' %s", TEXT(r, n->a), whole.class == CLASS_POINTER && !n->arrow ?
			 "is a pointer: '->' instead of '.'" : "is not a structure and has no members");
		return -EINVAL;
	}
	if (dwarf_hasattr(&whole.die, DW_AT_declaration)) {
		snprintf(r->err, r->errlen, "'%.*s' is of a type whose members are not known there", TEXT(r, n->a));
		return -EINVAL;
	}
	if (!sym_find_member(&whole.die, n->name, &member, &n->offset)) {
		snprintf(r->err, r->errlen, "'%.*s' has no member '%s'", TEXT(r, n->a), n->name);
		return -EINVAL;
	}
	if (!sym_type_of(&member, &type)) {
		snprintf(r->err, r->errlen, "no type of '%.*s' is known", TEXT(r, n));
		return -EINVAL;
	}
	ret = set_type(r, n, &type, &n->type);
	if (ret || dwarf_formudata(dwarf_attr_integrate(&member, DW_AT_bit_size, &attr), &v))
		return ret;
	n->bit_size = (unsigned int)v;
	if (!dwarf_formudata(dwarf_attr_integrate(&member, DW_AT_data_bit_offset, &attr), &start)) {
		n->bit_shift = start % 8;
		return 0;
	}
	/* DWARF 2 counts from the most significant bit of the whole */
	if (!dwarf_formudata(dwarf_attr_integrate(&member, DW_AT_bit_offset, &attr), &start)) {
		n->bit_shift = (unsigned int)(8 * n->type.size - start - v);
		return 0;
	}
	snprintf(r->err, r->errlen, "the position of the bit-field '%.*s' is not known", TEXT(r, n));
	return -EINVAL;
}

static int resolve_index(struct resolver *r, struct expr_node *n)
{
	Dwarf_Die type = n->a->type.die, element;
	uint64_t count;
	bool last;
	int ret;

	if (n->a->type.class == CLASS_POINTER) {
		ret = pointed_to(r, n->a, &n->type);
		n->stride = n->type.size;
		if (!ret && !n->stride) {
			snprintf(r->err, r->errlen, "the size of what '%.*s' points to is not known", TEXT(r, n->a));
			ret = -EINVAL;
		}
		return ret;
	}
	if (n->a->type.class != CLASS_ARRAY ||
	    !sym_array_dimension(&type, n->a->type.dims, &element, &n->stride, &count, &last)) {
		snprintf(r->err, r->errlen, "'%.*s' is neither an array nor a pointer", TEXT(r, n->a));
		return -EINVAL;
	}
	if (n->b->kind == EXPR_NUMBER && count && (n->b->number.i < 0 || (uint64_t)n->b->number.i >= count)) {
		snprintf(r->err, r->errlen, "'%.*s' has %lu elements, no [%ld]", TEXT(r, n->a), (unsigned long)count,
			 (long)n->b->number.i);
		return -EINVAL;
	}
	if (last)
		return set_type(r, n, &element, &n->type);
	n->type = n->a->type;
	n->type.dims++;
	return 0;
}

/* A value is needed: a structure has one if it wraps a number. */
static int as_value(struct resolver *r, struct expr_node *n)
{
	if (n->type.class != CLASS_RECORD || unwrap(r, n, &n->type))
		return 0;
	snprintf(r->err, r->errlen, "'%.*s' is a structure: name a member of it", TEXT(r, n));
	return -EINVAL;
}

static int as_number(struct resolver *r, struct expr_node *n, bool whole)
{
	int ret = as_value(r, n);

	if (ret)
		return ret;
	if (n->type.class == CLASS_INT || (n->type.class == CLASS_FLOAT && !whole))
		return 0;
	snprintf(r->err, r->errlen, "'%.*s' is not a%s number", TEXT(r, n), whole ? " whole" : "");
	return -EINVAL;
}

static bool is_lvalue(const struct expr_node *n)
{
	return n->kind == EXPR_NAME || n->kind == EXPR_MEMBER || n->kind == EXPR_INDEX || n->kind == EXPR_DEREF;
}

static int resolve_binary(struct resolver *r, struct expr_node *n)
{
	bool whole = n->op == OP_MOD || n->op == OP_SHL || n->op == OP_SHR || n->op == OP_AND || n->op == OP_OR ||
		     n->op == OP_XOR;
	bool any = (n->op >= OP_LT && n->op <= OP_NE) || n->op >= OP_LAND;	/* pointers too */
	int ret = any ? as_value(r, n->a) : as_number(r, n->a, whole);

	ret = ret ? ret : any ? as_value(r, n->b) : as_number(r, n->b, whole);
	n->type = (struct expr_type){ .class = !any && (n->a->type.class == CLASS_FLOAT ||
				      n->b->type.class == CLASS_FLOAT) ? CLASS_FLOAT : CLASS_INT, .size = 8 };
	return ret;
}

static int resolve(struct resolver *r, struct expr_node *n)
{
	struct expr_node *of[] = { n->a, n->b, n->c };
	int ret = 0;

	for (int i = 0; i < 3 && !ret; i++)
		if (of[i])
			ret = resolve(r, of[i]);
	if (ret)
		return ret;
	switch (n->kind) {
	case EXPR_NUMBER:
		n->type = (struct expr_type){ .class = n->number.is_float ? CLASS_FLOAT : CLASS_INT, .size = 8 };
		return 0;
	case EXPR_NAME:
		return resolve_name(r, n);
	case EXPR_MEMBER:
		return resolve_member(r, n);
	case EXPR_INDEX:
		ret = as_number(r, n->b, true);
		return ret ? ret : resolve_index(r, n);
	case EXPR_DEREF:
		return pointed_to(r, n->a, &n->type);
	case EXPR_ADDRESS:
		n->type = (struct expr_type){ .class = CLASS_POINTER, .size = 8, .is_unsigned = true };
		if (is_lvalue(n->a) && !n->a->bit_size)
			return 0;
		snprintf(r->err, r->errlen, "'%.*s' has no address", TEXT(r, n->a));
		return -EINVAL;
	case EXPR_UNARY:
		ret = n->op == '!' ? as_value(r, n->a) : as_number(r, n->a, n->op == '~');
		n->type = (struct expr_type){ .class = n->op == '!' ? CLASS_INT : n->a->type.class, .size = 8 };
		return ret;
	case EXPR_BINARY:
		return resolve_binary(r, n);
	case EXPR_COND:
		ret = as_value(r, n->a);
		ret = ret ? ret : as_value(r, n->b);
		ret = ret ? ret : as_value(r, n->c);
		n->type = n->b->type.class == CLASS_FLOAT ? n->b->type : n->c->type;
		return ret;
	}
	return -EINVAL;
}

int expr_resolve(struct expr *e, struct symfile *const *files, unsigned int nr, char *err, size_t errlen)
{
	struct resolver r = { .e = e, .files = files, .nr = nr, .err = err, .errlen = errlen };
	int ret = resolve(&r, e->root);

	return ret ? ret : as_value(&r, e->root);
}

/* ---- values ---- */

static int value_of(const struct expr_node *n, const struct expr_memory *m, struct expr_value *v);

static int address_of(const struct expr_node *n, const struct expr_memory *m, uint64_t *addr)
{
	struct expr_value v;
	uint64_t bias;
	int ret;

	switch (n->kind) {
	case EXPR_NAME:
		ret = m->bias(m->ctx, n->module, &bias);
		*addr = n->vaddr + bias;
		return ret;
	case EXPR_MEMBER:
		if (!n->arrow) {
			ret = address_of(n->a, m, addr);
		} else {
			ret = value_of(n->a, m, &v);
			*addr = (uint64_t)v.i;
		}
		*addr += n->offset;
		return ret;
	case EXPR_INDEX:
		if (n->a->type.class == CLASS_ARRAY) {
			ret = address_of(n->a, m, addr);
		} else {
			ret = value_of(n->a, m, &v);
			*addr = (uint64_t)v.i;
		}
		ret = ret ? ret : value_of(n->b, m, &v);
		*addr += ret ? 0 : (uint64_t)v.i * n->stride;
		return ret;
	default:
		ret = value_of(n->a, m, &v);
		*addr = (uint64_t)v.i;
		return ret;
	}
}

/* As C's promotion leaves a value of that type. */
static void promote(struct expr_value *v, const struct expr_type *t, unsigned int bits)
{
	v->wide = t->size == 8 && bits > 31;
	v->is_unsigned = t->is_unsigned && bits > 31;
}

static int load(const struct expr_node *n, const struct expr_memory *m, struct expr_value *v)
{
	unsigned int bits = n->bit_size ? n->bit_size : 8 * (unsigned int)n->type.size;
	uint64_t addr, raw = 0;
	float f;
	int ret = address_of(n, m, &addr);

	*v = (struct expr_value){ 0 };
	if (ret)
		return ret;
	if (n->type.class == CLASS_ARRAY) {
		*v = (struct expr_value){ .i = (int64_t)addr, .wide = true, .is_unsigned = true };
		return 0;
	}
	ret = m->read(m->ctx, addr, &raw, n->bit_size ? (n->bit_shift + n->bit_size + 7) / 8 : n->type.size);
	if (ret)
		return ret;
	if (n->type.class == CLASS_FLOAT) {
		v->is_float = true;
		if (n->type.size == 4) {
			memcpy(&f, &raw, sizeof(f));
			v->d = f;
		} else {
			memcpy(&v->d, &raw, sizeof(v->d));
		}
		return 0;
	}
	raw >>= n->bit_shift;
	if (bits < 64) {
		raw &= (1ull << bits) - 1;
		if (!n->type.is_unsigned && raw >> (bits - 1))
			raw |= ~0ull << bits;
	}
	v->i = (int64_t)raw;
	promote(v, &n->type, bits);
	return 0;
}

/* To the width that the result has in C. */
static int64_t narrow(int64_t i, const struct expr_value *v)
{
	return v->wide ? i : v->is_unsigned ? (int64_t)(uint32_t)i : (int64_t)(int32_t)i;
}

static double to_double(const struct expr_value *v)
{
	return v->is_float ? v->d : v->is_unsigned ? (double)(uint64_t)v->i : (double)v->i;
}

static bool is_true(const struct expr_value *v)
{
	return v->is_float ? v->d != 0 : v->i != 0;
}

static int compute_float(int op, double a, double b, struct expr_value *v)
{
	bool truth = op == OP_LT ? a < b : op == OP_LE ? a <= b : op == OP_GT ? a > b : op == OP_GE ? a >= b :
		     op == OP_EQ ? a == b : a != b;

	if (op >= OP_LT && op <= OP_NE)
		*v = (struct expr_value){ .i = truth };
	else
		*v = (struct expr_value){ .is_float = true, .d = op == OP_MUL ? a * b : op == OP_DIV ? a / b :
					  op == OP_ADD ? a + b : a - b };
	return 0;
}

static int compute(int op, const struct expr_value *a, const struct expr_value *b, struct expr_value *v)
{
	struct expr_value c = { .wide = a->wide || b->wide };
	uint64_t x, y;
	int64_t s, t;
	bool u;

	if (a->is_float || b->is_float)
		return compute_float(op, to_double(a), to_double(b), v);
	if (op == OP_SHL || op == OP_SHR) {
		c = (struct expr_value){ .wide = a->wide, .is_unsigned = a->is_unsigned };
		if (b->i < 0 || b->i >= (a->wide ? 64 : 32))
			return -EDOM;
		c.i = op == OP_SHL ? (int64_t)((uint64_t)a->i << b->i) : a->is_unsigned ?
		      (int64_t)((uint64_t)a->i >> b->i) : a->i >> b->i;
		c.i = narrow(c.i, &c);
		*v = c;
		return 0;
	}
	/* the wider type decides; among equals unsigned does */
	c.is_unsigned = (a->is_unsigned && a->wide == c.wide) || (b->is_unsigned && b->wide == c.wide);
	u = c.is_unsigned;
	s = narrow(a->i, &c);
	t = narrow(b->i, &c);
	x = (uint64_t)s;
	y = (uint64_t)t;
	if ((op == OP_DIV || op == OP_MOD) && (!t || (!u && t == -1 && s == INT64_MIN)))
		return -EDOM;
	switch (op) {
	case OP_MUL:
		c.i = (int64_t)(x * y);
		break;
	case OP_DIV:
		c.i = u ? (int64_t)(x / y) : s / t;
		break;
	case OP_MOD:
		c.i = u ? (int64_t)(x % y) : s % t;
		break;
	case OP_ADD:
		c.i = (int64_t)(x + y);
		break;
	case OP_SUB:
		c.i = (int64_t)(x - y);
		break;
	case OP_AND:
		c.i = s & t;
		break;
	case OP_XOR:
		c.i = s ^ t;
		break;
	case OP_OR:
		c.i = s | t;
		break;
	default:
		*v = (struct expr_value){ .i = op == OP_LT ? (u ? x < y : s < t) : op == OP_LE ? (u ? x <= y : s <= t) :
					  op == OP_GT ? (u ? x > y : s > t) : op == OP_GE ? (u ? x >= y : s >= t) :
					  op == OP_EQ ? x == y : x != y };
		return 0;
	}
	c.i = narrow(c.i, &c);
	*v = c;
	return 0;
}

static int value_of(const struct expr_node *n, const struct expr_memory *m, struct expr_value *v)
{
	struct expr_value a, b;
	uint64_t addr;
	int ret;

	*v = (struct expr_value){ 0 };
	switch (n->kind) {
	case EXPR_NUMBER:
		*v = n->number;
		return 0;
	case EXPR_ADDRESS:
		ret = address_of(n->a, m, &addr);
		*v = (struct expr_value){ .i = (int64_t)addr, .wide = true, .is_unsigned = true };
		return ret;
	case EXPR_UNARY:
		ret = value_of(n->a, m, &a);
		if (ret)
			return ret;
		*v = a;
		if (n->op == '!')
			*v = (struct expr_value){ .i = !is_true(&a) };
		else if (a.is_float)
			v->d = n->op == '-' ? -a.d : a.d;
		else
			v->i = narrow(n->op == '-' ? (int64_t)-(uint64_t)a.i : n->op == '~' ? ~a.i : a.i, &a);
		return 0;
	case EXPR_COND:
		ret = value_of(n->a, m, &a);
		return ret ? ret : value_of(is_true(&a) ? n->b : n->c, m, v);
	case EXPR_BINARY:
		ret = value_of(n->a, m, &a);
		if (ret)
			return ret;
		if (n->op == OP_LAND || n->op == OP_LOR) {
			if (is_true(&a) != (n->op == OP_LOR)) {
				ret = value_of(n->b, m, &a);
				if (ret)
					return ret;
			}
			v->i = is_true(&a);
			return 0;
		}
		ret = value_of(n->b, m, &b);
		return ret ? ret : compute(n->op, &a, &b, v);
	default:
		return load(n, m, v);
	}
}

int expr_test(const struct expr *e, const struct expr_memory *m)
{
	struct expr_value v;
	int ret = value_of(e->root, m, &v);

	return ret ? ret : is_true(&v);
}

static size_t put_value(const struct expr *e, const struct expr_node *n, const struct expr_memory *m, char *buf,
			size_t len, size_t at)
{
	struct expr_value v;
	char text[40];

	if (value_of(n, m, &v))
		snprintf(text, sizeof(text), "(none)");
	else if (v.is_float)
		snprintf(text, sizeof(text), "%g", v.d);
	else if (n->type.class == CLASS_POINTER && !v.i)
		snprintf(text, sizeof(text), "NULL");
	else if (n->type.class == CLASS_POINTER)
		snprintf(text, sizeof(text), "0x%lx", (unsigned long)v.i);
	else if (v.is_unsigned)
		snprintf(text, sizeof(text), "%lu", (unsigned long)v.i);
	else
		snprintf(text, sizeof(text), "%ld", (long)v.i);
	if (at < len)
		at += snprintf(buf + at, len - at, "%s%.*s = %s", at ? ", " : "", (int)(n->to - n->from),
			       e->text + n->from, text);
	return at;
}

/* True when the same text is among the nodes before this one. */
static bool is_repeated(const struct expr *e, const struct expr_node *in, const struct expr_node *n)
{
	if (!in || in == n || in->from > n->from)
		return false;
	if (is_lvalue(in) && in->from < n->from && in->to - in->from == n->to - n->from &&
	    !memcmp(e->text + in->from, e->text + n->from, n->to - n->from))
		return true;
	return is_repeated(e, in->a, n) || is_repeated(e, in->b, n) || is_repeated(e, in->c, n);
}

static size_t put_values(const struct expr *e, const struct expr_node *n, const struct expr_memory *m, char *buf,
			 size_t len, size_t at)
{
	if (!n || n->kind == EXPR_NUMBER)
		return at;
	if (!is_lvalue(n)) {
		at = put_values(e, n->a, m, buf, len, at);
		at = put_values(e, n->b, m, buf, len, at);
		return put_values(e, n->c, m, buf, len, at);
	}
	if (n->type.class != CLASS_RECORD && !is_repeated(e, e->root, n))
		at = put_value(e, n, m, buf, len, at);
	/* the value of an index says more than its text does */
	for (; n && n->kind != EXPR_NAME; n = n->a)
		if (n->kind == EXPR_INDEX)
			at = put_values(e, n->b, m, buf, len, at);
	return at;
}

void expr_values(const struct expr *e, const struct expr_memory *m, char *buf, size_t len)
{
	buf[0] = 0;
	put_values(e, e->root, m, buf, len, 0);
}
