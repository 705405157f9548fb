/* SPDX-License-Identifier: GPL-2.0-only */
/* zug daemon, zugd: goes to the background and serves others (zugd/daemon.h) */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/cli_options.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "zugd/daemon.h"

static const struct daemon_command commands[] = {
	{ "run", run_execute },
	{ "replay", replay_execute },
	{ "minimize", minimize_execute },
	{ "diff", diff_execute },
	{ "check", check_execute },
	{ "pin", pin_execute },
	{ "plan", plan_execute },
	{ 0 },
};

/*
 * In the parent: waits for the child's exit status and exits with it. In the child: the descriptor
 * to write it to, or -errno.
 */
static int background(void)
{
	unsigned char code;
	int p[2];
	pid_t pid;

	if (pipe2(p, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		close(p[0]);
		setsid();
		return p[1];
	}
	close(p[1]);
	if (read(p[0], &code, 1) != 1)
		code = ZUG_EXIT_INTERNAL;
	_exit(code);
}

/* Tells the parent that zugd serves (0), or what it ended with. */
static void tell_parent(int fd, unsigned char code)
{
	int null;

	if (fd < 0)
		return;
	if (!code) {
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		for (int i = 0; null >= 0 && i < 3; i++)
			dup2(null, i);
	}
	if (write(fd, &code, 1) != 1)
		_exit(ZUG_EXIT_INTERNAL);
	close(fd);
}

static int serve(const struct run_options *o, char **argv)
{
	const struct daemon_options own = { .defaults = o,
					    .argv = argv,
					    .commands = commands,
					    .failed = ZUG_EXIT_ENVIRONMENT,
					    .interrupted = ZUG_EXIT_INCOMPLETE };
	struct daemon *d = NULL;
	char err[1024] = "";
	int tell = o->foreground ? -1 : background(), ret;

	if (!o->foreground && tell < 0) {
		fprintf(stderr, "zugd: cannot go to the background: %s\n", strerror(-tell));
		return ZUG_EXIT_ENVIRONMENT;
	}
	ret = daemon_new(&d, &own, err, sizeof(err));
	if (!ret) {
		tell_parent(tell, ZUG_EXIT_PASS);
		tell = -1;
		ret = daemon_serve(d, err, sizeof(err));
	}
	if (ret)
		fprintf(stderr, "zugd: %s\n", err);
	daemon_free(d);
	ret = ret == -ENOMEM ? ZUG_EXIT_INTERNAL : ret ? ZUG_EXIT_ENVIRONMENT : ZUG_EXIT_PASS;
	/* a zugd that did not begin is gone when its parent exits */
	tell_parent(tell, ret);
	return ret;
}

int cmd_daemon(int argc, char **argv)
{
	struct run_options o;
	int ret = cli_run_options(&o, RUN_DAEMON, argc, argv);

	if (!ret && o.c.command.argv[0]) {
		fprintf(stderr,
			"zugd: it executes no command itself: '%s' is one argument too many\n",
			o.c.command.argv[0]);
		ret = ZUG_EXIT_USAGE;
	}
	if (!ret) {
		daemon_own_libraries(argv);
		ret = serve(&o, argv);
	}
	run_options_free(&o);
	return ret == -1 ? ZUG_EXIT_PASS : ret;
}
