/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "campaign/campaign_internal.h"
#include "lib/version.h"
#include "cli/exit_codes.h"
#include "engine/faults.h"
#include "kernel/machine.h"
#include "campaign/script.h"

uint64_t campaign_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Like the shell: a name with a slash is a path, any other is looked for in PATH. */
static char *find_program(const struct campaign_options *o, char *err, size_t errlen)
{
	const char *name = o->command.argv[0], *path = NULL;
	char buf[PATH_MAX], *real;
	struct stat st;

	for (char **e = o->command.envp; e && *e; e++)
		if (!strncmp(*e, "PATH=", 5))
			path = *e + 5;
	if (strchr(name, '/')) {
		if (name[0] == '/')
			snprintf(buf, sizeof(buf), "%s", name);
		else
			snprintf(buf, sizeof(buf), "%s/%s", o->command.cwd, name);
	} else {
		buf[0] = 0;
		for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p;) {
			size_t n = strcspn(p, ":");

			snprintf(buf, sizeof(buf), "%.*s/%s", (int)n, n ? p : ".", name);
			if (!stat(buf, &st) && S_ISREG(st.st_mode) && !access(buf, X_OK))
				break;
			buf[0] = 0;
			p += n + (p[n] == ':');
		}
		if (!buf[0]) {
			snprintf(err, errlen, "%s: command not found in PATH", name);
			return NULL;
		}
	}
	if (stat(buf, &st)) {
		snprintf(err, errlen, "%s: %s", name, strerror(errno));
		return NULL;
	}
	if (S_ISDIR(st.st_mode)) {
		snprintf(err, errlen, "%s: is a directory", name);
		return NULL;
	}
	if (access(buf, X_OK)) {
		snprintf(err, errlen, "%s: not executable (%s)", name, strerror(errno));
		return NULL;
	}
	real = realpath(buf, NULL);
	if (!real)
		snprintf(err, errlen, "%s: %s", name, strerror(errno));
	return real;
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

/* Of a program that tells nothing of itself; of a script or a library there is nothing to say. */
static void say_without_symbols(struct campaign *c, const char *path)
{
	struct symfile *f = symbols_file(c->symbols, path, NULL, NULL, 0);

	if (f && !symfile_has_symbols(f))
		fprintf(c->err, "zug: %s has no symbols: its places have no names, and locks that were linked into it "
			"statically are no points\n", path);
}

/* Files of which some may be no programs (may_fail): a script's own text, for example. */
static int add_files(struct campaign *c, char *const *paths, bool sync, bool may_fail, char *err, size_t errlen)
{
	for (char *const *p = paths; p && *p; p++) {
		int ret = probes_add_file(c->probes, *p, sync, err, errlen);

		if (ret < 0 && !(may_fail && ret == -ENOEXEC))
			return ret;
	}
	return 0;
}

/* Probes the program, its libraries and what the user named. enum zug_exit. */
static int set_points(struct campaign *c, char *err, size_t errlen)
{
	char **paths;
	int ret;

	if (!is_script(c->file) && !symbols_file(c->symbols, c->file, NULL, err, errlen))
		return ZUG_EXIT_USAGE;
	paths = symbols_needed_paths(c->symbols, c->file, c->o.command.envp);
	if (!paths)
		return ZUG_EXIT_INTERNAL;
	/* all of them first: what they use decides what is probed; what is no longer there was told when it was recorded */
	ret = add_files(c, c->o.replay.probed, false, false, err, errlen);
	ret = ret ? ret : add_files(c, c->o.replay.known, false, true, err, errlen);
	ret = ret ? ret : add_files(c, paths, false, true, err, errlen);
	if (!ret && c->o.replay.probed)
		ret = add_files(c, c->o.replay.probed, true, false, err, errlen);
	else if (!ret && c->o.points.sync)
		ret = add_files(c, paths, true, true, err, errlen);
	for (char **p = paths; *p && !ret && c->o.points.sync; p++)
		say_without_symbols(c, *p);
	symbols_free_paths(paths);
	if (ret)
		return ZUG_EXIT_ENVIRONMENT;
	ret = campaign_add_atomics(c, err, errlen);
	ret = ret ? ret : campaign_add_split(c, err, errlen);
	ret = ret ? ret : campaign_add_data(c, err, errlen);
	if (ret)
		return ret;
	for (char **p = c->o.points.places; p && *p; p++)
		if (probes_add_point(c->probes, *p, err, errlen) <= 0)
			return ZUG_EXIT_USAGE;
	return campaign_update_json(c) ? ZUG_EXIT_INTERNAL : 0;
}

static void free_list(char **list)
{
	for (char **p = list; p && *p; p++)
		free(*p);
	free(list);
}

int campaign_update_json(struct campaign *c)
{
	unsigned int nr = probes_nr_modules(c->probes), n = 0, m = 0, a = 0;
	char **probed = calloc(nr + 1, sizeof(*probed)), **known = calloc(nr + 1, sizeof(*known));
	char **atomics = calloc(nr + 1, sizeof(*atomics)), **data = campaign_data_points(c);
	char **races = campaign_known_races(c), **waits = campaign_waits_list(c);
	const struct campaign_lists lists = { probed, known, atomics, c->nr_silent ? c->silent : c->o.replay.silent,
					      c->nr_limited ? c->limited : c->o.replay.limited,
					      c->nr_split ? c->split : c->o.replay.split,
					      waits && waits[0] ? waits : c->o.replay.waits,
					      c->o.replay.data && c->o.replay.data[0] ? c->o.replay.data : data, races };

	free(c->options_json);
	c->options_json = NULL;
	for (unsigned int i = 0; probed && known && atomics && waits && i < nr; i++) {
		const struct probe_module *mod = probes_module(c->probes, i);

		if (mod->sync_points)
			probed[n++] = (char *)mod->path;
		else
			known[m++] = (char *)mod->path;
		if (mod->code_points)
			atomics[a++] = (char *)mod->path;
	}
	if (probed && known && atomics && waits && data && races)
		c->options_json = campaign_options_json(&c->o, &lists);
	free(probed);
	free(known);
	free(atomics);
	free(waits);
	free_list(data);
	free_list(races);
	return c->options_json ? 0 : -ENOMEM;
}

int campaign_learn(struct campaign *c, char *err, size_t errlen)
{
	const char *path;
	unsigned int nr;
	int ret, learnt = 0;

	if (c->o.replay.probed)
		return 0;	/* a replay has what was recorded */
	while ((path = places_next_unprobed(c->places))) {
		ret = probes_add_file(c->probes, path, c->o.points.sync, err, errlen);
		if (ret == -ENOEXEC) {
			fprintf(c->err, "zug: %s is mapped executable, but its symbols cannot be read: no points in it\n",
				path);
			continue;
		}
		if (ret < 0)
			return ret;
		if (c->o.points.sync)
			say_without_symbols(c, path);
		learnt += ret > 0;
	}
	nr = probes_nr_sites(c->probes);
	if (campaign_add_atomics(c, err, errlen))
		return -EINVAL;
	learnt += probes_nr_sites(c->probes) != nr;
	ret = campaign_update_json(c);
	return ret ? ret : learnt;
}

int campaign_set_watches(struct campaign *c)
{
	char err[512] = "", name[256], near[256];
	unsigned int n = 0, slot = 0;

	for (char **w = c->o.points.watches; w && *w; w++, n++) {
		const char *colon = strchr(*w, ':'), *what = *w;
		struct zug_watch watch = { 0 };
		uint64_t vaddr, size, bias;
		bool found = false, mapped = false;
		uint32_t m;

		if (colon && colon[1] != ':') {
			snprintf(name, sizeof(name), "%.*s", (int)(colon - *w), *w);
			what = colon + 1;
		} else {
			colon = NULL;
		}
		if (n >= ZUG_MAX_WATCHES) {
			fprintf(c->err, "zug: --watch %s: the processor has %d debug registers\n", *w,
				ZUG_MAX_WATCHES);
			return ZUG_EXIT_USAGE;
		}
		for (m = 0; m < probes_nr_modules(c->probes) && !found; m++) {
			const struct probe_module *mod = probes_module(c->probes, m);
			const char *base = strrchr(mod->path, '/') + 1;

			if (colon && strcmp(base, name) && strcmp(mod->path, name))
				continue;
			if (symfile_variable(mod->file, what, &vaddr, &size, err, sizeof(err)))
				continue;
			found = true;
			for (uint32_t p = 0; p < c->spawn.nr && !mapped; p++)
				mapped = !places_bias(c->places, p, m, &bias);
			if (mapped) {
				watch.addr = vaddr + bias;
				watch.len = size >= 8 && !(watch.addr & 7) ? 8 : size >= 4 && !(watch.addr & 3) ? 4 :
					    size >= 2 && !(watch.addr & 1) ? 2 : 1;
				if (symfile_interp(mod->file) || !symfile_is_dynamic(mod->file)) {
					/* a program's own data: no other program's memory is meant */
					watch.exe_ino = mod->ino;
					watch.exe_dev = kernel_dev(mod->dev);
				}
			}
		}
		if (!found) {
			near[0] = 0;
			for (m = 0; m < probes_nr_modules(c->probes) && !near[0]; m++)
				symfile_nearest(probes_module(c->probes, m)->file, what, false, near, sizeof(near));
			fprintf(c->err, "zug: --watch %s: no such variable in the program or its libraries%s%s%s\n",
				*w, near[0] ? "; did you mean " : "", near, near[0] ? "?" : "");
			return ZUG_EXIT_USAGE;
		}
		if (!mapped) {
			fprintf(c->err, "zug: --watch %s: its file was not mapped by the test\n", *w);
			return ZUG_EXIT_USAGE;
		}
		if (size > 8)
			fprintf(c->err, "zug: --watch %s: it has %lu bytes, the first %u are watched\n", *w,
				(unsigned long)size, watch.len);
		c->watched[slot].module = m - 1;
		c->watched[slot].vaddr = vaddr;
		c->watched[slot].size = size ? size : watch.len;
		c->watch[slot] = watch;
		kernel_set_watch(c->k, slot++, &watch);
	}
	c->nr_watches = slot;
	kworld_launch(c->world)->nr_watches = slot;
	return 0;
}

static struct search *new_search(struct campaign *c, char *err, size_t errlen)
{
	struct search_names names = campaign_rule_names(c);
	struct search_options o = { .strategy = c->o.search.strategy, .seed = c->o.search.seed,
				    .fair = c->o.search.fair,
				    .max_steps = c->o.failure.max_steps, .preemptions = c->o.search.preemptions,
				    .memory = c->o.search.memory, .rules = c->o.search.rules, .names = &names,
				    .script = c->o.search.script ? c->o.search.script->path : NULL };
	struct search *s = search_new(&o, err, errlen);

	if (!s || !campaign_script_check(&c->o, s, err, errlen))
		return s;
	search_free(s);
	return NULL;
}

int campaign_restart(struct campaign *c, char *err, size_t errlen)
{
	search_free(c->search);
	c->search = new_search(c, err, errlen);
	if (!c->search)
		return ZUG_EXIT_INTERNAL;
	engine_use(c->engine, c->search, c->o.failure.timeout_ns);
	return campaign_set_watches(c);
}

/* --share: as paths that mean the same everywhere. */
static int find_shares(struct campaign *c, char *err, size_t errlen)
{
	char path[2 * PATH_MAX];
	unsigned int nr = 0;

	while (c->o.environment.shares && c->o.environment.shares[nr])
		nr++;
	c->shares = calloc(nr + 1, sizeof(*c->shares));
	if (!c->shares)
		return ZUG_EXIT_INTERNAL;
	for (unsigned int i = 0; i < nr; i++) {
		const char *p = c->o.environment.shares[i];

		snprintf(path, sizeof(path), "%s%s%s", p[0] == '/' ? "" : c->o.command.cwd, p[0] == '/' ? "" : "/", p);
		c->shares[i] = realpath(path, NULL);
		if (!c->shares[i]) {
			snprintf(err, errlen, "--share %s: %s%s", p, strerror(errno),
				 errno == ENOENT ? ": what is shared has to be there" : "");
			return ZUG_EXIT_USAGE;
		}
	}
	c->o.environment.shares = c->shares;
	return 0;
}

/* The folder for traces, which need not be there yet, by a path without links; NULL: not known. */
static char *output_path(const struct campaign_options *o)
{
	char *path = NULL, *slash, *folder, *out = NULL;

	if (asprintf(&path, "%s%s%s", o->results.dir[0] == '/' ? "" : o->command.cwd, o->results.dir[0] == '/' ? "" : "/",
		     o->results.dir) < 0)
		return NULL;
	while (path[1] && path[strlen(path) - 1] == '/')
		path[strlen(path) - 1] = 0;
	slash = strrchr(path, '/');
	*slash = 0;
	folder = realpath(path[0] ? path : "/", NULL);
	if (folder && slash[1] && slash[1] != '.' && asprintf(&out, "%s/%s", folder[1] ? folder : "", slash + 1) < 0)
		out = NULL;
	free(folder);
	free(path);
	return out;
}

static const char *temporary_folder(char *const *envp)
{
	for (; envp && *envp; envp++)
		if (!strncmp(*envp, "TMPDIR=", 7))
			return *envp + 7;
	return NULL;
}

int campaign_new(struct campaign **out, struct kernel *k, const struct campaign_options *o,
		 FILE *fout, FILE *ferr, const volatile sig_atomic_t *stop, int wake_fd)
{
	struct sandbox_options so = { .name = o->machine.name, .lane = o->machine.lane, .nr_cpus = o->machine.cpus,
				      .max_tasks = o->machine.max_tasks, .spin_ns = o->failure.spin_ns,
				      .syscall_points = o->points.syscalls };
	struct campaign *c = calloc(1, sizeof(*c));
	struct kworld_options ko = { .wake_fd = wake_fd };
	struct engine_options eo = { .timeout_ns = o->failure.timeout_ns, .max_steps = o->failure.max_steps,
				     .stop = stop, .debugger = o->replay.debugger, .explore_timeouts = o->inputs.explore_timeouts,
				     .faults = o->inputs.faults, .max_faults = o->inputs.max_faults,
				     .max_flows = o->inputs.max_flows };
	char err[1024] = "";
	struct utsname u;
	int ret;

	*out = NULL;
	if (!c)
		return ZUG_EXIT_INTERNAL;
	c->start_ns = campaign_now();
	c->o = *o;
	c->races_fail = o->failure.race;
	/* whoever joins has been outside, where the machine's time is */
	c->o.inputs.real_time |= o->machine.sandbox != NULL;
	c->o.inputs.real_random |= o->machine.sandbox != NULL;
	if (o->machine.sandbox)
		c->o.environment.own = 0;
	if (!(c->o.inputs.real_time && c->o.inputs.real_random) && machine_locked_down("integrity")) {
		fprintf(ferr, "zug: the kernel is locked down: the test sees the machine's time and random numbers "
			"(--time real --random real)\n");
		c->o.inputs.real_time = c->o.inputs.real_random = true;
	}
	so.virtual_time = !c->o.inputs.real_time;
	so.seeded = !c->o.inputs.real_random;
	so.seed = o->search.seed;
	if (!c->o.inputs.clock_real)
		/* the next second: nothing that is there may have come later */
		c->o.inputs.clock_real = (time(NULL) + 1) * 1000000000ull;
	so.clock_real = c->o.inputs.clock_real;
	c->out = fout;
	c->err = ferr;
	c->stop = stop;
	c->input_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	uname(&u);
	snprintf(c->release, sizeof(c->release), "%s %s", u.release, u.version);
	if (c->o.inputs.real_time && !o->machine.sandbox && o->inputs.faults & (1u << FLOW_REORDER | 1u << FLOW_DELAY)) {
		snprintf(err, sizeof(err), "--flows reorder and delay need a virtual clock, and there is none");
		ret = ZUG_EXIT_ENVIRONMENT;
		goto fail;
	}
	/* what the user got wrong comes before what the machine lacks */
	c->file = o->command.file ? strdup(o->command.file) : find_program(o, err, sizeof(err));
	if (!c->file) {
		ret = ZUG_EXIT_USAGE;
		goto fail;
	}
	ret = find_shares(c, err, sizeof(err));
	if (ret)
		goto fail;
	if (!o->environment.hide)
		c->o.environment.hide = c->hide = output_path(o);
	c->search = new_search(c, err, sizeof(err));
	if (!c->search) {
		ret = ZUG_EXIT_USAGE;
		goto fail;
	}
	if (o->search.script)
		script_number_tasks(o->search.script, &c->spawn);
	if (campaign_monitors_new(c, err, sizeof(err))) {
		ret = ZUG_EXIT_USAGE;
		goto fail;
	}
	if (campaign_load_state(c, err, sizeof(err)) || campaign_record_open(c, err, sizeof(err))) {
		ret = ZUG_EXIT_USAGE;
		goto fail;
	}
	if (o->failure.match) {
		ret = regcomp(&c->match, o->failure.match, REG_EXTENDED | REG_NEWLINE);
		if (ret) {
			char why[256];

			regerror(ret, &c->match, why, sizeof(why));
			snprintf(err, sizeof(err), "--match '%s': %s", o->failure.match, why);
			ret = ZUG_EXIT_USAGE;
			goto fail;
		}
		c->have_match = true;
		eo.rules.match = &c->match;
	}
	eo.rules.expect_exit = o->failure.expect_exit;
	if (campaign_feed(c, err, sizeof(err))) {
		ret = ZUG_EXIT_USAGE;
		goto fail;
	}
	/* it is made when there is something to put into it; that it can be is seen now */
	if (!mkdir(o->results.dir, 0755)) {
		rmdir(o->results.dir);
	} else if (errno != EEXIST) {
		snprintf(err, sizeof(err), "cannot create the folder for traces %s: %s", o->results.dir,
			 strerror(errno));
		ret = ZUG_EXIT_USAGE;
		goto fail;
	}
	ret = ZUG_EXIT_ENVIRONMENT;
	if (k) {
		c->k = k;
	} else {
		if (kernel_open(&c->k, err, sizeof(err)))
			goto fail;
		c->own_kernel = true;
	}
	so.own = c->o.environment.own;
	so.cwd = o->command.cwd;
	so.temporary = temporary_folder(o->command.envp);
	so.share = c->shares;
	so.hide = c->o.environment.hide;
	so.setup = o->environment.setup;
	so.teardown = o->environment.teardown;
	if (o->inputs.faults && kernel_allow_faults(c->k, err, sizeof(err)))
		goto fail;
	c->own_sandbox = !o->machine.sandbox;
	c->sandbox = o->machine.sandbox;
	ret = c->sandbox ? 0 : sandbox_new(&c->sandbox, c->k, 0, &so, err, sizeof(err));
	if (ret) {
		ret = ret == -EINVAL || ret == -EEXIST ? ZUG_EXIT_USAGE : ZUG_EXIT_ENVIRONMENT;
		goto fail;
	}
	if (c->own_sandbox && sandbox_note(c->sandbox))
		fprintf(ferr, "zug: %s\n", sandbox_note(c->sandbox));
	sandbox_avoid_lane(c->sandbox);
	ret = ZUG_EXIT_INTERNAL;
	snprintf(err, sizeof(err), "out of memory");
	c->symbols = symbols_new();
	if (c->symbols && symbols_look_in(c->symbols, o->command.cwd))
		goto fail;
	c->probes = c->symbols ? probes_new(c->k, c->sandbox, c->symbols) : NULL;
	if (c->probes)
		probes_answer(c->probes, so.virtual_time, so.seeded);
	c->places = c->probes ? places_new(c->probes, c->symbols) : NULL;
	c->capture = capture_new();
	if (!c->places || !c->capture)
		goto fail;
	if (c->input_fd < 0 || asprintf(&c->current, "/run/zug-%d-0.trace", getpid()) < 0) {
		c->current = NULL;
		goto fail;
	}
	ret = set_points(c, err, sizeof(err));
	if (!ret)
		ret = campaign_monitors_resolve(c, false, err, sizeof(err));
	if (ret)
		goto fail;
	ko.explore_timeouts = o->inputs.explore_timeouts;
	ko.kernel = c->k;
	ko.sandbox = c->sandbox;
	ko.probes = c->probes;
	ko.places = c->places;
	ko.symbols = c->symbols;
	ko.spawn = &c->spawn;
	ko.launch = (struct launch){
		.file = c->file, .argv = o->command.argv, .envp = o->command.envp, .cwd = o->command.cwd,
		.in = c->input_fd,
		.out = capture_out(c->capture), .err = capture_err(c->capture),
		.randomise = o->machine.randomise,
	};
	c->world = kworld_new(&ko);
	c->engine = c->world ? engine_new(c->world, c->search, c->capture, &eo) : NULL;
	if (!c->engine) {
		ret = ZUG_EXIT_INTERNAL;
		goto fail;
	}
	engine_watch_steps(c->engine, campaign_on_step, c);
	if (campaign_monitors_watch(c))
		engine_watch_states(c->engine, campaign_monitors_look, c);
	c->setup_ns = campaign_now() - c->start_ns;
	if (getenv("ZUG_DEBUG") && strstr(getenv("ZUG_DEBUG"), "times"))
		fprintf(c->err, "set-up: %.2f ms\n", c->setup_ns / 1e6);
	*out = c;
	return 0;
fail:
	fprintf(ferr, "zug: %s\n", err);
	campaign_free(c);
	return ret;
}

void campaign_free(struct campaign *c)
{
	if (!c)
		return;
	campaign_record_close(c);
	campaign_sample_free(c);
	campaign_monitors_free(c);
	campaign_free_races(c);
	engine_free(c->engine);
	kworld_free(c->world);
	search_free(c->search);
	places_free(c->places);
	probes_free(c->probes);
	/* probes cannot be taken out while a task stands still in the kernel */
	if (c->sandbox && !c->own_sandbox)
		sandbox_drain(c->sandbox, 0, NULL);
	if (c->k)
		kernel_clear_probes(c->k);
	if (c->own_sandbox)
		sandbox_free(c->sandbox);
	if (c->own_kernel)
		kernel_close(c->k);
	symbols_free(c->symbols);
	capture_free(c->capture);
	spawn_free(&c->spawn);
	if (c->have_match)
		regfree(&c->match);
	if (c->input_fd >= 0)
		close(c->input_fd);
	if (c->current)
		unlink(c->current);
	free(c->current);
	for (unsigned int i = 0; i < c->nr_failures; i++) {
		free(c->failures[i].trace);
		free(c->failures[i].message);
	}
	free(c->failures);
	for (unsigned int i = 0; i < c->nr_silent; i++)
		free(c->silent[i]);
	free(c->silent);
	for (unsigned int i = 0; i < c->nr_limited; i++)
		free(c->limited[i]);
	free(c->limited);
	campaign_waits_free(c);
	for (unsigned int i = 0; i < c->nr_split; i++)
		free(c->split[i]);
	free(c->split);
	free(c->options_json);
	for (char **p = c->shares; p && *p; p++)
		free(*p);
	free(c->shares);
	free(c->hide);
	free(c->file);
	free(c);
}

/* ---- one execution and its trace ---- */

int campaign_finish_trace(struct campaign *c, struct trace_writer *t, const struct execution *x)
{
	struct trace_outcome o = { .kind = x->outcome.kind, .code = x->outcome.code,
				   .failure = x->outcome.failure, .ungranted = x->ungranted,
				   .wall_ns = x->wall_ns, .message = x->outcome.message };
	char *text[4] = { 0 };
	int ret;

	capture_text(c->capture, 0, &text[0], &text[1]);
	capture_text(c->capture, 1, &text[2], &text[3]);
	o.out_head = text[0];
	o.out_tail = text[1];
	o.err_head = text[2];
	o.err_tail = text[3];
	ret = trace_add_outcome(t, &o);
	for (int i = 0; i < 4; i++)
		free(text[i]);
	return ret;
}

int campaign_execute(struct campaign *c, const struct replay *r, struct execution *x,
		     char *err, size_t errlen)
{
	struct trace_header h = {
		.argv = c->o.command.argv, .cwd = c->o.command.cwd, .envp = c->o.command.envp, .kernel = c->release,
		.zug_version = ZUG_VERSION,
		.strategy = c->o.search.script ? "script" : c->o.search.strategy ? c->o.search.strategy : "default",
		.seed = c->o.search.seed, .execution = c->executions + !c->aside, .options = c->options_json,
	};
	struct trace_writer *t;
	int ret, err2;

	if (c->o.inputs.file) {
		ret = campaign_feed(c, err, errlen);
		if (ret)
			return ret;
		kworld_launch(c->world)->in = c->input_fd;
	}
	t = trace_create(c->current, &h, &ret);
	if (!t) {
		snprintf(err, errlen, "cannot write the trace %s: %s", c->current, strerror(-ret));
		return ret;
	}
	ret = engine_run(c->engine, r, t, x, err, errlen);
	campaign_monitors_end(c, x);
	if (!c->aside) {
		c->executions++;
		c->steps += x->steps;
		c->run_ns += x->wall_ns;
	}
	c->ungranted += x->ungranted;
	if (x->nr_tasks > c->most_tasks)
		c->most_tasks = x->nr_tasks;
	if (x->outcome.kind == ZUG_OUTCOME_PASS && !r && !c->keep_passes && !x->ungranted) {
		trace_close(t, true);
		return ret;
	}
	err2 = campaign_finish_trace(c, t, x);
	if (!err2)
		err2 = trace_close(t, false);
	else
		trace_close(t, false);
	if (err2 && !ret) {
		snprintf(err, errlen, "cannot write the trace %s: %s", c->current, strerror(-err2));
		ret = err2;
	}
	return ret;
}
