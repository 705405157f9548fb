/* SPDX-License-Identifier: GPL-2.0-only */
/* lane_watch.c - what /proc says of the tasks on a CPU, and of the CPUs (lane_watch.h) */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kernel/lane_watch.h"

#define SCHED_EXT_POLICY 7
/* A second apart: a backup that begins must not end a search, nor a virtual machine that gets no time from its host. */
#define LOOKS		10
/* For so long the run times of the tasks there are measured; those that have half of it stand in the way. */
#define SAMPLE_US	100000
#define MAX_BUSY	64

struct busy {
	int pid;
	uint64_t ran;
};

struct stat_line {
	char comm[32];
	char state;
	int cpu, policy;
};

struct cpu_time {
	unsigned long long idle, all;
};

/* For how long a task has run, ns. */
static bool read_ran(int pid, uint64_t *ran)
{
	unsigned long long ns;
	char path[64];
	bool ok;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	f = fopen(path, "re");
	ok = f && fscanf(f, "%llu", &ns) == 1;
	if (f)
		fclose(f);
	*ran = ok ? ns : 0;
	return ok;
}

static bool read_stat(const char *path, struct stat_line *s)
{
	char line[1024], *open, *close;
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(line, 1, sizeof(line) - 1, f) : 0;

	if (f)
		fclose(f);
	line[n] = 0;
	open = strchr(line, '(');
	close = strrchr(line, ')');
	if (!open || !close || close < open)
		return false;
	snprintf(s->comm, sizeof(s->comm), "%.*s", (int)(close - open - 1), open + 1);
	s->state = close[1] ? close[2] : 0;
	s->cpu = s->policy = -1;
	/* the state is the third field; the processor the 39th, the class the 41st */
	for (int field = 3; (close = strchr(close, ' ')); field++) {
		close++;
		if (field == 39)
			s->cpu = atoi(close);
		else if (field == 41)
			s->policy = atoi(close);
	}
	return true;
}

/* The tasks of other classes that are runnable on that CPU, but for our own. */
static size_t find_busy(int cpu, struct busy *list)
{
	DIR *all = opendir("/proc"), *threads;
	struct dirent *p, *t;
	struct stat_line s;
	char path[600];
	size_t nr = 0;

	while (all && nr < MAX_BUSY && (p = readdir(all))) {
		if (p->d_name[0] < '1' || p->d_name[0] > '9' || atoi(p->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/%s/task", p->d_name);
		threads = opendir(path);
		while (threads && nr < MAX_BUSY && (t = readdir(threads))) {
			snprintf(path, sizeof(path), "/proc/%.20s/task/%s/stat", p->d_name, t->d_name);
			if (t->d_name[0] == '.' || !read_stat(path, &s) || s.state != 'R' || s.cpu != cpu ||
			    s.policy == SCHED_EXT_POLICY)
				continue;
			list[nr].pid = atoi(t->d_name);
			nr += read_ran(list[nr].pid, &list[nr].ran);
		}
		if (threads)
			closedir(threads);
	}
	if (all)
		closedir(all);
	return nr;
}

void lane_watch_reset(struct lane_watch *w)
{
	*w = (struct lane_watch){ 0 };
}

int lane_watch_look(struct lane_watch *w, int lane, int pid, char *err, size_t errlen)
{
	struct busy list[MAX_BUSY];
	struct stat_line s;
	uint64_t ran, sum = 0, most = 0;
	char path[64];
	size_t nr;
	int busiest = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (!pid || !read_stat(path, &s) || s.state != 'R' || !read_ran(pid, &ran)) {
		lane_watch_reset(w);
		return 0;
	}
	w->looks = pid == w->pid && ran == w->ran ? w->looks + 1 : 0;
	w->pid = pid;
	w->ran = ran;
	if (w->looks < LOOKS)
		return 0;
	nr = find_busy(lane, list);
	usleep(SAMPLE_US);
	for (size_t i = 0; i < nr; i++) {
		if (!read_ran(list[i].pid, &ran))
			continue;
		sum += ran - list[i].ran;
		if (ran - list[i].ran > most) {
			most = ran - list[i].ran;
			busiest = list[i].pid;
		}
	}
	/* it has run meanwhile, or no task can be seen that is in the way */
	if (!read_ran(pid, &ran) || ran != w->ran || sum < SAMPLE_US * 500ull)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/stat", busiest);
	if (!read_stat(path, &s))
		return 0;
	snprintf(err, errlen, "CPU %d, on which the test runs, is kept busy by %s (pid %d), which comes before it: the test "
		 "has not run for %d s; end that, or take another CPU with --lane", lane, s.comm, busiest, LOOKS);
	return -EBUSY;
}

/* True when a task of another class computes there. */
static bool is_busy(int cpu)
{
	struct busy list[MAX_BUSY];
	size_t nr = find_busy(cpu, list);
	uint64_t ran, sum = 0;

	if (nr)
		usleep(SAMPLE_US);
	for (size_t i = 0; i < nr; i++)
		if (read_ran(list[i].pid, &ran))
			sum += ran - list[i].ran;
	return sum > SAMPLE_US * 900ull;
}

/* What each CPU had to do, in the kernel's units; false: it cannot be told. */
static bool read_times(struct cpu_time *list, unsigned int nr)
{
	unsigned long long t[8];
	FILE *f = fopen("/proc/stat", "re");
	unsigned int cpu, seen = 0;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		/* user, nice, system, idle, iowait, irq, softirq, steal */
		if (sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &t[0], &t[1], &t[2], &t[3], &t[4],
			   &t[5], &t[6], &t[7]) != 9 || cpu >= nr)
			continue;
		list[cpu].idle = t[3] + t[4];
		list[cpu].all = t[0] + t[1] + t[2] + t[3] + t[4] + t[5] + t[6] + t[7];
		seen++;
	}
	if (f)
		fclose(f);
	return seen;
}

unsigned int lane_watch_quiet(bool *quiet, unsigned int nr_cpus)
{
	struct cpu_time *before = calloc(nr_cpus, sizeof(*before)), *after = calloc(nr_cpus, sizeof(*after));
	bool known = before && after && read_times(before, nr_cpus);
	unsigned int nr = 0;

	if (known)
		usleep(SAMPLE_US);
	known = known && read_times(after, nr_cpus);
	for (unsigned int i = 0; i < nr_cpus; i++) {
		quiet[i] = !known || 2 * (after[i].idle - before[i].idle) >= after[i].all - before[i].all;
		nr += quiet[i];
	}
	free(before);
	free(after);
	return nr;
}

/* How many tasks run, or could, on all CPUs, ourselves among them; 0: unknown. */
static unsigned int nr_running(void)
{
	FILE *f = fopen("/proc/loadavg", "re");
	unsigned int nr = 0;

	if (f && fscanf(f, "%*s %*s %*s %u/", &nr) != 1)
		nr = 0;
	if (f)
		fclose(f);
	return nr;
}

int lane_watch_choose(int nr_cpus)
{
	/* a machine with thousands of tasks is not looked through for nothing */
	if (nr_running() == 1)
		return nr_cpus - 1;
	for (int cpu = nr_cpus - 1; cpu >= 0; cpu--)
		if (!is_busy(cpu))
			return cpu;
	return nr_cpus - 1;
}
