/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rsp.h - packets of GDB's remote serial protocol over a stream: $TEXT#CHECKSUM
 *
 * Acknowledgements are sent and skipped until gdb switches them off; the stream is reliable.
 */
#ifndef ZUG_RSP_H
#define ZUG_RSP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a packet, both ways: what we tell gdb as PacketSize. A core is read in pieces of half of it. */
#define RSP_MAX 0x20000

struct rsp {
	int fd;			/* the caller's */
	bool no_ack;
	size_t len;		/* unread bytes in buf */
	uint8_t buf[RSP_MAX + 8];
};

enum rsp_got { RSP_NOTHING = 0, RSP_PACKET, RSP_INTERRUPT };

/*
 * One packet into text (RSP_MAX + 1 bytes, NUL-terminated; *len without it; binary escapes are
 * resolved), or Ctrl-C. Waits timeout_ms; 0: not at all. -EPIPE: the end; -EPROTO: not the protocol.
 */
int rsp_read(struct rsp *r, char *text, size_t *len, int timeout_ms);
/* 0 or -errno. text has no binary bytes; see rsp_send_binary(). */
int rsp_send(struct rsp *r, const char *text);
/* head as it is, then data, escaped as far as it fits; *sent: how much of it that was. */
int rsp_send_binary(struct rsp *r, const char *head, const void *data, size_t len, size_t *sent);

/* Bytes to hex digits with a NUL (2 * len + 1); back: number of bytes, -EINVAL when it is not hex. */
void rsp_hex(char *to, const void *from, size_t len);
int rsp_unhex(void *to, const char *from, size_t len);

/* A hex number at *p, which is moved behind it; false: there is none. */
bool rsp_number(const char **p, uint64_t *value);

#endif
