/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * count.c - a plugin for QEMU's emulator, which counts the instructions of each CPU
 *
 *	gcc -shared -fPIC -o count.so count.c
 *	qemu-system-x86_64 ... -plugin count.so,out=FILE
 *
 * What an emulated machine does is told by instructions; its clock tells what the host does beside it. Each time a program
 * of the machine executes count_mark.c, FILE gets a line: for each CPU so many instructions of programs, "+", and of the
 * kernel.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "count_mark.h"

#define CPUS	64

/* What is used of qemu-plugin.h, version 1 of the interface; Debian has no package with it. */
struct qemu_plugin_tb;
struct qemu_plugin_insn;
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*cb)(uint64_t id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, void (*cb)(unsigned int cpu, void *data), int flags,
					  void *data);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static struct {
	uint64_t program, kernel;
} made[CPUS];
static FILE *out;

/* data: instructions, and in bit 0 whether they are the kernel's. */
static void executed(unsigned int cpu, void *data)
{
	uintptr_t nr = (uintptr_t)data;

	if (cpu >= CPUS)
		return;
	if (nr & 1)
		made[cpu].kernel += nr >> 1;
	else
		made[cpu].program += nr >> 1;
}

static void marked(unsigned int cpu, void *data)
{
	(void)cpu;
	(void)data;
	for (int i = 0; i < CPUS; i++)
		if (made[i].program + made[i].kernel)
			fprintf(out, "%llu+%llu ", (unsigned long long)made[i].program, (unsigned long long)made[i].kernel);
	fprintf(out, "\n");
	fflush(out);
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	static const unsigned char mark[] = { COUNT_MARK };
	size_t nr = qemu_plugin_tb_n_insns(tb);

	(void)id;
	/* addresses of the kernel have the highest bit */
	qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, 0, (void *)(uintptr_t)(nr << 1 | qemu_plugin_tb_vaddr(tb) >> 63));
	for (size_t i = 0; i < nr; i++) {
		struct qemu_plugin_insn *in = qemu_plugin_tb_get_insn(tb, i);

		if (qemu_plugin_insn_size(in) == sizeof(mark) && !memcmp(qemu_plugin_insn_data(in), mark, sizeof(mark)))
			qemu_plugin_register_vcpu_tb_exec_cb(tb, marked, 0, NULL);
	}
}

__attribute__((visibility("default")))
int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "out=", 4) || !(out = fopen(argv[0] + 4, "w"))) {
		fprintf(stderr, "count.so: out=FILE is wanted\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
