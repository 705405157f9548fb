/*
 * bug: a thread announces which node of a stack it is about to read, and does not look whether it is still on top
 * how: T1 finds a node on top, and is preempted before it announces that; T2 pops the node, and sees
 *	that nobody has announced it. T2 is preempted before it frees the node, or T1 goes on behind
 *	that: T1 reads the link of what is about to be freed, or was.
 * outcome: assert or use-after-free
 * options:
 * args:
 * odds: 2 preemptions, each at one place: T1 before its store, T2 before its free(). Random walk: T1
 *	passes its load of the top, T2 seven steps, T1 goes on before T2's next one, and main's create
 *	may come between: p >= 1/512.
 * executions: 600
 * small: no
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

struct node {
	_Atomic(struct node *) next;
	int value;
};

static _Atomic(struct node *) top;
/* What each thread is about to read: it may not be freed. */
static _Atomic(struct node *) announced[2];

static struct node *pop(int me)
{
	struct node *n, *next;

	do {
		n = atomic_load(&top);
		atomic_store(&announced[me], n);
#ifdef FIXED
		if (atomic_load(&top) != n) {
			next = NULL;
			continue;
		}
#endif
		next = atomic_load(&n->next);
	} while (!next || !atomic_compare_exchange_strong(&top, &n, next));
	atomic_store(&announced[me], NULL);
	return n;
}

static void release(int me, struct node *n)
{
	while (atomic_load(&announced[!me]) == n)
		sched_yield();
	free(n);
}

static void *worker(void *arg)
{
	int me = (int)(intptr_t)arg;
	struct node *n = pop(me);

	assert(n->value > 0);
	release(me, n);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	for (int i = 0; i < 3; i++) {
		struct node *n = malloc(sizeof(*n));

		n->value = i;
		n->next = top;
		top = n;
	}
	pthread_create(&a, NULL, worker, (void *)(intptr_t)0);
	pthread_create(&b, NULL, worker, (void *)(intptr_t)1);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	free(top);
	return 0;
}
