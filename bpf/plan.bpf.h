/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * plan.bpf.h - who has the turn next, without a question (struct zug_plan)
 *
 * A task that comes to a point takes the step's number from the plan: it goes on itself, or stops and hands the turn to
 * another one (hand_over()). User space decides about the same step later, from what the events say, and must come to the
 * same task. So where it is not clear here which tasks are enabled, or what the next one does needs a look at it, the task
 * stops and asks.
 */
#ifndef ZUG_PLAN_BPF_H
#define ZUG_PLAN_BPF_H

enum plan_says {
	PLAN_STOPS = 0,
	PLAN_PASSES,
	PLAN_HANDS,
};

/* SEARCH_RANK_ZERO of search/search.h */
#define RANK_ZERO	(1ull << 63)

/* Where a task stands. */
struct stand {
	struct zug_pass pass;
	__u64 lock;		/* address; 0: none */
	struct zug_access access;
	__u64 place;		/* of the code, as its label says it */
	__u32 op;
};

/* Whether a task is enabled that stands before a lock with that memory: 1, 0; -1: that is not clear. */
static __always_inline int enabled_by(const struct zug_pass *pass, const __u32 *word)
{
	if (pass->kind != ZUG_PASS_IF && pass->kind != ZUG_PASS_UNLESS)
		return 1;
	if (pass->index >= 6)
		return -1;
	if (((word[pass->index] & pass->mask) == pass->value) == (pass->kind == ZUG_PASS_IF))
		return 1;
	if (!pass->plain)
		return 0;
	return pass->plain <= 6 && !word[pass->plain - 1] ? 0 : -1;
}

static __always_inline int peer_enabled(const struct zug_lease *l, __u32 i)
{
	const struct zug_peer *q = &l->plan.peers[i & (ZUG_PLAN_PEERS - 1)];

	if (q->pass.kind == ZUG_PASS_ASLEEP)
		return 0;
	if (!q->lock)
		return q->pass.kind == ZUG_PASS_IF || q->pass.kind == ZUG_PASS_UNLESS ? -1 : 1;
	return enabled_by(&q->pass, l->locks[(q->lock - 1) & (ZUG_LEASE_LOCKS - 1)].word);
}

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

/* That peer makes so many steps. */
static __always_inline void peer_steps(struct zug_plan *plan, __u32 i, __u32 steps)
{
	struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];
	__u64 lost = (__u64)steps * plan->weight_step;

	if (q->on)
		plan->sum -= peer_weight(plan, i);
	q->weight -= lost < q->weight ? lost : q->weight;
	if (q->on)
		plan->sum += peer_weight(plan, i);
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
	bpf_for(i, 0, ZUG_PLAN_PEERS) {
		__u32 weight = peer_weight(plan, i);

		if (i >= plan->nr_peers)
			break;
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
	bpf_for(i, 0, ZUG_PLAN_PEERS) {
		struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];

		if (i >= plan->nr_peers)
			break;
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
	bpf_for(i, 0, ZUG_PLAN_PEERS) {
		struct zug_peer *x = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];

		if (i >= plan->nr_peers)
			break;
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

/* What the operation is to the constraints of the plan. false: that is not clear. */
static __always_inline bool mark(struct zug_plan *plan, struct zug_access *a, __u64 place, __u32 op)
{
	volatile __u32 *marks = &a->marks;
	__u32 i;

	*marks = 0;
	for (i = 0; i < ZUG_CONSTRAINTS; i++) {
		const struct zug_constraint *c = &plan->constraints[i];
		bool access = c->access == place && c->access_op == op, write = c->write == place && c->write_op == op;

		if (i >= plan->nr_constraints)
			break;
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
	bpf_for(i, 0, ZUG_PLAN_PEERS) {
		if (i >= plan->nr_peers)
			break;
		*marked |= plan->peers[i & (ZUG_PLAN_PEERS - 1)].access.marks;
	}
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
	bpf_for(i, 0, ZUG_PLAN_PEERS) {
		struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];

		if (i >= plan->nr_peers || plan->nr_on < 2 || stays)
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
	return q->access.object[0] == plan->object || q->access.object[1] == plan->object;
}

/* No task is held any more, nor intended. */
static __always_inline void release_all(struct zug_plan *plan)
{
	__u32 i;

	plan->intended = 0;
	bpf_for(i, 0, ZUG_PLAN_PEERS) {
		if (i >= plan->nr_peers)
			break;
		plan->peers[i & (ZUG_PLAN_PEERS - 1)].held = 0;
	}
}

/* Which task is to make the next operation on the object: one of those that are on, by weight; that one if none has any. */
static __always_inline void intend(struct zug_plan *plan, __u32 otherwise)
{
	int i = plan->sum ? weighted(plan, below(next_draw(plan), plan->sum)) : -1;

	plan->intended = 1 + (i < 0 ? otherwise : (__u32)i);
}

/*
 * The one with the highest priority of the tasks that are on and not held; all: also if its operation is on the object and
 * another one is intended. What has no priority yet draws it. plan->drawn is it; 0: there is none; -1: it is not clear.
 */
static __noinline int highest(struct zug_plan *plan, int all)
{
	volatile __u64 *best = &plan->best;
	volatile __u32 *at = &plan->drawn;
	__u32 i;

	*best = *at = 0;
	bpf_for(i, 0, ZUG_PLAN_PEERS) {
		struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];

		if (i >= plan->nr_peers)
			break;
		if (!q->on || q->held)
			continue;
		if (!(q->access.how & ZUG_ACCESS_KNOWN))
			return -1;
		if (!q->priority)
			q->priority = next_draw(plan) | 1;
		if (q->priority > *best && (all || i + 1 == plan->intended || !selects(plan, q))) {
			*best = q->priority;
			*at = i + 1;
		}
	}
	return *at;
}

/* Tasks with a higher priority than plan->best are held. */
static __always_inline void hold_above(struct zug_plan *plan)
{
	__u32 i;

	bpf_for(i, 0, ZUG_PLAN_PEERS) {
		struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];

		if (i >= plan->nr_peers)
			break;
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
		*next = highest(plan, true);
		if (*next < 0)
			return -1;
		if (*next && !plan->intended && selects(plan, &plan->peers[(*next - 1) & (ZUG_PLAN_PEERS - 1)]))
			intend(plan, *next - 1);
		*next = highest(plan, false);
		if (*next)
			break;
		release_all(plan);
	}
	if (*next <= 0)
		return -1;
	q = &plan->peers[(*next - 1) & (ZUG_PLAN_PEERS - 1)];
	if (!(q->access.how & ZUG_ACCESS_KNOWN))
		return -1;
	if (selects(plan, q)) {
		peer_steps(plan, *next - 1, 1);
		release_all(plan);
	} else if (plan->nr_on > 1) {
		hold_above(plan);
	}
	q->priority = 0;
	return (*next - 1) & (ZUG_PLAN_PEERS - 1);
}

/* Of the tasks that are on, which are several, the one that was chosen in advance, or the base scheduler's. */
static __always_inline int chosen(struct zug_plan *plan)
{
	__u32 holder = plan->holder & (ZUG_PLAN_PEERS - 1);
	int next = plan_run(plan);

	if (next >= 0)
		return plan->peers[next & (ZUG_PLAN_PEERS - 1)].on ? next : -1;
	if (!plan->base)
		return -1;
	if (plan->peers[holder].on)
		return holder;
	next = next_on(plan, holder + 1);
	return next < 0 ? next_on(plan, 0) : next;
}

/* That peer is one of those that stand before its lock. */
static __always_inline void link_peer(struct zug_plan *plan, __u32 i)
{
	struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];
	__u16 *first = &plan->first[(q->lock - 1) & (ZUG_LEASE_LOCKS - 1)];

	q->before = q->behind = 0;
	if (!q->lock)
		return;
	q->behind = *first;
	if (*first)
		plan->peers[(*first - 1) & (ZUG_PLAN_PEERS - 1)].before = i + 1;
	*first = i + 1;
}

/* It stands before that one from here on; 0: before none. */
static __always_inline void stand_before(struct zug_plan *plan, __u32 i, __u32 lock)
{
	struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];

	if (plan->counted && q->lock) {
		if (q->behind)
			plan->peers[(q->behind - 1) & (ZUG_PLAN_PEERS - 1)].before = q->before;
		if (q->before)
			plan->peers[(q->before - 1) & (ZUG_PLAN_PEERS - 1)].behind = q->behind;
		else
			plan->first[(q->lock - 1) & (ZUG_LEASE_LOCKS - 1)] = q->behind;
	}
	q->lock = lock;
	if (plan->counted)
		link_peer(plan, i);
}

/* What that lock says has changed: which of those before it are enabled? The holder is before none any more. */
static __noinline int count_again(struct zug_lease *l, __u32 lock)
{
	struct zug_plan *plan = &l->plan;
	/* in memory, for the verifier would follow each of its values around the loop */
	volatile __u32 *at = &plan->drawn;
	__u32 i;
	int is;

	*at = plan->first[lock & (ZUG_LEASE_LOCKS - 1)];
	bpf_for(i, 0, ZUG_PLAN_PEERS) {
		__u32 peer = *at - 1;

		if (!*at)
			break;
		*at = plan->peers[peer & (ZUG_PLAN_PEERS - 1)].behind;
		if (peer == plan->holder)
			continue;
		is = peer_enabled(l, peer);
		/* that is not clear */
		if (is < 0)
			plan->counted = 0;
		set_on(plan, peer, is > 0);
	}
	return 0;
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

/* Which tasks are enabled, as it was counted or is now. self: whether the holder is. -1: that is not clear. */
static __noinline int count_on(struct zug_lease *l, int self)
{
	struct zug_plan *plan = &l->plan;
	/* in memory, for the verifier would follow each of its values around the loop */
	volatile __u32 *counted = &plan->counted;
	__u32 i;

	if (self < 0)
		return -1;
	if (*counted) {
		set_on(plan, plan->holder, self);
		return 0;
	}
	*counted = 1;
	bpf_for(i, 0, ZUG_LEASE_LOCKS) {
		if (i >= l->nr_locks)
			break;
		plan->first[i & (ZUG_LEASE_LOCKS - 1)] = 0;
	}
	bpf_for(i, 0, ZUG_PLAN_PEERS) {
		int is;

		if (i >= plan->nr_peers)
			break;
		is = i == plan->holder ? self : peer_enabled(l, i);
		if (is < 0)
			*counted = 0;
		set_on(plan, i, is > 0);
		link_peer(plan, i);
	}
	return *counted ? 0 : -1;
}

/* The same, also where it follows from who is enabled. self: whether the holder is, as enabled_by() says. */
__noinline int plan_step(__u32 slot, int self)
{
	struct zug_lease *l = &leases[slot & (ZUG_MAX_SANDBOXES - 1)];
	struct zug_plan *plan = &l->plan;
	int next;

	if (plan->kind == ZUG_PLAN_STEPS)
		return plan_known(plan);
	if (plan->kind == ZUG_PLAN_ORDER)
		return ordered(plan, self);
	if (count_on(l, self) || !plan->nr_on) {
		lease_note(l, ZUG_WHY_UNCLEAR);
		return -1;
	}
	if (plan->kind == ZUG_PLAN_DRAWS)
		return drawn(plan);
	if (plan->kind == ZUG_PLAN_PENDING || plan->kind == ZUG_PLAN_SELECTION) {
		next = plan->kind == ZUG_PLAN_PENDING ? pended(plan) : picked(plan);
		if (next < 0)
			lease_note(l, ZUG_WHY_RACES);
		return next;
	}
	if (plan->nr_on == 1)
		return next_on(plan, 0);
	return plan->kind == ZUG_PLAN_RANKS ? ranked(plan) : chosen(plan);
}

/* The peer that is that task, where it was when it was looked for last, or anywhere; or nr_peers. */
static __always_inline __u32 find_peer(const struct zug_plan *plan, __u32 task, __u32 last)
{
	__u32 i;

	if (last < plan->nr_peers && plan->peers[last & (ZUG_PLAN_PEERS - 1)].task == task)
		return last;
	bpf_for(i, 0, ZUG_PLAN_PEERS) {
		if (i >= plan->nr_peers)
			break;
		if (plan->peers[i & (ZUG_PLAN_PEERS - 1)].task == task)
			return i;
	}
	return plan->nr_peers;
}

/* The holder has woken that task up, perhaps for the first time. 0: the plan does not know it. last: as for find_peer(); what that says now goes there. */
__noinline int plan_awake(__u32 slot, __u32 task, __u32 *last)
{
	struct zug_plan *plan = &leases[slot & (ZUG_MAX_SANDBOXES - 1)].plan;
	struct zug_peer *q;
	__u32 i;

	if (!last)
		return 0;
	i = find_peer(plan, task, *last);
	q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];
	if (i >= plan->nr_peers || !q->pid)
		return 0;
	*last = i;
	if (q->pass.kind != ZUG_PASS_ASLEEP)
		return 1;
	q->pass.kind = ZUG_PASS_ALWAYS;
	/* it goes on, which is another operation */
	q->access.marks = 0;
	if (plan->counted)
		set_on(plan, i, true);
	return 1;
}

/* The holder has created a thread, which is the next one of its children that the plan knows, if it knows one. */
__noinline int plan_born(__u32 slot, __u32 task, __u32 pid)
{
	struct zug_plan *plan = &leases[slot & (ZUG_MAX_SANDBOXES - 1)].plan;
	__u32 i, holder = plan->holder, nth = plan->peers[holder & (ZUG_PLAN_PEERS - 1)].born++;

	/* its children are in the order in which they come: behind the last one */
	bpf_for(i, plan->born_of == holder + 1 ? plan->born_at : 0, ZUG_PLAN_PEERS) {
		struct zug_peer *q = &plan->peers[i & (ZUG_PLAN_PEERS - 1)];

		if (i >= plan->nr_peers)
			break;
		if (q->pid || q->parent != holder + 1 || q->nth != nth)
			continue;
		q->task = task;
		q->pid = pid;
		plan->born_of = holder + 1;
		plan->born_at = i + 1;
		break;
	}
	return 0;
}

/* The plan cannot follow what the holder does because it is alone. */
static __always_inline void lease_counted(struct zug_lease *l)
{
	lease_note(l, ZUG_WHY_PLAN);
	l->left = 0;
}

/* The holder makes so many steps because it is alone. */
static __always_inline void plan_counts(struct zug_lease *l, __u32 steps)
{
	if (l->plan.kind == ZUG_PLAN_DRAWS)
		peer_steps(&l->plan, l->plan.holder, steps);
	else if (l->plan.kind == ZUG_PLAN_SELECTION || l->plan.nr_constraints)
		/* what its operations are is not looked at there */
		lease_counted(l);
	else if (l->plan.kind == ZUG_PLAN_PENDING)
		l->plan.peers[l->plan.holder & (ZUG_PLAN_PEERS - 1)].weight = 0;
	else if (l->plan.kind == ZUG_PLAN_STEPS && (steps != 1 || plan_known(&l->plan) != (int)l->plan.holder))
		lease_counted(l);
	else if (l->plan.kind == ZUG_PLAN_ORDER && (steps != 1 || ordered(&l->plan, 1) != (int)l->plan.holder))
		lease_counted(l);
}

/* The holder yields, and no other task could run: true when it goes on. That ends its lease, unless that knows of the yield. */
static __always_inline bool yields_alone(const struct zug_sandbox *s, const struct task_state *t)
{
	struct zug_lease *l;

	if (t->slot >= ZUG_MAX_SANDBOXES)
		return false;
	l = &leases[t->slot];
	if (l->flags & ZUG_LEASE_KNOWN && l->left) {
		l->left--;
		plan_counts(l, 1);
		return true;
	}
	if (l->left)
		lease_note(l, ZUG_WHY_YIELDS);
	l->left = 0;
	return !s->turn.stop_always;
}

/* 1 + the place of that lock in the lease; 0: it is none of those. *free: where in the index it would be. */
static __noinline int find_lock(struct zug_lease *l, __u64 addr, __u32 *free)
{
	__u32 i, at, place;

	if (!free)
		return 0;
	bpf_for(i, 0, ZUG_LEASE_INDEX) {
		at = (zug_lock_slot(addr) + i) & (ZUG_LEASE_INDEX - 1);
		place = l->index[at];
		*free = at;
		if (!place || l->locks[(place - 1) & (ZUG_LEASE_LOCKS - 1)].addr == addr)
			return place;
	}
	return 0;
}

/* 1 + the place of that lock in the lease; 0: there is no room for it. */
static __always_inline __u32 lock_place(struct zug_lease *l, __u64 addr, const __u32 *word)
{
	__u32 place = l->nr_locks, free = 0;
	int known = find_lock(l, addr, &free);

	if (known)
		return known;
	if (place >= ZUG_LEASE_LOCKS)
		return 0;
	l->index[free & (ZUG_LEASE_INDEX - 1)] = place + 1;
	l->nr_locks++;
	l->locks[place].addr = addr;
	__builtin_memcpy(l->locks[place].word, word, sizeof(l->locks[place].word));
	return place + 1;
}

static __always_inline bool has_pending_signal(struct task_struct *p)
{
	return p->pending.signal.sig[0] | LOOSE(p)->signal->shared_pending.signal.sig[0];
}

/* That peer can be given the turn, and user space need not look at it. */
static __always_inline bool may_have_turn(struct task_struct *p, const struct task_state *t, const struct zug_lease *l,
					  const struct zug_peer *q, bool locks)
{
	struct task_struct *to = bpf_task_from_pid(q->pid);
	bool may = false;
	struct task_state *x;
	__u32 word = 0;

	if (!to)
		return false;
	x = state_of(to);
	if (x && x->id == q->task && x->slot == t->slot && x->run == t->run && !(x->flags & (TF_STEP | TF_STOP)) &&
	    !is_dying(to, x) && !has_pending_signal(to) && (!locks || to->tgid == p->tgid) &&
	    BPF_CORE_READ(to, scx.dsq, id) == ZUG_DSQ(t->slot)) {
		if (q->lock && q->pass.index < 6)
			word = l->locks[(q->lock - 1) & (ZUG_LEASE_LOCKS - 1)].word[q->pass.index] & q->pass.mask;
		may = q->pass.kind != ZUG_PASS_OWNER || (q->lock && word == own_pid(to));
	}
	bpf_task_release(to);
	return may;
}

/* The same, and it is enabled. locks: tasks stand before some, which are known in this process alone. */
static __always_inline bool may_hand(struct task_struct *p, const struct task_state *t, struct zug_lease *l, __u32 next, bool locks)
{
	const struct zug_peer *to = &l->plan.peers[next & (ZUG_PLAN_PEERS - 1)];

	return to->pass.kind != ZUG_PASS_NEVER && peer_enabled(l, next) == 1 && may_have_turn(p, t, l, to, locks);
}

/*
 * What becomes of the holder, which stands there, before so many steps, and may pass if it is its turn. (The verifier looks at
 * this by itself, as at plan_step().)
 */
__noinline int plan_goes(__u32 slot, const struct stand *at, int may)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct zug_lease *l = &leases[slot & (ZUG_MAX_SANDBOXES - 1)];
	struct task_state *t = state_of(p);
	struct zug_plan *plan = &l->plan;
	struct zug_peer *from = &plan->peers[plan->holder & (ZUG_PLAN_PEERS - 1)];
	int next;

	if (!t || !at || at->pass.kind == ZUG_PASS_NEVER) {
		lease_note(l, ZUG_WHY_PLACE);
		return PLAN_STOPS;
	}
	from->access = at->access;
	/* a second step has another label */
	if (plan->kind == ZUG_PLAN_ORDER && at->pass.steps > 1)
		plan->unsure = 1;
	from->place = at->op ? at->place : 0;
	from->op = at->op;
	if (plan->nr_constraints && (!(at->access.how & ZUG_ACCESS_KNOWN) || !mark(plan, &from->access, at->place, at->op))) {
		lease_note(l, ZUG_WHY_RACES);
		return PLAN_STOPS;
	}
	next = plan_step(slot, enabled_by(&at->pass, t->ev.word));
	if (next < 0 || next >= ZUG_PLAN_PEERS) {
		lease_note(l, ZUG_WHY_PLAN);
		return PLAN_STOPS;
	}
	if (next == (int)plan->holder && !may)
		lease_note(l, ZUG_WHY_HELD);
	if (next == (int)plan->holder && (!may || at->pass.steps < 2))
		return may ? PLAN_PASSES : PLAN_STOPS;
	if (next == (int)plan->holder) {
		if (plan_step(slot, 1) == next)
			return PLAN_PASSES;
		lease_note(l, ZUG_WHY_PLAN);
		return PLAN_STOPS;
	}
	if (!may_hand(p, t, l, next, l->nr_locks || at->lock)) {
		lease_note(l, ZUG_WHY_NEXT);
		return PLAN_STOPS;
	}
	from->pass = at->pass;
	if (at->pass.steps > 1)
		from->pass.kind = ZUG_PASS_NEVER;
	stand_before(plan, plan->holder, at->lock ? lock_place(l, at->lock, t->ev.word) : 0);
	if (at->lock && !from->lock)
		return PLAN_STOPS;
	plan->next = next + 1;
	return PLAN_HANDS;
}

/* If what lock i says has changed, which may be or not, user space is told. false: this is the end of the lease. */
static __noinline int tell_lock(struct zug_sandbox *s, struct task_struct *p, const struct task_state *t, __u32 i, int may)
{
	struct zug_lease *l;
	struct zug_event e;
	__u32 word[6];

	if (t->slot >= ZUG_MAX_SANDBOXES || i >= ZUG_LEASE_LOCKS)
		return false;
	l = &leases[t->slot];
	if (bpf_probe_read_user(word, sizeof(word), (void *)l->locks[i].addr))
		return false;
	if (!__builtin_memcmp(word, l->locks[i].word, sizeof(word)))
		return true;
	if (!may || l->flags & ZUG_LEASE_CHANGE)
		return false;
	__builtin_memcpy(l->locks[i].word, word, sizeof(word));
	/* others may be enabled now, or not any more */
	if (l->plan.counted)
		count_again(l, i);
	event_init(&e, ZUG_EV_LOCK, p, t);
	e.flags = ZUG_EF_LEASED;
	e.arg[0] = i;
	__builtin_memcpy(e.word, word, sizeof(e.word));
	event_send(s, &e);
	return true;
}

/*
 * The memory of the locks that other tasks stand before, where it has changed. false: this is the end of the lease. used: the lock
 * on which the holder's last operation was; where there are many, the others have changed only if the program writes to locks by
 * other means than their operations, as user space assumes as well (kworld_waiting.c).
 */
static __always_inline bool tell_locks(struct zug_sandbox *s, struct task_struct *p, const struct task_state *t,
				       struct zug_lease *l, __u64 used)
{
	__u32 i, free = 0;
	int place;

	l->plan.look = l->plan.look + 1 < l->nr_locks ? l->plan.look + 1 : 0;
	bpf_for(i, 0, ZUG_LEASE_LOOKS) {
		if (i >= l->nr_locks || l->nr_locks > ZUG_LEASE_LOOKS)
			break;
		if (!tell_lock(s, p, t, i, true))
			return false;
	}
	if (l->nr_locks <= ZUG_LEASE_LOOKS)
		return true;
	place = find_lock(l, used, &free);
	if (place != l->plan.look + 1 && !tell_lock(s, p, t, l->plan.look, false))
		return false;
	return !place || tell_lock(s, p, t, place - 1, true);
}

/* It holds robust mutexes, or may: when it is dead the kernel lets go of them. */
static __always_inline bool holds_robust(struct task_struct *p)
{
	__u64 list = (__u64)BPF_CORE_READ(p, robust_list), first;

	return list && (bpf_probe_read_user(&first, sizeof(first), (void *)list) || first != list);
}

/* The holder, a thread, is about to end. Where it is dead its memory cannot be read any more: so it is here what others stand before. */
static __noinline int plan_reads_last(struct zug_sandbox *s, struct task_struct *p, struct task_state *t)
{
	struct zug_lease *l;

	if (t->slot >= ZUG_MAX_SANDBOXES)
		return 0;
	l = &leases[t->slot];
	if (l->left && l->plan.kind && l->nr_locks && !holds_robust(p) && tell_locks(s, p, t, l, t->last_lock))
		l->plan.read_last = t->id;
	return 0;
}

/* What the holder has done since its last point to the locks before which others stand is known here, where it sleeps or is dead. */
static __always_inline bool knows_locks(struct zug_sandbox *s, struct task_struct *p, const struct task_state *t, struct zug_lease *l)
{
	if (!l->nr_locks)
		return true;
	return t->ev.kind == ZUG_EV_EXIT ? l->plan.read_last == t->id : tell_locks(s, p, t, l, t->last_lock);
}

/* What the holder, which sleeps, goes on with when it is woken up: kworld_describe_wait(), kworld_wakes(). */
static __always_inline void sleeps_with(struct zug_access *a, const struct task_state *t)
{
	if (t->ev.kind == ZUG_EV_BLOCK && t->last_lock && (t->ev.flags & ZUG_EF_INSIDE || t->ev.arg[0] - t->last_lock < 64)) {
		a->how &= ~ZUG_ACCESS_WRITES;
		return;
	}
	/* behind another one it keeps the object of that, if the wait was one that is a point itself */
	a->how = a->object[0] || a->how & ZUG_ACCESS_FILE ? 0 : ZUG_ACCESS_KNOWN | ZUG_ACCESS_WRITES;
	a->object[0] = ZUG_OBJECT_ANY;
	a->object[1] = 0;
	a->marks = 0;
}

/* The holder sleeps, or is dead: 1 where the turn is to go to the next one of the plan, by hand_over(). */
__noinline int plan_leaves(__u32 slot)
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct zug_lease *l = &leases[slot & (ZUG_MAX_SANDBOXES - 1)];
	struct zug_plan *plan = &l->plan;
	struct task_state *t = state_of(p);
	struct zug_peer *from = &plan->peers[plan->holder & (ZUG_PLAN_PEERS - 1)];
	struct zug_sandbox *s;
	int next;

	if (!t || !(s = sandbox_of(t)))
		return 0;
	if (!knows_locks(s, p, t, l)) {
		lease_note(l, ZUG_WHY_LOCK);
		return 0;
	}
	/* the constraints are about what tasks stand before: one that is dead stands before nothing any more */
	if (t->ev.kind == ZUG_EV_EXIT)
		from->access.marks = 0;
	next = plan_step(slot, 0);
	if (next < 0 || next >= ZUG_PLAN_PEERS || next == (int)plan->holder) {
		lease_note(l, ZUG_WHY_PLAN);
		return 0;
	}
	if (!may_hand(p, t, l, next, l->nr_locks)) {
		lease_note(l, ZUG_WHY_NEXT);
		return 0;
	}
	from->pass.kind = ZUG_PASS_ASLEEP;
	stand_before(plan, plan->holder, 0);
	sleeps_with(&from->access, t);
	from->place = from->op = 0;
	plan->next = next + 1;
	l->left--;
	return 1;
}

#endif
