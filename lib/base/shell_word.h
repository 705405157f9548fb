/* SPDX-License-Identifier: GPL-2.0-only */
/* shell_word.h - words of a command, as a shell reads them */
#ifndef ZUG_SHELL_WORD_H
#define ZUG_SHELL_WORD_H

#include <stdio.h>

/*
 * Bytes of the C0 or C1 control character at p, 0: none. A program's escape sequences must not
 * reach our terminal.
 */
static inline int control_bytes(const unsigned char *p)
{
	if (*p < 0x20 || *p == 0x7f)
		return 1;
	return *p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0 ? 2 : 0;
}

/* Prints a word, in quotes where the shell needs them; control characters as bash's $'\x1b', safe for a terminal. */
void shell_word_put(FILE *out, const char *s);
/* The same for each word up to NULL, a space before each. */
void shell_words_put(FILE *out, char *const *words);

#endif
