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
#include "daemon.h"
#include "exit_codes.h"
#include "protocol.h"

/* Each holds private copies of the program and its libraries in /run, some megabytes. */
#define MAX_CAMPAIGNS 32

struct entry {
	char *key;
	char **args;		/* the command line that o points into */
	char *cwd;
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
	struct entry *active;	/* whose probes are planted */
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
}

static void drop(struct campaigns *cs, int i)
{
	/* freeing one takes all probes out */
	campaigns_park(cs);
	entry_free(cs, cs->entries[i]);
	cs->entries[i] = cs->entries[--cs->nr];
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

/* exec, zugd's own options, the client's arguments; what comes later wins. */
static char **whole_command_line(const struct campaigns *cs, char **args, int nr)
{
	int n = cs->o->nr_default_args;
	char **all = calloc(n + nr + 2, sizeof(*all));

	for (int i = 0; all && i < n + nr + 1; i++) {
		all[i] = strdup(!i ? "exec" : i <= n ? cs->o->default_args[i - 1] : args[i - 1 - n]);
		if (!all[i])
			return NULL;
	}
	return all;
}

/* A new campaign for a command line. Takes key. enum zug_exit, with a message on err. */
static int add(struct campaigns *cs, char *key, char **args, int nr, const char *cwd, FILE *out,
	       FILE *err, struct entry **result)
{
	struct entry *e = calloc(1, sizeof(*e));
	int ret = ZUG_EXIT_INTERNAL, n;

	if (!e) {
		free(key);
		return ret;
	}
	e->key = key;
	e->cwd = strdup(cwd);
	e->args = whole_command_line(cs, args, nr);
	if (!e->cwd || !e->args)
		goto fail;
	for (n = 0; e->args[n]; n++)
		;
	ret = run_options_parse(&e->o, "exec", n, e->args, true);
	if (ret) {
		fprintf(err, "zug exec: zugd does not understand these options\n");
		ret = ZUG_EXIT_USAGE;
		goto fail;
	}
	e->o.c.cwd = e->cwd;
	e->o.c.name = NULL;	/* a cgroup of its own; the name is the door's */
	e->o.c.quiet = true;
	if (cs->nr == MAX_CAMPAIGNS) {
		int oldest = 0;

		for (int i = 1; i < cs->nr; i++)
			if (cs->entries[i]->used < cs->entries[oldest]->used)
				oldest = i;
		drop(cs, oldest);
	}
	campaigns_park(cs);
	ret = campaign_new(&e->c, cs->o->kernel, &e->o.c, out, err, cs->stop, -1);
	if (ret)
		goto fail;
	cs->active = e;
	if (stat(campaign_file(e->c), &e->file))
		memset(&e->file, 0, sizeof(e->file));
	cs->entries[cs->nr++] = e;
	*result = e;
	return 0;
fail:
	entry_free(cs, e);
	return ret;
}

static int activate(struct campaigns *cs, struct entry *e, char *err, size_t errlen)
{
	int ret;

	e->used = ++cs->clock;
	if (cs->active == e)
		return 0;
	campaigns_park(cs);
	ret = campaign_unpark(e->c, err, errlen);
	if (ret) {
		campaign_park(e->c);
		return ret;
	}
	cs->active = e;
	return 0;
}

/* What the execution's end means for the exit status of zug exec. */
static int status_of(const struct execution *x)
{
	bool finding = zug_outcome_is_finding(x->outcome.kind);
	int status = EXEC_FINDING;

	if (x->outcome.kind == ZUG_OUTCOME_INTERRUPTED || x->outcome.kind == ZUG_OUTCOME_ENVIRONMENT)
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
	if (asprintf(&e->last, "%s%s%s", zug_outcome_name(x->outcome.kind), x->outcome.message[0] ? ": " : "",
		     x->outcome.message) < 0)
		e->last = NULL;
}

void campaigns_exec(struct campaigns *cs, struct request *r, FILE *out, FILE *err)
{
	extern char **environ;
	const char *cwd = protocol_text(r->m, "cwd");
	struct campaign_io io = { .envp = environ, .in = r->fds[0], .out = out, .err = err };
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
	if (e) {
		free(key);
		ret = 0;
	} else {
		ret = add(cs, key, args, nr, cwd, out, err, &e);
	}
	free(args);
	if (ret)
		return;
	ret = activate(cs, e, text, sizeof(text)) ? ZUG_EXIT_ENVIRONMENT :
	      campaign_once(e->c, &io, &once, text, sizeof(text));
	if (ret) {
		if (text[0])
			snprintf(r->message, sizeof(r->message), "%.500s", text);
		return;
	}
	campaign_pass_on(e->c, r->fds[1], r->fds[2]);
	remember(e, &once.x);
	r->status = status_of(&once.x);
	if (once.failure)
		fprintf(err, "zug: %s: %s\nzug: trace: %s\n", zug_outcome_name(once.x.outcome.kind),
			once.x.outcome.message, once.failure->trace ? once.failure->trace : "(could not be kept)");
	else if (once.x.outcome.kind != ZUG_OUTCOME_PASS)
		fprintf(err, "zug: %s: %s\n", zug_outcome_name(once.x.outcome.kind), once.x.outcome.message);
}

static struct json_object *describe(const struct entry *e)
{
	struct json_object *j = json_object_new_object(), *a = json_object_new_array();
	struct campaign_figures f;

	campaign_get_figures(e->c, &f);
	for (char **arg = e->o.c.argv; *arg; arg++)
		json_object_array_add(a, json_object_new_string(*arg));
	json_object_object_add(j, "command", a);
	json_object_object_add(j, "cwd", json_object_new_string(e->cwd));
	json_object_object_add(j, "started_by", json_object_new_string(e->joined ? "join" : "exec"));
	json_object_object_add(j, "executions", json_object_new_int64(f.executions));
	json_object_object_add(j, "milliseconds_each", json_object_new_double(
			f.executions ? f.run_ns / 1e6 / f.executions : 0));
	json_object_object_add(j, "findings", json_object_new_int64(f.findings));
	json_object_object_add(j, "diverged", json_object_new_int64(f.diverged));
	json_object_object_add(j, "exhausted", json_object_new_boolean(f.exhausted));
	if (e->last)
		json_object_object_add(j, "last", json_object_new_string(e->last));
	a = json_object_new_array();
	for (unsigned int i = 0; i < f.nr_failures; i++) {
		struct json_object *o = json_object_new_object();

		json_object_object_add(o, "kind", json_object_new_string(zug_outcome_name(f.failures[i].kind)));
		json_object_object_add(o, "message", json_object_new_string(f.failures[i].message));
		json_object_object_add(o, "times", json_object_new_int64(f.failures[i].times));
		if (f.failures[i].trace)
			json_object_object_add(o, "trace", json_object_new_string(f.failures[i].trace));
		json_object_array_add(a, o);
	}
	json_object_object_add(j, "failures", a);
	return j;
}

struct json_object *campaigns_status(const struct campaigns *cs)
{
	struct json_object *a = json_object_new_array();

	for (int i = 0; i < cs->nr; i++)
		json_object_array_add(a, describe(cs->entries[i]));
	return a;
}
