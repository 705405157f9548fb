/* SPDX-License-Identifier: GPL-2.0-only */
#include <sys/mman.h>
#include <unistd.h>
#include "lib/base/mappings.h"
#include "lib/base/touch.h"

/* What is larger is hardly used as a whole. */
#define TOUCH_MOST (16u << 20)

void touch_memory(void)
{
	struct mappings ms;
	struct mapping m;

	mappings_open(&ms, getpid());
	while (mappings_next(&ms, &m)) {
		if (m.shared || m.end - m.start > TOUCH_MOST)
			continue;
		/* to be written to: that has no effect where it cannot be */
		if (m.executable || madvise((void *)m.start, m.end - m.start, MADV_POPULATE_WRITE))
			madvise((void *)m.start, m.end - m.start, MADV_POPULATE_READ);
	}
	mappings_close(&ms);
}
