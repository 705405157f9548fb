/*
 * calls.c, linked statically with musl.
 * build: CC=musl-gcc -static
 */
#include "calls.c"
