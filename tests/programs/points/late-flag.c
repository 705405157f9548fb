/*
 * A worker that finds the queue empty looks whether it is over, and ends: an item that was put in between is left. The
 * flag is set by one instruction that is atomic, and read by an ordinary one, as an atomic load is; without debug
 * information nothing says that it is atomic. It fails when the item and the flag come between the worker's look at the
 * queue and that at the flag. build: -O2 -g0
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct queue {
	pthread_mutex_t lock;
	int items, taken;
	atomic_int over;
};

static int take(struct queue *q)
{
	int any;

	pthread_mutex_lock(&q->lock);
	any = q->items > 0;
	q->items -= any;
	pthread_mutex_unlock(&q->lock);
	return any;
}

static void *work(void *arg)
{
	struct queue *q = arg;

	for (;;) {
		if (take(q))
			q->taken++;
		else if (atomic_load(&q->over))
			return NULL;
		else
			sched_yield();
	}
}

int main(void)
{
	struct queue *q = calloc(1, sizeof(*q));
	pthread_t worker;

	pthread_mutex_init(&q->lock, NULL);
	pthread_create(&worker, NULL, work, q);
	pthread_mutex_lock(&q->lock);
	q->items++;
	pthread_mutex_unlock(&q->lock);
	atomic_store(&q->over, 1);
	pthread_join(worker, NULL);
	return q->taken != 1;
}
