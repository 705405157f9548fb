/*
 * Atomic operations of 16 bytes, which the compiler leaves to libatomic. The words `op: NAME OBJECT` at the end of a line are
 * the operation and the object that its label must have.
 * build: -latomic
 */
#include <stdatomic.h>

struct pair {
	long low, high;
};

static _Atomic struct pair both;
static _Atomic unsigned __int128 count;

int main(void)
{
	struct pair p = atomic_load(&both), next = { p.low + 1, p.high + 1 }; /* op: atomic-load both */

	atomic_store(&both, next); /* op: atomic-store both */
	p = atomic_exchange(&both, p); /* op: atomic-rmw both */
	atomic_compare_exchange_strong(&both, &p, next); /* op: atomic-rmw both */
	atomic_fetch_add(&count, 1); /* op: atomic-rmw count */
	if (atomic_load(&count) != 1) /* op: atomic-load count */
		return 2;
	return p.low != 0 || p.high != 0;
}
