/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/base/clock.h"
#include "cli/libzug_follow.h"

#define CANNOT	"zug pin: cannot execute "

__attribute__((noreturn)) static void execute(const struct trace_header *h, const char *script, int error_output)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(error_output, STDERR_FILENO);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	unsetenv("ZUG_REPLAY");
	setenv("ZUG_SCRIPT", script, 1);
	if (!h->cwd || chdir(h->cwd))
		dprintf(STDERR_FILENO, CANNOT "it in %s: %s\n", h->cwd ? h->cwd : "?", strerror(errno));
	else if (execvp(h->argv[0], h->argv))
		dprintf(STDERR_FILENO, CANNOT "%s: %s\n", h->argv[0], strerror(errno));
	_exit(127);
}

/* What comes until the end, or that time. False: it was not over by then. */
static bool read_all(int fd, uint64_t until_ns, char *buf, size_t len)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char rest[4096];
	size_t n = 0;

	for (;;) {
		uint64_t now = clock_now_ns();
		uint64_t ms = until_ns > now ? (until_ns - now) / 1000000 + 1 : 0;
		int ready = poll(&p, 1, !until_ns ? -1 : ms > INT_MAX ? INT_MAX : (int)ms);
		bool room = n < len - 1;
		ssize_t got;

		if (ready < 0 && errno == EINTR)
			continue;
		if (!ready && clock_now_ns() < until_ns)
			continue;
		if (ready <= 0)
			return false;
		got = read(fd, room ? buf + n : rest, room ? len - 1 - n : sizeof(rest));
		if (got <= 0)
			return true;
		if (room)
			n += (size_t)got;
		buf[n] = 0;
	}
}

/* Its output in *said, NULL at the end of memory. False: it was killed. */
static bool run(const struct trace_header *h, const char *script, uint64_t until_ns, char *said, size_t len)
{
	int ends[2];
	bool ended;
	pid_t pid;

	said[0] = 0;
	if (!h->argv || !h->argv[0] || pipe2(ends, O_CLOEXEC)) {
		snprintf(said, len, CANNOT "it\n");
		return true;
	}
	pid = fork();
	if (!pid)
		execute(h, script, ends[1]);
	close(ends[1]);
	ended = pid > 0 && read_all(ends[0], until_ns, said, len);
	close(ends[0]);
	if (pid < 0)
		return false;
	if (!ended)
		kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return ended;
}

bool libzug_follow(const struct trace *t, const char *script, uint64_t until_ns, char *came, size_t len)
{
	const struct trace_header *h = trace_header(t);
	const struct trace_outcome *o = trace_outcome(t);
	const char *name = h->options + strlen(TRACE_LIBZUG_OPTIONS), *unfit = "the script does not fit the test any more", *at;
	char path[PATH_MAX], want[PATH_MAX + 1024], under[PATH_MAX + 256];
	size_t room = 1 << 16;
	char *said = malloc(room);
	bool same = false;

	snprintf(came, len, "%s", strerror(ENOMEM));
	if (!said || !realpath(script, path))
		goto out;
	snprintf(under, sizeof(under), "zug: %.*s: under %s: ", (int)strcspn(name, "\""), name, path);
	snprintf(want, sizeof(want), "%s%s: %s\n", under, zug_outcome_name(o->kind), o->message ? o->message : "");
	if (!run(h, path, until_ns, said, room)) {
		snprintf(came, len, "it did not end in time");
		goto out;
	}
	same = strstr(said, want) && !strstr(said, unfit);
	at = strstr(said, CANNOT);
	if (!at)
		at = strstr(said, unfit);
	if (!at && (at = strstr(said, under)))
		at += strlen(under);
	if (at)
		snprintf(came, len, "%.*s", (int)strcspn(at, "\n"), at);
	else
		snprintf(came, len, "the test does not say that it followed a script (ZUG_QUIET hides that)");
out:
	free(said);
	return same;
}
