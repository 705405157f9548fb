/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "campaign/shard_number.h"
#include "report/shard.h"

/* How an engine numbers its jobs. */
static const struct engine {
	const char *name, *index, *count, *last, *first, *step;	/* variables; NULL: it has none */
	long base;	/* the first index, where no variable tells */
} engines[] = {
	{ "a Slurm array job", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", NULL, "SLURM_ARRAY_TASK_MIN",
	  "SLURM_ARRAY_TASK_STEP", 0 },
	{ "a Kubernetes indexed Job", "JOB_COMPLETION_INDEX", NULL, NULL, NULL, NULL, 0 },
	{ "a PBS array job", "PBS_ARRAY_INDEX", NULL, NULL, NULL, NULL, 1 },
	{ "a Torque array job", "PBS_ARRAYID", NULL, NULL, NULL, NULL, 1 },
	{ "an LSF job array", "LSB_JOBINDEX", NULL, "LSB_JOBINDEX_END", NULL, NULL, 1 },
};

static bool number(const char *text, long min, long *v)
{
	char *end;

	errno = 0;
	*v = text ? strtol(text, &end, 10) : 0;
	return text && *text && !*end && !errno && *v >= min && *v <= SHARDS_MAX;
}

/* 0; -ENOENT: the variable is not there; -EINVAL with a line in err. */
static int variable(const char *name, long *v, char *err, size_t errlen)
{
	const char *text = name ? getenv(name) : NULL;

	if (!text)
		return -ENOENT;
	if (number(text, 0, v))
		return 0;
	snprintf(err, errlen, "the variable %s is '%.40s', not a number", name, text);
	return -EINVAL;
}

/* How many jobs there are; given: as the command line says it, 0: not. */
static int count_of(const struct engine *e, long given, long first, long step, long *n, char *err, size_t errlen)
{
	long last;
	int ret = variable(e->count, n, err, errlen);

	if (ret == -ENOENT) {
		ret = variable(e->last, &last, err, errlen);
		*n = ret ? 0 : (last - first) / step + 1;
	}
	if (ret == -ENOENT)
		ret = variable("ZUG_SHARDS", n, err, errlen);
	if (ret == -ENOENT && given) {
		*n = given;
		ret = 0;
	}
	if (ret == -ENOENT)
		snprintf(err, errlen, "%s (%s) does not say how many there are: --shard auto/N, or the variable ZUG_SHARDS",
			 e->name, e->index);
	if (!ret && given && *n != given) {
		snprintf(err, errlen, "%s says that there are %ld, not %ld", e->name, *n, given);
		ret = -EINVAL;
	}
	return ret ? -EINVAL : 0;
}

static int ask(const struct engine *e, long given, struct shard_number *s, char *err, size_t errlen)
{
	long index, first = e->base, step = 1, n = 0;

	if (variable(e->index, &index, err, errlen) ||
	    variable(e->first, &first, err, errlen) == -EINVAL || variable(e->step, &step, err, errlen) == -EINVAL)
		return -EINVAL;
	step = step < 1 ? 1 : step;
	if (count_of(e, given, first, step, &n, err, errlen))
		return -EINVAL;
	if (index < first || (index - first) / step >= n) {
		snprintf(err, errlen, "%s is %ld, and there are %ld, from %ld on: number the jobs from %ld to %ld",
			 e->index, index, n, first, first, first + (n - 1) * step);
		return -EINVAL;
	}
	*s = (struct shard_number){ .k = (uint32_t)((index - first) / step + 1), .n = (uint32_t)n, .variable = e->index };
	return 0;
}

static int ask_engines(long given, struct shard_number *s, char *err, size_t errlen)
{
	const char *text;

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		text = getenv(engines[i].index);
		/* LSF sets it to 0 in jobs that are no arrays */
		if (text && !(engines[i].last && !strcmp(text, "0")))
			return ask(&engines[i], given, s, err, errlen);
	}
	snprintf(err, errlen, "none of the variables SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, PBS_ARRAY_INDEX, "
		 "PBS_ARRAYID, LSB_JOBINDEX is set: this is no job of an engine that is known; give K/N");
	return -EINVAL;
}

int shard_number_parse(const char *text, struct shard_number *s, char *err, size_t errlen)
{
	const char *slash = strchr(text, '/');
	long k, n = 0;
	char first[24];

	*s = (struct shard_number){ 0 };
	snprintf(first, sizeof(first), "%.*s", slash ? (int)(slash - text) : 20, text);
	if (slash && !number(slash + 1, 1, &n)) {
		snprintf(err, errlen, "not a number of shards, from 1 to %d: '%.40s'", SHARDS_MAX, slash + 1);
		return -EINVAL;
	}
	if (!strcmp(first, "auto"))
		return ask_engines(n, s, err, errlen);
	if (!slash || !number(first, 1, &k)) {
		snprintf(err, errlen, "not K/N (shard K of N, from 1/N to N/N), auto, or auto/N");
		return -EINVAL;
	}
	if (k > n) {
		snprintf(err, errlen, "there is no shard %ld of %ld: they are 1/%ld to %ld/%ld", k, n, n, n, n);
		return -EINVAL;
	}
	*s = (struct shard_number){ .k = (uint32_t)k, .n = (uint32_t)n };
	return 0;
}
