/*
 * atomics.c without symbols: .eh_frame tells where its functions are.
 * build: -O2 -s
 */
#include "atomics.c"
