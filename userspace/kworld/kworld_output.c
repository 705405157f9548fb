/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kworld_output.c - --from-output: the search begins when the test writes a line that matches
 *
 * While the sandbox is quiet its tasks stop before they write to a file or a pipe (ZUG_EV_OUTPUT). What the test has for its
 * output is a file: the line that is about to be written begins there, and goes on in the task's memory. Elsewhere (a
 * server that a script starts has a log, or a pipe) each write begins a line.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>
#include "kworld/kworld_internal.h"
#include "lib/base/remote.h"

/* So much is looked at of the line before, and of one write. */
#define BEFORE_MOST 4096
#define WRITE_MOST (64 * 1024)
#define PIECES_MOST 64

struct text {
	char *bytes;
	size_t len;
};

static bool is_file(int fd, const struct zug_where *obj)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_ino == obj->ino &&
	       (major(st.st_dev) << 20 | minor(st.st_dev)) == obj->dev;
}

/* The line that has no end yet, in what was written so far. */
static void add_line_before(struct text *t, int fd)
{
	struct stat st;
	off_t from;
	ssize_t n;

	if (fstat(fd, &st))
		return;
	from = st.st_size > BEFORE_MOST ? st.st_size - BEFORE_MOST : 0;
	n = pread(fd, t->bytes, BEFORE_MOST, from);
	if (n <= 0)
		return;
	for (ssize_t i = n; i > 0; i--)
		if (t->bytes[i - 1] == '\n') {
			t->len = n - i;
			memmove(t->bytes, t->bytes + i, t->len);
			return;
		}
	t->len = n;
}

static void add_memory(struct text *t, pid_t pid, uint64_t addr, uint64_t len)
{
	size_t room = BEFORE_MOST + WRITE_MOST - t->len;
	ssize_t n = remote_read_some(pid, addr, t->bytes + t->len, len < room ? len : room);

	t->len += n > 0 ? n : 0;
}

static void add_written(struct text *t, const struct zug_event *e)
{
	struct iovec pieces[PIECES_MOST];
	size_t nr = e->arg[2] < PIECES_MOST ? e->arg[2] : PIECES_MOST;

	if (e->nr == SYS_write || e->nr == SYS_pwrite64) {
		add_memory(t, e->pid, e->arg[1], e->arg[2]);
		return;
	}
	if (!remote_read(e->pid, e->arg[1], pieces, nr * sizeof(*pieces)))
		return;
	for (size_t i = 0; i < nr; i++)
		add_memory(t, e->pid, (uintptr_t)pieces[i].iov_base, pieces[i].iov_len);
}

bool kworld_begins_search(struct kworld *k, const struct zug_event *e)
{
	struct zug_ctl c = { .cmd = ZUG_CMD_LOUD, .sandbox = sandbox_slot(k->o.sandbox) };
	const struct launch *l = &k->o.launch;
	struct text t = { 0 };
	bool matches;
	int fd;

	if (!k->o.from_output)
		return false;
	t.bytes = malloc(BEFORE_MOST + WRITE_MOST + 1);
	if (!t.bytes) {
		k->run.broken = "out of memory";
		return false;
	}
	/* of other files nothing is opened: the test may watch them */
	fd = is_file(l->out, &e->obj) ? l->out : is_file(l->err, &e->obj) ? l->err : -1;
	if (fd >= 0)
		add_line_before(&t, fd);
	add_written(&t, e);
	for (size_t i = 0; i < t.len; i++)
		if (!t.bytes[i])
			t.bytes[i] = ' ';
	t.bytes[t.len] = 0;
	matches = !regexec(k->o.from_output, t.bytes, 0, NULL, 0);
	free(t.bytes);
	return matches && !kernel_ctl(k->o.kernel, &c);
}
