/*
 * primitives.c, linked statically with musl.
 * build: CC=musl-gcc -static
 */
#include "primitives.c"
