/*
 * bug: two clients write a header and a body each to a server's fifo, in two calls
 * how: one has written its header and is preempted before its body; the other one's frame comes between: the server takes the
 *	other's header for the body's begin.
 * outcome: exit 1
 * options:
 * args:
 * odds: 1 preemption (of a client, between its two writes). Random walk: p >= 1/16 once both live. PCT depth 2, 3 tasks,
 *	k <= 40: p >= 1/120.
 * executions: 400
 * small: no
 * build:
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIFO "frames"

struct frame {
	char header[2];		/* who, and how long */
	char body[4];
};

static int client(char who)
{
	struct frame f = { .header = { who, sizeof(f.body) } };
	int fd = open(FIFO, O_WRONLY);

	memset(f.body, who, sizeof(f.body));
#ifdef FIXED
	/* a write of no more than PIPE_BUF bytes is one */
	return fd < 0 || write(fd, &f, sizeof(f)) != sizeof(f);
#else
	return fd < 0 || write(fd, f.header, sizeof(f.header)) != sizeof(f.header) ||
	       write(fd, f.body, sizeof(f.body)) != sizeof(f.body);
#endif
}

static int whole(int fd, char *to, size_t len)
{
	for (ssize_t n; len; len -= n, to += n) {
		n = read(fd, to, len);
		if (n <= 0)
			return 0;
	}
	return 1;
}

int main(void)
{
	struct frame f;
	int fd;

	unlink(FIFO);
	if (mkfifo(FIFO, 0600))
		return 2;
	fd = open(FIFO, O_RDWR);
	for (char who = 'a'; who <= 'b'; who++) {
		if (fork())
			continue;
		close(fd);
		_exit(client(who));
	}
	for (int i = 0; i < 2; i++) {
		if (!whole(fd, f.header, sizeof(f.header)) || !whole(fd, f.body, sizeof(f.body)))
			return 2;
		for (size_t k = 0; k < sizeof(f.body); k++)
			if (f.body[k] != f.header[0]) {
				fprintf(stderr, "a frame of %c has a byte of another\n", f.header[0]);
				return 1;
			}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
