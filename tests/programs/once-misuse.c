/*
 * bug: each caller guards one shared initialisation with a pthread_once_t of its own
 * how: T1's once routine finds no table and is preempted before it takes the allocator's lock;
 *	T2's, guarded by another control, finds none either and makes one; T1 then makes a second
 *	and replaces the first, with T2's entry in it.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption. Random walk: both pass once before either's lock: p >= 1/8 with the chance
 *	that both live; then the order of the entries, 1/2 (an entry must be made in a table that
 *	is replaced later): p >= 1/32. PCT depth 2, 3 tasks, k <= 20 points: p >= 1/60.
 * executions: 400
 * small: yes
 * count-reasoning: main has create, create, join, join; each worker once, (lock, unlock), lock,
 *	unlock, exit: at most 16 points.
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct table {
	int nr_entries;
};

static pthread_mutex_t alloc_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t entry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct table pool[2];
static int nr_tables;
static struct table *volatile table;

static struct table *new_table(void)
{
	struct table *new;

	pthread_mutex_lock(&alloc_lock);
	new = &pool[nr_tables++];
	pthread_mutex_unlock(&alloc_lock);
	return new;
}

static void init(void)
{
	if (!table)
		table = new_table();
}

static void *worker(void *arg)
{
	pthread_once(arg, init);
	pthread_mutex_lock(&entry_lock);
	table->nr_entries++;
	pthread_mutex_unlock(&entry_lock);
	return NULL;
}

int main(void)
{
	static pthread_once_t first = PTHREAD_ONCE_INIT;
#ifdef FIXED
	pthread_once_t *second = &first;
#else
	static pthread_once_t other = PTHREAD_ONCE_INIT;
	pthread_once_t *second = &other;
#endif
	pthread_t a, b;

	pthread_create(&a, NULL, worker, &first);
	pthread_create(&b, NULL, worker, second);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(table->nr_entries == 2);
	return 0;
}
