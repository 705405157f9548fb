/*
 * Four threads insert into a sorted list, look up and delete, all under one lock: right, and long enough to
 * measure what looking for data races costs (tools/bench/looks).
 * build: -O1
 */
#include <pthread.h>
#include <stdlib.h>

#define THREADS	4
#define ROUNDS	60

struct node {
	struct node *next;
	long key, value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *head;
static long nr, found;

static struct node **place_of(long key)
{
	struct node **p = &head;

	while (*p && (*p)->key < key)
		p = &(*p)->next;
	return p;
}

static void insert(long key)
{
	struct node *n = malloc(sizeof(*n)), **p;

	if (!n)
		exit(2);
	n->key = key;
	n->value = 2 * key;
	pthread_mutex_lock(&lock);
	p = place_of(key);
	n->next = *p;
	*p = n;
	nr++;
	pthread_mutex_unlock(&lock);
}

static void look_up(long key)
{
	struct node *n;

	pthread_mutex_lock(&lock);
	n = *place_of(key);
	if (n && n->key == key) {
		n->value++;
		found++;
	}
	pthread_mutex_unlock(&lock);
}

static void delete(long key)
{
	struct node **p, *n;

	pthread_mutex_lock(&lock);
	p = place_of(key);
	n = *p && (*p)->key == key ? *p : NULL;
	if (n) {
		*p = n->next;
		nr--;
	}
	pthread_mutex_unlock(&lock);
	free(n);
}

static void *work(void *arg)
{
	long me = (long)arg;

	for (long i = 0; i < ROUNDS; i++) {
		insert(i * 7 % 61 + 100 * me);
		look_up(i * 5 % 61 + 100 * ((me + 1) % THREADS));
		if (i % 3 == 0)
			delete(i * 7 % 61 + 100 * me);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	long n = 0;

	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (struct node *p = head; p; p = p->next)
		n++;
	return n != nr || nr != THREADS * ROUNDS * 2 / 3;
}
