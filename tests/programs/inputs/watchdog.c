/*
 * An alarm() that is to end the program when it hangs, while all signals are blocked for a moment: as in raise(), fork()
 * and posix_spawn() of C libraries. That it would end the program early is no bug of it.
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static int ends[2];

static void *works(void *arg)
{
	sigset_t all, before;
	char c = 'x';

	sigfillset(&all);
	for (int i = 0; i < 3; i++) {
		pthread_sigmask(SIG_BLOCK, &all, &before);
		assert(write(ends[1], &c, 1) == 1);
		assert(read(ends[0], &c, 1) == 1);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	return arg;
}

int main(void)
{
	pthread_t t;

	alarm(10);
	assert(!pipe(ends));
	pthread_create(&t, NULL, works, NULL);
	works(NULL);
	pthread_join(t, NULL);
	return 0;
}
