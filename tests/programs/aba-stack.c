/*
 * bug: a lock-free stack's pop compares only which node is on top (ABA)
 * how: T1 finds A on top and reads that B is behind it, and is preempted before its
 *	compare-and-swap; T2 pops A and B and pushes A again; T1's compare-and-swap finds A as
 *	before and makes B the top, although T2 owns B. T1 then pops B too: B has two owners. The
 *	points are the atomic instructions, T1's compare-and-swap above all. The twin keeps a
 *	version beside the node's number, in one 64-bit word.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption. Random walk: T1 passes its load of the top, T2 its two pops and its push, nine
 *	steps, before T1 goes on; main's create may come between: p >= 1/100.
 * executions: 500
 * small: no
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { NONE, A, B, C, NR_NODES };

/* The node behind each node. */
_Atomic uint32_t link_a = B, link_b = C, link_c = NONE;
static _Atomic uint32_t *const links[NR_NODES] = { [A] = &link_a, [B] = &link_b, [C] = &link_c };

/* Low 32 bits: the node on top; high 32 bits: the version, which only the twin counts up. */
static _Atomic uint64_t top = A;
static atomic_int nr_owners[NR_NODES];

static uint64_t changed(uint64_t old, uint32_t node)
{
#ifdef FIXED
	return ((old >> 32) + 1) << 32 | node;
#else
	(void)old;
	return node;
#endif
}

static uint32_t pop(void)
{
	uint64_t old = atomic_load(&top);
	uint32_t node, behind;

	do {
		node = (uint32_t)old;
		if (node == NONE)
			return NONE;
		behind = atomic_load(links[node]);
	} while (!atomic_compare_exchange_strong(&top, &old, changed(old, behind)));
	assert(atomic_fetch_add(&nr_owners[node], 1) == 0);
	return node;
}

static void push(uint32_t node)
{
	uint64_t old = atomic_load(&top);

	atomic_fetch_sub(&nr_owners[node], 1);
	do {
		atomic_store(links[node], (uint32_t)old);
	} while (!atomic_compare_exchange_strong(&top, &old, changed(old, node)));
}

static void *pops_two(void *arg)
{
	pop();
	pop();
	return arg;
}

static void *pops_two_pushes_one(void *arg)
{
	uint32_t node = pop();

	pop();
	if (node != NONE)
		push(node);
	return arg;
}

int main(void)
{
	pthread_t x, y;

	pthread_create(&x, NULL, pops_two, NULL);
	pthread_create(&y, NULL, pops_two_pushes_one, NULL);
	pthread_join(x, NULL);
	pthread_join(y, NULL);
	return 0;
}
