/* SPDX-License-Identifier: GPL-2.0-only */
/* commands.h - the commands of zug; each returns an enum zug_exit */
#ifndef ZUG_COMMANDS_H
#define ZUG_COMMANDS_H

#define ZUG_VERSION "0.1.0"

/* argv[0] is the command's name; getopt's state is fresh. */
int cmd_run(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_strategies(int argc, char **argv);

#endif
