/* SPDX-License-Identifier: GPL-2.0-only */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include "search/identity.h"
#include "search/rng.h"

enum { SIGNAL = 1, MESSAGE, EXIT, DEADLOCK, LIVELOCK, RACE, MISUSE };

#define FRAMES	3

static uint64_t finish(int kind, uint64_t h)
{
	h = mix64(h + (uint64_t)kind * 0x9e3779b97f4a7c15ull);
	return h ? h : 1;
}

uint64_t identity_signal(int signal, const uint64_t *sites, size_t nr)
{
	uint64_t h = (uint64_t)signal;

	for (size_t i = 0; i < nr && i < FRAMES; i++)
		h = mix64(h + sites[i]);
	return finish(SIGNAL, h);
}

/* True when a line number starts at s: "file.c:12" has a dot and letters before the colon. */
static bool is_line_number(const char *message, const char *s)
{
	const char *p = s;

	if (p == message || *--p != ':')
		return false;
	while (p > message && isalpha((unsigned char)p[-1]))
		p--;
	return p > message && p[-1] == '.';
}

uint64_t identity_message(const char *message)
{
	uint64_t h = 0;

	for (const char *s = message; *s;) {
		bool word = s > message && (isalnum((unsigned char)s[-1]) || s[-1] == '_');

		/* Digits that are part of a name are not a number. */
		if (!isdigit((unsigned char)*s) || word || is_line_number(message, s)) {
			h = mix64(h + (unsigned char)*s++);
			continue;
		}
		if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
			for (s += 2; isxdigit((unsigned char)*s);)
				s++;
		else
			while (isdigit((unsigned char)*s))
				s++;
		h = mix64(h + '#');
	}
	return finish(MESSAGE, h);
}

uint64_t identity_exit(int status, const char *why)
{
	return finish(EXIT, (uint64_t)status + (*why ? identity_message(why) : 0));
}

uint64_t identity_deadlock(const struct identity_wait *waits, size_t nr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += mix64(mix64(mix64(waits[i].site + 1) + waits[i].object) + waits[i].op);
	return finish(DEADLOCK, sum);
}

uint64_t identity_livelock(const uint64_t *sites, size_t nr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++) {
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = sites[k] == sites[i];
		if (!seen)
			sum += mix64(sites[i] + 1);
	}
	return finish(LIVELOCK, sum);
}

uint64_t identity_misuse(unsigned int rule, uint64_t site)
{
	return finish(MISUSE, mix64(site + 1) + rule);
}

uint64_t identity_race(uint64_t site_a, uint64_t site_b)
{
	return finish(RACE, mix64(site_a + 1) + mix64(site_b + 1));
}
