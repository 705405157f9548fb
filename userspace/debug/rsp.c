/* SPDX-License-Identifier: GPL-2.0-only */
/* rsp.c - packets of GDB's remote protocol, read and sent (rsp.h) */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "debug/rsp.h"

/* A repetition takes three characters, and its count must be printable. */
#define RUN_MIN 3
#define RUN_MAX (126 - 29)

static const char digits[] = "0123456789abcdef";

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void rsp_hex(char *to, const void *from, size_t len)
{
	const uint8_t *p = from;

	for (size_t i = 0; i < len; i++) {
		*to++ = digits[p[i] >> 4];
		*to++ = digits[p[i] & 15];
	}
	*to = 0;
}

int rsp_unhex(void *to, const char *from, size_t len)
{
	uint8_t *p = to;

	if (len % 2)
		return -EINVAL;
	for (size_t i = 0; i < len; i += 2) {
		if (digit(from[i]) < 0 || digit(from[i + 1]) < 0)
			return -EINVAL;
		p[i / 2] = digit(from[i]) << 4 | digit(from[i + 1]);
	}
	return len / 2;
}

bool rsp_number(const char **p, uint64_t *value)
{
	const char *start = *p;

	*value = 0;
	for (; digit(**p) >= 0; (*p)++)
		*value = *value << 4 | digit(**p);
	return *p != start;
}

static int send_all(int fd, const void *data, size_t len)
{
	const char *p = data;
	ssize_t n;

	while (len) {
		n = send(fd, p, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EPIPE;
		p += n;
		len -= n;
	}
	return 0;
}

/* Removes the first n bytes. */
static void drop(struct rsp *r, size_t n)
{
	r->len -= n;
	memmove(r->buf, r->buf + n, r->len);
}

/*
 * Takes one packet or Ctrl-C out of the buffer; returns as rsp_read(), RSP_NOTHING: no packet is
 * complete.
 */
static int take(struct rsp *r, char *text, size_t *len)
{
	const uint8_t *end;
	uint8_t sum = 0;
	size_t n, i, out = 0;

	while (r->len && r->buf[0] != '$') {
		bool interrupt = r->buf[0] == 3;

		/* acknowledgements, and stray bytes between packets */
		drop(r, 1);
		if (interrupt)
			return RSP_INTERRUPT;
	}
	end = r->len ? memchr(r->buf, '#', r->len) : NULL;
	if (!end || (size_t)(end - r->buf) + 3 > r->len)
		return r->len == sizeof(r->buf) ? -EPROTO : RSP_NOTHING;
	n = end - r->buf;
	for (i = 1; i < n; i++)
		sum += r->buf[i];
	if (digit(end[1]) < 0 || digit(end[2]) < 0 || (digit(end[1]) << 4 | digit(end[2])) != sum) {
		drop(r, n + 3);
		return r->no_ack ? -EPROTO : send_all(r->fd, "-", 1);
	}
	for (i = 1; i < n; i++) {
		if (r->buf[i] == '}' && i + 1 < n)
			text[out++] = r->buf[++i] ^ 0x20;
		else
			text[out++] = r->buf[i];
	}
	text[out] = 0;
	*len = out;
	drop(r, n + 3);
	if (!r->no_ack && send_all(r->fd, "+", 1))
		return -EPIPE;
	return RSP_PACKET;
}

int rsp_read(struct rsp *r, char *text, size_t *len, int timeout_ms)
{
	struct pollfd p = { .fd = r->fd, .events = POLLIN };
	ssize_t n;
	int ret;

	for (;;) {
		ret = take(r, text, len);
		if (ret)
			return ret;
		ret = poll(&p, 1, timeout_ms);
		if (ret <= 0)
			return RSP_NOTHING;
		n = recv(r->fd, r->buf + r->len, sizeof(r->buf) - r->len, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0)
			return -EPIPE;
		r->len += n;
	}
}

/* Sends n characters that begin with '$'; the buffer has room for the three at the end. */
static int send_packet(struct rsp *r, char *packet, size_t n)
{
	uint8_t sum = 0;

	for (size_t k = 1; k < n; k++)
		sum += (uint8_t)packet[k];
	packet[n++] = '#';
	packet[n++] = digits[sum >> 4];
	packet[n++] = digits[sum & 15];
	return send_all(r->fd, packet, n);
}

int rsp_send_binary(struct rsp *r, const char *head, const void *data, size_t len, size_t *sent)
{
	char out[RSP_MAX + 8];
	const uint8_t *p = data;
	size_t n = 1, i;

	out[0] = '$';
	n += snprintf(out + n, RSP_MAX, "%s", head);
	for (i = 0; i < len && n < RSP_MAX; i++) {
		if (strchr("#$}*", p[i]) && p[i]) {
			out[n++] = '}';
			out[n++] = p[i] ^ 0x20;
		} else {
			out[n++] = p[i];
		}
	}
	if (sent)
		*sent = i;
	return send_packet(r, out, n);
}

/*
 * A repetition is sent as the character, '*', and the number of further ones plus 29. A core
 * consists mostly of these.
 */
int rsp_send(struct rsp *r, const char *text)
{
	char out[RSP_MAX + 8];
	size_t n = 1;

	out[0] = '$';
	while (*text && n < RSP_MAX - 2) {
		size_t again = 0;

		while (again < RUN_MAX && text[again + 1] == *text)
			again++;
		out[n++] = *text;
		if (again < RUN_MIN) {
			text++;
			continue;
		}
		if (again + 29 == '#' || again + 29 == '$')
			again = '#' - 30;
		out[n++] = '*';
		out[n++] = again + 29;
		text += again + 1;
	}
	return send_packet(r, out, n);
}
