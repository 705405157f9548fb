// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_rust.c - Rust's "v0" names (_R...), which the C++ runtime does not know
 *
 * The grammar is that of Rust RFC 2603. Printed as rustc does without hashes: crates without their
 * disambiguator, lifetimes left out, constants by value.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "symbols/sym_internal.h"

#define DEPTH_MAX 128		/* of nesting; back references could nest for ever */
#define OUTPUT_MAX 4096		/* and could double at every level */

struct demangler {
	const char *start;	/* after _R: back references count from here */
	const char *p;
	char out[OUTPUT_MAX];
	size_t len;
	int depth;
	bool quiet;		/* parse, but print nothing */
	bool bad;
};

static void print_path(struct demangler *d, bool in_value);
static void print_type(struct demangler *d);

static void put_bytes(struct demangler *d, const char *s, size_t n)
{
	if (d->quiet || d->bad)
		return;
	if (n >= OUTPUT_MAX - d->len) {
		d->bad = true;
		return;
	}
	memcpy(d->out + d->len, s, n);
	d->len += n;
	d->out[d->len] = '\0';
}

static void put(struct demangler *d, const char *s)
{
	put_bytes(d, s, strlen(s));
}

static bool eat(struct demangler *d, char c)
{
	if (d->bad || *d->p != c)
		return false;
	d->p++;
	return true;
}

static char next(struct demangler *d)
{
	if (d->bad || !*d->p) {
		d->bad = true;
		return '\0';
	}
	return *d->p++;
}

/* Base 62 with a closing _: _ is 0, 0_ is 1. */
static uint64_t base62(struct demangler *d)
{
	uint64_t v = 0;
	char c;

	if (eat(d, '_'))
		return 0;
	while ((c = next(d)) != '_') {
		int digit = c >= '0' && c <= '9' ? c - '0' :
			    c >= 'a' && c <= 'z' ? c - 'a' + 10 :
			    c >= 'A' && c <= 'Z' ? c - 'A' + 36 : -1;

		if (digit < 0 || v > UINT64_MAX / 62 - 1) {
			d->bad = true;
			return 0;
		}
		v = v * 62 + digit;
	}
	return v + 1;
}

static uint64_t optional_base62(struct demangler *d, char tag)
{
	return eat(d, tag) ? base62(d) + 1 : 0;
}

/* The bytes of a name; punycode ones are shown as they are encoded. */
static const char *identifier(struct demangler *d, size_t *len, uint64_t *disambiguator)
{
	uint64_t n = 0;
	const char *s;

	*disambiguator = optional_base62(d, 's');
	eat(d, 'u');
	if (d->bad || *d->p < '0' || *d->p > '9') {
		d->bad = true;
		*len = 0;
		return "";
	}
	if (!eat(d, '0'))
		while (*d->p >= '0' && *d->p <= '9' && n < OUTPUT_MAX)
			n = n * 10 + (*d->p++ - '0');
	eat(d, '_');
	if (strnlen(d->p, n) < n) {
		d->bad = true;
		*len = 0;
		return "";
	}
	s = d->p;
	d->p += n;
	*len = n;
	return s;
}

/* Calls print at the place that a back reference names, which has to lie before it. */
static void back_reference(struct demangler *d, void (*print)(struct demangler *d))
{
	const char *tag = d->p - 1, *resume;
	uint64_t at = base62(d);

	if (d->bad || at >= (uint64_t)(tag - d->start)) {
		d->bad = true;
		return;
	}
	if (d->quiet)
		return;
	resume = d->p;
	d->p = d->start + at;
	print(d);
	d->p = resume;
}

static void path_reference(struct demangler *d)
{
	print_path(d, false);
}

static void value_path_reference(struct demangler *d)
{
	print_path(d, true);
}

static const char *basic_type(char c)
{
	static const char *const names[26] = {
		['a' - 'a'] = "i8", ['b' - 'a'] = "bool", ['c' - 'a'] = "char",
		['d' - 'a'] = "f64", ['e' - 'a'] = "str", ['f' - 'a'] = "f32",
		['h' - 'a'] = "u8", ['i' - 'a'] = "isize", ['j' - 'a'] = "usize",
		['l' - 'a'] = "i32", ['m' - 'a'] = "u32", ['n' - 'a'] = "i128",
		['o' - 'a'] = "u128", ['p' - 'a'] = "_", ['s' - 'a'] = "i16",
		['t' - 'a'] = "u16", ['u' - 'a'] = "()", ['v' - 'a'] = "...",
		['x' - 'a'] = "i64", ['y' - 'a'] = "u64", ['z' - 'a'] = "!",
	};

	return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

static void print_const(struct demangler *d)
{
	char type, number[24];
	uint64_t v = 0;
	int digits = 0;

	type = next(d);
	if (type == 'B') {
		back_reference(d, print_const);
		return;
	}
	if (type == 'p') {
		put(d, "_");
		return;
	}
	if (!basic_type(type)) {
		d->bad = true;
		return;
	}
	if (eat(d, 'n'))
		put(d, "-");
	while (!d->bad && *d->p != '_') {
		char c = next(d);
		int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

		if (digit < 0 || ++digits > 16) {
			d->bad = true;
			return;
		}
		v = v << 4 | digit;
	}
	next(d);
	if (type == 'b')
		put(d, v ? "true" : "false");
	else if (type == 'c' && v >= ' ' && v < 0x7f)
		snprintf(number, sizeof(number), "'%c'", (char)v), put(d, number);
	else
		snprintf(number, sizeof(number), "%llu", (unsigned long long)v), put(d, number);
}

static void print_generic_args(struct demangler *d)
{
	bool first = true;

	put(d, "<");
	while (!d->bad && !eat(d, 'E')) {
		if (eat(d, 'L')) {
			base62(d);
			continue;
		}
		if (!first)
			put(d, ", ");
		first = false;
		if (eat(d, 'K'))
			print_const(d);
		else
			print_type(d);
	}
	put(d, ">");
}

static void print_fn_type(struct demangler *d)
{
	bool first = true;
	size_t n;
	uint64_t ignored;

	optional_base62(d, 'G');
	if (eat(d, 'U'))
		put(d, "unsafe ");
	if (eat(d, 'K')) {
		put(d, "extern \"");
		if (eat(d, 'C')) {
			put(d, "C");
		} else {
			const char *abi = identifier(d, &n, &ignored);

			put_bytes(d, abi, n);
		}
		put(d, "\" ");
	}
	put(d, "fn(");
	while (!d->bad && !eat(d, 'E')) {
		if (!first)
			put(d, ", ");
		first = false;
		print_type(d);
	}
	put(d, ")");
	if (eat(d, 'u'))
		return;
	put(d, " -> ");
	print_type(d);
}

static void print_dyn(struct demangler *d)
{
	bool first = true;
	size_t n;
	uint64_t ignored;

	put(d, "dyn ");
	optional_base62(d, 'G');
	while (!d->bad && !eat(d, 'E')) {
		if (!first)
			put(d, " + ");
		first = false;
		print_path(d, false);
		while (eat(d, 'p')) {
			const char *name = identifier(d, &n, &ignored);

			put(d, " with ");
			put_bytes(d, name, n);
			put(d, " = ");
			print_type(d);
		}
	}
	if (eat(d, 'L'))
		base62(d);
}

static void print_tuple(struct demangler *d)
{
	int nr = 0;

	put(d, "(");
	while (!d->bad && !eat(d, 'E')) {
		if (nr++)
			put(d, ", ");
		print_type(d);
	}
	put(d, nr == 1 ? ",)" : ")");
}

static void print_type(struct demangler *d)
{
	char c = next(d);

	if (++d->depth > DEPTH_MAX)
		d->bad = true;
	if (basic_type(c)) {
		put(d, basic_type(c));
		d->depth--;
		return;
	}
	switch (d->bad ? '\0' : c) {
	case 'R':
	case 'Q':
		if (eat(d, 'L'))
			base62(d);
		put(d, c == 'R' ? "&" : "&mut ");
		print_type(d);
		break;
	case 'P':
	case 'O':
		put(d, c == 'P' ? "*const " : "*mut ");
		print_type(d);
		break;
	case 'A':
		put(d, "[");
		print_type(d);
		put(d, "; ");
		print_const(d);
		put(d, "]");
		break;
	case 'S':
		put(d, "[");
		print_type(d);
		put(d, "]");
		break;
	case 'T':
		print_tuple(d);
		break;
	case 'F':
		print_fn_type(d);
		break;
	case 'D':
		print_dyn(d);
		break;
	case 'B':
		back_reference(d, print_type);
		break;
	case '\0':
		break;
	default:
		d->p--;
		print_path(d, false);
	}
	d->depth--;
}

static void print_nested(struct demangler *d, bool in_value)
{
	char ns = next(d), number[24];
	uint64_t disambiguator;
	const char *name;
	size_t n;

	print_path(d, in_value);
	name = identifier(d, &n, &disambiguator);
	if (ns >= 'A' && ns <= 'Z') {
		put(d, ns == 'C' ? "::{closure" : ns == 'S' ? "::{shim" : "::{");
		if (n)
			put(d, ":");
		put_bytes(d, name, n);
		snprintf(number, sizeof(number), "#%llu}", (unsigned long long)disambiguator);
		put(d, number);
	} else if (n) {
		put(d, "::");
		put_bytes(d, name, n);
	}
}

static void print_path(struct demangler *d, bool in_value)
{
	char c = next(d);
	uint64_t disambiguator;
	const char *name;
	bool quiet;
	size_t n;

	if (++d->depth > DEPTH_MAX)
		d->bad = true;
	switch (d->bad ? '\0' : c) {
	case 'C':
		name = identifier(d, &n, &disambiguator);
		put_bytes(d, name, n);
		break;
	case 'N':
		print_nested(d, in_value);
		break;
	case 'M':
	case 'X':
		/* where the impl block stands is not part of what people call it */
		optional_base62(d, 's');
		quiet = d->quiet;
		d->quiet = true;
		print_path(d, false);
		d->quiet = quiet;
		put(d, "<");
		print_type(d);
		if (c == 'X') {
			put(d, " as ");
			print_path(d, false);
		}
		put(d, ">");
		break;
	case 'Y':
		put(d, "<");
		print_type(d);
		put(d, " as ");
		print_path(d, false);
		put(d, ">");
		break;
	case 'I':
		print_path(d, in_value);
		if (in_value)
			put(d, "::");
		print_generic_args(d);
		break;
	case 'B':
		back_reference(d, in_value ? value_path_reference : path_reference);
		break;
	default:
		d->bad = true;
	}
	d->depth--;
}

char *sym_demangle_rust(const char *name)
{
	struct demangler *d;
	char *s = NULL;

	if (strncmp(name, "_R", 2))
		return NULL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->start = d->p = name + 2;
	print_path(d, true);
	/* After the path may come the instantiating crate and a suffix of the compiler's. */
	if (!d->bad && *d->p && *d->p != '.') {
		d->quiet = true;
		print_path(d, false);
	}
	if (!d->bad && (!*d->p || *d->p == '.'))
		s = strdup(d->out);
	free(d);
	return s;
}
