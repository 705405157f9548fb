/*
 * bug: two threads take lines apart with strtok(), which keeps one position for all threads
 * how: a thread has taken the first word of its line; the other one begins with its own, and ends it. The first one then
 * goes on
 *	behind the end of the other's line, and finds no word of its own any more. The twin uses strtok_r().
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption; the calls are points once they are seen to be unordered. Random walk: the other thread's first call comes
 *	between two of the three calls: p >= 1/8. PCT depth 2, 3 tasks, k <= 20: p >= 1/60.
 * executions: 150
 * small: no
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#ifdef FIXED
#define NEXT_WORD(line) strtok_r(line, " ", &position)
#else
#define NEXT_WORD(line) strtok(line, " ")
#endif

static int nr_words(char *line)
{
	char *position = NULL;
	int nr = 0;

	(void)position;
	for (char *word = NEXT_WORD(line); word; word = NEXT_WORD(NULL))
		nr++;
	return nr;
}

static void *counts(void *arg)
{
	char line[] = "three short words";

	assert(nr_words(line) == 3);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, counts, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}
