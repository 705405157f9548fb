/*
 * Two producers and three consumers with a bounded queue, two conditions, and sums under another lock: right,
 * and long enough to measure what looking for data races costs (tools/bench/looks).
 * build: -O1
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRODUCERS	2
#define CONSUMERS	3
#define MESSAGES	60
#define ROOM		5

struct message {
	struct message *next;
	int id, kind;
	char text[32];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, sums_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static struct message *first, **last = &first;
static int nr, closed;
static long count[4], bytes;

static void put(struct message *m)
{
	pthread_mutex_lock(&lock);
	while (nr == ROOM)
		pthread_cond_wait(&room, &lock);
	m->next = NULL;
	*last = m;
	last = &m->next;
	nr++;
	pthread_cond_signal(&more);
	pthread_mutex_unlock(&lock);
}

static struct message *get(void)
{
	struct message *m = NULL;

	pthread_mutex_lock(&lock);
	while (!nr && !closed)
		pthread_cond_wait(&more, &lock);
	if (nr) {
		m = first;
		first = m->next;
		if (!first)
			last = &first;
		nr--;
		pthread_cond_signal(&room);
	}
	pthread_mutex_unlock(&lock);
	return m;
}

static void *produce(void *arg)
{
	for (int i = 0; i < MESSAGES; i++) {
		struct message *m = malloc(sizeof(*m));

		if (!m)
			exit(2);
		m->id = i;
		m->kind = i & 3;
		snprintf(m->text, sizeof(m->text), "message %d", i);
		put(m);
	}
	return arg;
}

static void *consume(void *arg)
{
	for (struct message *m = get(); m; m = get()) {
		size_t len = strlen(m->text);

		pthread_mutex_lock(&sums_lock);
		count[m->kind]++;
		bytes += len;
		pthread_mutex_unlock(&sums_lock);
		free(m);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[PRODUCERS + CONSUMERS];

	for (int i = 0; i < PRODUCERS + CONSUMERS; i++)
		pthread_create(&threads[i], NULL, i < PRODUCERS ? produce : consume, NULL);
	for (int i = 0; i < PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_lock(&lock);
	closed = 1;
	pthread_cond_broadcast(&more);
	pthread_mutex_unlock(&lock);
	for (int i = PRODUCERS; i < PRODUCERS + CONSUMERS; i++)
		pthread_join(threads[i], NULL);
	return count[0] + count[1] + count[2] + count[3] != PRODUCERS * MESSAGES;
}
