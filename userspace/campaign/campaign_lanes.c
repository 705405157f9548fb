/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lanes: the campaign and its copies, with the memory that they share between them (lane_box.h). Read campaign_lanes.h
 * first; lane_main() is the copy, all behind it is the campaign.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "campaign/campaign_internal.h"
#include "campaign/campaign_lanes.h"
#include "campaign/lane_box.h"
#include "campaign/race_book.h"
#include "kernel/interrupt.h"
#include "kernel/lane_watch.h"

/* Subtrees that a lane is given beforehand, so that it need not wait for the campaign; of executions LANE_ORDERS. */
#define AHEAD 2
/* What is left is shared out in so many turns of all lanes. */
#define TURNS 4
/* Of parts that are there, so many are taken until the campaign looks again for what lanes have told. */
#define TAKEN_AT_ONCE 8
/* Results that wait for one that comes before them. */
#define MOST_WAITING 4096
/* Until a lane is killed that was asked to end: it drains its sandbox. */
#define END_MS 15000
/* How often the campaign looks whether it is to end, or a lane has ended, while no lane wakes it. */
#define LOOK_MS 200

struct lane {
	pid_t pid;		/* 0: there is none, where another process gives lanes */
	int pidfd, cpu;
	unsigned int slot, given;	/* parts that it has not ended */
	bool retires;		/* gets no more parts, and ends after its execution */
	bool gone;		/* has ended */
};

/* A part that a lane was given, in the order of parts. */
struct lane_part {
	struct lane *lane;	/* NULL: it is over, or the lane has ended */
	uint64_t part;
	uint32_t bound;
	bool over, plain;
	bool back;		/* another lane shall make it */
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
static int make_part(struct campaign *c, uint32_t i, const struct lane_order *o, campaign_make make, uint64_t *notes)
{
	struct lane_report r = { .part = o->part, .bound = o->bound, .plain = true };
	enum campaign_step what = CAMPAIGN_EXECUTED;
	int ret = campaign_parts_go(c, o->part, o->bound);
	struct execution x;
	uint64_t before;
	char err[512];

	while (ret == SEARCH_GO && what == CAMPAIGN_EXECUTED && r.plain) {
		if (make(c, &x, &what, err, sizeof(err)) || x.outcome.kind == ZUG_OUTCOME_INTERRUPTED)
			return -EIO;
		/* what is left of a subtree is another's */
		if (c->parts.owner && lane_box_ends(c->lanes.boxes, i))
			return -ECANCELED;
		if (what == CAMPAIGN_EXHAUSTED)
			break;
		before = *notes;
		*notes = hash_notes(c);
		note_execution(c, &r, &x, before == *notes);
		if (c->parts.owner)
			lane_box_tell(c->lanes.boxes, i, &r);
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
	lane_box_tell(c->lanes.boxes, i, &r);
	return 0;
}

static void __attribute__((noreturn)) lane_main(struct campaign *c, struct lane *l, pid_t parent, campaign_make make)
{
	uint32_t i = l - c->lanes.list;
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
	while (!ret && !session_interrupted(&c->s) && lane_box_next(c->lanes.boxes, i, &o))
		ret = make_part(c, i, &o, make, &notes);
	session_forked_close(&c->s);
	/* what is in buffers is the campaign's */
	_exit(ret && ret != -ECANCELED);
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
	char err[512];
	int ret = probes_planted(c->s.probes, err, sizeof(err));

	if (ret)
		return ret;
	lane_box_reset(c->lanes.boxes, l - c->lanes.list);
	l->pid = fork();
	if (!l->pid) {
		for (uint32_t i = 0; i < c->lanes.nr; i++)
			if (&c->lanes.list[i] != l && c->lanes.list[i].pid)
				close(c->lanes.list[i].pidfd);
		lane_main(c, l, parent, make);
	}
	if (l->pid < 0)
		return -errno;
	l->pidfd = (int)syscall(SYS_pidfd_open, l->pid, 0);
	if (l->pidfd < 0) {
		ret = -errno;
		kill(l->pid, SIGKILL);
	}
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
	s->boxes = lane_boxes_new(nr);
	if (!s->list || !s->figures || !s->boxes) {
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

static void forget(struct campaign_lanes *s, struct lane_part *p)
{
	s->nr_back -= p->back;
	free(p->list);
	*p = (struct lane_part){ 0 };
}

/* Another lane makes it, from its beginning. */
static void put_back(struct campaign_lanes *s, struct lane_part *p)
{
	free(p->list);
	*p = (struct lane_part){ .part = p->part, .bound = p->bound, .plain = true, .back = true };
	s->nr_back++;
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

/* What it has not begun with is for other lanes. */
static void take_back(struct campaign_lanes *s, struct lane *l)
{
	struct lane_order list[LANE_ORDERS];
	uint32_t nr = lane_box_take_back(s->boxes, l - s->list, list);
	struct lane_part *p;

	l->given -= nr;
	for (uint32_t i = 0; i < nr; i++)
		if ((p = find_part(s, list[i].part, list[i].bound)))
			put_back(s, p);
}

/*
 * It has ended. The part that it was making is left to another lane where it was told to end, and else to the campaign: it
 * may be what has ended the lane.
 */
static void lane_gone(struct campaign *c, struct lane *l)
{
	struct campaign_lanes *s = &c->lanes;

	take_back(s, l);
	for (size_t i = s->first; i < s->nr_given; i++) {
		if (s->given[i].lane != l)
			continue;
		if (l->retires)
			put_back(s, &s->given[i]);
		s->given[i].lane = NULL;
	}
	l->gone = true;
	l->given = 0;
	s->figures[l - s->list].ended = !l->retires;
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
	for (uint32_t i = 0; i < s->nr; i++) {
		if (!s->list[i].pid)
			continue;
		lane_box_end(s->boxes, i);
		syscall(SYS_pidfd_send_signal, s->list[i].pidfd, SIGTERM, NULL, 0);
	}
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
		forget(s, &s->given[i]);
	lane_boxes_free(s->boxes);
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
	return c->parts.owner || left < AHEAD ? AHEAD : left > LANE_ORDERS ? LANE_ORDERS : left;
}

static bool may_get(const struct lane *l)
{
	return l->pid && !l->retires && !l->gone;
}

/* The lane that has least to do; NULL: all have enough. */
static struct lane *idle_lane(struct campaign_lanes *s, unsigned int ahead)
{
	struct lane *best = NULL;

	for (uint32_t i = 0; i < s->nr; i++)
		if (may_get(&s->list[i]) && s->list[i].given < ahead && (!best || s->list[i].given < best->given))
			best = &s->list[i];
	return best;
}

static void give_part(struct campaign_lanes *s, struct lane *l, struct lane_part *p, unsigned int ahead)
{
	p->lane = l;
	l->given++;
	lane_box_low(s->boxes, l - s->list, ahead / 2);
	lane_box_put(s->boxes, l - s->list, &(struct lane_order){ .part = p->part, .bound = p->bound });
}

/* 0 or -ENOMEM. */
static int give(struct campaign *c)
{
	struct campaign_lanes *s = &c->lanes;
	unsigned int ahead = wanted_ahead(c);
	struct lane *l;

	/* which parts a greater bound has is known when this one is over */
	if (s->bound != c->parts.bound) {
		s->bound = c->parts.bound;
		s->part = c->parts.part;
	}
	/* what was made here while there was no lane, or is being made here */
	if (s->part < c->parts.part + (c->parts.n > 0))
		s->part = c->parts.part + (c->parts.n > 0);
	for (size_t i = s->first; s->nr_back && i < s->nr_given && (l = idle_lane(s, ahead)); i++) {
		if (!s->given[i].back)
			continue;
		s->given[i].back = false;
		s->nr_back--;
		give_part(s, l, &s->given[i], ahead);
	}
	while (s->nr_given - s->first < MOST_WAITING && (l = idle_lane(s, ahead)) && campaign_parts_after(c, &s->part)) {
		if (!ARRAY_RESERVE(s->given, s->room, s->nr_given + 1))
			return -ENOMEM;
		s->given[s->nr_given] = (struct lane_part){ .part = s->part++, .bound = s->bound, .plain = true };
		give_part(s, l, &s->given[s->nr_given++], ahead);
	}
	return 0;
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

/* Notes who has ended, before what it has told is read for the last time. */
static void look_at_lanes(struct campaign_lanes *s, bool *ended)
{
	struct pollfd p[ZUG_MAX_SANDBOXES];

	for (uint32_t i = 0; i < s->nr; i++)
		p[i] = (struct pollfd){ .fd = s->list[i].pid && !s->list[i].gone ? s->list[i].pidfd : -1, .events = POLLIN };
	if (poll(p, s->nr, 0) <= 0)
		return;
	for (uint32_t i = 0; i < s->nr; i++)
		ended[i] = p[i].revents;
}

/* Takes what lanes have told. 0 or -ENOMEM. */
static int read_reports(struct campaign *c)
{
	struct campaign_lanes *s = &c->lanes;
	bool ended[ZUG_MAX_SANDBOXES] = { false };
	uint64_t now = clock_now_ns();
	struct lane_report r;
	int ret = 0;

	if (now - s->looked_ns >= LOOK_MS * 1000000ull) {
		look_at_lanes(s, ended);
		s->looked_ns = now;
	}
	for (uint32_t i = 0; i < s->nr && !ret; i++) {
		while (!ret && s->list[i].pid && !s->list[i].gone && lane_box_read(s->boxes, i, &r))
			ret = note(s, &s->list[i], &r);
		if (!ret && ended[i])
			lane_gone(c, &s->list[i]);
	}
	return ret;
}

/* The first part is done with. */
static void pop(struct campaign_lanes *s)
{
	forget(s, &s->given[s->first++]);
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

/*
 * The last ones retire, where there are more than it may keep. The campaign's own CPU is its own in any case, so the lane there
 * does not retire before all others.
 */
static void retire(struct campaign *c)
{
	struct campaign_lanes *s = &c->lanes;
	int own = sandbox_lane(c->s.sandbox);
	uint32_t nr = 0;

	for (uint32_t i = 0; i < s->nr; i++)
		nr += s->list[i].pid && !s->list[i].retires && s->list[i].cpu == own;
	for (uint32_t i = 0; i < s->nr; i++) {
		struct lane *l = &s->list[i];

		if (!l->pid || l->retires || (l->cpu == own ? s->keep > 0 : nr++ < s->keep))
			continue;
		l->retires = true;
		take_back(s, l);
		lane_box_end(s->boxes, i);
	}
}

static void end_retired(struct campaign *c)
{
	struct campaign_lanes *s = &c->lanes;

	for (uint32_t i = 0; i < s->nr; i++) {
		struct lane *l = &s->list[i];

		if (!l->pid || !l->retires || !l->gone)
			continue;
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
		retire(c);
	}
	if (b)
		end_retired(c);
	return ret;
}

/* Takes what lanes have told, lets those come and go that shall, and gives them parts. 0 or -errno. */
static int attend(struct campaign *c, campaign_make make)
{
	int ret = read_reports(c);

	ret = ret ? ret : look_at_broker(c, make);
	return ret ? ret : give(c);
}

static bool any_lane(const struct campaign_lanes *s)
{
	for (uint32_t i = 0; i < s->nr; i++)
		if (s->list[i].pid && !s->list[i].retires)
			return true;
	return s->nr_given > s->first;
}

/* Nobody will make it but the campaign. */
static bool is_left(const struct campaign_lanes *s, const struct lane_part *p)
{
	if (p->lane || p->over)
		return false;
	for (uint32_t i = 0; p->back && i < s->nr; i++)
		if (may_get(&s->list[i]))
			return false;
	return true;
}

/* Waits until the part is over, or its lane has ended. 0: it is; TAKEN_STOP; -errno. */
static int wait_for(struct campaign *c, uint64_t part, uint32_t bound, campaign_make make)
{
	const struct campaign_observer *observer = c->s.observer;
	struct campaign_lanes *s = &c->lanes;
	struct lane_part *p = find_part(s, part, bound);
	uint32_t turn;
	int ret;

	if (p && p->over && s->taken++ % TAKEN_AT_ONCE)
		return session_interrupted(&c->s) || session_late(&c->s, 0) ? TAKEN_STOP : 0;
	for (;;) {
		turn = lane_boxes_turn(s->boxes);
		ret = attend(c, make);
		if (ret)
			return ret;
		p = find_part(s, part, bound);
		if (!p || p->over || is_left(s, p))
			return 0;
		if (session_interrupted(&c->s) || session_late(&c->s, 0))
			return TAKEN_STOP;
		if (observer && observer->waiting)
			observer->waiting(observer->ctx, c);
		lane_boxes_wait(s->boxes, turn, LOOK_MS);
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
	/* a part that was begun here is made here */
	bool mine = now->n && !s->inside;
	struct lane_part *p;
	int ret = 0;

	if (s->list && !c->serial.since_ns)
		c->serial.since_ns = own_ns();
	if (!has_lanes(c))
		return makes_it_here(c);
	snprintf(err, errlen, "out of memory");
	if (!s->list && !mine)
		ret = start(c, make, err, errlen);
	while (!ret && s->nr_given > s->first &&
	       (s->given[s->first].bound != now->bound || s->given[s->first].part < now->part))
		pop(s);
	/* lanes end and begin meanwhile, too */
	if (!ret && s->list && (mine || !any_lane(s)))
		ret = attend(c, make);
	if (!ret && (!s->list || mine || !any_lane(s)))
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
