/*
 * lost-wakeup.c, linked statically with musl, and stripped: names come from musl's archive; so its twin (FIXED).
 * build: CC=musl-gcc -O2 -g0 -static -s
 */
#include "../lost-wakeup.c"
