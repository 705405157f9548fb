/*
 * primitives.c, linked statically with glibc.
 * build: -static
 */
#include "primitives.c"
