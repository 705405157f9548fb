/* SPDX-License-Identifier: GPL-2.0-only */
/* zug merge: what the shards of a search came to, together. It reads their folders, and needs no kernel. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/new_file.h"
#include "cli/cli_options.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "report/merge.h"
#include "report/record.h"

struct merge_options {
	const char *html, *json, *record;
};

static const struct option_row rows[] = {
	{ .name = "html", .argument = "FILE", .kind = OPTION_TEXT, OPTION_AT(struct merge_options, html),
	  .help = "a page: new behaviours, coverage by bound, bugs, and what each shard has made" },
	{ .name = "json", .argument = "FILE", .kind = OPTION_TEXT, OPTION_AT(struct merge_options, json),
	  .help = "the same figures, for programs" },
	{ .name = "record", .argument = "FILE", .kind = OPTION_TEXT, OPTION_AT(struct merge_options, record),
	  .help = "one record of all shards, for zug show; an existing FILE is replaced" },
};

static const struct command_line line = {
	.command = "zug merge",
	.rows = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.usage = "zug merge [options] DIR...\n",
	.about = "Says what the shards in these folders (zug run --shard K/N) have found together: which are complete,\n"
		 "which are missing, the distinct bugs with their traces, and what is covered. It only reads.\n",
	.end = "Exit status: 1 when there is a bug; 5 when shards are missing or not at their ends, or did not come to\n"
	       "the same where they should; 2 when they are not of one search; else 0.\n",
};

/* Written beside it, and renamed: a reader sees a whole file. 0, or an enum zug_exit with a message printed. */
static int write_file(const char *path, const struct merge *m, int (*write)(const char *to, const struct merge *m, char *err,
									    size_t errlen))
{
	char *new, err[512] = "";
	int ret = ZUG_EXIT_PASS;

	if (!path)
		return ZUG_EXIT_PASS;
	if (asprintf(&new, "%s.new", path) < 0)
		return ZUG_EXIT_INTERNAL;
	new_file_unlink(new);
	if (write(new, m, err, sizeof(err)) || new_file_rename(new, path)) {
		fprintf(stderr, "zug merge: %s: %s\n", path, err[0] ? err : strerror(errno));
		new_file_unlink(new);
		ret = ZUG_EXIT_ENVIRONMENT;
	}
	free(new);
	return ret;
}

static int close_file(FILE *f, int ret, char *err, size_t errlen)
{
	bool bad = ferror(f);

	bad |= fclose(f) != 0;
	if (!ret && bad)
		ret = -EIO;
	if (ret && !err[0])
		snprintf(err, errlen, "%s", strerror(-ret));
	return ret;
}

static int write_json(const char *to, const struct merge *m, char *err, size_t errlen)
{
	FILE *f = new_file_stream(to);

	return f ? close_file(f, merge_json(f, m), err, errlen) : -errno;
}

static int write_html(const char *to, const struct merge *m, char *err, size_t errlen)
{
	char *path = NULL;
	struct campaign_record *r;
	FILE *f = NULL;
	int ret;

	if (asprintf(&path, "%s.record", to) < 0)
		return -ENOMEM;
	ret = merge_record(path, m, err, errlen);
	r = ret ? NULL : record_read(path, err, errlen);
	if (r)
		f = new_file_stream(to);
	if (r && !f)
		snprintf(err, errlen, "%s", strerror(errno));
	ret = f ? close_file(f, record_html(f, r), err, errlen) : -EIO;
	record_free(r);
	new_file_unlink(path);
	free(path);
	return ret;
}

static int exit_of(const struct merge *m)
{
	return m->nr_bugs ? ZUG_EXIT_FINDING : merge_is_complete(m) ? ZUG_EXIT_PASS : ZUG_EXIT_INCOMPLETE;
}

int cmd_merge(int argc, char **argv)
{
	static const int refused[] = { [MERGE_REFUSED] = ZUG_EXIT_USAGE, [MERGE_DIVERGED] = ZUG_EXIT_INCOMPLETE,
				       [MERGE_NO_MEMORY] = ZUG_EXIT_INTERNAL };
	struct merge_options o = { 0 };
	char err[2 * 4096] = "", **dirs;
	enum merge_end end;
	struct merge m;
	int ret = cli_options(&line, &o, argc, argv, 1, -1, &dirs), nr = 0;

	if (ret)
		return ret == -1 ? ZUG_EXIT_PASS : ret;
	while (dirs[nr])
		nr++;
	end = merge_read(&m, dirs, (unsigned int)nr, err, sizeof(err));
	if (end) {
		fprintf(stderr, "zug merge: %s\n", err);
		merge_release(&m);
		return refused[end];
	}
	merge_text(stdout, &m);
	ret = write_file(o.record, &m, merge_record);
	ret = ret ? ret : write_file(o.json, &m, write_json);
	ret = ret ? ret : write_file(o.html, &m, write_html);
	ret = ret ? ret : exit_of(&m);
	merge_release(&m);
	return ret;
}
