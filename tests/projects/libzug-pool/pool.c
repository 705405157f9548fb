#include "pool.h"

static void *worker(void *arg)
{
	struct pool *p = arg;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (!p->nr_jobs && !p->stop)
			pthread_cond_wait(&p->work, &p->lock);
		if (!p->nr_jobs)
			break;

		void (*job)(void) = p->jobs[--p->nr_jobs];

		pthread_mutex_unlock(&p->lock);
		job();
		pthread_mutex_lock(&p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

void pool_start(struct pool *p, int nr_threads)
{
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->work, NULL);
	p->nr_jobs = 0;
	p->stop = false;
	p->nr_threads = nr_threads;
	for (int i = 0; i < nr_threads; i++)
		pthread_create(&p->threads[i], NULL, worker, p);
}

void pool_submit(struct pool *p, void (*job)(void))
{
	pthread_mutex_lock(&p->lock);
	p->jobs[p->nr_jobs++] = job;
	pthread_cond_signal(&p->work);
	pthread_mutex_unlock(&p->lock);
}

void pool_stop(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->stop = true;
#ifdef FIXED
	pthread_cond_broadcast(&p->work);
#else
	pthread_cond_signal(&p->work);
#endif
	pthread_mutex_unlock(&p->lock);
	for (int i = 0; i < p->nr_threads; i++)
		pthread_join(p->threads[i], NULL);
	pthread_cond_destroy(&p->work);
	pthread_mutex_destroy(&p->lock);
}
