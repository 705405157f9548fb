#!/bin/bash
# Each kind of outcome has its own name, message and exit status.
# Takes 75 s under emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"

outcomes=$programs/outcomes

# outcome_is KIND TEXT OPTIONS... -- COMMAND...: a finding of this kind, with TEXT in the report; replayed once.
outcome_is()
{
	local kind=$1 text=$2

	shift 2
	zug 120 run -q -o traces --executions 300 --no-minimize "$@"
	want_status 1
	want_out "^found in execution [0-9]+, after .*: $kind\$"
	want_out "$text"
	want_out '^replayed: 1 of 1 times the same'
	want_nothing_left
	end
}

passes()
{
	zug 120 run -q -o traces --executions 3 "$@"
	want_status 0
	want_out '^nothing found in'
	end
}

use_daemon
# What the engine makes of an end is tried in tests/world, without a kernel: here is what the kernel has a part in.
begin "exit status" && outcome_is exit 'exit status 7 \(expected 0\)' -- sh -c 'exit 7'
begin "exit status of a test that wants a CPU" &&
	outcome_is exit 'Note: pid [0-9]+: sched_setaffinity succeeds and changes nothing' -- taskset 1 sh -c 'exit 7'
begin "exit status with the last line" && outcome_is exit 'exit status 2.*no good' -- sh -c 'echo no good >&2; exit 2'
for points in sync,syscall none; do
	if begin "stacks where a wrong exit status comes from, points: $points"; then
		zug 60 run -q --points $points --executions 1 --verify 0 -o traces -- "$outcomes/exits"
		want_status 1
		want_out '^T0 \(exits\): exits with status 3$'
		want_out '^    #[0-9]+ +give_up .*exits\.c:[0-9]+$'
		want_out '^T1 \(exits\): '
		end
	fi
done
begin "signal" && outcome_is signal 'killed by SIGTERM' -- sh -c 'kill -TERM $$'
begin "abort without message" && outcome_is abort 'aborted without a message' -- sh -c 'kill -ABRT $$'
begin "match on output" && outcome_is match 'output: all wrong here' --match 'wro+ng' -- sh -c 'echo right; echo all wrong here'
begin "match on error output" && outcome_is match 'error output: wrong' --match '^wrong' -- sh -c 'echo wrong >&2; exit 3'
begin "address sanitizer" && outcome_is sanitizer 'AddressSanitizer: heap-use-after-free' -- "$outcomes/asan"
begin "undefined behaviour sanitizer" && outcome_is sanitizer 'signed integer overflow' -- "$outcomes/ubsan"
begin "leak sanitizer" && outcome_is sanitizer 'LeakSanitizer|AddressSanitizer: .* leaked' -- "$outcomes/leak"
# Its report takes long under emulation, and a switch in a long computation falls somewhere else in each run.
begin "thread sanitizer" && outcome_is sanitizer 'ThreadSanitizer: data race' --spin 20s -- "$outcomes/tsan"
begin "deadlock" && outcome_is deadlock 'cycle: T1 waits for b, held by T2; T2 waits for a, held by T1' -- "$programs/abba-deadlock"
begin "deadlock of one" && mkfifo pipe && outcome_is deadlock 'T0 waits in' -- sh -c 'exec cat <pipe'
begin "deadlock of a reader" && mkfifo pipe &&
	outcome_is deadlock 'T1 waits in read [^;]*pipe, open for writing in T0(;|$)' -- sh -c 'exec 3<>pipe; cat <pipe 3>&-; :'
begin "lock cycle while others live" && outcome_is lock-cycle 'T1 waits for b, held by T2' -- "$outcomes/cycle"
begin "spin of one" && outcome_is livelock 'T0 goes round in the same state for ever' -- "$outcomes/computes"
begin "additions of the only task" && passes --points sync --watch sum --max-steps 0 -- "$outcomes/computes" adds
begin "spin until another has slept" && passes -- "$outcomes/computes" late
begin "long computation of the only task" && passes --spin 5ms -- "$outcomes/computes" floats
begin "long computation on the stack" && passes --spin 5ms --executions 3 -- "$outcomes/computes" stack
begin "spin beside a task that could end it" &&
	outcome_is spin . --fail-on-spin --strategy random -- "$outcomes/computes" beside
begin "spin in functions that others end" && passes --executions 20 -- "$outcomes/computes" calls
begin "waits for others that look by functions and back off" && passes --executions 12 --no-minimize -- "$outcomes/ring-waits"
begin "a wait for another that looks at the clock" && passes --executions 10 -- "$outcomes/clock-waits"
begin "spins of two, in turns" && passes --strategy pos --executions 15 --max-steps 4000 -- "$outcomes/spinners"
begin "spin in a library" && outcome_is spin . -- "$outcomes/computes" library
begin "long computation" && passes --strategy random --spin 20ms -- "$outcomes/computes" long
# Two tasks wait for the turn all the time: the kernel's watchdog has patience for 30 s.
if [ "${LONG:-}" ] && begin "long computation beside tasks that the kernel's watchdog looks at"; then
	zug 120 run -q -o traces --executions 1 --verify 0 --no-minimize --spin 0 --timeout 50s --strategy random -- \
		sh -c '"$0" & "$0" & exec "$0"' "$outcomes/computes"
	want_status 1
	want_out 'timeout: no end within 50\.0 s'
	want_nothing_left
	end
fi
begin "time-out" && outcome_is timeout 'longer than|time' --timeout 1s --time real -- sleep 100

if begin "a time-out says what ran, and for what it waits"; then
	zug 60 run -q -o traces --executions 1 --max-steps 3000 -- "$outcomes/polls"
	want_status 1
	want_out '^timeout: no end within 3000 steps \(--max-steps\)$'
	want_out '^      T0 does atomic-load ready  main polls\.c:26$'
	want_out '^      T0 does expire$'
	want_out '^    ready: no other task has changed it$'
	want_out '^T1 \(polls\): waits in lock for lock, held by T0$|^T1 \(polls\): could run: about to lock lock$'
	end
fi
if begin "divergence"; then
	echo 3 >locks
	zug 60 run -q -o traces --executions 1 -- "$outcomes/locks-of-file"
	want_status 1
	trace=$(kept_trace)
	echo 5 >locks
	zug 60 replay -q "$trace"
	want_status 5
	want_err 'did not follow'
	echo 3 >locks
	zug 60 replay -q "$trace"
	want_status 1
	end
fi
# An execution that counts itself in a file that is kept (--share): one of them fails, and never again.
if begin "what does not repeat is no finding"; then
	mkdir kept && echo 0 >kept/n
	fails='read n <kept/n; echo $((n + 1)) >kept/n; test $n -ne 4'
	zug 60 run -q -o traces --points syscall --share kept --executions 8 --json once.json -- sh -c "$fails"
	want_status 5
	want_out '^seen once, did not repeat: exit: exit status 1'
	want_out '0 of 3 replays failed like that: no finding, the search goes on$'
	want_out '^nothing found in 8 executions'
	grep -q '^found in' "$dir/out" && note "it is told as a finding"
	ls traces/*.trace >/dev/null || note "its trace is not kept"
	grep -q '"seen_once":\[$' once.json || note "once.json does not tell it apart"
	echo 0 >kept/n
	zug 60 run -q -o traces --points syscall --share kept --executions 8 --verify 0 -- sh -c "$fails"
	want_status 1
	# it does not hide a finding that comes later
	echo 0 >kept/n
	# (one of the executions that compare the ways to start would be the one that fails)
	zug 60 run -q -o traces --points syscall --share kept --start exec --executions 30 -- sh -c "$fails || exit 1; test \$n -le 8 || exit 2"
	want_status 1
	want_out '^seen once, did not repeat: exit: exit status 1'
	want_out '^found in .*: exit$'
	want_out '^exit status 2'
	end
fi
finish
