/*
 * bug: a structure is copied with memcpy() while another thread changes two of its members, without a lock
 * how: the writer has stored the version and is preempted before the check; the reader copies both.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption; zug finds the copy and the members itself. Random walk: the copy comes between
 *	the writer's two stores: p >= 1/16. PCT depth 2, 3 tasks, k <= 30: p >= 1/90.
 * executions: 200
 * small: no
 * build: -O2 -fno-builtin-memcpy
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static struct state {
	int version, values[14], check;
} state;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void enter(void)
{
#ifdef FIXED
	pthread_mutex_lock(&lock);
#endif
}

static void leave(void)
{
#ifdef FIXED
	pthread_mutex_unlock(&lock);
#endif
}

static void *writer(void *arg)
{
	volatile struct state *s = &state;

	enter();
	s->version = 1;
	s->check = 1;
	leave();
	return arg;
}

static void *reader(void *arg)
{
	struct state copy;

	enter();
	memcpy(&copy, &state, sizeof(copy));
	leave();
	assert(copy.version == copy.check);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, writer, NULL);
	pthread_create(&threads[1], NULL, reader, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
