/* SPDX-License-Identifier: GPL-2.0-only */
/* Names for places of the test's code, for notes and data races. */
#include <stdio.h>
#include <string.h>
#include "campaign/session.h"

const struct probe_module *session_module_at(const struct session *s, uint64_t site,
					     uint64_t *offset)
{
	const struct place_site *at = places_find_site(s->places, site);

	if (!at || at->module >= probes_nr_modules(s->probes))
		return NULL;
	*offset = at->offset;
	return probes_module(s->probes, at->module);
}

void session_place_text(const struct session *s, uint64_t site, char *buf, size_t len)
{
	struct trace_frame f;
	uint64_t offset = 0;
	const struct probe_module *m = session_module_at(s, site, &offset);
	const char *base;

	if (!m || symfile_frames(m->file, offset, &f, 1) <= 0) {
		snprintf(buf, len, "%s+0x%lx", m ? strrchr(m->path, '/') + 1 : "?",
			 (unsigned long)offset);
		return;
	}
	if (!f.file) {
		snprintf(buf, len, "%s (%s)", f.function ? f.function : "?",
			 strrchr(m->path, '/') + 1);
		return;
	}
	base = strrchr(f.file, '/');
	snprintf(buf, len, "%s (%s:%u)", f.function ? f.function : "?", base ? base + 1 : f.file,
		 f.line);
}

bool session_member_text(const struct session *s, uint64_t site, char *buf, size_t len)
{
	uint64_t offset = 0;
	const struct probe_module *m = session_module_at(s, site, &offset);
	const struct code_place *p = m && m->code ? code_find(m->code, offset) : NULL;

	/* with an index it may be any element */
	return p && m->file && p->kind != CODE_BLOCK && p->kind != CODE_STRING &&
	       p->index == CODE_NO_REG &&
	       !symfile_pointee_name(m->file, offset, code_dwarf_register(p->base), p->disp, buf,
				     len);
}
