/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * json_text.h - JSON as this project writes it, of texts that need not be UTF-8: names, paths,
 * output
 */
#ifndef ZUG_JSON_TEXT_H
#define ZUG_JSON_TEXT_H

#include <stdint.h>

struct json_object;

/*
 * A JSON string; bytes that are not valid UTF-8 become U+FFFD. NULL: s is NULL, or out of memory.
 */
struct json_object *json_text(const char *s);
/* Adds json_text(s) to the object, under that name. */
void json_add_text(struct json_object *o, const char *name, const char *s);
void json_add_number(struct json_object *o, const char *name, uint64_t v);
/* The value in one line, owned by it. */
const char *json_line(struct json_object *o);

#endif
