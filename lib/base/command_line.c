/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options from a table of rows (command_line.h). getopt_long() finds the options among the words;
 * all else comes from the rows: take() stores an argument as the row's kind says, valid() says what
 * an argument may be, and the functions for help and lists print the rows.
 *
 * Two rows may have the same name when an option has two meanings (--time 10s, --time real): the
 * first row that accepts the argument takes it.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/command_line.h"

#define LONG 256	/* getopt_long() returns this + the number of the row for a long option */
#define HELP (LONG - 1)
#define COLUMN 23	/* where help texts begin */
#define WIDTH 100

/* ---- values ---- */

static void *member(const struct option_row *r, const void *options)
{
	return (char *)options + r->offset;
}

int64_t option_get(const struct option_row *r, const void *options)
{
	const void *m = member(r, options);

	switch (r->store) {
	case STORE_BOOL:
		return *(const bool *)m;
	case STORE_INT:
		return *(const int *)m;
	case STORE_U32:
		return *(const uint32_t *)m;
	case STORE_U64:
		return *(const uint64_t *)m;
	default:
		return 0;
	}
}

void option_set(const struct option_row *r, void *options, int64_t value)
{
	void *m = member(r, options);

	switch (r->store) {
	case STORE_BOOL:
		*(bool *)m = value;
		break;
	case STORE_INT:
		*(int *)m = value;
		break;
	case STORE_U32:
		*(uint32_t *)m = value;
		break;
	case STORE_U64:
		*(uint64_t *)m = value;
		break;
	default:
		break;
	}
}

const char **option_text(const struct option_row *r, const void *options)
{
	return r->store == STORE_TEXT ? member(r, options) : NULL;
}

char ***option_list(const struct option_row *r, const void *options)
{
	return r->store == STORE_LIST ? member(r, options) : NULL;
}

int option_append(char ***list, const char *text)
{
	size_t n = 0;
	char **l;

	while (*list && (*list)[n])
		n++;
	l = realloc(*list, (n + 2) * sizeof(*l));
	if (!l)
		return -ENOMEM;
	*list = l;
	l[n] = strdup(text);
	l[n + 1] = NULL;
	return l[n] ? 0 : -ENOMEM;
}

bool option_number(const char *text, uint64_t max, uint64_t *value)
{
	char *end;

	errno = 0;
	if (text[0] < '0' || text[0] > '9')
		return false;
	*value = strtoull(text, &end, 0);
	return !errno && !*end && *value <= max;
}

static bool duration(const char *text, int64_t *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 }, { "h", 3600e9 }, { "", 1e9 } };
	char *end;
	double v;

	if (text[0] < '0' || text[0] > '9')
		return false;
	v = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(end, units[i].unit) && v * units[i].ns < 9e18) {
			*ns = v * units[i].ns;
			return true;
		}
	return false;
}

static bool size(const char *text, int64_t *bytes)
{
	static const char units[] = "KMGT";
	unsigned int shift = 0;
	uint64_t n;
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (*end && strchr(units, *end))
		shift = 10 * (strchr(units, *end++) - units + 1);
	*bytes = n << shift;
	return !errno && n && !*end && n <= UINT64_MAX >> shift;
}

/* The word of that name, n bytes long; NULL: there is none. */
static const struct option_word *find_word(const struct option_word *w, const char *name, size_t n)
{
	for (; w->name; w++)
		if (strlen(w->name) == n && !strncmp(w->name, name, n))
			return w;
	return NULL;
}

bool option_parse_set(const struct option_word *words, const char *text, int64_t *value)
{
	const struct option_word *w = NULL;

	*value = 0;
	while (*text) {
		size_t n = strcspn(text, ",");

		w = find_word(words, text, n);
		if (!w)
			return false;
		*value |= w->value;
		text += n + (text[n] == ',');
	}
	return w != NULL;
}

void option_print_set(const struct option_word *words, int64_t value, char *buf, size_t len)
{
	int64_t left = value;
	size_t n = 0;

	buf[0] = 0;
	for (; words->name && n < len; words++) {
		if ((left & words->value) != words->value || (!words->value && value))
			continue;
		left &= ~words->value;
		n += snprintf(buf + n, len - n, "%s%s", n ? "," : "", words->name);
	}
}

static int64_t all_of(const struct option_word *words)
{
	int64_t all = 0;

	for (; words->name; words++)
		all |= words->value;
	return all;
}

/* Stores an argument. 0; -EINVAL: it is not valid, a custom option's reason is in err; -errno. */
static int take(const struct option_row *r, const char *text, void *options, char *err,
		size_t errlen)
{
	const struct option_word *w;
	int64_t v = 0;
	uint64_t u;

	switch (r->kind) {
	case OPTION_FLAG:
		v = !r->clears;
		break;
	case OPTION_NUMBER:
		if (!option_number(text, r->max ? r->max : UINT64_MAX, &u) || u < r->min)
			return -EINVAL;
		v = u;
		break;
	case OPTION_DURATION:
		if (!duration(text, &v))
			return -EINVAL;
		break;
	case OPTION_SIZE:
		if (!size(text, &v))
			return -EINVAL;
		break;
	case OPTION_CHOICE:
		w = find_word(r->words, text, strlen(text));
		if (!w)
			return -EINVAL;
		v = w->value;
		break;
	case OPTION_SET:
		if (!option_parse_set(r->words, text, &v))
			return -EINVAL;
		v |= option_get(r, options) & ~all_of(r->words);
		break;
	case OPTION_TEXT:
		*option_text(r, options) = text;
		return 0;
	case OPTION_LIST:
		return option_append(option_list(r, options), text);
	case OPTION_CUSTOM:
		return r->parse(r, text, options, err, errlen);
	}
	option_set(r, options, v);
	return 0;
}

void command_line_defaults(const struct command_line *c, void *options)
{
	for (unsigned int i = 0; i < c->nr_rows; i++) {
		const struct option_row *r = &c->rows[i];

		if (option_text(r, options))
			*option_text(r, options) = NULL;
		else if (option_list(r, options))
			*option_list(r, options) = NULL;
		else
			option_set(r, options, r->kind == OPTION_FLAG ? r->clears : r->unset);
		if (r->preset)
			take(r, r->preset, options, NULL, 0);
	}
}

bool option_is_preset(const struct option_row *r, const void *options)
{
	uint64_t fresh = 0;
	struct option_row at = *r;
	char now[512], then[512];

	if (option_list(r, options))
		return !*option_list(r, options) || !**option_list(r, options);
	if (r->print) {
		r->print(options, now, sizeof(now));
		return r->preset && !strcmp(now, r->preset);
	}
	at.offset = 0;
	command_line_defaults(&(struct command_line){ .rows = &at, .nr_rows = 1 }, &fresh);
	if (!option_text(r, options))
		return r->kind == OPTION_SET ?
		       !((option_get(r, options) ^ option_get(&at, &fresh)) & all_of(r->words)) :
		       option_get(r, options) == option_get(&at, &fresh);
	snprintf(now, sizeof(now), "%s", *option_text(r, options) ? *option_text(r, options) : "");
	snprintf(then, sizeof(then), "%s", r->preset ? r->preset : "");
	return !strcmp(now, then);
}

const char *option_print(const struct option_row *r, const void *options, char *buf, size_t len)
{
	int64_t v = option_get(r, options);

	buf[0] = 0;
	switch (r->kind) {
	case OPTION_FLAG:
	case OPTION_LIST:
		break;
	case OPTION_NUMBER:
	case OPTION_SIZE:
		snprintf(buf, len, "%llu", (unsigned long long)v);
		break;
	case OPTION_DURATION:
		snprintf(buf, len, "%.15gms", v / 1e6);
		break;
	case OPTION_TEXT:
		snprintf(buf, len, "%s", *option_text(r, options) ? *option_text(r, options) : "");
		break;
	case OPTION_CHOICE:
		for (const struct option_word *w = r->words; w->name; w++)
			if (w->value == v)
				snprintf(buf, len, "%s", w->name);
		break;
	case OPTION_SET:
		option_print_set(r->words, v & all_of(r->words), buf, len);
		break;
	case OPTION_CUSTOM:
		if (r->print)
			r->print(options, buf, len);
	}
	return buf;
}

/* ---- parsing ---- */

__attribute__((format(printf, 3, 4)))
static void add(char *buf, size_t len, const char *fmt, ...)
{
	size_t n = strlen(buf);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf + n, len - n, fmt, ap);
	va_end(ap);
}

/* What the argument of a row may be, added to buf. */
static void valid(const struct option_row *r, char *buf, size_t len)
{
	unsigned long long min = r->min, max = r->max;

	if (r->valid) {
		add(buf, len, "%s", r->valid);
		return;
	}
	switch (r->kind) {
	case OPTION_NUMBER:
		add(buf, len,
		    max ? "a number from %llu to %llu" :
		    min ? "a number from %llu on" :
			  "a number",
		    min, max);
		break;
	case OPTION_DURATION:
		add(buf, len, "a duration such as 500ms, 90s or 10m");
		break;
	case OPTION_SIZE:
		add(buf, len, "a size such as 64M or 1G");
		break;
	case OPTION_SET:
		add(buf, len, "a list of ");
		/* fall through */
	default:
		for (const struct option_word *w = r->words; w && w->name; w++)
			add(buf, len, "%s%s", w == r->words ? "" :
			    r->kind == OPTION_CHOICE && !w[1].name ? " or " : ", ", w->name);
	}
	if (r->zero)
		add(buf, len, ", 0 for %s", r->zero);
}

/* Gives an argument to the rows of that name. 0, or -errno with a line in err. */
static int take_named(const struct command_line *c, const struct option_row *first,
		      const char *text, void *options, bool *given, char *err, size_t errlen)
{
	char why[512] = "", all[512] = "";
	int ret = 0;

	for (const struct option_row *r = first; r < c->rows + c->nr_rows; r++) {
		if (strcmp(r->name, first->name))
			continue;
		ret = take(r, text, options, why, sizeof(why));
		if (!ret) {
			given[r - c->rows] = true;
			return 0;
		}
		if (ret != -EINVAL)
			snprintf(why, sizeof(why), "%s", strerror(-ret));
		add(all, sizeof(all), all[0] ? ", or " : "");
		valid(r, all, sizeof(all));
	}
	snprintf(err, errlen, why[0] ? "--%s %s: %s" : "--%s %s: not %s", first->name, text,
		 why[0] ? why : all);
	return ret;
}

static const struct option_row *row_of(const struct command_line *c, int opt)
{
	if (opt >= LONG)
		return &c->rows[opt - LONG];
	for (unsigned int i = 0; opt && i < c->nr_rows; i++)
		if (c->rows[i].letter == opt)
			return &c->rows[i];
	return NULL;
}

/* True when an earlier row has the same name. */
static bool is_second(const struct command_line *c, unsigned int row)
{
	for (unsigned int i = 0; i < row; i++)
		if (!strcmp(c->rows[i].name, c->rows[row].name))
			return true;
	return false;
}

/* How many characters must be changed, added or left out to make b of the n characters of a; long ones: very many. */
static unsigned int edits(const char *a, size_t n, const char *b)
{
	unsigned int row[64], above, left;
	size_t m = strlen(b);

	if (n >= 64 || m >= 64)
		return UINT_MAX;
	for (size_t k = 0; k <= m; k++)
		row[k] = k;
	for (size_t i = 1; i <= n; i++) {
		above = row[0];
		row[0] = i;
		for (size_t k = 1; k <= m; k++) {
			left = above + (a[i - 1] != b[k - 1]);
			above = row[k];
			row[k] = left < above + 1 ? left : above + 1;
			if (row[k - 1] + 1 < row[k])
				row[k] = row[k - 1] + 1;
		}
	}
	return row[m];
}

/* The option that may be meant by a word that is none; NULL: none is like it. */
static const char *like(const struct command_line *c, const char *word, size_t n)
{
	unsigned int best = n > 6 ? 2 : 1, few;
	const char *name = NULL;

	for (unsigned int i = 0; i < c->nr_rows && n > 2; i++) {
		few = edits(word, n, c->rows[i].name);
		if (few < best || (few == best && !name)) {
			best = few;
			name = c->rows[i].name;
		}
	}
	return name;
}

/* Why getopt_long() did not take a word. */
static void refuse(const struct command_line *c, const char *word, bool missing, char *err,
		   size_t errlen)
{
	const struct option_row *r = row_of(c, optopt);
	size_t n = strcspn(word, "=");
	const char *meant;
	unsigned int nr = 0;

	if (missing && r) {
		snprintf(err, errlen, "--%s needs an argument: %s", r->name, r->argument);
		return;
	}
	if (r || optopt == HELP) {
		snprintf(err, errlen, "--%s takes no argument", r ? r->name : "help");
		return;
	}
	if (optopt) {
		snprintf(err, errlen, "unknown option '-%c'; %s --help lists the options", optopt,
			 c->command);
		return;
	}
	for (unsigned int i = 0; i < c->nr_rows && n > 2; i++)
		if (!strncmp(c->rows[i].name, word + 2, n - 2) && !is_second(c, i)) {
			if (!nr++)
				snprintf(err, errlen, "'%.*s' is ambiguous:", (int)n, word);
			add(err, errlen, " --%s", c->rows[i].name);
		}
	if (nr > 1)
		return;
	meant = n > 2 ? like(c, word + 2, n - 2) : NULL;
	snprintf(err, errlen, "unknown option '%.*s'%s%s%s; %s --help lists the options", (int)n, word,
		 meant ? " (perhaps --" : "", meant ? meant : "", meant ? ")" : "", c->command);
}

/* The rows as getopt_long() wants them. */
static void fill(const struct command_line *c, struct option *l, char *letters)
{
	if (c->ends_at_operand)
		*letters++ = '+';
	*letters++ = ':';
	*letters++ = 'h';
	for (unsigned int i = 0; i < c->nr_rows; i++) {
		const struct option_row *r = &c->rows[i];
		int arg = r->kind == OPTION_FLAG ? no_argument : required_argument;

		if (is_second(c, i))
			continue;
		*l++ = (struct option){ r->name, arg, NULL, LONG + i };
		if (r->alias)
			*l++ = (struct option){ r->alias, arg, NULL, LONG + i };
		if (r->letter)
			*letters++ = r->letter;
		if (r->letter && arg == required_argument)
			*letters++ = ':';
	}
	*l++ = (struct option){ "help", no_argument, NULL, HELP };
	*l = (struct option){ 0 };
	*letters = 0;
}

int command_line_parse(const struct command_line *c, void *options, bool *given, int argc,
		       char **argv, char *err, size_t errlen)
{
	struct option list[2 * COMMAND_LINE_ROWS];
	char letters[2 * COMMAND_LINE_ROWS];
	int opt, ret;

	if (argc == 2 && !strcmp(argv[1], "--options")) {
		command_line_list(c, stdout);
		return 0;
	}
	fill(c, list, letters);
	optind = 0;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, letters, list, NULL)) != -1) {
		if (opt == 'h' || opt == HELP) {
			command_line_help(c, stdout);
			return 0;
		}
		if (opt == '?' || opt == ':') {
			refuse(c, argv[optind - 1], opt == ':', err, errlen);
			return -EINVAL;
		}
		ret = take_named(c, row_of(c, opt), optarg, options, given, err, errlen);
		if (ret)
			return ret;
	}
	return optind;
}

/* ---- what goes together ---- */

/* The next of names, separated by blanks; its length, 0 at the end. */
static size_t next_name(const char **names)
{
	*names += strspn(*names, " ");
	return strcspn(*names, " ");
}

static bool is_given(const struct command_line *c, const bool *given, const char *name, size_t n)
{
	for (unsigned int i = 0; i < c->nr_rows; i++)
		if (given[i] && strlen(c->rows[i].name) == n && !strncmp(c->rows[i].name, name, n))
			return true;
	return false;
}

static int check_row(const struct command_line *c, const struct option_row *r, const void *options,
		     const bool *given, char *err, size_t errlen)
{
	const char *name = r->excludes ? r->excludes : "", *what;
	bool needed = r->needs;
	size_t n;

	for (; (n = next_name(&name)); name += n)
		if (is_given(c, given, name, n)) {
			snprintf(err, errlen, "--%s cannot be combined with --%.*s%s%s", r->name,
				 (int)n, name, r->why ? ": " : "", r->why ? r->why : "");
			return -EINVAL;
		}
	for (name = r->needs ? r->needs : ""; (n = next_name(&name)); name += n)
		needed &= !is_given(c, given, name, n);
	if (needed) {
		snprintf(err, errlen, "--%s needs", r->name);
		for (name = r->needs; (n = next_name(&name)); name += n)
			add(err, errlen, "%s --%.*s", name == r->needs ? "" : " or", (int)n, name);
		return -EINVAL;
	}
	what = r->conflict ? r->conflict(options) : NULL;
	if (what)
		snprintf(err, errlen, "--%s %s", r->name, what);
	return what ? -EINVAL : 0;
}

int command_line_check(const struct command_line *c, const void *options, const bool *given,
		       char *err, size_t errlen)
{
	int ret = 0;

	for (unsigned int i = 0; i < c->nr_rows && !ret; i++)
		if (given[i])
			ret = check_row(c, &c->rows[i], options, given, err, errlen);
	return ret;
}

static bool takes(const struct command_line *c, const struct option_row *r)
{
	return !r->commands || r->commands & c->bit;
}

const struct option_row *command_line_foreign(const struct command_line *c, const bool *given)
{
	for (unsigned int i = 0; i < c->nr_rows; i++)
		if (given[i] && !takes(c, &c->rows[i]))
			return &c->rows[i];
	return NULL;
}

void command_line_free(const struct command_line *c, void *options)
{
	for (unsigned int i = 0; i < c->nr_rows; i++) {
		char ***list = option_list(&c->rows[i], options);

		if (!list)
			continue;
		for (char **s = *list; s && *s; s++)
			free(*s);
		free(*list);
		*list = NULL;
	}
}

/* ---- help ---- */

/* Prints words from column 'at' on, with line breaks between them. */
static void wrap(const char *text, size_t at, FILE *f)
{
	for (bool first = true; *text; first = false) {
		size_t n = strcspn(text, " ");

		if (!first && at + 1 + n > WIDTH)
			at = fprintf(f, "\n%*s", COLUMN, "") - 1;
		else if (!first)
			at += fprintf(f, " ");
		at += fwrite(text, 1, n, f);
		text += n;
		text += strspn(text, " ");
	}
	putc('\n', f);
}

static void help_of(const struct option_row *r, FILE *f)
{
	char letter[] = { '-', r->letter, ',', ' ', 0 }, text[1024] = "";
	size_t n = fprintf(f, "  %s--%s%s%s", r->letter ? letter : "", r->name,
			   r->argument ? " " : "", r->argument ? r->argument : "");

	add(text, sizeof(text), "%s", r->help);
	if (r->preset || r->zero)
		add(text, sizeof(text), " (%s%s%s%s%s)", r->preset ? "default " : "",
		    r->preset ? r->preset : "", r->preset && r->zero ? "; " : "",
		    r->zero ? "0: " : "", r->zero ? r->zero : "");
	if (n < COLUMN) {
		n += fprintf(f, "%*s", (int)(COLUMN - n), "");
	} else if (n < WIDTH / 2 - 10) {
		n += fprintf(f, "  ");
	} else {
		n = fprintf(f, "\n%*s", COLUMN, "") - 1;
	}
	wrap(text, n, f);
}

void command_line_help(const struct command_line *c, FILE *f)
{
	const char *section = NULL, *printed = NULL;
	bool only[COMMAND_LINE_ROWS] = { false };
	size_t n;

	for (const char *name = c->only ? c->only : ""; (n = next_name(&name)); name += n)
		for (unsigned int i = 0; i < c->nr_rows; i++)
			only[i] |= strlen(c->rows[i].name) == n &&
				   !strncmp(c->rows[i].name, name, n);
	fprintf(f, "usage: %s\n%s\n", c->usage, c->about);
	for (unsigned int i = 0; i < c->nr_rows; i++) {
		const struct option_row *r = &c->rows[i];

		section = r->section ? r->section : section;
		if (!takes(c, r) || (c->only && !only[i]))
			continue;
		if (section != printed && !c->only)
			fprintf(f, "%s:\n", section);
		printed = section;
		help_of(r, f);
	}
	if (c->end)
		fprintf(f, "\n%s", c->end);
}

void command_line_list(const struct command_line *c, FILE *f)
{
	for (unsigned int i = 0; i < c->nr_rows; i++) {
		const struct option_row *r = &c->rows[i];

		if (!takes(c, r))
			continue;
		fprintf(f, "--%s", r->name);
		for (const struct option_word *w = r->words; w && w->name; w++)
			fprintf(f, " %s", w->name);
		putc('\n', f);
	}
	fputs("--help\n", f);
}
