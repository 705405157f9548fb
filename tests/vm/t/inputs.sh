#!/bin/bash
# The controlled inputs are the same in every execution, and differ without the control.
# Takes 27 s under emulation.
. "$(dirname "$0")/../lib.sh"

inputs=$programs/inputs

# passes OPTION... -- COMMAND...: it passes under every schedule that is tried.
passes()
{
	zug 100 run -q --strategy random --executions 6 -o traces "$@"
	want_status 0
	want_out '^nothing found in [0-9]+ executions?'
	want_nothing_left
}

# output_of_replay TRACE: sets $printed to the output of the test.
output_of_replay()
{
	zug 60 replay -q "$1"
	printed=$(grep -v '^zug:' "$dir/out")
}

use_daemon
begin "every timed wait takes its virtual time, and no real time" && { passes -- "$inputs/waits"; end; }
begin "waits until times that are past are over at once" && { passes -- "$inputs/past"; end; }
# From Linux 7.0 on no task can be stopped at the end of a call.
if [ "$(uname -r | cut -d. -f1)" -lt 7 ] && begin "time-outs that the kernel keeps, however short"; then
	zug 60 check -q -n 3 -o traces -- "$inputs/short-waits"
	want_status 0
	want_out '^3 executions of one schedule, all the same'
	want_nothing_left
	end
fi
# Without a clock that goes faster these make 100,000 steps, and none.
if begin "threads that work until another one has slept"; then
	zug 90 run -q --executions 1 -o traces -- "$inputs/until-late"
	want_status 0
	want_out ' 13[0-9]{3} steps, at most'
	zug 90 run -q --executions 1 -o traces -- "$inputs/until-late" computes
	want_status 0
	end
fi
begin "time-outs may expire at any time" && { passes --timeouts explore -- "$inputs/waits"; end; }
begin "waits that could be answered from outside take their time" && { passes -- "$inputs/socket-polls"; end; }
if begin "time-outs of sockets"; then
	passes --executions 3 -- "$inputs/socket-times"
	passes --executions 1 --time real -- "$inputs/socket-times" real
	end
fi
begin "timers" && { passes --timeouts never -- "$inputs/alarms"; end; }
begin "a watchdog is not early where all signals are blocked" && { passes --executions 40 -- "$inputs/watchdog"; end; }
if begin "a shell that sleeps"; then
	passes --executions 2 -- \
		sh -c 'a=$(date +%s); sleep 100 & sleep 1000; wait; b=$(date +%s); [ $((b - a)) -ge 1000 ] && [ $((b - a)) -le 1001 ]'
	end
fi

if begin "make sees times of files that fit the clock"; then
	printf 'b: a; echo building; cp a b\nc: b; echo building; cp b c\n' >Makefile
	echo >a
	cat >steps <<-'END'
		LC_ALL=C make c >first 2>&1 && LC_ALL=C make c >second 2>&1 && sleep 1 && echo >a && LC_ALL=C make c >third 2>&1
		! grep -qE 'skew|future' first second third || { cat first second third; exit 1; }
		grep -q 'up to date' second && [ "$(grep -c '^building' third)" = 2 ] && ! find . -newermt now | grep .
	END
	passes --executions 2 -- sh -e ./steps
	end
fi

if begin "a time-out expires only when no other task can run"; then
	passes --executions 40 --timeouts never -- "$programs/timeout-disarm"
	want_out '--timeouts explore'
	zug 60 run -q -o traces -- "$programs/gave-up-waiting"
	want_status 1
	want_out 'the time-out of T0 is over 1 s early'
	want_out '^replayed: 1 of 1'
	passes --executions 20 -- "$programs/gave-up-waiting-fixed"
	zug 60 run -q --executions 1 --timeouts maybe -- true
	want_status 2
	want_err 'auto, never or explore'
	end
fi

# repeats OPTION PROGRAM: its output is equal in every execution, and with OPTION real it differs.
repeats()
{
	local real=$1 program=$inputs/$2 first

	zug 60 run -q --executions 1 --verify 0 -o traces -- "$program"
	want_status 1
	trace=$(kept_trace)
	output_of_replay "$trace"
	first=$printed
	sleep 1.1
	output_of_replay "$trace"
	[ -n "$first" ] && [ "$first" = "$printed" ] || note "first '$first', then '$printed'"
	zug 60 run -q --executions 1 --verify 0 "$real" real -o traces -- "$program"
	want_status 1
	trace=$(kept_trace)
	output_of_replay "$trace"
	first=$printed
	output_of_replay "$trace"
	[ -n "$first" ] && [ "$first" != "$printed" ] || note "with $real real it is '$first' each time"
}

begin "a replay sees the same time" && { repeats --time clock-finding; end; }
if begin "a replay sees the same random numbers"; then
	repeats --random random-finding
	zug 60 run -q --executions 1 --verify 0 --seed 2 -o other -- "$inputs/random-finding"
	output_of_replay "$(kept_trace)"
	other=$printed
	zug 60 run -q --executions 1 --verify 0 -o other -- "$inputs/random-finding"
	output_of_replay "$(kept_trace)"
	[ "$other" != "$printed" ] || note "another seed gives the same numbers"
	[ "$(wc -l <"$dir/out")" -ge 5 ] || note "it prints $printed"
	end
fi
finish
