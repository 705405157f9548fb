/*
 * bug: a client connects to a server that may not listen yet
 * how: the client is as fast as the server, and its connect() comes before listen(): the connection is refused
 * outcome: exit 1
 * options:
 * args:
 * odds: 1 preemption at most: the client's connect() before the server's listen(), two points behind its begin: random
 *	walk p >= 1/16
 * executions: 200
 * small: no
 * build:
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct sockaddr *place(void)
{
	static struct sockaddr_in a;

	a = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(7003), .sin_addr = { htonl(INADDR_LOOPBACK) } };
	return (const struct sockaddr *)&a;
}

static int new_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0);
}

static int open_server(int server)
{
	return bind(server, place(), sizeof(struct sockaddr_in)) || listen(server, 1);
}

static void serve(int server)
{
	int client = accept(server, NULL, NULL);

	_exit(client < 0 || write(client, "x", 1) != 1);
}

int main(void)
{
	int server = new_socket(), client = new_socket(), status;
	char c;
	pid_t pid;

#ifdef FIXED
	if (open_server(server))
		return 2;
#endif
	pid = fork();
	if (!pid) {
#ifndef FIXED
		if (open_server(server))
			_exit(2);
#endif
		serve(server);
	}
	close(server);
	if (connect(client, place(), sizeof(struct sockaddr_in))) {
		perror("connect");
		return 1;
	}
	if (read(client, &c, 1) != 1)
		return 3;
	waitpid(pid, &status, 0);
	return status != 0;
}
