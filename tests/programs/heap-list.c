/*
 * bug: two threads push onto a list that both reach through a pointer, without a lock
 * how: one thread has read the head and is preempted before it writes it; the other pushes its node;
 *	the first makes its own node the head, and the other's is lost.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption (between load and store of head). Random walk: p >= 1/16 once both threads have
 *	started and head is a point.
 *	PCT depth 2, 3 tasks, k <= 30 points: p >= 1/90.
 * executions: 500
 * small: no
 * build: -O2
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct node {
	struct node *next;
	int value;
};

struct list {
	pthread_mutex_t lock;
	struct node *head;
};

static void push(struct list *l, struct node *n)
{
#ifdef FIXED
	pthread_mutex_lock(&l->lock);
#endif
	n->next = l->head;
	l->head = n;
#ifdef FIXED
	pthread_mutex_unlock(&l->lock);
#endif
}

static void *worker(void *arg)
{
	struct node *n = malloc(sizeof(*n));

	if (!n)
		abort();
	n->value = 1;
	push(arg, n);
	return NULL;
}

int main(void)
{
	struct list *l = calloc(1, sizeof(*l));
	pthread_t threads[2];
	int nr = 0;

	if (!l)
		return 2;
	pthread_mutex_init(&l->lock, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, l);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (struct node *n = l->head, *next; n; n = next) {
		next = n->next;
		nr += n->value;
		free(n);
	}
	free(l);
	assert(nr == 2);
	return 0;
}
