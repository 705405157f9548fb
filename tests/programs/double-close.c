/*
 * bug: two threads close the same descriptor; the second close hits a new descriptor of the same number
 * how: T1 closes the input, opens the output, which gets the same number, and is preempted before
 *	it writes; T2 closes "the input" once more; T1's write finds no such descriptor. When T2
 *	comes before T1's open, or after T1's write, the test passes.
 * outcome: exit 1
 * options: --points sync,syscall
 * args:
 * odds: 1 preemption. Random walk: T1 passes start, close and open, T2 its start and close before
 *	T1's write: p >= 1/16 or more.
 *	PCT depth 2, 3 tasks, k <= 50 points (the start of the program is among them): p >= 1/150.
 * executions: 900
 * small: no
 * build:
 */
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

static int input;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void close_input(void)
{
#ifdef FIXED
	pthread_mutex_lock(&lock);
	if (input >= 0)
		close(input);
	input = -1;
	pthread_mutex_unlock(&lock);
#else
	close(input);
#endif
}

static void *converts(void *arg)
{
	int output;

	close_input();
	output = open("/dev/null", O_WRONLY);
	if (write(output, "x", 1) != 1) {
		perror("output");
		*(int *)arg = 1;
	}
	return NULL;
}

static void *gives_up(void *arg)
{
	close_input();
	return arg;
}

int main(void)
{
	int failed = 0;
	pthread_t a, b;

	input = open("/dev/zero", O_RDONLY);
	pthread_create(&a, NULL, converts, &failed);
	pthread_create(&b, NULL, gives_up, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return failed;
}
