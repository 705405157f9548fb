/*
 * bug: a writer links a block of two items to the queue before it has put the second one there
 * how: the reader waits in a loop without a call or a yield, by the function that it also asks when it takes an item. The
 *	writer has linked a block and is stopped; the reader takes the first item, asks again, takes the second one.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption, between two stores of the writer, once there are points in the loop and at the stores; and the
 *	reader must be able to ask several times there without giving way to the writer. Random walk: p >= 1/64.
 * executions: 300
 * small: no
 * tsan: volatile is no synchronisation to it
 * build: -O0
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define BLOCKS 3
#define ITEMS 2

struct block {
	volatile int items[ITEMS];
	struct block *volatile next;
};

static struct block blocks[BLOCKS + 1];
static struct block *head = blocks;	/* the block before the reader's next item */
static unsigned int taken = ITEMS;	/* of that block */

static bool is_empty(void)
{
	return taken == ITEMS && !head->next;
}

static int take(void)
{
	assert(!is_empty());
	if (taken == ITEMS) {
		head = head->next;
		taken = 0;
	}
	return head->items[taken++];
}

static void *writes(void *arg)
{
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i + 1].items[0] = 2 * i + 1;
#ifdef FIXED
		blocks[i + 1].items[1] = 2 * i + 2;
		blocks[i].next = &blocks[i + 1];
#else
		blocks[i].next = &blocks[i + 1];
		blocks[i + 1].items[1] = 2 * i + 2;
#endif
	}
	return arg;
}

int main(void)
{
	pthread_t writer;

	pthread_create(&writer, NULL, writes, NULL);
	for (int i = 1; i <= BLOCKS * ITEMS; i++) {
		while (is_empty())
			;
		assert(!is_empty());
		assert(take() == i);
	}
	pthread_join(writer, NULL);
	return 0;
}
