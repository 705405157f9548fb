/*
 * bug: a client that is started together with its server connects once, and gives up when it is refused
 * how: the client calls connect() before the server listens.
 * outcome: exit 1
 * options: --faults refused
 * args:
 * odds: no preemption, 1 fault at the one connect(): about 1/2.
 * executions: 60
 * small: no
 * build:
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef FIXED
#define TRIES 3
#else
#define TRIES 1
#endif

int main(void)
{
	/* an abstract name: no file is left behind */
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "\0zugzwang-connect-refused" };
	socklen_t len = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(a.sun_path + 1);
	int s = socket(AF_UNIX, SOCK_STREAM, 0), status;

	if (s < 0 || bind(s, (struct sockaddr *)&a, len) || listen(s, 5))
		return 2;
	if (!fork()) {
		for (int i = 0; i < TRIES; i++) {
			if (!connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&a, len))
				_exit(0);
			if (errno != ECONNREFUSED)
				_exit(2);
		}
		_exit(1);
	}
	if (wait(&status) < 0 || !WIFEXITED(status))
		return 2;
	return WEXITSTATUS(status);
}
