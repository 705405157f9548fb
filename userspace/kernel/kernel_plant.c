/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Planting beside: breakpoints that a search is to have by its next execution
 *
 * Before the kernel plants the first one it waits until all CPUs know that something is to be planted (a grace period of RCU,
 * some 15 ms), and for those that follow soon it does not. There is enough else to do until the test begins. So a thread
 * plants, in the order in which it was asked, and kernel_planted() waits for it.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "kernel/kernel_internal.h"
#include "kernel/programs.h"
#include "lib/base/array.h"
#include "lib/base/rights.h"

int kernel_attach_multi(struct kernel *k, const char *prog, const char *file, const unsigned long *offsets,
			const __u64 *cookies, size_t nr)
{
	LIBBPF_OPTS(bpf_link_create_opts, o, .uprobe_multi = {
		.path = file, .offsets = offsets, .cookies = cookies, .cnt = nr,
	});
	RIGHTS_RAISED;
	int link = bpf_link_create(programs_fd(k->programs, prog), 0, BPF_TRACE_UPROBE_MULTI, &o);

	return link < 0 ? -errno : link;
}

int kernel_refused_place(struct kernel *k, const char *file, const unsigned long *offsets, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		int link = kernel_attach_multi(k, "zug_plant", file, &offsets[i], NULL, 1);

		if (link < 0)
			return (int)i;
		close(link);
	}
	return -1;
}

int kernel_keep_link(struct kernel *k, int link)
{
	if (!ARRAY_RESERVE(k->links, k->room_links, k->nr_links + 1)) {
		close(link);
		return -ENOMEM;
	}
	k->links[k->nr_links++] = link;
	return 0;
}

static void plant_free(struct plant *p)
{
	free(p->file);
	free(p->offsets);
	free(p->cookies);
	free(p);
}

static void plant(struct kernel *k, struct plant *p)
{
	p->link = kernel_attach_multi(k, p->answers ? "zug_answer" : "zug_plant", p->file, p->offsets, p->cookies, p->nr);
	if (p->link < 0 && !p->answers)
		p->bad = kernel_refused_place(k, p->file, p->offsets, p->nr);
}

/* Until nothing is left to be planted. */
static void plant_all(struct kernel *k)
{
	struct plant *p;

	pthread_mutex_lock(&k->plant_lock);
	while ((p = k->to_plant)) {
		pthread_mutex_unlock(&k->plant_lock);
		plant(k, p);
		pthread_mutex_lock(&k->plant_lock);
		k->to_plant = p->next;
	}
	k->planting = false;
	pthread_mutex_unlock(&k->plant_lock);
}

static void *plant_main(void *arg)
{
	rights_thread();
	plant_all(arg);
	return NULL;
}

static void join(struct kernel *k)
{
	if (k->plants_beside)
		pthread_join(k->plant_thread, NULL);
	k->plants_beside = false;
}

static void begin_planting(struct kernel *k)
{
	sigset_t all, mask;

	join(k);
	/* signals are for the other threads */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	k->plants_beside = !pthread_create(&k->plant_thread, NULL, plant_main, k);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (!k->plants_beside)
		plant_all(k);
}

int kernel_plant_later(struct kernel *k, const struct plant *what)
{
	struct plant *p = malloc(sizeof(*p)), **end = &k->plants;
	bool begins;

	if (!p)
		return -ENOMEM;
	*p = *what;
	p->next = NULL;
	p->bad = -1;
	p->file = strdup(what->file);
	p->offsets = malloc(p->nr * sizeof(*p->offsets));
	p->cookies = malloc(p->nr * sizeof(*p->cookies));
	if (!p->file || !p->offsets || !p->cookies) {
		plant_free(p);
		return -ENOMEM;
	}
	memcpy(p->offsets, what->offsets, p->nr * sizeof(*p->offsets));
	memcpy(p->cookies, what->cookies, p->nr * sizeof(*p->cookies));
	pthread_mutex_lock(&k->plant_lock);
	while (*end)
		end = &(*end)->next;
	*end = p;
	if (!k->to_plant)
		k->to_plant = p;
	begins = !k->planting;
	k->planting = true;
	pthread_mutex_unlock(&k->plant_lock);
	if (begins)
		begin_planting(k);
	return 0;
}

int kernel_planted(struct kernel *k, struct kernel_refused *refused)
{
	struct plant *p;
	int ret = 0;

	join(k);
	while ((p = k->plants)) {
		int failed = p->link < 0 ? p->link : kernel_keep_link(k, p->link);

		if (failed && !ret) {
			ret = failed;
			*refused = (struct kernel_refused){ .module = p->module, .answers = p->answers, .place = p->bad >= 0,
							    .offset = p->bad >= 0 ? p->offsets[p->bad] : 0 };
		}
		k->plants = p->next;
		plant_free(p);
	}
	return ret;
}
