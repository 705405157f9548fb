/*
 * bug: a work-stealing deque's owner takes the last item as if no thief could take it (Chase-Lev)
 * how: the owner takes from the bottom, thieves steal from the top. When one item is left both may
 *	want it: then the owner, too, has to compete for it by compare-and-swap on top. Its check
 *	of the bounds is wrong by one (top <= bottom instead of top < bottom), so it takes the
 *	last item without the compare-and-swap. T1 has read top and bottom and is preempted before its
 *	compare-and-swap; T0 takes the item; T1's compare-and-swap succeeds: two owners.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption, of T1 at one of three points. Random walk: T1 comes to its compare-and-swap
 *	before T0 has lowered the bottom, and T0 takes its item before T1 goes on: p >= 1/32.
 * executions: 300
 * small: yes
 * count-reasoning: T0: create, about five atomic accesses, join; T1: five: about 14 points.
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum { NOTHING, ITEM, NR_ITEMS, ROOM = 8 };

static atomic_long top, bottom;
static int items[ROOM];
static atomic_int nr_owners[NR_ITEMS];

static void push(int item)
{
	long b = atomic_load(&bottom);

	items[b % ROOM] = item;
	atomic_store(&bottom, b + 1);
}

static int take(void)
{
	long b = atomic_load(&bottom) - 1, t;
	int item = NOTHING;

	atomic_store(&bottom, b);
	t = atomic_load(&top);
#ifdef FIXED
	if (t < b)
#else
	if (t <= b)
#endif
		return items[b % ROOM];
	if (t == b && atomic_compare_exchange_strong(&top, &t, t + 1))
		item = items[b % ROOM];
	atomic_store(&bottom, b + 1);
	return item;
}

static int steal(void)
{
	long t = atomic_load(&top), b = atomic_load(&bottom);
	int item;

	if (t >= b)
		return NOTHING;
	item = items[t % ROOM];
	return atomic_compare_exchange_strong(&top, &t, t + 1) ? item : NOTHING;
}

static void own(int item)
{
	if (item != NOTHING)
		assert(atomic_fetch_add(&nr_owners[item], 1) == 0);
}

static void *thief(void *arg)
{
	own(steal());
	return arg;
}

int main(void)
{
	pthread_t t;

	push(ITEM);
	pthread_create(&t, NULL, thief, NULL);
	own(take());
	pthread_join(t, NULL);
	return 0;
}
