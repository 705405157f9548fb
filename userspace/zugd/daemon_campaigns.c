/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The campaigns of tests that others start: zug exec, and processes that join the cgroup.
 *
 * Each (command, options, folder) has a campaign of its own, which lives until
 * it is the one that was not used for longest, or its program is built anew.
 * The kernel side has room for the probes of one: it is switched when another test comes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/base/rights.h"
#include "zugd/daemon.h"
#include "zugd/protocol.h"

/* Each holds private copies of the program and its libraries in /run, some megabytes. */
#define MAX_CAMPAIGNS 32

struct entry {
	char *key;
	char **args;		/* the command line that o points into */
	char *cwd, *out_dir, *program;
	struct run_options o;
	struct campaign *c;
	struct stat file;	/* of the program, as it was */
	uint64_t used;
	bool joined;
	char *last;		/* outcome of the last execution */
};

struct campaigns {
	const struct worker_options *o;
	const volatile sig_atomic_t *stop;
	struct entry *entries[MAX_CAMPAIGNS];
	int nr;
	struct entry *dead[4];	/* to be freed */
	int nr_dead;
	struct entry *active;	/* its probes are planted */
	uint64_t clock;
};

struct campaigns *campaigns_new(const struct worker_options *o, const volatile sig_atomic_t *stop)
{
	struct campaigns *cs = calloc(1, sizeof(*cs));

	if (cs) {
		cs->o = o;
		cs->stop = stop;
	}
	return cs;
}

static void entry_free(struct campaigns *cs, struct entry *e)
{
	if (!e)
		return;
	if (cs->active == e)
		cs->active = NULL;
	campaign_free(e->c);
	run_options_free(&e->o);
	for (char **a = e->args; a && *a; a++)
		free(*a);
	free(e->args);
	free(e->cwd);
	free(e->out_dir);
	free(e->program);
	free(e->key);
	free(e->last);
	free(e);
}

void campaigns_free(struct campaigns *cs)
{
	if (!cs)
		return;
	for (int i = 0; i < cs->nr; i++)
		entry_free(cs, cs->entries[i]);
	free(cs);
}

void campaigns_park(struct campaigns *cs)
{
	if (cs->active)
		campaign_park(cs->active->c);
	cs->active = NULL;
	for (int i = 0; i < cs->nr_dead; i++)
		entry_free(cs, cs->dead[i]);
	cs->nr_dead = 0;
}

/*
 * Not freed before no probe is planted and no task stands still, as freeing takes probes out. A
 * park comes between any two additions, and each addition drops two at most.
 */
static void drop(struct campaigns *cs, int i)
{
	cs->dead[cs->nr_dead++] = cs->entries[i];
	cs->entries[i] = cs->entries[--cs->nr];
}

static void make_room(struct campaigns *cs)
{
	int oldest = 0;

	if (cs->nr < MAX_CAMPAIGNS)
		return;
	for (int i = 1; i < cs->nr; i++)
		if (cs->entries[i]->used < cs->entries[oldest]->used)
			oldest = i;
	drop(cs, oldest);
}

static bool same_file(const struct entry *e)
{
	struct stat st;

	return !stat(campaign_file(e->c), &st) && st.st_ino == e->file.st_ino &&
	       st.st_dev == e->file.st_dev && st.st_size == e->file.st_size &&
	       st.st_mtim.tv_sec == e->file.st_mtim.tv_sec &&
	       st.st_mtim.tv_nsec == e->file.st_mtim.tv_nsec;
}

static struct entry *find(struct campaigns *cs, const char *key)
{
	for (int i = 0; i < cs->nr; i++) {
		if (strcmp(cs->entries[i]->key, key))
			continue;
		if (same_file(cs->entries[i]))
			return cs->entries[i];
		drop(cs, i);
		break;
	}
	return NULL;
}

/* How many words of a command line come before the client's: exec, zugd's own options, and what it says for a user. */
static int nr_before(const struct campaigns *cs)
{
	return 1 + cs->o->nr_default_args + (rights_user() ? 1 : 0);
}

/* What comes later wins. */
static char **whole_command_line(const struct campaigns *cs, char **args, int nr)
{
	int n = cs->o->nr_default_args, before = nr_before(cs);
	char **all = calloc(before + nr + 1, sizeof(*all));

	for (int i = 0; all && i < before + nr; i++) {
		/* a user who is not root has no other world (session.c) */
		all[i] = strdup(!i	    ? "exec" :
				i <= n	    ? cs->o->default_args[i - 1] :
				i < before  ? "--world=private" :
					      args[i - before]);
		if (!all[i]) {
			while (i)
				free(all[--i]);
			free(all);
			return NULL;
		}
	}
	return all;
}

/*
 * A new entry for a command line, without its campaign. Takes key. base: where a relative folder
 * for traces is. NULL with a message on err.
 */
static struct entry *entry_new(struct campaigns *cs, char *key, char **args, int nr,
			       const char *cwd, const char *base, FILE *err)
{
	struct entry *e = calloc(1, sizeof(*e));
	char why[1024] = "";
	int n;

	if (!e) {
		free(key);
		return NULL;
	}
	e->key = key;
	e->cwd = strdup(cwd);
	e->args = whole_command_line(cs, args, nr);
	if (!e->cwd || !e->args)
		goto fail;
	for (n = 0; e->args[n]; n++)
		;
	if (run_options_parse(&e->o, RUN_EXEC, n, e->args, why, sizeof(why))) {
		fprintf(err, "zug exec: zugd does not take these options: %s\n", why);
		goto fail;
	}
	if (e->o.c.results.dir[0] == '/')
		e->out_dir = strdup(e->o.c.results.dir);
	else if (asprintf(&e->out_dir, "%s/%s", base, e->o.c.results.dir) < 0)
		e->out_dir = NULL;
	if (!e->out_dir)
		goto fail;
	e->o.c.results.dir = e->out_dir;
	e->o.c.command.cwd = e->cwd;
	e->o.c.machine.name = NULL;	/* a cgroup of its own; the name is the door's */
	if (rights_user())
		e->o.c.machine.lane = -1;	/* zugd's, which has said which CPU */
	e->o.c.results.quiet = true;
	return e;
fail:
	entry_free(cs, e);
	return NULL;
}

/* Its campaign; the entry is among the others then. 0 or -errno, with a message on err. */
static int entry_start(struct campaigns *cs, struct entry *e,
		       const struct campaign_observer *observer, FILE *err)
{
	char line[1024];
	int ret =
		campaign_new(&e->c, cs->o->kernel, &e->o.c, observer, cs->stop, line, sizeof(line));

	if (ret) {
		fprintf(err, "zug: %s\n", line);
		entry_free(cs, e);
		return ret;
	}
	cs->active = e;
	if (stat(campaign_file(e->c), &e->file))
		memset(&e->file, 0, sizeof(e->file));
	cs->entries[cs->nr++] = e;
	return 0;
}

static int activate(struct campaigns *cs, struct entry *e, char *err, size_t errlen)
{
	int ret;

	e->used = ++cs->clock;
	if (cs->active == e)
		return 0;
	cs->active = e;
	ret = campaign_unpark(e->c, err, errlen);
	for (int i = 0; ret && i < cs->nr; i++)
		if (cs->entries[i] == e) {
			drop(cs, i);
			break;
		}
	return ret;
}

/* The exit status of zug exec for the end of an execution. */
static int status_of(const struct execution *x)
{
	bool finding = zug_outcome_is_finding(x->outcome.kind);
	int status = EXEC_FINDING;

	if (x->outcome.kind == ZUG_OUTCOME_INTERRUPTED ||
	    x->outcome.kind == ZUG_OUTCOME_ENVIRONMENT)
		return EXEC_FAILED;
	if (x->status >= 0 && WIFEXITED(x->status))
		status = WEXITSTATUS(x->status);
	else if (x->status >= 0 && WIFSIGNALED(x->status))
		status = 128 + WTERMSIG(x->status);
	return finding && !status ? EXEC_FINDING : status;
}

static void remember(struct entry *e, const struct execution *x)
{
	free(e->last);
	if (asprintf(&e->last, "%s%s%s", zug_outcome_name(x->outcome.kind),
		     x->outcome.message[0] ? ": " : "", x->outcome.message) < 0)
		e->last = NULL;
}

/* Messages go to the client, or to zugd's own log. */
static void on_message(void *ctx, const char *line)
{
	fprintf(ctx, "zug: %s\n", line);
}

void campaigns_exec(struct campaigns *cs, struct request *r, FILE *err)
{
	extern char **environ;
	const char *cwd = protocol_text(r->m, "cwd");
	const struct campaign_observer observer = { .message = on_message, .ctx = err };
	const struct campaign_io io = { .envp = environ, .in = r->fds[0], .observer = &observer };
	struct json_object *args_json;
	struct campaign_once once;
	struct entry *e;
	char text[1024] = "", *key = NULL, **args;
	int nr, ret;

	r->status = EXEC_FAILED;
	args = protocol_list(r->m, "args", &nr);
	json_object_object_get_ex(r->m, "args", &args_json);
	if (!args || asprintf(&key, "%s\n%s", cwd, json_object_to_json_string(args_json)) < 0) {
		free(args);
		return;
	}
	e = find(cs, key);
	if (!e || e != cs->active)
		campaigns_park(cs);
	if (e) {
		free(key);
	} else {
		make_room(cs);
		campaigns_park(cs);
		e = entry_new(cs, key, args, nr, cwd, cwd, err);
		if (!e || entry_start(cs, e, &observer, err)) {
			free(args);
			return;
		}
	}
	free(args);
	ret = activate(cs, e, text, sizeof(text));
	ret = ret ? ret : campaign_once(e->c, &io, &once, text, sizeof(text));
	if (ret) {
		snprintf(r->message, sizeof(r->message), "%.500s", text[0] ? text : strerror(-ret));
		return;
	}
	campaign_pass_on(e->c, r->fds[1], r->fds[2]);
	remember(e, &once.x);
	r->status = status_of(&once.x);
	if (once.failure)
		fprintf(err, "zug: %s: %s\nzug: trace: %s\n", zug_outcome_name(once.x.outcome.kind),
			once.x.outcome.message,
			once.failure->trace ? once.failure->trace : "(could not be kept)");
	else if (once.x.outcome.kind != ZUG_OUTCOME_PASS)
		fprintf(err, "zug: %s\n", once.x.outcome.message);
}

/* ---- tests that come by themselves ---- */

/* The entry of a guest's test, with its probes planted. */
static struct entry *entry_of_guest(struct campaigns *cs, const struct guest *g,
				    const struct campaign_observer *observer, char *text,
				    size_t len)
{
	struct json_object *words = json_object_new_array();
	struct entry *e;
	char *key = NULL, **args;
	int nr = 0, ret;

	for (; g->argv[nr]; nr++)
		json_object_array_add(words, json_object_new_string(g->argv[nr]));
	args = calloc(nr + 2, sizeof(*args));
	if (!args) {
		json_object_put(words);
		return NULL;
	}
	/* what a program calls itself may look like an option */
	args[0] = (char *)"--";
	memcpy(args + 1, g->argv, nr * sizeof(*args));
	ret = asprintf(&key, "%s\n%s\n%s", g->cwd, json_object_to_json_string(words), g->file);
	json_object_put(words);
	if (ret < 0) {
		free(args);
		return NULL;
	}
	e = find(cs, key);
	if (e) {
		free(key);
		free(args);
		return activate(cs, e, text, len) ? NULL : e;
	}
	/* its own folder may be gone with the test: traces go to zugd's */
	e = entry_new(cs, key, args, nr + 1, g->cwd, cs->o->o->defaults->cwd, stderr);
	free(args);
	if (!e)
		return NULL;
	e->program = strdup(g->file);
	e->joined = true;
	e->o.c.command.envp = g->envp;
	e->o.c.command.file = e->program;
	e->o.c.machine.sandbox = door_sandbox(cs->o->door);
	e->o.c.points.watches = NULL;		/* they are set before an exec */
	e->o.c.machine.randomise = true;
	e->used = ++cs->clock;
	return e->program && !entry_start(cs, e, observer, stderr) ? e : NULL;
}

void campaigns_join(struct campaigns *cs, struct request *r)
{
	const struct campaign_observer observer = { .message = on_message, .ctx = stderr };
	struct campaign_io io = { .in = -1, .observer = &observer, .joined = true };
	struct campaign_once once;
	char text[1024] = "";
	struct guest g;
	struct entry *e;

	make_room(cs);
	campaigns_park(cs);
	if (!door_take(cs->o->door, &g, cs->stop, text, sizeof(text))) {
		snprintf(r->message, sizeof(r->message), "%.500s", text);
		return;
	}
	io.envp = g.envp;
	e = entry_of_guest(cs, &g, &observer, text, sizeof(text));
	if (!e || campaign_once(e->c, &io, &once, text, sizeof(text))) {
		sandbox_drain(door_sandbox(cs->o->door), 0, NULL);
		snprintf(r->message, sizeof(r->message),
			 "joined: %.200s (pid %d) could not be executed under "
			 "control: %.250s",
			 g.file, g.pid, text);
	} else {
		remember(e, &once.x);
		snprintf(r->message, sizeof(r->message), "joined: %.200s (pid %d): %.250s%s%s",
			 g.file, g.pid, e->last ? e->last : "",
			 once.failure && once.failure->trace ? "; trace: " : "",
			 once.failure && once.failure->trace ? once.failure->trace : "");
	}
	guest_free(&g);
}

static struct json_object *describe(const struct campaigns *cs, const struct entry *e)
{
	struct json_object *j = json_object_new_object(), *a = json_object_new_array(), *given = json_object_new_array();
	struct campaign_result f;

	campaign_get_result(e->c, &f);
	for (char **arg = e->o.c.command.argv; *arg; arg++)
		json_object_array_add(a, json_object_new_string(*arg));
	json_object_object_add(j, "command", a);
	/* behind the name and zugd's own options */
	for (char **arg = e->args + nr_before(cs); *arg; arg++)
		json_object_array_add(given, json_object_new_string(*arg));
	json_object_object_add(j, "arguments", given);
	json_object_object_add(j, "cwd", json_object_new_string(e->cwd));
	json_object_object_add(j, "started_by",
			       json_object_new_string(e->joined ? "join" : "exec"));
	json_object_object_add(j, "executions", json_object_new_int64(f.executions));
	json_object_object_add(j, "milliseconds_each", json_object_new_double(
			f.executions ? f.run_ns / 1e6 / f.executions : 0));
	json_object_object_add(j, "findings", json_object_new_int64(f.findings));
	json_object_object_add(j, "diverged", json_object_new_int64(f.diverged));
	json_object_object_add(j, "exhausted", json_object_new_boolean(f.exhausted));
	if (f.tried)
		json_object_object_add(j, "tried", json_object_new_string(f.tried));
	if (e->last)
		json_object_object_add(j, "last", json_object_new_string(e->last));
	a = json_object_new_array();
	for (unsigned int i = 0; i < f.nr_failures; i++) {
		struct json_object *o = json_object_new_object();

		json_object_object_add(
			o, "kind", json_object_new_string(zug_outcome_name(f.failures[i].kind)));
		json_object_object_add(o, "message", json_object_new_string(f.failures[i].message));
		json_object_object_add(o, "times", json_object_new_int64(f.failures[i].times));
		if (f.failures[i].trace)
			json_object_object_add(o, "trace",
					       json_object_new_string(f.failures[i].trace));
		json_object_array_add(a, o);
	}
	json_object_object_add(j, "failures", a);
	return j;
}

struct json_object *campaigns_status(const struct campaigns *cs)
{
	struct json_object *a = json_object_new_array();

	for (int i = 0; i < cs->nr; i++)
		json_object_array_add(a, describe(cs, cs->entries[i]));
	return a;
}
