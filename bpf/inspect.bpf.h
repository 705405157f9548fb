/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inspect.bpf.h - reading the kernel's objects: address spaces, files, timers
 *
 * A user address means something only together with its address space. Each
 * space gets a number (mm); the number changes when anything that was looked
 * up in it may have become stale (exec, unmap, a new shared or executable
 * mapping), so caches are keyed by it and never have to be searched.
 */
#ifndef ZUG_INSPECT_BPF_H
#define ZUG_INSPECT_BPF_H

#include "syscalls.bpf.h"

#define SPACE_OWN 4

struct space {
	__u32 nr;
	__u32 shared;	/* has, or had, memory that other processes may map too */
	__u32 mates;	/* has, or had, more than one task that runs in it */
	__u32 handles;	/* has, or had, a handler for a signal */
	__u64 loader, loader_end;	/* code of the dynamic loader, 0 none */
	__u64 data, data_end;	/* of an interpreter (struct zug_module), 0 none */
	struct zug_frames frames;	/* the same */
	__u32 nr_own;	/* mappings of code that is no library's of the distribution; more than SPACE_OWN: that lies anywhere */
	struct {
		__u64 start, end;
	} own[SPACE_OWN];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);	/* struct mm_struct * */
	__type(value, struct space);
} spaces SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ZUG_MAX_MODULES);
	__type(key, struct zug_file_key);
	__type(value, struct zug_module);
} modules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ZUG_MAX_SITES);
	__type(key, struct zug_site_key);
	__type(value, __u32);	/* index into sites */
} site_index SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ZUG_MAX_SITES);
	__type(key, __u32);
	__type(value, struct zug_site);
} sites SEC(".maps");

/* Of places with a limit that were reached; a search takes those of its places away with them. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4 * ZUG_MAX_SITES);
	__type(key, struct zug_hits_key);
	__type(value, struct zug_hits);
} hit_counts SEC(".maps");

struct addr_key {
	__u32 mm;
	__u32 round;	/* site_cache: of the probes, as the next ones are elsewhere */
	__u64 addr;
};

struct cached_site {
	__u32 site;
	__u32 pad;
	__u64 start, end;	/* of the mapping it lies in */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct addr_key);
	__type(value, struct cached_site);
} site_cache SEC(".maps");

struct page_where {
	__u64 ino, offset;
	__u32 dev, pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct addr_key);	/* of the page */
	__type(value, struct page_where);
} page_cache SEC(".maps");

static __always_inline void mm_add(struct mm_struct *mm, __u32 shared, const struct space *from)
{
	__u64 key = (__u64)mm;
	struct space sp = { .shared = shared };

	if (from) {
		sp.loader = from->loader;
		sp.loader_end = from->loader_end;
		sp.data = from->data;
		sp.data_end = from->data_end;
		sp.frames = from->frames;
		sp.handles = from->handles;
		sp.nr_own = from->nr_own;
		__builtin_memcpy(sp.own, from->own, sizeof(sp.own));
	}

	sp.nr = __sync_fetch_and_add(&mm_counter, 1) + 1;
	bpf_map_update_elem(&spaces, &key, &sp, BPF_ANY);
}

static __always_inline struct space *mm_space(struct mm_struct *mm)
{
	__u64 key = (__u64)mm;
	struct space *sp = bpf_map_lookup_elem(&spaces, &key);

	if (sp || !mm)
		return sp;
	mm_add(mm, 0, NULL);
	return bpf_map_lookup_elem(&spaces, &key);
}

/* A copy that is the only one of the two to run: what was looked up is true of both until something changes. */
static __always_inline void mm_copy(struct mm_struct *mm, struct mm_struct *from)
{
	struct space *sp = mm_space(from), copy;
	__u64 key = (__u64)mm;

	if (!sp)
		return;
	copy = *sp;
	bpf_map_update_elem(&spaces, &key, &copy, BPF_ANY);
}

static __always_inline __u32 space_number(const struct space *sp)
{
	return sp ? sp->nr : 0;
}

static __always_inline __u32 mm_number(struct mm_struct *mm)
{
	return space_number(mm_space(mm));
}

/* Code of the dynamic loader: what it does by itself is no point. */
static __always_inline bool in_loader(const struct space *sp, __u64 ip)
{
	return sp && ip >= sp->loader && ip < sp->loader_end;
}

/* Code of the program, of a library of its own, or of a file of which nothing is known yet. */
static __always_inline bool in_own_code(const struct space *sp, __u64 ip)
{
	__u32 i;

	if (!sp->nr_own || sp->nr_own > SPACE_OWN)
		return true;
	for (i = 0; i < SPACE_OWN; i++)
		if (i < sp->nr_own && ip >= sp->own[i].start && ip < sp->own[i].end)
			return true;
	return false;
}

/* Something that was looked up in it may not be true any more. */
static __always_inline void mm_changed(struct mm_struct *mm, bool shared)
{
	struct space *sp = mm_space(mm);

	if (!sp)
		return;
	sp->nr = __sync_fetch_and_add(&mm_counter, 1) + 1;
	if (shared)
		sp->shared = 1;
}

/* More than one task runs in it, or a handler for a signal is set. */
static __always_inline void mm_note(struct mm_struct *mm, bool mates, bool handles)
{
	struct space *sp = mm_space(mm);

	if (!sp)
		return;
	sp->mates |= mates;
	sp->handles |= handles;
}

static __always_inline void mm_gone(struct mm_struct *mm)
{
	__u64 key = (__u64)mm;

	bpf_map_delete_elem(&spaces, &key);
}

#define SOCK_DGRAM_		2
#define ANON_INODE_FS_MAGIC_	0x09041934
#define PIPEFS_MAGIC_		0x50495045

#define FMODE_BACKING_		(1u << 24)	/* since Linux 6.14 */

struct vma_info {
	__u64 start, end, pgoff, flags, ino;
	__u32 dev, found;
	__u64 named_ino;	/* as /proc/PID/maps has them: on an overlay those of the file that was opened, and not of the */
	__u32 named_dev;	/* one below it */
	__u32 pad;
};

static long read_vma(struct task_struct *task, struct vm_area_struct *vma, void *data)
{
	struct vma_info *v = data;
	struct file *f = vma->vm_file;
	struct inode *named;

	v->start = vma->vm_start;
	v->end = vma->vm_end;
	v->pgoff = vma->vm_pgoff;
	v->flags = vma->vm_flags;
	v->found = 1;
	if (f) {
		v->ino = BPF_CORE_READ(f, f_inode, i_ino);
		v->dev = BPF_CORE_READ(f, f_inode, i_sb, s_dev);
		named = BPF_CORE_READ(f, f_mode) & FMODE_BACKING_ ?
				BPF_CORE_READ((struct backing_file *)f, user_path.dentry, d_inode) : BPF_CORE_READ(f, f_inode);
		v->named_ino = BPF_CORE_READ(named, i_ino);
		v->named_dev = BPF_CORE_READ(named, i_sb, s_dev);
	}
	return 0;
}

/* The place of an int3: a site index, ZUG_NO_SITE - 1 when it is not ours, ZUG_NO_SITE when unknown. */
#define NOT_OURS (ZUG_NO_SITE - 1)
static __always_inline void find_site(struct task_struct *p, const struct task_state *t, __u32 mm, __u64 ip,
				      struct cached_site *out)
{
	struct addr_key ck = { .mm = mm, .round = round_of(t), .addr = ip };
	struct zug_site_key sk = {};
	struct zug_file_key fk = {};
	struct cached_site *known;
	struct vma_info v = {};
	struct zug_module *mod;
	__u32 *idx;

	known = bpf_map_lookup_elem(&site_cache, &ck);
	if (known) {
		*out = *known;
		return;
	}
	if (bpf_find_vma(p, ip, read_vma, &v, 0) || !v.found) {
		out->site = ZUG_NO_SITE;
		return;
	}
	out->site = NOT_OURS;
	out->start = v.start;
	out->end = v.end;
	fk.ino = v.ino;
	fk.dev = v.dev;
	fk.search = search_of(t);
	mod = bpf_map_lookup_elem(&modules, &fk);
	if (mod) {
		sk.module = mod->number;
		sk.offset = ip - v.start + (v.pgoff << 12);
		idx = bpf_map_lookup_elem(&site_index, &sk);
		if (idx)
			out->site = *idx;
	}
	bpf_map_update_elem(&site_cache, &ck, out, BPF_ANY);
}

/* Whose code lies there: 1. 0: that of a file which the search does not know; -1: of none, or it cannot be told. */
static __always_inline int find_code(struct task_struct *p, const struct task_state *t, __u64 addr, struct zug_step_key *key)
{
	struct zug_file_key fk = {};
	struct vma_info v = {};
	struct zug_module *mod;

	if (bpf_find_vma(p, addr, read_vma, &v, 0) || !v.found)
		return -1;
	fk.ino = v.ino;
	fk.dev = v.dev;
	fk.search = search_of(t);
	mod = bpf_map_lookup_elem(&modules, &fk);
	if (!mod)
		return v.ino && v.flags & VM_EXEC_ ? 0 : -1;
	key->module = mod->number;
	key->offset = addr - v.start + (v.pgoff << 12);
	key->round = round_of(t);
	return 1;
}

/* The same where memory may be shared, of the task that runs, whose space has that number. */
__noinline int find_where(__u32 mm, __u64 addr, struct zug_where *w)
{
	struct addr_key ck = { .mm = mm, .addr = addr >> 12 };
	struct page_where pw = {}, *known;
	struct vma_info v = {};

	if (!w)
		return false;
	known = bpf_map_lookup_elem(&page_cache, &ck);
	if (known) {
		pw = *known;
	} else {
		if (bpf_find_vma(bpf_get_current_task_btf(), addr, read_vma, &v, 0) || !v.found)
			return false;
		if (v.flags & VM_SHARED_) {
			pw.ino = v.named_ino ? v.named_ino : ZUG_INO_NONE;
			pw.dev = v.named_dev;
			pw.offset = (addr & ~0xfffull) - v.start + (v.pgoff << 12);
		}
		bpf_map_update_elem(&page_cache, &ck, &pw, BPF_ANY);
	}
	w->ino = pw.ino;
	w->dev = pw.dev;
	w->offset = pw.ino ? pw.offset + (addr & 0xfff) : addr;
	w->mode = 0;
	return true;
}

/*
 * Where an address of the task that runs, in that space, really lies, so that one shared object of two processes is one
 * object.
 */
static __always_inline bool addr_where(const struct space *sp, __u64 addr, struct zug_where *w)
{
	/*
	 * The common case needs no look-up; it could fail, too: the kernel unlocks an address space
	 * from an interrupt, once, and the site's look-up may just have used that.
	 */
	if (sp && !sp->shared) {
		w->ino = 0;
		w->dev = 0;
		w->mode = 0;
		w->offset = addr;
		return true;
	}
	return find_where(space_number(sp), addr, w);
}

/* No task but the one that runs in sp can see what becomes of w; a handler of its own may. */
static __always_inline bool sees_alone(const struct space *sp, const struct zug_where *w)
{
	return sp && !sp->mates && !w->ino && !w->dev;
}

/*
 * Which object an end of an AF_UNIX connection is, by its inode's number: the number of one of the two ends. It is kept,
 * for who is left has a peer without an inode. (The address of a socket is soon given to another one, its number not.)
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u64);
} connections SEC(".maps");

/* 0: it is not accepted yet, or closed. */
static __always_inline __u64 sock_ino(struct sock *sk)
{
	struct socket *sock = BPF_CORE_READ(sk, sk_socket);

	return sock ? BPF_CORE_READ(container_of(sock, struct socket_alloc, socket), vfs_inode.i_ino) : 0;
}

static __always_inline __u64 connection_of(struct sock *sk, __u64 self)
{
	struct sock *peer = BPF_CORE_READ((struct unix_sock *)sk, peer);
	__u64 there, id, *known;

	if (BPF_CORE_READ(sk, sk_type) == SOCK_DGRAM_) {
		/* many may send to one */
		there = peer ? sock_ino(peer) : 0;
		return !there || (BPF_CORE_READ((struct unix_sock *)peer, peer) == sk && self < there) ? self : there;
	}
	known = bpf_map_lookup_elem(&connections, &self);
	if (known)
		return *known;
	if (!peer)
		return self;
	there = sock_ino(peer);
	known = there ? bpf_map_lookup_elem(&connections, &there) : NULL;
	id = known ? *known : there && there < self ? there : self;
	bpf_map_update_elem(&connections, &self, &id, BPF_ANY);
	if (there && !known)
		bpf_map_update_elem(&connections, &there, &id, BPF_ANY);
	return id;
}

/* Both ends of a connection are one object. offset: the family. */
static __always_inline void socket_where(struct sock *sk, struct zug_where *w)
{
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);
	__u32 here, there;

	w->offset = family;
	if (family == AF_UNIX_) {
		w->ino = connection_of(sk, w->ino);
	} else if (family == AF_INET_ || family == AF_INET6_) {
		here = BPF_CORE_READ(sk, __sk_common.skc_num);
		there = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
		if (here && there)
			w->ino = 1ull << 32 | (here < there ? here << 16 | there : there << 16 | here);
	}
}

/*
 * eventfd, epoll, timerfd and the like share one inode. Each gets a number when it is first looked at. What had the address
 * of a new one before was another, and its number is forgotten (nameless_made()).
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);	/* struct file * */
	__type(value, __u64);
} nameless SEC(".maps");

static __always_inline __u64 nameless_number(struct file *f)
{
	__u64 key = (__u64)f, nr, *known = bpf_map_lookup_elem(&nameless, &key);

	if (known)
		return *known;
	nr = __sync_fetch_and_add(&nameless_counter, 1) + 1;
	bpf_map_update_elem(&nameless, &key, &nr, BPF_ANY);
	return nr;
}

/* The file behind a descriptor of @p, NULL: none. */
static __always_inline struct file *fd_file(struct task_struct *p, __u64 fd)
{
	struct fdtable *fdt = BPF_CORE_READ(p, files, fdt);
	struct file **table, *f = NULL;

	if (!fdt || (__u32)fd >= BPF_CORE_READ(fdt, max_fds))
		return NULL;
	table = BPF_CORE_READ(fdt, fd);
	bpf_probe_read_kernel(&f, sizeof(f), &table[(__u32)fd]);
	return f;
}

/* A system call has made the descriptor fd. */
static __always_inline void nameless_made(struct task_struct *p, const struct task_state *t, __s32 nr, __u64 fd)
{
	__u64 key;

	switch (nr) {
	case NR_signalfd:
	case NR_signalfd4:
		/* else it is one that was there */
		if ((__s32)t->args[0] != -1)
			return;
		break;
	case NR_epoll_create:
	case NR_inotify_init:
	case NR_timerfd_create:
	case NR_eventfd:
	case NR_eventfd2:
	case NR_epoll_create1:
	case NR_inotify_init1:
	case NR_perf_event_open:
	case NR_fanotify_init:
	case NR_bpf:
	case NR_userfaultfd:
	case NR_fsopen:
	case NR_fspick:
	case NR_landlock_create_ruleset:
		break;
	default:
		return;
	}
	key = (__u64)fd_file(p, fd);
	if (key)
		bpf_map_delete_elem(&nameless, &key);
}

/* It is a pipe without a name. */
static __always_inline bool on_pipefs(struct task_struct *p, __u64 fd)
{
	struct file *f = fd_file(p, fd);

	return f && BPF_CORE_READ(f, f_inode, i_sb, s_magic) == PIPEFS_MAGIC_;
}

static __always_inline bool fd_where(struct task_struct *p, __u64 fd, struct zug_where *w)
{
	struct file *f = fd_file(p, fd);
	struct inode *ino;

	if (!f)
		return false;
	ino = BPF_CORE_READ(f, f_inode);
	w->ino = BPF_CORE_READ(ino, i_ino);
	w->dev = BPF_CORE_READ(ino, i_sb, s_dev);
	w->mode = BPF_CORE_READ(ino, i_mode);
	/* eventfd, timerfd, epoll: since Linux 6.16 the kernel calls them regular files inside */
	if (BPF_CORE_READ(ino, i_sb, s_magic) == ANON_INODE_FS_MAGIC_)
		w->mode &= 07777;
	w->offset = 0;
	if ((w->mode & 0170000) == 0140000 /* S_IFSOCK */) {
		struct socket *sock = BPF_CORE_READ(f, private_data);

		socket_where(BPF_CORE_READ(sock, sk), w);
	} else if (!(w->mode & 0170000)) {
		w->offset = nameless_number(f);
	}
	return true;
}

struct hrtimer___old {
	__u8 state;
} __attribute__((preserve_access_index));

struct hrtimer___new {
	bool is_queued;
} __attribute__((preserve_access_index));

/* An alarm or a POSIX timer of this process may yet send a signal. */
static __always_inline bool timer_armed(struct task_struct *p)
{
	struct signal_struct *sig = LOOSE(p)->signal;
	void *first = NULL;

	if (bpf_core_field_exists(struct hrtimer___old, state)) {
		struct hrtimer___old *h = (void *)&sig->real_timer;

		if (BPF_CORE_READ(h, state))
			return true;
	} else if (bpf_core_field_exists(struct hrtimer___new, is_queued)) {
		struct hrtimer___new *h = (void *)&sig->real_timer;

		if (BPF_CORE_READ(h, is_queued))
			return true;
	}
	bpf_core_read(&first, sizeof(first), &sig->posix_timers);
	return first != NULL;
}

/* What user space knows of each system call. Set before load. */
const volatile struct zug_syscall syscalls[ZUG_NR_SYSCALLS];

static __always_inline bool waits_on_fd(__s32 nr)
{
	return nr >= 0 && nr < ZUG_NR_SYSCALLS && syscalls[nr].wait_fd;
}

#endif
