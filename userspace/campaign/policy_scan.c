/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The race scan finds data that tasks access without an order of their own.
 *
 * In the first executions, instructions of the program that access memory other than their own
 * frame become points, some hundreds at a time, and the accesses are compared by the program's
 * synchronisation (search/vector_clocks.h). Accesses to data that is left unordered stay points in
 * the search; all other instructions are let alone again.
 *
 * A suspicion is no report: the clocks know only the synchronisation that is seen. So for each
 * suspected pair of places there is an execution in which a task that comes to one of the
 * two is held there as long as others can go on. Two tasks that stand before the same data then,
 * one of them about to write, are the race itself, whatever the program's synchronisation is made
 * of (policy_races.c). Holding at a place: Erickson et al., Effective data-race detection for the
 * kernel (OSDI 2010); one pair at a time: Sen, Race directed random testing of concurrent programs
 * (PLDI 2008).
 *
 * A search that samples chooses the schedules of all these executions, so each look is under another
 * one: LOOKING, one look an execution; HOLDING, every other execution of the search is for a pair;
 * DONE, with a late look now and then.
 *
 * Other searches begin when everything is looked at: LOOKING; CONFIRMING, one pair an execution; DONE.
 * The first look is under the schedule that never preempts, in which the thread that a task makes
 * comes after what the task does next, and much is ordered by which task makes which. So further looks are
 * under other schedules: the oldest task that can runs, also when it has just been woken; new tasks
 * run before those that have made them; tasks are held by chance. In all of them a process goes on
 * to its end only when no other task can run, or the threads that it ends would have done nothing.
 *
 * next_mode() and begin_execution() are the order of things.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "search/identity.h"
#include "search/rng.h"
#include "search/script.h"
#include "campaign/scan.h"

/* So often a task that ends is held in one execution. */
#define ENDS 500

/* ---- which tasks are held: none in a replay or a trial, where that is in the schedule that is followed ---- */

/*
 * A task that ends: with a process its other tasks end, too. Some of them may go on for ever. Where
 * all tasks are held it still waits for the others.
 */
static enum engine_hold hold_end(void *ctx, uint32_t task, const struct zug_label *l)
{
	struct scan *s = ctx;

	return l->op == ZUG_OP_END && s->nr_ends++ < ENDS ? HOLD_LAST : HOLD_NOT;
}

static void hold_ends(struct scan *s)
{
	engine_hold_before(s->session->engine, ZUG_OP_END, hold_end, s);
}

static enum engine_hold hold_if(bool held)
{
	return held ? HOLD : HOLD_NOT;
}

/* Another schedule for another look: at about every other decision the next task is held. */
static enum engine_hold hold_random(void *ctx, uint32_t task, const struct zug_label *l)
{
	const struct scan *s = ctx;
	uint64_t drawn = mix64(s->session->o.search.seed + s->round + mix64(s->steps) + l->site);

	return hold_end(ctx, task, l) ?: hold_if(drawn & 1);
}

/* A task runs when those that it has made cannot. */
static enum engine_hold hold_makers(void *ctx, uint32_t task, const struct zug_label *l)
{
	const struct scan *s = ctx;
	const struct world *w = s->session->world;
	bool made = false;

	for (uint32_t t = 0; t < w->nr_tasks && !made; t++)
		made = w->tasks[t].state == TASK_PARKED && t != task && w->tasks[t].parent == task;
	return hold_end(ctx, task, l) ?: hold_if(made);
}

static enum engine_hold hold_pair(void *ctx, uint32_t task, const struct zug_label *l)
{
	const struct scan *s = ctx;
	const struct suspect *pair = &s->pairs[s->pair - 1];

	return hold_end(ctx, task, l) ?: hold_if(l->site == pair->a || l->site == pair->b);
}

static bool is_of_catalogue(const struct scan *s, uint64_t label_site)
{
	const struct place_site *site = places_find_site(s->session->places, label_site);

	return site && scan_place(s, site->module, site->offset);
}

static void hold_at_pair(struct scan *s)
{
	const struct suspect *pair = &s->pairs[s->pair - 1];
	const uint64_t sites[] = { pair->a, pair->b };

	/* a task that wakes up may stand at an operation that waits, without a point */
	if (is_of_catalogue(s, pair->a) && is_of_catalogue(s, pair->b))
		engine_hold_at(s->session->engine, sites, hold_pair, s);
	else
		engine_hold(s->session->engine, hold_pair, s);
}

/* A task runs when those before it cannot: who has been woken goes on at once. */
static enum engine_hold hold_later(void *ctx, uint32_t task, const struct zug_label *l)
{
	const struct scan *s = ctx;
	const struct world *w = s->session->world;
	bool before = false;

	for (uint32_t t = 0; t < task && !before; t++)
		before = w->tasks[t].state == TASK_PARKED && w->tasks[t].label.op != ZUG_OP_END;
	return hold_end(ctx, task, l) ?: hold_if(before);
}

/*
 * In a search that samples schedules differ anyway. Its looks hold the ends of tasks now and then, for
 * what comes late in a task may meet what its process does when it ends: every other one, of a large
 * program one in four, as there are no leases while one is held.
 */
static bool look_holds_ends(const struct scan *s)
{
	return !(s->round % (s->window == s->nr_turns ? 2 : 4));
}

/*
 * Most schedules of a search that samples let a task go on behind the creation of another one, for some time: then the new one
 * finds what its maker has done meanwhile, such as to take back and free what it was to work on. One look has it the other
 * way round.
 */
#define MAKERS_LAST 3

/* The tasks that the next look holds. */
static void hold_for_look(struct scan *s)
{
	static enum engine_hold (*const others[])(void *ctx, uint32_t task, const struct zug_label *l) = {
		hold_later, hold_makers, hold_random,
	};

	if (s->session->sampled ? look_holds_ends(s) : s->round < s->span)
		hold_ends(s);
	else if (s->session->sampled && s->round == MAKERS_LAST)
		engine_hold_at_times(s->session->engine, hold_makers, s);
	else if (s->session->sampled)
		engine_hold(s->session->engine, NULL, NULL);
	else
		engine_hold_at_times(s->session->engine, others[(s->round - s->span) % 3], s);
}

/* ---- what comes of it ---- */

static void add_name(struct scan *s, uint64_t object, uint64_t site)
{
	const struct place_object *o = places_find_object(s->session->places, object);
	char name[400], member[100] = "memory", place[256];

	/* what has no name of its own is counted, and another look counts otherwise */
	if (o && o->fixed && o->name) {
		snprintf(name, sizeof(name), "%s", o->name);
	} else {
		session_member_text(s->session, site, member, sizeof(member));
		session_place_text(s->session, site, place, sizeof(place));
		snprintf(name, sizeof(name), "%s in %s", member, place);
	}
	for (uint32_t n = 0; n < s->nr_names; n++)
		if (!strcmp(s->names[n], name))
			return;
	if (s->nr_names == NAMES)
		s->nr_unnamed++;
	else if ((s->names[s->nr_names] = strdup(name)))
		s->nr_names++;
}

/* Those that will be told as races come before those that may be none. */
static void add_pair(struct scan *s, const struct suspect *pair)
{
	uint32_t at = s->nr_pairs;

	for (uint32_t i = 0; i < s->nr_pairs; i++)
		if ((s->pairs[i].a == pair->a && s->pairs[i].b == pair->b) ||
		    (s->pairs[i].a == pair->b && s->pairs[i].b == pair->a))
			return;
	for (uint32_t i = PAIRS; at == PAIRS && pair->sure && i-- > 0;)
		if (!s->pairs[i].sure)
			at = i;
	if (at == PAIRS)
		return;
	s->pairs[at] = *pair;
	s->nr_pairs += at == s->nr_pairs;
}

/* All that accesses unordered memory becomes a point; its pair of places is to be tried. */
static void suspect(struct scan *s, const struct raced *r)
{
	const struct range *range = ranges_at(s->ranges, r->range);
	bool counter = true, sure = false;

	for (size_t i = 0; i < s->nr_seen; i++) {
		struct access_place *a;

		if (s->seen[i].place == NO_PLACE ||
		    !range_overlap(ranges_at(s->ranges, s->seen[i].range - 1), range))
			continue;
		a = &s->places[s->seen[i].place];
		a->added = true;
		counter &= a->counts;
		sure |= a->plain && (a->label_site == r->a || a->label_site == r->b);
	}
	add_name(s, r->object, r->b);
	add_pair(s, &(struct suspect){ .a = r->a, .b = r->b, .sure = sure });
	if (counter && s->races->nr_counters < PAIRS)
		race_book_add_counter(s->races, identity_race(r->a, r->b));
}

static int compare_seen(const void *pa, const void *pb)
{
	const struct seen *a = pa, *b = pb;

	return a->range < b->range ? -1 : a->range > b->range;
}

/*
 * A signal handler and what it may have interrupted, in one task, are no data race. But where the
 * handler comes makes a difference to both, and so these are points.
 */
static void suspect_handlers(struct scan *s)
{
	for (size_t i = 0; i < s->nr_seen; i++) {
		const struct seen *in = &s->seen[i];

		for (size_t k = 0; in->place != NO_PLACE && (in->how & HOW_HANDLER) && k < s->nr_seen; k++) {
			const struct seen *out = &s->seen[k];
			const struct range *range = ranges_at(s->ranges, in->range - 1);
			struct access_place *a, *b;

			if (out->place == NO_PLACE || !(out->how & HOW_OUTSIDE) || out->task != in->task ||
			    !((in->how | out->how) & HOW_WRITE) ||
			    !(range_overlap(ranges_at(s->ranges, out->range - 1), range)))
				continue;
			a = &s->places[in->place];
			b = &s->places[out->place];
			if (a->op && b->op)
				continue;
			s->handlers |= !a->added || !b->added;
			if (!a->added || !b->added)
				add_name(s, s->objects[out->range - 1], b->label_site);
			a->added = b->added = true;
		}
	}
}

/*
 * A process that is killed may be so between any two of its writes, also where it holds the lock that orders them: another
 * one that takes the lock of the dead finds them half done. What it writes of memory that others access then is a point.
 */
static void suspect_killed(struct scan *s)
{
	const struct world_task *tasks = s->session->world->tasks;

	for (size_t i = 0; i < s->nr_seen; i++) {
		const struct seen *in = &s->seen[i];
		const struct range *range = ranges_at(s->ranges, in->range - 1);
		struct access_place *a = in->place == NO_PLACE ? NULL : &s->places[in->place];

		if (!a || a->added || a->op || !(in->how & HOW_WRITE) || !tasks[in->task].killed)
			continue;
		for (size_t k = 0; k < s->nr_seen && !a->added; k++)
			a->added = s->seen[k].how & HOW_AFTER_KILL &&
				   tasks[s->seen[k].task].process != tasks[in->task].process &&
				   range_overlap(ranges_at(s->ranges, s->seen[k].range - 1), range);
		if (!a->added)
			continue;
		s->kills = true;
		add_name(s, s->objects[in->range - 1], a->label_site);
	}
}

static bool is_used_by_other(const struct scan *s, uint32_t range, uint32_t task)
{
	size_t i = ARRAY_FROM(s->nr_seen, k, s->seen[k].range < range + 1);

	for (; i < s->nr_seen && s->seen[i].range == range + 1; i++)
		if (s->seen[i].task != task)
			return true;
	return false;
}

/*
 * Memory in which another task has used an atomic variable or a lock is freed: by these the tasks tell who needs it last. They
 * seldom come so close that the free() is out of order, and where it is no point they seldom get there: it is one.
 */
static void suspect_reclaimed(struct scan *s)
{
	uint32_t list[OVERLAPS];

	for (size_t i = 0; i < s->nr_seen; i++) {
		const struct seen *in = &s->seen[i];
		const struct range_life *life = &s->range_lives[in->range - 1];
		struct access_place *a = in->place == NO_PLACE ? NULL : &s->places[in->place];
		uint32_t nr;

		if (!a || a->added || !life->freed || !(life->number & BESIDE))
			continue;
		nr = ranges_overlaps(s->ranges, in->range - 1, list, OVERLAPS);
		for (uint32_t k = 0; k < nr && !a->added; k++)
			a->added = is_used_by_other(s, list[k], in->task);
	}
}

/* False: nothing but a free() accesses the range as a whole, and that is no point. */
static bool is_told(const struct scan *s, uint32_t range)
{
	size_t i = ARRAY_FROM(s->nr_seen, k, s->seen[k].range < range + 1);
	bool added = !s->range_lives[range].freed;

	for (; !added && i < s->nr_seen && s->seen[i].range == range + 1; i++)
		added = s->places[s->seen[i].place].added;
	return added;
}

/*
 * What was said to be atomic, and several tasks access, be it by LOCK instructions, is a point like these. So is an access of
 * which nothing is known (there are no sources), where another task has an atomic instruction for that memory: an atomic load
 * is an ordinary instruction. And what lies in a larger piece that is accessed as a whole, or reaches out of one, is told from
 * now on by the begin of that, too: its label and that of the other have an object in common then.
 */
static void conclude_ranges(struct scan *s)
{
	uint32_t list[OVERLAPS];

	for (size_t first = 0, end; first < s->nr_seen; first = end) {
		uint32_t range = s->seen[first].range - 1,
			 nr = ranges_overlaps(s->ranges, range, list, OVERLAPS);
		uint64_t addr = ranges_at(s->ranges, range)->addr, begin = addr;
		uint32_t atomic = WORLD_NO_TASK; /* has such an instruction there */
		bool shared = false, written = false, atomics = false;

		for (uint32_t i = 0; i < nr; i++)
			if (ranges_at(s->ranges, list[i])->addr < begin && is_told(s, list[i]))
				begin = ranges_at(s->ranges, list[i])->addr;
		for (end = first; end < s->nr_seen && s->seen[end].range == s->seen[first].range;
		     end++) {
			shared |= s->seen[end].task != s->seen[first].task;
			written |= s->seen[end].how & HOW_WRITE;
			if (s->seen[end].place != NO_PLACE)
				continue;
			atomics |= atomic != WORLD_NO_TASK && atomic != s->seen[end].task;
			atomic = s->seen[end].task;
		}
		for (size_t i = first; i < end; i++) {
			struct access_place *a;

			if (s->seen[i].place == NO_PLACE)
				continue;
			a = &s->places[s->seen[i].place];
			a->added |= shared && a->op != ZUG_OP_NONE;
			a->added |= written && !a->plain &&
				    (atomics || (atomic != WORLD_NO_TASK && atomic != s->seen[i].task));
			a->shared |= shared && written;
			if (addr - begin > a->within)
				a->within = addr - begin;
		}
	}
}

/*
 * What a script is about are points also where a correction has given it an order. The name of data
 * on the heap counts what has been seen before it, so the function stands in for it: what that
 * shares with other tasks.
 */
static void add_of_script(const struct scan *s)
{
	for (size_t i = 0; search_script_lines(s->session->search) && i < s->nr_seen; i++) {
		const struct seen *x = &s->seen[i];
		const struct range *range = ranges_at(s->ranges, x->range - 1);
		bool on = search_script_is_on(s->session->search, s->objects[x->range - 1]),
		     shared = false;
		uint8_t how = 0;

		if (x->place == NO_PLACE)
			continue;
		if (!on && !search_script_is_in(s->session->search, s->places[x->place].label_site))
			continue;
		for (int add = 0; add < 2 && (!add || on || (shared && how & HOW_WRITE)); add++) {
			for (size_t k = 0; k < s->nr_seen; k++) {
				if (s->seen[k].place == NO_PLACE ||
				    !range_overlap(ranges_at(s->ranges, s->seen[k].range - 1), range))
					continue;
				shared |= s->seen[k].task != x->task;
				how |= s->seen[k].how;
				s->places[s->seen[k].place].added |= add;
			}
		}
	}
}

/*
 * What a script says of data where no look has come: the schedule that never preempts does not go there, or not in the first
 * executions. These places are points, or the script could not be followed there.
 */
static void add_unreached_of_script(const struct scan *s)
{
	for (uint32_t i = 0; search_script_lines(s->session->search) && i < s->nr; i++) {
		struct access_place *a = &s->places[i];

		if (!a->label_site && !a->added)
			a->added = search_script_is_in(s->session->search,
						       places_site_in(s->session->places, a->module, a->offset));
	}
}

/* After a look. */
static void conclude(struct scan *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->size_seen; i++)
		if (s->seen[i].range)
			s->seen[n++] = s->seen[i];
	s->nr_seen = n;
	if (n)
		qsort(s->seen, n, sizeof(*s->seen), compare_seen);
	for (uint32_t r = 0; r < s->nr_raced; r++)
		suspect(s, &s->raced[r]);
	suspect_handlers(s);
	suspect_killed(s);
	suspect_reclaimed(s);
	add_of_script(s);
	conclude_ranges(s);
	s->nr_raced = 0;
	s->nr_seen = 0;
	s->killed = false;
	if (s->seen)
		memset(s->seen, 0, s->size_seen * sizeof(*s->seen));
	ranges_reset(s->ranges);
	lives_reset(s->lives);
	scan_count(s);
}

/*
 * A place that is a site already. "within" is for the search alone: what is not known at first, and
 * then is, would be two names for the same.
 */
static void set_site(const struct scan *s, const struct access_place *a, bool looks, bool now)
{
	struct probes *p = s->session->probes;

	if (a->site == UINT32_MAX || probes_site(p, a->site)->waits)
		return;
	probes_silence(p, a->site, !(a->added || now || (a->op && looks)));
	probes_set_limit(p, a->site, scan_limit(s, a, looks));
	probes_set_within(p, a->site, looks ? 0 : a->within);
}

/* The places of the look that are no sites yet become some. */
static int add_sites(struct scan *s, uint32_t module, struct probe_code *list, char *err, size_t errlen)
{
	struct probes *p = s->session->probes;
	uint32_t site = probes_nr_sites(p);
	int nr = 0, ret;

	for (uint32_t i = 0; i < s->window; i++) {
		const struct access_place *a = scan_turn(s, s->first + i);

		if (a->module == module && a->site == UINT32_MAX)
			list[nr++] = (struct probe_code){ .offset = a->offset,
							  .op = a->op,
							  .split = a->split,
							  .limit = scan_limit(s, a, true) };
	}
	ret = nr ? probes_add_code(p, module, list, nr, err, errlen) : 0;
	for (; ret >= 0 && site < probes_nr_sites(p); site++) {
		const struct probe_site *ps = probes_site(p, site);
		struct access_place *a = scan_place(s, ps->module, ps->offset);

		if (a)
			a->site = site;
	}
	return ret < 0 ? ret : 0;
}

/* Points are what was added, and where the execution looks the places of the look. */
static int plant(struct scan *s, bool looks, char *err, size_t errlen)
{
	bool *now = calloc(s->nr + 1, sizeof(*now));
	struct probe_code *list = malloc((s->nr + 1) * sizeof(*list));
	int ret = now && list ? 0 : -ENOMEM;

	for (uint32_t i = 0; !ret && looks && i < s->window; i++) {
		struct access_place *a = scan_turn(s, s->first + i);

		now[a - s->places] = s->session->sampled || !a->hot;
	}
	for (uint32_t i = 0; !ret && i < s->nr; i++)
		set_site(s, &s->places[i], looks, now[i]);
	if (!ret)
		ret = session_replant(s->session, err, errlen);
	for (uint32_t m = 0; !ret && looks && m < probes_nr_modules(s->session->probes); m++)
		ret = add_sites(s, m, list, err, errlen);
	free(now);
	free(list);
	return ret;
}

/* The next pair that is not known to be a race. */
static bool next_pair(struct scan *s)
{
	while (s->pair < s->nr_pairs) {
		const struct suspect *p = &s->pairs[s->pair++];

		if (!race_book_knows(s->races, identity_race(p->a, p->b)))
			return true;
	}
	return false;
}

/* An execution that ends with a warning, or is followed once more, has no result for its caller. */
static void leave_pairs(struct scan *s)
{
	if (s->session->one_by_one && !s->races->fail)
		s->pair = s->nr_pairs;
}

static int next_mode(struct scan *s, char *err, size_t errlen)
{
	int ret;

	if (s->mode == LOOKING) {
		s->heated = false;
		if (s->round)
			conclude(s);
		if (s->no_memory)
			return -ENOMEM;
		if (s->round < s->rounds) {
			scan_next_window(s);
			s->nr_ends = 0;
			vector_clocks_begin(s->order);
			hold_for_look(s);
			s->round++;
			/*
			 * a second look is with the same points, but for the hot ones: a trap of
			 * each costs time
			 */
			return s->moved || s->heated ? plant(s, true, err, errlen) ?: 1 : 1;
		}
		s->mode = s->session->sampled ? HOLDING : CONFIRMING;
		add_unreached_of_script(s);
		ret = s->rounds ? plant(s, false, err, errlen) : 0;
		if (ret)
			return ret;
		leave_pairs(s);
	}
	if (s->mode == CONFIRMING && next_pair(s)) {
		s->nr_ends = 0;
		hold_at_pair(s);
		return 1;
	}
	if (s->mode == CONFIRMING)
		s->mode = DONE;
	engine_hold(s->session->engine, NULL, NULL);
	return 0;
}

/* Now and then an execution of a search that samples looks: for this one its points are planted. */
static int look_late(struct scan *s, char *err, size_t errlen)
{
	uint32_t every = s->nr_looked < s->nr ? EVERY_NEW : s->brief ? EVERY_BRIEF : EVERY;

	if (s->mode != DONE || ++s->since < every || (s->round >= s->last_round && !scan_turn_to_shared(s)))
		return 0;
	s->since = 0;
	s->late = true;
	vector_clocks_begin(s->order);
	scan_next_window(s);
	s->round++;
	return plant(s, true, err, errlen);
}

/* After it: what it has found are points from now on. How many, or -errno. */
static int conclude_late(struct scan *s, char *err, size_t errlen)
{
	int nr = 0, ret;

	s->late = false;
	for (uint32_t i = 0; i < s->nr; i++)
		nr -= s->places[i].added;
	conclude(s);
	if (s->no_memory)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nr; i++)
		nr += s->places[i].added;
	leave_pairs(s);
	if (s->pair < s->nr_pairs)
		s->mode = HOLDING;
	ret = plant(s, false, err, errlen);
	if (!ret && !nr)
		session_template_same_points(s->session);
	return ret ? ret : nr;
}

static int learn(void *state, bool only_more, char *err, size_t errlen)
{
	struct scan *s = state;
	int ret = 0;

	if (only_more || !s->session->sampled || s->mode < HOLDING)
		return 0;
	snprintf(err, errlen, "out of memory");
	if (s->session->frozen && !s->late)
		return 0;
	ret = s->late ? conclude_late(s, err, errlen) : look_late(s, err, errlen);
	return ret >= 0 || ret == -ENOMEM ? ret : -EIO;
}

/*
 * Where a process ends while other tasks of it could go on, most schedules are cut by that: every
 * other one goes on without the end, unless those tasks never come to theirs.
 */
static bool holds_ends_now(struct scan *s)
{
	s->endless |= s->ends_last && s->nr_ends >= ENDS;
	if (s->holding || s->late)
		return false;
	s->ends_last = s->cuts && !s->endless && !s->ends_last;
	return s->ends_last;
}

/* Every other execution of a search that samples holds tasks, as long as there are pairs. */
static void begin_execution(void *state, bool *apart)
{
	struct scan *s = state;
	bool ends_last;

	if (!s->session->sampled || s->mode < HOLDING)
		return;
	/* what an execution holds may depend on nothing but its number */
	if (s->session->frozen) {
		s->holding = s->ends_last = s->races->noting = s->races->scanning = false;
		s->session->o.failure.race = s->races->fail;
		if (s->cuts && !s->endless && s->session->part % 2)
			hold_ends(s);
		else
			engine_hold(s->session->engine, NULL, NULL);
		s->nr_ends = 0;
		*apart |= s->cuts && !s->endless && s->session->part % 2;
		return;
	}
	s->holding = s->mode == HOLDING && !s->holding && next_pair(s);
	if (s->mode == HOLDING && !s->holding && s->pair == s->nr_pairs)
		s->mode = DONE;
	ends_last = holds_ends_now(s);
	s->nr_ends = 0;
	if (!s->holding && (ends_last || (s->late && look_holds_ends(s))))
		hold_ends(s);
	else if (s->holding)
		hold_at_pair(s);
	else
		engine_hold(s->session->engine, NULL, NULL);
	s->races->noting = s->holding && !s->races->fail;
	s->races->scanning = s->late;
	s->races->scanned = s->mode == DONE;
	s->session->o.failure.race = s->races->fail && !s->late;
	*apart |= s->holding || s->late || ends_last;
}

static bool looks_at(const struct scan *s, uint32_t module)
{
	for (uint32_t i = 0; i < s->nr; i++)
		if (s->places[i].module == module)
			return true;
	return false;
}

/* Says which sources and line tables were missing, and how to get them. */
static void tell_unknown(const struct scan *s, FILE *to)
{
	static const char what[] =
		"atomic accesses look like plain ones, and a data race may be told as a possible one only";

	for (uint32_t m = 0; m < probes_nr_modules(s->session->probes); m++) {
		const struct probe_module *mod = probes_module(s->session->probes, m);
		const char *name = strrchr(mod->path, '/'), *first = NULL;
		uint32_t nr;

		name = name ? name + 1 : mod->path;
		if (!looks_at(s, m))
			continue;
		nr = symfile_missing_sources(mod->file, &first);
		if (nr)
			fprintf(to,
				"%u source file%s of %s not found (%s%s): %s; start zug in the folder of the sources\n",
				nr, nr == 1 ? "" : "s", name, first ? first : "?",
				nr == 1 ? "" : ", ...", what);
		else if (!symfile_has_lines(mod->file))
			fprintf(to, "%s was compiled without -g: %s\n", name, what);
	}
}

/* ---- the policy ---- */

static int open_scan(void *state, struct session *session, struct race_book *races, char *err,
		     size_t errlen)
{
	struct scan *s = state;

	s->session = session;
	s->races = races;
	return 0;
}

static void free_data(struct scan *s)
{
	for (char **p = s->data; p && *p; p++)
		free(*p);
	free(s->data);
	s->data = NULL;
}

static void release_scan(void *state)
{
	struct scan *s = state;

	for (uint32_t n = 0; n < s->nr_names; n++)
		free(s->names[n]);
	free_data(s);
	vector_clocks_free(s->order);
	ranges_free(s->ranges);
	lives_free(s->lives);
	free(s->objects);
	free(s->range_lives);
	free(s->places);
	free(s->turns);
	free(s->seen);
}

/* One task alone races with no other, and no handler interrupts it. */
static bool is_lone(const struct scan *s)
{
	return s->session->figures.most_tasks < 2 && !s->session->figures.handlers;
}

static int settle(void *state, bool only_more, bool *more, char *err, size_t errlen)
{
	struct scan *s = state;
	const struct options_points *o = &s->session->o.points;
	int ret = 0, wanted = 0;

	if (only_more)
		return 0;
	if (s->mode == UNBEGUN) {
		/* without locks nothing would seem to be ordered */
		if (!o->races || !o->sync || is_lone(s))
			return 0;
		ret = scan_plan(s);
	}
	if (!ret) {
		snprintf(err, errlen, "out of memory");
		wanted = next_mode(s, err, errlen);
	}
	if (ret || wanted < 0)
		return ret || wanted == -ENOMEM ? -ENOMEM : -EIO;
	s->races->scanning = s->mode == LOOKING;
	s->races->scanned = s->mode == DONE;
	/*
	 * A race ends no execution that looks, nor one that follows the trace of such a one: a simpler
	 * schedule, a replay. While suspicions are confirmed, it ends one in any case.
	 */
	s->session->o.failure.race = (s->races->fail && s->mode != LOOKING) ||
				     (wanted && s->mode == CONFIRMING);
	*more |= wanted;
	return 0;
}

static bool is_looking(const struct scan *s)
{
	return (s->mode == LOOKING || s->late) && !session_only_follows(s->session);
}

/* Candidate i ends its process, in which another one could go on. */
static bool cuts_others(const struct world *w, const struct search_point *p, uint32_t i)
{
	const struct search_cand *me = &p->cand[i];

	if (me->label.op != ZUG_OP_END || !(me->label.flags & ZUG_L_ENDS_ALL))
		return false;
	for (uint32_t k = 0; k < p->nr; k++)
		if (k != i && p->cand[k].enabled &&
		    w->tasks[p->cand[k].task].process == w->tasks[me->task].process)
			return true;
	return false;
}

static bool on_step(void *state, const struct search_point *p, uint32_t i, struct outcome *o)
{
	struct scan *s = state;

	if (!session_only_follows(s->session) && !s->session->frozen)
		s->cuts |= cuts_others(s->session->world, p, i);
	if (is_looking(s))
		scan_look(s, p, i);
	return false;
}

/* What an access is about comes with its event: steps may be made ahead of this. */
static bool looks(void *state)
{
	return false;
}

/* Stopping at every access takes long: that it was cut is no finding. */
static int after(void *state, enum points_phase phase, struct execution *x, char *err,
		 size_t errlen)
{
	const struct scan *s = state;

	if ((phase == POINTS_SETTLING || s->holding || s->late) &&
	    x->outcome.kind == ZUG_OUTCOME_TIMEOUT)
		outcome_set(&x->outcome, ZUG_OUTCOME_PASS, "%s", "");
	return 0;
}

static int lists(void *state, struct options_replay *l)
{
	struct scan *s = state;
	uint32_t n = 0;

	free_data(s);
	s->data = calloc(s->nr + 1, sizeof(*s->data));
	if (!s->data)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nr; i++) {
		const struct access_place *a = &s->places[i];
		const struct probe_site *ps =
			a->site == UINT32_MAX ? NULL : probes_site(s->session->probes, a->site);

		if (!ps || ps->silent)
			continue;
		if (asprintf(&s->data[n], "%s+0x%x %s %u %u",
			     probes_module(s->session->probes, a->module)->path, a->offset,
			     zug_op_name(ps->op), ps->limit, ps->within) < 0) {
			s->data[n] = NULL;
			return -ENOMEM;
		}
		n++;
	}
	if (!l->data || !l->data[0])
		l->data = s->data;
	return 0;
}

/* The reason why a plain access is no point of the search; NULL: it is one. */
static const char *why_none(const struct scan *s, const struct access_place *a)
{
	if (a->added || (a->site != UINT32_MAX && probes_site(s->session->probes, a->site)->waits))
		return NULL;
	return a->site == UINT32_MAX ? "not looked at so far" :
	       !a->label_site	     ? "no access seen" :
	       a->hot		     ? "hot, looked at in part: never unordered" :
				       "never unordered";
}

static int table(void *state, struct point_table *t)
{
	const struct scan *s = state;
	const struct options_points *o = &s->session->o.points;
	int ret = 0;

	if (s->mode == UNBEGUN)
		return point_table_add(t, &(struct point_row){
			.place = "all plain accesses of data",
			.why = !o->races ? "not looked at (--no-races)" :
			       !o->sync	 ? "not looked at: synchronisation is no point (--points)" :
			       is_lone(s)	 ? "one task alone" :
					   "not looked at so far" });
	for (uint32_t i = 0; i < s->nr && !ret; i++) {
		const char *why = why_none(s, &s->places[i]);

		if (why)
			ret = session_table_absent(s->session, t, s->places[i].module, s->places[i].offset, why);
	}
	return ret;
}

static void note(void *state, struct campaign_notes *n)
{
	const struct scan *s = state;
	size_t len;
	FILE *to = open_memstream(&n->races, &len);

	if (!to)
		return;
	if (s->unknown)
		tell_unknown(s, to);
	if (s->nr_names) {
		fprintf(to,
			"added points where no synchronisation was seen between accesses%s%s: ",
			s->handlers ? ", or a signal handler accesses data" : "",
			s->kills ? ", or a process is killed that writes shared data" : "");
		for (uint32_t i = 0; i < s->nr_names; i++)
			fprintf(to, "%s%s", i ? ", " : "", s->names[i]);
		if (s->nr_unnamed)
			fprintf(to, ", and %u more", s->nr_unnamed);
		fprintf(to, "\n");
	}
	fclose(to);
}

const struct point_policy policy_scan = {
	.size = sizeof(struct scan),
	.open = open_scan,
	.release = release_scan,
	.learn = learn,
	.learns_always = true,
	.settle = settle,
	.begin = begin_execution,
	.on_step = on_step,
	.looks = looks,
	.after = after,
	.lists = lists,
	.table = table,
	.note = note,
};
