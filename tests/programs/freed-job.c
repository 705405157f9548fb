/*
 * bug: a job is cancelled and freed while a worker still reads it
 * how: the worker takes the job under the lock and looks at it behind that; the owner takes it out of the slot and frees it
 *	when it has waited long enough. The first words of a block that is free are the C library's, and the job's own word
 *	lies behind these: most often it still is there, and nothing fails. It is gone where the owner has taken the block
 *	again meanwhile, for its next job. The twin frees the job under the lock, and the worker holds that while it reads.
 * outcome: assert or use-after-free
 * options:
 * args:
 * odds: 1 preemption, of the worker between the lock and the read, until the owner has its next job. Random walk: p >= 1/32.
 * executions: 300
 * small: no
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct job {
	struct job *next;
	long size;
	long priority;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct job *slot;

static struct job *new_job(long priority)
{
	struct job *j = malloc(sizeof(*j));

	assert(j);
	*j = (struct job){ .priority = priority };
	return j;
}

static void *works(void *arg)
{
	struct job *j;

	pthread_mutex_lock(&lock);
	j = slot;
#ifdef FIXED
	if (j)
		assert(j->priority == 7);
	pthread_mutex_unlock(&lock);
#else
	pthread_mutex_unlock(&lock);
	if (j)
		assert(j->priority == 7);
#endif
	return arg;
}

static void cancel(void)
{
	struct job *j;

	pthread_mutex_lock(&lock);
	j = slot;
	slot = NULL;
	free(j);
	pthread_mutex_unlock(&lock);
}

/* With an argument there is no next job, and nothing fails. */
int main(int argc, char **argv)
{
	struct job *next = NULL;
	pthread_t worker;

	(void)argv;
	slot = new_job(7);
	pthread_create(&worker, NULL, works, NULL);
	cancel();
	if (argc < 2)
		next = new_job(1);
	pthread_mutex_lock(&lock);
	if (next)
		next->size = 1;
	pthread_mutex_unlock(&lock);
	pthread_join(worker, NULL);
	free(next);
	return 0;
}
