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

/*
 * Bytes of a packet, in both directions (gdb's PacketSize). A core is read in pieces of half of
 * that.
 */
#define RSP_MAX 0x20000

struct rsp {
	int fd;			/* the caller's */
	bool no_ack;
	size_t len;		/* unread bytes in buf */
	uint8_t buf[RSP_MAX + 8];
};

enum rsp_got { RSP_NOTHING = 0, RSP_PACKET, RSP_INTERRUPT };

/*
 * Reads one packet into text (RSP_MAX + 1 bytes; NUL-terminated, *len without the NUL; binary
 * escapes are resolved), or Ctrl-C. Waits at most timeout_ms. Returns one of enum rsp_got; -EPIPE:
 * gdb has closed the stream; -EPROTO: the stream is not of this protocol.
 */
int rsp_read(struct rsp *r, char *text, size_t *len, int timeout_ms);
/* 0 or -errno. text has no binary bytes; see rsp_send_binary(). */
int rsp_send(struct rsp *r, const char *text);
/*
 * Sends head, then as much of data as fits when it is escaped; *sent: bytes of data that were sent.
 * 0 or -errno.
 */
int rsp_send_binary(struct rsp *r, const char *head, const void *data, size_t len, size_t *sent);

/*
 * rsp_hex() writes 2 * len digits and a NUL; rsp_unhex() returns the number of bytes, -EINVAL: not
 * hex digits.
 */
void rsp_hex(char *to, const void *from, size_t len);
int rsp_unhex(void *to, const char *from, size_t len);

/* Parses a hex number at *p, and moves *p behind it. False: there is none. */
bool rsp_number(const char **p, uint64_t *value);

#endif
