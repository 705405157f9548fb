/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the addresses of one execution to names that all executions share; places.h says which.
 *
 * Sites of code, then objects; address spaces are in places_spaces.c. An object is looked up by the place where it lies now
 * (an address, a descriptor's inode, a path), in 'seen'; its id follows from how it came there. Ids of numbered objects depend
 * on the order in which each task uses its objects, and on nothing else.
 */
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "kworld/places_internal.h"
#include "lib/base/array.h"

#define CHOSEN_PORT	32768	/* from there on the kernel chooses ports */

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

/* The file system of nameless pipes; 0: not known. */
static uint32_t pipe_dev(void)
{
	struct stat st = { 0 };
	int fd[2];

	if (pipe2(fd, O_CLOEXEC))
		return 0;
	if (fstat(fd[0], &st))
		st.st_dev = 0;
	close(fd[0]);
	close(fd[1]);
	return kernel_dev(st.st_dev);
}

struct places *places_new(struct probes *probes, struct symbols *symbols)
{
	struct places *p = calloc(1, sizeof(*p));

	if (p) {
		p->probes = probes;
		p->symbols = symbols;
		p->pipes = pipe_dev();
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
	id_map_clear(&p->object_index);
	p->nr_pids = 0;
	p->nr_temporary = 0;
	id_map_clear(&p->seen);
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
	for (unsigned int i = 0; i < p->nr_made; i++)
		close(p->made[i]);
	free(p->made);
	free(p->spaces);
	id_map_free(&p->seen);
	free(p->seen_objects);
	free(p->objects);
	id_map_free(&p->object_index);
	free(p->pids);
	free(p->counts);
	free(p->sites);
	id_map_free(&p->site_index);
	free(p->statics);
	id_map_free(&p->static_index);
	free(p->modules);
	free(p);
}

/* ---- sites ---- */

/* Remembers it. false: out of memory. */
static bool add_site(struct places *p, const struct place_site *site)
{
	bool added;

	if (!ARRAY_RESERVE(p->sites, p->room_sites, p->nr_sites + 1) ||
	    !id_map_add(&p->site_index, site->site, p->nr_sites, &added))
		return false;
	if (added)
		p->sites[p->nr_sites++] = *site;
	return true;
}

/* Each point asks for one: a path is hashed once. */
static struct module_hash module_hash(struct places *p, uint32_t module)
{
	const char *path = probes_module(p->probes, module)->path;
	struct module_hash h;

	if (module < p->nr_modules && p->modules[module].code)
		return p->modules[module];
	h = (struct module_hash){ mix_text(1, path), mix_text(5, path) };
	if (ARRAY_RESERVE_ZERO(p->modules, p->nr_modules, module + 1))
		p->modules[module] = h;
	return h;
}

uint64_t places_site_in(struct places *p, uint32_t module, uint64_t offset)
{
	struct place_site ps = { .module = module, .offset = offset };

	ps.site = mix(module_hash(p, module).code, offset);
	if (!ps.site)
		ps.site = 1;
	return add_site(p, &ps) ? ps.site : 0;
}

uint64_t places_site(struct places *p, uint32_t process, uint64_t addr)
{
	const struct space *s = places_space(p, process);

	if (!s)
		return 0;
	/* later mappings hide earlier ones */
	for (int k = (int)s->nr - 1; k >= 0; k--) {
		const struct mapped_module *m = &s->maps[k];

		if (addr >= m->start && addr < m->end)
			return places_site_in(p, m->module, addr - m->start + m->pgoff);
	}
	return 0;
}

const struct place_site *places_find_site(const struct places *p, uint64_t site)
{
	const uint32_t *i = id_map_find(&p->site_index, site);

	return i ? &p->sites[*i] : NULL;
}

uint64_t places_code(const struct places *p, uint32_t process, uint64_t site)
{
	const struct place_site *at = places_find_site(p, site);
	const struct space *s = places_space(p, process);

	for (unsigned int i = 0; at && s && i < s->nr; i++) {
		const struct mapped_module *m = &s->maps[i];

		if (m->module == at->module && at->offset >= m->pgoff && at->offset - m->pgoff < m->end - m->start)
			return m->start + at->offset - m->pgoff;
	}
	return 0;
}

/* ---- objects ---- */

/* The object that was seen at a place last; 0: none. */
static uint64_t seen_at(const struct places *p, uint64_t key)
{
	const uint32_t *i = id_map_find(&p->seen, key);

	return i ? p->seen_objects[*i] : 0;
}

/* From now on that object (0: none) is at the place. Returns it; 0: out of memory. */
static uint64_t see_at(struct places *p, uint64_t key, uint64_t object)
{
	const uint32_t *i;

	if (!ARRAY_RESERVE(p->seen_objects, p->room_seen, p->seen.nr + 1))
		return 0;
	i = id_map_add(&p->seen, key, p->seen.nr, NULL);
	if (!i)
		return 0;
	return p->seen_objects[*i] = object;
}

void places_say_known(struct places *p, volatile struct zug_known_file *table, const volatile uint32_t *run)
{
	p->known = table;
	p->run = run;
}

/*
 * What has that number is that object, or (0) nothing any more. The reader may look at any time: run says that the rest is
 * there.
 */
static void say_known(struct places *p, uint32_t kdev, uint64_t number, uint64_t object)
{
	volatile struct zug_known_file *f = p->known ? &p->known[zug_file_place(number, kdev)] : NULL;
	bool is = f && f->number == number && f->dev == kdev;

	if (!f || (!object && !is) || (is && f->object == object && f->run == *p->run))
		return;
	f->run = 0;
	if (!is)
		f->by_path = 0;
	if (!is || !object)
		f->opened = 0;
	f->number = number;
	f->dev = kdev;
	f->object = object;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	f->run = object ? *p->run : 0;
}

/* A path has led to it: so it does wherever it leads there. */
static void say_by_path(struct places *p, uint32_t kdev, uint64_t ino)
{
	volatile struct zug_known_file *f = p->known ? &p->known[zug_file_place(ino, kdev)] : NULL;

	if (f && f->number == ino && f->dev == kdev)
		f->by_path = 1;
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
	case ZUG_OP_SEM_TIMEDWAIT: case ZUG_OP_SEM_GETVALUE: case ZUG_OP_SEM_DESTROY:
		return "semaphore";
	case ZUG_OP_ONCE:
		return "once";
	case ZUG_OP_CHAN_SEND: case ZUG_OP_CHAN_RECV: case ZUG_OP_CHAN_CLOSE: case ZUG_OP_SELECT:
		return "channel";
	case ZUG_OP_GROUP_ADD: case ZUG_OP_GROUP_WAIT:
		return "wait group";
	case ZUG_OP_GO_READY: case ZUG_OP_GO_ON:
		return "goroutine";
	case ZUG_OP_GUARD_ACQUIRE: case ZUG_OP_GUARD_RELEASE: case ZUG_OP_GUARD_ABORT:
		return "guard";
	case ZUG_OP_DATA_READ: case ZUG_OP_DATA_WRITE: case ZUG_OP_DATA_ACCESS:
		return "variable";
	case ZUG_OP_ATOMIC_LOAD: case ZUG_OP_ATOMIC_STORE: case ZUG_OP_ATOMIC_RMW:
		return "atomic";
	case ZUG_OP_FUTEX_WAIT: case ZUG_OP_FUTEX_WAKE:
		return "futex";
	case ZUG_OP_MONITOR_ENTER: case ZUG_OP_MONITOR_WAIT: case ZUG_OP_MONITOR_NOTIFY:
		return "monitor";
	case ZUG_OP_PARK: case ZUG_OP_UNPARK:
		return "thread";
	case ZUG_OP_FIELD_READ: case ZUG_OP_FIELD_WRITE:
		return "field";
	default:
		return "object";
	}
}

bool places_creates(unsigned int op)
{
	return op == ZUG_OP_MUTEX_INIT || op == ZUG_OP_COND_INIT || op == ZUG_OP_RWLOCK_INIT ||
	       op == ZUG_OP_SPIN_INIT || op == ZUG_OP_BARRIER_INIT || op == ZUG_OP_SEM_INIT;
}

static struct named *add_object(struct places *p, uint64_t id, const char *kind)
{
	struct named *o;

	if (!ARRAY_RESERVE(p->objects, p->room_objects, p->nr_objects + 1) ||
	    !id_map_add(&p->object_index, id, p->nr_objects, NULL))
		return NULL;
	o = &p->objects[p->nr_objects++];
	*o = (struct named){ .o.object = id, .module = UINT32_MAX };
	snprintf(o->o.kind, sizeof(o->o.kind), "%s", kind);
	return o;
}

static struct named *find_object(struct places *p, uint64_t id)
{
	const uint32_t *i = id_map_find(&p->object_index, id);

	return i ? &p->objects[*i] : NULL;
}

static uint64_t count_of(struct places *p, uint32_t task)
{
	return ARRAY_RESERVE_ZERO(p->counts, p->nr_counts, task + 1) ? p->counts[task]++ : 0;
}

bool places_is_to_come(const struct places *p, uint64_t object)
{
	uint32_t task = zug_object_task(object);

	return zug_object_is_numbered(object) && (task >= p->nr_counts || zug_object_nth(object) >= p->counts[task]);
}

static uint64_t static_id(struct places *p, const struct static_place *at)
{
	return fixed(mix(mix(module_hash(p, at->module).data, at->vaddr), at->process));
}

/* Without memory it is forgotten: places_static_address() does not know it then. */
static void note_static(struct places *p, uint64_t id, const struct static_place *at)
{
	bool added;

	if (!ARRAY_RESERVE(p->statics, p->room_statics, p->nr_statics + 1) ||
	    !id_map_add(&p->static_index, id, p->nr_statics, &added))
		return;
	if (added)
		p->statics[p->nr_statics++] = *at;
}

bool places_static_address(struct places *p, uint64_t object, uint32_t *process, uint64_t *address)
{
	const uint32_t *i = id_map_find(&p->static_index, object);
	const struct static_place *at = i ? &p->statics[*i] : NULL;
	uint64_t bias;

	if (!at || places_bias(p, at->process, at->module, &bias) || static_id(p, at) != object)
		return false;
	*process = at->process;
	*address = bias + at->vaddr;
	return true;
}

/* Static data: the module whose extent holds the address. */
static bool static_data(const struct places *p, uint32_t process, uint64_t addr,
			uint32_t *module, uint64_t *vaddr)
{
	const struct space *s = places_space(p, process);
	uint64_t lo, hi;

	for (int i = s ? (int)s->nr - 1 : -1; i >= 0; i--) {
		const struct mapped_module *m = &s->maps[i];
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

/* What /proc says of a descriptor whose file has no type. */
static const char *kind_of_descriptor(int pid, int fd)
{
	static const struct {
		const char *link, *kind;
	} known[] = {
		{ "anon_inode:[eventfd]", "eventfd" }, { "anon_inode:[eventpoll]", "epoll" },
		{ "anon_inode:[timerfd]", "timerfd" }, { "anon_inode:[signalfd]", "signalfd" },
		{ "anon_inode:[pidfd]", "pidfd" }, { "anon_inode:inotify", "inotify" },
		{ "anon_inode:[inotify]", "inotify" },
	};
	char path[64], link[64];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	len = readlink(path, link, sizeof(link) - 1);
	link[len > 0 ? len : 0] = 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(link, known[i].link))
			return known[i].kind;
	return "descriptor";
}

/*
 * What lies behind a descriptor is known by its path, for which there is room for PATH_MAX; "": it cannot be read. (The kernel
 * side stops there: object_told().) Of devices /dev/null alone: others may have numbers, which are the machine's.
 */
static bool has_path(int pid, int fd, uint32_t mode, char *path)
{
	char link[64];
	ssize_t len;

	if (fd < 0 || !(S_ISREG(mode) || S_ISDIR(mode) || S_ISCHR(mode)))
		return false;
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, fd);
	len = readlink(link, path, PATH_MAX - 1);
	path[len > 0 ? len : 0] = 0;
	if (len > 10 && !strcmp(path + len - 10, " (deleted)"))
		path[len - 10] = 0;
	return !S_ISCHR(mode) || !strcmp(path, "/dev/null");
}

uint64_t places_object(struct places *p, uint32_t process, uint32_t task, int pid,
		       const struct zug_where *w, int fd, unsigned int op)
{
	uint64_t key, id, n, vaddr, last;
	const char *kind = kind_of_op(op);
	struct named *o;
	uint32_t module;
	char path[PATH_MAX];

	if (w->ino)
		key = mix(mix(mix(fd >= 0 ? 13 : 3, w->dev), w->ino), w->offset);
	else
		key = mix(mix(2, process), w->offset);
	last = seen_at(p, key);
	if (last && !places_creates(op)) {
		/* it may have had to give way to another one */
		if (fd >= 0 && w->ino)
			say_known(p, w->dev, zug_file_number(w->ino, w->offset), last);
		return last;
	}

	if (!w->ino && static_data(p, process, w->offset, &module, &vaddr)) {
		const struct static_place at = { .process = process, .module = module, .vaddr = vaddr };

		id = static_id(p, &at);
		note_static(p, id, &at);
		o = find_object(p, id);
		if (!o && (o = add_object(p, id, kind))) {
			o->module = module;
			o->o.fixed = true;
			o->vaddr = vaddr;
		}
	} else if (has_path(pid, fd, w->mode, path)) {
		if (!path[0])
			return 0;
		id = places_path(p, path);
	} else {
		if (w->ino && w->dev == ZUG_DEV_SYSV)
			kind = w->offset == 1 ? "semaphore set" : w->offset == 2 ? "message queue" : "shared memory";
		else if (fd >= 0)
			kind = S_ISFIFO(w->mode) ? "pipe" : S_ISSOCK(w->mode) ? "socket" :
			       S_ISCHR(w->mode) ? "device" : kind_of_descriptor(pid, fd);
		n = count_of(p, task);
		id = zug_object_numbered(task, n);
		o = add_object(p, id, kind);
		if (o)
			name_nth(o, kind, n, task);
	}
	id = see_at(p, key, id);
	if ((o = find_object(p, id))) {
		o->memory = fd < 0 && w->dev != ZUG_DEV_SYSV;
		o->file |= fd >= 0 && w->mode & S_IFMT && !S_ISSOCK(w->mode) && (!S_ISFIFO(w->mode) || w->dev != p->pipes);
	}
	if (id && fd >= 0 && w->ino)
		say_known(p, w->dev, zug_file_number(w->ino, w->offset), id);
	return id;
}

uint64_t places_static(struct places *p, uint32_t process, const char *name, unsigned int op)
{
	uint64_t id = fixed(mix(mix_text(23, name), process));
	struct named *o = find_object(p, id);

	if (!o && (o = add_object(p, id, kind_of_op(op)))) {
		o->o.name = strdup(name);
		o->o.fixed = true;
	}
	return id;
}

void places_call(struct places *p, uint64_t id, const char *name)
{
	struct named *o = find_object(p, id);
	unsigned int nr = 1;
	char *numbered;

	if (!o || o->o.fixed || o->called || !name[0])
		return;
	for (size_t i = 0; i < p->nr_objects; i++)
		nr += p->objects[i].called && p->objects[i].called == mix_text(29, name);
	if (asprintf(&numbered, nr > 1 ? "%s #%u" : "%s", name, nr) < 0)
		return;
	free(o->o.name);
	o->o.name = numbered;
	o->called = mix_text(29, name);
}

void places_pid(struct places *p, int pid, uint32_t task)
{
	if (ARRAY_RESERVE(p->pids, p->room_pids, p->nr_pids + 1))
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
	struct named *o;
	uint64_t id, temporary;

	/* outcome.c keeps the test's output in nameless files */
	if (!strncmp(path, "/memfd:zug-stdout", 17) || !strncmp(path, "/memfd:zug-stderr", 17))
		path = path[14] == 'o' ? "stdout" : "stderr";
	if (known)
		path = known;
	id = fixed(mix_text(9, path));
	temporary = seen_at(p, id);
	if (temporary) {
		free(known);
		return temporary;
	}
	/* what lies in a temporary folder is known by that and by the rest of its path */
	folder = p->nr_temporary ? strdup(path) : NULL;
	for (char *end = folder ? strrchr(folder, '/') : NULL; end; end = strrchr(folder, '/')) {
		*end = 0;
		temporary = seen_at(p, fixed(mix_text(9, folder)));
		if (temporary) {
			id = fixed(mix_text(temporary, path + (end - folder)));
			break;
		}
	}
	free(folder);
	o = find_object(p, id);

	if (!o && (o = add_object(p, id, "file")))
		o->o.name = strdup(path);
	if (o)
		o->file = true;
	free(known);
	return id;
}

void places_named(struct places *p, uint64_t id, const char *kind, const char *name)
{
	struct named *o = find_object(p, id) ? NULL : add_object(p, id, kind);

	if (o)
		o->o.name = strdup(name);
}

static uint64_t inode_key(uint32_t kdev, uint64_t ino)
{
	return mix(mix(mix(13, kdev), ino), 0);
}

uint64_t places_file(struct places *p, const char *path, uint32_t kdev, uint64_t ino)
{
	uint64_t key = inode_key(kdev, ino), id = seen_at(p, key);

	if (!id)
		id = see_at(p, key, places_path(p, path));
	if (id) {
		say_known(p, kdev, ino, id);
		say_by_path(p, kdev, ino);
	}
	return id;
}

uint64_t places_known_file(const struct places *p, uint32_t kdev, uint64_t ino)
{
	return seen_at(p, inode_key(kdev, ino));
}

void places_file_gone(struct places *p, uint32_t kdev, uint64_t ino)
{
	if (seen_at(p, inode_key(kdev, ino)))
		see_at(p, inode_key(kdev, ino), 0);
	say_known(p, kdev, ino, 0);
}

uint64_t places_temporary(struct places *p, const char *path, uint32_t task)
{
	char *known = stable_path(p, path);
	uint64_t key = fixed(mix_text(9, known ? known : path)), n, id;
	struct named *o;

	free(known);
	n = count_of(p, task);
	id = zug_object_numbered(task, n);
	o = add_object(p, id, "file");
	if (o) {
		o->o.name = strdup(path);
		o->file = true;
	}
	p->nr_temporary++;
	return see_at(p, key, id);
}

static bool is_name(const struct places *p, const char *name)
{
	for (size_t i = 0; i < p->nr_objects; i++)
		if (p->objects[i].o.name && !strcmp(p->objects[i].o.name, name))
			return true;
	return false;
}

/* An address of a path is known by its last part, one of a network by a port that the kernel does not choose. */
static void name_address(struct places *p, struct named *o, const void *address, size_t len, uint64_t n, uint32_t task)
{
	const struct sockaddr_un *un = address;
	const struct sockaddr_in *in = address;
	char path[sizeof(un->sun_path) + 1] = "", name[sizeof(path) + 16] = "";
	const char *last;

	if (un->sun_family == AF_UNIX && len > offsetof(struct sockaddr_un, sun_path)) {
		memcpy(path, un->sun_path, len - offsetof(struct sockaddr_un, sun_path));
		last = strrchr(path, '/');
		snprintf(name, sizeof(name), "address %s", last ? last + 1 : path);
	} else if (in->sin_family == AF_INET && ntohs(in->sin_port) < CHOSEN_PORT) {
		snprintf(name, sizeof(name), "address :%u", ntohs(in->sin_port));
	}
	if (name[0] && name[strlen(name) - 1] != ' ' && !is_name(p, name))
		o->o.name = strdup(name);
	else
		name_nth(o, "address", n, task);
}

uint64_t places_address(struct places *p, const void *address, size_t len, uint32_t task)
{
	uint64_t key = mix(17, len), n, id;
	char text[ZUG_ADDRESS] = "";
	struct named *o;

	for (size_t i = 0; i < len; i++)
		key = mix(key, ((const unsigned char *)address)[i]);
	key = fixed(key);
	id = seen_at(p, key);
	if (!id) {
		n = count_of(p, task);
		id = zug_object_numbered(task, n);
		o = add_object(p, id, "address");
		if (o)
			name_address(p, o, address, len, n, task);
		id = see_at(p, key, id);
	}
	if (len <= sizeof(text)) {
		memcpy(text, address, len);
		say_known(p, ZUG_DEV_ADDRESS, zug_address_number(text, len), id);
	}
	return id;
}

uint64_t places_bound(struct places *p, uint64_t socket, uint64_t address)
{
	uint64_t key = fixed(mix(29, socket));

	return address ? see_at(p, key, address) : seen_at(p, key);
}

uint64_t places_key(struct places *p, int call, uint32_t ipc_key)
{
	uint64_t id = fixed(mix(mix(31, call), ipc_key));
	char name[32];

	snprintf(name, sizeof(name), "key 0x%x", ipc_key);
	places_named(p, id, "key", name);
	return id;
}

uint64_t places_semaphore(struct places *p, uint64_t set, unsigned int nth, uint32_t task)
{
	uint64_t key = fixed(mix(mix(19, set), nth)), id = seen_at(p, key);
	const struct named *of = find_object(p, set);
	struct named *o;
	char *name;

	if (id)
		return id;
	/* "set #0 of T0" */
	if (asprintf(&name, "semaphore %u of %s", nth, of && of->o.name ? strchr(of->o.name, ' ') + 1 : "a set") < 0)
		name = NULL;
	id = zug_object_numbered(task, count_of(p, task));
	o = add_object(p, id, "semaphore");
	if (o)
		o->o.name = name;
	else
		free(name);
	return see_at(p, key, id);
}

bool places_is_elsewhere(struct places *p, uint64_t object)
{
	const struct named *o = find_object(p, object);

	return o && !o->memory;
}

bool places_is_file(struct places *p, uint64_t object)
{
	const struct named *o = object ? find_object(p, object) : NULL;

	return o && o->file;
}

bool places_is_atomic(struct places *p, uint64_t object)
{
	const struct named *o = find_object(p, object);

	return o && o->o.fixed && symfile_is_atomic(probes_module(p->probes, o->module)->file, o->vaddr);
}

bool places_is_constant(struct places *p, uint64_t object)
{
	const struct named *o = find_object(p, object);

	return o && o->o.fixed && o->module != UINT32_MAX &&
	       symfile_is_constant(probes_module(p->probes, o->module)->file, o->vaddr);
}

const struct place_object *places_find_object(struct places *p, uint64_t object)
{
	struct named *o = find_object(p, object);
	const char *keeps;
	uint64_t at, size;
	char name[512];

	if (!o)
		return NULL;
	if (!o->o.name && o->module != UINT32_MAX) {
		if (symfile_interpreter_data(probes_module(p->probes, o->module)->file, &at, &size) &&
		    o->vaddr - at < size) {
			if (asprintf(&o->o.name, "GIL+0x%lx", o->vaddr - at) < 0)
				o->o.name = NULL;
		} else if (!symfile_data_name(probes_module(p->probes, o->module)->file, o->vaddr, name,
				       sizeof(name)))
			o->o.name = strdup(name);
		else if ((keeps = symfile_linked(probes_module(p->probes, o->module)->file, o->vaddr, code_keeps)))
			o->o.name = strdup(keeps);
		else if (asprintf(&o->o.name, "%s+0x%lx",
				  strrchr(probes_module(p->probes, o->module)->path, '/') + 1,
				  o->vaddr) < 0)
			o->o.name = NULL;
	}
	return &o->o;
}
