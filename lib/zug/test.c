/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test.c - a test: one execution after another, and what is done with the first that fails
 *
 * zug_next() is where to begin. A test goes through phases, each of which is a search of its own
 * over the same test: EXPLORE until an execution fails; MINIMIZE to the simplest schedule that fails
 * alike; NEAR, for the two operations whose order decides; WRITE, which repeats the simplest one for
 * its trace. With ZUG_REPLAY the only phase is REPLAY, with ZUG_SCRIPT
 * SCRIPT.
 *
 * Operations of an execution that failed stay where they are. Only the root goes on, and jumps out
 * of the body to the loop's head.
 */
#undef _FORTIFY_SOURCE		/* its longjmp() knows one stack only */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "lib/base/machine_mark.h"
#include "lib/base/array.h"
#include "lib/base/clock.h"
#include "lib/version.h"
#include "engine/script.h"
#include "search/identity.h"
#include "search/minimize.h"
#include "search/neighbour.h"
#include "lib/zug/internal.h"
#include "lib/zug/report.h"
#include "lib/zug/under.h"

#define EXECUTIONS	10000
#define STEPS		20000
#define MINIMIZE	1000
#define NEAR		40
#define STUCK		10

enum phase { PHASE_EXPLORE, PHASE_MINIMIZE, PHASE_NEAR, PHASE_WRITE, PHASE_REPLAY, PHASE_SCRIPT, PHASE_DONE };

struct zug_campaign {
	char *name, *strategy, *out;
	struct zug_options o;
	uint64_t seed, begin_ns;
	enum phase phase;
	struct search *search;			/* of the phase */
	bool running, by_hand;
	jmp_buf loop;
	struct zug_report r;

	/* the failure as it was found, then as simple as it is so far */
	uint32_t *tasks;
	size_t nr_tasks;
	uint64_t failure, found_in;
	struct trace_minimized minimized;
	struct trace_pair *pairs;
	bool has_minimized;

	struct trace *replayed;
	struct replay replay;
	struct script script;
	int quiet_fd;				/* standard error, while what it prints is known already; -1 */
	char found_trace[512];			/* of a fault, as it was found; "" */
};

static char last_message[512];
static uint32_t is_open;		/* only one test at a time */
static __thread int open_error __attribute__((tls_model("initial-exec")));

const char *zug_message(void)
{
	return last_message;
}

static int refuse(int error, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int refuse(int error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(last_message, sizeof(last_message), fmt, ap);
	va_end(ap);
	return error;
}

bool test_can_jump(void)
{
	return !z.test->by_hand;
}

void test_jump(void)
{
	_longjmp(z.test->loop, 1);
}

jmp_buf *zug_loop(struct zug_campaign *t)
{
	static jmp_buf nowhere;

	return t ? &t->loop : &nowhere;
}

/* ---- standard error ---- */

static void hush(struct zug_campaign *t)
{
	int null;

	if (t->quiet_fd >= 0)
		return;
	fflush(stderr);
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	t->quiet_fd = null < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (t->quiet_fd >= 0)
		dup2(null, STDERR_FILENO);
	if (null >= 0)
		close(null);
}

static void speak(struct zug_campaign *t)
{
	if (t->quiet_fd < 0)
		return;
	fflush(stderr);
	dup2(t->quiet_fd, STDERR_FILENO);
	close(t->quiet_fd);
	t->quiet_fd = -1;
}

/* ---- one execution ---- */

static void reset(void)
{
	objects_reset();
	primitives_reset();
	fiber_forget_abandoned();
	/* a thread may still sleep on the word of one that did not end: operations.c takes another slot */
	z.nr_cands = z.nr_enabled = 0;
	z.steps = 0;
	z.last = SEARCH_NO_TASK;
	z.yielded = z.over = z.stuck = z.fatal = z.ending = z.diverged = false;
	z.same = z.preemptions = 0;
	z.hash = 0;
	z.log.nr_steps = z.log.nr_events = 0;
	z.outcome = (struct trace_outcome){ .kind = ZUG_OUTCOME_PASS, .message = "" };
	z.message[0] = 0;
	progress_reset(&z.progress);
	values_begin(&z.values);
	host_reset(&z.root_host);
	__atomic_store_n(&z.execution, z.execution + 1, __ATOMIC_RELAXED);
}

static int begin(struct zug_campaign *t)
{
	int ret;

	reset();
	z.test = t;
	z.search = t->search;
	z.flags = t->o.flags;
	z.stuck_after = t->o.stuck;
	z.follow_values = t->phase != PHASE_EXPLORE && t->phase != PHASE_SCRIPT;
	z.replay = t->phase == PHASE_REPLAY ? &t->replay : NULL;
	ret = op_begin_root();
	if (ret)
		return ret;
	t->running = true;
	__atomic_store_n(&zug_active, 1, __ATOMIC_RELAXED);
	return 1;
}

static void end(struct zug_campaign *t)
{
	struct search_end e = { .result = SEARCH_PASS };

	__atomic_store_n(&zug_active, 0, __ATOMIC_RELAXED);
	t->running = false;
	op_final();
	if (z.diverged)
		e.result = SEARCH_DIVERGED;
	else if (zug_outcome_is_finding(z.outcome.kind))
		e.result = SEARCH_FAIL;
	else if (z.outcome.kind != ZUG_OUTCOME_PASS)
		e.result = SEARCH_ABANDONED;
	e.failure = z.outcome.failure;
	search_end(t->search, &e);
}

/* ---- phases ---- */

static struct search_options search_options(const struct zug_campaign *t)
{
	return (struct search_options){ .strategy = t->strategy, .seed = t->seed, .fair = 1,
					.max_steps = t->o.steps, .preemptions = -1 };
}

static void take_search(struct zug_campaign *t, struct search *s, enum phase phase)
{
	search_free(t->search);
	t->search = s;
	t->phase = s ? phase : PHASE_DONE;
}

/* The schedule and the values of the execution that has just ended. */
static bool keep_schedule(struct zug_campaign *t)
{
	free(t->tasks);
	t->nr_tasks = z.log.nr_steps;
	t->tasks = malloc((t->nr_tasks + 1) * sizeof(*t->tasks));
	values_clear(&z.values);
	values_begin(&z.values);
	for (uint32_t i = 0; t->tasks && i < z.log.nr_steps; i++) {
		const struct log_step *s = &z.log.steps[i];

		t->tasks[i] = s->task;
		if (s->chosen)
			values_give(&z.values, s->task, values_next(&z.values, s->task), s->value);
	}
	return t->tasks;
}

static void begin_write(struct zug_campaign *t)
{
	struct search_options o = search_options(t);
	char why[256];

	take_search(t, search_new(&o, why, sizeof(why)), PHASE_WRITE);
	if (t->search && search_replay(t->search, t->tasks, t->nr_tasks))
		take_search(t, NULL, PHASE_DONE);
}

static void begin_minimize(struct zug_campaign *t)
{
	struct search_options o = search_options(t);
	char why[256];

	if (!(t->o.flags & ZUG_NO_MINIMIZE))
		take_search(t, minimize_new(&o, t->tasks, t->nr_tasks, t->failure, t->o.minimize, why, sizeof(why)),
			    PHASE_MINIMIZE);
	else
		begin_write(t);
}

static void begin_near(struct zug_campaign *t)
{
	struct search_options o = search_options(t);
	char why[256];

	take_search(t, neighbour_new(&o, t->tasks, t->nr_tasks, t->failure, NEAR, why, sizeof(why)), PHASE_NEAR);
}

/* The simplest schedule is known. */
static void end_minimize(struct zug_campaign *t)
{
	struct minimize_result r;

	minimize_result(t->search, &r);
	if (!r.reproduced) {
		begin_write(t);
		return;
	}
	t->minimized.executions = r.trials;
	t->minimized.minimal = r.minimal;
	t->minimized.preemptions = r.preemptions;
	t->minimized.decisions = r.differences;
	free(t->pairs);
	t->pairs = calloc(r.nr_pairs + 1, sizeof(*t->pairs));
	for (size_t i = 0; t->pairs && i < r.nr_pairs; i++)
		t->pairs[t->minimized.nr_pairs++] = (struct trace_pair){
			.step = r.pairs[i].step, .after_step = r.pairs[i].after_step,
			.preempted = r.pairs[i].preempted, .by = r.pairs[i].by,
			.before = r.pairs[i].before, .after = r.pairs[i].after };
	t->minimized.pairs = t->pairs;
	t->has_minimized = true;
	free(t->tasks);
	t->nr_tasks = r.nr;
	t->tasks = malloc((r.nr + 1) * sizeof(*t->tasks));
	if (t->tasks && r.nr)
		memcpy(t->tasks, r.tasks, r.nr * sizeof(*t->tasks));
	if (t->tasks)
		begin_near(t);
	else
		take_search(t, NULL, PHASE_DONE);
}

static void end_near(struct zug_campaign *t)
{
	struct neighbour_result r;
	struct trace_critical *c = &t->minimized.critical;

	neighbour_result(t->search, &r);
	t->minimized.near = r.trials;
	t->minimized.alike = r.alike;
	*c = (struct trace_critical){ .known = r.found && r.nr_pairs, .alone = r.alone, .torn = r.torn };
	if (c->known || c->torn) {
		c->first_task = r.first.task;
		c->first_step = r.first.failing;
		c->first = r.first.label;
		c->second_task = r.second.task;
		c->second_step = r.second.failing;
		c->second = r.second_here;
	}
	begin_write(t);
}

static void stats(struct zug_campaign *t)
{
	struct search_stats s;

	search_get_stats(t->search, &s);
	t->r.executions = s.executions;
	t->r.steps = s.steps;
	t->r.schedules = s.schedules;
	t->r.classes = s.distinct;
}

static void done(struct zug_campaign *t)
{
	take_search(t, NULL, PHASE_DONE);
}

/* ---- the trace ---- */

/* A name that no file has, but the trace of this very failure. */
static int name_trace(struct zug_campaign *t)
{
	snprintf(t->r.trace, sizeof(t->r.trace), "%s", t->found_trace[0] ? t->found_trace : t->out);
	if (t->found_trace[0])
		return 0;
	if (mkdir(t->out, 0777) && errno != EEXIST)
		return -errno;
	for (int i = 1; i < 1000; i++) {
		snprintf(t->r.trace, sizeof(t->r.trace), "%s/%s.%d.trace", t->out, t->name, i);
		if (access(t->r.trace, F_OK))
			break;
	}
	return 0;
}

static int write_trace(struct zug_campaign *t)
{
	static char *none[] = { NULL };
	char *words[REPORT_WORDS], text[4096], cwd[2048] = "", kernel[160] = "", options[256];
	struct utsname u;
	int ret;
	struct trace_header h = { .argv = report_command(words, text, sizeof(text)), .cwd = cwd, .envp = none, .kernel = kernel,
				  .zug_version = ZUG_VERSION, .strategy = t->strategy ? t->strategy : "portfolio",
				  .seed = t->seed, .execution = t->found_in, .options = options };

	if (!getcwd(cwd, sizeof(cwd)))
		cwd[0] = 0;
	if (!uname(&u))
		snprintf(kernel, sizeof(kernel), "%s %.80s", u.release, u.version);
	snprintf(options, sizeof(options), TRACE_LIBZUG_OPTIONS "%s\",\"steps\":%lu,\"" MACHINE_MARK_KEY "\":\"%s\"}", t->name,
		 t->o.steps, machine_mark());
	ret = name_trace(t);
	if (ret)
		return ret;
	t->minimized.steps_before = t->minimized.steps_before ? t->minimized.steps_before : z.steps;
	return log_write(t->r.trace, &h, t->has_minimized ? &t->minimized : NULL);
}

bool test_keeps_found(void)
{
	struct zug_campaign *t = z.test;

	if (t->phase != PHASE_EXPLORE || name_trace(t))
		return false;
	snprintf(t->found_trace, sizeof(t->found_trace), "%s", t->r.trace);
	return true;
}

void test_write_as_found(void)
{
	struct zug_campaign *t = z.test;

	bool written;

	t->found_in = t->r.executions + 1;
	written = !write_trace(t);
	if (!(t->o.flags & ZUG_QUIET))
		report_as_found(t->name, t->found_in, z.message, written ? t->r.trace : NULL);
}

static void say_failure(struct zug_campaign *t)
{
	snprintf(t->r.failure, sizeof(t->r.failure), "%s: %s", zug_outcome_name(z.outcome.kind), z.message);
}

static void finding(struct zug_campaign *t)
{
	int ret;

	t->r.replayed = z.outcome.failure == t->failure && !z.diverged;
	t->r.failing_steps = z.steps;
	t->r.preemptions = z.preemptions;
	if (t->r.replayed)
		say_failure(t);
	ret = t->r.replayed ? write_trace(t) : 0;
	if (ret) {
		t->r.result = refuse(ZUG_E_WRITE, "cannot write %s: %s", t->r.trace, strerror(-ret));
		t->r.trace[0] = 0;
	}
	speak(t);
	if (!(t->o.flags & ZUG_QUIET))
		report_finding(&t->r, t->name, t->has_minimized ? &t->minimized : NULL, t->found_in);
	done(t);
}

/* ---- after each execution ---- */

static void explored(struct zug_campaign *t)
{
	stats(t);
	if (z.fatal) {
		t->r.result = refuse(ZUG_E_INVALID, "%s", z.message);
		done(t);
		return;
	}
	if (!zug_outcome_is_finding(z.outcome.kind))
		return;
	t->r.result = 1;
	t->failure = z.outcome.failure;
	t->found_in = t->r.executions;
	say_failure(t);
	if (!keep_schedule(t)) {
		t->r.result = ZUG_E_MEMORY;
		done(t);
		return;
	}
	t->minimized = (struct trace_minimized){ .steps_before = z.steps, .preemptions_before = z.preemptions };
	hush(t);
	begin_minimize(t);
}

static void minimized(struct zug_campaign *t)
{
	struct minimize_result r;

	minimize_result(t->search, &r);
	if (r.trials == 1 && r.reproduced)
		t->minimized.decisions_before = r.differences;
}

static void replayed(struct zug_campaign *t)
{
	const struct trace_outcome *was = trace_outcome(t->replayed);
	bool same = was && was->failure == z.outcome.failure && was->kind == z.outcome.kind;

	t->r.executions = 1;
	t->r.steps = t->r.failing_steps = z.steps;
	t->r.result = zug_outcome_is_finding(z.outcome.kind);
	t->r.replayed = same && !z.diverged && z.steps == t->replay.nr;
	t->r.preemptions = z.preemptions;
	snprintf(t->r.trace, sizeof(t->r.trace), "%s", getenv("ZUG_REPLAY") ? getenv("ZUG_REPLAY") : "");
	if (z.outcome.kind != ZUG_OUTCOME_PASS)
		say_failure(t);
	speak(t);
	if (!(t->o.flags & ZUG_QUIET))
		report_replay(&t->r, t->name, z.diverged ? z.divergence : NULL);
	done(t);
}

/* Says what came of the script, and which of its statements do not fit any more. */
static void scripted(struct zug_campaign *t)
{
	struct search_script_line l;
	unsigned int nr = search_script_lines(t->search), unmade = 0;

	t->r.executions = 1;
	t->r.steps = t->r.failing_steps = z.steps;
	t->r.preemptions = z.preemptions;
	t->r.result = zug_outcome_is_finding(z.outcome.kind);
	if (z.outcome.kind != ZUG_OUTCOME_PASS)
		say_failure(t);
	speak(t);
	for (unsigned int i = 0; i < nr; i++) {
		search_script_line(t->search, i, &l);
		unmade += l.state != SEARCH_SCRIPT_MADE;
	}
	if (!(t->o.flags & ZUG_QUIET)) {
		report_script(&t->r, t->name, t->script.path, nr, unmade);
		for (unsigned int i = 0; i < nr; i++) {
			search_script_line(t->search, i, &l);
			if (l.state != SEARCH_SCRIPT_MADE)
				script_unmade_text(&l, t->script.path, stderr);
		}
	}
	done(t);
}

static void after(struct zug_campaign *t)
{
	end(t);
	if (z.stuck) {
		t->r.result = refuse(ZUG_E_STUCK, "%s", z.message);
		speak(t);
		if (!(t->o.flags & ZUG_QUIET))
			fprintf(stderr, "zug: %s: %s\n", t->name, z.message);
		done(t);
		return;
	}
	switch (t->phase) {
	case PHASE_EXPLORE:
		explored(t);
		break;
	case PHASE_MINIMIZE:
		minimized(t);
		break;
	case PHASE_WRITE:
		finding(t);
		break;
	case PHASE_REPLAY:
		replayed(t);
		break;
	case PHASE_SCRIPT:
		scripted(t);
		break;
	case PHASE_NEAR:
	case PHASE_DONE:
		break;
	}
}

void test_exits(void)
{
	struct zug_campaign *t = z.test;

	speak(t);
	if (t->phase == PHASE_REPLAY) {
		replayed(t);
	} else if (t->phase == PHASE_SCRIPT) {
		scripted(t);
	} else {
		/* also while another failure is minimised: this is a finding of its own */
		t->has_minimized = false;
		t->found_trace[0] = 0;
		test_write_as_found();
	}
}

/* The search of the phase has no more executions. */
static void phase_over(struct zug_campaign *t)
{
	switch (t->phase) {
	case PHASE_EXPLORE:
		stats(t);
		t->r.exhausted = 1;
		done(t);
		break;
	case PHASE_MINIMIZE:
		end_minimize(t);
		break;
	case PHASE_NEAR:
		end_near(t);
		break;
	default:
		done(t);
	}
}

static bool explore_is_over(const struct zug_campaign *t)
{
	return t->phase == PHASE_EXPLORE && (t->r.executions >= t->o.executions ||
		(t->o.seconds > 0 && (double)(clock_now_ns() - t->begin_ns) / 1e9 >= t->o.seconds));
}

/* zug executes the whole program again and again: here there is one execution, and zug looks at how it ends. */
static int begin_under(struct zug_campaign *t)
{
	if (t->phase == PHASE_DONE)
		return 0;
	t->phase = PHASE_DONE;
	t->running = true;
	t->r.executions = 1;
	return 1;
}

static void end_under(struct zug_campaign *t)
{
	under_join_all();
	t->running = false;
}

/* 1: an execution has begun; 0: there are no more; or an error. */
static int next(struct zug_campaign *t)
{
	if (under_zug)
		return begin_under(t);
	while (t->phase != PHASE_DONE) {
		int ret;

		if (explore_is_over(t)) {
			done(t);
			break;
		}
		ret = search_begin(t->search);
		if (ret == SEARCH_GO)
			return begin(t);
		if (ret < 0) {
			t->r.result = refuse(ret == -ENOMEM ? ZUG_E_MEMORY : ZUG_E_INVALID, "the search cannot go on: %s",
					     strerror(-ret));
			done(t);
		} else {
			phase_over(t);
		}
	}
	return 0;
}

int zug_next(struct zug_campaign *t)
{
	int ret;

	if (!t)
		return 0;
	if (t->running && under_zug) {
		end_under(t);
	} else if (t->running) {
		if (!z.over)
			op_end_root();
		after(t);
	}
	ret = next(t);
	if (ret < 0)
		t->r.result = ret;
	return ret > 0;
}

int zug_attach(struct zug_campaign *t)
{
	if (!t)
		return open_error ? open_error : ZUG_E_INVALID;
	if (t->running)
		return ZUG_E_BUSY;
	t->by_hand = true;
	return next(t);
}

int zug_detach(struct zug_campaign *t)
{
	int failed;

	if (!t || !t->running || !t->by_hand)
		return ZUG_E_NOT_ATTACHED;
	if (under_zug) {
		end_under(t);
		return 0;
	}
	if (!turn_is_mine(&z.root))
		return ZUG_E_NOT_OPERATION;
	if (!z.over)
		op_end_root();
	failed = zug_outcome_is_finding(z.outcome.kind);
	after(t);
	return failed;
}

/* ---- options ---- */

static bool env_number(const char *name, unsigned long *to, int *error)
{
	const char *text = getenv(name);
	char *rest;

	if (!text || !*text)
		return false;
	errno = 0;
	*to = strtoul(text, &rest, 0);
	if (*rest || errno || text[0] == '-')
		*error = refuse(ZUG_E_OPTION, "%s: '%s' is no number", name, text);
	return true;
}

static int from_environment(struct zug_campaign *t)
{
	const char *strategy = getenv("ZUG_STRATEGY");
	int error = 0;

	if (strategy && *strategy) {
		free(t->strategy);
		t->strategy = strdup(strategy);
	}
	env_number("ZUG_SEED", &t->o.seed, &error);
	env_number("ZUG_EXECUTIONS", &t->o.executions, &error);
	return error;
}

/* The test that a trace is of, as write_trace() has noted it. */
static bool trace_is_of(const struct trace *tr, const char *name)
{
	char want[256];

	snprintf(want, sizeof(want), TRACE_LIBZUG_OPTIONS "%s\",", name);
	return !strncmp(trace_header(tr)->options, want, strlen(want));
}

static int begin_replay(struct zug_campaign *t, const char *path)
{
	struct search_options o = search_options(t);
	char why[256];

	t->replayed = trace_open(path, why, sizeof(why));
	if (!t->replayed)
		return refuse(ZUG_E_REPLAY, "%s", why);
	if (strncmp(trace_header(t->replayed)->options, TRACE_LIBZUG_OPTIONS, strlen(TRACE_LIBZUG_OPTIONS)))
		return refuse(ZUG_E_REPLAY, "%s is not a trace of libzug: zug replay %s", path, path);
	t->phase = PHASE_DONE;
	if (!trace_is_of(t->replayed, t->name)) {
		if (!(t->o.flags & ZUG_QUIET))
			fprintf(stderr, "zug: %s: skipped, the trace is of another test\n", t->name);
		return 0;
	}
	t->strategy = t->strategy ? t->strategy : strdup(trace_header(t->replayed)->strategy);
	t->search = search_new(&o, why, sizeof(why));
	if (!t->search || replay_init(&t->replay, t->replayed) ||
	    search_replay(t->search, t->replay.tasks, t->replay.nr))
		return ZUG_E_MEMORY;
	t->seed = trace_header(t->replayed)->seed;
	if (values_of_trace(&z.values, t->replayed))
		return ZUG_E_MEMORY;
	replay_number_tasks(t->replayed, &z.spawn);
	t->phase = PHASE_REPLAY;
	return 0;
}

static bool is_script_option(const char *name, size_t len)
{
	return len == 4 && !strncmp(name, "test", len);
}

static void list_script_options(char *buf, size_t len)
{
	snprintf(buf, len, "test");
}

static bool is_in(void *ctx, uint64_t site, const char *pattern)
{
	const struct place *p = place_of(site);

	(void)ctx;
	return p && rule_name_is(pattern, p->func);
}

static bool is_on(void *ctx, uint64_t object, const char *pattern)
{
	char name[64];

	(void)ctx;
	return object_name(object, name, sizeof(name))[0] && rule_name_is(pattern, name);
}

static int begin_script(struct zug_campaign *t, const char *path)
{
	static const struct script_allows allows = { is_script_option, list_script_options };
	static const struct search_names names = { .in = is_in, .on = is_on };
	struct search_options o = search_options(t);
	char why[400];

	if (script_load(&t->script, path, &allows, why, sizeof(why)))
		return refuse(ZUG_E_OPTION, "%s", why);
	t->phase = PHASE_DONE;
	for (size_t i = 0; i < t->script.nr_options; i++)
		if (strcmp(t->script.options[i].argument + strlen("--test="), t->name)) {
			if (!(t->o.flags & ZUG_QUIET))
				fprintf(stderr, "zug: %s: skipped, the script is of another test\n", t->name);
			return 0;
		}
	o.strategy = NULL;
	o.rules = t->script.rules;
	o.script = path;
	o.names = &names;
	t->search = search_new(&o, why, sizeof(why));
	if (!t->search)
		return refuse(ZUG_E_OPTION, "%s", why);
	script_number_tasks(&t->script, &z.spawn);
	t->phase = PHASE_SCRIPT;
	return 0;
}

/* Files of traces have its name, and so has JSON. */
static char *plain_name(const char *name)
{
	char *copy = strdup(name && *name ? name : "test");

	for (char *p = copy; p && *p; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", *p))
			*p = '_';
	if (copy && strlen(copy) > 100)
		copy[100] = 0;
	return copy;
}

static void forget(void)
{
	__atomic_store_n(&z.foreign, 0, __ATOMIC_RELAXED);
	spawn_free(&z.spawn);
	z.nr_ops = 0;
}

static int set_up(struct zug_campaign *t, const char *name, const struct zug_options *o)
{
	const char *replay = getenv("ZUG_REPLAY"), *script = getenv("ZUG_SCRIPT");
	struct search_options so;
	char why[400];
	int ret;

	if (o)
		t->o = *o;
	t->name = plain_name(t->o.name ? t->o.name : name);
	t->out = strdup(t->o.out ? t->o.out : "zug-out");
	t->strategy = t->o.strategy ? strdup(t->o.strategy) : NULL;
	if (!t->name || !t->out || (t->o.strategy && !t->strategy))
		return ZUG_E_MEMORY;
	t->o.seed = t->o.seed ? t->o.seed : 1;
	t->o.executions = t->o.executions ? t->o.executions : EXECUTIONS;
	t->o.steps = t->o.steps ? t->o.steps : STEPS;
	t->o.stuck = t->o.stuck > 0 ? t->o.stuck : STUCK;
	t->o.minimize = t->o.minimize ? t->o.minimize : MINIMIZE;
	ret = from_environment(t);
	if (ret)
		return ret;
	t->seed = t->o.seed;
	if (t->o.flags & ~(unsigned int)(ZUG_FIBERS | ZUG_QUIET | ZUG_NO_MINIMIZE | ZUG_ANY_CPU))
		return refuse(ZUG_E_OPTION, "flags: 0x%x is unknown", t->o.flags);
	if (!fiber_possible())
		t->o.flags &= ~(unsigned int)ZUG_FIBERS;
	for (size_t i = 0; i < sizeof(t->o.reserved) / sizeof(*t->o.reserved); i++)
		if (t->o.reserved[i])
			return refuse(ZUG_E_OPTION, "reserved fields must be NULL: the struct may not be initialised");
	if (under_zug)
		return 0;
	if (replay && *replay)
		return begin_replay(t, replay);
	if (script && *script)
		return begin_script(t, script);
	so = search_options(t);
	t->search = search_new(&so, why, sizeof(why));
	return t->search ? 0 : refuse(ZUG_E_OPTION, "%s", why);
}

static void free_test(struct zug_campaign *t)
{
	search_free(t->search);
	if (t->replayed)
		replay_release(&t->replay);
	trace_free(t->replayed);
	script_free(&t->script);
	free(t->tasks);
	free(t->pairs);
	free(t->name);
	free(t->out);
	free(t->strategy);
	free(t);
}

struct zug_campaign *zug_open(const char *name, const struct zug_options *o)
{
	struct zug_campaign *t;

	open_error = ZUG_E_BUSY;
	if (__atomic_exchange_n(&is_open, 1, __ATOMIC_ACQUIRE))
		return NULL;
	open_error = ZUG_E_MEMORY;
	t = calloc(1, sizeof(*t));
	if (!t) {
		__atomic_store_n(&is_open, 0, __ATOMIC_RELEASE);
		return NULL;
	}
	t->quiet_fd = -1;
	t->begin_ns = clock_now_ns();
	last_message[0] = 0;
	forget();
	open_error = set_up(t, name, o);
	if (open_error) {
		if (!(o && o->flags & ZUG_QUIET))
			fprintf(stderr, "zug: %s: %s\n", t->name ? t->name : name,
				last_message[0] ? last_message : zug_strerror(open_error));
		if (o && o->report)
			*o->report = (struct zug_report){ .result = open_error };
		free_test(t);
		__atomic_store_n(&is_open, 0, __ATOMIC_RELEASE);
		return NULL;
	}
	if (!under_zug)
		crash_begin();
	z.test = t;
	return t;
}

static int close_under(struct zug_campaign *t)
{
	if (t->running)
		end_under(t);
	if (t->o.report)
		*t->o.report = t->r;
	z.test = NULL;
	free_test(t);
	__atomic_store_n(&is_open, 0, __ATOMIC_RELEASE);
	return 0;
}

int zug_close(struct zug_campaign *t)
{
	int result;

	if (!t)
		return open_error ? open_error : ZUG_E_INVALID;
	if (under_zug)
		return close_under(t);
	if (t->running && !turn_is_mine(&z.root))
		return ZUG_E_NOT_OPERATION;
	if (t->running) {
		/* in the middle of an execution: as if it ended here */
		t->by_hand = true;
		if (!z.over)
			op_end_root();
		end(t);
		stats(t);
	}
	fiber_forget_abandoned();
	fiber_release();
	workers_release();
	speak(t);
	if (__atomic_load_n(&z.foreign, __ATOMIC_RELAXED) && !t->r.result && !(t->o.flags & ZUG_QUIET))
		report_foreign(t->name);
	if (getenv("ZUG_SUMMARY") && !t->r.result && t->r.executions)
		report_pass(&t->r, t->name);
	result = t->r.result;
	if (t->o.report)
		*t->o.report = t->r;
	crash_end();
	turn_unpin();
	turn_claim(NULL);
	z.test = NULL;
	z.search = NULL;
	free_test(t);
	__atomic_store_n(&is_open, 0, __ATOMIC_RELEASE);
	return result;
}

unsigned long zug_get_seed(void)
{
	return z.test ? z.test->seed : 0;
}

int zug_test_named(const char *name, void (*fn)(void *arg), void *arg, const struct zug_options *o)
{
	struct zug_campaign *t;

	if (!fn)
		return ZUG_E_INVALID;
	t = zug_open(name, o);
	if (!t)
		return open_error;
	while (zug_iteration(t))
		fn(arg);
	return zug_close(t);
}
