/* SPDX-License-Identifier: GPL-2.0-only */
/* test_protocol.c - what zug and zugd say to each other arrives whole, and nothing else is taken for it */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
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

/* A value of any type, as text; most of them are wrong where a request wants a list or a string. */
static void put_value(char *out, size_t len, unsigned int *seed, int depth)
{
	static const char *const plain[] = { "null", "true", "1", "-1e309", "99999999999999999999999", "\"a\"", "\"\"", "\"/\"",
		"\"a\\u0000b\"", "[]", "{}", "[null]", "[1,\"a\"]", "[[\"a\"]]", "[\"a\\u0000\"]", "[\"a\",\"b\"]",
		"{\"args\":[1]}", "\"\\ud800\"" };
	size_t n;

	if (depth > 30 || rand_r(seed) % 8) {
		snprintf(out, len, "%s", plain[rand_r(seed) % (sizeof(plain) / sizeof(plain[0]))]);
		return;
	}
	out[0] = '[';
	put_value(out + 1, len - 3, seed, depth + 1);
	n = strlen(out);
	out[n] = ']';
	out[n + 1] = 0;
}

/* A message with fields of a request, each absent, right or wrong, and then perhaps broken somewhere. */
static size_t put_message(char *out, size_t len, unsigned int *seed)
{
	static const char *const names[] = { "v", "request", "args", "env", "cwd", "message", "exit" };
	static const char *const right[] = { "1", "\"run\"", "[\"--\",\"a\"]", "[\"A=1\"]", "\"/\"", "\"x\"", "0" };
	char value[256];
	size_t n = 0;

	out[n++] = '{';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(rand_r(seed) % 5))
			continue;
		if (rand_r(seed) % 3)
			snprintf(value, sizeof(value), "%s", right[i]);
		else
			put_value(value, sizeof(value), seed, 0);
		n += snprintf(out + n, len - n, "%s\"%s\":%s", n > 1 ? "," : "", names[i], value);
	}
	out[n++] = '}';
	for (int i = rand_r(seed) % 4; i > 2; i--)
		out[rand_r(seed) % n] = rand_r(seed);
	out[n++] = '\n';
	return n;
}

/* What zugd does with a message that was not refused: it must have all that is read of it. */
static void use_message(struct json_object *m, int nr_fds, unsigned long *taken)
{
	const char *what = protocol_text(m, "request");
	char **args, **env;
	int nr;

	protocol_int(m, "v", 0);
	if (protocol_wrong(m, nr_fds))
		return;
	assert_non_null(what);
	++*taken;
	if (!strcmp(what, "status") || !strcmp(what, "stop"))
		return;
	args = protocol_list(m, "args", &nr);
	env = protocol_list(m, "env", NULL);
	assert_true(args && env && !args[nr]);
	assert_int_equal(protocol_text(m, "cwd")[0], '/');
	for (int i = 0; i < nr; i++)
		assert_non_null(args[i]);
	free(args);
	free(env);
}

/* Several in a packet, as many as fit into the socket. */
#define IN_A_PACKET 25

static void a_million_malformed_messages(void **state)
{
	struct protocol_reader r = { 0 };
	unsigned long taken = 0, read = 0;
	unsigned int seed = 7;
	char text[IN_A_PACKET * 4096];
	struct json_object *m;
	int fd[2], ret;

	pair(fd);
	for (int round = 0; round < 1000000; round += IN_A_PACKET) {
		size_t len = 0;

		for (int i = 0; i < IN_A_PACKET; i++)
			len += put_message(text + len, 4096, &seed);
		assert_int_equal(write(fd[0], text, len), len);
		do {
			ret = protocol_read(&r, fd[1], &m);
			if (ret != 1)
				continue;
			read++;
			use_message(m, rand_r(&seed) % 4, &taken);
			json_object_put(m);
		} while (ret);
	}
	protocol_reader_free(&r);
	close(fd[0]);
	close(fd[1]);
	/* the generator comes by what is taken and by what is refused */
	assert_true(read > 500000);
	assert_true(taken > 1000 && taken < read / 2);
}

static void requests_have_a_form(void **state)
{
	static const struct {
		const char *text;
		int nr_fds;
		bool good;
	} cases[] = {
		{ "{\"request\":\"status\"}", 0, true },
		{ "{\"request\":[\"status\"]}", 0, false },
		{ "{}", 3, false },
		{ "{\"request\":\"run\",\"args\":[\"a\"],\"env\":[],\"cwd\":\"/\"}", 3, true },
		{ "{\"request\":\"run\",\"args\":[\"a\"],\"env\":[],\"cwd\":\"/\"}", 2, false },
		{ "{\"request\":\"run\",\"args\":[\"a\"],\"env\":[],\"cwd\":\"a\"}", 3, false },
		{ "{\"request\":\"run\",\"args\":[1],\"env\":[],\"cwd\":\"/\"}", 3, false },
		{ "{\"request\":\"run\",\"args\":{\"0\":\"a\"},\"env\":[],\"cwd\":\"/\"}", 3, false },
		{ "{\"request\":\"run\",\"args\":[\"a\\u0000b\"],\"env\":[],\"cwd\":\"/\"}", 3, false },
		{ "{\"request\":\"run\",\"args\":[],\"env\":[null],\"cwd\":\"/\"}", 3, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct json_object *m = json_tokener_parse(cases[i].text);

		assert_non_null(m);
		assert_int_equal(!protocol_wrong(m, cases[i].nr_fds), cases[i].good);
		json_object_put(m);
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
		cmocka_unit_test(requests_have_a_form),
		cmocka_unit_test(a_million_malformed_messages),
		cmocka_unit_test(large_ones_too),
		cmocka_unit_test(descriptors_come_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
