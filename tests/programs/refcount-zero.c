/*
 * bug: a reference is taken to an object whose count may have reached zero: it is resurrected
 * how: a cache holds one reference. T1 finds the object in the cache and is preempted before it
 *	counts its own reference; T2 takes the object out of the cache and drops the cache's
 *	reference, the last: the object is destroyed; T1 counts from zero to one and uses it. The
 *	twin takes a reference only where the count is not zero.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption. Random walk: T1 passes its load of the cache, T2 its two steps before T1's
 *	next: p >= 1/16.
 * executions: 300
 * small: yes
 * count-reasoning: main has two creates and joins; T1 a load, an addition and a subtraction and, in
 *	the twin, a load more; T2 an exchange and a subtraction: about 12 points.
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct object {
	atomic_int references;
	atomic_bool destroyed;
};

/* Objects are never freed, so that a count of zero can be read. */
static struct object object = { .references = 1 };
static _Atomic(struct object *) cache = &object;

static bool get(struct object *o)
{
#ifdef FIXED
	int n = atomic_load(&o->references);

	do {
		if (!n)
			return false;
	} while (!atomic_compare_exchange_weak(&o->references, &n, n + 1));
#else
	atomic_fetch_add(&o->references, 1);
#endif
	return true;
}

static void put(struct object *o)
{
	if (atomic_fetch_sub(&o->references, 1) == 1)
		atomic_store(&o->destroyed, true);
}

static void *uses(void *arg)
{
	struct object *o = atomic_load(&cache);

	if (o && get(o)) {
		assert(!atomic_load(&o->destroyed));
		put(o);
	}
	return arg;
}

static void *evicts(void *arg)
{
	struct object *o = atomic_exchange(&cache, NULL);

	put(o);
	return arg;
}

int main(void)
{
	pthread_t x, y;

	pthread_create(&x, NULL, uses, NULL);
	pthread_create(&y, NULL, evicts, NULL);
	pthread_join(x, NULL);
	pthread_join(y, NULL);
	return 0;
}
