/*
 * bug: a lock-free stack's pop compares only the pointer (ABA)
 * how: T1 reads top = A and A's next = B, and is preempted before its compare-and-swap; T2 pops A
 *	and B and pushes A again; T1's compare-and-swap finds A as before and makes B, which T2
 *	owns, the top. T1 then pops B too: B has two owners. The point is the watched read of
 *	`top`. The twin puts a version beside the pointer, in one 64-bit word.
 * outcome: assert
 * options: --watch top
 * args:
 * odds: 1 preemption. Random walk: T2 must make its six accesses between T1's read and its
 *	compare-and-swap: p >= 1/4 x 1/2^7 = 1/512.
 *	PCT depth 2, 3 tasks, k <= 24 points: p >= 1/72.
 * executions: 3500
 * small: no
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { NONE, A, B, C, NR_NODES };

/* Low 32 bits: the node on top; high 32 bits: the version, which only the twin counts up. */
_Atomic uint64_t top = A;
static atomic_int next[NR_NODES] = { [A] = B, [B] = C };
static atomic_int nr_owners[NR_NODES];

static uint64_t changed(uint64_t old, uint64_t node)
{
#ifdef FIXED
	return ((old >> 32) + 1) << 32 | node;
#else
	(void)old;
	return node;
#endif
}

static int pop(void)
{
	uint64_t old = atomic_load(&top);
	int node, behind;

	do {
		node = (int)(uint32_t)old;
		if (node == NONE)
			return NONE;
		behind = atomic_load(&next[node]);
	} while (!atomic_compare_exchange_strong(&top, &old, changed(old, behind)));
	assert(atomic_fetch_add(&nr_owners[node], 1) == 0);
	return node;
}

static void push(int node)
{
	uint64_t old = atomic_load(&top);

	atomic_fetch_sub(&nr_owners[node], 1);
	do {
		atomic_store(&next[node], (int)(uint32_t)old);
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
	int node = pop();

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
