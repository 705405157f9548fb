/* SPDX-License-Identifier: GPL-2.0-only */
/* commands.h - the commands of zug; each returns an enum zug_exit */
#ifndef ZUG_COMMANDS_H
#define ZUG_COMMANDS_H

#include <signal.h>
#include <stdio.h>
#include "campaign/run_options.h"

struct kernel;

/* argv[0] is the command's name; getopt's state is fresh. */
int cmd_run(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_minimize(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_pin(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_strategies(int argc, char **argv);
int cmd_exec(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_stop(int argc, char **argv);
int cmd_daemon(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

/*
 * Has zugd execute the command; without one, and without a socket that was named, executes it here
 * with execute(NULL, ...). An enum zug_exit.
 */
int command_dispatch(const char *socket, const char *name, int argc, char **argv,
		     int (*execute)(struct kernel *k, int argc, char **argv, FILE *out, FILE *err,
				    const volatile sig_atomic_t *stop));

/*
 * The same for a command with the options of run_options.h, which are parsed first: what is wrong with
 * them is printed here.
 */
int command_with_run_options(enum run_command command, const char *name, int argc, char **argv,
			     int (*execute)(struct kernel *k, int argc, char **argv, FILE *out,
					    FILE *err, const volatile sig_atomic_t *stop));

/* Execute a command in this process. k: zugd's open kernel, or NULL. */
int run_execute(struct kernel *k, int argc, char **argv, FILE *out, FILE *err,
		const volatile sig_atomic_t *stop);
int replay_execute(struct kernel *k, int argc, char **argv, FILE *out, FILE *err,
		   const volatile sig_atomic_t *stop);
int check_execute(struct kernel *k, int argc, char **argv, FILE *out, FILE *err,
		  const volatile sig_atomic_t *stop);
int minimize_execute(struct kernel *k, int argc, char **argv, FILE *out, FILE *err,
		     const volatile sig_atomic_t *stop);
int diff_execute(struct kernel *k, int argc, char **argv, FILE *out, FILE *err,
		 const volatile sig_atomic_t *stop);
int plan_execute(struct kernel *k, int argc, char **argv, FILE *out, FILE *err,
		 const volatile sig_atomic_t *stop);
int pin_execute(struct kernel *k, int argc, char **argv, FILE *out, FILE *err,
		const volatile sig_atomic_t *stop);

#endif
