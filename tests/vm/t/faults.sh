#!/bin/bash
# --faults: the search injects faults into system calls; the failures are found, minimised and replayed. --flows: bytes in
# pieces or late, datagrams lost or overtaken; found and replayed. (planted.sh has programs for both.)
# Takes 35 s under emulation.
. "$(dirname "$0")/../lib.sh"

# found PROGRAM KIND LABEL
found()
{
	local trace

	zug 60 run -q --faults "$2" --executions 150 -o traces -- "$programs/$1"
	want_status 1
	want_out '^found in execution [0-9]+'
	want_out '^Calls that the search changed'
	want_out "T[0-9]+ gets $3"
	# main() has returned, so the stack is the C library's
	want_out '^    its last step in the program: [a-z]+.*  main .*\.c:[0-9]+$'
	trace=$(kept_trace)
	zug 20 show "$trace"
	want_out "T[0-9]+.* $3|$3"
	zug 60 replay -q -n 5 "$trace"
	want_status 1
	want_out 'replayed 5 of 5 times exactly'
	zug 60 diff -q "$trace"
	want_status 1
	want_out "^    T[0-9]+ $3 "
	want_out '^and passes under the same schedule when '
	zug 60 pin -q --verify 1 -o test.zug "$trace"
	want_status 0
	grep -q "^let T[0-9]* .* get $3" test.zug || note "no call in the script: $(cat test.zug)"
	zug 60 run -q --verify 0 --no-minimize --script test.zug -o traces -- "$programs/$1"
	want_status 1
	# with another stack, so that mkdtemp() makes another name
	stack=$(printf %0999d 0) zug 60 run -q --script test.zug -o traces -- "$programs/$1-fixed"
	want_status 0
	want_out '^passed under test\.zug '
	want_nothing_left
}

use_daemon
begin "killed between two renames" && { found crash-renames kill killed; end; }
if [ "${LONG:-}" ]; then
	# planted.sh tests these, too
	begin "EINTR is not retried" && { found eintr-read eintr fail-eintr; end; }
	begin "refused at start-up" && { found connect-refused refused fail-refused; end; }
	begin "a short write" && { found short-write short short-write; end; }
fi
if begin "no space, no memory"; then
	for kind in enospc enomem; do
		zug 100 run -q --faults $kind --keep-going --no-minimize --strategy random --executions 60 -o traces \
			-- "$programs/inputs/failing"
		want_status 1
		cat "$dir/out"
	done >all
	for status in 10 11 12 13 14; do
		grep -q "exit status $status\|status $status\|exit $status" all || note "nothing failed with status $status"
	done
	end
fi
if begin "a fault that a call does not have is not claimed"; then
	zug 60 run -q --faults enospc --no-minimize --no-races --strategy random --executions 20 -o new -- "$programs/inputs/exists"
	want_status 1
	want_out 'exit status 10 '
	zug 20 show --all "$(kept_trace)"
	want_out 'fail-enospc'
	# here no call makes the file
	zug 60 run -q --faults enospc --max-faults 20 --no-minimize --no-races --strategy random --executions 20 -o old \
		-- "$programs/inputs/exists" 12
	want_status 1
	want_out 'exit status 12 '
	zug 20 show --all "$(kept_trace)"
	! grep -q fail-enospc "$dir/out" || note "the trace says that a call failed"
	end
fi
if begin "waits are interrupted"; then
	zug 100 run -q --faults eintr --keep-going --no-minimize --strategy preemption:bound=0 --executions 60 -o traces \
		-- "$programs/inputs/interrupted"
	want_status 1
	for status in 10 11 12 13 14 15 16 17 18 19; do
		want_out "exit status $status "
	done
	end
fi
if begin "at most N faults"; then
	zug 60 run -q --strategy random --executions 30 -- "$programs/eintr-read"
	want_status 0
	zug 60 run -q --faults eintr --max-faults 3 --no-races --strategy random --executions 30 -o traces -- "$programs/eintr-read"
	want_status 1
	[ "$(grep -c 'gets fail-eintr' "$dir/out")" = 1 ] || note "not minimised to one fault:"$'\n'"$(grep fail-eintr "$dir/out")"
	want_out 'faults? (was|were) not needed'
	zug 10 run --max-faults 2 -- true
	want_status 2
	want_err '--max-faults needs --faults'
	zug 10 run --faults floods -- true
	want_status 2
	want_err 'enospc, eintr, enomem'
	zug 10 run --faults kill --points sync -- true
	want_status 2
	want_err 'points at system calls'
	end
fi
if begin "flows: each kind"; then
	seq 1 40 >input
	zug 60 run -q --timeouts never --flows short-read,short-write,stdin,loss,reorder,delay --stdin input --keep-going --no-minimize --no-races \
		--strategy random --executions 40 -o traces -- "$programs/inputs/flows"
	want_status 1
	for status in 10 11 12 13 14 15 16; do
		grep -q "exit status $status " "$dir/out" || note "nothing ended with status $status"
	done
	want_out 'T1.* gets lost socket'
	want_out 'gets delayed .*\(10000 ms\)'
	want_out 'replayed: 1 of 1 times the same'
	! grep -q 'replayed: 0 of' "$dir/out" || note "a replay differs"
	end
fi
if begin "flows: only when asked for"; then
	seq 1 40 >input
	zug 60 run -q --timeouts never --stdin input --strategy random --executions 3 -- "$programs/inputs/flows"
	want_status 0
	zug 10 run --flows stdin -- true
	want_status 2
	want_err 'stdin needs --stdin'
	zug 10 run --flows loss --max-flows 0 -- true
	want_status 2
	want_err 'from 1 to 1000'
	zug 10 run --flows delay --time real -- true
	want_status 2
	want_err '--time virtual'
	zug 10 run --stdin nowhere -- true
	want_status 2
	want_err 'nowhere: No such file'
	end
fi
finish
