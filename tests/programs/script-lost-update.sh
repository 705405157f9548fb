#!/bin/bash
# bug: two shell scripts read a number from one file, add one, and write it back, without a lock
# how: script a reads 0 and is preempted before it opens the file for writing; script b reads 0 and
#	writes 1; a writes 1 too. Both are bash alone, no command.
# outcome: exit 1
# options:
# args:
# odds: 1 preemption. Random walk: both reads come before the first write: about 1/4 once both live,
#	both live with 1/4 or more: p >= 1/16.
#	PCT depth 2, 3 tasks, k <= 300 points (the start of bash and mktemp): p >= 1/900; as only
#	the points after the first fork matter, about 30, rather 1/90.
# executions: 500
# small: no

dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2

add_one()
{
	local number

	read -r number < count
	echo $((number + 1)) > count
}

echo 0 > count
add_one &
add_one &
wait
read -r number < count
[ "$number" = 2 ] || { echo "$number: one update is lost"; exit 1; }
