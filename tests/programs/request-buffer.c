/*
 * bug: two threads of a server receive their requests into one static buffer, and read them from there
 * how: one thread has received its request and is preempted before it reads it; the other thread's request takes its place.
 * outcome: exit 1
 * options:
 * args:
 * odds: 1 preemption; the calls that fill and read the buffer are points once they are seen to be unordered. Random walk:
 *	both requests are received before the first is read: p >= 1/16. PCT depth 2, 3 tasks, k <= 40: p >= 1/120.
 * executions: 200
 * small: no
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#ifdef FIXED
static __thread char request[16];
#else
static char request[16];
#endif
static int ends[2][2], asked[2];

static void *serve(void *arg)
{
	int client = *(int *)arg;

	if (recv(ends[client][1], request, sizeof(request) - 1, 0) <= 0)
		exit(2);
	asked[client] = atoi(request);
	return NULL;
}

int main(void)
{
	static const char *const numbers[] = { "11", "22" };
	static int clients[] = { 0, 1 };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends[i]))
			exit(2);
		pthread_create(&threads[i], NULL, serve, &clients[i]);
	}
	for (int i = 0; i < 2; i++)
		if (send(ends[i][0], numbers[i], 3, 0) != 3)
			exit(2);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (asked[0] == 11 && asked[1] == 22)
		return 0;
	fprintf(stderr, "asked for %d and %d\n", asked[0], asked[1]);
	return 1;
}
