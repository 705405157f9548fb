// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_data.c - variables: from "accounts[3].lock" to an address, and back
 *
 * An index of all variables at fixed addresses is made from DWARF when one is first asked for.
 * symfile_variable() goes from a name into the parts of its type, symfile_data_name() from an
 * address; without DWARF both know the symbol table only.
 */
#include <ctype.h>
#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "symbols/sym_internal.h"

/* typedefs, const, volatile, _Atomic off; false: void or broken. */
bool sym_type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, type) &&
	       dwarf_peel_type(type, type) == 0;
}

uint64_t sym_type_size(Dwarf_Die *type)
{
	Dwarf_Word size;

	return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

bool sym_is_class(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* ---- the index ---- */

static bool fixed_address(Dwarf_Die *die, uint64_t *vaddr)
{
	Dwarf_Attribute attr, addr;
	Dwarf_Op *ops;
	size_t nr;
	Dwarf_Addr v;

	if (!dwarf_attr(die, DW_AT_location, &attr) || dwarf_getlocation(&attr, &ops, &nr) || nr != 1)
		return false;
	if (ops[0].atom == DW_OP_addr) {
		*vaddr = ops[0].number;
		return true;
	}
	if ((ops[0].atom != DW_OP_addrx && ops[0].atom != DW_OP_GNU_addr_index) ||
	    dwarf_getlocation_attr(&attr, &ops[0], &addr) || dwarf_formaddr(&addr, &v))
		return false;
	*vaddr = v;
	return true;
}

static void add_variable(struct symfile *f, Dwarf_Die *die)
{
	struct sym_variable v = { .die = *die };
	Dwarf_Die type;
	const struct sym *s;

	/* address 0: dropped by the linker */
	if (!fixed_address(die, &v.vaddr) || !v.vaddr)
		return;
	v.name = sym_die_name(f, die);
	if (!v.name ||
	    !ARRAY_RESERVE(f->variables, f->variables_size, f->nr_variables + 1))
		return;
	if (sym_type_of(die, &type))
		v.size = sym_type_size(&type);
	if (!v.size) {
		s = sym_at(f, v.vaddr, false);
		v.size = s ? s->size : 0;
	}
	v.file = dwarf_decl_file(die);
	dwarf_decl_line(die, &v.line);
	f->variables[f->nr_variables++] = v;
}

static void add_variables_in(struct symfile *f, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth > 64 || dwarf_child(parent, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
			add_variable(f, &die);
			break;
		case DW_TAG_namespace:
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
			add_variables_in(f, &die, depth + 1);
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

static int compare_variables(const void *a, const void *b)
{
	const struct sym_variable *x = a, *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void read_variables(struct symfile *f)
{
	size_t nr = 0;

	if (f->variables_read)
		return;
	f->variables_read = true;
	sym_read_cus(f);
	for (size_t i = 0; i < f->nr_cus; i++)
		add_variables_in(f, &f->cus[i], 0);
	if (!f->nr_variables)
		return;
	qsort(f->variables, f->nr_variables, sizeof(*f->variables), compare_variables);
	/* Inlined and cloned functions describe their static variables once each. */
	for (size_t i = 0; i < f->nr_variables; i++)
		if (!nr || compare_variables(&f->variables[nr - 1], &f->variables[i]))
			f->variables[nr++] = f->variables[i];
	f->nr_variables = nr;
}

void sym_data_free(struct symfile *f)
{
	free(f->variables);
	for (size_t i = 0; i < f->data_index.nr; i++)
		free(f->data_names[i]);
	free(f->data_names);
	id_map_free(&f->data_index);
}

/* ---- into the parts of a type ---- */

static bool member_offset(Dwarf_Die *member, uint64_t *offset)
{
	Dwarf_Attribute attr;
	Dwarf_Word v;

	*offset = 0;
	/* a static member has no place in the object; one of a union no need of an offset */
	if (dwarf_hasattr(member, DW_AT_external) || dwarf_hasattr(member, DW_AT_declaration))
		return false;
	if (dwarf_attr_integrate(member, DW_AT_data_bit_offset, &attr)) {
		if (dwarf_formudata(&attr, &v))
			return false;
		*offset = v / 8;
		return true;
	}
	if (!dwarf_attr_integrate(member, DW_AT_data_member_location, &attr))
		return true;
	/* a virtual base is found at run time only */
	if (dwarf_formudata(&attr, &v))
		return false;
	*offset = v;
	return true;
}

/* The member of that name, anonymous members and base classes searched as well. */
static bool find_member(Dwarf_Die *type, const char *name, size_t len, Dwarf_Die *found,
			uint64_t *offset, int depth)
{
	Dwarf_Die die, inner;
	uint64_t at;

	if (depth > 32 || !sym_is_class(type) || dwarf_child(type, &die))
		return false;
	do {
		int tag = dwarf_tag(&die);
		const char *n = tag == DW_TAG_member ? dwarf_diename(&die) : NULL;

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || !member_offset(&die, &at))
			continue;
		if (n && strlen(n) == len && !memcmp(n, name, len)) {
			*found = die;
			*offset += at;
			return true;
		}
		if (n || !sym_type_of(&die, &inner))
			continue;
		*offset += at;
		if (find_member(&inner, name, len, found, offset, depth + 1))
			return true;
		*offset -= at;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

/*
 * The element type of an array seen with its first skip dimensions indexed. Elements and the
 * number of them (0: unknown); *element_size is of what one index of that dimension steps over.
 */
bool sym_array_dimension(Dwarf_Die *type, int skip, Dwarf_Die *element, uint64_t *element_size,
			    uint64_t *count, bool *last)
{
	Dwarf_Die die;
	Dwarf_Attribute attr;
	Dwarf_Word v;
	int dim = 0;

	if (dwarf_tag(type) != DW_TAG_array_type || !sym_type_of(type, element))
		return false;
	*element_size = sym_type_size(element);
	*count = 0;
	*last = true;
	if (dwarf_child(type, &die))
		return false;
	do {
		uint64_t n = 0;

		if (dwarf_tag(&die) != DW_TAG_subrange_type)
			continue;
		if (!dwarf_formudata(dwarf_attr(&die, DW_AT_count, &attr), &v))
			n = v;
		else if (!dwarf_formudata(dwarf_attr(&die, DW_AT_upper_bound, &attr), &v))
			n = v + 1;
		if (dim == skip) {
			*count = n;
		} else if (dim > skip) {
			*element_size *= n;
			*last = false;
		}
		dim++;
	} while (dwarf_siblingof(&die, &die) == 0);
	return dim > skip && *element_size;
}

/* ---- expressions ---- */

struct place {
	uint64_t vaddr, size;
	bool typed;
	Dwarf_Die type;
	int dims;		/* of the array type that are indexed already */
};

static int follow(struct symfile *f, const char *expr, const char *rest, struct place *p,
		  char *err, size_t errlen)
{
	int done = rest - expr;

	if (*rest && !p->typed) {
		snprintf(err, errlen, "%s: no type of '%.*s' is known (built without -g?)", f->path,
			 done, expr);
		return -ENOENT;
	}
	while (*rest) {
		Dwarf_Die next;
		uint64_t at = 0, size, count;
		bool last;

		done = rest - expr;
		if (*rest == '.') {
			size_t n = strcspn(++rest, ".[");

			if (!sym_is_class(&p->type)) {
				snprintf(err, errlen, "%s: '%.*s' is %s and has no members", f->path, done,
					 expr, dwarf_tag(&p->type) == DW_TAG_pointer_type ?
					 "a pointer" : "not a structure");
				return -EINVAL;
			}
			if (!find_member(&p->type, rest, n, &next, &at, 0)) {
				snprintf(err, errlen, "%s: '%.*s' has no member '%.*s'", f->path, done,
					 expr, (int)n, rest);
				return -ENOENT;
			}
			p->vaddr += at;
			p->typed = sym_type_of(&next, &p->type);
			p->size = p->typed ? sym_type_size(&p->type) : 0;
			p->dims = 0;
			rest += n;
			continue;
		}
		char *end = (char *)rest;
		unsigned long long i = *rest == '[' && isdigit((unsigned char)rest[1]) ?
				       strtoull(rest + 1, &end, 0) : 0;

		if (*end != ']' || end == rest) {
			snprintf(err, errlen, "'%s': expected .MEMBER or [NUMBER] after '%.*s'", expr,
				 done, expr);
			return -EINVAL;
		}
		if (!sym_array_dimension(&p->type, p->dims, &next, &size, &count, &last)) {
			snprintf(err, errlen, "%s: '%.*s' is not an array", f->path, done, expr);
			return -EINVAL;
		}
		if (i >= count) {
			snprintf(err, errlen, "%s: '%.*s' has %llu elements, no [%llu]", f->path, done,
				 expr, (unsigned long long)count, i);
			return -ERANGE;
		}
		p->vaddr += i * size;
		p->size = size;
		if (last) {
			p->type = next;
			p->dims = 0;
		} else {
			p->dims++;
		}
		rest = end + 1;
	}
	return 0;
}

/* The part of a qualified name that follows the last ::, outside of template arguments. */
static const char *unqualified(const char *name)
{
	const char *best = name;
	int depth = 0;

	for (const char *p = name; *p; p++) {
		depth += (*p == '<') - (*p == '>');
		if (!depth && p[0] == ':' && p[1] == ':')
			best = p + 2;
	}
	return best;
}

static bool is_variable(const struct sym_variable *v, const char *name, size_t len,
			const char *file, size_t file_len, bool qualified)
{
	const char *n = qualified ? v->name : unqualified(v->name);
	size_t path;

	if (strlen(n) != len || memcmp(n, name, len))
		return false;
	if (!file_len)
		return true;
	path = v->file ? strlen(v->file) : 0;
	return path >= file_len && !memcmp(v->file + path - file_len, file, file_len) &&
	       (path == file_len || v->file[path - file_len - 1] == '/');
}

/* 1 found, 0 not, or -ENOTUNIQ with a line in err. */
static int find_variable(struct symfile *f, const char *name, size_t len, const char *file,
			 size_t file_len, struct place *p, char *err, size_t errlen)
{
	const struct sym_variable *found;
	size_t at = 0;

	for (int qualified = 1; qualified >= 0; qualified--) {
		found = NULL;
		for (size_t i = 0; i < f->nr_variables; i++) {
			const struct sym_variable *v = &f->variables[i];

			if (!is_variable(v, name, len, file, file_len, qualified) ||
			    (found && found->vaddr == v->vaddr))
				continue;
			if (found) {
				if (!at)
					at = snprintf(err, errlen, "'%.*s' is ambiguous: %s:%d",
						      (int)len, name, found->file ? found->file : "?",
						      found->line);
				if (at < errlen)
					at += snprintf(err + at, errlen - at, ", %s:%d",
						       v->file ? v->file : "?", v->line);
			} else {
				found = v;
			}
		}
		if (at) {
			if (at < errlen)
				snprintf(err + at, errlen - at, "; say which with FILE:%.*s", (int)len,
					 name);
			return -ENOTUNIQ;
		}
		if (found) {
			Dwarf_Die die = found->die;

			p->vaddr = found->vaddr;
			p->size = found->size;
			p->dims = 0;
			p->typed = sym_type_of(&die, &p->type);
			return 1;
		}
	}
	return 0;
}

bool sym_find_variable(struct symfile *f, const char *name, const char *file, Dwarf_Die *type, bool *typed,
		       uint64_t *vaddr, uint64_t *size, char *err, size_t errlen)
{
	struct place p = { 0 };
	int ret;

	read_variables(f);
	ret = find_variable(f, name, strlen(name), file ? file : "", file ? strlen(file) : 0, &p, err, errlen);
	if (ret < 1)
		return false;
	*type = p.type;
	*typed = p.typed;
	*vaddr = p.vaddr;
	*size = p.size;
	return true;
}

bool sym_find_member(Dwarf_Die *type, const char *name, Dwarf_Die *member, uint64_t *offset)
{
	*offset = 0;
	return find_member(type, name, strlen(name), member, offset, 0);
}

struct symbol_search {
	struct place *p;
	int nr;
};

static int take_symbol(const struct symdef *d, void *arg)
{
	struct symbol_search *s = arg;

	if (!d->is_object)
		return 0;
	if (s->nr && s->p->vaddr == d->vaddr)
		return 0;
	s->p->vaddr = d->vaddr;
	s->p->size = d->size;
	s->p->typed = false;
	s->nr++;
	return 0;
}

static bool is_thread_local(struct symfile *f, const char *name, size_t len)
{
	sym_read_symbols(f);
	for (size_t i = 0; i < f->nr_syms; i++) {
		const struct sym *s = &f->syms[i];

		if (s->type == STT_TLS && strlen(s->name) == len && !memcmp(s->name, name, len))
			return true;
	}
	return false;
}

int symfile_variable(struct symfile *f, const char *expr, uint64_t *vaddr, uint64_t *size,
		     char *err, size_t errlen)
{
	const char *colon = strchr(expr, ':'), *name = expr, *dot = strrchr(expr, '.');
	size_t file_len = 0, len;
	struct place p = { 0 };
	char near[200];
	int ret = 0;

	/* FILE:NAME; a :: belongs to the name, and a file has a dot in it */
	if (colon && colon[1] != ':' && dot) {
		name = colon + 1;
		file_len = colon - expr;
	}
	read_variables(f);
	/* Names hold dots themselves ("count.0"), so the longest that exists is taken. */
	for (len = strlen(name); len; len--) {
		char *whole;

		if (name[len] != '\0' && name[len] != '.' && name[len] != '[')
			continue;
		ret = find_variable(f, name, len, expr, file_len, &p, err, errlen);
		if (ret < 0)
			return ret;
		if (!ret && !file_len) {
			struct symbol_search s = { .p = &p };

			whole = strndup(name, len);
			if (!whole)
				return -ENOMEM;
			symfile_find(f, whole, take_symbol, &s);
			free(whole);
			if (s.nr > 1) {
				snprintf(err, errlen, "%s: '%.*s' is ambiguous: %d variables have that "
					 "name", f->path, (int)len, name, s.nr);
				return -ENOTUNIQ;
			}
			ret = s.nr;
		}
		if (ret)
			break;
	}
	if (!ret) {
		len = strcspn(name, ".[");
		if (is_thread_local(f, name, len)) {
			snprintf(err, errlen, "%s: '%.*s' is thread-local: every thread has its own",
				 f->path, (int)len, name);
			return -EINVAL;
		}
		char *whole = strndup(name, len);

		near[0] = '\0';
		if (whole)
			symfile_nearest(f, whole, false, near, sizeof(near));
		free(whole);
		snprintf(err, errlen, "%s: no variable '%.*s'%s%s%s", f->path, (int)len, name,
			 near[0] ? "; did you mean " : "", near, near[0] ? "?" : "");
		return -ENOENT;
	}
	ret = follow(f, expr, name + len, &p, err, errlen);
	if (ret)
		return ret;
	if (!p.size) {
		snprintf(err, errlen, "%s: the size of '%s' is not known", f->path, expr);
		return -EINVAL;
	}
	*vaddr = p.vaddr;
	*size = p.size;
	return 0;
}

/* ---- from address to name ---- */

/* The inside of the standard libraries' types is theirs: a mutex is a mutex, not its futex word. */
static bool is_private_type(Dwarf_Die *type)
{
	Dwarf_Die *scopes;
	bool private = false;
	int nr;

	if (sym_language(type) != DW_LANG_Rust)
		return false;
	nr = dwarf_getscopes_die(type, &scopes);
	for (int i = nr - 1; i > 0; i--) {
		const char *name = dwarf_diename(&scopes[i]);

		if (dwarf_tag(&scopes[i]) != DW_TAG_namespace)
			continue;
		private = name && (!strcmp(name, "core") || !strcmp(name, "std") ||
				   !strcmp(name, "alloc"));
		break;
	}
	if (nr > 0)
		free(scopes);
	return private;
}

/* The member (or base) that holds offset at; its own offset is taken off. */
static bool member_at(Dwarf_Die *type, uint64_t *at, Dwarf_Die *found)
{
	Dwarf_Die die, inner;
	uint64_t offset, size;

	if (dwarf_child(type, &die))
		return false;
	do {
		int tag = dwarf_tag(&die);

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    !member_offset(&die, &offset) || !sym_type_of(&die, &inner))
			continue;
		size = sym_type_size(&inner);
		if (*at >= offset && *at - offset < size) {
			*at -= offset;
			*found = die;
			return true;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

void sym_name_inside(Dwarf_Die *type, uint64_t at, char *buf, size_t len)
{
	size_t n = strlen(buf);
	Dwarf_Die next;

	for (int depth = 0; depth < 32 && n < len; depth++) {
		if (sym_is_class(type) && !is_private_type(type)) {
			uint64_t inner = at;
			const char *name;

			if (!member_at(type, &inner, &next))
				break;
			name = dwarf_tag(&next) == DW_TAG_member ? dwarf_diename(&next) : NULL;
			/* reserved names: the inside of pthread_mutex_t, std::mutex, std::atomic */
			if (name && (!strncmp(name, "__", 2) || !strncmp(name, "_M_", 3)))
				break;
			if (name)
				n += snprintf(buf + n, len - n, ".%s", name);
			at = inner;
			if (!sym_type_of(&next, type))
				break;
		} else if (dwarf_tag(type) == DW_TAG_array_type) {
			bool last = false;
			uint64_t size, count;

			for (int dim = 0; !last && n < len; dim++) {
				if (!sym_array_dimension(type, dim, &next, &size, &count, &last))
					break;
				n += snprintf(buf + n, len - n, "[%llu]",
					      (unsigned long long)(at / size));
				at %= size;
			}
			if (!last)
				break;
			*type = next;
		} else {
			break;
		}
	}
	if (at && n < len)
		snprintf(buf + n, len - n, "+0x%llx", (unsigned long long)at);
}

/* True when its type is _Atomic, directly or by typedefs. */
static bool is_atomic(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die type = *die;

	while (dwarf_attr_integrate(&type, DW_AT_type, &attr) && dwarf_formref_die(&attr, &type)) {
		int tag = dwarf_tag(&type);

		if (tag == DW_TAG_atomic_type)
			return true;
		if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type)
			return false;
	}
	return false;
}

bool sym_atomic_inside(Dwarf_Die *die, uint64_t at)
{
	Dwarf_Die typed = *die, type, element;

	for (int depth = 0; depth < 32; depth++) {
		uint64_t size;

		if (is_atomic(&typed))
			return true;
		if (!sym_type_of(&typed, &type))
			return false;
		if (sym_is_class(&type)) {
			if (!member_at(&type, &at, &typed))
				return false;
			continue;
		}
		if (dwarf_tag(&type) != DW_TAG_array_type || !sym_type_of(&type, &element))
			return false;
		size = sym_type_size(&element);
		at = size ? at % size : at;
		typed = type;
	}
	return false;
}

const struct sym_variable *sym_variable_at(struct symfile *f, uint64_t vaddr)
{
	size_t lo;

	read_variables(f);
	lo = ARRAY_FROM(f->nr_variables, i, f->variables[i].vaddr <= vaddr);
	if (!lo || vaddr - f->variables[lo - 1].vaddr >= (f->variables[lo - 1].size ? f->variables[lo - 1].size : 1))
		return NULL;
	return &f->variables[lo - 1];
}

bool symfile_is_atomic(struct symfile *f, uint64_t vaddr)
{
	const struct sym_variable *v = sym_variable_at(f, vaddr);
	Dwarf_Die die;

	if (!v)
		return false;
	die = v->die;
	return sym_atomic_inside(&die, vaddr - v->vaddr);
}

bool symfile_is_constant(const struct symfile *f, uint64_t vaddr)
{
	for (size_t i = 0; i < f->nr_phdrs; i++) {
		const GElf_Phdr *p = &f->phdrs[i];

		if (p->p_type == PT_LOAD && vaddr - p->p_vaddr < p->p_memsz)
			return !(p->p_flags & PF_W);
	}
	return false;
}

static int find_data_name(struct symfile *f, uint64_t vaddr, char *buf, size_t len)
{
	const struct sym_variable *v;
	const struct sym *s;
	char *demangled;
	Dwarf_Die type, die;

	/* reading the variables of the C library takes longer than a small test does */
	s = symfile_of_system(f) ? sym_at(f, vaddr, false) : NULL;
	if (s && s->vaddr == vaddr)
		goto symbol;
	v = sym_variable_at(f, vaddr);
	if (v) {
		die = v->die;
		snprintf(buf, len, "%s", v->name);
		if (sym_type_of(&die, &type))
			sym_name_inside(&type, vaddr - v->vaddr, buf, len);
		else if (vaddr != v->vaddr && strlen(buf) < len)
			snprintf(buf + strlen(buf), len - strlen(buf), "+0x%llx",
				 (unsigned long long)(vaddr - v->vaddr));
		return 0;
	}
	s = sym_at(f, vaddr, false);
	if (!s)
		return -ENOENT;
symbol:
	demangled = symbols_demangle(s->name);
	if (demangled)
		symbols_brief(demangled, buf, len);
	else
		snprintf(buf, len, "%s", s->name);
	free(demangled);
	if (vaddr != s->vaddr && strlen(buf) < len)
		snprintf(buf + strlen(buf), len - strlen(buf), "+0x%llx",
			 (unsigned long long)(vaddr - s->vaddr));
	return 0;
}

/* Names that are kept, so that an execution need not make those of the last one again. */
#define NAMES_KEPT 65536

static void keep_data_name(struct symfile *f, uint64_t vaddr, const char *name)
{
	size_t nr = f->data_index.nr;
	char *copy;

	if (nr == NAMES_KEPT || !ARRAY_RESERVE(f->data_names, f->data_names_size, nr + 1))
		return;
	copy = strdup(name);
	if (copy && id_map_add(&f->data_index, vaddr, nr, NULL))
		f->data_names[nr] = copy;
	else
		free(copy);
}

int symfile_data_name(struct symfile *f, uint64_t vaddr, char *buf, size_t len)
{
	const uint32_t *known = id_map_find(&f->data_index, vaddr);
	int ret;

	if (known && strlen(f->data_names[*known]) < len) {
		strcpy(buf, f->data_names[*known]);
		return 0;
	}
	ret = find_data_name(f, vaddr, buf, len);
	/* one that fills the buffer may be cut */
	if (!ret && !known && strlen(buf) + 1 < len)
		keep_data_name(f, vaddr, buf);
	return ret;
}
