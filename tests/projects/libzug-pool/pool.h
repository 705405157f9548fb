/* pool.h - threads that do jobs */
#ifndef POOL_H
#define POOL_H

#include <pthread.h>
#include <stdbool.h>

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t work;
	pthread_t threads[4];
	int nr_threads;
	void (*jobs[16])(void);
	int nr_jobs;
	bool stop;
};

void pool_start(struct pool *p, int nr_threads);
void pool_submit(struct pool *p, void (*job)(void));
/* Returns when all jobs are done. */
void pool_stop(struct pool *p);

#endif
