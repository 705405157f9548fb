/* SPDX-License-Identifier: GPL-2.0-only */
/* protocol.c - messages between zug and zugd: written, read and checked (protocol.h) */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "zugd/protocol.h"

struct json_object *protocol_message(const char *key, const char *value)
{
	struct json_object *m = json_object_new_object();

	if (m) {
		json_object_object_add(m, "v", json_object_new_int(PROTOCOL_VERSION));
		json_object_object_add(m, key, json_object_new_string(value));
	}
	return m;
}

int protocol_send(int fd, struct json_object *m, const int *fds, int nr_fds)
{
	const char *text = json_object_to_json_string_ext(m, JSON_C_TO_STRING_PLAIN |
							     JSON_C_TO_STRING_NOSLASHESCAPE);
	char control[CMSG_SPACE(PROTOCOL_MAX_FDS * sizeof(int))] = { 0 };
	struct iovec iov[2] = { { (void *)text, strlen(text) }, { (void *)"\n", 1 } };
	struct msghdr h = { .msg_iov = iov, .msg_iovlen = 2 };
	struct cmsghdr *c;
	ssize_t n;

	if (nr_fds) {
		h.msg_control = control;
		h.msg_controllen = CMSG_SPACE(nr_fds * sizeof(int));
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nr_fds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, nr_fds * sizeof(int));
	}
	while (h.msg_iovlen) {
		n = sendmsg(fd, &h, MSG_NOSIGNAL);
		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		h.msg_control = NULL;
		h.msg_controllen = 0;
		while (h.msg_iovlen && (size_t)n >= h.msg_iov->iov_len) {
			n -= h.msg_iov->iov_len;
			h.msg_iov++;
			h.msg_iovlen--;
		}
		if (h.msg_iovlen) {
			h.msg_iov->iov_base = (char *)h.msg_iov->iov_base + n;
			h.msg_iov->iov_len -= n;
		}
	}
	return 0;
}

static void take_fds(struct protocol_reader *r, struct msghdr *h)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		size_t nr;
		int fd;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		nr = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < nr; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (r->nr_fds < PROTOCOL_MAX_FDS)
				r->fds[r->nr_fds++] = fd;
			else
				close(fd);
		}
	}
}

/* A complete line at the front of the buffer. */
static int parse(struct protocol_reader *r, struct json_object **m)
{
	char *end = r->len > r->seen ? memchr(r->buf + r->seen, '\n', r->len - r->seen) : NULL;
	size_t n;

	if (!end) {
		r->seen = r->len;
		return 0;
	}
	*end = 0;
	n = end + 1 - r->buf;
	*m = json_tokener_parse(r->buf);
	memmove(r->buf, r->buf + n, r->len - n);
	r->len -= n;
	r->seen = 0;
	if (*m && json_object_is_type(*m, json_type_object))
		return 1;
	json_object_put(*m);
	*m = NULL;
	return -EPROTO;
}

int protocol_read(struct protocol_reader *r, int fd, struct json_object **m)
{
	char control[CMSG_SPACE(PROTOCOL_MAX_FDS * sizeof(int))];
	struct iovec iov;
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			    .msg_controllen = sizeof(control) };
	ssize_t n;
	int ret;

	*m = NULL;
	ret = parse(r, m);
	if (ret)
		return ret;
	if (r->len == r->size) {
		size_t size = r->size ? 2 * r->size : 4096;
		char *buf;

		if (size > (r->most ? r->most : PROTOCOL_MAX_BYTES))
			return -EPROTO;
		buf = realloc(r->buf, size);
		if (!buf)
			return -ENOMEM;
		r->buf = buf;
		r->size = size;
	}
	iov.iov_base = r->buf + r->len;
	iov.iov_len = r->size - r->len;
	n = recvmsg(fd, &h, MSG_CMSG_CLOEXEC);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	take_fds(r, &h);
	if (!n)
		return -EPIPE;
	r->len += n;
	return parse(r, m);
}

void protocol_reader_free(struct protocol_reader *r)
{
	for (int i = 0; i < r->nr_fds; i++)
		close(r->fds[i]);
	free(r->buf);
	memset(r, 0, sizeof(*r));
}

const char *protocol_text(struct json_object *m, const char *name)
{
	struct json_object *v;

	if (!json_object_object_get_ex(m, name, &v) || !json_object_is_type(v, json_type_string))
		return NULL;
	return json_object_get_string(v);
}

int protocol_int(struct json_object *m, const char *name, int otherwise)
{
	struct json_object *v;

	if (!json_object_object_get_ex(m, name, &v) || !json_object_is_type(v, json_type_int))
		return otherwise;
	return json_object_get_int(v);
}

char **protocol_list(struct json_object *m, const char *name, int *nr)
{
	struct json_object *a;
	char **list;
	size_t n;

	if (!json_object_object_get_ex(m, name, &a) || !json_object_is_type(a, json_type_array))
		return NULL;
	n = json_object_array_length(a);
	list = calloc(n + 1, sizeof(*list));
	for (size_t i = 0; list && i < n; i++) {
		struct json_object *v = json_object_array_get_idx(a, i);

		if (!json_object_is_type(v, json_type_string)) {
			free(list);
			return NULL;
		}
		list[i] = (char *)json_object_get_string(v);
	}
	if (nr)
		*nr = n;
	return list;
}

/* A C string, as a whole. */
static bool is_text(struct json_object *v)
{
	return json_object_is_type(v, json_type_string) &&
	       strlen(json_object_get_string(v)) == (size_t)json_object_get_string_len(v);
}

static bool is_list(struct json_object *m, const char *name)
{
	struct json_object *a;

	if (!json_object_object_get_ex(m, name, &a) || !json_object_is_type(a, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(a); i++)
		if (!is_text(json_object_array_get_idx(a, i)))
			return false;
	return true;
}

const char *protocol_wrong(struct json_object *m, int nr_fds)
{
	struct json_object *what, *cwd;

	if (!json_object_object_get_ex(m, "request", &what) || !is_text(what))
		return "a message needs a request, which is a string";
	if (!strcmp(json_object_get_string(what), "status") || !strcmp(json_object_get_string(what), "stop"))
		return NULL;
	if (!is_list(m, "args") || !is_list(m, "env"))
		return "a request to execute needs args and env, which are lists of strings without zero bytes";
	if (!json_object_object_get_ex(m, "cwd", &cwd) || !is_text(cwd) ||
	    json_object_get_string(cwd)[0] != '/')
		return "a request to execute needs cwd, which is an absolute path";
	if (nr_fds != PROTOCOL_MAX_FDS)
		return "a request to execute needs three descriptors";
	return NULL;
}
