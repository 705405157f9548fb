#!/bin/bash
# zug diff of one trace: the closest schedule that passes, and the two operations whose order makes the difference.
# Takes 25 s under emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"

use_daemon
# pair PROGRAM FIRST SECOND: it fails when an operation that matches FIRST comes before one that matches SECOND.
pair()
{
	zug 60 run -q --verify 0 -o t -- "$programs/$1"
	want_status 1
	zug 60 diff -q --color never "t/$1.1.trace"
	want_status 1
	sed -n '/^It fails when$/,/^and passes/p' "$dir/out" >pair
	grep -A1 '^It fails when$' pair | grep -qE "$2" || note "not '$2' first: $(cat pair)"
	grep -A1 '^comes before' pair | grep -qE "$3" || note "not '$3' second: $(cat pair)"
	want_out '^and passes when it is the other way round  \(B: steps [0-9]+ and [0-9]+\)\.$'
	zug 60 replay -q "t/$1.1.pass.trace"
	want_status 0 "its neighbour passes again"
	zug 60 diff "t/$1.1.trace" "t/$1.1.pass.trace"
	want_status 1
	want_out '^A decision: both tasks could run'
	end
}

begin "the pair of a lost wake-up" && pair lost-wakeup 'T2 cond-signal cond' 'T1 cond-wait cond'
begin "the pair of a deadlock" && pair abba-deadlock 'T[12] lock [ab]' 'T[12] lock [ab]'
begin "the member that the second operation writes" &&
	pair heap-list 'T[12] data-read .*push heap-list.c:34' 'T[12] data-write struct list\.head, .*push heap-list.c:35'

# names PROGRAM FIRST SECOND [TEXT]: the report of a finding names these two; its next line has TEXT.
names()
{
	zug 60 run -q --verify 0 -o t -- "$programs/$1"
	want_status 1
	sed -n '/^It fails when$/,/and passes when/p' "$dir/out" >pair
	grep -A1 '^It fails when$' pair | grep -qE "$2" && grep -A1 '^  before$' pair | grep -qE "$3" &&
		grep -q "and passes when.*${4:-}" pair || note "another pair: $(cat pair)"
	end
}

# decides PROGRAM FIRST SECOND: and it says that they alone decide.
decides()
{
	names "$1" "$2" "$3" 'these two alone'
}

begin "a copy is told by what it reads" &&
	decides struct-copy 'T1 does data-write state\.(version|check) ' 'T2 does data-read state\.version  reader struct-copy.c'
begin "a semaphore of a set has a number" &&
	decides set-order 'T[12] does semop semaphore [01] of set #0 of T0' 'T[12] (does|would do) semop semaphore [01] of set #0 of T0'
begin "a look at a semaphore's value" &&
	decides semaphore-misuse 'T[12] does sem-getvalue tickets' 'T[12] does sem-wait tickets'
begin "sections of a lock that belong together" &&
	decides atomicity-locked 'lock lock  deposit atomicity-locked.c:29' 'lock lock  deposit atomicity-locked.c:33'
begin "the cause, and not what comes of it later" &&
	decides pool-slot 'atomic-load busy\[[01]\]  claim' 'atomic-rmw busy\[[01]\]  claim'

begin "a look at a file's size, and not what is done with it" &&
	decides map-append 'T[12] does stat .*pages  append' 'T[12] does truncate .*pages  append'

begin "an execution that failed before the data was points" &&
	decides missing-barrier 'T1 does data-read cell\[1\]  works' 'T2 does data-write cell\[1\]  works'
if begin "two pairs at the same places, of which none alone decides"; then
	zug 60 run -q --verify 0 -o t -- "$programs/missing-barrier" 3
	want_status 1
	sed -n '/^It fails when$/,/and passes when/p' "$dir/out" >pair
	grep -A1 '^It fails when$' pair | grep -qE 'T[12] does data-read cell\[[12]\]' &&
		grep -A1 '^  before$' pair | grep -qE 'T[23] does data-write cell\[[12]\]' &&
		grep -q 'and others with them' pair || note "another pair: $(cat pair)"
	end
fi

begin "who sends a buffer, and what fills it anew" &&
	decides reply-socket 'T[12] does data-write answer\[0\]  serve' 'T[12] does write socket #[01] of T0 \(answer\[0\]\)  serve'
begin "what is received into a buffer, and who reads that" &&
	decides request-buffer 'T[12] does recv socket #[01] of T0 \(request\[0\]\)  serve' 'T[12] does data-read request\[0\]  serve'
begin "a look at a message queue" &&
	decides queue-room 'T[12] does (stat|send) .*queue-room  sender' 'T[12] does (stat|send) .*queue-room  sender'
begin "two connections to one address" &&
	decides accept-role 'T2 does connect socket .*client accept-role.c' 'T1 does connect socket .*client accept-role.c'
begin "what is written to a file, and not the end of another's use of it" &&
	decides fifo-frames 'T1 does write .*/frames  client fifo-frames.c' 'T2 does write .*/frames  client fifo-frames.c'
begin "the program's accesses, and not OpenMP's lock" &&
	names openmp-maximum 'T[01] does data-read best  main' 'T[01] does data-write best  main'

if begin "names of C++ in the report of a finding"; then
	zug 60 run -q --verify 0 -o t -- "$programs/async-count"
	want_status 1
	sed -n '/^It fails when$/,/and passes when/p' "$dir/out" >pair
	grep -A1 '^It fails when$' pair | grep -qE 'T[123] does data-read words  count async-count' &&
		grep -A1 '^  before$' pair | grep -qE 'T[123] does data-write words  count async-count' ||
		note "another pair: $(cat pair)"
	! grep -E 'basic_string|^ .{140}' "$dir/out" >long || note "long names: $(head -n 5 long)"
	# whether the report has one depends on the schedule
	zug 60 show --all t/async-count.1.trace
	want_out 'std::[A-Za-z_:]+<\.\.\.>'
	# what is left out counts as no step of an order that is tried
	zug 60 diff t/async-count.1.trace
	want_status 1
	! grep 'given up' "$dir/err" >broken || note "$(cat broken)"
	end
fi

if begin "one that was not minimised"; then
	zug 60 run -q --no-minimize --strategy random --verify 0 -o t -- "$programs/bank-transfer"
	want_status 1
	zug 60 diff -q t/bank-transfer.1.trace -o near
	want_status 1
	want_out '^minimised in [0-9]+ executions'
	want_out '^the simplest: t/bank-transfer\.1\.min\.trace$'
	want_out '^It fails when$'
	want_out '^B  near  passes: the closest to it of [0-9]+ executions$'
	[ -s near ] || note "no trace of the neighbour"
	end
fi

if begin "a trace without a passing neighbour"; then
	zug 60 run -q --verify 0 -o t -- sh -c 'exit 3'
	zug 60 diff -q "$(kept_trace)"
	want_status 5
	want_err 'there is only one schedule'
	zug 60 run -q --verify 0 -o t -- "$programs/abba-deadlock"
	zug 60 diff -q --executions 1 t/abba-deadlock.1.trace
	want_status 5
	want_err 'of the first 0 that differ from it .*--executions tries more'
	cp "$programs/abba-deadlock" test
	zug 60 run -q --verify 0 -o t -- ./test
	cp "$programs/bank-transfer" test
	zug 60 diff -q t/test.1.trace
	want_status 2
	want_err 'test was rebuilt since the trace was recorded'
	zug 60 diff -q --force t/test.1.trace
	want_status 5
	want_err 'does not fail again under its own schedule'
	zug 60 diff -q t/abba-deadlock.1.trace t/test.1.trace
	want_status 2
	want_err '.*--quiet makes sense with one trace only'
	end
fi

finish
