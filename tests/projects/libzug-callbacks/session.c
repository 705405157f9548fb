/*
 * Callbacks of libevent: one thread, and the order of those that are ready is the choice.
 *
 * The events of a program call defer(), which notes the real callback. The loop then runs one of those
 * that are ready, chosen by zug_next_integer(), and looks for more. Outside of a test that is always the
 * first: the program behaves as before.
 *
 * The bug: an answer and the time-out of its request can be ready at the same time. When the time-out
 * comes first the answer is for a session that is closed (FIXED: it is not waited for any more).
 */
#include <event2/event.h>
#include <string.h>
#include <unistd.h>
#include <zug.h>

struct callback {
	void (*fn)(void *arg);
	void *arg;
};

static struct callback ready[16];
static int nr_ready;

static void defer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	ready[nr_ready++] = *(struct callback *)arg;
}

/* No callback is to come that is ready already. */
static void forget(void *arg)
{
	int n = 0;

	for (int i = 0; i < nr_ready; i++)
		if (ready[i].arg != arg)
			ready[n++] = ready[i];
	nr_ready = n;
}

static void run(struct event_base *base)
{
	for (;;) {
		struct callback next;
		int at;

		event_base_loop(base, EVLOOP_NONBLOCK);
		if (!nr_ready)
			return;
		at = zug_next_integer(nr_ready);
		next = ready[at];
		memmove(&ready[at], &ready[at + 1], (size_t)(--nr_ready - at) * sizeof(*ready));
		next.fn(next.arg);
	}
}

/* ---- the program ---- */

struct session {
	int fd;
	int open, answers;
	struct event *readable, *timeout;
};

static void close_session(struct session *s)
{
	s->open = 0;
	event_del(s->readable);
	event_del(s->timeout);
#ifdef FIXED
	forget(s);
#endif
}

static void on_answer(void *arg)
{
	struct session *s = arg;
	char c;

	zug_assert(s->open);
	if (read(s->fd, &c, 1) == 1)
		s->answers++;
	close_session(s);
}

static void on_timeout(void *arg)
{
	close_session(arg);
}

static void test(void *arg)
{
	static const struct timeval at_once;
	struct event_base *base = event_base_new();
	struct session s = { .open = 1 };
	struct callback answer = { on_answer, &s }, timeout = { on_timeout, &s };
	int fds[2];

	(void)arg;
	(void)forget;
	if (!base || pipe(fds) || write(fds[1], "x", 1) != 1)
		return;
	nr_ready = 0;
	s.fd = fds[0];
	s.readable = event_new(base, s.fd, EV_READ, defer, &answer);
	s.timeout = evtimer_new(base, defer, &timeout);
	event_add(s.readable, NULL);
	event_add(s.timeout, &at_once);
	run(base);
	event_free(s.readable);
	event_free(s.timeout);
	event_base_free(base);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	/* two callbacks have two orders: dfs makes all of them, and says when it has */
	return zug_test(test, NULL, &(struct zug_options){ .name = "session", .strategy = "dfs" });
}
