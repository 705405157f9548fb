/*
 * bug: what threads do that come before the start is said counts them without a lock
 * how: main creates two threads and then says that it has started. A thread that sees that counts itself by one
 *	instruction that is indivisible; one that comes before it reads the number, and writes it back. Two that come before
 *	it, with the read of one between the read and the write of the other, count as one. Without preemption no thread goes
 *	that way: its data races only where the schedule is another one.
 * outcome: assert
 * options:
 * args:
 * odds: 2 preemptions: of main, and of the first thread between its read and its write. Measured: five seeds took 3, 48,
 *	93, 97 and more than 400 executions, so about 1/150.
 * executions: 1500
 * small: no
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int started, counted;
static volatile int early;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void come_early(void)
{
#ifdef FIXED
	pthread_mutex_lock(&lock);
#endif
	early = early + 1;
#ifdef FIXED
	pthread_mutex_unlock(&lock);
#endif
	atomic_fetch_add(&counted, 1);
}

static void *work(void *arg)
{
	if (!atomic_load(&started))
		come_early();
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	atomic_store(&started, 1);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_lock(&lock);
	assert(early == atomic_load(&counted));
	pthread_mutex_unlock(&lock);
	return 0;
}
