/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rng.h - random numbers: one stream for each execution, derived from (seed, execution)
 *
 * SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
 */
#ifndef ZUG_SEARCH_RNG_H
#define ZUG_SEARCH_RNG_H

#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline uint64_t mix64(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static inline void rng_seed(struct rng *r, uint64_t seed, uint64_t stream)
{
	r->state = mix64(seed + 0x9e3779b97f4a7c15ull) ^ mix64(stream * 0xd1342543de82ef95ull + 1);
}

static inline uint64_t rng_next(struct rng *r)
{
	return mix64(r->state += 0x9e3779b97f4a7c15ull);
}

/* Uniform in [0, n), n > 0. The bias, n / 2^64, is below anything that can be measured. */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)rng_next(r) * n) >> 64);
}

/* A rank among others of its kind, which no other one is likely to have; always above 2^63 + 2^61. */
static inline uint64_t rank_draw(struct rng *r)
{
	return rng_next(r) >> 2 | 5ull << 61;
}

/* Uniform in [0, 1). */
static inline double rng_unit(struct rng *r)
{
	return (double)(rng_next(r) >> 11) * 0x1p-53;
}

#endif
