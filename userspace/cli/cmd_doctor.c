/* SPDX-License-Identifier: GPL-2.0-only */
/* zug doctor: says whether this machine can run zug, and if not, what has to change. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "lib/version.h"
#include "campaign/campaign.h"
#include "cli/cli_options.h"
#include "zugd/client.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "kernel/interrupt.h"
#include "kernel/machine.h"

struct doctor {
	const char *socket;
};

static const struct option_row rows[] = {
	{ .name = "socket", .argument = "PATH",
	  .kind = OPTION_TEXT, OPTION_AT(struct doctor, socket),
	  .help = "of zugd (default $ZUG_SOCKET, or " CLIENT_SOCKET ")" },
};

static const struct command_line line = {
	.command = "zug doctor",
	.rows = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.usage = "zug doctor [--socket PATH]\n",
	.about =
		"Says whether tests can be executed on this machine, and if not, what to change: the kernel,\n"
		"privileges, cgroups, other schedulers; and what there is for a virtual machine (tools/vm).\n"
		"When nothing is missing, it loads the scheduler and executes a program once, to be sure.\n",
	.end = "Exit status: 0 when zug run works here, 3 when it does not.\n",
};

static void print(const struct machine_fact *f, bool served)
{
	static const char *const words[] = { "ok", "note", "MISSING" };

	printf("  %-8s %-12s %s%s\n",
	       f->verdict == MACHINE_BAD && f->part == MACHINE_NEEDED && served ? "note" :
										  words[f->verdict],
	       f->name, f->found,
	       f->verdict == MACHINE_BAD && served ? " (zugd has what it needs)" : "");
	if (f->fix[0] && !(f->verdict == MACHINE_BAD && served))
		printf("  %-8s %-12s to mend it: %s\n", "", "", f->fix);
}

/* The last word has the kernel: zug itself is executed once, under its own control. */
static int try_it(struct machine_fact *f)
{
	char err[1024] = "", *argv[] = { (char *)"/proc/self/exe", (char *)"--version", NULL };
	extern char **environ;
	struct campaign_options o;
	struct campaign *c = NULL;
	struct execution x = { 0 };
	enum campaign_step what = CAMPAIGN_PRIMED;
	const struct campaign_observer silent = { 0 };
	int ret;

	campaign_defaults(&o);
	o.command.argv = argv;
	o.command.envp = environ;
	o.command.cwd = "/";
	o.results.dir = "/";
	o.results.quiet = true;
	interrupt_catch();
	ret = campaign_new(&c, NULL, &o, &silent, interrupt_flag(), err, sizeof(err));
	while (!ret && what == CAMPAIGN_PRIMED)
		ret = campaign_step(c, &x, &what, err, sizeof(err));
	campaign_free(c);
	*f = (struct machine_fact){ .name = "trial", .part = MACHINE_NEEDED };
	if (!ret && x.outcome.kind == ZUG_OUTCOME_PASS && !x.ungranted) {
		snprintf(f->found, sizeof(f->found),
			 "the scheduler loads, and a program was executed under it (%lu steps)",
			 (unsigned long)x.steps);
	} else {
		f->verdict = MACHINE_BAD;
		snprintf(f->found, sizeof(f->found),
			 "executing a program under the scheduler failed: %.500s",
			 ret ? err : x.outcome.message);
	}
	return 0;
}

int cmd_doctor(int argc, char **argv)
{
	static const char *const heads[] = { "what zug run needs:", "what it is better with:",
					     "a virtual machine (tools/vm), where this machine itself will not do:" };
	struct doctor o;
	char **operands;
	const char *socket;
	struct machine_fact f;
	struct utsname u;
	int ret, fd, part = -1;
	unsigned int bad = 0;

	ret = cli_options(&line, &o, argc, argv, 0, 0, &operands);
	if (ret)
		return ret == -1 ? ZUG_EXIT_PASS : ret;
	socket = o.socket;
	uname(&u);
	printf("zug %s, Linux %s, %s\n", ZUG_VERSION, u.release, u.machine);
	fd = client_connect(client_socket(socket));
	for (unsigned int i = 0; !machine_look(i, &f); i++) {
		/*
		 * before the facts that are not needed: an execution shows whether it really works
		 */
		if (f.part != MACHINE_NEEDED && part == MACHINE_NEEDED && !bad && fd < 0) {
			struct machine_fact trial;

			if (!try_it(&trial)) {
				print(&trial, false);
				bad += trial.verdict == MACHINE_BAD;
			}
		}
		if ((int)f.part != part)
			printf("\n%s\n", heads[f.part]);
		part = f.part;
		print(&f, fd >= 0);
		bad += f.part == MACHINE_NEEDED && f.verdict == MACHINE_BAD;
	}
	if (fd >= 0) {
		printf("\nzug run works here: zugd (pid %d) answers at %s.\n", client_peer(fd),
		       client_socket(socket));
		close(fd);
		return ZUG_EXIT_PASS;
	}
	if (socket)
		printf("\nno zugd at %s: %s\n", socket, strerror(-fd));
	if (!bad && !socket) {
		printf("\nzug run works here.\n");
		return ZUG_EXIT_PASS;
	}
	if (bad)
		printf("\nzug run does not work here: %u of what it needs %s missing.\n", bad,
		       bad == 1 ? "is" : "are");
	return ZUG_EXIT_ENVIRONMENT;
}
