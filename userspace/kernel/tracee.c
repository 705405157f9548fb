/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ptrace for the debugger on a replay: stops and their causes, registers in gdb's layout, watched memory, memory.
 * tracee.h has the contract.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kernel/tracee.h"

/* of a watch, with its number in the kernel's si_perf_data; older C libraries have no name for it */
#define TRAP_PERF_ 6
#define PERF_DATA_OFFSET (offsetof(siginfo_t, si_addr) + sizeof(void *))

static int request(enum __ptrace_request what, pid_t tid, unsigned long addr, unsigned long data)
{
	return ptrace(what, tid, addr, data) < 0 ? -errno : 0;
}

int tracee_seize(pid_t tid)
{
	return request(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC);
}

int tracee_interrupt(pid_t tid)
{
	return request(PTRACE_INTERRUPT, tid, 0, 0);
}

bool tracee_computes(pid_t tid)
{
	char path[64], line[512] = "", *paren;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = 0;
	fclose(f);
	paren = strrchr(line, ')');
	return paren && paren[1] == ' ' && paren[2] == 'R';
}

int tracee_resume(pid_t tid, bool step, int signal)
{
	return request(step ? PTRACE_SINGLESTEP : PTRACE_CONT, tid, 0, signal);
}

int tracee_detach(pid_t tid, int signal)
{
	return request(PTRACE_DETACH, tid, 0, signal);
}

/* SIGTRAP has many causes. */
static void on_trap(pid_t tid, struct tracee_stop *s)
{
	siginfo_t si = { 0 };

	request(PTRACE_GETSIGINFO, tid, 0, (unsigned long)&si);
	s->kind = TRACEE_SIGNAL;
	s->value = SIGTRAP;
	if (si.si_code == SI_KERNEL) {
		s->kind = TRACEE_BREAKPOINT;
	} else if (si.si_code == TRAP_PERF_) {
		s->kind = TRACEE_WATCHPOINT;
		memcpy(&s->value, (char *)&si + PERF_DATA_OFFSET, sizeof(s->value));
	} else if (si.si_code == TRAP_TRACE || si.si_code == TRAP_BRKPT) {
		s->kind = TRACEE_STEPPED;
	}
}

void tracee_poll(pid_t tid, struct tracee_stop *s)
{
	struct user_regs_struct r;
	unsigned long message = 0;
	int status, event;
	pid_t got;

	memset(s, 0, sizeof(*s));
	got = waitpid(tid, &status, __WALL | WNOHANG);
	if (!got)
		return;
	if (got < 0 || !WIFSTOPPED(status)) {
		s->kind = TRACEE_GONE;
		return;
	}
	if (!request(PTRACE_GETREGS, tid, 0, (unsigned long)&r))
		s->pc = r.rip;
	event = status >> 16;
	s->value = WSTOPSIG(status);
	switch (event) {
	case PTRACE_EVENT_EXIT:
		request(PTRACE_GETEVENTMSG, tid, 0, (unsigned long)&message);
		s->kind = TRACEE_EXITS;
		s->value = message;
		break;
	case PTRACE_EVENT_EXEC:
		s->kind = TRACEE_EXEC;
		break;
	case PTRACE_EVENT_STOP:
		s->kind = s->value == SIGTRAP ? TRACEE_INTERRUPTED : TRACEE_GROUP_STOP;
		break;
	default:
		if (s->value == SIGTRAP)
			on_trap(tid, s);
		else
			s->kind = TRACEE_SIGNAL;
	}
}

/* ---- registers ---- */

/* gdb's order of the integer registers, the segments and the x87 control words */
static const struct {
	size_t from;	/* in struct user_regs_struct */
	size_t size;
} integer[] = {
#define R(name, size) { offsetof(struct user_regs_struct, name), size }
	R(rax, 8), R(rbx, 8), R(rcx, 8), R(rdx, 8), R(rsi, 8), R(rdi, 8), R(rbp, 8), R(rsp, 8),
	R(r8, 8), R(r9, 8), R(r10, 8), R(r11, 8), R(r12, 8), R(r13, 8), R(r14, 8), R(r15, 8),
	R(rip, 8), R(eflags, 4), R(cs, 4), R(ss, 4), R(ds, 4), R(es, 4), R(fs, 4), R(gs, 4),
#undef R
};
#define NR_INTEGER (sizeof(integer) / sizeof(integer[0]))
#define PC_OFFSET (16 * 8)
#define X87_OFFSET (17 * 8 + 7 * 4)
#define CONTROL_OFFSET (X87_OFFSET + 8 * 10)
#define SSE_OFFSET (CONTROL_OFFSET + 8 * 4)
#define SYSTEM_OFFSET (SSE_OFFSET + 16 * 16 + 4)
_Static_assert(SYSTEM_OFFSET + 3 * 8 == TRACEE_REGS_SIZE, "registers");

static const char *const names[] = {
	"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
	"rip", "eflags", "cs", "ss", "ds", "es", "fs", "gs", "st0", "st1", "st2", "st3", "st4", "st5", "st6", "st7",
	"fctrl", "fstat", "ftag", "fiseg", "fioff", "foseg", "fooff", "fop", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
	"xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "mxcsr",
	"orig_rax", "fs_base", "gs_base",
};
#define NR_NAMES (sizeof(names) / sizeof(names[0]))

/* gdb knows these features by name, and what is in each. */
static const struct {
	unsigned int first;
	const char *head;
} features[] = {
	{ 0, "org.gnu.gdb.i386.core\">"
	  "<flags id=\"eflags\" size=\"4\"><field name=\"CF\" start=\"0\" end=\"0\"/><field name=\"PF\" start=\"2\" end=\"2\"/>"
	  "<field name=\"ZF\" start=\"6\" end=\"6\"/><field name=\"SF\" start=\"7\" end=\"7\"/>"
	  "<field name=\"TF\" start=\"8\" end=\"8\"/><field name=\"DF\" start=\"10\" end=\"10\"/>"
	  "<field name=\"OF\" start=\"11\" end=\"11\"/></flags>" },
	{ 40, "org.gnu.gdb.i386.sse\">"
	  "<vector id=\"v4f\" type=\"ieee_single\" count=\"4\"/><vector id=\"v2d\" type=\"ieee_double\" count=\"2\"/>"
	  "<vector id=\"v16i8\" type=\"int8\" count=\"16\"/><vector id=\"v8i16\" type=\"int16\" count=\"8\"/>"
	  "<vector id=\"v4i32\" type=\"int32\" count=\"4\"/><vector id=\"v2i64\" type=\"int64\" count=\"2\"/>"
	  "<union id=\"vec128\"><field name=\"v4_float\" type=\"v4f\"/><field name=\"v2_double\" type=\"v2d\"/>"
	  "<field name=\"v16_int8\" type=\"v16i8\"/><field name=\"v8_int16\" type=\"v8i16\"/>"
	  "<field name=\"v4_int32\" type=\"v4i32\"/><field name=\"v2_int64\" type=\"v2i64\"/>"
	  "<field name=\"uint128\" type=\"uint128\"/></union>" },
	{ 57, "org.gnu.gdb.i386.linux\">" },
	{ 58, "org.gnu.gdb.i386.segments\">" },
};

static const char *type_of(unsigned int n)
{
	return n == 6 || n == 7 ? "data_ptr" : n == 16 ? "code_ptr" : n == 17 ? "eflags" : n < 17 ? "int64" : n < 24 ? "int32" :
	       n < 32 ? "i387_ext" : n < 40 ? "int" : n < 56 ? "vec128" : "int";
}

char *tracee_description(void)
{
	size_t len, offset, size, next = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fputs("<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target>"
	      "<architecture>i386:x86-64</architecture><osabi>GNU/Linux</osabi>", f);
	for (unsigned int i = 0; i < NR_NAMES; i++) {
		if (next < sizeof(features) / sizeof(features[0]) && features[next].first == i)
			fprintf(f, "%s<feature name=\"%s", next ? "</feature>" : "", features[next].head), next++;
		tracee_register_place(i, &offset, &size);
		fprintf(f, "<reg name=\"%s\" bitsize=\"%zu\" type=\"%s\" regnum=\"%u\"%s/>", names[i], size * 8, type_of(i), i,
			i >= 32 && i < 40 ? " group=\"float\"" : "");
	}
	fputs("</feature></target>", f);
	fclose(f);
	return text;
}

bool tracee_register_place(unsigned int n, size_t *offset, size_t *size)
{
	*offset = 0;
	for (unsigned int i = 0; i <= n; i++) {
		*size = i < NR_INTEGER ? integer[i].size : i < 32 ? 10 : i < 40 ? 4 : i < 56 ? 16 : i < 57 ? 4 :
			i < NR_NAMES ? 8 : 0;
		if (i < n)
			*offset += *size;
	}
	return *size != 0;
}

static int read_all(pid_t tid, struct user_regs_struct *r, struct user_fpregs_struct *f)
{
	int ret = request(PTRACE_GETREGS, tid, 0, (unsigned long)r);

	return ret ? ret : request(PTRACE_GETFPREGS, tid, 0, (unsigned long)f);
}

int tracee_get_registers(pid_t tid, uint8_t regs[TRACEE_REGS_SIZE])
{
	struct user_regs_struct r;
	struct user_fpregs_struct f;
	size_t at = 0;
	uint32_t v;
	int ret;

	ret = read_all(tid, &r, &f);
	if (ret)
		return ret;
	memset(regs, 0, TRACEE_REGS_SIZE);
	for (size_t i = 0; i < NR_INTEGER; i++) {
		memcpy(regs + at, (char *)&r + integer[i].from, integer[i].size);
		at += integer[i].size;
	}
	for (int i = 0; i < 8; i++)
		memcpy(regs + X87_OFFSET + i * 10, (char *)f.st_space + i * 16, 10);
	/* the tag word is kept abridged: full tags say "valid" or "empty" here */
	for (int i = 0, tags = 0; i < 8; i++) {
		tags |= (f.ftw >> i & 1 ? 0 : 3) << 2 * i;
		v = tags;
		memcpy(regs + CONTROL_OFFSET + 8, &v, 4);
	}
	v = f.cwd;
	memcpy(regs + CONTROL_OFFSET, &v, 4);
	v = f.swd;
	memcpy(regs + CONTROL_OFFSET + 4, &v, 4);
	memcpy(regs + SSE_OFFSET, f.xmm_space, 16 * 16);
	memcpy(regs + SSE_OFFSET + 16 * 16, &f.mxcsr, 4);
	memcpy(regs + SYSTEM_OFFSET, &r.orig_rax, 8);
	memcpy(regs + SYSTEM_OFFSET + 8, &r.fs_base, 8);
	memcpy(regs + SYSTEM_OFFSET + 16, &r.gs_base, 8);
	return 0;
}

int tracee_set_registers(pid_t tid, const uint8_t regs[TRACEE_REGS_SIZE])
{
	struct user_regs_struct r;
	struct user_fpregs_struct f;
	size_t at = 0;
	int ret;

	ret = read_all(tid, &r, &f);
	if (ret)
		return ret;
	for (size_t i = 0; i < NR_INTEGER; i++) {
		memcpy((char *)&r + integer[i].from, regs + at, integer[i].size);
		at += integer[i].size;
	}
	for (int i = 0; i < 8; i++)
		memcpy((char *)f.st_space + i * 16, regs + X87_OFFSET + i * 10, 10);
	memcpy(f.xmm_space, regs + SSE_OFFSET, 16 * 16);
	memcpy(&f.mxcsr, regs + SSE_OFFSET + 16 * 16, 4);
	memcpy(&r.orig_rax, regs + SYSTEM_OFFSET, 8);
	ret = request(PTRACE_SETREGS, tid, 0, (unsigned long)&r);
	return ret ? ret : request(PTRACE_SETFPREGS, tid, 0, (unsigned long)&f);
}

int tracee_set_pc(pid_t tid, uint64_t pc)
{
	return request(PTRACE_POKEUSER, tid, offsetof(struct user, regs.rip), pc);
}

/* rax rbx rcx rdx rsi rdi rbp rsp r8..r15 rip, as DWARF numbers them */
static const uint8_t order[17] = { 0, 3, 2, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };

int tracee_dwarf_registers(pid_t tid, uint64_t dwarf[18])
{
	struct user_regs_struct r;
	int ret = request(PTRACE_GETREGS, tid, 0, (unsigned long)&r);

	for (int i = 0; i < 17 && !ret; i++)
		memcpy(&dwarf[order[i]], (char *)&r + integer[i].from, 8);
	if (!ret)
		dwarf[17] = r.fs_base;
	return ret;
}

void tracee_pack_registers(const uint64_t dwarf[18], uint8_t regs[TRACEE_REGS_SIZE], uint8_t known[TRACEE_REGS_SIZE])
{
	memset(regs, 0, TRACEE_REGS_SIZE);
	memset(known, 0, TRACEE_REGS_SIZE);
	for (int i = 0; i < 17; i++)
		memcpy(regs + i * 8, &dwarf[order[i]], 8);
	memset(known, 1, PC_OFFSET + 8);
	memcpy(regs + SYSTEM_OFFSET + 8, &dwarf[17], 8);
	memset(known + SYSTEM_OFFSET + 8, 1, 8);
}

/* ---- watched memory ---- */

void tracee_clear_watches(struct tracee_watches *s)
{
	while (s->nr)
		close(s->fds[--s->nr]);
}

int tracee_set_watches(pid_t tid, const struct tracee_watch w[TRACEE_WATCHES], struct tracee_watches *s)
{
	tracee_clear_watches(s);
	for (int i = 0; i < TRACEE_WATCHES; i++) {
		struct perf_event_attr a = {
			.type = PERF_TYPE_BREAKPOINT,
			.size = sizeof(a),
			.bp_type = w[i].kind == TRACEE_WATCH_EXECUTE ? HW_BREAKPOINT_X :
				   w[i].kind == TRACEE_WATCH_WRITE ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW,
			.bp_addr = w[i].addr,
			.bp_len = w[i].kind == TRACEE_WATCH_EXECUTE ? sizeof(long) : w[i].len,
			.sample_period = 1,
			.exclude_kernel = 1,
			.exclude_hv = 1,
			.remove_on_exec = 1,
			.sigtrap = 1,
			.sig_data = i,
		};
		int fd;

		if (!w[i].len)
			continue;
		fd = syscall(SYS_perf_event_open, &a, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0) {
			fd = -errno;
			tracee_clear_watches(s);
			return fd;
		}
		s->fds[s->nr++] = fd;
	}
	return 0;
}

void tracee_pause_watches(const struct tracee_watches *s, bool off)
{
	for (unsigned int i = 0; i < s->nr; i++)
		ioctl(s->fds[i], off ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE, 0);
}

/* ---- memory ---- */

static int open_memory(pid_t tid, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", tid);
	return open(path, flags | O_CLOEXEC);
}

ssize_t tracee_read(pid_t tid, uint64_t addr, void *buf, size_t len)
{
	int fd = open_memory(tid, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = pread(fd, buf, len, addr);
	/* up to where something is mapped */
	if (n < 0 && len > 1 && (addr & 4095) + len > 4096)
		n = pread(fd, buf, 4096 - (addr & 4095), addr);
	if (n < 0)
		n = -errno;
	close(fd);
	return n;
}

ssize_t tracee_write(pid_t tid, uint64_t addr, const void *buf, size_t len)
{
	int fd = open_memory(tid, O_RDWR);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = pwrite(fd, buf, len, addr);
	if (n < 0)
		n = -errno;
	close(fd);
	return n;
}
