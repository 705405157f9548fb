/* SPDX-License-Identifier: GPL-2.0-only */
/* test_rsp.c - packets of gdb's protocol, in pieces and damaged, and the packing of registers */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "debug/rsp.h"
#include "kernel/tracee.h"

static struct rsp ours;
static int theirs;

static int begin(void **state)
{
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	memset(&ours, 0, sizeof(ours));
	ours.fd = fd[0];
	theirs = fd[1];
	return 0;
}

static int end(void **state)
{
	close(ours.fd);
	close(theirs);
	return 0;
}

static void packets_arrive_in_any_pieces(void **state)
{
	/* an acknowledgement, a packet with an escaped '#', Ctrl-C, another packet */
	static const char bytes[] = "+$m}\003,4#4d\003$g#67";
	static char text[RSP_MAX + 1];
	size_t len;

	for (size_t step = 1; step <= sizeof(bytes); step++) {
		int got[3], nr = 0;

		for (size_t i = 0; i < sizeof(bytes) - 1; i += step) {
			size_t n = sizeof(bytes) - 1 - i < step ? sizeof(bytes) - 1 - i : step;
			int ret;

			assert_int_equal(write(theirs, bytes + i, n), n);
			while ((ret = rsp_read(&ours, text, &len, 0)) != RSP_NOTHING) {
				assert_in_range(nr, 0, 2);
				got[nr++] = ret;
				if (nr == 1)
					assert_string_equal(text, "m#,4");
				if (nr == 3)
					assert_string_equal(text, "g");
			}
		}
		assert_int_equal(nr, 3);
		assert_int_equal(got[0], RSP_PACKET);
		assert_int_equal(got[1], RSP_INTERRUPT);
		assert_int_equal(got[2], RSP_PACKET);
	}
}

static void damaged_packets_are_refused(void **state)
{
	static char text[RSP_MAX + 1], garbage[RSP_MAX + 64];
	char answer[8];
	size_t len;

	/* a packet with a wrong checksum is requested again, and its text is not used */
	assert_int_equal(write(theirs, "$g#00", 5), 5);
	assert_int_equal(rsp_read(&ours, text, &len, 0), RSP_NOTHING);
	assert_int_equal(read(theirs, answer, sizeof(answer)), 1);
	assert_int_equal(answer[0], '-');
	ours.no_ack = true;
	assert_int_equal(write(theirs, "$g#zz", 5), 5);
	assert_int_equal(rsp_read(&ours, text, &len, 0), -EPROTO);
	/* a packet without an end */
	memset(garbage, 'x', sizeof(garbage));
	garbage[0] = '$';
	assert_int_equal(write(theirs, garbage, sizeof(garbage)), sizeof(garbage));
	assert_int_equal(rsp_read(&ours, text, &len, 0), -EPROTO);
	ours.len = 0;
	close(theirs);
	while (rsp_read(&ours, text, &len, 0) == -EPROTO)
		ours.len = 0;
	assert_int_equal(rsp_read(&ours, text, &len, 0), -EPIPE);
}

/* Reads a packet as gdb does. */
static void runs_are_shortened(void **state)
{
	char text[512], got[1024], back[1024];

	for (size_t run = 1; run < 300; run++) {
		size_t n, out = 0;
		ssize_t len;

		snprintf(text, sizeof(text), "OK%0*d1", (int)run, 0);
		assert_int_equal(rsp_send(&ours, text), 0);
		len = read(theirs, got, sizeof(got));
		assert_true(len > 4 && got[0] == '$' && got[len - 3] == '#');
		assert_true((size_t)len <= 12 + 3 * (run / 98 + 1));
		assert_null(memchr(got + 1, '$', len - 1));
		assert_ptr_equal(memchr(got, '#', len), got + len - 3);
		for (n = 1; n < (size_t)len - 3; n++) {
			assert_in_range(got[n], ' ', 126);
			if (got[n] != '*') {
				back[out++] = got[n];
				continue;
			}
			for (int again = got[++n] - 29; again; again--, out++)
				back[out] = back[out - 1];
		}
		back[out] = 0;
		assert_string_equal(back, text);
	}
}

static void what_we_send_can_be_read(void **state)
{
	static char text[RSP_MAX + 1];
	uint8_t data[256];
	struct rsp other = { .fd = theirs, .no_ack = true };
	size_t len, sent;

	for (int i = 0; i < 256; i++)
		data[i] = i;
	assert_int_equal(rsp_send_binary(&ours, "F100;", data, sizeof(data), &sent), 0);
	assert_int_equal(sent, 256);
	assert_int_equal(rsp_read(&other, text, &len, 0), RSP_PACKET);
	assert_int_equal(len, 5 + 256);
	assert_memory_equal(text, "F100;", 5);
	assert_memory_equal(text + 5, data, 256);
}

static void hex_digits(void **state)
{
	const char *p = "1f2e,4";
	uint64_t v;
	uint8_t b[2];
	char t[5];

	assert_true(rsp_number(&p, &v));
	assert_int_equal(v, 0x1f2e);
	assert_int_equal(*p, ',');
	assert_false(rsp_number(&p, &v));
	assert_int_equal(rsp_unhex(b, "a0Ff", 4), 2);
	rsp_hex(t, b, 2);
	assert_string_equal(t, "a0ff");
	assert_int_equal(rsp_unhex(b, "a0F", 3), -EINVAL);
	assert_int_equal(rsp_unhex(b, "a0Fx", 4), -EINVAL);
}

/* gdb's description of the registers and their packing agree on numbers and bytes. */
static void registers_are_described(void **state)
{
	char *xml = tracee_description(), want[64];
	size_t offset, size, bytes = 0;
	unsigned int n = 0;

	assert_non_null(xml);
	for (const char *p = xml; (p = strstr(p, "<reg ")); p++, n++) {
		assert_true(tracee_register_place(n, &offset, &size));
		assert_int_equal(offset, bytes);
		bytes += size;
		snprintf(want, sizeof(want), "bitsize=\"%zu\"", size * 8);
		assert_non_null(strstr(p, want));
		assert_true(strstr(p, want) < strchr(p, '>'));
	}
	assert_int_equal(bytes, TRACEE_REGS_SIZE);
	assert_false(tracee_register_place(n, &offset, &size));
	free(xml);
}

static void parked_registers_are_where_gdb_looks(void **state)
{
	uint8_t regs[TRACEE_REGS_SIZE], known[TRACEE_REGS_SIZE];
	uint64_t dwarf[18], v;

	for (int i = 0; i < 18; i++)
		dwarf[i] = 0x100 + i;
	tracee_pack_registers(dwarf, regs, known);
	/* rbx is gdb's second register and DWARF's fourth; rip is number 16 in both */
	memcpy(&v, regs + 8, 8);
	assert_int_equal(v, 0x103);
	memcpy(&v, regs + 16 * 8, 8);
	assert_int_equal(v, 0x110);
	assert_true(known[16 * 8]);
	assert_false(known[17 * 8]);
	memcpy(&v, regs + TRACEE_REGS_SIZE - 16, 8);
	assert_int_equal(v, 0x111);
	assert_true(known[TRACEE_REGS_SIZE - 16]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(packets_arrive_in_any_pieces, begin, end),
		cmocka_unit_test_setup_teardown(damaged_packets_are_refused, begin, end),
		cmocka_unit_test_setup_teardown(runs_are_shortened, begin, end),
		cmocka_unit_test_setup_teardown(what_we_send_can_be_read, begin, end),
		cmocka_unit_test(hex_digits),
		cmocka_unit_test(registers_are_described),
		cmocka_unit_test(parked_registers_are_where_gdb_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
