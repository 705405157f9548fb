/*
 * bug: a thread checks its condition with `if`, not `while`, around pthread_cond_wait
 * how: A finds no buffer and waits; main puts one in the pool and signals, which makes A ready but
 *	not yet owner of the lock; B locks first and takes the buffer; A gets the lock, does not
 *	check again and takes from an empty pool. No spurious wakeup is needed.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption or none (after the signal, B and A both want the lock). Random walk: A waits
 *	before main's put (1/8), B locks after the put and before A's relock (1/4): p >= 1/32.
 *	PCT depth 3 (B, who returns its buffer, must be stopped too before it has done so), 3 tasks,
 *	k <= 24 points: p >= 1/(3 x 24^2) = 1/1728, about 1/120 in a simulation.
 * executions: 900
 * small: yes
 * count-reasoning: main has 2 creates, lock, signal, unlock and 2 joins; each worker at most lock,
 *	wait, (woken), unlock, lock, signal, unlock, exit: at most 23 points, most of them under
 *	the one lock.
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t returned = PTHREAD_COND_INITIALIZER;
static int nr_buffers;

static void take_buffer(void)
{
	pthread_mutex_lock(&lock);
#ifdef FIXED
	while (nr_buffers == 0)
#else
	if (nr_buffers == 0)
#endif
		pthread_cond_wait(&returned, &lock);
	assert(nr_buffers > 0);
	nr_buffers--;
	pthread_mutex_unlock(&lock);
}

static void put_buffer(void)
{
	pthread_mutex_lock(&lock);
	nr_buffers++;
	pthread_cond_signal(&returned);
	pthread_mutex_unlock(&lock);
}

static void *worker(void *arg)
{
	take_buffer();
	put_buffer();
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, worker, NULL);
	pthread_create(&b, NULL, worker, NULL);
	put_buffer();
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return nr_buffers != 1;
}
