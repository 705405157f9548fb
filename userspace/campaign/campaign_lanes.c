/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lanes: the two ends of the socket between the campaign and its copies. Read campaign_lanes.h first; lane_main() is the
 * copy, all behind it is the campaign.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "campaign/campaign_internal.h"
#include "campaign/campaign_lanes.h"
#include "campaign/race_book.h"
#include "kernel/interrupt.h"
#include "kernel/lane_watch.h"

/*
 * Parts that a lane is given beforehand, so that it need not wait for the campaign: subtrees, or executions near the end of
 * the search; and of executions where many are left, so that the campaign has one message for several of them.
 */
#define AHEAD 2
#define MOST_AHEAD 16
/* What is left is shared out in so many turns of all lanes. */
#define TURNS 4
/* A lane tells so many results in one message, and none later than that behind the first. */
#define REPORTS 8
#define REPORT_WITHIN_NS 100000000ull
/* Of parts that are there, so many are taken until the campaign looks again for what lanes have told. */
#define TAKEN_AT_ONCE 8
/* Results that wait for one that comes before them. */
#define MOST_WAITING 4096
/* Until a lane is killed that was asked to end: it drains its sandbox. */
#define END_MS 15000
/* How often the campaign looks whether it is to end, while it waits. */
#define LOOK_MS 100

/* A message to a lane: the first nr of the parts. */
struct lane_order {
	uint32_t nr, bound;
	uint64_t parts[MOST_AHEAD];
};
#define ORDER_SIZE(nr) (offsetof(struct lane_order, parts) + (nr) * sizeof(uint64_t))

/* What a lane tells: an execution, the end of a part, or both. */
struct lane_report {
	uint64_t part;
	uint32_t bound;
	bool executed, over;
	bool plain;		/* nothing in it is for the campaign to see; of an end: of the part */
	struct search_part_end end;
	enum search_result result;
	struct search_made made;
	uint64_t failure, preemptions, switches, asked, hash, trace_sum, wall_ns, launch_ns, drain_ns;
	struct spent spent;
	uint32_t nr_tasks;
};

/* What it has not told yet. */
struct lane_reports {
	struct lane_report list[REPORTS];
	size_t nr;
	uint64_t since_ns;
};

struct lane {
	pid_t pid;		/* 0: there is none, where another process gives lanes */
	int fd, pidfd;
	int cpu;
	unsigned int slot, given;	/* parts that it has not ended */
	bool retires;		/* gets no more parts, and ends then */
};

/* A part that a lane was given, in the order of parts. */
struct lane_part {
	struct lane *lane;	/* NULL: it is over, or the lane has ended */
	uint64_t part;
	uint32_t bound;
	bool over, plain;
	struct search_part_end end;
	struct lane_report *list;	/* executions */
	size_t nr, room, next;
};

int campaign_lanes_check(const struct campaign_options *o, const struct kernel *k, char *err, size_t errlen)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (!o->search.lanes)
		return 0;
	if (k && !kernel_broker(k)) {
		snprintf(err, errlen, "-j: a test that is executed once has one lane");
		return -EINVAL;
	}
	if (o->search.lanes > 1 && o->search.lanes > cpus) {
		snprintf(err, errlen, "-j %u: each execution needs a CPU, and this machine has %ld", o->search.lanes, cpus);
		return -EINVAL;
	}
	/* the campaign has one sandbox itself */
	if (o->search.lanes >= ZUG_MAX_SANDBOXES) {
		snprintf(err, errlen, "-j %u: there can be %u lanes at most", o->search.lanes, ZUG_MAX_SANDBOXES - 1);
		return -EINVAL;
	}
	return 0;
}

/* ---- a lane ---- */

static uint64_t hash_text(uint64_t h, const char *text)
{
	return text ? hash_bytes(h, text, strlen(text) + 1) : hash_bytes(h, "", 1);
}

/* What the summary says about all executions. */
static uint64_t hash_notes(const struct campaign *c)
{
	struct campaign_notes n = { 0 };
	uint64_t h = HASH_BEGIN;

	points_note(c->points, &n);
	h = hash_text(h, n.races);
	h = hash_text(h, n.monitors);
	h = hash_text(h, n.code);
	h = hash_text(h, n.waits);
	h = hash_text(h, n.timeouts);
	h = hash_text(h, n.untried);
	h = hash_text(h, n.files);
	campaign_notes_release(&n);
	return h + points_races(c->points)->nr;
}

static void tell(const struct lane *l, struct lane_reports *told)
{
	while (told->nr && send(l->fd, told->list, told->nr * sizeof(told->list[0]), MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			_exit(1);
	told->nr = 0;
}

/* What the campaign has to see itself it is told at once. */
static void report(const struct lane *l, struct lane_reports *told, const struct lane_report *r)
{
	if (!told->nr)
		told->since_ns = clock_now_ns();
	told->list[told->nr++] = *r;
	if (told->nr == REPORTS || !r->plain || clock_now_ns() - told->since_ns > REPORT_WITHIN_NS)
		tell(l, told);
}

static void note_execution(struct campaign *c, struct lane_report *r, const struct execution *x, bool plain)
{
	r->executed = true;
	r->plain = plain && !x->ungranted;
	r->result = campaign_verdict(x);
	r->failure = x->outcome.failure;
	r->made = (struct search_made){ .class = c->parts.class, .schedule = c->parts.schedule, .steps = x->steps };
	r->preemptions = x->preemptions;
	r->switches = x->switches;
	r->asked = x->asked;
	r->hash = x->hash;
	r->trace_sum = x->trace_sum;
	r->wall_ns = x->wall_ns;
	r->launch_ns = x->launch_ns;
	r->drain_ns = x->drain_ns;
	r->spent = x->spent;
	r->nr_tasks = x->nr_tasks;
}

/* 0, or -errno: the lane cannot go on. */
static int make_part(struct campaign *c, const struct lane *l, uint64_t part, uint32_t bound, campaign_make make,
		     struct lane_reports *told, uint64_t *notes)
{
	struct lane_report r = { .part = part, .bound = bound, .plain = true };
	enum campaign_step what = CAMPAIGN_EXECUTED;
	int ret = campaign_parts_go(c, part, bound);
	struct execution x;
	uint64_t before;
	char err[512];

	while (ret == SEARCH_GO && what == CAMPAIGN_EXECUTED && r.plain) {
		if (make(c, &x, &what, err, sizeof(err)) || x.outcome.kind == ZUG_OUTCOME_INTERRUPTED)
			return -EIO;
		if (what == CAMPAIGN_EXHAUSTED)
			break;
		before = *notes;
		*notes = hash_notes(c);
		note_execution(c, &r, &x, before == *notes);
		if (c->parts.owner)
			report(l, told, &r);
		/* another failure may be known to the campaign: it says so when it comes to it */
		r.plain = r.plain && (r.result == SEARCH_PASS || (r.result == SEARCH_FAIL && c->s.o.results.keep_going));
		if (!c->parts.owner)
			break;
	}
	if (ret < 0)
		return ret;
	search_part_end(c->s.search, &r.end);
	r.over = true;
	/* told already */
	r.executed = r.executed && !c->parts.owner;
	r.plain = r.plain && !r.end.incomplete && !r.end.missed;
	report(l, told, &r);
	return 0;
}

/* The next parts; false: there are none any more. Before it waits for them it tells what it has. */
static bool next_order(const struct lane *l, struct lane_order *o, struct lane_reports *told)
{
	ssize_t n = recv(l->fd, o, sizeof(*o), MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN) {
		tell(l, told);
		n = recv(l->fd, o, sizeof(*o), 0);
	}
	return n >= (ssize_t)ORDER_SIZE(1) && n == (ssize_t)ORDER_SIZE(o->nr);
}

static void __attribute__((noreturn)) lane_main(struct campaign *c, struct lane *l, pid_t parent, campaign_make make)
{
	struct lane_reports told = { .nr = 0 };
	struct lane_order o;
	uint64_t notes;
	char err[512];
	int ret;

	interrupt_catch();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (kernel_broker(c->s.k))
		kernel_broker(c->s.k)->forked(kernel_broker(c->s.k)->ctx);
	if (getppid() != parent)
		_exit(1);
	c->s.stop = interrupt_flag();
	/* files of the campaign */
	c->record = NULL;
	c->parts.log = NULL;
	ret = session_forked(&c->s, l->slot, l->cpu, err, sizeof(err));
	notes = hash_notes(c);
	while (!ret && !session_interrupted(&c->s) && next_order(l, &o, &told))
		for (uint32_t i = 0; i < o.nr && !ret && !session_interrupted(&c->s); i++)
			ret = make_part(c, l, o.parts[i], o.bound, make, &told, &notes);
	session_forked_close(&c->s);
	/* what is in buffers is the campaign's */
	_exit(ret != 0);
}

/* ---- what is serial ---- */

static uint64_t own_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* An execution of its own is no part of that. */
static int makes_it_here(struct campaign *c)
{
	if (c->serial.since_ns) {
		c->serial.ns += own_ns() - c->serial.since_ns;
		c->serial.since_ns = 0;
	}
	return TAKEN_NOT;
}

uint64_t campaign_lanes_serial(const struct campaign *c)
{
	return c->serial.ns + (c->serial.since_ns ? own_ns() - c->serial.since_ns : 0);
}

/* ---- starting and ending ---- */

/* That of the ith lane. The campaign's own CPU comes last: it has little to do. */
static int lane_cpu(const struct campaign *c, unsigned int i)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), cpu = sandbox_lane(c->s.sandbox);

	for (int tries = 0; tries < cpus; tries++) {
		cpu = (cpu - 1 + cpus) % cpus;
		if ((!c->lanes.quiet || c->lanes.quiet[cpu]) && !i--)
			break;
	}
	return cpu;
}

/* Where no option has said how many lanes there are: no more than there are quiet CPUs beside the one that zug needs. */
static int find_quiet(struct campaign *c)
{
	unsigned int cpus = sysconf(_SC_NPROCESSORS_ONLN), nr;

	c->lanes.quiet = calloc(cpus, sizeof(*c->lanes.quiet));
	if (!c->lanes.quiet)
		return -ENOMEM;
	nr = lane_watch_quiet(c->lanes.quiet, cpus);
	if (c->s.o.search.lanes >= nr)
		c->s.o.search.lanes = nr > 1 ? nr - 1 : 1;
	return 0;
}

static int start_lane(struct campaign *c, struct lane *l, campaign_make make)
{
	pid_t parent = getpid();
	int fd[2], ret;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd))
		return -errno;
	l->pid = fork();
	if (!l->pid) {
		for (uint32_t i = 0; i < c->lanes.nr; i++) {
			const struct lane *other = &c->lanes.list[i];

			if (other == l || !other->pid)
				continue;
			close(other->fd);
			close(other->pidfd);
		}
		close(fd[0]);
		l->fd = fd[1];
		lane_main(c, l, parent, make);
	}
	ret = l->pid < 0 ? -errno : 0;
	close(fd[1]);
	l->fd = fd[0];
	l->pidfd = ret ? -1 : (int)syscall(SYS_pidfd_open, l->pid, 0);
	if (!ret && l->pidfd < 0) {
		ret = -errno;
		kill(l->pid, SIGKILL);
	}
	if (ret)
		close(l->fd);
	return ret;
}

static int start(struct campaign *c, campaign_make make, char *err, size_t errlen)
{
	const struct lane_broker *b = kernel_broker(c->s.k);
	struct campaign_lanes *s = &c->lanes;
	int ret = c->s.o.search.lanes_quiet && !b && !s->quiet ? find_quiet(c) : 0;
	uint32_t nr = c->s.o.search.lanes;

	/* one lane is the campaign itself */
	if (ret || nr < 2)
		return ret;
	s->list = calloc(nr, sizeof(*s->list));
	s->figures = calloc(nr, sizeof(*s->figures));
	if (!s->list || !s->figures) {
		campaign_lanes_stop(c);
		return -ENOMEM;
	}
	s->part = c->parts.part;
	s->bound = c->parts.bound;
	if (b) {
		s->nr = s->keep = nr;
		b->want(b->ctx, nr);
		return 0;
	}
	for (s->nr = 0; s->nr < nr && !ret; s->nr += !ret) {
		struct lane *l = &s->list[s->nr];

		*l = (struct lane){ .cpu = lane_cpu(c, s->nr), .slot = s->nr + 1 };
		s->figures[s->nr].cpu = l->cpu;
		ret = start_lane(c, l, make);
	}
	if (!ret)
		return 0;
	snprintf(err, errlen, "-j %u: cannot start a lane: %s", nr, strerror(-ret));
	campaign_lanes_stop(c);
	return ret;
}

static void forget(struct lane_part *p)
{
	free(p->list);
	*p = (struct lane_part){ 0 };
}

/* Its parts are not made, or not to their ends. */
static void lane_gone(struct campaign *c, struct lane *l)
{
	for (size_t i = c->lanes.first; i < c->lanes.nr_given; i++)
		if (c->lanes.given[i].lane == l)
			c->lanes.given[i].lane = NULL;
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	l->given = 0;
	c->lanes.figures[l - c->lanes.list].ended = !l->retires;
}

/* Until it has ended, which it was asked to. */
static void wait_end(struct campaign *c, struct lane *l)
{
	struct pollfd p = { .fd = l->pidfd, .events = POLLIN };
	uint64_t until = clock_now_ns() + END_MS * 1000000ull;

	while (poll(&p, 1, LOOK_MS) <= 0 && clock_now_ns() < until)
		;
	syscall(SYS_pidfd_send_signal, l->pidfd, SIGKILL, NULL, 0);
	while (poll(&p, 1, LOOK_MS) < 0 && errno == EINTR)
		;
	waitpid(l->pid, NULL, WNOHANG);
	close(l->pidfd);
	/* what one that was killed has left may stand still in the kernel */
	kernel_ctl(c->s.k, &(struct zug_ctl){ .cmd = ZUG_CMD_DRAIN, .sandbox = l->slot });
}

static void free_lane(struct campaign *c, struct lane *l)
{
	const struct lane_broker *b = kernel_broker(c->s.k);

	kernel_free_slot(c->s.k, l->slot);
	if (b)
		b->freed(b->ctx, l->cpu, l->slot);
	l->pid = 0;
}

void campaign_lanes_stop(struct campaign *c)
{
	/* a campaign that never began has no kernel */
	const struct lane_broker *b = c->lanes.list ? kernel_broker(c->s.k) : NULL;
	struct campaign_lanes *s = &c->lanes;

	makes_it_here(c);
	for (uint32_t i = 0; i < s->nr; i++)
		if (s->list[i].pid)
			syscall(SYS_pidfd_send_signal, s->list[i].pidfd, SIGTERM, NULL, 0);
	for (uint32_t i = 0; i < s->nr; i++) {
		if (!s->list[i].pid)
			continue;
		lane_gone(c, &s->list[i]);
		wait_end(c, &s->list[i]);
	}
	if (s->nr)
		sandbox_clean_up();
	for (uint32_t i = 0; i < s->nr; i++)
		if (s->list[i].pid)
			free_lane(c, &s->list[i]);
	if (b)
		b->want(b->ctx, 1);
	for (size_t i = s->first; i < s->nr_given; i++)
		forget(&s->given[i]);
	free(s->given);
	free(s->quiet);
	free(s->figures);
	free(s->list);
	*s = (struct campaign_lanes){ 0 };
}

/* ---- giving and taking ---- */

/* How many parts a lane should have. */
static unsigned int wanted_ahead(const struct campaign *c)
{
	const struct campaign_lanes *s = &c->lanes;
	uint64_t left = campaign_parts_left(c), given = s->nr_given - s->first;

	left = (left > given ? left - given : 0) / (TURNS * s->nr);
	return c->parts.owner || left < AHEAD ? AHEAD : left > MOST_AHEAD ? MOST_AHEAD : left;
}

/* The lane that has least to do, and may get more; NULL: none. */
static struct lane *idle_lane(struct campaign_lanes *s, unsigned int ahead)
{
	struct lane *best = NULL;

	for (uint32_t i = 0; i < s->nr; i++) {
		struct lane *l = &s->list[i];

		if (l->pid && !l->retires && l->fd >= 0 && l->given <= ahead / 2 && (!best || l->given < best->given))
			best = l;
	}
	return best;
}

/* 0 or -ENOMEM. */
static int give(struct campaign *c)
{
	struct campaign_lanes *s = &c->lanes;
	unsigned int ahead;
	struct lane *l;

	/* which parts a greater bound has is known when this one is over */
	if (s->bound != c->parts.bound) {
		s->bound = c->parts.bound;
		s->part = c->parts.part;
	}
	/* what was made here while there was no lane */
	if (s->part < c->parts.part)
		s->part = c->parts.part;
	while (s->nr_given - s->first < MOST_WAITING && (ahead = wanted_ahead(c)) && (l = idle_lane(s, ahead))) {
		struct lane_order o = { .bound = s->bound };
		uint64_t part = s->part;

		while (l->given + o.nr < ahead && campaign_parts_after(c, &part))
			o.parts[o.nr++] = part++;
		if (!o.nr)
			return 0;
		if (!ARRAY_RESERVE(s->given, s->room, s->nr_given + o.nr))
			return -ENOMEM;
		if (send(l->fd, &o, ORDER_SIZE(o.nr), MSG_NOSIGNAL) < 0) {
			lane_gone(c, l);
			continue;
		}
		for (uint32_t i = 0; i < o.nr; i++)
			s->given[s->nr_given++] = (struct lane_part){ .lane = l, .part = o.parts[i], .bound = o.bound,
								      .plain = true };
		l->given += o.nr;
		s->part = part;
	}
	return 0;
}

/* They are in the order of their bounds and numbers. NULL: it was not given, or is done with. */
static struct lane_part *find_part(struct campaign_lanes *s, uint64_t part, uint32_t bound)
{
	size_t first = s->first, end = s->nr_given;

	while (first < end) {
		size_t mid = first + (end - first) / 2;
		struct lane_part *p = &s->given[mid];

		if (p->part == part && p->bound == bound)
			return p;
		if (p->bound < bound || (p->bound == bound && p->part < part))
			first = mid + 1;
		else
			end = mid;
	}
	return NULL;
}

static int note(struct campaign_lanes *s, struct lane *l, const struct lane_report *r)
{
	struct lane_part *p = find_part(s, r->part, r->bound);

	l->given -= r->over;
	s->figures[l - s->list].executions += r->executed;
	if (!p)
		return 0;
	p->plain &= r->plain;
	if (r->over) {
		p->over = true;
		p->end = r->end;
		p->lane = NULL;
	}
	if (!r->executed)
		return 0;
	if (!ARRAY_RESERVE(p->list, p->room, p->nr + 1))
		return -ENOMEM;
	p->list[p->nr++] = *r;
	return 0;
}

/* Takes what lanes have told; waits for something if it has to. 0 or -errno. */
static int read_reports(struct campaign *c, int timeout_ms)
{
	struct campaign_lanes *s = &c->lanes;
	struct pollfd p[ZUG_MAX_SANDBOXES];
	struct lane_report list[REPORTS];
	ssize_t n;
	int ret = 0;

	for (uint32_t i = 0; i < s->nr; i++)
		p[i] = (struct pollfd){ .fd = s->list[i].pid ? s->list[i].fd : -1, .events = POLLIN };
	if (poll(p, s->nr, timeout_ms) <= 0)
		return 0;
	for (uint32_t i = 0; i < s->nr && !ret; i++) {
		struct lane *l = &s->list[i];

		if (!p[i].revents)
			continue;
		while (!ret && (n = recv(l->fd, list, sizeof(list), MSG_DONTWAIT)) >= (ssize_t)sizeof(list[0]))
			for (size_t k = 0; k < n / sizeof(list[0]) && !ret; k++)
				ret = note(s, l, &list[k]);
		if (!ret && (n >= 0 || errno != EAGAIN))
			lane_gone(c, l);
	}
	return ret;
}

/* The first part is done with. */
static void pop(struct campaign_lanes *s)
{
	forget(&s->given[s->first++]);
	if (s->first < s->nr_given && s->first < MOST_WAITING)
		return;
	s->nr_given -= s->first;
	memmove(s->given, s->given + s->first, s->nr_given * sizeof(*s->given));
	s->first = 0;
}

/* What passed, and with --keep-going a failure that is known: there is nothing to do but to count it. */
static bool only_counts(const struct campaign *c, const struct lane_report *r)
{
	return r->plain && (r->result == SEARCH_PASS || (r->result == SEARCH_FAIL && c->s.o.results.keep_going &&
							 failures_find(&c->failures, r->failure)));
}

static bool all_count(const struct campaign *c, const struct lane_part *p)
{
	for (size_t i = 0; i < p->nr; i++)
		if (!only_counts(c, &p->list[i]))
			return false;
	return p->over && p->plain;
}

static void count(struct campaign *c, const struct lane_report *r, struct execution *x)
{
	const struct campaign_failure *f = r->result == SEARCH_FAIL ? failures_find(&c->failures, r->failure) : NULL;

	*x = (struct execution){
		.outcome = { .kind = f ? f->kind : ZUG_OUTCOME_PASS, .failure = r->failure }, .steps = r->made.steps,
		.preemptions = r->preemptions, .switches = r->switches, .asked = r->asked, .hash = r->hash,
		.trace_sum = r->trace_sum,
		.wall_ns = r->wall_ns, .launch_ns = r->launch_ns, .drain_ns = r->drain_ns, .spent = r->spent,
		.nr_tasks = r->nr_tasks, .status = -1,
	};
	if (f)
		snprintf(x->outcome.message, sizeof(x->outcome.message), "%s", f->message);
	session_count(&c->s, x);
	c->s.template.forked += r->spent.copied;
	search_count(c->s.search, &r->made);
	c->serial.nr++;
	c->parts.class = r->made.class;
	c->parts.schedule = r->made.schedule;
}

/* ---- lanes that come and go: zugd gives them ---- */

static int begin_lane(struct campaign *c, const struct lane_change *change, campaign_make make)
{
	const struct lane_broker *b = kernel_broker(c->s.k);
	struct campaign_lanes *s = &c->lanes;
	struct lane *l = NULL;
	int ret = -ENOSPC;

	for (uint32_t i = 0; i < s->nr && !l; i++)
		if (!s->list[i].pid)
			l = &s->list[i];
	if (l) {
		*l = (struct lane){ .cpu = change->cpu, .slot = change->slot };
		s->figures[l - s->list] = (struct campaign_lane){ .cpu = l->cpu };
		ret = start_lane(c, l, make);
	}
	if (!ret)
		return 0;
	if (l)
		l->pid = 0;
	b->freed(b->ctx, change->cpu, change->slot);
	return ret == -ENOSPC ? 0 : ret;
}

/* The last ones retire, where there are more than it may keep. */
static void retire(struct campaign_lanes *s)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < s->nr; i++)
		if (s->list[i].pid)
			s->list[i].retires = nr++ >= s->keep;
}

static void end_retired(struct campaign *c)
{
	struct campaign_lanes *s = &c->lanes;

	for (uint32_t i = 0; i < s->nr; i++) {
		struct lane *l = &s->list[i];

		if (!l->pid || !l->retires || l->given)
			continue;
		syscall(SYS_pidfd_send_signal, l->pidfd, SIGTERM, NULL, 0);
		lane_gone(c, l);
		wait_end(c, l);
		free_lane(c, l);
	}
}

/* 0, or -errno: a lane could not be started. */
static int look_at_broker(struct campaign *c, campaign_make make)
{
	const struct lane_broker *b = kernel_broker(c->s.k);
	struct lane_change change;
	int ret = 0;

	while (b && !ret && b->next(b->ctx, &change)) {
		if (change.keep)
			c->lanes.keep = change.nr;
		else
			ret = begin_lane(c, &change, make);
		retire(&c->lanes);
	}
	if (b)
		end_retired(c);
	return ret;
}

static bool any_lane(const struct campaign_lanes *s)
{
	for (uint32_t i = 0; i < s->nr; i++)
		if (s->list[i].pid && !s->list[i].retires)
			return true;
	return s->nr_given > s->first;
}

/* Waits until the part is over, or its lane has ended. 0: it is; TAKEN_STOP; -errno. */
static int wait_for(struct campaign *c, uint64_t part, uint32_t bound, campaign_make make)
{
	const struct campaign_observer *observer = c->s.observer;
	struct lane_part *p = find_part(&c->lanes, part, bound);
	int ret;

	if (p && !p->lane && c->lanes.taken++ % TAKEN_AT_ONCE)
		return session_interrupted(&c->s) || session_late(&c->s, 0) ? TAKEN_STOP : 0;
	ret = read_reports(c, 0);
	for (;;) {
		ret = ret ? ret : look_at_broker(c, make);
		ret = ret ? ret : give(c);
		if (ret)
			return ret;
		p = find_part(&c->lanes, part, bound);
		if (!p || !p->lane)
			return 0;
		if (session_interrupted(&c->s) || session_late(&c->s, 0))
			return TAKEN_STOP;
		if (observer && observer->waiting)
			observer->waiting(observer->ctx, c);
		ret = read_reports(c, LOOK_MS);
	}
}

static bool has_lanes(const struct campaign *c)
{
	return c->s.o.search.lanes > 1 && c->s.frozen && c->parts.inside && c->searched && !session_template_on_trial(&c->s);
}

int campaign_lanes_take(struct campaign *c, campaign_make make, struct execution *x, char *err, size_t errlen)
{
	const struct campaign_parts *now = &c->parts;
	struct campaign_lanes *s = &c->lanes;
	struct lane_part *p;
	int ret = 0;

	if (s->list && !c->serial.since_ns)
		c->serial.since_ns = own_ns();
	/* a part that was begun here is made here */
	if (!has_lanes(c) || (now->n && !s->inside))
		return makes_it_here(c);
	snprintf(err, errlen, "out of memory");
	if (!s->list)
		ret = start(c, make, err, errlen);
	while (!ret && s->nr_given > s->first &&
	       (s->given[s->first].bound != now->bound || s->given[s->first].part < now->part))
		pop(s);
	if (!ret && s->list && !any_lane(s))
		ret = look_at_broker(c, make);
	if (!ret && (!s->list || !any_lane(s)))
		return makes_it_here(c);
	ret = ret ? ret : wait_for(c, now->part, now->bound, make);
	if (ret)
		return ret;
	p = s->nr_given > s->first ? &s->given[s->first] : NULL;
	if (!p || p->part != now->part || (!s->inside && !all_count(c, p))) {
		s->inside = false;
		return makes_it_here(c);
	}
	s->inside = p->next < p->nr;
	if (!s->inside) {
		campaign_parts_over(c, &p->end);
		pop(s);
		return TAKEN_PART;
	}
	count(c, &p->list[p->next++], x);
	/* of a strategy that samples it is the only one */
	if (!now->owner)
		s->inside = false;
	return TAKEN_EXECUTION;
}
