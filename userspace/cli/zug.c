// SPDX-License-Identifier: GPL-2.0-only
/* zug.c - the table of commands */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include "lib/base/new_file.h"
#include "lib/base/run_user.h"
#include "lib/version.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *line;
} commands[] = {
	{ "run", cmd_run, "search for a schedule under which a command fails" },
	{ "replay", cmd_replay, "execute a trace again, under its schedule" },
	{ "check", cmd_check,
	  "execute one schedule many times: does everything repeat, and if not, why" },
	{ "pin", cmd_pin,
	  "a script that makes the failure of a trace come again, for a regression test" },
	{ "merge", cmd_merge, "what the shards of a search have found together" },
	{ "plan", cmd_plan, "divide an exhaustive search into subtrees, for shards" },
	{ "minimize", cmd_minimize, "the simplest schedule that fails as a trace does" },
	{ "show", cmd_show, "print a trace: what each task did, and why it failed" },
	{ "diff", cmd_diff, "where two traces part; of one, what makes the difference" },
	{ "exec", cmd_exec, "execute a test once, under the next schedule (needs zugd)" },
	{ "status", cmd_status, "what zugd does" },
	{ "stop", cmd_stop, "end zugd" },
	{ "daemon", cmd_daemon, "zugd under another name: hold the scheduler for others" },
	{ "doctor", cmd_doctor,
	  "say whether this machine can run tests, and what to change if not" },
	{ "strategies", cmd_strategies, "list the ways of choosing schedules" },
};

#define NR_COMMANDS (sizeof(commands) / sizeof(*commands))

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static void list_commands(FILE *out)
{
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(out, "  %-12s %s\n", commands[i].name, commands[i].line);
}

static void help(void)
{
	printf("usage: zug COMMAND [options]\n"
	       "\n"
	       "zugzwang finds the schedules under which a concurrent program fails.\n"
	       "\n"
	       "commands (zug COMMAND --help says more):\n");
	list_commands(stdout);
	printf("\n"
	       "exit status:\n"
	       "  %d  nothing wrong was found\n"
	       "  %d  a finding: the program fails under some schedule\n"
	       "  %d  usage: the command line, or a file named on it, makes no sense\n"
	       "  %d  environment: kernel, privileges or set-up\n"
	       "  %d  internal error of zugzwang\n"
	       "  %d  incomplete: cut by time, Ctrl-C or divergence\n"
	       "  %d  script: the places that a script names are gone from the program\n",
	       ZUG_EXIT_PASS, ZUG_EXIT_FINDING, ZUG_EXIT_USAGE, ZUG_EXIT_ENVIRONMENT,
	       ZUG_EXIT_INTERNAL, ZUG_EXIT_INCOMPLETE, ZUG_EXIT_SCRIPT);
}

/* What sudo zug writes belongs to the user who called sudo. */
static void own_files(void)
{
	struct run_user u;
	char err[128];

	if (run_user_find(&u, NULL, err, sizeof(err)) == 1)
		new_file_owner(u.uid, u.gid);
	run_user_free(&u);
}

/* Who reads standard output has left. An earlier write has said so, whose errno is gone by the end. */
static bool reader_has_left(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO };

	return poll(&p, 1, 0) == 1 && p.revents & POLLERR;
}

/* The status, unless it says that all is well and what was printed has not arrived. A reader that has left knows so itself. */
static int told(const char *command, int status)
{
	errno = 0;
	if ((!fflush(stdout) && !ferror(stdout)) || errno == EPIPE || errno == EBADF || status == ZUG_EXIT_ENVIRONMENT ||
	    reader_has_left())
		return status;
	fprintf(stderr, "zug %s: standard output: %s\n", command, errno ? strerror(errno) : "a write has failed");
	return status ? status : ZUG_EXIT_ENVIRONMENT;
}

int main(int argc, char **argv)
{
	const char *self = argc && strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 :
			   argc ? argv[0] : "zug";
	const struct command *c;

	own_files();
	/* zugd is the daemon command under its own name */
	if (!strcmp(self, "zugd")) {
		c = find_command("daemon");
		if (c)
			return c->run(argc, argv);
	}
	if (argc < 2) {
		fprintf(stderr, "zug: no command; the commands are:\n");
		list_commands(stderr);
		return ZUG_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("zug %s\n", ZUG_VERSION);
		return ZUG_EXIT_PASS;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    (!strcmp(argv[1], "help") && argc == 2)) {
		help();
		return ZUG_EXIT_PASS;
	}
	if (!strcmp(argv[1], "help")) {
		/* "zug help show" is "zug show --help" */
		char *help_argv[] = { argv[2], (char *)"--help", NULL };

		c = find_command(argv[2]);
		if (c)
			return c->run(2, help_argv);
		argv++;
	}
	c = find_command(argv[1]);
	if (!c) {
		fprintf(stderr, "zug: unknown command '%s'; the commands are:\n", argv[1]);
		list_commands(stderr);
		return ZUG_EXIT_USAGE;
	}
	return told(argv[1], c->run(argc - 1, argv + 1));
}
