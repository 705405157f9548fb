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

/* What is inlined from a library is told by the program's line. */
static void place_text(const struct probe_module *m, uint64_t offset, char *buf, size_t len)
{
	struct trace_frame frames[16], f;
	int nr = m ? symfile_frames(m->file, offset, frames, 16) : 0, own;
	char function[256] = "?";
	const char *base;

	if (nr <= 0) {
		snprintf(buf, len, "%s+0x%lx", m ? strrchr(m->path, '/') + 1 : "?",
			 (unsigned long)offset);
		return;
	}
	own = symbols_own_frame(frames, nr);
	f = frames[own < 0 ? 0 : own];
	if (f.function)
		symbols_brief(f.function, function, sizeof(function));
	if (!f.file) {
		snprintf(buf, len, "%s (%s)", function, strrchr(m->path, '/') + 1);
		return;
	}
	base = strrchr(f.file, '/');
	snprintf(buf, len, "%s (%s:%u)", function, base ? base + 1 : f.file, f.line);
}

void session_place_text(const struct session *s, uint64_t site, char *buf, size_t len)
{
	uint64_t offset = 0;
	const struct probe_module *m = session_module_at(s, site, &offset);

	place_text(m, offset, buf, len);
}

/* What an instruction accesses through a pointer. */
static bool pointee_text(const struct probe_module *m, uint64_t offset, char *buf, size_t len)
{
	const struct code_place *p = m && m->code ? code_find(m->code, offset) : NULL;

	/* with an index it may be any element */
	return p && m->file && p->kind != CODE_BLOCK && p->kind != CODE_STRING &&
	       p->index == CODE_NO_REG &&
	       !symfile_pointee_name(m->file, offset, code_dwarf_register(p->base), p->disp, buf,
				     len);
}

bool session_member_text(const struct session *s, uint64_t site, char *buf, size_t len)
{
	uint64_t offset = 0;
	const struct probe_module *m = session_module_at(s, site, &offset);

	return pointee_text(m, offset, buf, len);
}

bool session_argument_text(const struct session *s, uint64_t site, char *buf, size_t len)
{
	uint64_t offset = 0;
	const struct probe_module *m = session_module_at(s, site, &offset);

	return m && m->file && !symfile_argument_name(m->file, offset, buf, len);
}

bool session_in_library(const struct session *s, uint64_t site)
{
	uint64_t offset = 0;
	const struct probe_module *m = session_module_at(s, site, &offset);
	struct trace_frame frames[16];
	int nr = m && m->file ? symfile_frames(m->file, offset, frames, 16) : 0;

	for (int i = 0; i < nr; i++)
		if (frames[i].file && symbols_is_source(frames[i].file) && !symbols_of_library(frames[i].file))
			return false;
	return nr > 0 && frames[0].line;
}

bool session_is_foreign(const void *session, uint64_t site)
{
	const struct session *s = session;
	uint64_t offset = 0;
	const struct probe_module *m = session_module_at(s, site, &offset);
	const struct place_site *at = m ? places_find_site(s->places, site) : NULL;

	if (!m || !m->file)
		return false;
	/* in a test of scripts and tools everything is the distribution's */
	if (probes_is_system(m->path) && strstr(m->path, ".so"))
		return true;
	return !probes_is_runtime(s->probes, at->module) && !probes_is_own(s->probes, at->module, offset);
}

bool session_is_users(const void *session, uint64_t site)
{
	const struct session *s = session;
	const struct place_site *at = places_find_site(s->places, site);

	return at && at->module < probes_nr_modules(s->probes) && probes_is_of_user(s->probes, at->module, at->offset);
}

/* The variable that an instruction accesses, or what it accesses through a pointer. */
static bool operand_text(const struct probe_module *m, uint64_t offset, char *buf, size_t len)
{
	const struct code_place *p = m && m->code ? code_find(m->code, offset) : NULL;
	const char *keeps;
	uint64_t vaddr;

	if (p && m->file && code_static_operand(m->code, p, &vaddr)) {
		keeps = p->kind == CODE_BLOCK ? symfile_linked(m->file, vaddr, code_keeps) : NULL;
		if (!keeps)
			return !symfile_data_name(m->file, vaddr, buf, len);
		snprintf(buf, len, "%s", keeps);
		return true;
	}
	return pointee_text(m, offset, buf, len);
}

void session_data_text(const struct session *s, uint64_t object, uint64_t site, char *buf,
		       size_t len)
{
	const struct place_object *po = places_find_object(s->places, object);

	if ((!po || !po->fixed) && session_member_text(s, site, buf, len))
		return;
	snprintf(buf, len, "%s", po && po->name ? po->name : "data");
}

int session_table_absent(const struct session *s, struct point_table *t, uint32_t module,
			 uint64_t offset, const char *why)
{
	const struct probe_module *m = probes_module(s->probes, module);
	char object[256] = "", place[256];

	if (!operand_text(m, offset, object, sizeof(object)))
		object[0] = 0;
	place_text(m, offset, place, sizeof(place));
	return point_table_add(t, &(struct point_row){ .object = object, .place = place, .why = why,
						      .code = point_table_code(module, offset) });
}
