#include <assert.h>
#include <stdatomic.h>
#include "pool.h"

static atomic_int done;

static void job(void)
{
	done++;
}

int main(void)
{
	struct pool p;

	pool_start(&p, 2);
	pool_submit(&p, job);
	pool_submit(&p, job);
	pool_stop(&p);
	assert(done == 2);
	return 0;
}
