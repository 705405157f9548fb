/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * parse.c - "NAME[:arg=value,...]"
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "search/strategy.h"

/* Append to a message that may be cut, but is always terminated. */
__attribute__((format(printf, 3, 4)))
static void append(char *buf, size_t len, const char *fmt, ...)
{
	size_t used = strlen(buf);
	va_list ap;

	va_start(ap, fmt);
	if (used < len)
		vsnprintf(buf + used, len - used, fmt, ap);
	va_end(ap);
}

static const struct strategy_type *find_type(const char *name, size_t len, char *err,
					     size_t errlen)
{
	for (size_t i = 0; strategy_types[i]; i++) {
		const char *n = strategy_types[i]->info.name;

		if (strlen(n) == len && !memcmp(n, name, len))
			return strategy_types[i];
	}
	snprintf(err, errlen, "unknown strategy '%.*s'; there are:", (int)len, name);
	for (size_t i = 0; strategy_types[i]; i++)
		append(err, errlen, " %s", strategy_types[i]->info.name);
	return NULL;
}

static int find_param(const struct strategy_type *type, const char *name, size_t len, char *err,
		      size_t errlen)
{
	const struct strategy_param *p = type->params;
	const struct strategy_refusal *r = type->refused;

	for (int i = 0; p && p[i].name; i++)
		if (strlen(p[i].name) == len && !memcmp(p[i].name, name, len))
			return i;
	for (; r && r->param; r++) {
		if (strlen(r->param) == len && !memcmp(r->param, name, len)) {
			snprintf(err, errlen, "strategy %s refuses %s: %s", type->info.name,
				 r->param, r->why);
			return -EINVAL;
		}
	}
	snprintf(err, errlen, "strategy %s has no argument '%.*s'; it %s", type->info.name,
		 (int)len, name, p && p->name ? "has:" : "takes none");
	for (; p && p->name; p++)
		append(err, errlen, " %s", p->name);
	return -EINVAL;
}

static int parse_value(const struct strategy_type *type, const struct strategy_param *p,
		       const char *value, size_t len, int64_t *out, char *err, size_t errlen)
{
	bool yesno = p->min == 0 && p->max == 1;
	char buf[32], *end;

	if (yesno && len == 3 && !memcmp(value, "yes", 3)) {
		*out = 1;
		return 0;
	}
	if (yesno && len == 2 && !memcmp(value, "no", 2)) {
		*out = 0;
		return 0;
	}
	if (len && len < sizeof(buf)) {
		memcpy(buf, value, len);
		buf[len] = '\0';
		errno = 0;
		*out = strtoll(buf, &end, 10);
		if (!*end && !errno && buf[0] != ' ' && *out >= p->min && *out <= p->max)
			return 0;
	}
	if (yesno)
		snprintf(err, errlen, "%s:%s=%.*s: must be yes or no", type->info.name, p->name,
			 (int)len, value);
	else
		snprintf(err, errlen, "%s:%s=%.*s: must be a number from %" PRId64 " to %" PRId64,
			 type->info.name, p->name, (int)len, value, p->min, p->max);
	return -EINVAL;
}

const struct strategy_type *strategy_parse(const char *spec, int64_t *args, char *err,
					   size_t errlen)
{
	const struct strategy_type *type;
	size_t len;

	if (!spec)
		spec = strategy_types[0]->info.name;
	len = strcspn(spec, ":");
	type = find_type(spec, len, err, errlen);
	if (!type)
		return NULL;
	for (int i = 0; type->params && type->params[i].name; i++)
		args[i] = type->params[i].def;
	for (spec += len; *spec; spec += len) {
		size_t name;
		int i;

		spec++;
		len = strcspn(spec, ",");
		name = strcspn(spec, "=");
		if (name > len)
			name = len;
		i = find_param(type, spec, name, err, errlen);
		if (i < 0)
			return NULL;
		if (name == len) {
			snprintf(err, errlen, "%s:%.*s: a value is missing (%.*s=VALUE)",
				 type->info.name, (int)name, spec, (int)name, spec);
			return NULL;
		}
		if (parse_value(type, &type->params[i], spec + name + 1, len - name - 1, &args[i],
				err, errlen))
			return NULL;
	}
	return type;
}

void strategy_message(char *err, size_t errlen, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (err)
		vsnprintf(err, errlen, fmt, ap);
	va_end(ap);
}

void strategy_error(const struct search_env *env, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(env->err, env->errlen, fmt, ap);
	va_end(ap);
}

const struct search_strategy_info *search_strategy_info(unsigned int nr)
{
	for (unsigned int i = 0; strategy_types[i]; i++)
		if (i == nr)
			return &strategy_types[i]->info;
	return NULL;
}
