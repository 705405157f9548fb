// SPDX-License-Identifier: GPL-2.0-only
/* test_names.c - names of symbols as the source has them, and in brief */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "compiled.h"
#include "symbols/sym_internal.h"

static void demangling(void **state)
{
	static const char *const pairs[][2] = {
		{ "main", NULL },
		{ "_ZN4bank8transferEii", "bank::transfer(int, int)" },
		{ "_ZN1t4bank8transfer17h2bce3bffa69c8dd3E", "t::bank::transfer" },
		{ "_ZN49_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$Drop$GT$4drop17h2bce3bffa69c8dd3E",
		  "<alloc::vec::Vec<T> as Drop>::drop" },
		{ "_RNvNtNtCsfEOYDRpO4Ta_11miniz_oxide7inflate4core8transfer",
		  "miniz_oxide::inflate::core::transfer" },
		{ "_RNvC6_123foo3bar", "123foo::bar" },
		{ "_RNCNvC1a4main0B3_", "a::main::{closure#0}" },
		{ "_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>" },
		{ "_RNvMs_NtC5crate3modNtB4_4Type3new", "<crate::mod::Type>::new" },
		{ "_RNvXC1aNtB2_1SNtB2_1T1f", "<a::S as a::T>::f" },
		{ "_RINvC1a1fKj2a_E", "a::f::<42>" },
		{ "_RINvC1a1fTRlQAhj4_FUKCjEuEE",
		  "a::f::<(&i32, &mut [u8; 4], unsafe extern \"C\" fn(usize))>" },
		{ "_RNvNtNtCsjrHSEGnQ3l9_3std9panicking11panic_count18GLOBAL_PANIC_COUNT",
		  "std::panicking::panic_count::GLOBAL_PANIC_COUNT" },
		{ "_RINvC1a1fB9999_E", NULL },
		{ "_R", NULL }, { "_RNv", NULL }, { "_RNvC99999999999999999999a", NULL },
		{ "_ZZZZ", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		char *s = symbols_demangle(pairs[i][0]);

		if (!s != !pairs[i][1] || (s && strcmp(s, pairs[i][1])))
			print_message("%s: '%s'\n", pairs[i][0], s ? s : "NULL");
		assert_true(!s == !pairs[i][1]);
		if (s)
			assert_string_equal(s, pairs[i][1]);
		free(s);
	}
}

/* What a name is looked for by, before all names are demangled: it is in the mangled one, too. */
static bool has_its_part(const char *mangled, const char *pattern)
{
	const char *part = NULL;
	size_t len = sym_literal_part(pattern, &part);

	if (len && !memmem(mangled, strlen(mangled), part, len)) {
		print_message("%s: '%s' has '%.*s'\n", mangled, pattern, (int)len, part);
		return false;
	}
	return len;
}

static int compare_part(const struct symdef *d, void *arg)
{
	const char *part, *name = d->demangled ? d->demangled : d->name;
	char *brief = sym_short_name(name);
	size_t *nr = arg;

	assert_non_null(brief);
	nr[0]++;
	nr[1] += has_its_part(d->name, brief);
	nr[2] += !!sym_literal_part(brief, &part);
	free(brief);
	return 0;
}

static void parts_of_mangled_names(void **state)
{
	char path[PATH_MAX];
	size_t nr[3] = { 0 };
	const char *part;
	FILE *p = popen("${CXX:-c++} -print-file-name=libstdc++.so.6", "re");

	(void)state;
	assert_non_null(p);
	assert_non_null(fgets(path, sizeof(path), p));
	path[strcspn(path, "\n")] = '\0';
	pclose(p);
	symfile_find(compiled_open(path), "*", compare_part, nr);
	assert_true(nr[0] > 3000 && nr[1] > 500);
	assert_int_equal(nr[1], nr[2]);
	assert_true(has_its_part("_ZN18InterpreterRuntime12monitorenterEP10JavaThread", "InterpreterRuntime::monitor*"));
	assert_true(has_its_part("_ZNSs6appendEPKc", "std::string::append"));
	assert_true(has_its_part("_RNvNtNtCsfEOYDRpO4Ta_11miniz_oxide7inflate4core8transfer", "miniz_oxide::*::transfer"));
	assert_int_equal(sym_literal_part("bank::twice<int>", &part), 0);
	assert_int_equal(sym_literal_part("main.(*account).get", &part), 0);
	assert_int_equal(sym_literal_part("std::operator==", &part), 0);
	assert_int_equal(sym_literal_part("*", &part), 0);
}

static void brief_names(void **state)
{
	static const char *const pairs[][2] = {
		{ "main", "main" },
		{ "bank::transfer(int, std::vector<int>)", "bank::transfer" },
		{ "void std::__invoke_impl<void, void (Work::*)(int, char const*), Work*>(int)", "std::__invoke_impl<...>" },
		{ "std::remove_volatile<int>::type std::__atomic_impl::load<int>(int const*)", "std::__atomic_impl::load<int>" },
		{ "decltype ((forward<int>)({parm#1})) std::get<1ul, std::__cxx11::basic_string<char> >(x)", "std::get<...>" },
		{ "std::map<std::string, int>::find(std::string const&) const", "std::map<std::string, int>::find" },
		{ "A<std::vector<std::pair<long, long> > >::B<int>::f()", "A<...>::B<int>::f" },
		{ "bool std::operator== <char, std::char_traits<char>, std::allocator<char> >(x)", "std::operator== <...>" },
		{ "main::{lambda()#1}::operator()() const", "main::{lambda()#1}::operator()" },
		{ "f(int, char)::{lambda(int)#1}::operator()(int) const", "f::{lambda(int)#1}::operator()" },
		{ "A::f(int) const::{lambda()#1}::operator()<int>(int)", "A::f::{lambda()#1}::operator()<int>" },
		{ "Stack::operator bool() const", "Stack::operator bool" },
		{ "operator new(unsigned long)", "operator new" },
		{ "A::operator->()", "A::operator->" },
		{ "(anonymous namespace)::count(int)", "(anon)::count" },
		{ "_State_impl<std::thread::_Invoker<std::tuple<main()::<lambda()> > > >", "_State_impl<...>" },
		{ "<std::sys::sync::condvar::futex::Condvar>::wait", "<std::sys::sync::condvar::futex::Condvar>::wait" },
		{ "core::sync::atomic::atomic_add::<u32, u32>", "core::sync::atomic::atomic_add::<u32, u32>" },
		{ "t::main::{{closure}}::{{closure}}", "t::main::{{closure}}::{{closure}}" },
		{ "sync.(*Mutex).Lock", "sync.(*Mutex).Lock" },
		{ "my lib.so+0x10", "my lib.so+0x10" },
		{ "f<(", "f<(" }, { "f(", "f" }, { "", "" },
		/* brackets that do not match: the last blank is among the arguments that are left out */
		{ "a<bbbbbbbbbbbbbbbb} {cccccccccccccccccccccccc>x(", ">x" },
	};
	char buf[256];

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		symbols_brief(pairs[i][0], buf, sizeof(buf));
		assert_string_equal(buf, pairs[i][1]);
		for (size_t len = 0; len < sizeof(buf); len++) {
			char *small = malloc(len + 1);

			memset(small, 'x', len + 1);
			symbols_brief(pairs[i][0], small, len);
			assert_true(!len || strlen(small) < len);
			assert_int_equal(small[len], 'x');
			free(small);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(demangling),
		cmocka_unit_test(parts_of_mangled_names),
		cmocka_unit_test(brief_names),
	};

	return cmocka_run_group_tests(tests, compiled_begin, compiled_end);
}
