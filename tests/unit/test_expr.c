// SPDX-License-Identifier: GPL-2.0-only
/* test_expr.c - expressions over this program's own variables: C's values, and what is refused */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "symbols/expr.h"

enum color { RED = 3, GREEN = -7 };

struct node {
	int value;
	struct node *next;
	unsigned int low : 3, mid : 5;
	int sign : 4;
	union { long all; short part; };
	struct { unsigned char inner[4]; } box;
};

struct wrapped { struct { volatile int v; } w; };

volatile int number = -5;
volatile unsigned int positive = 7;
volatile unsigned char byte_value = 200;
volatile signed char small = -3;
volatile long long large = -5000000000ll;
volatile unsigned long huge = 0xffffffffffffffffull;
volatile double real_value = 2.5;
volatile float short_real = -0.25f;
volatile _Bool yes = 1;
_Atomic int atomic_number = 9;
volatile enum color paint = GREEN;
volatile int grid[3][4] = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9, 10, 11, 12 } };
struct node second = { .value = 22, .low = 5, .mid = 17, .sign = -2, .all = 70000, .box = { { 1, 2, 3, 250 } } };
struct node first = { .value = 11, .next = &second };
struct node *list = &first;
struct node *nothing;
void *untyped = &first;
struct wrapped wrapped = { { 41 } };
int *volatile to_number = (int *)&number;
__thread int of_thread;
static const int folded = 12;

static struct symbols *syms;
static struct symfile *file;
static uint64_t own_bias;
static bool mapped = true;

static int get_bias(void *ctx, unsigned int index, uint64_t *bias)
{
	*bias = own_bias;
	return mapped && !index ? 0 : -ENOENT;
}

static int get_memory(void *ctx, uint64_t addr, void *to, size_t len)
{
	struct iovec a = { to, len }, b = { (void *)addr, len };

	return process_vm_readv(getpid(), &a, 1, &b, 1, 0) == (ssize_t)len ? 0 : -EFAULT;
}

static const struct expr_memory memory = { .bias = get_bias, .read = get_memory };

static int set_up(void **state)
{
	uint64_t vaddr, size;
	char err[512], path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = 0;
	of_thread = 1 + folded;
	syms = symbols_new();
	file = symbols_file(syms, path, NULL, err, sizeof(err));
	if (!file || symfile_variable(file, "number", &vaddr, &size, err, sizeof(err)))
		return -1;
	own_bias = (uint64_t)&number - vaddr;
	return 0;
}

static int tear_down(void **state)
{
	symbols_free(syms);
	return 0;
}

/* Its truth, or -errno; NULL err: what resolving says is printed. */
static int value(const char *text, char *why, size_t len)
{
	char err[512];
	struct expr *e = expr_parse(text, err, sizeof(err));
	int ret = e ? expr_resolve(e, &file, 1, err, sizeof(err)) : -EBADMSG;

	if (!ret)
		ret = expr_test(e, &memory);
	else if (why)
		snprintf(why, len, "%s", err);
	expr_free(e);
	return ret;
}

static void test_values(void **state)
{
	static const char *const true_ones[] = {
		"number == -5", "-number == 5", "number + 6 == 1", "!(number + 5)", "number < 0 && positive > 6",
		"number > 0 || large < -4999999999", "byte_value == 200", "small == -3", "~number == 4",
		"positive - 8 > 0", "number < positive == 0", "huge == -1", "huge > 0", "large / 2 == -2500000000",
		"number % 3 == -2", "number >> 1 == -3", "1 << 31 < 0", "1u << 31 > 0", "byte_value << 1 == 400",
		"real_value == 2.5", "short_real < 0", "real_value * 2 == positive - 2", "real_value > short_real",
		"yes", "yes == true", "atomic_number == 9", "paint == GREEN", "paint != RED", "RED == 3", "GREEN < 0",
		"grid[1][2] == 7", "grid[2][grid[0][2]] == 12", "first.value == 11", "list->value == 11",
		"list->next->value == 22", "list->next->next == NULL", "nothing == 0", "!nothing", "&first == list",
		"list[0].value == 11", "(*list).value == 11", "*to_number == -5", "second.low == 5 && second.mid == 17",
		"second.sign == -2", "second.all == 70000", "second.part == 4464", "second.box.inner[3] == 250",
		"wrapped == 41", "wrapped.w.v == 41", "'a' == 97", "'\\n' == 10", "0x10 == 16", "010 == 8", "1e3 == 1000",
		"number > 0 ? 0 : positive == 7", "!nothing || nothing->value", "0 ? nothing->value : 1",
		"1 + 2 * 3 == 7", "(1 + 2) * 3 == 9", "8 - 3 - 2 == 3", "1 | 6 ^ 3 & 2 == 5", "2 < 3 == 1",
		"'test_expr.c'::number == -5", "4294967295u + 1 == 0", "2147483647 + 1 < 0", "4294967295 + 1 > 0",
	};

	for (size_t i = 0; i < sizeof(true_ones) / sizeof(true_ones[0]); i++) {
		char why[512] = "";
		int ret = value(true_ones[i], why, sizeof(why));

		if (ret != 1)
			fail_msg("%s: %d %s", true_ones[i], ret, why);
	}
	assert_int_equal(value("number > 0", NULL, 0), 0);
}

/* No value, but neither a crash nor an error. */
static void test_no_value(void **state)
{
	assert_int_equal(value("nothing->value", NULL, 0), -EFAULT);
	assert_int_equal(value("nothing->next->next->value == 1", NULL, 0), -EFAULT);
	assert_int_equal(value("number / (positive - 7)", NULL, 0), -EDOM);
	assert_int_equal(value("1 << 32", NULL, 0), -EDOM);
	mapped = false;
	assert_int_equal(value("number", NULL, 0), -ENOENT);
	mapped = true;
}

/* Trees that are as deep as a text is long are walked by recursion. */
static void test_long_texts(void **state)
{
	const size_t len = 1 << 20;
	char *text = malloc(len + 1), err[512];

	assert_non_null(text);
	for (int k = 0; k < 4; k++) {
		static const char *const pieces[] = { "1+", "!", "(", "a.a." };
		size_t n = strlen(pieces[k]);

		for (size_t i = 0; i + n <= len; i += n)
			memcpy(text + i, pieces[k], n);
		text[len] = 0;
		assert_null(expr_parse(text, err, sizeof(err)));
		assert_non_null(strstr(err, k == 1 || k == 2 ? "too deep" : "more than 2000 operators"));
	}
	free(text);
}

static void test_refused(void **state)
{
	static const struct { const char *text, *why; int ret; } bad[] = {
		{ "nonesuch == 1", "no variable 'nonesuch'", -ENOENT }, { "numbr", "did you mean number", -ENOENT },
		{ "first.valu", "'first' has no member 'valu'", -EINVAL }, { "list.value", "is a pointer: '->'", -EINVAL },
		{ "first->value", "'first' is not a pointer", -EINVAL }, { "number.x", "is not a structure", -EINVAL },
		{ "first == 1", "'first' is a structure: name a member", -EINVAL },
		{ "grid[1][4]", "'grid[1]' has 4 elements, no [4]", -EINVAL },
		{ "number[0]", "neither an array nor a pointer", -EINVAL }, { "*number", "is not a pointer", -EINVAL },
		{ "*untyped", "points to is not known", -EINVAL },
		{ "real_value % 2", "'real_value' is not a whole number", -EINVAL },
		{ "list + 1", "'list' is not a number", -EINVAL }, { "&3", "'3' has no address", -EINVAL },
		{ "of_thread", "thread-local", -ENOENT }, { "get_bias", "no variable 'get_bias'", -ENOENT },
		{ "number = 3", "'==' compares", -EBADMSG }, { "number ==", "a value is missing at the end", -EBADMSG },
		{ "(number", "')' is missing", -EBADMSG }, { "grid[1", "']' is missing", -EBADMSG },
		{ "number 3", "an operator is missing before '3'", -EBADMSG }, { "", "a value is missing", -EBADMSG },
		{ "1 ? 2", "':' is missing", -EBADMSG }, { "list->", "name of a member is missing", -EBADMSG },
		{ "12ab", "a number is not understood", -EBADMSG }, { "'ab'", "more than one character", -EBADMSG },
		{ "'a", "without its end", -EBADMSG }, { "get_memory()", "an operator is missing before '()'", -EBADMSG },
		{ "'nonesuch.c'::number", "no variable 'number' of 'nonesuch.c'", -ENOENT },
	};
	char err[512], deep[3000];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct expr *e = expr_parse(bad[i].text, err, sizeof(err));
		int ret = e ? expr_resolve(e, &file, 1, err, sizeof(err)) : -EBADMSG;

		if (ret != bad[i].ret || !strstr(err, bad[i].why))
			fail_msg("'%s': %d, %s", bad[i].text, ret, err);
		expr_free(e);
	}
	memset(deep, '(', sizeof(deep));
	deep[sizeof(deep) - 1] = 0;
	assert_null(expr_parse(deep, err, sizeof(err)));
	memset(deep, '!', sizeof(deep) - 1);
	assert_null(expr_parse(deep, err, sizeof(err)));
}

static void test_said(void **state)
{
	char err[512], said[512];
	struct expr *e = expr_parse("list->value > number && grid[first.value - 10][0] < real_value || number == 3 || "
				    "nothing->value", err, sizeof(err));

	assert_non_null(e);
	assert_int_equal(expr_resolve(e, &file, 1, err, sizeof(err)), 0);
	expr_values(e, &memory, said, sizeof(said));
	assert_string_equal(said, "list->value = 11, number = -5, grid[first.value - 10][0] = 5, first.value = 11, "
			    "real_value = 2.5, nothing->value = (none)");
	expr_free(e);
}

/* Whatever the text: an expression or a message. */
static void test_garbage(void **state)
{
	static const char *const words[] = { "number", "list", "->", ".", "value", "[", "]", "(", ")", "*", "&", "!", "-",
		"+", "<<", "==", "&&", "||", "?", ":", "1", "2.5", "'a'", "'", "\\", "grid", "first", " ", "~", "%", "next" };
	char text[200], err[512];

	srand(1);
	for (int i = 0; i < 20000; i++) {
		struct expr *e;

		text[0] = err[0] = 0;
		for (int n = rand() % 14; n > 0; n--)
			strcat(text, words[rand() % (sizeof(words) / sizeof(words[0]))]);
		e = expr_parse(text, err, sizeof(err));
		if (e && !expr_resolve(e, &file, 1, err, sizeof(err)))
			expr_test(e, &memory);
		else
			assert_true(err[0]);
		expr_free(e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values), cmocka_unit_test(test_long_texts), cmocka_unit_test(test_no_value),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_said), cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
