/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rules_parse.c - from the text of the schedule language to rules (rules.h)
 *
 * A parser by recursive descent, one function for each kind of statement: parse_statement() first.
 * p->word is the current word, "" at the end of a statement.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/rules_internal.h"
#include "search/strategy.h"

struct parser {
	struct rules *r;
	const char *name;	/* of the file, or NULL */
	const char *at;
	const char *start;	/* of the statement */
	unsigned int line;
	char word[RULES_NAME];	/* the current one; "": end of the statement */
	uint32_t group;		/* open group, or 0 */
	char *err;
	size_t errlen;
};

__attribute__((format(printf, 2, 3)))
static int fail(struct parser *p, const char *fmt, ...)
{
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (p->name)
		strategy_message(p->err, p->errlen, "%s:%u: %s", p->name, p->line, what);
	else
		strategy_message(p->err, p->errlen, "rules, line %u: %s", p->line, what);
	return -EINVAL;
}

static bool is_end(char c)
{
	return !c || c == '\n' || c == ';' || c == '#';
}

static int quoted_word(struct parser *p)
{
	size_t n = 0;

	for (p->at++; *p->at != '"'; p->at++) {
		p->at += *p->at == '\\' && (p->at[1] == '"' || p->at[1] == '\\');
		if (!*p->at || *p->at == '\n')
			return fail(p, "'\"' is missing at the end of a word");
		if (n == RULES_NAME - 1)
			return fail(p, "'%.20s...' is too long (%d characters at most)", p->word,
				    RULES_NAME - 1);
		p->word[n++] = *p->at;
	}
	p->at++;
	p->word[n] = '\0';
	return n ? 0 : fail(p, "an empty word");
}

static int next_word(struct parser *p)
{
	size_t n = 0;

	while (*p->at == ' ' || *p->at == '\t' || *p->at == '\r')
		p->at++;
	if (*p->at == '"')
		return quoted_word(p);
	while (!is_end(p->at[n]) && p->at[n] != ' ' && p->at[n] != '\t' && p->at[n] != '\r')
		n++;
	if (n >= RULES_NAME)
		return fail(p, "'%.20s...' is too long (%d characters at most)", p->at,
			    RULES_NAME - 1);
	memcpy(p->word, p->at, n);
	p->word[n] = '\0';
	p->at += n;
	return 0;
}

static bool is(const struct parser *p, const char *word)
{
	return !strcmp(p->word, word);
}

/* The word after a keyword, which must be there. */
static int argument(struct parser *p, const char *keyword)
{
	int ret = next_word(p);

	if (!ret && !p->word[0])
		return fail(p, "'%s' needs something after it", keyword);
	return ret;
}

/* The current word. */
static int parse_number(struct parser *p, const char *keyword, double min, double max, double *out)
{
	char *end;

	errno = 0;
	*out = strtod(p->word, &end);
	if (*end || errno || !(*out >= min && *out <= max))
		return fail(p, "%s %s: must be a number from %g to %g", keyword, p->word, min, max);
	return next_word(p);
}

static int number(struct parser *p, const char *keyword, double min, double max, double *out)
{
	int ret = argument(p, keyword);

	return ret ? ret : parse_number(p, keyword, min, max, out);
}

static void copy_word(const struct parser *p, char *to)
{
	memcpy(to, p->word, RULES_NAME);
}

static bool is_task(const char *word)
{
	return word[0] == 'T' && word[1] && strspn(word + 1, "0123456789") == strlen(word + 1) &&
	       strlen(word) < 9;
}

/* nth: gets the number behind 'nth'; NULL: there is no such word here. */
static int parse_match(struct parser *p, struct rule_match *m, uint64_t *nth)
{
	double value = 1;
	int ret = 0;

	*m = (struct rule_match){ .task = SEARCH_NO_TASK, .op = -1 };
	if (is_task(p->word)) {
		m->task = (uint32_t)strtoul(p->word + 1, NULL, 10);
		ret = next_word(p);
	}
	while (!ret) {
		if (is(p, "at")) {
			ret = argument(p, "at");
			m->op = ret ? -1 : zug_op_by_name(p->word);
			if (!ret && m->op < 0)
				return fail(p, "unknown operation '%s' (lock, unlock, cond-wait, "
					    "data-write, ...)", p->word);
		} else if (is(p, "on")) {
			ret = argument(p, "on");
			copy_word(p, m->on);
		} else if (is(p, "in")) {
			ret = argument(p, "in");
			copy_word(p, m->in);
		} else if (nth && is(p, "nth")) {
			ret = number(p, "nth", 1, 1e9, &value);
			if (ret)
				return ret;
			*nth = (uint64_t)value;
			continue;
		} else if (is(p, "line")) {
			ret = argument(p, "line");
		} else if (is(p, "ordered")) {
			m->ordered = true;
		} else {
			return 0;
		}
		ret = ret ? ret : next_word(p);
	}
	return ret;
}

static int parse_while(struct parser *p, struct rule *rule)
{
	static const char *const compares[] = {
		[CMP_EQ] = "==", [CMP_NE] = "!=", [CMP_LT] = "<", [CMP_LE] = "<=", [CMP_GT] = ">",
		[CMP_GE] = ">=",
	};
	double value;
	int ret = argument(p, "while");

	if (ret)
		return ret;
	copy_word(p, rule->variable);
	ret = argument(p, rule->variable);
	for (int c = CMP_EQ; c <= CMP_GE && !ret; c++)
		if (is(p, compares[c]))
			rule->compare = (enum rule_compare)c;
	if (!ret && rule->compare == CMP_NONE)
		return fail(p, "'%s' is no comparison (== != < <= > >=)", p->word);
	ret = ret ? ret : number(p, "comparison", -9e15, 9e15, &value);
	rule->number = ret ? 0 : (int64_t)value;
	return ret;
}

/* One of 'keyword NUMBER' that belong to random-time and random-place; 1: it was not. */
static int parse_random(struct parser *p, struct rule *rule)
{
	bool place = rule->kind == RULE_PLACE;
	double value;
	int ret;

	if (is(p, "tasks")) {
		ret = number(p, "tasks", 1, 4096, &value);
		rule->tasks = ret ? 0 : (uint32_t)value;
		return ret;
	}
	if (is(p, "delay"))
		return number(p, "delay", 1, 1e9, &rule->delay);
	if (place && is(p, "fraction"))
		return number(p, "fraction", 0, 1, &rule->fraction);
	if (place && is(p, "fallthrough"))
		return number(p, "fallthrough", 0, 1, &rule->fallthrough);
	return 1;
}

static int parse_hold(struct parser *p, struct rule *rule)
{
	double value;
	int ret;

	if (is(p, "while"))
		return parse_while(p, rule);
	if (is(p, "chance"))
		return number(p, "chance", 0, 1, &rule->chance);
	if (is(p, "for") && !rule->has_until) {
		ret = number(p, "for", 1, 1e9, &value);
		rule->steps = ret ? 0 : (uint64_t)value;
		return ret;
	}
	if (is(p, "until") && !rule->steps) {
		rule->has_until = true;
		ret = next_word(p);
		return ret ? ret : parse_match(p, &rule->until, NULL);
	}
	return 1;
}

static int parse_task(struct parser *p, const char *keyword, uint32_t *task)
{
	int ret = argument(p, keyword);

	if (ret)
		return ret;
	if (!is_task(p->word))
		return fail(p, "'%s' after '%s': not a task (T0, T1, ...)", p->word, keyword);
	*task = (uint32_t)strtoul(p->word + 1, NULL, 10);
	return next_word(p);
}

/* 'before' and 'let', which have been read, go on alike: whose step it is, and which, up to a word that must follow. */
static int parse_step(struct parser *p, struct rule *rule, const char *keyword, const char *next, const char *what)
{
	struct rule_before *b = &rule->before;
	uint32_t task = SEARCH_NO_TASK;
	int ret = parse_task(p, keyword, &task);

	if (!ret && p->group)
		return fail(p, "'%s' within a group", keyword);
	b->line = p->line;
	b->nth = b->until_nth = 1;
	ret = ret ? ret : parse_match(p, &rule->match, &b->nth);
	if (!ret && rule->match.task != SEARCH_NO_TASK)
		return fail(p, "'%s' takes one task", keyword);
	rule->match.task = task;
	if (!ret && !is(p, next))
		return fail(p, p->word[0] ? "'%s' is not expected here: '%s %s' is missing" : "%s'%s %s' is missing", p->word,
			    next, what);
	return ret;
}

static int parse_before(struct parser *p, struct rule *rule)
{
	struct rule_before *b = &rule->before;
	int ret = parse_step(p, rule, "before", "run", "TASK");

	ret = ret ? ret : parse_task(p, "run", &b->run);
	if (!ret && b->run == rule->match.task)
		return fail(p, "T%u cannot go on instead of itself", b->run);
	if (ret || !is(p, "until"))
		return ret;
	ret = argument(p, "until");
	if (ret)
		return ret;
	if (is(p, "exit")) {
		b->until_exit = true;
		return next_word(p);
	}
	b->has_until = true;
	ret = parse_match(p, &rule->until, &b->until_nth);
	if (!ret && rule->until.task != SEARCH_NO_TASK && rule->until.task != b->run)
		return fail(p, "'until' takes T%u, the task that runs, or no task", b->run);
	rule->until.task = b->run;
	return ret;
}

/* 'value N', of an operation that asks for one. */
static int parse_value(struct parser *p, struct rule_before *b)
{
	double value;
	int ret = argument(p, "value");

	b->fault = ZUG_OP_CHOICE;
	ret = ret ? ret : parse_number(p, "value", 0, INT32_MAX, &value);
	b->amount = ret ? 0 : (uint32_t)value;
	return ret;
}

static int parse_let(struct parser *p, struct rule *rule)
{
	struct rule_before *b = &rule->before;
	int ret = parse_step(p, rule, "let", "get", "OUTCOME"), op;
	double amount;

	b->run = SEARCH_NO_TASK;
	ret = ret ? ret : argument(p, "get");
	if (ret)
		return ret;
	if (is(p, "timer"))
		return next_word(p);
	if (is(p, "value"))
		return parse_value(p, b);
	op = zug_op_by_name(p->word);
	if (op < 0 || !zug_op_is_fault((unsigned int)op))
		return fail(p, "unknown outcome '%s'; there are: fail-enospc fail-eintr fail-enomem "
			    "fail-refused killed short-write short-read lost reordered delayed spurious-wakeup timer value", p->word);
	b->fault = (uint16_t)op;
	ret = next_word(p);
	if (ret || p->word[0] < '0' || p->word[0] > '9')
		return ret;
	ret = parse_number(p, zug_op_name(b->fault), 1, UINT32_MAX, &amount);
	b->amount = ret ? 0 : (uint32_t)amount;
	return ret;
}

static int parse_rule(struct parser *p, struct rule *rule)
{
	int ret = rule->kind == RULE_BEFORE ? parse_before(p, rule)
		  : rule->kind == RULE_LET  ? parse_let(p, rule)
					    : next_word(p);

	rule->chance = 1;
	rule->tasks = rule->kind == RULE_TIME ? 1 : 2;
	rule->delay = 20;
	rule->fraction = 0.1;
	if (!ret && rule->kind != RULE_TIME && rule->kind < RULE_BEFORE)
		ret = parse_match(p, &rule->match, NULL);
	while (!ret && p->word[0]) {
		ret = rule->kind == RULE_HOLD ? parse_hold(p, rule) :
		      rule->kind == RULE_TIME || rule->kind == RULE_PLACE ? parse_random(p, rule) : 1;
		if (ret == 1)
			return fail(p, "'%s' is not expected here", p->word);
	}
	return ret;
}

static int open_group(struct parser *p, bool alternate)
{
	struct rules *r = p->r;

	if (p->group)
		return fail(p, "a group within a group");
	if (!ARRAY_RESERVE(r->groups, r->room_groups, r->nr_groups + 1))
		return -ENOMEM;
	r->groups[r->nr_groups++] = (struct rule_group){ .alternate = alternate };
	p->group = r->nr_groups;
	return next_word(p);
}

static int close_group(struct parser *p)
{
	if (!p->group)
		return fail(p, "'end' without 'alternate' or 'any'");
	if (!p->r->groups[p->group - 1].members)
		return fail(p, "nothing between '%s' and 'end'",
			    p->r->groups[p->group - 1].alternate ? "alternate" : "any");
	p->group = 0;
	return next_word(p);
}

static int keep_text(const struct parser *p, struct rule *rule)
{
	size_t n = p->at - p->start;

	while (n && strchr(" \t\r", p->start[n - 1]))
		n--;
	rule->before.text = strndup(p->start, n);
	return rule->before.text ? 0 : -ENOMEM;
}

static int add_rule(struct parser *p, enum rule_kind kind)
{
	struct rules *r = p->r;
	int ret;

	if (!ARRAY_RESERVE(r->rules, r->room, r->nr + 1))
		return -ENOMEM;
	r->rules[r->nr] = (struct rule){ .kind = kind, .group = p->group };
	if (p->group)
		r->rules[r->nr].member = r->groups[p->group - 1].members++;
	r->kinds |= kind <= RULE_SWITCH ? RULES_STAY : kind >= RULE_BEFORE ? RULES_SCRIPT : RULES_HOLD;
	ret = parse_rule(p, &r->rules[r->nr++]);
	if (!ret && kind >= RULE_BEFORE)
		ret = keep_text(p, &r->rules[r->nr - 1]);
	if (ret || !(r->rules[r->nr - 1].match.ordered || r->rules[r->nr - 1].until.ordered))
		return ret;
	/*
	 * Which accesses are ordered is learnt, so it changes between executions; an exhaustive
	 * search cannot have that.
	 */
	r->kinds |= RULES_HOLD;
	if (!r->clocks)
		r->clocks = vector_clocks_new();
	return r->clocks ? 0 : -ENOMEM;
}

static int parse_statement(struct parser *p)
{
	static const struct { const char *name; enum rule_kind kind; } kinds[] = {
		{ "stay", RULE_STAY }, { "switch", RULE_SWITCH }, { "hold", RULE_HOLD },
		{ "free", RULE_FREE }, { "random-time", RULE_TIME }, { "random-place", RULE_PLACE },
		{ "before", RULE_BEFORE }, { "let", RULE_LET },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (is(p, kinds[i].name))
			return add_rule(p, kinds[i].kind);
	if (is(p, "alternate"))
		return open_group(p, true);
	if (is(p, "any"))
		return open_group(p, false);
	if (is(p, "end"))
		return close_group(p);
	if (is(p, "strict")) {
		p->r->strict = true;
		p->r->kinds |= RULES_SCRIPT;
		return next_word(p);
	}
	return fail(p, "unknown statement '%s'; there are: stay switch hold free random-time "
		    "random-place alternate any end, and in scripts before let strict", p->word);
}

static int parse(struct parser *p)
{
	while (*p->at) {
		int ret;

		p->start = p->at += strspn(p->at, " \t\r");
		ret = next_word(p);
		if (!ret && p->word[0])
			ret = parse_statement(p);
		if (!ret && p->word[0])
			ret = fail(p, "'%s' is not expected here", p->word);
		if (ret)
			return ret;
		if (*p->at == '#')
			p->at += strcspn(p->at, "\n");
		p->line += *p->at == '\n';
		p->at += *p->at != '\0';
	}
	if (p->group)
		return fail(p, "'end' is missing");
	return 0;
}

struct rules *rules_parse(const char *text, const char *name, const struct search_names *names, char *err,
			  size_t errlen)
{
	struct rules *r = calloc(1, sizeof(*r));
	struct parser p = { .r = r, .name = name, .at = text, .line = 1, .err = err, .errlen = errlen };
	int ret = r ? parse(&p) : -ENOMEM;

	if (!ret) {
		if (names)
			r->names = *names;
		return r;
	}
	if (ret == -ENOMEM)
		strategy_message(err, errlen, "out of memory");
	rules_free(r);
	return NULL;
}
