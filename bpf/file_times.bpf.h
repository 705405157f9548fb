/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * file_times.bpf.h - the times of files, by the clock of a sandbox
 *
 * The kernel stamps what an execution writes with the machine's time. What stat() and statx() have written is made a time of
 * the execution when the call ends.
 */
#ifndef ZUG_FILE_TIMES_BPF_H
#define ZUG_FILE_TIMES_BPF_H

#include "clock.bpf.h"
#include "syscalls.bpf.h"

/*
 * What the sandbox's clock said when a file was first looked at that was newer than all seen before: where its time
 * of the machine lies, of times between two of these what is between, so that the order stays. Looked at again a
 * file has the same time, however long the machine has taken. Beyond ZUG_FILE_TIMES the last one moves on.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ZUG_MAX_SANDBOXES * ZUG_FILE_TIMES);
	__type(key, __u32);
	__type(value, struct zug_file_look);
} file_looks SEC(".maps");

static __always_inline struct zug_file_look *file_look(__u32 slot, __u32 i)
{
	__u32 key = slot * ZUG_FILE_TIMES + i;

	return i < ZUG_FILE_TIMES ? bpf_map_lookup_elem(&file_looks, &key) : NULL;
}

/*
 * What the sandbox's clock said when the machine's, since the execution began, was machine ns. (Here and below:
 * what is not static the verifier looks at once, and not once for every way that leads to it.)
 */
__noinline __u64 file_clock(__u32 slot, __u64 machine)
{
	__u64 from_machine = 0, from_clock = 0, ns, span, clock;
	struct zug_file_look *look;
	struct zug_sandbox *s;
	__u32 low = 0, high;
	int i;

	if (slot >= ZUG_MAX_SANDBOXES)
		return 0;
	s = &sandboxes[slot];
	high = s->nr_file_looks;
	/* the first that is not older is at high */
	bpf_for(i, 0, 11) {
		__u32 mid = (low + high) / 2;

		if (low >= high || !(look = file_look(slot, mid)))
			break;
		if (look->machine < machine)
			low = mid + 1;
		else
			high = mid;
	}
	look = file_look(slot, high - 1);
	if (look) {
		from_machine = look->machine;
		from_clock = look->clock;
	}
	if (high >= s->nr_file_looks) {
		if (look && s->clock <= from_clock)
			return from_clock;
		if (high < ZUG_FILE_TIMES) {
			look = file_look(slot, high);
			s->nr_file_looks = high + 1;
		}
		if (look) {
			look->machine = machine;
			look->clock = s->clock;
		}
		return s->clock;
	}
	look = file_look(slot, high);
	if (!look)
		return from_clock;
	ns = machine - from_machine;
	span = look->machine - from_machine;
	clock = look->clock - from_clock;
	if (ns >= span || !clock)
		return look->clock;
	return from_clock + (clock >= span ? ns * (clock / span) : ns / (span / clock + 1));
}

/*
 * A file that the execution has made, or written, has a time of the machine: it becomes one of the execution, in the
 * order in which they are, none in the future. What is newer than the machine's clock the program has set itself.
 */
static __always_inline void file_time(const struct zug_sandbox *s, __u32 slot, __u64 addr)
{
	struct user_time ut;
	bool environment;
	__u64 ns;

	if (bpf_probe_read_user(&ut, sizeof(ut), (void *)addr) || (__s64)ut.sec < 0)
		return;
	ns = ut.sec * NS_PER_S + (__u32)ut.frac;
	environment = s->setup.files_from && ns >= s->setup.files_from && ns <= s->setup.files_until;
	if (!environment && ns > s->setup.files_since && ns <= bpf_ktime_get_tai_ns() - s->setup.tai_ahead)
		put_time(addr, s->setup.clock_real + file_clock(slot, ns - s->setup.files_since), false);
	else if (environment || (ns <= s->setup.files_since && ns > s->setup.clock_real + s->clock))
		put_time(addr, s->setup.clock_real, false);
}

/* struct stat: three times from byte 72 on; struct statx: four from byte 64 on. */
static __always_inline void file_times(const struct zug_sandbox *s, struct task_struct *p, struct task_state *t,
				       __s32 nr)
{
	__u64 addr = nr == NR_newfstatat ? t->args[2] : t->args[1];

	if (nr == NR_statx)
		addr = BPF_CORE_READ((struct pt_regs *)bpf_task_pt_regs(p), r8) - 8;
	for (int i = 0; i < (nr == NR_statx ? 4 : 3); i++)
		file_time(s, t->slot, addr + 72 + 16 * i);
}

#endif
