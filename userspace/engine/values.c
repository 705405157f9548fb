/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include "engine/values.h"

#define VALUE	(0x7a76ull << 48)

uint64_t value_object(uint32_t value)
{
	return VALUE | value;
}

bool value_of(uint64_t object, uint32_t *value)
{
	*value = (uint32_t)object;
	return object >> 32 == VALUE >> 32;
}

static uint64_t key(uint32_t task, uint32_t nth)
{
	return (uint64_t)task << 32 | nth;
}

void values_free(struct values *v)
{
	id_map_free(&v->given);
	id_map_free(&v->nr);
}

void values_clear(struct values *v)
{
	id_map_clear(&v->given);
}

void values_begin(struct values *v)
{
	id_map_clear(&v->nr);
}

uint32_t values_next(struct values *v, uint32_t task)
{
	uint32_t *nr = id_map_add(&v->nr, (uint64_t)task + 1, 0, NULL);

	return nr ? (*nr)++ : 0;
}

bool values_give(struct values *v, uint32_t task, uint32_t nth, uint32_t value)
{
	return id_map_add(&v->given, key(task, nth), value, NULL);
}

int values_of_trace(struct values *v, const struct trace *t)
{
	uint64_t nr = trace_nr_steps(t);
	uint32_t value;

	values_clear(v);
	values_begin(v);
	for (uint64_t i = 0; i < nr; i++) {
		const struct trace_step *s = trace_step(t, i);

		if (s->label.op == ZUG_OP_CHOICE && value_of(s->label.object2, &value) &&
		    !values_give(v, s->task, values_next(v, s->task), value))
			return -ENOMEM;
	}
	values_begin(v);
	return 0;
}

uint32_t values_given(const struct values *v, uint32_t task, uint32_t nth, uint32_t nr)
{
	const uint32_t *value = id_map_find(&v->given, key(task, nth));

	return value && *value < nr ? *value : 0;
}
