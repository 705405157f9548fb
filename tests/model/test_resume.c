/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_resume.c - a search that was saved and read back goes on as if it had
 * never stopped; what is damaged is refused
 */
#include <errno.h>
#include <string.h>
#include "search/rng.h"
#include "programs.h"
#include "tap.h"

static uint64_t run_one(const struct model *m, struct search *s, bool *over)
{
	struct model_result r;
	uint32_t order[512];
	uint64_t h = 1;

	if (model_run(m, s, &r, order, 512) != SEARCH_GO) {
		*over = true;
		return 0;
	}
	for (uint64_t i = 0; i < r.steps; i++)
		h = mix64(h + order[i] + 1);
	return h;
}

static struct search *reopen(struct search *s, const char *strategy)
{
	long need = search_save(s, NULL, 0), wrote;
	unsigned char *buf = malloc((size_t)need);
	struct search *fresh = model_search(strategy, 11, 1);

	wrote = search_save(s, buf, (size_t)need);
	if (wrote != need || search_load(fresh, buf, (size_t)need)) {
		search_free(fresh);
		fresh = NULL;
	}
	free(buf);
	search_free(s);
	return fresh;
}

static void test_strategy(const struct model *m, const char *strategy)
{
	struct search *straight = model_search(strategy, 11, 1);
	struct search *broken = model_search(strategy, 11, 1);
	struct search_stats a, b;
	bool over_a = false, over_b = false, same = true;
	int nr = 0;

	while (!over_a && nr < 400) {
		if (nr % 37 == 5)
			broken = reopen(broken, strategy);
		if (!broken)
			break;
		same &= run_one(m, straight, &over_a) == run_one(m, broken, &over_b);
		same &= over_a == over_b;
		nr++;
	}
	if (!tap_ok(broken && same, "%s, %s: %d executions with interruptions are the same", m->name,
		    strategy, nr))
		return;
	search_get_stats(straight, &a);
	search_get_stats(broken, &b);
	tap_ok(a.executions == b.executions && a.distinct == b.distinct && a.bound == b.bound &&
	       a.schedules == b.schedules && a.sleep_blocked == b.sleep_blocked,
	       "%s, %s: and so are the figures", m->name, strategy);
	search_free(straight);
	search_free(broken);
}

static void test_damage(void)
{
	struct program *p = program_new("lostupdate", 2);
	struct search *s = model_search("portfolio", 11, 1), *other;
	static unsigned char buf[1 << 20];
	bool over = false;
	long len;
	int good = 0;

	for (int i = 0; i < 50; i++)
		run_one(&p->model, s, &over);
	tap_ok(search_save(s, buf, 10) == -ENOSPC, "a buffer that is too small is refused");
	len = search_save(s, buf, sizeof(buf));
	for (long at = 0; at < len; at += 97) {
		buf[at] ^= 0x10;
		other = model_search("portfolio", 11, 1);
		good += search_load(other, buf, (size_t)len) == -EBADMSG;
		search_free(other);
		buf[at] ^= 0x10;
	}
	tap_ok(good == (len + 96) / 97, "every damage is noticed (%d)", good);
	other = model_search("portfolio", 11, 1);
	tap_ok(search_load(other, buf, (size_t)len - 1) == -EBADMSG, "so is a truncated one");
	search_free(other);
	other = model_search("portfolio", 12, 1);
	tap_ok(search_load(other, buf, (size_t)len) == -EBADMSG, "and one of another seed");
	search_free(other);
	other = model_search("random", 11, 1);
	tap_ok(search_load(other, buf, (size_t)len) == -EBADMSG, "and of another strategy");
	search_free(other);
	search_begin(s);
	tap_ok(search_save(s, buf, sizeof(buf)) == -EBUSY, "not in the middle of an execution");
	search_free(s);
	program_free(p);
}

int main(void)
{
	static const char *const strategies[] = {
		"portfolio", "random", "pct", "pos", "surw", "urw", "guided", "preemption:bound=2",
		"delay:bound=2", "dfs", "dpor",
	};
	struct program *a = program_new("twostage", 2), *b = program_new("abba", 1);

	for (size_t i = 0; i < sizeof(strategies) / sizeof(strategies[0]); i++) {
		test_strategy(&a->model, strategies[i]);
		test_strategy(&b->model, strategies[i]);
	}
	program_free(a);
	program_free(b);
	test_damage();
	return tap_done();
}
