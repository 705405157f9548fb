/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cli/cli_options.h"
#include "zugd/client.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "zugd/protocol.h"

struct status {
	bool json;
	const char *socket;
};

static const struct option_row rows[] = {
	{ .name = "json", .letter = 'j', .kind = OPTION_FLAG, OPTION_AT(struct status, json),
	  .help = "one JSON object" },
	{ .name = "socket", .argument = "PATH",
	  .kind = OPTION_TEXT, OPTION_AT(struct status, socket),
	  .help = "of zugd (default $ZUG_SOCKET, or " CLIENT_SOCKET ")" },
};

static const struct command_line line = {
	.command = "zug status",
	.rows = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.usage = "zug status [--json] [--socket PATH]\n",
	.about =
		"Prints what zugd is, what it executes, who waits, and how the searches of tests that were\n"
		"executed one by one (zug exec, or in its cgroup) are getting on.\n",
	.end = "Exit status: 0 when zugd is running, 3 when it is not.\n",
};

static struct json_object *get(struct json_object *m, const char *name)
{
	struct json_object *v;

	return json_object_object_get_ex(m, name, &v) ? v : NULL;
}

static const char *text(struct json_object *m, const char *name)
{
	const char *t = protocol_text(m, name);

	return t ? t : "?";
}

/* 0 for what is no array, too. */
static size_t length(struct json_object *a)
{
	return json_object_is_type(a, json_type_array) ? json_object_array_length(a) : 0;
}

/* Others have written it: nothing in it may tell the terminal what to do. */
static void print_plain(const char *s)
{
	for (; *s; s++)
		putchar((unsigned char)*s < ' ' || *s == 0x7f ? '?' : *s);
}

static void print_words(struct json_object *a)
{
	size_t n = length(a);

	for (size_t i = 0; i < n; i++) {
		putchar(' ');
		print_plain(json_object_get_string(json_object_array_get_idx(a, i)));
	}
}

static void print_request(struct json_object *r)
{
	struct json_object *lanes = get(r, "lanes");
	size_t n = length(lanes);

	printf("%s", text(r, "request"));
	print_words(get(r, "args"));
	printf(" (");
	if (get(r, "user"))
		printf("of user %lld, ", (long long)json_object_get_int64(get(r, "user")));
	printf("for %.1f s%s", json_object_get_double(get(r, "seconds")), n > 1 ? ", on CPUs" : n ? ", on CPU" : "");
	print_words(lanes);
	printf(")\n");
}

static void print_campaign(struct json_object *c)
{
	struct json_object *failures = get(c, "failures"), *command = get(c, "command");
	size_t n = length(failures);

	printf("\n ");
	print_words(command);
	printf("\n    in ");
	print_plain(text(c, "cwd"));
	printf(", by %s\n", text(c, "started_by"));
	printf("    %lld executions (%.0f ms each), %lld failed%s%s",
	       (long long)json_object_get_int64(get(c, "executions")),
	       json_object_get_double(get(c, "milliseconds_each")),
	       (long long)json_object_get_int64(get(c, "findings")),
	       get(c, "tried") ? "; " : "", get(c, "tried") ? text(c, "tried") : "");
	if (json_object_get_int64(get(c, "diverged")))
		printf("; %lld did not follow their schedule",
		       (long long)json_object_get_int64(get(c, "diverged")));
	printf("\n    last: ");
	print_plain(text(c, "last"));
	putchar('\n');
	for (size_t i = 0; i < n; i++) {
		struct json_object *f = json_object_array_get_idx(failures, i);

		printf("    failure, %lld times: %s: ", (long long)json_object_get_int64(get(f, "times")), text(f, "kind"));
		print_plain(text(f, "message"));
		printf("\n      trace: ");
		print_plain(text(f, "trace"));
		putchar('\n');
	}
}

static void print(struct json_object *m)
{
	struct json_object *queue = get(m, "queue"), *campaigns = get(m, "campaigns"), *running = get(m, "running");
	size_t nr = length(running);

	printf("zugd %s, pid %d, for %.0f s\n", text(m, "version"), protocol_int(m, "pid", 0),
	       json_object_get_double(get(m, "seconds")));
	printf("kernel: %s\nlanes: CPU", text(m, "kernel"));
	print_words(get(m, "lanes"));
	printf("\nsocket: %s\ncgroup: %s\n", text(m, "socket"), text(m, "cgroup"));
	if (!nr)
		printf("executing: nothing\n");
	for (size_t i = 0; i < nr; i++) {
		printf("executing: ");
		print_request(json_object_array_get_idx(running, i));
	}
	nr = length(queue);
	for (size_t i = 0; i < nr; i++) {
		printf("waiting: ");
		print_request(json_object_array_get_idx(queue, i));
	}
	if (protocol_int(m, "others", 0))
		printf("requests of other users: %d\n", protocol_int(m, "others", 0));
	nr = length(campaigns);
	printf("searches: %zu\n", nr);
	for (size_t i = 0; i < nr; i++)
		print_campaign(json_object_array_get_idx(campaigns, i));
}

int cmd_status(int argc, char **argv)
{
	struct status o;
	char **operands;
	const char *path;
	struct json_object *m;
	int ret = cli_options(&line, &o, argc, argv, 0, 0, &operands), fd;

	if (ret)
		return ret == -1 ? ZUG_EXIT_PASS : ret;
	path = client_socket(o.socket);
	fd = client_connect(path);
	if (fd < 0) {
		printf("no zugd is running at %s%s%s\n", path,
		       fd == -ENOENT || fd == -ECONNREFUSED ? "" : ": ",
		       fd == -ENOENT || fd == -ECONNREFUSED ? "" : strerror(-fd));
		return ZUG_EXIT_ENVIRONMENT;
	}
	m = client_ask(fd, "status");
	close(fd);
	if (!m || !protocol_text(m, "event") || strcmp(protocol_text(m, "event"), "status")) {
		fprintf(stderr, "zug status: zugd at %s: %s\n", path,
			m ? text(m, "message") : "no answer");
		json_object_put(m);
		return ZUG_EXIT_ENVIRONMENT;
	}
	if (o.json)
		printf("%s\n",
		       json_object_to_json_string_ext(m, JSON_C_TO_STRING_PRETTY |
								 JSON_C_TO_STRING_NOSLASHESCAPE));
	else
		print(m);
	json_object_put(m);
	return ZUG_EXIT_PASS;
}
