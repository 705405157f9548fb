/* SPDX-License-Identifier: GPL-2.0-only */
#include <sys/mman.h>
#include <unistd.h>
#include "lib/base/mappings.h"
#include "lib/base/touch.h"

/* What is larger is hardly used as a whole. */
#define TOUCH_MOST (16u << 20)
/* The same of what can be written to: of a file's private mapping the kernel makes copies then, and a stack is empty mostly. */
#define TOUCH_FILE (512u << 10)
#define TOUCH_OWN (4u << 20)

void touch_memory(void)
{
	struct mappings ms;
	struct mapping m;

	mappings_open(&ms, getpid());
	while (mappings_next(&ms, &m)) {
		const size_t size = m.end - m.start;
		const bool file = m.path[0] == '/';

		if (m.shared || size > TOUCH_MOST || (!file && size > TOUCH_OWN))
			continue;
		/* that has no effect where it cannot be written to */
		if (m.executable || size > (file ? TOUCH_FILE : TOUCH_OWN) || madvise((void *)m.start, size, MADV_POPULATE_WRITE))
			madvise((void *)m.start, size, MADV_POPULATE_READ);
	}
	mappings_close(&ms);
}
