/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/exit_codes.h"
#include "engine/faults.h"
#include "report/report.h"
#include "campaign/run_options.h"

enum { OPT_STRATEGY = 256, OPT_SEED, OPT_EXECUTIONS, OPT_TIME, OPT_TIMEOUT, OPT_MAX_STEPS,
       OPT_PREEMPTIONS, OPT_POINTS, OPT_WATCH, OPT_POINT, OPT_EXPECT_EXIT, OPT_MATCH, OPT_CPUS,
       OPT_LANE, OPT_NAME, OPT_MAX_TASKS, OPT_SPIN, OPT_FAIR, OPT_KEEP_GOING, OPT_ASLR, OPT_VERIFY,
       OPT_SOCKET, OPT_FOREGROUND, OPT_RESUME, OPT_RECORD, OPT_MEMORY, OPT_RULES, OPT_NO_MINIMIZE,
       OPT_JUNIT, OPT_JSON, OPT_EACH_CASE, OPT_COLOR, OPT_NO_RACES, OPT_TIMEOUTS, OPT_RANDOM, OPT_CODE,
       OPT_SCRIPT, OPT_INVARIANT, OPT_DISCARD,
       OPT_WORLD, OPT_SHARE, OPT_SETUP, OPT_TEARDOWN, OPT_FAIL_ON_RACE, OPT_SUPPRESSIONS, OPT_FAULTS, OPT_MAX_FAULTS,
       OPT_FLOWS, OPT_MAX_FLOWS, OPT_STDIN };

static const struct option options[] = {
	{ "strategy", required_argument, NULL, OPT_STRATEGY },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "executions", required_argument, NULL, OPT_EXECUTIONS },
	{ "time", required_argument, NULL, OPT_TIME },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "max-steps", required_argument, NULL, OPT_MAX_STEPS },
	{ "preemptions", required_argument, NULL, OPT_PREEMPTIONS },
	{ "points", required_argument, NULL, OPT_POINTS },
	{ "watch", required_argument, NULL, OPT_WATCH },
	{ "point", required_argument, NULL, OPT_POINT },
	{ "code", required_argument, NULL, OPT_CODE },
	{ "expect-exit", required_argument, NULL, OPT_EXPECT_EXIT },
	{ "invariant", required_argument, NULL, OPT_INVARIANT },
	{ "discard-if", required_argument, NULL, OPT_DISCARD },
	{ "match", required_argument, NULL, OPT_MATCH },
	{ "cpus", required_argument, NULL, OPT_CPUS },
	{ "lane", required_argument, NULL, OPT_LANE },
	{ "name", required_argument, NULL, OPT_NAME },
	{ "max-tasks", required_argument, NULL, OPT_MAX_TASKS },
	{ "spin", required_argument, NULL, OPT_SPIN },
	{ "fair", required_argument, NULL, OPT_FAIR },
	{ "keep-going", no_argument, NULL, OPT_KEEP_GOING },
	{ "no-minimize", no_argument, NULL, OPT_NO_MINIMIZE },
	{ "no-races", no_argument, NULL, OPT_NO_RACES },
	{ "fail-on-race", no_argument, NULL, OPT_FAIL_ON_RACE },
	{ "suppressions", required_argument, NULL, OPT_SUPPRESSIONS },
	{ "aslr", no_argument, NULL, OPT_ASLR },
	{ "verify", required_argument, NULL, OPT_VERIFY },
	{ "socket", required_argument, NULL, OPT_SOCKET },
	{ "foreground", no_argument, NULL, OPT_FOREGROUND },
	{ "rules", required_argument, NULL, OPT_RULES },
	{ "script", required_argument, NULL, OPT_SCRIPT },
	{ "timeouts", required_argument, NULL, OPT_TIMEOUTS },
	{ "random", required_argument, NULL, OPT_RANDOM },
	{ "world", required_argument, NULL, OPT_WORLD },
	{ "share", required_argument, NULL, OPT_SHARE },
	{ "setup", required_argument, NULL, OPT_SETUP },
	{ "teardown", required_argument, NULL, OPT_TEARDOWN },
	{ "faults", required_argument, NULL, OPT_FAULTS },
	{ "max-faults", required_argument, NULL, OPT_MAX_FAULTS },
	{ "flows", required_argument, NULL, OPT_FLOWS },
	{ "max-flows", required_argument, NULL, OPT_MAX_FLOWS },
	{ "stdin", required_argument, NULL, OPT_STDIN },
	{ "resume", required_argument, NULL, OPT_RESUME },
	{ "record", required_argument, NULL, OPT_RECORD },
	{ "memory", required_argument, NULL, OPT_MEMORY },
	{ "junit", required_argument, NULL, OPT_JUNIT },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "each-case", no_argument, NULL, OPT_EACH_CASE },
	{ "times", required_argument, NULL, 'n' },
	{ "output", required_argument, NULL, 'o' },
	{ "color", required_argument, NULL, OPT_COLOR },
	{ "colour", required_argument, NULL, OPT_COLOR },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

void run_options_help(FILE *f)
{
	fputs("search:\n"
	      "  --strategy NAME[:ARG=VALUE,...]  how to choose schedules (see: zug strategies)\n"
	      "  --seed N             the same seed gives the same search (default 1)\n"
	      "  --executions N       stop after so many (default 2000; 0: no bound)\n"
	      "  --time DURATION      stop after so long, such as 90s, 10m, 2h (default: no bound)\n"
	      "  --preemptions N      at most so many preemptions in systematic strategies\n"
	      "  --fair K             the fair scheduler acts on every K-th yield (default 1; 0: off)\n"
	      "  --rules TEXT | @FILE holds of tasks, tactics, where preemptions may be (see zug-run(1))\n"
	      "  --script FILE        follow a script that zug pin wrote, or a person (zug-pin(1)): once, unless --executions\n"
	      "  --resume FILE        go on with the search whose state is in FILE, and keep it there\n"
	      "  --memory SIZE        what the search's tables may take, such as 64M (default 256M); full ones forget\n"
	      "  --keep-going         look for further bugs after the first: one trace each, a list at the end\n"
	      "points, where a switch can happen:\n"
	      "  --points KIND,...    sync, atomic, syscall, syscall:file, :ipc, :signal, :process, :futex, none\n"
	      "                       (sync,atomic,syscall)\n"
	      "  --code WHERE         atomic instructions of these only: a library, function, 'GLOB' or FILE.c\n"
	      "  --watch [FILE:]VAR   every access of a variable (at most 4; a hardware breakpoint)\n"
	      "  --no-races           do not look for data races in the first executions, to make points of their places\n"
	      "  --point SYMBOL | 'GLOB' | FILE:LINE | BINARY:SYMBOL+OFFSET\n"
	      "what is a failure:\n"
	      "  --expect-exit N      the exit status of success (default 0)\n"
	      "  --match REGEX        output that means failure\n"
	      "  --invariant 'EXPR'   what must be true before every step: C over global variables (may be repeated)\n"
	      "  --discard-if 'EXPR' | exit=N | output=REGEX\n"
	      "                       executions that do not count\n"
	      "  --fail-on-race       a data race is one, not only a warning\n"
	      "  --suppressions FILE  data races that do not count: lines race:GLOB (function, file or variable)\n"
	      "  --timeout DURATION   of one execution (default 30s; 0: none)\n"
	      "  --max-steps N        of one execution (default 100000)\n"
	      "  --spin DURATION      a task that computes so long without a point is looked at, and preempted after ten times that (default 100ms)\n"
	      "the test's machine:\n"
	      "  --cpus N             what it sees (default: this machine's)\n"
	      "  --lane CPU           where it runs (default: the last CPU that is not busy)\n"
	      "  --max-tasks N        tasks alive at a time (default 256)\n"
	      "  --name NAME          of its cgroup\n"
	      "  --aslr               leave address randomisation on\n"
	      "the test's inputs:\n"
	      "  --time virtual|real  its clock; with a virtual one (default) sleeping takes no time\n"
	      "  --timeouts never|explore  when a time-out expires: when nobody else can run (default), or at any time\n"
	      "  --random seed|real   its random numbers: made from the seed (default), or the machine's\n"
	      "  --world private|shared|PART,...  what each execution has anew, for itself: files, ipc, pids, net, host\n"
	      "                       (zug run: private, all of them; zug exec and zugd: shared, nothing)\n"
	      "  --share PATH         a file or folder that stays the machine's; what is written there stays\n"
	      "  --setup COMMAND      run before each execution by a shell, in its world but not under its schedule\n"
	      "  --teardown COMMAND   the same after each execution\n"
	      "  --faults KIND,...    system calls may fail: enospc, eintr, enomem, refused, kill, short (see zug-run(1))\n"
	      "  --max-faults N       so many in one execution (default 1)\n"
	      "  --flows KIND,...     fewer bytes at once, or datagrams otherwise than sent: short-read, short-write, stdin,\n"
	      "                       loss, reorder, delay (see zug-run(1))\n"
	      "  --max-flows N        so many in one execution (default 1)\n"
	      "  --stdin FILE         what it reads from its standard input, a pipe (default: nothing)\n"
	      "results:\n"
	      "  -o, --output DIR     where traces go (default zug-out)\n"
	      "  --record FILE        append how the search gets on, for zug show FILE and zug show --html FILE\n"
	      "  --no-minimize        report the schedule as it was found, not the simplest that fails alike\n"
	      "  --verify N           replay a finding so often before it is reported (default 1)\n"
	      "  --junit FILE         results in JUnit's XML (zug run only, as the next two)\n"
	      "  --json FILE          results in JSON\n"
	      "  --each-case          search each test case of a GoogleTest, Catch2 or Rust test program by itself\n"
	      "  --color WHEN         of findings: auto (default: on a terminal, unless NO_COLOR is set), always, never\n"
	      "  -q, --quiet          no progress line\n"
	      "the daemon:\n"
	      "  --socket PATH        of zugd (default $ZUG_SOCKET, or /run/zugd.sock)\n", f);
}

static bool number(const char *text, uint64_t max, uint64_t *out)
{
	char *end;

	errno = 0;
	if (text[0] < '0' || text[0] > '9')
		return false;
	*out = strtoull(text, &end, 0);
	return !errno && !*end && *out <= max;
}

static bool duration(const char *text, uint64_t *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 }, { "h", 3600e9 }, { "", 1e9 } };
	char *end;
	double v;

	if (text[0] < '0' || text[0] > '9')
		return false;
	v = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(end, units[i].unit) && v * units[i].ns < 9e18) {
			*ns = v * units[i].ns;
			return true;
		}
	return false;
}

static bool size(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	char *end;
	const char *u;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*bytes = strtoull(text, &end, 10);
	if (errno || !*bytes)
		return false;
	if (*end && (u = strchr(units, *end)) && !end[1]) {
		unsigned int shift = 10 * (u - units + 1);

		if (*bytes > UINT64_MAX >> shift)
			return false;
		*bytes <<= shift;
		return true;
	}
	return !*end;
}

/* The text itself, or of the file behind '@'; malloc'd, NULL with errno. */
static char *rules_text(const char *arg)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f;

	if (arg[0] != '@')
		return strdup(arg);
	f = fopen(arg + 1, "re");
	if (!f)
		return NULL;
	if (getdelim(&text, &size, 0, f) < 0 && ferror(f)) {
		free(text);
		text = NULL;
	} else if (!text) {
		text = strdup("");
	}
	fclose(f);
	return text;
}

static const struct {
	const char *name;
	uint32_t mask;
} point_classes[] = {
	{ "syscall", ZUG_SYS_ALL }, { "syscall:file", ZUG_SYS_FILE }, { "syscall:ipc", ZUG_SYS_IPC },
	{ "syscall:signal", ZUG_SYS_SIGNAL }, { "syscall:process", ZUG_SYS_PROCESS },
	{ "syscall:futex", ZUG_SYS_FUTEX }, { "none", 0 },
};
#define NR_POINT_CLASSES (sizeof(point_classes) / sizeof(point_classes[0]))

/* Lines "race:GLOB"; a list of the globs. 0, or an enum zug_exit with a message printed. */
static int read_suppressions(const char *what, const char *path, char ***list)
{
	char *line = NULL, *text, *end, **more;
	size_t size = 0, nr = 0;
	int ret = 0, no = 0;
	FILE *f = fopen(path, "re");

	if (!f) {
		fprintf(stderr, "zug %s: --suppressions %s: %s\n", what, path, strerror(errno));
		return ZUG_EXIT_USAGE;
	}
	while (*list && (*list)[nr])
		nr++;
	while (!ret && getline(&line, &size, f) > 0) {
		no++;
		text = line + strspn(line, " \t\r\n");
		end = text + strlen(text);
		while (end > text && strchr(" \t\r\n", end[-1]))
			*--end = 0;
		if (!*text || *text == '#')
			continue;
		if (strncmp(text, "race:", 5) || !text[5]) {
			fprintf(stderr, "zug %s: --suppressions %s:%d: '%s' is not race:GLOB, with a glob for a function, "
				"a source file or a variable\n", what, path, no, text);
			ret = ZUG_EXIT_USAGE;
			break;
		}
		more = realloc(*list, (nr + 2) * sizeof(*more));
		if (more) {
			*list = more;
			more[nr] = strdup(text + 5);
			more[nr + !!more[nr]] = NULL;
		}
		if (!more || !more[nr])
			ret = ZUG_EXIT_INTERNAL;
		nr++;
	}
	if (!ret && ferror(f)) {
		fprintf(stderr, "zug %s: --suppressions %s: %s\n", what, path, strerror(errno));
		ret = ZUG_EXIT_USAGE;
	}
	free(line);
	fclose(f);
	return ret;
}

static bool points(const char *text, struct campaign_options *o)
{
	char *copy = strdup(text), *save, *p;
	bool ok = copy != NULL;

	o->points.sync = false;
	o->points.atomic = false;
	o->points.syscalls = 0;
	for (p = ok ? strtok_r(copy, ",", &save) : NULL; p && ok; p = strtok_r(NULL, ",", &save)) {
		size_t i;

		if (!strcmp(p, "sync")) {
			o->points.sync = true;
			continue;
		}
		if (!strcmp(p, "atomic")) {
			o->points.atomic = true;
			continue;
		}
		for (i = 0; i < NR_POINT_CLASSES; i++)
			if (!strcmp(p, point_classes[i].name))
				break;
		if (i == NR_POINT_CLASSES)
			ok = false;
		else
			o->points.syscalls |= point_classes[i].mask;
	}
	free(copy);
	return ok;
}

const char *run_options_points(const struct campaign_options *o, char *buf, size_t len)
{
	size_t n = snprintf(buf, len, "%s%s%s", o->points.sync ? "sync" : "",
			    o->points.sync && o->points.atomic ? "," : "", o->points.atomic ? "atomic" : "");
	uint32_t left = o->points.syscalls;

	for (size_t i = 0; i < NR_POINT_CLASSES; i++) {
		uint32_t mask = point_classes[i].mask;

		if (!mask || (left & mask) != mask || n >= len)
			continue;
		left &= ~mask;
		n += snprintf(buf + n, len - n, "%s%s", n ? "," : "", point_classes[i].name);
	}
	if (!n)
		snprintf(buf, len, "none");
	return buf;
}

static const char *const parts[] = { "files", "ipc", "pids", "net", "host" };

const char *run_options_world(uint32_t own, char *buf, size_t len)
{
	size_t n = 0;

	snprintf(buf, len, own == SANDBOX_ALL ? "private" : "shared");
	for (unsigned int i = 0; i < 5 && own != SANDBOX_ALL; i++)
		if ((own & 1u << i) && n < len)
			n += snprintf(buf + n, len - n, "%s%s", n ? "," : "", parts[i]);
	return buf;
}

static bool world(const char *text, uint32_t *own)
{
	size_t n, i;

	*own = 0;
	if (!strcmp(text, "private"))
		*own = SANDBOX_ALL;
	if (*own || !strcmp(text, "shared"))
		return true;
	do {
		n = strcspn(text, ",");
		for (i = 0; i < 5 && (strncmp(text, parts[i], n) || parts[i][n]); i++)
			;
		if (i == 5)
			return false;
		*own |= 1u << i;
		text += n + (text[n] == ',');
	} while (*text);
	return true;
}

static bool append(char ***list, char *text)
{
	size_t n = 0;
	char **l;

	while (*list && (*list)[n])
		n++;
	l = realloc(*list, (n + 2) * sizeof(*l));
	if (!l)
		return false;
	l[n] = text;
	l[n + 1] = NULL;
	*list = l;
	return true;
}

void run_options_free(struct run_options *o)
{
	free(o->watches);
	free(o->points);
	free(o->code);
	free(o->invariants);
	free(o->discards);
	free(o->shares);
	for (char **s = o->suppressions; s && *s; s++)
		free(*s);
	free(o->suppressions);
	free(o->rules);
	script_free(&o->script);
}

/* The options before the command; -1: --help. */
static int parse_words(struct run_options *o, const char *what, int argc, char **argv)
{
	struct campaign_options *c = &o->c;
	const char *valid = NULL;
	bool max_faults = false, max_flows = false;
	uint32_t mask;
	uint64_t v;
	int opt, which;

	optind = 0;
	while (!valid && (opt = getopt_long(argc, argv, "+o:qhn:", options, &which)) != -1) {
		switch (opt) {
		case OPT_STRATEGY:
			c->search.strategy = optarg;
			break;
		case OPT_SEED:
			if (!number(optarg, UINT64_MAX, &c->search.seed))
				valid = "a number";
			break;
		case OPT_EXECUTIONS:
			if (!number(optarg, UINT64_MAX, &c->search.executions))
				valid = "a number, 0 for no bound";
			break;
		case OPT_TIME:
			if (!strcmp(optarg, "virtual") || !strcmp(optarg, "real"))
				c->inputs.real_time = optarg[0] == 'r';
			else if (!duration(optarg, &c->search.time_ns))
				valid = "virtual, real, or a duration such as 90s, 10m or 2h";
			break;
		case OPT_TIMEOUT:
			if (!duration(optarg, &c->failure.timeout_ns))
				valid = "a duration such as 500ms or 10s";
			break;
		case OPT_TIMEOUTS:
			c->inputs.explore_timeouts = !strcmp(optarg, "explore");
			if (strcmp(optarg, "never") && strcmp(optarg, "explore"))
				valid = "never or explore";
			break;
		case OPT_FAULTS:
			if (!faults_parse(optarg, false, &mask))
				valid = "enospc, eintr, enomem, refused, kill, short, or several of them with commas";
			c->inputs.faults = (c->inputs.faults & FLOWS) | mask;
			break;
		case OPT_FLOWS:
			if (!faults_parse(optarg, true, &mask))
				valid = "short-read, short-write, stdin, loss, reorder, delay, or several of them with commas";
			c->inputs.faults = (c->inputs.faults & ~FLOWS) | mask;
			break;
		case OPT_STDIN:
			c->inputs.file = optarg;
			break;
		case OPT_MAX_FLOWS:
			if (!number(optarg, 1000, &v) || !v)
				valid = "a number from 1 to 1000";
			else
				c->inputs.max_flows = v;
			max_flows = true;
			break;
		case OPT_MAX_FAULTS:
			if (!number(optarg, 1000, &v) || !v)
				valid = "a number from 1 to 1000";
			else
				c->inputs.max_faults = v;
			max_faults = true;
			break;
		case OPT_RANDOM:
			c->inputs.real_random = !strcmp(optarg, "real");
			if (strcmp(optarg, "seed") && strcmp(optarg, "real"))
				valid = "seed or real";
			break;
		case OPT_WORLD:
			if (!world(optarg, &c->environment.own))
				valid = "private, shared, or a list of files, ipc, pids, net, host";
			break;
		case OPT_SHARE:
			if (!append(&o->shares, optarg))
				return ZUG_EXIT_INTERNAL;
			break;
		case OPT_SETUP:
			c->environment.setup = optarg;
			break;
		case OPT_TEARDOWN:
			c->environment.teardown = optarg;
			break;
		case OPT_SPIN:
			if (!duration(optarg, &c->failure.spin_ns))
				valid = "a duration such as 100ms, 0 for never";
			break;
		case OPT_MAX_STEPS:
			if (!number(optarg, UINT64_MAX, &c->failure.max_steps))
				valid = "a number, 0 for no bound";
			break;
		case OPT_PREEMPTIONS:
			if (!number(optarg, 1000, &v))
				valid = "a number from 0 to 1000";
			else
				c->search.preemptions = v;
			break;
		case OPT_FAIR:
			if (!number(optarg, 1000000, &v))
				valid = "a number, 0 for off";
			else
				c->search.fair = v;
			break;
		case OPT_POINTS:
			if (!points(optarg, c))
				valid = "a list of sync, atomic, syscall, syscall:file, syscall:ipc, syscall:signal, "
					"syscall:process, syscall:futex, or none";
			break;
		case OPT_WATCH:
			if (!append(&o->watches, optarg))
				return ZUG_EXIT_INTERNAL;
			break;
		case OPT_POINT:
			if (!append(&o->points, optarg))
				return ZUG_EXIT_INTERNAL;
			break;
		case OPT_CODE:
			if (!append(&o->code, optarg))
				return ZUG_EXIT_INTERNAL;
			break;
		case OPT_INVARIANT:
			if (!append(&o->invariants, optarg))
				return ZUG_EXIT_INTERNAL;
			break;
		case OPT_DISCARD:
			if (!append(&o->discards, optarg))
				return ZUG_EXIT_INTERNAL;
			break;
		case OPT_EXPECT_EXIT:
			if (!number(optarg, 255, &v))
				valid = "an exit status from 0 to 255";
			else
				c->failure.expect_exit = v;
			break;
		case OPT_MATCH:
			c->failure.match = optarg;
			break;
		case OPT_CPUS:
			if (!number(optarg, 1024, &v) || !v)
				valid = "a number from 1 to 1024";
			else
				c->machine.cpus = v;
			break;
		case OPT_LANE:
			if (!number(optarg, 8191, &v))
				valid = "the number of a CPU";
			else
				c->machine.lane = v;
			break;
		case OPT_MAX_TASKS:
			if (!number(optarg, 1000000, &v) || !v)
				valid = "a number from 1 to 1000000";
			else
				c->machine.max_tasks = v;
			break;
		case OPT_VERIFY:
			if (!number(optarg, 10000, &v))
				valid = "a number";
			else
				c->results.verify = v;
			break;
		case OPT_RULES:
			free(o->rules);
			o->rules = rules_text(optarg);
			if (!o->rules) {
				fprintf(stderr, "zug %s: --rules %s: %s\n", what, optarg, strerror(errno));
				return ZUG_EXIT_USAGE;
			}
			c->search.rules = o->rules;
			break;
		case OPT_SCRIPT:
			break;	/* read before */
		case OPT_RESUME:
			c->search.resume = optarg;
			break;
		case OPT_RECORD:
			c->results.record = optarg;
			break;
		case OPT_MEMORY:
			if (!size(optarg, &c->search.memory))
				valid = "a size such as 64M or 1G";
			break;
		case OPT_NAME:
			c->machine.name = optarg;
			break;
		case OPT_KEEP_GOING:
			c->results.keep_going = true;
			break;
		case OPT_NO_RACES:
			c->points.races = false;
			break;
		case OPT_FAIL_ON_RACE:
			c->failure.race = true;
			break;
		case OPT_SUPPRESSIONS:
			which = read_suppressions(what, optarg, &o->suppressions);
			if (which)
				return which;
			break;
		case OPT_NO_MINIMIZE:
			c->results.minimize = false;
			break;
		case OPT_ASLR:
			c->machine.randomise = true;
			break;
		case OPT_SOCKET:
			o->socket = optarg;
			break;
		case OPT_JUNIT:
			o->junit = optarg;
			break;
		case OPT_JSON:
			o->json = optarg;
			break;
		case OPT_EACH_CASE:
			o->each_case = true;
			break;
		case OPT_FOREGROUND:
			o->foreground = true;
			break;
		case 'n':
			if (!number(optarg, 1000000, &v) || v < 2)
				valid = "a number from 2 to 1000000";
			else
				o->times = v;
			break;
		case 'o':
			c->results.dir = optarg;
			break;
		case OPT_COLOR:
			valid = report_colour_parse(optarg, &c->results.colour) ? "auto, always or never" : NULL;
			break;
		case 'q':
			c->results.quiet = true;
			break;
		case 'h':
			return -1;
		default:
			if (!strchr(what, ':'))
				fprintf(stderr, "zug %s --help lists the options\n", what);
			return ZUG_EXIT_USAGE;
		}
	}
	if (valid) {
		fprintf(stderr, "zug %s: --%s %s: not %s\n", what,
			opt == 'o' ? "output" : opt == 'n' ? "times" : options[which].name, optarg, valid);
		return ZUG_EXIT_USAGE;
	}
	if (max_flows && !(c->inputs.faults & FLOWS)) {
		fprintf(stderr, "zug %s: --max-flows without --flows: everything flows as it is sent\n", what);
		return ZUG_EXIT_USAGE;
	}
	if (c->inputs.faults & 1u << FLOW_STDIN && !c->inputs.file) {
		fprintf(stderr, "zug %s: --flows stdin without --stdin FILE: there is nothing to read\n", what);
		return ZUG_EXIT_USAGE;
	}
	if (c->inputs.real_time && c->inputs.faults & (1u << FLOW_REORDER | 1u << FLOW_DELAY)) {
		fprintf(stderr, "zug %s: --flows reorder and delay need a clock that waits for them: --time virtual\n", what);
		return ZUG_EXIT_USAGE;
	}
	if (max_faults && !(c->inputs.faults & ~FLOWS)) {
		fprintf(stderr, "zug %s: --max-faults without --faults: no call fails\n", what);
		return ZUG_EXIT_USAGE;
	}
	if (c->inputs.faults && !c->points.syscalls) {
		fprintf(stderr, "zug %s: %s needs points at system calls: --points with syscall\n", what,
			c->inputs.faults & FLOWS ? "--flows" : "--faults");
		return ZUG_EXIT_USAGE;
	}
	if (c->inputs.faults & 1u << FAULT_ENOMEM)
		c->points.syscalls |= ZUG_SYS_ALLOC;
	if (c->inputs.faults & 1u << FAULT_EINTR)
		c->points.syscalls |= ZUG_SYS_WAIT;
	if (o->times && strcmp(what, "check")) {
		fprintf(stderr, "zug %s: --times belongs to zug check; how many executions: --executions\n", what);
		return ZUG_EXIT_USAGE;
	}
	return 0;
}

/* What the script says comes before what the command line does, which may say otherwise. */
static int read_script(struct run_options *o, const char *what, int argc, char **argv)
{
	const char *path = NULL;
	char err[1024], place[4200];
	int opt, ret;

	optind = 0;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, "+o:qh", options, NULL)) != -1)
		if (opt == OPT_SCRIPT)
			path = optarg;
	opterr = 1;
	if (!path)
		return 0;
	if (script_load(&o->script, path, err, sizeof(err))) {
		fprintf(stderr, "zug %s: --script: %s\n", what, err);
		return ZUG_EXIT_USAGE;
	}
	for (size_t i = 0; i < o->script.nr_options; i++) {
		const struct script_option *so = &o->script.options[i];
		char *words[] = { (char *)"zug", so->argument, NULL };

		snprintf(place, sizeof(place), "zug %s: %s:%u", what, path, so->line);
		/* what getopt says begins with the word 0 */
		words[0] = place;
		ret = parse_words(o, place + strlen("zug "), 2, words);
		if (ret)
			return ret;
	}
	o->c.search.executions = 1;
	o->c.search.script = &o->script;
	return 0;
}

/* What a script says is one schedule: what chooses schedules has no place beside it. */
static int check_script(const struct run_options *o, const char *what)
{
	struct campaign_options d;
	const char *name;

	campaign_defaults(&d);
	name = o->c.search.strategy ? "strategy" : o->c.search.rules ? "rules" : o->c.search.preemptions != d.search.preemptions ? "preemptions" :
	       o->c.search.resume ? "resume" : o->each_case ? "each-case" : NULL;
	if (!name)
		return 0;
	fprintf(stderr, "zug %s: --script with --%s: a script is one schedule of one command\n", what, name);
	return ZUG_EXIT_USAGE;
}

int run_options_parse(struct run_options *o, const char *what, int argc, char **argv,
		      bool need_command)
{
	extern char **environ;
	struct campaign_options *c = &o->c;
	int ret;

	memset(o, 0, sizeof(*o));
	campaign_defaults(c);
	c->command.envp = environ;
	/* whoever starts the test looks for what it has written */
	if (!strcmp(what, "exec") || !strcmp(what, "daemon"))
		c->environment.own = 0;
	if (!getcwd(o->cwd, sizeof(o->cwd))) {
		fprintf(stderr, "zug %s: current folder: %s\n", what, strerror(errno));
		return ZUG_EXIT_USAGE;
	}
	c->command.cwd = o->cwd;
	ret = read_script(o, what, argc, argv);
	if (!ret)
		ret = parse_words(o, what, argc, argv);
	if (!ret && c->search.script)
		ret = check_script(o, what);
	if (ret)
		return ret;
	if (c->search.script) {
		c->search.rules = o->script.rules;
		c->points.races &= o->script.races;
		c->results.minimize = false;
	}
	if (o->each_case && (c->search.resume || c->results.record)) {
		fprintf(stderr, "zug %s: --each-case with --%s: that is the state of one search\n", what,
			c->search.resume ? "resume" : "record");
		return ZUG_EXIT_USAGE;
	}
	if (o->shares && !(c->environment.own & SANDBOX_FILES)) {
		fprintf(stderr, "zug %s: --share %s: all files are shared here (--world files, or private, makes some "
			"private)\n", what, o->shares[0]);
		return ZUG_EXIT_USAGE;
	}
	c->points.watches = o->watches;
	c->environment.shares = o->shares;
	c->points.places = o->points;
	c->points.code = o->code;
	c->failure.invariants = o->invariants;
	c->failure.discards = o->discards;
	c->failure.suppressions = o->suppressions;
	if (c->failure.race && !c->points.races) {
		fprintf(stderr, "zug %s: --fail-on-race with --no-races: then nobody looks for races\n", what);
		return ZUG_EXIT_USAGE;
	}
	if (c->failure.race && !c->points.sync) {
		fprintf(stderr, "zug %s: --fail-on-race needs the points of synchronisation (--points sync)\n", what);
		return ZUG_EXIT_USAGE;
	}
	c->command.argv = argv + optind;
	if (c->points.code && !c->points.atomic) {
		fprintf(stderr, "zug %s: --code says where atomic instructions are points, but --points leaves them out\n",
			what);
		return ZUG_EXIT_USAGE;
	}
	o->nr_options = optind - 1;
	if (need_command && !c->command.argv[0]) {
		fprintf(stderr, "zug %s: no command; usage: zug %s [options] -- COMMAND [ARGUMENT...]\n",
			what, what);
		return ZUG_EXIT_USAGE;
	}
	return 0;
}

int run_options_refuse_bounds(const struct run_options *o, const char *what)
{
	struct campaign_options d;
	const char *name;

	campaign_defaults(&d);
	name = o->c.search.script ? "script" : o->c.failure.discards ? "discard-if" : o->c.search.executions != d.search.executions ? "executions" : o->c.search.time_ns ? "time" :
	       o->junit ? "junit" : o->json ? "json" : o->each_case ? "each-case" :
	       o->c.search.resume ? "resume" : o->c.results.record ? "record" : o->c.results.keep_going ? "keep-going" :
	       !o->c.results.minimize ? "no-minimize" : o->c.results.verify != d.results.verify ? "verify" : NULL;
	if (!name)
		return 0;
	fprintf(stderr, "zug %s: --%s belongs to zug run: here, %s\n", what, name, strcmp(what, "check") ?
		"whoever starts the test decides how often it is executed" : "one schedule is executed --times times");
	return ZUG_EXIT_USAGE;
}
