/*
 * bug: two threads put their references to an object, and look at the count in a step of its own: both free it
 * how: each thread subtracts its reference by an atomic operation, and then reads the count. When both have subtracted
 *	before one of them reads, both read zero and free the object. Each of the two frees into a list of its own, so the C
 *	library notices nothing: it gives the block to both when they ask for one, and what the one writes there the other
 *	reads. The twin looks at what the subtraction returns.
 * outcome: assert or use-after-free
 * musl: assert or signal SEGV or use-after-free
 * options:
 * args:
 * odds: 1 preemption, between the subtraction and the read of one thread. Random walk: p >= 1/8.
 * executions: 300
 * small: no
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct session {
	long id, bytes;
	atomic_int references;
};

static struct session *shared;
static pthread_barrier_t both;

static struct session *new_session(long id, int references)
{
	struct session *s = malloc(sizeof(*s));

	assert(s);
	s->id = id;
	s->bytes = 0;
	atomic_init(&s->references, references);
	return s;
}

static void put(struct session *s)
{
#ifdef FIXED
	if (atomic_fetch_sub(&s->references, 1) == 1)
		free(s);
#else
	atomic_fetch_sub(&s->references, 1);
	if (!atomic_load(&s->references))
		free(s);
#endif
}

/* A thread is done with the session that both have, and begins one that is its own. */
static void *serves(void *arg)
{
	long id = (long)arg;
	struct session *own;

	put(shared);
	own = new_session(id, 1);
	pthread_barrier_wait(&both);
	assert(own->id == id);
	pthread_barrier_wait(&both);
	put(own);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	shared = new_session(0, 2);
	pthread_barrier_init(&both, NULL, 2);
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, serves, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
