/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * daemon_lanes.c - which worker of zugd's has which CPUs (lanes) and sandboxes
 *
 * A worker that begins gets one CPU; one that asks for more gets its share: CPUs are dealt out one by one to those that want
 * another one, so that all who want many have as many, and those who wait in the queue count. Who has more than that is told
 * to give back; it does when the executions there have ended.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "kernel/lane_watch.h"
#include "zugd/daemon.h"
#include "zugd/daemon_workers.h"

/* With two CPUs zug needs the other one. */
#define FEW_CPUS 2

int lanes_choose(struct workers *ws, int lane, unsigned int nr)
{
	int n = (int)sysconf(_SC_NPROCESSORS_ONLN);

	if (lane < 0)
		lane = lane_watch_choose(n);
	ws->cpus = calloc(n, sizeof(*ws->cpus));
	if (!ws->cpus)
		return -ENOMEM;
	ws->nr_cpus = nr && (int)nr < n ? (int)nr : nr || n > FEW_CPUS ? n : 1;
	for (int i = 0; i < ws->nr_cpus; i++)
		ws->cpus[i] = i ? ((lane - i) % n + n) % n : lane;
	return 0;
}

int lanes_take_sandbox(struct workers *ws)
{
	for (int i = 1; i < ZUG_MAX_SANDBOXES; i++)
		if (!ws->used[i]) {
			ws->used[i] = true;
			return i;
		}
	return -1;
}

static bool has_lane_on(const struct worker *w, int cpu)
{
	for (unsigned int i = 0; i < w->nr_lanes; i++)
		if (w->lanes[i].cpu == cpu)
			return true;
	return false;
}

/* How many CPUs it has: its own, also while no lane is on it, and those of its lanes. */
static unsigned int has_cpus(const struct worker *w)
{
	return !w->r ? 0 : w->nr_lanes + !has_lane_on(w, w->cpu);
}

static bool is_used(const struct workers *ws, int cpu)
{
	for (const struct worker *w = ws->list; w; w = w->next)
		if ((w->r && w->cpu == cpu) || has_lane_on(w, cpu))
			return true;
	return false;
}

/* The last of them: the first one is where single executions are made. */
int lanes_free_cpu(const struct workers *ws)
{
	for (int i = ws->nr_cpus; i--;)
		if (!is_used(ws, ws->cpus[i]))
			return ws->cpus[i];
	return -1;
}

unsigned int lanes_used_by(const struct workers *ws, uid_t user)
{
	unsigned int nr = 0;

	for (const struct worker *w = ws->list; w; w = w->next)
		nr += w->r && w->r->user == user ? has_cpus(w) : 0;
	return nr;
}

int lanes_nr_used(const struct workers *ws)
{
	int nr = 0;

	for (const struct worker *w = ws->list; w; w = w->next)
		nr += has_cpus(w);
	return nr;
}

/* False: there is no sandbox for it. */
static bool lend(struct workers *ws, struct worker *w, int cpu)
{
	struct note n = { .kind = NOTE_LANE, .cpu = cpu };
	int slot = lanes_take_sandbox(ws);

	if (slot < 0)
		return false;
	n.slot = slot;
	w->lanes[w->nr_lanes++] = (struct lent){ .cpu = cpu, .slot = slot };
	worker_tell(w, &n);
	return true;
}

unsigned int lanes_most_of(const struct workers *ws, uid_t user)
{
	unsigned int most = ws->o.o->defaults->quota.lanes;

	return !most || user == NOBODY ? (unsigned int)ws->nr_cpus : most;
}

/* How many a user is dealt, with those for requests that wait. */
static unsigned int dealt_to(const struct workers *ws, uid_t user)
{
	unsigned int nr = 0;

	for (const struct worker *w = ws->list; w; w = w->next)
		nr += w->r && w->r->user == user ? w->share : 0;
	for (const struct request *r = ws->queue; r; r = r->next)
		nr += r->dealt && r->user == user;
	return nr;
}

/*
 * How many CPUs each may have: they are dealt out one by one, those who wait in the queue first get one each, and no user
 * gets more than the quota.
 */
static void deal(struct workers *ws)
{
	unsigned int left = ws->nr_cpus;

	for (struct worker *w = ws->list; w; w = w->next)
		w->share = 0;
	for (struct request *r = ws->queue; r; r = r->next)
		r->dealt = false;
	for (unsigned int round = 1; left; round++) {
		unsigned int before = left;

		for (struct worker *w = ws->list; w && left; w = w->next) {
			if (!w->r || w->wanted < round || dealt_to(ws, w->r->user) >= lanes_most_of(ws, w->r->user))
				continue;
			left--;
			w->share++;
		}
		for (struct request *r = round == 1 ? ws->queue : NULL; r && left; r = r->next) {
			if (dealt_to(ws, r->user) >= lanes_most_of(ws, r->user))
				continue;
			left--;
			r->dealt = true;
		}
		if (before == left)
			break;
	}
}

unsigned int lanes_share_of(struct workers *ws, const struct worker *of)
{
	deal(ws);
	return of->share ? of->share : 1;
}

/* With one CPU it needs none. */
void lanes_tell_keep(struct worker *w, unsigned int share, bool answers)
{
	unsigned int keep = share > 1 ? share : 0;

	if (keep != w->told || answers)
		worker_tell(w, &(struct note){ .kind = NOTE_KEEP, .status = answers, .n = keep });
	w->told = keep;
}

void lanes_share_out(struct workers *ws)
{
	for (struct worker *w = ws->list; w; w = w->next) {
		unsigned int share;
		int cpu;

		if (!w->r || w->kept || w->silent)
			continue;
		share = lanes_share_of(ws, w);
		lanes_tell_keep(w, share, false);
		while (has_cpus(w) < share && (cpu = lanes_free_cpu(ws)) >= 0)
			if (!lend(ws, w, has_lane_on(w, w->cpu) ? cpu : w->cpu))
				break;
	}
}

void lanes_given_back(struct workers *ws, struct worker *w, const struct note *n)
{
	for (unsigned int i = 0; i < w->nr_lanes; i++)
		if (w->lanes[i].slot == n->slot) {
			ws->used[n->slot] = false;
			w->lanes[i] = w->lanes[--w->nr_lanes];
			return;
		}
}
