/* SPDX-License-Identifier: GPL-2.0-only */
/* shard_number.h - which shard of how many this is: --shard, and the variables of engines that start many jobs */
#ifndef ZUG_SHARD_NUMBER_H
#define ZUG_SHARD_NUMBER_H

#include <stddef.h>
#include <stdint.h>

struct shard_number {
	uint32_t k, n;		/* 1 to n; n 0: there are no shards */
	const char *variable;	/* that said so; NULL: the command line */
};

/*
 * "3/8"; "auto": from the engine's variables; "auto/8": the same of an engine that does not say how many there are.
 * 0, or -EINVAL with a line in err.
 */
int shard_number_parse(const char *text, struct shard_number *s, char *err, size_t errlen);

#endif
