/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * protocol.h - what zug and zugd say to each other
 *
 * A Unix stream socket; each message is one line of JSON, an object with the protocol's version in
 * "v". The first message of a client is its request; descriptors (stdin, stdout, stderr) travel
 * with it. zugd answers with events:
 *
 *	> {"v":1,"request":"exec","args":["--seed","2","--","./test"],"env":[...],"cwd":"/src","umask":18}
 *	< {"v":1,"event":"queued","ahead":2}	others come first; only when there are any
 *	< {"v":1,"event":"done","exit":0}	the exit status for the client, and a "message"
 *
 * Requests: run, replay, minimize, pin, diff, check, exec (args, env, cwd, umask and three descriptors),
 * status (answered by an event "status"), stop (answered by the end of the connection, when nothing
 * is left). "refused" with a "message" answers what cannot be understood. A client that shuts its
 * side of the connection down aborts its request; "done" still comes.
 */
#ifndef ZUG_PROTOCOL_H
#define ZUG_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <json-c/json.h>

#define PROTOCOL_VERSION	1
#define PROTOCOL_MAX_FDS	3
/*
 * The largest message: an environment and an argument list of the kernel's own limit (2 MiB each),
 * escaped.
 */
#define PROTOCOL_MAX_BYTES	(32u << 20)

/*
 * A new message: {"v":1,key:value}. Give it to protocol_send() and json_object_put(). NULL: no
 * memory.
 */
struct json_object *protocol_message(const char *key, const char *value);

/* Sends a message and descriptors. 0 or -errno; -EAGAIN: the socket does not block, and is full. */
int protocol_send(int fd, struct json_object *m, const int *fds, int nr_fds);

/*
 * The part of a message that has arrived. All zero at first; fds: the descriptors that came, the
 * reader's to close.
 */
struct protocol_reader {
	char *buf;
	size_t len, size, seen;
	int fds[PROTOCOL_MAX_FDS], nr_fds;
	size_t most;		/* bytes of a message; 0: PROTOCOL_MAX_BYTES */
};
/*
 * One recvmsg(); *m is a message when one is complete (the caller's to put). 1: a message, 0: not
 * yet, -EPIPE: end of the connection, -EPROTO: not a message of ours, or -errno.
 */
int protocol_read(struct protocol_reader *r, int fd, struct json_object **m);
void protocol_reader_free(struct protocol_reader *r);

/* Fields of a message; NULL, otherwise, when absent or of another type. */
const char *protocol_text(struct json_object *m, const char *name);
int protocol_int(struct json_object *m, const char *name, int otherwise);
/*
 * An array of strings as a NULL-terminated list: free() the list, the strings stay m's. NULL: it is
 * none.
 */
char **protocol_list(struct json_object *m, const char *name, int *nr);

/*
 * Holds a request against its form: types of all fields that zugd reads, no string with a zero byte,
 * what a request to execute must have. NULL, or what is wrong with it, in a line.
 */
const char *protocol_wrong(struct json_object *m, int nr_fds);

#endif
