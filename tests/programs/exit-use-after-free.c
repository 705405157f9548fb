/*
 * bug: a thread's buffer, freed by its key destructor at thread exit, is still used by another
 * how: the reader takes the owner's pointer, announces it by sem_post, and is preempted before it
 *	takes the lock under which it reads; the owner ends and its destructor frees the buffer,
 *	which is large enough to be unmapped; the reader then reads unmapped memory.
 * outcome: signal SEGV
 * options:
 * args:
 * odds: 1 preemption. Random walk: between the reader's sem_post and its lock the owner must wake
 *	(1/2) and pass no further point before it frees: p >= 1/4.
 *	PCT depth 2, 3 tasks, k <= 20 points: p >= 1/60.
 * executions: 400
 * small: yes
 * count-reasoning: main has create, create, join, join; the owner post, wait, exit; the reader
 *	wait, post, lock, unlock, exit: 12 points, and a blocking one for each wait.
 * build:
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

/* Above malloc's threshold of 128 KiB a block is mapped, and unmapped when it is freed. */
#define BUFFER_SIZE (1 << 20)

static pthread_key_t key;
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t ready, taken;
static char *volatile shared;
static int sum;

static void *owner(void *arg)
{
	char *buffer = malloc(BUFFER_SIZE);

	buffer[0] = 1;
	pthread_setspecific(key, buffer);
	shared = buffer;
	sem_post(&ready);
	sem_wait(&taken);
	return arg;
}

static void *reader(void *arg)
{
	char *buffer;

	sem_wait(&ready);
	buffer = shared;
#ifndef FIXED
	sem_post(&taken);
#endif
	pthread_mutex_lock(&stats_lock);
	sum += buffer[0];
	pthread_mutex_unlock(&stats_lock);
#ifdef FIXED
	sem_post(&taken);
#endif
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_key_create(&key, free);
	sem_init(&ready, 0, 0);
	sem_init(&taken, 0, 0);
	pthread_create(&a, NULL, owner, NULL);
	pthread_create(&b, NULL, reader, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return sum != 1;
}
