/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of options (userspace/campaign/run_options.c): each row is tried by what it says of
 * itself, so that a new option is tested without a new test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "bpf/zug_abi.h"
#include "campaign/options_trace.h"
#include "campaign/run_options.h"
#include "engine/faults.h"
#include "sandbox/sandbox.h"

static const struct command_line *line;
static char rules_file[] = "/tmp/zug-test-options-XXXXXX",
	    script_file[] = "/tmp/zug-test-script-XXXXXX";

/* Parses words for a command; what is wrong is in err. */
static char err[1024];
static int parse(struct run_options *o, enum run_command command, ...)
{
	static char *argv[32] = { (char *)"zug" };	/* the command stays in it */
	int argc = 1;
	va_list ap;

	va_start(ap, command);
	while ((argv[argc] = va_arg(ap, char *)))
		argc++;
	va_end(ap);
	err[0] = 0;
	return run_options_parse(o, command, argc, argv, err, sizeof(err));
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int set_up(void **state)
{
	int fds[2] = { mkstemp(rules_file), mkstemp(script_file) };

	line = run_options_line(RUN_COMMAND);
	close(fds[0]);
	close(fds[1]);
	return fds[0] < 0 || fds[1] < 0;
}

static int tear_down(void **state)
{
	unlink(rules_file);
	unlink(script_file);
	return 0;
}

static int command_of(const struct option_row *r)
{
	for (int c = RUN_COMMAND; c <= RUN_PLAN; c++)
		if (!r->commands || r->commands & run_options_line(c)->bit)
			return c;
	return -1;
}

/* An argument that is valid, and not the default. */
static const char *good_argument(const struct option_row *r, char *buf, size_t len)
{
	if (r->kind == OPTION_NUMBER)
		snprintf(buf, len, "%llu", (unsigned long long)(r->max ? r->max - 1 : r->min + 77));
	else if (r->kind == OPTION_DURATION)
		snprintf(buf, len, "1234ms");
	else if (r->kind == OPTION_SIZE)
		snprintf(buf, len, "3M");
	else if (r->kind == OPTION_CHOICE)
		snprintf(buf, len, "%s", r->words[1].name);
	else if (!strcmp(r->name, "suppressions"))
		snprintf(buf, len, "%s", rules_file);
	else if (r->kind == OPTION_SET)
		snprintf(buf, len, "%s,%s", r->words[2].name, r->words[3].name);
	else if (!strcmp(r->name, "shard"))
		snprintf(buf, len, "3/8");
	else if (!strcmp(r->name, "points"))
		snprintf(buf, len, "atomic,syscall:ipc");
	else
		snprintf(buf, len, "some-%s", r->name);
	return buf;
}

/* The words "--NAME=ARGUMENT" of a row. */
static int give(struct run_options *o, const struct option_row *r, const char *argument)
{
	static char word[256];	/* texts stay in it */

	snprintf(word, sizeof(word), r->kind == OPTION_FLAG ? "--%s" : "--%s=%s", r->name,
		 argument);
	memset(o, 0, sizeof(*o));
	command_line_defaults(line, o);
	return command_line_parse(line, o, o->given, 2, (char *[]){ (char *)"zug", word, NULL },
				  err, sizeof(err));
}

static void rows_are_told_apart(void **state)
{
	unsigned int places = 0, letters[128] = { 0 };

	for (unsigned int i = 0; i < line->nr_rows; i++) {
		const struct option_row *r = &line->rows[i];

		assert_non_null(r->name);
		assert_non_null(r->help);
		assert_true((r->kind == OPTION_FLAG) == !r->argument);
		assert_true(command_of(r) >= 0);
		assert_true(!r->letter || !letters[(int)r->letter]++);
		for (unsigned int k = 0; k < i; k++) {
			const struct option_row *q = &line->rows[k];

			/* --time has two meanings, which are told apart by the argument */
			assert_true(strcmp(q->name, r->name) ||
				    (q->kind == OPTION_DURATION && r->kind == OPTION_CHOICE));
			assert_true(!q->alias || strcmp(q->alias, r->name));
			assert_true(!q->key || !r->key ||
				    (strcmp(q->key, r->key) && q->place != r->place));
		}
	}
	assert_true(line->nr_rows <= COMMAND_LINE_ROWS);
	/* no place is left out, or what follows would not be kept */
	while (run_options_kept(places + 1))
		places++;
	for (unsigned int i = 0; i < line->nr_rows; i++)
		assert_true(!line->rows[i].key || line->rows[i].place <= places);
}

/* Whether all names in a row's needs or excludes exist. */
static void names_exist(const char *names)
{
	char copy[256], *save, *n;

	snprintf(copy, sizeof(copy), "%s", names ? names : "");
	for (n = strtok_r(copy, " ", &save); n; n = strtok_r(NULL, " ", &save)) {
		bool found = false;

		for (unsigned int i = 0; i < line->nr_rows; i++)
			found |= !strcmp(line->rows[i].name, n);
		assert_true(found);
	}
}

static void each_row_takes_its_argument(void **state)
{
	char good[256], printed[256];
	struct run_options o, again;

	write_file(rules_file, "# comment\nrace:some_function\n");
	for (unsigned int i = 0; i < line->nr_rows; i++) {
		const struct option_row *r = &line->rows[i];

		names_exist(r->needs);
		names_exist(r->excludes);
		good_argument(r, good, sizeof(good));
		if (give(&o, r, good) != 2)
			fail_msg("--%s %s: %s", r->name, good, err);
		assert_true(o.given[i]);
		assert_false(option_is_preset(r, &o));
		option_print(r, &o, printed, sizeof(printed));
		if (r->kind == OPTION_LIST) {
			assert_string_equal((*option_list(r, &o))[0], good);
		} else if (r->kind != OPTION_CUSTOM || r->print) {
			/* what is printed gives the same value again */
			assert_int_equal(give(&again, r, printed), 2);
			assert_int_equal(option_get(r, &o), option_get(r, &again));
			assert_true(memcmp(&o.c.points, &again.c.points, sizeof(o.c.points)) == 0);
			run_options_free(&again);
		}
		run_options_free(&o);
	}
}

static void bad_arguments_are_refused(void **state)
{
	static const char *const bad[] = {
		"", "x", "-1", "1x", "99999999999999999999999", ",", "sync,x", "@/nonexistent"
	};
	struct run_options o;
	char name[64];

	for (unsigned int i = 0; i < line->nr_rows; i++) {
		const struct option_row *r = &line->rows[i];
		unsigned int refused = 0;

		if (r->kind == OPTION_FLAG || r->kind == OPTION_TEXT || r->kind == OPTION_LIST)
			continue;
		snprintf(name, sizeof(name), "--%s", r->name);
		for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
			if (give(&o, r, bad[k]) < 0) {
				refused++;
				assert_ptr_equal(strstr(err, name), err);
				/* and says what is valid, or why not */
				assert_true(strstr(err, ": not ") || strstr(err, "No such file") ||
					    strstr(err, "line "));
			}
			run_options_free(&o);
		}
		assert_true(refused >= (r->parse ? 1 : 5));
	}
}

static void defaults(void **state)
{
	struct campaign_options o;
	struct run_options r;

	campaign_defaults(&o);
	assert_int_equal(o.search.seed, 1);
	assert_int_equal(o.search.preemptions, -1);
	assert_int_equal(o.search.fair, 1);
	assert_int_equal(o.search.executions, 2000);
	assert_int_equal(o.failure.timeout_ns, 30000000000);
	assert_int_equal(o.failure.max_steps, 100000);
	assert_int_equal(o.failure.spin_ns, 100000000);
	assert_true(o.points.sync && o.points.atomic && o.points.races && o.results.minimize);
	assert_int_equal(o.points.syscalls, ZUG_SYS_ALL);
	assert_int_equal(o.machine.lane, -1);
	assert_int_equal(o.environment.own, SANDBOX_ALL);
	assert_int_equal(o.inputs.max_faults, 1);
	assert_int_equal(o.inputs.max_flows, 1);
	assert_int_equal(o.results.verify, 1);
	assert_int_equal(o.results.colour, -1);
	assert_string_equal(o.results.dir, "zug-out");
	assert_true(!o.inputs.faults && !o.inputs.real_time && !o.inputs.real_random &&
		    !o.search.strategy);
	for (unsigned int i = 0; i < line->nr_rows; i++)
		assert_true(option_is_preset(&line->rows[i],
					     &(struct run_options){ .c = o, .times = 50 }));
	assert_int_equal(parse(&r, RUN_EXEC, "--", "true", NULL), 0);
	assert_int_equal(r.c.environment.own, 0);
	assert_string_equal(r.c.command.argv[0], "true");
	assert_int_equal(r.nr_options, 1);
	run_options_free(&r);
}

static void the_last_one_wins_and_lists_grow(void **state)
{
	struct run_options o;

	assert_int_equal(parse(&o, RUN_COMMAND, "--seed", "3", "--seed=4", "--time", "10s",
			       "--time", "real", "--watch", "a", "--watch=b", "-qo", "dir", "cmd",
			       "--seed", "9", NULL),
			 0);
	assert_int_equal(o.c.search.seed, 4);
	assert_int_equal(o.c.search.time_ns, 10000000000);
	assert_true(o.c.inputs.real_time && o.c.results.quiet);
	assert_string_equal(o.c.results.dir, "dir");
	assert_string_equal(o.c.points.watches[1], "b");
	assert_null(o.c.points.watches[2]);
	assert_string_equal(o.c.command.argv[0], "cmd");
	assert_string_equal(o.c.command.argv[2], "9");
	run_options_free(&o);
	/* the bits of faults and of flows are in one member */
	assert_int_equal(parse(&o, RUN_COMMAND, "--faults", "kill,eintr", "--flows=loss",
			       "--faults=enomem", "x", NULL),
			 0);
	assert_int_equal(o.c.inputs.faults, 1 << FAULT_ENOMEM | 1 << FLOW_LOSS);
	assert_int_equal(o.c.points.syscalls, ZUG_SYS_ALL | ZUG_SYS_ALLOC);
	run_options_free(&o);
	assert_int_equal(parse(&o, RUN_COMMAND, "--world", "shared", "--colo", "never", "x", NULL),
			 0);
	assert_int_equal(o.c.environment.own, 0);
	assert_int_equal(o.c.results.colour, 0);
	run_options_free(&o);
}

static void expect_refused(const char *message, const char *a, const char *b, const char *c)
{
	struct run_options o;
	int ret = parse(&o, RUN_COMMAND, a, b, c, "--", NULL);

	if (!ret)
		ret = run_options_refuse_foreign(&o, RUN_COMMAND, err, sizeof(err));
	if (ret >= 0 || !strstr(err, message))
		fail_msg("%s %s %s: %d, %s", a, b, c, ret, err);
	run_options_free(&o);
}

static void conflicts(void **state)
{
	struct run_options o;

	expect_refused("--max-faults needs --faults", "--max-faults=2", "--flows=loss", "x");
	expect_refused("--max-flows needs --flows", "--max-flows=2", "--faults=kill", "x");
	expect_refused("--flows stdin needs --stdin", "--flows=stdin", "x", "x");
	expect_refused("--time virtual", "--flows=delay", "--time=real", "x");
	expect_refused("--faults needs points at system calls", "--faults=kill", "--points=sync",
		       "x");
	expect_refused("--flows needs points at system calls", "--flows=loss", "--points=sync",
		       "x");
	expect_refused("--each-case cannot be combined with --resume", "--each-case", "--resume=f",
		       "x");
	expect_refused("--each-case cannot be combined with --record", "--each-case", "--record=f",
		       "x");
	expect_refused("--share has no effect", "--share=.", "--world=net", "x");
	expect_refused("--fail-on-race cannot be combined with --no-races", "--fail-on-race",
		       "--no-races", "x");
	expect_refused("--fail-on-race needs points", "--fail-on-race", "--points=atomic", "x");
	expect_refused("--code says where", "--code=f", "--points=sync", "x");
	expect_refused("--times belongs to zug check", "-n", "3", "x");
	expect_refused("--foreground belongs to zugd", "--foreground", "x", "x");
	expect_refused("no command; usage: zug run", "--seed", "3", NULL);
	expect_refused("--seed needs an argument: N", "--seed", NULL, NULL);
	expect_refused("--quiet takes no argument", "--quiet=3", "x", "x");
	expect_refused("unknown option '--nix'; zug run --help", "--nix=3", "x", "x");
	expect_refused("unknown option '--seeds' (perhaps --seed); zug run --help", "--seeds", "3", "x");
	expect_refused("unknown option '--stategry' (perhaps --strategy);", "--stategry=dfs", "x", "x");
	expect_refused("unknown option '--feed' (perhaps --seed);", "--feed=2", "x", "x");
	expect_refused("unknown option '--verbose'; zug run", "--verbose", "x", "x");
	expect_refused("unknown option '-x'", "-x", "x", "x");
	expect_refused("'--max' is ambiguous: --max-steps --max-tasks ",
		       "--max=3", "x", "x");
	expect_refused("--time soon: not a duration such as 500ms, 90s or 10m, or virtual or real",
		       "--time", "soon", "x");
	expect_refused("race:GLOB", "--suppressions", "/etc/passwd", "x");
	assert_int_equal(parse(&o, RUN_EXEC, "--executions=2000", "x", NULL), 0);
	assert_true(run_options_refuse_foreign(&o, RUN_EXEC, err, sizeof(err)) < 0);
	assert_string_equal(err, "--executions belongs to zug run: here the caller of the test "
				 "decides how often it is executed");
	run_options_free(&o);
}

static void scripts(void **state)
{
	char arg[64], *text = NULL;
	struct run_options o;
	size_t len;
	FILE *f;

	snprintf(arg, sizeof(arg), "--script=%s", script_file);
	/* in any order, and before what the command line says */
	write_file(script_file, "option flows stdin\noption stdin f\noption seed 5\noption cpus "
				"3\nbefore T1 run T2\n");
	assert_int_equal(parse(&o, RUN_COMMAND, "--seed=7", arg, "x", NULL), 0);
	assert_int_equal(o.c.search.seed, 7);
	assert_int_equal(o.c.machine.cpus, 3);
	assert_int_equal(o.c.search.executions, 1);
	assert_false(o.c.points.races);
	assert_false(o.c.results.minimize);
	assert_non_null(strstr(o.c.search.rules, "before T1"));
	run_options_free(&o);
	expect_refused("--script cannot be combined with --strategy: a script is one", arg,
		       "--strategy=random", "x");
	write_file(script_file, "\noption seed x\n");
	expect_refused(":2: --seed x: not a number", arg, "x", "x");
	write_file(script_file, "option output x\n");
	expect_refused("'output' is no option of a script; there are: races seed ", arg, "x", "x");

	/* what is not the default is printed as a script has it, and read again */
	assert_int_equal(parse(&o, RUN_COMMAND, "--seed=9", "--points=sync,syscall:ipc",
			       "--faults=kill", "--flows=loss,delay", "--aslr", "--spin=250ms",
			       "--watch=a", "--watch=b", "--world=files,net", "--time=10s", "x",
			       NULL),
			 0);
	f = open_memstream(&text, &len);
	run_options_print(&o.c, f);
	fclose(f);
	run_options_free(&o);
	assert_string_equal(
		text,
		"option seed 9\noption points sync,syscall:ipc\noption watch a\noption watch b\n"
		"option spin 250ms\noption aslr\noption world files,net\noption faults kill\n"
		"option flows loss,delay\n");
	write_file(script_file, text);
	assert_int_equal(parse(&o, RUN_COMMAND, arg, "x", NULL), 0);
	assert_int_equal(o.c.inputs.faults, 1 << FAULT_KILL | 1 << FLOW_LOSS | 1 << FLOW_DELAY);
	assert_true(o.c.points.sync && !o.c.points.atomic && o.c.points.syscalls == ZUG_SYS_IPC);
	run_options_free(&o);
	free(text);
}

/* The options of a trace with this JSON; *holder keeps them. */
static void from_json(struct campaign_options *o, const char *json, struct campaign_holder **holder)
{
	const struct trace_header h = { .argv = (char *[]){ (char *)"x", NULL },
					.envp = (char *[]){ NULL },
					.cwd = "/",
					.seed = 3,
					.options = json };

	assert_int_equal(campaign_options_from_header(o, &h, holder, err, sizeof(err)), 0);
}

static const char defaults_json[] =
	"{\"sync_points\":true,\"atomic_points\":true,\"syscall_points\":159,\"cpus\":0,\"max_tasks\":0,\"expect_exit\":0,"
	"\"fair\":1,\"max_steps\":100000,\"timeout_ns\":30000000000,\"spin_ns\":100000000,\"randomise\":false,"
	"\"virtual_time\":true,\"clock_real\":0,\"seeded_random\":true,\"explore_timeouts\":false,\"world\":31,\"share\":[],"
	"\"faults\":0,\"max_faults\":1,\"max_flows\":1,\"watch\":[],\"point\":[],\"invariant\":[],\"discard_if\":[],"
	"\"probed\":[],\"known\":[],\"code\":[],\"atomics\":[],\"silent\":[],\"limited\":[],\"split\":[],\"waits\":[],"
	"\"data\":[],\"fail_on_race\":false,\"suppressions\":[],\"races\":[]";

static void traces_keep_options(void **state)
{
	struct options_replay none = { 0 };
	struct campaign_holder *holder;
	struct campaign_options o;
	char good[256], *json, *again, *plain;

	/* traces begin with these bytes; keys of newer options follow */
	campaign_defaults(&o);
	plain = campaign_options_json(&o, &none);
	assert_memory_equal(plain, defaults_json, strlen(defaults_json));

	write_file(rules_file, "race:some_function\n");
	for (unsigned int i = 0; i < line->nr_rows; i++) {
		const struct option_row *r = &line->rows[i];
		struct run_options given;

		if (!r->key)
			continue;
		assert_int_equal(give(&given, r, good_argument(r, good, sizeof(good))), 2);
		json = campaign_options_json(&given.c, &none);
		assert_string_not_equal(json, plain);
		from_json(&o, json, &holder);
		if (r->store == STORE_TEXT)
			assert_string_equal(*option_text(r, &o), good);
		else if (r->store == STORE_LIST)
			assert_string_equal((*option_list(r, &o))[0], (*option_list(r, &given))[0]);
		else
			assert_int_equal(option_get(r, &o), option_get(r, &given));
		again = campaign_options_json(&o, &none);
		assert_string_equal(json, again);
		campaign_options_free(holder);
		run_options_free(&given);
		free(json);
		free(again);
	}
	free(plain);
}

static void old_traces(void **state)
{
	struct campaign_holder *holder;
	struct campaign_options o;

	/* of before these options there were */
	from_json(&o, "{}", &holder);
	assert_true(o.points.sync && !o.points.atomic && !o.points.syscalls && !o.points.races);
	assert_true(o.inputs.real_time && o.inputs.real_random && !o.inputs.explore_timeouts);
	assert_true(!o.inputs.faults && !o.inputs.max_faults && !o.inputs.max_flows &&
		    !o.environment.own);
	assert_true(o.search.fair == 1 && o.failure.max_steps == 100000 &&
		    o.failure.timeout_ns == 30000000000);
	assert_int_equal(o.search.seed, 3);
	/* exactly these files are probed: none */
	assert_true(o.replay.probed && !o.replay.probed[0] && o.replay.atomics && !o.inputs.file &&
		    !o.failure.match);
	campaign_options_free(holder);
	from_json(&o,
		  "{\"world\":255,\"virtual_time\":true,\"cpus\":4,\"waits\":[\"a+0x1\"],"
		  "\"hidden\":\"/x\",\"new\":1}",
		  &holder);
	assert_true(o.environment.own == SANDBOX_ALL && !o.inputs.real_time && o.machine.cpus == 4);
	assert_string_equal(o.replay.waits[0], "a+0x1");
	assert_string_equal(o.environment.hide, "/x");
	campaign_options_free(holder);
}

static void help_and_list(void **state)
{
	char *help = NULL, *list = NULL, word[64];
	size_t len;
	FILE *f = open_memstream(&help, &len), *g = open_memstream(&list, &len);

	command_line_help(line, f);
	command_line_list(line, g);
	fclose(f);
	fclose(g);
	for (unsigned int i = 0; i < line->nr_rows; i++) {
		const struct option_row *r = &line->rows[i];
		bool ours = !r->commands || r->commands & line->bit;

		snprintf(word, sizeof(word), "--%s%s", r->name, r->argument ? " " : "");
		assert_true(!ours || strstr(help, word));
		snprintf(word, sizeof(word), "--%s%s", r->name, r->words ? " " : "\n");
		assert_true(ours == (strstr(list, word) != NULL) || !strcmp(r->name, "time"));
	}
	for (char *l = strtok(help, "\n"); l; l = strtok(NULL, "\n"))
		assert_true(strlen(l) <= 100);
	assert_non_null(strstr(list, "--random seed real\n"));
	free(help);
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_told_apart),
		cmocka_unit_test(each_row_takes_its_argument),
		cmocka_unit_test(bad_arguments_are_refused),
		cmocka_unit_test(defaults),
		cmocka_unit_test(the_last_one_wins_and_lists_grow),
		cmocka_unit_test(conflicts),
		cmocka_unit_test(scripts),
		cmocka_unit_test(traces_keep_options),
		cmocka_unit_test(old_traces),
		cmocka_unit_test(help_and_list),
	};

	return cmocka_run_group_tests_name("options", tests, set_up, tear_down);
}
