/* SPDX-License-Identifier: GPL-2.0-only */
/* client.h - a command's side of the conversation with zugd */
#ifndef ZUG_CLIENT_H
#define ZUG_CLIENT_H

#include <json-c/json.h>

#define CLIENT_SOCKET	"/run/zugd.sock"
/* The path of zugd's socket: path if given, else $ZUG_SOCKET, else the default. */
const char *client_socket(const char *path);

/*
 * A connection to the zugd at path (see client_socket()), or -errno: -ENOENT, -ECONNREFUSED: there
 * is none.
 */
int client_connect(const char *path);
/* The process at the other end, 0 unknown. */
int client_peer(int fd);

/*
 * Has zugd execute a command (run, replay, minimize, diff, exec) in our place: with our arguments,
 * environment, folder and standard descriptors. Ctrl-C aborts it there. Closes fd. Returns
 * the exit status that zugd says; failed when there is none, with a message printed.
 */
int client_hand_over(int fd, const char *what, int argc, char **argv, int failed);

/*
 * Sends a request without arguments; the first message that comes back, NULL at the end of the
 * connection.
 */
struct json_object *client_ask(int fd, const char *what);

#endif
