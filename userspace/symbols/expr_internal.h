/* SPDX-License-Identifier: GPL-2.0-only */
/* expr_internal.h - between expr_parse.c and expr.c */
#ifndef ZUG_EXPR_INTERNAL_H
#define ZUG_EXPR_INTERNAL_H

#include <stdbool.h>
#include <elfutils/libdw.h>
#include "symbols/expr.h"

enum expr_kind { EXPR_NUMBER, EXPR_NAME, EXPR_MEMBER, EXPR_INDEX, EXPR_DEREF, EXPR_ADDRESS, EXPR_UNARY,
		 EXPR_BINARY, EXPR_COND };

/* Binary operators; unary ones are their own characters. */
enum expr_op { OP_MUL, OP_DIV, OP_MOD, OP_ADD, OP_SUB, OP_SHL, OP_SHR, OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE,
	       OP_AND, OP_XOR, OP_OR, OP_LAND, OP_LOR };

enum expr_class { CLASS_INT, CLASS_FLOAT, CLASS_POINTER, CLASS_ARRAY, CLASS_RECORD };

struct expr_type {
	enum expr_class class;
	uint64_t size;
	bool is_unsigned;
	bool typed;		/* die is known */
	Dwarf_Die die;
	int dims;		/* of an array that are indexed already */
};

/* After C's promotions: integers have 4 or 8 bytes. */
struct expr_value {
	bool is_float, is_unsigned, wide;
	int64_t i;
	double d;
};

struct expr_node {
	enum expr_kind kind;
	int op;				/* enum expr_op, or the character of a unary one */
	struct expr_node *a, *b, *c;
	char *name, *file;
	bool arrow;
	struct expr_value number;
	size_t from, to;		/* its text */

	/* resolved */
	struct expr_type type;
	unsigned int module;		/* EXPR_NAME: index of its file */
	uint64_t vaddr;
	uint64_t offset;		/* EXPR_MEMBER */
	uint64_t stride;		/* EXPR_INDEX */
	unsigned int bit_size, bit_shift;	/* EXPR_MEMBER: a bit field; 0: none */
};

struct expr {
	char *text;
	struct expr_node *root;
};

void expr_node_free(struct expr_node *n);

#endif
