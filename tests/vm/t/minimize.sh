#!/bin/bash
# Failures of one bug are counted as one; its simplest schedule; all the bugs of a search.
# Takes 27 s under emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"

outcomes=$programs/outcomes

# traces_in DIR: prints the number of traces.
traces_in()
{
	set -- "$1"/*.trace
	[ -e "$1" ] && echo $# || echo 0
}

# preemptions TRACE: prints the number of preemptions of its schedule.
preemptions()
{
	"$zug" show "$1" | sed -n 's/^schedule .*, \([0-9]*\) preemptions\?.*/\1/p'
}

use_daemon
# Other tasks, other messages, other schedules: the same bug, found again and again.
for p in abba-deadlock bank-transfer lost-wakeup; do
	if begin "one bug: $p"; then
		zug 120 run -q --no-minimize --verify 0 --strategy random --keep-going --executions 40 -o traces -- \
			"$programs/$p"
		want_status 1
		want_out '^1 distinct failure in [0-9]+ executions:$'
		want_out '^    ([2-9]|[1-9][0-9]+) times, first in execution [0-9]+; trace: traces/'
		[ "$(traces_in traces)" = 1 ] || note "$(traces_in traces) traces of one bug"
		end
	fi
done

if begin "two bugs"; then
	zug 120 run -q --no-minimize --verify 0 --strategy random --keep-going --executions 60 -o traces -- "$outcomes/two-bugs"
	want_status 1
	want_out '^2 distinct failures in [0-9]+ executions:$'
	want_out "^  abort: .*seen != 1"
	want_out '^  exit: exit status 3'
	[ "$(traces_in traces)" = 2 ] || note "$(traces_in traces) traces of two bugs"
	end
fi

if begin "two bugs, found by a search that was interrupted"; then
	zug 120 run -q --no-minimize --verify 0 --strategy random --keep-going --executions 20 --resume state -o traces -- \
		"$outcomes/two-bugs"
	want_status 1
	first=$(sed -n 's/^    \([0-9]*\) times\?, .*/\1/p' "$dir/out" | head -n 1)
	zug 120 run -q --no-minimize --verify 0 --strategy random --keep-going --executions 40 --resume state -o traces -- \
		"$outcomes/two-bugs"
	want_status 1
	want_out '^2 distinct failures in [67][0-9] executions:$'
	second=$(sed -n 's/^    \([0-9]*\) times\?, .*/\1/p' "$dir/out" | head -n 1)
	[ "$second" -gt "$first" ] || note "$first times, then $second"
	[ "$(traces_in traces)" = 2 ] || note "$(traces_in traces) traces of two bugs"
	end
fi

if begin "where a fault is"; then
	zug 60 run -q --strategy random --executions 50 -o traces -- "$outcomes/segv"
	want_status 1
	want_out '^killed by SIGSEGV'
	want_out '^T0 .*: died here$'
	want_out '#0 +look .*segv\.c:16'
	want_out '^T1 .*: (could run|waits)'
	# at an instruction that the kernel executes elsewhere, for it is a point
	zug 60 run -q -o traces -- "$programs/order-violation"
	want_status 1
	want_out '^T[0-9] .*: died here$'
	want_out '#0 +[a-z_]+ .*order-violation\.c:[0-9]+'
	! grep -q 'uprobes' "$dir/out" || note "the kernel's page of instructions is told"
	end
fi

if begin "a signal has its place"; then
	zug 120 run -q -o traces -- "$programs/handler-pair"
	want_status 1
	tr '\n' '~' <"$dir/out" | grep -qE 'It fails when~ +T1 does kill SIGUSR1 [^~]*~[^~]*~ +before~ +T0 would do data-write pair\.high ' ||
		note "the signal and the store are not named: $(grep -A 6 '^It fails' "$dir/out")"
	want_out '^  and passes when these two alone come the other way round'
	want_out '^  step [0-9]+: SIGUSR1 is delivered to T0  handler look handler-pair\.c:'
	want_out '^      T0 has done data-write pair\.low '
	want_out '^replayed: 1 of 1 times'
	trace=$(kept_trace)
	zug 60 pin -o pinned "$trace"
	zug 120 run -q --script pinned -o traces -- "$programs/handler-pair"
	want_status 1
	end
fi

if begin "a child's end is tied to its parent's signal"; then
	zug 60 run -q --points sync,syscall -o traces -- "$programs/lost-sigchld"
	want_status 1
	tr '\n' '~' <"$dir/out" | grep -qE 'It fails when~ +T1 does end \(SIGCHLD\) [^~]*~[^~]*~ +before~ +T0 (does|would do) signal-wait ' ||
		note "the child's end and the wait are not named: $(grep -A 6 '^It fails' "$dir/out")"
	end
fi

if begin "what decides a livelock, and its round"; then
	zug 120 run -q -o traces -- "$programs/gave-up"
	want_status 1
	tr '\n' '~' <"$dir/out" | grep -qE 'It fails when~ +T0 does atomic-(rmw|store) waiting [^~]*~[^~]*~ +before~ +T1 does atomic-load waiting ' ||
		note "the two operations are not named: $(grep -A 6 '^It fails' "$dir/out")"
	tr '\n' '~' <"$dir/out" | grep -qE 'Again and again, from step [0-9]+ to the end:~ +T0 does yield~ +T0 does atomic-load word ' ||
		note "the round is not told: $(grep -A 6 '^Again' "$dir/out")"
	end
fi

if begin "steps in methods of headers are told by the lines that call them"; then
	zug 120 run -q --strategy random --executions 200 -o traces -- "$programs/guard-abba"
	want_status 1
	want_out '^It fails when$'
	want_out '^ +T[12] does (lock|guard-acquire) .*  [^ ]+ guard-abba\.cc:[0-9]+$'
	! grep -E '^ +T[0-9]+ (does|would do|is stopped before) (un)?lock .*\.h:[0-9]+$' "$dir/out" ||
		note "a header is named"
	# with a time-out that ends early it fails without a preemption
	zug 120 run -q --strategy random --timeouts never --executions 200 -o traces -- "$programs/early-notify"
	zug 60 pin -o pinned "$(kept_trace)"
	zug 60 run -q --script pinned -o traces -- "$programs/early-notify"
	want_status 1
	want_out '^ +T[01] is stopped before .* early-notify\.cc:[0-9]+$'
	! grep -qE '^ +T[01] (does|is stopped before) .*\.h:[0-9]+$' "$dir/out" || note "a script tells a header"
	end
fi

if begin "a finding is minimised"; then
	zug 120 run -q --strategy random --executions 200 -o traces -- "$programs/bank-transfer"
	want_status 1
	want_out '^minimised in [0-9]+ executions: .* -> 1 preemption, '
	want_out '^T[12] .*: died here$'
	want_out '#[0-9]+ +audit .*bank-transfer\.c:54$'
	want_out '^T0 .*: waits in join$'
	want_out ' is stopped before '
	want_out '^as it was found: traces/bank-transfer\.1\.found\.trace$'
	want_out '^trace: traces/bank-transfer\.1\.trace \([0-9]+ steps, 1 preemption\)$'
	want_out '^replayed: 1 of 1 times the same failure, step for step$'
	zug 60 replay -q -n 3 --profile traces/bank-transfer.1.trace
	want_status 1
	want_out 'replayed 3 of 3 times exactly'
	want_out '^profile of 3 executions: .* points, [0-9.]+ questions at points and elsewhere$'
	zug 60 replay -q traces/bank-transfer.1.found.trace
	want_status 1
	end
fi

if begin "zug minimize"; then
	zug 120 run -q --no-minimize --executions 400 -o traces -- "$programs/dining-philosophers"
	want_status 1
	[ "$(traces_in traces)" = 1 ] || note "not one trace: $(traces_in traces)"
	before=$(preemptions traces/dining-philosophers.1.trace)
	zug 120 minimize -q traces/dining-philosophers.1.trace
	want_status 1
	want_out '^minimised in [0-9]+ executions: '
	after=$(preemptions traces/dining-philosophers.1.min.trace)
	[ "$after" -le "$before" ] || note "$before preemptions, then $after"
	zug 60 replay -q -n 3 traces/dining-philosophers.1.min.trace
	want_out 'replayed 3 of 3 times exactly .*: deadlock'
	# a minimal trace stays as it is
	zug 120 minimize -q -o again traces/dining-philosophers.1.min.trace
	want_out "^minimised in [0-9]+ executions: $after preemptions?, .*; (none of the [0-9]+ simpler ones that were tried fails like that|there was nothing to leave out)\$"
	# cut short, the result is never worse
	zug 60 minimize -q --executions 2 -o short traces/dining-philosophers.1.trace
	want_status 1
	want_out 'stopped after .* by its bound of executions with about [0-9]+ of [0-9]+ tries left: there may be'
	zug 60 minimize -q --time 1ms -o short traces/dining-philosophers.1.trace
	want_status 1
	want_out 'minimised in 1 execution: .*; stopped after [0-9.]+ m?s with about [0-9]+ of [0-9]+ tries left'
	[ "$(preemptions short)" -le "$before" ] || note "worse: $(preemptions short) preemptions"
	end
fi

# Executions of 100 ms or more: each phase after the finding has some of them at most.
if begin "the time holds in every phase"; then
	zug 60 run -q --strategy random --minimize-time 200ms --json json -o traces -- "$outcomes/slow" 10
	want_status 1
	want_out '^minimised in [1-9] executions?: .*; stopped after [0-9.]+ m?s with about [0-9]+ of [0-9]+ tries left'
	want_out '^go on with it: zug minimize traces/slow.1.trace$'
	n=$(sed -n 's/^minimised in \([0-9]*\) .*/\1/p' "$dir/out")
	grep -q "\"minimize\": *$n," json || note "minimised in $n, says the text; --json: $(grep minimize json)"
	want_out "^beside the [0-9]+ executions of the search: .*, $n to minimise, [1-9] to explain$"
	zug 60 diff -q --time 1ms traces/slow.1.trace
	want_status 5
	want_err 'the time \(--time\) is over: none of 1 executions near traces/slow.1.trace passed'
	zug 60 run -q --strategy random --executions 200 -o traces -- "$programs/abba-deadlock"
	zug 60 pin -q --time 1ms -o script traces/abba-deadlock.1.trace
	want_status 0
	want_out 'followed 1 time, the same failure each time \(--verify wanted more\)'
	zug 60 run -q --strategy random --time 1ms --verify 9 -o late -- false
	want_status 5
	want_out '^stopped: the time \(--time\)'
	end
fi

if begin "a trace that cannot be minimised"; then
	cp "$programs/abba-deadlock" test
	zug 60 run -q --no-minimize --executions 200 -o traces -- ./test
	cp "$programs/bank-transfer" test
	zug 60 minimize -q traces/test.1.trace
	want_status 2
	want_err 'test was rebuilt since the trace was recorded'
	zug 60 minimize -q --force traces/test.1.trace
	want_status 5
	want_err 'does not fail again under its own schedule: '
	cp "$programs/abba-deadlock" test
	head -c 900 traces/test.1.trace >cut
	zug 60 minimize -q cut
	want_status 2
	echo nonsense >nonsense
	zug 60 minimize -q nonsense
	want_status 2
	want_err 'not a zugzwang trace'
	zug 60 run -q --no-minimize --executions 1 --timeout 1s --time real -o traces -- sleep 10
	trace=$(kept_trace)
	zug 60 minimize -q --executions none "$trace"
	want_status 2
	end
fi

if begin "a script is explained by its own lines"; then
	cat >add.sh <<-'END'
		#!/bin/bash
		add()
		{
			local n
			n=$(cat count)
			echo $((n + 1)) >count
		}
		echo 0 >count
		add &
		add &
		wait
		[ "$(<count)" = 2 ]
	END
	chmod +x add.sh
	zug 90 run -q --seed 1 --executions 40 --minimize-time 4s -o traces -- ./add.sh
	want_status 1
	# what a command does is done by the line that has started it
	want_out '^      T[0-9]+ (\(cat\) )?(does|is stopped before) [a-z]+ [^ ]*count  add add.sh:[56]$'
	want_out '^ +(5 \| +n=\$\(cat count\)|6 \| +echo .*>count)$'
	end
fi
finish
