// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_decode.c - from the records of a trace to its tables and steps
 *
 * A record is a tag, a length and a body; the function of its tag reads the body through a cursor
 * (trace_cursor.c), which checks all bounds. Steps have no length and are read by trace_steps.c.
 * Read get_record() first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/trace_reader.h"

/* ---- tables ---- */

uint64_t trace_task_id(const struct trace_table *tab, uint32_t i)
{
	return ((const struct trace_task *)tab->entries)[i].task;
}

uint64_t trace_module_id(const struct trace_table *tab, uint32_t i)
{
	return ((const struct trace_module *)tab->entries)[i].module;
}

uint64_t trace_site_id(const struct trace_table *tab, uint32_t i)
{
	return ((const struct trace_site *)tab->entries)[i].site;
}

uint64_t trace_object_id(const struct trace_table *tab, uint32_t i)
{
	return ((const struct trace_object *)tab->entries)[i].object;
}

static uint32_t table_slot(const struct trace_table *tab, uint64_t id,
			   uint64_t (*id_of)(const struct trace_table *, uint32_t))
{
	uint64_t h = id * 0x9e3779b97f4a7c15u;
	uint32_t s = (h ^ h >> 32) & (tab->nr_slots - 1);

	while (tab->slots[s] && id_of(tab, tab->slots[s] - 1) != id)
		s = (s + 1) & (tab->nr_slots - 1);
	return s;
}

int64_t trace_table_find(const struct trace_table *tab, uint64_t id,
			 uint64_t (*id_of)(const struct trace_table *, uint32_t))
{
	uint32_t s;

	if (!tab->nr_slots)
		return -ENOENT;
	s = table_slot(tab, id, id_of);
	return tab->slots[s] ? (int64_t)tab->slots[s] - 1 : -ENOENT;
}

static bool table_rehash(struct cursor *c, struct trace_table *tab,
			 uint64_t (*id_of)(const struct trace_table *, uint32_t))
{
	uint32_t nr_slots = tab->nr_slots ? tab->nr_slots * 2 : 64;

	if (!cursor_charge(c, (nr_slots - tab->nr_slots) * sizeof(*tab->slots)))
		return false;
	free(tab->slots);
	tab->nr_slots = 0;
	tab->slots = calloc(nr_slots, sizeof(*tab->slots));
	if (!tab->slots) {
		cursor_bad(c, -ENOMEM, "out of memory");
		return false;
	}
	tab->nr_slots = nr_slots;
	for (uint32_t i = 0; i < tab->nr; i++)
		tab->slots[table_slot(tab, id_of(tab, i), id_of)] = i + 1;
	return true;
}

/* The place for the entry with that id: the one to replace, or a new one. */
static void *table_put(struct cursor *c, struct trace_table *tab, uint64_t id, size_t size,
		       uint64_t (*id_of)(const struct trace_table *, uint32_t))
{
	int64_t i;
	void *entries;
	unsigned char *e;

	if (c->error)
		return NULL;
	i = trace_table_find(tab, id, id_of);
	if (i >= 0)
		return (unsigned char *)tab->entries + i * size;
	if (tab->nr * 2ull >= tab->nr_slots && !table_rehash(c, tab, id_of))
		return NULL;
	entries = cursor_grow(c, tab->entries, tab->nr, &tab->size, size);
	if (!entries)
		return NULL;
	tab->entries = entries;
	tab->slots[table_slot(tab, id, id_of)] = tab->nr + 1;
	e = (unsigned char *)entries + tab->nr++ * size;
	return e;
}

static void get_table_entry(struct cursor *c, enum trace_tag tag)
{
	struct trace *t = c->t;
	void *e = NULL;

	switch (tag) {
	case TRACE_TAG_TASK: {
		struct trace_task n;

		n.task = cursor_u32(c);
		n.parent = cursor_task(c);
		n.nth = cursor_u32(c);
		n.pid = cursor_u32(c);
		n.process = cursor_u32(c);
		n.comm = cursor_text(c);
		e = table_put(c, &t->tasks, n.task, sizeof(n), trace_task_id);
		if (e)
			memcpy(e, &n, sizeof(n));
		break;
	}
	case TRACE_TAG_MODULE: {
		struct trace_module n;

		n.module = cursor_u32(c);
		n.path = cursor_text(c);
		n.build_id = cursor_text(c);
		e = table_put(c, &t->modules, n.module, sizeof(n), trace_module_id);
		if (e)
			memcpy(e, &n, sizeof(n));
		break;
	}
	case TRACE_TAG_SITE: {
		struct trace_site n;

		n.site = cursor_varint(c);
		n.module = cursor_task(c);
		n.offset = cursor_varint(c);
		n.frames = cursor_frames(c, &n.nr_frames);
		n.data = !c->error && c->p < c->end ? cursor_string(c) : NULL;
		e = table_put(c, &t->sites, n.site, sizeof(n), trace_site_id);
		if (e)
			memcpy(e, &n, sizeof(n));
		break;
	}
	default: {
		struct trace_object n;

		n.object = cursor_varint(c);
		n.kind = cursor_text(c);
		n.name = cursor_text(c);
		e = table_put(c, &t->objects, n.object, sizeof(n), trace_object_id);
		if (e)
			memcpy(e, &n, sizeof(n));
		break;
	}
	}
}

/* ---- records ---- */

static void get_header(struct cursor *c)
{
	struct trace_header *h = &c->t->header;

	if (c->t->has_header) {
		cursor_bad(c, -EBADMSG, "a second header");
		return;
	}
	h->argv = cursor_strings(c);
	h->cwd = cursor_text(c);
	h->envp = cursor_strings(c);
	h->kernel = cursor_text(c);
	h->zug_version = cursor_text(c);
	h->strategy = cursor_text(c);
	h->seed = cursor_varint(c);
	h->execution = cursor_varint(c);
	h->options = cursor_text(c);
	h->copied = c->p < c->end && cursor_varint(c);
	c->t->has_header = !c->error;
}

static void get_note(struct cursor *c)
{
	struct trace *t = c->t;
	struct placed_note n = { .step = t->nr_steps }, *p;

	n.note.kind = cursor_u32(c);
	n.note.task = cursor_task(c);
	n.note.arg = cursor_task(c);
	n.note.object = cursor_varint(c);
	n.note.text = cursor_string(c);
	if (c->error)
		return;
	p = cursor_grow(c, t->notes, t->nr_notes, &t->notes_size, sizeof(*p));
	if (!p)
		return;
	t->notes = p;
	t->notes[t->nr_notes++] = n;
}

static void get_stack(struct cursor *c)
{
	struct trace *t = c->t;
	struct trace_stack s, *p;

	s.task = cursor_u32(c);
	s.state = cursor_text(c);
	s.frames = cursor_frames(c, &s.nr_frames);
	if (c->error)
		return;
	p = cursor_grow(c, t->stacks, t->nr_stacks, &t->stacks_size, sizeof(*p));
	if (!p)
		return;
	t->stacks = p;
	t->stacks[t->nr_stacks++] = s;
}

static void get_outcome(struct cursor *c)
{
	struct trace_outcome *o = &c->t->outcome;

	o->kind = cursor_u32(c);
	o->code = cursor_u32(c);
	o->failure = cursor_varint(c);
	o->ungranted = cursor_varint(c);
	o->wall_ns = cursor_varint(c);
	o->message = cursor_text(c);
	o->out_head = cursor_string(c);
	o->out_tail = cursor_string(c);
	o->err_head = cursor_string(c);
	o->err_tail = cursor_string(c);
	c->t->has_outcome = !c->error;
}

static void get_label(struct cursor *c, struct zug_label *l)
{
	uint64_t op = cursor_varint(c), flags = cursor_varint(c);

	if (op > UINT16_MAX || flags > UINT16_MAX)
		cursor_bad(c, -EBADMSG, "a label is out of range");
	*l = (struct zug_label){ .op = op, .flags = flags };
	l->object = cursor_varint(c);
	l->object2 = cursor_varint(c);
	l->site = cursor_varint(c);
}

static void get_critical(struct cursor *c, struct trace_minimized *m)
{
	struct trace_critical *p = &m->critical;
	uint64_t known;

	m->near = cursor_varint(c);
	known = cursor_varint(c);
	p->known = known == 1 || known == 2;
	p->alone = known == 2;
	p->torn = known == 3;
	if (known) {
		p->first_task = cursor_u32(c);
		p->first_step = cursor_varint(c) - 1;
		get_label(c, &p->first);
		p->second_task = cursor_u32(c);
		p->second_step = cursor_varint(c) - 1;
		get_label(c, &p->second);
	}
	if (!c->error && c->p < c->end)
		m->alike = cursor_varint(c);
}

static void get_minimized(struct cursor *c)
{
	struct trace_minimized *m = &c->t->minimized;
	struct trace_pair *pairs;
	uint64_t nr;

	m->executions = cursor_varint(c);
	m->minimal = cursor_varint(c);
	m->steps_before = cursor_varint(c);
	m->preemptions_before = cursor_u32(c);
	m->preemptions = cursor_u32(c);
	m->decisions_before = cursor_u32(c);
	m->decisions = cursor_u32(c);
	nr = cursor_varint(c);
	/* a pair has 14 bytes at least */
	if (nr > (uint64_t)(c->end - c->p) / 14) {
		cursor_bad(c, -EBADMSG, "a list is longer than its record");
		return;
	}
	pairs = cursor_alloc(c, nr * sizeof(*pairs));
	if (!pairs)
		return;
	for (uint64_t i = 0; i < nr; i++) {
		struct trace_pair *p = &pairs[i];

		p->step = cursor_varint(c);
		p->after_step = cursor_varint(c) - 1;
		p->preempted = cursor_u32(c);
		p->by = cursor_u32(c);
		get_label(c, &p->before);
		get_label(c, &p->after);
	}
	m->pairs = pairs;
	m->nr_pairs = nr;
	/* traces from before these fields end here */
	if (!c->error && c->p < c->end)
		get_critical(c, m);
	c->t->has_minimized = !c->error;
}

static void get_record(struct cursor *c)
{
	enum trace_tag tag = *c->p++;
	uint64_t len = cursor_varint(c);
	const unsigned char *end = c->end, *next;

	if (len > (size_t)(end - c->p)) {
		cursor_bad(c, -EBADMSG, "a record ends early");
		return;
	}
	/* A body may be longer than what is known of it: fields are added at the end. */
	next = c->p + len;
	c->end = next;

	if (!c->t->has_header && tag != TRACE_TAG_HEADER)
		cursor_bad(c, -EBADMSG, "no header at the start");
	switch (tag) {
	case TRACE_TAG_HEADER:
		get_header(c);
		break;
	case TRACE_TAG_TASK:
	case TRACE_TAG_MODULE:
	case TRACE_TAG_SITE:
	case TRACE_TAG_OBJECT:
		get_table_entry(c, tag);
		break;
	case TRACE_TAG_NOTE:
		get_note(c);
		break;
	case TRACE_TAG_STACK:
		get_stack(c);
		break;
	case TRACE_TAG_OUTCOME:
		get_outcome(c);
		break;
	case TRACE_TAG_MINIMIZED:
		get_minimized(c);
		break;
	default:
		break;
	}
	c->end = end;
	c->p = c->error ? end : next;
}

int trace_decode(struct trace *t, const unsigned char *data, size_t len,
		 const char **why, size_t *at)
{
	struct cursor c = { .t = t, .start = data, .p = data, .end = data + len };

	while (c.p < c.end) {
		if (*c.p & TRACE_STEP_TAG)
			trace_decode_step(&c);
		else
			get_record(&c);
	}
	if (c.error) {
		*why = c.why;
		*at = c.at - c.start;
	}
	return c.error;
}

struct trace *trace_new(void)
{
	struct trace *t = calloc(1, sizeof(*t));

	if (t) {
		t->task = TRACE_NO_TASK;
		t->memory_max = TRACE_MEMORY_MAX;
	}
	return t;
}

void trace_decode_end(struct trace *t)
{
	free(t->enabled);
	free(t->merged);
	free(t->sets);
	free(t->labels);
	t->enabled = NULL;
	t->merged = NULL;
	t->sets = NULL;
	t->labels = NULL;
}

static void table_free(struct trace_table *tab)
{
	free(tab->entries);
	free(tab->slots);
}

void trace_free(struct trace *t)
{
	struct arena_block *b, *next;

	if (!t)
		return;
	trace_decode_end(t);
	for (uint64_t i = 0; i < t->nr_chunks; i++)
		free(t->chunks[i]);
	free(t->chunks);
	free(t->notes);
	free(t->stacks);
	table_free(&t->tasks);
	table_free(&t->modules);
	table_free(&t->sites);
	table_free(&t->objects);
	for (b = t->arena; b; b = next) {
		next = b->next;
		free(b);
	}
	free(t);
}
