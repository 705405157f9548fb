/* SPDX-License-Identifier: GPL-2.0-only */
/* The log of a shard, written: shard.h. One line is one write, so a reader sees whole lines. */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/new_file.h"
#include "report/json_text.h"
#include "report/shard.h"

struct shard_log {
	int fd;
	int error;
	long after_head;
};

static void put_text(struct shard_log *l, const char *line, size_t len)
{
	ssize_t n;

	if (l->error)
		return;
	errno = 0;
	n = write(l->fd, line, len);
	if (n != (ssize_t)len)
		l->error = n < 0 ? -errno : -ENOSPC;
}

static void put_line(struct shard_log *l, struct json_object *o)
{
	char *line;
	int len = asprintf(&line, "%s\n", json_line(o));

	if (len < 0) {
		l->error = l->error ? l->error : -ENOMEM;
	} else {
		put_text(l, line, len);
		free(line);
	}
	json_object_put(o);
}

/* What an earlier run has left: *old, or NULL. 0, or -errno with a line in err. */
static int look_back(struct shard_log *l, const char *dir, struct json_object *head, struct shard **old, char *err,
		     size_t errlen)
{
	char what[400];
	struct shard *s;

	if (shard_is_empty(dir))
		return 0;
	s = shard_read(dir, err, errlen);
	if (!s) {
		snprintf(err + strlen(err), errlen - strlen(err), "; name another folder (--output), or remove it");
		return -EINVAL;
	}
	if (shard_differs(s->head, head, what, sizeof(what))) {
		snprintf(err, errlen, "%s is the shard of another search: %s; name another folder (--output)", dir, what);
		shard_free(s);
		return -EINVAL;
	}
	if (s->torn && ftruncate(l->fd, s->whole)) {
		snprintf(err, errlen, "%s/log: %s", dir, strerror(errno));
		shard_free(s);
		return -EIO;
	}
	l->after_head = s->after_head;
	*old = s;
	return 0;
}

static int make_folders(const char *dir)
{
	char path[PATH_MAX];

	for (size_t i = 1; dir[i - 1]; i++) {
		if ((dir[i] && dir[i] != '/') || i >= sizeof(path))
			continue;
		snprintf(path, sizeof(path), "%.*s", (int)i, dir);
		if ((errno = -new_folder(path, 0755)) && errno != EEXIST)
			return -errno;
		if (!dir[i])
			break;
	}
	return 0;
}

struct shard_log *shard_log_open(const char *dir, struct json_object *head, struct shard **old, char *err,
				 size_t errlen)
{
	struct shard_log *l = calloc(1, sizeof(*l));
	char path[PATH_MAX];
	int ret;

	*old = NULL;
	snprintf(err, errlen, "out of memory");
	if (!l)
		return NULL;
	snprintf(path, sizeof(path), "%s/log", dir);
	ret = make_folders(dir);
	l->fd = ret ? ret : new_file_append(path, 0644);
	if (l->fd < 0) {
		snprintf(err, errlen, "the log of the shard, %s: %s", path, new_file_error(l->fd));
		goto fail;
	}
	if (flock(l->fd, LOCK_EX | LOCK_NB)) {
		snprintf(err, errlen, "%s: another zug works at this shard; wait until it has ended, or make another one",
			 path);
		goto fail;
	}
	if (look_back(l, dir, head, old, err, errlen))
		goto fail;
	if (*old)
		return l;
	if (ftruncate(l->fd, 0) == 0)
		put_line(l, json_object_get(head));
	l->after_head = lseek(l->fd, 0, SEEK_END);
	if (!l->error)
		return l;
	snprintf(err, errlen, "%s: %s", path, strerror(-l->error));
fail:
	if (l->fd >= 0)
		close(l->fd);
	free(l);
	return NULL;
}

int shard_log_restart(struct shard_log *l)
{
	if (ftruncate(l->fd, l->after_head))
		l->error = -errno;
	return l->error;
}

void shard_log_execution(struct shard_log *l, const struct shard_execution *x)
{
	char line[320];
	int len = snprintf(line, sizeof(line),
			   "{\"x\":[%lld,%u,%llu,\"%c\",\"%016llx\",\"%016llx\",\"%llx\",%llu,%llu,%llu]}\n",
			   (long long)x->part, x->bound, (unsigned long long)x->n, x->result,
			   (unsigned long long)x->class, (unsigned long long)x->schedule,
			   (unsigned long long)x->failure, (unsigned long long)x->steps,
			   (unsigned long long)x->preemptions, (unsigned long long)x->ns);

	put_text(l, line, len);
}

void shard_log_finding(struct shard_log *l, const struct shard_finding *f)
{
	struct json_object *o = json_object_new_object();
	char failure[24];

	snprintf(failure, sizeof(failure), "%llx", (unsigned long long)f->failure);
	json_object_object_add(o, f->once ? "once" : "finding", json_text(failure));
	json_object_object_add(o, "part", json_object_new_int64(f->part));
	json_add_number(o, "bound", f->bound);
	json_add_number(o, "n", f->n);
	json_add_number(o, "number", f->number);
	json_add_text(o, "kind", f->kind);
	json_add_text(o, "message", f->message);
	json_add_text(o, "trace", f->trace);
	put_line(l, o);
}

void shard_log_frozen(struct shard_log *l, struct json_object *frozen)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "frozen", frozen);
	put_line(l, o);
}

void shard_log_part(struct shard_log *l, const struct shard_part *p)
{
	struct json_object *o = json_object_new_object();

	json_add_number(o, "done", p->part);
	json_add_number(o, "bound", p->bound);
	json_object_object_add(o, "cut", json_object_new_boolean(p->cut));
	json_object_object_add(o, "incomplete", json_object_new_boolean(p->incomplete));
	put_line(l, o);
}

void shard_log_end(struct shard_log *l, const char *why, bool complete)
{
	struct json_object *o = json_object_new_object();

	json_add_text(o, "end", why);
	json_object_object_add(o, "complete", json_object_new_boolean(complete));
	put_line(l, o);
}

int shard_log_error(const struct shard_log *l)
{
	return l->error;
}

int shard_log_close(struct shard_log *l)
{
	int ret;

	if (!l)
		return 0;
	ret = close(l->fd) && !l->error ? -errno : l->error;
	free(l);
	return ret;
}
