/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * daemon.h - the parts of zugd
 *
 *	daemon.c		the main thread: sockets, signals, the door's events
 *	daemon_worker.c		the other thread: requests, one after the other
 *	daemon_campaigns.c	zug exec: a campaign for each command, kept between calls
 *	daemon_door.c		the cgroup into which tests of any harness put themselves
 *	daemon_libs.c		a C library of its own
 *
 * The kernel side, campaigns and the environment belong to the worker; what both
 * threads touch is in struct worker, behind its lock.
 */
#ifndef ZUG_DAEMON_H
#define ZUG_DAEMON_H

#include <json-c/json.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "kernel/kernel.h"
#include "campaign/campaign.h"
#include "campaign/run_options.h"
#include "sandbox/sandbox.h"

/*
 * How zug exec ends when the test's own status does not tell: numbers that timeout(1) and shells
 * leave free.
 */
#define EXEC_FINDING	123	/* the test failed without leaving a status: deadlock, time-out, --match... */
#define EXEC_FAILED	125	/* zug itself could not execute it */

/*
 * Starts this program again, once, with copies of its libraries. Returns in the copy; in the
 * original too when that cannot be done. argv: zugd's command line.
 */
void daemon_own_libraries(char **argv);

/* A command that zugd executes in its client's place, under the name that requests have for it. */
struct daemon_command {
	const char *name;
	/* The exit status for the client. out, err: its streams; *stop: set to cut it short. */
	int (*execute)(struct kernel *k, int argc, char **argv, FILE *out, FILE *err,
		       const volatile sig_atomic_t *stop);
};

/* Everything stays the caller's until daemon_free(). */
struct daemon_options {
	const struct run_options *defaults;	/* of exec and of joined tests */
	char **argv;				/* zugd's command line */
	const struct daemon_command *commands;	/* the last has no name */
	int failed,
		interrupted; /* exit statuses of commands that could not, or were not to, begin */
};

struct daemon;
/*
 * Loads the kernel side and begins to listen. 0, or -errno with a line in err; daemon_free() in
 * either case.
 */
int daemon_new(struct daemon **d, const struct daemon_options *o, char *err, size_t errlen);
/*
 * Serves until a signal or a client ends it: 0. -EIO with a line in err: the kernel ejected the
 * scheduler.
 */
int daemon_serve(struct daemon *d, char *err, size_t errlen);
/* Cuts short what is being executed, and answers all clients. */
void daemon_free(struct daemon *d);

/* ---- requests ---- */

enum request_kind { REQUEST_COMMAND, REQUEST_EXEC, REQUEST_JOIN };

struct request {
	struct request *next;
	enum request_kind kind;
	const struct daemon_command *command;	/* REQUEST_COMMAND */
	struct json_object *m;		/* the client's message; NULL: a join */
	int fds[3];			/* the client's standard descriptors, -1 none */
	uint64_t since_ns;		/* queued, then started */
	int status;			/* the answer: for the client to exit with */
	char message[512];		/* "" none */
};

struct request *request_new(enum request_kind kind, struct json_object *m);
void request_free(struct request *r);

/* ---- the door ---- */

/*
 * A cgroup that is always frozen: a process that is put into it waits there. The worker takes one
 * after the other into the door's sandbox and lets it go on to the first system call of the program
 * it executes.
 */
struct door;
/* name: of the cgroup; NULL: zug. 0, or -errno with a line in err. */
int door_new(struct door **d, struct kernel *k, const struct campaign_options *o, char *err,
	     size_t errlen);
/* Processes that still wait go on, uncontrolled, in the cgroups of their parents. */
void door_free(struct door *d);
const char *door_cgroup(const struct door *d);	/* its full path */
int door_fd(const struct door
		    *d); /* POLLPRI: a process may have come; to be polled by one thread only */
bool door_occupied(struct door *d);		/* a process waits; clears door_fd() */
struct sandbox *door_sandbox(struct door *d);
int door_lane(const struct door *d);

/* A test that has come through the door. */
struct guest {
	pid_t pid;
	char *file, *cwd;	/* of its program; its folder */
	char **argv, **envp;
	char *storage[2];	/* what argv and envp point into */
};
/*
 * Takes the next one in. 1: *g stands at its first system call, its events are the kernel's next,
 * and it is to be executed or drained; 0: none, or it has not executed a program (a line in err
 * says what became of it). No probes may be planted. Looks at *stop.
 */
int door_take(struct door *d, struct guest *g, const volatile sig_atomic_t *stop, char *err,
	      size_t errlen);
void guest_free(struct guest *g);

/* ---- the worker ---- */

struct worker_options {
	const struct daemon_options *o;
	struct kernel *kernel;		/* the caller's, not to be used by it until worker_free() */
	char **default_args;		/* the same as a command line; nr of them */
	int nr_default_args;
	struct door *door;		/* the caller's, which polls it */
};
struct worker;

/* Starts the thread. NULL with errno. */
struct worker *worker_new(const struct worker_options *o);
/* Aborts everything; worker_done() gives it back. Nothing is begun any more. */
void worker_stop(struct worker *w);
/* After worker_stop(): waits for the thread, frees. */
void worker_free(struct worker *w);
/*
 * Queues a request, which is the worker's until worker_done() gives it back. How many come before
 * it.
 */
int worker_submit(struct worker *w, struct request *r);
/* Readable when worker_done() has something; reading it is worker_done()'s business. */
int worker_fd(const struct worker *w);
struct request *worker_done(struct worker *w);
/*
 * The client has left: takes the request out of the queue, or cuts it short. worker_done() gives it
 * back soon.
 */
void worker_abort(struct worker *w, struct request *r);
/* True while an aborted request does not end: call worker_prod() then and when. */
bool worker_aborting(struct worker *w);
void worker_prod(struct worker *w);
/* Adds "running", "queue" and "campaigns" to an answer. */
void worker_status(struct worker *w, struct json_object *m);

/* ---- campaigns of single executions ---- */

struct campaigns;
struct campaigns *campaigns_new(const struct worker_options *o, const volatile sig_atomic_t *stop);
void campaigns_free(struct campaigns *cs);
/* One execution for zug exec. Sets the request's answer. */
void campaigns_exec(struct campaigns *cs, struct request *r, FILE *err);
/*
 * One execution of the process that waits at the door. A line in r->message says what came of it;
 * "": none was there.
 */
void campaigns_join(struct campaigns *cs, struct request *r);
/* Takes all probes out, for another campaign on the same kernel. */
void campaigns_park(struct campaigns *cs);
/* An array of what there is, for people and programs. */
struct json_object *campaigns_status(const struct campaigns *cs);

#endif
