/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * report_goroutines.c - what each goroutine waits for, or did last, as Go's runtime has told on the error output
 *
 * The tasks of a Go program are threads of its runtime. A goroutine that waits has no thread, so the stacks of the tasks do
 * not show it. But where the runtime ends the program (all goroutines are asleep; a panic), or zug asks it by SIGQUIT, because
 * the program hangs, it prints the goroutines:
 *
 *	goroutine 18 [semacquire]:
 *	sync.(*Mutex).Lock(...)
 *		/usr/lib/go-1.19/src/sync/mutex.go:90
 *	main.(*store).get(0xc000090000)
 *		/home/me/store/store.go:53 +0xfb
 *	created by main.main
 *		/home/me/store/main.go:67 +0x26d
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "report/report_internal.h"
#include "symbols/symbols.h"

/* So many are told. */
#define GOROUTINES_MAX 12

struct goroutine {
	unsigned long number;
	char state[64];		/* "chan receive" */
	char library[200];	/* the library's function that its own one has called; "": none */
	char function[400], file[500];
	unsigned int line;	/* 0: no function of the program's is known */
};

/* "goroutine 18 [chan receive, 2 minutes]:"; false: that is no such line. */
static bool is_header(const char *line, struct goroutine *g)
{
	char *end;
	size_t n;

	if (strncmp(line, "goroutine ", 10) || !isdigit((unsigned char)line[10]))
		return false;
	*g = (struct goroutine){ .number = strtoul(line + 10, &end, 10) };
	/* from 1.22 on some have more numbers here: "goroutine 18 gp=0xc000007a40 m=nil [chan receive]:" */
	end += strcspn(end, "[\n");
	n = *end == '[' ? strcspn(end + 1, "],\n") : 0;
	if (!n)
		return false;
	snprintf(g->state, sizeof(g->state), "%.*s", (int)n, end + 1);
	return true;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

/* A function's line, without its arguments: "main.(*store).get" of "main.(*store).get(0xc000090000)". */
static int name_length(const char *line)
{
	int n = strcspn(line, "\n"), depth = 0;

	for (int i = n; i-- > 0;) {
		depth += line[i] == ')' ? 1 : line[i] == '(' ? -1 : 0;
		if (!depth)
			return line[i] == '(' ? i : n;
	}
	return n;
}

/*
 * Reads the frames of one, innermost first, until one is the program's own. They end before an empty line. Returns the line
 * behind what was read.
 */
static const char *read_frames(const char *line, struct goroutine *g)
{
	while (*line && *line != '\n' && strncmp(line, "goroutine ", 10)) {
		const char *at = next_line(line), *colon;
		int length = name_length(line);

		if (*at != '\t')
			return at;
		colon = memrchr(at, ':', strcspn(at, "\n"));
		if (!g->line && colon && isdigit((unsigned char)colon[1]) && strncmp(line, "created by ", 11)) {
			snprintf(g->file, sizeof(g->file), "%.*s", (int)(colon - at - 1), at + 1);
			if (!symbols_of_library(g->file)) {
				snprintf(g->function, sizeof(g->function), "%.*s", length, line);
				g->line = strtoul(colon + 1, NULL, 10);
			} else if (strncmp(line, "runtime.", 8)) {
				/* of the runtime's own ones the state tells more */
				snprintf(g->library, sizeof(g->library), "%.*s", length, line);
			}
		}
		line = next_line(at);
	}
	return line;
}

static void put_goroutine(struct report *r, const struct goroutine *g)
{
	struct trace_frame frame = { .function = g->function, .file = g->file, .line = g->line };
	char place[600], state[100], library[256];
	bool runs = !strcmp(g->state, "running"), could = !strcmp(g->state, "runnable");

	report_frame(r, &frame, place, sizeof(place));
	report_clean(state, sizeof(state), g->state);
	report_clean(library, sizeof(library), g->library);
	/* "semacquire" tells less than the function that was called; a channel's operations have none */
	fprintf(r->out, "      goroutine %lu %s%s%s%s  %s\n", g->number, runs ? "runs" : could ? "could run" : "waits: ",
		report_style(r, STYLE_STRONG), runs || could ? "" : *library ? library : state, report_style(r, STYLE_PLAIN), place);
	report_source_line(r, &frame, 8);
}

const char *report_go_dump(const char *text)
{
	static const char word[] = "SIGQUIT: quit\n";
	const char *p = text ? strstr(text, word) : NULL;

	return p && (p == text || p[-1] == '\n') ? p : NULL;
}

/* Where what the runtime tells begins; "": it told nothing. */
static const char *told(const struct trace_outcome *o)
{
	const char *dump = report_go_dump(o->err_tail), *text = o->err_head ? o->err_head : "";

	if (o->kind == ZUG_OUTCOME_EXIT)
		/* these two are the runtime's words, at the begin of a line */
		return !strncmp(text, "fatal error: ", 13) || strstr(text, "\nfatal error: ") || !strncmp(text, "panic: ", 7) ||
		       strstr(text, "\npanic: ") ? text : "";
	dump = dump ? dump : report_go_dump(text);
	return dump ? dump : "";
}

bool report_goroutines(struct report *r)
{
	const struct trace_outcome *o = trace_outcome(r->t);
	const char *line = o ? told(o) : "";
	struct goroutine g;
	unsigned int nr = 0;

	while (*line) {
		bool header = is_header(line, &g);

		line = next_line(line);
		if (!header)
			continue;
		line = read_frames(line, &g);
		if (!g.line)
			continue;
		if (nr++ == GOROUTINES_MAX)
			fputs("      ... and others\n", r->out);
		if (nr > GOROUTINES_MAX)
			continue;
		if (nr == 1)
			fprintf(r->out, "\n%sThe goroutines, where the program %s:%s\n", report_style(r, STYLE_STRONG),
				o->kind == ZUG_OUTCOME_EXIT ? "ends" : "was ended", report_style(r, STYLE_PLAIN));
		put_goroutine(r, &g);
	}
	return nr;
}
