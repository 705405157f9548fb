#!/bin/bash
# The corrected twin of script-lost-update.sh: who has read the token from the pipe may go on.

dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2

add_one()
{
	local number token

	read -r token <&8
	read -r number < count
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
