/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's world: real programs under the BPF scheduler, behind struct world_ops (its table is at the end).
 *
 * Here is what the engine asks for: beginning and ending an execution, the turn, what locks say, stacks, names for the
 * trace. What happens comes from the pump: kworld_pump.c (events, errands), kworld_events.c (what each kind does to a task),
 * kworld_labels.c, kworld_signals.c and kworld_code.c (what a task is about to do), kworld_blocked.c (what it waits for). Time
 * is in kworld_time.c, faults and byte flows are in kworld_faults.c and kworld_byte_flows.c. Read world.h first, then
 * kworld_internal.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/debug.h"
#include "lib/base/installed.h"
#include "lib/base/proc_status.h"
#include "kworld/kworld_internal.h"

/* To look at the clock of a cgroup takes as long as a tenth of an exec: executions that are as short do without. */
#define SHORT_NS 50000000ull

/*
 * A task that computes while no other can run is looked at after so many times the time of --spin, and then, as long
 * as it works, at most so seldom.
 */
#define LONE_TIMES 10
#define LONE_MOST_NS 8000000000ull

static struct kworld *kw(struct world *w)
{
	return (struct kworld *)w;
}

/* How long a task may compute. While it is on trial it is stopped at every other tick. */
static void set_patience(struct kworld *k, bool trial)
{
	k->run.turn.spin_ns = trial ? SPIN_TRIAL_NS : sandbox_spin_ns(k->o.sandbox);
	k->run.turn.lone_ns = trial ? SPIN_TRIAL_NS : k->run.lone_ns;
}

void kworld_begin(struct kworld *k, bool stop_always)
{
	struct world *w = &k->w;

	/* nothing of the last execution may be taken for this one's */
	if (!k->o.launch.joined)
		kernel_forget(k->o.kernel, sandbox_slot(k->o.sandbox));
	w->frees = false;
	memset(w->tasks, 0, w->nr_tasks * sizeof(*w->tasks));
	memset(k->kt, 0, k->nr_kt * sizeof(*k->kt));
	if (k->by_kid)
		memset(k->by_kid, 0, k->nr_kid * sizeof(*k->by_kid));
	k->run = (struct kworld_run){
		.root_status = -1, .injected = WORLD_NO_TASK, .split_task = WORLD_NO_TASK, .begun_ns = clock_now_ns(),
		.turn = { .stop_always = stop_always, .own_only = k->o.own_only, .signals = k->o.signals },
		.lone_ns = LONE_TIMES * sandbox_spin_ns(k->o.sandbox),
		.stop_always = stop_always, .lease.ahead = WORLD_NO_TASK,
	};
	set_patience(k, false);
	k->told_events.first = k->told_events.end = 0;
	k->timed.nr = 0;
	id_map_clear(&k->by_tid);
	world_changed_all(w);
	kworld_waiters_reset(k);
	places_reset(k->o.places);
	id_map_clear(&k->callers.undecided);
	id_map_clear(&k->callers.calls);
	kworld_callers_begin(k);
	places_say_known(k->o.places, kernel_known_files(k->o.kernel, sandbox_slot(k->o.sandbox)), &kworld_state(k)->run);
	id_map_clear(&k->told);
	kworld_heat_fold(&k->heat);
	spin_reset(&k->spin);
	lane_watch_reset(&k->lane_watch);
	timers_reset(&k->timers);
	kworld_flows_reset(k);
	k->prefix.used = k->prefix.feeding = w->told_again = false;
}

static int kworld_start(struct world *w, bool stop_always, char *err, size_t errlen)
{
	struct kworld *k = kw(w);
	struct stat st;
	uint64_t before;
	uint32_t kid;
	int pid, ret;

	kworld_begin(k, stop_always);
	if (k->o.launch.joined)
		return 0;
	if (!fstat(k->o.launch.in, &st) && S_ISFIFO(st.st_mode))
		k->run.input = st.st_ino;
	if (kworld_take_copy(k))
		return 0;
	before = clock_now_ns();
	ret = sandbox_prepare(k->o.sandbox, err, errlen);
	if (ret)
		return ret;
	sandbox_reset(k->o.sandbox);
	pid = sandbox_launch(k->o.sandbox, &k->o.launch, &kid, err, errlen);
	if (pid < 0)
		return pid;
	k->run.root_pid = pid;
	k->run.spent.ns[SPENT_ENVIRONMENT] = clock_now_ns() - before;
	return 0;
}

/*
 * A task gets the turn. If that preempts one in a computation, which is a step of the schedule, so much of the test's time has
 * passed as a computation may take (--spin). While none is preempted none has, or a slow machine would have another clock.
 */
static void pass_computation(struct kworld *k, uint32_t task)
{
	uint32_t in = k->run.in_computation;

	k->run.in_computation = 0;
	if (in && in != task + 1 && kworld_virtual(k) && !kworld_state(k)->quiet)
		kworld_set_clock(k, kworld_state(k)->clock + LONE_TIMES * sandbox_spin_ns(k->o.sandbox));
}

int kworld_grant(struct world *w, uint32_t task)
{
	struct kworld *k = kw(w);

	world_changed(w, task);
	pass_computation(k, task);
	/* it has gone on already, for a call with a fault */
	if (k->run.injected == task) {
		k->run.injected = WORLD_NO_TASK;
		return 0;
	}
	if (k->debug)
		fprintf(stderr, "%8lu us GRANT     task %u\n", (unsigned long)(clock_now_ns() / 1000 % 100000000),
			k->kt[task].kid);
	/* it has passed the point that this is about */
	if (k->run.lease.ahead == task) {
		k->run.lease.ahead = WORLD_NO_TASK;
		w->tasks[task].state = TASK_RUNNING;
		kworld_waiters_follow(k, task);
		return 0;
	}
	/* the read half of a read-modify-write: the task stays where it is */
	if (kworld_split_granted(k, task)) {
		k->run.lease.nr = 0;
		k->run.lease.planned = false;
		k->run.lease.ended = ASK_PLACE;
		return 0;
	}
	w->tasks[task].state = TASK_RUNNING;
	kworld_waiters_follow(k, task);
	if (k->kt[task].watched) {
		k->kt[task].watched = false;
		k->run.stepping = k->kt[task].kid;
		sandbox_pause_watches(k->o.sandbox, true);
	}
	kworld_cwd_follow(k, task);
	kworld_set_alarm(k);
	kworld_lease_begin(k, task);
	lock_memory_forget(&k->locks);
	k->run.asked = false;
	return kworld_give_turn(k, k->kt[task].kid, w->tasks[task].pid);
}

static bool kworld_would_block(struct world *w, const struct world_task *t, uint32_t *owner)
{
	struct kworld *k = kw(w);
	struct ktask *kt = &k->kt[t->task];

	if (owner) {
		uint64_t addr = t->label.op == ZUG_OP_COND_WAIT ? kt->mutex : kt->lock;
		int tid = lock_owner(&k->locks, t->tgid, t->label.op, addr, kt->libc);

		*owner = tid > 0 ? kworld_task_of_tid(w, tid) : WORLD_NO_TASK;
		if (tid > 0 && *owner == WORLD_NO_TASK)
			*owner = kworld_dead_of_tid(w, tid);
	}
	/* a task whose wait may be interrupted has to be let into it */
	if (t->label.op == ZUG_OP_SEM_WAIT && kworld_waits_may_fail(k))
		return false;
	kt->would_block = lock_would_block(&k->locks, t->tgid, t->own_pid, t->label.op, kt->lock, kt->libc);
	kt->would_block_known = true;
	return kt->would_block;
}

static bool kworld_lock_memory(struct world *w, const struct world_task *t, uint64_t object,
			       struct misuse_memory *m)
{
	struct kworld *k = kw(w);
	const struct ktask *kt = &k->kt[t->task];
	const struct place_object *o = places_find_object(k->o.places, object);
	struct lock_state s;

	memset(m, 0, sizeof(*m));
	if (kt->mutex ? object == t->label.object2 : object == t->label.object) {
		/* a task that went on has changed its lock since: what was there at the point counts */
		if (t->state == TASK_RUNNING && !kt->have_words)
			return false;
		if (!lock_read(&k->locks, t->tgid, t->label.op, kt->mutex ? kt->mutex : kt->lock, kt->libc,
			       t->state == TASK_RUNNING ? kt->words : NULL, &s))
			return false;
	} else {
		int i = object == kt->mutexes[0].object ? 0 : 1;

		if (!object || object != kt->mutexes[i].object || t->state == TASK_RUNNING ||
		    !lock_read(&k->locks, t->tgid, kt->mutexes[i].op, kt->mutexes[i].addr, kt->mutexes[i].libc, NULL, &s))
			return false;
	}
	m->locked = s.locked;
	m->recursive = s.recursive;
	m->owner = s.owner ? kworld_task_of_tid(w, s.owner) : WORLD_NO_TASK;
	m->owner_known = m->owner != WORLD_NO_TASK;
	m->fixed = o && o->fixed;
	return true;
}

/* From here on the processor time of the test's tasks counts. */
static void note_cpu_time(struct kworld *k)
{
	k->run.cpu_ns = sandbox_cpu_ns(k->o.sandbox);
	k->run.cpu_known = true;
}

static int kworld_tend(struct world *w, uint64_t *ran_ns, char *err, size_t errlen)
{
	struct kworld *k = kw(w);
	const volatile struct zug_sandbox *z = kworld_state(k);
	uint32_t n = kworld_number(k, z->holder ? z->holder : z->grant);
	uint64_t used;
	int ret = lane_watch_look(&k->lane_watch, sandbox_lane(k->o.sandbox), n == WORLD_NO_TASK ? 0 : w->tasks[n].pid,
				  err, errlen);

	if (!k->run.cpu_known)
		note_cpu_time(k);
	used = sandbox_cpu_ns(k->o.sandbox);
	/* the control group tells nothing when another process has removed it, which is told as that */
	*ran_ns = used > k->run.cpu_ns ? used - k->run.cpu_ns : 0;
	return ret;
}

int kworld_registers(struct world *w, const struct world_task *t, uint64_t regs[18])
{
	struct kworld *k = kw(w);
	struct zug_ctl c = { .cmd = ZUG_CMD_REGS, .sandbox = sandbox_slot(k->o.sandbox), .pid = t->pid };
	int ret = kernel_ctl(k->o.kernel, &c);

	if (ret)
		return ret;
	memcpy(regs, c.regs.regs, sizeof(c.regs.regs));
	if (c.regs.stepped)
		regs[16] = c.regs.stepped;
	regs[17] = c.regs.fsbase;
	return 0;
}

/* Of a shell: the line of its script that it executes, outside of its own functions. */
static int add_script(struct kworld *k, const struct world_task *t, struct trace_frame *frames, int nr, int max)
{
	return nr > 0 && nr < max && symbols_have_scripts(k->o.symbols) &&
	       symbols_script(k->o.symbols, t->pid, &frames[nr]) == 1 && !path_is_installed(frames[nr].file) ? nr + 1 : nr;
}

static int kworld_stack(struct world *w, const struct world_task *t, struct trace_frame *frames,
			int max)
{
	struct user_registers regs;
	struct kworld *k = kw(w);
	const struct place_site *ps;
	uint64_t all[18];
	int ret;

	if (t->state == TASK_DEAD) {
		ps = places_find_site(k->o.places, k->kt[t->task].fault);
		return ps ? symfile_frames(probes_module(k->o.probes, ps->module)->file, ps->offset, frames,
					   max) : -ESRCH;
	}
	ret = kworld_registers(w, t, all);
	if (ret)
		return ret;
	memcpy(regs.r, all, sizeof(regs.r));
	regs.tls = all[17];
	return add_script(k, t, frames, symbols_unwind(k->o.symbols, t->tgid, t->pid, &regs, frames, max), max);
}

static bool same_frame(const struct trace_frame *a, const struct trace_frame *b)
{
	return a->function && b->function && a->line == b->line && !strcmp(a->function, b->function);
}

/* The frame that is at that place: a system call in assembler has a line of its own, and the task stands on the next one. */
static int frame_of(const struct trace_frame *frames, int nr, const struct trace_frame *here)
{
	for (int i = 0; i < nr; i++)
		if (same_frame(&frames[i], here))
			return i;
	for (int i = 0; i < nr && here->function; i++)
		if (frames[i].function && !strcmp(frames[i].function, here->function))
			return i;
	return nr;
}

/* The line of a script that a task executes now. */
static bool in_script(struct kworld *k, const struct world_task *t)
{
	struct ktask *kt = &k->kt[t->task];
	struct trace_frame frame;
	bool is;

	if (!symbols_have_scripts(k->o.symbols))
		return false;
	is = symbols_script(k->o.symbols, t->pid, &frame) == 1 && !path_is_installed(frame.file);
	if (is)
		kt->script = frame;
	kt->left_script = !is;
	return is;
}

/* The line of the script that has started what a task executes: its own before exec(), or that of a task which made it. */
static const struct trace_frame *started_by(const struct kworld *k, const struct world_task *t)
{
	uint32_t n = t->task;

	/* what made it may have gone on in its script meanwhile */
	while (n != WORLD_NO_TASK && k->kt[n].left_script && !k->kt[n].script.file)
		n = k->w.tasks[n].parent;
	return n != WORLD_NO_TASK && k->kt[n].left_script ? &k->kt[n].script : NULL;
}

bool kworld_has_own_code(const struct kworld *k, const struct world_task *t)
{
	char exe[PATH_MAX];
	uint64_t bias;

	if (!proc_exe(t->pid, exe, sizeof(exe)) || !path_is_installed(exe))
		return true;
	for (unsigned int i = 0; i < probes_nr_modules(k->o.probes); i++)
		if (!path_is_installed(probes_module(k->o.probes, i)->path) && !places_bias(k->o.places, t->process, i, &bias))
			return true;
	return false;
}

static int tell_caller(const struct trace_frame *f, char *text, size_t len)
{
	snprintf(text, len, "%s\t%s", f->function ? f->function : "", f->file);
	return f->line;
}

static int kworld_own_caller(struct world *w, const struct world_task *t, char *text, size_t len)
{
	const struct place_site *ps = places_find_site(kw(w)->o.places, t->label.site);
	const struct trace_frame *script;
	struct symfile *f = ps ? probes_module(kw(w)->o.probes, ps->module)->file : NULL;
	struct trace_frame here[16], frames[64];
	int nr_here, nr = 0, i = 0, own;
	uint64_t all[18];

	if (in_script(kw(w), t))
		return tell_caller(&kw(w)->kt[t->task].script, text, len);
	nr_here = f ? symfile_frames(f, ps->offset, here, 16) : 0;
	if (symbols_own_frame(here, nr_here) >= 0 && !symfile_interprets(f))
		return -ENOENT;
	/* of an interpreter the lines that it executes are the program's */
	if (symbols_interpret(kw(w)->o.symbols) && !kworld_registers(w, t, all))
		nr = symbols_interpreted(kw(w)->o.symbols, t->pid, all[17], frames, 64);
	own = symbols_own_frame(frames, nr);
	/* or else those of its library */
	for (int k = 0; own < 0 && k < nr; k++)
		if (frames[k].line && symbols_is_source(frames[k].file))
			own = k;
	/* to unwind a stack takes milliseconds */
	if (own < 0 && nr_here > 0 && here[0].line && kworld_has_own_code(kw(w), t)) {
		nr = kworld_stack(w, t, frames, 64);
		i = frame_of(frames, nr, &here[0]);
		own = i < nr ? symbols_own_frame(frames + i, nr - i) : -1;
	}
	if (own >= 0)
		return tell_caller(&frames[i + own], text, len);
	script = started_by(kw(w), t);
	return script ? tell_caller(script, text, len) : -ENOENT;
}

static uint32_t kworld_goroutine(struct world *w, const struct world_task *t)
{
	const struct place_site *ps = places_find_site(kw(w)->o.places, t->label.site);
	const struct probe_module *m = ps ? probes_module(kw(w)->o.probes, ps->module) : NULL;
	uint64_t all[18];

	if (!m || !m->go || kworld_registers(w, t, all))
		return 0;
	return symfile_goroutine(m->file, t->pid, all[17]);
}

static int kworld_unprobe(struct world *w, const struct world_task *t, uint64_t addr, uint8_t *code, size_t len)
{
	struct kworld *k = kw(w);
	int nr = 0;

	for (unsigned int i = 0; i < probes_nr_sites(k->o.probes); i++) {
		const struct probe_site *s = probes_site(k->o.probes, i);
		const struct probe_module *m = probes_module(k->o.probes, s->module);
		uint64_t bias, at;
		int fd;

		if (places_bias(k->o.places, t->process, s->module, &bias))
			continue;
		at = symfile_vaddr_of(m->file, s->offset) + bias;
		if (at < addr || at - addr >= len)
			continue;
		/* the file itself has no breakpoints */
		fd = open(m->path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		nr += pread(fd, code + (at - addr), 1, s->offset) == 1;
		close(fd);
	}
	return nr;
}

static int kworld_memory(const uint64_t regs[18], const uint8_t *code, size_t len, struct world_access *a, int max)
{
	struct code_memory m[8];
	int nr = code_memory(code, len, regs, m, max < 8 ? max : 8);

	for (int i = 0; i < nr; i++)
		a[i] = (struct world_access){ .addr = m[i].addr, .size = m[i].size, .write = m[i].write };
	return nr;
}

static bool kworld_watched(struct world *w, const struct world_task *t, uint64_t addr, uint64_t size)
{
	char exe[32];
	struct stat st;

	snprintf(exe, sizeof(exe), "/proc/%d/exe", t->tgid);
	return !stat(exe, &st) && kernel_watched(kw(w)->o.kernel, addr, size, kernel_dev(st.st_dev), st.st_ino);
}

static void kworld_pause_watched(struct world *w, bool off)
{
	sandbox_pause_watches(kw(w)->o.sandbox, off);
}

/* A time-out may expire, or a timer fire, when the time has come. */
static bool time_helps(const struct kworld *k)
{
	return kworld_next_timer(k) != UINT64_MAX || kworld_waits_timed(k);
}

static enum spin_verdict kworld_spins(struct world *w, const struct world_task *t)
{
	struct kworld *k = kw(w);
	bool timer = t->label.op == ZUG_OP_SPIN, others = timer && !k->run.lone_stop;
	bool quiet = others && kworld_state(k)->quiet;
	struct zug_ctl c = { .cmd = ZUG_CMD_REGS, .sandbox = sandbox_slot(k->o.sandbox), .pid = t->pid };
	enum spin_verdict v = SPIN_NO;

	/* between the load and the store of one instruction it has not gone on, so it cannot have come back */
	if (k->kt[t->task].split.phase == SPLIT_WRITE)
		return SPIN_AGAIN;
	if (!kernel_ctl(k->o.kernel, &c))
		v = spin_sample(&k->spin, t->task, t->pid, !timer, &c.regs);
	/* it goes round until there are enough places of the loop, which may call functions: its loads are near one of them */
	if (v == SPIN_PROVEN && others && !quiet && !k->run.computed_long)
		v = SPIN_AGAIN;
	/* one that works is looked at more and more seldom */
	if (v == SPIN_NO && timer && k->run.lone_ns < LONE_MOST_NS)
		k->run.lone_ns *= 2;
	set_patience(k, v == SPIN_AGAIN);
	if (v == SPIN_PROVEN && timer && (quiet || time_helps(k)))
		kworld_loops(k, t->task, t->label.site);
	if (v == SPIN_NO && quiet && kworld_waits_quietly(k, t))
		v = SPIN_WAITS;
	return v;
}

static uint64_t kworld_standing(struct world *w, const struct world_task *t)
{
	struct kworld *k = kw(w);
	struct zug_ctl c = { .cmd = ZUG_CMD_REGS, .sandbox = sandbox_slot(k->o.sandbox), .pid = t->pid };

	return t->state == TASK_PARKED && !kernel_ctl(k->o.kernel, &c) ? spin_standing(t->pid, &c.regs) : 0;
}

static int kworld_stop(struct world *w, bool always)
{
	struct kworld *k = kw(w);
	struct zug_ctl c = { .cmd = ZUG_CMD_TURN, .sandbox = sandbox_slot(k->o.sandbox) };

	k->run.turn.stop_always = always || k->run.stop_always;
	spin_reset(&k->spin);
	c.turn = k->run.turn;
	return kernel_ctl(k->o.kernel, &c);
}

static void kworld_spent(struct world *w, struct spent *s)
{
	struct kworld *k = kw(w);
	const volatile struct zug_sandbox *z = kworld_state(k);

	spent_add(s, &k->run.spent);
	s->ns[SPENT_TEST] += z->ran_ns;
	s->ns[SPENT_STOP] += z->stop_ns;
	s->ns[SPENT_GRANT] += z->grant_ns;
	s->points += z->nr_points;
	s->asked += z->nr_asks;
}

static void kworld_status(struct world *w, struct world_status *s)
{
	struct kworld *k = kw(w);
	const volatile struct zug_sandbox *z = kworld_state(k);

	s->now = clock_now_ns();
	if (!k->run.cpu_known && s->now - k->run.begun_ns > SHORT_NS)
		note_cpu_time(k);
	s->clock = z->clock;
	s->quiet = kworld_state(k)->quiet;
	s->several = k->run.several;
	s->next_timer = kworld_next_timer(k);
	s->ungranted = z->nr_ungranted;
}

/*
 * What has left the cgroup is not killed with it, nor what it has created since. While the tasks are
 * parked, none can escape by a fork.
 */
static void kill_strays(struct kworld *k)
{
	for (uint32_t i = 0; i < k->w.nr_tasks; i++)
		if (world_lives(&k->w.tasks[i]))
			sandbox_kill_stray(k->o.sandbox, k->w.tasks[i].tgid);
}

/*
 * A goroutine that waits has no thread, so the stacks of a Go program's threads do not show it. The runtime prints all
 * goroutines when it gets SIGQUIT, and ends.
 */
static void ask_goroutines(struct kworld *k)
{
	uint64_t bias;

	for (uint32_t m = 0; k->w.nr_tasks && m < probes_nr_modules(k->o.probes); m++)
		if (probes_module(k->o.probes, m)->go && !places_bias(k->o.places, k->w.tasks[0].process, m, &bias)) {
			sandbox_quit(k->o.sandbox, k->run.root_pid);
			return;
		}
}

static int kworld_drain(struct world *w, int *status, char *err, size_t errlen)
{
	struct kworld *k = kw(w);
	const char *words;
	int ret, finish = 0;

	/* it would keep a file system of the test busy */
	kworld_root_close(&k->cwd);
	if (k->run.left)
		kill_strays(k);
	if (w->hangs && k->run.root_pid > 0 && !k->o.launch.joined)
		ask_goroutines(k);
	ret = sandbox_drain(k->o.sandbox, k->run.root_pid, status);
	if (k->o.launch.joined)
		*status = k->run.root_status;
	if (!ret && k->run.root_pid > 0)
		finish = sandbox_finish(k->o.sandbox, &k->o.launch, err, errlen);
	/* what ran without a grant may have been let go by the kernel */
	words = kworld_state(k)->nr_ungranted ? kernel_thrown_out(k->o.kernel) : NULL;
	if (words) {
		snprintf(err, errlen, "the kernel ejected the scheduler: %s", words);
		return -EPIPE;
	}
	if (ret == -ETIME)
		snprintf(err, errlen, "tasks of the test do not die (see %s/cgroup.procs): they are stuck "
			 "in the kernel", sandbox_cgroup(k->o.sandbox));
	else if (ret)
		snprintf(err, errlen, "cannot end the execution: %s", strerror(-ret));
	return ret ? ret : finish;
}

/* ---- describing ---- */

/* True when the trace of this execution has not been told of that yet. */
static bool tell(struct kworld *k, uint64_t id)
{
	bool added = false;

	return id_map_add(&k->told, id, 0, &added) && added;
}

static int describe_object(struct kworld *k, struct trace_writer *t, uint64_t id)
{
	const struct place_object *o;

	if (!id || !tell(k, id))
		return 0;
	o = places_find_object(k->o.places, id);
	return o ? trace_add_object(t, &(struct trace_object){ .object = id, .kind = o->kind,
							       .name = o->name }) : 0;
}

static int kworld_describe(struct world *w, struct trace_writer *t, const struct zug_label *l)
{
	struct kworld *k = kw(w);
	const struct place_site *ps;
	int ret;

	for (; k->run.told_modules < probes_nr_modules(k->o.probes); k->run.told_modules++) {
		const struct probe_module *m = probes_module(k->o.probes, k->run.told_modules);

		ret = trace_add_module(t, &(struct trace_module){
			.module = k->run.told_modules, .path = m->path,
			/* one that the test makes is not there to be compared */
			.build_id = m->made ? "" : symfile_build_id(m->file) });
		if (ret)
			return ret;
	}
	if (l->site && tell(k, l->site ^ 0x5175) && (ps = places_find_site(k->o.places, l->site))) {
		ret = trace_add_site(t, &(struct trace_site){ .site = ps->site, .module = ps->module,
							      .offset = ps->offset });
		if (ret)
			return ret;
	}
	ret = describe_object(k, t, l->object);
	return ret ? ret : describe_object(k, t, l->object2);
}

static const char *kworld_object_name(struct world *w, uint64_t object)
{
	const struct place_object *o = object ? places_find_object(kw(w)->o.places, object) : NULL;

	return o ? o->name : NULL;
}

static const struct world_ops kworld_ops = {
	.start = kworld_start,
	.next = kworld_next,
	.grant = kworld_grant,
	.lease = kworld_lease,
	.lease_ended = kworld_lease_ended,
	.spent = kworld_spent,
	.status = kworld_status,
	.in_flight = kworld_in_flight,
	.would_block = kworld_would_block,
	.lock_memory = kworld_lock_memory,
	.spins = kworld_spins,
	.standing = kworld_standing,
	.expire = kworld_expire,
	.timer = kworld_timer,
	.timer_kills = kworld_timer_kills,
	.faults = kworld_faults,
	.inject = kworld_inject,
	.choose = kworld_choose,
	.tend = kworld_tend,
	.stop = kworld_stop,
	.drain = kworld_drain,
	.stack = kworld_stack,
	.caller = kworld_own_caller, .goroutine = kworld_goroutine,
	.describe = kworld_describe,
	.object_name = kworld_object_name,
	.other_end = kworld_other_end,
};

static const struct world_inspection kworld_inspection = {
	.registers = kworld_registers,
	.unprobe = kworld_unprobe,
	.memory = kworld_memory,
	.watched = kworld_watched,
	.pause_watched = kworld_pause_watched,
};

struct world *kworld_new(const struct kworld_options *o)
{
	struct kworld *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->w.ops = &kworld_ops;
	k->w.inspection = &kworld_inspection;
	k->w.changes.kept = k->w.changes.all = true;
	k->o = *o;
	k->debug = debug_word("events");
	if (!kworld_room(k, 16)) {
		kworld_free(&k->w);
		return NULL;
	}
	return &k->w;
}

struct launch *kworld_launch(struct world *w)
{
	return &kw(w)->o.launch;
}

void kworld_explore_timeouts(struct world *w, bool may)
{
	kw(w)->o.explore_timeouts = may;
}

void kworld_own_only(struct world *w, bool only)
{
	kw(w)->o.own_only = only;
}

void kworld_hear_signals(struct world *w, uint64_t signals)
{
	kw(w)->o.signals = signals;
}

uint64_t kworld_signals_sent(const struct world *w)
{
	return kworld_state((struct kworld *)w)->signals_sent;
}

void kworld_free(struct world *w)
{
	struct kworld *k = kw(w);

	if (!w)
		return;
	free(k->w.tasks);
	free(k->w.changes.list);
	free(k->kt);
	free(k->by_kid);
	id_map_free(&k->by_tid);
	free(k->told_events.list);
	free(k->prefix.list);
	timers_free(&k->timers);
	kworld_flows_free(k);
	kworld_waiters_free(k);
	free(k->timed.list);
	id_map_free(&k->told);
	kworld_heat_free(&k->heat);
	kworld_callers_free(&k->callers);
	kworld_looks_free(&k->looks);
	kworld_root_close(&k->root);
	kworld_root_close(&k->cwd);
	free(k);
}
