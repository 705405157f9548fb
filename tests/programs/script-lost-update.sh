#!/bin/bash
# bug: two shell scripts read a number from one file, add one, and write it back; only writing it is locked
# how: script a reads 0 and is preempted before it opens the file for writing; script b reads 0 and
#	writes 1; a writes 1 too. Both are bash alone, no command.
# outcome: exit 1
# options:
# args:
# odds: 1 preemption. Random walk: both reads come before the first write: about 1/4 once both live,
#	both live with 1/4 or more: p >= 1/16.
#	PCT depth 2, 4 tasks, k <= 400 points (the start of bash, mktemp and mkfifo): p >= 1/1200; as only
#	the points after the first fork matter, about 40, rather 1/120.
# executions: 500
# small: no

dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2

add_one()
{
	local number token

	read -r number < count
	read -r token <&8
	echo $((number + 1)) > count
	echo "$token" >&8
}

mkfifo token || exit 2
exec 8<> token
echo go >&8
echo 0 > count
add_one &
add_one &
wait
read -r number < count
[ "$number" = 2 ] || { echo "$number: one update is lost"; exit 1; }
