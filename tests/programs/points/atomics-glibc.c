/*
 * atomics.c, linked statically with glibc, whose own atomic instructions are no points.
 * build: -O2 -static
 */
#include "atomics.c"
