// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <json-c/json.h>
#include <zlib.h>
#include "campaign/campaign_internal.h"
#include "campaign/options.h"
#include "campaign/options_trace.h"
#include "campaign/run_options.h"
#include "engine/script.h"
#include "cli/cases.h"
#include "debug/rsp.h"
#include "probes/code_internal.h"
#include "report/merge.h"
#include "report/plan.h"
#include "report/record.h"
#include "report/shard.h"
#include "search/rules.h"
#include "search/search.h"
#include "symbols/expr.h"
#include "symbols/sym_dash.h"
#include "symbols/sym_internal.h"
#include "symbols/sym_java.h"
#include "symbols/sym_python.h"
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

/* The bytes as code whose first instruction refers to the text, as a command line with a line for each argument, and a script. */
static void use_dash(const uint8_t *data, size_t len)
{
	char *text = string(data, len), *code = malloc(len + 1);
	const char *script;
	struct symfile_dash d = { 0 };
	int32_t by = 0;

	if (!code)
		abort();
	/* exactly so long, so that a sanitizer sees where it ends */
	code = realloc(code, len ? len : 1);
	memcpy(code, data, len);
	if (len >= 7)
		memcpy(&by, data + 3, sizeof(by));
	sym_dash_find((const uint8_t *)code, len, 0x4000, 0x4000 + 7 + by, &d);
	if (len < 7 && (d.line || d.name))
		abort();
	sym_dash_reads_others(text);
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\n')
			text[i] = 0;
	script = len ? sym_dash_script(text, len) : NULL;
	if (script && (script <= text || script >= text + len))
		abort();
	free(code);
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

/* The bytes as frames of the cache, made to fit in the same way. */
static void use_frames(const uint8_t *data, size_t len)
{
	struct symfile f = { .debug_fd = -1 };
	struct sym_kept_header h;
	uint8_t *copy = malloc(len + 1);
	struct file in;
	size_t left;

	if (!copy)
		abort();
	memcpy(copy, data, len);
	if (len > sizeof(h) && copy[0]) {
		memcpy(&h, copy, sizeof(h));
		memcpy(h.magic, SYM_KEPT_MAGIC, sizeof(h.magic));
		h.version = SYM_KEPT_VERSION;
		left = len - sizeof(h);
		h.nr %= (left - 1) / sizeof(struct sym_kept_frame) + 1;
		h.names = left - h.nr * sizeof(struct sym_kept_frame);
		copy[len - 1] = 0;
		h.crc = sym_kept_checksum(h, copy + sizeof(h));
		memcpy(copy, &h, sizeof(h));
	}
	in = file(copy, len);
	lseek(in.fd, 0, SEEK_SET);
	sym_kept_take(&f, in.fd);
	for (uint32_t i = 0; i < f.nr_frames; i++)
		for (int j = 0; j < f.frames[i].nr; j++) {
			const struct trace_frame *t = &f.frames[i].frames[j];

			if ((t->function && strlen(t->function) > len) || (t->file && strlen(t->file) > len))
				abort();
		}
	sym_lines_free(&f);
	free(copy);
	close(in.fd);
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

/* The bytes as a file of --resume, whose checksum, and the length of the search's part, are made to fit. */
static void use_resume(const uint8_t *data, size_t len)
{
	const struct search_options o = { .strategy = "pct", .seed = 1, .preemptions = -1 };
	struct campaign *c = calloc(1, sizeof(*c));
	char err[512] = "", *copy = string(data, len);
	struct file f;
	uint32_t crc;

	if (!c)
		abort();
	c->s.search = search_new(&o, err, sizeof(err));
	if (!c->s.search)
		abort();
	/* what it begins with */
	if (len >= 16 && copy[0])
		memcpy(copy, "zugstate\3\0\0", 12);
	if (len >= sizeof(crc)) {
		crc = crc32(0, (const Bytef *)copy, len - sizeof(crc));
		memcpy(copy + len - sizeof(crc), &crc, sizeof(crc));
	}
	f = file((const uint8_t *)copy, len);
	c->s.o.search.resume = f.path;
	if (campaign_load_state(c, err, sizeof(err)))
		one_line(err);
	failures_release(&c->failures);
	failures_release(&c->once);
	spawn_free(&c->s.spawn);
	search_free(c->s.search);
	free(c);
	free(copy);
	close(f.fd);
}

/* The bytes as the log of a shard, and what `zug merge` makes of it. */
static void use_shard(const uint8_t *data, size_t len)
{
	static char dir[] = "/dev/shm/zug-fuzz-XXXXXX", path[sizeof(dir) + 4];
	char *dirs[] = { dir, NULL }, err[1024] = "";
	FILE *null = nowhere(), *log;
	struct merge m = { 0 };

	if (!path[0] && !mkdtemp(dir))
		abort();
	snprintf(path, sizeof(path), "%s/log", dir);
	log = fopen(path, "w");
	if (!log || fwrite(data, 1, len, log) != len || fclose(log))
		abort();
	if (merge_read(&m, dirs, 1, err, sizeof(err))) {
		if (!err[0])
			abort();
	} else {
		merge_text(null, &m);
		merge_json(null, &m);
	}
	merge_release(&m);
	fclose(null);
	unlink(path);
}

static void use_plan(const uint8_t *data, size_t len)
{
	struct file f = file(data, len);
	char err[512] = "";
	struct plan *p = plan_read(f.path, err, sizeof(err));

	if (!p)
		one_line(err);
	plan_free(p);
	close(f.fd);
}

enum { PYTHON = 0x10000000, PYTHON_ROOM = 4096 };

/* The memory of an interpreter of Python 3.11, which executes abc(). */
static void python_memory(uint8_t *memory)
{
	static const struct {
		uint16_t at;
		uint64_t value;
	} words[] = {
		{ 8, 0x030b0000 }, { 40, PYTHON + 0x100 },				/* the runtime */
		{ 0x100 + 16, PYTHON + 0x200 },						/* an interpreter */
		{ 0x200 + 152, 0x1004 }, { 0x200 + 56, PYTHON + 0x300 },			/* its thread */
		{ 0x300 + 8, PYTHON + 0x400 },						/* the frame of C */
		{ 0x400 + 32, PYTHON + 0x500 }, { 0x400 + 56, PYTHON + 0x500 + 188 },	/* its own frame */
		{ 0x500 + 8, 0x1001 }, { 0x500 + 72, 5 }, { 0x500 + 112, PYTHON + 0x600 },	/* the code */
		{ 0x500 + 128, PYTHON + 0x600 }, { 0x500 + 136, PYTHON + 0x700 },
		{ 0x600 + 8, 0x1002 }, { 0x600 + 16, 3 }, { 0x600 + 32, 0x64 }, { 0x600 + 48, 0x636261 },	/* "abc" */
		{ 0x700 + 8, 0x1003 }, { 0x700 + 16, 8 }, { 0x700 + 32, 0x4201e80002f10001 },	/* its lines */
	};

	memset(memory, 0, PYTHON_ROOM);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		memcpy(memory + words[i].at, &words[i].value, sizeof(words[i].value));
}

/* Each three bytes as an address and a byte that stands there, in the memory of an interpreter that is else well. */
static void use_python(const uint8_t *data, size_t len)
{
	static uint8_t *memory;
	struct symfile f = { .python_sought = true, .python = { .runtime = PYTHON, .runtime_size = 4096, .version = PYTHON + 8,
			     .code = 0x1001, .text = 0x1002, .bytes = 0x1003 } };
	struct interpreted_frame frames[16];
	struct sym_string *strings = NULL;
	int nr;

	if (!memory)
		memory = mmap((void *)(uintptr_t)PYTHON, PYTHON_ROOM, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (memory == MAP_FAILED)
		abort();
	python_memory(memory);
	for (size_t i = 0; i + 3 <= len; i += 3)
		memory[(data[i] << 8 | data[i + 1]) % PYTHON_ROOM] = data[i + 2];
	nr = sym_python_frames(&f, &strings, getpid(), 0, 0x1004, frames, 16);
	if (nr > 16 || (!len && (nr != 1 || strcmp(frames[0].frame.function, "abc"))))
		abort();
	for (int i = 0; i < nr; i++)
		if (!frames[i].frame.function || !frames[i].frame.file)
			abort();
	sym_strings_free(strings);
	sym_python_free(&f);
}

static void use_lines(const uint8_t *data, size_t len)
{
	int32_t first = 0;

	if (len < sizeof(first))
		return;
	memcpy(&first, data, sizeof(first));
	for (int64_t at = 0; at < (int64_t)len * 2; at += 7)
		if (sym_python_line(data + sizeof(first), len - sizeof(first), first, at) < -1)
			abort();
}

static void use_class(void *arg, const char *name, size_t len)
{
	uint32_t *sum = arg;

	for (size_t i = 0; i < len; i++)
		*sum += (uint8_t)name[i];
}

/* The directory of a jar with two files, one of which is a class; data is what is written over it, as place and byte. */
static void use_jar(const uint8_t *data, size_t len)
{
	static const char names[2][8] = { "a/README", "Ab.class" };
	uint8_t directory[2 * 54] = { 0 };
	uint32_t sum = 0;
	int nr;

	for (int i = 0; i < 2; i++) {
		memcpy(directory + 54 * i, "PK\1\2", 4);
		directory[54 * i + 28] = 8;
		memcpy(directory + 54 * i + 46, names[i], 8);
	}
	for (size_t i = 0; i + 2 <= len; i += 2)
		directory[data[i] % sizeof(directory)] = data[i + 1];
	nr = sym_java_jar_classes(directory, sizeof(directory), use_class, &sum);
	if (nr > 2 || (!len && (nr != 1 || sum != 'A' + 'b')))
		abort();
}

const struct fuzz_target fuzz_targets[] = {
	{ "rules", use_rules, { "hold T1 at lock on m until T2 at unlock nth 3", "tactic yield 0.5 while T0 in main",
				"before T1 at data-write on \"x y\" run T2 until nth 5e67", "strict", NULL } },
	{ "script", use_script, { "# zug script\noption cpus 2\nT1 child 0 of T0\nbefore T1 at lock run T2 until T2 at unlock\n",
				  "option races\noption max-steps 10\nend\n", NULL } },
	{ "expression", use_expression, { "a.b->c[3] == 'x' && (d ? 1.5e3 : -0x7f) << 2", "!*&p % sizeof_", "\"m.cc\"::x >= 1",
					  NULL } },
	{ "record", use_record,
	  { "{\"record\":\"zugzwang campaign\",\"version\":1,\"argv\":[\"a\"],\"cwd\":\"/\",\"strategy\":\"pct\",\"seed\":1,"
				  "\"kernel\":\"\",\"zug_version\":\"\",\"executions\":5,\"time_ms\":0,\"start\":1}\n"
				  "{\"n\":1,\"at\":2,\"steps\":3,\"schedules\":1,\"distinct\":1,\"bound\":null,\"bound_done\":null,"
				  "\"chance\":0.5,\"by\":{\"pct\":[1,2,3]},\"preemptions\":[1,2]}\n"
				  "{\"end\":\"done\",\"n\":1,\"at\":2,\"findings\":0,\"bound_done\":null}\n", NULL } },
	{ "options", use_options, { "{\"points\":[\"sync\"],\"cpus\":2,\"watches\":[\"x\"],\"timeout_ns\":5,\"world\":[\"files\"]}",
				    "{\"data\":[\"/x+0x10 data-write 5 3\"],\"races\":[\"1f\"],\"seed\":-1}", NULL } },
	{ "protocol", use_protocol,
	  { "{\"v\":1,\"request\":\"exec\",\"args\":[\"--\",\"a\"],\"env\":[\"A=1\"],\"cwd\":\"/\"}\n{\"v\":1}\n", NULL } },
	{ "rsp", use_rsp, { "$qSupported:multiprocess+#c6", "+$m7ffe0010,40#fd\003$X10,3:}\002ab#00", "$vCont;c:p1.-1#0f", NULL } },
	{ "cases", use_cases, { "Suite.\n  One\n  Two/0  # GetParam() = 3\n",
				"All available test cases:\n  a case\n      [tag]\n1 test case\n",
				"tests::one: test\nbench::b: benchmark\n\n1 test, 1 benchmark\n", NULL } },
	{ "names", use_names, { "_ZN4bank8transferEii", "_RINvC1a1fKj2a_E", "_RNvMs_NtC5crate3modNtB4_4Type3new",
				"_ZSt4moveIRSt6vectorIiSaIiEEEONSt16remove_referenceIT_E4typeEOS5_", ">a(b)", "operator()(int)", NULL } },
	{ "elf", use_elf, { NULL } },
	{ "catalogue", use_catalogue, { NULL } },
	{ "frames", use_frames, { NULL } },
	{ "state", use_state, { NULL } },
	{ "resume", use_resume,
	  { "zugstate\003 and so on, with some tasks and failures of the search that come here, and its state", NULL } },
	{ "shard", use_shard, { "{\"shard\":\"zugzwang shard\",\"version\":1,\"k\":1,\"n\":2,\"options\":{}}\n"
				"{\"x\":[-1,0,1,\"p\",\"1f\",\"2\",\"0\",5,1,100]}\n"
				"{\"finding\":\"1f\",\"part\":0,\"bound\":0,\"n\":1,\"number\":1,\"kind\":\"deadlock\","
				"\"message\":\"m\",\"trace\":\"t\"}\n"
				"{\"done\":1,\"bound\":2,\"cut\":false,\"incomplete\":false}\n{\"end\":\"done\",\"complete\":true}\n", NULL } },
	{ "plan", use_plan, { "{\"plan\":\"zugzwang plan\",\"version\":1,\"cut\":true,\"subtrees\":[{\"choices\":[1,2],\"cost\":1,\"size\":0.5}]}\n", NULL } },
	{ "python", use_python, { "", "\004\060\001", NULL } },
	{ "dash", use_dash, { "\x48\x8d\x05\x10\x20\x01\x01\x48\x8b\x15\x20\x20\x01\x01\x8b\x0d\x30\x20\x01\x01",
			      "sh\n-e\n-o\nnoclobber\nask.sh\n-c\n", "sh\n--\nask.sh", "read -r x\nif false; then . ./other.sh; fi\n", NULL } },
	{ "lines", use_lines, { "\001\001\001\001\360\001\350\102", NULL } },
	{ "jar", use_jar, { "", "\034\030", "\040\010\123\377", NULL } },
	{ 0 },
};
