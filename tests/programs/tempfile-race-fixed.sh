#!/bin/bash
# The corrected twin of tempfile-race.sh: the lock is given back when `tmp` is free again.

dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2

# NAME WORDS...: writes WORDS, sorted, to the file NAME.
job()
{
	local name=$1 token

	shift
	read -r token <&8
	printf '%s\n' "$@" | sort > tmp
	mv tmp "$name"
	echo "$token" >&8
}

mkfifo token || exit 2
exec 8<> token
echo go >&8
job a pear apple fig &
job b kiwi date lime &
wait
a=$(tr '\n' ' ' < a)
b=$(tr '\n' ' ' < b)
if [ "$a" = "apple fig pear " ] && [ "$b" = "date kiwi lime " ]; then
	echo "right"
else
	echo "wrong: a is '$a' and b is '$b'"
fi
