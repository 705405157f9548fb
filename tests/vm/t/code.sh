#!/bin/bash
# Places in the code as points: atomic instructions and their labels in each kind of binary, --code, objects that two
# processes share, hot instructions, read-modify-writes in two steps. The program's results stay the same, and so does
# its file. (planted.sh tests that the bugs which need these points are found.)
# Takes 48 s under emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/vm/labels.sh
. "$(dirname "$0")/../labels.sh"

export XDG_CACHE_HOME=$base/cache
use_daemon

# want_same_output PROGRAM: it prints the same under zug and without.
want_same_output()
{
	local native

	native=$("$1")
	zug 30 replay -q "$(kept_trace)"
	want_out "^$native\$"
	want_out 'replayed 1 of 1 times exactly'
}

for form in '' -glibc -musl; do
	if begin "atomic instructions${form:+ of static ${form#-}}"; then
		sum=$(cksum <"$points/atomics$form")
		trace_of -- "$points/atomics$form"
		want_labels "$sources/atomics.c"
		# Two threads, with one step each at each place; no step of the C library's.
		nr_steps 2 '"op":"pause"'
		nr_steps 2 '"op":"atomic-rmw","object":"total"'
		nr_steps 0 '"op":"atomic-[a-z]*","object":"[^"]*(mine|local|lock)'
		nr_steps 0 '"op":"data-'
		zug 60 run -q --executions 1 --expect-exit 250 --verify 0 -o traces -- "$points/atomics$form"
		want_same_output "$points/atomics$form"
		[ "$(cksum <"$points/atomics$form")" = "$sum" ] || note "the program's file was changed"
		end
	fi
done

if begin "atomic operations of 16 bytes"; then
	trace_of -- "$points/wide-atomic"
	want_labels "$sources/wide-atomic.c"
	nr_steps 6 '"op":"atomic-'
	end
fi

if begin "atomic instructions without symbols"; then
	trace_of -- "$points/atomics-stripped"
	nr_steps 2 '"op":"pause"'
	nr_steps 2 '"op":"fence"'
	[ "$(grep -c '"op":"atomic-rmw"' "$dir/steps")" -ge 12 ] || note "$(cut -c1-200 "$dir/steps")"
	end
fi

if begin "instructions executed in their place"; then
	cat >compare.sh <<-'END'
		"$1" >here
		cmp here "$2"
	END
	"$points/instructions" >native
	zug 60 run -q --executions 2 --point 'insn_*' -o traces -- sh compare.sh "$points/instructions" native
	# some 140 of them are these instructions
	want_out '^nothing found in 2 executions .* at most (1[5-9][0-9]|[2-9][0-9]{2}|[0-9]{4,}) in one;'
	end
fi

if begin "no atomic instructions"; then
	trace_of --points sync -- "$points/atomics"
	nr_steps 0 '"op":"(atomic-[a-z]*|pause|fence)"'
	end
fi

if begin "--code FUNCTION, FILE and library"; then
	trace_of --points atomic --code main -- "$points/atomics"
	nr_steps 0 '"op":"(atomic-rmw|pause|create)"'
	[ "$(grep -c '"op":"atomic-load"' "$dir/steps")" -ge 1 ] || note "no load in main"
	trace_of --points atomic --code atomics.c -- "$points/atomics"
	nr_steps 2 '"op":"atomic-rmw","object":"total"'
	trace_of --points atomic --code 'u[rs]e' -- "$points/atomics"
	nr_steps 2 '"op":"atomic-rmw","object":"total"'
	trace_of --points atomic --code libc.so.6 -- "$points/atomics"
	nr_steps 0 '"object":"total"'
	[ "$(grep -c '"op":"atomic-rmw"' "$dir/steps")" -ge 2 ] || note "no atomic instruction of libc"
	zug 30 run -q --code nonesuch -- "$points/atomics"
	want_status 2
	want_err '--code nonesuch: no such library, function or source file'
	zug 30 run -q --points sync --code main -- "$points/atomics"
	want_status 2
	want_err '--points leaves them out'
	end
fi

if begin "atomics that two processes share"; then
	trace_of -- "$points/shared-atomic"
	line=$(grep -n 'object: shared' "$sources/shared-atomic.c" | cut -d: -f1)
	nr=$(grep -E "\"line\":$line[,}]" "$dir/steps" | grep -oE '"object":"[^"]*"' | sort | uniq -c)
	[ "$(wc -l <<<"$nr")" = 1 ] && [ "$(awk '{ print $1 }' <<<"$nr")" = 2 ] || note "shared: $nr"
	line=$(grep -n 'object: heap' "$sources/shared-atomic.c" | cut -d: -f1)
	nr=$(grep -E "\"line\":$line[,}]" "$dir/steps" | grep -oE '"object":"[^"]*"' | sort | uniq -c)
	[ "$(wc -l <<<"$nr")" = 2 ] || note "heap: $nr"
	end
fi

if begin "instructions that are hot and never contended"; then
	zug 100 run -q --executions 3 -o traces -- "$points/hot-atomic" anyhow
	want_status 0
	want_out '^no points at 1 atomic instruction, reached 1000 times.*: count_own \(hot-atomic.c:[0-9]*\)'
	# A replay leaves out the same instructions.
	zug 60 run -q --executions 100 -o traces -- "$points/hot-atomic"
	want_status 1
	trace=$(kept_trace)
	zug 60 replay -q "$trace"
	want_out 'replayed 1 of 1 times exactly'
	zug 30 show --json "$trace"
	grep '^{"step"' "$dir/out" >"$dir/steps"
	nr_steps 0 '"op":"atomic-rmw","object":"own"'
	nr_steps 2 '"op":"atomic-rmw","object":"both"'
	# --code keeps them.
	trace_of --points atomic --code count_own -- "$points/hot-atomic"
	nr_steps 3000 '"op":"atomic-rmw","object":"own"'
	end
fi

if begin "instructions so hot that no execution ends"; then
	zug 60 run -q --executions 3 --max-steps 2500 -o traces -- "$points/hot-atomic" anyhow
	want_status 0
	# when an execution has ended, this turns out to be one task's own
	want_out '^no points at 1 atomic instruction, .*: count_own'
	zug 60 run -q --executions 3 --max-steps 2500 -o traces -- "$points/hot-atomic" both
	want_status 0
	want_out '^points only the first 1000 times in each execution at 1 atomic instruction.*: count_own'
	zug 60 run -q --executions 100 --max-steps 2500 -o traces -- "$points/hot-atomic"
	want_status 1
	want_out '^replayed: 1 of 1'
	zug 60 replay -q "$(kept_trace)"
	want_out 'replayed 1 of 1 times exactly'
	# a lower limit is the user's choice
	zug 60 run -q --executions 9 --max-steps 500 -o traces -- "$points/hot-atomic" anyhow
	want_status 1
	want_out 'no end within 500 steps'
	end
fi
if begin "a read-modify-write in two steps"; then
	zug 100 run -q --executions 300 -o traces --verify 3 -- "$programs/mixed-increment"
	want_status 1
	want_out 'Assertion .counter == 2'
	want_out '^replayed: 3 of 3 times the same failure, step for step'
	zug 30 show --json "$(kept_trace)"
	grep '^{"step"' "$dir/out" >"$dir/steps"
	nr_steps 1 '"op":"data-read","object":"counter".*"function":"counts"'
	nr_steps 1 '"op":"data-write","object":"counter".*"function":"counts"'
	# It is two steps also when it is passed without a stop: a replay, which stops everywhere, sees the same.
	zug 60 run -q --executions 1 --expect-exit 250 --verify 0 -o traces -- "$programs/mixed-increment"
	zug 30 replay -q -n 2 "$(kept_trace)"
	want_out 'replayed 2 of 2 times exactly'
	end
fi

if begin "atomic instructions on watched variables"; then
	# In a machine that QEMU emulates, single steps over an instruction that hits a watchpoint would never end.
	zug 60 run -q --executions 60 -o traces --watch link_a --watch link_b -- "$programs/aba-stack-fixed"
	want_status 0
	# The first instruction of worker() reads the counter.
	zug 60 run -q --executions 60 --no-minimize -o traces --watch counter --point worker -- "$programs/atomicity-watch"
	want_status 1
	want_out '^replayed: 1 of 1 times the same failure, step for step'
	zug 60 run -q --executions 300 --no-minimize -o traces --watch link_a --watch link_b -- "$programs/aba-stack"
	want_status 1
	want_out '^replayed: 1 of 1 times the same failure, step for step'
	zug 30 show --json "$(kept_trace)"
	grep '^{"step"' "$dir/out" >"$dir/steps"
	# The xchg of push() is a point before it and, as any access of what is watched, one after; so is the load of pop(), which
	# its source line says is atomic.
	grep -q '"op":"atomic-rmw","object":"link_.*"function":"push"' "$dir/steps" || note "$(cut -c1-200 "$dir/steps")"
	grep -q '"op":"data-access","object":"link_.*"function":"push"' "$dir/steps" || note "$(cut -c1-200 "$dir/steps")"
	grep -q '"op":"data-access","object":"link_.*"function":"pop"' "$dir/steps" || note "$(cut -c1-200 "$dir/steps")"
	grep -q '"op":"atomic-load","object":"link_.*"function":"pop"' "$dir/steps" || note "$(cut -c1-200 "$dir/steps")"
	end
fi

if begin "a damaged cache"; then
	for f in "$XDG_CACHE_HOME"/zugzwang/*.code; do
		printf 'nonsense' | dd of="$f" bs=1 seek=300 conv=notrunc 2>/dev/null
	done
	trace_of -- "$points/atomics"
	nr_steps 2 '"op":"atomic-rmw","object":"total"'
	end
fi
finish
