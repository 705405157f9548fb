/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * outcome.c - what the test printed, and what that and its exit status mean
 *
 * Output goes into two files in memory (struct capture), of which the middle is cut out when they
 * grow. outcome_judge() reads them when the root command has ended: a sanitizer's report comes
 * first, then --match, then the way in which it ended.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/base/patient_write.h"
#include "search/identity.h"
#include "engine/outcome.h"

#define KEEP (64 * 1024)		/* bytes of head and of tail */
#define QUOTED_LINES 6			/* a message of more lines than that is told by its first */
#define TRIM_AT (16 * 1024 * 1024)	/* memory that output may take before its middle is dropped */

struct capture {
	int fd[2];
	off_t punched[2];	/* the middle is gone up to here */
	off_t end[2];		/* what comes behind does not count; -1: all does */
};

/*
 * Memory files, not pipes: a write never blocks, whether they are read or not, so that output
 * does not add scheduling events that depend on us.
 */
static int open_files(struct capture *c)
{
	static const char *const names[2] = { "zug-stdout", "zug-stderr" };

	for (int i = 0; i < 2; i++) {
		c->punched[i] = 0;
		c->end[i] = -1;
		c->fd[i] = memfd_create(names[i], MFD_CLOEXEC);
		if (c->fd[i] < 0 || fcntl(c->fd[i], F_SETFL, O_APPEND))
			return -errno;
	}
	return 0;
}

static void close_files(struct capture *c)
{
	for (int i = 0; i < 2; i++) {
		if (c->fd[i] >= 0)
			close(c->fd[i]);
		c->fd[i] = -1;
	}
}

struct capture *capture_new(void)
{
	struct capture *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->fd[0] = c->fd[1] = -1;
	if (!open_files(c))
		return c;
	capture_free(c);
	return NULL;
}

int capture_renew(struct capture *c)
{
	close_files(c);
	return open_files(c);
}

void capture_free(struct capture *c)
{
	if (!c)
		return;
	close_files(c);
	free(c);
}

int capture_out(const struct capture *c)
{
	return c->fd[0];
}

int capture_err(const struct capture *c)
{
	return c->fd[1];
}

void capture_reset(struct capture *c)
{
	for (int i = 0; i < 2; i++) {
		if (ftruncate(c->fd[i], 0))
			continue;
		c->punched[i] = 0;
		c->end[i] = -1;
	}
}

static off_t size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_size;
}

void capture_stop(struct capture *c)
{
	for (int i = 0; i < 2; i++)
		c->end[i] = size_of(c->fd[i]);
}

static off_t end_of(const struct capture *c, int which)
{
	return c->end[which] < 0 ? size_of(c->fd[which]) : c->end[which];
}

void capture_trim(struct capture *c)
{
	for (int i = 0; i < 2; i++) {
		off_t size = size_of(c->fd[i]), from = c->punched[i] ? c->punched[i] : KEEP;
		off_t to = (size - KEEP) & ~(off_t)4095;

		if (to - from < TRIM_AT)
			continue;
		if (!fallocate(c->fd[i], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, to - from))
			c->punched[i] = to;
	}
}

static char *read_part(int fd, off_t from, size_t len)
{
	char *text = malloc(len + 1);
	size_t done = 0;
	ssize_t n;

	if (!text)
		return NULL;
	while (done < len && (n = pread(fd, text + done, len - done, from + done)) > 0)
		done += n;
	text[done] = 0;
	/* C strings from here on: what a program prints may hold anything */
	for (size_t i = 0; i < done; i++)
		if (!text[i])
			text[i] = '?';
	return text;
}

int capture_text(struct capture *c, int which, char **head, char **tail)
{
	off_t size = end_of(c, which);

	*tail = NULL;
	*head = read_part(c->fd[which], 0, size < KEEP ? size : KEEP);
	if (!*head)
		return -ENOMEM;
	if (size > KEEP) {
		off_t rest = size - KEEP < KEEP ? size - KEEP : KEEP;

		*tail = read_part(c->fd[which], size - rest, rest);
		if (!*tail) {
			free(*head);
			return -ENOMEM;
		}
	}
	return 0;
}

static int copy_part(int from, off_t at, off_t end, int to, const volatile sig_atomic_t *stop)
{
	char buf[65536];
	ssize_t n;
	int ret;

	while (at < end) {
		n = pread(from, buf, end - at < (off_t)sizeof(buf) ? end - at : (off_t)sizeof(buf), at);
		if (n <= 0)
			return n ? -errno : 0;
		ret = patient_write(to, buf, n, PATIENCE_NS, stop);
		if (ret)
			return ret;
		at += n;
	}
	return 0;
}

int capture_copy(struct capture *c, int which, int to, const volatile sig_atomic_t *stop)
{
	off_t size = end_of(c, which), gap = c->punched[which];
	int ret;

	if (!gap)
		return copy_part(c->fd[which], 0, size, to, stop);
	ret = copy_part(c->fd[which], 0, KEEP, to, stop);
	if (!ret && dprintf(to, "\n[... %lu bytes cut ...]\n", (unsigned long)(gap - KEEP)) < 0)
		ret = -errno;
	return ret ? ret : copy_part(c->fd[which], gap, size, to, stop);
}

/* ---- judging ---- */

/*
 * All panics in Go end a program with the same status, and all in Rust. What was meant by the message of one is the program's
 * own, and may have numbers and names that differ between two executions of one bug. But Go's runtime has words of its own,
 * its tests have names, and Rust tells the place: these tell two bugs apart. "" where there are none.
 */
static void reason(const char *message, char *why, size_t len)
{
	static const char *const words[] = { "fatal error: ", "panic: runtime error: ", "panic: sync: ",
					     "panic: send on closed channel",
					     "panic: close of ", "panic: assignment to entry in nil map",
					     "panic: all goroutines are asleep" };
	static const char panicked[] = "panicked at ";
	const char *line = strstr(message, "): "), *end;

	*why = 0;
	if (!line)
		return;
	line += 3;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strncmp(line, words[i], strlen(words[i])))
			snprintf(why, len, "%s", line);
	if (!strncmp(line, "panic: ", 7) && !*why)
		snprintf(why, len, "panic: ");
	/* the name of a test, of several in a file */
	if (!strncmp(line, "--- FAIL: ", 10))
		snprintf(why, len, "%.*s", (int)strcspn(line, "("), line);
	line = strncmp(line, "thread '", 8) ? NULL : strstr(line, panicked);
	if (!line)
		return;
	/* "panicked at src/main.rs:9:5: overdrawn"; before Rust 1.73 "panicked at 'overdrawn', src/main.rs:9:5" */
	line += sizeof(panicked) - 1;
	for (const char *p = line; *line == '\'' && (p = strstr(p, "', "));)
		line = p += 3;
	end = strstr(line, ".rs:");
	if (!end)
		return;
	end += 4;
	end += strspn(end, "0123456789:");
	snprintf(why, len, "%.*s", (int)(end - line), line);
}

void outcome_identify(struct outcome *o)
{
	char why[512];

	switch (o->kind) {
	case ZUG_OUTCOME_PASS:
		o->failure = 0;
		break;
	case ZUG_OUTCOME_EXIT:
		reason(o->message, why, sizeof(why));
		o->failure = identity_exit(o->code, why);
		break;
	case ZUG_OUTCOME_SIGNAL:
		o->failure = identity_signal(o->code, &o->site, o->site != 0);
		break;
	default:
		o->failure = identity_message(o->message);
	}
}

void outcome_set(struct outcome *o, enum zug_outcome_kind kind, const char *fmt, ...)
{
	va_list ap;

	o->kind = kind;
	o->code = 0;
	va_start(ap, fmt);
	vsnprintf(o->message, sizeof(o->message), fmt, ap);
	va_end(ap);
	outcome_identify(o);
}

void outcome_words(const struct outcome *o, char *buf, size_t len)
{
	snprintf(buf, len, "%s%s%s", zug_outcome_name(o->kind), o->message[0] ? ": " : "", o->message);
}

static void copy_line(char *to, size_t len, const char *from)
{
	size_t n = strcspn(from, "\n");

	if (n >= len)
		n = len - 1;
	memcpy(to, from, n);
	to[n] = 0;
}

/* Adds these words to the message, and the line. */
static void append_line(struct outcome *o, const char *words, const char *line)
{
	size_t n;

	strncat(o->message, words, sizeof(o->message) - strlen(o->message) - 1);
	n = strlen(o->message);
	copy_line(o->message + n, sizeof(o->message) - n, line);
}

/* Start of the line that holds the last occurrence of any of the words before that end (NULL: of the text); NULL none. */
static const char *line_before(const char *text, const char *end, const char *const *words)
{
	const char *best = NULL;

	for (; *words; words++)
		for (const char *p = text; (p = strstr(p, *words)) && (!end || p < end); p++)
			if (!best || p > best)
				best = p;
	while (best && best > text && best[-1] != '\n')
		best--;
	return best;
}

static const char *line_with(const char *text, const char *const *words)
{
	return line_before(text, NULL, words);
}

/*
 * Python: "Exception in thread Thread-1 (work):", then a traceback, whose lines are indented, and what was raised. Where
 * another exception was raised while that one was handled, it is told behind it. NULL: no traceback follows that line.
 */
static const char *raised(const char *line)
{
	static const char first[] = "Traceback (most recent call last):\n";
	static const char *const more[] = { "\n\nDuring handling of the above exception",
					    "\n\nThe above exception was the direct cause" };
	const char *p = strchr(line, '\n'), *found = NULL;

	while (p && !strncmp(p + 1, first, sizeof(first) - 1)) {
		p += sizeof(first) - 1;
		while (p && p[1] == ' ')
			p = strchr(p + 1, '\n');
		found = p && p[1] ? p + 1 : found;
		p = p ? strchr(p + 1, '\n') : NULL;
		if (!p || (strncmp(p, more[0], strlen(more[0])) && strncmp(p, more[1], strlen(more[1]))))
			break;
		p = strstr(p, first);
		p = p ? p - 1 : NULL;
	}
	return found;
}

/*
 * Rust: a panic that only says that another thread, or task, has panicked. Its line ends with ':', and the next one has the
 * words; before Rust 1.73 they are in the line itself, "panicked at 'called `Result::unwrap()` ...', src/main.rs:9:5".
 */
static bool is_hearsay(const char *line)
{
	static const char *const words[] = { "PoisonError", "JoinError::Panic", "`Err` value: Any {",
					     "a scoped thread panicked" };
	size_t n = strcspn(line, "\n");
	char said[1024];

	if (!n)
		return false;
	if (line[n - 1] == ':' && line[n]) {
		copy_line(said, sizeof(said), line + n + 1);
	} else {
		copy_line(said, sizeof(said), line);
		if (!strstr(said, "panicked at '"))
			return false;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(said, words[i]))
			return true;
	return false;
}

/*
 * The last line with one of the words that tells more than that another thread said something before; if there is none, the
 * last.
 */
static const char *cause(const char *text, const char *const *words)
{
	const char *last = line_with(text, words), *line = last;

	while (line && is_hearsay(line))
		line = line_before(text, line, words);
	return line ? line : last;
}

static const char *last_line(const char *text)
{
	size_t n = strlen(text);

	while (n && text[n - 1] == '\n')
		n--;
	while (n && text[n - 1] != '\n')
		n--;
	return text + n;
}

/* The first line that begins so, further in or not, and has that in it as well (NULL: whatever); NULL: there is none. */
static const char *line_beginning(const char *text, const char *begin, const char *with)
{
	for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		const char *p = line + strspn(line, " \t"), *end = p + strcspn(p, "\n"), *has = with ? strstr(p, with) : p;

		if (!strncmp(p, begin, strlen(begin)) && has && has < end)
			return p;
	}
	return NULL;
}

/*
 * node: what was not caught comes behind the line of the source where that was thrown and a line that points there; its stack
 * follows, and the version comes last. With the place of the innermost function that is the program's. False: that is not so.
 */
static bool append_thrown(struct outcome *o, const char *text)
{
	const char *error = NULL, *end, *at;

	if (strncmp(last_line(text), "Node.js v", 9))
		return false;
	for (const char *line = text, *next; line; line = next) {
		size_t blank = strspn(line, " \t"), carets = strspn(line + blank, "^");

		next = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
		if (carets && next && line[blank + carets] == '\n')
			error = next + strspn(next, "\n");
	}
	if (!error || !*error)
		return false;
	append_line(o, ": ", error);
	end = strchr(error, '\n');
	/* "Expected values to be strictly equal:", an empty line, and "3 !== 4" */
	if (end && end[-1] == ':' && end[1 + strspn(end + 1, "\n")] != ' ')
		append_line(o, " ", end + 1 + strspn(end + 1, "\n"));
	for (at = end; at; at = strchr(at, '\n')) {
		at = line_beginning(at, "at ", NULL);
		if (!at)
			break;
		if (!memmem(at, strcspn(at, "\n"), "node:", 5)) {
			append_line(o, " ", at);
			break;
		}
	}
	end = o->message + strlen(o->message);
	if (end - o->message > 2 && !strcmp(end - 2, " {"))
		o->message[end - o->message - 2] = '\0';
	return true;
}

/* Python's unittest: the first test that failed, and what was raised there. False: it was not that. */
static bool append_unittest(struct outcome *o, const char *text)
{
	static const char trace[] = "\nTraceback (most recent call last):\n";
	const char *test, *error, *what;

	if (strncmp(last_line(text), "FAILED (", 8))
		return false;
	test = line_beginning(text, "FAIL: ", " (");
	error = line_beginning(text, "ERROR: ", " (");
	test = !test || (error && error < test) ? error : test;
	if (!test)
		return false;
	append_line(o, ": ", test);
	what = strstr(test, trace);
	what = what ? raised(what) : NULL;
	if (what)
		append_line(o, ": ", what);
	return true;
}

/* make(1) says it: "make[1]: ", and behind that these words. */
static bool says_make(const char *line, const char *words)
{
	const char *p = line + 4;

	if (strncmp(line, "make", 4))
		return false;
	if (*p == '[') {
		p += 1 + strspn(p + 1, "0123456789");
		if (*p++ != ']')
			return false;
	}
	return !strncmp(p, ": ", 2) && !strncmp(p + 2, words, strlen(words));
}

/*
 * Where make(1) has the last word, it says which target could not be made, and what other jobs have said meanwhile
 * stands before that: the line before the first such word of make's is what the command said that failed first. NULL:
 * make did not fail.
 */
static const char *made(const char *text)
{
	const char *before = NULL;

	if (!says_make(last_line(text), "***"))
		return NULL;
	for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (says_make(line, "*** ["))
			return before ? before : line;
		if (*line && *line != '\n' && !says_make(line, ""))
			before = line;
	}
	return NULL;
}

/* Where ":NUMBER" begins that ends there; NULL: there is none. */
static const char *colon_before(const char *line, const char *end)
{
	const char *p = end;

	while (p > line && isdigit((unsigned char)p[-1]))
		p--;
	return p < end && p > line && p[-1] == ':' ? p - 1 : NULL;
}

/*
 * UBSan's messages stand behind a place, which has a line and a column, or is not known: "sum.c:7:12: runtime error: ". In Go
 * these are words of panics, also of those that the program has caught ("panic serving 127.0.0.1:80: runtime error: ").
 */
static bool is_place(const char *line, const char *end)
{
	const char *column = colon_before(line, end);

	if (column)
		return colon_before(line, column);
	return end > line && (end[-1] == ')' || end[-1] == '>');
}

/* The last line of UBSan's, NULL: there is none. */
static const char *ubsan_line(const char *text)
{
	static const char word[] = ": runtime error: ";
	const char *best = NULL, *line;

	for (const char *p = text; (p = strstr(p, word)); p++) {
		for (line = p; line > text && line[-1] != '\n'; line--)
			;
		if (is_place(line, p))
			best = line;
	}
	return best;
}

static bool sanitizer(struct outcome *o, const char *err)
{
	static const char *const summary[] = { "SUMMARY: AddressSanitizer", "SUMMARY: ThreadSanitizer",
		"SUMMARY: UndefinedBehaviorSanitizer", "SUMMARY: LeakSanitizer",
		"SUMMARY: MemorySanitizer", NULL };
	static const char *const report[] = { "ERROR: AddressSanitizer", "WARNING: ThreadSanitizer",
		"ERROR: LeakSanitizer", "WARNING: MemorySanitizer",
		"FATAL: ThreadSanitizer", NULL };
	const char *line = line_with(err, report), *undefined = ubsan_line(err);

	if (!line || undefined > line)
		line = undefined;
	if (!line)
		return false;
	o->kind = ZUG_OUTCOME_SANITIZER;
	o->code = 0;
	if (line_with(err, summary))
		line = line_with(err, summary);
	copy_line(o->message, sizeof(o->message), line);
	return true;
}

/*
 * What a test program says on its output about a test that failed: Rust's harness shows there what the test wrote,
 * "thread 'tests::pool' (7) panicked at src/lib.rs:30:9:"; Go's has "--- FAIL: TestPool (0.00s)", and below it, further in,
 * what the test logged; GoogleTest "pool_test.cc:30: Failure"; Catch2 "pool.cpp:30: FAILED:"; JUnit a list of the tests that
 * have failed; pytest "FAILED test_pool.py::test_take - assert 1 == 2"; TAP, as node's tests tell it, "not ok 1 - takes one".
 * NULL: none of these.
 */
static const char *failed_test(const char *out)
{
	static const char *const lists[] = { "\nThere was 1 failure:\n", " failures:\n1) ", "\nFailures (" };
	static const char *const panics[] = { "panicked at ", NULL };
	static const char *const failures[] = { "--- FAIL: ", ": Failure\n", ": FAILED:\n", NULL };

	if (line_with(out, panics))
		return cause(out, panics);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const char *list = strstr(out, lists[i]), *next = list ? strchr(list + 1, '\n') : NULL;

		if (next && next[1])
			return next + 1;
	}
	if (line_with(out, failures))
		return line_with(out, failures);
	if (line_beginning(out, "FAILED ", "::"))
		return line_beginning(out, "FAILED ", "::");
	return line_beginning(out, "not ok ", " - ");
}

/*
 * Rust before 1.73: the words of "thread 'main' panicked at 'assertion failed: `(left == right)`" may go on for some lines, and
 * the last one has the place, "right: `2`', src/main.rs:9:5".
 */
static void add_quoted(struct outcome *o, const char *line)
{
	const char *said = strstr(line, "panicked at '"), *end = strchr(line, '\n'), *place = said ? strstr(said, "', ") : NULL;
	int nr = 0;

	if (!said || !end || said > end || !place)
		return;
	for (const char *p = end; p && p < place; p = strchr(p + 1, '\n'))
		nr++;
	for (int i = 0; i < nr && nr <= QUOTED_LINES; i++, end = strchr(end + 1, '\n'))
		append_line(o, " ", end + 1 + strspn(end + 1, " \t"));
}

/* Adds the line to the message, and, where that ends with a colon, or any is wanted, the next one. */
static void add_line(struct outcome *o, const char *line, bool more)
{
	const char *next = strchr(line, '\n');

	line += strspn(line, " \t");
	append_line(o, "", line);
	add_quoted(o, line);
	/* Rust: "thread 'main' panicked at bank.rs:21:5:", and what it was on the next line */
	if (!next || next <= line || (next[-1] != ':' && !more))
		return;
	next += 1 + strspn(next + 1, " \t");
	if (*next && *next != '\n')
		append_line(o, " ", next);
}

static bool matches(struct outcome *o, const regex_t *re, const char *text, const char *stream)
{
	char line[512];
	regmatch_t m;

	if (!text || regexec(re, text, 1, &m, 0))
		return false;
	while (m.rm_so > 0 && text[m.rm_so - 1] != '\n')
		m.rm_so--;
	copy_line(line, sizeof(line), text + m.rm_so);
	o->kind = ZUG_OUTCOME_MATCH;
	o->code = 0;
	snprintf(o->message, sizeof(o->message), "%s: %s", stream, line);
	return true;
}

void outcome_judge(struct outcome *o, int status, const struct outcome_rules *rules,
		   struct capture *c)
{
	static const char *const abort_words[] = { "Assertion `", "Assertion failed", "assertion failed",
		"terminate called", "panicked at", "fatal error:", "*** ", "free(): ", "malloc(): ",
		"corrupted ", NULL };
	static const char what[] = "  what():  ";
	/* the languages that end so, and print a stack after it */
	static const char *const panic_words[] = { "panicked at ", "fatal error: ", "panic: ", "Exception in thread \"", NULL };
	const char *const uncaught[] = { rules->uncaught, NULL };
	char *out = NULL, *out_tail = NULL, *err = NULL, *err_tail = NULL;
	const char *text, *line, *next, *failed;

	*o = (struct outcome){ .site = o->site };
	if (capture_text(c, 0, &out, &out_tail))
		out = NULL;
	if (capture_text(c, 1, &err, &err_tail))
		err = NULL;
	text = err_tail ? err_tail : err ? err : "";

	if (err && (sanitizer(o, text) || sanitizer(o, err)))
		goto out;
	if (rules->match && (matches(o, rules->match, out, "output") ||
			     matches(o, rules->match, out_tail, "output") ||
			     matches(o, rules->match, err, "error output") ||
			     matches(o, rules->match, err_tail, "error output")))
		goto out;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) {
		o->kind = ZUG_OUTCOME_ABORT;
		o->code = SIGABRT;
		line = line_with(text, abort_words);
		if (!line)
			line = last_line(text);
		copy_line(o->message, sizeof(o->message), *line ? line : "aborted without a message");
		/*
		 * C++: "terminate called after throwing an instance of 'std::runtime_error'", and "
		 * what():  no money"
		 */
		next = strchr(line, '\n');
		if (next && !strncmp(next + 1, what, strlen(what)))
			append_line(o, ": ", next + 1 + strlen(what));
	} else if (WIFSIGNALED(status)) {
		o->kind = ZUG_OUTCOME_SIGNAL;
		o->code = WTERMSIG(status);
		snprintf(o->message, sizeof(o->message), "killed by SIG%s (%s)%s",
			 sigabbrev_np(o->code) ? sigabbrev_np(o->code) : "?", sigdescr_np(o->code) ?
			 sigdescr_np(o->code) : "unknown", WCOREDUMP(status) ? ", core dumped" : "");
	} else if (WIFEXITED(status) && WEXITSTATUS(status) != rules->expect_exit) {
		o->kind = ZUG_OUTCOME_EXIT;
		o->code = WEXITSTATUS(status);
		line = cause(text, panic_words);
		/* the text is the end of what was written */
		if (line && is_hearsay(line) && err && cause(err, panic_words))
			line = cause(err, panic_words);
		failed = line || !out ? NULL : failed_test(out_tail ? out_tail : out);
		line = line ? line : failed ? failed : made(text) ? made(text) : last_line(text);
		/* a script that says what is wrong by echo */
		if (!*line && out)
			line = last_line(out_tail ? out_tail : out);
		snprintf(o->message, sizeof(o->message), "exit status %d (expected %d)", o->code, rules->expect_exit);
		if (!append_thrown(o, text) && !append_unittest(o, text) && *line) {
			append_line(o, ": ", "");
			/* these two say it in one line */
			add_line(o, line, failed && strncmp(failed, "FAILED ", 7) && strncmp(failed, "not ok ", 7));
		}
	} else if (rules->uncaught && !rules->match && err && (line_with(err, uncaught) || line_with(text, uncaught))) {
		o->kind = ZUG_OUTCOME_MATCH;
		line = line_with(err, uncaught);
		line = line ? line : line_with(text, uncaught);
		append_line(o, "error output: ", line);
		next = raised(line);
		if (next)
			append_line(o, " ", next);
	} else {
		o->kind = ZUG_OUTCOME_PASS;
	}
out:
	if (o->kind != ZUG_OUTCOME_PASS)
		outcome_identify(o);
	free(out);
	free(out_tail);
	free(err);
	free(err_tail);
}
