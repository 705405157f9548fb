/*
 * A program with a long start, in which two threads lock and unlock 400 times, and a bug of one preemption behind it:
 * a thread knows that nothing has changed by a number of three bits, which begins again. The reader notes it in its
 * first section, is preempted, and the writer changes it eight times. With "says" the last thread that has started says so, a
 * line in three writes; with "complains" it does on standard error, by writev().
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define ROUNDS 100

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t started;
static unsigned int warm, changes;
static const char *how = "";

static unsigned int version(void)
{
	return changes % 8;
}

static void put(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(2);
}

static void tell(void)
{
	struct iovec words[] = { { "it be", 5 }, { "gins\n", 5 } };

	if (!strcmp(how, "says")) {
		put("not yet:\nit is ");
		put("rea");
		put("dy\n");
	} else if (!strcmp(how, "complains") && writev(STDERR_FILENO, words, 2) < 0) {
		_exit(2);
	}
}

static void start(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		warm++;
		pthread_mutex_unlock(&lock);
	}
	if (pthread_barrier_wait(&started) == PTHREAD_BARRIER_SERIAL_THREAD)
		tell();
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

int main(int argc, char **argv)
{
	pthread_t threads[2];

	if (argc > 1)
		how = argv[1];
	pthread_barrier_init(&started, NULL, 2);
	pthread_create(&threads[0], NULL, writer, NULL);
	pthread_create(&threads[1], NULL, reader, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
