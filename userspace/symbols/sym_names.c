// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_names.c - names of symbols: demangling, matching, and the nearest to a misspelt one
 *
 * Users write names without argument lists: sym_short_name() is what they write. symfile_find()
 * matches, symfile_nearest() helps when nothing does.
 */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "symbols/sym_internal.h"

/* Of names that compilers make: longer ones stay as they are. */
#define MAX_MANGLED 16384

/*
 * In a name of Rust (RFC 2603) B, a number in base 62 and _ stand for what was at an earlier place,
 * counted from behind "_R". One that stands for its own place or a later one would be read for ever.
 */
static bool refers_to_itself(const char *name)
{
	const size_t len = strlen(name);

	for (const char *p = name + 2; (p = strchr(p, 'B')); p++) {
		uint64_t at = p - name - 2, to = 0;
		const char *q = p + 1;

		for (; isalnum((unsigned char)*q) && to <= MAX_MANGLED; q++)
			to = to * 62 + (isdigit((unsigned char)*q) ? *q - '0' : islower((unsigned char)*q) ? *q - 'a' + 10 :
					*q - 'A' + 36);
		/* "B_" is place 0, "B0_" place 1; behind the name's end ("GLOBAL_") nothing is read */
		if (*q == '_' && q > p + 1 && to + 1 >= at && at && to + 1 < len)
			return true;
	}
	return false;
}

char *symbols_demangle(const char *name)
{
	char *s;

	if (strncmp(name, "_R", 2) && strncmp(name, "_Z", 2))
		return NULL;
	/* what reads them calls itself for what is nested, of constants of Rust without a bound */
	if (strnlen(name, MAX_MANGLED + 1) > MAX_MANGLED || (name[1] == 'R' && refers_to_itself(name)))
		return NULL;
	s = rust_demangle(name, DMGL_PARAMS);
	return s ? s : cplus_demangle_v3(name, DMGL_PARAMS | DMGL_TYPES);
}

/*
 * Where the argument list begins: the first ( outside of <> that is not part of "(anonymous
 * namespace)", "operator()" or a "{lambda(int)#1}". NULL: there is none.
 */
static char *argument_list(char *s)
{
	int depth = 0;

	for (char *p = s; *p; p++) {
		if (!strncmp(p, "operator", 8) && (p == s || !isalnum((unsigned char)p[-1]))) {
			p += 8;
			if (!strncmp(p, "()", 2))
				p += 2;
			else
				p += strspn(p, "<>-+*/%^&|~!=,[]");
			if (!*p)
				return NULL;
		}
		if (!strncmp(p, "(anonymous namespace)", 21)) {
			p += 20;
			continue;
		}
		if (*p == '<' || *p == '{')
			depth++;
		else if ((*p == '>' && (p == s || p[-1] != '-')) || *p == '}')
			depth--;
		else if (*p == '(' && depth == 0 && p != s)
			return p;
	}
	return NULL;
}

char *sym_short_name(const char *demangled)
{
	char *s = strdup(demangled), *args, *start;
	int depth = 0;

	if (!s)
		return NULL;
	args = argument_list(s);
	if (!args)
		return s;
	*args = '\0';
	/* Templates are demangled with their return type in front. */
	for (start = args; start > s; start--) {
		if (start[-1] == '>' || start[-1] == ')' || start[-1] == '}')
			depth++;
		else if (start[-1] == '<' || start[-1] == '(' || start[-1] == '{')
			depth--;
		else if (start[-1] == ' ' && depth <= 0)
			break;
	}
	/* "operator new", conversions: the blank belongs to the name */
	if (!strstr(s, "operator"))
		memmove(s, start, strlen(start) + 1);
	return s;
}

/* Template arguments of at most so many characters are told. */
#define ARGUMENTS_MAX	24

/* The end of what the bracket at p opens, behind its other one; NULL: it is not closed. */
static const char *behind_bracket(const char *p)
{
	int depth = 0;

	for (; *p; p++) {
		depth += (*p == '(') - (*p == ')');
		if (!depth)
			return p + 1;
	}
	return NULL;
}

/* The arguments of a function that another is within, "f(int)::{lambda()#1}", or of decltype(): what follows them. */
static const char *behind_arguments(const char *p, const char *name, size_t len)
{
	const char *end = behind_bracket(p);

	if (!end)
		return NULL;
	while (len && name[len - 1] == ' ')
		len--;
	if (len >= 8 && !memcmp(name + len - 8, "decltype", 8))
		return end;
	if (!strncmp(end, " const", 6))
		end += 6;
	return strncmp(end, "::", 2) ? NULL : end;
}

void symbols_brief(const char *name, char *buf, size_t len)
{
	size_t at = 0, start = 0, args = SIZE_MAX, nr = 0;
	const char *p, *behind;
	bool operator = false;
	int depth = 0;

	for (p = name; len && *p && at + 1 < len; p++) {
		char c = *p;

		if (!strncmp(p, "(anonymous namespace)", 21)) {
			at += snprintf(buf + at, len - at, "(anon)");
			at = at < len ? at : len - 1;
			p += 20;
			continue;
		}
		if (!depth && !strncmp(p, "operator", 8) && (p == name || p[-1] == ':' || p[-1] == ' ')) {
			size_t n = 8 + (strncmp(p + 8, "()", 2) ? strspn(p + 8, "<>-+*/%^&|~!=,[]") : 2);

			at += snprintf(buf + at, len - at, "%.*s", (int)n, p);
			at = at < len ? at : len - 1;
			p += n - 1;
			operator = true;
			continue;
		}
		if (depth == 1 && c == '>' && p[-1] != '-' && args != SIZE_MAX) {
			if (nr > ARGUMENTS_MAX)
				at = args + snprintf(buf + args, len - args, "...");
			at = at < len - 1 ? at : len - 2;
			start = start < at ? start : at;
			args = SIZE_MAX;
		}
		depth += (c == '<' || c == '{') - ((c == '>' && p > name && p[-1] != '-') || c == '}');
		/* Go's methods: sync.(*Mutex).Lock */
		if (c == '(' && depth <= 0 && p != name && p[-1] != '.') {
			behind = behind_arguments(p, buf, at);
			if (!behind) {
				/* templates are demangled with their return type in front */
				memmove(buf, buf + start, at - start);
				at -= start;
				break;
			}
			p = behind - 1;
			continue;
		}
		if (args == SIZE_MAX || nr++ < ARGUMENTS_MAX)
			buf[at++] = c;
		if (c == '<' && depth == 1 && p != name && args == SIZE_MAX) {
			args = at;
			nr = 0;
		}
		if (c == ' ' && !depth && !operator)
			start = at;
	}
	if (len)
		buf[at] = '\0';
}

static bool is_glob(const char *s)
{
	return strpbrk(s, "*?[");
}

bool sym_equals_clone(const char *name, const char *pattern)
{
	size_t n = strlen(pattern);

	return !strncmp(name, pattern, n) &&
	       (!name[n] || !strncmp(name + n, ".constprop.", 11) ||
		!strncmp(name + n, ".isra.", 6) || !strncmp(name + n, ".lto_priv.", 10));
}

static bool matches(const char *pattern, bool glob, const char *name, const char *demangled)
{
	char *brief;
	bool yes;

	if (sym_equals_clone(name, pattern) || (glob && !fnmatch(pattern, name, 0)))
		return true;
	if (!demangled)
		return false;
	if (!strcmp(demangled, pattern) || (glob && !fnmatch(pattern, demangled, 0)))
		return true;
	brief = sym_short_name(demangled);
	yes = brief && (!strcmp(brief, pattern) || (glob && !fnmatch(pattern, brief, 0)));
	free(brief);
	return yes;
}

bool sym_name_matches(const char *pattern, const char *name)
{
	return matches(pattern, is_glob(pattern), name, name);
}

/* Words that manglers write otherwise: abbreviations of C++ for its library. */
static bool is_abbreviated(const char *word, size_t len)
{
	static const char *const words[] = { "std",	    "allocator",      "basic_string", "string",
					     "char_traits", "basic_istream",  "istream",      "basic_ostream",
					     "ostream",	    "basic_iostream", "iostream",     "decltype" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == len && !memcmp(words[i], word, len))
			return true;
	return !len || !strncmp(word, "operator", 8);
}

size_t sym_literal_part(const char *pattern, const char **part)
{
	size_t best = 0, len;

	/* types, arguments and what compilers name stand otherwise in a mangled name, or in another place */
	for (const char *p = pattern; *p; p++)
		if ((unsigned char)*p >= 0x80 || (!isalnum((unsigned char)*p) && !strchr("_:*?", *p)))
			return 0;
	for (const char *word = pattern; *word; word += len + strspn(word + len, ":")) {
		len = strcspn(word, ":");
		if (!memchr(word, '*', len) && !memchr(word, '?', len) && !is_abbreviated(word, len) && len > best) {
			best = len;
			*part = word;
		}
	}
	return best;
}

/* Puts the mangled names together: one search in a long text takes a fraction of those in 100,000 names. False: no memory. */
static bool join_mangled(struct symfile *f)
{
	size_t len = 0, *at;
	char *text;

	if (f->mangled)
		return true;
	at = malloc((f->nr_syms + 1) * sizeof(*at));
	for (size_t i = 0; at && i < f->nr_syms; i++) {
		at[i] = len;
		len += f->syms[i].name[0] == '_' ? strlen(f->syms[i].name) + 1 : 0;
	}
	text = at ? malloc(len + 1) : NULL;
	if (!text) {
		free(at);
		return false;
	}
	at[f->nr_syms] = len;
	for (size_t i = 0; i < f->nr_syms; i++)
		memcpy(text + at[i], f->syms[i].name, at[i + 1] - at[i]);
	f->mangled = text;
	f->mangled_at = at;
	return true;
}

/* The first symbol from that one on whose mangled name has the part in it; nr_syms: none. Behind join_mangled(). */
static size_t next_mangled(const struct symfile *f, size_t from, const char *part, size_t len)
{
	size_t at = f->mangled_at[from], end = f->mangled_at[f->nr_syms];
	const char *hit = end > at ? memmem(f->mangled + at, end - at, part, len) : NULL;

	/* the one behind it begins behind the hit; those without a name here begin where the next one does */
	return hit ? ARRAY_FROM(f->nr_syms, i, f->mangled_at[i + 1] <= (size_t)(hit - f->mangled)) : f->nr_syms;
}

int symfile_find(struct symfile *f, const char *pattern,
		 int (*fn)(const struct symdef *d, void *arg), void *arg)
{
	bool glob = is_glob(pattern), cxx = glob || strpbrk(pattern, ":<( ");
	const char *part = NULL;
	/* to demangle all names of a large library takes seconds */
	size_t len = cxx ? sym_literal_part(pattern, &part) : strlen(pattern), next;
	int nr = 0;

	part = cxx ? part : pattern;

	sym_read_symbols(f);
	if (!join_mangled(f))
		len = 0;
	next = len ? next_mangled(f, 0, part, len) : 0;
	for (size_t i = 0; i < f->nr_syms; i++) {
		const struct sym *s = &f->syms[i];
		bool meant = i == next;
		struct symdef d;
		char *demangled = NULL;
		int ret = 0;

		if (meant)
			next = len ? next_mangled(f, i + 1, part, len) : i + 1;
		/* other names are as they are in the file */
		if (s->type == STT_TLS || (!meant && !glob && s->name[0] != pattern[0]))
			continue;
		if (meant && s->name[0] == '_')
			demangled = symbols_demangle(s->name);
		if (matches(pattern, glob, s->name, demangled)) {
			d = (struct symdef){
				.name = s->name, .demangled = demangled, .version = s->version,
				.is_function = s->type == STT_FUNC || s->type == STT_GNU_IFUNC,
				.is_object = s->type == STT_OBJECT,
				.is_ifunc = s->type == STT_GNU_IFUNC,
				.vaddr = s->vaddr, .size = s->size,
				.offset = symfile_offset_of(f, s->vaddr),
			};
			nr++;
			ret = fn(&d, arg);
		}
		free(demangled);
		if (ret)
			break;
	}
	return nr;
}

/* ---- the nearest ---- */

#define NEAREST 3
#define NAME_MAX_COMPARED 96

/* Damerau-Levenshtein with adjacent transpositions; gives up, returning limit + 1, above limit. */
static unsigned int distance(const char *a, const char *b, unsigned int limit)
{
	unsigned int rows[3][NAME_MAX_COMPARED + 1];
	size_t n = strlen(a), m = strlen(b);

	if (n > NAME_MAX_COMPARED || m > NAME_MAX_COMPARED || (n > m ? n - m : m - n) > limit)
		return limit + 1;
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		unsigned int *now = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
		unsigned int least;

		least = now[0] = i;
		for (size_t j = 1; j <= m; j++) {
			/* wrong case is half a mistake at most: it never adds to another */
			unsigned int cost = tolower((unsigned char)a[i - 1]) !=
					    tolower((unsigned char)b[j - 1]);
			unsigned int d = up[j - 1] + cost;

			if (up[j] + 1 < d)
				d = up[j] + 1;
			if (now[j - 1] + 1 < d)
				d = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    up2[j - 2] + 1 < d)
				d = up2[j - 2] + 1;
			now[j] = d;
			if (d < least)
				least = d;
		}
		if (least > limit)
			return limit + 1;
	}
	return rows[n % 3][m];
}

/* The part after the last ::, which is what people remember and type. */
static const char *last_part(const char *s)
{
	const char *best = s;
	int depth = 0;

	for (const char *p = s; *p; p++) {
		if (*p == '<')
			depth++;
		else if (*p == '>')
			depth--;
		else if (!depth && p[0] == ':' && p[1] == ':' && p[2])
			best = p + 2;
	}
	return best;
}

void symfile_nearest(struct symfile *f, const char *name, bool functions, char *buf, size_t len)
{
	struct {
		char *name;
		unsigned int distance;
	} best[NEAREST] = { 0 };
	unsigned int limit = strlen(name) / 3 + 1;
	size_t at = 0, nr = 0;

	sym_read_symbols(f);
	for (size_t i = 0; i < f->nr_syms; i++) {
		const struct sym *s = &f->syms[i];
		bool code = s->type == STT_FUNC || s->type == STT_GNU_IFUNC;
		char *demangled, *brief;
		unsigned int d, d2, k;

		if (code != functions)
			continue;
		demangled = symbols_demangle(s->name);
		brief = sym_short_name(demangled ? demangled : s->name);
		free(demangled);
		if (!brief)
			continue;
		d = distance(name, brief, limit);
		if (strstr(brief, "::")) {
			/* a namespace left out is a small mistake, but behind a plain hit */
			d2 = distance(name, last_part(brief), limit) + 1;
			d = d2 < d ? d2 : d;
		}
		for (k = 0; d <= limit && k < NEAREST; k++)
			if (best[k].name && !strcmp(best[k].name, brief))
				d = limit + 1;
		for (k = 0; k < NEAREST; k++)
			if (!best[k].name || d < best[k].distance)
				break;
		if (d > limit || k == NEAREST) {
			free(brief);
			continue;
		}
		free(best[NEAREST - 1].name);
		memmove(&best[k + 1], &best[k], (NEAREST - 1 - k) * sizeof(*best));
		best[k].name = brief;
		best[k].distance = d;
	}
	if (len)
		buf[0] = '\0';
	while (nr < NEAREST && best[nr].name)
		nr++;
	for (size_t k = 0; k < nr; k++) {
		if (at < len)
			at += snprintf(buf + at, len - at, "%s%s",
				       !k ? "" : k + 1 == nr ? " or " : ", ", best[k].name);
		free(best[k].name);
	}
}
