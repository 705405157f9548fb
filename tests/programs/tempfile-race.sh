#!/bin/bash
# bug: two jobs of a script write their results through one temporary file
# how: job a has sorted into `tmp` and is preempted before its mv; job b truncates `tmp`, or has
#	written its own lines there; a renames b's file, or an empty one, to its own result, and
#	b's mv finds no file. Real commands (sort, mv), one pipeline each.
# outcome: output wrong:
# options: --points sync,syscall --match wrong:
# args:
# odds: 1 preemption between two long runs (both jobs start two programs: some 200 points). Random
#	walk: the two jobs come to their open of `tmp` nearly together, and sort and mv lie between
#	it and the end: p >= 1/4. PCT depth 2: the change point must fall in a job between its
#	open and its rename, a third of its points: p >= 1/8.
# executions: 150
# small: no

dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2

# NAME WORDS...: writes WORDS, sorted, to the file NAME.
job()
{
	local name=$1

	shift
	printf '%s\n' "$@" | sort > tmp
	mv tmp "$name"
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
