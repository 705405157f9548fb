#!/bin/bash
# The corrected twin of tempfile-race.sh: each job has a temporary file of its own.

dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2

# NAME WORDS...: writes WORDS, sorted, to the file NAME.
job()
{
	local name=$1

	shift
	printf '%s\n' "$@" | sort > "tmp.$name"
	mv "tmp.$name" "$name"
}

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
