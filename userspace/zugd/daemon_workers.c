/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * daemon_workers.c - zugd's workers, seen from the process that serves: who waits and who executes
 *
 * A command of a client has a worker of its own. Where nobody waits one is made ahead, for the next command with zugd's rights;
 * others are made for their command. Single executions (zug exec, tests that join) go to one that
 * is kept, because their searches go on between calls. share_out() begins what can be begun, whenever anything has changed,
 * and has CPUs dealt out (daemon_lanes.c).
 *
 * A worker that ends without a word has crashed: its tasks may be parked, and the kernel does not let go of its probes
 * before they run. So its sandboxes are drained first, and given to others when it is gone. Read daemon.h first.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/base/clock.h"
#include "lib/base/run_user.h"
#include "sandbox/sandbox.h"
#include "zugd/daemon.h"
#include "zugd/daemon_workers.h"

/* When nothing is executed for so long the kernel side rests. */
#define REST_AFTER_NS 1000000000ull
/* When nothing is executed or taken down for so long a worker is made ahead: what comes at once would only wait for that. */
#define AHEAD_AFTER_MS 100
/* A request that was aborted ends within its execution's drain; it is prodded after the first, and killed after the second. */
#define PROD_AFTER_NS 2000000000ull
#define KILL_AFTER_NS 30000000000ull
#define PROD_MS 500
/* What workers that crashed have left is looked for so long, because processes take time to end. */
#define LEFT_FOR_NS 5000000000ull
/* A kept worker of a user who is not root ends when nothing was asked of it for so long. */
#define KEPT_FOR_NS 600000000000ull
/* So many of them; then the one that was unused for longest goes. */
#define MOST_KEPT 24

/* *copy: NULL where there is none to be copied. 0 or -ENOMEM. */
static int copy_user(struct run_user **copy, const struct run_user *u)
{
	*copy = u ? calloc(1, sizeof(**copy)) : NULL;
	if (!u || (*copy && !run_user_copy(*copy, u)))
		return 0;
	free(*copy);
	*copy = NULL;
	return -ENOMEM;
}

struct request *request_new(enum request_kind kind, struct json_object *m, const struct run_user *as)
{
	struct request *r = calloc(1, sizeof(*r));

	if (!r || copy_user(&r->as, as)) {
		free(r);
		return NULL;
	}
	r->kind = kind;
	r->m = m;
	r->user = NOBODY;
	r->fds[0] = r->fds[1] = r->fds[2] = -1;
	r->since_ns = clock_now_ns();
	return r;
}

static void free_user(struct run_user *u)
{
	if (u)
		run_user_free(u);
	free(u);
}

void request_free(struct request *r)
{
	if (!r)
		return;
	for (int i = 0; i < 3; i++)
		if (r->fds[i] >= 0)
			close(r->fds[i]);
	json_object_put(r->m);
	free_user(r->as);
	free(r);
}

static void append(struct request **list, struct request *r)
{
	r->next = NULL;
	while (*list)
		list = &(*list)->next;
	*list = r;
}

struct workers *workers_new(const struct worker_options *o, int lane, unsigned int nr)
{
	struct workers *ws = calloc(1, sizeof(*ws));

	if (!ws)
		return NULL;
	ws->o = *o;
	if (lanes_choose(ws, lane, nr)) {
		free(ws);
		return NULL;
	}
	ws->idle_ns = clock_now_ns();
	/* what workers that crash leave becomes ours */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return ws;
}

void workers_in_child(struct workers *ws, void (*fn)(void *ctx), void *ctx)
{
	ws->in_child = fn;
	ws->in_child_ctx = ctx;
}

/* ---- who executes ---- */

/* One that is gone is seen soon. */
void worker_tell(const struct worker *w, const struct note *n)
{
	if (note_send(w->fd, n, NULL) == -EAGAIN)
		syscall(SYS_pidfd_send_signal, w->pidfd, SIGKILL, NULL, 0);
}

static void __attribute__((noreturn)) child(struct workers *ws, const struct worker_start *start)
{
	for (const struct worker *w = ws->list; w; w = w->next) {
		close(w->fd);
		close(w->pidfd);
	}
	for (const struct request *r = ws->queue; r; r = r->next)
		for (int i = 0; i < 3; i++)
			if (r != start->request && r->fds[i] >= 0)
				close(r->fds[i]);
	ws->in_child(ws->in_child_ctx);
	worker_main(start);
}

static void worker_free(struct worker *w)
{
	free_user(w->as);
	free(w->campaigns);
	free(w);
}

/* A new worker with that user's rights, for a request, made ahead of it, or to be kept. NULL with errno. */
static struct worker *begin_worker(struct workers *ws, struct request *r, bool ahead, const struct run_user *as,
				   unsigned int slot, int cpu)
{
	struct worker_start start = { .o = &ws->o, .request = r, .ahead = ahead, .door = !r && !ahead && !as, .slot = slot,
				      .cpu = cpu, .parent = getpid() };
	struct worker *w = calloc(1, sizeof(*w)), **end = &ws->list;
	int fd[2];

	if (!w || copy_user(&w->as, as)) {
		free(w);
		return NULL;
	}
	start.as = w->as;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd)) {
		worker_free(w);
		return NULL;
	}
	w->pid = fork();
	if (!w->pid) {
		close(fd[0]);
		start.fd = fd[1];
		child(ws, &start);
	}
	close(fd[1]);
	w->pidfd = w->pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, w->pid, 0);
	if (w->pidfd < 0) {
		close(fd[0]);
		worker_free(w);
		return NULL;
	}
	w->fd = fd[0];
	fcntl(w->fd, F_SETFL, O_NONBLOCK);
	w->kept = !r && !ahead;
	w->ahead = ahead;
	w->idle_ns = clock_now_ns();
	w->slot = slot;
	w->cpu = cpu;
	w->wanted = 1;
	while (*end)
		end = &(*end)->next;
	*end = w;
	return w;
}

/* One that is kept ends when it has nothing to wait for. */
static void let_end(struct worker *w)
{
	shutdown(w->fd, SHUT_WR);
}

/* Of users who are not root. False: there will be, soon. */
static bool room_for_kept(struct workers *ws)
{
	struct worker *oldest = NULL;
	int nr = 0;

	for (struct worker *w = ws->list; w; w = w->next) {
		if (!w->kept || !w->as)
			continue;
		nr++;
		if (!w->r && !w->silent && (!oldest || w->idle_ns < oldest->idle_ns))
			oldest = w;
	}
	if (nr < MOST_KEPT)
		return true;
	if (oldest)
		let_end(oldest);
	return false;
}

/* The worker for single executions with these rights. NULL with errno, 0: the request has to wait. */
static struct worker *kept_worker(struct workers *ws, const struct run_user *as)
{
	struct worker *w;
	int slot;

	for (w = ws->list; w; w = w->next) {
		if (!w->kept || !w->as != !as || (as && w->as->uid != as->uid))
			continue;
		errno = 0;
		if (!w->silent && (!as || run_user_same(w->as, as)))
			return w->r ? NULL : w;
		/* one that has crashed has its sandbox until it is gone; one with other groups has to go first */
		if (!w->r && !w->silent)
			let_end(w);
		return NULL;
	}
	if (as && !room_for_kept(ws))
		slot = -1;
	else
		slot = as ? lanes_take_sandbox(ws) : ws->used[0] ? -1 : 0;
	errno = 0;
	if (slot < 0)
		return NULL;
	w = begin_worker(ws, NULL, false, as, slot, ws->cpus[0]);
	ws->used[slot] = w != NULL;
	return w;
}

/* Others than root get new ones, so that those who ask no more hold no memory. */
static void end_unused(struct worker *w)
{
	if (w->kept && w->as && !w->r && !w->silent && clock_now_ns() - w->idle_ns > KEPT_FOR_NS)
		let_end(w);
}

static void answer(struct workers *ws, struct request *r, int status, const char *text)
{
	r->worker = NULL;
	r->status = status;
	snprintf(r->message, sizeof(r->message), "%.511s", text);
	append(&ws->done, r);
}

static int failed_status(const struct workers *ws, const struct request *r)
{
	return r->kind == REQUEST_EXEC ? EXEC_FAILED : ws->o.o->failed;
}

/* Gives a request to a worker that was made without it. */
static int pass_on(struct workers *ws, struct worker *w, struct request *r)
{
	struct note n = { .kind = NOTE_REQUEST, .status = r->kind, .cpu = w->cpu };
	int fds[NOTE_FDS] = { -1, r->fds[0], r->fds[1], r->fds[2] }, ret;

	if (r->m) {
		fds[0] = note_file(json_object_to_json_string_ext(r->m, JSON_C_TO_STRING_PLAIN));
		if (fds[0] < 0)
			return -errno;
		if (r->kind == REQUEST_EXEC)
			lost_tell(ws->lost, r, n.text, sizeof(n.text));
	}
	for (int i = 0; i < 3; i++)
		n.n |= (r->fds[i] >= 0) << i;
	ret = note_send(w->fd, &n, fds);
	if (fds[0] >= 0)
		close(fds[0]);
	return ret;
}

/* One that has nothing to do yet; NULL: there is none. */
static struct worker *made_ahead(const struct workers *ws)
{
	for (struct worker *w = ws->list; w; w = w->next)
		if (w->ahead && !w->silent)
			return w;
	return NULL;
}

/*
 * While nobody waits, and nothing is taken down any more: what the next command would wait for is done. One that has ended by
 * itself may do so again.
 */
static void make_ahead(struct workers *ws)
{
	bool busy = ws->ending || ws->no_ahead || ws->queue;
	int slot;

	for (const struct worker *w = ws->list; w; w = w->next)
		busy |= !w->kept || w->r || w->silent;
	if (busy)
		ws->quiet_ns = 0;
	else if (!ws->quiet_ns)
		ws->quiet_ns = clock_now_ns();
	if (busy || clock_now_ns() - ws->quiet_ns < AHEAD_AFTER_MS * 1000000ull)
		return;
	ws->quiet_ns = 0;
	slot = lanes_take_sandbox(ws);
	ws->no_ahead = slot < 0 || !begin_worker(ws, NULL, true, NULL, slot, ws->cpus[0]);
	if (slot >= 0)
		ws->used[slot] = !ws->no_ahead;
}

/* The worker of a command, which gets it. NULL with errno, 0: the request has to wait. */
static struct worker *command_worker(struct workers *ws, struct request *r, int cpu)
{
	struct worker *ahead = made_ahead(ws), *w;
	int slot;

	ws->no_ahead = false;
	if (ahead && !r->as) {
		ahead->cpu = cpu;
		ahead->ahead = false;
		if (!pass_on(ws, ahead, r))
			return ahead;
		/* it has ended, most likely, which is about to be seen */
		let_end(ahead);
	}
	slot = lanes_take_sandbox(ws);
	errno = 0;
	if (slot < 0) {
		if (ahead)
			let_end(ahead);
		return NULL;
	}
	w = begin_worker(ws, r, false, r->as, slot, cpu);
	if (!w)
		ws->used[slot] = false;
	return w;
}

/* 1: it has begun; 0: it has to wait; -errno. */
static int begin(struct workers *ws, struct request *r)
{
	int cpu = lanes_free_cpu(ws), ret;
	struct worker *w;

	if (lanes_nr_used(ws) >= ws->nr_cpus || lanes_used_by(ws, r->user) >= lanes_most_of(ws, r->user))
		return 0;
	if (r->kind == REQUEST_COMMAND) {
		w = command_worker(ws, r, cpu < 0 ? ws->cpus[0] : cpu);
		ret = w ? 0 : -errno;
	} else {
		w = kept_worker(ws, r->as);
		ret = w ? pass_on(ws, w, r) : -errno;
	}
	if (!w || ret)
		return ret;
	w->r = r;
	w->told = 0;
	r->worker = w;
	r->since_ns = clock_now_ns();
	return 1;
}

/*
 * The machine's own libraries have breakpoints while a test that joined is executed, which no other test may meet: it is
 * executed alone.
 */
static bool must_wait(const struct workers *ws, const struct request *r)
{
	for (const struct worker *w = ws->list; w; w = w->next)
		if (w->r && (r->kind == REQUEST_JOIN || w->r->kind == REQUEST_JOIN))
			return true;
	return false;
}

/* Begins what can be begun, in the order of the queue, and gives lanes to who wants them. */
static void share_out(struct workers *ws)
{
	struct request **q = &ws->queue, *r;
	char err[512] = "";
	int ret = 0;

	while (!ws->ending && (r = *q)) {
		if (!must_wait(ws, r)) {
			ret = ws->rests ? kernel_wake(ws->o.kernel, err, sizeof(err)) : 0;
			ws->rests &= ret != 0;
			ret = ret ? ret : begin(ws, r);
			if (ret) {
				*q = r->next;
				r->next = NULL;
			}
			if (ret < 0)
				answer(ws, r, failed_status(ws, r), err[0] ? err : strerror(-ret));
			if (ret)
				continue;
		}
		/* none that comes later may keep it waiting */
		if (r->kind == REQUEST_JOIN)
			break;
		q = &r->next;
	}
	lanes_share_out(ws);
	if (lanes_nr_used(ws))
		ws->idle_ns = 0;
	else if (!ws->idle_ns)
		ws->idle_ns = clock_now_ns();
}

/* ---- what workers say ---- */

static void request_over(struct workers *ws, struct worker *w, int status, const char *text)
{
	struct request *r = w->r;
	char why[160];

	w->r = NULL;
	w->cut_ns = 0;
	w->idle_ns = clock_now_ns();
	if (!r)
		return;
	if (r->too_long && status) {
		snprintf(why, sizeof(why), "zugd has ended it: user %u may have %.0f s for a request (zugd --user-time)",
			 r->user, ws->o.o->defaults->quota.time_ns / 1e9);
		text = why;
	}
	answer(ws, r, status, text);
}

static void on_note(struct workers *ws, struct worker *w, const struct note *n, int *fds)
{
	struct note reply = { .kind = NOTE_ATTACHED };

	switch (n->kind) {
	case NOTE_DONE:
		if (fds[0] >= 0) {
			free(w->campaigns);
			w->campaigns = note_text(fds[0]);
			fds[0] = -1;
		}
		request_over(ws, w, n->status, n->text);
		break;
	case NOTE_WANT:
		w->wanted = n->n;
		lanes_tell_keep(w, lanes_share_of(ws, w), true);
		break;
	case NOTE_FREED:
		lanes_given_back(ws, w, n);
		break;
	case NOTE_ATTACH:
		reply.status = kernel_attach(ws->o.kernel, n->n, reply.text, sizeof(reply.text));
		worker_tell(w, &reply);
		break;
	default:
		break;
	}
	for (int i = 0; i < NOTE_FDS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void drain_slot(struct workers *ws, unsigned int slot)
{
	kernel_ctl(ws->o.kernel, &(struct zug_ctl){ .cmd = ZUG_CMD_DRAIN, .sandbox = slot });
}

/* Its tasks go on, so that the kernel can let go of its probes. */
static void drain(struct workers *ws, struct worker *w)
{
	drain_slot(ws, w->slot);
	for (unsigned int i = 0; i < w->nr_lanes; i++)
		drain_slot(ws, w->lanes[i].slot);
}

/* It says nothing any more: a command's worker after it was done, or one that has crashed. */
static void fell_silent(struct workers *ws, struct worker *w)
{
	w->silent = true;
	if (!w->r)
		return;
	drain(ws, w);
	syscall(SYS_pidfd_send_signal, w->pidfd, SIGKILL, NULL, 0);
}

/* The process is gone. */
static void gone(struct workers *ws, struct worker *w)
{
	siginfo_t how = { 0 };
	bool crashed;
	char text[192];
	size_t lost;

	waitid(P_PID, w->pid, &how, WEXITED | WNOHANG);
	/* also one whose request was done, and that has not taken down all of it */
	crashed = w->r || w->nr_lanes || how.si_code != CLD_EXITED || how.si_status;
	ws->no_ahead |= w->ahead;
	lost = w->kept && !ws->ending ? lost_add(&ws->lost, w->campaigns, w->as) : 0;
	snprintf(text, sizeof(text), "the process of %s has ended (%s %d); %s",
		 w->kept ? "zug exec and of tests that join" : "this search",
		 how.si_code == CLD_EXITED ? "exit status" : "signal", how.si_status,
		 lost ? "its searches begin anew when they are called again" : "others are not affected");
	if (w->r || lost)
		fprintf(stderr, "zugd: %s\n", text);
	if (w->r)
		request_over(ws, w, failed_status(ws, w->r), text);
	/* of a user's there is its cgroup in any case */
	if (crashed || w->kept || w->as) {
		drain(ws, w);
		sandbox_clean_up();
		ws->left_ns = clock_now_ns();
	}
	for (unsigned int i = 0; i < w->nr_lanes; i++) {
		kernel_free_slot(ws->o.kernel, w->lanes[i].slot);
		ws->used[w->lanes[i].slot] = false;
	}
	kernel_free_slot(ws->o.kernel, w->slot);
	kernel_search_gone(ws->o.kernel, w->slot);
	ws->used[w->slot] = false;
	for (struct worker **at = &ws->list; *at; at = &(*at)->next)
		if (*at == w) {
			*at = w->next;
			break;
		}
	close(w->fd);
	close(w->pidfd);
	worker_free(w);
}

int workers_fds(const struct workers *ws, int *fds, int max)
{
	int nr = 0;

	for (const struct worker *w = ws->list; w && nr < max; w = w->next)
		fds[nr++] = w->silent ? w->pidfd : w->fd;
	return nr;
}

/* What processes of those that crashed have left, once these have ended as well. */
static void look_for_left(struct workers *ws)
{
	if (!ws->left_ns)
		return;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	sandbox_clean_up();
	if (clock_now_ns() - ws->left_ns > LEFT_FOR_NS)
		ws->left_ns = 0;
}

static void prod(struct worker *w)
{
	uint64_t since = w->cut_ns ? clock_now_ns() - w->cut_ns : 0;

	if (since > KILL_AFTER_NS)
		syscall(SYS_pidfd_send_signal, w->pidfd, SIGKILL, NULL, 0);
	else if (since > PROD_AFTER_NS)
		syscall(SYS_pidfd_send_signal, w->pidfd, SIGUSR1, NULL, 0);
}

static void cut(struct worker *w)
{
	if (!w->cut_ns)
		w->cut_ns = clock_now_ns();
	syscall(SYS_pidfd_send_signal, w->pidfd, SIGUSR1, NULL, 0);
}

/* Ends what has taken longer than its user may have. */
static void look_at_time(struct workers *ws, struct worker *w)
{
	const uint64_t most = ws->o.o->defaults->quota.time_ns;

	if (!most || !w->r || w->cut_ns || w->r->user == NOBODY || clock_now_ns() - w->r->since_ns < most)
		return;
	w->r->too_long = true;
	cut(w);
}

void workers_look(struct workers *ws)
{
	struct worker *next;
	int fds[NOTE_FDS], ret;
	struct note n;

	for (struct worker *w = ws->list; w; w = next) {
		struct pollfd p = { .fd = w->pidfd, .events = POLLIN };

		next = w->next;
		while (!w->silent && (ret = note_receive(w->fd, &n, fds, false))) {
			if (ret == 1)
				on_note(ws, w, &n, fds);
			else
				fell_silent(ws, w);
		}
		look_at_time(ws, w);
		end_unused(w);
		prod(w);
		if (w->silent && poll(&p, 1, 0) == 1)
			gone(ws, w);
	}
	look_for_left(ws);
	share_out(ws);
	make_ahead(ws);
	if (!ws->rests && ws->idle_ns && clock_now_ns() - ws->idle_ns > REST_AFTER_NS) {
		kernel_rest(ws->o.kernel);
		ws->rests = true;
	}
}

int workers_patience(const struct workers *ws)
{
	int otherwise = -1;

	if (ws->quiet_ns)
		return AHEAD_AFTER_MS;
	if (ws->left_ns)
		return PROD_MS;
	for (const struct worker *w = ws->list; w; w = w->next) {
		if (w->cut_ns || (w->r && ws->o.o->defaults->quota.time_ns))
			return PROD_MS;
		if (w->kept && w->as)
			otherwise = (int)(KEPT_FOR_NS / 1000000);
	}
	return ws->idle_ns && !ws->rests ? (int)(REST_AFTER_NS / 1000000) : otherwise;
}

/* ---- requests ---- */

int workers_submit(struct workers *ws, struct request *r)
{
	int ahead = 0;

	append(&ws->queue, r);
	share_out(ws);
	for (const struct request *q = ws->queue; q; q = q->next) {
		if (q != r)
			continue;
		for (const struct worker *w = ws->list; w; w = w->next)
			ahead += w->r != NULL;
		for (q = ws->queue; q != r; q = q->next)
			ahead++;
		break;
	}
	return ahead;
}

struct request *workers_done(struct workers *ws)
{
	struct request *r = ws->done;

	if (r)
		ws->done = r->next;
	return r;
}

unsigned int workers_waiting(const struct workers *ws, uid_t user)
{
	unsigned int nr = 0;

	for (const struct request *r = ws->queue; r; r = r->next)
		nr += r->user == user;
	return nr;
}

static void give_back(struct workers *ws, struct request *r)
{
	answer(ws, r, r->kind == REQUEST_EXEC ? EXEC_FAILED : ws->o.o->interrupted,
	       r->kind == REQUEST_JOIN ? "" : "interrupted before its turn came");
}

void workers_abort(struct workers *ws, struct request *r)
{
	if (r->worker) {
		cut(r->worker);
		return;
	}
	for (struct request **q = &ws->queue; *q; q = &(*q)->next)
		if (*q == r) {
			*q = r->next;
			give_back(ws, r);
			break;
		}
}

void workers_stop(struct workers *ws)
{
	struct request *r;

	ws->ending = true;
	while ((r = ws->queue)) {
		ws->queue = r->next;
		give_back(ws, r);
	}
	for (struct worker *w = ws->list; w; w = w->next) {
		if (w->r)
			cut(w);
		else if (!w->silent)
			let_end(w);
	}
}

void workers_free(struct workers *ws)
{
	struct request *r;

	if (!ws)
		return;
	while (ws->list) {
		struct worker *w = ws->list;
		struct pollfd p = { .fd = w->pidfd, .events = POLLIN };

		shutdown(w->fd, SHUT_WR);
		if (poll(&p, 1, (int)(KILL_AFTER_NS / 1000000)) < 1) {
			drain(ws, w);
			kill(w->pid, SIGKILL);
			poll(&p, 1, PROD_MS);
		}
		gone(ws, w);
	}
	while ((r = ws->done)) {
		ws->done = r->next;
		request_free(r);
	}
	json_object_put(ws->lost);
	free(ws->cpus);
	free(ws);
}
