/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sets a session up and takes it down (session.h has the steps). What the user got wrong is found
 * before the kernel side is loaded, so that such errors need no machine.
 */
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
#include "lib/base/debug.h"
#include "lib/base/installed.h"
#include "lib/base/new_file.h"
#include "lib/base/proc_status.h"
#include "lib/base/rights.h"
#include "campaign/program.h"
#include "campaign/runtimes.h"
#include "campaign/session.h"
#include "engine/script.h"
#include "engine/faults.h"
#include "kernel/lane_watch.h"
#include "kernel/machine.h"
#include "kernel/syscalls.h"

/* ---- what the user gave ---- */

/* --share: as paths that mean the same everywhere. */
static int find_shares(struct session *s, char *err, size_t errlen)
{
	char path[2 * PATH_MAX];
	unsigned int nr = 0;

	while (s->o.environment.shares && s->o.environment.shares[nr])
		nr++;
	s->paths.shares = calloc(nr + 1, sizeof(*s->paths.shares));
	if (!s->paths.shares)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++) {
		const char *p = s->o.environment.shares[i];

		snprintf(path, sizeof(path), "%s%s%s", p[0] == '/' ? "" : s->o.command.cwd,
			 p[0] == '/' ? "" : "/", p);
		s->paths.shares[i] = realpath(path, NULL);
		if (!s->paths.shares[i]) {
			snprintf(err, errlen, "--share %s: %s%s", p, strerror(errno),
				 errno == ENOENT ? ": a path that is shared must exist" : "");
			return -EINVAL;
		}
	}
	s->o.environment.shares = s->paths.shares;
	return 0;
}

/*
 * The folder for traces by a path without links; of one that is not there yet, the first part of its
 * path that is not there. NULL: not known.
 */
static char *output_path(const struct campaign_options *o)
{
	char *path = NULL, *slash = NULL, *folder = NULL, *out = NULL;

	if (asprintf(&path, "%s%s%s", o->results.dir[0] == '/' ? "" : o->command.cwd,
		     o->results.dir[0] == '/' ? "" : "/", o->results.dir) < 0)
		return NULL;
	while (path[1] && path[strlen(path) - 1] == '/')
		path[strlen(path) - 1] = 0;
	while (!folder && (slash = strrchr(path, '/'))) {
		*slash = 0;
		folder = realpath(path[0] ? path : "/", NULL);
	}
	if (folder && slash[1] && slash[1] != '.' &&
	    asprintf(&out, "%s/%s", folder[1] ? folder : "", slash + 1) < 0)
		out = NULL;
	free(folder);
	free(path);
	return out;
}

/* *re stays NULL without a text. */
static int compile(regex_t **re, const char *option, const char *text, char *err, size_t errlen)
{
	char why[256];
	int ret;

	if (!text)
		return 0;
	*re = calloc(1, sizeof(**re));
	if (!*re)
		return -ENOMEM;
	ret = regcomp(*re, text, REG_EXTENDED | REG_NEWLINE);
	if (!ret)
		return 0;
	regerror(ret, *re, why, sizeof(why));
	snprintf(err, errlen, "--%s '%s': %s", option, text, why);
	free(*re);
	*re = NULL;
	return -EINVAL;
}

static void release_regex(regex_t *re)
{
	if (re)
		regfree(re);
	free(re);
}

int session_make_folder(const char *dir, bool keep)
{
	char *path = strdup(dir), *end;
	size_t made[64];
	unsigned int nr = 0;
	int ret = path ? 0 : -ENOMEM, failed;

	for (size_t len = 1; !ret && len <= strlen(dir); len++) {
		if ((dir[len] && dir[len] != '/') || dir[len - 1] == '/')
			continue;
		end = path + len;
		*end = 0;
		if (nr == sizeof(made) / sizeof(made[0]))
			ret = -ENAMETOOLONG;
		else if (!(failed = new_folder(path, 0755)))
			made[nr++] = len;
		else if (failed != -EEXIST)
			ret = failed;
		*end = dir[len];
	}
	while (nr && (ret || !keep)) {
		path[made[--nr]] = 0;
		rmdir(path);
	}
	free(path);
	return ret;
}

/* Bytes of the path that lead to a folder that is there: 0 for one that is relative, and of which nothing is. */
static size_t there_already(const char *dir)
{
	size_t len = strlen(dir);
	char *path = strdup(dir);

	while (path && len && access(path, F_OK)) {
		while (len && path[--len] != '/')
			;
		path[len] = '\0';
	}
	free(path);
	return len;
}

/*
 * The folder for traces is made now, and goes again if nothing was put into it: that it appears in the middle of a
 * search would be a change of the working folder, for which all executions behind it need another environment, and
 * another template.
 */
static int try_folder(struct session *s, char *err, size_t errlen)
{
	size_t there = there_already(s->o.results.dir);
	int ret = session_make_folder(s->o.results.dir, true);

	s->paths.there = there;
	s->paths.made = !ret && there < strlen(s->o.results.dir);
	if (!ret)
		return 0;
	snprintf(err, errlen, "cannot create the folder for traces %s: %s", s->o.results.dir,
		 new_file_error(ret));
	return -EINVAL;
}

/* Gives the test the clock and random numbers that this machine and this kind of test can have. */
static int adjust_inputs(struct session *s, char *err, size_t errlen)
{
	struct options_inputs *in = &s->o.inputs;
	bool joins = s->o.machine.sandbox != NULL;

	/* a test that joins has been outside, where the machine's time is */
	in->real_time |= joins;
	in->real_random |= joins;
	if (joins)
		s->o.environment.own = 0;
	if (!(in->real_time && in->real_random) && machine_locked_down("integrity")) {
		session_say(
			s,
			"the kernel is locked down: the test sees the machine's time and random numbers "
			"(--time real --random real)");
		in->real_time = in->real_random = true;
	}
	if (!in->clock_real)
		/* the next second: no file that exists may be newer */
		in->clock_real = (time(NULL) + 1) * 1000000000ull;
	if (!in->real_time || joins || !(in->faults & (1u << FLOW_REORDER | 1u << FLOW_DELAY)))
		return 0;
	snprintf(err, errlen, "--flows reorder and delay need a virtual clock, and there is none");
	return -EIO;
}

/* Whose rights the test gets, and whose files those of zug become. A test that joins has its own. */
static int find_user(struct session *s, char *err, size_t errlen)
{
	const char *name = s->o.machine.user;
	int ret = s->o.machine.sandbox || (rights_user() && !name) ? 0 : run_user_find(&s->user, name, err, errlen);

	if (ret < 0)
		return ret;
	if (rights_user()) {
		s->has_user = true;
		new_file_owner(geteuid(), getegid());
		return run_user_copy(&s->user, rights_user());
	}
	s->has_user = ret;
	new_file_owner(ret ? s->user.uid : geteuid(), ret ? s->user.gid : getegid());
	if (!ret)
		return 0;
	if (!name && asprintf(&s->paths.user, "%u", s->user.uid) < 0)
		s->paths.user = NULL;
	s->paths.envp = run_user_environment(&s->user, s->o.command.envp);
	if (!s->paths.envp || (!name && !s->paths.user)) {
		snprintf(err, errlen, "out of memory");
		return -ENOMEM;
	}
	s->o.command.envp = s->paths.envp;
	s->o.machine.user = name ? name : s->paths.user;
	return 0;
}

/* The states of all tests' tasks share one table. */
#define USER_MAX_TASKS 2048

/* What would reach beyond the user's own test, where zugd works for a user who is not root. */
static int refuse_to_user(const struct campaign_options *o, char *err, size_t errlen)
{
	const char *what = o->environment.own != SANDBOX_ALL ? "--world other than private" :
			   o->machine.name ? "--name" : o->machine.lane >= 0 ? "--lane" :
			   o->machine.max_tasks > USER_MAX_TASKS ? "--max-tasks above 2048" : NULL;

	if (!rights_user() || !what)
		return 0;
	snprintf(err, errlen, "zugd lets root alone use %s: user %u has the rights of group zug", what, rights_user()->uid);
	return -EINVAL;
}

/* A test that is not ours gives its programs no rights that it does not have itself. */
static void say_setuid(struct session *s)
{
	struct stat st;

	if (s->has_user && !stat(s->paths.program, &st) && (st.st_mode & (S_ISUID | S_ISGID)))
		session_say(s, "%s is a setuid or setgid program: it gets no other rights than the user's%s", s->paths.program,
			    rights_user() ? "" : "; --user root executes it as root");
}

/*
 * No task of a test writes what the distribution has installed; unless the test works there itself. A call that reads it may
 * be one that is to fail.
 */
static bool leaves_installed(const struct campaign_options *o)
{
	if (o->replay.probed)
		return o->points.not_installed;
	if (o->command.cwd && path_is_installed(o->command.cwd))
		return false;
	return !o->machine.sandbox && !(o->inputs.faults & CALL_FAULTS);
}

/* The same of calls whose effect no other task can see. What a test that has joined was sent before is not known. */
static bool leaves_unseen(const struct campaign_options *o)
{
	if (o->replay.probed)
		return o->points.seen_only;
	return !o->machine.sandbox && !(o->inputs.faults & CALL_FAULTS);
}

int session_prepare(struct session *s, const struct campaign_options *o,
		    const struct campaign_observer *observer, const volatile sig_atomic_t *stop,
		    char *err, size_t errlen)
{
	struct utsname u;
	int ret;

	*s = (struct session){ .o = *o, .observer = observer, .stop = stop };
	s->input_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	uname(&u);
	snprintf(s->release, sizeof(s->release), "%s %s", u.release, u.version);
	ret = adjust_inputs(s, err, errlen);
	ret = ret ? ret : refuse_to_user(&s->o, err, errlen);
	ret = ret ? ret : find_user(s, err, errlen);
	if (ret)
		return ret;
	o = &s->o;
	s->paths.program = o->command.file ? strdup(o->command.file) :
						find_program(o, o->command.argv[0], err, errlen);
	if (!s->paths.program)
		return -EINVAL;
	if (session_skip_env(s) || session_begin_at_program(s)) {
		snprintf(err, errlen, "out of memory");
		return -ENOMEM;
	}
	s->o.points.not_installed = leaves_installed(&s->o);
	s->o.points.seen_only = leaves_unseen(&s->o);
	s->o.points.no_inner = o->replay.probed ? o->points.no_inner : !o->machine.sandbox;
	say_setuid(s);
	ret = find_shares(s, err, errlen);
	if (ret)
		return ret;
	if (!o->environment.hide)
		s->o.environment.hide = s->paths.hide = output_path(o);
	s->steps.least = s->o.failure.max_steps;
	session_bound_steps(s);
	s->search = session_new_search(s, err, errlen);
	if (!s->search)
		return -EINVAL;
	if (o->search.script)
		script_number_tasks(o->search.script, &s->spawn);
	ret = compile(&s->match, "match", s->o.failure.match, err, errlen);
	ret = ret ? ret : compile(&s->from_output, "from-output", s->o.points.from_output, err, errlen);
	if (!ret && session_feed(s, err, errlen))
		ret = -EINVAL;
	return ret ? ret : try_folder(s, err, errlen);
}

/* ---- what the machine must have ---- */

bool session_begins_late(const struct campaign_options *o)
{
	return (o->points.from && o->points.from[0]) || o->points.from_output ||
	       (o->points.from_calls && o->points.from_calls[0]);
}

/* The bits of --from-call. */
static int note_calls(const struct campaign_options *o, uint64_t *bits, char *err, size_t errlen)
{
	for (char **name = o->points.from_calls; name && *name; name++) {
		int nr = syscall_number(*name);

		if (nr < 0) {
			snprintf(err, errlen, "--from-call %s: zug knows no such system call", *name);
			return -EINVAL;
		}
		bits[nr / 64] |= 1ull << nr % 64;
	}
	return 0;
}

static int open_sandbox(struct session *s, char *err, size_t errlen)
{
	const struct campaign_options *o = &s->o;
	struct sandbox_options so = {
		.name = o->machine.name,
		.lane = o->machine.lane,
		.nr_cpus = o->machine.cpus,
		.max_tasks = o->machine.max_tasks,
		.max_memory = o->machine.max_memory,
		.stop = s->stop,
		.setup_ns = o->failure.timeout_ns,
		.spin_ns = o->failure.spin_ns,
		.syscall_points = o->points.syscalls | (o->points.not_installed ? ZUG_SYS_NOT_INSTALLED : 0) |
				  (o->points.seen_only ? ZUG_SYS_SEEN_ONLY : 0) | (o->points.no_inner ? ZUG_SYS_NO_INNER : 0),
		.quiet = !session_begins_late(o) ? ZUG_QUIET_NOT : o->points.behind ? ZUG_QUIET_FAR : ZUG_QUIET_NEAR,
		.tell_output = o->points.from_output,
		.virtual_time = !o->inputs.real_time,
		.seeded = !o->inputs.real_random,
		.seed = o->search.seed,
		.stepped = o->replay.debugger || debug_word("step"),
		.clock_real = o->inputs.clock_real,
		.own = o->environment.own,
		.cwd = o->command.cwd,
		.temporary = session_temporary_folder(s),
		.share = s->paths.shares,
		.hide = o->environment.hide,
		.user = s->has_user ? &s->user : NULL,
		.setup = o->environment.setup,
		.teardown = o->environment.teardown,
	};
	int ret = note_calls(o, so.from_calls, err, errlen);

	if (ret)
		return ret;
	session_number_lookups(s, so.lookups);
	s->sandbox = o->machine.sandbox;
	if (!s->sandbox) {
		ret = sandbox_new(&s->sandbox, s->k, kernel_first_slot(s->k), &so, err, errlen);
		if (ret)
			return ret == -EINVAL || ret == -EEXIST ? -EINVAL : -EIO;
	}
	sandbox_avoid_lane(s->sandbox);
	return 0;
}

/*
 * The lock of an interpreter is none of the program's, and what it executes may be switched where it looks for that. To dpor
 * each such place would depend on all others. Nor does dpor know what is left out.
 */
static bool leaves_interpreter(const struct campaign_options *o)
{
	return !o->search.strategy || strncmp(o->search.strategy, "dpor", 4);
}

/* Where the trace of the execution that goes on is, until it is kept or thrown away. 0 or -ENOMEM. */
static int name_current(struct session *s)
{
	s->paths.current_made = false;
	if (asprintf(&s->paths.current, "%s/%s-0.trace", sandbox_trace_folder(), proc_own_name()) >= 0)
		return 0;
	s->paths.current = NULL;
	return -ENOMEM;
}

int session_open(struct session *s, struct kernel *k, char *err, size_t errlen)
{
	int ret;

	s->k = k;
	if (!k) {
		/* while no thread of ours runs: it would be taken for another task in the way */
		if (!s->o.machine.sandbox && s->o.machine.lane < 0)
			s->o.machine.lane = lane_watch_choose(sysconf(_SC_NPROCESSORS_ONLN));
		if (kernel_open(&s->k, err, errlen))
			return -EIO;
		s->own_kernel = true;
	}
	ret = open_sandbox(s, err, errlen);
	if (ret)
		return ret;
	snprintf(err, errlen, "out of memory");
	s->symbols = symbols_new();
	if (s->symbols && symbols_look_in(s->symbols, s->o.command.cwd))
		return -ENOMEM;
	s->probes = s->symbols ? probes_new(s->k, s->sandbox, s->symbols) : NULL;
	if (s->probes)
		probes_leave_out(s->probes, s->o.points.only, s->o.points.without);
	if (s->probes && leaves_interpreter(&s->o))
		probes_see_executed(s->probes);
	if (s->probes && s->o.points.fields)
		probes_see_fields(s->probes);
	if (s->probes)
		probes_answer(s->probes, !s->o.inputs.real_time, !s->o.inputs.real_random);
	s->places = s->probes ? places_new(s->probes, s->symbols) : NULL;
	s->capture = capture_new();
	if (!s->places || !s->capture || s->input_fd < 0)
		return -ENOMEM;
	return name_current(s);
}

int session_start(struct session *s, char *err, size_t errlen)
{
	const struct campaign_options *o = &s->o;
	const struct language_runtime *runtime = language_runtime_named(o->points.runtime);
	const struct kworld_options ko = {
		.wake_fd = -1, .explore_timeouts = o->inputs.explore_timeouts, .kernel = s->k, .sandbox = s->sandbox,
		.probes = s->probes, .places = s->places, .symbols = s->symbols, .spawn = &s->spawn,
		.leave_interpreter = leaves_interpreter(o),
		.own_only = o->points.own_only,
		.signals = o->points.signals,
		.shares = runtime ? runtime->shares : NULL,
		.leave_machine = runtime && runtime->asks_machine && leaves_interpreter(o),
		.from_output = s->from_output,
		.launch = {
			.file = s->launched.argv ? s->launched.program : s->paths.program,
			.argv = s->launched.argv ? s->launched.argv : o->command.argv,
			.envp = o->command.envp, .cwd = o->command.cwd,
			.in = s->input_fd, .out = capture_out(s->capture), .err = capture_err(s->capture),
			.randomise = o->machine.randomise,
		},
	};
	const struct engine_options eo = {
		.timeout_ns = o->failure.timeout_ns,
		.longest_ns = session_longest(s),
		.max_steps = o->failure.max_steps,
		.runtime_tasks = runtime && runtime->usual,
		.runtime_sources = runtime ? runtime->sources : NULL,
		.runtime_rechecks = runtime ? runtime->rechecks : NULL,
		.stop = s->stop,
		.debugger = o->replay.debugger,
		.explore_timeouts = o->inputs.explore_timeouts,
		.likely_timeouts = o->inputs.timeouts == TIMEOUTS_AUTO,
		.faults = o->inputs.faults,
		.max_faults = o->inputs.max_faults,
		.max_flows = o->inputs.max_flows,
		.ask_always = o->search.ask_always,
		.check_candidates = debug_word("candidates"),
		.show_questions = debug_word("questions"),
		.rules = { .match = s->match, .expect_exit = o->failure.expect_exit,
			   .uncaught = runtime ? runtime->uncaught : NULL },
	};

	if (kernel_ready(s->k, err, errlen) ||
	    (s->o.inputs.faults & CALL_FAULTS && kernel_allow_faults(s->k, err, errlen)) ||
	    (s->o.inputs.faults & 1u << FAULT_SPURIOUS && kernel_may_return(err, errlen)))
		return -EIO;
	if (!o->machine.sandbox && sandbox_ready(s->sandbox, err, errlen))
		return -EIO;
	if (!o->machine.sandbox && sandbox_note(s->sandbox))
		session_say(s, "%s", sandbox_note(s->sandbox));
	s->world = kworld_new(&ko);
	s->engine = s->world ? engine_new(s->world, s->search, s->capture, &eo) : NULL;
	if (s->engine)
		return 0;
	snprintf(err, errlen, "out of memory");
	return -ENOMEM;
}

int session_forked(struct session *s, unsigned int slot, int lane, char *err, size_t errlen)
{
	static const struct campaign_observer none;
	struct launch *l = kworld_launch(s->world);
	int ret;

	/* of the other process, which unlinks it */
	free(s->paths.current);
	s->paths.current = NULL;
	s->observer = &none;
	ret = kernel_forked(s->k, err, errlen);
	ret = ret ? ret : sandbox_forked(s->sandbox, slot, lane, err, errlen);
	if (ret)
		return ret;
	/* the template is in the other sandbox */
	s->template.tried = false;
	s->template.spoilt = s->template.brief = 0;
	ret = capture_renew(s->capture);
	l->out = capture_out(s->capture);
	l->err = capture_err(s->capture);
	ret = ret ? ret : name_current(s);
	if (ret)
		snprintf(err, errlen, "cannot keep the test's output: %s", strerror(-ret));
	return ret;
}

void session_forked_close(struct session *s)
{
	sandbox_free(s->sandbox);
	if (s->paths.current)
		new_file_unlink(s->paths.current);
}

void session_explore_timeouts(struct session *s, bool may)
{
	s->o.inputs.explore_timeouts = may;
	engine_explore_timeouts(s->engine, may);
	kworld_explore_timeouts(s->world, may);
}

void session_own_only(struct session *s, bool only)
{
	s->o.points.own_only = only;
	kworld_own_only(s->world, only);
}

void session_hear_signals(struct session *s, uint64_t signals)
{
	s->o.points.signals = signals;
	kworld_hear_signals(s->world, signals);
}

/* Takes away the folders that try_folder() has made, as far as they are empty. */
static void remove_empty(const struct session *s)
{
	char *path = s->paths.made ? strdup(s->o.results.dir) : NULL;

	for (size_t len = path ? strlen(path) : 0; len > s->paths.there; path[len] = '\0') {
		if (path[len - 1] != '/' && rmdir(path) && errno != ENOENT)
			break;
		while (len > s->paths.there && path[--len] != '/')
			;
	}
	free(path);
}

void session_close(struct session *s)
{
	engine_free(s->engine);
	kworld_free(s->world);
	search_free(s->search);
	places_free(s->places);
	probes_free(s->probes);
	/* probes cannot be taken out while a task stands still in the kernel */
	if (s->sandbox && s->o.machine.sandbox)
		sandbox_drain(s->sandbox, 0, NULL);
	if (s->k && !s->own_kernel)
		kernel_clear_probes(s->k);
	if (!s->o.machine.sandbox)
		sandbox_free(s->sandbox);
	if (s->own_kernel)
		kernel_close(s->k);
	symbols_free(s->symbols);
	capture_free(s->capture);
	spawn_free(&s->spawn);
	release_regex(s->match);
	release_regex(s->from_output);
	if (s->input_fd >= 0)
		close(s->input_fd);
	remove_empty(s);
	if (s->paths.current)
		new_file_unlink(s->paths.current);
	free(s->paths.current);
	free(s->options_json);
	free(s->points_json);
	for (char **p = s->paths.shares; p && *p; p++)
		free(*p);
	free(s->paths.shares);
	free(s->paths.envp);
	free(s->paths.user);
	run_user_free(&s->user);
	free(s->paths.hide);
	free(s->launched.program);
	free(s->launched.name);
	free(s->launched.argv);
	free(s->launched.with_flags);
	free(s->launched.points);
	for (char **file = s->launched.runtime; *file; file++)
		free(*file);
	free(s->paths.program);
}

/* ---- probes of several sessions on one kernel ---- */

void session_park(struct session *s)
{
	kernel_clear_probes(s->k);
}

int session_unpark(struct session *s, char *err, size_t errlen)
{
	int ret = probes_replant(s->probes, err, errlen);

	for (unsigned int i = 0; i < s->nr_watches && !ret; i++)
		ret = kernel_set_watch(s->k, i, &s->watch[i].watch, err, errlen);
	return ret;
}

int session_replant(struct session *s, char *err, size_t errlen)
{
	session_park(s);
	return session_unpark(s, err, errlen);
}
