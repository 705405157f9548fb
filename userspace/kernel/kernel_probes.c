/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a search has planted: probes in files, and watches of data.
 *
 * Several searches may go on at once, in processes of their own, and the kernel side has one table of sites and one of
 * modules for all. So each search has numbers of its own, 0, 1, ..., and takes the kernel's for them piece by piece, with
 * its first sandbox as the owner's name; events are translated back. The probes that it has at a time are a round, whose
 * number is in the cookie of each: the kernel lets go of probes late, and those of a round that is over do nothing.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "kernel/kernel_internal.h"
#include "kernel/programs.h"
#include "lib/base/array.h"
#include "lib/base/hash.h"
#include "lib/base/rights.h"
#include "zug.skel.h"

/* ---- numbers of sites, modules and rounds, which searches share ---- */

static void numbers_begin(struct numbers *n, uint16_t *owners, uint32_t nr_chunks, uint32_t size)
{
	*n = (struct numbers){ .nr_chunks = nr_chunks, .size = size, .owners = owners };
	memset(n->ours, -1, sizeof(n->ours));
}

/* The kernel's number for ours, by piece after piece. 0; -ENOSPC: they are all taken. */
static int number_theirs(struct kernel *k, struct numbers *n, uint32_t ours, uint32_t *theirs)
{
	for (uint32_t i = 0; i < n->nr_chunks && n->nr <= ours / n->size; i++) {
		uint16_t none = 0;

		if (n->ours[i] >= 0 || !__atomic_compare_exchange_n(&n->owners[i], &none, k->first_slot + 1, false,
								    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			continue;
		n->ours[i] = n->nr;
		n->theirs[n->nr++] = i;
	}
	if (n->nr <= ours / n->size)
		return -ENOSPC;
	*theirs = n->theirs[ours / n->size] * n->size + ours % n->size;
	return 0;
}

static bool number_is_ours(const struct numbers *n, uint32_t theirs)
{
	return theirs / n->size < n->nr_chunks && n->ours[theirs / n->size] >= 0;
}

static uint32_t number_ours(const struct numbers *n, uint32_t theirs)
{
	return n->ours[theirs / n->size] * n->size + theirs % n->size;
}

/* Those of another process's search: which they are, but not in which order. */
static struct numbers numbers_of(const struct numbers *n, unsigned int slot)
{
	struct numbers theirs = *n;

	for (uint32_t i = 0; i < n->nr_chunks; i++)
		theirs.ours[i] = n->owners[i] == slot + 1 ? 0 : -1;
	return theirs;
}

static void numbers_free(const struct numbers *n, unsigned int slot)
{
	for (uint32_t i = 0; i < n->nr_chunks; i++)
		if (n->owners[i] == slot + 1)
			n->owners[i] = 0;
}

/* Probes that are planted from now on count, until another round begins. */
static void begin_round(struct kernel *k)
{
	uint32_t r;

	do {
		r = __atomic_add_fetch(&k->bss->last_round, 1, __ATOMIC_SEQ_CST) % ZUG_COOKIE_ROUNDS;
	} while (k->bss->live_rounds[r]);
	k->bss->live_rounds[r] = 1;
	k->bss->rounds[k->first_slot] = r;
	k->round = r;
}

void kernel_begin_search(struct kernel *k, unsigned int slot)
{
	k->first_slot = slot;
	numbers_begin(&k->sites, k->bss->site_owners, SITE_CHUNKS, ZUG_SITE_CHUNK);
	numbers_begin(&k->modules, k->bss->module_owners, MODULE_CHUNKS, ZUG_MODULE_CHUNK);
	begin_round(k);
}

void kernel_translate(const struct kernel *k, struct zug_event *e)
{
	const struct numbers *n = e->kind == ZUG_EV_MODULE ? &k->modules : &k->sites;

	if (e->site == ZUG_NO_SITE || e->kind == ZUG_EV_PATH)
		return;
	/* an earlier search's, of a place that is none any more */
	e->site = number_is_ours(n, e->site) ? number_ours(n, e->site) : ZUG_NO_SITE;
}

/* ---- probes ---- */

uint32_t kernel_dev(uint64_t st_dev)
{
	return major(st_dev) << 20 | minor(st_dev);
}

static uint64_t hash_of(uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t words[] = { a, b, c };

	return hash_bytes(HASH_BEGIN, words, sizeof(words));
}

int kernel_add_module(struct kernel *k, uint64_t ino, uint64_t st_dev, const struct zug_module *module)
{
	struct zug_file_key key = { .ino = ino, .dev = kernel_dev(st_dev), .search = k->first_slot };
	struct zug_module theirs = *module;
	int ret = number_theirs(k, &k->modules, module->number, &theirs.number);
	bool known = false;

	if (ret)
		return ret;
	for (size_t i = 0; i < k->nr_files && !known; i++)
		known = !memcmp(&k->files[i], &key, sizeof(key));
	if (!known)
		k->begins += hash_of(key.ino, key.dev, module->number);
	if (!ARRAY_RESERVE(k->files, k->room_files, k->nr_files + 1))
		return -ENOMEM;
	k->files[k->nr_files++] = key;
	k->bss->planted[k->first_slot] = 1;
	return bpf_map_update_elem(programs_map(k->programs, "modules"), &key, &theirs, BPF_ANY) ? -errno : 0;
}

void kernel_tell_step(struct kernel *k, uint32_t module, uint64_t offset, const struct zug_caller *c)
{
	struct zug_step_key key = { .offset = offset, .round = k->round };

	if (number_theirs(k, &k->modules, module, &key.module))
		return;
	/* where that fails tasks stop */
	bpf_map_update_elem(programs_map(k->programs, "steps"), &key, c, BPF_ANY);
}

uint32_t kernel_probes_round(const struct kernel *k)
{
	return k->round;
}

void kernel_tell_caller(struct kernel *k, uint32_t mm, uint32_t run, uint64_t addr, const struct zug_caller *c)
{
	struct zug_caller_key key = { .mm = mm, .run = run, .addr = addr };

	/* where that fails it is asked about again */
	bpf_map_update_elem(programs_map(k->programs, "callers"), &key, c, BPF_ANY);
}

void kernel_tell_code(struct kernel *k, uint32_t slot, uint64_t addr, const struct zug_code *c)
{
	struct zug_code_key key = { .sandbox = slot, .addr = addr };

	/* the same */
	bpf_map_update_elem(programs_map(k->programs, "codes"), &key, c, BPF_ANY);
}

int kernel_add_probes(struct kernel *k, uint32_t module, const char *file,
		      const struct kernel_probe *probes, int nr, int *bad)
{
	int map = programs_map(k->programs, "sites"), index = programs_map(k->programs, "site_index");
	int counts = programs_map(k->programs, "hit_counts");
	unsigned long *offsets;
	__u64 *cookies;
	int ret = 0;

	if (bad)
		*bad = -1;
	if (!nr)
		return 0;
	offsets = calloc(nr, sizeof(*offsets));
	cookies = calloc(nr, sizeof(*cookies));
	if (!offsets || !cookies || !ARRAY_RESERVE(k->places, k->room_places, k->nr_places + nr)) {
		ret = -ENOMEM;
		goto out;
	}
	for (int i = 0; i < nr; i++) {
		struct zug_site_key key = { .offset = probes[i].offset };
		struct zug_hits_key count = { .sandbox = k->first_slot };
		uint32_t site;

		ret = number_theirs(k, &k->modules, module, &key.module);
		ret = ret ? ret : number_theirs(k, &k->sites, probes[i].site, &site);
		if (ret)
			goto out;
		/* an earlier place may have had the number */
		count.site = site;
		if (probes[i].what.limit)
			bpf_map_delete_elem(counts, &count);
		k->places[k->nr_places++] = key;
		if (probes[i].what.flags & (ZUG_SITE_WAITS | ZUG_SITE_FROM | ZUG_SITE_BEHIND))
			k->begins += hash_of(key.module, key.offset, probes[i].what.flags);
		if (bpf_map_update_elem(map, &site, &probes[i].what, BPF_ANY) ||
		    bpf_map_update_elem(index, &key, &site, BPF_ANY)) {
			ret = -errno;
			goto out;
		}
		offsets[i] = probes[i].offset;
		cookies[i] = ZUG_COOKIE(k->round, site + 1);
	}
	if (!bad) {
		ret = kernel_plant_later(k, &(struct plant){ .file = (char *)file, .offsets = offsets, .cookies = cookies, .nr = nr,
							     .module = module });
	} else {
		ret = kernel_attach_multi(k, "zug_plant", file, offsets, cookies, nr);
		/* one place that cannot be probed fails them all: find it */
		if (ret < 0)
			*bad = kernel_refused_place(k, file, offsets, nr);
		else
			ret = kernel_keep_link(k, ret);
	}
	k->probes_changed++;
out:
	free(offsets);
	free(cookies);
	return ret;
}

bool kernel_can_answer(struct kernel *k)
{
	struct zug_ctl c = { .cmd = ZUG_CMD_CAN_ANSWER };

	return !kernel_ctl(k, &c);
}

int kernel_add_answers(struct kernel *k, uint32_t module, const char *file, const struct kernel_answer *list, int nr)
{
	unsigned long *offsets = calloc(nr, sizeof(*offsets));
	__u64 *cookies = calloc(nr, sizeof(*cookies));
	int ret = -ENOMEM;

	for (int i = 0; i < nr && offsets && cookies; i++) {
		offsets[i] = list[i].offset;
		cookies[i] = ZUG_COOKIE(k->round, list[i].how);
		k->begins += hash_of(list[i].offset, list[i].how, nr);
	}
	if (offsets && cookies)
		ret = kernel_plant_later(k, &(struct plant){ .file = (char *)file, .offsets = offsets, .cookies = cookies, .nr = nr,
							     .module = module, .answers = true });
	k->probes_changed++;
	free(offsets);
	free(cookies);
	return ret;
}

static bool is_our_count(const struct numbers *sites, int map, const void *key)
{
	(void)map;
	return number_is_ours(sites, ((const struct zug_hits_key *)key)->site);
}

static bool is_our_module(const struct numbers *modules, int map, const void *key)
{
	struct zug_module module;

	return !bpf_map_lookup_elem(map, key, &module) && number_is_ours(modules, module.number);
}

static bool is_our_site(const struct numbers *modules, int map, const void *key)
{
	(void)map;
	return number_is_ours(modules, ((const struct zug_site_key *)key)->module);
}

/* Deletes what belongs to a search in a map that others use, too. */
static void clear_map(struct kernel *k, const char *name, const struct numbers *numbers,
		      bool (*ours)(const struct numbers *numbers, int map, const void *key))
{
	int map = programs_map(k->programs, name);
	_Alignas(8) char key[32], next[32];
	void *prev = NULL;
	bool more;

	do {
		more = !bpf_map_get_next_key(map, prev, next);
		if (prev && ours(numbers, map, prev))
			bpf_map_delete_elem(map, key);
		memcpy(key, next, sizeof(key));
		prev = key;
	} while (more);
}

void kernel_search_gone(struct kernel *k, unsigned int slot)
{
	struct numbers modules = numbers_of(&k->modules, slot), sites = numbers_of(&k->sites, slot);

	k->bss->live_rounds[k->bss->rounds[slot]] = 0;
	/* to go through a map takes longer than all else at the end of a search: only through those in which something is left */
	if (k->bss->counts_hits[slot])
		clear_map(k, "hit_counts", &sites, is_our_count);
	if (k->bss->planted[slot]) {
		clear_map(k, "modules", &modules, is_our_module);
		clear_map(k, "site_index", &modules, is_our_site);
	}
	k->bss->counts_hits[slot] = k->bss->planted[slot] = 0;
	numbers_free(&k->sites, slot);
	numbers_free(&k->modules, slot);
	memset(k->bss->watches[slot], 0, sizeof(k->bss->watches[slot]));
}

int kernel_file_looks(struct kernel *k, unsigned int slot, struct zug_file_look *list, uint32_t nr, bool write)
{
	int map = programs_map(k->programs, "file_looks"), ret = 0;

	for (uint32_t i = 0; i < nr && !ret; i++) {
		uint32_t key = slot * ZUG_FILE_TIMES + i;

		if (write ? bpf_map_update_elem(map, &key, &list[i], BPF_ANY) : bpf_map_lookup_elem(map, &key, &list[i]))
			ret = -errno;
	}
	return ret;
}

uint64_t kernel_probes_changed(const struct kernel *k)
{
	return k->probes_changed;
}

uint64_t kernel_probes_begins(const struct kernel *k)
{
	return k->begins;
}

void kernel_clear_probes(struct kernel *k)
{
	struct kernel_refused refused;
	int detached;

	kernel_planted(k, &refused);
	detached = kernel_leave_detaching(k, false);
	k->probes_changed++;
	k->begins = 0;
	for (size_t i = 0; i < k->nr_links; i++)
		close(k->links[i]);
	k->nr_links = 0;
	if (detached >= 0)
		close(detached);
	k->bss->live_rounds[k->round] = 0;
	begin_round(k);
	for (size_t i = 0; i < k->nr_files; i++)
		bpf_map_delete_elem(programs_map(k->programs, "modules"), &k->files[i]);
	for (size_t i = 0; i < k->nr_places; i++)
		bpf_map_delete_elem(programs_map(k->programs, "site_index"), &k->places[i]);
	k->nr_files = k->nr_places = 0;
	k->bss->planted[k->first_slot] = 0;
	memset(k->bss->watches[k->first_slot], 0, sizeof(k->bss->watches[k->first_slot]));
}

/* ---- watches ---- */

int kernel_set_watch(struct kernel *k, unsigned int i, const struct zug_watch *w, char *err, size_t errlen)
{
	int ret = 0;

	if (i >= ZUG_MAX_WATCHES)
		return -EINVAL;
	if (!k->steps)
		ret = kernel_attach(k, KERNEL_STEPS, err, errlen);
	if (ret)
		return ret;
	k->bss->watches[k->first_slot][i] = *w;
	k->probes_changed++;
	return 0;
}

bool kernel_watched(const struct kernel *k, uint64_t addr, uint64_t size, uint32_t exe_dev, uint64_t exe_ino)
{
	for (unsigned int i = 0; i < ZUG_MAX_WATCHES; i++) {
		const struct zug_watch *w = &k->bss->watches[k->first_slot][i];

		if (w->len && addr < w->addr + w->len && w->addr < addr + size &&
		    (!w->exe_ino || (w->exe_ino == exe_ino && w->exe_dev == exe_dev)))
			return true;
	}
	return false;
}

int kernel_open_watch(struct kernel *k, unsigned int i, int pid, bool write_only)
{
	const struct zug_watch *w = &k->bss->watches[k->first_slot][i];
	struct perf_event_attr a = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(a),
		.bp_type = write_only ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW,
		.bp_addr = w->addr,
		.bp_len = w->len,
		.sample_period = 1,
		.wakeup_events = 1,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	RIGHTS_RAISED;
	int fd = syscall(SYS_perf_event_open, &a, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, programs_fd(k->programs, "zug_watchpoint"))) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	return fd;
}
