#!/bin/bash
# Turns when other tasks use the lane: real-time and fair tasks, several numbers of CPUs, interrupted searches.
# Takes 40 s under emulation.
. "$(dirname "$0")/../lib.sh"

lane=$(($(nproc) - 1))

# Keeps the lane busy from time to time; the caller ends it with `kill`.
disturb()
{
	local how=$1

	while :; do
		timeout 0.03 taskset -c "$lane" $how sh -c 'while :; do :; done'
		sleep 0.02
	done
}

# schedules COMMAND...: the steps and distinct schedules of a random walk, which noise must not change.
schedules()
{
	sed -n 's/.* \([0-9]* steps, at most [0-9]* in one; [0-9]* distinct schedules\).*/\1/p' out
}

# The test has two tasks that compute; they are $tasks.
computes() { mapfile -t tasks < <(pgrep -f '^sh -c while'); [ ${#tasks[@]} = 2 ]; }

remember
if begin "another CPU is busy"; then
	# a test that is started there, in a lower class, would never reach its exec
	taskset -c 0 sh -c 'while :; do :; done' &
	busy=$!
	zug 60 run -q --strategy random --executions 3 --timeout 20s -- "$programs/bench/two-threads-50-points"
	kill $busy
	wait $busy 2>/dev/null
	want_status 0
	want_nothing_left
	end
fi
if begin "another task keeps the lane busy"; then
	taskset -c "$lane" sh -c 'while :; do :; done' &
	busy=$!
	zug 60 run -q --lane "$lane" --strategy random --executions 3 --timeout 20s -- "$programs/bench/two-threads-50-points"
	want_status 3
	want_err "CPU $lane, on which the test runs, is kept busy by sh \\(pid $busy\\)"
	if [ "${LONG:-}" ]; then
		# zug takes another lane where it may choose
		zug 60 run -q --strategy random --executions 3 --timeout 20s -- "$programs/bench/two-threads-50-points"
		want_status 0
	fi
	kill $busy
	wait $busy 2>/dev/null
	want_nothing_left
	end
fi

use_daemon
# The time of --spin is the machine's: it goes on while another task has the lane, and a switch because of it is another
# schedule. So it is long here.
alone=
for how in "chrt -f 10" "nice -n -10"; do
	begin "the same search while '$how' uses the lane" || continue
	if [ ! "$alone" ]; then
		zug 120 run -q --spin 20s --strategy random --executions 6 -- "$programs/fixtures/nested-threads"
		want_status 0 "alone"
		alone=$(schedules)
	fi
	disturb "$how" &
	noise=$!
	zug 240 run -q --spin 20s --strategy random --executions 6 -- "$programs/fixtures/nested-threads"
	kill $noise && wait $noise 2>/dev/null
	want_status 0 "disturbed (4 would be a run without a grant)"
	[ -n "$alone" ] && [ "$alone" = "$(schedules)" ] || note "alone '$alone', disturbed '$(schedules)'"
	want_nothing_left
	end
done

# (fixtures.sh has numbers that a machine may have.)
if begin "--cpus 64"; then
	zug 60 run -q --cpus 64 --executions 1 --expect-exit 9 -o traces -- \
		sh -c '[ $(nproc) = 64 ] && [ $(getconf _NPROCESSORS_ONLN) = 64 ] && exit 9'
	want_status 0
	end
fi

if begin "a search goes on where it was interrupted"; then
	zug 120 run -q --strategy preemption:bound=1 -- "$programs/atomicity-locked-fixed"
	want_status 0
	whole=$(sed -n 's/.* \([0-9]*\) distinct schedules.*/\1/p' out)
	for i in 1 2 3 4 5 6; do
		zug 60 run -q --strategy preemption:bound=1 --executions 12 --resume state -- "$programs/atomicity-locked-fixed"
		want_status 0
		! grep -q '^covered: ' out || break
	done
	want_out '^covered: every schedule .* up to 1 preemption'
	[ "$i" -gt 1 ] || note "it was not interrupted at all"
	parts=$(sed -n 's/.* \([0-9]*\) distinct schedules.*/\1/p' out)
	[ -n "$whole" ] && [ "$whole" = "$parts" ] || note "$whole schedules in one go, $parts in $i parts"
	zug 60 run -q --strategy random --resume state -- "$programs/atomicity-locked-fixed"
	want_status 2
	want_err 'a search with other options'
	head -c 100 state >damaged
	zug 60 run -q --strategy preemption:bound=1 --resume damaged -- true
	want_status 2
	want_err 'damaged'
	end
fi

if begin "a campaign is recorded"; then
	zug 60 run -q --strategy preemption:bound=1 --record record --profile --json json -- "$programs/atomicity-locked-fixed"
	want_status 0
	want_out "^profile of $(sed -n 's/ *"executions": *\([0-9]*\),*/\1/p' json) executions: [0-9.]+ ms each, [1-9][0-9]* points"
	for part in environment program test stop wake-up reading search trace grant drain; do
		want_out "^  $part +[0-9.]*[1-9][0-9.]* +[0-9.]+ "
		grep -Eq "\"$part\": *[0-9.]*[1-9]" json || note "no time went into $part, says --json"
		grep -Eq "\"spent\":.*\"$part\":[1-9]" record || note "no time went into $part, says the record"
	done
	n=$(sed -n 's/^nothing found in \([0-9]*\) executions .*/\1/p' out)
	zug 60 run -q --strategy random --executions 7 --json json -- "$programs/atomicity-locked-fixed"
	want_out '^nothing found in 7 executions .*; 1 of them only looked for points\)$'
	grep -q '"executions": *7,' json || note "7 executions, says the text; --json: $(grep '"executions"' json)"
	echo precious >notes
	zug 60 run -q --executions 2 --record notes -- true
	want_status 2
	want_err 'not the record of a campaign; it was not changed'
	zug 20 show record
	want_status 0
	want_out "^result    nothing found in $n executions"
	want_out '^ended     every schedule within the bound was tried'
	want_out '^covered   every schedule of the known points with up to 1 preemption$'
	zug 60 run -q --verify 0 --record record -- "$programs/abba-deadlock"
	want_status 1
	n=$(sed -n 's/^found in execution \([0-9]*\),.*/\1/p' out)
	zug 20 show record
	want_out "^execution $n, after .* by .*: deadlock"
	want_out '^record    the last of 2 campaigns'
	end
fi

if begin "rules hold a task"; then
	zug 60 run -q --strategy random --executions 20 --rules 'hold T1 at lock on b until T2 at lock on a' -o traces -- \
		"$programs/abba-deadlock"
	want_status 1
	want_out '^found in execution [0-9]+, .*: deadlock'
	zug 60 run -q --rules 'hodl T1' -- true
	want_status 2
	want_err "rules, line 1: unknown statement 'hodl'; there are: stay"
	end
fi

if begin "tasks that are taken off the lane"; then
	# the one that has the turn, and one that is parked
	for which in 0 1; do
		"$zug" run -q --timeout 0 --executions 1 -o traces -- sh -c 'while :; do :; done & while :; do :; done' >search.out 2>&1 &
		search=$!
		wait_until computes || note "the test does not begin: $(cat search.out)"
		taskset -pc 0 "${tasks[$which]}" >taskset.out 2>&1 || note "$(cat taskset.out)"
		wait_end $search || note "the search goes on"
		wait $search
		rc=$?
		[ $rc = 3 ] || note "exit status $rc, not 3"
		has_line 'another process has changed the CPUs on which a task of the test may run' search.out || note "$(cat search.out)"
		want_nothing_left
	done
	end
fi
if begin "tasks that are let go share the lane"; then
	# zug may take long to kill them, and what it waits for meanwhile may be one of them
	cat >drain.py <<-'END'
		import ctypes, glob, struct
		bpf = ctypes.CDLL(None).syscall
		def call(command, attributes):
		    memory = ctypes.create_string_buffer(attributes.ljust(144, b'\0'))
		    number = bpf(321, command, memory, 144)
		    if number < 0:
		        raise SystemExit('bpf() failed')
		    return number
		path = ctypes.create_string_buffer(glob.glob('/sys/fs/bpf/zugzwang/*/p_zug_ctl')[0].encode())
		program = call(7, struct.pack('QII', ctypes.addressof(path), 0, 0))  # BPF_OBJ_GET
		for slot in range(4):
		    context = ctypes.create_string_buffer(struct.pack('II', 7, slot).ljust(1024, b'\0'))  # ZUG_CMD_DRAIN
		    call(10, struct.pack('4I2Q4I2Q', program, 0, 0, 0, 0, 0, 0, 0, 1024, 0, ctypes.addressof(context), 0))  # BPF_PROG_TEST_RUN
	END
	"$zug" run -q --timeout 0 --executions 1 -o traces -- sh -c 'while :; do :; done & while :; do :; done' >search.out 2>&1 &
	search=$!
	wait_until computes || note "the test does not begin: $(cat search.out)"
	/usr/bin/python3 drain.py 2>said || note "$(cat said)"
	ticks() { awk '{ print $14 }' "/proc/$1/stat"; }
	mapfile -t had < <(for task in "${tasks[@]}"; do ticks "$task"; done)
	go_on() { [ "$(ticks "${tasks[0]}")" -gt "$((had[0] + 5))" ] && [ "$(ticks "${tasks[1]}")" -gt "$((had[1] + 5))" ]; }
	wait_until go_on || note "one computes alone: $(ticks "${tasks[0]}") and $(ticks "${tasks[1]}") ticks, ${had[*]} before"
	is_scheduler enabled || note "the kernel has ejected the scheduler"
	kill -INT $search
	wait_end $search || note "the search goes on"
	wait $search
	want_nothing_left
	end
fi
if begin "misuse of a mutex is found before it happens"; then
	for how in free foreign relock destroy wait; do
		zug 60 run -q -o traces --no-minimize --executions 10 -- "$programs/outcomes/misuse" $how
		want_status 1 "$how"
		want_out '^found in execution 1, .*: misuse'
		want_out '^replayed: 1 of 1'
	done
	zug 60 run -q -o traces --executions 10 -- "$programs/outcomes/misuse" none
	want_status 0
	end
fi
finish
