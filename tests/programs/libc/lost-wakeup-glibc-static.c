/*
 * lost-wakeup.c, linked statically with glibc, without debug information; so its twin (FIXED).
 * build: -O2 -g0 -static
 */
#include "../lost-wakeup.c"
