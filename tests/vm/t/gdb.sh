#!/bin/bash
# gdb on a replay: it shows the true state, and the schedule is kept under all its commands.
# gdb takes seconds to start under emulation, so some tests need LONG=1. (The tutorial has a watchpoint and a core.)
# Takes 60 s under emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"
remember

# find NAME ARGUMENTS...: sets $trace to a trace of that name in $base, which is made on the first call.
find()
{
	trace=$base/$1.trace
	[ ! -f "$trace" ] || return
	shift
	# The test's folder is removed with the test; a replay needs the folder of the recording.
	cd "$base" || exit 2
	zug 60 run -q --verify 0 --no-minimize --points sync -o traces "$@"
	want_status 1
	cp "$(kept_trace)" "$trace"
	cd "$dir" || exit 2
}

# gdb COMMAND...: a replay with gdb in batch mode, with the options ${options[@]} of zug replay.
options=()
gdb()
{
	local arguments=()

	while [ $# -gt 0 ]; do
		arguments+=(-ex "$1")
		shift
	done
	zug 90 replay --gdb ${options[@]+"${options[@]}"} "$trace" -- -batch "${arguments[@]}"
	# gdb prints the output of monitor commands on its error output
	cat err >>out
	options=()
}

exact()
{
	want_status 1
	want_out '^zug: replayed 1 of 1 times exactly'
}

if begin "breakpoint, print, next, to the failure"; then
	find abba -- "$programs/abba-deadlock"
	gdb 'break abba-deadlock.c:27' continue 'print from_a' 'print a.__data.__lock' next 'print a.__data.__lock' \
		'info threads' continue 'thread apply all bt 6'
	exact
	want_out 'hit Breakpoint 1, a_then_b'
	want_out '^\$1 = 0$'
	want_out '^\$2 = 0$'
	want_out '^\$3 = 1$'
	want_out 'T1: has the turn'
	want_out 'zug: the execution ends here: deadlock: .*T1 waits in lock for b, held by T2'
	# Every task's stack, also of tasks that gdb has never stopped.
	want_out 'T2: waits in lock for a'
	want_out 'in b_then_a \(arg=.*abba-deadlock.c:43'
	want_nothing_left
	end
fi
if begin "breakpoint where a probe is"; then
	find abba -- "$programs/abba-deadlock"
	# By its address, and what it returns by the register: the C library may have no debug information here.
	gdb 'break b_then_a' continue 'break *pthread_mutex_lock' continue 'info symbol $rdi' 'x/i $pc' 'backtrace 2' stepi 'backtrace 1' finish \
		'print/d $eax'
	exact
	want_out 'hit Breakpoint 2, .*pthread_mutex_lock'
	want_out '^[ab] in section '
	# gdb does not show the breakpoints of probes.
	! grep -q int3 out || note "int3 is seen: $(grep int3 out)"
	want_out '^\$[0-9]+ = 0$'
	end
fi
if begin "--stop-at-preemption, and the next one"; then
	# It needs a trace with at least two preemptions; the schedule that a seed finds depends on many things.
	for seed in 1 2 3 4 5 6 7 8 9; do
		rm -f "$base/abba-twice.trace"
		find abba-twice --strategy random --seed $seed -- "$programs/abba-deadlock"
		! grep -qE '^trace: .* [2-9] preemptions' "$dir/out" || break
	done
	options=(--stop-at-preemption)
	gdb 'monitor tasks' 'monitor stop-at preemption' continue 'info threads' 'monitor stop-at 99' 'monitor stop-at failure' continue
	exact
	want_out '^T[12]: about to begin '
	want_out '^zug: step [0-9]+ of [0-9]+: T[0-9] is about to '
	want_out '^there is no such step after'
	want_out '^will stop before step [0-9]+$'
	end
fi
if [ "${LONG:-}" ] && begin "--stop-before-failure, and killed"; then
	find abba -- "$programs/abba-deadlock"
	options=(--stop-before-failure)
	gdb 'monitor tasks' kill
	want_status 5
	want_out '^T2: about to lock a '
	want_err 'ended in the debugger'
	want_nothing_left
	end
fi
if [ "${LONG:-}" ] && begin "watchpoint, and the failed assertion"; then
	find atomicity -- "$programs/atomicity-locked"
	gdb 'break main' continue 'watch balance' continue continue delete continue 'up 5' 'print balance' continue
	exact
	want_out '^Old value = 100'
	want_out '^New value = (110|120)'
	want_out '^Old value = 1[12]0'
	want_out 'received signal SIGABRT'
	want_out '^\$1 = 1[12]0'
	want_out 'terminated with signal SIGABRT'
	end
fi
if [ "${LONG:-}" ] && begin "every instruction of a function"; then
	find atomicity -- "$programs/atomicity-locked"
	gdb 'break deposit' continue delete stepi stepi stepi stepi stepi stepi stepi stepi stepi stepi stepi stepi 'info symbol $pc' continue
	exact
	end
fi
if begin "two processes, any of them"; then
	find lost --points sync,syscall -- "$programs/file-lost-update"
	if [ "${LONG:-}" ]; then
		gdb 'break main' continue 'break write' continue 'backtrace 2' delete continue
		exact
		want_out 'in main \(\)'
		want_out '\(process [0-9]+\) exited with code 01'
	fi
	for task in ${LONG:+T1} T2; do
		options=(--process $task)
		gdb 'info threads' 'break add_one' continue 'backtrace 1' next next 'print fd' continue
		exact
		want_out "\* 1 +Thread .*\($task: about to begin\)"
		want_out "^\\\$1 = [0-9]+"
		want_out '\(process [0-9]+\) exited normally'
	done
	end
fi
if begin "behind a shell"; then
	find shell -- sh -c "$programs/abba-deadlock"
	if [ "${LONG:-}" ]; then
		zug 60 replay "$trace"
		exact
	fi
	gdb 'break main' continue next next 'info threads' continue
	exact
	want_out 'Breakpoint 1, main \(\)'
	want_out '\(T2: '
	end
fi
# An access that is single-stepped, by the kernel behind a probe or by gdb, and hits a hardware watchpoint, stalls a machine that
# QEMU emulates; and what the kernel steps over is never told. (The tutorial has a watchpoint, too.)
if [ "${LONG:-}" ] && begin "watchpoints on data whose accesses are points, and steps over them"; then
	find watched --watch balance -- "$programs/atomicity-locked"
	gdb 'break deposit' continue delete next next next next 'awatch balance' continue 'watch lock.__data.__lock' continue delete continue
	exact
	want_out '^30.*sum = balance'
	want_out 'hit Hardware access \(read/write\) watchpoint 2: balance'
	want_out 'hit Hardware watchpoint 3: lock.__data.__lock'
	end
fi
if [ "${LONG:-}" ] && begin "a breakpoint in code that a child executes, too"; then
	# vfork and fork with a breakpoint in code that parent and child both execute.
	find children --expect-exit 7 -- "$programs/fixtures/posix-spawn"
	gdb 'break main' continue 'break execve' 'break sigprocmask' 'break sigaction' continue delete continue
	exact
	find forks --expect-exit 7 -- "$programs/fixtures/fork"
	gdb 'break main' continue 'break _exit' 'break write' 'break close' continue delete continue
	exact
	end
fi
if [ "${LONG:-}" ] && begin "--core of a deadlock, and of an abort"; then
	find abba -- "$programs/abba-deadlock"
	zug 90 replay --core core.1 "$trace"
	exact
	command_run 60 /usr/bin/gdb -batch -ex 'thread apply all bt' "$programs/abba-deadlock" core.1
	want_out 'in a_then_b \(arg=.*abba-deadlock.c:2[89]'
	want_out 'in b_then_a \(arg=.*abba-deadlock.c:4[34]'
	if [ "${LONG:-}" ]; then
		find atomicity -- "$programs/atomicity-locked"
		zug 90 replay --core core.2 "$trace"
		exact
		command_run 60 /usr/bin/gdb -batch -ex 'up 5' -ex 'print balance' "$programs/atomicity-locked" core.2
		want_out '^\$1 = 1[12]0'
	fi
	end
fi
if begin "another gdb, which takes its time"; then
	# Longer than the kernel lets a runnable task wait (LONG=1), and than an execution may take.
	find abba -- "$programs/abba-deadlock"
	"$zug" replay --gdb-socket "$dir/socket" --stop-at 8 "$trace" >replay.out 2>replay.err &
	for ((i = 0; i < 300; i++)); do
		[ -S socket ] && grep -q waiting replay.err && break
		sleep 0.1
	done
	# It is for its user alone, and another one who reaches it all the same is not answered.
	[ "$(stat -c %a socket)" = 600 ] || note "the socket's mode is $(stat -c %a socket)"
	chmod 777 socket
	setpriv --reuid 65534 --regid 65534 --clear-groups /usr/bin/python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(sys.argv[1]); s.sendall(b"$qSupported#37")
print("got", s.recv(10))' "$dir/socket" >other.out 2>&1
	! grep -q "got b'[+$]" other.out || note "another user was answered: $(<other.out)"
	command_run 120 /usr/bin/gdb -batch -iex 'set sysroot /' -ex "target remote $dir/socket" \
		-ex "shell sleep ${LONG:+6}1" -ex 'info threads' -ex 'set var from_a = 5' -ex 'print from_a' -ex 'set var from_a = 0' -ex detach
	want_out '^\$1 = 5$'
	wait $!
	rc=$?
	cp replay.out out
	exact
	grep -q "before step 8, T[0-9].* waiting for: gdb " replay.err || note "what to do is not said: $(<replay.err)"
	want_nothing_left
	end
fi
if [ "${LONG:-}" ] && begin "Ctrl-C in gdb"; then
	find sleeps -- sh -c 'sleep 3.21; exit 3'
	"$zug" replay --gdb --process T0 "$trace" -- -batch -ex continue -ex 'monitor tasks' >replay.out 2>&1 &
	for ((i = 0; i < 300; i++)); do
		! grep -qzx 3.21 /proc/[0-9]*/cmdline 2>/dev/null || break
		sleep 0.1
	done
	for p in /proc/[0-9]*; do
		[ "$(cat "$p/comm" 2>/dev/null)" != gdb ] || kill -INT "${p##*/}"
	done
	wait $!
	rc=$?
	cp replay.out out
	want_out 'received signal SIGINT'
	want_out '^T0: '
	exact
	end
fi
if [ "${LONG:-}" ] && begin "gdb goes away"; then
	find abba -- "$programs/abba-deadlock"
	zug 60 replay --gdb "$trace" -- -batch -ex 'break main' -ex continue -ex 'shell kill -9 $PPID'
	exact
	want_nothing_left
	end
fi
if begin "no gdb"; then
	find abba -- "$programs/abba-deadlock"
	command_run 60 env PATH=/none "$zug" replay --gdb "$trace"
	want_status 3
	want_err 'gdb is not in PATH \(apt install gdb; or --gdb-socket for another one\)'
	end
fi
if begin "options that are refused"; then
	find abba -- "$programs/abba-deadlock"
	while IFS='|' read -r arguments regex; do
		# shellcheck disable=SC2086	# several words
		zug 60 replay $arguments
		want_status 2 "$arguments"
		want_err "$regex"
	done <<-END
		--stop-at 3 $trace|--stop-at needs --gdb or --gdb-socket or --core
		--gdb --stop-at 300 $trace|--stop-at 300: .* has [0-9]+ steps
		--gdb --stop-at three $trace|--stop-at three: not the number of a step
		--gdb --process T9 $trace|has no such task
		--gdb --process x $trace|not a task
		--gdb --core x $trace|--core cannot be combined with --gdb
		--gdb --times 3 $trace|--times cannot be combined with --gdb
		--gdb --stop-at 1 --stop-before-failure $trace|--stop-at cannot be combined with --stop-before-failure
		--gdb-socket /tmp/x $trace -- -batch|arguments for gdb need --gdb
		$trace -- -batch|arguments for gdb need --gdb
	END
	zug 60 replay --gdb-socket /none/x "$trace"
	want_status 3
	want_err 'cannot listen for gdb at /none/x: No such file'
	end
fi
if [ "${LONG:-}" ] && begin "no preemption to stop at"; then
	find plain -- sh -c 'exit 3'
	zug 60 replay --gdb --stop-at-preemption "$trace"
	want_status 2
	want_err 'no switch in it was forced'
	end
fi
finish
