#!/bin/bash
# bug: two jobs of a script write their results through one temporary file, and only writing it is locked
# how: job a has sorted into `tmp`, has given the lock back, and is preempted before its mv; job b takes
#	the lock and truncates `tmp`, or has written its own lines there; a renames b's file, or an empty
#	one, to its own result, and b's mv finds no file. Real commands (sort, mv), one pipeline each.
# outcome: output wrong:
# options: --points sync,syscall --match wrong:
# args:
# odds: 1 preemption between two long runs (both jobs start two programs: some 200 points). Random
#	walk: b goes on when a gives the lock back; its open of `tmp` is one fork away, the rename of a's
#	mv a fork and a program's start: p >= 1/4. PCT depth 2: the change point must fall in a job between
#	the lock's end and its rename, a tenth of its points or more: p >= 1/25.
# executions: 150
# small: no

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
	echo "$token" >&8
	mv tmp "$name"
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
