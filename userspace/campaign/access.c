/* SPDX-License-Identifier: GPL-2.0-only */
#include "campaign/access.h"

enum symsays access_says(const struct probe_module *mod, const struct code_place *p)
{
	enum symsays says = symfile_says_atomic(mod->file, p->offset);

	if (says == SYMSAYS_NOTHING)
		return says;
	/*
	 * copies, and more than a processor accesses at once, are no atomic accesses, whatever the
	 * line is about
	 */
	if (p->kind == CODE_STRING || p->kind == CODE_BLOCK)
		return SYMSAYS_PLAIN;
	if (says == SYMSAYS_UNKNOWN && (p->size > 16 || ((p->kind == CODE_RMW || p->size > 8) &&
							 symfile_by_gcc(mod->file, p->offset))))
		return SYMSAYS_PLAIN;
	return says;
}
