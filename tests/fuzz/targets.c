// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <json-c/json.h>
#include "campaign/options.h"
#include "campaign/options_trace.h"
#include "campaign/run_options.h"
#include "engine/script.h"
#include "cli/cases.h"
#include "debug/rsp.h"
#include "probes/code_internal.h"
#include "report/record.h"
#include "search/rules.h"
#include "search/search.h"
#include "symbols/expr.h"
#include "symbols/sym_internal.h"
#include "symbols/symbols.h"
#include "targets.h"
#include "zugd/protocol.h"

/* The bytes as a string of their own, so that a sanitizer sees where it ends. */
static char *string(const uint8_t *data, size_t len)
{
	char *s = malloc(len + 1);

	if (!s)
		abort();
	memcpy(s, data, len);
	s[len] = 0;
	return s;
}

/* An error is one line. */
static void one_line(const char *err)
{
	if (!err[0] || strchr(err, '\n'))
		abort();
}

/* The bytes as a file; its path. */
struct file {
	int fd;
	char path[40];
};

static struct file file(const uint8_t *data, size_t len)
{
	struct file f = { .fd = memfd_create("fuzz", MFD_CLOEXEC) };

	if (f.fd < 0 || (len && write(f.fd, data, len) != (ssize_t)len))
		abort();
	snprintf(f.path, sizeof(f.path), "/proc/self/fd/%d", f.fd);
	return f;
}

static FILE *nowhere(void)
{
	FILE *f = fopen("/dev/null", "w");

	if (!f)
		abort();
	return f;
}

static void use_rules(const uint8_t *data, size_t len)
{
	char *text = string(data, len), err[512] = "";
	struct rules *r = rules_parse(text, len & 1 ? "file" : NULL, NULL, err, sizeof(err));

	if (!r)
		one_line(err);
	rules_free(r);
	free(text);
}

static void use_script(const uint8_t *data, size_t len)
{
	struct file f = file(data, len);
	struct script s = { 0 };
	char err[1024] = "";

	if (script_load(&s, f.path, &run_options_script, err, sizeof(err)))
		one_line(err);
	script_free(&s);
	close(f.fd);
}

static void use_expression(const uint8_t *data, size_t len)
{
	char *text = string(data, len), err[512] = "";
	struct expr *e = expr_parse(text, err, sizeof(err));

	if (!e)
		one_line(err);
	else
		expr_resolve(e, NULL, 0, err, sizeof(err));
	expr_free(e);
	free(text);
}

static void use_record(const uint8_t *data, size_t len)
{
	struct file f = file(data, len);
	char err[512] = "";
	struct campaign_record *c = record_read(f.path, err, sizeof(err));
	FILE *null = nowhere();

	record_is_one(f.path);
	if (!c) {
		one_line(err);
	} else {
		record_text(null, c);
		record_json(null, c);
		record_html(null, c);
	}
	record_free(c);
	fclose(null);
	close(f.fd);
}

static void use_options(const uint8_t *data, size_t len)
{
	char *text = string(data, len), err[512] = "";
	const struct trace_header h = { .argv = (char *[]){ "x", NULL }, .cwd = "/", .envp = (char *[]){ NULL },
					.options = text };
	struct campaign_holder *holder = NULL;
	struct campaign_options o;

	if (campaign_options_from_header(&o, &h, &holder, err, sizeof(err)))
		one_line(err);
	campaign_options_free(holder);
	free(text);
}

static void use_protocol(const uint8_t *data, size_t len)
{
	struct protocol_reader r = { 0 };
	struct json_object *m;
	int fd[2], ret, nr;

	if (len > 65536 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd))
		return;
	if (len && write(fd[0], data, len) != (ssize_t)len)
		abort();
	close(fd[0]);
	while ((ret = protocol_read(&r, fd[1], &m)) == 1 || ret == 0) {
		if (ret && !protocol_wrong(m, len % 4) && protocol_text(m, "cwd")) {
			const char *what = protocol_text(m, "request");
			char **args = protocol_list(m, "args", &nr);

			/* these two have no arguments */
			if (strcmp(what, "stop") && strcmp(what, "status") && (!args || args[nr]))
				abort();
			free(args);
		}
		json_object_put(m);
	}
	protocol_reader_free(&r);
	close(fd[1]);
}

static void use_rsp(const uint8_t *data, size_t len)
{
	static struct rsp r;
	static char text[RSP_MAX + 1];
	uint8_t bytes[64];
	const char *at;
	uint64_t n;
	int fd[2];
	size_t got;

	if (len > 65536 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd))
		return;
	if (len && write(fd[0], data, len) != (ssize_t)len)
		abort();
	shutdown(fd[0], SHUT_WR);
	r.fd = fd[1];
	r.len = 0;
	r.no_ack = len & 1;
	for (int i = 0; i < 10000; i++) {
		int ret = rsp_read(&r, text, &got, 0);

		if (ret < 0)
			break;
		if (ret != RSP_PACKET)
			continue;
		if (got > RSP_MAX || text[got])
			abort();
		at = text;
		rsp_number(&at, &n);
		if (got <= 2 * sizeof(bytes))
			rsp_unhex(bytes, text, got < 2 * sizeof(bytes) ? got : 2 * sizeof(bytes));
	}
	close(fd[0]);
	close(fd[1]);
}

static void use_cases(const uint8_t *data, size_t len)
{
	char *text = string(data, len), *argv[] = { (char *)"x", NULL };

	for (int i = 0; i < CASES_NR; i++) {
		struct case_list l = { 0 };

		if (!cases_parse(&l, i, text, len % 3))
			for (size_t k = 0; k < l.nr; k++)
				cases_free_command(cases_command(&l, k, argv));
		cases_free(&l);
	}
	free(text);
}

static void use_names(const uint8_t *data, size_t len)
{
	char *text = string(data, len), *demangled = symbols_demangle(text), *brief = sym_short_name(text);
	char shown[64];

	symbols_brief(text, shown, sizeof(shown));
	if (demangled)
		symbols_brief(demangled, shown, sizeof(shown));
	free(brief);
	brief = demangled ? sym_short_name(demangled) : NULL;
	free(brief);
	free(demangled);
	free(text);
}

static int count(const struct symdef *d, void *arg)
{
	return ++*(int *)arg > 1000;
}

static void use_elf(const uint8_t *data, size_t len)
{
	static const char *const names[] = { "main", "pthread_mutex_lock" };
	struct file f = file(data, len);
	struct symbols *s = symbols_new();
	struct trace_frame frames[16];
	char err[1024] = "", name[256];
	struct symfile *elf;
	uint64_t vaddr, size;
	bool takes[2] = { false };
	int nr = 0;

	if (!s)
		abort();
	elf = symbols_file(s, "/fuzz", f.path, err, sizeof(err));
	if (!elf) {
		one_line(err);
	} else {
		symfile_find(elf, "*", count, &nr);
		symfile_imports(elf, names, 2, takes);
		symfile_nearest(elf, "mian", true, name, sizeof(name));
		symfile_variable(elf, "counter.x[1]", &vaddr, &size, err, sizeof(err));
		symfile_library(elf);
		symfile_libc(elf);
		for (uint64_t at = 0; at < len && at < 65536; at += 97) {
			struct symfile_step step;

			symfile_frames(elf, at, frames, 16);
			symfile_data_name(elf, at, name, sizeof(name));
			symfile_step(elf, at, &step);
			symfile_says_atomic(elf, at);
			symfile_pointee_name(elf, at, 3, 8, name, sizeof(name));
		}
	}
	symbols_free(s);
	close(f.fd);
}

/* The bytes as a file of the cache: its header's numbers and checksum are made to fit, or all would end there. */
static void use_catalogue(const uint8_t *data, size_t len)
{
	struct code *c = calloc(1, sizeof(*c));
	struct code_cache_header h;
	uint8_t *copy;
	struct file f;
	size_t left;

	if (!c)
		abort();
	copy = malloc(len + 1);
	if (!copy)
		abort();
	memcpy(copy, data, len);
	if (len >= sizeof(h) && copy[0]) {
		memcpy(&h, copy, sizeof(h));
		memcpy(h.magic, CODE_CACHE_MAGIC, sizeof(h.magic));
		h.version = CODE_CACHE_VERSION;
		h.place_size = sizeof(struct code_place);
		h.file_size = 1 << 20;
		left = len - sizeof(h);
		h.nr_places %= left / sizeof(struct code_place) + 1;
		left -= h.nr_places * sizeof(struct code_place);
		h.nr_functions = left / sizeof(struct code_function);
		len -= left % sizeof(struct code_function);
		h.crc = code_cache_checksum(h, copy + sizeof(h), copy + sizeof(h) + h.nr_places * sizeof(struct code_place));
		memcpy(copy, &h, sizeof(h));
	}
	f = file(copy, len);
	lseek(f.fd, 0, SEEK_SET);
	if (!code_cache_take(c, f.fd, 1 << 20))
		for (uint32_t i = 0; i < code_nr(c); i++) {
			const struct code_place *p = code_at(c, i);

			if (code_find(c, p->offset) != p)
				abort();
			code_function(c, p->offset + p->len);
		}
	free(copy);
	code_free(c);
	close(f.fd);
}

static void use_state(const uint8_t *data, size_t len)
{
	const struct search_options o = { .strategy = len & 1 ? "pct" : NULL, .seed = 1, .preemptions = -1 };
	char err[256];
	struct search *s = search_new(&o, err, sizeof(err));

	if (!s)
		abort();
	search_load(s, data, len);
	search_free(s);
}

const struct fuzz_target fuzz_targets[] = {
	{ "rules", use_rules, { "hold T1 at lock on m until T2 at unlock nth 3", "tactic yield 0.5 while T0 in main",
				"before T1 at data-write on \"x y\" run T2 until nth 5e67", "strict", NULL } },
	{ "script", use_script, { "# zug script\noption cpus 2\nT1 child 0 of T0\nbefore T1 at lock run T2 until T2 at unlock\n",
				  "option races\noption max-steps 10\nend\n", NULL } },
	{ "expression", use_expression, { "a.b->c[3] == 'x' && (d ? 1.5e3 : -0x7f) << 2", "!*&p % sizeof_", "\"m.cc\"::x >= 1", NULL } },
	{ "record", use_record, { "{\"record\":\"zugzwang campaign\",\"version\":1,\"argv\":[\"a\"],\"cwd\":\"/\",\"strategy\":\"pct\",\"seed\":1,"
				  "\"kernel\":\"\",\"zug_version\":\"\",\"executions\":5,\"time_ms\":0,\"start\":1}\n"
				  "{\"n\":1,\"at\":2,\"steps\":3,\"schedules\":1,\"distinct\":1,\"bound\":null,\"bound_done\":null,"
				  "\"chance\":0.5,\"by\":{\"pct\":[1,2,3]},\"preemptions\":[1,2]}\n"
				  "{\"end\":\"done\",\"n\":1,\"at\":2,\"findings\":0,\"bound_done\":null}\n", NULL } },
	{ "options", use_options, { "{\"points\":[\"sync\"],\"cpus\":2,\"watches\":[\"x\"],\"timeout_ns\":5,\"world\":[\"files\"]}",
				    "{\"data\":[\"/x+0x10 data-write 5 3\"],\"races\":[\"1f\"],\"seed\":-1}", NULL } },
	{ "protocol", use_protocol, { "{\"v\":1,\"request\":\"exec\",\"args\":[\"--\",\"a\"],\"env\":[\"A=1\"],\"cwd\":\"/\"}\n{\"v\":1}\n", NULL } },
	{ "rsp", use_rsp, { "$qSupported:multiprocess+#c6", "+$m7ffe0010,40#fd\003$X10,3:}\002ab#00", "$vCont;c:p1.-1#0f", NULL } },
	{ "cases", use_cases, { "Suite.\n  One\n  Two/0  # GetParam() = 3\n", "All available test cases:\n  a case\n      [tag]\n1 test case\n",
				"tests::one: test\nbench::b: benchmark\n\n1 test, 1 benchmark\n", NULL } },
	{ "names", use_names, { "_ZN4bank8transferEii", "_RINvC1a1fKj2a_E", "_RNvMs_NtC5crate3modNtB4_4Type3new",
				"_ZSt4moveIRSt6vectorIiSaIiEEEONSt16remove_referenceIT_E4typeEOS5_", ">a(b)", "operator()(int)", NULL } },
	{ "elf", use_elf, { NULL } },
	{ "catalogue", use_catalogue, { NULL } },
	{ "state", use_state, { NULL } },
	{ 0 },
};
