/* SPDX-License-Identifier: GPL-2.0-only */
/* json_text.h - strings of programs, paths and output, which need not be UTF-8, for JSON, which is */
#ifndef ZUG_JSON_TEXT_H
#define ZUG_JSON_TEXT_H

struct json_object;

/* What is no UTF-8 becomes U+FFFD. NULL for NULL, and without memory. */
struct json_object *json_text(const char *s);

#endif
