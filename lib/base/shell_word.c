/* SPDX-License-Identifier: GPL-2.0-only */
#include <string.h>
#include "lib/base/shell_word.h"

void shell_word_put(FILE *out, const char *s)
{
	if (*s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			     "%+,-./:=@_")]) {
		fputs(s, out);
		return;
	}
	putc('\'', out);
	for (const unsigned char *p = (const unsigned char *)s; *p;) {
		int n = control_bytes(p);

		if (n) {
			fputs("'$'", out);
			while (n--)
				fprintf(out, "\\x%02x", *p++);
			fputs("''", out);
		} else if (*p == '\'') {
			fputs("'\\''", out);
			p++;
		} else {
			putc(*p++, out);
		}
	}
	putc('\'', out);
}

void shell_words_put(FILE *out, char *const *words)
{
	for (; *words; words++) {
		putc(' ', out);
		shell_word_put(out, *words);
	}
}
