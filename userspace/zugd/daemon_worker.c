/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A worker of zugd: a process that executes the request that it was made for, or that it waited for, or, kept, one request for
 * single executions after the other. It ends with zugd. Read daemon.h first; worker_main() is what happens, in its order.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/patient_write.h"
#include "lib/base/rights.h"
#include "lib/base/touch.h"
#include "symbols/symbols.h"
#include "zugd/daemon.h"
#include "zugd/protocol.h"

/* Notes about lanes that came while another one was waited for. */
#define MOST_WAITING 128
/* Above all descriptors of probes; every fork copies a table as long as that. */
#define HIGH_FD 4095

struct here {
	struct worker_start start;
	struct kernel *kernel;
	struct campaigns *campaigns;
	struct request *running;
	struct output *outputs;		/* of the running request: its two */
	FILE *out, *err;		/* to them */
	bool told;			/* that the request is done */
	struct note waiting[MOST_WAITING];
	size_t nr_waiting;
	unsigned int unanswered;	/* NOTE_WANT */
};

/* Cuts the running request. Of the process, because a signal sets it. */
static volatile sig_atomic_t cut;

static void on_cut(int sig)
{
	(void)sig;
	cut = 1;
}

/* A terminal's signals are zugd's business. Not ignored: programs that are executed would ignore them, too. */
static void on_nothing(int sig)
{
	(void)sig;
}

static void set_signals(void)
{
	/* no SA_RESTART: a write to a client that does not read has to end */
	struct sigaction ends = { .sa_handler = on_cut }, not = { .sa_handler = on_nothing, .sa_flags = SA_RESTART };

	sigaction(SIGUSR1, &ends, NULL);
	sigaction(SIGTERM, &ends, NULL);
	sigaction(SIGINT, &not, NULL);
	sigaction(SIGHUP, &not, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* ---- what it asks zugd for ---- */

static int ask_attach(void *ctx, enum kernel_extra what, char *err, size_t errlen)
{
	struct note n = { .kind = NOTE_ATTACH, .n = what };
	struct here *h = ctx;
	int fds[NOTE_FDS], ret = note_send(h->start.fd, &n, NULL);

	while (!ret) {
		ret = note_receive(h->start.fd, &n, fds, true);
		if (ret == 1 && n.kind == NOTE_ATTACHED)
			break;
		ret = ret < 0 ? ret : 0;
		if (!ret && h->nr_waiting < MOST_WAITING)
			h->waiting[h->nr_waiting++] = n;
	}
	snprintf(err, errlen, "%s", ret < 0 ? "zugd has ended" : n.text);
	return ret < 0 ? ret : n.status;
}

static void lane_freed(void *ctx, int cpu, unsigned int slot)
{
	struct here *h = ctx;

	note_send(h->start.fd, &(struct note){ .kind = NOTE_FREED, .cpu = cpu, .slot = slot }, NULL);
}

static void want_lanes(void *ctx, unsigned int nr)
{
	struct here *h = ctx;

	int fds[NOTE_FDS];
	struct note n;

	h->unanswered++;
	if (note_send(h->start.fd, &(struct note){ .kind = NOTE_WANT, .n = nr }, NULL) || nr > 1)
		return;
	/* what was on its way is given back, up to zugd's answer */
	while (h->unanswered) {
		if (h->nr_waiting)
			n = h->waiting[--h->nr_waiting];
		else if (note_receive(h->start.fd, &n, fds, true) != 1)
			return;
		if (n.kind == NOTE_LANE)
			lane_freed(h, n.cpu, n.slot);
		h->unanswered -= n.kind == NOTE_KEEP && n.status;
	}
}

static bool next_change(void *ctx, struct lane_change *c)
{
	struct here *h = ctx;
	int fds[NOTE_FDS];
	struct note n;

	if (h->nr_waiting) {
		n = h->waiting[0];
		memmove(h->waiting, h->waiting + 1, --h->nr_waiting * sizeof(n));
	} else if (note_receive(h->start.fd, &n, fds, false) != 1) {
		return false;
	}
	h->unanswered -= n.kind == NOTE_KEEP && n.status;
	*c = (struct lane_change){ .keep = n.kind == NOTE_KEEP, .nr = n.n, .cpu = n.cpu, .slot = n.slot };
	return true;
}

static void lane_forked(void *ctx)
{
	struct here *h = ctx;

	close(h->start.fd);
}

/* ---- a request ---- */

/* A client's descriptor, as a stream. */
struct output {
	struct here *h;
	int fd;
	bool dropped;	/* the client does not read: what follows is thrown away */
	int broke;	/* -errno: why not all was written */
};

/* For fopencookie(). A client that does not read ends its request, and no others. */
static ssize_t put(void *cookie, const char *text, size_t len)
{
	struct output *o = cookie;
	int ret = o->dropped ? 0 : patient_write(o->fd, text, len, PATIENCE_NS, &cut);

	if (ret == -ETIMEDOUT) {
		snprintf(o->h->running->message, sizeof(o->h->running->message),
			 "its output was not read for %llu s: the request was ended", PATIENCE_NS / 1000000000);
		cut = 1;
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
static void hand_over(struct here *h, struct request *r, FILE *out, FILE *err)
{
	int nr = 0;
	char **list = protocol_list(r->m, "args", &nr), **argv = calloc(nr + 2, sizeof(*argv));

	if (list && argv) {
		argv[0] = (char *)r->command->name;
		memcpy(argv + 1, list, nr * sizeof(*argv));
		r->status = r->command->execute(h->kernel, nr + 1, argv, out, err, &cut);
		/* what only clients print, such as --help */
		if (r->status < 0)
			r->status = h->start.o->o->failed;
	}
	free(list);
	free(argv);
}

/* Variables by which zug itself is told something: a user's are not for a process that can be root. */
static void leave_out_own(char **env)
{
	char **to = env;

	for (; env && *env; env++)
		if (strncmp(*env, "ZUG", 3))
			*to++ = *env;
	if (to)
		*to = NULL;
}

static void for_client(struct here *h, struct request *r)
{
	extern char **environ;
	char **own = environ, **env = protocol_list(r->m, "env", NULL);
	const char *cwd = protocol_text(r->m, "cwd");
	const mode_t mask = umask(protocol_int(r->m, "umask", 022) & 0777);
	struct output to[2] = { { .h = h, .fd = r->fds[1] }, { .h = h, .fd = r->fds[2] } };
	FILE *out = stream(&to[0]), *err = stream(&to[1]);

	h->outputs = to;
	h->out = out;
	h->err = err;
	r->status = r->kind == REQUEST_EXEC ? EXEC_FAILED : h->start.o->o->failed;
	if (rights_user())
		leave_out_own(env);
	if (!env || !out || !err) {
		snprintf(r->message, sizeof(r->message), "zugd: out of memory or descriptors");
	} else if (chdir(cwd)) {
		snprintf(r->message, sizeof(r->message), "zugd cannot enter the folder %s: %s", cwd,
			 strerror(errno));
	} else {
		environ = env;
		if (r->message[0])
			fprintf(err, "zug: %s\n", r->message);
		r->message[0] = 0;
		if (r->kind == REQUEST_EXEC)
			campaigns_exec(h->campaigns, r, err);
		else
			hand_over(h, r, out, err);
		environ = own;
	}
	if (chdir("/"))
		abort();
	umask(mask);
	free(env);
	if (out)
		fclose(out);
	/* a reader that has left knows so itself */
	if (!r->status && r->kind != REQUEST_EXEC && to[0].broke && to[0].broke != -EPIPE && !r->message[0]) {
		snprintf(r->message, sizeof(r->message), "standard output: %s", strerror(-to[0].broke));
		r->status = h->start.o->o->failed;
	}
	if (err)
		fclose(err);
	h->outputs = NULL;
	h->out = h->err = NULL;
}

static void execute(struct here *h, struct request *r)
{
	h->running = r;
	if (r->kind == REQUEST_JOIN) {
		campaigns_join(h->campaigns, r);
		if (r->message[0])
			fprintf(stderr, "zugd: %s\n", r->message);
	} else {
		for_client(h, r);
	}
	h->running = NULL;
}

static void tell_done(struct here *h, const struct request *r)
{
	struct note n = { .kind = NOTE_DONE, .status = r->status };
	int fds[NOTE_FDS] = { -1, -1, -1, -1 };
	struct json_object *a;

	snprintf(n.text, sizeof(n.text), "%s", r->message);
	if (h->campaigns) {
		a = campaigns_status(h->campaigns);
		fds[0] = note_file(json_object_to_json_string_ext(a, JSON_C_TO_STRING_PLAIN));
		json_object_put(a);
	}
	note_send(h->start.fd, &n, fds);
	if (fds[0] >= 0)
		close(fds[0]);
}

/*
 * The command is done for its client, who gets the answer; this process goes on to take down what it has set up. Where the
 * output could not be written, the answer comes at the end, and says so.
 */
static void tell_over(void *ctx, int status)
{
	struct here *h = ctx;
	struct request *r = h->running;

	fflush(h->out);
	fflush(h->err);
	if (h->told || h->outputs[0].broke || h->outputs[1].broke || r->message[0])
		return;
	/* a reader of them waits until no process can write */
	for (int i = 0; i < 2; i++) {
		h->outputs[i].dropped = true;
		close(r->fds[1 + i]);
		r->fds[1 + i] = -1;
	}
	r->status = status;
	tell_done(h, r);
	h->told = true;
}

/* ---- a worker that was made without a request ---- */

/* The next request; NULL: zugd ends it. */
static struct request *next_request(struct here *h)
{
	int fds[NOTE_FDS], nr = 1;
	struct request *r;
	struct note n;
	char *text;

	if (note_receive(h->start.fd, &n, fds, true) != 1 || n.kind != NOTE_REQUEST)
		return NULL;
	r = request_new(n.status, NULL, NULL);
	text = r && r->kind != REQUEST_JOIN ? note_text(fds[0]) : NULL;
	if (text)
		r->m = json_tokener_parse(text);
	if (r)
		snprintf(r->message, sizeof(r->message), "%.511s", n.text);
	h->start.cpu = n.cpu;
	/* n.n: which of its descriptors the client has sent */
	for (int i = 0; text && i < 3; i++)
		if (n.n & 1u << i)
			r->fds[i] = fds[nr++];
	free(text);
	return r;
}

static const struct daemon_command *command_of(const struct here *h, const struct request *r)
{
	const char *name = r->m ? protocol_text(r->m, "request") : NULL;

	for (const struct daemon_command *c = h->start.o->o->commands; name && c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

/* The request is there: nothing more is prepared. */
static bool is_asked(const struct here *h)
{
	struct pollfd p = { .fd = h->start.fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

/* What nearly every search begins with: the C library, its loader, and pid 1. What is another one then is made anew. */
static void prepare(const struct here *h)
{
	char *loader = realpath("/lib64/ld-linux-x86-64.so.2", NULL), *slash = loader ? strrchr(loader, '/') : NULL;
	char path[PATH_MAX], *libc = NULL;

	if (slash) {
		snprintf(path, sizeof(path), "%.*s/libc.so.6", (int)(slash - loader), loader);
		libc = realpath(path, NULL);
	}
	if (loader && !is_asked(h))
		symbols_prepare(loader);
	if (libc && !is_asked(h))
		symbols_prepare(libc);
	if (libc && !is_asked(h))
		sandbox_copy_ahead(libc);
	if (!is_asked(h))
		sandbox_init_ahead();
	/* behind all that copies this process: of what is shared with a copy the next write makes one */
	if (!is_asked(h))
		touch_memory();
	free(libc);
	free(loader);
}

/*
 * The request of a worker that was made ahead; NULL: zugd ends it. Nothing of a client may be looked at before: it is not
 * known when the request comes, nor what is the case then.
 */
static struct request *await_request(struct here *h)
{
	sigset_t cuts, mask;
	struct request *r;

	/* what is to cut the request may be there before it was read; what is to end a process may end this one */
	sigemptyset(&cuts);
	sigaddset(&cuts, SIGUSR1);
	sigprocmask(SIG_BLOCK, &cuts, &mask);
	signal(SIGTERM, SIG_DFL);
	prctl(PR_SET_NAME, "zugd-ahead");
	prepare(h);
	r = next_request(h);
	prctl(PR_SET_NAME, "zugd");
	set_signals();
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (r)
		r->command = command_of(h, r);
	return r && r->command ? r : NULL;
}

static int keep(struct here *h, char *err, size_t errlen)
{
	const struct worker_options *o = h->start.o;
	struct request *r;
	int ret = 0;

	if (h->start.door)
		ret = door_open(o->door, h->kernel, &o->o->defaults->c, err, errlen);
	h->campaigns = campaigns_new(o, &cut);
	while (!ret && h->campaigns && (r = next_request(h))) {
		cut = 0;
		execute(h, r);
		tell_done(h, r);
		request_free(r);
	}
	campaigns_free(h->campaigns);
	if (h->start.door)
		door_leave(o->door);
	return ret;
}

/* ---- its beginning and end ---- */

/*
 * When it is killed zugd has to hear of it before the kernel takes probes out, which waits for tasks that stand in them: zugd
 * lets those go. Descriptors that the kernel lets go of first are those with the highest numbers.
 */
static int hold_high(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

/* By /proc/self/fd a path of the user's could lead to zugd's log, say. */
static void leave_streams(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < 3; i++)
		if (null < 0 || dup2(null, i) < 0)
			_exit(1);
	if (null > 2)
		close(null);
}

/* From here on it looks at the request with no other rights than its user has. */
static void confine(const struct worker_start *start)
{
	if (start->as)
		leave_streams();
	if (start->as && rights_confine(start->as))
		_exit(1);
	/* a change of user ends it */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != start->parent)
		_exit(1);
}

void worker_main(const struct worker_start *start)
{
	static struct here h;
	struct lane_broker broker = { .ctx = &h, .want = want_lanes, .next = next_change, .freed = lane_freed,
				      .forked = lane_forked, .over = tell_over };
	struct request *r = start->request;
	char err[512] = "";
	cpu_set_t all;
	int ret;

	h.start = *start;
	h.start.fd = hold_high(start->fd);
	h.kernel = start->o->kernel;
	set_signals();
	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
	confine(start);
	ret = kernel_share(h.kernel, start->slot, ask_attach, &h, err, sizeof(err));
	kernel_set_lane(h.kernel, start->cpu);
	if (!ret && start->as)
		ret = sandbox_begin_confined(start->o->o->defaults->quota.memory, err, sizeof(err));
	if (!ret && start->ahead) {
		r = await_request(&h);
		if (!r) {
			sandbox_end_ahead();
			_exit(0);
		}
		kernel_set_lane(h.kernel, h.start.cpu);
	}
	if (ret && r) {
		r->status = start->o->o->failed;
		snprintf(r->message, sizeof(r->message), "zugd: %s", err);
	} else if (!ret && r) {
		kernel_set_broker(h.kernel, &broker);
		execute(&h, r);
	} else if (!ret) {
		ret = keep(&h, err, sizeof(err));
	}
	if (r && !h.told)
		tell_done(&h, r);
	else if (!r && ret)
		fprintf(stderr, "zugd: %s\n", err);
	if (start->as)
		sandbox_end_confined();
	sandbox_end_ahead();
	/* nothing else is this process's to take down */
	_exit(ret != 0);
}
