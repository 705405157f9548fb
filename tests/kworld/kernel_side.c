/* SPDX-License-Identifier: GPL-2.0-only */
/* kernel_side.c - functions of kernel.c and of the sandbox, and a world that is built on them */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "kernel_side.h"

/* ---- the kernel side ---- */

struct kernel_side side;

struct zug_event *side_put(enum zug_event_kind kind, uint32_t kid, uint32_t flags)
{
	struct zug_event *e = &side.ring[side.nr_ring++];

	*e = (struct zug_event){ .kind = kind, .task = kid, .pid = 0x7fff0000 + kid, .tgid = 0x7fff0000, .flags = flags,
				 .nr = -1, .site = ZUG_NO_SITE };
	return e;
}

int kernel_event(struct kernel *k, unsigned int slot, struct zug_event *e, int64_t timeout_us, int extra_fd)
{
	(void)k;
	(void)slot;
	(void)timeout_us;
	(void)extra_fd;
	if (side.refuse)
		return side.refuse;
	if (side.next_ring == side.nr_ring)
		return 0;
	*e = side.ring[side.next_ring++];
	return 1;
}

int kernel_ctl(struct kernel *k, struct zug_ctl *c)
{
	(void)k;
	side.commands[side.nr_commands++] = *c;
	if (c->cmd == ZUG_CMD_GRANT && side.on_grant)
		side.on_grant(c->task);
	return 0;
}

const volatile struct zug_sandbox *kernel_sandbox(struct kernel *k, unsigned int slot)
{
	(void)k;
	(void)slot;
	return &side.state;
}

const struct zug_call *kernel_call(struct kernel *k, unsigned int slot)
{
	(void)k;
	(void)slot;
	return &side.call;
}

volatile struct zug_known_file *kernel_known_files(struct kernel *k, unsigned int slot)
{
	(void)k;
	(void)slot;
	return side.known;
}

void kernel_tell_step(struct kernel *k, uint32_t module, uint64_t offset, const struct zug_caller *c)
{
}

uint64_t kernel_probes_changed(const struct kernel *k)
{
	return 0;
}

uint32_t kernel_probes_round(const struct kernel *k)
{
	(void)k;
	return 0;
}

void kernel_tell_caller(struct kernel *k, uint32_t mm, uint32_t run, uint64_t addr, const struct zug_caller *c)
{
}

void kernel_tell_code(struct kernel *k, uint32_t slot, uint64_t addr, const struct zug_code *c)
{
}

struct zug_lease *kernel_lease(struct kernel *k, unsigned int slot)
{
	(void)k;
	(void)slot;
	return &side.lease;
}

void kernel_forget(struct kernel *k, unsigned int slot)
{
	(void)k;
	(void)slot;
	side.nr_ring = side.next_ring = 0;
}

const char *kernel_ejected(struct kernel *k)
{
	(void)k;
	return NULL;
}

const char *kernel_thrown_out(struct kernel *k)
{
	return kernel_ejected(k);
}

uint32_t kernel_dev(uint64_t st_dev)
{
	return st_dev;
}

bool kernel_watched(const struct kernel *k, uint64_t addr, uint64_t size, uint32_t exe_dev, uint64_t exe_ino)
{
	return false;
}

bool kernel_can_answer(struct kernel *k)
{
	(void)k;
	return false;
}

int kernel_add_module(struct kernel *k, uint64_t ino, uint64_t st_dev, const struct zug_module *module)
{
	(void)k;
	(void)ino;
	(void)st_dev;
	(void)module;
	return -ENOSYS;
}

int kernel_add_probes(struct kernel *k, uint32_t module, const char *file, const struct kernel_probe *probes, int nr, int *bad)
{
	(void)k;
	(void)module;
	(void)file;
	(void)probes;
	(void)nr;
	(void)bad;
	return -ENOSYS;
}

int kernel_add_answers(struct kernel *k, uint32_t module, const char *file, const struct kernel_answer *list, int nr)
{
	(void)k;
	(void)module;
	(void)file;
	(void)list;
	(void)nr;
	return -ENOSYS;
}

int kernel_planted(struct kernel *k, struct kernel_refused *refused)
{
	(void)k;
	(void)refused;
	return 0;
}

/* ---- the sandbox ---- */

unsigned int sandbox_slot(const struct sandbox *s)
{
	(void)s;
	return 0;
}

int sandbox_lane(const struct sandbox *s)
{
	(void)s;
	return 0;
}

uint64_t sandbox_spin_ns(const struct sandbox *s)
{
	(void)s;
	return 5;
}

uint64_t sandbox_cpu_ns(const struct sandbox *s)
{
	(void)s;
	return 0;
}

int sandbox_prepare(struct sandbox *s, char *err, size_t errlen)
{
	(void)s;
	(void)err;
	(void)errlen;
	return 0;
}

void sandbox_kill_stray(struct sandbox *s, pid_t pid)
{
	/* no task of these tests leaves its cgroup */
	abort();
}

const char *sandbox_cgroup(const struct sandbox *s)
{
	(void)s;
	return "";
}

void sandbox_reset(struct sandbox *s)
{
	(void)s;
	memset(&side.state, 0, sizeof(side.state));
}

void sandbox_pause_watches(struct sandbox *s, bool off)
{
	(void)s;
	(void)off;
}

int sandbox_launch(struct sandbox *s, const struct launch *l, uint32_t *kid, char *err, size_t errlen)
{
	(void)s;
	(void)l;
	(void)err;
	(void)errlen;
	*kid = 1;
	return 1;
}

unsigned int kernel_spin_us(const struct kernel *k)
{
	(void)k;
	return 0;
}

int sandbox_template_follow(struct sandbox *s, pid_t prototype, char *why, size_t len)
{
	(void)s;
	(void)prototype;
	(void)why;
	(void)len;
	if (++side.way == 2)
		side_put(ZUG_EV_START, 1, ZUG_EF_ASK);
	if (side.way == 3 && side.hastened)
		side_put(side.misses ? ZUG_EV_YIELD : ZUG_EV_FRESH, 1, ZUG_EF_ASK)->arg[0] = 1;
	if (side.way == 4)
		side_put(side.bad_stop ? ZUG_EV_YIELD : ZUG_EV_RETURNS, 1, side.bad_stop ? ZUG_EF_ASK : 0);
	return side.way == 5;
}

void sandbox_template_learn(struct sandbox *s)
{
	(void)s;
	side.way = side.hastens ? 0 : side.way;
}

bool sandbox_template_hasten(struct sandbox *s, bool wanted)
{
	(void)s;
	return side.hastened = side.hastens && wanted;
}

void sandbox_template_halt(struct sandbox *s, pid_t prototype)
{
	(void)s;
	(void)prototype;
	side.nr_halts++;
}

bool sandbox_template_earlier(struct sandbox *s)
{
	return false;
}

int sandbox_template_keep(struct sandbox *s, pid_t prototype, char *why, size_t len)
{
	(void)s;
	(void)prototype;
	(void)why;
	(void)len;
	side.there = true;
	return 0;
}

bool sandbox_template_there(const struct sandbox *s)
{
	(void)s;
	return side.there;
}

void sandbox_template_touch(struct sandbox *s, uint64_t addr, size_t len)
{
	(void)s;
	side.nr_touched += len > 0;
	side.touched = addr;
}

void sandbox_template_drop(struct sandbox *s)
{
	(void)s;
	side.there = false;
}

pid_t sandbox_template_fork(struct sandbox *s)
{
	(void)s;
	side.nr_forks++;
	return 0x7fff0009;
}

int sandbox_template_go(struct sandbox *s, pid_t first, const struct zug_turn *turn)
{
	(void)s;
	side.nr_gone += first == 0x7fff0009 && turn->spin_ns == 5;
	return 0;
}

void sandbox_quit(struct sandbox *s, pid_t root)
{
	(void)s;
	(void)root;
}

int sandbox_drain(struct sandbox *s, pid_t root, int *status)
{
	(void)s;
	(void)root;
	*status = 0;
	return 0;
}

int sandbox_finish(struct sandbox *s, const struct launch *l, char *err, size_t errlen)
{
	(void)s;
	(void)l;
	(void)err;
	(void)errlen;
	return 0;
}

bool sandbox_net_closed(const struct sandbox *s)
{
	(void)s;
	return true;
}

int sandbox_privatise(struct sandbox *s, const char *path, const char **copy, char *err, size_t errlen)
{
	(void)s;
	(void)path;
	(void)copy;
	(void)err;
	(void)errlen;
	return -ENOENT;
}

/* ---- worlds ---- */

struct kworld *side_begin(void)
{
	struct probes *probes = probes_new(NULL, NULL, NULL);
	struct kworld_options o = { .spawn = &side.spawn, .probes = probes, .places = places_new(probes, NULL), .wake_fd = -1,
				    .launch.in = -1 };
	struct kworld *k = (struct kworld *)kworld_new(&o);
	struct world_event ev;

	side.on_grant = NULL;
	side.refuse = 0;
	k->w.ops->start(&k->w, true, side.err, sizeof(side.err));
	side.nr_commands = 0;
	side_put(ZUG_EV_START, 1, 0);
	side_put(ZUG_EV_NEW, 2, ZUG_EF_THREAD)->arg[0] = 1;
	side_put(ZUG_EV_NEW, 3, ZUG_EF_THREAD)->arg[0] = 1;
	side_put(ZUG_EV_WAKE, 2, ZUG_EF_NEW)->arg[0] = 1;
	side_put(ZUG_EV_YIELD, 1, ZUG_EF_ASK);
	while (k->w.ops->next(&k->w, &ev, 0, side.err, sizeof(side.err)) == 1)
		;
	return k;
}

void side_end(struct kworld *k)
{
	struct places *p = k->o.places;
	struct probes *probes = k->o.probes;

	kworld_free(&k->w);
	places_free(p);
	probes_free(probes);
}

bool side_next_is(struct kworld *k, enum world_event_kind kind, uint32_t task, bool ask)
{
	struct world_event ev;

	return k->w.ops->next(&k->w, &ev, 0, side.err, sizeof(side.err)) == 1 && ev.kind == kind && ev.task == task && ev.ask == ask;
}

bool side_nothing_next(struct kworld *k)
{
	struct world_event ev;

	return k->w.ops->next(&k->w, &ev, 0, side.err, sizeof(side.err)) == 0;
}

enum task_state_kind side_state_of(const struct kworld *k, uint32_t task)
{
	return k->w.tasks[task].state;
}

