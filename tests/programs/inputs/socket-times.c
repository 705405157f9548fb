/*
 * SO_RCVTIMEO and SO_SNDTIMEO: an hour each, by the program's own clock, which costs no real time; a call whose answer
 * comes earlier returns earlier. getsockopt() returns what was set, and an accepted socket has the time-outs of its
 * listener. With `real`: a quarter of a second, which is no deadlock.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t start;
static double slack = 0.5;	/* s */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec - start + t.tv_nsec / 1e9;
}

static void wrong(const char *what, double got)
{
	printf("%s: %.3f, %s\n", what, got, strerror(errno));
	exit(1);
}

#define CHECK(what, seconds, call, error) do { \
	double before = now(), took; \
	long ret = (call); \
	took = now() - before; \
	if (ret != -1 || errno != (error)) \
		wrong(what " returned", ret); \
	if (took < (seconds) - 0.01 || took > (seconds) + slack) \
		wrong(what " took", took); \
} while (0)

static void limit(int fd, int option, int seconds)
{
	struct timeval t = { seconds, 240000 }, told = { 0 };
	socklen_t len = sizeof(told);

	if (setsockopt(fd, SOL_SOCKET, option, &t, sizeof(t)) || t.tv_sec != seconds || t.tv_usec != 240000)
		wrong("setsockopt", t.tv_sec);
	if (getsockopt(fd, SOL_SOCKET, option, &told, &len) || told.tv_sec != seconds || told.tv_usec != 240000)
		wrong("getsockopt", told.tv_sec);
}

static void *answer(void *arg)
{
	sleep(60);
	if (write(*(int *)arg, "x", 1) != 1)
		wrong("write", 0);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int pair[2], listener, udp, client, server;
	static char much[1 << 20];
	pthread_t thread;
	struct timespec t;
	double before;
	char c;

	clock_gettime(CLOCK_REALTIME, &t);
	start = t.tv_sec;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 2;
	if (argc > 1 && !strcmp(argv[1], "real")) {
		limit(pair[0], SO_RCVTIMEO, 0);
		slack = 10;
		CHECK("read in real time", 0.24, read(pair[0], &c, 1), EAGAIN);
		return 0;
	}
	limit(pair[0], SO_RCVTIMEO, 3600);
	CHECK("read", 3600.24, read(pair[0], &c, 1), EAGAIN);
	limit(pair[0], SO_SNDTIMEO, 100);
	while (send(pair[0], much, sizeof(much), MSG_DONTWAIT) > 0)
		;
	CHECK("send", 100.24, send(pair[0], much, sizeof(much), 0), EAGAIN);
	before = now();
	if (pthread_create(&thread, NULL, answer, &pair[1]) || recv(pair[0], &c, 1, 0) != 1 || c != 'x')
		wrong("recv", 0);
	if (now() - before < 59.9 || now() - before > 60.5)
		wrong("recv took", now() - before);
	pthread_join(thread, NULL);
	/* as for ever */
	if (setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){ 0 }, sizeof(struct timeval)) ||
	    pthread_create(&thread, NULL, answer, &pair[1]) || recv(pair[0], &c, 1, 0) != 1)
		wrong("recv without a time-out", 0);
	pthread_join(thread, NULL);

	udp = socket(AF_INET, SOCK_DGRAM, 0);
	if (bind(udp, (struct sockaddr *)&a, sizeof(a)))
		wrong("bind", 0);
	limit(udp, SO_RCVTIMEO, 5);
	CHECK("recvfrom", 5.24, recvfrom(udp, &c, 1, 0, NULL, NULL), EAGAIN);

	listener = socket(AF_INET, SOCK_STREAM, 0);
	client = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) || listen(listener, 4) ||
	    getsockname(listener, (struct sockaddr *)&a, &len))
		wrong("listen", 0);
	limit(listener, SO_RCVTIMEO, 7200);
	CHECK("accept", 7200.24, accept(listener, NULL, NULL), EAGAIN);
	if (connect(client, (struct sockaddr *)&a, len) || (server = accept(listener, NULL, NULL)) < 0)
		wrong("accept", 0);
	CHECK("recv of what was accepted", 7200.24, recv(server, &c, 1, 0), EAGAIN);
	return 0;
}
