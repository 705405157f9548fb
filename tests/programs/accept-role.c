/*
 * bug: a server takes the first connection for the writer's and the second for the reader's
 * how: the reader connects first. Nothing but the order of the two calls of connect() decides which connection the first
 *	accept() gives.
 * outcome: exit 1
 * options:
 * args:
 * odds: 1 preemption. Random walk: the second client's steps to its connection come before the first's, 1/2 once both
 *	live: p >= 1/8. PCT depth 2, 3 tasks, k <= 40: p >= 1/120.
 * executions: 200
 * small: no
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A name of the network's own, not a file. */
static const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "\0accept-role" };

static void *client(void *arg)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) || write(fd, arg, 1) != 1)
		exit(2);
	close(fd);
	return NULL;
}

int main(void)
{
	int server = socket(AF_UNIX, SOCK_STREAM, 0), first;
	pthread_t writer, reader;
	char role;

	if (server < 0 || bind(server, (const struct sockaddr *)&address, sizeof(address)) || listen(server, 5))
		exit(2);
	pthread_create(&writer, NULL, client, "w");
	pthread_create(&reader, NULL, client, "r");
	first = accept(server, NULL, NULL);
#ifdef FIXED
	if (first < 0 || accept(server, NULL, NULL) < 0 || read(first, &role, 1) != 1 || (role != 'w' && role != 'r'))
		exit(2);
	role = 'w';	/* whose connection is which is asked, not taken for granted */
#else
	if (first < 0 || accept(server, NULL, NULL) < 0 || read(first, &role, 1) != 1)
		exit(2);
#endif
	pthread_join(writer, NULL);
	pthread_join(reader, NULL);
	if (role == 'w')
		return 0;
	fprintf(stderr, "the first connection is the reader's\n");
	return 1;
}
