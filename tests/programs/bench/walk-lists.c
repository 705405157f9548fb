/*
 * Two threads that follow pointers and write behind them most of the time, each in a list of its own, and lock
 * now and then: it measures the cost of the data-race scan where there are many accesses.
 * build: -O2
 */
#include <pthread.h>
#include <stdlib.h>

#define NODES	200
#define ROUNDS	10

struct node {
	struct node *next;
	long value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void *walk(void *arg)
{
	struct node *first = arg;
	long sum = 0;

	for (int round = 0; round < ROUNDS; round++) {
		for (struct node *n = first; n; n = n->next)
			sum += n->value++;
		pthread_mutex_lock(&lock);
		total += sum;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	struct node *nodes = calloc(2 * NODES, sizeof(*nodes));
	pthread_t threads[2];

	if (!nodes)
		return 2;
	for (int i = 0; i < 2 * NODES; i++)
		nodes[i].next = i % NODES < NODES - 1 ? &nodes[i + 1] : NULL;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, walk, &nodes[i * NODES]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	free(nodes);
	return total != 2L * NODES * (9 * 10 * 11 / 6);
}
