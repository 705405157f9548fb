/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * clock.bpf.h - the clock of a sandbox
 *
 * It advances with points and with looks at it, and jumps when user space lets a time-out expire, or preempts a task in a
 * computation. It counts nothing that could differ between two executions of one schedule: how long the machine takes for a
 * computation is nothing to it.
 */
#ifndef ZUG_CLOCK_BPF_H
#define ZUG_CLOCK_BPF_H

#define NS_PER_S		1000000000ull

#define CLOCK_REALTIME_		0
#define CLOCK_PROCESS_CPUTIME_	2
#define CLOCK_THREAD_CPUTIME_	3
#define CLOCK_REALTIME_COARSE_	5
#define CLOCK_TAI_		11

/*
 * The time that a point, or a look at the clock, takes; each look but the first ones takes more, until a task blocks or
 * ends.
 */
#define STEP_NS			1000
#define LOOK_NS			128
#define MAX_LOOKS		(1u << 20)
#define LOOKS_ALIKE		16

/*
 * Tasks that go on and on, for so many points, may wait for one that sleeps to stop them, as the threads of a stress test do:
 * from there on the clock goes faster and faster. The points are many, so that no test's work is taken for that.
 */
#define IDLE_POINTS		10000
#define IDLE_NS			16

static __always_inline void clock_step(struct zug_sandbox *s)
{
	s->clock += STEP_NS;
	if (++s->nr_idle > IDLE_POINTS)
		s->clock += (__u64)IDLE_NS * (s->nr_idle - IDLE_POINTS);
}

/*
 * A loop that waits for the time to pass must come to its end: the more often a task looks, or
 * yields, and nothing else happens, the faster the clock goes. The first looks all take the same: a
 * wait until a second from now is not shorter than a second, when the clock is looked at once more
 * before the wait, and once behind it.
 */
static __always_inline void clock_look(struct zug_sandbox *s)
{
	s->clock += STEP_NS;
	if (s->looks > LOOKS_ALIKE)
		s->clock += (__u64)LOOK_NS * (s->looks - LOOKS_ALIKE);
	if (s->looks < MAX_LOOKS)
		s->looks++;
}

/* A task that looks at the clock so often, and does nothing else, waits for time to pass, or for others. */
#define LOOKS_PATIENT		64

/* True when a holder that has just looked at the clock is to let others run, before the clock goes faster and faster. */
static __always_inline bool looks_on(const struct zug_sandbox *s, struct task_state *t)
{
	if (t->clock_points != s->nr_points) {
		t->clock_points = s->nr_points;
		t->clock_looks = 0;
	}
	if (t->id != s->holder || ++t->clock_looks < LOOKS_PATIENT || !others_queued(s, t->slot))
		return false;
	t->clock_looks = 0;
	return true;
}

/* True when a timer or a time-out is over. */
static __always_inline bool clock_due(const struct zug_sandbox *s)
{
	return s->turn.alarm && s->clock >= s->turn.alarm;
}

/* True when a task may go on because its time-out is over, or may be said to be. */
static __always_inline bool alarm_due(const struct zug_sandbox *s)
{
	return s->turn.any_time || clock_due(s);
}

/* True when that changes which tasks may go on under the lease. */
static __always_inline bool lease_due(const struct zug_sandbox *s, const struct zug_lease *l)
{
	return s->turn.any_time ? s->clock >= l->clock : clock_due(s);
}

static __always_inline __u64 clock_of(const struct zug_sandbox *s, __s32 id)
{
	if (id < 0 || id == CLOCK_PROCESS_CPUTIME_ || id == CLOCK_THREAD_CPUTIME_)
		return s->clock;
	if (id == CLOCK_REALTIME_ || id == CLOCK_REALTIME_COARSE_ || id == CLOCK_TAI_)
		return s->setup.clock_real + s->clock;
	return s->setup.clock_mono + s->clock;
}

struct user_time {
	__s64 sec, frac;
};

/* False where the kernel is locked down: it refuses programs that could write. */
const volatile bool may_write = true;

static __always_inline long write_user(__u64 addr, const void *from, __u32 len)
{
	return may_write ? bpf_probe_write_user((void *)addr, from, len) : -1;
}

/* A time of the test's own is told, as a struct timespec, or with val as a struct timeval. */
static __always_inline void put_time(__u64 addr, __u64 ns, bool val)
{
	struct user_time ut = { ns / NS_PER_S, ns % NS_PER_S };

	if (val)
		ut.frac /= 1000;
	if (addr)
		write_user(addr, &ut, sizeof(ut));
}

#endif
