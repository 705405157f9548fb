/*
 * Never fails, and has four data races: its two workers read and write one word, store one value into
 * another, count in a third that is never read, and write a fourth through a pointer to the stack of main. Their
 * accesses under the lock, and those of the word that only atomic operations access, are no races.
 * build: -O2
 */
#include <pthread.h>
#include <stdatomic.h>

struct config {
	int level;
	int started;
	int hits;
};

static struct config config;
static _Atomic int published;
static int locked_total, payload;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct job {
	int *out;
	int id;
};

static int __attribute__((noinline)) set_level(int id)
{
	int before = config.level;

	config.level = id;
	return before;
}

static void __attribute__((noinline)) mark_started(void)
{
	config.started = 1;
}

static void __attribute__((noinline)) count_hit(void)
{
	config.hits++;
}

static void __attribute__((noinline)) give_result(const struct job *j)
{
	*j->out = j->id;
}

static void *worker(void *arg)
{
	struct job *j = arg;

	set_level(j->id);
	mark_started();
	count_hit();
	give_result(j);
	pthread_mutex_lock(&lock);
	locked_total += j->id;
	pthread_mutex_unlock(&lock);
	if (j->id == 1) {
		payload = 7;
		atomic_store_explicit(&published, 1, memory_order_release);
	} else if (atomic_load_explicit(&published, memory_order_acquire)) {
		return payload == 7 ? NULL : arg;
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	int result = 0;
	struct job jobs[2] = { { &result, 1 }, { &result, 2 } };

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, &jobs[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return result < 1 || locked_total != 3;
}
