// SPDX-License-Identifier: GPL-2.0-only
/*
 * sym_lines.c - source positions of code, both ways, from DWARF
 *
 * symfile_frames() goes from code to source: the unit by its ranges, the function and what is
 * inlined there by scopes, the line by the unit's line table; its answers are kept. symfile_line()
 * goes from FILE:LINE to code.
 */
#include <dwarf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "symbols/sym_internal.h"

static int compare_ranges(const void *a, const void *b)
{
	const struct cu_range *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* .debug_aranges would be quicker, but clang and rustc leave it out. */
void sym_read_cus(struct symfile *f)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	uint8_t unit;
	Dwarf_Die die, sub;

	if (f->cus_read)
		return;
	f->cus_read = true;
	sym_read_debug(f);
	if (!f->dwarf)
		return;
	while (dwarf_get_units(f->dwarf, cu, &cu, &version, &unit, &die, &sub) == 0) {
		Dwarf_Addr base, lo, hi;
		ptrdiff_t at = 0;

		if (unit != DW_UT_compile && unit != DW_UT_skeleton)
			continue;
		if (dwarf_tag(&die) != DW_TAG_compile_unit &&
		    dwarf_tag(&die) != DW_TAG_skeleton_unit)
			continue;
		if (!ARRAY_RESERVE(f->cus, f->cus_size, f->nr_cus + 1))
			return;
		f->cus[f->nr_cus] = unit == DW_UT_skeleton && sub.addr ? sub : die;
		while ((at = dwarf_ranges(&die, at, &base, &lo, &hi)) > 0) {
			/* code the linker dropped stays described, at address 0 */
			if (!lo || lo >= hi)
				continue;
			if (!ARRAY_RESERVE(f->ranges, f->ranges_size, f->nr_ranges + 1))
				return;
			f->ranges[f->nr_ranges++] = (struct cu_range){ lo, hi, f->nr_cus };
		}
		f->nr_cus++;
	}
	if (f->nr_ranges)
		qsort(f->ranges, f->nr_ranges, sizeof(*f->ranges), compare_ranges);
}

void sym_lines_free(struct symfile *f)
{
	for (size_t i = 0; i < f->nr_frames; i++)
		free(f->frames[i].frames);
	free(f->frames);
	free(f->kept_names);
	free(f->names);
	id_map_free(&f->frames_of);
	id_map_free(&f->name_of);
	free(f->functions);
	free(f->cus_functions);
	free(f->ranges);
	free(f->cus);
}

Dwarf_Die *sym_cu_at(struct symfile *f, uint64_t vaddr)
{
	size_t lo;

	sym_read_cus(f);
	lo = ARRAY_FROM(f->nr_ranges, i, f->ranges[i].lo <= vaddr);
	return lo && vaddr < f->ranges[lo - 1].hi ? &f->cus[f->ranges[lo - 1].cu] : NULL;
}

/* ---- names ---- */

int sym_language(Dwarf_Die *die)
{
	Dwarf_Die cu;

	return dwarf_diecu(die, &cu, NULL, NULL) ? dwarf_srclang(&cu) : -1;
}

/* True when the language has namespaces, or functions in types. */
static bool has_scopes(int language)
{
	switch (language) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Go:
	case DW_LANG_Mips_Assembler:
		return false;
	default:
		return true;
	}
}

/* namespace::class:: in front of the name of a DIE without a linkage name. */
static void add_scopes(Dwarf_Die *die, char *buf, size_t len)
{
	Dwarf_Die *scopes;
	int nr = dwarf_getscopes_die(die, &scopes);
	size_t at = 0;

	buf[0] = '\0';
	for (int i = nr - 1; i > 0; i--) {
		int tag = dwarf_tag(&scopes[i]);
		const char *name;

		if (tag != DW_TAG_namespace && tag != DW_TAG_class_type &&
		    tag != DW_TAG_structure_type)
			continue;
		name = dwarf_diename(&scopes[i]);
		at += snprintf(buf + at, len - at, "%s::", name ? name : "(anonymous namespace)");
		if (at >= len)
			break;
	}
	if (nr > 0)
		free(scopes);
}

const char *sym_die_name(struct symfile *f, Dwarf_Die *die)
{
	Dwarf_Attribute attr, *link;
	Dwarf_Die origin = *die, next;
	char buf[2048], scopes[1024];
	const uint32_t *known;
	const char *name;
	char *demangled;

	link = dwarf_attr_integrate(die, DW_AT_linkage_name, &attr);
	if (!link)
		link = dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr);
	name = dwarf_formstring(link);
	demangled = name ? symbols_demangle(name) : NULL;
	if (demangled) {
		name = sym_string(&f->strings, demangled);
		free(demangled);
		return name;
	}
	name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attr));
	if (!name)
		return NULL;
	/* to find the scopes libdw walks through the unit from its begin */
	if (!has_scopes(sym_language(die)))
		return name;
	/* The name's scopes are those of the first declaration. */
	while (dwarf_attr(&origin, DW_AT_abstract_origin, &attr) ||
	       dwarf_attr(&origin, DW_AT_specification, &attr)) {
		if (!dwarf_formref_die(&attr, &next))
			break;
		origin = next;
	}
	known = id_map_find(&f->name_of, (uintptr_t)origin.addr);
	if (known)
		return f->names[*known];
	add_scopes(&origin, scopes, sizeof(scopes));
	snprintf(buf, sizeof(buf), "%s%s", scopes, name);
	name = sym_string(&f->strings, buf);
	if (name && ARRAY_RESERVE(f->names, f->names_size, f->nr_names + 1) &&
	    id_map_add(&f->name_of, (uintptr_t)origin.addr, f->nr_names, NULL))
		f->names[f->nr_names++] = name;
	return name;
}

/* ---- from code to source ---- */

#define SCOPES_MAX 128

static int frames_from_symbol(struct symfile *f, uint64_t vaddr, struct trace_frame *frames)
{
	const struct sym *s = sym_at(f, vaddr, true);
	char *demangled;

	if (!s)
		return 0;
	demangled = symbols_demangle(s->name);
	frames[0] = (struct trace_frame){
		.function = demangled ? sym_string(&f->strings, demangled) : s->name,
	};
	free(demangled);
	return 1;
}

/* The compiler was told "src/x.c", in some folder: the full path is needed to find it later. */
static const char *in_build_folder(struct symfile *f, Dwarf_Die *cu, const char *file)
{
	Dwarf_Attribute attr;
	const char *folder;
	char path[4096];

	if (!file || file[0] == '/')
		return file;
	folder = dwarf_formstring(dwarf_attr(cu, DW_AT_comp_dir, &attr));
	while (!strncmp(file, "./", 2))
		file += 2;
	if (!folder || folder[0] != '/')
		return file;
	snprintf(path, sizeof(path), "%s/%s", folder, file);
	return sym_string(&f->strings, path);
}

static int compare_functions(const void *a, const void *b)
{
	const struct sym_function *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/*
 * The functions of a unit or scope, without what lies within functions. (libdw's own search looks into no namespace, where
 * rustc puts all of them, and reads the whole unit each time when the compiler left the links to siblings out, as LLVM.)
 */
static void add_functions(struct symfile *f, Dwarf_Die *scope, int depth)
{
	Dwarf_Addr base, lo, hi;
	Dwarf_Die child;
	ptrdiff_t at;

	if (depth == SCOPES_MAX || dwarf_child(scope, &child))
		return;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			at = 0;
			while ((at = dwarf_ranges(&child, at, &base, &lo, &hi)) > 0) {
				if (!ARRAY_RESERVE(f->functions, f->functions_size, f->nr_functions + 1))
					return;
				if (lo && lo < hi)
					f->functions[f->nr_functions++] = (struct sym_function){ lo, hi, child };
			}
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_enumeration_type:
			add_functions(f, &child, depth + 1);
			break;
		}
	} while (!dwarf_siblingof(&child, &child));
}

static struct sym_function *function_at(struct symfile *f, Dwarf_Die *cu, uint64_t vaddr)
{
	size_t lo;

	if (!f->cus_functions) {
		f->cus_functions = calloc(f->nr_cus, sizeof(*f->cus_functions));
		if (!f->cus_functions)
			return NULL;
	}
	if (!f->cus_functions[cu - f->cus]) {
		f->cus_functions[cu - f->cus] = true;
		add_functions(f, cu, 0);
		if (f->nr_functions)
			qsort(f->functions, f->nr_functions, sizeof(*f->functions), compare_functions);
	}
	lo = ARRAY_FROM(f->nr_functions, i, f->functions[i].lo <= vaddr);
	return lo && vaddr < f->functions[lo - 1].hi ? &f->functions[lo - 1] : NULL;
}

/* The scopes with code at vaddr below a function, innermost first; their number. */
static int scopes_in(Dwarf_Die *die, uint64_t vaddr, Dwarf_Die *scopes, int max)
{
	Dwarf_Die child;
	int nr, tag;

	if (max <= 0 || dwarf_child(die, &child))
		return 0;
	do {
		tag = dwarf_tag(&child);
		if ((tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) ||
		    dwarf_haspc(&child, vaddr) <= 0)
			continue;
		nr = scopes_in(&child, vaddr, scopes, max - 1);
		scopes[nr++] = child;
		return nr;
	} while (!dwarf_siblingof(&child, &child));
	return 0;
}

static int find_frames(struct symfile *f, uint64_t vaddr, struct trace_frame *frames)
{
	Dwarf_Die *cu = sym_cu_at(f, vaddr), *scopes, die;
	Dwarf_Line *line;
	const char *file = NULL;
	Dwarf_Files *files;
	int lineno = 0, nr = 0, nr_scopes;
	size_t nr_files;
	struct sym_function *function;

	if (!cu)
		return frames_from_symbol(f, vaddr, frames);
	line = dwarf_getsrc_die(cu, vaddr);
	if (line) {
		file = in_build_folder(f, cu, dwarf_linesrc(line, NULL, NULL));
		dwarf_lineno(line, &lineno);
	}
	if (dwarf_getsrcfiles(cu, &files, &nr_files))
		nr_files = 0;
	function = function_at(f, cu, vaddr);
	if (function) {
		scopes = calloc(SCOPES_MAX, sizeof(*scopes));
		nr_scopes = scopes ? scopes_in(&function->die, vaddr, scopes, SCOPES_MAX - 1) : 0;
		if (scopes)
			scopes[nr_scopes++] = function->die;
	} else {
		/*
		 * A function within a function, maybe. dwarf_getscopes() leaves the inlined instance for its
		 * abstract origin on the way out; dwarf_getscopes_die() of the innermost scope gives the
		 * instances as they are nested.
		 */
		nr_scopes = dwarf_getscopes(cu, vaddr, &scopes);
		if (nr_scopes > 0) {
			die = scopes[0];
			free(scopes);
			nr_scopes = dwarf_getscopes_die(&die, &scopes);
		}
	}
	for (int i = 0; i < nr_scopes && nr < SYM_FRAMES_MAX; i++) {
		int tag = dwarf_tag(&scopes[i]);
		bool inlined = tag == DW_TAG_inlined_subroutine;
		Dwarf_Attribute attr;
		Dwarf_Word v;

		if (!inlined && tag != DW_TAG_subprogram)
			continue;
		frames[nr++] = (struct trace_frame){
			.function = sym_die_name(f, &scopes[i]),
			.file = file, .line = lineno, .inlined = inlined,
		};
		if (!inlined)
			break;
		file = NULL;
		lineno = 0;
		if (!dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_file, &attr), &v) &&
		    v < nr_files)
			file = in_build_folder(f, cu, dwarf_filesrc(files, v, NULL, NULL));
		if (!dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_line, &attr), &v) &&
		    v <= INT_MAX)
			lineno = v;
	}
	if (nr_scopes > 0)
		free(scopes);
	if (nr)
		return nr;
	nr = frames_from_symbol(f, vaddr, frames);
	if (nr || file) {
		if (!nr)
			frames[nr++] = (struct trace_frame){ 0 };
		frames[0].file = file;
		frames[0].line = lineno;
	}
	return nr;
}

int sym_add_frames(struct symfile *f, uint64_t offset, const struct trace_frame *frames, int nr)
{
	struct frames_entry e = { .nr = nr, .frames = malloc((nr ? nr : 1) * sizeof(*frames)) };

	if (!e.frames || !ARRAY_RESERVE(f->frames, f->frames_size, f->nr_frames + 1) ||
	    !id_map_add(&f->frames_of, offset, f->nr_frames, NULL)) {
		free(e.frames);
		return -ENOMEM;
	}
	memcpy(e.frames, frames, nr * sizeof(*frames));
	e.offset = offset;
	f->frames[f->nr_frames++] = e;
	return 0;
}

int symfile_frames(struct symfile *f, uint64_t offset, struct trace_frame *frames, int max)
{
	struct trace_frame found[SYM_FRAMES_MAX];
	const struct frames_entry *e;
	const uint32_t *known;
	uint64_t vaddr;

	sym_kept_read(f);
	/* Names are made on every look-up and live as long as f: the same ones are asked for often. */
	known = id_map_find(&f->frames_of, offset);
	if (!known) {
		vaddr = symfile_vaddr_of(f, offset);
		if (vaddr == UINT64_MAX)
			return -ENOENT;
		if (sym_add_frames(f, offset, found, find_frames(f, vaddr, found)))
			return -ENOMEM;
		known = id_map_find(&f->frames_of, offset);
	}
	e = &f->frames[*known];
	if (max > e->nr)
		max = e->nr;
	memcpy(frames, e->frames, max * sizeof(*frames));
	return max;
}

/* Go's own packages: .../go1.22/src/sync/mutex.go, or, with -trimpath, sync/mutex.go. */
static bool is_go_library(const char *file)
{
	static const char *const packages[] = {
		"archive", "bufio", "bytes", "cmp", "compress", "container", "context", "crypto", "database", "debug",
		"embed", "encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html", "image", "index", "internal",
		"io", "iter", "log", "maps", "math", "mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime",
		"slices", "sort", "strconv", "strings", "structs", "sync", "syscall", "testing", "text", "time", "unicode",
		"unique", "unsafe", "vendor", "weak",
	};
	const char *end = strrchr(file, '.'), *src = strstr(file, "/src/"), *go = src;
	size_t n;

	if (!end || (strcmp(end, ".go") && strcmp(end, ".s")))
		return false;
	if (file[0] == '/') {
		while (go && go > file && go[-1] != '/')
			go--;
		if (!src || strncmp(go, "go", 2) || !strchr("/-0123456789", go[2]))
			return false;
		file = src + 5;
	}
	n = strcspn(file, "/");
	for (size_t i = 0; file[n] && i < sizeof(packages) / sizeof(packages[0]); i++)
		if (strlen(packages[i]) == n && !strncmp(file, packages[i], n))
			return true;
	return false;
}

bool symbols_of_language(const char *file)
{
	/*
	 * what Rust's library is made of beside its own sources, such as its reader of debug information, is below
	 * /rust/deps
	 */
	return !strncmp(file, "/rustc/", 7) || !strncmp(file, "/rust/deps/", 11) || !strncmp(file, "/usr/src/rustc-", 15) ||
	       strstr(file, "/rustlib/src/") || is_go_library(file);
}

bool symbols_is_source(const char *file)
{
	const char *slash = strrchr(file, '/');

	return (slash ? slash[1] : file[0]) != '<';
}

/* musl's start files have debug information. */
static bool is_start_file(const char *file)
{
	static const char *const names[] = { "crt/crt1.c", "crt/Scrt1.c", "crt/rcrt1.c" };
	size_t n = strlen(file);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t m = strlen(names[i]);

		if (n >= m && !strcmp(file + n - m, names[i]) && (n == m || file[n - m - 1] == '/'))
			return true;
	}
	return false;
}

bool symbols_of_jar(const char *file)
{
	return file && strstr(file, ".jar/");
}

/* A class of the JDK, by the names that it keeps for its own packages. */
static bool is_of_jdk(const char *file)
{
	static const char *const packages[] = { "java/", "javax/", "jdk/", "sun/", "com/sun/" };
	size_t n = strlen(file);

	for (size_t i = 0; n > 5 && !strcmp(file + n - 5, ".java") && i < sizeof(packages) / sizeof(packages[0]); i++)
		if (!strncmp(file, packages[i], strlen(packages[i])))
			return true;
	return false;
}

bool symbols_of_library(const char *file)
{
	static const char *const folders[] = { "/usr/include/", "/usr/lib/", "/usr/src/debug/", "/usr/share/go",
					       "/usr/local/go/", "../sysdeps/",
					       /* glibc's own, which name their folders from the top of its sources */
					       "./nptl/", "nptl/", "./csu/", "csu/", "../csu/", "./libio/", "libio/", "./stdio-common/",
					       "stdio-common/" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (!strncmp(file, folders[i], strlen(folders[i])))
			return true;
	/*
	 * compilers that lie elsewhere (/opt, a container's root), headers as clang finds them ("/usr/bin/../lib/gcc/..."),
	 * and the distribution's packages of Python where its root is mounted elsewhere
	 */
	return symbols_of_language(file) || is_start_file(file) || strstr(file, "/usr/include/") ||
	       strstr(file, "/include/c++/") || strstr(file, "/lib/gcc/") || strstr(file, "/lib/clang/") ||
	       strstr(file, "/lib/python3.") || strstr(file, "/lib/python3/dist-packages/") || is_of_jdk(file) ||
	       symbols_of_jar(file);
}

int symbols_own_frame(const struct trace_frame *frames, int nr)
{
	for (int i = 0; i < nr; i++)
		if (frames[i].file && frames[i].line && symbols_is_source(frames[i].file) &&
		    !symbols_of_library(frames[i].file))
			return i;
	return -1;
}

bool symbols_is_atomic(const struct trace_frame *frame)
{
	static const char atomic[] = "java.util.concurrent.atomic.";

	return frame->function && !strncmp(frame->function, atomic, sizeof(atomic) - 1);
}

bool symbols_only_reads(const struct trace_frame *frame)
{
	const char *name = frame->function ? strrchr(frame->function, '.') : NULL;

	return name && symbols_is_atomic(frame) && !strncmp(name, ".get", 4) && !strstr(name, "And");
}

bool symbols_serves_threads(const struct trace_frame *frame)
{
	static const char concurrent[] = "java.util.concurrent.";

	return frame->function && !strncmp(frame->function, concurrent, sizeof(concurrent) - 1);
}

bool symbols_may_access(const struct trace_frame *frame)
{
	/* formats and buffers keep state between calls */
	static const char *const classes[] = { "java.util.", "java.text.", "java.nio.", "java.lang.StringBuilder.",
					       "java.lang.AbstractStringBuilder." };

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]) && frame->function; i++)
		if (!strncmp(frame->function, classes[i], strlen(classes[i])))
			return !symbols_serves_threads(frame);
	return false;
}

int symbols_call_of(const struct trace_frame *frames, int nr)
{
	int first = symbols_own_frame(frames, nr);

	for (int i = 0; i < first; i++) {
		const char *end = frames[i].function ? strrchr(frames[i].function, '.') : NULL;

		/* an object that is made is no other thread's yet */
		if (!symbols_serves_threads(&frames[i]) || (end && end[1] == '<'))
			return 0;
	}
	return first > 0 ? first : 0;
}

/* A method of Java's is one of the program; or it works for itself, or for what calls it. */
enum for_whom { FOR_PROGRAM, FOR_ITSELF, FOR_CALLER };

static enum for_whom for_whom(const struct trace_frame *frame)
{
	static const char *const packages[] = { "java.util.", "java.lang.", "java.", "javax.", "jdk.", "sun.", "com.sun." };
	const char *name = frame->function ? frame->function : "";
	size_t p = 0;

	if (symbols_of_jar(frame->file))
		return FOR_ITSELF;
	while (p < sizeof(packages) / sizeof(packages[0]) && strncmp(name, packages[p], strlen(packages[p])))
		p++;
	/* also where the program has no lines */
	if (p == sizeof(packages) / sizeof(packages[0]))
		return FOR_PROGRAM;
	return p > 1 || strstr(name, ".<") ? FOR_ITSELF : FOR_CALLER;
}

bool symbols_done_for_program(const struct trace_frame *frames, int nr)
{
	int i = 0;

	while (i < nr && for_whom(&frames[i]) == FOR_CALLER)
		i++;
	return i < nr && for_whom(&frames[i]) == FOR_PROGRAM;
}

bool symbols_initialises_class(const struct trace_frame *frame)
{
	return frame->function && strstr(frame->function, ".<clinit>") && !symbols_of_jar(frame->file) &&
	       for_whom(frame) == FOR_ITSELF;
}

unsigned int symbols_java_says(const struct trace_frame *frame)
{
	if (symbols_of_jar(frame->file) || (frame->function && !strcmp(frame->function, "java.lang.Thread.run")))
		return ZUG_JAVA_FOREIGN;
	if (symbols_own_frame(frame, 1) == 0)
		return ZUG_JAVA_OWN;
	if (symbols_begins_thread(frame, 1))
		return ZUG_JAVA_BEGINS;
	switch (for_whom(frame)) {
	case FOR_ITSELF:
		return ZUG_JAVA_SELF;
	case FOR_CALLER:
		return ZUG_JAVA_CALLER;
	default:
		/* of the program, without lines: what begins there is found further out */
		return ZUG_JAVA_UNKNOWN;
	}
}

bool symbols_accesses_by(const struct trace_frame *frames, int nr)
{
	int first = symbols_own_frame(frames, nr);

	for (int i = 0; i < first; i++)
		if (!symbols_may_access(&frames[i]))
			return false;
	return first > 0;
}

/* ---- from source to code ---- */

/* "bank.c" and "src/bank.c" name /home/u/src/bank.c; "k.c" does not. */
static bool same_file(const char *path, const char *file)
{
	size_t n = strlen(path), m;

	while (!strncmp(file, "./", 2))
		file += 2;
	m = strlen(file);
	return n >= m && !strcmp(path + n - m, file) &&
	       (n == m || file[0] == '/' || path[n - m - 1] == '/');
}

struct line_search {
	const char *file;
	uint32_t line;
	uint64_t *offsets;
	int nr, max;
	uint32_t nearest;
	bool empty_too;
};

static void add_offset(struct line_search *s, uint64_t offset)
{
	int i = s->nr;

	if (offset == UINT64_MAX)
		return;
	for (int k = 0; k < s->nr; k++)
		if (s->offsets[k] == offset)
			return;
	if (s->nr == s->max)
		return;
	for (; i > 0 && s->offsets[i - 1] > offset; i--)
		s->offsets[i] = s->offsets[i - 1];
	s->offsets[i] = offset;
	s->nr++;
}

static void search_lines(struct symfile *f, Dwarf_Die *cu, struct line_search *s)
{
	Dwarf_Lines *lines;
	const char *last = NULL;
	bool last_same = false, before = false;
	size_t nr;

	if (dwarf_getsrclines(cu, &lines, &nr))
		return;
	for (size_t i = 0; i < nr; i++) {
		Dwarf_Line *l = dwarf_onesrcline(lines, i);
		const char *src = dwarf_linesrc(l, NULL, NULL);
		bool stmt, end, hit;
		Dwarf_Addr addr, next;
		int no;

		/* libdw gives the same pointer for the same file */
		if (src != last) {
			last = src;
			last_same = src && same_file(src, s->file);
		}
		dwarf_lineendsequence(l, &end);
		if (end || !last_same || dwarf_lineno(l, &no) || dwarf_linebeginstatement(l, &stmt) ||
		    dwarf_lineaddr(l, &addr) || !addr) {
			before = false;
			continue;
		}
		if (stmt && (uint32_t)no > s->line && (!s->nearest || (uint32_t)no < s->nearest))
			s->nearest = no;
		hit = (uint32_t)no == s->line;
		/*
		 * Every run of instructions of that line is a place: the parts of a loop's head, every
		 * inlined copy. A row without instructions is one only if the line has no other.
		 */
		if (hit && stmt && !before &&
		    (s->empty_too || (i + 1 < nr && !dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &next) &&
				      next > addr)))
			add_offset(s, symfile_offset_of(f, addr));
		before = hit && stmt;
	}
}

int symfile_line(struct symfile *f, const char *file, uint32_t line,
		 uint64_t *offsets, int max, uint32_t *nearest)
{
	struct line_search s = { .file = file, .line = line, .offsets = offsets, .max = max };

	sym_read_cus(f);
	for (size_t i = 0; i < f->nr_cus; i++)
		search_lines(f, &f->cus[i], &s);
	if (!s.nr) {
		s.empty_too = true;
		for (size_t i = 0; i < f->nr_cus; i++)
			search_lines(f, &f->cus[i], &s);
	}
	*nearest = s.nr ? line : s.nearest;
	return s.nr ? s.nr : -ENOENT;
}

bool symfile_has_source(struct symfile *f, bool (*is_it)(const char *path, void *arg), void *arg)
{
	Dwarf_Files *files;
	const char *path;
	size_t nr;

	sym_read_cus(f);
	for (size_t i = 0; i < f->nr_cus; i++)
		for (size_t k = 0; !dwarf_getsrcfiles(&f->cus[i], &files, &nr) && k < nr; k++)
			if ((path = dwarf_filesrc(files, k, NULL, NULL)) && is_it(path, arg))
				return true;
	return false;
}
