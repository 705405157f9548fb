/* SPDX-License-Identifier: GPL-2.0-only */
/* plan_rules.bpf.h - which of the tasks that are enabled a plan chooses, by each rule of a search (struct search_rule) */
#ifndef ZUG_PLAN_RULES_BPF_H
#define ZUG_PLAN_RULES_BPF_H

/* False when the program has gone round too often, which it never does: for the verifier (may_goto, Linux 6.9). */
#define can_loop ({						\
	__label__ over, on;					\
	bool can = true;					\
	asm volatile goto("may_goto %l[over]" : : : : over);	\
	goto on;						\
over:	can = false;						\
on:	can;							\
})

/*
 * The numbers of all peers, one after the other. bpf_for() calls the kernel for each of them, which takes as long as what most
 * of these loops do. The number lies in memory: the verifier would follow each of its values around the loop. One loop at a
 * time.
 */
#define CURSOR(plan)	(*(volatile __u32 *)&(plan)->cursor)
#define for_peers(plan, i)							\
	for (CURSOR(plan) = 0;							\
	     can_loop && ((i) = CURSOR(plan)) < (plan)->nr_peers && (i) < ZUG_PLAN_PEERS; \
	     CURSOR(plan) = (i) + 1)

/* SEARCH_RANK_ZERO of search/search.h */
#define RANK_ZERO	(1ull << 63)

/* rng_below() of search/rng.h: below n, of 64 random bits. */
static __always_inline __u32 below(__u64 bits, __u32 n)
{
	return ((bits >> 32) * n + (((bits & 0xffffffff) * n) >> 32)) >> 32;
}

/* As rng_next() there. */
static __always_inline __u64 next_draw(struct zug_plan *plan)
{
	return zug_mix(plan->draws += 0x9e3779b97f4a7c15ull);
}

static __always_inline __u32 peer_weight(const struct zug_plan *plan, __u32 i)
{
	__u32 weight = plan->peers[i & (ZUG_PLAN_PEERS - 1)].weight;

	return weight ? weight : plan->weight_least;
}

/* That peer loses so much of its weight. */
static __always_inline void peer_loses(struct zug_plan *plan, __u32 i, __u64 lost)
{
	struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];

	if (q->on)
		plan->sum -= peer_weight(plan, i);
	q->weight -= lost < q->weight ? lost : q->weight;
	if (q->on)
		plan->sum += peer_weight(plan, i);
}

/* It makes so many steps. */
static __always_inline void peer_steps(struct zug_plan *plan, __u32 i, __u32 steps)
{
	peer_loses(plan, i, (__u64)steps * plan->weight_step);
}

/* Peer i has come: it takes its share from the holder, which has created it. meet() of search/strategies/surw.c. */
static __always_inline void take_share(struct zug_plan *plan, __u32 i)
{
	__u32 holder = plan->holder & (ZUG_PLAN_PEERS - 1);
	__u64 weight = plan->peers[i & (ZUG_PLAN_PEERS - 1)].weight, left = plan->peers[holder].weight;

	if (plan->intended == holder + 1 && left && below(next_draw(plan), left) < weight)
		plan->intended = i + 1;
	peer_loses(plan, holder, weight);
}

/* A task is enabled from here on, or is not. */
static __always_inline void set_on(struct zug_plan *plan, __u32 i, bool on)
{
	struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];
	__u64 *word = &plan->set[i / 64 & (ZUG_PLAN_PEERS / 64 - 1)];
	__u32 top = plan->top;

	if (!!q->on == on)
		return;
	q->on = on;
	*word ^= 1ull << (i & 63);
	if (on) {
		plan->nr_on++;
		plan->sum += peer_weight(plan, i);
		if (top && (!q->weight || q->weight > plan->peers[(top - 1) & (ZUG_PLAN_PEERS - 1)].weight))
			plan->top = 0;
	} else {
		plan->nr_on--;
		plan->sum -= peer_weight(plan, i);
		if (top == i + 1)
			plan->top = 0;
	}
}

static __always_inline __u32 nr_bits(__u64 x)
{
	x -= x >> 1 & 0x5555555555555555ull;
	x = (x & 0x3333333333333333ull) + (x >> 2 & 0x3333333333333333ull);
	return ((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full) * 0x0101010101010101ull >> 56;
}

/* The place of the lowest bit, of which there is one. */
static __always_inline __u32 lowest_bit(__u64 x)
{
	return nr_bits((x & -x) - 1);
}

/* The first peer that is on from that one on; -1: there is none. */
static __always_inline int next_on(const struct zug_plan *plan, __u32 from)
{
	__u32 i;

	for (i = 0; i < ZUG_PLAN_PEERS / 64; i++) {
		__u64 word = plan->set[i];

		if (from >= (i + 1) * 64)
			continue;
		if (from > i * 64)
			word &= ~0ull << (from & 63);
		if (word)
			return i * 64 + lowest_bit(word);
	}
	return -1;
}

/* Of the peers that are on, the nth from 0 on. */
static __always_inline int nth_on(const struct zug_plan *plan, __u32 nth)
{
	__u32 i, bit;

	for (i = 0; i < ZUG_PLAN_PEERS / 64; i++) {
		__u64 word = plan->set[i];
		__u32 nr = nr_bits(word), at = 0;

		if (nth >= nr) {
			nth -= nr;
			continue;
		}
		for (bit = 32; bit; bit /= 2) {
			nr = nr_bits(word & ((1ull << bit) - 1));
			if (nth >= nr) {
				nth -= nr;
				word >>= bit;
				at += bit;
			}
		}
		return i * 64 + at;
	}
	return -1;
}

/* The peer that makes the next step; -1: that is not clear. */
static __always_inline int plan_run(struct zug_plan *plan)
{
	__u32 i = plan->at;

	if (i < ZUG_PLAN_RUNS && !plan->runs[i].steps)
		i = ++plan->at;
	if (i >= plan->nr_runs || i >= ZUG_PLAN_RUNS || !plan->runs[i].steps)
		return -1;
	plan->runs[i].steps--;
	return plan->runs[i].peer & (ZUG_PLAN_PEERS - 1);
}

/* The same, also behind all runs. */
static __always_inline int plan_known(struct zug_plan *plan)
{
	int next = plan_run(plan);

	return next < 0 && plan->base ? (int)(plan->holder & (ZUG_PLAN_PEERS - 1)) : next;
}

/* The weights of the tasks that are on, one behind the other: whose is the nth part; -1: there are not so many. */
static __noinline int weighted(struct zug_plan *plan, __u32 nth)
{
	/* in memory, for the verifier would follow each of its values around the loop */
	volatile __u32 *left = &plan->drawn;
	__u32 i;

	*left = nth;
	for_peers(plan, i) {
		__u32 weight = peer_weight(plan, i);

		if (!plan->peers[i & (ZUG_PLAN_PEERS - 1)].on)
			continue;
		if (*left < weight)
			return i;
		*left -= weight;
	}
	return -1;
}

/* Of the tasks that are on one by its weight. */
static __always_inline int drawn(struct zug_plan *plan)
{
	__u32 at = plan->nr_on > 1 ? below(next_draw(plan), plan->sum) : 0;
	int i;

	/* all have the same */
	if (!plan->weight_step)
		return nth_on(plan, at);
	i = weighted(plan, at);
	if (i >= 0)
		peer_steps(plan, i, 1);
	return i;
}

/* Which of the tasks that are on has the highest rank; who has none draws it first. */
static __noinline int find_top(struct zug_plan *plan)
{
	volatile __u64 *best = &plan->best;
	volatile __u32 *top = &plan->top;
	__u32 i;

	*best = *top = 0;
	for_peers(plan, i) {
		struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];

		if (!q->on)
			continue;
		if (!q->weight)
			q->weight = next_draw(plan) >> 2 | 5ull << 61;
		if (q->weight > *best) {
			*best = q->weight;
			*top = i + 1;
		}
	}
	return 0;
}

/* Of the tasks that are on, which are several, the one with the highest rank. */
static __always_inline int ranked(struct zug_plan *plan)
{
	struct zug_peer *q;
	__u32 i, at;

	if (plan->choices == plan->choices_end)
		return -1;
	plan->choices++;
	if (!plan->top)
		find_top(plan);
	at = (plan->top - 1) & (ZUG_PLAN_PEERS - 1);
	q = &plan->peers[at];
	bpf_for(i, 0, ZUG_PLAN_CHANGES) {
		if (plan->changes[i & (ZUG_PLAN_CHANGES - 1)].at != plan->choices)
			continue;
		if (q->weight < RANK_ZERO)
			q->weight = --plan->lowest;
		else
			q->weight = RANK_ZERO + plan->changes[i & (ZUG_PLAN_CHANGES - 1)].rank;
		plan->top = 0;
	}
	return at;
}

/* access_dependent() of search/access.h */
static __always_inline bool depends(const struct zug_access *a, const struct zug_access *b)
{
	if (!((a->how | b->how) & ZUG_ACCESS_WRITES) || !a->object[0])
		return false;
	return a->object[0] == b->object[0] || a->object[0] == b->object[1] ||
	       (a->object[1] && (a->object[1] == b->object[0] || a->object[1] == b->object[1]));
}

/* Which file one of them is about is not known, and it may be the other one's. */
static __always_inline bool may_depend(const struct zug_access *a, const struct zug_access *b)
{
	return a->how & b->how & ZUG_ACCESS_FILE && (a->how | b->how) & ZUG_ACCESS_WRITES && (!a->object[0] || !b->object[0]);
}

/* That peer makes its operation: priorities_redraw() of search/priorities.h. -1: it is not clear which others race with it. */
static __noinline int redraw(struct zug_plan *plan, __u32 chosen)
{
	struct zug_peer *q = &plan->peers[chosen & (ZUG_PLAN_PEERS - 1)];
	__u32 i;

	if (!(q->access.how & ZUG_ACCESS_KNOWN))
		return -1;
	for_peers(plan, i) {
		struct zug_peer *x = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];

		/* who has no priority needs no other one */
		if (!x->weight || i == chosen)
			continue;
		if (!(x->access.how & ZUG_ACCESS_KNOWN) || may_depend(&q->access, &x->access))
			return -1;
		if (depends(&q->access, &x->access))
			x->weight = 0;
	}
	q->weight = 0;
	return chosen & (ZUG_PLAN_PEERS - 1);
}

/* What the operation of the holder is to the constraints of the plan. false: that is not clear. */
static __always_inline bool mark(struct zug_plan *plan, struct zug_access *a, __u64 place, __u32 op)
{
	volatile __u32 *marks = &a->marks;
	__u32 i, elsewhere = plan->peers[plan->holder & (ZUG_PLAN_PEERS - 1)].held;

	*marks = 0;
	for (i = 0; i < ZUG_CONSTRAINTS; i++) {
		const struct zug_constraint *c = &plan->constraints[i];
		bool access = c->access == place && c->access_op == op, write = c->write == place && c->write_op == op;

		if (i >= plan->nr_constraints)
			break;
		access = access && !(elsewhere & ZUG_ELSEWHERE_ACCESS(i));
		write = write && !(elsewhere & ZUG_ELSEWHERE_WRITE(i));
		if (!c->object && (access || write))
			return false;
		if (!c->object || a->object[0] != c->object)
			continue;
		*marks |= ZUG_MARK_OBJECT(i) | (access ? ZUG_MARK_ACCESS(i) : 0) | (write ? ZUG_MARK_WRITE(i) : 0);
	}
	return true;
}

/* Whether the constraints want that operation soon (1), or not yet (-1): wish() of search/strategies/guided.c. */
static __noinline int wish(struct zug_plan *plan, const struct zug_peer *q)
{
	volatile int *sum = (volatile int *)&plan->chosen;
	__u32 i, marks = q->access.marks;

	*sum = 0;
	bpf_for(i, 0, ZUG_CONSTRAINTS) {
		const struct zug_constraint *c = &plan->constraints[i < ZUG_CONSTRAINTS ? i : 0];

		if (i >= plan->nr_constraints)
			break;
		if (c->met)
			continue;
		if (marks & ZUG_MARK_ACCESS(i))
			*sum += c->wrote == c->see ? c->see : -1;
		else if (marks & ZUG_MARK_WRITE(i) && plan->marked & ZUG_MARK_ACCESS(i))
			*sum += c->see ? 1 : -1;
		else if (c->see && marks & ZUG_MARK_OBJECT(i) && q->access.how & ZUG_ACCESS_WRITES && c->wrote)
			*sum -= 1;
	}
	return *sum > 0 ? 1 : *sum < 0 ? -1 : 0;
}

/* The task that is chosen makes an operation with these marks: which constraints it meets, and whether it is the last write. */
static __noinline int meet(struct zug_plan *plan, const struct zug_access *a)
{
	__u32 i;

	bpf_for(i, 0, ZUG_CONSTRAINTS) {
		struct zug_constraint *c = &plan->constraints[i < ZUG_CONSTRAINTS ? i : 0];

		if (i >= plan->nr_constraints)
			break;
		if (a->marks & ZUG_MARK_ACCESS(i) && c->wrote == c->see)
			c->met = 1;
		if (a->marks & ZUG_MARK_OBJECT(i) && a->how & ZUG_ACCESS_WRITES)
			c->wrote = !!(a->marks & ZUG_MARK_WRITE(i));
	}
	return 0;
}

/* The marks of all tasks, whether they can go on or not. */
static __noinline int gather_marks(struct zug_plan *plan)
{
	volatile __u32 *marked = &plan->marked;
	__u32 i;

	*marked = 0;
	for_peers(plan, i)
		*marked |= plan->peers[i & (ZUG_PLAN_PEERS - 1)].access.marks;
	return 0;
}

/* Of the tasks that are on the one whose operation has the highest priority. */
static __always_inline int pended(struct zug_plan *plan)
{
	__u32 holder = plan->holder & (ZUG_PLAN_PEERS - 1);
	bool stays = plan->base && plan->peers[holder].on;
	volatile __u64 *best = &plan->best;
	volatile __u32 *at = &plan->drawn;
	volatile int *most = &plan->wish;
	__u32 i;
	int w;

	*best = 0;
	*most = -2;
	*at = stays ? holder : next_on(plan, 0);
	if (plan->nr_constraints)
		gather_marks(plan);
	for_peers(plan, i) {
		struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];

		if (plan->nr_on < 2 || stays)
			break;
		if (!q->on)
			continue;
		if (!q->weight)
			q->weight = next_draw(plan) | 1;
		w = plan->nr_constraints ? wish(plan, q) : 0;
		if (w > *most || (w == *most && q->weight > *best)) {
			*best = q->weight;
			*most = w;
			*at = i;
		}
	}
	if (plan->nr_constraints)
		meet(plan, &plan->peers[*at & (ZUG_PLAN_PEERS - 1)].access);
	return redraw(plan, *at);
}

/* The operation before which a task stands is on the object of the selection. */
static __always_inline bool selects(const struct zug_plan *plan, const struct zug_peer *q)
{
	return plan->object && (q->access.object[0] == plan->object || q->access.object[1] == plan->object);
}

/* It is known whether it is. */
static __always_inline bool is_told(const struct zug_plan *plan, __u32 i)
{
	const struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];

	return q->access.how & ZUG_ACCESS_KNOWN && !(plan->object_by == i + 1 && q->access.how & ZUG_ACCESS_NEW);
}

/* No task is held any more, nor intended. */
static __always_inline void release_all(struct zug_plan *plan)
{
	__u32 i;

	plan->intended = 0;
	if (plan->released)
		return;
	plan->released = 1;
	for_peers(plan, i)
		plan->peers[i & (ZUG_PLAN_PEERS - 1)].held = 0;
}

/* Which task is to make the next operation on the object: one of those that are on, by weight; that one if none has any. */
static __always_inline void intend(struct zug_plan *plan, __u32 otherwise)
{
	int i = plan->sum ? weighted(plan, below(next_draw(plan), plan->sum)) : -1;

	plan->intended = 1 + (i < 0 ? otherwise : (__u32)i);
}

/*
 * Of the tasks that are on and not held the one with the highest priority: plan->highest; and the one of those whose operation
 * is not on the object, or that are intended: plan->drawn, with plan->best. What has no priority yet draws it. 1 + the peer,
 * 0: there is none. -1: it is not clear.
 */
static __noinline int highest(struct zug_plan *plan)
{
	volatile __u64 *best = &plan->best, *most = &plan->lowest;
	volatile __u32 *at = &plan->drawn, *top = &plan->highest;
	__u32 i;

	*best = *most = *at = *top = 0;
	for_peers(plan, i) {
		struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];

		if (!q->on || q->held)
			continue;
		if (!is_told(plan, i))
			return -1;
		if (!q->priority)
			q->priority = next_draw(plan) | 1;
		if (q->priority > *most) {
			*most = q->priority;
			*top = i + 1;
		}
		if (q->priority > *best && (i + 1 == plan->intended || !selects(plan, q))) {
			*best = q->priority;
			*at = i + 1;
		}
	}
	return 0;
}

/* Tasks with a higher priority than plan->best are held. */
static __always_inline void hold_above(struct zug_plan *plan)
{
	__u32 i;

	plan->released = 0;
	for_peers(plan, i) {
		struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];

		q->held |= q->on && q->priority > plan->best;
	}
}

/* pick_selectively() of search/strategies/surw.c. */
static __noinline int picked(struct zug_plan *plan)
{
	volatile int *next = (volatile int *)&plan->chosen;
	struct zug_peer *q;
	__u32 i;

	*next = next_on(plan, 0) + 1;
	bpf_for(i, 0, 2) {
		if (plan->nr_on < 2)
			break;
		if (highest(plan))
			return -1;
		if (plan->highest && !plan->intended && selects(plan, &plan->peers[(plan->highest - 1) & (ZUG_PLAN_PEERS - 1)])) {
			intend(plan, plan->highest - 1);
			highest(plan);
		}
		*next = plan->drawn;
		if (*next)
			break;
		release_all(plan);
	}
	if (*next <= 0)
		return -1;
	q = &plan->peers[(*next - 1) & (ZUG_PLAN_PEERS - 1)];
	if (!is_told(plan, *next - 1))
		return -1;
	if (selects(plan, q)) {
		peer_steps(plan, *next - 1, 1);
		release_all(plan);
	} else if (plan->nr_on > 1 && (int)plan->highest != *next) {
		hold_above(plan);
	}
	q->priority = 0;
	return (*next - 1) & (ZUG_PLAN_PEERS - 1);
}

/* Of the tasks that are on the next one by number behind the holder, round robin. */
static __always_inline int behind_holder(const struct zug_plan *plan)
{
	int next = next_on(plan, (plan->holder & (ZUG_PLAN_PEERS - 1)) + 1);

	return next < 0 ? next_on(plan, 0) : next;
}

/* Of the tasks that are on the base scheduler's. */
static __noinline int based(struct zug_plan *plan)
{
	__u32 holder = plan->holder & (ZUG_PLAN_PEERS - 1);

	return plan->peers[holder].on ? (int)holder : behind_holder(plan);
}

/* Of the tasks that are on, which are several, the one that was chosen in advance, or the base scheduler's. */
static __always_inline int chosen(struct zug_plan *plan)
{
	int next = plan_run(plan);

	if (next >= 0)
		return plan->peers[next & (ZUG_PLAN_PEERS - 1)].on ? next : -1;
	return plan->base ? based(plan) : -1;
}

/*
 * Of the tasks that are on the one that was chosen in advance, a difference says, or the base scheduler: around_follow(),
 * schedule_follow() of search/.
 */
static __noinline int differing(struct zug_plan *plan)
{
	__u32 holder = plan->holder & (ZUG_PLAN_PEERS - 1), i;
	/* in memory, for the verifier would follow each of its values around the loop */
	volatile int *next = (volatile int *)&plan->chosen;

	*next = plan_run(plan);
	if (*next < 0 && !plan->base)
		return -1;
	if (*next >= 0 && !plan->peers[*next & (ZUG_PLAN_PEERS - 1)].on)
		*next = -1;
	bpf_for(i, 0, ZUG_PLAN_ORDERED) {
		const struct zug_difference *d = &plan->differences[i & (ZUG_PLAN_ORDERED - 1)];

		if (i >= plan->nr_order || *next >= 0)
			break;
		if (d->peer != holder || d->nth != plan->peers[holder].weight)
			continue;
		if (d->next >= ZUG_PLAN_PEERS)
			return -1;
		if (!plan->peers[d->next & (ZUG_PLAN_PEERS - 1)].on)
			continue;
		*next = d->next;
		break;
	}
	if (*next < 0)
		*next = based(plan);
	plan->peers[*next & (ZUG_PLAN_PEERS - 1)].weight++;
	return *next;
}

/* That peer begins a turn: next_turn() of search/strategies/lockstep.c. */
static __always_inline void take_turn(struct zug_plan *plan, __u32 i)
{
	struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];

	plan->owed = plan->turn - 1;
	if (!plan->begun)
		return;
	if (!q->weight && !below(next_draw(plan), 2))
		plan->owed += below(next_draw(plan), plan->ahead);
	q->weight = 1;
}

/* The holder makes a step of its turn. false: it is over. */
static __always_inline bool owes_step(struct zug_plan *plan)
{
	if (!plan->begun)
		return true;
	if (!plan->owed || (plan->writes && plan->wrote))
		return false;
	plan->owed--;
	return true;
}

/* What that peer is about to do writes what others may see: access_writes() of search/access.h. */
static __always_inline bool peer_writes(const struct zug_plan *plan, __u32 i)
{
	const struct zug_access *a = &plan->peers[i & (ZUG_PLAN_PEERS - 1)].access;

	return a->how & ZUG_ACCESS_WRITES && a->object[0] != ZUG_OBJECT_ANY && (a->object[0] || a->how & ZUG_ACCESS_FILE);
}

/* The holder makes a step because it is alone. */
static __always_inline void steps_alone(struct zug_plan *plan)
{
	if (!owes_step(plan))
		take_turn(plan, plan->holder);
}

/* The next one in turn of the tasks that are on. */
static __noinline int turned(struct zug_plan *plan)
{
	__u32 holder = plan->holder & (ZUG_PLAN_PEERS - 1);
	int next;

	if (plan->nr_on > 1 && plan->choices++ == plan->choices_end)
		return -1;
	if (!plan->peers[holder].on)
		plan->begun = 1;
	if (plan->peers[holder].on && owes_step(plan)) {
		next = holder;
	} else {
		next = behind_holder(plan);
		if (next < 0)
			return -1;
		take_turn(plan, next);
	}
	if (plan->writes && !(plan->peers[next & (ZUG_PLAN_PEERS - 1)].access.how & ZUG_ACCESS_KNOWN))
		return -1;
	plan->wrote = plan->writes && peer_writes(plan, next);
	return next;
}

/* The holder makes a step because it is alone. */
static __always_inline void counts_step(struct zug_plan *plan)
{
	plan_run(plan);
	plan->peers[plan->holder & (ZUG_PLAN_PEERS - 1)].weight++;
}

/* Of the tasks that are on the first one whose quota is open, or the base scheduler's: neighbour_follow_order() of search/. */
static __noinline int by_quota(struct zug_plan *plan)
{
	/* in memory, for the verifier would follow each of its values around the loop */
	volatile int *next = (volatile int *)&plan->chosen;
	__u32 i;

	*next = -1;
	bpf_for(i, 0, ZUG_PLAN_ORDERED) {
		const struct zug_difference *d = &plan->differences[i & (ZUG_PLAN_ORDERED - 1)];
		const struct zug_peer *q = &plan->peers[d->peer & (ZUG_PLAN_PEERS - 1)];

		if (i >= plan->nr_order)
			break;
		if (!q->on || q->weight >= d->nth)
			continue;
		*next = d->peer;
		break;
	}
	if (*next < 0 && !plan->base)
		return -1;
	if (*next < 0)
		*next = based(plan);
	plan->peers[*next & (ZUG_PLAN_PEERS - 1)].weight++;
	return *next;
}

/* The operation of that peer is, or may be, that step of the order: 1, 0; -1: that is not clear. */
static __always_inline int is_ordered(const struct zug_plan *plan, __u32 i, const struct zug_ordered *o)
{
	const struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];

	if (o->op == plan->begins || q->op == plan->begins)
		return o->op == q->op && o->peer == i;
	if (!q->place)
		return o->place ? 0 : -1;
	if (o->op != q->op)
		return 0;
	return !o->place ? -1 : o->place == q->place;
}

/*
 * The peer that makes the next step by the order: SEARCH_BY_ORDER of search/search.h. -1: that is not clear. Where it is not
 * which steps are done by it, the holder makes those that it owes all the same.
 */
static __noinline int ordered(struct zug_plan *plan, int self)
{
	/* in memory, for the verifier would follow each of their values around the loops */
	volatile __u32 *at = &plan->at, *owed = &plan->owed;
	volatile int *next = (volatile int *)&plan->chosen;
	__u32 i, from = *at, k;
	int is;

	if (self < 0 || from >= plan->nr_order || from >= ZUG_PLAN_ORDERED)
		return -1;
	if (plan->unsure && (!*owed || !self))
		return -1;
	if (*owed && self) {
		--*owed;
		*next = plan->holder & (ZUG_PLAN_PEERS - 1);
	} else {
		*owed = 0;
		*next = plan->order[from].peer & (ZUG_PLAN_PEERS - 1);
		if (*next == (int)plan->holder && !self)
			return -1;
	}
	if (plan->unsure)
		return *next;
	bpf_for(i, 0, ZUG_PLAN_ORDERED) {
		k = from + i;
		if (k >= plan->nr_order || k >= ZUG_PLAN_ORDERED || plan->order[k].peer != plan->order[from].peer)
			break;
		is = is_ordered(plan, *next, &plan->order[k]);
		if (is < 0) {
			plan->unsure = 1;
			return *next;
		}
		if (!is)
			continue;
		*at = k + 1;
		break;
	}
	if (*owed)
		return *next;
	from = *at;
	bpf_for(i, 0, ZUG_PLAN_ORDERED) {
		k = from + i;
		if (k >= plan->nr_order || k >= ZUG_PLAN_ORDERED || plan->order[k].peer != (__u32)*next)
			break;
		++*owed;
	}
	return *next;
}

#endif
