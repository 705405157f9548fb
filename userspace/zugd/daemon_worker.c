/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zugd's second thread: executes requests one after the other, so that the first thread can answer
 * meanwhile. work() is the thread; what follows it is called by the first thread. Read daemon.h
 * first.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "lib/base/clock.h"
#include "lib/base/patient_write.h"
#include "zugd/daemon.h"
#include "zugd/protocol.h"

/* Requests come one after the other: so long after the last one the kernel side rests. */
#define REST_AFTER_S	1
/* So many words of a command line are told. */
#define STATUS_WORDS	64

struct worker {
	struct worker_options o;
	pthread_t thread;
	int done_fd;
	struct campaigns *campaigns;	/* the thread's own */
	volatile sig_atomic_t abort;	/* cuts the running request */

	pthread_mutex_t lock;		/* guards what follows */
	pthread_cond_t work;
	struct request *queue, *running, *done;
	bool ending;
	char *campaigns_json;
};

struct request *request_new(enum request_kind kind, struct json_object *m)
{
	struct request *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->kind = kind;
	r->m = m;
	r->fds[0] = r->fds[1] = r->fds[2] = -1;
	r->since_ns = clock_now_ns();
	return r;
}

void request_free(struct request *r)
{
	if (!r)
		return;
	for (int i = 0; i < 3; i++)
		if (r->fds[i] >= 0)
			close(r->fds[i]);
	json_object_put(r->m);
	free(r);
}

static void append(struct request **list, struct request *r)
{
	r->next = NULL;
	while (*list)
		list = &(*list)->next;
	*list = r;
}

/* ---- the thread ---- */

/* A client's descriptor, as a stream. */
struct output {
	struct worker *w;
	int fd;
	bool dropped;	/* the client does not read: what follows is thrown away */
	int broke;	/* -errno: why not all was written */
};

/* For fopencookie(). A client that does not read ends its request, and no others. */
static ssize_t put(void *cookie, const char *text, size_t len)
{
	struct output *o = cookie;
	int ret = o->dropped ? 0 : patient_write(o->fd, text, len, PATIENCE_NS, &o->w->abort);

	if (ret == -ETIMEDOUT) {
		snprintf(o->w->running->message, sizeof(o->w->running->message),
			 "its output was not read for %llu s: the request was ended", PATIENCE_NS / 1000000000);
		o->w->abort = 1;
	}
	if (ret && !o->broke)
		o->broke = ret;
	o->dropped |= ret != 0;
	return len;
}

static FILE *stream(struct output *o)
{
	FILE *f = fopencookie(o, "w", (cookie_io_functions_t){ .write = put });

	if (f)
		setvbuf(f, NULL, _IOLBF, BUFSIZ);
	return f;
}

/* A command, as if the client did it: its arguments, folder and environment. */
static void hand_over(struct worker *w, struct request *r, FILE *out, FILE *err)
{
	int nr = 0;
	char **list = protocol_list(r->m, "args", &nr), **argv = calloc(nr + 2, sizeof(*argv));

	if (list && argv) {
		argv[0] = (char *)r->command->name;
		memcpy(argv + 1, list, nr * sizeof(*argv));
		campaigns_park(w->campaigns);
		r->status = r->command->execute(w->o.kernel, nr + 1, argv, out, err, &w->abort);
		/* what only clients print, such as --help */
		if (r->status < 0)
			r->status = w->o.o->failed;
	}
	free(list);
	free(argv);
}

static void for_client(struct worker *w, struct request *r)
{
	extern char **environ;
	char **own = environ, **env = protocol_list(r->m, "env", NULL);
	const char *cwd = protocol_text(r->m, "cwd");
	struct output to[2] = { { .w = w, .fd = r->fds[1] }, { .w = w, .fd = r->fds[2] } };
	FILE *out = stream(&to[0]), *err = stream(&to[1]);

	r->status = r->kind == REQUEST_EXEC ? EXEC_FAILED : w->o.o->failed;
	if (!env || !out || !err) {
		snprintf(r->message, sizeof(r->message), "zugd: out of memory or descriptors");
	} else if (chdir(cwd)) {
		snprintf(r->message, sizeof(r->message), "zugd cannot enter the folder %s: %s", cwd,
			 strerror(errno));
	} else {
		environ = env;
		if (r->kind == REQUEST_EXEC)
			campaigns_exec(w->campaigns, r, err);
		else
			hand_over(w, r, out, err);
		environ = own;
	}
	if (chdir("/"))
		abort();
	free(env);
	if (out)
		fclose(out);
	/* a reader that has left knows so itself */
	if (!r->status && r->kind != REQUEST_EXEC && to[0].broke && to[0].broke != -EPIPE && !r->message[0]) {
		snprintf(r->message, sizeof(r->message), "standard output: %s", strerror(-to[0].broke));
		r->status = w->o.o->failed;
	}
	if (err)
		fclose(err);
}

static void for_guest(struct worker *w, struct request *r)
{
	campaigns_join(w->campaigns, r);
	if (r->message[0])
		fprintf(stderr, "zugd: %s\n", r->message);
}

static void note_campaigns(struct worker *w)
{
	struct json_object *a = campaigns_status(w->campaigns);
	char *text = strdup(json_object_to_json_string_ext(a, JSON_C_TO_STRING_PLAIN));

	json_object_put(a);
	pthread_mutex_lock(&w->lock);
	free(w->campaigns_json);
	w->campaigns_json = text;
	pthread_mutex_unlock(&w->lock);
}

/* Until there is a request, or the end. The lock is held. Before long the machine's system calls cost nothing meanwhile. */
static void wait_for_work(struct worker *w)
{
	struct timespec rest;

	clock_gettime(CLOCK_MONOTONIC, &rest);
	rest.tv_sec += REST_AFTER_S;
	while (!w->queue && !w->ending)
		if (pthread_cond_timedwait(&w->work, &w->lock, &rest) == ETIMEDOUT)
			break;
	if (w->queue || w->ending)
		return;
	kernel_rest(w->o.kernel);
	while (!w->queue && !w->ending)
		pthread_cond_wait(&w->work, &w->lock);
}

static void serve(struct worker *w, struct request *r)
{
	if (kernel_wake(w->o.kernel, r->message, sizeof(r->message))) {
		r->status = r->kind == REQUEST_EXEC ? EXEC_FAILED : w->o.o->failed;
		if (r->kind == REQUEST_JOIN)
			fprintf(stderr, "zugd: %s\n", r->message);
	} else if (r->kind == REQUEST_JOIN) {
		for_guest(w, r);
	} else {
		for_client(w, r);
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct request *r;
	uint64_t one = 1;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		wait_for_work(w);
		if (w->ending)
			break;
		r = w->queue;
		w->queue = r->next;
		w->running = r;
		w->abort = 0;
		r->since_ns = clock_now_ns();
		pthread_mutex_unlock(&w->lock);
		serve(w, r);
		note_campaigns(w);
		pthread_mutex_lock(&w->lock);
		w->running = NULL;
		append(&w->done, r);
		if (write(w->done_fd, &one, sizeof(one)) != sizeof(one))
			abort();
	}
	pthread_mutex_unlock(&w->lock);
	campaigns_free(w->campaigns);
	return NULL;
}

/* ---- for the main thread ---- */

static void on_prod(int sig)
{
	(void)sig;
}

struct worker *worker_new(const struct worker_options *o)
{
	/* no SA_RESTART: a write to a client that does not read has to end */
	struct sigaction sa = { .sa_handler = on_prod };
	struct worker *w = calloc(1, sizeof(*w));
	pthread_condattr_t monotonic;

	if (!w)
		return NULL;
	w->o = *o;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->work, &monotonic);
	pthread_condattr_destroy(&monotonic);
	sigaction(SIGUSR1, &sa, NULL);
	w->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->campaigns = campaigns_new(&w->o, &w->abort);
	if (w->done_fd < 0 || !w->campaigns)
		goto fail;
	errno = pthread_create(&w->thread, NULL, work, w);
	if (!errno)
		return w;
fail:
	campaigns_free(w->campaigns);
	if (w->done_fd >= 0)
		close(w->done_fd);
	free(w);
	return NULL;
}

/* Answers a request that was not begun. The lock is held. */
static void give_back(struct worker *w, struct request *r)
{
	uint64_t one = 1;

	r->status = r->kind == REQUEST_EXEC ? EXEC_FAILED : w->o.o->interrupted;
	if (r->kind != REQUEST_JOIN)
		snprintf(r->message, sizeof(r->message), "interrupted before its turn came");
	append(&w->done, r);
	if (write(w->done_fd, &one, sizeof(one)) != sizeof(one))
		abort();
}

void worker_stop(struct worker *w)
{
	struct request *r;

	pthread_mutex_lock(&w->lock);
	w->ending = true;
	w->abort = 1;
	while ((r = w->queue)) {
		w->queue = r->next;
		give_back(w, r);
	}
	pthread_cond_signal(&w->work);
	pthread_mutex_unlock(&w->lock);
}

void worker_free(struct worker *w)
{
	struct request *r;

	if (!w)
		return;
	pthread_join(w->thread, NULL);
	while ((r = w->done)) {
		w->done = r->next;
		request_free(r);
	}
	close(w->done_fd);
	free(w->campaigns_json);
	free(w);
}

int worker_submit(struct worker *w, struct request *r)
{
	int ahead;

	pthread_mutex_lock(&w->lock);
	ahead = w->running != NULL;
	for (const struct request *q = w->queue; q; q = q->next)
		ahead++;
	append(&w->queue, r);
	pthread_cond_signal(&w->work);
	pthread_mutex_unlock(&w->lock);
	return ahead;
}

int worker_fd(const struct worker *w)
{
	return w->done_fd;
}

struct request *worker_done(struct worker *w)
{
	struct request *r;
	uint64_t n;

	pthread_mutex_lock(&w->lock);
	r = w->done;
	if (r)
		w->done = r->next;
	else if (read(w->done_fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		abort();
	pthread_mutex_unlock(&w->lock);
	return r;
}

void worker_abort(struct worker *w, struct request *r)
{
	pthread_mutex_lock(&w->lock);
	if (w->running == r) {
		w->abort = 1;
	} else {
		for (struct request **q = &w->queue; *q; q = &(*q)->next) {
			if (*q != r)
				continue;
			*q = r->next;
			give_back(w, r);
			break;
		}
	}
	pthread_mutex_unlock(&w->lock);
}

bool worker_aborting(struct worker *w)
{
	bool is;

	pthread_mutex_lock(&w->lock);
	is = w->running && w->abort;
	pthread_mutex_unlock(&w->lock);
	return is;
}

void worker_prod(struct worker *w)
{
	pthread_kill(w->thread, SIGUSR1);
}

/* ---- status ---- */

static struct json_object *describe(const struct request *r)
{
	const char *name = r->command		   ? r->command->name :
			   r->kind == REQUEST_EXEC ? "exec" :
						     "join";
	struct json_object *j = json_object_new_object(), *args;

	json_object_object_add(j, "request", json_object_new_string(name));
	json_object_object_add(j, "seconds",
			       json_object_new_double((clock_now_ns() - r->since_ns) / 1e9));
	if (!r->m)
		return j;
	/* the main thread's own copy: reference counts of json-c are not for two threads */
	if (json_object_object_get_ex(r->m, "args", &args)) {
		struct json_object *a = json_object_new_array();

		for (size_t i = 0; i < json_object_array_length(args) && i < STATUS_WORDS; i++)
			json_object_array_add(a, json_object_new_string(
				json_object_get_string(json_object_array_get_idx(args, i))));
		json_object_object_add(j, "args", a);
	}
	json_object_object_add(j, "cwd", json_object_new_string(protocol_text(r->m, "cwd")));
	return j;
}

void worker_status(struct worker *w, struct json_object *m)
{
	struct json_object *queue = json_object_new_array(), *campaigns = NULL;

	pthread_mutex_lock(&w->lock);
	if (w->running)
		json_object_object_add(m, "running", describe(w->running));
	for (const struct request *q = w->queue; q; q = q->next)
		json_object_array_add(queue, describe(q));
	if (w->campaigns_json)
		campaigns = json_tokener_parse(w->campaigns_json);
	pthread_mutex_unlock(&w->lock);
	json_object_object_add(m, "queue", queue);
	json_object_object_add(m, "campaigns", campaigns ? campaigns : json_object_new_array());
}
