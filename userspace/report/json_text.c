// SPDX-License-Identifier: GPL-2.0-only
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include "report/json_text.h"

/* Length of the valid UTF-8 sequence at p; 0: there is none. */
static size_t utf8_length(const unsigned char *p)
{
	size_t n = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 : (*p & 0xf0) == 0xe0 ? 3 :
		   *p >= 0xf0 && *p < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] >= 0xa0) ||
	    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] >= 0x90))
		return 0;
	return n;
}

struct json_object *json_text(const char *s)
{
	struct json_object *o;
	char *buf, *out;

	if (!s)
		return NULL;
	buf = out = malloc(3 * strlen(s) + 1);
	if (!buf)
		return NULL;
	for (const unsigned char *p = (const unsigned char *)s; *p;) {
		size_t n = utf8_length(p);

		memcpy(out, n ? (const char *)p : "\xef\xbf\xbd", n ? n : 3);
		out += n ? n : 3;
		p += n ? n : 1;
	}
	*out = '\0';
	o = json_object_new_string(buf);
	free(buf);
	return o;
}

void json_add_text(struct json_object *o, const char *name, const char *s)
{
	json_object_object_add(o, name, json_text(s));
}

void json_add_number(struct json_object *o, const char *name, uint64_t v)
{
	json_object_object_add(o, name, json_object_new_uint64(v));
}

const char *json_line(struct json_object *o)
{
	return json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
					      JSON_C_TO_STRING_NOSLASHESCAPE);
}
