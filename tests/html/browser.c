// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "browser.h"

#define PATIENCE_MS 60000

struct browser {
	pid_t pid;
	int to, from;
	char *buf;		/* received bytes that are no whole message yet */
	size_t len, size;
	int last_id;
	char *session;
	char profile[64];
	unsigned int errors, requests;
};

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *fmt, ...)
{
	va_list ap;

	fputs("Bail out! browser: ", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	exit(1);
}

/* ---- messages: JSON, each with a zero behind it ---- */

static char *receive(struct browser *b)
{
	for (;;) {
		char *end = memchr(b->buf, 0, b->len);
		struct pollfd p = { .fd = b->from, .events = POLLIN };
		ssize_t n;

		if (end) {
			char *message = strdup(b->buf);

			b->len -= end + 1 - b->buf;
			memmove(b->buf, end + 1, b->len);
			return message;
		}
		if (b->size - b->len < 65536) {
			b->size = b->size * 2 + 65536;
			b->buf = realloc(b->buf, b->size);
			if (!b->buf)
				die("out of memory");
		}
		n = poll(&p, 1, PATIENCE_MS);
		if (n == 0)
			die("no answer for %d s", PATIENCE_MS / 1000);
		n = n < 0 ? n : read(b->from, b->buf + b->len, b->size - b->len);
		if (n <= 0)
			die("it ended: %s", n ? strerror(errno) : "see above");
		b->len += n;
	}
}

static struct json_object *get(struct json_object *o, const char *name)
{
	struct json_object *v = NULL;

	return o && json_object_object_get_ex(o, name, &v) ? v : NULL;
}

static const char *text(struct json_object *o, const char *name)
{
	struct json_object *v = get(o, name);

	return v ? json_object_get_string(v) : "";
}

static void on_event(struct browser *b, struct json_object *message)
{
	const char *method = text(message, "method");
	struct json_object *params = get(message, "params");

	if (!strcmp(method, "Runtime.exceptionThrown")) {
		b->errors++;
		printf("# exception: %s\n", json_object_to_json_string(get(params, "exceptionDetails")));
	} else if (!strcmp(method, "Log.entryAdded") &&
		   !strcmp(text(get(params, "entry"), "level"), "error")) {
		b->errors++;
		printf("# logged: %s\n", text(get(params, "entry"), "text"));
	} else if (!strcmp(method, "Network.requestWillBeSent")) {
		const char *url = text(get(params, "request"), "url");

		if (strncmp(url, "file:", 5)) {
			b->requests++;
			printf("# request: %s\n", url);
		}
	}
}

/* The result; to be put. params takes over. */
static struct json_object *call(struct browser *b, const char *method, struct json_object *params)
{
	struct json_object *o = json_object_new_object(), *message, *result;
	const char *s;
	size_t len;
	char *got;

	json_object_object_add(o, "id", json_object_new_int(++b->last_id));
	json_object_object_add(o, "method", json_object_new_string(method));
	json_object_object_add(o, "params", params ? params : json_object_new_object());
	if (b->session)
		json_object_object_add(o, "sessionId", json_object_new_string(b->session));
	s = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
	for (len = strlen(s) + 1; len;) {
		ssize_t n = write(b->to, s, len);

		if (n <= 0)
			die("%s: cannot write: %s", method, strerror(errno));
		s += n;
		len -= n;
	}
	json_object_put(o);
	for (;;) {
		got = receive(b);
		message = json_tokener_parse(got);
		free(got);
		if (!message)
			die("%s: the answer is no JSON", method);
		if (get(message, "id") && json_object_get_int(get(message, "id")) == b->last_id)
			break;
		on_event(b, message);
		json_object_put(message);
	}
	if (get(message, "error"))
		die("%s: %s", method, text(get(message, "error"), "message"));
	result = json_object_get(get(message, "result"));
	json_object_put(message);
	return result;
}

/* params as JSON, made like printf; strings in it must need no escapes. */
static struct json_object *callf(struct browser *b, const char *method, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static struct json_object *callf(struct browser *b, const char *method, const char *fmt, ...)
{
	struct json_object *params;
	char *s;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		die("out of memory");
	va_end(ap);
	params = json_tokener_parse(s);
	if (!params)
		die("%s: bad parameters: %s", method, s);
	free(s);
	return call(b, method, params);
}

/* ---- */

struct browser *browser_start(void)
{
	const char *program = getenv("CHROMIUM") ? getenv("CHROMIUM") : "chromium";
	struct browser *b = calloc(1, sizeof(*b));
	struct json_object *r;
	int to[2], from[2];
	char profile[80];

	strcpy(b->profile, "/tmp/zug-chromium-XXXXXX");
	if (!mkdtemp(b->profile) || pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		die("%s", strerror(errno));
	snprintf(profile, sizeof(profile), "--user-data-dir=%s", b->profile);
	b->pid = fork();
	if (b->pid < 0)
		die("fork: %s", strerror(errno));
	if (!b->pid) {
		int log = open("/dev/null", O_WRONLY), in = dup(to[0]), out = dup(from[1]);

		/* its end of the pipe is 3 and 4; above them nothing of ours is in the way */
		in = fcntl(in, F_DUPFD, 20);
		out = fcntl(out, F_DUPFD, 20);
		dup2(log, 1);
		if (!getenv("V"))
			dup2(log, 2);
		dup2(in, 3);
		dup2(out, 4);
		/* as root it has no sandbox of its own; the page comes from this test */
		execlp(program, program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
		       "--hide-scrollbars", "--force-color-profile=srgb", "--remote-debugging-pipe", profile,
		       "about:blank", NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	b->to = to[1];
	b->from = from[0];
	signal(SIGPIPE, SIG_IGN);
	r = callf(b, "Target.createTarget", "{\"url\":\"about:blank\"}");
	{
		struct json_object *attached = callf(b, "Target.attachToTarget",
			"{\"targetId\":\"%s\",\"flatten\":true}", text(r, "targetId"));

		b->session = strdup(text(attached, "sessionId"));
		json_object_put(attached);
	}
	json_object_put(r);
	json_object_put(call(b, "Page.enable", NULL));
	json_object_put(call(b, "Runtime.enable", NULL));
	json_object_put(call(b, "Log.enable", NULL));
	json_object_put(call(b, "Network.enable", NULL));
	json_object_put(callf(b, "Emulation.setDeviceMetricsOverride",
			      "{\"width\":1400,\"height\":900,\"deviceScaleFactor\":1,\"mobile\":false}"));
	return b;
}

void browser_stop(struct browser *b)
{
	char *const rm[] = { "rm", "-rf", b->profile, NULL };
	pid_t pid;

	free(b->session);
	b->session = NULL;
	json_object_put(call(b, "Browser.close", NULL));
	close(b->to);
	waitpid(b->pid, NULL, 0);
	close(b->from);
	pid = fork();
	if (!pid) {
		execvp(rm[0], rm);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	free(b->buf);
	free(b);
}

void browser_dark(struct browser *b, bool dark)
{
	json_object_put(callf(b, "Emulation.setEmulatedMedia",
		"{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"%s\"}]}", dark ? "dark" : "light"));
}

char *browser_eval(struct browser *b, const char *expression)
{
	struct json_object *params = json_object_new_object(), *r, *value;
	char *s;

	json_object_object_add(params, "expression", json_object_new_string(expression));
	json_object_object_add(params, "returnByValue", json_object_new_boolean(true));
	json_object_object_add(params, "awaitPromise", json_object_new_boolean(true));
	r = call(b, "Runtime.evaluate", params);
	if (get(r, "exceptionDetails"))
		die("%s: %s", expression, json_object_to_json_string(get(r, "exceptionDetails")));
	value = get(get(r, "result"), "value");
	s = strdup(value ? json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN |
							  JSON_C_TO_STRING_NOSLASHESCAPE) : "undefined");
	json_object_put(r);
	return s;
}

void browser_open(struct browser *b, const char *path)
{
	char absolute[PATH_MAX], *ready;

	if (!realpath(path, absolute))
		die("%s: %s", path, strerror(errno));
	b->errors = b->requests = 0;
	json_object_put(callf(b, "Page.navigate", "{\"url\":\"file://%s\"}", absolute));
	for (int i = 0; i < PATIENCE_MS / 20; i++) {
		ready = browser_eval(b, "document.documentElement?.dataset.ready === 'yes' || "
				     "(document.getElementById('notice') && !document.getElementById('notice').hidden)");
		if (!strcmp(ready, "true")) {
			free(ready);
			return;
		}
		free(ready);
		if (b->errors)
			die("%s: see above", path);
		usleep(20000);
	}
	die("%s: is not ready after %d s", path, PATIENCE_MS / 1000);
}

void browser_key(struct browser *b, const char *key)
{
	const char *printed = strlen(key) == 1 ? key : "";

	json_object_put(callf(b, "Input.dispatchKeyEvent", "{\"type\":\"keyDown\",\"key\":\"%s\",\"text\":\"%s\"}",
			      key, printed));
	json_object_put(callf(b, "Input.dispatchKeyEvent", "{\"type\":\"keyUp\",\"key\":\"%s\"}", key));
}

static void mouse(struct browser *b, const char *type, double x, double y, int buttons)
{
	json_object_put(callf(b, "Input.dispatchMouseEvent", "{\"type\":\"%s\",\"x\":%f,\"y\":%f,\"button\":\"%s\","
			      "\"buttons\":%d,\"clickCount\":%d}", type, x, y, buttons < 0 ? "none" : "left",
			      buttons < 0 ? 0 : buttons, buttons >= 0));
}

void browser_hover(struct browser *b, double x, double y)
{
	mouse(b, "mouseMoved", x, y, -1);
}

void browser_click(struct browser *b, double x, double y)
{
	browser_hover(b, x, y);
	mouse(b, "mousePressed", x, y, 1);
	mouse(b, "mouseReleased", x, y, 0);
}

void browser_wheel(struct browser *b, double x, double y, double delta)
{
	json_object_put(callf(b, "Input.dispatchMouseEvent", "{\"type\":\"mouseWheel\",\"x\":%f,\"y\":%f,"
			      "\"deltaX\":0,\"deltaY\":%f}", x, y, delta));
}

void browser_screenshot(struct browser *b, const char *path)
{
	struct json_object *r = callf(b, "Page.captureScreenshot", "{\"format\":\"png\"}");
	const char *p = text(r, "data");
	FILE *f = fopen(path, "we");
	unsigned int bits = 0, nr = 0;

	if (!f)
		die("%s: %s", path, strerror(errno));
	for (; *p && *p != '='; p++) {
		static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

		bits = bits << 6 | (unsigned int)(strchr(digits, *p) - digits);
		nr += 6;
		if (nr >= 8) {
			nr -= 8;
			putc(bits >> nr & 0xff, f);
		}
	}
	if (fclose(f))
		die("%s: %s", path, strerror(errno));
	json_object_put(r);
}

unsigned int browser_errors(const struct browser *b)
{
	return b->errors;
}

unsigned int browser_requests(const struct browser *b)
{
	return b->requests;
}
