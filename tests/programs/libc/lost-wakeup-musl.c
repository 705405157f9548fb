/*
 * lost-wakeup.c, with musl; so its twin (FIXED).
 * build: CC=musl-gcc -O2
 */
#include "../lost-wakeup.c"
