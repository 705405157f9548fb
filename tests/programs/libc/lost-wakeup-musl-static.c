/*
 * lost-wakeup.c, linked statically with musl, without debug information; so its twin (FIXED).
 * build: CC=musl-gcc -O2 -g0 -static
 */
#include "../lost-wakeup.c"
