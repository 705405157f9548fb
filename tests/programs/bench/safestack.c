/*
 * Vyukov's SafeStack: three threads take items from a lock-free stack, use them, and put them back.
 * A program whose bug is known as very rare: for the number of executions that a second has.
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

#define THREADS	3
#define ITEMS	3
#define ROUNDS	4

static struct {
	atomic_int next;
	volatile long value;
} items[ITEMS];

static atomic_int head, count = ITEMS;

static int pop(void)
{
	int top, first, next;

	while (atomic_load(&count) > 1) {
		top = first = atomic_load(&head);
		next = atomic_exchange(&items[top].next, -1);
		if (next < 0)
			continue;
		if (atomic_compare_exchange_strong(&head, &first, next)) {
			atomic_fetch_sub(&count, 1);
			return top;
		}
		atomic_exchange(&items[top].next, next);
	}
	return -1;
}

static void push(int item)
{
	int top = atomic_load(&head);

	do
		atomic_store(&items[item].next, top);
	while (!atomic_compare_exchange_strong(&head, &top, item));
	atomic_fetch_add(&count, 1);
}

static void *work(void *arg)
{
	long me = (long)arg;
	int item;

	for (int round = 0; round < ROUNDS; round++) {
		while ((item = pop()) < 0)
			sched_yield();
		items[item].value = me;
		assert(items[item].value == me);
		push(item);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < ITEMS; i++)
		items[i].next = i + 1 < ITEMS ? i + 1 : -1;
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
