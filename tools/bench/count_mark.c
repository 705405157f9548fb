/* SPDX-License-Identifier: GPL-2.0-only */
/* count_mark.c - has the emulator write down its counts (count.c) */
#include "count_mark.h"

#define TEXT(...)	#__VA_ARGS__
#define TEXT_OF(...)	TEXT(__VA_ARGS__)

int main(void)
{
	__asm__ volatile(".byte " TEXT_OF(COUNT_MARK));
	return 0;
}
