/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gdb_requests.c - answers gdb's requests while the replay stands still
 *
 * gdb_serve() reads packets and answers each in answer(), until one lets the replay go on (GO). The
 * sections before it are the kinds of requests: threads, registers, memory, breakpoints, files,
 * other data, zug's own commands (monitor).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/mman.h>
#include <unistd.h>
#include "lib/base/array.h"
#include "debug/gdb_internal.h"

enum answer { STAY, GO };

static void fail(struct gdb *g, int error)
{
	char text[16];

	snprintf(text, sizeof(text), "E%02x", (error < 0 ? -error : error) & 0xff);
	rsp_send(&g->rsp, text);
}

/* ---- threads ---- */

/*
 * Parses "p1f.20" or "20"; -1 and 0 mean any thread. Returns the task; WORLD_NO_TASK: there is no
 * such thread.
 */
static uint32_t parse_thread(struct gdb *g, const char **p)
{
	uint64_t pid = 0, tid = 0;
	bool any = false;

	if (**p == 'p') {
		(*p)++;
		if (!strncmp(*p, "-1", 2)) {
			*p += 2;
			any = true;
		} else {
			rsp_number(p, &pid);
		}
		if (**p == '.')
			(*p)++;
		else
			return g->current;
	}
	if (!strncmp(*p, "-1", 2)) {
		*p += 2;
		return g->current;
	}
	rsp_number(p, &tid);
	if (any || !tid)
		return g->current;
	for (uint32_t i = 0; i < g->w->nr_tasks; i++)
		if (gdb_shows(g, i) && g->w->tasks[i].pid == (int)tid)
			return i;
	return WORLD_NO_TASK;
}

static void list_threads(struct gdb *g)
{
	char text[RSP_MAX], id[32];
	size_t n = 1;

	text[0] = 'm';
	for (uint32_t i = 0; i < g->w->nr_tasks && n < sizeof(text) - 40; i++)
		if (gdb_shows(g, i))
			n += snprintf(text + n, sizeof(text) - n, "%s%s", n > 1 ? "," : "", gdb_thread_id(g, i, id));
	text[n] = 0;
	rsp_send(&g->rsp, n > 1 ? text : "l");
}

/* "T1: about to lock m" */
static void say_task(struct gdb *g, uint32_t i, char *buf, size_t len)
{
	const struct world_task *t = &g->w->tasks[i];
	const char *name = g->w->ops->object_name(g->w, t->label.object);
	bool primitive = t->label.op >= ZUG_OP_LOCK && t->label.op <= ZUG_OP_DETACH;

	if (t->state == TASK_BLOCKED)
		snprintf(buf, len, "T%u: waits in %s%s%s", i, primitive ? zug_label_name(&t->label) : t->where,
			 primitive && name ? " for " : "", primitive && name ? name : "");
	else if (t->state == TASK_PARKED)
		snprintf(buf, len, "T%u: about to %s%s%s", i, zug_label_name(&t->label), name ? " " : "", name ? name : "");
	else
		snprintf(buf, len, "T%u: has the turn", i);
}

/* ---- registers ---- */

static void send_registers(struct gdb *g)
{
	uint8_t regs[TRACEE_REGS_SIZE], known[TRACEE_REGS_SIZE];
	char text[2 * TRACEE_REGS_SIZE + 1];
	int ret = gdb_shows(g, g->selected) ? gdb_registers(g, g->selected, regs, known) : -ESRCH;

	if (ret) {
		fail(g, ret);
		return;
	}
	rsp_hex(text, regs, sizeof(regs));
	for (size_t i = 0; i < sizeof(regs); i++)
		if (!known[i])
			text[2 * i] = text[2 * i + 1] = 'x';
	rsp_send(&g->rsp, text);
}

/* Only a task in a ptrace stop can get other registers. 0 or -errno. */
static int write_registers(struct gdb *g, const char *p)
{
	uint8_t regs[TRACEE_REGS_SIZE];
	size_t n = strlen(p) / 2;
	int ret;

	if (g->selected != g->stopped)
		return -EBUSY;
	ret = tracee_get_registers(g->w->tasks[g->stopped].pid, regs);
	if (ret || n > sizeof(regs) || rsp_unhex(regs, p, 2 * n) < 0)
		return ret ? ret : -EINVAL;
	return tracee_set_registers(g->w->tasks[g->stopped].pid, regs);
}

static int write_register(struct gdb *g, const char *p)
{
	uint8_t regs[TRACEE_REGS_SIZE];
	size_t offset, size;
	uint64_t n;
	int ret;

	if (!rsp_number(&p, &n) || *p++ != '=' || n > 1000 || !tracee_register_place(n, &offset, &size))
		return -EINVAL;
	if (g->selected != g->stopped)
		return -EBUSY;
	ret = tracee_get_registers(g->w->tasks[g->stopped].pid, regs);
	if (ret || strlen(p) < 2 * size || rsp_unhex(regs + offset, p, 2 * size) < 0)
		return ret ? ret : -EINVAL;
	return tracee_set_registers(g->w->tasks[g->stopped].pid, regs);
}

static void send_register(struct gdb *g, const char *p)
{
	uint8_t regs[TRACEE_REGS_SIZE], known[TRACEE_REGS_SIZE];
	char text[40];
	size_t offset, size;
	uint64_t n;
	int ret;

	if (!rsp_number(&p, &n) || n > 1000 || !tracee_register_place(n, &offset, &size)) {
		fail(g, EINVAL);
		return;
	}
	ret = gdb_shows(g, g->selected) ? gdb_registers(g, g->selected, regs, known) : -ESRCH;
	if (ret) {
		fail(g, ret);
		return;
	}
	rsp_hex(text, regs + offset, size);
	if (!known[offset])
		memset(text, 'x', 2 * size);
	rsp_send(&g->rsp, text);
}

/* ---- memory ---- */

static bool parse_range(const char **p, uint64_t *addr, uint64_t *len)
{
	return rsp_number(p, addr) && *(*p)++ == ',' && rsp_number(p, len);
}

static void send_memory(struct gdb *g, const char *p)
{
	uint8_t buf[RSP_MAX / 2];
	char text[RSP_MAX + 1];
	uint64_t addr, len;
	int n;

	if (!parse_range(&p, &addr, &len)) {
		fail(g, EINVAL);
		return;
	}
	n = gdb_read(g, addr, buf, len < sizeof(buf) - 8 ? len : sizeof(buf) - 8);
	if (n < 0) {
		fail(g, EFAULT);
		return;
	}
	rsp_hex(text, buf, n);
	rsp_send(&g->rsp, text);
}

/*
 * M: hex, X: binary. Breakpoints stay: the bytes under them are changed. Bytes under a probe cannot
 * be. 0 or -errno.
 */
static int write_memory(struct gdb *g, const char *p, const char *end, bool binary)
{
	uint8_t buf[RSP_MAX], byte;
	pid_t tid = gdb_memory_tid(g);
	uint64_t addr, len;
	uint32_t task = g->current;
	ssize_t n;

	if (!parse_range(&p, &addr, &len) || *p++ != ':' || len > sizeof(buf))
		return -EINVAL;
	if (binary ? (size_t)(end - p) != len : (size_t)(end - p) != 2 * len)
		return -EINVAL;
	if (binary)
		memcpy(buf, p, len);
	else if (rsp_unhex(buf, p, 2 * len) < 0)
		return -EINVAL;
	for (size_t i = 0; i < g->nr_breakpoints; i++) {
		struct gdb_breakpoint *b = &g->breakpoints[i];

		if (!b->probed && b->addr >= addr && b->addr - addr < len) {
			b->byte = buf[b->addr - addr];
			buf[b->addr - addr] = 0xcc;
		}
	}
	for (uint64_t i = 0; i < len; i++)
		if (g->w->inspection->unprobe(g->w, &g->w->tasks[task], addr + i, &byte, 1) && byte != buf[i])
			return -EBUSY;
	n = len ? tracee_write(tid, addr, buf, len) : 0;
	return n == (ssize_t)len ? 0 : -EFAULT;
}

/* ---- breakpoints ---- */

static int set_breakpoint(struct gdb *g, uint64_t addr)
{
	const struct world_task *t = &g->w->tasks[g->current];
	struct gdb_breakpoint b = { .addr = addr };
	uint8_t int3 = 0xcc;
	pid_t tid = gdb_memory_tid(g);

	for (size_t i = 0; i < g->nr_breakpoints; i++)
		if (g->breakpoints[i].addr == addr)
			return 0;
	b.probed = g->w->inspection->unprobe(g->w, t, addr, &b.byte, 1);
	if (!b.probed && tracee_read(tid, addr, &b.byte, 1) != 1)
		return -EFAULT;
	if (!ARRAY_RESERVE(g->breakpoints, g->breakpoints_room, g->nr_breakpoints + 1))
		return -ENOMEM;
	if (!b.probed && tracee_write(tid, addr, &int3, 1) != 1)
		return -EFAULT;
	g->breakpoints[g->nr_breakpoints++] = b;
	return 0;
}

static int clear_breakpoint(struct gdb *g, uint64_t addr)
{
	for (size_t i = 0; i < g->nr_breakpoints; i++) {
		if (g->breakpoints[i].addr != addr)
			continue;
		if (!g->breakpoints[i].probed)
			tracee_write(gdb_memory_tid(g), addr, &g->breakpoints[i].byte, 1);
		g->breakpoints[i] = g->breakpoints[--g->nr_breakpoints];
		break;
	}
	return 0;
}

/* Each task gets the watchpoints before it goes on; see prepare() in gdb.c. */
static int set_watch(struct gdb *g, bool set, char type, uint64_t addr, uint64_t len)
{
	struct tracee_watch want = { .addr = addr, .len = len, .kind = type == '1' ? TRACEE_WATCH_EXECUTE :
				     type == '2' ? TRACEE_WATCH_WRITE : TRACEE_WATCH_ACCESS };
	int free_slot = -1, ret;

	if (type == '1')
		want.len = len = 1;
	if ((len != 1 && len != 2 && len != 4 && len != 8) || (type != '1' && addr % len))
		return -EINVAL;
	for (int i = 0; i < TRACEE_WATCHES; i++) {
		struct tracee_watch *w = &g->watches[i];

		if (w->len == len && w->addr == addr && w->kind == want.kind) {
			if (!set) {
				memset(w, 0, sizeof(*w));
				g->watches_serial++;
			}
			return 0;
		}
		if (!w->len && free_slot < 0)
			free_slot = i;
	}
	if (!set)
		return 0;
	if (free_slot < 0)
		return -ENOSPC;
	g->watches[free_slot] = want;
	g->watches_serial++;
	/* this tells at once whether the processor has a register left: --watch uses them, too */
	ret = gdb_shows(g, g->current) ? gdb_set_watches(g, g->current) : 0;
	if (ret) {
		memset(&g->watches[free_slot], 0, sizeof(want));
		g->watches_serial++;
	}
	return ret;
}

/* Ztype,addr,kind */
static int breakpoint(struct gdb *g, const char *p, bool set)
{
	char type = *p++;
	uint64_t addr, len;

	if (*p++ != ',' || !parse_range(&p, &addr, &len))
		return -EINVAL;
	if (!gdb_memory_tid(g))
		return -ESRCH;
	if (type == '0')
		return set ? set_breakpoint(g, addr) : clear_breakpoint(g, addr);
	return set_watch(g, set, type, addr, len);
}

/* ---- files: to write a core, gdb reads /proc/PID/smaps through us ---- */

static void file_result(struct gdb *g, long result, const void *data, size_t len)
{
	char head[64];
	size_t sent;

	if (result < 0)
		snprintf(head, sizeof(head), "F-1,%lx", -result == ENOENT ? 2l : 5l);
	else
		snprintf(head, sizeof(head), "F%lx%s", result, data ? ";" : "");
	rsp_send_binary(&g->rsp, head, data, len, &sent);
}

static int *file_of(struct gdb *g, const char **p)
{
	uint64_t n;

	return rsp_number(p, &n) && n < GDB_MAX_FILES && g->files[n] >= 0 ? &g->files[n] : NULL;
}

/*
 * Opens /proc/PID/smaps without the mappings that cannot be read: gdb would write zeros for them
 * into a core, 64 MB for each thread's arena. A file descriptor, or -errno.
 */
static int open_smaps(const char *path)
{
	int fd = memfd_create("smaps", MFD_CLOEXEC), copy = fd < 0 ? -1 : dup(fd), ret = 0;
	FILE *from = fopen(path, "re"), *to = copy < 0 ? NULL : fdopen(copy, "w");
	char *line = NULL, perms[5];
	bool skipped = false;
	size_t size = 0;

	if (!from || !to)
		ret = errno ? -errno : -EIO;
	while (!ret && getline(&line, &size, from) > 0) {
		if (sscanf(line, "%*x-%*x %4s", perms) == 1)
			skipped = !strncmp(perms, "---", 3);
		if (!skipped && fputs(line, to) == EOF)
			ret = -EIO;
	}
	free(line);
	if (from)
		fclose(from);
	if (to)
		ret = fclose(to) && !ret ? -EIO : ret;
	else if (copy >= 0)
		close(copy);
	if (ret && fd >= 0)
		close(fd);
	return ret ? ret : fd;
}

/* vFile:OPERATION:ARGUMENTS. Files can only be read. */
static void file_request(struct gdb *g, const char *p)
{
	char path[4096];
	uint8_t buf[RSP_MAX / 2 - 64];
	uint64_t len, offset;
	size_t n;
	ssize_t got;
	int *fd, slot, ret;

	if (!strncmp(p, "open:", 5)) {
		p += 5;
		n = strcspn(p, ",");
		if (n / 2 >= sizeof(path) || rsp_unhex(path, p, n) < 0) {
			file_result(g, -EINVAL, NULL, 0);
			return;
		}
		path[n / 2] = 0;
		for (slot = 0; slot < GDB_MAX_FILES && g->files[slot] >= 0; slot++)
			;
		if (slot == GDB_MAX_FILES) {
			file_result(g, -EMFILE, NULL, 0);
			return;
		}
		n = strlen(path);
		if (!strncmp(path, "/proc/", 6) && n > 6 && !strcmp(path + n - 6, "/smaps")) {
			ret = open_smaps(path);
		} else {
			ret = open(path, O_RDONLY | O_CLOEXEC);
			ret = ret < 0 ? -errno : ret;
		}
		g->files[slot] = ret < 0 ? -1 : ret;
		file_result(g, ret < 0 ? ret : slot, NULL, 0);
	} else if (!strncmp(p, "pread:", 6)) {
		p += 6;
		fd = file_of(g, &p);
		if (!fd || *p++ != ',' || !parse_range(&p, &len, &offset)) {
			file_result(g, -EBADF, NULL, 0);
			return;
		}
		got = pread(*fd, buf, len < sizeof(buf) ? len : sizeof(buf), offset);
		file_result(g, got < 0 ? -errno : got, got < 0 ? NULL : buf, got < 0 ? 0 : got);
	} else if (!strncmp(p, "close:", 6)) {
		p += 6;
		fd = file_of(g, &p);
		if (fd) {
			close(*fd);
			*fd = -1;
		}
		file_result(g, fd ? 0 : -EBADF, NULL, 0);
	} else if (!strncmp(p, "setfs:", 6)) {
		file_result(g, 0, NULL, 0);
	} else {
		rsp_send(&g->rsp, "");
	}
}

/* ---- qXfer:OBJECT:read:ANNEX:OFFSET,LENGTH ---- */

static void send_part(struct gdb *g, const void *data, size_t size, const char *p)
{
	uint64_t offset, len;
	size_t sent;

	if (!parse_range(&p, &offset, &len)) {
		fail(g, EINVAL);
		return;
	}
	if (offset >= size) {
		rsp_send(&g->rsp, "l");
		return;
	}
	if (len > RSP_MAX / 2)
		len = RSP_MAX / 2;
	if (len > size - offset)
		len = size - offset;
	rsp_send_binary(&g->rsp, offset + len == size ? "l" : "m", (const char *)data + offset, len, &sent);
}

static void transfer(struct gdb *g, const char *p)
{
	const struct world_task *t = &g->w->tasks[g->current];
	char name[64], buf[4096], *text;
	ssize_t n = -1;
	int fd;

	if (!strncmp(p, "features:read:target.xml:", 25)) {
		text = tracee_description();
		if (text)
			send_part(g, text, strlen(text), p + 25);
		else
			fail(g, ENOMEM);
		free(text);
		return;
	}
	if (!strncmp(p, "auxv:read::", 11)) {
		snprintf(name, sizeof(name), "/proc/%d/auxv", t->tgid);
		fd = open(name, O_RDONLY | O_CLOEXEC);
		if (fd >= 0) {
			n = read(fd, buf, sizeof(buf));
			close(fd);
		}
	} else if (!strncmp(p, "exec-file:read:", 15)) {
		snprintf(name, sizeof(name), "/proc/%d/exe", t->tgid);
		n = readlink(name, buf, sizeof(buf));
	} else {
		rsp_send(&g->rsp, "");
		return;
	}
	if (n < 0)
		fail(g, errno);
	else
		send_part(g, buf, n, strrchr(p, ':') + 1);
}

/* ---- monitor ---- */

static const char monitor_help[] =
	"monitor tasks                list the tasks of all processes, and where each one stands\n"
	"monitor stop-at STEP         stop before that step of the trace (numbers as in zug show)\n"
	"monitor stop-at preemption   stop before the next preemption\n"
	"monitor stop-at failure      stop before the last step\n";

static void monitor(struct gdb *g, const char *hex)
{
	char command[256], text[RSP_MAX / 2] = "", out[RSP_MAX + 1], *end;
	uint64_t step, now = g->last_step;
	size_t n = strlen(hex);

	if (n / 2 >= sizeof(command) || rsp_unhex(command, hex, n) < 0) {
		fail(g, EINVAL);
		return;
	}
	command[n / 2] = 0;
	if (!strcmp(command, "tasks")) {
		for (uint32_t i = 0; i < g->w->nr_tasks; i++) {
			char one[300];
			size_t len = strlen(text);

			if (!world_lives(&g->w->tasks[i]))
				continue;
			say_task(g, i, one, sizeof(one));
			snprintf(text + len, sizeof(text) - len, "%-40s  (%.16s, pid %d, thread %d)\n", one,
				 g->w->tasks[i].comm, g->w->tasks[i].tgid, g->w->tasks[i].pid);
		}
	} else if (!strncmp(command, "stop-at ", 8)) {
		const char *what = command + 8;

		if (!strcmp(what, "preemption")) {
			step = gdb_preemption_step(g->trace, now + 1);
		} else if (!strcmp(what, "failure")) {
			step = gdb_failure_step(g->trace);
		} else {
			step = strtoull(what, &end, 10);
			if (*end || !*what)
				step = GDB_NO_STEP;
		}
		if (step == GDB_NO_STEP || step >= trace_nr_steps(g->trace) || step <= now) {
			snprintf(text, sizeof(text), "there is no such step after step %lu; the trace has "
				 "%lu steps\n", (unsigned long)now, (unsigned long)trace_nr_steps(g->trace));
		} else {
			g->next_stop = step;
			snprintf(text, sizeof(text), "will stop before step %lu\n", (unsigned long)step);
		}
	} else {
		snprintf(text, sizeof(text), "%s", monitor_help);
	}
	rsp_hex(out, text, strlen(text));
	rsp_send(&g->rsp, out);
}

/* ---- queries ---- */

static void query(struct gdb *g, const char *p)
{
	char text[700], id[40];
	uint32_t task;

	if (!strncmp(p, "qSupported", 10)) {
		snprintf(text, sizeof(text), "PacketSize=%x;QStartNoAckMode+;multiprocess+;swbreak+;hwbreak+;exec-events+;"
			 "vContSupported+;QPassSignals+;qXfer:features:read+;qXfer:auxv:read+;qXfer:exec-file:read+", RSP_MAX);
		rsp_send(&g->rsp, text);
	} else if (!strcmp(p, "QStartNoAckMode")) {
		rsp_send(&g->rsp, "OK");
		g->rsp.no_ack = true;
	} else if (!strncmp(p, "QPassSignals:", 13)) {
		uint64_t n;

		memset(g->passed, 0, sizeof(g->passed));
		for (p += 13; rsp_number(&p, &n); p += *p == ';')
			if (n < 256)
				g->passed[n / 64] |= 1ull << n % 64;
		rsp_send(&g->rsp, "OK");
	} else if (!strcmp(p, "qC")) {
		snprintf(text, sizeof(text), "QC%s", gdb_thread_id(g, g->current, id));
		rsp_send(&g->rsp, text);
	} else if (!strncmp(p, "qAttached", 9)) {
		rsp_send(&g->rsp, "1");
	} else if (!strcmp(p, "qfThreadInfo")) {
		list_threads(g);
	} else if (!strcmp(p, "qsThreadInfo")) {
		rsp_send(&g->rsp, "l");
	} else if (!strncmp(p, "qThreadExtraInfo,", 17)) {
		char one[300];

		p += 17;
		task = parse_thread(g, &p);
		if (task == WORLD_NO_TASK) {
			fail(g, ESRCH);
			return;
		}
		say_task(g, task, one, sizeof(one));
		rsp_hex(text, one, strlen(one));
		rsp_send(&g->rsp, text);
	} else if (!strncmp(p, "qXfer:", 6)) {
		transfer(g, p + 6);
	} else if (!strncmp(p, "qRcmd,", 6)) {
		monitor(g, p + 6);
	} else {
		rsp_send(&g->rsp, "");
	}
}

/*
 * vCont;ACTION[:THREAD]...: all tasks go on under the schedule; only the task to be stepped and its
 * signal matter.
 */
static enum answer resume(struct gdb *g, const char *p)
{
	uint64_t number;

	g->step = WORLD_NO_TASK;
	while (*p == ';') {
		char action = *++p;
		int sig = 0;
		uint32_t task = g->current;

		p++;
		if (action == 'C' || action == 'S') {
			rsp_number(&p, &number);
			sig = gdb_signal_to_linux(number);
		} else if (action != 'c' && action != 's') {
			fail(g, EINVAL);
			return STAY;
		}
		if (*p == ':') {
			p++;
			task = parse_thread(g, &p);
		}
		if ((action == 's' || action == 'S') && task != WORLD_NO_TASK)
			g->step = task;
		if (task == g->stopped && g->stopped != WORLD_NO_TASK && (action == 'C' || action == 'S'))
			g->new_signal = sig;
	}
	return GO;
}

static enum answer answer(struct gdb *g, const char *p, size_t len)
{
	const char *end = p + len;
	uint32_t task;
	int ret;

	switch (*p) {
	case '?':
		rsp_send(&g->rsp, g->reply);
		return STAY;
	case 'g':
		send_registers(g);
		return STAY;
	case 'p':
		send_register(g, p + 1);
		return STAY;
	case 'm':
		send_memory(g, p + 1);
		return STAY;
	case 'q':
	case 'Q':
		query(g, p);
		return STAY;
	case 'H':
		p += 2;
		task = parse_thread(g, &p);
		if (task != WORLD_NO_TASK)
			g->selected = task;
		ret = task == WORLD_NO_TASK ? -ESRCH : 0;
		break;
	case 'T':
		p++;
		ret = parse_thread(g, &p) == WORLD_NO_TASK ? -ESRCH : 0;
		break;
	case 'G':
		ret = write_registers(g, p + 1);
		break;
	case 'P':
		ret = write_register(g, p + 1);
		break;
	case 'M':
	case 'X':
		ret = write_memory(g, p + 1, end, *p == 'X');
		break;
	case 'Z':
	case 'z':
		if (p[1] < '0' || p[1] > '4') {
			rsp_send(&g->rsp, "");
			return STAY;
		}
		ret = breakpoint(g, p + 1, *p == 'Z');
		break;
	case 'D':
		rsp_send(&g->rsp, "OK");
		gdb_leave(g);
		return GO;
	case 'k':
		g->killed = true;
		gdb_leave(g);
		return GO;
	case 'v':
		if (!strcmp(p, "vCont?")) {
			rsp_send(&g->rsp, "vCont;c;C;s;S");
			return STAY;
		}
		if (!strncmp(p, "vCont;", 6))
			return resume(g, p + 5);
		if (!strncmp(p, "vFile:", 6)) {
			file_request(g, p + 6);
			return STAY;
		}
		if (!strncmp(p, "vKill", 5)) {
			rsp_send(&g->rsp, "OK");
			g->killed = true;
			gdb_leave(g);
			return GO;
		}
		rsp_send(&g->rsp, "");
		return STAY;
	default:
		rsp_send(&g->rsp, "");
		return STAY;
	}
	if (ret)
		fail(g, ret);
	else
		rsp_send(&g->rsp, "OK");
	return STAY;
}

void gdb_serve(struct gdb *g)
{
	char text[RSP_MAX + 1];
	size_t len;
	int ret;

	/* the signal that stopped a task is delivered only if gdb asks for it */
	g->new_signal = 0;
	for (;;) {
		ret = rsp_read(&g->rsp, text, &len, 1000);
		if (ret < 0 || (g->o.stop && *g->o.stop)) {
			g->killed |= ret >= 0;
			gdb_leave(g);
			break;
		}
		if (ret == RSP_PACKET && answer(g, text, len) == GO)
			break;
	}
	if (g->stopped != WORLD_NO_TASK)
		g->signal = g->over ? g->signal : g->new_signal;
}
