// SPDX-License-Identifier: GPL-2.0-only
/*
 * outside.c - the cost to a process outside of a test
 *
 *	outside REPEATS CALLS [TRACEPOINT...]
 *
 * Prints, a line for each repeat, the nanoseconds of a system call and of a pthread_mutex_lock() or
 * unlock() of the machine's own C library. With names of raw tracepoints, a BPF program that does nothing is attached to
 * each meanwhile.
 */
#include <linux/bpf.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* Until this process ends. -1 with errno. */
static int attach_nothing(const char *tracepoint)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr load = { .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT, .insns = (uintptr_t)nothing, .insn_cnt = 2,
				.license = (uintptr_t)"GPL" };
	union bpf_attr attach = { .raw_tracepoint.name = (uintptr_t)tracepoint };

	attach.raw_tracepoint.prog_fd = syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof(load));
	return syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attach, sizeof(attach));
}

int main(int argc, char **argv)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	long repeats = argc >= 3 ? atol(argv[1]) : 0, calls = argc >= 3 ? atol(argv[2]) : 0;
	double start, call;

	if (repeats < 1 || calls < 1) {
		fprintf(stderr, "usage: outside REPEATS CALLS [TRACEPOINT...]\n");
		return 2;
	}
	for (int i = 3; i < argc; i++)
		if (attach_nothing(argv[i]) < 0) {
			perror(argv[i]);
			return 1;
		}
	for (long r = 0; r < repeats; r++) {
		start = now_ns();
		for (long i = 0; i < calls; i++)
			syscall(SYS_getppid);
		call = (now_ns() - start) / calls;
		start = now_ns();
		for (long i = 0; i < calls; i++) {
			pthread_mutex_lock(&lock);
			pthread_mutex_unlock(&lock);
		}
		printf("%.1f %.1f\n", call, (now_ns() - start) / (2.0 * calls));
	}
	return 0;
}
