/*
 * bug: two threads look into the result of gmtime(), which lies in memory that all its calls write
 * how: a thread has called gmtime(), and is preempted before it looks at the year; the other one calls gmtime() for
 * another time,
 *	and the first one reads that year. The twin uses gmtime_r().
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption, right behind the call; that is a point once it is seen to be unordered with the other call. Random walk:
 *	p >= 1/8. PCT depth 2, 3 tasks, k <= 20: p >= 1/60.
 * executions: 150
 * small: no
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <time.h>

static int year_of(time_t time)
{
#ifdef FIXED
	struct tm own, *date = gmtime_r(&time, &own);
#else
	struct tm *date = gmtime(&time);
#endif

	return date->tm_year + 1900;
}

static void *begins(void *arg)
{
	assert(year_of(0) == 1970);
	return arg;
}

static void *goes_on(void *arg)
{
	assert(year_of(1000000000) == 2001);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, begins, NULL);
	pthread_create(&threads[1], NULL, goes_on, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}
