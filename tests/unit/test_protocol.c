/* SPDX-License-Identifier: GPL-2.0-only */
/* test_protocol.c - what zug and zugd say to each other arrives whole, and nothing else is taken for it */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "zugd/protocol.h"

static void pair(int fd[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
}

/* Gives the reader text in pieces of step bytes; the last answer of protocol_read(), its message in *m. */
static int feed(const char *text, size_t len, size_t step, struct protocol_reader *r, struct json_object **m)
{
	int fd[2], ret = 0;

	pair(fd);
	*m = NULL;
	for (size_t i = 0; i < len && !ret; i += step) {
		size_t n = len - i < step ? len - i : step;

		assert_int_equal(write(fd[0], text + i, n), n);
		while (!(ret = protocol_read(r, fd[1], m)) && recv(fd[1], &(char){ 0 }, 1, MSG_PEEK) > 0)
			;
	}
	close(fd[0]);
	if (!ret)
		ret = protocol_read(r, fd[1], m);
	close(fd[1]);
	return ret;
}

static void messages_arrive_in_any_pieces(void **state)
{
	static const char text[] = "{\"v\":1,\"request\":\"exec\",\"args\":[\"--\",\"a b\\n\"],\"cwd\":\"/\"}\n";

	for (size_t step = 1; step <= sizeof(text); step++) {
		struct protocol_reader r = { 0 };
		struct json_object *m;
		char **list;
		int nr;

		assert_int_equal(feed(text, sizeof(text) - 1, step, &r, &m), 1);
		assert_int_equal(protocol_int(m, "v", 0), 1);
		assert_string_equal(protocol_text(m, "request"), "exec");
		list = protocol_list(m, "args", &nr);
		assert_int_equal(nr, 2);
		assert_string_equal(list[1], "a b\n");
		assert_null(list[2]);
		free(list);
		assert_null(protocol_text(m, "args"));
		assert_null(protocol_list(m, "cwd", NULL));
		assert_int_equal(protocol_int(m, "request", 7), 7);
		json_object_put(m);
		protocol_reader_free(&r);
	}
}

static void two_messages_in_one_piece(void **state)
{
	struct protocol_reader r = { 0 };
	struct json_object *m;
	int fd[2];

	pair(fd);
	assert_int_equal(write(fd[0], "{\"a\":1}\n{\"a\":2}\n{\"a\"", 20), 20);
	assert_int_equal(protocol_read(&r, fd[1], &m), 1);
	assert_int_equal(protocol_int(m, "a", 0), 1);
	json_object_put(m);
	assert_int_equal(protocol_read(&r, fd[1], &m), 1);
	assert_int_equal(protocol_int(m, "a", 0), 2);
	json_object_put(m);
	assert_int_equal(protocol_read(&r, fd[1], &m), 0);
	assert_null(m);
	close(fd[0]);
	assert_int_equal(protocol_read(&r, fd[1], &m), -EPIPE);
	close(fd[1]);
	protocol_reader_free(&r);
}

static void other_things_are_refused(void **state)
{
	static const char *const bad[] = { "\n", "hello\n", "[1]\n", "1\n", "null\n", "{\"a\":\n", "GET / HTTP/1.0\r\n" };
	unsigned int seed = 1;
	char junk[256];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct protocol_reader r = { 0 };
		struct json_object *m;

		assert_int_equal(feed(bad[i], strlen(bad[i]), 3, &r, &m), -EPROTO);
		protocol_reader_free(&r);
	}
	for (int round = 0; round < 2000; round++) {
		struct protocol_reader r = { 0 };
		struct json_object *m;
		int ret;

		for (size_t i = 0; i < sizeof(junk); i++)
			junk[i] = "{}[]\":,\\nuv1 \n\0\377"[rand_r(&seed) % 17];
		ret = feed(junk, sizeof(junk), 1 + rand_r(&seed) % 300, &r, &m);
		assert_true(ret == -EPROTO || ret == -EPIPE || ret == 1);
		if (ret == 1)
			json_object_put(m);
		protocol_reader_free(&r);
	}
}

static void *send_much(void *arg)
{
	struct json_object *m = protocol_message("request", "exec"), *a = json_object_new_array();

	for (int i = 0; i < 100000; i++)
		json_object_array_add(a, json_object_new_string("VARIABLE=some value or other"));
	json_object_object_add(m, "env", a);
	assert_int_equal(protocol_send(*(int *)arg, m, NULL, 0), 0);
	json_object_put(m);
	return NULL;
}

static void large_ones_too(void **state)
{
	struct protocol_reader r = { 0 };
	struct json_object *m;
	pthread_t t;
	char **list;
	int fd[2], nr, ret;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	assert_int_equal(pthread_create(&t, NULL, send_much, &fd[0]), 0);
	while (!(ret = protocol_read(&r, fd[1], &m)))
		;
	pthread_join(t, NULL);
	assert_int_equal(ret, 1);
	list = protocol_list(m, "env", &nr);
	assert_int_equal(nr, 100000);
	assert_string_equal(list[99999], "VARIABLE=some value or other");
	free(list);
	json_object_put(m);
	protocol_reader_free(&r);
	close(fd[0]);
	close(fd[1]);
}

static int nr_open(void)
{
	int nr = 0;

	for (int i = 0; i < 256; i++)
		nr += fcntl(i, F_GETFD) >= 0;
	return nr;
}

static void descriptors_come_along(void **state)
{
	struct protocol_reader r = { 0 };
	struct json_object *m = protocol_message("request", "exec"), *got;
	int fd[2], p[2], before = nr_open();
	char c = 0;

	pair(fd);
	assert_int_equal(pipe(p), 0);
	assert_int_equal(protocol_send(fd[0], m, (int[]){ p[1], p[1], p[1] }, 3), 0);
	/* those of a second message find no room */
	assert_int_equal(protocol_send(fd[0], m, (int[]){ p[0] }, 1), 0);
	json_object_put(m);
	assert_int_equal(protocol_read(&r, fd[1], &got), 1);
	json_object_put(got);
	assert_int_equal(r.nr_fds, 3);
	assert_true(fcntl(r.fds[2], F_GETFD) & FD_CLOEXEC);
	assert_int_equal(write(r.fds[2], "x", 1), 1);
	assert_int_equal(read(p[0], &c, 1), 1);
	assert_int_equal(c, 'x');
	assert_int_equal(protocol_read(&r, fd[1], &got), 1);
	json_object_put(got);
	assert_int_equal(r.nr_fds, 3);
	protocol_reader_free(&r);
	close(p[0]);
	close(p[1]);
	close(fd[0]);
	close(fd[1]);
	assert_int_equal(nr_open(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_arrive_in_any_pieces),
		cmocka_unit_test(two_messages_in_one_piece),
		cmocka_unit_test(other_things_are_refused),
		cmocka_unit_test(large_ones_too),
		cmocka_unit_test(descriptors_come_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
