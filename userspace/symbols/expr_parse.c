/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * expr_parse.c - from the text of an expression to its tree: C's grammar of expressions without side effects
 *
 * A parser by recursive descent over p->at; a binary expression by the strength of its operators.
 * expr_parse() at the end is the way in, expr.c gives the tree a meaning.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "symbols/expr_internal.h"

#define MAX_DEPTH 200	/* of the recursion, for any text */
#define MAX_NODES 2000	/* a+a+a... is a tree as deep as it is long, and is walked by recursion */

struct parser {
	const char *text, *at;
	int depth, nodes;
	char *err;
	size_t errlen;
};

static struct expr_node *expression(struct parser *p);

void expr_node_free(struct expr_node *n)
{
	if (!n)
		return;
	expr_node_free(n->a);
	expr_node_free(n->b);
	expr_node_free(n->c);
	free(n->name);
	free(n->file);
	free(n);
}

__attribute__((format(printf, 2, 3)))
static void *fail(struct parser *p, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(p->err, p->errlen, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < p->errlen)
		snprintf(p->err + n, p->errlen - n, *p->at ? " before '%.40s'" : " at the end%s", p->at);
	/* the text may come from another user's trace */
	for (char *c = p->err; p->errlen && *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	return NULL;
}

static void blanks(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

/* The token, if it is next. */
static bool take(struct parser *p, const char *token)
{
	size_t n = strlen(token);

	blanks(p);
	if (strncmp(p->at, token, n))
		return false;
	p->at += n;
	return true;
}

/* Takes over a, b and c, also when it fails. */
static struct expr_node *node(struct parser *p, enum expr_kind kind, size_t from, struct expr_node *a,
			      struct expr_node *b, struct expr_node *c)
{
	struct expr_node *n = ++p->nodes > MAX_NODES ? NULL : calloc(1, sizeof(*n));

	if (!n) {
		expr_node_free(a);
		expr_node_free(b);
		expr_node_free(c);
		if (p->nodes > MAX_NODES)
			return fail(p, "more than %d operators and values", MAX_NODES);
		snprintf(p->err, p->errlen, "out of memory");
		return NULL;
	}
	*n = (struct expr_node){ .kind = kind, .a = a, .b = b, .c = c, .from = from, .to = p->at - p->text };
	return n;
}

static size_t name_length(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '$' || (s[n] == ':' && s[n + 1] == ':' &&
	       (isalpha((unsigned char)s[n + 2]) || s[n + 2] == '_')))
		n += s[n] == ':' ? 2 : 1;
	return n;
}

static struct expr_node *number(struct parser *p, size_t from)
{
	struct expr_value v = { 0 };
	unsigned long long u;
	struct expr_node *n;
	char *end, *whole;

	errno = 0;
	u = strtoull(p->at, &end, 0);
	if (*end == '.' || ((*end == 'e' || *end == 'E') && strncmp(p->at, "0x", 2))) {
		v.is_float = true;
		v.d = strtod(p->at, &end);
	} else {
		for (whole = end; *end && strchr("uUlL", *end); end++)
			v.is_unsigned |= *end == 'u' || *end == 'U';
		for (; whole < end; whole++)
			v.wide |= *whole == 'l' || *whole == 'L';
		v.wide |= u > UINT32_MAX || (!v.is_unsigned && u > INT32_MAX);
		v.is_unsigned |= u > INT64_MAX;
		v.i = (int64_t)u;
	}
	if (errno || isalnum((unsigned char)*end) || *end == '_')
		return fail(p, "a number is not understood");
	p->at = end;
	n = node(p, EXPR_NUMBER, from, NULL, NULL, NULL);
	if (n)
		n->number = v;
	return n;
}

static struct expr_node *name(struct parser *p, size_t from, char *file)
{
	static const struct { const char *word; int value; } words[] = {
		{ "true", 1 }, { "false", 0 }, { "NULL", 0 }, { "nullptr", 0 },
	};
	size_t len = name_length(p->at);
	const char *start = p->at;
	struct expr_node *n;

	p->at += len;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!file && strlen(words[i].word) == len && !memcmp(start, words[i].word, len)) {
			n = node(p, EXPR_NUMBER, from, NULL, NULL, NULL);
			if (n)
				n->number.i = words[i].value;
			return n;
		}
	n = node(p, EXPR_NAME, from, NULL, NULL, NULL);
	if (!n) {
		free(file);
		return NULL;
	}
	n->file = file;
	n->name = strndup(start, len);
	if (n->name)
		return n;
	expr_node_free(n);
	snprintf(p->err, p->errlen, "out of memory");
	return NULL;
}

/* 'a' or 'FILE'::NAME */
static struct expr_node *quoted(struct parser *p, size_t from)
{
	static const char escapes[] = "n\nt\tr\r0\0\\\\''\"\"a\ab\b";
	const char *end = strchr(p->at + 1, '\''), *e;
	struct expr_node *n;
	char *file;
	int c;

	if (p->at[1] == '\\' && p->at[2] && p->at[3] == '\'')
		end = p->at + 3;
	if (!end || end == p->at + 1)
		return fail(p, "a \"'\" without its end");
	if (!strncmp(end + 1, "::", 2)) {
		file = strndup(p->at + 1, end - p->at - 1);
		p->at = end + 3;
		if (!file || !name_length(p->at)) {
			free(file);
			return fail(p, "a name is missing behind '::'");
		}
		return name(p, from, file);
	}
	c = (unsigned char)p->at[1];
	if (c == '\\' && end == p->at + 3) {
		for (e = escapes; e < escapes + sizeof(escapes) - 1 && *e != p->at[2];)
			e += 2;
		if (e >= escapes + sizeof(escapes) - 1)
			return fail(p, "an unknown escape");
		c = (unsigned char)e[1];
	} else if (end != p->at + 2) {
		return fail(p, "more than one character between \"'\"");
	}
	p->at = end + 1;
	n = node(p, EXPR_NUMBER, from, NULL, NULL, NULL);
	if (n)
		n->number.i = (signed char)c;
	return n;
}

static struct expr_node *primary(struct parser *p)
{
	struct expr_node *n;
	size_t from;

	blanks(p);
	from = p->at - p->text;
	if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1])))
		return number(p, from);
	if (*p->at == '\'')
		return quoted(p, from);
	if (name_length(p->at))
		return name(p, from, NULL);
	if (!take(p, "("))
		return fail(p, "a value is missing");
	n = expression(p);
	if (n && !take(p, ")")) {
		expr_node_free(n);
		return fail(p, "')' is missing");
	}
	return n;
}

static struct expr_node *postfix(struct parser *p)
{
	struct expr_node *n = primary(p), *index;
	size_t len;

	while (n) {
		size_t from = n->from;
		bool arrow;

		if (take(p, "[")) {
			index = expression(p);
			if (!index || !take(p, "]")) {
				expr_node_free(n);
				expr_node_free(index);
				return index ? fail(p, "']' is missing") : NULL;
			}
			n = node(p, EXPR_INDEX, from, n, index, NULL);
			continue;
		}
		arrow = take(p, "->");
		if (!arrow && !take(p, "."))
			return n;
		blanks(p);
		len = name_length(p->at);
		if (!len) {
			expr_node_free(n);
			return fail(p, "the name of a member is missing");
		}
		p->at += len;
		n = node(p, EXPR_MEMBER, from, n, NULL, NULL);
		if (!n)
			return NULL;
		n->arrow = arrow;
		n->name = strndup(p->at - len, len);
		if (!n->name) {
			expr_node_free(n);
			snprintf(p->err, p->errlen, "out of memory");
			return NULL;
		}
	}
	return n;
}

static struct expr_node *unary(struct parser *p)
{
	struct expr_node *n;
	size_t from;
	char op;

	blanks(p);
	from = p->at - p->text;
	op = *p->at;
	if (!op || !strchr("!~-+*&", op))
		return postfix(p);
	p->at++;
	if (++p->depth > MAX_DEPTH)
		return fail(p, "too deep");
	n = unary(p);
	p->depth--;
	if (!n)
		return NULL;
	n = node(p, op == '*' ? EXPR_DEREF : op == '&' ? EXPR_ADDRESS : EXPR_UNARY, from, n, NULL, NULL);
	if (n)
		n->op = op;
	return n;
}

/* The operators by how strongly they bind; longer ones before those that they begin with. */
static const struct operator {
	const char *text;
	enum expr_op op;
	int level;
} operators[] = {
	{ "||", OP_LOR, 1 }, { "&&", OP_LAND, 2 }, { "==", OP_EQ, 6 }, { "!=", OP_NE, 6 }, { "<<", OP_SHL, 8 },
	{ ">>", OP_SHR, 8 }, { "<=", OP_LE, 7 }, { ">=", OP_GE, 7 }, { "<", OP_LT, 7 }, { ">", OP_GT, 7 },
	{ "|", OP_OR, 3 }, { "^", OP_XOR, 4 }, { "&", OP_AND, 5 }, { "+", OP_ADD, 9 }, { "-", OP_SUB, 9 },
	{ "*", OP_MUL, 10 }, { "/", OP_DIV, 10 }, { "%", OP_MOD, 10 },
};

static const struct operator *operator_at(struct parser *p, int level)
{
	blanks(p);
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (!strncmp(p->at, operators[i].text, strlen(operators[i].text)))
			return operators[i].level >= level ? &operators[i] : NULL;
	return NULL;
}

static struct expr_node *binary(struct parser *p, int level)
{
	struct expr_node *n = unary(p), *right;
	const struct operator *o;

	while (n && (o = operator_at(p, level))) {
		p->at += strlen(o->text);
		right = binary(p, o->level + 1);
		if (!right) {
			expr_node_free(n);
			return NULL;
		}
		n = node(p, EXPR_BINARY, n->from, n, right, NULL);
		if (n)
			n->op = o->op;
	}
	return n;
}

static struct expr_node *expression(struct parser *p)
{
	struct expr_node *n, *yes, *no = NULL;

	if (++p->depth > MAX_DEPTH)
		return fail(p, "too deep");
	n = binary(p, 1);
	if (n && take(p, "?")) {
		yes = expression(p);
		if (yes && take(p, ":"))
			no = expression(p);
		else if (yes)
			fail(p, "':' is missing");
		if (no) {
			n = node(p, EXPR_COND, n->from, n, yes, no);
		} else {
			expr_node_free(n);
			expr_node_free(yes);
			n = NULL;
		}
	}
	p->depth--;
	return n;
}

struct expr *expr_parse(const char *text, char *err, size_t errlen)
{
	struct expr *e = calloc(1, sizeof(*e));
	struct parser p = { .err = err, .errlen = errlen };

	snprintf(err, errlen, "out of memory");
	if (!e)
		return NULL;
	e->text = strdup(text);
	p.text = p.at = e->text ? e->text : "";
	if (e->text)
		e->root = expression(&p);
	blanks(&p);
	if (e->root && *p.at) {
		if (*p.at == '=')
			fail(&p, "nothing can be assigned to ('==' compares)");
		else
			fail(&p, "an operator is missing");
	} else if (e->root) {
		return e;
	}
	expr_free(e);
	return NULL;
}

void expr_free(struct expr *e)
{
	if (!e)
		return;
	expr_node_free(e->root);
	free(e->text);
	free(e);
}
