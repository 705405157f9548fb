/*
 * bug: a server keeps the date of its answers as text, which one thread rewrites in place and another prints without the lock
 * how: the clock's thread is preempted between two parts of the text; the answer that is printed then has half of two dates.
 * outcome: exit 1
 * options:
 * args:
 * odds: 1 preemption; zug finds the call that prints the text, and the writes to it, itself. Random walk: the print
 *	comes between the first and the last of 5 writes: p >= 1/8. PCT depth 2, 3 tasks, k <= 30: p >= 1/90.
 * executions: 200
 * small: no
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define PART 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char old_date[] = "2006-12-31 23:59:59", new_date[] = "2007-01-01 00:00:00";
static char now[] = "2006-12-31 23:59:59";

static void *tick(void *arg)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < sizeof(now); i += PART)
		memcpy(now + i, new_date + i, PART);
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *answer(void *arg)
{
	char *header = arg;

#ifdef FIXED
	pthread_mutex_lock(&lock);
#endif
	snprintf(header, 32, "Date: %s", now);
#ifdef FIXED
	pthread_mutex_unlock(&lock);
#endif
	return NULL;
}

int main(void)
{
	pthread_t clock, server;
	char header[32];

	pthread_create(&clock, NULL, tick, NULL);
	pthread_create(&server, NULL, answer, header);
	pthread_join(clock, NULL);
	pthread_join(server, NULL);
	if (strcmp(header + 6, old_date) && strcmp(header + 6, new_date)) {
		fprintf(stderr, "%s\n", header);
		return 1;
	}
	return 0;
}
