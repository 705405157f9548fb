#!/bin/bash
# zugd: one execution a call (zug exec), whole searches handed over (zug run, zug replay), tests that join its cgroup, and
# all ways in which it ends.
# Takes 105 s under emulation.
. "$(dirname "$0")/../lib.sh"
zugd=${zug}d
door=/sys/fs/cgroup/zug
joins=$base/joins
remember
shared=
printf '%s\n' "echo \$\$ >$door/cgroup.procs && exec \"\$@\"" >"$joins"

start()
{
	command_run 60 "$zugd" --timeout 10s "$@"
	want_status 0 "zugd"
}

# One zugd for all tests that do not change it, because each start takes seconds.
start_shared()
{
	[ ! "$shared" ] || return
	# it writes to the folder in which it was started, and a test's own folder is removed with the test
	cd "$base" && start && cd "$dir" || exit 2
	shared=1
}

stop_shared()
{
	[ ! "$shared" ] || stop
	shared=
}

stop()
{
	zug 60 stop
	want_status 0
	want_out '^zugd \(pid [0-9]+\) has ended$'
	want_nothing_left
}

# exec_until STATUS TIMES ARGUMENT...: calls zug exec until it ends with STATUS; the number of calls is in $calls.
exec_until()
{
	local wanted=$1 times=$2

	shift 2
	for ((calls = 1; calls <= times; calls++)); do
		zug 60 exec "$@"
		[ $rc != "$wanted" ] || return
		[ $rc = 0 ] || break
	done
	note "no exit status $wanted in $times calls; the last one: $rc:"$'\n'"$(said)"
}

# figure NAME COMMAND: of the first campaign of COMMAND in `zug status --json`.
figure()
{
	zug 30 status --json
	sed -n "\|\"$2\"|,\$p" "$dir/out" | sed -nE "s/^ *\"$1\": ?([^,]*),?$/\1/p" | head -n 1
}

# tells REGEX...: zug status has a line for each.
tells()
{
	local regex

	"$zug" status >status.now 2>&1
	for regex; do has_line "$regex" status.now || return; done
}

# at_door: a process waits for its turn in zugd's cgroup.
at_door() { [ "$(cat $door/cgroup.procs 2>/dev/null)" ]; }

if begin "one is enough"; then
	zug 30 status
	want_status 3
	want_out '^no zugd is running'
	zug 30 exec -- true
	want_status 125
	want_err 'no zugd at .*start one with: zugd'
	start
	command_run 60 "$zugd"
	want_status 3
	want_err 'running already \(pid [0-9]+\)'
	command_run 60 "$zugd" --socket other.sock
	want_status 3
	want_err "scheduler 'zug[^']*' is loaded by zugd \(pid [0-9]+\)"
	[ "$(stat -c %a /run/zugd.sock)" = 600 ] || note "the socket's mode is $(stat -c %a /run/zugd.sock)"
	command_run 30 setpriv --reuid 65534 --regid 65534 --clear-groups "$zug" status
	want_status 3
	zug 30 status
	want_status 0
	want_out "^cgroup: $door$"
	want_out '^executing: nothing$'
	stop
	zug 30 stop
	want_status 0
	want_out '^no zugd is running'
	end
fi

if begin "options"; then
	command_run 30 "$zugd" --executions 5
	want_status 2
	want_err 'belongs to zug run'
	command_run 30 "$zugd" -- true
	want_status 2
	command_run 30 "$zugd" --name zug-1
	want_status 3
	zug 30 exec --time 5s -- true
	want_status 125
	want_nothing_left
	end
fi

if begin "exec is the test, seen from outside"; then
	start_shared
	zug 30 exec -- sh -c 'echo out; echo err >&2; exit 7'
	want_status 7
	want_out '^out$'
	want_err '^err$'
	want_err '^zug: trace: .*/zug-out/'
	zug 30 exec --expect-exit 7 -- sh -c 'exit 7'
	want_status 7
	[ ! -s "$dir/err" ] || note "an expected exit status was told: $(cat "$dir/err")"
	zug 30 exec -- sh -c 'kill -SEGV $$'
	want_status 139
	zug 30 exec --match wrong -- echo wrong
	want_status 123
	zug 30 exec -- ./missing
	want_status 125
	want_err 'missing: No such file'
	[ "$(echo from here | "$zug" exec -- cat)" = 'from here' ] || note "standard input did not arrive"
	[ "$(VARIABLE=x "$zug" exec -- sh -c 'echo $VARIABLE; pwd')" = "x"$'\n'"$PWD" ] ||
		note "environment or folder did not arrive"
	[ "$("$zug" exec -- seq 100000 | cksum)" = "$(seq 100000 | cksum)" ] || note "long output is not complete"
	end
fi

# hears_calls: zugd is attached to the end of the machine's system calls.
hears_calls()
{
	cat "/proc/$(pgrep -x zugd | head -n 1)/fdinfo/"* 2>/dev/null | grep -q 'tp_name:.*sys_exit'
}

if begin "an idle zugd leaves the machine's system calls alone"; then
	idle() { ! hears_calls; }
	start_shared
	wait_until idle || note "attached without a test"
	"$zug" exec --time real -- sleep 4 &
	wait_until hears_calls || note "not attached while a test runs"
	wait $!
	wait_until idle || note "attached after a test"
	zug 30 exec -- sh -c 'exit 7'
	want_status 7
	end
fi

if begin "exec walks through the search"; then
	cp "$programs/abba-deadlock" "$programs/abba-deadlock-fixed" .
	start_shared
	exec_until 123 60 -- ./abba-deadlock
	want_err '^zug: (deadlock|lock cycle): '
	trace=$(sed -n 's/^zug: trace: //p' "$dir/err")
	before=$calls
	# Another test in between removes the probes; this search then goes on where it was.
	zug 60 exec -- ./abba-deadlock-fixed
	want_status 0
	zug 60 exec -- ./abba-deadlock
	[ "$(figure executions ./abba-deadlock)" = $((before + 1)) ] ||
		note "executions: $(figure executions ./abba-deadlock), not $((before + 1))"
	zug 60 replay -q -n 3 "$trace"
	want_status 1
	want_out 'replayed 3 of 3 times exactly'
	# One failure has one trace.
	exec_until 123 60 -- ./abba-deadlock
	[ "$(sed -n 's/^zug: trace: //p' "$dir/err")" = "$trace" ] || note "another trace of the same failure"
	# A new build is a new search.
	cp "$programs/abba-deadlock-fixed" new && mv new abba-deadlock
	zug 60 exec -- ./abba-deadlock
	want_status 0
	zug 30 status
	grep -A 2 -E '^  \./abba-deadlock$' "$dir/out" | grep -q ' 1 executions' || note "a new build went on with the old search"
	# After all schedules of a small test, further calls still execute it.
	for ((i = 0; i < 4; i++)); do
		zug 60 exec --strategy preemption:bound=0 -- sh -c 'exit 0'
		want_status 0
	done
	zug 30 status
	want_out 'every schedule (within the bound )?was tried'
	end
fi

if begin "watches and points of two searches do not mix"; then
	start_shared
	for ((i = 0; i < 30; i++)); do
		zug 60 exec --watch counter -- "$programs/atomicity-watch"
		case $rc in
		0) ;;
		134) break ;;
		*) note "exit status $rc: $(said)"; break ;;
		esac
		zug 60 exec --points none -- "$programs/atomicity-locked-fixed"
		want_status 0
	done
	[ $rc = 134 ] || note "the watched variable's race was not found in 30 executions"
	end
fi

if begin "they wait for each other, and Ctrl-C ends one"; then
	start_shared
	set -m
	"$zug" run -q --executions 0 -o traces -- "$programs/fixtures/nested-threads" >first.out 2>first.err </dev/null &
	first=$!
	set +m
	wait_until tells '^executing: run .*nested-threads' || note "the first one is not executed: $(cat status.now)"
	"$zug" exec -- echo second >second.out 2>second.err </dev/null &
	second=$!
	"$zug" run -q --executions 1 -o traces -- echo third >third.out 2>third.err </dev/null &
	third=$!
	wait_until tells '^executing: run .*nested-threads' '^waiting: exec .*echo second' '^waiting: run .*echo third' ||
		note "not all are told: $(cat status.now)"
	kill -INT $first
	wait $first
	rc=$?
	want_status 5 "the first one, interrupted"
	grep -q '^stopped: interrupted' first.out || note "no summary of the interrupted search: $(tail -n 2 first.out first.err)"
	wait $second
	rc=$?
	want_status 0 "the second one"
	grep -qx second second.out || note "the second one did not execute"
	[ ! -s second.err ] || note "error output of a test has more than its own: $(cat second.err)"
	wait $third
	rc=$?
	want_status 0 "the third one"
	grep -q 'busy: waiting for [12] before' third.err || note "the third one was not told to wait: $(cat third.err)"
	end
fi

if begin "a client that does not read"; then
	start_shared
	mkfifo pipe
	sleep 1000 <>pipe &
	reader=$!
	"$zug" exec -- seq 1000000 >pipe 2>first.err &
	first=$!
	wait_until tells '^executing: exec .*seq'
	sleep 1
	kill -INT $first 2>/dev/null || note "the client has ended"
	kill -KILL $first
	{ wait $first; } 2>/dev/null
	zug 30 exec -- echo next
	want_status 0
	want_out '^next$'
	kill $reader
	{ wait $reader; } 2>/dev/null
	end
fi

if begin "a test joins"; then
	cp "$programs/abba-deadlock" joining
	start_shared
	command_run 60 sh "$joins" sh -c 'echo "status follows"; exit 9'
	want_status 9
	want_out '^status follows$'
	command_run 60 sh "$joins" sh -c 'kill -SEGV $$'
	[ $rc = 139 ] || note "exit status $rc, not 139"
	for ((i = 0; i < 60; i++)); do
		command_run 60 sh "$joins" ./joining
		[ $rc = 0 ] || break
	done
	[ $rc = 137 ] || note "no deadlock in $i joins; exit status $rc"
	zug 30 status
	want_out 'exit: exit status 9 '
	want_out 'killed by SIGSEGV'
	want_out 'failure, 1 times: (deadlock|lock cycle)'
	trace=$(sed -n 's/^ *trace: \(.*joining.*\)/\1/p' "$dir/out" | head -n 1)
	zug 60 replay -q -n 3 "$trace"
	want_status 1
	want_out 'replayed 3 of 3 times exactly'
	end
fi

if begin "many join at once"; then
	start_shared
	"$zug" run -q --time 3s --executions 0 -o traces -- "$programs/fixtures/nested-threads" >first.out 2>&1 &
	first=$!
	wait_until executes nested-threads
	pids=()
	for i in 1 2 3 4; do
		timeout 60 sh "$joins" sh -c "sleep 0.1; echo $i >joined.$i" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait $pid || note "one ended with $?"
	done
	[ "$(cat joined.*)" = 1$'\n'2$'\n'3$'\n'4 ] || note "not all were executed: $(ls joined.*)"
	wait $first
	zug 30 status
	[ "$(grep -c "sh -c sleep 0.1; echo" "$dir/out")" = 4 ] || note "not 4 searches: $(cat "$dir/out")"
	end
fi

if begin "a process that joins and is not the test goes on"; then
	start_shared
	command_run 60 sh -c "echo \$\$ >$door/cgroup.procs; sh -c 'exit 3'; echo \"status \$? in \$(cat /proc/self/cgroup)\"; exit 4"
	want_status 4
	want_out '^status 3 in 0::'
	grep -q 'zug' "$dir/out" && note "it is in a cgroup of ours: $(cat "$dir/out")"
	command_run 60 sh -c "echo \$\$ >$door/cgroup.procs; exit 4"
	want_status 4
	end
fi

if begin "run and replay are handed over"; then
	start_shared
	zug 120 run -q -o traces -- "$programs/abba-deadlock"
	want_status 1
	together=$(sed -nE 's/^found in execution ([0-9]+).*/\1/p' "$dir/out")
	want_out 'replayed: 1 of 1 times the same failure'
	zug 60 replay -q "$(kept_trace)"
	want_status 1
	zug 60 replay --gdb traces/abba-deadlock.1.trace
	want_status 3
	want_err 'zugd \(pid [0-9]+\) holds the scheduler.*zug stop'
	zug 60 run -q -- ./missing
	want_status 2
	stop_shared
	zug 60 replay -q traces/abba-deadlock.1.trace
	want_status 1
	zug 120 run -q -o alone -- "$programs/abba-deadlock"
	want_status 1
	alone=$(sed -nE 's/^found in execution ([0-9]+).*/\1/p' "$dir/out")
	[ "$alone" = "$together" ] || note "found in execution '$alone' alone, but '$together' through zugd"
	want_nothing_left
	end
fi

# worker WORD: the process that executes the request whose command has that word.
worker()
{
	"$zug" status --json | awk -F : -v word="$1" '/"pid":/ { pid = $2 + 0 } index($0, word) { print pid; exit }'
}

# In the background, with its output in NAME.out and NAME.err: client NAME ARGUMENT...
client()
{
	set -m
	"$zug" "$2" -o traces "${@:3}" >"$1.out" 2>"$1.err" </dev/null &
	clients[$1]=$!
	set +m
}

# over NAME STATUS: it ends so.
over()
{
	wait "${clients[$1]}"
	rc=$?
	want_status "$2" "$1"
	[ $rc = "$2" ] || note "$1: $(tail -n 5 "$1.err" "$1.out")"
}

if begin "several searches at a time"; then
	declare -A clients=()
	stop_shared
	# as on a machine with more CPUs; want_nothing_left comes with its end
	cd "$base" && start --lanes 2 && cd "$dir" || exit 2
	shared=1
	zug 30 status
	want_out '^lanes: CPU [01] [01]$'

	# probes, watches and faults of one are not the other's
	client faults run -q --faults eintr --no-minimize -- "$programs/eintr-read"
	client watch run -q --watch counter --no-minimize -- "$programs/atomicity-watch"
	over faults 1
	over watch 1
	for who in faults watch; do
		grep -q '^replayed: 1 of 1 times the same failure' $who.out || note "$who: $(tail -n 5 $who.out)"
	done

	client endless run -q --executions 0 --no-races -- "$programs/fixtures/nested-threads"
	client other run -q --executions 0 --no-races -- "$programs/abba-deadlock-fixed"
	wait_until tells '^executing: run .*nested-threads.*on CPU [01]\)' '^executing: run .*abba-deadlock-fixed.*on CPU [01]\)' \
		'on CPU 0\)' 'on CPU 1\)' ||
		note "not one on each CPU: $(cat status.now)"
	# a third one waits
	client third run -q --executions 1 -- true
	wait_until tells '^waiting: run .*true' || note "the third one does not wait: $(cat status.now)"

	# a crash costs one search
	kill -KILL "$(worker nested-threads)" || note "no worker"
	over endless 3
	grep -q 'the process of this search has ended (signal 9); others are not affected' endless.err ||
		note "it says: $(cat endless.err)"
	over third 0
	tells '^executing: run .*abba-deadlock-fixed' || note "the other one has ended, too: $(cat status.now)"
	zug 60 exec -- true
	want_status 0

	# as does the end of a client
	kill -KILL "${clients[other]}"
	{ wait "${clients[other]}"; } 2>/dev/null
	wait_until tells '^executing: nothing$' || note "a search without a client goes on: $(cat status.now)"

	# what single executions have learnt goes with their worker, and who calls one of these searches again is told
	"$zug" exec -- sh -c 'while :; do :; done' >exec.out 2>exec.err &
	clients[exec]=$!
	wait_until tells '^executing: exec .*while'
	kill -KILL "$(worker 'while :')" || note "no worker"
	over exec 125
	grep -q 'the process of zug exec and of tests that join has ended (signal 9); its searches begin anew when they are called again' exec.err ||
		note "it says: $(cat exec.err)"
	zug 60 exec -- true
	want_status 0
	want_err '^zug: this search begins anew: its process has ended \(executions that are lost: 1\)$'
	zug 60 exec -- true
	want_status 0
	[ ! -s "$dir/err" ] || note "it is told twice: $(cat "$dir/err")"
	zug 30 status
	want_out '^searches: 1$'
	# also where it has ended between two calls
	kill -KILL "$(pgrep -n -x zugd -P "$(sed -nE 's/^zugd .*, pid ([0-9]+), .*/\1/p' "$dir/out")")" || note "no worker that is kept"
	zug 60 exec -- true
	want_status 0
	want_err '^zug: this search begins anew: its process has ended \(executions that are lost: 2\)$'
	end
fi

# ahead: prints the worker that was made ahead.
ahead() { pgrep -x zugd-ahead; }

if begin "a worker made ahead"; then
	declare -A clients=()
	stop_shared
	start --lanes 2
	wait_until ahead >/dev/null || note "there is none"
	first=$(ahead)
	# it has its client's folder, environment and mask, and another one is made fresh beside it
	mkdir sub && cd sub || exit 2
	umask 027
	VARIABLE=x client one run -q --executions 0 --no-races -- "$programs/fixtures/nested-threads"
	wait_until tells '^executing: run .*nested-threads' || note "it does not begin: $(cat status.now)"
	[ "$(worker nested-threads)" = "$first" ] || note "its process is $(worker nested-threads), not $first"
	VARIABLE=y zug 60 run -q --executions 1 -- sh -c "[ \"\$(pwd) \$(umask) \$VARIABLE\" = '$PWD 0027 y' ]"
	want_status 0
	kill -INT "${clients[one]}"
	over one 5
	wait_until ahead >/dev/null || note "there is no other one"
	VARIABLE=z zug 60 run -q --executions 1 -- sh -c "[ \"\$(pwd) \$(umask) \$VARIABLE\" = '$PWD 0027 z' ]"
	want_status 0
	umask 022
	# it has not seen this mount, and its test does
	wait_until ahead >/dev/null || note "there is no third one"
	mount -t tmpfs later /mnt && touch /mnt/here || exit 2
	zug 60 run -q --executions 1 -- test -e /mnt/here
	want_status 0
	umount /mnt
	# one that was killed costs nothing, and is not replaced before another command has been executed
	wait_until ahead >/dev/null && kill -TERM "$(ahead)"
	zug 60 run -q --executions 1 -- true
	want_status 0
	wait_until ahead >/dev/null || note "none after one that was killed"
	stop
	end
fi

# has_executed NUMBER: the search of the client `both` has made so many executions.
has_executed() { [ "$(grep -c ^execution both.err)" -ge "$1" ]; }

if begin "-j through zugd"; then
	declare -A clients=()
	[ "$shared" ] || { cd "$base" && start --lanes 2 && cd "$dir" && shared=1; }
	for j in 1 2; do
		zug 100 run -q -j $j --no-minimize --keep-going --executions 100 -o traces.$j -- "$programs/lost-increment"
		want_status 1
		sed -nE 's/^found in execution ([0-9]*), after [^:]*:/found in \1:/p; /first in execution/p; s/\(([0-9.]+ (ms|s|min)), [0-9.]+ (us|ms|s) each; /(/p' "$dir/out" | sed "s/traces.$j/traces/" >sums.$j
	done
	grep -q 'first in execution' sums.1 || note "$(said)"
	cmp -s sums.1 sums.2 || note "-j 2 came to something else: $(diff sums.1 sums.2)"

	# one that wants both CPUs gives one to another client, and gets it back
	ZUG_DEBUG=times client both run -q -j 2 --no-races --executions 0 -- "$programs/abba-deadlock-fixed"
	wait_until tells '^executing: run .*-j 2 .*on CPUs [0-9]+ [0-9]+' || note "one lane only: $(cat status.now)"
	client one run -q --no-races --executions 0 -- "$programs/fixtures/nested-threads"
	wait_until tells '^executing: run .*-j 2 .*on CPU [0-9]+\)' '^executing: run .*nested-threads.*on CPU [0-9]+\)' ||
		note "not one lane each: $(cat status.now)"
	kill -INT "${clients[one]}"
	over one 5
	wait_until tells '^executing: run .*-j 2 .*on CPUs [0-9]+ [0-9]+' || note "the lane did not come back: $(cat status.now)"

	# also where it hears at once that it gets lanes, and that it may not keep them
	client two run -q --no-races --executions 0 -- "$programs/fixtures/nested-threads"
	wait_until tells '^executing: run .*nested-threads.*on CPU [0-9]+\)' || note "no lane for the second one: $(cat status.now)"
	# by then it has made what it had given to lanes
	executed=$(grep -c ^execution both.err)
	wait_until has_executed $((executed + 40)) || note "$(tail -n 2 both.err)"
	search=$(worker abba-deadlock-fixed)
	kill -STOP "$search" || note "no worker"
	kill -INT "${clients[two]}"
	over two 5
	wait_until tells '^executing: run .*-j 2 .*on CPUs [0-9]+ [0-9]+' ||
		note "no lane for the one that stands still: $(cat status.now)"
	client three run -q --no-races --executions 0 -- "$programs/fixtures/nested-threads"
	wait_until tells '^waiting: run .*nested-threads' || note "the third one does not wait: $(cat status.now)"
	kill -CONT "$search"
	wait_until tells '^executing: run .*-j 2 .*on CPU [0-9]+\)' '^executing: run .*nested-threads.*on CPU [0-9]+\)' ||
		note "lanes that had nothing to do were not given back: $(cat status.now)"
	kill -INT "${clients[three]}"
	over three 5
	kill -KILL "$search" || note "no worker"
	over both 3
	stop_shared
	end
fi

# ends a zugd that was begun in the foreground, as $daemon
stop_foreground()
{
	zug 30 stop
	want_status 0
	wait "$daemon"
	rc=$?
	want_status 0 "zugd"
	want_nothing_left
}

if begin "clients that want all lanes have as many each"; then
	declare -A clients=()
	stop_shared
	nr=2 each='CPU [0-9]+'
	[ "$(nproc)" -lt 4 ] || nr=4 each='CPUs [0-9]+ [0-9]+'
	start --lanes $nr
	client one run -q -j $nr --no-races --executions 0 -- "$programs/abba-deadlock-fixed"
	client two run -q -j $nr --no-races --executions 0 -- "$programs/lost-increment-fixed"
	wait_until tells "^executing: run .*abba-deadlock-fixed.*on $each\)" "^executing: run .*lost-increment.*on $each\)" ||
		note "not half of them each: $(cat status.now)"
	kill -INT "${clients[one]}"
	over one 5
	wait_until tells "^executing: run .*lost-increment.*on CPUs( [0-9]+){$nr}\)" ||
		note "not all lanes for the other one: $(cat status.now)"
	kill -INT "${clients[two]}"
	over two 5
	stop
	end
fi

if begin "quotas of users, and who is refused"; then
	declare -A clients=()
	stop_shared
	chmod 755 . && mkdir -m 777 open && cp "$programs/abba-deadlock-fixed" open && cd open || exit 2
	"$zugd" --foreground --lanes 2 --user-lanes 1 --user-queue 1 2>zugd.log &
	daemon=$!
	wait_until tells '^executing: nothing$' || note "zugd does not serve: $(cat status.now zugd.log)"
	chmod 666 /run/zugd.sock
	command_run 30 setpriv --reuid 65534 --regid 65534 --clear-groups "$zug" status
	want_status 3
	want_err 'zugd serves root and its own user only'
	command_run 30 setpriv --reuid 65534 --regid 65534 --clear-groups "$zug" stop
	want_status 3
	[ "$(grep -cE 'refused: user 65534, process [0-9]+: zugd serves root and its own user only' zugd.log)" = 2 ] ||
		note "not both attempts are in the log: $(cat zugd.log)"

	# one user wants both CPUs, and then more; another one is executed meanwhile
	export SUDO_UID=65534 SUDO_GID=65534
	client long run -q -j 2 --no-races --executions 0 -- ./abba-deadlock-fixed
	wait_until tells '^executing: run .*abba.*\(of user 65534, .*on CPU [01]\)' || note "not one CPU: $(cat status.now)"
	client next run -q --no-races --executions 1 -- true
	wait_until tells '^waiting: run .*true \(of user 65534, ' || note "the second one does not wait: $(cat status.now)"
	zug 30 run -q --executions 1 -- true
	want_status 3
	want_err 'user 65534 has 1 requests that wait, and may not have more \(zugd --user-queue\)'
	grep -q 'refused: user 65534, process [0-9]*: .*requests that wait' zugd.log || note "the log: $(cat zugd.log)"
	unset SUDO_UID SUDO_GID
	zug 60 exec -- true
	want_status 0
	tells '^executing: run .*abba.*\(of user 65534, .*on CPU [01]\)' ||
		note "the other user was not executed beside it: $(cat status.now)"
	kill -INT "${clients[long]}"
	over long 5
	over next 0
	stop_foreground
	end
fi

# join_as_nobody WORDS: a process of that user comes through the door, and zugd says so of it.
join_as_nobody()
{
	local pid

	exec 3<>go
	setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'read x && exec sh -c "exit 3"' <&3 &
	pid=$!
	wait_until pgrep -u 65534 -x sh >pids || note "no shell of that user"
	echo $pid >$door/cgroup.procs
	echo >&3
	exec 3>&-
	wait $pid
	rc=$?
	want_status 3
	wait_until has_line "joined: .*$1" zugd.log || note "zugd says: $(cat zugd.log)"
}

if begin "a time for each user, and a process of another user joins"; then
	stop_shared
	mkfifo go
	chmod 777 . && cp "$programs/abba-deadlock-fixed" .
	"$zugd" --foreground --user-time 2s 2>zugd.log &
	daemon=$!
	wait_until tells '^executing: nothing$' || note "zugd does not serve: $(cat status.now zugd.log)"
	join_as_nobody 'exit status 3 '
	command_run 60 env SUDO_UID=65534 SUDO_GID=65534 "$zug" run -q --no-races --executions 0 -o traces -- ./abba-deadlock-fixed
	want_status 5
	want_err 'zugd has ended it: user 65534 may have 2 s for a request \(zugd --user-time\)'
	stop_foreground
	if [ "${LONG:-}" = 1 ]; then
		ZUG_DEBUG=without:CAP_SYS_NICE "$zugd" --foreground 2>zugd.log &
		daemon=$!
		wait_until tells '^executing: nothing$' || note "zugd does not serve: $(cat status.now zugd.log)"
		join_as_nobody 'cannot be taken under control \(Operation not permitted\)'
		stop_foreground
	fi
	end
fi

if begin "a cgroup for all of its cgroups"; then
	stop_shared
	folder=/sys/fs/cgroup/tests.slice root=/sys/fs/cgroup/cgroup.subtree_control
	mkdir $folder || exit 2
	command_run 30 "$zugd" --cgroup /sys/fs
	want_status 3
	want_err '^zugd: --cgroup /sys/fs: it is no cgroup below /sys/fs/cgroup'
	echo -pids >$root || note "the controller cannot be switched off"
	start --cgroup $folder
	zug 30 status
	want_out "^cgroup: $folder/zug$"
	zug 60 exec -- true
	want_status 0
	! grep -qw pids $root || note "switched on in the root: $(cat $root)"
	[ -z "$(ls -d /sys/fs/cgroup/zug* 2>/dev/null)" ] || note "in the root: $(ls -d /sys/fs/cgroup/zug*)"
	# with a controller that is passed on to it
	echo +pids >$root
	zug 60 exec --max-tasks 77 -- sh -c 'exit 3'
	want_status 3
	grep -qx 77 $folder/zug-*/pids.max || note "no limit of tasks: $(cat $folder/zug-*/pids.max)"
	command_run 60 sh -c "echo \$\$ >$folder/zug/cgroup.procs && exec sh -c 'exit 4'"
	want_status 4
	# what a killed one has left
	left=$(ls -d $folder/zug-*)
	kill -KILL "$("$zug" status --json | sed -n 's/^  "pid": *\([0-9]*\),/\1/p' | head -n 1)"
	start --cgroup $folder
	zug 60 exec -- true
	want_status 0
	for cgroup in $left; do
		[ ! -e "$cgroup" ] || note "left behind: $cgroup"
	done
	stop
	rmdir $folder || note "the folder is not empty: $(ls -d $folder/zug*)"
	end
fi

if begin "stopped in the middle"; then
	stop_shared
	start
	"$zug" exec -- sh -c 'while :; do :; done' >first.out 2>first.err &
	first=$!
	wait_until tells '^executing: exec .*while' || note "the first one is not executed: $(cat status.now)"
	"$zug" exec -- echo second >second.out 2>second.err &
	second=$!
	timeout 60 sh "$joins" sh -c 'echo third' >third.out 2>&1 &
	third=$!
	wait_until tells '^waiting: exec .*echo second' || note "the second one does not wait: $(cat status.now)"
	wait_until at_door || note "none is at the door"
	stop
	wait $first
	rc=$?
	want_status 125 "the one that was executed"
	wait $second
	rc=$?
	want_status 125 "the one that waited"
	wait $third || note "who waited at the door ended with $?"
	grep -qx third third.out || note "who waited at the door did not go on"
	end
fi

if begin "killed in the middle"; then
	stop_shared
	start
	pid=$(sed -n 's/.*pid \([0-9]*\).*/\1/p' <<<"$("$zug" status)" | head -n 1)
	"$zug" exec -- sh -c 'while :; do :; done' >first.out 2>first.err &
	first=$!
	wait_until tells '^executing: exec .*while' || note "the first one is not executed: $(cat status.now)"
	timeout 60 sh "$joins" sh -c 'echo third' >third.out 2>&1 &
	third=$!
	wait_until at_door || note "none is at the door"
	kill -KILL "$pid"
	wait $first
	rc=$?
	want_status 125
	grep -q 'zugd ended before it answered' first.err || note "the client says: $(cat first.err)"
	zug 30 status
	want_status 3
	# The next one takes over the socket and the waiting tests, and removes what is left.
	start
	wait $third || note "who waited at the door ended with $?"
	grep -qx third third.out || note "who waited at the door was not executed"
	zug 60 exec -- true
	want_status 0
	stop
	end
fi

[ ! "$shared" ] || "$zug" stop >/dev/null
finish
