/*
 * A program with a long start, in which two threads lock and unlock 400 times, and a bug of one preemption behind it:
 * a thread knows that nothing has changed by a number of three bits, which begins again. The reader notes it in its
 * first section, is preempted, and the writer changes it eight times.
 */
#include <assert.h>
#include <pthread.h>

#define ROUNDS 100

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t started;
static unsigned int warm, changes;

static unsigned int version(void)
{
	return changes % 8;
}

static void start(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		warm++;
		pthread_mutex_unlock(&lock);
	}
	pthread_barrier_wait(&started);
}

static void __attribute__((noinline)) serve(void (*what)(void))
{
	what();
}

/* is never called: --from it */
void __attribute__((noinline)) shut_down(void)
{
	changes = 0;
}

static void write_all(void)
{
	for (int i = 0; i < 8; i++) {
		pthread_mutex_lock(&lock);
		changes++;
		pthread_mutex_unlock(&lock);
	}
}

static void read_twice(void)
{
	unsigned int noted, found;

	pthread_mutex_lock(&lock);
	noted = version();
	found = changes;
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	assert(version() != noted || changes == found);
	pthread_mutex_unlock(&lock);
}

static void *writer(void *arg)
{
	start();
	serve(write_all);
	return arg;
}

static void *reader(void *arg)
{
	start();
	serve(read_twice);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_barrier_init(&started, NULL, 2);
	pthread_create(&threads[0], NULL, writer, NULL);
	pthread_create(&threads[1], NULL, reader, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
