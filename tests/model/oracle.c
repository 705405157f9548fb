/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>
#include "search/rng.h"
#include "oracle.h"

#define MAX_EVENTS	64
#define MAX_CLOCK	16	/* tasks of programs that the oracle takes */

void set_add(struct set *s, uint64_t hash)
{
	size_t i;

	if (!hash)
		hash = 1;
	if (s->nr * 2 >= s->mask) {
		struct set old = *s;

		s->mask = old.mask ? old.mask * 2 + 1 : 63;
		s->nr = 0;
		s->table = calloc(s->mask + 1, sizeof(*s->table));
		if (!s->table)
			abort();
		for (i = 0; old.table && i <= old.mask; i++)
			if (old.table[i])
				set_add(s, old.table[i]);
		free(old.table);
	}
	for (i = mix64(hash) & s->mask; s->table[i]; i = (i + 1) & s->mask)
		if (s->table[i] == hash)
			return;
	s->table[i] = hash;
	s->nr++;
}

bool set_has(const struct set *s, uint64_t hash)
{
	if (!hash)
		hash = 1;
	for (size_t i = mix64(hash) & s->mask; s->table && s->table[i]; i = (i + 1) & s->mask)
		if (s->table[i] == hash)
			return true;
	return false;
}

bool set_subset(const struct set *a, const struct set *b)
{
	for (size_t i = 0; a->table && i <= a->mask; i++)
		if (a->table[i] && !set_has(b, a->table[i]))
			return false;
	return true;
}

void set_free(struct set *s)
{
	free(s->table);
	memset(s, 0, sizeof(*s));
}

struct event {
	uint32_t task;
	struct zug_label label;
	bool write;
	uint8_t clock[MAX_CLOCK];
};

struct walk {
	const struct model *m;
	struct oracle *o;
	uint64_t limit;
	bool keep, too_big;
	struct event events[MAX_EVENTS];
};

static bool touch(const struct event *a, const struct event *b)
{
	if (a->task == b->task)
		return true;
	if (!a->write && !b->write)
		return false;
	return (a->label.object && (a->label.object == b->label.object ||
				    a->label.object == b->label.object2)) ||
	       (a->label.object2 && (a->label.object2 == b->label.object ||
				     a->label.object2 == b->label.object2));
}

static void add_event(struct walk *w, uint32_t nr, uint32_t task, const struct zug_label *label,
		      int op, int16_t value)
{
	struct event *e = &w->events[nr];

	memset(e, 0, sizeof(*e));
	e->task = task;
	e->label = *label;
	e->write = op != M_READ;
	for (uint32_t i = 0; i < nr; i++)
		if (touch(&w->events[i], e))
			for (int c = 0; c < MAX_CLOCK; c++)
				if (w->events[i].clock[c] > e->clock[c])
					e->clock[c] = w->events[i].clock[c];
	e->clock[task]++;
	/* A value that was chosen tells two events apart as their place does. */
	e->label.site = (uint64_t)value;
}

static uint64_t class_of(const struct walk *w, uint32_t nr)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uint64_t h = mix64(w->events[i].task + 1 + (w->events[i].label.site << 8));

		for (int c = 0; c < MAX_CLOCK; c++)
			h = mix64(h * 31 + w->events[i].clock[c]);
		sum += mix64(h);
	}
	return sum;
}

static void leaf(struct walk *w, const struct model_state *s, uint32_t nr, uint32_t preemptions,
		 uint32_t delays, double chance, uint64_t schedule)
{
	struct oracle *o = w->o;
	uint64_t outcome = model_outcome(w->m, s);
	bool live = false;

	for (uint32_t t = 0; t < w->m->nr_tasks; t++)
		live |= s->task[t].status == TASK_LIVE;
	if (++o->schedules > w->limit)
		w->too_big = true;
	if (s->failed || live) {
		o->failing++;
		o->random_fails += chance;
		if (!s->failed)
			o->random_deadlocks += chance;
	}
	set_add(&o->outcomes, outcome);
	set_add(&o->classes, class_of(w, nr));
	if (w->keep)
		set_add(&o->schedule_hashes, schedule);
	for (uint32_t c = 0; c < ORACLE_COSTS; c++) {
		if (preemptions <= c) {
			o->preemptions[c]++;
			set_add(&o->outcomes_preemptions[c], outcome);
		}
		if (delays <= c) {
			o->delays[c]++;
			set_add(&o->outcomes_delays[c], outcome);
		}
	}
}

static void recurse(struct walk *w, const struct model_state *s, uint32_t nr,
		    uint32_t preemptions, uint32_t delays, double chance, uint64_t schedule)
{
	uint32_t list[MODEL_TASKS], n = 0, start = 0;
	bool stay = false;

	if (w->too_big)
		return;
	for (uint32_t t = 0; t < w->m->nr_tasks && !s->failed; t++)
		if (s->task[t].status == TASK_LIVE && model_enabled(w->m, s, t))
			list[n++] = t;
	if (!n) {
		leaf(w, s, nr, preemptions, delays, chance, schedule);
		return;
	}
	if (nr == MAX_EVENTS) {
		w->too_big = true;
		return;
	}
	/* The queue of the base scheduler: the last task first unless it yielded, then round robin. */
	for (uint32_t i = 0; i < n; i++)
		stay |= list[i] == s->last && !s->yielded;
	while (s->last != SEARCH_NO_TASK && start < n &&
	       (stay ? list[start] < s->last : list[start] <= s->last))
		start++;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t t = list[(start + i) % n];
		uint32_t values = model_values(w->m, s, t);
		struct zug_label label = model_label(w->m, s, t);
		int op = w->m->code[t][s->task[t].pc].op;

		for (uint32_t v = 0; v < values; v++) {
			struct model_state next = *s;
			uint64_t h = mix64(schedule + t + 1);

			add_event(w, nr, t, &label, op, (int16_t)v);
			model_step(w->m, &next, t, (int16_t)v);
			if (values > 1)
				h = mix64(h ^ ((uint64_t)v + 1) << 32);
			recurse(w, &next, nr + 1, preemptions + (stay && i), delays + i,
				chance / n / values, h);
		}
	}
}

bool oracle_run(const struct model *m, uint64_t limit, bool keep_schedules, struct oracle *o)
{
	struct walk *w = calloc(1, sizeof(*w));
	struct model_state s;
	bool good;

	if (!w || m->nr_tasks > MAX_CLOCK)
		abort();
	memset(o, 0, sizeof(*o));
	w->m = m;
	w->o = o;
	w->limit = limit;
	w->keep = keep_schedules;
	model_start(m, &s);
	recurse(w, &s, 0, 0, 0, 1, 0);
	good = !w->too_big;
	free(w);
	return good;
}

void oracle_free(struct oracle *o)
{
	set_free(&o->outcomes);
	set_free(&o->classes);
	set_free(&o->schedule_hashes);
	for (int c = 0; c < ORACLE_COSTS; c++) {
		set_free(&o->outcomes_preemptions[c]);
		set_free(&o->outcomes_delays[c]);
	}
}

static uint64_t state_hash(const struct model *m, const struct model_state *s)
{
	const unsigned char *p = (const unsigned char *)s;
	struct model_state clean = *s;
	uint64_t h = 0;

	(void)m;
	/* Who went last, and the numbers on tickets, decide nothing by themselves. */
	clean.last = 0;
	clean.yielded = false;
	p = (const unsigned char *)&clean;
	for (size_t i = 0; i + 8 <= sizeof(clean); i += 8) {
		uint64_t word;

		memcpy(&word, p + i, 8);
		h = mix64(h * 3 + word);
	}
	return h;
}

bool oracle_outcomes(const struct model *m, size_t max_states, struct set *outcomes)
{
	struct model_state *queue = malloc(max_states * sizeof(*queue));
	size_t nr = 1, done = 0;
	struct set seen = { 0 };
	bool good = true;

	if (!queue)
		abort();
	memset(outcomes, 0, sizeof(*outcomes));
	model_start(m, &queue[0]);
	set_add(&seen, state_hash(m, &queue[0]));
	while (good && done < nr) {
		struct model_state s = queue[done++];

		if (model_over(m, &s)) {
			set_add(outcomes, model_outcome(m, &s));
			continue;
		}
		for (uint32_t t = 0; t < m->nr_tasks && good; t++) {
			if (s.task[t].status != TASK_LIVE || !model_enabled(m, &s, t))
				continue;
			for (uint32_t v = 0; v < model_values(m, &s, t) && good; v++) {
				struct model_state next = s;
				uint64_t h;

				model_step(m, &next, t, (int16_t)v);
				h = state_hash(m, &next);
				if (set_has(&seen, h))
					continue;
				set_add(&seen, h);
				good = nr < max_states;
				if (good)
					queue[nr++] = next;
			}
		}
	}
	set_free(&seen);
	free(queue);
	return good;
}
