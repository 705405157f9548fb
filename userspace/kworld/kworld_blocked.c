/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a blocked task waits for, and what can end that wait.
 *
 * kworld_describe_wait() decides whether a test in which every task waits is a deadlock: a wait that only the test can end
 * (WAIT_INSIDE), one that ends by itself (WAIT_TIMED), or one that others may end (WAIT_UNKNOWN). The task stands still in the
 * kernel, so its descriptors can be looked at; where it waits for several, the one that is known least counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kworld/kworld_internal.h"
#include "kernel/syscalls.h"
#include "lib/base/proc_status.h"

/* Newer than the headers of Debian 12: pidfd_open() of any thread. */
#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

/* What can end a wait for a descriptor of process pid. */
static enum wait_kind fd_wait(struct kworld *k, struct world_task *t, int fd);

/* The same for an epoll descriptor: for all that it watches. */
static enum wait_kind epoll_wait_kind(struct kworld *k, struct world_task *t, int fd)
{
	enum wait_kind worst = WAIT_INSIDE, w;
	FILE *f = proc_fdinfo(t->pid, fd);
	unsigned int target;
	char line[256];

	if (!f)
		return WAIT_UNKNOWN;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "tfd: %u", &target) != 1)
			continue;
		w = (int)target == fd ? WAIT_UNKNOWN : fd_wait(k, t, target);
		if (w == WAIT_UNKNOWN || (w == WAIT_TIMED && worst == WAIT_INSIDE))
			worst = w;
	}
	fclose(f);
	return worst;
}

/* True when others than the test may reach a file system: it is mounted where zug is. */
static bool is_mounted_here(unsigned int dev)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	unsigned int major, minor;
	char line[1024];
	bool found = !f;

	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%*d %*d %u:%u ", &major, &minor) == 2 && (major << 20 | minor) == dev;
	if (f)
		fclose(f);
	return found;
}

/* The same for an inotify descriptor: what it watches in the test's own environment only the test changes. */
static enum wait_kind inotify_wait_kind(struct world_task *t, int fd)
{
	enum wait_kind kind = WAIT_INSIDE;
	FILE *f = proc_fdinfo(t->pid, fd);
	unsigned int dev;
	char line[512];

	if (!f)
		return WAIT_UNKNOWN;
	while (kind == WAIT_INSIDE && fgets(line, sizeof(line), f))
		if (sscanf(line, "inotify wd:%*x ino:%*x sdev:%x", &dev) == 1 && is_mounted_here(dev))
			kind = WAIT_UNKNOWN;
	fclose(f);
	return kind;
}

int kworld_copy_fd(int pid, int fd)
{
	int pidfd = syscall(SYS_pidfd_open, pid, PIDFD_THREAD), copy;

	if (pidfd < 0)
		return -errno;
	copy = syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	if (copy < 0)
		copy = -errno;
	close(pidfd);
	return copy;
}

/* What is at the other end of a socket. Of a socket of the test's own network, which *network says: only the test. */
static enum wait_kind socket_wait(const struct kworld *k, int pid, int fd, bool *network)
{
	int copy = kworld_copy_fd(pid, fd), family = -1, protocol = -1;
	socklen_t len = sizeof(family);

	if (copy < 0)
		return WAIT_UNKNOWN;
	if (getsockopt(copy, SOL_SOCKET, SO_DOMAIN, &family, &len) ||
	    getsockopt(copy, SOL_SOCKET, SO_PROTOCOL, &protocol, &len))
		family = -1;
	close(copy);
	if (family == AF_UNIX)
		return WAIT_INSIDE;
	if ((family != AF_INET && family != AF_INET6) || !sandbox_net_closed(k->o.sandbox) ||
	    (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP && protocol != IPPROTO_MPTCP))
		return WAIT_UNKNOWN;
	*network = true;
	return WAIT_INSIDE;
}

static enum wait_kind fd_wait(struct kworld *k, struct world_task *t, int fd)
{
	char link[64], path[64];
	struct stat st;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", t->pid, fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return WAIT_UNKNOWN;
	path[n] = 0;
	if (!strncmp(path, "pipe:", 5) || !strcmp(path, "anon_inode:[eventfd]") ||
	    !strcmp(path, "anon_inode:[signalfd]") || !strcmp(path, "anon_inode:[pidfd]") ||
	    !strncmp(path, "pidfd:", 6))
		return WAIT_INSIDE;
	/* one that has a name others can open where they see its file system */
	if (!stat(link, &st) && S_ISFIFO(st.st_mode))
		return is_mounted_here(kernel_dev(st.st_dev)) ? WAIT_UNKNOWN : WAIT_INSIDE;
	if (!strcmp(path, "anon_inode:[timerfd]"))
		return WAIT_TIMED;
	if (!strcmp(path, "anon_inode:[eventpoll]"))
		return epoll_wait_kind(k, t, fd);
	if (!strcmp(path, "anon_inode:inotify") || !strcmp(path, "anon_inode:[inotify]"))
		return inotify_wait_kind(t, fd);
	return strncmp(path, "socket:", 7) ? WAIT_UNKNOWN : socket_wait(k, t->pid, fd, &t->network);
}

/* The same for poll() and ppoll(): for all their descriptors. */
static enum wait_kind poll_wait(struct kworld *k, struct world_task *t, uint64_t addr, uint64_t nr)
{
	struct pollfd fds[64];
	enum wait_kind worst = WAIT_INSIDE, w;

	if (!nr)
		return WAIT_INSIDE;	/* for a signal */
	if (nr > 64 || !remote_read(t->pid, addr, fds, nr * sizeof(fds[0])))
		return WAIT_UNKNOWN;
	for (uint64_t i = 0; i < nr; i++) {
		if (fds[i].fd < 0)
			continue;
		w = fd_wait(k, t, fds[i].fd);
		if (w == WAIT_UNKNOWN || (w == WAIT_TIMED && worst == WAIT_INSIDE))
			worst = w;
	}
	return worst;
}

/* The same for select() and pselect6(); sets: the addresses of the three. */
static enum wait_kind select_wait(struct kworld *k, struct world_task *t, uint64_t nr, const uint64_t *sets)
{
	enum wait_kind worst = WAIT_INSIDE, w;

	for (int s = 0; s < 3; s++) {
		fd_set set;

		if (!sets[s])
			continue;
		if (nr > FD_SETSIZE || !remote_read(t->pid, sets[s], &set, (nr + 63) / 64 * 8))
			return WAIT_UNKNOWN;
		for (uint64_t fd = 0; fd < nr; fd++) {
			if (!FD_ISSET(fd, &set))
				continue;
			w = fd_wait(k, t, fd);
			if (w == WAIT_UNKNOWN || (w == WAIT_TIMED && worst == WAIT_INSIDE))
				worst = w;
		}
	}
	return worst;
}

/* True when it is blocked inside the primitive that its label names, and not in something it did after that. */
static bool inside_label(const struct world_task *t, const struct ktask *kt, const struct zug_event *e)
{
	if (e->nr != SYS_futex)
		return false;
	/* no primitive is longer than 64 bytes */
	return t->label.op == ZUG_OP_JOIN || (e->flags & ZUG_EF_INSIDE) ||
	       (kt->lock && e->arg[0] - kt->lock < (kt->libc == SYMLIBC_RUST ? ZUG_SMALL_LOCK : 64)) ||
	       (kt->mutex && e->arg[0] - kt->mutex < 64);
}

/*
 * So the threads of Go's runtime wait for goroutines, and no goroutine for its own time. One that sleeps for less than this
 * will take a goroutine that another thread could execute, if that has not done so by then.
 */
#define GO_STEALS_NS	20000

static void describe_go(struct kworld *k, struct world_task *t, const struct zug_event *e)
{
	if (!t->deadline || (e->nr != SYS_futex && e->nr != SYS_nanosleep) || !kworld_is_go(k, t->process))
		return;
	t->for_turn = t->own_time = true;
	t->any_time = e->nr == SYS_nanosleep && t->deadline < kworld_state(k)->clock + GO_STEALS_NS;
}

/* The child whose end that call waits for; WORLD_NO_TASK: one of several. */
static uint32_t child_waited_for(struct kworld *k, const struct zug_event *e)
{
	int pid = e->nr == SYS_wait4 ? (int)e->arg[0] : e->arg[0] == P_PID ? (int)e->arg[1] : -1;

	return pid > 0 ? kworld_task_of_tid(&k->w, pid) : WORLD_NO_TASK;
}

void kworld_describe_wait(struct kworld *k, struct world_task *t, const struct zug_event *e)
{
	const struct syscall_desc *d = syscall_desc(e->nr);
	const struct place_object *o = NULL, *second = NULL;
	uint32_t child;
	/* the C library makes semop() of semtimedop() */
	const char *name = d && d->op == ZUG_OP_SEMOP ? zug_op_name(d->op) : syscall_name(e->nr);

	t->wait = WAIT_UNKNOWN;
	t->outside = t->network = false;
	t->for_turn = e->nr == SYS_futex && kworld_is_interpreters(k, t, e->arg[0]);
	/* a task that waits for it with a time-out asks for it then, when another one has had it for so long */
	t->any_time = t->for_turn && t->deadline && !k->kt[t->task].asked_for_turn;
	/* to ask again early changes nothing, and could go on for ever while the other one is held */
	t->own_time = t->for_turn && t->deadline;
	describe_go(k, t, e);
	t->begins = e->nr == SYS_futex && kworld_begins(k, t);
	/* a point that was passed before the search began made no event */
	if (kworld_state(k)->quiet || (!inside_label(t, &k->kt[t->task], e) && !(d && t->label.op == d->op))) {
		t->label = (struct zug_label){ .op = d ? d->op : ZUG_OP_NONE };
		k->kt[t->task].lock = k->kt[t->task].mutex = 0;
	}
	if (e->flags & ZUG_EF_STOPPED) {
		snprintf(t->where, sizeof(t->where), "stopped by a signal");
		t->wait = WAIT_INSIDE;
		return;
	}
	if (e->flags & ZUG_EF_VFORK) {
		snprintf(t->where, sizeof(t->where), "vfork: its child has not exec'd yet");
		t->wait = WAIT_INSIDE;
		return;
	}
	/* the opener waits for the other end of a FIFO */
	if (d && (d->op == ZUG_OP_WAITPID || d->op == ZUG_OP_SIGNAL_WAIT || d->op == ZUG_OP_FLOCK ||
			 d->op == ZUG_OP_OPEN || d->sysv || !strcmp(d->name, "futex") || !strncmp(d->name, "mq_", 3))) {
		t->wait = WAIT_INSIDE;
	} else if (d && e->flags & ZUG_EF_OBJECT && e->flags & ZUG_EF_LEASED) {
		/* others have gone on since, but not where it is anything else: waits_inside() of the kernel side */
		t->wait = WAIT_INSIDE;
		t->network = S_ISSOCK(e->obj.mode) && e->obj.offset != AF_UNIX;
	} else if (d && (e->flags & ZUG_EF_OBJECT)) {
		t->wait = fd_wait(k, t, (int)e->arg[0]);
	} else if (d && d->op == ZUG_OP_POLL && !strncmp(d->name, "epoll", 5)) {
		t->wait = epoll_wait_kind(k, t, (int)e->arg[0]);
	} else if (d && d->op == ZUG_OP_POLL && strstr(d->name, "select")) {
		t->wait = select_wait(k, t, e->arg[0], (const uint64_t *)&e->arg[1]);
	} else if (d && d->op == ZUG_OP_POLL) {
		t->wait = poll_wait(k, t, e->arg[0], e->arg[1]);
	}
	if (d && d->op == ZUG_OP_SLEEP)
		t->wait = WAIT_INSIDE;
	t->outside = t->wait == WAIT_UNKNOWN;
	/* a timer that is not set never fires, and one that is set is fired by zugzwang */
	if (kworld_virtual(k) && t->wait == WAIT_TIMED)
		t->wait = WAIT_INSIDE;
	/* with virtual time only a time-out that has an end has a deadline, and timers are known otherwise */
	if (t->deadline || (!kworld_virtual(k) && (e->flags & (ZUG_EF_TIMED | ZUG_EF_TIMER))))
		t->wait = WAIT_TIMED;
	if (d && d->sysv) {
		o = places_find_object(k->o.places, t->label.object);
	} else if (d && d->wait_fd && (e->flags & ZUG_EF_OBJECT)) {
		uint64_t id = places_object(k->o.places, t->process, t->task, e->pid, &e->obj,
					    (int)e->arg[0], d->op);

		o = places_find_object(k->o.places, id);
		t->label.object = id;
	} else if (d && (d->op == ZUG_OP_OPEN || d->op == ZUG_OP_POLL) && t->label.op == d->op) {
		/* a FIFO; one or two descriptors */
		o = places_find_object(k->o.places, t->label.object);
		second = d->op == ZUG_OP_POLL && o ? places_find_object(k->o.places, t->label.object2) : NULL;
	}
	child = d && d->op == ZUG_OP_WAITPID ? child_waited_for(k, e) : WORLD_NO_TASK;
	if (child != WORLD_NO_TASK)
		snprintf(t->where, sizeof(t->where), "%s for T%u", name, child);
	else if (e->nr < 0)
		snprintf(t->where, sizeof(t->where), "in the kernel");
	else
		snprintf(t->where, sizeof(t->where), "%s%s%s%s%s%s", name, o && o->name ? " " : "",
			 o && o->name ? o->name : "", second && second->name ? " and " : "",
			 second && second->name ? second->name : "",
			 e->flags & ZUG_EF_TIMED ? " (timed)" : "");
}

/* True when a connection in the kernel's list waits for an answer that a timer would ask for again. */
static bool unanswered(int pid, const char *list)
{
	char path[64], line[256];
	unsigned int timer;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", pid, list);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		/* number, two addresses, state, queues, kind of timer */
		found = sscanf(line, "%*d: %*s %*s %*x %*x:%*x %x:", &timer) == 1 && timer == 1;
	if (f)
		fclose(f);
	return found;
}

bool kworld_in_flight(struct world *w)
{
	for (uint32_t i = 0; i < w->nr_tasks; i++) {
		const struct world_task *t = &w->tasks[i];

		/* there is one network: every task that waits for it shows all of it */
		if (t->state == TASK_BLOCKED && t->network)
			return unanswered(t->pid, "tcp") || unanswered(t->pid, "tcp6");
	}
	return false;
}
