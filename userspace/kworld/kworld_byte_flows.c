/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Byte flows between tasks, as the search wants them: fewer bytes at once, or bytes that come late, are lost or overtaken.
 *
 * The kernel offers no way to change what a call is asked for, or what it answers, from outside. So a security hook
 * refuses the call (bpf/faults.bpf.h), with an error that no program ever sees: on its way out the task is stopped by
 * ptrace, as for a time-out, and its call is made here, with a copy of its descriptor, which is the same open file. Then
 * it gets the answer of a kernel that did just that.
 *
 * Only what cannot make it wait is done so: a read where there are bytes, a write where there is room.
 */
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>
#include "engine/faults.h"
#include "lib/base/array.h"
#include "kworld/kworld_internal.h"
#include "kernel/syscalls.h"

/* The error of a call that is made here: none of the kernel's own. */
#define REFUSED 4000
#define MAX_PARTS 64
/* So many bytes fit wherever poll() says that there is room at all. */
#define MAX_WRITE PIPE_BUF
#define MAX_DATAGRAM 65507
#define NS_PER_MS 1000000ull
/* So long an overtaken datagram waits for the next one. */
#define OVERTAKEN_MS 10000

static bool is_read(int nr)
{
	return nr == SYS_read || nr == SYS_readv || nr == SYS_recvfrom || nr == SYS_recvmsg;
}

static bool is_write(int nr)
{
	return nr == SYS_write || nr == SYS_writev || nr == SYS_sendto || nr == SYS_sendmsg;
}

/* The descriptor of a call, and what is at its other end. */
struct channel {
	int fd;		/* a copy */
	bool pipe, stream, datagram;
};

static bool channel_open(struct channel *c, const struct world_task *t, const struct ktask *kt)
{
	int type = 0, domain = 0, protocol = 0;
	socklen_t len = sizeof(int);

	memset(c, 0, sizeof(*c));
	if (!S_ISFIFO(kt->call_mode) && !S_ISSOCK(kt->call_mode))
		return false;
	c->fd = kworld_copy_fd(t->pid, (int)kt->call_args[0]);
	if (c->fd < 0)
		return false;
	if (S_ISFIFO(kt->call_mode)) {
		c->pipe = c->stream = true;
		return true;
	}
	if (!getsockopt(c->fd, SOL_SOCKET, SO_TYPE, &type, &len) &&
	    !getsockopt(c->fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) &&
	    !getsockopt(c->fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len)) {
		c->stream = type == SOCK_STREAM;
		c->datagram = type == SOCK_DGRAM && (domain == AF_INET || domain == AF_INET6) &&
			      protocol == IPPROTO_UDP;
	}
	if (c->stream || c->datagram)
		return true;
	close(c->fd);
	return false;
}

/* Where the bytes of a call lie in its task: the number of parts, or -errno. *m: of sendmsg() and recvmsg(). */
static int parts_of(int pid, int nr, const uint64_t *a, struct iovec *part, struct msghdr *m)
{
	uint64_t vec = a[1], n = a[2];

	memset(m, 0, sizeof(*m));
	switch (nr) {
	case SYS_sendmsg:
	case SYS_recvmsg:
		if (!remote_read(pid, a[1], m, sizeof(*m)))
			return -EFAULT;
		/* descriptors and the like stay the kernel's */
		if (m->msg_controllen)
			return -EOPNOTSUPP;
		vec = (uint64_t)m->msg_iov;
		n = m->msg_iovlen;
		break;
	case SYS_readv:
	case SYS_writev:
		break;
	default:
		part[0] = (struct iovec){ (void *)a[1], a[2] };
		return 1;
	}
	if (!n || n > MAX_PARTS)
		return -E2BIG;
	return remote_read(pid, vec, part, n * sizeof(*part)) ? (int)n : -EFAULT;
}

static uint64_t total_of(const struct iovec *part, int nr)
{
	uint64_t sum = 0;

	for (int i = 0; i < nr; i++)
		sum += part[i].iov_len < INT_MAX ? part[i].iov_len : INT_MAX;
	return sum;
}

/* The flags of a call. */
static unsigned int flags_of(int nr, const uint64_t *a)
{
	return nr == SYS_sendto || nr == SYS_recvfrom ? a[3] : nr == SYS_sendmsg || nr == SYS_recvmsg ? a[2] : 0;
}

static bool has_room(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 0) == 1 && p.revents == POLLOUT;
}

/* The number of a socket or pipe, which the kernel numbers together; 0: unknown. */
static uint64_t inode_of(int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) ? st.st_ino : 0;
}

static uint32_t reads_short(const struct kworld *k, struct ktask *kt, const struct channel *c, uint64_t total)
{
	uint32_t mask = 1u << FLOW_SHORT_READ;
	int there = 0;

	if (!c->stream || ioctl(c->fd, FIONREAD, &there) || there < 2 || total < 2)
		return 0;
	kt->flow_most = ((uint64_t)there < total ? (uint64_t)there : total) - 1;
	if (c->pipe && k->run.input && inode_of(c->fd) == k->run.input)
		mask |= 1u << FLOW_STDIN;
	return mask;
}

static uint32_t writes(struct kworld *k, struct ktask *kt, const struct channel *c, uint64_t total)
{
	uint32_t mask = 0;

	if (!total || !has_room(c->fd))
		return 0;
	if (c->datagram && total <= MAX_DATAGRAM)
		mask = 1u << FLOW_LOSS | 1u << FLOW_REORDER | 1u << FLOW_DELAY;
	if (c->stream && total <= MAX_WRITE)
		mask = 1u << FLOW_DELAY;
	if (!kworld_virtual(k))
		mask &= 1u << FLOW_LOSS;
	/* what goes into a pipe at once is never torn */
	if (c->stream && total > (c->pipe ? PIPE_BUF : 1)) {
		kt->flow_most = total - 1 < MAX_WRITE ? total - 1 : MAX_WRITE;
		mask |= 1u << FLOW_SHORT_WRITE;
	}
	return mask;
}

uint32_t kworld_flows(struct kworld *k, const struct world_task *t, uint32_t wanted)
{
	struct ktask *kt = &k->kt[t->task];
	struct iovec part[MAX_PARTS];
	struct channel c;
	struct msghdr m;
	uint32_t mask;
	int nr;

	kt->flow_most = 0;
	if (!(wanted & FLOWS) || (!is_read(kt->call_nr) && !is_write(kt->call_nr)) ||
	    flags_of(kt->call_nr, kt->call_args) & ~(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_CMSG_CLOEXEC))
		return 0;
	nr = parts_of(t->pid, kt->call_nr, kt->call_args, part, &m);
	if (nr < 0 || !channel_open(&c, t, kt))
		return 0;
	mask = is_read(kt->call_nr) ? reads_short(k, kt, &c, total_of(part, nr)) :
				      writes(k, kt, &c, total_of(part, nr));
	close(c.fd);
	/* a signal would be taken between the call and what is done for it */
	return mask && kworld_has_signal(k, t->pid) ? 0 : mask & wanted;
}

unsigned int kworld_flow_amounts(const struct kworld *k, const struct world_task *t, int flow, uint32_t *amounts)
{
	uint32_t most = k->kt[t->task].flow_most;
	unsigned int n = 0;

	switch (flow) {
	case FLOW_DELAY:
		/* less, and more, than programs usually wait */
		amounts[0] = 10;
		amounts[1] = 10000;
		return 2;
	case FLOW_SHORT_READ:
	case FLOW_SHORT_WRITE:
	case FLOW_STDIN:
		amounts[n++] = 1;
		if (most > 2)
			amounts[n++] = (most + 1) / 2;
		if (most > 1)
			amounts[n++] = most;
		return n;
	}
	return 0;
}

/* ---- a call is made for its task ---- */

struct flow_call {
	struct kworld *k;
	int fault;
	uint32_t amount;	/* bytes; of a delay: ms */
	bool done;
	uint32_t moved;		/* bytes */
};

/* The first len bytes of the parts, from the task (*buf: malloc'd) or to it. */
static bool copy_parts(int pid, const struct iovec *part, int nr, uint8_t *buf, size_t len, bool to_task)
{
	for (int i = 0; i < nr && len; i++) {
		size_t n = part[i].iov_len < len ? part[i].iov_len : len;

		if (n && !(to_task ? remote_write(pid, (uint64_t)part[i].iov_base, buf, n) :
				     remote_read(pid, (uint64_t)part[i].iov_base, buf, n)))
			return false;
		buf += n;
		len -= n;
	}
	return !len;
}

/* The address that it goes to: its length; 0: none. */
static socklen_t read_address(int pid, int nr, const struct user_regs_struct *r, const struct msghdr *m,
			      struct sockaddr_storage *to)
{
	uint64_t addr = nr == SYS_sendto ? r->r8 : nr == SYS_sendmsg ? (uint64_t)m->msg_name : 0;
	uint64_t len = nr == SYS_sendto ? r->r9 : m->msg_namelen;

	if (!addr || !len || len > sizeof(*to) || !remote_read(pid, addr, to, len))
		return 0;
	return len;
}

static ssize_t put_out(int fd, bool pipe, const void *buf, size_t len, const struct sockaddr_storage *to,
		       socklen_t tolen)
{
	struct iovec v = { (void *)buf, len };
	ssize_t n;

	if (pipe) {
		n = pwritev2(fd, &v, 1, -1, RWF_NOWAIT);
		/* a pipe with a name does not know that; there is room in it */
		return n < 0 && errno == EOPNOTSUPP ? write(fd, buf, len) : n;
	}
	return sendto(fd, buf, len, MSG_NOSIGNAL | MSG_DONTWAIT, tolen ? (const struct sockaddr *)to : NULL, tolen);
}

/* A stream gives nothing but bytes: the call is told that there is no sender's address and no flag. */
static void tell_nothing_more(int pid, int nr, const struct user_regs_struct *r, const struct msghdr *m)
{
	struct msghdr out = *m;
	uint32_t none = 0;

	if (nr == SYS_recvfrom && r->r8 && r->r9)
		remote_write(pid, r->r9, &none, sizeof(none));
	if (nr != SYS_recvmsg)
		return;
	out.msg_namelen = 0;
	out.msg_flags = 0;
	remote_write(pid, r->rsi, &out, sizeof(out));
}

static ssize_t take_in(int pid, int nr, const struct user_regs_struct *r, const struct channel *c,
		       const struct msghdr *m, const struct iovec *part, int nr_part, uint8_t *buf, size_t len)
{
	struct iovec v = { buf, len };
	ssize_t n = c->pipe ? preadv2(c->fd, &v, 1, -1, RWF_NOWAIT) : recv(c->fd, buf, len, MSG_DONTWAIT);

	/* as in put_out() */
	if (c->pipe && n < 0 && errno == EOPNOTSUPP)
		n = read(c->fd, buf, len);
	if (n <= 0)
		return -1;
	tell_nothing_more(pid, nr, r, m);
	return copy_parts(pid, part, nr_part, buf, n, true) ? n : -EFAULT;
}

static bool hold(struct kworld *k, const struct flow_call *f, struct channel *c, uint32_t task, uint8_t *buf,
		 size_t len, const struct sockaddr_storage *to, socklen_t tolen)
{
	struct flows *fl = &k->flows;
	struct flow_message *l;

	if (!ARRAY_RESERVE(fl->list, fl->room, fl->nr + 1))
		return false;
	l = &fl->list[fl->nr++];
	*l = (struct flow_message){
		.fd = c->fd, .pipe = c->pipe, .datagram = c->datagram, .overtaken = f->fault == FLOW_REORDER,
		.ino = inode_of(c->fd), .bytes = buf, .len = len, .to = *to, .tolen = tolen, .task = task,
	};
	l->due = kworld_state(k)->clock + (l->overtaken ? OVERTAKEN_MS : f->amount) * NS_PER_MS;
	c->fd = -1;
	return true;
}

/* The call of task n was refused, and the task is stopped: makes the call for it. */
static void make_call(struct kworld *k, uint32_t n, struct user_regs_struct *r, void *arg)
{
	struct sockaddr_storage to = { 0 };
	struct ktask *kt = &k->kt[n];
	const struct world_task *t = &k->w.tasks[n];
	struct flow_call *f = arg;
	struct iovec part[MAX_PARTS];
	struct channel c = { .fd = -1 };
	struct msghdr m;
	bool whole = f->fault == FLOW_LOSS || f->fault == FLOW_REORDER || f->fault == FLOW_DELAY;
	uint8_t *buf = NULL;
	int nr = parts_of(t->pid, kt->call_nr, kt->call_args, part, &m);
	uint64_t len = whole && nr > 0 ? total_of(part, nr) : f->amount;
	socklen_t tolen;
	ssize_t done = -1;

	/* the call came to its end before the hook: it is made */
	if ((long)r->rax != -REFUSED)
		return;
	if (nr > 0 && len && channel_open(&c, t, kt) && (buf = malloc(len))) {
		tolen = read_address(t->pid, kt->call_nr, r, &m, &to);
		if (is_read(kt->call_nr))
			done = take_in(t->pid, kt->call_nr, r, &c, &m, part, nr, buf, len);
		else if (!copy_parts(t->pid, part, nr, buf, len, false))
			done = -1;
		else if (f->fault == FLOW_SHORT_WRITE)
			done = put_out(c.fd, c.pipe, buf, len, &to, c.pipe ? 0 : tolen);
		else if (f->fault == FLOW_LOSS)
			done = len;
		else if (hold(k, f, &c, n, buf, len, &to, tolen)) {
			buf = NULL;
			done = len;
		}
	}
	free(buf);
	if (c.fd >= 0)
		close(c.fd);
	if (done > 0 || done == -EFAULT) {
		f->done = done > 0;
		f->moved = done > 0 ? done : 0;
		r->rax = done;
	} else {
		/* the task makes its call once more, as it would have */
		kernel_ctl(k->o.kernel, &(struct zug_ctl){ .cmd = ZUG_CMD_AGAIN, .pid = t->pid });
		r->rax = kt->call_nr;
		r->rip -= 2;	/* the length of the instruction `syscall` */
	}
	r->orig_rax = -1;	/* nothing to restart */
}

/* The tasks that the bytes have woken were woken by the task whose bytes they are. */
static int own_wakes(struct kworld *k, uint32_t kid)
{
	int ret;

	k->run.wakes_for = kid;
	do
		ret = kworld_pump(k);
	while (ret > 0);
	k->run.wakes_for = 0;
	return ret;
}

int kworld_flow(struct kworld *k, struct world_task *t, int fault, uint32_t amount)
{
	struct zug_ctl c = { .cmd = ZUG_CMD_FAULT, .pid = t->pid, .fault = REFUSED };
	struct flow_call f = { .k = k, .fault = fault, .amount = amount };
	int ret = kernel_ctl(k->o.kernel, &c);
	uint32_t n = t->task;

	if (ret)
		return ret;
	ret = kworld_take_out(k, n, true, make_call, &f);
	if (!ret)
		ret = own_wakes(k, k->kt[n].kid);
	if (ret)
		return ret;
	if (!f.done)
		return WORLD_FAULT_MISSED;
	if (amount) {
		bool ms = fault == FLOW_DELAY;
		char text[32];

		amount = ms ? amount : f.moved;
		snprintf(text, sizeof(text), "%u %s", amount, ms ? "ms" : amount == 1 ? "byte" : "bytes");
		t = &k->w.tasks[n];
		t->label.object2 = fault_amount_id(ms ? FAULT_MS : FAULT_BYTES, n, amount);
		places_named(k->o.places, t->label.object2, "amount", text);
	}
	return 0;
}

/* ---- what is on its way ---- */

void kworld_flows_reset(struct kworld *k)
{
	for (uint32_t i = 0; i < k->flows.nr; i++) {
		close(k->flows.list[i].fd);
		free(k->flows.list[i].bytes);
	}
	k->flows.nr = 0;
}

void kworld_flows_free(struct kworld *k)
{
	kworld_flows_reset(k);
	free(k->flows.list);
}

uint64_t kworld_flows_next(const struct kworld *k)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < k->flows.nr; i++)
		if (k->flows.list[i].due < next)
			next = k->flows.list[i].due;
	return next;
}

int kworld_flows_deliver(struct kworld *k)
{
	struct world_event ev = { .kind = WORLD_MESSAGE, .task = WORLD_NO_TASK, .waker = WORLD_NO_TASK };
	uint64_t next = kworld_flows_next(k);
	struct flow_message m;
	uint32_t i = 0;
	int error;
	ssize_t n;

	if (next == UINT64_MAX)
		return -ENOENT;
	while (k->flows.list[i].due != next)
		i++;
	m = k->flows.list[i];
	k->flows.nr--;
	memmove(&k->flows.list[i], &k->flows.list[i + 1], (k->flows.nr - i) * sizeof(m));
	/* where no receiver is left its sender does not learn of that, as in any network */
	n = put_out(m.fd, m.pipe, m.bytes, m.len, &m.to, m.tolen);
	error = errno;
	if (k->debug)
		fprintf(stderr, "DELIVER %zu bytes of T%u: %zd\n", m.len, m.task, n);
	snprintf(ev.text, sizeof(ev.text), "%zu byte%s of T%u arrive%s%s", m.len, m.len == 1 ? "" : "s", m.task,
		 m.len == 1 ? "s" : "", n < 0 ? ", but no task takes them" : "");
	kworld_tell(k, &ev);
	own_wakes(k, k->kt[m.task].kid);
	close(m.fd);
	free(m.bytes);
	return n < 0 ? -error : 0;
}

/* True of calls that send something after what is on its way. */
static bool follows(int nr)
{
	return is_write(nr) || nr == SYS_sendmmsg || nr == SYS_sendfile || nr == SYS_splice || nr == SYS_tee ||
	       nr == SYS_shutdown;
}

void kworld_flows_event(struct kworld *k, const struct world_task *t, const struct zug_event *e)
{
	const struct syscall_desc *d = e->kind == ZUG_EV_SYSCALL && follows(e->nr) ? syscall_desc(e->nr) : NULL;
	uint32_t kid = k->kt[t->task].kid;
	uint64_t ino = 0;
	int fd;

	if (d && d->fd_arg) {
		fd = kworld_copy_fd(t->pid, (int)e->arg[(d->fd_arg - 1) & 3]);
		ino = inode_of(fd);
		if (fd >= 0)
			close(fd);
	}
	for (uint32_t i = 0; i < k->flows.nr; i++) {
		struct flow_message *m = &k->flows.list[i];

		/* the datagram after it is on its way */
		if (m->overtaken && m->overtaker == kid)
			m->due = 0;
		else if (ino && ino == m->ino && m->overtaken)
			m->overtaker = kid;
		else if (ino && ino == m->ino && !m->datagram)
			m->due = 0;	/* a stream keeps its order */
	}
}
