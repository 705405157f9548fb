// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_pointee.c - names of what an instruction accesses through a pointer: "struct node.next"
 *
 * Memory on the heap has no symbol. But the pointer that led there is a variable more often than
 * not. While the instruction stands before it, DWARF says which variable its base register holds;
 * or, mostly without optimisation, the register was loaded from a variable or a member shortly
 * before (sym_origin.c).
 */
#include <ctype.h>
#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "symbols/sym_internal.h"

/* Pointers behind each other, as in a->b->c; namespaces in each other. */
#define DEPTH_MAX 8
/* Blocks and inlined functions in each other. */
#define SCOPES_MAX 64

/* A pointer that a register holds. */
struct held {
	Dwarf_Die type;		/* of the pointer or reference */
	int64_t disp;		/* added to it */
	char name[128];		/* of the variable or member that it comes from; "" without one */
};

/* What lies at an offset from the frame: from the frame's end, and from rbp, if that is known. */
struct in_frame {
	int64_t from_end, from_bp;
	bool by_bp;
};

/* To something of a type: one of another type often has the value of a pointer to anything. */
static bool is_pointer(Dwarf_Die *type)
{
	Dwarf_Die pointee;

	return (dwarf_tag(type) == DW_TAG_pointer_type || dwarf_tag(type) == DW_TAG_reference_type) &&
	       sym_type_of(type, &pointee);
}

static bool is_variable(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_variable || dwarf_tag(die) == DW_TAG_formal_parameter;
}

/* The pointer that lies 'at' bytes behind the begin of a variable, or of an object, of that type. */
static bool pointer_inside(Dwarf_Die *type, uint64_t at, const char *variable, struct held *h)
{
	char inside[256] = "";
	const char *dot;

	if (at >= sym_type_size(type))
		return false;
	sym_name_inside(type, at, inside, sizeof(inside));
	if (!is_pointer(type) || strchr(inside, '+'))
		return false;
	dot = strrchr(inside, '.');
	*h = (struct held){ .type = *type };
	snprintf(h->name, sizeof(h->name), "%s", dot ? dot + 1 : variable ? variable : "");
	return true;
}

/* ---- names ---- */

static bool is_reserved(const char *name)
{
	return name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1]));
}

/* As "struct node.next", if the pointer is to such. bare: the type says enough, where that is no member. */
static bool name_by_type(struct held *h, int64_t disp, bool bare, char *buf, size_t len)
{
	const char *name, *kind;
	Dwarf_Die pointee;
	char brief[256];
	size_t n;

	name = sym_type_of(&h->type, &pointee) ? dwarf_diename(&pointee) : NULL;
	/* before it, or in an array behind it, of which the element is not known */
	if (!name || !sym_is_class(&pointee) || disp < 0 || (uint64_t)disp >= sym_type_size(&pointee))
		return false;
	kind = dwarf_tag(&pointee) == DW_TAG_union_type ? "union" :
	       dwarf_tag(&pointee) == DW_TAG_class_type ? "class" : "struct";
	bare &= !is_reserved(name);
	symbols_brief(name, brief, sizeof(brief));
	snprintf(buf, len, "%s %s", kind, brief);
	n = strlen(buf);
	sym_name_inside(&pointee, disp, buf, len);
	return buf[n] == '.' || bare;
}

/* ---- variables ---- */

typedef bool variable_fn(Dwarf_Die *variable, void *ctx, struct held *h);

/* The first variable, from the innermost scope on, that fn takes. */
static bool find_variable(Dwarf_Die *scopes, int nr, variable_fn *fn, void *ctx, struct held *h)
{
	Dwarf_Die die;

	for (int i = 0; i < nr; i++) {
		if (dwarf_child(&scopes[i], &die))
			continue;
		do
			if (is_variable(&die) && fn(&die, ctx, h))
				return true;
		while (dwarf_siblingof(&die, &die) == 0);
	}
	return false;
}

struct register_at {
	uint64_t vaddr;
	unsigned int reg;
	const int64_t *at;	/* the variable points to a class with a member so far behind its begin; NULL: to whatever */
};

static bool lives_in_register(Dwarf_Die *variable, void *ctx, struct held *h)
{
	const struct register_at *r = ctx;
	Dwarf_Attribute attr;
	char member[256];
	const char *name;
	Dwarf_Op *ops;
	size_t nr;

	if (!dwarf_attr_integrate(variable, DW_AT_location, &attr) ||
	    dwarf_getlocation_addr(&attr, r->vaddr, &ops, &nr, 1) != 1 || nr != 1 ||
	    ops[0].atom != DW_OP_reg0 + r->reg)
		return false;
	*h = (struct held){ 0 };
	name = dwarf_diename(variable);
	snprintf(h->name, sizeof(h->name), "%s", name ? name : "");
	return sym_type_of(variable, &h->type) && is_pointer(&h->type) &&
	       (!r->at || name_by_type(h, *r->at, false, member, sizeof(member)));
}

static bool lies_in_frame(Dwarf_Die *variable, void *ctx, struct held *h)
{
	const struct in_frame *where = ctx;
	Dwarf_Attribute attr;
	Dwarf_Die type;
	Dwarf_Op *ops;
	size_t nr;
	int64_t at;

	if (!dwarf_attr(variable, DW_AT_location, &attr) || dwarf_getlocation(&attr, &ops, &nr) || nr != 1 ||
	    ops[0].atom != DW_OP_fbreg || !sym_type_of(variable, &type))
		return false;
	at = (where->by_bp ? where->from_bp : where->from_end) - (int64_t)ops[0].number;
	return at >= 0 && pointer_inside(&type, (uint64_t)at, dwarf_diename(variable), h);
}

/* The offsets of the function's variables are from rbp, or (*by_bp false) from the frame's end. */
static bool frame_base(Dwarf_Die *function, bool *by_bp)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t nr;

	if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attr) || dwarf_getlocation(&attr, &ops, &nr) || nr != 1)
		return false;
	*by_bp = ops[0].atom == DW_OP_reg6;
	return *by_bp || ops[0].atom == DW_OP_call_frame_cfa;
}

/* The function whose code is at vaddr, of those in that scope. */
static bool function_in(Dwarf_Die *scope, uint64_t vaddr, int depth, Dwarf_Die *function)
{
	Dwarf_Die die;

	if (depth == DEPTH_MAX || dwarf_child(scope, &die))
		return false;
	do {
		if (dwarf_tag(&die) == DW_TAG_subprogram && dwarf_haspc(&die, vaddr) == 1) {
			*function = die;
			return true;
		}
		if (dwarf_tag(&die) == DW_TAG_namespace && function_in(&die, vaddr, depth + 1, function))
			return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

/* The block, or the inlined function, of that scope in which vaddr is. */
static bool scope_in(Dwarf_Die *scope, uint64_t vaddr, Dwarf_Die *inner)
{
	if (dwarf_child(scope, inner))
		return false;
	do
		if ((dwarf_tag(inner) == DW_TAG_inlined_subroutine || dwarf_tag(inner) == DW_TAG_lexical_block) &&
		    dwarf_haspc(inner, vaddr) == 1)
			return true;
	while (dwarf_siblingof(inner, inner) == 0);
	return false;
}

/*
 * The scopes around vaddr, the innermost first, up to the function: their number. Behind one that is inlined comes what it is
 * inlined into. (dwarf_getscopes() has what is around its source, and dwarf_getscopes_die() takes as long as the unit is
 * large.)
 */
static int scopes_at(struct symfile *f, uint64_t vaddr, Dwarf_Die *scopes)
{
	Dwarf_Die *cu = sym_cu_at(f, vaddr), out[SCOPES_MAX];
	int nr = 1;

	if (!cu || (!(f->has_function && dwarf_haspc(&f->function, vaddr) == 1) && !function_in(cu, vaddr, 0, &f->function)))
		return 0;
	f->has_function = true;
	out[0] = f->function;
	while (nr < SCOPES_MAX && scope_in(&out[nr - 1], vaddr, &out[nr]))
		nr++;
	for (int i = 0; i < nr; i++)
		scopes[i] = out[nr - 1 - i];
	return nr;
}

/*
 * Where functions of the language were inlined several variables hold the same: that of the program's own function says most,
 * "class Pool.lock" where others say that it is a std::mutex. at: what is accessed is so far behind that; NULL: that is not
 * known.
 */
static bool in_register(struct symfile *f, uint64_t vaddr, unsigned int reg, const int64_t *at, struct held *h)
{
	struct register_at r = { vaddr, reg, at };
	Dwarf_Die scopes[SCOPES_MAX];
	int nr = scopes_at(f, vaddr, scopes);
	bool found = at && find_variable(scopes, nr, lives_in_register, &r, h);

	r.at = NULL;
	return found || find_variable(scopes, nr, lives_in_register, &r, h);
}

static bool in_frame(struct symfile *f, uint64_t vaddr, struct in_frame *where, bool bp_known, struct held *h)
{
	Dwarf_Die scopes[SCOPES_MAX];
	int nr = scopes_at(f, vaddr, scopes);
	bool found = false;

	for (int i = 0; i < nr; i++) {
		if (dwarf_tag(&scopes[i]) != DW_TAG_subprogram)
			continue;
		found = frame_base(&scopes[i], &where->by_bp) && (bp_known || !where->by_bp) &&
			find_variable(scopes, nr, lies_in_frame, where, h);
		break;
	}
	return found;
}

static bool in_data(struct symfile *f, uint64_t vaddr, struct held *h)
{
	const struct sym_variable *v = sym_variable_at(f, vaddr);
	Dwarf_Die die, type;

	if (!v)
		return false;
	die = v->die;
	return sym_type_of(&die, &type) && pointer_inside(&type, vaddr - v->vaddr, v->name, h);
}

/* ---- registers ---- */

#define DWARF_DI 5
#define DWARF_BP 6
#define DWARF_SP 7

/* What the register holds at vaddr. at: as in_register(). */
static bool held_by(struct symfile *f, uint64_t vaddr, unsigned int reg, const int64_t *at, int depth, struct held *h);

/* What a move from memory has put into a register. */
static bool loaded(struct symfile *f, const struct sym_origin *o, int depth, struct held *h)
{
	struct symfile_step step;
	struct in_frame where;
	Dwarf_Die pointee;

	if (o->fixed)
		return in_data(f, (uint64_t)o->disp, h);
	if ((o->base == DWARF_BP || o->base == DWARF_SP) &&
	    !symfile_step(f, symfile_offset_of(f, o->vaddr), &step) && step.by_bp == (o->base == DWARF_BP)) {
		where = (struct in_frame){ .from_end = o->disp - step.size, .from_bp = o->disp };
		return in_frame(f, o->vaddr, &where, step.by_bp, h);
	}
	return held_by(f, o->vaddr, o->base, NULL, depth, h) && h->disp + o->disp >= 0 && sym_type_of(&h->type, &pointee) &&
	       pointer_inside(&pointee, (uint64_t)(h->disp + o->disp), NULL, h);
}

static bool held_by(struct symfile *f, uint64_t vaddr, unsigned int reg, const int64_t *at, int depth, struct held *h)
{
	struct sym_origin o;
	int64_t further;

	if (in_register(f, vaddr, reg, at, h))
		return true;
	if (depth >= DEPTH_MAX || !sym_origin(f, vaddr, reg, &o))
		return false;
	if (o.load)
		return loaded(f, &o, depth + 1, h);
	/* the address of a variable is no pointer variable, and has its own name */
	further = at ? *at + o.disp : 0;
	if (o.fixed || !held_by(f, o.vaddr, o.base, at ? &further : NULL, depth + 1, h))
		return false;
	h->disp += o.disp;
	return true;
}

static bool pointer_in(struct symfile *f, uint64_t offset, unsigned int reg, const int64_t *at, struct held *h)
{
	uint64_t vaddr = symfile_vaddr_of(f, offset);

	return vaddr != UINT64_MAX && reg < 16 && held_by(f, vaddr, reg, at, 0, h);
}

bool symfile_pointee_is_atomic(struct symfile *f, uint64_t offset, unsigned int reg, int64_t disp)
{
	struct held h;

	return pointer_in(f, offset, reg, NULL, &h) && h.disp + disp >= 0 &&
	       sym_atomic_inside(&h.type, (uint64_t)(h.disp + disp));
}

static bool name_by_pointer(const struct held *h, int64_t disp, char *buf, size_t len)
{
	/* reserved names: __atomic_load_ptr, inside a macro of <stdatomic.h> */
	if (!h->name[0] || is_reserved(h->name) || !strcmp(h->name, "this"))
		return false;
	snprintf(buf, len, disp ? "%s[...]" : "*%s", h->name);
	return true;
}

int symfile_pointee_name(struct symfile *f, uint64_t offset, unsigned int reg, int64_t disp, char *buf, size_t len)
{
	struct held h;

	if (!pointer_in(f, offset, reg, &disp, &h))
		return -ENOENT;
	disp += h.disp;
	return name_by_type(&h, disp, true, buf, len) || name_by_pointer(&h, disp, buf, len) ? 0 : -ENOENT;
}

int symfile_argument_name(struct symfile *f, uint64_t offset, char *buf, size_t len)
{
	const int64_t at = 0;
	struct held h;

	if (!sym_call_that_ends(f, offset + 1, &offset) || !pointer_in(f, offset, DWARF_DI, &at, &h))
		return -ENOENT;
	/* that it is a mutex is known */
	return name_by_type(&h, h.disp, false, buf, len) || name_by_pointer(&h, h.disp, buf, len) ? 0 : -ENOENT;
}
