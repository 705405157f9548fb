/*
 * bug: a function returns its answer in a static buffer, and gives the lock back before its caller has read it
 * how: one thread has its answer and is preempted before it reads it; the other thread's answer takes its place.
 * outcome: exit 1
 * options:
 * args:
 * odds: 1 preemption; zug finds the call that writes the buffer, and the reads, itself. Random walk: both
 *	answers come before the first is read: p >= 1/16. PCT depth 2, 3 tasks, k <= 30: p >= 1/90.
 * executions: 200
 * small: no
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#ifndef FIXED
static const char *answer(const char *name, char *own, size_t size)
{
	static char reply[32];

	(void)own;
	(void)size;
	pthread_mutex_lock(&lock);
	snprintf(reply, sizeof(reply), "%s!", name);
	pthread_mutex_unlock(&lock);
	return reply;
}
#else
static const char *answer(const char *name, char *own, size_t size)
{
	pthread_mutex_lock(&lock);
	snprintf(own, size, "%s!", name);
	pthread_mutex_unlock(&lock);
	return own;
}
#endif

static void *client(void *arg)
{
	const char *name = arg, *reply;
	char own[32];

	reply = answer(name, own, sizeof(own));
	return reply[0] == name[0] ? NULL : arg;
}

int main(void)
{
	pthread_t a, b;
	void *wrong_a, *wrong_b;

	pthread_create(&a, NULL, client, "alice");
	pthread_create(&b, NULL, client, "bob");
	pthread_join(a, &wrong_a);
	pthread_join(b, &wrong_b);
	if (!wrong_a && !wrong_b)
		return 0;
	fprintf(stderr, "%s got the answer of another\n", (char *)(wrong_a ? wrong_a : wrong_b));
	return 1;
}
