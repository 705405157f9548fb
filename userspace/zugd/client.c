/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "zugd/client.h"
#include "kernel/interrupt.h"
#include "zugd/protocol.h"

const char *client_socket(const char *path)
{
	const char *env = getenv("ZUG_SOCKET");

	return path ? path : env && env[0] ? env : CLIENT_SOCKET;
}

int client_connect(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd, ret;

	if (strlen(path) >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	strcpy(a.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (struct sockaddr *)&a, sizeof(a)))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

int client_peer(int fd)
{
	struct ucred c;
	socklen_t len = sizeof(c);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &len) ? 0 : c.pid;
}

static void add_list(struct json_object *m, const char *name, int nr, char **list)
{
	struct json_object *a = json_object_new_array();

	for (int i = 0; nr < 0 ? !!list[i] : i < nr; i++)
		json_object_array_add(a, json_object_new_string(list[i]));
	json_object_object_add(m, name, a);
}

/*
 * The next message; with relay, Ctrl-C shuts our side down, which aborts the request. NULL: the
 * end.
 */
static struct json_object *next_message(int fd, struct protocol_reader *r, bool relay)
{
	struct json_object *m = NULL;
	bool told = false;
	int ret = 0;

	while (!ret) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (relay && *interrupt_flag() && !told) {
			shutdown(fd, SHUT_WR);
			told = true;
		}
		/* a signal between the check and the poll is seen at the next round */
		if (!r->len && poll(&p, 1, 200) <= 0)
			continue;
		ret = protocol_read(r, fd, &m);
	}
	return m;
}

int client_hand_over(int fd, const char *what, int argc, char **argv, int failed)
{
	extern char **environ;
	struct protocol_reader r = { 0 };
	struct json_object *m = protocol_message("request", what);
	char cwd[4096];
	const char *event, *text;
	int fds[3], ret, null = -1;
	bool done = false;
	mode_t mask;

	if (!m || !getcwd(cwd, sizeof(cwd))) {
		fprintf(stderr, "zug: current folder: %s\n", strerror(errno));
		goto out;
	}
	add_list(m, "args", argc, argv);
	add_list(m, "env", -1, environ);
	json_object_object_add(m, "cwd", json_object_new_string(cwd));
	mask = umask(0);
	umask(mask);
	json_object_object_add(m, "umask", json_object_new_int(mask));
	for (int i = 0; i < 3; i++) {
		fds[i] = i;
		if (fcntl(i, F_GETFD) >= 0)
			continue;
		if (null < 0)
			null = open("/dev/null", O_RDWR | O_CLOEXEC);
		fds[i] = null;
	}
	interrupt_catch();
	ret = protocol_send(fd, m, fds, 3);
	if (ret && ret != -EPIPE) {
		fprintf(stderr, "zug: cannot send to zugd: %s\n", strerror(-ret));
		goto out;
	}
	json_object_put(m);
	while (!done && (m = next_message(fd, &r, true))) {
		event = protocol_text(m, "event");
		text = protocol_text(m, "message");
		if (event && !strcmp(event, "queued")) {
			/*
			 * a harness that compares a test's error output must not see what else is
			 * tested
			 */
			if (strcmp(what, "exec") || isatty(2))
				fprintf(stderr,
					"zug: zugd (pid %d) is busy: waiting for %d before this one\n",
					client_peer(fd), protocol_int(m, "ahead", 0));
		} else if (event && (!strcmp(event, "done") || !strcmp(event, "refused"))) {
			if (text)
				fprintf(stderr, "zug: %s\n", text);
			failed = protocol_int(m, "exit", failed);
			done = true;
		}
		json_object_put(m);
	}
	m = NULL;
	if (!done)
		fprintf(stderr, "zug: zugd ended before it answered\n");
out:
	json_object_put(m);
	protocol_reader_free(&r);
	if (null >= 0)
		close(null);
	close(fd);
	return failed;
}

struct json_object *client_ask(int fd, const char *what)
{
	struct json_object *m = protocol_message("request", what);
	struct protocol_reader r = { 0 };
	int ret = m ? protocol_send(fd, m, NULL, 0) : -ENOMEM;

	/* one that has closed the connection may have said why */
	if (ret && ret != -EPIPE) {
		json_object_put(m);
		return NULL;
	}
	json_object_put(m);
	m = next_message(fd, &r, false);
	protocol_reader_free(&r);
	return m;
}
