/*
 * bug: two threads of a server make their answers in one static buffer, and send them from there
 * how: one thread has made its answer and is preempted before it sends it; the other thread's answer takes its place.
 *	The client waits for both: that its read comes after the write that it waits for is no choice.
 * outcome: exit 1
 * options:
 * args:
 * odds: 1 preemption; the calls that write the buffer are points once they are seen to be unordered. Random walk: both
 *	answers are made before the first is sent: p >= 1/16. PCT depth 2, 3 tasks, k <= 40: p >= 1/120.
 * executions: 200
 * small: no
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef FIXED
static char answer[64];
#endif

static void *serve(void *arg)
{
	struct iovec reply[2] = { { 0 }, { .iov_base = "\n", .iov_len = 1 } };
	int fd = *(int *)arg;
	char name[32] = "";
#ifdef FIXED
	char answer[64];
#endif

	if (read(fd, name, sizeof(name) - 1) <= 0)
		exit(2);
	snprintf(answer, sizeof(answer), "hello %s", name);
	reply[0].iov_base = answer;
	reply[0].iov_len = strlen(name) + 6;
	if (writev(fd, reply, 2) < 0)
		exit(2);
	return NULL;
}

int main(void)
{
	static const char *const names[] = { "ann", "bob" };
	pthread_t threads[2];
	int ends[2][2];

	for (int i = 0; i < 2; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]))
			exit(2);
		pthread_create(&threads[i], NULL, serve, &ends[i][1]);
	}
	for (int i = 0; i < 2; i++)
		if (write(ends[i][0], names[i], strlen(names[i])) < 0)
			exit(2);
	for (int i = 0; i < 2; i++) {
		char got[64] = "";

		if (read(ends[i][0], got, sizeof(got) - 1) < 0)
			exit(2);
		got[strcspn(got, "\n")] = 0;
		if (strcmp(got + 6, names[i])) {
			fprintf(stderr, "%s got '%s'\n", names[i], got);
			return 1;
		}
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
