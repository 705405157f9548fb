/* SPDX-License-Identifier: GPL-2.0-only */
/* test_runtimes.c - what is known of a runtime changes: where the search begins, its points, and the command */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "campaign/runtimes.h"
#include "compiled.h"

#define MS	1000000ull

/* As node, of which a distribution has stripped what it does not export. */
static const char node_c[] =
	"void napi_create_function(void) { }\n"
	"void load(void) __asm__(\"_ZN4node15LoadEnvironmentEPNS_11EnvironmentE\");\n"
	"void load(void) { }\n"
	"void post(void) __asm__(\"_ZN4node6worker11MessagePort11PostMessageEv\");\n"
	"void post(void) { }\n"
	"void Builtins_AtomicsLoad(void) { }\n"
	"int main(void) { return 0; }\n";

/* As Java's machine with its launcher. */
static const char java_c[] =
	"void JNI_CreateJavaVM(void) { }\n"
	"void JVM_StartThread(void) { }\n"
	"void jni_CallStaticVoidMethod(void) { }\n"
	"int UseHeavyMonitors;\n"
	"char UsePerfData;\n"
	"int main(void) { return 0; }\n";

static char *no_variables[] = { NULL };

static struct session plain(const char *program, char **argv)
{
	return (struct session){
		.paths.program = (char *)program,
		.o.command = { .argv = argv, .envp = no_variables },
		.o.points = { .sync = true, .atomic = true, .races = true, .syscalls = ZUG_SYS_ALL },
		.o.failure.spin_ns = 100 * MS,
	};
}

static void release(struct session *s)
{
	free(s->launched.with_flags);
	free(s->launched.points);
	for (char **file = s->launched.runtime; *file; file++)
		free(*file);
}

static void assert_list(char *const *list, ...)
{
	const char *want;
	va_list ap;

	va_start(ap, list);
	while ((want = va_arg(ap, const char *))) {
		assert_non_null(*list);
		assert_string_equal(*list++, want);
	}
	va_end(ap);
	assert_null(*list);
}

static int make_node(void **state)
{
	if (compiled_begin(state))
		return -1;
	compiled_make("node.c", node_c, "cc -o node node.c");
	compiled_make("java.c", java_c, "cc -o java java.c");
	return 0;
}

static void node_has_points_in_the_program(void **state)
{
	struct session s = plain(compiled_path("node"), (char *[]){ "node", "x.js", NULL });

	assert_int_equal(session_begin_at_program(&s), 0);
	assert_string_equal(s.o.points.runtime, "node");
	assert_list(s.o.points.from, "node::LoadEnvironment", NULL);
	assert_list(s.o.points.places, "Builtins_AtomicsLoad", "node::worker::MessagePort::PostMessage", NULL);
	assert_int_equal(s.o.points.syscalls, ZUG_SYS_FILE | ZUG_SYS_IPC | ZUG_SYS_POLL);
	assert_true(!s.o.points.sync && !s.o.points.atomic && !s.o.points.races);
	assert_int_equal(s.o.failure.spin_ns, 2000 * MS);
	assert_list(s.o.command.argv, "node", "--single-threaded-gc", "--no-concurrent-recompilation", "--v8-pool-size=1", "x.js",
		    NULL);
	release(&s);
}

static void flags_are_added_once(void **state)
{
	struct session s = plain(compiled_path("node"), (char *[]){ "node", "--v8_pool_size=3", "x.js", NULL });

	s.o.command.envp = (char *[]){ "NODE_OPTIONS=--single-threaded", NULL };
	s.o.failure.spin_ns = 5000 * MS;
	assert_int_equal(session_begin_at_program(&s), 0);
	assert_list(s.o.command.argv, "node", "--no-concurrent-recompilation", "--v8_pool_size=3", "x.js", NULL);
	assert_int_equal(s.o.failure.spin_ns, 5000 * MS);
	release(&s);
	s = plain(compiled_path("node"), (char *[]){ "node", "x.js", NULL });
	s.o.failure.spin_ns = 0;
	assert_int_equal(session_begin_at_program(&s), 0);
	assert_int_equal(s.o.failure.spin_ns, 0);
	release(&s);
}

static void options_have_precedence(void **state)
{
	struct session s = plain(compiled_path("node"), (char *[]){ "node", "x.js", NULL });

	s.o.points.from_start = true;
	assert_int_equal(session_begin_at_program(&s), 0);
	assert_null(s.o.points.from);
	assert_null(s.o.points.places);
	assert_list(s.o.command.argv, "node", "x.js", NULL);
	s.o.points.from_start = false;
	s.o.points.only = (char *[]){ "node", NULL };
	assert_int_equal(session_begin_at_program(&s), 0);
	assert_list(s.o.points.from, "node::LoadEnvironment", NULL);
	assert_true(s.o.points.sync && s.o.points.atomic && s.o.points.races);
	assert_int_equal(s.o.points.syscalls, ZUG_SYS_ALL);
	assert_int_equal(s.o.failure.spin_ns, 100 * MS);
	assert_list(s.o.command.argv, "node", "x.js", NULL);
	release(&s);
}

/* What a script has written down are the runtime's own points; one more is the user's wish. */
static void scripts_name_the_points(void **state)
{
	char *named[] = { "Builtins_AtomicsStore", NULL, NULL };
	struct session s;

	for (int other = 0; other < 2; other++) {
		s = plain(compiled_path("node"), (char *[]){ "node", "x.js", NULL });
		named[1] = other ? "Builtins_ArrayPush" : NULL;
		s.o.points.places = named;
		s.o.points.sync = s.o.points.atomic = false;
		s.o.points.syscalls = ZUG_SYS_FILE | ZUG_SYS_IPC | ZUG_SYS_POLL;
		assert_int_equal(session_begin_at_program(&s), 0);
		assert_int_equal(s.launched.points != NULL, !other);
		assert_int_equal(s.o.command.argv[2] != NULL, !other);
		release(&s);
	}
}

/* Its first line has the flags of the runtime. */
static void scripts_get_no_flags(void **state)
{
	struct session s;
	char line[200];

	snprintf(line, sizeof(line), "#!%s\n", compiled_path("node"));
	compiled_write("script", line, strlen(line));
	s = plain(compiled_path("script"), (char *[]){ "./script", NULL });
	assert_int_equal(session_begin_at_program(&s), 0);
	assert_list(s.o.points.places, "Builtins_AtomicsLoad", "node::worker::MessagePort::PostMessage", NULL);
	assert_list(s.o.command.argv, "./script", NULL);
	release(&s);
}

/* The machine starts threads in Java before it calls the main method: the search begins at one that comes later. */
static void java_begins_at_a_thread(void **state)
{
	struct session s = plain(compiled_path("java"), (char *[]){ "java", "-jar", "x.jar", NULL });

	assert_int_equal(session_begin_at_program(&s), 0);
	assert_string_equal(s.o.points.runtime, "java");
	assert_string_equal(s.o.points.behind, "jni_CallStaticVoidMethod");
	assert_list(s.o.points.from, "JVM_StartThread", "Java_java_lang_ProcessImpl_forkAndExec", NULL);
	assert_list(s.o.command.argv, "java", "-Xint", "-XX:+UseSerialGC", "-XX:+UseHeavyMonitors", "-XX:-UsePerfData", "-jar",
		    "x.jar", NULL);
	release(&s);
	s = plain(compiled_path("java"), (char *[]){ "java", "-XX:+UsePerfData", "-jar", "x.jar", NULL });
	assert_int_equal(session_begin_at_program(&s), 0);
	assert_list(s.o.command.argv, "java", "-Xint", "-XX:+UseSerialGC", "-XX:+UseHeavyMonitors", "-XX:+UsePerfData", "-jar",
		    "x.jar", NULL);
	release(&s);
	s = plain(compiled_path("java"), (char *[]){ "java", "-jar", "x.jar", NULL });
	s.o.points.from = (char *[]){ "JVM_StartThread", NULL };
	assert_int_equal(session_begin_at_program(&s), 0);
	assert_null(s.o.points.behind);
	release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(node_has_points_in_the_program),
		cmocka_unit_test(flags_are_added_once),
		cmocka_unit_test(options_have_precedence),
		cmocka_unit_test(scripts_name_the_points),
		cmocka_unit_test(scripts_get_no_flags),
		cmocka_unit_test(java_begins_at_a_thread),
	};

	return cmocka_run_group_tests_name("runtimes", tests, make_node, compiled_end);
}
