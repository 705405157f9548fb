/* SPDX-License-Identifier: GPL-2.0-only */
/* timers.c - the timers of a test: known from its calls, fired from outside (timers.h) */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "kworld/timers.h"
#include "lib/base/array.h"

#ifndef TFD_IOC_SET_TICKS	/* <linux/timerfd.h>, which cannot be included beside <sys/timerfd.h> */
#define TFD_IOC_SET_TICKS _IOW('T', 0, uint64_t)
#endif

void timers_reset(struct timers *t)
{
	t->nr = 0;
}

void timers_free(struct timers *t)
{
	free(t->list);
	memset(t, 0, sizeof(*t));
}

static struct timer *find(struct timers *t, int tgid, int nr, int id)
{
	struct timer *l;

	for (uint32_t i = 0; i < t->nr; i++)
		if (t->list[i].tgid == tgid && t->list[i].nr == nr && t->list[i].id == id)
			return &t->list[i];
	if (!ARRAY_RESERVE(t->list, t->room, t->nr + 1))
		return NULL;
	l = &t->list[t->nr++];
	*l = (struct timer){ .tgid = tgid, .nr = nr, .id = id };
	return l;
}

void timers_event(struct timers *t, const struct zug_event *e, uint32_t task, uint64_t site, uint64_t blocked)
{
	int tgid = e->tgid, id = (int)e->arg[0];
	struct timer *l;

	switch (e->nr) {
	case SYS_alarm:
		l = find(t, tgid, SYS_setitimer, 0);
		break;
	case SYS_timer_create:
	case SYS_timer_delete:
		l = find(t, tgid, SYS_timer_settime, id);
		break;
	default:
		l = find(t, tgid, e->nr, id);
	}
	if (!l)
		return;
	l->deadline = e->deadline;
	l->interval = e->arg[1];
	/* a timer that does nothing when its time has come (SIGEV_NONE) wakes nothing: the test asks how much is left */
	if (e->nr == SYS_timer_settime && !l->signo)
		l->deadline = l->interval = 0;
	if (e->nr != SYS_timer_create) {
		l->task = task;
		l->site = site;
		l->awaited = timers_signal(l) && blocked >> (timers_signal(l) - 1) & 1;
		return;
	}
	l->interval = 0;
	l->signo = SIGALRM;
	l->tid = 0;
	l->value = id;
	if (e->arg[1]) {
		/* struct sigevent: value (8 bytes), signo, notify, tid */
		memcpy(&l->value, e->word, sizeof(l->value));
		l->signo = e->word[3] == SIGEV_NONE ? 0 : (int)e->word[2];
		l->tid = e->word[3] == SIGEV_THREAD_ID ? (int)e->word[4] : 0;
	}
}

void timers_drop(struct timers *t, int tgid, bool exec)
{
	for (uint32_t i = 0; i < t->nr;)
		if (t->list[i].tgid == tgid && (!exec || t->list[i].nr == SYS_timer_settime))
			t->list[i] = t->list[--t->nr];
		else
			i++;
}

static struct timer *first(const struct timers *t)
{
	struct timer *best = NULL;

	for (uint32_t i = 0; i < t->nr; i++)
		if (t->list[i].deadline && (!best || t->list[i].deadline < best->deadline))
			best = &t->list[i];
	return best;
}

const struct timer *timers_first(const struct timers *t)
{
	return first(t);
}

void timers_text(const struct timer *l, char *text, size_t len)
{
	const char *abbrev = sigabbrev_np(l->nr == SYS_setitimer ? SIGALRM : l->signo);

	if (l->nr == SYS_timerfd_settime)
		snprintf(text, len, "timerfd_settime(), descriptor %d", l->id);
	else if (l->nr == SYS_setitimer)
		snprintf(text, len, "alarm() or setitimer(), SIGALRM");
	else if (abbrev)
		snprintf(text, len, "timer_settime(), SIG%s", abbrev);
	else if (l->signo)
		snprintf(text, len, "timer_settime(), signal %d", l->signo);
	else
		snprintf(text, len, "timer_settime(), no signal");
}

uint64_t timers_next(const struct timers *t)
{
	const struct timer *l = first(t);

	return l ? l->deadline : UINT64_MAX;
}

int timers_signal(const struct timer *l)
{
	return l->nr == SYS_timerfd_settime ? 0 : l->nr == SYS_timer_settime ? l->signo : SIGALRM;
}

/* How often a timerfd has fired since it was read. */
static uint64_t ticks_of(int fd)
{
	char path[64], line[128];
	unsigned long long ticks = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "ticks: %llu", &ticks) == 1)
			break;
	fclose(f);
	return ticks;
}

/*
 * The kernel's own timer is set to fire now, by a duration: it may be one of another clock. To set it is to forget
 * how often it has fired: that is counted on, where the test has not read it since. A kernel that cannot count on
 * (without CONFIG_CHECKPOINT_RESTORE) has it fire once.
 */
static int fire_fd(const struct timer *l)
{
	struct itimerspec now = { .it_value = { 0, 1 } };
	int pidfd = syscall(SYS_pidfd_open, l->tgid, 0), fd, ret = 0;
	struct pollfd pf = { .events = POLLIN };
	uint64_t ticks;

	if (pidfd < 0)
		return -errno;
	fd = pf.fd = syscall(SYS_pidfd_getfd, pidfd, l->id, 0);
	ticks = fd < 0 ? 0 : ticks_of(fd) + 1;
	if (fd < 0)
		ret = -errno;
	else if (ticks == 1 || ioctl(fd, TFD_IOC_SET_TICKS, &ticks)) {
		if (timerfd_settime(fd, 0, &now, NULL))
			ret = -errno;
		else
			poll(&pf, 1, 1000);
	}
	if (fd >= 0)
		close(fd);
	close(pidfd);
	return ret;
}

/* struct siginfo as the kernel lays it out for timers. */
struct timer_info {
	int signo, err, code, pad;
	int id, overrun;
	uint64_t value;
	uint8_t rest[96];
};

static int fire_signal(const struct timer *l)
{
	struct timer_info info = { .signo = l->signo, .code = SI_TIMER, .id = l->id, .value = l->value };
	long ret;

	_Static_assert(sizeof(info) == sizeof(siginfo_t), "siginfo");
	if (!l->signo)
		return 0;
	if (l->tid)
		ret = syscall(SYS_rt_tgsigqueueinfo, l->tgid, l->tid, l->signo, &info);
	else
		ret = syscall(SYS_rt_sigqueueinfo, l->tgid, l->signo, &info);
	return ret ? -errno : 0;
}

int timers_fire(struct timers *t)
{
	struct timer *l = first(t);
	int ret;

	if (!l)
		return -ENOENT;
	if (l->nr == SYS_timerfd_settime)
		ret = fire_fd(l);
	else if (l->nr == SYS_timer_settime)
		ret = fire_signal(l);
	else
		ret = kill(l->tgid, SIGALRM) ? -errno : 0;
	l->deadline = l->interval && !ret ? l->deadline + l->interval : 0;
	return ret;
}
