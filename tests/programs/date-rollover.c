/*
 * bug: a time stamp is made of two readings of the clock, one for the day and one for the time of day
 * how: midnight passes between the two, while the line is formatted: the stamp is a day early. A
 *	thread waits for midnight, so the clock jumps to midnight when its time-out expires.
 * outcome: assert
 * options:
 * args:
 * odds: 1 preemption. Random walk: the midnight job waits before the first reading (1/2 or more), and of
 *	its expiry and the three steps of the main task the expiry is chosen between the readings (1/4 or
 *	more): p >= 1/8.
 * executions: 100
 * small: no
 * build:
 */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define DAY_NS 86400000000000ull
#define UNTIL_MIDNIGHT_NS 20000000ull

static pthread_mutex_t formatting = PTHREAD_MUTEX_INITIALIZER;
static uint64_t begin;
static int nr_lines, nr_rotated;

/* ns since the first midnight of a calendar in which the program starts shortly before the next */
static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec - begin + DAY_NS - UNTIL_MIDNIGHT_NS;
}

static void *midnight_job(void *arg)
{
	struct timespec until = { .tv_nsec = UNTIL_MIDNIGHT_NS };

	nanosleep(&until, NULL);
	pthread_mutex_lock(&formatting);
	nr_rotated++;
	pthread_mutex_unlock(&formatting);
	return arg;
}

int main(void)
{
	uint64_t before, day, time_of_day;
	pthread_t thread;

	begin = 0;
	begin = now() - DAY_NS + UNTIL_MIDNIGHT_NS;
	pthread_create(&thread, NULL, midnight_job, NULL);
	before = now();
	day = before / DAY_NS;
	pthread_mutex_lock(&formatting);
	nr_lines++;
	pthread_mutex_unlock(&formatting);
#ifdef FIXED
	time_of_day = before % DAY_NS;
#else
	time_of_day = now() % DAY_NS;
#endif
	assert(day * DAY_NS + time_of_day >= before);
	pthread_join(thread, NULL);
	return 0;
}
