/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sandbox_keep.c - which environment the next execution has
 *
 * It has the last one's where that is certainly as it was: then nothing is made. Otherwise it has
 * another one, which was made while the last execution ran, if the one before had needed another
 * one, too. The network namespace is replaced by itself: it may be used where no file is written,
 * and the other way round. Copies of a template enter what has taken another one's place. What is
 * replaced ends while the next execution runs.
 *
 * Two means tell what an execution has changed, both in bpf/environment.bpf.h. The attributes of the
 * folders that exist from the beginning are compared here. What --setup and --teardown do is not
 * seen: with them no environment is used again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "kernel/machine.h"
#include "lib/base/rights.h"
#include "sandbox/sandbox_internal.h"

/* Executions whose working folder is searched for files that will be thrown away. */
#define LOOKS 16

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_mode == b->st_mode &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* True when a space that was made now would be another one. */
static bool outdated(const struct sandbox *s, const struct space *p)
{
	struct stat st;

	if (p->origin.generation != s->env.generation)
		return true;
	for (int i = 0; i < s->env.nr_folders; i++)
		if (stat(s->env.folder[i].path, &st) || !same_file(&st, &p->origin.lower[i]))
			return true;
	return false;
}

bool sandbox_same_origin(const struct sandbox *s, const struct space_origin *a, const struct space_origin *b)
{
	if (a->generation != b->generation)
		return false;
	for (int i = 0; i < s->env.nr_folders; i++)
		if (!same_file(&a->lower[i], &b->lower[i]))
			return false;
	return true;
}

/* What the kernel says of the environment. 0 or -errno. */
static int ask(const struct sandbox *s, struct zug_environment *e)
{
	const struct space *p = s->env.space;
	struct zug_ctl c = {
		.cmd = ZUG_CMD_ENVIRONMENT, .sandbox = s->slot,
		.environment.fd = {
			[ZUG_ENV_FD_FILES] = p->files, [ZUG_ENV_FD_SHM] = p->shm, [ZUG_ENV_FD_MNT_NS] = p->mnt_ns,
			[ZUG_ENV_FD_IPC_NS] = p->ipc_ns, [ZUG_ENV_FD_PID_NS] = s->env.pid_ns,
		},
	};
	int ret = kernel_ctl(s->k, &c);

	*e = c.environment;
	return ret;
}

static bool space_used(struct sandbox *s, const struct zug_environment *now)
{
	struct space *p = s->env.space;

	return s->env.used & (ZUG_ENV_MOUNTS | ZUG_ENV_IPC | ZUG_ENV_HOST | ZUG_ENV_FILES) || !p->known ||
	       now->files_ino != p->was.files_ino || now->shm_ino != p->was.shm_ino || now->mounts != p->was.mounts ||
	       now->ipc_made || !space_folders_as_they_were(p);
}

/* It ends while we go on. */
static void retire(struct environment *w, struct space *p)
{
	space_free(w->old);
	w->old = p;
	space_end(p);
}

static void drop_space(struct environment *w)
{
	retire(w, w->space);
	w->space = NULL;
	w->used &= ZUG_ENV_NET;
}

static void drop_net(struct environment *w)
{
	if (w->space->net == w->net)
		w->space->net = -1;
	close(w->net);
	w->net = -1;
	w->used &= ~ZUG_ENV_NET;
}

void sandbox_environment_end(struct sandbox *s)
{
	struct environment *w = &s->env;
	struct zug_environment now = { 0 };
	bool never = w->rebuild || s->o.setup || s->o.teardown;
	RIGHTS_RAISED;

	for (int i = 0; i < SANDBOX_NR_NS; i++)
		if (w->ns[i] >= 0) {
			close(w->ns[i]);
			w->ns[i] = -1;
		}
	if (!w->in_use)
		return;
	w->in_use = false;
	w->used |= kernel_sandbox(s->k, s->slot)->env_used;
	/* it may make a network: then it is busy with our descriptors */
	space_wait(w->space);
	if (ask(s, &now))
		never = true;
	/* 1 is ours; where only the template is beside it, nothing of this execution is left that could change anything */
	if (never || w->helpers || now.nr_pids > 1 + !!s->template.pid)
		sandbox_environment_kill(s);
	else if (s->template.pid)
		sandbox_environment_first_pid(s);
	w->helpers = false;
	w->writes = s->o.own & (SANDBOX_FILES | SANDBOX_IPC | SANDBOX_HOST) && (never || space_used(s, &now));
	w->talks = w->net >= 0 && (never || w->used & ZUG_ENV_NET);
	w->fresh = !never;
	if (w->writes && !w->thrown[0] && w->looks++ < LOOKS)
		sandbox_environment_find_thrown(s);
	if (w->talks)
		drop_net(w);
	/* one that the thread has made in advance */
	if (w->net < 0 && w->space->next_net >= 0) {
		w->net = w->space->next_net;
		w->space->next_net = -1;
		w->nr_nets++;
	}
	if (w->writes)
		drop_space(w);
}

/* The space is to be w->space, where it has not been before if it is new. 0, or -errno with a line in err. */
static int take(struct sandbox *s, struct space *p, bool new, char *err, size_t errlen)
{
	struct environment *w = &s->env;
	int ret = p ? 0 : -ENOMEM;

	if (p) {
		space_wait(p);
		ret = p->failed ? -p->err : 0;
	}
	if (ret) {
		snprintf(err, errlen, "cannot create the test's environment: cannot %s: %s",
			 p ? p->failed : "start a thread", strerror(-ret));
		space_free(p);
		return ret;
	}
	w->space = p;
	w->nr_spaces += new;
	if (w->net < 0) {
		w->net = p->next_net;
		p->next_net = -1;
		w->nr_nets += w->net >= 0;
	}
	return 0;
}

int sandbox_prepare(struct sandbox *s, char *err, size_t errlen)
{
	struct environment *w = &s->env;
	bool net = s->o.own & SANDBOX_NET;
	struct space *p;
	int ret;

	ret = sandbox_show_cpus(s);
	if (ret) {
		snprintf(err, errlen, "cannot show the test %d CPUs: %s%s", s->o.nr_cpus, strerror(-ret),
			 ret == -EPERM && machine_locked_down("integrity") ?
			 ": the kernel is locked down (secure boot); leave --cpus out" : "");
		return ret;
	}
	/* the last execution has not come to its end, or never began */
	if (w->in_use)
		sandbox_environment_end(s);
	if (w->space && outdated(s, w->space))
		drop_space(w);
	if (!w->space && w->spare) {
		p = w->spare;
		w->spare = NULL;
		space_wait(p);
		if (p->failed || outdated(s, p))
			retire(w, p);
		else if ((ret = take(s, p, true, err, errlen)))
			return ret;
	}
	if (!w->space) {
		ret = take(s, space_new(s, net && w->net < 0), true, err, errlen);
		if (ret)
			return ret;
	}
	if (net && w->net < 0) {
		p = w->space;
		w->space = NULL;
		p->failed = NULL;
		space_do(p, space_make_net, NULL);
		ret = take(s, p, false, err, errlen);
		if (ret)
			return ret;
	}
	if (s->o.virtual_time)
		space_wait_for_clock(w->space);
	if (!w->space->known)
		w->space->known = !ask(s, &w->space->was);
	sandbox_environment_wait(s);
	w->in_use = true;
	return 0;
}

void sandbox_environment_began(struct sandbox *s, pid_t root)
{
	struct environment *w = &s->env;
	char path[64];

	if (s->o.own & SANDBOX_PIDS && w->cgroup_ns < 0) {
		snprintf(path, sizeof(path), "/proc/%d/ns/cgroup", root);
		rights_raise();
		w->cgroup_ns = open(path, O_RDONLY | O_CLOEXEC);
		rights_lower();
	}
	/* where that fails, the next execution waits for what it needs */
	if (w->writes && !w->spare)
		w->spare = space_new(s, w->talks);
	else if (w->talks && w->space->next_net < 0)
		space_do(w->space, space_make_net, NULL);
}

void sandbox_environment_settle(struct sandbox *s)
{
	if (s->env.spare)
		space_wait(s->env.spare);
	s->env.generation++;
}

const char *sandbox_environment_try(struct sandbox *s, int *err)
{
	struct environment *w = &s->env;
	const char *failed;

	w->spare = space_new(s, s->o.own & SANDBOX_NET);
	*err = ENOMEM;
	if (!w->spare)
		return "start a thread";
	space_wait(w->spare);
	failed = w->spare->failed;
	if (!failed)
		return NULL;
	*err = w->spare->err;
	space_free(w->spare);
	w->spare = NULL;
	return failed;
}

void sandbox_environment_forget(struct sandbox *s)
{
	struct environment *w = &s->env;

	space_free(w->space);
	space_free(w->spare);
	space_free(w->old);
	if (w->net >= 0)
		close(w->net);
}
