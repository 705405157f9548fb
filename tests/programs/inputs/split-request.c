/*
 * A client sends each request to a server over TCP by two writes; prints how many bytes of the second request the server's
 * first read has got when both were sent: all four, for what is received is acknowledged at once.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0), s;
	char got[8];
	ssize_t n = 0;

	if (server < 0 || bind(server, (struct sockaddr *)&a, len) || listen(server, 1) ||
	    getsockname(server, (struct sockaddr *)&a, &len) || connect(client, (struct sockaddr *)&a, len))
		return 2;
	s = accept(server, NULL, NULL);
	if (s < 0)
		return 2;
	for (int request = 0; request < 8; request++) {
		if (write(client, "ab", 2) != 2 || write(client, "cd", 2) != 2)
			return 2;
		n = read(s, got, sizeof(got));
		for (ssize_t all = n, more; all < 4; all += more) {
			more = read(s, got, sizeof(got));
			if (more <= 0)
				return 2;
		}
		if (write(s, "ok", 2) != 2 || read(client, got, sizeof(got)) != 2)
			return 2;
	}
	printf("%zd\n", n);
	return 0;
}
