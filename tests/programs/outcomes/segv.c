/* SPDX-License-Identifier: GPL-2.0-only */
/* Uses a null pointer when the other thread has not stored the pointer yet. */
#include <pthread.h>

static int value;
static int *volatile where;

static void *publish(void *arg)
{
	where = &value;
	return arg;
}

static int look(void)
{
	return *where;
}

int main(void)
{
	pthread_t t;
	int got;

	if (pthread_create(&t, NULL, publish, NULL))
		return 99;
	got = look();
	pthread_join(t, NULL);
	return got;
}
