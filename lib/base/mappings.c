/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>
#include "lib/base/mappings.h"

bool mappings_open(struct mappings *ms, pid_t pid)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	*ms = (struct mappings){ .file = fopen(name, "re") };
	return ms->file;
}

bool mappings_next(struct mappings *ms, struct mapping *m)
{
	unsigned long start, end, offset, ino;
	unsigned int major, minor;
	char perm[8];
	int at;

	while (ms->file && getline(&ms->line, &ms->room, ms->file) > 0) {
		at = 0;
		ms->line[strcspn(ms->line, "\n")] = '\0';
		if (sscanf(ms->line, "%lx-%lx %7s %lx %x:%x %lu %n", &start, &end, perm, &offset, &major, &minor, &ino,
			   &at) != 7 || !at)
			continue;
		*m = (struct mapping){
			.start = start, .end = end, .offset = offset, .ino = ino, .dev = major << 20 | minor,
			.shared = perm[3] == 's', .executable = perm[2] == 'x', .path = ms->line + at,
		};
		return true;
	}
	return false;
}

bool mappings_find(struct mappings *ms, uint64_t addr, struct mapping *m)
{
	while (mappings_next(ms, m))
		if (addr >= m->start && addr < m->end)
			return true;
	return false;
}

void mappings_close(struct mappings *ms)
{
	if (ms->file)
		fclose(ms->file);
	free(ms->line);
	*ms = (struct mappings){ 0 };
}

bool mapping_is_loader(const struct mapping *m)
{
	const char *name = strrchr(m->path, '/');

	return name && !strncmp(name + 1, "ld-linux", 8);
}
