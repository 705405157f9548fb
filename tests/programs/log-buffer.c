/*
 * bug: a log's writers check and fill one buffer without a lock; only writing it out is locked
 * how: T1 finds room for its line and blocks in the lock of the statistics, which main holds, before it
 *	copies. Main gives the lock back, starts T2 and waits; T2 runs first, finds the same length, and
 *	copies its line to where T1 copies its own: one line is lost. The switches cost no preemption: they
 *	are the lock and the join at which tasks wait.
 * outcome: assert
 * options:
 * args:
 * odds: no preemption, or 1. Random walk: T1 checks before it is stopped, 1/2 or more, T2 before T1 goes on: p >= 1/16.
 * executions: 300
 * small: no
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t statistics = PTHREAD_MUTEX_INITIALIZER;
#ifdef FIXED
static pthread_mutex_t buffer = PTHREAD_MUTEX_INITIALIZER;
#endif
static char text[256];
static volatile int used;
static int nr_lines;

static void count_line(void)
{
	pthread_mutex_lock(&statistics);
	nr_lines++;
	pthread_mutex_unlock(&statistics);
}

static void *log_line(void *line)
{
	size_t n = strlen(line);
	int at;

#ifdef FIXED
	pthread_mutex_lock(&buffer);
#endif
	at = used;
	if (at + n < sizeof(text)) {
		count_line();
		memcpy(text + at, line, n);
		used = at + n;
	}
#ifdef FIXED
	pthread_mutex_unlock(&buffer);
#endif
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_mutex_lock(&statistics);
	pthread_create(&a, NULL, log_line, "first line\n");
	usleep(1000);
	pthread_mutex_unlock(&statistics);
	pthread_create(&b, NULL, log_line, "second line\n");
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(used == (int)strlen("first line\nsecond line\n"));
	return 0;
}
