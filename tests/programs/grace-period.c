/*
 * bug: a reader uses what it has read after it has said that it is done, and the writer may have cleared it then
 * how: the reader takes the table's address while it counts as active, and is preempted between its unlock and its look at
 *	the table; the writer puts another table there, waits until no reader is active, and clears the old one. The reader sees
 *	half of a table, or none. The lock orders reader and writer in nearly every schedule, so a look at the accesses seldom
 *	shows that they race.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption. The table's accesses are no points until a look has seen them without an order: the writer's whole
 *	part has to come between two locks of the reader.
 * executions: 500
 * small: no
 * build: -O1
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct table {
	int low, high;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int active;
static struct table *_Atomic current;

static void set_active(int value)
{
	pthread_mutex_lock(&lock);
	active = value;
	pthread_mutex_unlock(&lock);
}

static int is_active(void)
{
	int value;

	pthread_mutex_lock(&lock);
	value = active;
	pthread_mutex_unlock(&lock);
	return value;
}

static void *reader(void *arg)
{
	for (int i = 0; i < 3; i++) {
		struct table *t;

		set_active(1);
		t = current;
#ifdef FIXED
		assert(t->low + t->high == 10);
		set_active(0);
#else
		set_active(0);
		assert(t->low + t->high == 10);
#endif
	}
	return arg;
}

static void *writer(void *arg)
{
	struct table *next = malloc(sizeof(*next)), *old;

	next->low = 3;
	next->high = 7;
	for (int i = 0; i < 10; i++)
		is_active();
	old = atomic_exchange(&current, next);
	while (is_active())
		sched_yield();
	old->low = old->high = 0;
	return arg;
}

int main(void)
{
	static struct table first = { 5, 5 };
	pthread_t threads[2];

	current = &first;
	pthread_create(&threads[0], NULL, reader, NULL);
	pthread_create(&threads[1], NULL, writer, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
