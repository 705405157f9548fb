/*
 * bug: a server uses the session that a request needs before the thread that opens it has opened it
 * how: the server's second thread has not stored the session when the request comes: the server dies of SIGSEGV,
 *	and the client, which is the command, finds the connection closed and exits with 5. What has to be told
 *	is the server's crash.
 * outcome: exit 5
 * options:
 * args:
 * odds: no preemption or 1. Random walk: about 1/2.
 * executions: 100
 * small: no
 * build:
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct session {
	int requests;
};

static struct session *volatile session;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *open_session(void *arg)
{
	struct session *s = calloc(1, sizeof(*s));

	(void)arg;
	pthread_mutex_lock(&lock);
	session = s;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void answer(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		_exit(0);
	pthread_mutex_lock(&lock);
	session->requests++;
	pthread_mutex_unlock(&lock);
	if (write(fd, "a", 1) != 1)
		_exit(3);
}

static void serve(int fd)
{
	pthread_t opener;

	pthread_create(&opener, NULL, open_session, NULL);
#ifdef FIXED
	pthread_join(opener, NULL);
#endif
	answer(fd);
#ifndef FIXED
	pthread_join(opener, NULL);
#endif
	_exit(0);
}

int main(void)
{
	int fd[2], status;
	char c;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		return 2;
	switch (fork()) {
	case -1:
		return 2;
	case 0:
		close(fd[0]);
		serve(fd[1]);
	}
	close(fd[1]);
	if (write(fd[0], "q", 1) != 1 || read(fd[0], &c, 1) != 1)
		return 5;
	return wait(&status) < 0 || status ? 2 : 0;
}
