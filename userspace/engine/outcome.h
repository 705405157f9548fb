/* SPDX-License-Identifier: GPL-2.0-only */
/* outcome.h - what an execution's end means: exit status and output to a kind of outcome */
#ifndef ZUG_OUTCOME_H
#define ZUG_OUTCOME_H

#include <regex.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/trace.h"

struct outcome_rules {
	int expect_exit;	/* the exit status that means success */
	const char *uncaught;	/* in the error output this says that a thread has failed, also where the process */
				/* succeeds; NULL */
	const regex_t *match;	/* output that means failure; NULL: none */
};

/* How an execution ended. */
struct outcome {
	enum zug_outcome_kind kind;
	int code;
	uint64_t failure;	/* its identity (search/identity.h) */
	uint32_t racing[2];	/* RACE: the two tasks */
	uint64_t site;		/* place where the program itself crashed; 0: it did not, or unknown */
	char message[1024];
};

/* The test's captured standard output and error. */
struct capture;
struct capture *capture_new(void);	/* NULL with errno */
void capture_free(struct capture *c);
/* In a copy of the process: into files of its own, with other descriptors. 0 or -errno. */
int capture_renew(struct capture *c);
int capture_out(const struct capture *c);	/* descriptors for the test */
int capture_err(const struct capture *c);
void capture_reset(struct capture *c);
/* What is written from now on, until it is reset, does not count: tasks that are let go may write before they are killed. */
void capture_stop(struct capture *c);
/* Cuts the middle out of what is too long; to be called now and then while the test runs. */
void capture_trim(struct capture *c);
/*
 * The text of a stream (0: output, 1: error): its head, and the tail of a longer one (else *tail is
 * NULL). Both are NUL-terminated; the caller frees them. 0 or -ENOMEM.
 */
int capture_text(struct capture *c, int which, char **head, char **tail);

/*
 * Writes a stream to a descriptor, with a line where its middle was cut out. 0 or -errno: its reader does not
 * read, and *stop became true or it took too long (patient_write.h).
 */
int capture_copy(struct capture *c, int which, int to, const volatile sig_atomic_t *stop);

/* Judges a root command that ended with a wait status; o->site is kept. */
void outcome_judge(struct outcome *o, int status, const struct outcome_rules *rules,
		   struct capture *c);
/*
 * Sets an outcome that the engine saw by itself; its identity is that of the message (failure.h
 * finds a better one).
 */
void outcome_set(struct outcome *o, enum zug_outcome_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Writes "abort: Assertion ...", or the name alone when there is no message. */
void outcome_words(const struct outcome *o, char *buf, size_t len);
/* Sets the identity from what the outcome alone tells. */
void outcome_identify(struct outcome *o);

#endif
