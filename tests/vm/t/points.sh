#!/bin/bash
# Choice points and their labels: every primitive in each kind of binary, system calls with their objects, objects that
# two processes share, --point and --watch in all their forms.
# Takes 60 s under emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/vm/labels.sh
. "$(dirname "$0")/../labels.sh"

use_daemon

# In glibc pthread_spin_init is another name of pthread_spin_unlock, and its label is that one's.
if begin "primitives"; then
	trace_of -- "$points/primitives"
	want_labels "$sources/primitives.c" glibc
	nr_steps 2 '"op":"yield"'
	end
fi
if begin "primitives of static glibc"; then
	trace_of -- "$points/primitives-glibc"
	want_labels "$sources/primitives.c" glibc anywhere
	nr_steps 2 '"op":"yield"'
	end
fi
if begin "primitives of static musl"; then
	trace_of -- "$points/primitives-musl"
	want_labels "$sources/primitives.c" musl
	nr_steps 2 '"op":"yield"'
	end
fi
if begin "guards of C++"; then
	trace_of -- "$points/guards"
	line=$(grep -n 'op: guard' "$sources/guards.cc" | cut -d: -f1)
	nr_steps 2 "\"op\":\"guard-acquire\".*\"line\":$line[,}]"
	nr_steps 1 "\"op\":\"guard-abort\".*\"line\":$line[,}]"
	nr_steps 1 "\"op\":\"guard-release\".*\"line\":$line[,}]"
	nr_steps 4 '"op":"guard-[a-z]*","object":"[^"]*instance'
	end
fi

if begin "primitives that are looked up by name"; then
	# begin, lock, rdlock, end: the third is known when zug has seen the loaded library
	zug 60 check -q -n 2 -- "$points/by-name" "$points/uses-rdlock"
	want_status 0
	want_out 'all the same: 4 steps'
	trace_of -- "$points/by-name" "$points/uses-rdlock"
	nr_steps 1 '"op":"lock","object":"mutex'
	end
fi

if begin "GLib's locks and conditions"; then
	if ldconfig -p | grep -q libglib-2.0.so.0; then
		zug 60 run -q --seed 1 -o traces -- "$points/glib-locks"
		want_status 1
		want_out 'T1 waits in cond-wait for cond'
		want_out 'T0 does cond-signal cond'
		end
	else
		end SKIP "GLib is not installed"
	fi
fi

# Each call is one step, although the function looks twice whether its stack is large enough.
if begin "Go's channels, groups and conditions"; then
	trace_of -- "$points/go-operations"
	want_labels "$sources/go-operations.c"
	nr_steps 16 '"op":"(chan-|select|group-|cond-)'
	nr_steps 1 '"op":"select","object":"first","kind":"channel","object2":"second"'
	nr_steps 0 '"object":"third"'
	end
fi

if begin "one object in two processes"; then
	for how in "" sysv; do
		trace_of -- "$points/shared-mutex" ${how:+"$how"}
		for op in lock sem-post; do
			nr=$(grep -E "\"op\":\"$op\"" "$dir/steps" | grep -F shared-mutex.c | grep -oE '"object":"[^"]*"' |
				sort | uniq -c)
			[ "$(wc -l <<<"$nr")" = 1 ] && [ "$(awk '{ print $1 }' <<<"$nr")" = 4 ] || note "objects of $op: $nr"
		done
	done
	end
fi

if begin "system calls"; then
	trace_of --points sync,syscall -- "$points/calls"
	want_labels "$sources/calls.c" glibc
	nr_steps 2 '"op":"send".*"object2":"[^"]*datagrams'
	# of three looks in a row that find nothing the first is none
	nr_steps 2 '"op":"yield"'
	end
fi

# Without unwind information the instructions tell the depth of the stack.
if begin "system calls of static musl"; then
	trace_of --points sync,syscall -- "$points/calls-musl"
	want_labels "$sources/calls.c" musl
	end
fi

# Four of each of three threads; a copy of a descriptor is the same object. What it is of is known where the task stopped.
if begin "descriptors that come and go"; then
	trace_of -- "$points/descriptors"
	of='"object":"(descriptor|eventfd|epoll|timerfd|signalfd) [^"]*"'
	nr_steps 15 "\"op\":\"close\",$of"
	objects=$(grep -oE "$of" "$dir/steps" | sort -u | wc -l)
	[ "$objects" = 12 ] || note "$objects descriptors, not 12"
	nr=$(grep -E "\"op\":\"(read|write|close)\",$of" "$dir/steps" | grep -oE '"object":"[^"]*"' | sort | uniq -c | awk '$1 == 4' | wc -l)
	[ "$nr" = 3 ] || note "$nr with four operations, not 3"
	nr_steps 3 "\"op\":\"fcntl\",$of"
	end
fi

# What the C library reads of its own is no point; what the program reads is.
if begin "files of the C library"; then
	LC_ALL=C.UTF-8 trace_of -- sh -c 'cat /etc/hostname >/dev/null; true'
	nr_steps 0 '"object":"[^"]*locale'
	nr_steps 1 '"op":"open","object":"(/run/vm/root)?/etc/hostname'
	end
fi

# What the distribution has installed is not written by a test. Some paths only look as if they led there.
if begin "files of the distribution"; then
	echo 1 >here
	# in our virtual machine there is another path of /usr
	other=/run/vm/root/usr/lib/os-release
	[ -e $other ] || other=
	trace_of -- sh -c "cat /usr/lib/os-release $other /usr/share/../lib/os-release here /usr/lib/../../etc/hostname /usr/local/none; true"
	nr_steps 0 '"object":"[^"]*/lib/os-release'
	nr_steps 1 '"op":"open","object":"(/run/vm/root)?/etc/hostname'
	nr_steps 2 '"op":"read","object":"[^"]*/here'
	nr_steps 1 '"op":"open","object":"[^"]*/none'
	# that call may be one that is to fail
	trace_of --faults enospc -- cat /usr/lib/os-release
	nr_steps 2 '"op":"read","object":"[^"]*/lib/os-release'
	end
fi

# Nobody sends a signal; what is done with /dev/null, and that a file is closed of which nobody has a lock, nobody sees either.
if begin "what no other task can see"; then
	trace_of -- "$points/own-locks" handler
	nr_steps 0 '"op":"sigaction"'
	# a library of the distribution locks for itself: unseen in processes of one task, and not in those of two
	for rounds in "1 1" "100 5"; do
		# shellcheck disable=SC2086
		zug 60 check -q -n 2 -- "$points/own-locks" library $rounds
		want_status 0
		sed -n 's/.* all the same: \([0-9]*\) steps.*/\1/p' out >>nr
	done
	# and a join that has to wait goes on in a step of its own
	more=$(($(tail -n 1 nr) - $(head -n 1 nr)))
	[ $more -ge 8 ] && [ $more -le 9 ] ||
		note "99 more locks in two processes, and 4 in a thread: steps $(paste -s -d' ' nr)"
	# that call may be one that is to fail, but for one that leaves a signal as it is
	trace_of --faults enospc -- "$points/own-locks" handler
	nr_steps 1 '"op":"sigaction"'
	echo 1 >here
	mkdir mine
	PATH=/nowhere/bin:$PWD/mine:$PATH trace_of -- \
		bash -c 'exec 3<here 4</dev/null 5<here; exec 3<&- 4<&-; flock 5; exec 5<&-; cat here; true'
	nr_steps 0 '"object":"/(nowhere/bin|dev/null)'
	# bash looks twice where it finds none
	nr_steps 1 '"op":"stat","object":"[^"]*/mine/flock'
	nr_steps 1 '"op":"stat","object":"[^"]*/mine/cat'
	nr_steps 3 '"op":"open","object":"[^"]*/here'
	# those behind the lock: bash has two descriptors of it, and cat one
	nr_steps 3 '"op":"close","object":"[^"]*/here'
	nr_steps 0 '"op":"close","object":"std(out|err)'
	end
fi

if begin "system calls of one kind only"; then
	trace_of --points syscall:file -- "$points/calls"
	nr_steps 1 '"op":"rename","object":"[^"]*file'
	nr_steps 0 '"op":"(kill|pipe|connect)"'
	end
fi

if begin "no points but blocking and ends"; then
	trace_of --points none -- "$programs/abba-deadlock-fixed"
	nr_steps 0 '"op":"(lock|unlock|create)"'
	grep -q '"op":"begin"' "$dir/steps" || note "no step at all"
	end
fi

if begin "--point SYMBOL"; then
	trace_of --points none --point main -- "$programs/abba-deadlock-fixed"
	nr_steps 1 '"op":"point".*"function":"main"'
	# what only a program of the test's script maps
	trace_of --points none --point uses-rdlock.c:12 -- sh -c 'exec "$0" "$1"' "$points/by-name" "$points/uses-rdlock"
	nr_steps 0 '"op":"point"'
	end
fi

if begin "--point of a namespace"; then
	trace_of --points none --point 'bank::*' -- "$points/guards"
	nr_steps 3 '"op":"point"'
	nr_steps 1 '"op":"point".*"function":"bank::deposit'
	nr_steps 1 '"op":"point".*"function":"bank::withdraw'
	nr_steps 1 '"op":"point".*"function":"bank::account::close'
	end
fi

if begin "--point FILE:LINE"; then
	line=$(grep -n 'balance - amount' "$sources/guards.cc" | cut -d: -f1)
	trace_of --points none --point "guards.cc:$line" -- "$points/guards"
	nr_steps 1 "\"op\":\"point\".*\"line\":$line[,}]"
	end
fi

if begin "--point BINARY:SYMBOL+OFFSET"; then
	trace_of --points none --point libc.so.6:getpid+0 --point "$points/calls:main+0x0" -- "$points/calls"
	nr_steps 1 '"op":"point".*"function":"main"'
	end
fi

if begin "--from FUNCTION"; then
	zug 60 run -q --from serve --executions 100 -o traces -- "$points/after-start"
	want_status 1
	want_out '^replayed: 1 of 1 .*step for step'
	trace=$(kept_trace)
	zug 60 diff "$trace"
	want_status 1
	want_out '       pass$'
	zug 30 show --json "$trace"
	grep '^{"step"' "$dir/out" >"$dir/steps"
	nr_steps 1 '"op":"point".*"function":"serve"'
	nr_steps 0 '"function":"start"'
	[ "$(wc -l <"$dir/steps")" -lt 60 ] || note "$(wc -l <"$dir/steps") steps, of which the start takes 400"
	zug 60 pin -o script "$trace"
	want_status 0
	grep -q '^option from serve$' script || note "the script does not say where the search begins: $(cat script)"
	zug 60 check -q -n 4 --from serve -- "$points/after-start"
	want_status 0
	want_out '^4 executions of one schedule, all the same: [2-5][0-9] steps'
	# the whole of it
	zug 60 check -q -n 2 -- "$points/after-start"
	want_out 'all the same: 4[0-9][0-9] steps'
	end
fi

if begin "--from-output and --from-call"; then
	# the line comes in three writes, and another thread locks meanwhile
	zug 60 run -q --no-minimize --from-output '^it is ready' --executions 100 -o traces -- "$points/after-start" says
	want_status 1
	want_out '^replayed: 1 of 1 .*step for step'
	trace=$(kept_trace)
	zug 30 show --json "$trace"
	grep '^{"step"' "$dir/out" >"$dir/steps"
	nr_steps 1 '"op":"write","object":"stdout"'
	nr_steps 0 '"function":"start"'
	zug 60 check -q -n 2 --from-call writev -- "$points/after-start" complains
	want_out '^2 executions of one schedule, all the same: [2-9][0-9] steps'
	# an error output, where writes are no points
	zug 60 check -q -n 2 --points sync --from-output 'begins' -- "$points/after-start" complains
	want_out '^2 executions of one schedule, all the same: [2-9][0-9] steps'
	# a log, and a pipe from which a script reads
	for to in '>log' '| cat'; do
		zug 60 check -q -n 2 --points sync --from-output '^it begins' -- sh -c "\"$points/after-start\" complains 2>&1 $to"
		want_out '^2 executions of one schedule, all the same: 1?[0-9][0-9] steps'
	done
	zug 60 run -q --from-output nothing -o traces -- "$points/after-start" says
	want_status 2
	want_err '--from-output nothing: the test ended without getting there'
	zug 60 run -q --from-output '(' -o traces -- "$points/after-start"
	want_status 2
	want_err "--from-output '\\(': "
	zug 60 run -q --from-call accep -o traces -- "$points/after-start"
	want_status 2
	want_err '--from-call accep: zug knows no such system call'
	end
fi

# Each round takes longer than --spin. With points in the computation it had 228 steps.
if begin "a long computation before --from, and loops that wait there"; then
	zug 60 check -q -n 2 --spin 20ms --from serve -- "$points/long-start" 12 2000000
	want_status 0
	want_out '^2 executions of one schedule, all the same: 1[0-9] steps'
	# a loop that goes round in one state, while a task could run that ends it, is no finding there
	zug 60 check -q -n 2 --spin 20ms --from serve -- "$points/long-start" 0 0 looks
	want_status 0
	want_out '^2 executions of one schedule, all the same: 1[0-9] steps'
	# one that counts its turns comes to an end without --timeout
	zug 40 check -q -n 2 --spin 20ms --timeout 0 --from serve -- "$points/long-start" 0 0 waits
	want_status 0
	want_out '^2 executions of one schedule, all the same: 1[0-9] steps'
	end
fi

if begin "--not and --only"; then
	# callers within functions of the C++ library
	zug 90 run -q --seed 3 --only 'bank::*' --no-minimize -o traces -- "$points/left-out"
	want_status 1
	trace=$(kept_trace)
	zug 30 show --json "$trace"
	grep '^{"step"' "$dir/out" >"$dir/steps"
	# the log's locks are steps, and none of them is a decision
	grep -q '"object":"accounts.lock".*"enabled":\[[0-9]*,' "$dir/steps" || note "no decision in the bank"
	[ "$(grep -c '"object":"notes.lock"' "$dir/steps")" -ge 160 ] || note "the log's locks are no steps"
	[ "$(grep -c '"op":"atomic-.*"object":"notes.lines"' "$dir/steps")" -ge 80 ] || note "the log's counter makes no steps"
	! grep '"object":"notes\.' "$dir/steps" | grep '"enabled":\[[0-9]*,' || note "decisions in the log"
	zug 60 replay -n 3 "$trace"
	want_status 1
	want_out 'replayed 3 of 3 times exactly'
	# the same search where every point asks
	for ask in unknown always; do
		zug 60 run -q --executions 20 --not 'journal::*' --seed 3 --no-minimize --ask $ask -o traces -- "$points/left-out"
		want_status 1
		grep -o '^found in execution [0-9]*' "$dir/out" >found.$ask
	done
	cmp -s found.unknown found.always || note "another search with --ask always: $(cat found.*)"
	# a caller that lies in no file
	zug 60 run -q --executions 4 --only main -o traces -- "$points/made-code"
	want_status 0
	zug 60 run -q --only nosuch/ --not libnosuch.so.1 -o traces -- "$points/left-out"
	want_status 2
	want_err '--only nosuch/: no such library, function, source file or folder'
	zug 60 run -q --not libc.so.6 --strategy dpor -o traces -- "$points/left-out"
	want_status 2
	want_err '--not leaves out points, without which dpor would miss orders'
	end
fi

if begin "--from FILE:LINE that is no place, and one that is not reached"; then
	zug 60 run -q --from after-start.c:1 -o traces -- "$points/after-start"
	want_status 2
	want_err '--from after-start.c:1: no code at that line; the next line with code is '
	zug 60 run -q --from servo -o traces -- "$points/after-start"
	want_status 2
	want_err '--from servo: no such function in the program or its libraries; did you mean serve'
	zug 60 run -q --from shut_down -o traces -- "$points/after-start"
	want_status 2
	want_err '--from shut_down: the test ended without getting there'
	end
fi

if begin "a runtime of a language has no points of its own"; then
	trace_of -- "$points/runtime"
	nr_steps 0 '"op":"atomic-'
	nr_steps 1 '"op":"create"'
	trace_of --code napi_create_function -- "$points/runtime"
	nr_steps 2 '"op":"atomic-rmw"'
	end
fi

# watched NAME TASKS ACCESSES TRACE: exactly TASKS tasks access NAME, at least ACCESSES times.
watched()
{
	local accesses tasks

	zug 30 show --json "$4"
	grep -E "\"op\":\"data-(access|read|write)\",\"object\":\"$1\"" "$dir/out" >"$dir/steps"
	accesses=$(wc -l <"$dir/steps")
	tasks=$(grep -oE '^\{"step":[0-9]+,"task":[0-9]+' "$dir/steps" | cut -d: -f3 | sort -u | wc -l)
	[ "$accesses" -ge "$3" ] || note "$accesses accesses of $1, not $3 or more"
	[ "$tasks" -ge "$2" ] || note "$1 is accessed by $tasks tasks, not $2"
}

if begin "--watch SYMBOL"; then
	zug 60 run -q --points none --watch counter --executions 300 -o traces -- "$programs/atomicity-watch"
	want_status 1
	want_out '^replayed: 1 of 1'
	watched counter 2 4 "$(kept_trace)"
	end
fi

if begin "--watch in several processes"; then
	# Found only if the accesses of two processes to the memory that they share are points.
	zug 60 run -q --points none --watch bank::total --executions 300 -o traces -- "$points/watched"
	want_status 1
	want_out '^replayed: 1 of 1'
	watched "(bank::total|variable #0 of T0)" 2 4 "$(kept_trace)"
	end
fi

# Also where it stands before an instruction that the kernel side executes in place of the processor.
if begin "who is killed does not do what it stands before"; then
	zug 60 run -q --keep-going --no-minimize --executions 40 -o traces -- "$points/killed-adds"
	want_status 1
	for trace in traces/*.trace; do
		zug 60 show --json "$trace"
		code=$(grep -oE '"outcome":\{"kind":"exit",[^}]*"code":[0-9]+' "$dir/out" | grep -oE '[0-9]+$')
		nr=$(grep -c '^{"step":.*"task":1,"op":"data-write"' "$dir/out")
		[ "$code" = "$nr" ] || note "$trace: $code additions, $nr steps"
	done
	# what nobody looks at afterwards may be half done
	zug 60 run -q --executions 12 -o traces -- "$points/killed-adds" before
	want_status 0
	grep -q "a process is killed" "$dir/out" && note "$(grep "a process is killed" "$dir/out")"
	end
fi

if begin "additions of the only task to a watched variable"; then
	# They pass without a question; a replay asks at each, and executes the same. The first execution has no watch yet, and
	# one with it has 300 steps.
	zug 60 run -q --profile --points sync --watch sum --executions 3 --max-steps 250 --no-minimize -o traces -- \
		"$programs/outcomes/computes" adds 100
	want_status 1
	want_out '^replayed: 1 of 1 times the same failure, step for step$'
	asked=$(sed -n 's/.* points, \([0-9]*\)[.0-9]* questions.*/\1/p' "$dir/out" "$dir/err" | head -n 1)
	[ "${asked:-10000}" -lt 30 ] || note "$asked questions"
	watched sum 1 160 "$(kept_trace)"
	end
fi

if begin "zug names files that cannot have points"; then
	zug 60 run -q --executions 2 -o traces -- "$points/stripped"
	want_status 0
	want_err '/stripped.*no symbols'
	[ "$(grep -c '/stripped' "$dir/err")" = 1 ] || note "not said once: $(cat "$dir/err")"
	end
fi

if begin "what the points are"; then
	zug 60 run -q --list-points --executions 12 --point worker --json json -o traces -- "$programs/heap-list-fixed"
	want_status 0
	want_out '^[0-9]+ points, [0-9]+ that are none:$'
	want_out '^  mutex #0 of T0 +push \(heap-list\.c:32\) +lock +[2-9][0-9] +1$'
	want_out '^  struct node\.next +push \(heap-list\.c:34\) +data-write +[1-9][0-9]* +[1-9][0-9]*  never unordered$'
	want_out '^  - +worker \(heap-list\.c:42\) +point +[2-9][0-9] +1$'
	want_out '^  - +/.*/libc\.so\.6 +- +- +-  library: '
	n=$(sed -n 's/^\([0-9]*\) points, \([0-9]*\) that are none:$/\1 + \2/p' "$dir/out")
	[ "$(grep -c '"since":' json)" = $(($n)) ] || note "$n points, says the text; $(grep -c '"since":' json), says --json"
	zug 60 run -q --list-points --no-races --executions 2 -o traces -- "$programs/heap-list-fixed"
	want_out '^  - +all plain accesses of data +- +- +-  not looked at \(--no-races\)$'
	zug 10 exec --list-points -- true
	want_status 125
	want_err '--list-points belongs to zug run'
	end
fi

finish
