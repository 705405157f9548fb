/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gdb.c - the replay's side of gdb: when it stops, and what a task needs to be stopped
 *
 * Read gdb.h first. The engine calls on_granting() before each turn: there the replay stops at
 * steps, and prepare() seizes the task that gets the turn. It calls on_running() while a task has
 * the turn: there ptrace stops are seen (on_stop()) and Ctrl-C. Each stop ends in report_stop(),
 * which serves gdb's requests (gdb_requests.c) until gdb lets the replay go on.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "lib/base/new_file.h"
#include "lib/base/proc_status.h"
#include "debug/gdb_internal.h"

static struct gdb *of(struct debugger *d)
{
	return (struct gdb *)d;
}

/* gdb's own numbers of signals, the same on all systems; by Linux's number. */
static const uint8_t signals[32] = { 0, 1, 2, 3, 4, 5, 6, 10, 8, 9, 30, 11, 31, 13, 14, 15, 0, 20, 19, 17, 18, 21, 22,
				     16, 24, 25, 26, 27, 28, 23, 32, 12 };

static int gdb_number(int linux_signal)
{
	if (linux_signal >= 32)
		return linux_signal == 32 ? 77 : linux_signal < 64 ? linux_signal - 33 + 45 : 78;
	return linux_signal > 0 && signals[linux_signal] ? signals[linux_signal] : 143 /* unknown */;
}

int gdb_signal_to_linux(int number)
{
	for (int i = 1; i < 65; i++)
		if (gdb_number(i) == number)
			return i;
	return 0;
}

/* ---- which steps ---- */

uint64_t gdb_preemption_step(const struct trace *t, uint64_t from)
{
	for (uint64_t i = from; i < trace_nr_steps(t); i++)
		if (trace_step(t, i)->flags & TRACE_STEP_PREEMPTION)
			return i;
	return GDB_NO_STEP;
}

uint64_t gdb_failure_step(const struct trace *t)
{
	return trace_nr_steps(t) ? trace_nr_steps(t) - 1 : GDB_NO_STEP;
}

/* ---- tasks ---- */

bool gdb_shows(const struct gdb *g, uint32_t task)
{
	const struct world_task *t = task < g->w->nr_tasks ? &g->w->tasks[task] : NULL;

	return t && t->process == g->process && world_lives(t);
}

static uint32_t any_task(const struct gdb *g)
{
	for (uint32_t i = 0; i < g->w->nr_tasks; i++)
		if (gdb_shows(g, i))
			return i;
	return WORLD_NO_TASK;
}

const char *gdb_thread_id(const struct gdb *g, uint32_t task, char buf[32])
{
	const struct world_task *t = &g->w->tasks[task];

	snprintf(buf, 32, "p%x.%x", t->tgid, t->pid);
	return buf;
}

pid_t gdb_memory_tid(const struct gdb *g)
{
	uint32_t task = any_task(g);

	return task == WORLD_NO_TASK ? 0 : g->w->tasks[task].pid;
}

static bool room(struct gdb *g)
{
	if (!ARRAY_RESERVE_ZERO(g->tasks, g->tasks_room, g->w->nr_tasks))
		return false;
	if (g->nr_tasks < g->w->nr_tasks)
		g->nr_tasks = g->w->nr_tasks;
	return true;
}

/* Of a task that ptrace has not stopped. *at_probe: it is parked before a probed instruction. 0 or -errno. */
static int parked_registers(struct gdb *g, uint32_t task, uint64_t dwarf[18], bool *at_probe)
{
	const struct world_task *t = &g->w->tasks[task];
	uint8_t byte;
	int ret = g->w->inspection->registers(g->w, t, dwarf);

	*at_probe = !ret && t->state == TASK_PARKED && g->w->inspection->unprobe(g->w, t, dwarf[16] - 1, &byte, 1);
	/* the kernel has not put the counter back yet */
	dwarf[16] -= *at_probe;
	return ret;
}

int gdb_registers(struct gdb *g, uint32_t task, uint8_t regs[TRACEE_REGS_SIZE], uint8_t known[TRACEE_REGS_SIZE])
{
	const struct world_task *t = &g->w->tasks[task];
	uint64_t dwarf[18];
	bool at_probe;
	int ret;

	if (task == g->stopped) {
		memset(known, 1, TRACEE_REGS_SIZE);
		return tracee_get_registers(t->pid, regs);
	}
	ret = parked_registers(g, task, dwarf, &at_probe);
	if (ret)
		return ret;
	tracee_pack_registers(dwarf, regs, known);
	return 0;
}

int gdb_read(struct gdb *g, uint64_t addr, void *buf, size_t len)
{
	uint32_t task = any_task(g);
	ssize_t n;

	if (task == WORLD_NO_TASK)
		return -ESRCH;
	n = tracee_read(g->w->tasks[task].pid, addr, buf, len);
	if (n <= 0)
		return n ? n : -EFAULT;
	for (size_t i = 0; i < g->nr_breakpoints; i++) {
		const struct gdb_breakpoint *b = &g->breakpoints[i];

		if (!b->probed && b->addr >= addr && b->addr - addr < (size_t)n)
			((uint8_t *)buf)[b->addr - addr] = b->byte;
	}
	g->w->inspection->unprobe(g->w, &g->w->tasks[task], addr, buf, n);
	return n;
}

/* ---- stops ---- */

/* Prints on gdb's console; allowed only between a request to go on and the next stop. */
__attribute__((format(printf, 2, 3)))
static void say(struct gdb *g, const char *fmt, ...)
{
	char text[600], out[2 * sizeof(text) + 2] = "O";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	rsp_hex(out + 1, text, strlen(text));
	rsp_send(&g->rsp, out);
}

/* Tells gdb that the task has stopped, and serves. */
static void report_stop(struct gdb *g, uint32_t task, int signal, const char *why)
{
	char id[32];

	g->current = g->selected = task;
	if (g->step == task)
		g->step = WORLD_NO_TASK;
	g->interrupt = false;
	snprintf(g->reply, sizeof(g->reply), "T%02x%sthread:%s;", signal, why, gdb_thread_id(g, task, id));
	if (rsp_send(&g->rsp, g->reply))
		gdb_leave(g);
	else
		gdb_serve(g);
}

/* ---- watchpoints ---- */

int gdb_set_watches(struct gdb *g, uint32_t task)
{
	struct gdb_task *t = &g->tasks[task];
	int ret;

	if (t->watches_serial == g->watches_serial)
		return 0;
	ret = tracee_set_watches(g->w->tasks[task].pid, g->watches, &t->watches);
	t->watches_serial = ret ? 0 : g->watches_serial;
	return ret;
}

static bool any_watch(const struct gdb *g)
{
	for (int i = 0; i < TRACEE_WATCHES; i++)
		if (g->watches[i].len)
			return true;
	return false;
}

static int watch_touched(const struct gdb *g, const struct world_access *a)
{
	for (int i = 0; i < TRACEE_WATCHES; i++) {
		const struct tracee_watch *w = &g->watches[i];

		if (w->len && w->kind != TRACEE_WATCH_EXECUTE && (a->write || w->kind == TRACEE_WATCH_ACCESS) &&
		    a->addr < w->addr + w->len && w->addr < a->addr + a->size)
			return i;
	}
	return -1;
}

enum touch {
	TOUCH_NOTHING,
	TOUCH_WATCH,		/* perhaps; hit says which one, -1: it cannot be told */
	TOUCH_POINT,		/* the same, and a point of the replay (--watch) comes behind it */
};

/* What the instruction at regs[16] does. gdb looks itself whether a value has changed. */
static enum touch touches(struct gdb *g, uint32_t task, const uint64_t regs[18], int *hit)
{
	const struct world_inspection *in = g->w->inspection;
	struct world_access a[8];
	uint8_t code[16];
	int n = gdb_read(g, regs[16], code, sizeof(code)), nr = n > 0 ? in->memory(regs, code, n, a, 8) : -ENOENT;

	bool point = false;

	*hit = -1;
	for (int i = 0; i < nr; i++) {
		point |= in->watched(g->w, &g->w->tasks[task], a[i].addr, a[i].size);
		if (*hit < 0)
			*hit = watch_touched(g, &a[i]);
	}
	for (int i = 0; i < TRACEE_WATCHES && nr < 0 && *hit < 0; i++)
		if (g->watches[i].len && g->watches[i].kind == TRACEE_WATCH_WRITE)
			*hit = i;
	return point ? TOUCH_POINT : nr < 0 || *hit >= 0 ? TOUCH_WATCH : TOUCH_NOTHING;
}

/* Its watchpoints are off until it stops again, which is behind one instruction. */
static void unwatch(struct gdb *g, uint32_t task, int hit)
{
	g->tasks[task].unwatched = true;
	g->tasks[task].hit = hit;
	tracee_pause_watches(&g->tasks[task].watches, true);
}

/* It has stopped. The watchpoint that it has touched with its watchpoints off; -1: none. */
static int watch_again(struct gdb *g, uint32_t task)
{
	struct gdb_task *t = &g->tasks[task];

	if (!t->unwatched)
		return -1;
	t->unwatched = false;
	tracee_pause_watches(&t->watches, false);
	return t->hit;
}

/* The world's watched variables are points again. */
static void world_watches(struct gdb *g)
{
	if (g->paused)
		g->w->inspection->pause_watched(g->w, false);
	g->paused = false;
}

/*
 * Before the stopped task is stepped: true when ptrace may do it. An access that is a point is not stepped, or the
 * point would be lost: the task is stopped behind that, by prepare().
 */
static bool may_step(struct gdb *g, uint32_t task)
{
	uint64_t regs[18];
	int hit = -1;

	if (!tracee_dwarf_registers(g->w->tasks[task].pid, regs) && touches(g, task, regs, &hit) == TOUCH_POINT)
		return false;
	unwatch(g, task, hit);
	g->w->inspection->pause_watched(g->w, true);
	g->paused = true;
	return true;
}

static void report_watch(struct gdb *g, uint32_t task, int i)
{
	static const char *const accesses[] = { "hwbreak", "watch", "rwatch", "awatch" };
	const struct tracee_watch *w = &g->watches[i];
	char why[64];

	if (w->kind == TRACEE_WATCH_EXECUTE)
		snprintf(why, sizeof(why), "hwbreak:;");
	else
		snprintf(why, sizeof(why), "%s:%lx;", accesses[w->kind], (unsigned long)w->addr);
	report_stop(g, task, 5, why);
}

void gdb_leave(struct gdb *g)
{
	pid_t tid = gdb_memory_tid(g);

	for (size_t i = 0; i < g->nr_breakpoints && tid; i++)
		if (!g->breakpoints[i].probed)
			tracee_write(tid, g->breakpoints[i].addr, &g->breakpoints[i].byte, 1);
	g->nr_breakpoints = 0;
	memset(g->watches, 0, sizeof(g->watches));
	g->watches_serial++;
	for (uint32_t i = 0; i < g->nr_tasks; i++) {
		tracee_clear_watches(&g->tasks[i].watches);
		g->tasks[i].unwatched = false;
	}
	world_watches(g);
	g->over = true;
	g->step = WORLD_NO_TASK;
}

/* Lets the task that ptrace has stopped go on. */
static void go_on(struct gdb *g)
{
	uint32_t task = g->stopped;
	bool step = !g->over && g->step == task;
	const struct world_task *t;

	if (task == WORLD_NO_TASK)
		return;
	t = &g->w->tasks[task];
	if (!g->over)
		gdb_set_watches(g, task);
	step = step && may_step(g, task);
	g->stopped = WORLD_NO_TASK;
	if (g->over) {
		tracee_detach(t->pid, g->signal);
		g->tasks[task].seized = false;
	} else {
		tracee_resume(t->pid, step, g->signal);
	}
	g->signal = 0;
}

/* ---- the connection ---- */

static int start_gdb(struct gdb *g, uint32_t task)
{
	static char *const head[] = { (char *)"gdb", (char *)"-q", (char *)"-iex", (char *)"set sysroot /",
				      (char *)"-iex", (char *)"set remotetimeout 60", (char *)"-ex" };
	char target[140], **argv;
	size_t n = sizeof(head) / sizeof(head[0]), nr = 0;
	pid_t pid;

	while (g->o.command[nr])
		nr++;
	argv = calloc(n + nr + 2, sizeof(*argv));
	if (!argv)
		return -ENOMEM;
	snprintf(target, sizeof(target), "target remote %s", g->path);
	memcpy(argv, head, sizeof(head));
	argv[n] = target;
	memcpy(argv + n + 1, g->o.command, nr * sizeof(*argv));
	fflush(NULL);
	pid = fork();
	if (!pid) {
		signal(SIGINT, SIG_DFL);
		execvp("gdb", argv);
		fprintf(stderr, "zug replay: cannot start gdb: %s (apt install gdb; or --gdb-socket for another one)\n",
			strerror(errno));
		_exit(127);
	}
	free(argv);
	if (pid < 0)
		return -errno;
	/* Ctrl-C is gdb's now */
	signal(SIGINT, SIG_IGN);
	g->child = pid;
	return 0;
}

/* The connection of root, of our user, or of the one who used sudo. -1: none, or another user's. */
static int accept_gdb(int listen_fd)
{
	int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
	struct ucred who;
	socklen_t len = sizeof(who);

	if (fd < 0 || (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) && new_file_trusts(who.uid)))
		return fd;
	close(fd);
	return -1;
}

/* True when the gdb that was started has just ended. */
static bool child_gone(struct gdb *g)
{
	if (!g->child || waitpid(g->child, NULL, WNOHANG) != g->child)
		return false;
	g->child = 0;
	return true;
}

static bool connect_gdb(struct gdb *g, uint32_t task)
{
	const struct world_task *t = &g->w->tasks[task];
	struct pollfd p = { .fd = g->listen_fd, .events = POLLIN };
	char id[32];
	int ret = 0;

	if (g->o.command) {
		ret = start_gdb(g, task);
		if (ret)
			fprintf(g->o.err, "zug replay: cannot start gdb: %s\n", strerror(-ret));
	} else {
		fprintf(g->o.err, "zug: before step %lu, T%u (pid %d) is about to %s; waiting for: gdb -iex 'set sysroot /' "
			"-ex 'target remote %s'\n", (unsigned long)g->last_step, task, t->tgid,
			zug_label_name(&t->label), g->path);
		fflush(g->o.err);
	}
	while (!ret && !g->killed) {
		if (child_gone(g))
			break;
		if (poll(&p, 1, 200) > 0 && (g->rsp.fd = accept_gdb(g->listen_fd)) >= 0) {
			g->connected = true;
			g->current = g->selected = task;
			snprintf(g->reply, sizeof(g->reply), "T05thread:%s;", gdb_thread_id(g, task, id));
			gdb_serve(g);
			return true;
		}
		if (g->o.stop && *g->o.stop)
			g->killed = true;
	}
	g->over = g->killed = true;
	return false;
}

/* Handles a ptrace stop of the task: reports it to gdb if gdb wants it, and lets the task go on. */
static void on_stop(struct gdb *g, uint32_t task, const struct tracee_stop *s)
{
	struct world_task *t = &g->w->tasks[task];
	char why[220], path[100], link[64];
	int hit = watch_again(g, task);
	ssize_t n;

	world_watches(g);
	g->stopped = task;
	g->signal = 0;
	switch (s->kind) {
	case TRACEE_EXITS:
		g->exit_status = s->value;
		if (!g->over && g->o.stop_at_exit && s->value)
			report_stop(g, task, 0, "");
		g->stopped = WORLD_NO_TASK;
		tracee_detach(t->pid, 0);
		g->tasks[task].seized = false;
		return;
	case TRACEE_EXEC:
		g->nr_breakpoints = 0;
		memset(g->watches, 0, sizeof(g->watches));
		tracee_clear_watches(&g->tasks[task].watches);
		g->tasks[task].watches_serial = ++g->watches_serial;
		if (!g->connected) {
			g->next_stop = GDB_NO_STEP;
			connect_gdb(g, task);
			break;
		}
		snprintf(link, sizeof(link), "/proc/%d/exe", t->pid);
		n = readlink(link, path, sizeof(path));
		if (!g->over && n > 0) {
			memcpy(why, "exec:", 5);
			rsp_hex(why + 5, path, n);
			strcat(why, ";");
			report_stop(g, task, 5, why);
		}
		break;
	case TRACEE_INTERRUPTED:
		/* it was stopped to be stepped, to be interrupted, or behind an instruction that touches a watchpoint */
		if (!g->over && hit >= 0)
			report_watch(g, task, hit);
		else if (!g->over && g->step == task)
			report_stop(g, task, 5, "");
		else if (!g->over && g->interrupt)
			report_stop(g, task, 2, "");
		break;
	case TRACEE_STEPPED:
		if (!g->over && hit >= 0)
			report_watch(g, task, hit);
		else if (!g->over && g->step == task)
			report_stop(g, task, 5, "");
		break;
	case TRACEE_BREAKPOINT:
		for (size_t i = 0; i < g->nr_breakpoints; i++)
			if (g->breakpoints[i].addr == s->pc - 1) {
				tracee_set_pc(t->pid, s->pc - 1);
				report_stop(g, task, 5, "swbreak:;");
				go_on(g);
				return;
			}
		/* the program's own int3 */
		g->signal = SIGTRAP;
		if (!g->over)
			report_stop(g, task, 5, "");
		break;
	case TRACEE_WATCHPOINT:
		if (!g->over && (unsigned int)s->value < TRACEE_WATCHES && g->watches[s->value].len)
			report_watch(g, task, s->value);
		break;
	case TRACEE_SIGNAL:
		g->signal = s->value;
		n = gdb_number(s->value);
		if (!g->over && !(g->passed[n / 64] >> n % 64 & 1))
			report_stop(g, task, n, "");
		break;
	default:
		/* a group stop would keep the turn for ever */
		break;
	}
	go_on(g);
}

static void poll_tasks(struct gdb *g)
{
	struct tracee_stop s;

	for (uint32_t i = 0; i < g->nr_tasks; i++) {
		if (!g->tasks[i].seized)
			continue;
		tracee_poll(g->w->tasks[i].pid, &s);
		if (s.kind == TRACEE_GONE)
			g->tasks[i].seized = false;
		else if (s.kind != TRACEE_NONE)
			on_stop(g, i, &s);
	}
}

/* Tells gdb that its process is gone. */
static void say_exited(struct gdb *g)
{
	char reply[64];
	int status = g->exit_status;

	if (g->over || !g->connected)
		return;
	if (WIFSIGNALED(status))
		snprintf(reply, sizeof(reply), "X%02x;process:%x", gdb_number(WTERMSIG(status)), g->w->tasks[g->process].tgid);
	else
		snprintf(reply, sizeof(reply), "W%02x;process:%x", WEXITSTATUS(status), g->w->tasks[g->process].tgid);
	rsp_send(&g->rsp, reply);
	g->over = true;
}

/* Before a task gets the turn: gives it what it needs to be stopped. */
static void prepare(struct gdb *g, uint32_t task)
{
	const struct world_task *t = &g->w->tasks[task];
	uint8_t byte, int3 = 0xcc;
	bool at_probe, watched;
	uint64_t regs[18];
	int ret, hit;

	if (!gdb_shows(g, task)) {
		/* a forked child has a copy of our breakpoints, which would kill it */
		for (size_t i = 0; i < g->nr_breakpoints; i++) {
			const struct gdb_breakpoint *b = &g->breakpoints[i];

			if (!b->probed && t->parent != WORLD_NO_TASK &&
			    g->w->tasks[t->parent].process == g->process && b->byte != int3 &&
			    tracee_read(t->pid, b->addr, &byte, 1) == 1 && byte == int3 &&
			    !g->w->inspection->unprobe(g->w, t, b->addr, &byte, 1))
				tracee_write(t->pid, b->addr, &b->byte, 1);
		}
		return;
	}
	if (!g->tasks[task].seized) {
		ret = tracee_seize(t->pid);
		if (ret) {
			if (g->connected)
				say(g, "zug: cannot stop T%u between its points: %s%s\n", task, strerror(-ret),
				    ret == -EPERM ? " (perhaps the test uses ptrace itself)" : "");
			return;
		}
		g->tasks[task].seized = true;
		g->tasks[task].watches_serial = 0;
	}
	/* a vfork child may have taken the breakpoints out of the memory that it shares */
	for (size_t i = 0; i < g->nr_breakpoints; i++)
		if (!g->breakpoints[i].probed)
			tracee_write(t->pid, g->breakpoints[i].addr, &int3, 1);
	gdb_set_watches(g, task);
	/* the kernel steps over a probed instruction */
	watched = any_watch(g) && !parked_registers(g, task, regs, &at_probe) && at_probe &&
		  touches(g, task, regs, &hit) != TOUCH_NOTHING;
	if (watched)
		unwatch(g, task, hit);
	if (g->step == task || watched)
		tracee_interrupt(t->pid);
}

/* ---- what the engine calls ---- */

/* True when a probe has stopped the task where gdb has a breakpoint. */
static bool at_breakpoint(struct gdb *g, uint32_t task)
{
	const struct world_task *t = &g->w->tasks[task];
	uint64_t dwarf[18];

	if (t->label.op == ZUG_OP_BEGIN || g->w->inspection->registers(g->w, t, dwarf))
		return false;
	for (size_t i = 0; i < g->nr_breakpoints; i++)
		if (g->breakpoints[i].probed && g->breakpoints[i].addr == dwarf[16] - 1)
			return true;
	return false;
}

static void say_step(struct gdb *g, uint64_t step, uint32_t task)
{
	const struct world_task *t = &g->w->tasks[task];
	const char *name = g->w->ops->object_name(g->w, t->label.object);

	say(g, "zug: step %lu of %lu: T%u%s is about to %s%s%s\n", (unsigned long)step,
	    (unsigned long)trace_nr_steps(g->trace), task, gdb_shows(g, task) ? "" : " (of another process)",
	    zug_label_name(&t->label), name ? " " : "", name ? name : "");
}

static bool on_granting(struct debugger *d, struct world *w, uint64_t step, uint32_t task)
{
	struct gdb *g = of(d);

	g->w = w;
	g->last_step = step;
	if (!room(g))
		return false;
	world_watches(g);
	if (!g->connected && !g->over && step >= g->next_stop && w->tasks[task].process == g->process) {
		g->next_stop = GDB_NO_STEP;
		connect_gdb(g, task);
	} else if (g->connected && !g->over) {
		uint32_t shown = gdb_shows(g, task) ? task : any_task(g);

		if (shown == WORLD_NO_TASK) {
			say_exited(g);
		} else if (step >= g->next_stop || g->interrupt) {
			say_step(g, step, task);
			if (step >= g->next_stop)
				g->next_stop = GDB_NO_STEP;
			report_stop(g, shown, g->interrupt ? 2 : 0, "");
		} else if (shown == task && g->step != task && at_breakpoint(g, task)) {
			report_stop(g, task, 5, "swbreak:;");
		}
	}
	if ((g->connected || (step == g->o.exec_step && w->tasks[task].process == g->process)) && !g->over && !g->killed)
		prepare(g, task);
	return !g->killed;
}

static bool on_running(struct debugger *d, struct world *w)
{
	struct gdb *g = of(d);
	char text[RSP_MAX + 1];
	size_t len;
	int ret;

	g->w = w;
	if (!room(g))
		return false;
	poll_tasks(g);
	while (g->connected && !g->over && (ret = rsp_read(&g->rsp, text, &len, 0))) {
		if (ret < 0) {
			gdb_leave(g);
		} else if (ret == RSP_INTERRUPT) {
			g->interrupt = true;
			/* a task that computes stops at once; others stop at the next decision */
			for (uint32_t i = 0; i < g->nr_tasks; i++)
				if (g->tasks[i].seized && w->tasks[i].state == TASK_RUNNING &&
				    tracee_computes(w->tasks[i].pid))
					tracee_interrupt(w->tasks[i].pid);
		}
	}
	return !g->killed;
}

static void on_ending(struct debugger *d, struct world *w, const char *why, bool exited)
{
	struct gdb *g = of(d);
	uint32_t task;

	g->w = w;
	if (!g->connected || g->over)
		return;
	poll_tasks(g);
	task = any_task(g);
	if (!exited && !g->killed && task != WORLD_NO_TASK) {
		say(g, "zug: the execution ends here: %s\n", why);
		report_stop(g, gdb_shows(g, g->current) ? g->current : task, 0, "");
	}
	if (!exited)
		g->exit_status = SIGKILL;
	say_exited(g);
}

/* ---- life ---- */

static void on_child(int signal)
{
	/* the signal only ends the wait for events when a task stops */
}

int gdb_new(struct gdb **out, const struct gdb_options *o, const struct trace *t, char *err, size_t errlen)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct sigaction sa = { .sa_handler = on_child };
	struct gdb *g = calloc(1, sizeof(*g));
	mode_t old;
	int ret;

	*out = NULL;
	if (!g)
		return -ENOMEM;
	g->d = (struct debugger){ .granting = on_granting, .running = on_running, .ending = on_ending };
	g->o = *o;
	g->trace = t;
	g->process = o->process;
	g->current = g->selected = g->stopped = g->step = WORLD_NO_TASK;
	g->next_stop = o->stop_at;
	g->rsp.fd = -1;
	for (int i = 0; i < GDB_MAX_FILES; i++)
		g->files[i] = -1;
	if (o->socket && strlen(o->socket) >= sizeof(g->path)) {
		snprintf(err, errlen, "--gdb-socket %s: the path of a socket has at most %zu characters",
			 o->socket, sizeof(g->path) - 1);
		free(g);
		return -ENAMETOOLONG;
	}
	if (o->socket)
		snprintf(g->path, sizeof(g->path), "%s", o->socket);
	else
		snprintf(g->path, sizeof(g->path), "/run/%s-gdb", proc_own_name());
	memcpy(a.sun_path, g->path, sizeof(g->path));
	g->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* who connects may read and change all that the test may */
	old = umask(0177);
	ret = g->listen_fd < 0 || bind(g->listen_fd, (struct sockaddr *)&a, sizeof(a)) || listen(g->listen_fd, 1) ?
	      -errno : 0;
	umask(old);
	if (ret) {
		snprintf(err, errlen, "cannot listen for gdb at %s: %s", g->path, strerror(-ret));
		g->path[0] = 0;
		gdb_free(g);
		return ret;
	}
	sigaction(SIGCHLD, &sa, NULL);
	*out = g;
	return 0;
}

struct debugger *gdb_debugger(struct gdb *g)
{
	return &g->d;
}

void gdb_free(struct gdb *g)
{
	if (!g)
		return;
	/* its user may still read what it has printed */
	if (g->rsp.fd >= 0)
		close(g->rsp.fd);
	if (g->child)
		while (waitpid(g->child, NULL, 0) < 0 && errno == EINTR)
			;
	if (g->listen_fd >= 0)
		close(g->listen_fd);
	if (g->path[0])
		unlink(g->path);
	for (int i = 0; i < GDB_MAX_FILES; i++)
		if (g->files[i] >= 0)
			close(g->files[i]);
	free(g->tasks);
	free(g->breakpoints);
	free(g);
}
