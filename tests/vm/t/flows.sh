#!/bin/bash
# --flows: bytes in pieces or late, datagrams lost or overtaken; each found and replayed. tests/programs/short-read is planted.sh's.
# Takes 10 s under emulation.
. "$(dirname "$0")/../lib.sh"

use_daemon
if begin "each kind"; then
	seq 1 40 >input
	zug 60 run -q --flows short-read,short-write,stdin,loss,reorder,delay --stdin input --keep-going --no-minimize --no-races \
		--strategy random --executions 25 -o traces -- "$programs/inputs/flows"
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
if begin "only when asked for"; then
	seq 1 40 >input
	zug 60 run -q --stdin input --strategy random --executions 5 -- "$programs/inputs/flows"
	want_status 0
	zug 10 run --flows stdin -- true
	want_status 2
	want_err 'without --stdin'
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
