#!/bin/bash
# The inside of a C library's primitives is no point, whichever library it is: a bug is found and replayed, its twin passes, and
# a static program, stripped or not, takes no more steps than the one with glibc. (tests/matrix has all programs.)
# Takes 10 s under emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"

use_daemon

# most_steps: of an execution, by the summary of the last command.
most_steps()
{
	sed -n 's/.* [0-9]* steps, at most \([0-9]*\) in one.*/\1/p' "$dir/out" | head -n 1
}

# with_glibc: the same of the twin with glibc.
with_glibc()
{
	if [ -z "${glibc:-}" ]; then
		zug 60 run --no-races --executions 20 -- "$programs/lost-wakeup-fixed"
		want_status 0
		glibc=$(most_steps)
	fi
}

for libc in musl musl-static glibc-static; do
	begin "lost-wakeup, $libc" || continue
	zug 60 run -q --no-minimize --executions 300 --verify 2 -o traces -- "$programs/libc/lost-wakeup-$libc"
	want_status 1
	want_out '^replayed: 2 of 2 times the same'
	zug 60 run --no-races --executions 20 -- "$programs/libc/lost-wakeup-$libc-fixed"
	want_status 0
	steps=$(most_steps)
	with_glibc
	[ "${steps:-9999}" -le $((${glibc:-0} + 4)) ] || note "$steps steps, and $glibc with glibc"
	end
done
finish
