#!/bin/bash
# The corrected twin of lockfile-race.sh: noclobber makes the creation the test (O_EXCL).

dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2

worker()
{
	set -o noclobber
	if : 2> /dev/null > lock; then
		echo "$1" >> winners
	fi
}

worker a &
worker b &
wait
mapfile -t winners < winners
echo "winners: ${winners[*]}"
[ ${#winners[@]} = 1 ]
