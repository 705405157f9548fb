/*
 * bug: a server takes the first connection for the first client's
 * how: the second client connects first. The server waits for the request of this connection, the
 *	second client waits for the server's leave, and the first client for an answer to a request
 *	that is not read: all wait for each other, over TCP.
 * outcome: deadlock
 * options:
 * args:
 * odds: no preemption. Random walk: the second client's three steps to its connection come before
 *	those of the first, 1/2 once both live, both live with 1/4 or more: p >= 1/8.
 * executions: 100
 * small: no
 * build:
 */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in address = { .sin_family = AF_INET };

static int connection(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		exit(2);
	return fd;
}

/* Sends its request at once. */
static void *first_client(void *arg)
{
	int fd = connection();
	char answer;

	if (write(fd, "a", 1) != 1 || read(fd, &answer, 1) != 1)
		exit(2);
	close(fd);
	return arg;
}

/* Sends its request when the server has given leave. */
static void *second_client(void *arg)
{
	int fd = connection();
	char leave;

	if (read(fd, &leave, 1) != 1 || write(fd, "b", 1) != 1)
		exit(2);
	close(fd);
	return arg;
}

int main(void)
{
	socklen_t len = sizeof(address);
	int server = socket(AF_INET, SOCK_STREAM, 0), fd[2], first = 0;
	pthread_t client[2];
	char request;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(server, (struct sockaddr *)&address, len) || listen(server, 2) ||
	    getsockname(server, (struct sockaddr *)&address, &len))
		return 2;
	pthread_create(&client[0], NULL, first_client, NULL);
	pthread_create(&client[1], NULL, second_client, NULL);
	for (int i = 0; i < 2; i++) {
		fd[i] = accept(server, NULL, NULL);
		if (fd[i] < 0)
			return 2;
	}
#ifdef FIXED
	struct pollfd p[2] = { { .fd = fd[0], .events = POLLIN }, { .fd = fd[1], .events = POLLIN } };

	if (poll(p, 2, -1) < 1)
		return 2;
	first = !(p[0].revents & POLLIN);
#endif
	if (read(fd[first], &request, 1) != 1 || write(fd[first], "A", 1) != 1 ||
	    write(fd[!first], "l", 1) != 1 || read(fd[!first], &request, 1) != 1)
		return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(client[i], NULL);
	return 0;
}
