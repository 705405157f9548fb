/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probes_internal.h - inside of probes.h: modules and named places (probes.c), primitives (primitives.c), Go's (probes_go.c),
 * code places (probes_code.c), places that lie apart (probes_apart.c)
 */
#ifndef ZUG_PROBES_INTERNAL_H
#define ZUG_PROBES_INTERNAL_H

#include "probes/probes.h"

struct primitive;

/* Room for all primitives of primitives.c. */
#define MAX_PRIMITIVES 96

/* The op of what is no point itself: an operation of which no label is made. */
#define PROBES_READS_OWN_FILES	ZUG_OP_SYSCALL

struct probes {
	struct kernel *k;
	struct sandbox *s;
	struct symbols *symbols;
	struct probe_module *modules;
	unsigned int nr_modules, room_modules;
	struct probe_site *sites;
	unsigned int nr_sites, room_sites;
	bool answer_time, answer_random;
	bool used[MAX_PRIMITIVES];	/* by any of the modules */
	bool all_used;			/* or that cannot be told */
	char *const *only, *const *without;	/* probes_leave_out(); NULL: none */
	unsigned int scope_modules;	/* of so many scope_interpreted is known */
	bool scope_interpreted;		/* probes_scope_interpreted() */
	bool scope_met;			/* probes_scope_met() */
	bool executed, knows_executed;	/* probes_see_executed(), probes_knows_executed() */
	bool fields;			/* probes_see_fields() */
	bool go;			/* one of the modules is a program of Go's */
};

/* Places found in one file, before they are planted. */
struct found {
	struct probe_site *sites;
	int nr, size;
	const unsigned int *which;	/* the primitives that are looked for */
	const struct primitive *prim;
	struct symfile *file;
	int fd;			/* of the file */
	bool no_memory;
	bool later;		/* probes_planted() plants them, and says what went wrong */
};

/*
 * primitives.c. Probes the primitives that a module defines, if they are not yet. Their number, or -errno with a line in
 * err.
 */
int probes_plant_primitives(struct probes *p, uint32_t m, char *err, size_t errlen);
/* Notes the primitives that a new module uses. True when there is one that no other module did. */
bool probes_note_used(struct probes *p, const struct probe_module *mod);
/* A C library's own calls of its primitives are no points: only what others call has to be probed. */
bool probes_is_c_library(const struct probe_module *mod);

/*
 * probes_apart.c. Moves the begin of the function at that offset of a private copy to where no other code is, unless it lies
 * there already, and sets *offset to its new place. 0, or -errno: it stays where it is.
 */
int probes_put_apart(const char *copy, uint64_t *offset);

/*
 * probes_go.c. Plants the operations of Go's runtime and library in a Go program. Their number, or -errno with a line in
 * err.
 */
int probes_plant_go(struct probes *p, uint32_t m, char *err, size_t errlen);
/* The code of Go's runtime, or of one of these operations: no point of its own. nr frames, the innermost first. */
bool probes_in_go_runtime(const struct trace_frame *frames, int nr);
/* The code of Go's maps: what it accesses is the program's data, which a lock of the program's has to guard. */
bool probes_in_go_map(const struct trace_frame *frame);
/* An atomic instruction of a Go program: an operation on what it locks, if it belongs to a lock of Go's; else ZUG_OP_NONE. */
uint16_t probes_go_lock(struct symfile *f, const struct code_place *c);
/* What the kernel side is told of the place of one. */
void probes_go_site(const struct probe_site *s, struct zug_site *what);

/*
 * probes_rust.c. Plants the places where Rust's library waits for a lock that is taken. Their number, or -errno with a line in
 * err.
 */
int probes_plant_rust(struct probes *p, uint32_t m, char *err, size_t errlen);
/* The module has code in Rust. */
bool probes_is_rust(struct probes *p, uint32_t module);
/* A function that is such a place: what it does is no point of its own. */
bool probes_in_rust_lock(const char *function);
/*
 * An atomic instruction of that function, inlined or not: the operation whose objects its object is one of; else
 * ZUG_OP_NONE.
 */
uint16_t probes_rust_names(const char *function);

/* What such a place of a lock of Rust's does; PROBES_READS_OWN_FILES: it is part of an operation. */
uint16_t probes_rust_op(const struct code_place *c);

/* The name begins with one of the nr in a list; NULL does not. */
bool probes_begins_with(const char *name, const char *const *list, size_t nr);

/* pass.c. When a task with a lease may pass that site. */
struct zug_pass probes_pass(const struct probe_module *mod, const struct probe_site *s);

/* probes_scope.c. True when the place lies in what the list names; NULL or empty: always. */
bool probes_in_scope(const struct probe_module *m, uint64_t offset, char *const *scope);

/* Takes over s->symbol's copy; the same offset is not looked for. 0 or -ENOMEM. */
int found_append(struct found *f, const struct probe_site *s);
/* The same for a place of that name, unless there is one at that offset. 0 or -ENOMEM. */
int found_add(struct found *f, uint64_t offset, const char *symbol, uint16_t op, uint8_t obj_arg, uint8_t obj2_arg, bool entry);
void found_free(struct found *f);
/* Plants what was found in module m; the sites become p's. The number of new ones, or -errno with a line in err. */
int probes_plant(struct probes *p, uint32_t m, struct found *f, char *err, size_t errlen);
/* Tells the kernel side which file the module is. 0 or -errno. */
int probes_tell_module(struct probes *p, uint32_t m);
/* Finds what asks the processor in a new module, and has it answered. Their number, or -errno with a line in err. */
int probes_find_answers(struct probes *p, uint32_t m, char *err, size_t errlen);
/* Plants what was found, again. 0 or -errno. */
int probes_plant_answers(struct probes *p, uint32_t m);
/* Gives places of a private copy an instruction that can be probed (code_rewrite()). 0 or -errno. */
int probes_rewrite(const char *copy, const struct probe_site *sites, int nr);

#endif
