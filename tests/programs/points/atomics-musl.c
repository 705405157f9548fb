/*
 * atomics.c, linked statically with musl.
 * build: -O2 CC=musl-gcc -static
 */
#include "atomics.c"
