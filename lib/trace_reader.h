/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace_reader.h - inside of the reading side: trace_read.c (the file) and trace_decode.c (records)
 */
#ifndef ZUG_TRACE_READER_H
#define ZUG_TRACE_READER_H

#include "lib/trace.h"
#include "lib/trace_format.h"

#define STEP_CHUNK 4096u

/* Entries by id. Entries never move once their table is complete. */
struct trace_table {
	void *entries;
	uint32_t nr, size;
	uint32_t *slots;	/* open addressing: index + 1, 0 free; nr_slots a power of two */
	uint32_t nr_slots;
};

struct enabled_set {
	uint32_t nr;
	uint32_t hash;
	uint32_t tasks[];
};

struct placed_note {
	uint64_t step;		/* of the first step after it */
	struct trace_note note;
};

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(16) unsigned char data[];
};

struct trace {
	bool truncated;
	bool has_header, has_outcome, has_minimized;
	struct trace_header header;
	struct trace_outcome outcome;
	struct trace_minimized minimized;
	struct trace_table tasks, modules, sites, objects;

	struct trace_step **chunks;
	uint64_t nr_steps;
	uint64_t nr_chunks, room_chunks;
	struct placed_note *notes;
	uint32_t nr_notes, notes_size;
	struct trace_stack *stacks;
	uint32_t nr_stacks, stacks_size;

	/* all strings, frames and sets */
	struct arena_block *arena;
	uint64_t memory;
	uint64_t memory_max;

	/* decoder: what the next step is predicted from */
	uint32_t task;
	uint32_t *enabled;
	uint32_t nr_enabled, enabled_size;
	uint32_t *merged;		/* the set being made; takes turns with enabled */
	uint32_t merged_size;
	const struct enabled_set *current;
	const struct enabled_set **sets;	/* open addressing; equal sets are stored once */
	uint32_t nr_sets, nr_set_slots;
	struct zug_label *labels;
	uint32_t nr_labels, next_label;
};

/*
 * A position in what is decoded; the first error stays, and everything that is read after it is 0.
 */
struct cursor {
	struct trace *t;
	const unsigned char *start, *p, *end;
	int error;
	const char *why;
	const unsigned char *at;
};

/* Notes the error; returns 0, for functions that then return it. */
uint64_t cursor_bad(struct cursor *c, int error, const char *why);
/* Counts memory against the limit: false and an error when it is passed. */
bool cursor_charge(struct cursor *c, uint64_t bytes);
/* Memory that lives as long as the trace, or NULL and an error. */
void *cursor_alloc(struct cursor *c, size_t size);
/* array with room for one more entry than nr, or NULL and an error (array is then untouched). */
void *cursor_grow(struct cursor *c, void *array, uint32_t nr, uint32_t *size, size_t entry);
uint64_t cursor_varint(struct cursor *c);
uint32_t cursor_u32(struct cursor *c);
/* Task numbers, or indices: written as number + 1, 0 for TRACE_NO_TASK. */
uint32_t cursor_task(struct cursor *c);
const char *cursor_string(struct cursor *c);	/* may be NULL */
const char *cursor_text(struct cursor *c);	/* "" for NULL; NULL only after an error */
char *const *cursor_strings(struct cursor *c);
const struct trace_frame *cursor_frames(struct cursor *c, uint32_t *nr);

/* trace_steps.c; the tag is the first byte at the cursor. */
void trace_decode_step(struct cursor *c);

struct trace *trace_new(void);
/*
 * Decodes whole records. 0, or -errno with *why and *at, the offset in data: -EBADMSG the
 * records make no sense, -EFBIG the decoded form would pass memory_max, -ENOMEM.
 */
int trace_decode(struct trace *t, const unsigned char *data, size_t len,
		 const char **why, size_t *at);
/* Drops what only the decoder needs. */
void trace_decode_end(struct trace *t);
/* The index of the entry with that id, or -ENOENT. id_of reads the id of entry i. */
int64_t trace_table_find(const struct trace_table *tab, uint64_t id,
			 uint64_t (*id_of)(const struct trace_table *tab, uint32_t i));

uint64_t trace_task_id(const struct trace_table *tab, uint32_t i);
uint64_t trace_module_id(const struct trace_table *tab, uint32_t i);
uint64_t trace_site_id(const struct trace_table *tab, uint32_t i);
uint64_t trace_object_id(const struct trace_table *tab, uint32_t i);

#endif
