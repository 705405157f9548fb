/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * browser.h - a headless Chromium for tests of pages, driven over its debugging pipe
 *
 * An error of the browser itself ends the test program with a message.
 */
#ifndef BROWSER_H
#define BROWSER_H

#include <stdbool.h>

struct browser;

/* The program is $CHROMIUM or chromium. One blank page of 1400 by 900. */
struct browser *browser_start(void);
void browser_stop(struct browser *b);

void browser_dark(struct browser *b, bool dark);
/* Loads a file and waits until the page is ready. */
void browser_open(struct browser *b, const char *path);
/* The value of an expression, as JSON; to be freed. An exception ends the test. */
char *browser_eval(struct browser *b, const char *expression);
/* A key by its name in KeyboardEvent.key ("n", "ArrowLeft"). */
void browser_key(struct browser *b, const char *key);
void browser_click(struct browser *b, double x, double y);
void browser_hover(struct browser *b, double x, double y);
void browser_wheel(struct browser *b, double x, double y, double delta);
/* PNG. */
void browser_screenshot(struct browser *b, const char *path);

/* The numbers since the page was opened: uncaught exceptions and logged errors; requests other than of the file itself. */
unsigned int browser_errors(const struct browser *b);
unsigned int browser_requests(const struct browser *b);

#endif
