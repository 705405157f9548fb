#include <zug.h>
#include "pool.h"

static int done;

static void job(void)
{
	done++;
}

static void jobs_are_done(void *arg)
{
	struct pool p;

	(void)arg;
	done = 0;
	pool_start(&p, 2);
	pool_submit(&p, job);
	pool_submit(&p, job);
	pool_stop(&p);
	zug_assert(done == 2);
}

int main(void)
{
	return zug_test(jobs_are_done, NULL, NULL);
}
