#!/bin/bash
# Errors of the user, a machine without what zug needs, and interruption: a clear message and the right exit status.
# Takes 60 s under emulation.
# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/../lib.sh"

# refused STATUS REGEX ARGUMENTS...: zug ends with STATUS, its error output matches REGEX, and it does not crash.
refused()
{
	local status=$1 regex=$2

	shift 2
	zug 60 "$@"
	want_status "$status"
	want_err "$regex"
	[ "$(wc -l <"$dir/err")" -le 20 ] || note "$(wc -l <"$dir/err") lines of message"
	want_nothing_left
	end
}

# damage FILE OFFSET: changes one byte.
damage()
{
	local byte

	byte=$(od -An -tu1 -j "$2" -N 1 "$1")
	printf "\\x$(printf %02x $(((byte + 77) % 256)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# One trace for all tests that need one.
a_trace()
{
	if [ ! -f "$base/good.trace" ]; then
		zug 60 run -q --verify 0 -o traces -- sh -c 'exit 3'
		cp "$(kept_trace)" "$base/good.trace"
	fi
	cp "$base/good.trace" t.trace
}

remember

# --- the command ---
begin "command not found" && refused 2 'no-such-command: command not found' run -- no-such-command
begin "path not found" && refused 2 './none: No such file' run -- ./none
if begin "not executable"; then echo hello >plain; refused 2 'plain: not executable' run -- ./plain; fi
begin "a folder" && refused 2 'is a directory' run -- /usr
if begin "foreign architecture"; then
	cp "$programs/abba-deadlock" foreign
	# e_machine: 183 is AArch64.
	printf '\xb7' | dd of=foreign bs=1 seek=18 conv=notrunc status=none
	refused 2 'foreign.*(x86-64|architecture|AArch64|machine)' run -- ./foreign
fi
if begin "not a program"; then echo 'hello, world' >text; chmod +x text; refused 2 'text' run -- ./text; fi
if begin "an interpreter that is missing"; then
	printf '#!/no/such/interpreter\n' >script; chmod +x script
	refused 2 'script' run -- ./script
fi
if begin "no symbols"; then
	# It runs all the same: blocking and ends are points.
	zug 60 run -q --executions 2 -o traces -- "$programs/points/stripped"
	want_status 0
	want_err '/stripped.*no symbols'
	end
fi

# --- options ---
begin "no command at all" && refused 2 'no command' run
begin "unknown command of zug" && refused 2 "unknown command 'rum'.*" rum
begin "unknown option" && refused 2 'zug run --help' run --no-such-option -- true
begin "unknown strategy" && refused 2 'preemption' run --strategy preemptoin -- true
begin "unknown argument of a strategy" && refused 2 'depth' run --strategy pct:deep=3 -- true
begin "bad argument of a strategy" && refused 2 'depth' run --strategy pct:depth=no -- true
begin "bad number" && refused 2 "executions.*ten.*number" run --executions ten -- true
begin "bad duration" && refused 2 "time.*duration" run --time soon -- true
begin "bad regular expression" && refused 2 "match" run --match '(' -- true
begin "bad kind of point" && refused 2 "syscall:file" run --points sink -- true
begin "--point on a missing symbol" &&
	refused 2 'no such function.*did you mean a_then_b' run --point a_then_c -- "$programs/abba-deadlock"
begin "--point on a missing symbol of a file, before any execution" &&
	refused 2 'no such function.*did you mean a_then_b' run --point abba-deadlock:a_then_c -- "$programs/abba-deadlock"
begin "--point on a function that is inlined" &&
	refused 2 'inlined it everywhere \(main at .*:[0-9]+.*; --point file-lost-update.c:[0-9]+ is a place in it' \
		run --point add_one -- "$programs/file-lost-update"
begin "--point on a line without code" &&
	refused 2 'no code at that line; the next line with code is .*:[0-9]+' run --point abba-deadlock.c:2 -- "$programs/abba-deadlock"
begin "--point in a file that is not there" &&
	refused 2 'no line table names that file' run --point none.c:2 -- "$programs/abba-deadlock"
begin "--point that the kernel does not probe" &&
	refused 2 'does not probe.*take the one after it' run --point main --point lock-first:lock_first+0x0 -- "$programs/points/lock-first"
begin "--watch on a missing variable" &&
	refused 2 'no such variable.*did you mean counter' run --watch countr -- "$programs/atomicity-watch"
begin "too many watches" && refused 2 'debug registers' run --watch counter --watch counter --watch counter --watch counter \
	--watch counter -- "$programs/atomicity-watch"
begin "no such lane" && refused 2 'no such lane: CPU 77.*0\.\.' run --lane 77 -- true
begin "bad name of a sandbox" && refused 2 'bad sandbox name' run --name a/b -- true
begin "output folder cannot be made" && refused 2 'folder for traces' run -o /proc/none -- true
if begin "sandbox name in use"; then
	mkdir /sys/fs/cgroup/zug-mine
	sleep 60 &
	echo $! >/sys/fs/cgroup/zug-mine/cgroup.procs
	zug 60 run --name zug-mine -- true
	want_status 2
	want_err "'zug-mine' is in use.*--name"
	kill -0 $! || note "the process of the other sandbox is gone"
	kill $!
	wait $! 2>/dev/null
	rmdir /sys/fs/cgroup/zug-mine || note "its cgroup cannot be removed"
	end
fi

# --- traces ---
if begin "trace that is not there"; then refused 2 'none.trace.*No such file' replay none.trace; fi
if begin "empty trace"; then : >t.trace; refused 2 't.trace' replay t.trace; fi
if begin "foreign file as trace"; then cp /usr/bin/true t.trace; refused 2 't.trace: not a zugzwang trace' replay t.trace; fi
if begin "foreign file to show"; then cp /usr/bin/true t.trace; refused 2 't.trace: not a zugzwang trace' show t.trace; fi
if begin "newer trace"; then
	a_trace
	# The version follows the eight letters of the magic.
	printf '\x63' | dd of=t.trace bs=1 seek=8 conv=notrunc status=none
	refused 2 '(newer|version)' replay t.trace
fi
if begin "truncated trace"; then
	a_trace
	truncate -s $(($(stat -c %s t.trace) - 20)) t.trace
	zug 60 show t.trace
	cat "$dir/err" >>"$dir/out"
	want_out '(truncated|incomplete|breaks off|cut|damaged)'
	zug 60 replay -q t.trace
	[ $rc = 2 ] || [ $rc = 5 ] || [ $rc = 1 ] || note "replay of a truncated trace: exit status $rc"
	want_nothing_left
	end
fi
if begin "damaged trace"; then
	a_trace
	size=$(stat -c %s t.trace)
	for ((offset = 0; offset < size; offset += size / 12 + 1)); do
		a_trace
		damage t.trace $offset
		command_run 30 "$zug" show t.trace
		[ $rc = 0 ] || [ $rc = 2 ] || note "show with byte $offset changed: exit status $rc"
		[ $rc = 0 ] || want_err 't.trace'
		! cmp -s t.trace "$base/good.trace" || note "byte $offset was not changed"
	done
	damage t.trace $((size / 2))
	zug 60 replay -q t.trace
	[ $rc = 2 ] || [ $rc = 5 ] || [ $rc = 1 ] || note "replay: exit status $rc"
	end
fi
if begin "program changed since the trace"; then
	cp "$programs/abba-deadlock" program
	zug 60 run -q --no-minimize --verify 0 -o traces -- ./program
	trace=$(kept_trace)
	cp "$programs/lost-wakeup" program
	zug 60 replay -q "$trace"
	want_status 2
	want_err 'program was rebuilt since the trace was recorded \(build-id'
	want_err '--force'
	zug 60 replay -q --force "$trace"
	want_status 5
	want_err 'did not follow'
	end
fi
if begin "program of a trace is gone"; then
	cp "$programs/abba-deadlock" program
	zug 60 run -q --no-minimize --verify 0 -o traces -- ./program
	rm program
	refused 2 'program: No such file' replay "$(kept_trace)"
fi

# --- the machine ---
if begin "disk full while a trace is written"; then
	mkdir small
	mount -t tmpfs -o size=8k tmpfs small
	dd if=/dev/zero of=small/fill bs=1k count=8 status=none 2>/dev/null
	zug 60 run -q -o small -- sh -c 'exit 3'
	want_status 3
	want_err 'small.*No space left'
	umount small
	want_nothing_left
	end
fi
if begin "no privileges"; then
	zug 60 --version
	command_run 60 setpriv --reuid 65534 --regid 65534 --clear-groups "$zug" run -o /tmp -- true
	want_status 3
	want_err 'missing privileges: .*CAP_'
	end
fi
if begin "capabilities dropped"; then
	command_run 60 setpriv --bounding-set -bpf,-sys_admin --inh-caps -bpf,-sys_admin "$zug" run -o /tmp -- true
	want_status 3
	want_err 'CAP_(SYS_ADMIN|BPF)'
	end
fi
# ZUG_DEBUG takes them away behind the look at start, so that what needs them fails: each is needed.
if begin "zug has the capabilities that it needs, and no other"; then
	mkdir -m 777 log && cp "$programs/lost-increment" "$programs/alarm-early" "$programs/short-write" .
	touch other suid && chown 1000:1000 other suid && chmod 6755 suid && cp /bin/true caps && setcap cap_net_raw+ep caps
	mknod special c 1 3
	# shellcheck disable=SC2016
	zug 60 run -q --world shared --executions 1 -- sh -c \
		'for p in /proc/[0-9]*; do [ "$(readlink $p/exe)" != "$0" ] || grep CapEff $p/status; done >caps.of' "$zug"
	want_status 0
	[ "$(sort -u caps.of)" = "$(printf 'CapEff:\t0000000089ac10fb')" ] || note "zug has: $(cat caps.of)"
	# without CAPABILITY STATUS ARGUMENT...: zug run ends so with it, and otherwise without it
	without()
	{
		command_run 60 "$zug" run -q --no-minimize "${@:3}"
		want_status "$2"
		command_run 60 env ZUG_DEBUG=without:CAP_"$1" "$zug" run -q --no-minimize "${@:3}"
		[ "$rc" != "$2" ] || note "the same without CAP_$1: status $rc: $(said)"
	}
	without FOWNER 0 --executions 1 -- chmod 640 other
	without SYS_PTRACE 1 --executions 20 --user nobody -- ./lost-increment
	without SYS_RESOURCE 1 --executions 20 --user nobody --faults short -- ./short-write
	if [ "${LONG:-}" = 1 ]; then
		without KILL 1 --executions 20 --user nobody -- ./alarm-early
		# CAP_SYS_NICE is for tests that join: "a process of another user joins" of daemon.sh
		for c in SYS_ADMIN SYS_CHROOT NET_ADMIN DAC_OVERRIDE; do without $c 0 --executions 1 -- true; done
		for c in SETUID SETGID CHOWN; do without $c 0 --executions 1 -o new-$c --user nobody -- true; done
		# shellcheck disable=SC2016
		without FSETID 0 --executions 1 -- sh -c 'echo >>suid; [ $(stat -c %a suid) = 6755 ]'
		without SETFCAP 0 --executions 1 -- mv caps caps2
		without MKNOD 0 --executions 1 -- mv special special2
	fi
	end
fi
if begin "few files may be open"; then
	command_run 60 prlimit --nofile=127 "$zug" run -o traces -- true
	want_status 3
	want_err 'may open 127 files at once, and needs 128: raise'
	# the soft limit is raised, for zug alone
	command_run 60 prlimit --nofile=20:128 "$zug" run -q --executions 3 -o traces -- sh -c '[ $(ulimit -Sn) = 20 ]'
	want_status 0
	want_nothing_left
	end
fi
if begin "no cgroup v2"; then
	# The same as where only version 1 is mounted.
	command_run 60 unshare -m sh -c 'mount -t tmpfs tmpfs /sys/fs/cgroup && exec "$@"' sh "$zug" run -- true
	want_status 3
	want_err '/sys/fs/cgroup is not cgroup v2'
	want_nothing_left
	end
fi
if begin "a second zug"; then
	"$zug" run -q --executions 0 -o traces -- "$programs/fixtures/nested-threads" >first.out 2>first.err &
	first=$!
	wait_scheduler enabled
	zug 60 run -q -o traces -- true
	want_status 3
	want_err "scheduler 'zug[^']*' is loaded"
	kill -INT $first
	wait $first
	rc=$?
	want_status 5 "the first one, interrupted"
	want_nothing_left
	end
fi

if begin "the scheduler is ejected"; then
	# SysRq-S is the kernel's own way to do it.
	echo 'vm: allow disabled (' >/dev/kmsg
	(wait_scheduler enabled && wait_until executes nested-threads; echo 1 >/proc/sys/kernel/sysrq; echo S >/proc/sysrq-trigger) &
	zug 60 run -q -o traces --executions 0 -- "$programs/fixtures/nested-threads"
	wait $!
	want_status 3
	want_err 'ejected the scheduler'
	want_nothing_left
	end
fi

# --- being stopped ---
# in_the_middle SIGNAL NAME COMMAND...: sends SIGNAL to zug when a process NAME executes; its status is in $rc.
in_the_middle()
{
	local signal=$1 name=$2 pid

	shift 2
	commands+=("zug run $*, then SIG$signal")
	# Job control: a background process without it ignores SIGINT.
	set -m
	"$zug" run -q --executions 0 -o traces "$@" >"$dir/out" 2>"$dir/err" </dev/null &
	pid=$!
	set +m
	wait_until executes "$name" || note "no $name: $(said)"
	sleep 0.5
	kill -"$signal" $pid
	wait_end $pid || { note "alive a minute after SIG$signal"; kill -KILL $pid; }
	{ wait $pid; rc=$?; } 2>/dev/null
}

for signal in INT TERM; do
	if begin "SIG$signal between executions"; then
		in_the_middle $signal nested-threads -- "$programs/fixtures/nested-threads"
		want_status 5
		want_out 'nothing found in [0-9]+ executions?'
		want_out 'interrupted'
		want_nothing_left
		end
	fi
done
if begin "SIGINT in a long execution"; then
	# sleep's name is that of many; the test's is its own
	cp "$(command -v sleep)" long-sleep
	in_the_middle INT long-sleep --timeout 0 --time real -- ./long-sleep 100
	want_status 5
	want_nothing_left
	end
fi
if begin "SIGKILL"; then
	# It writes a file: the next environment is being made.
	in_the_middle KILL nested-threads --name zug-killed -- sh -c "echo >new; exec $programs/fixtures/nested-threads"
	want_status 137
	wait_scheduler disabled || note "the scheduler stays"
	no_process() { left=$(cat /sys/fs/cgroup/zug-killed/cgroup.procs 2>/dev/null); [ -z "$left" ]; }
	wait_until no_process || note "its test is still there: $(ps -o pid,stat,cls,comm -p "${left//$'\n'/,}")"
	no_environment() { left=$(grep -ls 'upperdir=/run/zug-' /proc/[0-9]*/mountinfo); [ -z "$left" ]; }
	wait_until no_environment || note "its environment is still there: $left"
	# The next one works, also with the same name, and removes what both have left.
	zug 60 run -q --name zug-killed --executions 3 -o traces -- "$programs/fixtures/nested-threads"
	want_status 0
	want_nothing_left
	end
fi
finish
