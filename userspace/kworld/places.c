/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "kworld/places.h"

struct mapping {
	uint32_t module;
	uint64_t start, end, pgoff;	/* pgoff in bytes */
	uint64_t bias;			/* address - vaddr of the file */
	uint64_t mm;			/* 0: inherited by fork */
};

struct space {
	uint32_t process;
	struct mapping *maps;
	unsigned int nr;
};

/* Where an object was last seen -> which object it is. */
struct slot {
	uint64_t key;		/* hash of the place, 0: free */
	uint64_t object;
};

struct named {
	struct place_object o;
	uint32_t module;	/* static data: where its name comes from */
	uint64_t vaddr;
	unsigned int op;
};

struct place_pid {
	int pid;
	uint32_t task;
};

struct places {
	struct probes *probes;
	struct symbols *symbols;
	struct space *spaces;
	unsigned int nr_spaces;
	struct slot *slots;		/* open addressing */
	size_t nr_slots, size_slots;
	struct named *objects;
	size_t nr_objects, size_objects;
	uint32_t *index;		/* of objects + 1 by id, open addressing, twice size_objects */
	struct place_pid *pids;
	unsigned int nr_pids, size_pids;
	unsigned int nr_temporary;	/* files and folders with names of the day */
	uint64_t *counts;		/* objects that a task created, by task */
	unsigned int nr_counts;
	struct place_site *sites;	/* open addressing by site, kept across executions */
	size_t nr_sites, size_sites;
	char **unprobed;		/* paths, to be handed out */
	unsigned int nr_unprobed, next_unprobed;
};

static uint64_t mix(uint64_t h, uint64_t v)
{
	/* splitmix64's finaliser over a running sum */
	h += v + 0x9e3779b97f4a7c15ull;
	h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
	h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
	return h ^ (h >> 31);
}

static uint64_t mix_text(uint64_t h, const char *s)
{
	while (*s)
		h = mix(h, (unsigned char)*s++);
	return h;
}

/* A hash as the id of an object that is not numbered. */
static uint64_t fixed(uint64_t hash)
{
	return zug_object_is_numbered(hash) ? ~hash : hash;
}

struct places *places_new(struct probes *probes, struct symbols *symbols)
{
	struct places *p = calloc(1, sizeof(*p));

	if (p) {
		p->probes = probes;
		p->symbols = symbols;
	}
	return p;
}

void places_reset(struct places *p)
{
	for (unsigned int i = 0; i < p->nr_spaces; i++)
		free(p->spaces[i].maps);
	p->nr_spaces = 0;
	for (size_t i = 0; i < p->nr_objects; i++)
		free(p->objects[i].o.name);
	p->nr_objects = 0;
	if (p->index)
		memset(p->index, 0, 2 * p->size_objects * sizeof(*p->index));
	p->nr_pids = 0;
	p->nr_temporary = 0;
	p->nr_slots = 0;
	if (p->slots)
		memset(p->slots, 0, p->size_slots * sizeof(*p->slots));
	if (p->counts)
		memset(p->counts, 0, p->nr_counts * sizeof(*p->counts));
}

void places_free(struct places *p)
{
	if (!p)
		return;
	places_reset(p);
	for (unsigned int i = 0; i < p->nr_unprobed; i++)
		free(p->unprobed[i]);
	free(p->unprobed);
	free(p->spaces);
	free(p->slots);
	free(p->objects);
	free(p->index);
	free(p->pids);
	free(p->counts);
	free(p->sites);
	free(p);
}

/* ---- address spaces ---- */

static struct space *space_of(const struct places *p, uint32_t process)
{
	for (unsigned int i = 0; i < p->nr_spaces; i++)
		if (p->spaces[i].process == process)
			return &p->spaces[i];
	return NULL;
}

static struct space *space_make(struct places *p, uint32_t process)
{
	struct space *s = space_of(p, process);

	if (s)
		return s;
	s = realloc(p->spaces, (p->nr_spaces + 1) * sizeof(*s));
	if (!s)
		return NULL;
	p->spaces = s;
	s = &p->spaces[p->nr_spaces++];
	*s = (struct space){ .process = process };
	return s;
}

void places_fork(struct places *p, uint32_t process, uint32_t parent)
{
	struct space *to = space_make(p, process), *from = space_of(p, parent);

	if (!to || !from || !from->nr)
		return;
	to->maps = malloc(from->nr * sizeof(*to->maps));
	if (!to->maps)
		return;
	memcpy(to->maps, from->maps, from->nr * sizeof(*to->maps));
	to->nr = from->nr;
	for (unsigned int i = 0; i < to->nr; i++)
		to->maps[i].mm = 0;
}

void places_exec(struct places *p, uint32_t process, const struct zug_event *e)
{
	struct space *s = space_of(p, process);
	unsigned int nr = 0;

	if (!s)
		return;
	/* the new image's first mappings were reported before the exec itself */
	for (unsigned int i = 0; i < s->nr; i++)
		if (s->maps[i].mm == e->arg[3])
			s->maps[nr++] = s->maps[i];
	s->nr = nr;
}

static void note_unprobed(struct places *p, const char *path)
{
	char **list;

	for (unsigned int i = 0; i < p->nr_unprobed; i++)
		if (!strcmp(p->unprobed[i], path))
			return;
	list = realloc(p->unprobed, (p->nr_unprobed + 1) * sizeof(*list));
	if (!list)
		return;
	p->unprobed = list;
	p->unprobed[p->nr_unprobed] = strdup(path);
	if (p->unprobed[p->nr_unprobed])
		p->nr_unprobed++;
}

const char *places_next_unprobed(struct places *p)
{
	return p->next_unprobed < p->nr_unprobed ? p->unprobed[p->next_unprobed++] : NULL;
}

/* The path of a file that process pid has mapped at start, as the test sees it. */
static bool mapped_path(int pid, uint64_t start, char *path, size_t len)
{
	char name[64], line[PATH_MAX + 128];
	unsigned long lo, hi;
	bool found = false;
	char *slash;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	f = fopen(name, "re");
	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx", &lo, &hi) != 2 || start < lo || start >= hi)
			continue;
		slash = strchr(line, '/');
		if (!slash)
			break;
		slash[strcspn(slash, "\n")] = 0;
		snprintf(path, len, "%s", slash);
		found = true;
	}
	fclose(f);
	return found;
}

void places_map(struct places *p, uint32_t process, const struct zug_event *e)
{
	struct space *s = space_make(p, process);
	const struct probe_module *mod;
	struct mapping m = { .start = e->arg[0], .end = e->arg[1], .pgoff = e->arg[2] << 12,
			     .mm = e->arg[3] }, *maps;
	char path[PATH_MAX];
	int module;

	if (!s)
		return;
	module = e->kind == ZUG_EV_MODULE ? (int)e->site :
		 probes_module_by_file(p->probes, e->obj.ino, e->obj.dev);
	if (module < 0) {
		if (mapped_path(e->pid, m.start, path, sizeof(path)))
			note_unprobed(p, path);
		return;
	}
	mod = probes_module(p->probes, module);
	if (!mod || !mod->file)
		return;
	m.module = module;
	if (symfile_code_bias(mod->file, m.start, m.pgoff, &m.bias))
		return;
	for (unsigned int i = 0; i < s->nr; i++)
		if (s->maps[i].start == m.start && s->maps[i].module == m.module) {
			s->maps[i] = m;
			return;
		}
	maps = realloc(s->maps, (s->nr + 1) * sizeof(*maps));
	if (!maps)
		return;
	s->maps = maps;
	s->maps[s->nr++] = m;
}

int places_bias(const struct places *p, uint32_t process, uint32_t module, uint64_t *bias)
{
	const struct space *s = space_of(p, process);

	for (unsigned int i = 0; s && i < s->nr; i++)
		if (s->maps[i].module == module) {
			*bias = s->maps[i].bias;
			return 0;
		}
	return -ENOENT;
}

/* ---- sites ---- */

static size_t site_slot(const struct places *p, uint64_t site)
{
	size_t i = site & (p->size_sites - 1);

	while (p->sites[i].site && p->sites[i].site != site)
		i = (i + 1) & (p->size_sites - 1);
	return i;
}

static bool sites_grow(struct places *p)
{
	size_t size = p->size_sites ? 2 * p->size_sites : 256, old_size = p->size_sites;
	struct place_site *old = p->sites;

	p->sites = calloc(size, sizeof(*p->sites));
	if (!p->sites) {
		p->sites = old;
		return false;
	}
	p->size_sites = size;
	for (size_t i = 0; i < old_size; i++)
		if (old[i].site)
			p->sites[site_slot(p, old[i].site)] = old[i];
	free(old);
	return true;
}

uint64_t places_site(struct places *p, uint32_t process, uint64_t addr)
{
	const struct space *s = space_of(p, process);
	struct place_site ps = { 0 };
	size_t i;

	if (!s)
		return 0;
	/* later mappings hide earlier ones */
	for (int k = (int)s->nr - 1; k >= 0; k--) {
		const struct mapping *m = &s->maps[k];

		if (addr < m->start || addr >= m->end)
			continue;
		ps.module = m->module;
		ps.offset = addr - m->start + m->pgoff;
		ps.site = mix(mix_text(1, probes_module(p->probes, m->module)->path), ps.offset);
		if (!ps.site)
			ps.site = 1;
		if (2 * (p->nr_sites + 1) > p->size_sites && !sites_grow(p))
			return 0;
		i = site_slot(p, ps.site);
		if (!p->sites[i].site) {
			p->sites[i] = ps;
			p->nr_sites++;
		}
		return ps.site;
	}
	return 0;
}

const struct place_site *places_find_site(const struct places *p, uint64_t site)
{
	const struct place_site *s;

	if (!p->size_sites || !site)
		return NULL;
	s = &p->sites[site_slot(p, site)];
	return s->site ? s : NULL;
}

/* ---- objects ---- */

static struct slot *slot_of(struct places *p, uint64_t key)
{
	size_t i;

	if (2 * (p->nr_slots + 1) > p->size_slots) {
		size_t size = p->size_slots ? 2 * p->size_slots : 256, old_size = p->size_slots;
		struct slot *old = p->slots, *new = calloc(size, sizeof(*new));

		if (!new)
			return NULL;
		p->slots = new;
		p->size_slots = size;
		for (size_t k = 0; k < old_size; k++) {
			if (!old[k].key)
				continue;
			i = old[k].key & (size - 1);
			while (new[i].key)
				i = (i + 1) & (size - 1);
			new[i] = old[k];
		}
		free(old);
	}
	i = key & (p->size_slots - 1);
	while (p->slots[i].key && p->slots[i].key != key)
		i = (i + 1) & (p->size_slots - 1);
	return &p->slots[i];
}

static const char *kind_of_op(unsigned int op)
{
	switch (op) {
	case ZUG_OP_LOCK: case ZUG_OP_TRYLOCK: case ZUG_OP_TIMEDLOCK: case ZUG_OP_UNLOCK:
	case ZUG_OP_MUTEX_INIT: case ZUG_OP_MUTEX_DESTROY:
		return "mutex";
	case ZUG_OP_COND_WAIT: case ZUG_OP_COND_TIMEDWAIT: case ZUG_OP_COND_SIGNAL:
	case ZUG_OP_COND_BROADCAST: case ZUG_OP_COND_INIT: case ZUG_OP_COND_DESTROY:
		return "condition";
	case ZUG_OP_RDLOCK: case ZUG_OP_WRLOCK: case ZUG_OP_TRYRDLOCK: case ZUG_OP_TRYWRLOCK:
	case ZUG_OP_TIMEDRDLOCK: case ZUG_OP_TIMEDWRLOCK: case ZUG_OP_RWUNLOCK:
	case ZUG_OP_RWLOCK_INIT: case ZUG_OP_RWLOCK_DESTROY:
		return "rwlock";
	case ZUG_OP_SPIN_LOCK: case ZUG_OP_SPIN_TRYLOCK: case ZUG_OP_SPIN_UNLOCK:
	case ZUG_OP_SPIN_INIT: case ZUG_OP_SPIN_DESTROY:
		return "spinlock";
	case ZUG_OP_BARRIER_INIT: case ZUG_OP_BARRIER_WAIT: case ZUG_OP_BARRIER_DESTROY:
		return "barrier";
	case ZUG_OP_SEM_INIT: case ZUG_OP_SEM_WAIT: case ZUG_OP_SEM_TRYWAIT: case ZUG_OP_SEM_POST:
	case ZUG_OP_SEM_TIMEDWAIT: case ZUG_OP_SEM_DESTROY:
		return "semaphore";
	case ZUG_OP_ONCE:
		return "once";
	case ZUG_OP_GUARD_ACQUIRE: case ZUG_OP_GUARD_RELEASE: case ZUG_OP_GUARD_ABORT:
		return "guard";
	case ZUG_OP_DATA_READ: case ZUG_OP_DATA_WRITE: case ZUG_OP_DATA_ACCESS:
		return "variable";
	case ZUG_OP_ATOMIC_LOAD: case ZUG_OP_ATOMIC_STORE: case ZUG_OP_ATOMIC_RMW:
		return "atomic";
	case ZUG_OP_FUTEX_WAIT: case ZUG_OP_FUTEX_WAKE:
		return "futex";
	default:
		return "object";
	}
}

static bool creates(unsigned int op)
{
	return op == ZUG_OP_MUTEX_INIT || op == ZUG_OP_COND_INIT || op == ZUG_OP_RWLOCK_INIT ||
	       op == ZUG_OP_SPIN_INIT || op == ZUG_OP_BARRIER_INIT || op == ZUG_OP_SEM_INIT;
}

static uint32_t *index_of(const struct places *p, uint64_t id)
{
	size_t mask = 2 * p->size_objects - 1, i = id & mask;

	while (p->index[i] && p->objects[p->index[i] - 1].o.object != id)
		i = (i + 1) & mask;
	return &p->index[i];
}

static struct named *add_object(struct places *p, uint64_t id, const char *kind)
{
	struct named *o;

	if (p->nr_objects == p->size_objects) {
		size_t size = p->size_objects ? 2 * p->size_objects : 16;
		uint32_t *index = calloc(2 * size, sizeof(*index));

		o = realloc(p->objects, size * sizeof(*o));
		if (o)
			p->objects = o;
		if (!o || !index) {
			free(index);
			return NULL;
		}
		free(p->index);
		p->index = index;
		p->size_objects = size;
		for (size_t i = 0; i < p->nr_objects; i++)
			*index_of(p, p->objects[i].o.object) = i + 1;
	}
	*index_of(p, id) = p->nr_objects + 1;
	o = &p->objects[p->nr_objects++];
	memset(o, 0, sizeof(*o));
	o->o.object = id;
	o->module = UINT32_MAX;
	snprintf(o->o.kind, sizeof(o->o.kind), "%s", kind);
	return o;
}

static struct named *find_object(struct places *p, uint64_t id)
{
	uint32_t i = p->size_objects ? *index_of(p, id) : 0;

	return i ? &p->objects[i - 1] : NULL;
}

static uint64_t count_of(struct places *p, uint32_t task)
{
	if (task >= p->nr_counts) {
		unsigned int nr = task + 64;
		uint64_t *c = realloc(p->counts, nr * sizeof(*c));

		if (!c)
			return 0;
		memset(c + p->nr_counts, 0, (nr - p->nr_counts) * sizeof(*c));
		p->counts = c;
		p->nr_counts = nr;
	}
	return p->counts[task]++;
}

/* Static data: the module whose extent holds the address. */
static bool static_data(const struct places *p, uint32_t process, uint64_t addr,
			uint32_t *module, uint64_t *vaddr)
{
	const struct space *s = space_of(p, process);
	uint64_t lo, hi;

	for (int i = s ? (int)s->nr - 1 : -1; i >= 0; i--) {
		const struct mapping *m = &s->maps[i];
		const struct probe_module *mod = probes_module(p->probes, m->module);

		symfile_extent(mod->file, &lo, &hi);
		if (addr - m->bias >= lo && addr - m->bias < hi && addr >= m->bias) {
			*module = m->module;
			*vaddr = addr - m->bias;
			return true;
		}
	}
	return false;
}

static void name_nth(struct named *o, const char *kind, uint64_t n, uint32_t task)
{
	char *name;

	if (asprintf(&name, "%s #%lu of T%u", kind, n, task) >= 0)
		o->o.name = name;
}

uint64_t places_object(struct places *p, uint32_t process, uint32_t task, int pid,
		       const struct zug_where *w, int fd, unsigned int op)
{
	uint64_t key, id, n, vaddr;
	const char *kind = kind_of_op(op);
	struct named *o;
	struct slot *slot;
	uint32_t module;
	char link[64], path[PATH_MAX];
	ssize_t len;

	if (w->ino)
		key = mix(mix(mix(fd >= 0 ? 13 : 3, w->dev), w->ino), w->offset);
	else
		key = mix(mix(2, process), w->offset);
	if (!key)
		key = 1;
	slot = slot_of(p, key);
	if (!slot)
		return 0;
	if (slot->object && !creates(op))
		return slot->object;

	if (!w->ino && static_data(p, process, w->offset, &module, &vaddr)) {
		id = fixed(mix(mix(mix_text(5, probes_module(p->probes, module)->path), vaddr), process));
		o = find_object(p, id);
		if (!o && (o = add_object(p, id, kind))) {
			o->module = module;
			o->o.fixed = true;
			o->vaddr = vaddr;
		}
	} else if (fd >= 0 && S_ISREG(w->mode)) {
		snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, fd);
		len = readlink(link, path, sizeof(path) - 1);
		if (len < 0)
			return 0;
		path[len] = 0;
		if (len > 10 && !strcmp(path + len - 10, " (deleted)"))
			path[len - 10] = 0;
		id = places_path(p, path);
	} else {
		if (fd >= 0)
			kind = S_ISFIFO(w->mode) ? "pipe" : S_ISSOCK(w->mode) ? "socket" :
			       S_ISCHR(w->mode) ? "device" : S_ISDIR(w->mode) ? "directory" : "descriptor";
		n = count_of(p, task);
		id = zug_object_numbered(task, n);
		o = add_object(p, id, kind);
		if (o)
			name_nth(o, kind, n, task);
	}
	if (!slot->key)
		p->nr_slots++;
	slot->key = key;
	slot->object = id;
	return id;
}

void places_pid(struct places *p, int pid, uint32_t task)
{
	if (p->nr_pids == p->size_pids) {
		unsigned int size = p->size_pids ? 2 * p->size_pids : 16;
		struct place_pid *pids = realloc(p->pids, size * sizeof(*pids));

		if (!pids)
			return;
		p->pids = pids;
		p->size_pids = size;
	}
	p->pids[p->nr_pids++] = (struct place_pid){ pid, task };
}

static uint32_t task_of_pid(const struct places *p, long pid)
{
	for (unsigned int i = p->nr_pids; i-- > 0;)
		if (p->pids[i].pid == pid)
			return p->pids[i].task;
	return UINT32_MAX;
}

/*
 * "/proc/1234/maps" and "/tmp/socket.1234" are other files in every execution: a number that is the pid
 * of a task (and no small one outside of /proc) gives way to the task's name. NULL: there is none.
 */
static char *stable_path(const struct places *p, const char *path)
{
	bool proc = !strncmp(path, "/proc/", 6), changed = false;
	char *out = malloc(6 * strlen(path) + 16), *o = out, *rest;
	uint32_t task;

	while (out && *path) {
		if (*path < '1' || *path > '9') {
			*o++ = *path++;
			continue;
		}
		task = task_of_pid(p, strtol(path, &rest, 10));
		if (task != UINT32_MAX && (proc || rest - path > 2)) {
			/* no longer than 11 characters, for at least one */
			o += sprintf(o, "T%u", task);
			changed = true;
		} else {
			memcpy(o, path, rest - path);
			o += rest - path;
		}
		path = rest;
	}
	if (out)
		*o = 0;
	if (changed)
		return out;
	free(out);
	return NULL;
}

uint64_t places_path(struct places *p, const char *path)
{
	char *known = stable_path(p, path), *folder;
	const struct slot *slot;
	struct named *o;
	uint64_t id;

	/* outcome.c keeps the test's output in nameless files */
	if (!strncmp(path, "/memfd:zug-stdout", 17) || !strncmp(path, "/memfd:zug-stderr", 17))
		path = path[14] == 'o' ? "stdout" : "stderr";
	if (known)
		path = known;
	id = fixed(mix_text(9, path));
	slot = slot_of(p, id);
	if (slot && slot->key) {
		free(known);
		return slot->object;	/* a temporary one */
	}
	/* what lies in a temporary folder is known by that and by the rest of its path */
	folder = p->nr_temporary ? strdup(path) : NULL;
	for (char *end = folder ? strrchr(folder, '/') : NULL; end; end = strrchr(folder, '/')) {
		*end = 0;
		slot = slot_of(p, fixed(mix_text(9, folder)));
		if (slot && slot->key) {
			id = fixed(mix_text(slot->object, path + (end - folder)));
			break;
		}
	}
	free(folder);
	o = find_object(p, id);

	if (!o && (o = add_object(p, id, "file")))
		o->o.name = strdup(path);
	free(known);
	return id;
}

void places_amount(struct places *p, uint64_t id, const char *name)
{
	struct named *o = find_object(p, id) ? NULL : add_object(p, id, "amount");

	if (o)
		o->o.name = strdup(name);
}

static uint64_t inode_key(uint32_t kdev, uint64_t ino)
{
	uint64_t key = mix(mix(mix(13, kdev), ino), 0);

	return key ? key : 1;
}

uint64_t places_file(struct places *p, const char *path, uint32_t kdev, uint64_t ino)
{
	uint64_t key = inode_key(kdev, ino), id;
	struct slot *slot = slot_of(p, key);

	if (slot && slot->object)
		return slot->object;
	id = places_path(p, path);
	slot = slot_of(p, key);
	if (!slot)
		return id;
	p->nr_slots += !slot->key;
	slot->key = key;
	slot->object = id;
	return id;
}

void places_file_gone(struct places *p, uint32_t kdev, uint64_t ino)
{
	struct slot *slot = slot_of(p, inode_key(kdev, ino));

	if (slot)
		slot->object = 0;
}

uint64_t places_temporary(struct places *p, const char *path, uint32_t task)
{
	char *known = stable_path(p, path);
	uint64_t key = fixed(mix_text(9, known ? known : path)), n, id;
	struct slot *slot = slot_of(p, key);
	struct named *o;

	free(known);
	if (!slot)
		return 0;
	n = count_of(p, task);
	id = zug_object_numbered(task, n);
	o = add_object(p, id, "file");
	if (o)
		o->o.name = strdup(path);
	if (!slot->key)
		p->nr_slots++;
	slot->key = key;
	slot->object = id;
	p->nr_temporary++;
	return id;
}

const struct place_object *places_find_object(struct places *p, uint64_t object)
{
	struct named *o = find_object(p, object);
	char name[512];

	if (!o)
		return NULL;
	if (!o->o.name && o->module != UINT32_MAX) {
		if (!symfile_data_name(probes_module(p->probes, o->module)->file, o->vaddr, name,
				       sizeof(name)))
			o->o.name = strdup(name);
		else if (asprintf(&o->o.name, "%s+0x%lx",
				  strrchr(probes_module(p->probes, o->module)->path, '/') + 1,
				  o->vaddr) < 0)
			o->o.name = NULL;
	}
	return &o->o;
}
