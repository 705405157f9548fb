/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * daemon.h - the parts of zugd
 *
 *	daemon.c		the process that serves: sockets, signals, the door's events
 *	daemon_workers.c	its workers: which request begins when, and what they say
 *	daemon_lanes.c		who has which CPUs
 *	daemon_status.c		what they do, for zug status
 *	daemon_worker.c		a worker, a process of its own: executes requests
 *	daemon_notes.c		what the two say to each other
 *	daemon_campaigns.c	zug exec: a campaign for each command, kept between calls
 *	daemon_lost.c		those that have ended with their worker
 *	daemon_door.c		the cgroup into which tests of any harness put themselves
 *	daemon_libs.c		a C library of its own
 *
 * The process that serves holds the scheduler and the maps, executes nothing, and gives workers sandboxes and CPUs. A
 * worker plants its own probes, and its crash costs its own search alone. One that works for a user who may not be root is
 * confined to this user's rights before it looks at the request (lib/base/rights.h).
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

#define NOBODY ((uid_t)-1)

enum request_kind { REQUEST_COMMAND, REQUEST_EXEC, REQUEST_JOIN };

struct worker;
struct run_user;

struct request {
	struct request *next;
	struct worker *worker;		/* that executes it; NULL: it waits */
	enum request_kind kind;
	const struct daemon_command *command;	/* REQUEST_COMMAND */
	struct json_object *m;		/* the client's message; NULL: a join */
	int fds[3];			/* the client's standard descriptors, -1 none */
	uid_t user;			/* whose quota it is part of; NOBODY: none's */
	struct run_user *as;		/* whose rights it has, its own; NULL: zugd's */
	uint64_t since_ns;		/* queued, then started */
	bool dealt;			/* it waits, and a CPU is meant for it */
	bool too_long;			/* it was ended because its user's time was over */
	int status;			/* the answer: for the client to exit with */
	char message[512];		/* "" none; of one that is passed on: for the client, before it begins */
};

/* as: is copied; NULL: it has zugd's rights. NULL: no memory; m stays the caller's then. */
struct request *request_new(enum request_kind kind, struct json_object *m, const struct run_user *as);
void request_free(struct request *r);

/* ---- the door ---- */

/*
 * A cgroup that is always frozen: a process that is put into it waits there. A worker takes one
 * after the other into the door's sandbox and lets it go on to the first system call of the program
 * it executes.
 */
struct door;
/* name: of the cgroup; NULL: zug. 0, or -errno with a line in err. */
int door_new(struct door **d, const struct campaign_options *o, char *err, size_t errlen);
/* In the worker: before the calls below. 0, or -errno with a line in err. */
int door_open(struct door *d, struct kernel *k, const struct campaign_options *o, char *err, size_t errlen);
/* In the worker, at its end: the cgroup stays. */
void door_leave(struct door *d);
/* Processes that still wait go on, uncontrolled, in the cgroups of their parents. */
void door_free(struct door *d);
const char *door_cgroup(const struct door *d);	/* its full path */
int door_fd(const struct door
		    *d); /* POLLPRI: a process may have come; to be polled by one thread only */
bool door_occupied(struct door *d);		/* a process waits; clears door_fd() */
struct sandbox *door_sandbox(struct door *d);

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

/* ---- what the process that serves and its workers say to each other ---- */

enum note_kind {
	NOTE_REQUEST,	/* to a worker that was made without one: the message in a file, the client's descriptors, cpu, text to it */
	NOTE_DONE,	/* to zugd: status, text; in a file what campaigns_status() tells */
	NOTE_WANT,	/* to zugd: the search could use n CPUs */
	NOTE_LANE,	/* to a worker: cpu and slot are its own from now on */
	NOTE_KEEP,	/* to a worker: it is to give lanes back, but n */
	NOTE_FREED,	/* to zugd: cpu and slot were given back */
	NOTE_ATTACH,	/* to zugd: n, an enum kernel_extra, is wanted */
	NOTE_ATTACHED,	/* to a worker: status, text */
};
#define NOTE_FDS 4
struct note {
	enum note_kind kind;
	int status, cpu;
	unsigned int slot, n;
	char text[600];
};
/* 0 or -errno. fds: NOTE_FDS of them, those of -1 are not sent; NULL: none. */
int note_send(int fd, const struct note *n, const int *fds);
/* 1: a note, whose descriptors are the caller's; 0: none yet, unless it waits; -errno, -EPIPE: the other side has ended. */
int note_receive(int fd, struct note *n, int *fds, bool wait);
/* A text as a file, and back (malloc'd; closes fd). */
int note_file(const char *text);
char *note_text(int fd);

/* ---- a worker ---- */

struct worker_options {
	const struct daemon_options *o;
	struct kernel *kernel;
	char **default_args;		/* the same as a command line; nr of them */
	int nr_default_args;
	struct door *door;
};

/* What a worker is when it begins. */
struct worker_start {
	const struct worker_options *o;
	struct request *request;	/* its only one; NULL: it gets them by notes */
	bool ahead;			/* it gets one, later */
	bool door;			/* tests that join are its */
	int fd;				/* for notes */
	unsigned int slot;
	int cpu;
	pid_t parent;
	const struct run_user *as;	/* a user who may not be root; NULL: it has zugd's rights */
};
/* In the new process, which has none of the clients' descriptors. Does not return. */
void worker_main(const struct worker_start *s) __attribute__((noreturn));

/* ---- all workers ---- */

struct workers;
/* lane: the first CPU to be used; -1: the quietest. nr: CPUs; 0: all, or one of two. NULL: no memory. */
struct workers *workers_new(const struct worker_options *o, int lane, unsigned int nr);
/* Before workers_free(): ends everything; workers_done() gives the requests back. Nothing is begun any more. */
void workers_stop(struct workers *ws);
void workers_free(struct workers *ws);
/* How many requests of a user wait. */
unsigned int workers_waiting(const struct workers *ws, uid_t user);
/* Queues a request, which is theirs until workers_done() gives it back. How many come before it. */
int workers_submit(struct workers *ws, struct request *r);
/* fn is called in each new worker, and closes what is not that one's. */
void workers_in_child(struct workers *ws, void (*fn)(void *ctx), void *ctx);
/* Descriptors to poll for input; at most max. workers_look() is to be called when one is readable, or at times. */
#define WORKERS_MOST 64
int workers_fds(const struct workers *ws, int *fds, int max);
void workers_look(struct workers *ws);
struct request *workers_done(struct workers *ws);
/* The client has left: takes the request out of the queue, or cuts it short. workers_done() gives it back soon. */
void workers_abort(struct workers *ws, struct request *r);
/* In how many ms workers_look() is to be called; -1: not by itself. */
int workers_patience(const struct workers *ws);
/*
 * Adds "lanes", "running", "queue" and "campaigns" to an answer. user: only what is this user's, and "others", how many
 * requests there are besides; NOBODY: all.
 */
void workers_status(struct workers *ws, struct json_object *m, uid_t user);

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

/*
 * A worker that was kept has ended, and has told last of these campaigns, as JSON (NULL: of none). as: whose rights it had;
 * NULL: ours. How many there were.
 */
size_t lost_add(struct json_object **lost, const char *campaigns, const struct run_user *as);
/* If the request is for one of them, this is said, and is not said again. lost: NULL is fine. */
void lost_tell(struct json_object *lost, const struct request *r, char *text, size_t len);

#endif
