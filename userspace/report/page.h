/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * page.h - pages for the browser, each in one file that needs no network
 *
 * The templates, styles and scripts are the files in userspace/report/html/, embedded at build
 * time. The data is JSON, compressed and in base64, so no text of the program under test can be
 * taken for markup. The scripts insert it as text only, and the page's own policy forbids it to
 * load anything.
 */
#ifndef ZUG_PAGE_H
#define ZUG_PAGE_H

#include <stdio.h>

enum page_kind { PAGE_TRACE, PAGE_CAMPAIGN };

/*
 * Writes a page. title and summary (shown where scripts are off) are plain text, which is escaped
 * here. data() writes one JSON object and returns 0 or -errno. 0 or -errno; errors of writing are
 * left in out.
 */
int page_write(FILE *out, enum page_kind kind, const char *title, const char *summary,
	       int (*data)(FILE *json, void *ctx), void *ctx);

#endif
