// SPDX-License-Identifier: GPL-2.0-only
/*
 * page.c - expands the templates, whose marks <!--zug:NAME--> stand for title, summary, style,
 * script and data
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "report/page.h"

/* The assembler reports no dependencies: the Makefile lists them. */
#define EMBED(name, file)						\
	__asm__(".pushsection .rodata\n"				\
		".hidden page_" #name "\n.globl page_" #name "\n"	\
		"page_" #name ":\n"					\
		".incbin \"userspace/report/html/" file "\"\n.byte 0\n"	\
		".popsection\n");					\
	extern const char page_##name[]

EMBED(head, "head.html");
EMBED(trace_html, "trace.html");
EMBED(campaign_html, "campaign.html");
EMBED(style, "style.css");
EMBED(common_js, "common.js");
EMBED(model_js, "model.js");
EMBED(draw_js, "draw.js");
EMBED(details_js, "details.js");
EMBED(trace_js, "trace.js");
EMBED(campaign_js, "campaign.js");

static const char *const scripts[][6] = {
	[PAGE_TRACE] = { page_common_js, page_model_js, page_draw_js, page_details_js, page_trace_js },
	[PAGE_CAMPAIGN] = { page_common_js, page_campaign_js },
};

/* ---- the data: a stream that compresses, and writes base64 ---- */

#define LINE_BYTES 90		/* 120 characters */

struct packer {
	FILE *out;
	z_stream z;
	unsigned char pending[LINE_BYTES];
	size_t nr_pending;
};

static void put_line(struct packer *p)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < p->nr_pending; i += 3) {
		size_t n = p->nr_pending - i;
		unsigned int v = p->pending[i] << 16 | (n > 1 ? p->pending[i + 1] << 8 : 0) |
				 (n > 2 ? p->pending[i + 2] : 0);

		putc(digits[v >> 18], p->out);
		putc(digits[v >> 12 & 63], p->out);
		putc(n > 1 ? digits[v >> 6 & 63] : '=', p->out);
		putc(n > 2 ? digits[v & 63] : '=', p->out);
	}
	putc('\n', p->out);
	p->nr_pending = 0;
}

static bool pack(struct packer *p, int flush)
{
	unsigned char buf[16384];
	int ret;

	do {
		p->z.next_out = buf;
		p->z.avail_out = sizeof(buf);
		ret = deflate(&p->z, flush);
		if (ret == Z_STREAM_ERROR)
			return false;
		for (const unsigned char *b = buf; b < p->z.next_out; b++) {
			p->pending[p->nr_pending++] = *b;
			if (p->nr_pending == sizeof(p->pending))
				put_line(p);
		}
	} while (!p->z.avail_out);
	return true;
}

static ssize_t pack_write(void *cookie, const char *buf, size_t len)
{
	struct packer *p = cookie;

	p->z.next_in = (unsigned char *)buf;
	p->z.avail_in = len;
	return pack(p, Z_NO_FLUSH) ? (ssize_t)len : 0;
}

static int put_data(FILE *out, int (*data)(FILE *json, void *ctx), void *ctx)
{
	struct packer p = { .out = out };
	FILE *f;
	int ret;

	if (deflateInit(&p.z, Z_DEFAULT_COMPRESSION) != Z_OK)
		return -ENOMEM;
	f = fopencookie(&p, "w", (cookie_io_functions_t){ .write = pack_write });
	if (!f) {
		deflateEnd(&p.z);
		return -ENOMEM;
	}
	setvbuf(f, NULL, _IOFBF, 1 << 16);
	ret = data(f, ctx);
	if (fclose(f) && !ret)
		ret = -EIO;
	if (!ret && !pack(&p, Z_FINISH))
		ret = -EIO;
	if (p.nr_pending)
		put_line(&p);
	deflateEnd(&p.z);
	return ret;
}

/* ---- the page ---- */

static void put_text(FILE *out, const char *s)
{
	for (; *s; s++)
		if (*s == '&')
			fputs("&amp;", out);
		else if (*s == '<')
			fputs("&lt;", out);
		else if (*s == '>')
			fputs("&gt;", out);
		else if ((unsigned char)*s >= ' ' || *s == '\n' || *s == '\t')
			putc(*s, out);
}

static int expand(FILE *out, const char *p, enum page_kind kind, const char *title, const char *summary,
		  int (*data)(FILE *json, void *ctx), void *ctx)
{
	const char *mark, *end;
	int ret = 0;

	for (; (mark = strstr(p, "<!--zug:")) && (end = strstr(mark, "-->")); p = end + 3) {
		fwrite(p, 1, mark - p, out);
		mark += strlen("<!--zug:");
		if (!strncmp(mark, "title", 5)) {
			put_text(out, title);
		} else if (!strncmp(mark, "summary", 7)) {
			put_text(out, summary);
		} else if (!strncmp(mark, "style", 5)) {
			fputs(page_style, out);
		} else if (!strncmp(mark, "data", 4)) {
			if (!ret)
				ret = put_data(out, data, ctx);
		} else if (!strncmp(mark, "script", 6)) {
			for (const char *const *s = scripts[kind]; *s; s++)
				fputs(*s, out);
		}
	}
	fputs(p, out);
	return ret;
}

int page_write(FILE *out, enum page_kind kind, const char *title, const char *summary,
	       int (*data)(FILE *json, void *ctx), void *ctx)
{
	int ret = expand(out, page_head, kind, title, summary, data, ctx);

	return ret ? ret : expand(out, kind == PAGE_TRACE ? page_trace_html : page_campaign_html, kind, title, summary,
				  data, ctx);
}
