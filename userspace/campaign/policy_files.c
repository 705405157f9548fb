/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files whose functions of synchronisation are points: the program and its libraries, and, as
 * executions show them, all that the test maps. A replay has the files that its trace lists.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "campaign/policy.h"

/* Names of files without symbols that are told. */
#define BARE_TOLD 5

struct files {
	struct session *s;
	char **probed, **known, **atomics;	/* paths, by what of the file is probed */
	char **bare;		/* names of files without symbols */
	unsigned int nr_bare;
	bool made;		/* the test makes programs or libraries */
};

static void *new_list(char **old, unsigned int nr)
{
	free(old);
	return calloc(nr + 1, sizeof(*old));
}

static int open_files(void *state, struct session *s, struct race_book *races, char *err,
		      size_t errlen)
{
	struct files *f = state;

	f->s = s;
	return 0;
}

static void release_files(void *state)
{
	struct files *f = state;

	free(f->probed);
	free(f->known);
	free(f->atomics);
	for (unsigned int i = 0; i < f->nr_bare; i++)
		free(f->bare[i]);
	free(f->bare);
}

static bool is_script(const char *file)
{
	char two[2] = "";
	FILE *f = fopen(file, "re");

	if (!f)
		return false;
	if (fread(two, 1, 2, f) != 2)
		two[0] = 0;
	fclose(f);
	return two[0] == '#' && two[1] == '!';
}

static void add_bare(struct files *f, const char *path)
{
	char **more = realloc(f->bare, (f->nr_bare + 1) * sizeof(*more));

	if (!more)
		return;
	f->bare = more;
	f->bare[f->nr_bare] = strdup(strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	f->nr_bare += !!f->bare[f->nr_bare];
}

/* What locks it has come from a shared library, as far as can be told. */
static bool imports_locks(struct symfile *f)
{
	static const char *const names[] = { "pthread_mutex_lock", "pthread_rwlock_wrlock", "mtx_lock", "sem_wait" };
	bool takes[sizeof(names) / sizeof(names[0])] = { false }, any = false;

	symfile_imports(f, names, sizeof(names) / sizeof(names[0]), takes);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		any |= takes[i];
	return any;
}

/* Says so of a program without symbols; not of a script or a file that cannot be read. */
static void say_without_symbols(struct files *files, const char *path)
{
	struct session *s = files->s;
	struct symfile *f = symbols_file(s->symbols, path, NULL, NULL, 0);

	if (!f || symfile_has_symbols(f))
		return;
	if (!symfile_is_go(f) && imports_locks(f)) {
		session_say(s, "%s has no symbols: its places have no names", path);
		return;
	}
	if (symfile_is_go(f))
		session_say(s,
			    "%s is a program in Go without symbols, as go test -exec links it: its channels and "
			    "locks are no points. Test what go test -c -o x.test links",
			    path);
	else
		session_say(s,
			    "%s has no symbols, and no libc.a here tells them: its places have no names, and locks that "
			    "were linked into it statically are no points",
			    path);
	add_bare(files, path);
}

/* Files, some of which may be no programs (may_fail): a script, for example. */
static int add_files(struct session *s, char *const *paths, bool sync, bool may_fail, char *err,
		     size_t errlen)
{
	for (char *const *p = paths; p && *p; p++) {
		int ret = probes_add_file(s->probes, *p, sync, err, errlen);

		/* the test made it: see learn_made() */
		if (ret == -ENOEXEC && s->o.replay.probed && access(*p, F_OK))
			ret = probes_use_all(s->probes, err, errlen);
		if (ret < 0 && !(may_fail && ret == -ENOEXEC))
			return ret;
	}
	return 0;
}

static int start(void *state, char *err, size_t errlen)
{
	struct session *s = ((struct files *)state)->s;
	const struct options_replay *r = &s->o.replay;
	char **paths;
	int ret;

	if (!is_script(s->paths.program) &&
	    !symbols_file(s->symbols, s->paths.program, NULL, err, errlen))
		return -EINVAL;
	paths = symbols_needed_paths(s->symbols, s->paths.program, s->o.command.envp);
	if (!paths)
		return -ENOMEM;
	/*
	 * all of them first: what they use decides what is probed; a file that is gone was reported
	 * when it was recorded
	 */
	ret = add_files(s, r->probed, false, false, err, errlen);
	ret = ret ? ret : add_files(s, r->known, false, true, err, errlen);
	ret = ret ? ret : add_files(s, paths, false, true, err, errlen);
	ret = ret ? ret : add_files(s, s->launched.runtime, s->o.points.sync, true, err, errlen);
	if (!ret && r->probed)
		ret = add_files(s, r->probed, true, false, err, errlen);
	else if (!ret && s->o.points.sync)
		ret = add_files(s, paths, true, true, err, errlen);
	for (char **p = paths; *p && !ret && s->o.points.sync; p++)
		say_without_symbols(state, *p);
	symbols_free_paths(paths);
	return ret ? -EIO : 0;
}

/*
 * Another file takes its place in each execution, so nothing in it is probed; what it uses of C
 * libraries is. Names of it come from a copy.
 */
static int learn_made(struct files *f, const char *path, char *err, size_t errlen)
{
	int ret = f->s->o.points.sync ? probes_use_all(f->s->probes, err, errlen) : 0;

	session_say(f->s,
		    "%s is made by the test: what it calls in libraries is a point, its own atomic "
		    "instructions and data are none",
		    path);
	f->made = true;
	return ret < 0 ? -EIO : ret + 1;
}

static int learn(void *state, bool only_more, char *err, size_t errlen)
{
	struct session *s = ((struct files *)state)->s;
	const char *path;
	int ret, made, learnt = 0;

	while (!s->o.replay.probed && (path = places_next_unprobed(s->places))) {
		if (probes_made(s->probes, path) >= 0) {
			made = learn_made(state, path, err, errlen);
			if (made < 0)
				return made;
			learnt += made;
			continue;
		}
		ret = probes_add_file(s->probes, path, s->o.points.sync, err, errlen);
		if (ret == -ENOEXEC) {
			session_say(
				s,
				"%s is mapped executable, but its symbols cannot be read: no points in it",
				path);
			add_bare(state, path);
			continue;
		}
		if (ret < 0)
			return -EIO;
		if (s->o.points.sync)
			say_without_symbols(state, path);
		learnt += ret > 0;
	}
	return learnt;
}

static int lists(void *state, struct options_replay *l)
{
	struct files *f = state;
	unsigned int nr = probes_nr_modules(f->s->probes), n = 0, m = 0, a = 0;

	f->probed = new_list(f->probed, nr);
	f->known = new_list(f->known, nr);
	f->atomics = new_list(f->atomics, nr);
	if (!f->probed || !f->known || !f->atomics)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++) {
		const struct probe_module *mod = probes_module(f->s->probes, i);

		if (mod->sync_points)
			f->probed[n++] = (char *)mod->path;
		else
			f->known[m++] = (char *)mod->path;
		if (mod->code_points)
			f->atomics[a++] = (char *)mod->path;
	}
	l->probed = f->probed;
	l->known = f->known;
	l->atomics = f->atomics;
	return 0;
}

static void note(void *state, struct campaign_notes *n)
{
	const struct files *f = state;
	size_t len;
	FILE *to = f->nr_bare || f->made ? open_memstream(&n->files, &len) : NULL;

	if (!to)
		return;
	if (f->made)
		fprintf(to,
			"not tried: switches at atomic instructions and data in programs that the test "
			"itself makes: make them before, and test them\n");
	if (f->nr_bare)
		fprintf(to, "not tried: switches at the locks that were linked into what has no symbols: ");
	for (unsigned int i = 0; i < f->nr_bare && i < BARE_TOLD; i++)
		fprintf(to, "%s%s", i ? ", " : "", f->bare[i]);
	if (f->nr_bare > BARE_TOLD)
		fprintf(to, ", and %u more", f->nr_bare - BARE_TOLD);
	if (f->nr_bare)
		fprintf(to, "; a build that is not stripped has them\n");
	fclose(to);
}

const struct point_policy policy_files = {
	.size = sizeof(struct files), .open = open_files, .release = release_files,
	.start = start, .learn = learn, .lists = lists, .note = note,
};
